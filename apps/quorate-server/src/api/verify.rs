//! `POST /v1/verify`: claims in, verdicts out.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{Query, Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode,
        header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::stream;
use http_body_util::BodyExt as _;
use quorate_host::listen::{PIECE, media_type};
use tokio::time::timeout;
use tracing::Instrument as _;

use super::{error::ApiError, stream::stream};
use crate::{
    answer::without_verdicts,
    app::{App, InForce},
    budget::Held,
    claims::{Asked, BadClaims, Caller, Named, Reader},
    config::ServerLimits,
};

/// Verifies claims.
///
/// A false claim is not an error: it has a verdict. A request that cannot be read is one, and then nothing is verified. Lines are
/// read one by one, and their answers leave as they come, in any order, with the line's index.
#[utoipa::path(
    post,
    path = "/v1/verify",
    params(
        ("suite" = Option<String>, Query, description = "The suite of claims that name none"),
        ("class" = Option<String>, Query, description = "`block`, `duty` or `gossip` (the default)"),
        ("deadline_ms" = Option<u64>, Query, description = "After this time a verdict is of no use"),
    ),
    request_body(description = "A claim, an array of claims, or several of them in a row; one claim a line; or a table of claims", content(
        (super::schema::Claims = "application/json"),
        (String = "application/x-ndjson"),
        (Vec<u8> = "application/vnd.apache.arrow.stream"),
    )),
    responses(
        (status = 200, description = "An answer to each claim", content(
            (Vec<crate::answer::Answer> = "application/json"),
            (String = "application/x-ndjson"),
        )),
        (
            status = 400,
            description = "The query or the body is not understood; without a body, the head of the request is not HTTP",
            body = super::error::ErrorBody
        ),
        (status = 401, description = "This server has clients, and nobody knows this one", body = super::error::ErrorBody),
        (status = 403, description = "All sources of the claims are banned", body = super::error::ErrorBody),
        (status = 408, description = "The body came too slowly", body = super::error::ErrorBody),
        (status = 413, description = "The body is too long, or each claim is too large", body = super::error::ErrorBody),
        (status = 415, description = "The content is of another type, or packed", body = super::error::ErrorBody),
        (status = 421, description = "The header Host names another server", body = String),
        (status = 422, description = "A claim is not understood", body = super::error::ErrorBody),
        (status = 431, description = "The head of the request is too long"),
        (status = 500, description = "A fault of the server", body = super::error::ErrorBody),
        (status = 503, description = "All claims were refused because too many wait", body = super::error::ErrorBody),
    )
)]
pub(super) async fn verify(State(app): State<Arc<App>>, request: Request) -> Response {
    let content = Content::of(request.headers());
    let interface = content.as_ref().map_or("unknown", |content| content.name());
    let answered = match content {
        Ok(content) => answer(&app, content, request).instrument(tracing::info_span!("verify", interface)).await,
        Err(error) => Err(error),
    };
    match answered {
        Ok(response) => {
            app.metrics.request(interface, "answered");
            response
        }
        Err(error) => {
            app.metrics.request(interface, error.body.error.code);
            error.into_response()
        }
    }
}

async fn answer(app: &Arc<App>, content: Content, request: Request) -> Result<Response, ApiError> {
    let query = Query::<Vec<(String, String)>>::try_from_uri(request.uri())
        .map_err(|error| ApiError::bad_query(error.body_text()))?;
    let query = query.0.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let in_force = app.in_force();
    let asked = Asked::read(query, in_force.config.suite()).map_err(ApiError::bad_query)?;
    let caller = Caller::of(request.extensions()).ok_or_else(ApiError::nameless)?;
    let place = app.budget.request(caller.client()).ok_or_else(ApiError::busy)?;
    if content == Content::Lines {
        return Ok(stream(app.clone(), asked, caller, request.into_body(), place));
    }
    let mut held = app.budget.holding();
    let body = read_body(&in_force.config.limits, request, in_force.config.limits.body_bytes, &mut held).await?;
    let (claims, held) = read_claims(app, in_force, content, body, &asked, &caller, held).await?;
    let answers = app.verify(claims, &asked).await;
    if let Some(error) = without_verdicts(&answers).and_then(ApiError::all_refused) {
        return Err(error);
    }
    let answers: Vec<_> = answers.into_iter().map(|(_, answer)| answer).collect();
    let json = serde_json::to_vec(&answers).map_err(|error| {
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", format!("the answer cannot be written: {error}"))
    })?;
    Ok(in_pieces(json.into(), "application/json", (place, held)))
}

/// An answer that is handed out piece by piece, and what it holds until it is taken.
pub(super) fn in_pieces(whole: Bytes, content_type: &'static str, held: impl Send + 'static) -> Response {
    let length = whole.len();
    let pieces = stream::unfold((whole, held), |(mut rest, held)| async move {
        (!rest.is_empty()).then(|| (Ok::<_, Infallible>(rest.split_to(rest.len().min(PIECE))), (rest, held)))
    });
    let mut response = Body::from_stream(pieces).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response.headers_mut().insert(CONTENT_LENGTH, length.into());
    response
}

/// What a body holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Claims, and arrays of claims.
    Json,
    /// One claim a row.
    Arrow,
    /// One claim a line, both ways.
    Lines,
}

impl Content {
    /// The types, as an error lists them.
    pub(super) const EXPECTED: &str = "application/json, application/x-ndjson or application/vnd.apache.arrow.stream";

    pub(super) fn of(headers: &HeaderMap) -> Result<Self, ApiError> {
        let refused = |message| Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content-type", message));
        let is_repeated = |name: &HeaderName| headers.get_all(name).iter().nth(1).is_some();
        if let Some(name) = [CONTENT_TYPE, CONTENT_ENCODING].iter().find(|name| is_repeated(name)) {
            return refused(format!("the header {name} stands there twice; keep one of them"));
        }
        if headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
            return refused("the body is packed (the header Content-Encoding); send it as it is".to_owned());
        }
        let stated = headers.get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let Some(stated) = stated else {
            return refused(format!("the header Content-Type is missing; expected {}", Self::EXPECTED));
        };
        let kind = media_type(&stated);
        match kind.as_str() {
            "application/json" => Ok(Self::Json),
            "application/x-ndjson" => Ok(Self::Lines),
            "application/vnd.apache.arrow.stream" => Ok(Self::Arrow),
            _ => refused(format!("found the Content-Type {kind:?}, expected {}", Self::EXPECTED)),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Arrow => "arrow",
            Self::Lines => "lines",
        }
    }
}

/// The whole body, within its limits: `longest` bytes, and the time and the memory that are configured.
pub(super) async fn read_body(
    limits: &ServerLimits,
    request: Request,
    longest: usize,
    held: &mut Held,
) -> Result<Vec<u8>, ApiError> {
    let too_long = || ApiError::body_too_long(longest);
    let stated = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if stated.is_some_and(|length| length > longest) {
        return Err(too_long());
    }
    let mut body = request.into_body();
    let read = async {
        let mut whole: Vec<u8> = Vec::new();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame.map_err(|_| ApiError::cut_off())?.into_data() else { continue };
            let length = whole.len() + data.len();
            if length > longest {
                return Err(too_long());
            }
            if length > whole.capacity() {
                // It takes what has come and not what is stated, and it grows by halves so that it is copied seldom.
                let grown = (whole.capacity() + whole.capacity() / 2).min(stated.unwrap_or(longest)).max(length);
                held.take(grown - whole.capacity()).ok_or_else(ApiError::busy)?;
                whole.reserve_exact(grown - whole.len());
            }
            whole.extend_from_slice(&data);
        }
        Ok(whole)
    };
    timeout(Duration::from_millis(limits.body_ms), read).await.map_err(|_| ApiError::slow(limits.body_ms))?
}

/// The claims of a body. From here on the request holds them, and no longer its body.
async fn read_claims(
    app: &App,
    in_force: Arc<InForce>,
    content: Content,
    body: Vec<u8>,
    asked: &Asked,
    caller: &Caller,
    mut held: Held,
) -> Result<(Vec<Named>, Held), ApiError> {
    let (length, suite, caller) = (body.len(), asked.suite, caller.clone());
    let read = move || -> Result<(Vec<Named>, Held), BadClaims> {
        let taken = body.capacity();
        let InForce { config, key_sets, .. } = &*in_force;
        let reader = Reader { suite, key_sets, limits: &config.limits, caller: &caller, held: &mut held };
        let claims = match content {
            Content::Json => reader.json(body),
            Content::Arrow => reader.arrow(body),
            Content::Lines => Err(BadClaims::Empty),
        }?;
        held.give(taken);
        Ok((claims, held))
    };
    // A long body takes long enough to keep other requests waiting.
    let claims = if length < LONG {
        read()
    } else {
        let turn = app.budget.reader().await;
        let read = move || {
            let read = read();
            drop(turn);
            read
        };
        tokio::task::spawn_blocking(read).await.unwrap_or_else(|error| Err(BadClaims::Body(error.to_string())))
    }?;
    Ok(claims)
}

/// Bytes of a body that is read beside the threads of the network.
const LONG: usize = 256 << 10;
