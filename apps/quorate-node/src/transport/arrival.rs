//! What the network tells the node.

use quorate_evm::alloy_primitives::Address;

use super::{identity::PeerId, tickets::Ticket};
use quorate_network::{
    message::{PeerAnswer, PeerRequest, Signed},
    roles::PeerSource,
};

/// What the network tells the node.
#[derive(Debug)]
pub enum Arrival {
    /// A signed message, of which nothing was verified.
    Signed {
        /// Who sent or forwarded it.
        source: PeerSource,
        /// What [`Transport::judge`](super::Transport::judge) takes. Dropping it is
        /// [`Judgement::Ignore`](super::Judgement::Ignore).
        ticket: Ticket,
        /// The message.
        message: Signed,
    },
    /// A peer asks what it missed. [`Transport::answer`](super::Transport::answer) answers.
    Asked {
        /// The peer's number, as in `Joined`.
        source: PeerSource,
        /// What it holds.
        request: PeerRequest,
    },
    /// A peer answered [`Transport::ask`](super::Transport::ask). Nothing of the answer was verified.
    Answered {
        /// The peer's number, as in `Joined`.
        source: PeerSource,
        /// The answer.
        answer: PeerAnswer,
    },
    /// A peer was admitted.
    Joined {
        /// Its number until it leaves. A peer that comes back has another one.
        source: PeerSource,
        /// Its name.
        peer: PeerId,
        /// For whom it speaks.
        operator: Address,
    },
    /// A peer that had joined is gone. Comes exactly once for each `Joined`, after the other arrivals of the peer.
    Left {
        /// The peer's number, as in `Joined`.
        source: PeerSource,
    },
}
