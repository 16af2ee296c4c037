//! How much of everything a transport takes, and from whom.

use std::time::{Duration, Instant};

/// The limits of a transport. The defaults suit a network of some hundred operators.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// How long a peer has to show a credential that is admitted.
    pub handshake: Duration,
    /// The same for a peer to which [`Admitted::NotYet`](super::Admitted::NotYet) was said.
    pub not_yet: Duration,
    /// How long a peer and its operator are banned for a fault.
    pub ban: Duration,
    /// How long the peer id and the address of somebody who was never admitted are banned.
    pub stranger_ban: Duration,
    /// The most bytes that a connection may bring before its peer is admitted.
    pub stranger_bytes: u64,
    /// The most connections whose peers are not admitted yet.
    pub strangers: usize,
    /// The same from one address.
    pub strangers_per_address: usize,
    /// The most admitted peers. One more is told of others and let go.
    pub peers: usize,
    /// The most admitted peers of one operator.
    pub peers_per_operator: usize,
    /// While fewer peers are admitted, the node dials peers that it was told of.
    pub wanted_peers: usize,
    /// The bytes a second that a connection may bring in the long run, and at once. Over HTTP also those that a node is sent again.
    pub bytes: Rate,
    /// The messages of gossip that a connection may bring: a frame counts as one.
    pub messages: Rate,
    /// The requests of a peer.
    pub requests: Rate,
    /// The most arrivals that wait for the node.
    pub arrivals: usize,
    /// The most bytes of messages that wait for the node.
    pub arrival_bytes: usize,
    /// The most signed messages that wait for a judgement, in the queue of arrivals or at the node.
    pub unjudged: usize,
    /// After what time a message without a judgement is ignored.
    pub judge_within: Duration,
    /// How long a peer has to answer a request.
    pub answer_within: Duration,
    /// After what time a lost peer is dialled again. The time doubles with each failure.
    pub redial_first: Duration,
    /// The longest time between two attempts.
    pub redial_most: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            handshake: seconds(10),
            not_yet: seconds(60),
            ban: seconds(600),
            stranger_ban: seconds(30),
            stranger_bytes: 1 << 20,
            strangers: 64,
            strangers_per_address: 16,
            peers: 128,
            peers_per_operator: 4,
            wanted_peers: 16,
            bytes: Rate { per_second: 8 << 20, at_once: 32 << 20 },
            messages: Rate { per_second: 2_000, at_once: 10_000 },
            requests: Rate { per_second: 10, at_once: 60 },
            arrivals: 4096,
            arrival_bytes: 64 << 20,
            unjudged: 4096,
            judge_within: seconds(30),
            answer_within: seconds(10),
            redial_first: Duration::from_millis(500),
            redial_most: seconds(60),
        }
    }
}

/// A rate with a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// So many a second in the long run.
    pub per_second: u64,
    /// So many at once, after a pause.
    pub at_once: u64,
}

/// A token bucket: full at first, it fills at the rate and never holds more than the burst.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    rate: Rate,
    /// In tokens.
    level: f64,
    at: Instant,
}

impl Bucket {
    pub(super) fn new(rate: Rate, now: Instant) -> Self {
        Self { rate, level: rate.at_once as f64, at: now }
    }

    /// Takes tokens; `false`, and none are taken, if there are not so many.
    pub(super) fn take(&mut self, count: u64, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        self.at = self.at.max(now);
        self.level = (self.level + passed * self.rate.per_second as f64).min(self.rate.at_once as f64);
        let enough = self.level >= count as f64;
        if enough {
            self.level -= count as f64;
        }
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_its_burst_and_then_its_rate() {
        let start = Instant::now();
        let mut bucket = Bucket::new(Rate { per_second: 10, at_once: 3 }, start);
        assert!(bucket.take(3, start));
        assert!(!bucket.take(1, start));
        let later = start + Duration::from_millis(100);
        assert!(bucket.take(1, later) && !bucket.take(1, later));
        // A long pause fills it to the burst, not beyond. A clock that goes back fills nothing.
        let much_later = start + Duration::from_secs(60);
        assert!(!bucket.take(4, much_later) && bucket.take(3, much_later) && !bucket.take(1, start));
    }
}
