//! What a client is told that gets no answer to its request.

use axum::{
    Json,
    http::{
        HeaderValue, StatusCode,
        header::{RETRY_AFTER, WWW_AUTHENTICATE},
    },
    response::{IntoResponse, Response},
};
use serde_json::json;

/// An answer that is not a success: `{"error": {"code": …, "message": …}}`.
#[derive(Debug)]
pub(super) struct ApiError {
    status: StatusCode,
    /// For a program.
    code: &'static str,
    /// For a person: what was found, what was expected, what to do.
    message: String,
}

impl ApiError {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    /// There is no room, or nobody answers. It can be sent again.
    pub(super) fn unavailable(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, code, message)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = Json(json!({ "error": { "code": self.code, "message": self.message } }));
        let mut response = (self.status, body).into_response();
        let header = match self.status {
            StatusCode::SERVICE_UNAVAILABLE => (RETRY_AFTER, HeaderValue::from_static("1")),
            StatusCode::UNAUTHORIZED => (WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
            _ => return response,
        };
        response.headers_mut().insert(header.0, header.1);
        response
    }
}
