//! Whether the server is well.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};

use crate::app::App;

/// Whether the process answers.
#[utoipa::path(get, path = "/livez", responses((status = 200, description = "It answers", body = String)))]
pub(super) async fn live() -> &'static str {
    "ok\n"
}

/// Whether the server takes more claims. It says no before its queue is full, and as soon as it begins to stop.
#[utoipa::path(get, path = "/readyz", responses(
    (status = 200, description = "It takes more claims", body = String),
    (status = 503, description = "Send claims to another server", body = String),
))]
pub(super) async fn ready(State(app): State<Arc<App>>) -> Response {
    match app.ready() {
        Ok(()) => "ok\n".into_response(),
        Err(why) => (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")).into_response(),
    }
}

/// What is counted, for Prometheus.
#[utoipa::path(get, path = "/metrics", responses((status = 200, description = "OpenMetrics text", body = String)))]
pub(super) async fn metrics(State(app): State<Arc<App>>) -> Response {
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, content_type)], app.metrics_text()).into_response()
}
