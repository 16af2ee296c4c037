//! Connections: how many, how long they may be silent, and how they end.

mod activity;
mod authority;
mod readers;

use std::{
    convert::Infallible,
    io,
    os::fd::AsFd,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{Router, body::Body, extract::Request, http::StatusCode, response::IntoResponse};
use hyper::{
    Version,
    body::Incoming,
    header::{CONNECTION, HOST, HeaderValue},
    service::service_fn,
};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto::Builder,
};
use quorate_host::is_own_name;
use quorate_host::socket::SocketFile;
use rustix::net::{RecvFlags, recv};
use tokio::{
    io::{AsyncRead, AsyncWrite, Interest},
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{interval, sleep, timeout},
};
use tokio_io_timeout::TimeoutStream;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::ServiceExt as _;

use self::{
    activity::{Activities, Activity},
    authority::Renamed,
    readers::Readers,
};
use crate::{
    claims::Caller,
    config::{Config, ServerLimits},
};

/// What all connections of a listener share.
#[derive(Clone, Debug)]
pub(crate) struct Connections {
    limits: ServerLimits,
    /// Names by which a TCP client may call the server, beside those of loopback.
    hosts: Arc<[String]>,
    /// Whether the sources that claims name count on their connection alone.
    by_connection: bool,
    free: Arc<Semaphore>,
    activities: Arc<Activities>,
    /// How many connections there have been.
    numbers: Arc<AtomicU64>,
    /// Connections with something to answer.
    tracker: TaskTracker,
    /// Listeners, and the connections that come while the server drains.
    listeners: TaskTracker,
    /// Connections end after their requests, and new ones are only told that the server stops.
    stop: CancellationToken,
    /// No new connections.
    end: CancellationToken,
    /// Connections end where they are.
    abort: CancellationToken,
}

/// What a listener serves.
#[derive(Clone, Debug)]
pub(crate) struct Served {
    /// As long as the server runs.
    pub(crate) running: Router,
    /// To connections that come while it drains.
    pub(crate) draining: Router,
}

impl Connections {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            limits: config.limits.clone(),
            hosts: config.listen.hosts.as_slice().into(),
            by_connection: config.sources.by_connection,
            free: Arc::new(Semaphore::new(config.limits.connections)),
            activities: Activities::new(),
            numbers: Arc::default(),
            tracker: TaskTracker::new(),
            listeners: TaskTracker::new(),
            stop: CancellationToken::new(),
            end: CancellationToken::new(),
            abort: CancellationToken::new(),
        }
    }

    /// The same limits and signals, with connections of its own to give away.
    pub(crate) fn with_own(&self, at_most: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(at_most)), activities: Activities::new(), ..self.clone() }
    }

    /// Begins to drain: each connection ends after its requests. It is over when they have ended.
    pub(crate) async fn drain(&self) {
        self.stop.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }

    /// Ends listening, and waits for that.
    pub(crate) async fn end(&self) {
        self.end.cancel();
        self.listeners.close();
        self.listeners.wait().await;
    }

    /// Ends all connections at once.
    pub(crate) fn abort(&self) {
        self.end.cancel();
        self.abort.cancel();
    }

    /// Is cancelled when the server begins to stop.
    pub(crate) fn stopping(&self) -> &CancellationToken {
        &self.stop
    }

    /// How many more connections would be accepted.
    pub(crate) fn free(&self) -> usize {
        self.free.available_permits()
    }

    /// Accepts TCP connections until the server has stopped.
    pub(crate) fn listen_tcp(&self, listener: TcpListener, served: Served) {
        let this = self.clone();
        self.listeners.spawn(async move {
            while let Some(((stream, address), permit)) = this.next(|| listener.accept()).await {
                // Verdicts of a stream are small and must not wait for each other.
                let _ = stream.set_nodelay(true);
                this.begin(stream, permit, &served, Peer::Tcp, &address.ip().to_string());
            }
        });
    }

    /// Accepts connections on a Unix socket until the server has stopped.
    pub(crate) fn listen_unix(&self, (listener, file): (UnixListener, SocketFile), served: Served) {
        let this = self.clone();
        self.listeners.spawn(async move {
            let _file = file;
            while let Some(((stream, _), permit)) = this.next(|| listener.accept()).await {
                let process = stream.peer_cred().ok().and_then(|peer| peer.pid());
                let name = process.map_or("a Unix socket".to_owned(), |process| format!("process {process}"));
                this.begin(stream, permit, &served, Peer::Unix, &name);
            }
        });
    }

    /// The next connection, once there is room for one; `None` when the server has stopped.
    async fn next<T, F: Future<Output = io::Result<T>>>(
        &self,
        accept: impl Fn() -> F,
    ) -> Option<(T, OwnedSemaphorePermit)> {
        let accepted = async {
            let mut complained = false;
            let stream = loop {
                match accept().await {
                    Ok(stream) => break stream,
                    // Often there are no file descriptors left: they come back.
                    Err(error) => {
                        if !complained {
                            tracing::warn!(%error, "cannot accept a connection; trying again until it works");
                        }
                        complained = true;
                        sleep(Duration::from_millis(100)).await;
                    }
                }
            };
            // After the stream, because a listener that waits for clients must not keep a place from another one.
            Some((stream, self.place().await?))
        };
        tokio::select! {
            biased;
            () = self.end.cancelled() => None,
            accepted = accepted => accepted,
        }
    }

    /// A place for a connection. If none is free, the one that has been idle for the longest time gives up its own.
    async fn place(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(place) = self.free.clone().try_acquire_owned() {
            return Some(place);
        }
        loop {
            self.activities.close_the_most_idle();
            if let Ok(place) = timeout(Duration::from_millis(100), self.free.clone().acquire_owned()).await {
                return place.ok();
            }
        }
    }

    /// Serves a connection on a task of its own.
    fn begin<S: AsyncRead + AsyncWrite + Readable + Send + 'static>(
        &self,
        stream: S,
        permit: OwnedSemaphorePermit,
        served: &Served,
        peer: Peer,
        name: &str,
    ) {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let caller = Caller::new(number, name, self.by_connection);
        let activity = Arc::new(self.activities.open(number));
        let late = self.stop.is_cancelled();
        let (tracker, router) =
            if late { (&self.listeners, &served.draining) } else { (&self.tracker, &served.running) };
        let (this, router) = (self.clone(), router.clone());
        tracker.spawn(async move {
            let _permit = permit;
            let end = if late { &this.end } else { &this.stop };
            this.serve(stream, router, peer, caller, activity, end, late).await;
        });
    }

    #[allow(clippy::too_many_arguments, reason = "what one connection is")]
    async fn serve<S: AsyncRead + AsyncWrite + Readable + Send + 'static>(
        &self,
        stream: S,
        router: Router,
        peer: Peer,
        caller: Caller,
        activity: Arc<Activity>,
        end: &CancellationToken,
        late: bool,
    ) {
        let ServerLimits { header_ms, idle_ms, write_ms, header_bytes, requests_per_connection, .. } = self.limits;
        let [header, idle, write] = [header_ms, idle_ms, write_ms].map(Duration::from_millis);
        // A connection on which nothing comes must not wait as long as one that has asked something.
        tokio::select! {
            first = timeout(header, stream.until_readable()) => match first {
                Ok(Ok(())) => {}
                _ => return,
            },
            () = end.cancelled() => return,
            () = activity.closing().cancelled() => return,
        }
        let stream = if peer == Peer::Unix { Renamed::new(stream) } else { Renamed::No(stream) };
        let mut stream = TimeoutStream::new(stream);
        stream.set_read_timeout(Some(idle));
        stream.set_write_timeout(Some(write));

        let readers = Arc::new(Readers::default());
        let (watched, hosts, busy) = (readers.clone(), self.hosts.clone(), activity.clone());
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let (router, readers, hosts) = (router.clone(), watched.clone(), hosts.clone());
            let (caller, in_progress) = (caller.clone(), busy.begin());
            async move {
                let mut request: Request = request.map(Body::new);
                request.extensions_mut().insert(caller);
                let closes = late && request.version() < Version::HTTP_2;
                let mut response = if peer.allows(&request, &hosts) {
                    router.oneshot(request).await.unwrap_or_else(|never| match never {})
                } else {
                    let text = "the header Host names another server; call this one by its IP address or as localhost, or list \
                                the name in listen.hosts\n";
                    (StatusCode::MISDIRECTED_REQUEST, text).into_response()
                };
                if closes {
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                Ok::<_, Infallible>(response.map(|body| readers.watch(body, in_progress)))
            }
        });

        let mut builder = Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(header).max_buf_size(header_bytes).max_headers(64);
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_header_list_size(u32::try_from(header_bytes).unwrap_or(u32::MAX))
            .max_concurrent_streams(u32::try_from(requests_per_connection).unwrap_or(u32::MAX))
            .initial_connection_window_size(WINDOW)
            .initial_stream_window_size(WINDOW)
            .max_send_buf_size(PIECE)
            .keep_alive_interval(idle / 2)
            .keep_alive_timeout(header);
        let connection = builder.serve_connection(TokioIo::new(Box::pin(stream)), service);
        let mut connection = std::pin::pin!(connection);
        let mut tick = interval((write / 4).max(Duration::from_millis(10)));
        let mut stopping = false;
        loop {
            tokio::select! {
                ended = connection.as_mut() => {
                    if let Err(error) = ended {
                        tracing::debug!(error = &*error, "a connection ended");
                    }
                    return;
                }
                () = end.cancelled(), if !stopping => {
                    stopping = true;
                    connection.as_mut().graceful_shutdown();
                }
                () = activity.closing().cancelled(), if !stopping => {
                    stopping = true;
                    tracing::debug!("an idle connection is closed to make room for another one");
                    connection.as_mut().graceful_shutdown();
                }
                () = self.abort.cancelled() => return,
                _ = tick.tick() => if readers.stalled(write) {
                    tracing::debug!("a client does not take its answer; its connection is closed");
                    return;
                }
            }
        }
    }
}

/// Who sent a request.
pub(crate) fn caller(request: &Request) -> Caller {
    // A router that is called without a connection has one caller.
    request.extensions().get().cloned().unwrap_or_else(|| Caller::new(0, "this process", false))
}

/// The bytes that a client of HTTP/2 may send on one connection before somebody reads them.
const WINDOW: u32 = 128 << 10;

/// Answers are handed to a connection in pieces of this many bytes, so that an answer that is not taken stays ours, where it
/// is counted.
pub(crate) const PIECE: usize = 32 << 10;

/// How a client reached us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Peer {
    Tcp,
    Unix,
}

impl Peer {
    /// Whether the name by which a client calls the server is its own. No page in a browser reaches a Unix socket.
    fn allows(self, request: &Request, hosts: &[String]) -> bool {
        let authority = request.uri().authority().map(|authority| authority.as_str());
        let headers = request.headers().get_all(HOST).iter().map(HeaderValue::as_bytes);
        self == Self::Unix || is_own_name(authority, headers, hosts)
    }
}

/// A stream that says when the first byte is there, or that the client has closed it.
trait Readable: Unpin {
    fn until_readable(&self) -> impl Future<Output = io::Result<()>> + Send;
}

/// Looks at the first byte and leaves it there. That a stream may be readable is not enough: it is said of new ones too.
fn peek(stream: impl AsFd) -> io::Result<()> {
    recv(stream, &mut [0u8; 1], RecvFlags::PEEK)?;
    Ok(())
}

impl Readable for TcpStream {
    fn until_readable(&self) -> impl Future<Output = io::Result<()>> + Send {
        self.async_io(Interest::READABLE, move || peek(self))
    }
}

impl Readable for UnixStream {
    fn until_readable(&self) -> impl Future<Output = io::Result<()>> + Send {
        self.async_io(Interest::READABLE, move || peek(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_makes_its_name_point_here_is_not_answered() {
        let hosts = ["verifier.example".to_owned()];
        let request = |host: &[u8]| {
            let host = HeaderValue::from_bytes(host).unwrap();
            Request::builder().header(HOST, host).body(Body::empty()).unwrap()
        };
        for host in [&b"localhost"[..], b"LOCALHOST", b"127.0.0.1:1", b"[::1]:9596", b"verifier.example:80"] {
            assert!(Peer::Tcp.allows(&request(host), &hosts), "{host:?}");
        }
        for host in [&b"evil.example"[..], b"\xe9vil.example", b"localhost.evil.example", b""] {
            assert!(!Peer::Tcp.allows(&request(host), &hosts), "{host:?}");
        }
        assert!(Peer::Unix.allows(&request(b"anything"), &hosts));
    }
}
