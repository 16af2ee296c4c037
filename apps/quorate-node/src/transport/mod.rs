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

mod identity;
mod limits;
mod origin;
mod places;
mod bans;
pub mod handshake;
mod admission;
mod tickets;
mod arrival;
mod inbox;
mod handle;
pub mod libp2p;
pub mod http;
#[cfg(test)]
mod tests;

pub use self::{
    admission::{Admission, Admitted, Terms},
    arrival::Arrival,
    bans::BanReport,
    handle::{PeerReport, Transport, TransportError},
    handshake::{Credential, CredentialError, MAX_OPERATOR_KEY, MAX_OPERATOR_SIGNATURE},
    identity::{Identity, IdentityError, PeerId, PeerIdError},
    inbox::Counts,
    limits::{Limits, Rate},
    tickets::{Judgement, Ticket},
};
