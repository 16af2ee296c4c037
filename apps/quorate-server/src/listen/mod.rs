//! Connections: how many, how long they may be silent, and how they end.

mod readers;
mod socket;

use std::{convert::Infallible, io, net::IpAddr, os::fd::AsFd, sync::Arc, time::Duration};

use axum::{Router, body::Body, extract::Request, http::StatusCode, response::IntoResponse};
use hyper::{body::Incoming, header::HOST, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto::Builder,
};
use rustix::net::{RecvFlags, recv};
use tokio::{
    io::{AsyncRead, AsyncWrite, Interest},
    net::{TcpListener, TcpStream, UnixStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{interval, sleep, timeout},
};
use tokio_io_timeout::TimeoutStream;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::ServiceExt as _;

use self::readers::Readers;
pub(crate) use self::socket::Socket;
use crate::config::Limits;

/// What all connections of a listener share.
#[derive(Clone, Debug)]
pub(crate) struct Connections {
    limits: Limits,
    /// Names by which a TCP client may call the server, beside those of loopback.
    hosts: Arc<[String]>,
    free: Arc<Semaphore>,
    tracker: TaskTracker,
    /// No new connections; those that are there end after their requests.
    stop: CancellationToken,
    /// Connections end where they are.
    abort: CancellationToken,
}

impl Connections {
    pub(crate) fn new(limits: &Limits, hosts: &[String], at_most: usize, tracker: TaskTracker) -> Self {
        Self {
            limits: limits.clone(),
            hosts: hosts.into(),
            free: Arc::new(Semaphore::new(at_most)),
            tracker,
            stop: CancellationToken::new(),
            abort: CancellationToken::new(),
        }
    }

    /// The same limits and signals, with connections of its own to give away.
    pub(crate) fn with_own(&self, at_most: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(at_most)), ..self.clone() }
    }

    /// Ends listening, and each connection after its requests.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// Ends all connections at once.
    pub(crate) fn abort(&self) {
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

    /// Accepts TCP connections until the server stops.
    pub(crate) fn listen_tcp(&self, listener: TcpListener, router: Router) {
        let this = self.clone();
        self.tracker.spawn(async move {
            while let Some((stream, permit)) = this.next(|| listener.accept()).await {
                let (this, router) = (this.clone(), router.clone());
                this.tracker.clone().spawn(async move {
                    let _permit = permit;
                    // Verdicts of a stream are small and must not wait for each other.
                    let _ = stream.0.set_nodelay(true);
                    this.serve(stream.0, router, Peer::Tcp).await;
                });
            }
        });
    }

    /// Accepts connections on a Unix socket until the server stops.
    pub(crate) fn listen_unix(&self, socket: Socket, router: Router) {
        let this = self.clone();
        self.tracker.spawn(async move {
            while let Some((stream, permit)) = this.next(|| socket.listener.accept()).await {
                let (this, router) = (this.clone(), router.clone());
                this.tracker.clone().spawn(async move {
                    let _permit = permit;
                    this.serve(stream.0, router, Peer::Unix).await;
                });
            }
        });
    }

    /// The next connection, once there is room for one; `None` when the server stops.
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
            Some((stream, self.free.clone().acquire_owned().await.ok()?))
        };
        tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            accepted = accepted => accepted,
        }
    }

    async fn serve<S: AsyncRead + AsyncWrite + Readable + Send + 'static>(
        &self,
        stream: S,
        router: Router,
        peer: Peer,
    ) {
        let Limits { header_ms, idle_ms, write_ms, header_bytes, .. } = self.limits;
        let [header, idle, write] = [header_ms, idle_ms, write_ms].map(Duration::from_millis);
        // A connection on which nothing comes must not wait as long as one that has asked something.
        tokio::select! {
            first = timeout(header, stream.until_readable()) => match first {
                Ok(Ok(())) => {}
                _ => return,
            },
            () = self.stop.cancelled() => return,
        }
        let mut stream = TimeoutStream::new(stream);
        stream.set_read_timeout(Some(idle));
        stream.set_write_timeout(Some(write));

        let readers = Arc::new(Readers::default());
        let (watched, hosts) = (readers.clone(), self.hosts.clone());
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let (router, readers, hosts) = (router.clone(), watched.clone(), hosts.clone());
            async move {
                let request: Request = request.map(Body::new);
                let response = if peer.allows(&request, &hosts) {
                    router.oneshot(request).await.unwrap_or_else(|never| match never {})
                } else {
                    let text = "the header Host names another server; call this one by its IP address or as localhost, or list \
                                the name in listen.hosts\n";
                    (StatusCode::MISDIRECTED_REQUEST, text).into_response()
                };
                Ok::<_, Infallible>(response.map(|body| readers.watch(body)))
            }
        });

        let mut builder = Builder::new(TokioExecutor::new());
        builder.http1().timer(TokioTimer::new()).header_read_timeout(header).max_buf_size(header_bytes).max_headers(64);
        builder
            .http2()
            .timer(TokioTimer::new())
            .max_header_list_size(u32::try_from(header_bytes).unwrap_or(u32::MAX))
            .max_concurrent_streams(STREAMS)
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
                () = self.stop.cancelled(), if !stopping => {
                    stopping = true;
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

/// Requests at once on one HTTP/2 connection.
const STREAMS: u32 = 32;

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
    /// A page on the web can make a name of its own point at this machine, and would then be allowed to read our answers. Its
    /// requests have that name.
    fn allows(self, request: &Request, hosts: &[String]) -> bool {
        if self == Self::Unix {
            return true;
        }
        let header = request.headers().get(HOST).and_then(|host| host.to_str().ok());
        let Some(host) = request.uri().authority().map(|authority| authority.as_str()).or(header) else { return true };
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
            _ => host,
        };
        let name = name.trim_start_matches('[').trim_end_matches(']');
        name == "localhost" || name.parse::<IpAddr>().is_ok() || hosts.iter().any(|allowed| allowed == name)
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
        let request = |host: &str| Request::builder().header(HOST, host).body(Body::empty()).unwrap();
        for host in
            ["localhost", "localhost:9596", "127.0.0.1:1", "[::1]:9596", "[::1]", "verifier.example:80", "10.0.0.1"]
        {
            assert!(Peer::Tcp.allows(&request(host), &hosts), "{host}");
        }
        for host in ["evil.example", "evil.example:9596", "localhost.evil.example", "127.0.0.1.evil.example", ""] {
            assert!(!Peer::Tcp.allows(&request(host), &hosts), "{host}");
        }
        assert!(Peer::Unix.allows(&request("anything"), &hosts));
    }
}
