//! The description of the interface, made from the types and functions that implement it.

use axum::Json;
use utoipa::OpenApi;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "quorate-server",
        description = "Verifies BLS signatures in batches, and says which one is false. A path that does not exist is answered with 404 \
                       (`not-found`), and another method than those of a path with 405 (`method`)."
    ),
    paths(
        super::verify::verify,
        super::checkpoint::serve,
        super::checkpoint::post,
        super::status::known,
        super::status::sources,
        super::admin::pardon,
        super::admin::ban,
        super::health::live,
        super::health::ready,
        super::health::metrics,
    )
)]
struct Document;

/// The description as JSON.
#[must_use]
pub fn document() -> String {
    serde_json::to_string_pretty(&Document::openapi()).unwrap_or_default()
}

pub(super) async fn serve() -> Json<utoipa::openapi::OpenApi> {
    Json(Document::openapi())
}
