//! Connections: how many, how long they may be silent, and how they end.

use std::{convert::Infallible, pin::pin, sync::Arc, time::Duration};

use axum::{Router, body::Body, extract::Request, http::StatusCode, response::IntoResponse as _};
use hyper::{
    body::Incoming,
    header::{HOST, HeaderValue, X_CONTENT_TYPE_OPTIONS},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use quorate_host::is_own_name;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt as _;

/// Bounds of time and memory of the interface. Times are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApiLimits {
    /// Connections at once. Further ones wait.
    pub connections: usize,
    /// The time in which the head of a request must arrive, and the longest pause between two requests.
    pub header_ms: u64,
    /// The time in which a body must arrive.
    pub body_ms: u64,
    /// The time in which a client must take a part of an answer.
    pub write_ms: u64,
    /// How long a connection lasts. Then it ends after the request in progress, at the latest after `write_ms`.
    pub connection_ms: u64,
    /// The longest body.
    pub body_bytes: usize,
    /// How long a task waits for the node's loop.
    pub order_ms: u64,
    /// How long requests in progress may take when the node stops.
    pub drain_ms: u64,
}

impl Default for ApiLimits {
    /// 64 connections, and a body of at most 256 KiB: together 16 MiB, and 1 MiB for heads of requests.
    fn default() -> Self {
        Self {
            connections: 64,
            header_ms: 10_000,
            body_ms: 10_000,
            write_ms: 10_000,
            connection_ms: 300_000,
            body_bytes: 256 << 10,
            order_ms: 10_000,
            drain_ms: 5_000,
        }
    }
}

/// The longest head of a request, in bytes.
const HEAD: usize = 16 << 10;
/// The most headers of a request.
const HEADERS: usize = 64;

/// Accepts connections until `stop` is ready, and then lets those that are there end.
pub(super) async fn run(
    listener: TcpListener,
    router: Router,
    hosts: Arc<[String]>,
    limits: ApiLimits,
    stop: impl Future<Output = ()>,
) {
    let free = Arc::new(Semaphore::new(limits.connections.clamp(1, Semaphore::MAX_PERMITS)));
    let (stopping, seen) = watch::channel(());
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break,
            // One that ended is forgotten.
            Some(_) = connections.join_next() => continue,
            accepted = next(&listener, &free) => accepted,
        };
        if let Some((stream, place)) = accepted {
            let connection = Connection { router: router.clone(), hosts: hosts.clone(), limits };
            connections.spawn(connection.serve(stream, place, seen.clone()));
        }
    }
    drop(listener);
    drop(stopping);
    // What has not ended by then is cut off when the set is dropped.
    let _ = timeout(Duration::from_millis(limits.drain_ms), async { while connections.join_next().await.is_some() {} })
        .await;
}

/// The next connection, once there is a place for one.
async fn next(listener: &TcpListener, free: &Arc<Semaphore>) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let place = free.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, place)),
        Err(error) => {
            // Often there are no file descriptors left: they come back.
            tracing::debug!(%error, "cannot accept a connection; trying again");
            sleep(Duration::from_millis(100)).await;
            None
        }
    }
}

struct Connection {
    router: Router,
    hosts: Arc<[String]>,
    limits: ApiLimits,
}

impl Connection {
    async fn serve(self, stream: TcpStream, _place: OwnedSemaphorePermit, mut stopping: watch::Receiver<()>) {
        let Self { router, hosts, limits } = self;
        let [header, body, write, whole] =
            [limits.header_ms, limits.body_ms, limits.write_ms, limits.connection_ms].map(Duration::from_millis);
        // Answers are handed over whole, so nothing is gained by waiting for more.
        let _ = stream.set_nodelay(true);
        let mut stream = TimeoutStream::new(stream);
        // While a request waits for the node's loop, nothing is read.
        stream.set_read_timeout(Some(header.max(body) + Duration::from_millis(limits.order_ms)));
        stream.set_write_timeout(Some(write));
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let (router, hosts) = (router.clone(), hosts.clone());
            async move {
                let request: Request = request.map(Body::new);
                let mut response = if is_ours(&request, &hosts) {
                    router.oneshot(request).await.unwrap_or_else(|never| match never {})
                } else {
                    let text = "the header Host names another server; call this one by its IP address or as localhost, or \
                                list the name in the node's hosts\n";
                    (StatusCode::MISDIRECTED_REQUEST, text).into_response()
                };
                response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
                Ok::<_, Infallible>(response)
            }
        });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(header).max_buf_size(HEAD).max_headers(HEADERS);
        let mut connection = pin!(http.serve_connection(TokioIo::new(Box::pin(stream)), service));
        tokio::select! {
            ended = connection.as_mut() => return log(ended),
            // It ends with an error, as the sender is dropped.
            _ = stopping.changed() => {}
            () = sleep(whole) => {}
        }
        connection.as_mut().graceful_shutdown();
        if let Ok(ended) = timeout(write, connection).await {
            log(ended);
        }
    }
}

fn log(ended: Result<(), hyper::Error>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}

/// Whether a request calls the node by a name of its own.
fn is_ours(request: &Request, hosts: &[String]) -> bool {
    let authority = request.uri().authority().map(|authority| authority.as_str());
    is_own_name(authority, request.headers().get_all(HOST).iter().map(HeaderValue::as_bytes), hosts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_was_pointed_here_is_not_ours() {
        let hosts = ["node.example".to_owned()];
        let request = |host: &str| Request::builder().header(HOST, host).body(Body::empty()).unwrap();
        for host in ["localhost", "LOCALHOST:9", "127.0.0.1:1", "[::1]:9", "[::1]", "node.example:80", "10.0.0.1"] {
            assert!(is_ours(&request(host), &hosts), "{host}");
        }
        for host in ["evil.example", "evil.example:9", "localhost.evil.example", "127.0.0.1.evil.example", "", ":80"] {
            assert!(!is_ours(&request(host), &hosts), "{host}");
        }
        let absolute = Request::builder().uri("http://evil.example/").header(HOST, "localhost").body(Body::empty());
        assert!(!is_ours(&absolute.unwrap(), &hosts));
    }
}
