//! HTTP on TCP and on Unix sockets: how many connections, how long they may be silent, and how they end.
//!
//! A client that opens connections and lets them lie, sends a head or takes an answer a byte at a time, or calls this server by a name
//! that is not its own (see [`is_own_name`]) keeps nobody else out. [`Bounds`] says what each may take. What a body may have, and how
//! long it may take, is the router's to say.

mod activity;
mod authority;
mod counts;
mod media_type;
mod places;
mod reach;
mod readers;
mod tls;

use std::{
    convert::Infallible,
    fmt, future, io,
    net::IpAddr,
    os::fd::AsFd,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{Router, body::Body, extract::Request, http::StatusCode, response::IntoResponse};
use hyper::{
    Version,
    body::Incoming,
    header::{CONNECTION, HOST, HeaderValue, X_CONTENT_TYPE_OPTIONS},
    service::service_fn,
};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto::Builder,
};
use rustix::net::{RecvFlags, recv};
use tokio::{
    io::{AsyncRead, AsyncWrite, Interest},
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
    sync::OwnedSemaphorePermit,
    time::{interval, sleep, timeout},
};
use tokio_io_timeout::TimeoutStream;
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};
use tower::ServiceExt as _;

use self::{
    activity::{Activities, Activity, MOMENT},
    authority::Renamed,
    readers::Readers,
};
pub use self::{
    counts::{Counted, CountsByKey},
    media_type::media_type,
    places::Places,
    reach::{BeyondLoopback, refuse_beyond_loopback},
    tls::{LoadedTls, NamesNobody, Tls, TlsClients, TlsError, TlsFiles},
};
use crate::{is_own_name, socket::SocketFile};

/// What connections may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Connections at once. For a further one, the connection that has been idle for the longest time is closed; if all are busy, it
    /// waits. One that takes nothing of its answer is idle.
    pub connections: usize,
    /// Requests at once on a connection of HTTP/2. Without a number, HTTP/1 alone is served.
    pub streams: Option<u32>,
    /// The longest head of a request, in bytes.
    pub head_bytes: usize,
    /// The time in which the head of a request must arrive, and the longest pause between two requests.
    pub head: Duration,
    /// The time after which a connection is closed on which the client sends nothing.
    pub idle: Duration,
    /// The time in which a client must take a part of an answer.
    pub write: Duration,
    /// How long a connection lasts, if there is an end. Then it ends after the request in progress, at the latest after `write`.
    pub longest: Option<Duration>,
}

/// By which names a TCP client may call the server, beside its IP addresses and `localhost`.
#[derive(Clone, Debug)]
pub struct Hosts {
    /// The names.
    pub names: Arc<[String]>,
    /// Where the user states them, for the answer to a client that calls the server by another name.
    pub stated_in: &'static str,
}

/// How many connections one address may have at once.
pub struct ByAddress {
    /// What of an address counts as one, such as its network, and how many connections that may have.
    pub most: Box<dyn Fn(IpAddr) -> (IpAddr, usize) + Send + Sync>,
    /// What the log says beside that connections are closed.
    pub hint: &'static str,
}

/// Who is at the other end of a connection: an extension of each of its requests.
#[derive(Clone, Debug)]
pub struct RemoteEnd {
    /// The number of the connection, from 1 on.
    pub number: u64,
    /// Its IP address; `None` on a Unix socket.
    pub address: Option<IpAddr>,
    /// Its IP address, or its process, as text.
    pub name: Arc<str>,
    /// The name in the certificate that it has shown over TLS, and that an authority of the listener has signed.
    pub certificate: Option<Result<Arc<str>, NamesNobody>>,
}

/// What a listener serves.
#[derive(Clone, Debug)]
pub struct Routers {
    /// As long as the server runs.
    pub running: Router,
    /// To connections that come while it drains. Without it, the listener ends when draining begins.
    pub draining: Option<Router>,
}

/// The connections of a server, over all of its listeners.
#[derive(Clone, Debug)]
pub struct Connections {
    bounds: Arc<RwLock<Bounds>>,
    /// Without them, each name is good.
    hosts: Option<Hosts>,
    by_address: Option<Arc<Addresses>>,
    free: Places,
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

impl Connections {
    /// Connections within bounds. A client may call the server by the names of `hosts`; without them, by each name.
    #[must_use]
    pub fn new(bounds: Bounds, hosts: Option<Hosts>) -> Self {
        let abort = CancellationToken::new();
        Self {
            bounds: Arc::new(RwLock::new(bounds)),
            hosts,
            by_address: None,
            free: Places::new(bounds.connections),
            activities: Activities::new(),
            numbers: Arc::default(),
            tracker: TaskTracker::new(),
            listeners: TaskTracker::new(),
            stop: CancellationToken::new(),
            end: abort.child_token(),
            abort,
        }
    }

    /// The same with a bound for each address. Further connections of an address are closed at once.
    #[must_use]
    pub fn by_address(self, by_address: ByAddress) -> Self {
        let addresses = Addresses { rule: by_address, open: Arc::default(), told: Mutex::default() };
        Self { by_address: Some(Arc::new(addresses)), ..self }
    }

    /// The same limits and signals, with connections of its own to give away.
    #[must_use]
    pub fn with_own(&self, at_most: usize) -> Self {
        Self { free: Places::new(at_most), activities: Activities::new(), ..self.clone() }
    }

    /// Sets other bounds, for the connections that come. Those that are there keep theirs, and none is closed because there are too
    /// many. What [`with_own`](Self::with_own) has made keeps its own number. It must be called on a runtime.
    pub fn set_bounds(&self, bounds: Bounds) {
        *self.bounds.write().unwrap_or_else(PoisonError::into_inner) = bounds;
        self.free.resize(bounds.connections);
    }

    /// Begins to drain: each connection ends after its requests. It is over when they have ended.
    pub async fn drain(&self) {
        self.stop.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }

    /// Ends listening, and waits for that.
    pub async fn end(&self) {
        self.end.cancel();
        self.listeners.close();
        self.listeners.wait().await;
    }

    /// Ends listening and all connections at once.
    pub fn abort(&self) {
        self.abort.cancel();
    }

    /// Aborts when the guard is dropped.
    #[must_use]
    pub fn abort_on_drop(&self) -> DropGuard {
        self.abort.clone().drop_guard()
    }

    /// Is cancelled when the server begins to stop.
    pub fn stopping(&self) -> &CancellationToken {
        &self.stop
    }

    /// How many more connections would be accepted.
    pub fn free(&self) -> usize {
        self.free.left()
    }

    /// Accepts TCP connections until the server has stopped.
    pub fn listen_tcp(&self, listener: TcpListener, routers: Routers) {
        self.listen_ip(listener, None, routers);
    }

    /// The same over TLS. A client whose handshake is not done within the time for the head of a request is closed. When its certificate
    /// expires, or a reload takes its authority away, the connection ends after the requests in progress, at the latest after the time
    /// for an answer.
    pub fn listen_tls(&self, listener: TcpListener, tls: Tls, routers: Routers) {
        self.listen_ip(listener, Some(tls), routers);
    }

    fn listen_ip(&self, listener: TcpListener, tls: Option<Tls>, routers: Routers) {
        let this = self.clone();
        self.listeners.spawn(async move {
            while let Some((stream, address)) = this.next(&routers, || listener.accept()).await {
                let address = address.ip();
                let counted = match this.by_address.as_ref().map(|addresses| addresses.begin(address)) {
                    None => None,
                    Some(Some(counted)) => Some(counted),
                    Some(None) => continue,
                };
                let Some(place) = this.place(&routers).await else { return };
                // Answers are small, or come in pieces, and must not wait for each other.
                let _ = stream.set_nodelay(true);
                this.begin((stream, tls.clone()), (place, counted), &routers, Some(address), address.to_string());
            }
        });
    }

    /// Accepts connections on a Unix socket until the server has stopped.
    pub fn listen_unix(&self, (listener, file): (UnixListener, SocketFile), routers: Routers) {
        let this = self.clone();
        self.listeners.spawn(async move {
            let _file = file;
            while let Some((stream, _)) = this.next(&routers, || listener.accept()).await {
                let Some(place) = this.place(&routers).await else { return };
                let process = stream.peer_cred().ok().and_then(|peer| peer.pid());
                let name = process.map_or("a Unix socket".to_owned(), |process| format!("process {process}"));
                this.begin((stream, None), (place, None), &routers, None, name);
            }
        });
    }

    /// Is cancelled when a listener is to end.
    fn over(&self, routers: &Routers) -> &CancellationToken {
        if routers.draining.is_some() { &self.end } else { &self.stop }
    }

    /// The next connection; `None` when the listener is to end.
    async fn next<T, F: Future<Output = io::Result<T>>>(&self, routers: &Routers, accept: impl Fn() -> F) -> Option<T> {
        let accepted = async {
            let mut complained = false;
            loop {
                match accept().await {
                    Ok(stream) => return stream,
                    // Often there are no file descriptors left: they come back.
                    Err(error) => {
                        if !complained {
                            tracing::warn!(%error, "cannot accept a connection; trying again until it works");
                        }
                        complained = true;
                        sleep(Duration::from_millis(100)).await;
                    }
                }
            }
        };
        tokio::select! {
            biased;
            () = self.over(routers).cancelled() => None,
            () = self.end.cancelled() => None,
            accepted = accepted => Some(accepted),
        }
    }

    /// A place for a connection that has come, because a listener that waits for clients must not keep a place from another one. If none
    /// is free, the connection that has been idle for the longest time gives up its own. `None` when the listener is to end.
    async fn place(&self, routers: &Routers) -> Option<OwnedSemaphorePermit> {
        if let Ok(place) = self.free.free().clone().try_acquire_owned() {
            return Some(place);
        }
        let place = async {
            loop {
                self.activities.close_the_most_idle();
                if let Ok(place) = timeout(Duration::from_millis(100), self.free.free().clone().acquire_owned()).await {
                    return place.ok();
                }
            }
        };
        tokio::select! {
            biased;
            () = self.over(routers).cancelled() => None,
            () = self.end.cancelled() => None,
            place = place => place,
        }
    }

    /// Serves a connection on a task of its own.
    fn begin<S: AsyncRead + AsyncWrite + Readable + Send + 'static>(
        &self,
        stream: (S, Option<Tls>),
        place: (OwnedSemaphorePermit, Option<Counted<IpAddr>>),
        routers: &Routers,
        address: Option<IpAddr>,
        name: String,
    ) {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let remote = RemoteEnd { number, address, name: name.into(), certificate: None };
        let activity = Arc::new(self.activities.open(number));
        let late = self.stop.is_cancelled();
        let Some(router) = (if late { routers.draining.clone() } else { Some(routers.running.clone()) }) else {
            return;
        };
        let tracker = if late { &self.listeners } else { &self.tracker };
        let this = self.clone();
        tracker.spawn(async move {
            let _until_it_ends = place;
            tokio::select! {
                () = this.abort.cancelled() => {}
                () = this.serve(stream, router, remote, activity, late) => {}
            }
        });
    }

    async fn serve<S: AsyncRead + AsyncWrite + Readable + Send + 'static>(
        &self,
        (stream, tls): (S, Option<Tls>),
        router: Router,
        mut remote: RemoteEnd,
        activity: Arc<Activity>,
        late: bool,
    ) {
        let bounds = *self.bounds.read().unwrap_or_else(PoisonError::into_inner);
        let head = bounds.head;
        let end = if late { &self.end } else { &self.stop };
        // A connection on which nothing comes must not wait as long as one that has asked something.
        tokio::select! {
            first = timeout(head, stream.until_readable()) => match first {
                Ok(Ok(())) => {}
                _ => return,
            },
            () = end.cancelled() => return,
            () = activity.closing().cancelled() => return,
        }
        let Some(tls) = tls else {
            return self.converse((stream, future::pending()), bounds, router, remote, activity, late).await;
        };
        let acceptor = tls.acceptor();
        let stream = tokio::select! {
            done = timeout(head, acceptor.accept(stream)) => match done {
                Ok(Ok(stream)) => stream,
                Ok(Err(error)) => {
                    tracing::debug!(%error, "a handshake of TLS failed");
                    return;
                }
                Err(_) => return,
            },
            () = end.cancelled() => return,
            () = activity.closing().cancelled() => return,
        };
        let shown = stream.get_ref().1.peer_certificates().unwrap_or_default().to_vec();
        remote.certificate = shown.first().map(tls::name_of);
        let unknown = async move {
            if shown.is_empty() {
                future::pending::<()>().await;
            }
            while tls.knows(&shown) {
                sleep(LOOK).await;
            }
        };
        self.converse((stream, unknown), bounds, router, remote, activity, late).await;
    }

    /// Serves a stream on which something has come, at the longest until its client is unknown.
    async fn converse<S: AsyncRead + AsyncWrite + Unpin + Send + 'static, U: Future<Output = ()> + Send>(
        &self,
        (stream, unknown): (S, U),
        bounds: Bounds,
        router: Router,
        remote: RemoteEnd,
        activity: Arc<Activity>,
        late: bool,
    ) {
        let Bounds { streams, head_bytes, head, idle, write, longest, .. } = bounds;
        let end = if late { &self.end } else { &self.stop };
        // No page in a browser reaches a Unix socket.
        let hosts = self.hosts.clone().filter(|_| remote.address.is_some());
        let stream = if remote.address.is_none() { Renamed::new(stream) } else { Renamed::No(stream) };
        let mut stream = TimeoutStream::new(stream);
        stream.set_read_timeout(Some(idle));
        stream.set_write_timeout(Some(write));

        let readers = Arc::new(Readers::default());
        let (watched, busy) = (readers.clone(), activity.clone());
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let (router, readers, hosts) = (router.clone(), watched.clone(), hosts.clone());
            let (remote, in_progress) = (remote.clone(), busy.begin());
            async move {
                let mut request: Request = request.map(Body::new);
                request.extensions_mut().insert(remote);
                let closes = late && request.version() < Version::HTTP_2;
                let mut response = match hosts.and_then(|hosts| hosts.refusal(&request)) {
                    None => router.oneshot(request).await.unwrap_or_else(|never| match never {}),
                    Some(refusal) => refusal,
                };
                if closes {
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                Ok::<_, Infallible>(response.map(|body| readers.watch(body, in_progress)))
            }
        });

        let mut builder = Builder::new(TokioExecutor::new());
        builder
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(head)
            .max_buf_size(head_bytes)
            .max_headers(HEADERS);
        let builder = match streams {
            None => builder.http1_only(),
            Some(streams) => {
                builder
                    .http2()
                    .timer(TokioTimer::new())
                    .max_header_list_size(u32::try_from(head_bytes).unwrap_or(u32::MAX))
                    .max_concurrent_streams(streams)
                    .initial_connection_window_size(WINDOW)
                    .initial_stream_window_size(WINDOW)
                    .max_send_buf_size(PIECE)
                    .keep_alive_interval(idle / 2)
                    .keep_alive_timeout(head);
                builder
            }
        };
        let connection = builder.serve_connection(TokioIo::new(Box::pin(stream)), service);
        let mut connection = std::pin::pin!(connection);
        let mut tick = interval((write / 4).clamp(Duration::from_millis(10), MOMENT));
        let mut over = std::pin::pin!(sleep(longest.unwrap_or(Duration::MAX)));
        let mut unknown = std::pin::pin!(unknown);
        let (mut stopping, mut is_over) = (false, false);
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
                () = unknown.as_mut(), if !is_over => {
                    tracing::debug!("a client's certificate is not good any more; its connection ends");
                    (stopping, is_over) = (true, true);
                    connection.as_mut().graceful_shutdown();
                    over.as_mut().reset(tokio::time::Instant::now() + write);
                }
                () = over.as_mut() => {
                    if is_over {
                        tracing::debug!("a connection that is over does not end; it is closed");
                        return;
                    }
                    (stopping, is_over) = (true, true);
                    connection.as_mut().graceful_shutdown();
                    over.as_mut().reset(tokio::time::Instant::now() + write);
                }
                // Where others wait for a place, a client takes a part of its answer in a moment, or gives up its own.
                _ = tick.tick() => if readers.stalled(if activity.closing().is_cancelled() { write.min(TAKEN) } else { write }) {
                    tracing::debug!("a client does not take its answer; its connection is closed");
                    return;
                }
            }
        }
    }
}

/// The bytes that a client of HTTP/2 may send on one connection before somebody reads them.
const WINDOW: u32 = 128 << 10;

/// Answers are handed to a connection in pieces of this many bytes, so that an answer that is not taken stays ours, where it
/// is counted.
pub const PIECE: usize = 32 << 10;

/// How often the certificate of a connection's client is looked at again.
const LOOK: Duration = Duration::from_secs(5);

/// The time in which a client takes a part of an answer, once its connection is to make room for another one.
const TAKEN: Duration = Duration::from_secs(1);

/// The most headers of a request.
const HEADERS: usize = 64;

/// How often the log says that connections of an address are closed.
const TELL: Duration = Duration::from_secs(60);

impl Hosts {
    /// Whether a request calls the server by a name of its own.
    fn have(&self, request: &Request) -> bool {
        let authority = request.uri().authority().map(|authority| authority.as_str());
        is_own_name(authority, request.headers().get_all(HOST).iter().map(HeaderValue::as_bytes), &self.names)
    }

    /// The answer to a request that does not call the server by a name of its own. HTTP/1.0 has no header `Host`: a request that names
    /// nobody comes from no browser, and such a balancer may ask for our health.
    fn refusal(&self, request: &Request) -> Option<axum::response::Response> {
        let named = request.headers().get_all(HOST).iter().count();
        let is_nameless = request.uri().authority().is_none() && named == 0;
        if self.have(request) || is_nameless && request.version() <= Version::HTTP_10 {
            return None;
        }
        let (status, text) = match (request.uri().authority(), named) {
            (Some(_), _) | (None, 1) => (
                StatusCode::MISDIRECTED_REQUEST,
                format!(
                    "the header Host names another server; call this one by its IP address or as localhost, or list the name in {}\n",
                    self.stated_in
                ),
            ),
            (None, found) => (
                StatusCode::BAD_REQUEST,
                format!("found {found} headers Host, expected one; send the name of this server once\n"),
            ),
        };
        Some((status, [(X_CONTENT_TYPE_OPTIONS, "nosniff")], text).into_response())
    }
}

impl fmt::Debug for ByAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByAddress").field("hint", &self.hint).finish_non_exhaustive()
    }
}

/// The connections of each address.
#[derive(Debug)]
struct Addresses {
    rule: ByAddress,
    open: Arc<CountsByKey<IpAddr>>,
    /// When the log last said that connections are closed.
    told: Mutex<Option<Instant>>,
}

impl Addresses {
    /// Counts a connection; `None` if its address has as many as it may.
    fn begin(&self, address: IpAddr) -> Option<Counted<IpAddr>> {
        let (from, most) = (self.rule.most)(address);
        let counted = self.open.begin(from, most);
        if counted.is_none() {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            if told.is_none_or(|told| told.elapsed() >= TELL) {
                *told = Some(Instant::now());
                let hint = self.rule.hint;
                tracing::warn!(%from, most, hint, "an address has as many connections as it may; further ones are closed");
            }
        }
        counted
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
        let hosts = Hosts { names: ["verifier.example".to_owned()].into(), stated_in: "hosts" };
        let request = |host: &[u8]| {
            let host = HeaderValue::from_bytes(host).unwrap();
            Request::builder().header(HOST, host).body(Body::empty()).unwrap()
        };
        for host in [&b"localhost"[..], b"LOCALHOST", b"127.0.0.1:1", b"[::1]:9596", b"verifier.example:80"] {
            assert!(hosts.have(&request(host)), "{host:?}");
        }
        for host in [&b"evil.example"[..], b"\xe9vil.example", b"localhost.evil.example", b""] {
            assert!(!hosts.have(&request(host)), "{host:?}");
        }
        let absolute = Request::builder().uri("http://evil.example/").header(HOST, "localhost").body(Body::empty());
        assert!(!hosts.have(&absolute.unwrap()));
    }

    #[test]
    fn only_http_1_0_leaves_the_name_out() {
        let hosts = Hosts { names: Arc::new([]), stated_in: "hosts" };
        let refused = |version, named: usize| {
            let request =
                (0..named).fold(Request::builder().version(version), |request, _| request.header(HOST, "localhost"));
            hosts.refusal(&request.body(Body::empty()).unwrap()).map(|refusal| refusal.status())
        };
        for (version, named, expected) in [
            (Version::HTTP_10, 0, None),
            (Version::HTTP_10, 1, None),
            (Version::HTTP_10, 2, Some(StatusCode::BAD_REQUEST)),
            (Version::HTTP_11, 0, Some(StatusCode::BAD_REQUEST)),
            (Version::HTTP_11, 1, None),
            (Version::HTTP_11, 2, Some(StatusCode::BAD_REQUEST)),
            (Version::HTTP_2, 0, Some(StatusCode::BAD_REQUEST)),
        ] {
            assert_eq!(refused(version, named), expected, "{version:?}: {named}");
        }
    }
}
