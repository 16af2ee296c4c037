//! Which path is answered by what.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderValue, StatusCode, header::X_CONTENT_TYPE_OPTIONS},
    middleware::map_response,
    response::Response,
    routing::get,
};
use quorate_host::{
    metrics::{self as told, fresh},
    page::{self, Resource},
    unix_ms,
};
use serde_json::json;

use super::{app::App, error::ApiError, task};
use crate::{board::View, dashboard};

pub(super) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(shown))
        .route(page::STYLE_PATH, get(async || page::style(dashboard::STYLE)))
        .route(page::SCRIPT_PATH, get(async || page::script()))
        .route("/livez", get(live))
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
        self.board.view(unix_ms())
    }
}

async fn shown(State(app): State<Arc<App>>) -> Resource<String> {
    dashboard::page(&app.view()).resource()
}

async fn live(State(app): State<Arc<App>>) -> Response {
    told::ready(app.board.liveness())
}

async fn ready(State(app): State<Arc<App>>) -> Response {
    match app.board.readiness(unix_ms()) {
        Ok(()) => fresh(Json(json!({ "ready": true, "reasons": [] }))),
        Err(reasons) => fresh((StatusCode::SERVICE_UNAVAILABLE, Json(json!({ "ready": false, "reasons": reasons })))),
    }
}

async fn metrics(State(app): State<Arc<App>>) -> Response {
    told::answer(app.board.metrics(unix_ms()))
}

async fn status(State(app): State<Arc<App>>) -> Response {
    fresh(Json(app.view()))
}

async fn tasks(State(app): State<Arc<App>>) -> Response {
    let View { now_ms, tasks, .. } = app.view();
    fresh(Json(json!({ "now_ms": now_ms, "tasks": tasks })))
}
