//! `/v1/checkpoint`: what signers post, and what nodes that sync read.

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::{Request, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use quorate_checkpoint::{Flaw, FlawKind, JsonError, PostError, Posted, Posting};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    error::{ApiError, FalseSignature},
    verify::{Content, in_pieces, read_body},
};
use crate::{app::App, board::Board, claims::Caller};

/// What became of a posting. It is on the server's disk.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Taken {
    /// How many signers have signed the checkpoint now.
    signatures: usize,
    /// How many must.
    needed: usize,
    /// Whether enough have.
    complete: bool,
    /// Signatures of the posting that are false. They were not kept.
    false_signatures: Vec<FalseSignature>,
}

/// The sets of signers, the newest checkpoint that enough signers have signed, others that wait for signatures, and evidence.
///
/// Nodes verify all of it: `quorate-server checkpoint fetch`.
#[utoipa::path(get, path = "/v1/checkpoint", responses(
    (status = 200, description = "At most 8 MiB", body = super::schema::Served),
    (status = 404, description = "This server has no checkpoints", body = super::error::ErrorBody),
    (status = 503, description = "Too many requests are in progress", body = super::error::ErrorBody),
))]
pub(super) async fn serve(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, ApiError> {
    let json = board(&app)?.shown().json;
    let place = app.budget.request(caller.client()).ok_or_else(ApiError::busy)?;
    Ok(in_pieces(json, "application/json", place))
}

/// Takes signatures of a checkpoint: what `quorate checkpoint sign` prints.
///
/// Each signature is verified before it is kept. When the answer leaves, they are on the disk.
#[utoipa::path(
    post,
    path = "/v1/checkpoint",
    request_body = super::schema::Posting,
    responses(
        (status = 200, description = "At least one signature is true", body = Taken),
        (status = 400, description = "The body is not understood", body = super::error::ErrorBody),
        (status = 404, description = "This server has no checkpoints", body = super::error::ErrorBody),
        (status = 408, description = "The body came too slowly", body = super::error::ErrorBody),
        (status = 409, description = "There are higher checkpoints", body = super::error::ErrorBody),
        (status = 413, description = "The body is too long", body = super::error::ErrorBody),
        (status = 415, description = "The content is of another type, or packed", body = super::error::ErrorBody),
        (status = 422, description = "The checkpoint cannot be used, or all its signatures are false", body = super::error::ErrorBody),
        (status = 500, description = "It could not be written down", body = super::error::ErrorBody),
        (status = 503, description = "Too many postings are in progress", body = super::error::ErrorBody),
    )
)]
pub(super) async fn post(State(app): State<Arc<App>>, request: Request) -> Response {
    match take(&app, request).await {
        Ok(taken) => {
            app.metrics.request("checkpoint", "answered");
            Json(taken).into_response()
        }
        Err(error) => {
            app.metrics.request("checkpoint", error.body.error.code);
            error.into_response()
        }
    }
}

async fn take(app: &Arc<App>, request: Request) -> Result<Taken, ApiError> {
    let board = board(app)?.clone();
    // A page in a browser cannot send this type.
    match Content::of(request.headers()) {
        Ok(Content::Json) => {}
        Ok(_) => {
            let message = "found the Content-Type of a stream, expected application/json";
            return Err(ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content-type", message));
        }
        Err(mut error) => {
            let message = &mut error.body.error.message;
            *message = message.replace(Content::EXPECTED, "application/json");
            return Err(error);
        }
    }
    let caller = Caller::of(request.extensions()).ok_or_else(ApiError::nameless)?;
    let places =
        (app.budget.request(caller.client()).ok_or_else(ApiError::busy)?, board.place().ok_or_else(ApiError::busy)?);
    let mut held = app.budget.holding();
    let in_force = app.in_force();
    let longest = in_force.config.checkpoint.body_bytes;
    let body = read_body(&in_force.config.limits, request, longest, &mut held).await.map_err(|mut error| {
        if error.status == StatusCode::PAYLOAD_TOO_LARGE {
            error.body.error.message =
                format!("the posting is longer than {longest} bytes, the limit; post fewer signatures at once");
        }
        error
    })?;
    // What it holds as numbers and lists takes more than its text.
    held.take(body.len() * POSTING).ok_or_else(ApiError::busy)?;
    let posted = tokio::task::spawn_blocking(move || {
        // A client that goes away does not end this, so its place and its memory are taken until it is done.
        let _taken = (places, held);
        let posting = Posting::from_json(&body).map_err(ApiError::from)?;
        board.post(&posting).map_err(|_| {
            // The board has logged the reason. The path is nobody's business.
            let message = "the server cannot write it down; ask its operator to look at the log, and post it again";
            ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", message)
        })
    });
    let failed = |_| ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", "the posting could not be verified");
    let posted = posted.await.map_err(failed)??;
    let flaws = match &posted {
        Ok(Posted { flaws, .. }) | Err(PostError::NothingTrue { flaws }) => flaws.as_slice(),
        Err(_) => &[],
    };
    app.metrics.false_signatures(false_signatures(flaws).len());
    let Posted { signatures, needed, flaws, .. } = posted?;
    Ok(Taken { signatures, needed, complete: signatures >= needed, false_signatures: false_signatures(&flaws) })
}

/// So many bytes of memory a posting takes for each byte of its text, at most.
const POSTING: usize = 4;

fn board(app: &App) -> Result<&Arc<Board>, ApiError> {
    app.board.as_ref().ok_or_else(|| {
        let message = "this server has no checkpoints; its operator sets sets, pin, chain_id and folder in the section [checkpoint] of \
                       the configuration, as docs/server.md says";
        ApiError::new(StatusCode::NOT_FOUND, "no-checkpoints", message)
    })
}

fn false_signatures(flaws: &[Flaw]) -> Vec<FalseSignature> {
    let of_one = |flaw: &Flaw| match &flaw.kind {
        FlawKind::Signature { index, reason } => Some(FalseSignature { index: *index, reason: reason.to_string() }),
        _ => None,
    };
    flaws.iter().filter_map(of_one).collect()
}

impl From<JsonError> for ApiError {
    fn from(error: JsonError) -> Self {
        match error {
            JsonError::TooLarge { .. } => Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-long", error.to_string()),
            _ => Self::new(StatusCode::BAD_REQUEST, "bad-body", error.to_string()),
        }
    }
}

impl From<PostError> for ApiError {
    fn from(error: PostError) -> Self {
        let (status, code) = match &error {
            PostError::OtherChain => (StatusCode::UNPROCESSABLE_ENTITY, "other-chain"),
            PostError::Epoch { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "set-epoch"),
            PostError::Expired { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "expired"),
            PostError::FromTheFuture { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "from-the-future"),
            PostError::Lower { .. } | PostError::Superseded => (StatusCode::CONFLICT, "lower"),
            PostError::NothingTrue { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "false-signatures"),
            _ => (StatusCode::UNPROCESSABLE_ENTITY, "refused"),
        };
        let mut this = Self::new(status, code, error.to_string());
        if let PostError::NothingTrue { flaws } = &error {
            this.body.error.false_signatures = false_signatures(flaws);
        }
        this
    }
}
