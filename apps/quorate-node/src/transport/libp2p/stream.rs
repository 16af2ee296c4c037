//! TCP with Noise and Yamux, every byte of which is counted, and cut off where there are too many. A socket that came from
//! outside waits in the lobby until its handshake is over.

use std::{
    collections::HashMap,
    io,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use futures::{AsyncRead, AsyncWrite};
use libp2p_core::{ConnectedPoint, Transport as _, muxing::StreamMuxerBox, transport::Boxed, upgrade::Version};
use libp2p_identity::{Keypair, PeerId};

use super::{
    super::{Limits, TransportError, limits::Bucket},
    lobby::{Lobby, Stay, ip},
};

/// What one connection has carried.
#[derive(Debug)]
pub(super) struct Traffic {
    pub(super) read: AtomicU64,
    pub(super) written: AtomicU64,
    admitted: AtomicBool,
    flood: AtomicU8,
    stranger_bytes: u64,
    bucket: Mutex<Bucket>,
    /// Of a connection that came from outside: its place in the lobby.
    stay: Option<Arc<Stay>>,
}

/// What a connection was cut off for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flood {
    /// More bytes than a stranger may send.
    Stranger,
    /// More bytes a second than a peer may send.
    Rate,
}

impl Traffic {
    fn new(limits: &Limits, stay: Option<Arc<Stay>>) -> Self {
        Self {
            read: AtomicU64::new(0),
            written: AtomicU64::new(0),
            admitted: AtomicBool::new(false),
            flood: AtomicU8::new(0),
            stranger_bytes: limits.stranger_bytes,
            bucket: Mutex::new(Bucket::new(limits.bytes, Instant::now())),
            stay,
        }
    }

    /// The handshake is over, well or not.
    pub(super) fn leave_lobby(&self) {
        if let Some(stay) = &self.stay {
            stay.leave();
        }
    }

    /// From now on the limits of a peer hold, not those of a stranger.
    pub(super) fn admit(&self) {
        self.admitted.store(true, Ordering::Release);
    }

    /// Whether the connection was cut off, and why.
    pub(super) fn flood(&self) -> Option<Flood> {
        match self.flood.load(Ordering::Acquire) {
            1 => Some(Flood::Stranger),
            2 => Some(Flood::Rate),
            _ => None,
        }
    }

    /// Counts bytes that came.
    fn came(&self, count: usize) -> io::Result<()> {
        let count = count as u64;
        let before = self.read.fetch_add(count, Ordering::AcqRel);
        let stranger = !self.admitted.load(Ordering::Acquire);
        let within_rate = self.bucket.lock().unwrap_or_else(PoisonError::into_inner).take(count, Instant::now());
        let flood = match (stranger && before + count > self.stranger_bytes, within_rate) {
            (true, _) => 1,
            (_, false) => 2,
            _ => return Ok(()),
        };
        self.flood.store(flood, Ordering::Release);
        Err(io::Error::other("the peer sends more bytes than it may"))
    }
}

/// The traffic of connections that were just made, by their two ends, until the swarm tells of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Meters(Arc<Mutex<HashMap<ConnectedPoint, Arc<Traffic>>>>);

impl Meters {
    fn add(&self, point: ConnectedPoint, traffic: Arc<Traffic>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(point, traffic);
    }

    /// Takes that of a connection.
    pub(super) fn take(&self, point: &ConnectedPoint) -> Option<Arc<Traffic>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(point)
    }

    /// Forgets those of connections that ended before the swarm told of them.
    pub(super) fn clean(&self) {
        let mut meters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        meters.retain(|_, traffic| Arc::strong_count(traffic) > 1);
    }
}

/// A connection that counts.
struct Metered<S> {
    stream: S,
    traffic: Arc<Traffic>,
}

impl<S> Drop for Metered<S> {
    fn drop(&mut self) {
        self.traffic.leave_lobby();
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        if self.traffic.stay.as_ref().is_some_and(|stay| stay.is_over(cx.waker())) {
            return Poll::Ready(Err(io::Error::other("too many connections wait for their handshake")));
        }
        let count = ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        self.traffic.came(count)?;
        Poll::Ready(Ok(count))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        let count = ready!(Pin::new(&mut self.stream).poll_write(cx, buffer))?;
        self.traffic.written.fetch_add(count as u64, Ordering::Relaxed);
        Poll::Ready(Ok(count))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_close(cx)
    }
}

/// The transport of the swarm.
pub(super) fn transport(
    key: &Keypair,
    limits: &Limits,
    meters: Meters,
) -> Result<Boxed<(PeerId, StreamMuxerBox)>, TransportError> {
    let noise = libp2p_noise::Config::new(key)
        .map_err(|error| TransportError::Setup { part: "Noise", why: error.to_string() })?;
    let mut yamux = libp2p_yamux::Config::default();
    yamux.set_max_num_streams(STREAMS);
    let lobby = Lobby::new(limits.strangers, limits.strangers_per_address);
    let limits = limits.clone();
    let tcp = libp2p_tcp::tokio::Transport::new(libp2p_tcp::Config::default().nodelay(true));
    let counted = tcp.map(move |stream, point| {
        let stay = match &point {
            ConnectedPoint::Listener { send_back_addr, .. } => {
                ip(send_back_addr).map(|from| lobby.enter(from, Instant::now()))
            }
            ConnectedPoint::Dialer { .. } => None,
        };
        let traffic = Arc::new(Traffic::new(&limits, stay));
        meters.add(point, traffic.clone());
        Metered { stream, traffic }
    });
    Ok(counted.upgrade(Version::V1).authenticate(noise).multiplex(yamux).timeout(SETUP).boxed())
}

/// Streams at once on a connection: one of gossip each way, and a few requests.
const STREAMS: usize = 64;
/// How long Noise and Yamux may take together.
const SETUP: Duration = Duration::from_secs(10);
