//! What the transport dropped and refused, as `/v1/status` shows it.

use serde::Serialize;

use crate::transport::Counts;

/// What the transport has dropped and refused since it started: see [`Counts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TransportView {
    /// Peers that were admitted and then banned.
    pub banned: u64,
    /// Strangers whose connection was closed.
    pub strangers: u64,
    /// Arrivals that were dropped because the node took none.
    pub arrivals_dropped: u64,
    /// Calls of the node that were dropped because too many waited.
    pub calls_dropped: u64,
    /// Messages that could not be sent.
    pub unsent: u64,
    /// Messages that were ignored because no judgement came in time.
    pub unjudged: u64,
    /// Questions that got no answer.
    pub unanswered: u64,
}

impl From<Counts> for TransportView {
    fn from(counts: Counts) -> Self {
        Self {
            banned: counts.banned,
            strangers: counts.strangers,
            arrivals_dropped: counts.arrivals_dropped,
            calls_dropped: counts.calls_dropped,
            unsent: counts.unsent,
            unjudged: counts.unjudged,
            unanswered: counts.unanswered,
        }
    }
}
