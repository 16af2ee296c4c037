//! How nodes reach each other: a mesh of libp2p, or plain HTTP to an aggregator, for small sets.
//!
//! ```text
//! libp2p::start ─┐                    ┌─ next() ──> Arrival
//! http::serve ───┼──> Transport ──────┤
//! http::join ────┘   (a task behind)  └─ publish, judge, ask, answer, ban, readmit, peers
//! ```
//!
//! A peer is *admitted* when it shows a [`Credential`]: the statement of an operator that the peer speaks for its key. Whether
//! that holds is said by the node, which has the chain's registry ([`Admission`]). Nothing of a peer that is not admitted
//! reaches the node, and no message is sent to it.
//!
//! A signed message arrives with a [`Ticket`] and is forwarded when the node has judged it [`Judgement::Accept`]; see
//! [`Transport::judge`]. The transport verifies no signature.
//!
//! No call waits and no queue grows without bound: [`Limits`] says the numbers, and [`Counts`] what was dropped.
//! `docs/network.md` describes the protocols.

mod limits;
mod identity;
mod bans;
mod handshake;
mod inbox;
mod tickets;
pub mod libp2p;
pub mod http;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use quorate_evm::{
    alloy_primitives::{Address, Bytes},
    digest::Contract,
};
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
};

use self::inbox::{Inbox, Tally};
pub use self::{
    handshake::{CredentialError, MAX_OPERATOR_KEY, MAX_OPERATOR_SIGNATURE},
    identity::{Identity, IdentityError, PeerId, PeerIdError},
    limits::{Limits, Rate},
};
use crate::{
    message::{Answer, Request, Signed},
    roles::Source,
};

/// What an operator signed so that a peer may speak for it: [`PeerBinding`](quorate_evm::digest::PeerBinding).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Credential {
    /// The operator's public key as the contract keeps it: at most [`MAX_OPERATOR_KEY`] bytes.
    pub operator_key: Bytes,
    /// The signature over the binding of the peer's id in this network: at most [`MAX_OPERATOR_SIGNATURE`] bytes.
    pub signature: Bytes,
}

/// Says which peers are admitted. The node implements it from the chain's registry.
pub trait Admission: Send + Sync + 'static {
    /// Whether a credential holds: its key is registered and active, and its signature over the peer id is the key's.
    ///
    /// Called on a thread that may block, again for every admitted peer after [`Transport::readmit`].
    fn admit(&self, peer_id: &[u8], credential: &Credential) -> Admitted;
}

/// What [`Admission::admit`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "there is nothing between the three")]
pub enum Admitted {
    /// The peer speaks for this operator.
    Operator(Address),
    /// The credential does not hold. The peer is told why, so the reason holds nothing secret.
    No(String),
    /// The node's chain is behind, so it cannot say. The peer tries again.
    NotYet,
}

/// What is the same for both transports.
#[derive(Clone)]
pub struct Terms {
    /// The contract on its chain. Messages of other networks are refused.
    pub network: Contract,
    /// The node's own key.
    pub identity: Identity,
    /// What the node shows its peers.
    pub credential: Credential,
    /// Whom the node admits.
    pub admission: Arc<dyn Admission>,
    /// The limits.
    pub limits: Limits,
}

impl fmt::Debug for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { network, identity, credential, admission: _, limits } = self;
        f.debug_struct("Terms")
            .field("network", network)
            .field("identity", identity)
            .field("credential", credential)
            .field("limits", limits)
            .finish_non_exhaustive()
    }
}

/// What the network tells the node.
#[derive(Debug)]
#[allow(clippy::exhaustive_enums, reason = "whoever takes one must say what it does with each kind")]
pub enum Arrival {
    /// A signed message, of which nothing was verified.
    Signed {
        /// Who sent or forwarded it.
        source: Source,
        /// What [`Transport::judge`] takes. Dropping it is [`Judgement::Ignore`].
        ticket: Ticket,
        /// The message.
        message: Signed,
    },
    /// A peer asks what it missed. [`Transport::answer`] answers.
    Asked {
        /// Who.
        source: Source,
        /// What it holds.
        request: Request,
    },
    /// A peer answered [`Transport::ask`]. Nothing of the answer was verified.
    Answered {
        /// Who.
        source: Source,
        /// The answer.
        answer: Answer,
    },
    /// A peer was admitted.
    Joined {
        /// Its number until it leaves. A peer that comes back has another one.
        source: Source,
        /// Its name.
        peer: PeerId,
        /// For whom it speaks.
        operator: Address,
    },
    /// A peer that had joined is gone. Comes exactly once for each `Joined`, after the other arrivals of the peer.
    Left {
        /// Who.
        source: Source,
    },
}

/// Names a signed message that waits for its judgement. There is one for each arrival, and judging uses it up.
#[derive(Debug)]
pub struct Ticket {
    number: u64,
    /// `None` once it was judged.
    judge: Option<mpsc::UnboundedSender<(u64, Judgement)>>,
}

impl Ticket {
    fn say(&mut self, judgement: Judgement) {
        if let Some(judge) = self.judge.take() {
            // There is nobody to tell when the transport has ended.
            let _ = judge.send((self.number, judgement));
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.say(Judgement::Ignore);
    }
}

/// What becomes of a signed message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "gossip has these three")]
pub enum Judgement {
    /// It is right: it is forwarded.
    Accept,
    /// It is false, and no honest peer sends it: it is not forwarded, and its source is banned for [`Limits::ban`].
    Reject,
    /// It is not forwarded, and nobody is blamed.
    Ignore,
}

/// A peer that is admitted, as [`Transport::peers`] shows it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PeerReport {
    /// Its name.
    pub peer: PeerId,
    /// Its number.
    pub source: Source,
    /// For whom it speaks.
    pub operator: Address,
    /// From where it is connected.
    pub address: String,
    /// Since when it is admitted.
    pub admitted_for: Duration,
    /// The bytes that came from it: with libp2p all bytes of its connections, with HTTP those of bodies.
    pub bytes_in: u64,
    /// The bytes that went to it.
    pub bytes_out: u64,
    /// The messages that came from it: gossip that was new, requests and answers.
    pub messages_in: u64,
    /// The messages that went to it: requests and answers, and with HTTP the signed messages too. libp2p does not say which
    /// messages of gossip went to whom.
    pub messages_out: u64,
    /// Zero, or less: gossip that was malformed or rejected. A peer below -1 is banned.
    pub score: f64,
}

/// What a transport has dropped and refused since it started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Arrivals that were dropped because the node took none: the newest ones.
    pub arrivals_dropped: u64,
    /// Calls that were dropped because too many waited: the newest ones.
    pub calls_dropped: u64,
    /// Messages that could not be sent for lack of a peer, or because a peer takes them too slowly: the oldest ones.
    pub unsent: u64,
    /// Questions for which there was no peer, or that got no answer in time.
    pub unanswered: u64,
    /// Messages that were ignored because no judgement came in time.
    pub unjudged: u64,
    /// Peers that were admitted and then banned.
    pub banned: u64,
    /// Strangers whose connection was closed.
    pub strangers: u64,
}

/// A running transport. Nothing here waits but [`next`](Self::next) and [`stop`](Self::stop). Dropping it ends it.
#[derive(Debug)]
pub struct Transport {
    peer_id: PeerId,
    addresses: watch::Receiver<Vec<String>>,
    calls: mpsc::Sender<Call>,
    inbox: Inbox,
    peers: watch::Receiver<Vec<PeerReport>>,
    tally: Arc<Tally>,
    task: JoinHandle<()>,
}

impl Transport {
    /// The node's name.
    pub fn peer_id(&self) -> PeerId {
        self.peer_id
    }

    /// Where the node listens: with libp2p multiaddresses that end in its peer id, with HTTP an address of `http`, and
    /// nothing for a node that only joins.
    pub fn addresses(&self) -> Vec<String> {
        self.addresses.borrow().clone()
    }

    /// Sends a message of this node to everybody. It does not arrive at this node. While there is no peer it waits for one,
    /// for at most 30 seconds.
    pub fn publish(&self, message: Signed) {
        self.call(Call::Publish(message));
    }

    /// Says what becomes of a message. Later than [`Limits::judge_within`], nothing does.
    pub fn judge(&self, mut ticket: Ticket, judgement: Judgement) {
        ticket.say(judgement);
    }

    /// Asks one admitted peer, chosen at random among those that left the fewest questions unanswered.
    pub fn ask(&self, request: Request) {
        self.call(Call::Ask(request));
    }

    /// Answers the oldest open question of a peer. Without one, nothing happens.
    pub fn answer(&self, to: Source, answer: Answer) {
        self.call(Call::Answer(to, answer));
    }

    /// Ends a peer's connections, and refuses the peer and its operator for so long. Also for a peer that has left just now.
    pub fn ban(&self, source: Source, time: Duration) {
        self.call(Call::Ban(source, time));
    }

    /// The registry has changed: every admitted peer is checked again.
    pub fn readmit(&self) {
        self.call(Call::Readmit);
    }

    /// The admitted peers, as of at most a second ago.
    pub fn peers(&self) -> Vec<PeerReport> {
        self.peers.borrow().clone()
    }

    /// What was dropped and refused.
    pub fn counts(&self) -> Counts {
        self.tally.counts()
    }

    /// The next arrival; `None` when the transport has ended. Safe to cancel.
    pub async fn next(&mut self) -> Option<Arrival> {
        self.inbox.next().await
    }

    /// Ends the transport, and returns when its connections and sockets are closed.
    pub async fn stop(self) {
        let Self { calls, inbox, task, .. } = self;
        drop(calls);
        // The tickets in it go first, which the task may still see.
        drop(inbox);
        if let Err(error) = task.await
            && error.is_panic()
        {
            tracing::error!(%error, "the transport's task panicked");
        }
    }

    fn call(&self, call: Call) {
        if self.calls.try_send(call).is_err() {
            self.tally.calls_dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Why a transport does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// An address in the settings.
    #[error("{field}: {found:?} is no address that works here: {why}")]
    Address {
        /// The setting.
        field: &'static str,
        /// What was found.
        found: String,
        /// What is wrong, and what is expected.
        why: String,
    },
    /// The system does not let the node listen.
    #[error("cannot listen at {address}: {why}; choose another address, or stop the program that uses it")]
    Listen {
        /// Where.
        address: String,
        /// Why.
        why: String,
    },
    /// The credential is too long.
    #[error("the node's credential: {0}")]
    Credential(#[from] CredentialError),
    /// A library refuses its settings.
    #[error("cannot set up {part}: {why}")]
    Setup {
        /// Which part.
        part: &'static str,
        /// Why.
        why: String,
    },
}

/// What the handle asks of the task behind it.
#[derive(Debug)]
enum Call {
    Publish(Signed),
    Ask(Request),
    Answer(Source, Answer),
    Ban(Source, Duration),
    Readmit,
}

/// Calls that wait for the task.
const CALLS: usize = 4096;
/// Judgements, bans and calls that the task takes before it looks at the network again.
const AT_ONCE: usize = 64;
/// Messages of this node that wait for a peer.
const UNSENT: usize = 256;
/// How long they wait.
const UNSENT_FOR: Duration = Duration::from_secs(30);
/// The most open questions of one peer.
const OPEN_QUESTIONS: usize = 4;
/// The most questions of this node that wait for answers.
const QUESTIONS: usize = 64;
