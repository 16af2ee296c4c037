//! Bans and pardons. They are served on the socket for administration alone.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    body::Bytes,
    extract::{State, rejection::BytesRejection},
    http::StatusCode,
};
use quorate::SourceId;
use quorate_batcher::shown_name;
use quorate_formats::NAME_LIMIT;
use quorate_host::unix_seconds;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use utoipa::ToSchema;

use super::error::ApiError;
use crate::{app::App, claims::Caller};

/// Whom to pardon.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Pardon {
    /// A number or a name, as claims have it.
    #[schema(value_type = serde_json::Value)]
    source: SourceId,
}

/// Whom to ban, and for how long.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Ban {
    /// A number or a name, as claims have it.
    #[schema(value_type = serde_json::Value)]
    source: SourceId,
    /// How long, in seconds, at most a year.
    seconds: u64,
}

/// What was done.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Done {
    /// Whether it changed anything.
    done: bool,
    /// Whether it is written down, so that it outlasts the server; missing if the server writes no bans down. The ban of a
    /// connection never is.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<bool>,
}

/// Forgets what a source did, and lifts its ban. Served on the socket for administration.
#[utoipa::path(post, path = "/v1/pardon", request_body = Pardon, responses(
    (status = 200, description = "Whether the source was known", body = Done),
    (status = 400, description = "The body is not understood", body = super::error::ErrorBody),
    (status = 413, description = "The body is too long", body = super::error::ErrorBody),
))]
pub(super) async fn pardon(State(app): State<Arc<App>>, body: Body) -> Result<Json<Done>, ApiError> {
    let Pardon { source } = read(body)?;
    let done = app.batcher.pardon(&source);
    tracing::info!(source = %shown_name(&source), done, "a pardon");
    Ok(Json(Done { done, kept: keep(&app).await }))
}

/// Bans a source. Served on the socket for administration.
#[utoipa::path(post, path = "/v1/ban", request_body = Ban, responses(
    (status = 200, description = "The source is banned", body = Done),
    (status = 400, description = "The body is not understood", body = super::error::ErrorBody),
    (status = 413, description = "The body is too long", body = super::error::ErrorBody),
))]
pub(super) async fn ban(State(app): State<Arc<App>>, body: Body) -> Result<Json<Done>, ApiError> {
    const YEAR: u64 = 366 * 86_400;
    let Ban { source, seconds } = read(body)?;
    if !(1..=YEAR).contains(&seconds) {
        return Err(bad_body(format!("\"seconds\": found {seconds}, expected 1 to {YEAR}")));
    }
    if let SourceId::Name(name) = &source
        && name.len() > LONGEST_SOURCE
    {
        let found = name.len();
        return Err(bad_body(format!(
            "\"source\": found {found} bytes of text, expected at most {LONGEST_SOURCE}, as claims have"
        )));
    }
    tracing::info!(source = %shown_name(&source), seconds, "a ban by the administrator");
    app.batcher.ban(&source, Duration::from_secs(seconds));
    // The file names no connection, because their numbers begin anew.
    let kept = keep(&app).await.map(|kept| kept && !Caller::is_own(&source));
    Ok(Json(Done { done: true, kept }))
}

/// Writes the bans down, before the administrator is told. If that fails, it is tried again later.
async fn keep(app: &App) -> Option<bool> {
    let bans = app.bans.clone()?;
    let written = tokio::task::spawn_blocking(move || bans.write(unix_seconds())).await;
    let kept = matches!(written, Ok(Ok(())));
    if !kept {
        app.metrics.bans_changed().notify_one();
    }
    Some(kept)
}

/// The longest body of a request: a source and a number.
pub(super) const LONGEST_BODY: usize = 256 << 10;

/// The body of a request, unless it is too long or cut off.
type Body = Result<Bytes, BytesRejection>;

fn read<T: DeserializeOwned>(body: Body) -> Result<T, ApiError> {
    let body = body.map_err(|rejected| match rejected.status() {
        status @ StatusCode::PAYLOAD_TOO_LARGE => {
            let message = format!("the body is longer than {LONGEST_BODY} bytes, the limit; send one source");
            ApiError::new(status, "too-long", message)
        }
        _ => ApiError::cut_off(),
    })?;
    serde_json::from_slice(&body)
        .map_err(|error| bad_body(format!("the body: {}", quorate_host::plain(&error.to_string()))))
}

/// The body, or a field of it, is not understood.
fn bad_body(message: String) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, "bad-body", message)
}

/// The longest source of a claim: the longest that a claim states, behind the names of its client and of its connection.
const LONGEST_SOURCE: usize = NAME_LIMIT + 1024;
