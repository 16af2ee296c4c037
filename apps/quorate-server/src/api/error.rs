//! What a client is told where it gets no verdicts.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header::RETRY_AFTER},
    response::{IntoResponse, Response},
};
use quorate_batcher::Refused;
use quorate_formats::{Malformed, Place};
use serde::Serialize;
use utoipa::ToSchema;

use crate::claims::BadClaims;

/// The body of every answer that is not a success.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ErrorBody {
    pub(crate) error: ErrorObject,
}

/// What went wrong.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ErrorObject {
    /// For a program: `bad-claim`, `bad-body`, `overloaded` and so on.
    #[schema(value_type = String)]
    pub(crate) code: &'static str,
    /// For a person: the place, the field, what was found, what was expected, what to do.
    pub(crate) message: String,
    /// The line of a stream, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<u64>,
    /// The claim of a document, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) element: Option<u64>,
    /// Signatures of a checkpoint that are false.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) false_signatures: Vec<FalseSignature>,
    /// The row of a table, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) row: Option<u64>,
}

/// A signature of a checkpoint that is false.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct FalseSignature {
    /// The signer's place in the set, from 0 on.
    pub(crate) index: u16,
    /// What is wrong with it.
    pub(crate) reason: String,
}

/// An answer that is not a success.
#[derive(Debug)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) body: Box<ErrorBody>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        let error = ErrorObject {
            code,
            message: message.into(),
            line: None,
            element: None,
            row: None,
            false_signatures: Vec::new(),
        };
        Self { status, body: Box::new(ErrorBody { error }) }
    }

    /// The query of a request is not understood.
    pub(crate) fn bad_query(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-query", message)
    }

    /// A request came past the question who sends it.
    pub(crate) fn nameless() -> Self {
        let message = "the request came past its limits, a fault of the server; please report it";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", message)
    }

    /// There is no place for another request, or no memory.
    pub(crate) fn busy() -> Self {
        let message = "too many requests are in progress; send it again later";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", message)
    }

    /// The body did not arrive in time.
    pub(crate) fn slow(ms: u64) -> Self {
        let message = format!("the body did not arrive within {ms} ms, the limit; send it faster, or in smaller parts");
        Self::new(StatusCode::REQUEST_TIMEOUT, "timeout", message)
    }

    /// The body is longer than it may be.
    pub(crate) fn body_too_long(limit: usize) -> Self {
        Self::too_long(format!(
            "the body is longer than {limit} bytes, the limit; send several requests, or a stream of JSON lines"
        ))
    }

    /// A line of a stream is longer than it may be.
    pub(crate) fn line_too_long(limit: usize) -> Self {
        Self::too_long(format!("the line is longer than {limit} bytes, the limit; split its claim into smaller ones"))
    }

    fn too_long(message: String) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-long", message)
    }

    /// The client went away, or its body is not as its head says.
    pub(crate) fn cut_off() -> Self {
        let message = "the body ended before its end; send it again";
        Self::new(StatusCode::BAD_REQUEST, "cut-off", message)
    }

    /// Not one claim of a request was verified, for this reason.
    pub(crate) fn all_refused(refused: Refused) -> Option<Self> {
        let (status, code) = match refused {
            Refused::Overloaded | Refused::SuspectsOverloaded | Refused::Stopped => {
                (StatusCode::SERVICE_UNAVAILABLE, refused.name())
            }
            // Nobody shall repeat what is refused for ever.
            Refused::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "too-long"),
            Refused::Banned => (StatusCode::FORBIDDEN, refused.name()),
            Refused::Failed => (StatusCode::INTERNAL_SERVER_ERROR, refused.name()),
            _ => return None,
        };
        Some(Self::new(status, code, refused.to_string()))
    }
}

impl From<BadClaims> for ApiError {
    fn from(error: BadClaims) -> Self {
        let (status, code) = match &error {
            BadClaims::Claim(_) => (StatusCode::UNPROCESSABLE_ENTITY, "bad-claim"),
            BadClaims::TooMany(_) => (StatusCode::PAYLOAD_TOO_LARGE, "too-many"),
            BadClaims::NoRoom => return Self::busy(),
            BadClaims::Body(_) | BadClaims::Empty => (StatusCode::BAD_REQUEST, "bad-body"),
        };
        let mut this = Self::new(status, code, error.to_string());
        if let BadClaims::Claim(Malformed { place, .. }) = error {
            let named = &mut this.body.error;
            match place {
                Place::Line(line) => named.line = Some(line),
                Place::Row(row) => named.row = Some(row),
                Place::Element(element) => named.element = Some(element),
                // A request holds claims, and no blocks of a chain.
                Place::Slot(_) | Place::Round(_) | Place::Height(_) => {}
            }
        }
        this
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body)).into_response();
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
