//! What a running program tells those who watch it: that it lives, whether it can do its work, and what it counts.
//!
//! | request | answer |
//! |---|---|
//! | `GET /livez` | [`live`] |
//! | `GET /readyz` | [`ready`] |
//! | `GET /metrics` | [`answer`] with a [`text`] |
//!
//! A program with an interface of its own calls these from its routes. One that has nothing else to serve takes [`routes`] and
//! [`BOUNDS`].

use std::{
    fmt::Display,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use axum::{
    Router,
    http::{
        StatusCode,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
    routing::get,
};
use prometheus_client::{
    encoding::text::encode,
    metrics::{counter::Counter, gauge::Gauge, info::Info},
    registry::{Registry, Unit},
};
use tokio::task::spawn_blocking;

use crate::listen::Bounds;

/// Labels with names and values that are fixed.
pub type Labels<const N: usize> = [(&'static str, &'static str); N];

/// A number with a fraction.
pub type RealGauge = Gauge<f64, AtomicU64>;

/// A program that is watched.
pub trait Watched: Send + Sync + 'static {
    /// Why the program cannot do its work now. May wait for a disk.
    ///
    /// # Errors
    /// One sentence for a person.
    fn ready(&self) -> Result<(), String>;

    /// What the program counts, as [`text`] writes it. May wait for a disk.
    fn metrics(&self) -> String;
}

/// What whoever watches may take: eight connections, each of which asks one small thing after the other.
pub const BOUNDS: Bounds = Bounds {
    connections: 8,
    streams: None,
    head_bytes: 16 << 10,
    head: Duration::from_secs(10),
    idle: Duration::from_secs(120),
    write: Duration::from_secs(10),
    longest: None,
};

/// The three resources of a program, and nothing else.
pub fn routes<W: Watched>(watched: &Arc<W>) -> Router {
    let [of_ready, of_metrics] = [watched, watched].map(Arc::clone);
    Router::new()
        .route("/livez", get(live))
        .route("/readyz", get(async move || asked(move || of_ready.ready()).await.map(ready)))
        .route("/metrics", get(async move || asked(move || of_metrics.metrics()).await.map(answer)))
}

/// What a program says, asked on a thread that may wait.
async fn asked<T: Send + 'static>(ask: impl FnOnce() -> T + Send + 'static) -> Result<T, StatusCode> {
    // A panic is in the log already.
    spawn_blocking(ask).await.map_err(|_| StatusCode::INTERNAL_SERVER_ERROR)
}

/// Whether the process answers.
pub async fn live() -> &'static str {
    "ok\n"
}

/// Whether a program can do its work: 200, or 503 with the reason.
pub fn ready(ready: Result<(), impl Display>) -> Response {
    match ready {
        Ok(()) => fresh("ok\n"),
        Err(why) => fresh((StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n"))),
    }
}

/// A text of metrics with its type.
pub fn answer(text: String) -> Response {
    fresh(([(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text))
}

/// An answer that is true only now.
pub fn fresh(response: impl IntoResponse) -> Response {
    ([(CACHE_CONTROL, "no-store")], response).into_response()
}

/// What is registered, in the text that Prometheus reads (OpenMetrics 1.0).
pub fn text(registry: &Registry) -> String {
    let mut text = String::new();
    // Writing to a text does not fail.
    let _ = encode(&mut text, registry);
    text
}

/// A number as it is now, for a registry that is written once.
pub fn number(number: u64) -> Gauge<u64, AtomicU64> {
    let gauge = Gauge::default();
    gauge.set(number);
    gauge
}

/// The same of a number with a fraction.
pub fn real(number: f64) -> RealGauge {
    let gauge = RealGauge::default();
    gauge.set(number);
    gauge
}

/// A counter that has counted so far, for a registry that is written once.
pub fn count(counted: u64) -> Counter {
    let counter = Counter::default();
    counter.inc_by(counted);
    counter
}

/// Registers what every program tells: when it started, in milliseconds since 1970, and which one it is. Returns the registry of the
/// program's own metrics, whose names begin with `prefix`.
pub fn begin<'a>(root: &'a mut Registry, prefix: &str, started_ms: u64, version: &str) -> &'a mut Registry {
    root.register_with_unit(
        "process_start_time",
        "When the process started, since 1970",
        Unit::Seconds,
        real(started_ms as f64 / 1000.0),
    );
    let registry = root.sub_registry_with_prefix(prefix);
    registry.register("build", "The program", Info::new([("version", version.to_owned())]));
    registry
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use hyper::{Method, Request};
    use tower::ServiceExt as _;

    use super::*;

    struct Told(Result<(), String>);

    impl Watched for Told {
        fn ready(&self) -> Result<(), String> {
            self.0.clone()
        }

        fn metrics(&self) -> String {
            let mut root = Registry::default();
            begin(&mut root, "quorate_tested", 1_500, "1.2.3");
            text(&root)
        }
    }

    async fn ask(told: &Arc<Told>, method: Method, path: &str) -> (u16, String, String) {
        let request = Request::builder().method(method).uri(path).body(Body::empty()).unwrap();
        let answer = routes(told).oneshot(request).await.unwrap();
        let kind = answer.headers().get(CONTENT_TYPE).map(|kind| kind.to_str().unwrap().to_owned());
        let status = answer.status().as_u16();
        let body = to_bytes(answer.into_body(), 1 << 20).await.unwrap();
        (status, kind.unwrap_or_default(), String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn three_resources_and_nothing_else() {
        let well = Arc::new(Told(Ok(())));
        assert_eq!(ask(&well, Method::GET, "/livez").await.0, 200);
        let (status, _, body) = ask(&well, Method::GET, "/readyz").await;
        assert_eq!((status, &*body), (200, "ok\n"));
        let (status, kind, body) = ask(&well, Method::GET, "/metrics").await;
        assert!(status == 200 && kind.starts_with("application/openmetrics-text"), "{kind}");
        assert!(
            body.ends_with("# EOF\n") && body.contains("quorate_tested_build_info{version=\"1.2.3\"} 1\n"),
            "{body}"
        );
        assert!(body.contains("process_start_time_seconds 1.5\n"), "{body}");
        for path in ["/", "/metrics/", "/v1/status"] {
            assert_eq!(ask(&well, Method::GET, path).await.0, 404, "{path}");
        }
        assert_eq!(ask(&well, Method::POST, "/metrics").await.0, 405);
        let ill = Arc::new(Told(Err("the disk is full".to_owned())));
        let (status, _, body) = ask(&ill, Method::GET, "/readyz").await;
        assert_eq!((status, &*body), (503, "the disk is full\n"));
        assert_eq!(ask(&ill, Method::GET, "/livez").await.0, 200);
    }
}
