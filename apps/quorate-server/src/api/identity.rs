//! Who sends a request. Whatever is served to clients comes behind this.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header::WWW_AUTHENTICATE},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use http_body_util::{BodyExt as _, Limited};
use tokio::time::timeout;

use super::{calls::is_call, error::ApiError};
use crate::{app::App, grpc};

/// Gives the request its [`Caller`](crate::claims::Caller), or refuses it without a look at its body.
pub(super) async fn identified(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let why = match app.caller(&request) {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            return next.run(request).await;
        }
        Err(why) => why.to_string(),
    };
    app.metrics.unknown_client();
    if is_call(request.headers()) {
        return grpc::unknown_client(&why);
    }
    discard(request.into_body()).await;
    let mut response = ApiError::new(StatusCode::UNAUTHORIZED, "unknown-client", why).into_response();
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

/// Lets a short body pass and keeps nothing of it. On HTTP/2, some clients that still send take the end of their stream for a failure, and do
/// not show the answer.
async fn discard(body: Body) {
    let mut body = Limited::new(body, DISCARDED);
    let pass = async { while let Some(Ok(_)) = body.frame().await {} };
    // Whoever sends more, or slowly, may see the failure.
    let _ = timeout(PATIENCE, pass).await;
}

/// Bytes that pass.
const DISCARDED: usize = 256 << 10;
/// How long they may take.
const PATIENCE: Duration = Duration::from_secs(1);
