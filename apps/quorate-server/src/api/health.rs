//! Whether the server is well.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use quorate_host::metrics as told;

use crate::app::App;

/// Whether the process answers, and the threads that verify do not hang. Ask again and again: what they do between two questions counts.
#[utoipa::path(get, path = "/livez", responses(
    (status = 200, description = "It answers", body = String),
    (status = 503, description = "The threads that verify have hung for a minute; start the server again", body = String),
))]
pub(super) async fn live(State(app): State<Arc<App>>) -> Response {
    told::ready(app.lives())
}

/// Whether the server takes more claims. It says no before its queue, or its places and memory for requests, are full, and as soon as it
/// begins to stop.
#[utoipa::path(get, path = "/readyz", responses(
    (status = 200, description = "It takes more claims", body = String),
    (status = 503, description = "Send claims to another server", body = String),
))]
pub(super) async fn ready(State(app): State<Arc<App>>) -> Response {
    told::ready(app.ready())
}

/// What is counted, for Prometheus.
#[utoipa::path(get, path = "/metrics", responses((status = 200, description = "OpenMetrics text", body = String)))]
pub(super) async fn metrics(State(app): State<Arc<App>>) -> Response {
    told::answer(app.metrics_text())
}
