//! The queue of what the network tells the node, and the counts of what did not fit.

use std::{
    net::IpAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Instant,
};

use quorate_evm::alloy_primitives::Address;

use tokio::sync::mpsc;

use super::{
    arrival::Arrival,
    bans::{BanReport, ShownBans},
    identity::PeerId,
    limits::Limits,
};

/// A queue of arrivals, bounded in number and in bytes. What does not fit is dropped: the newest.
///
/// [`Arrival::Left`] is always taken, because the node must hear of it. There is at most one for each `Joined` that was taken.
pub(super) fn queue(limits: &Limits, tally: Arc<Tally>) -> (Outbox, Inbox) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let held = Arc::new(Held::default());
    let (arrivals, bytes) = (limits.arrivals, limits.arrival_bytes);
    (Outbox { sender, held: held.clone(), arrivals, bytes, tally }, Inbox { receiver, held })
}

#[derive(Debug, Default)]
struct Held {
    arrivals: AtomicUsize,
    bytes: AtomicUsize,
}

/// The network's end.
#[derive(Clone, Debug)]
pub(super) struct Outbox {
    sender: mpsc::UnboundedSender<(Arrival, usize)>,
    held: Arc<Held>,
    arrivals: usize,
    bytes: usize,
    tally: Arc<Tally>,
}

impl Outbox {
    /// Queues an arrival with the bytes of its message. `false` if it was dropped.
    pub(super) fn offer(&self, arrival: Arrival, bytes: usize) -> bool {
        let full = self.held.arrivals.load(Ordering::Acquire) >= self.arrivals
            || self.held.bytes.load(Ordering::Acquire).saturating_add(bytes) > self.bytes;
        if full && !matches!(arrival, Arrival::Left { .. }) {
            self.tally.arrivals_dropped.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        self.held.arrivals.fetch_add(1, Ordering::AcqRel);
        self.held.bytes.fetch_add(bytes, Ordering::AcqRel);
        self.sender.send((arrival, bytes)).is_ok()
    }

    /// Whether the node has gone.
    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }
}

/// The node's end.
#[derive(Debug)]
pub(super) struct Inbox {
    receiver: mpsc::UnboundedReceiver<(Arrival, usize)>,
    held: Arc<Held>,
}

impl Inbox {
    pub(super) async fn next(&mut self) -> Option<Arrival> {
        let (arrival, bytes) = self.receiver.recv().await?;
        self.held.arrivals.fetch_sub(1, Ordering::AcqRel);
        self.held.bytes.fetch_sub(bytes, Ordering::AcqRel);
        Some(arrival)
    }
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

/// [`Counts`] while they count, and the bans that are shown.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) arrivals_dropped: AtomicU64,
    pub(super) calls_dropped: AtomicU64,
    pub(super) unsent: AtomicU64,
    pub(super) unanswered: AtomicU64,
    pub(super) unjudged: AtomicU64,
    banned: AtomicU64,
    strangers: AtomicU64,
    shown: Mutex<ShownBans>,
}

impl Tally {
    /// A peer that was admitted is banned with its operator.
    pub(super) fn ban(&self, peer: PeerId, operator: Address, why: &str, until: Instant) {
        count(&self.banned);
        self.note(BanReport {
            peer: Some(peer),
            operator: Some(operator),
            address: None,
            reason: why.to_owned(),
            until,
        });
    }

    /// A stranger is let go, and refused for some time: by its name or address, if it has one of its own.
    pub(super) fn stranger(&self, peer: Option<PeerId>, address: Option<IpAddr>, why: &str, until: Instant) {
        count(&self.strangers);
        if peer.is_some() || address.is_some() {
            self.note(BanReport { peer, operator: None, address, reason: why.to_owned(), until });
        }
    }

    /// The bans that have not ended.
    pub(super) fn bans(&self) -> Vec<BanReport> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).list(Instant::now())
    }

    fn note(&self, report: BanReport) {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).note(report);
    }

    pub(super) fn counts(&self) -> Counts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counts {
            arrivals_dropped: read(&self.arrivals_dropped),
            calls_dropped: read(&self.calls_dropped),
            unsent: read(&self.unsent),
            unanswered: read(&self.unanswered),
            unjudged: read(&self.unjudged),
            banned: read(&self.banned),
            strangers: read(&self.strangers),
        }
    }
}

/// Counts one.
pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use quorate_network::{message::PeerRequest, roles::PeerSource};

    #[tokio::test]
    async fn what_does_not_fit_is_dropped_and_counted() {
        let tally = Arc::new(Tally::default());
        let limits = Limits { arrivals: 3, arrival_bytes: 100, ..Limits::default() };
        let (outbox, mut inbox) = queue(&limits, tally.clone());
        let asked = |number| Arrival::Asked { source: PeerSource(number), request: PeerRequest::default() };
        assert!(outbox.offer(asked(1), 60));
        assert!(!outbox.offer(asked(2), 41));
        assert!(outbox.offer(asked(3), 40) && outbox.offer(asked(4), 0));
        assert!(!outbox.offer(asked(5), 0));
        assert!(outbox.offer(Arrival::Left { source: PeerSource(9) }, 0));
        assert_eq!(tally.counts().arrivals_dropped, 2);
        let mut seen = Vec::new();
        for _ in 0..4 {
            seen.push(match inbox.next().await {
                Some(Arrival::Asked { source, .. } | Arrival::Left { source }) => source.0,
                other => panic!("{other:?}"),
            });
        }
        assert_eq!(seen, [1, 3, 4, 9]);
        assert!(outbox.offer(asked(6), 100));
        drop(inbox);
        assert!(outbox.is_closed() && !outbox.offer(asked(7), 0));
    }
}
