//! HTTP: what is served on the listeners for claims, and on the socket for administration.

mod error;
mod schema;
mod stream;
mod verify;
mod checkpoint;
mod status;
mod admin;
mod health;
mod calls;
mod identity;
mod openapi;

use std::sync::Arc;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    http::StatusCode,
    middleware::from_fn_with_state,
    routing::{get, post},
};

use self::error::ApiError;
pub use self::openapi::document;
#[cfg(test)]
pub(crate) use self::status::FalseClaim;
pub(crate) use self::status::{Evidence, Source, Status};
use crate::{app::App, grpc};

/// What is served to those who send claims, beside `pages` for people. Whoever is no client gets nothing but the server's health. The
/// counters are among it if there is no address for them alone.
pub(crate) fn public(app: &Arc<App>, pages: Router<Arc<App>>, with_metrics: bool) -> Router {
    let to_everybody = health().merge(of_grpc(app, grpc::tools::health(app))).method_not_allowed_fallback(other_method);
    let to_clients = counters(with_metrics)
        .merge(of_grpc(app, grpc::routes(app)))
        .merge(pages)
        .route("/openapi.json", get(openapi::serve))
        .route("/v1/known", get(status::known))
        .route("/v1/sources", get(status::sources))
        .route("/v1/verify", post(verify::verify))
        .route("/v1/checkpoint", get(checkpoint::serve).post(checkpoint::post))
        .fallback(nothing_here)
        .method_not_allowed_fallback(other_method)
        .layer(from_fn_with_state(app.clone(), identity::identified));
    to_clients.merge(to_everybody).with_state(app.clone())
}

/// What is served to those who send claims on connections that come while the server stops: that it stops.
pub(crate) fn draining(app: &Arc<App>, with_metrics: bool) -> Router {
    let to_clients = counters(with_metrics).layer(from_fn_with_state(app.clone(), identity::identified));
    let to_everybody = health().merge(of_grpc(app, grpc::tools::health(app)));
    to_clients.merge(to_everybody).fallback(stopping).with_state(app.clone())
}

/// What is served on the address for metrics.
pub(crate) fn metrics_alone(app: &Arc<App>) -> Router {
    health()
        .merge(counters(true))
        .fallback(nothing_but_metrics)
        .method_not_allowed_fallback(nothing_but_get)
        .with_state(app.clone())
}

/// What is served to administrators, on their own socket.
pub(crate) fn administration(app: &Arc<App>) -> Router {
    health()
        .merge(counters(true))
        .route("/openapi.json", get(openapi::serve))
        .route("/v1/known", get(status::known))
        .route("/v1/sources", get(status::all_sources))
        .route("/v1/pardon", post(admin::pardon))
        .route("/v1/ban", post(admin::ban))
        // An administrator is served when there is no memory left for others, so what this takes is bounded by itself.
        .layer(DefaultBodyLimit::max(admin::LONGEST_BODY))
        .fallback(nothing_here)
        .method_not_allowed_fallback(other_method)
        .with_state(app.clone())
}

/// What is served to administrators on connections that come while the server stops.
pub(crate) fn administration_draining(app: &Arc<App>) -> Router {
    health().merge(counters(true)).fallback(stopping).with_state(app.clone())
}

/// Whether the server lives, and takes claims.
fn health() -> Router<Arc<App>> {
    Router::new().route("/livez", get(health::live)).route("/readyz", get(health::ready))
}

/// Routes of gRPC, to which nothing but calls of gRPC comes.
fn of_grpc(app: &Arc<App>, routes: Router<Arc<App>>) -> Router<Arc<App>> {
    routes.route_layer(from_fn_with_state(app.clone(), calls::alone))
}

/// What is counted.
fn counters(served: bool) -> Router<Arc<App>> {
    let none = Router::new();
    if served { none.route("/metrics", get(health::metrics)) } else { none }
}

async fn stopping() -> ApiError {
    let message = "the server is stopping; send it to another one";
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "stopped", message)
}

async fn nothing_here() -> ApiError {
    ApiError::new(
        StatusCode::NOT_FOUND,
        "not-found",
        "there is nothing at this path; /openapi.json lists what there is",
    )
}

async fn nothing_but_metrics() -> ApiError {
    let message = "this address serves /metrics, /livez and /readyz; send claims to another one";
    ApiError::new(StatusCode::NOT_FOUND, "not-found", message)
}

async fn nothing_but_get() -> ApiError {
    let message = "this address answers to GET alone; send claims to another one";
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method", message)
}

async fn other_method() -> ApiError {
    let message = "this path is served with another method; /openapi.json says which";
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method", message)
}
