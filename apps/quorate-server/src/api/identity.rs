//! Who sends a request. Whatever is served to clients comes behind this.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{
        HeaderValue, StatusCode,
        header::{CONTENT_TYPE, WWW_AUTHENTICATE},
    },
    middleware::Next,
    response::{IntoResponse as _, Response},
};

use super::error::ApiError;
use crate::{app::App, grpc};

/// Gives the request its [`Caller`](crate::claims::Caller), or refuses it before anything of its body is read.
pub(super) async fn identified(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let why = match app.caller(&request) {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            return next.run(request).await;
        }
        Err(why) => why.to_string(),
    };
    app.metrics.unknown_client();
    let content = request.headers().get(CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    if content.starts_with(b"application/grpc") {
        return grpc::unknown_client(&why);
    }
    let mut response = ApiError::new(StatusCode::UNAUTHORIZED, "unknown-client", why).into_response();
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}
