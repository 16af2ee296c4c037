//! What a follower counts, for Prometheus, and whether it keeps up. docs/operate.md lists those with labels.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use prometheus_client::{
    metrics::{counter::Counter, family::Family},
    registry::{Registry, Unit},
};
use quorate_evm::follow::{Follower, SettlementEvent};
use quorate_host::{
    metrics::{self, Labels, Watched, count, number, real},
    unix_ms, unix_seconds,
};

use crate::rpc::Rpc;

/// Everything that a follower counts.
#[derive(Debug)]
pub struct SettlementMetrics {
    started_ms: u64,
    /// How long ago the contract may have been compared with everything that is confirmed.
    bound: Duration,
    /// How old the newest block may be.
    oldest: Duration,
    /// Whose questions are counted.
    node: Rpc,
    events: Family<Labels<1>, Counter>,
    reorganisations: Counter,
    now: Mutex<Now>,
}

/// Where the follower stands. What was not read yet is not told.
#[derive(Clone, Copy, Debug, Default)]
struct Now {
    /// The newest block of the chain.
    head: Option<SeenHead>,
    finalized: Option<u64>,
    /// The last block that was read, and when.
    read: Option<(u64, u64)>,
    /// The last block after which the contract was compared.
    matched: Option<u64>,
    /// When all confirmed blocks were read and the contract compared, in milliseconds of Unix time, and by a stopwatch: the machine's
    /// clock may be set.
    caught_up: Option<(u64, Instant)>,
    settlement: Option<Settlement>,
    waits: bool,
}

/// The newest block of a chain, as it was seen.
#[derive(Clone, Copy, Debug)]
struct SeenHead {
    number: u64,
    /// In seconds of Unix time.
    time: u64,
    /// When it was first seen as the newest one.
    since: Instant,
}

impl SeenHead {
    /// How old it is at least: by the clock, and by a stopwatch, because the clock may be set back.
    fn age(&self) -> Duration {
        Duration::from_secs(unix_seconds().saturating_sub(self.time)).max(self.since.elapsed())
    }
}

/// What the logs say of the settlement.
#[derive(Clone, Copy, Debug)]
struct Settlement {
    keys: u64,
    results: u64,
    epoch: u64,
}

impl SettlementMetrics {
    /// Counts from now on, for a follower that looks for blocks again and again after `every`.
    pub fn begun(node: Rpc, every: Duration) -> Self {
        let events: Family<Labels<1>, Counter> = Family::default();
        for event in SettlementEvent::NAMES {
            drop(events.get_or_create(&[("event", event)]));
        }
        Self {
            started_ms: unix_ms(),
            bound: PATIENCE + 2 * every,
            oldest: OLD.max(PATIENCE + 2 * every),
            node,
            events,
            reorganisations: Counter::default(),
            now: Mutex::default(),
        }
    }

    /// The newest block, with its time in seconds of Unix time.
    pub(super) fn head(&self, number: u64, time: u64) {
        let mut now = self.now();
        let is_new = |head: &SeenHead| (head.number, head.time) != (number, time);
        if now.head.as_ref().is_none_or(is_new) {
            now.head = Some(SeenHead { number, time, since: Instant::now() });
        }
    }

    /// The newest block that is final.
    pub(super) fn finalized(&self, number: Option<u64>) {
        self.now().finalized = number;
    }

    /// The logs up to a block were read.
    pub(super) fn read(&self, block: u64) {
        self.now().read = Some((block, unix_ms()));
    }

    /// A log said something about the network.
    pub(super) fn event(&self, event: &SettlementEvent) {
        self.events.get_or_create(&[("event", event.name())]).inc();
    }

    /// Blocks that were read are not the chain's any more.
    pub(super) fn reorganised(&self) {
        self.reorganisations.inc();
    }

    /// The contract's state after a block is what the logs say.
    pub(super) fn matched(&self, block: u64) {
        self.now().matched = Some(block);
    }

    /// What the logs say.
    pub(super) fn settlement(&self, follower: &Follower) {
        let (keys, results, epoch) =
            (follower.keys() as u64, follower.head().nonce, u64::from(follower.last_epoch().0));
        self.now().settlement = Some(Settlement { keys, results, epoch });
    }

    /// Everything that is confirmed was read and compared. `waits` says whether the network could not be written all the same.
    pub fn caught_up(&self, waits: bool) {
        let mut now = self.now();
        (now.caught_up, now.waits) = (Some((unix_ms(), Instant::now())), waits);
    }

    /// When that was so the last time, in milliseconds of Unix time.
    pub(crate) fn caught_up_ms(&self) -> Option<u64> {
        self.now().caught_up.map(|(at_ms, _)| at_ms)
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        // Nothing panics while it holds this.
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched for SettlementMetrics {
    fn ready(&self) -> Result<(), String> {
        let now = *self.now();
        let Some((_, caught_up)) = now.caught_up else {
            let block = now.read.map_or_else(|| "no block".to_owned(), |(block, _)| format!("block {block}"));
            let head = now.head.map_or_else(|| "unknown".to_owned(), |head| head.number.to_string());
            return Err(format!("the logs are still read: {block} was read, the newest block is {head}"));
        };
        let ago = caught_up.elapsed();
        if ago > self.bound {
            let (ago, bound) = (ago.as_secs(), self.bound.as_secs());
            return Err(format!(
                "the contract was compared {ago} s ago, expected at most {bound} s: the node does not answer, or lags"
            ));
        }
        let age = now.head.map_or(Duration::ZERO, |head| head.age());
        if age > self.oldest {
            let (age, oldest) = (age.as_secs(), self.oldest.as_secs());
            return Err(format!(
                "the newest block is {age} s old, expected at most {oldest} s: the node is behind its chain, or this machine's clock is \
                 wrong"
            ));
        }
        Ok(())
    }

    fn metrics(&self) -> String {
        let mut root = Registry::default();
        self.register(self.begin(&mut root));
        metrics::text(&root)
    }
}

impl SettlementMetrics {
    /// Registers what each program tells. The answer is the registry of the follower.
    pub(crate) fn begin<'a>(&self, root: &'a mut Registry) -> &'a mut Registry {
        metrics::begin(root, PREFIX, self.started_ms, env!("CARGO_PKG_VERSION"))
    }

    /// Registers everything that a follower tells, in its registry.
    pub(crate) fn register(&self, r: &mut Registry) {
        let ready = self.ready().is_ok();
        let now = *self.now();
        r.register(
            "ready",
            "1 if the contract was compared with all that is confirmed a short time ago, and the newest block is not old, else 0",
            number(u64::from(ready)),
        );
        if let Some(SeenHead { number: head, time, .. }) = now.head {
            r.register("head", "The newest block of the chain", number(head));
            let help = "The time of the newest block, since 1970";
            r.register_with_unit("head_time", help, Unit::Seconds, number(time));
        }
        if let Some(finalized) = now.finalized {
            let help = "The newest block that is final; read with `--confirmations finalized` alone";
            r.register("finalized", help, number(finalized));
        }
        if let Some((block, at_ms)) = now.read {
            r.register("block", "The last block whose logs were read", number(block));
            let help = "When the logs of a block were last read, since 1970";
            r.register_with_unit("progress_time", help, Unit::Seconds, real(at_ms as f64 / 1000.0));
        }
        if let Some(matched) = now.matched {
            let help = "The last block after which the contract's state was what the logs say";
            r.register("matched_block", help, number(matched));
        }
        if let (Some(SeenHead { number: head, .. }), Some(block)) =
            (now.head, now.read.map(|(block, _)| block).max(now.matched))
        {
            let help = "By how many blocks the last one that was read is behind the newest, confirmations included";
            r.register_with_unit("lag", help, Unit::Other("blocks".to_owned()), number(head.saturating_sub(block)));
        }
        if let Some((at_ms, _)) = now.caught_up {
            let help = "When everything that was confirmed had been read and compared, since 1970";
            r.register_with_unit("caught_up_time", help, Unit::Seconds, real(at_ms as f64 / 1000.0));
        }
        if let Some(Settlement { keys, results, epoch }) = now.settlement {
            r.register("keys", "Keys of the settlement's table", number(keys));
            r.register("results", "Results that were settled", number(results));
            r.register("epoch", "The epoch that was begun last", number(epoch));
        }
        let help = "1 if the network is not written, because it has no keys or an epoch waits to be entered, else 0";
        r.register("waits", help, number(u64::from(now.waits)));
        let help = "Logs that were read, by event; those that are read again after a reorganisation count again";
        r.register("events", help, self.events.clone());
        let help = "Times that blocks were not the chain's any more";
        r.register("reorganisations", help, self.reorganisations.clone());
        let counts = self.node.counts();
        r.register("rpc_questions", "Questions to the node, each as often as it was asked", count(counts.questions));
        r.register("rpc_retries", "Questions that were asked again", count(counts.retries));
        let failures: Family<Labels<1>, Counter> = Family::default();
        for (kind, times) in
            [("unreachable", counts.unreachable), ("refused", counts.refused), ("misread", counts.misread)]
        {
            failures.get_or_create(&[("kind", kind)]).inc_by(times);
        }
        let help = "Questions without an answer that can be used, by kind: unreachable, refused (an error), misread";
        r.register("rpc_failures", help, failures);
    }
}

/// What the names of a follower's metrics begin with.
pub(crate) const PREFIX: &str = "quorate_follower";

/// With twice the pause between two looks, the bound of [`SettlementMetrics`]: a node that is asked six times takes some ten seconds.
const PATIENCE: Duration = Duration::from_secs(60);
/// The least bound of the newest block's age: that of the alert `QuorateFollowerChainOld`, and the most that a node allows its own chain.
const OLD: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use std::thread::sleep;

    use super::*;

    fn begun() -> SettlementMetrics {
        SettlementMetrics::begun(Rpc::new("http://127.0.0.1:1").unwrap(), Duration::from_secs(4))
    }

    /// A node that stands still goes on answering, and each look finds nothing new. Postings become final meanwhile.
    #[test]
    fn a_follower_whose_chain_stands_still_is_not_ready() {
        let mut metrics = begun();
        metrics.caught_up(false);
        metrics.head(7, unix_seconds() - 290);
        metrics.ready().unwrap();
        metrics.head(8, unix_seconds() - 310);
        let why = metrics.ready().unwrap_err();
        assert!(why.starts_with("the newest block is 31") && why.contains("at most 300 s"), "{why}");
        assert!(metrics.metrics().contains("quorate_follower_ready 0\n"));

        // By a clock that was set back the block is of the future; it stays the same.
        metrics.head(9, unix_seconds() + 3_600);
        metrics.ready().unwrap();
        metrics.oldest = Duration::from_millis(1);
        sleep(Duration::from_millis(5));
        let time = metrics.now().head.unwrap().time;
        metrics.head(9, time);
        metrics.ready().unwrap_err();
        // Whoever looks seldom sees older blocks.
        let rpc = Rpc::new("http://127.0.0.1:1").unwrap();
        assert_eq!(SettlementMetrics::begun(rpc, Duration::from_secs(600)).oldest, Duration::from_secs(1_260));
    }

    /// The clock was an hour ahead when the contract was compared, and is set back. Then nothing answers any more.
    #[test]
    fn a_clock_that_is_set_back_hides_no_follower_that_hangs() {
        let mut metrics = begun();
        metrics.caught_up(false);
        metrics.ready().unwrap();
        metrics.now().caught_up.as_mut().unwrap().0 += 3_600_000;
        metrics.bound = Duration::from_millis(1);
        sleep(Duration::from_millis(5));
        let why = metrics.ready().unwrap_err();
        assert!(why.contains("the node does not answer, or lags"), "{why}");
    }
}
