//! The node's handle of a running transport.

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use quorate_evm::alloy_primitives::Address;
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
};

use super::{
    arrival::Arrival,
    bans::BanReport,
    handshake::CredentialError,
    identity::PeerId,
    inbox::{Counts, Inbox, Tally},
    tickets::{Judgement, Ticket},
};
use quorate_network::{
    groups::Audience,
    message::{PeerAnswer, PeerRequest, Signed},
    roles::PeerSource,
};

/// A running transport. Nothing here waits but [`next`](Self::next) and [`stop`](Self::stop). Dropping it ends it.
#[derive(Debug)]
pub struct Transport {
    pub(super) peer_id: PeerId,
    pub(super) addresses: watch::Receiver<Vec<String>>,
    pub(super) calls: mpsc::Sender<Call>,
    /// Beside the calls, of which some are dropped when there are too many. Their number is bounded by that of arrivals and of blocks.
    pub(super) commands: mpsc::UnboundedSender<Command>,
    /// Beside the calls, too.
    pub(super) audiences: watch::Sender<BTreeSet<Audience>>,
    pub(super) inbox: Inbox,
    pub(super) peers: watch::Receiver<Vec<PeerReport>>,
    pub(super) tally: Arc<Tally>,
    pub(super) task: JoinHandle<()>,
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

    /// Sends a message of this node to an audience. It does not arrive at this node. While there is no peer it waits for one,
    /// for at most 30 seconds. By HTTP everybody gets it, because all messages go through the aggregator.
    pub fn publish(&self, message: Signed, audience: Audience) {
        self.call(Call::Publish(message, audience));
    }

    /// To which audiences this node belongs from now on: it gets and forwards what is published to them. All nodes belong to
    /// [`Audience::Everybody`].
    pub fn listen(&self, audiences: BTreeSet<Audience>) {
        self.audiences.send_if_modified(|held| {
            let other = *held != audiences;
            *held = audiences;
            other
        });
    }

    /// Says what becomes of a message. Later than [`Limits::judge_within`](super::Limits::judge_within), nothing does.
    pub fn judge(&self, mut ticket: Ticket, judgement: Judgement) {
        ticket.say(judgement);
    }

    /// Asks one admitted peer of an audience, chosen at random among those that left the fewest questions unanswered; any
    /// admitted peer, if none of the audience is connected. By HTTP the aggregator is asked, and asks any.
    pub fn ask(&self, request: PeerRequest, audience: Audience) {
        self.call(Call::Ask(request, audience));
    }

    /// Asks one admitted peer, which has asked and shown that it holds more. If as many questions as allowed wait for its answers,
    /// nothing happens.
    pub fn ask_peer(&self, peer: PeerSource, request: PeerRequest) {
        self.call(Call::AskPeer(peer, request));
    }

    /// Hands a message on that came in an answer and was right. By HTTP the others get it from the aggregator; nothing happens at
    /// other nodes, whose peers gossip.
    pub fn hand_on(&self, message: Signed) {
        self.call(Call::HandOn(message));
    }

    /// Answers an open question of a peer. Without one, nothing happens.
    pub fn answer(&self, to: PeerSource, answer: PeerAnswer) {
        self.call(Call::Answer(to, answer));
    }

    /// Ends a peer's connections, and refuses the peer and its operator for so long. Also for a peer that has left just now.
    pub fn ban(&self, source: PeerSource, time: Duration) {
        self.command(Command::Ban(source, time));
    }

    /// The registry has changed: every admitted peer is checked again.
    pub fn readmit(&self) {
        self.command(Command::Readmit);
    }

    /// The admitted peers, as of at most a second ago.
    pub fn peers(&self) -> Vec<PeerReport> {
        self.peers.borrow().clone()
    }

    /// The bans that have not ended, for people: the newest 256 of peers that were admitted, and then the newest 256 of
    /// strangers, the newest of each first. More may be in force.
    pub fn bans(&self) -> Vec<BanReport> {
        self.tally.bans()
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

    fn command(&self, command: Command) {
        // There is nobody to tell when the transport has ended.
        let _ = self.commands.send(command);
    }

    fn call(&self, call: Call) {
        if self.calls.try_send(call).is_err() {
            self.tally.calls_dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// A peer that is admitted, as [`Transport::peers`] shows it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PeerReport {
    /// Its name.
    pub peer: PeerId,
    /// Its number.
    pub source: PeerSource,
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

/// Why a transport does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// An address in the settings.
    #[error("{field}: {found:?} is not an address that works here: {why}")]
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
        /// The address that was asked for.
        address: String,
        /// The reason, in words.
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
        /// The reason, in words.
        why: String,
    },
}

/// What the task behind the handle does whatever else waits for it: who is admitted, and who is not.
#[derive(Debug)]
pub(super) enum Command {
    Ban(PeerSource, Duration),
    Readmit,
}

/// What the handle asks of the task behind it.
#[derive(Debug)]
pub(super) enum Call {
    Publish(Signed, Audience),
    Ask(PeerRequest, Audience),
    AskPeer(PeerSource, PeerRequest),
    HandOn(Signed),
    Answer(PeerSource, PeerAnswer),
}

/// Calls that wait for the task.
pub(super) const CALLS: usize = 4096;
/// Judgements and calls that the task takes before it looks at the network again.
pub(super) const AT_ONCE: usize = 64;
/// Messages of this node that wait for a peer.
pub(super) const UNSENT: usize = 256;
/// How long they wait.
pub(super) const UNSENT_FOR: Duration = Duration::from_secs(30);
/// The most open questions of one peer.
pub(super) const OPEN_QUESTIONS: usize = 4;
/// The most questions of this node that wait for answers.
pub(super) const QUESTIONS: usize = 64;
