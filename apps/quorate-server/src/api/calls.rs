//! Calls of gRPC, told from what a page in a browser can send.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, Method, StatusCode, header::CONTENT_TYPE},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use quorate_host::listen::media_type;

use super::error::ApiError;
use crate::app::App;

/// Lets calls of gRPC pass, and refuses everything else without a look at its body. A page in a browser cannot send their type
/// without asking the server first, and the server never allows it. So it is with the types of `/v1/verify` and `/v1/checkpoint`.
pub(super) async fn alone(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    if request.method() == Method::POST && is_call(request.headers()) {
        return next.run(request).await;
    }
    app.metrics.request("unknown", "content-type");
    let message = "this path takes calls of gRPC alone: POST, with one header Content-Type: application/grpc";
    ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content-type", message).into_response()
}

/// Whether a request is a call, as its one content type says.
pub(super) fn is_call(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let (Some(stated), None) = (types.next(), types.next()) else { return false };
    let Ok(stated) = stated.to_str() else { return false };
    let kind = media_type(stated);
    kind == "application/grpc" || kind.starts_with("application/grpc+")
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_call_is_known_by_its_one_content_type() {
        let with = |types: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for &stated in types {
                headers.append(CONTENT_TYPE, HeaderValue::from_static(stated));
            }
            is_call(&headers)
        };
        for stated in ["application/grpc", "application/grpc+proto", "Application/gRPC", "application/grpc; x=1"] {
            assert!(with(&[stated]), "{stated}");
        }
        for types in [
            &[][..],
            &["text/plain"],
            &["text/plain; application/grpc"],
            &["text/plain, application/grpc"],
            &["application/grpc-web"],
            &["application/grpc", "text/plain"],
            &["application/grpc", "application/grpc"],
        ] {
            assert!(!with(types), "{types:?}");
        }
    }
}
