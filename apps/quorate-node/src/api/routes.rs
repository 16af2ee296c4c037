//! Which path is answered by what.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use axum::{
    Json, Router,
    extract::State,
    http::{
        HeaderValue, StatusCode,
        header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS},
    },
    middleware::map_response,
    response::{IntoResponse, Response},
    routing::get,
};
use quorate_host::page::{self, Resource};
use serde_json::json;

use super::{app::App, error::ApiError, task};
use crate::{board::View, dashboard};

pub(super) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(shown))
        .route(page::STYLE_PATH, get(async || page::style(dashboard::STYLE)))
        .route(page::SCRIPT_PATH, get(async || page::script()))
        .route("/livez", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .route("/v1/status", get(status))
        .route("/v1/tasks", get(tasks).post(task::post))
        .fallback(async || {
            let message = "there is nothing at this path; docs/node.md lists what there is";
            ApiError::new(StatusCode::NOT_FOUND, "not-found", message)
        })
        .method_not_allowed_fallback(async || {
            let message = "this path is served with another method; docs/node.md says which";
            ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method", message)
        })
        .layer(map_response(as_stated))
        .with_state(app)
}

/// Keeps browsers from guessing what an answer is.
async fn as_stated(mut response: Response) -> Response {
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

impl App {
    fn view(&self) -> View {
        self.board.view(now_ms())
    }
}

/// Milliseconds since 1970. A clock before 1970 is wrong, and then nothing is recent.
fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

async fn shown(State(app): State<Arc<App>>) -> Resource<String> {
    dashboard::page(&app.view()).resource()
}

async fn ready(State(app): State<Arc<App>>) -> Response {
    match app.board.readiness(now_ms()) {
        Ok(()) => fresh(Json(json!({ "ready": true, "reasons": [] }))),
        Err(reasons) => fresh((StatusCode::SERVICE_UNAVAILABLE, Json(json!({ "ready": false, "reasons": reasons })))),
    }
}

async fn metrics(State(app): State<Arc<App>>) -> Response {
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    fresh(([(CONTENT_TYPE, content_type)], app.board.metrics(now_ms())))
}

async fn status(State(app): State<Arc<App>>) -> Response {
    fresh(Json(app.view()))
}

async fn tasks(State(app): State<Arc<App>>) -> Response {
    let View { now_ms, tasks, .. } = app.view();
    fresh(Json(json!({ "now_ms": now_ms, "tasks": tasks })))
}

/// An answer that is true only now.
fn fresh(response: impl IntoResponse) -> Response {
    ([(CACHE_CONTROL, "no-store")], response).into_response()
}
