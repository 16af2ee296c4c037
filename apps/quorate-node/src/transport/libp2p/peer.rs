//! What the driver knows of a peer that is connected.

use std::{
    collections::VecDeque,
    net::IpAddr,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use libp2p_core::{ConnectedPoint, Multiaddr};
use libp2p_request_response::{InboundRequestId, ResponseChannel};
use libp2p_swarm::ConnectionId;
use quorate_evm::alloy_primitives::Address;

use super::{
    super::{
        Credential, Limits, PeerId, PeerReport,
        handshake::Told,
        limits::{Bucket, Rate},
    },
    lobby,
    stream::{Flood, Traffic},
};
use quorate_network::roles::PeerSource;

/// The channel of a question that waits for its answer.
pub(super) type Channel = ResponseChannel<Vec<u8>>;

/// A peer that is connected, admitted or not.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) id: PeerId,
    pub(super) connections: Vec<Connection>,
    pub(super) since: Instant,
    pub(super) state: State,
    /// Whether its credential is being checked, and to whom the reply goes. The second is gone if this is a check that the
    /// node began itself.
    pub(super) checking: Option<Option<Channel>>,
    /// Whether it is to be checked again after that, because the registry has changed.
    pub(super) check_again: bool,
    /// What it showed last.
    pub(super) credential: Option<Credential>,
    /// Where it says that it listens.
    pub(super) announced: Vec<Multiaddr>,
    /// Whom it told of, before it was admitted.
    pub(super) told: Vec<Told>,
    /// Whether it has admitted this node.
    pub(super) welcomed: bool,
    /// When this node shows its credential again; `None` while it does.
    pub(super) hello_at: Option<Instant>,
    pub(super) hellos: Bucket,
    pub(super) requests: Bucket,
    /// Its questions that the node has not answered.
    pub(super) questions: VecDeque<(InboundRequestId, Channel)>,
    /// The node's questions to it that wait.
    pub(super) asked: usize,
    /// How many questions in a row it has not answered.
    pub(super) silent: u32,
    pub(super) messages_in: u64,
    pub(super) messages_out: u64,
    /// The bytes of connections that have ended.
    past: (u64, u64),
}

/// How far a peer has come.
#[derive(Debug)]
pub(super) enum State {
    /// Not admitted. If it was told [`Reply::NotYet`](super::super::handshake::Reply::NotYet), it has more time.
    Stranger { not_yet: bool },
    /// Admitted, since when; and since when the node cannot say any more whether it is.
    Admitted { source: PeerSource, operator: Address, since: Instant, doubt: Option<Instant> },
    /// Its connections are closed at this time, when the last reply has left.
    Leaving { at: Instant },
}

/// A connection of a peer.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) id: ConnectionId,
    pub(super) point: ConnectedPoint,
    pub(super) traffic: Option<Arc<Traffic>>,
}

impl Peer {
    pub(super) fn new(id: PeerId, limits: &Limits, now: Instant) -> Self {
        Self {
            id,
            connections: Vec::new(),
            since: now,
            state: State::Stranger { not_yet: false },
            checking: None,
            check_again: false,
            credential: None,
            announced: Vec::new(),
            told: Vec::new(),
            welcomed: false,
            hello_at: Some(now),
            hellos: Bucket::new(HELLOS, now),
            requests: Bucket::new(limits.requests, now),
            questions: VecDeque::new(),
            asked: 0,
            silent: 0,
            messages_in: 0,
            messages_out: 0,
            past: (0, 0),
        }
    }

    /// The peer's number and operator, if it is admitted.
    pub(super) fn admitted(&self) -> Option<(PeerSource, Address)> {
        match self.state {
            State::Admitted { source, operator, .. } => Some((source, operator)),
            _ => None,
        }
    }

    /// Lifts the limits of strangers.
    pub(super) fn lift(&self) {
        self.connections
            .iter()
            .filter_map(|connection| connection.traffic.as_ref())
            .for_each(|traffic| traffic.admit());
    }

    /// Forgets a connection; says whether it was cut off.
    pub(super) fn closed(&mut self, id: ConnectionId) -> Option<Flood> {
        let at = self.connections.iter().position(|connection| connection.id == id)?;
        let traffic = self.connections.swap_remove(at).traffic?;
        self.past.0 += traffic.read.load(Ordering::Relaxed);
        self.past.1 += traffic.written.load(Ordering::Relaxed);
        traffic.flood()
    }

    /// The IP address from which it came, if it came.
    pub(super) fn came_from(&self) -> Option<IpAddr> {
        self.connections.iter().find_map(|connection| match &connection.point {
            ConnectedPoint::Listener { send_back_addr, .. } => lobby::ip(send_back_addr),
            ConnectedPoint::Dialer { .. } => None,
        })
    }

    /// The IP addresses at the other ends of its connections.
    pub(super) fn remote_ips(&self) -> Vec<IpAddr> {
        self.connections.iter().filter_map(|connection| lobby::ip(connection.point.get_remote_address())).collect()
    }

    /// Until when it must be admitted; `None` for a peer that is, or that leaves.
    pub(super) fn deadline(&self, limits: &Limits) -> Option<Instant> {
        match self.state {
            State::Stranger { not_yet } => Some(self.since + if not_yet { limits.not_yet } else { limits.handshake }),
            _ => None,
        }
    }

    pub(super) fn report(&self, score: f64, now: Instant) -> Option<PeerReport> {
        let State::Admitted { source, operator, since, .. } = self.state else { return None };
        let sum = |read: fn(&Traffic) -> u64| -> u64 {
            self.connections.iter().filter_map(|connection| connection.traffic.as_deref()).map(read).sum()
        };
        Some(PeerReport {
            peer: self.id,
            source,
            operator,
            address: self
                .connections
                .first()
                .map_or_else(String::new, |connection| connection.point.get_remote_address().to_string()),
            admitted_for: now.saturating_duration_since(since),
            bytes_in: self.past.0 + sum(|traffic| traffic.read.load(Ordering::Relaxed)),
            bytes_out: self.past.1 + sum(|traffic| traffic.written.load(Ordering::Relaxed)),
            messages_in: self.messages_in,
            messages_out: self.messages_out,
            score,
        })
    }
}

/// How often a peer may show its credential.
const HELLOS: Rate = Rate { per_second: 1, at_once: 10 };
/// When a node shows its credential again, and hears of new peers.
pub(super) const HELLO_AGAIN: Duration = Duration::from_secs(30);
/// When a node shows its credential again to a peer that could not check it.
pub(super) const HELLO_SOON: Duration = Duration::from_secs(2);
/// How long the last reply has to leave before a connection is closed.
pub(super) const LAST_WORDS: Duration = Duration::from_millis(300);
