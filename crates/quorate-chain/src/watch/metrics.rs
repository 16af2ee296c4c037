//! What a watcher counts, beside what every follower counts. docs/operate.md lists those with labels.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicU64};

use prometheus_client::{
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::{Registry, Unit},
};
use quorate_evm::{
    posting::PostingStatus,
    watch::{PostingOutlook, WatchDuty},
};
use quorate_host::metrics::{self, Labels, Watched};

use crate::settlement::{SettlementMetrics, metrics::PREFIX as OF_FOLLOWER};

/// A posting about which nothing is decided.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenPosting {
    pub(super) slot: u64,
    pub(super) status: PostingStatus,
    /// What it turned out to be.
    pub(super) verdict: &'static str,
    pub(super) outlook: PostingOutlook,
}

/// Everything that a watcher counts.
#[derive(Debug)]
pub struct WatchMetrics {
    followed: Arc<SettlementMetrics>,
    calls: Family<Labels<2>, Counter>,
    found_false: Counter,
    now: Mutex<Now>,
}

/// Postings by what they turned out to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PostingCounts {
    /// Those that are what their signers signed.
    pub r#true: u64,
    /// Those that are not.
    pub r#false: u64,
    /// Those that could not be recomputed.
    pub unknown: u64,
}

/// What a watcher saw when it looked last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WatchSight {
    /// When everything that is confirmed had been read and recomputed, in milliseconds of Unix time; `None` before that.
    pub looked_ms: Option<u64>,
    /// Postings that are neither final nor decided.
    pub open: PostingCounts,
    /// Postings that became final without a proof.
    pub finals: PostingCounts,
    /// Postings in the last quarter of their window that are not found true, and whose proof nobody demanded.
    pub late: u64,
    /// How often a posting was found to be false, since the start.
    pub found_false: u64,
    /// How many demands the payer can pay; `None` without a payer, and before its account was read.
    pub demands: Option<u64>,
}

/// What was seen last.
#[derive(Clone, Debug, Default)]
struct Now {
    open: Vec<OpenPosting>,
    settled: u64,
    dropped: u64,
    /// How many demands the payer can pay; none without a payer.
    demands: Option<u64>,
    /// Why the account of the payer is not known.
    unpaid: Option<String>,
}

impl Now {
    /// Open postings of a kind.
    fn count(&self, holds: impl Fn(&OpenPosting) -> bool) -> u64 {
        self.open.iter().filter(|open| holds(open)).count() as u64
    }
}

/// The calls that are counted.
pub(super) const WITHDRAW: &str = "withdraw";
/// What becomes of them.
pub(super) const OUTCOMES: [&str; 5] = ["sent", "done", "failed", "refused", "given up"];

impl WatchMetrics {
    /// Counts from now on, beside a follower.
    pub fn begun(followed: Arc<SettlementMetrics>) -> Self {
        let calls: Family<Labels<2>, Counter> = Family::default();
        for call in WatchDuty::ALL.map(WatchDuty::name).into_iter().chain([WITHDRAW]) {
            for outcome in OUTCOMES {
                drop(calls.get_or_create(&[("call", call), ("outcome", outcome)]));
            }
        }
        Self { followed, calls, found_false: Counter::default(), now: Mutex::default() }
    }

    /// The postings in the slots.
    pub(super) fn postings(&self, open: Vec<OpenPosting>, closed: impl Iterator<Item = PostingStatus>) {
        let mut now = self.now();
        (now.open, now.settled, now.dropped) = (open, 0, 0);
        for status in closed {
            match status {
                PostingStatus::Dropped => now.dropped += 1,
                _ => now.settled += 1,
            }
        }
    }

    /// A posting was found to be false.
    pub(super) fn found_false(&self) {
        self.found_false.inc();
    }

    /// So many demands can the payer pay.
    pub(super) fn demands(&self, demands: u64) {
        self.now().demands = Some(demands);
    }

    /// Why the account of the payer is not known, if it is not. The answer is whether it was not before.
    pub(super) fn unpaid(&self, why: Option<String>) -> bool {
        std::mem::replace(&mut self.now().unpaid, why).is_some()
    }

    /// Something happened to a call.
    pub(super) fn call(&self, call: &'static str, outcome: &'static str) {
        self.calls.get_or_create(&[("call", call), ("outcome", outcome)]).inc();
    }

    /// What the follower counts.
    pub fn followed(&self) -> &Arc<SettlementMetrics> {
        &self.followed
    }

    /// What was seen last.
    pub fn sight(&self) -> WatchSight {
        let (looked_ms, now) = (self.followed.caught_up_ms(), self.now());
        let counts = |is_final: bool| {
            let of = |verdict| now.count(|open| open.verdict == verdict && open.outlook.is_final == is_final);
            PostingCounts { r#true: of("true"), r#false: of("false"), unknown: of("unknown") }
        };
        WatchSight {
            looked_ms,
            open: counts(false),
            finals: counts(true),
            late: now.count(|open| open.outlook.is_late && !open.outlook.is_final && open.verdict != "true"),
            found_false: self.found_false.get(),
            demands: now.demands,
        }
    }

    /// Registers everything that a follower and a watcher tell, beside the metrics of a program that does more than to watch.
    pub fn register_beside(&self, root: &mut Registry) {
        self.followed.register(root.sub_registry_with_prefix(OF_FOLLOWER));
        self.register(root);
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        // Nothing panics while it holds this.
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn register(&self, root: &mut Registry) {
        // One after the other: both take the lock.
        let sight = self.sight();
        let now = self.now().clone();
        let r = root.sub_registry_with_prefix("quorate_watcher");
        let gauges = |label: &'static str, values: Vec<(&'static str, u64)>| {
            let family: Family<Labels<1>, Gauge<u64, AtomicU64>> = Family::default();
            for (value, number) in values {
                family.get_or_create(&[(label, value)]).set(number);
            }
            family
        };
        let of_status = |name: &str| now.count(|open| open.status.name() == name && !open.outlook.is_final);
        let states = vec![
            ("posted", of_status("posted")),
            ("demanded", of_status("demanded")),
            ("final", now.count(|open| open.outlook.is_final)),
            ("settled", now.settled),
            ("dropped", now.dropped),
        ];
        r.register("postings", "Postings in the slots, by state", gauges("state", states));
        let verdicts = |counts: PostingCounts| {
            gauges("verdict", vec![("true", counts.r#true), ("false", counts.r#false), ("unknown", counts.unknown)])
        };
        let help = "Postings that are neither final nor decided, by what they turned out to be";
        r.register("open", help, verdicts(sight.open));
        let help = "Postings that became final without a proof, by what they turned out to be";
        r.register("final", help, verdicts(sight.finals));
        let late = Gauge::<u64, AtomicU64>::default();
        late.set(sight.late);
        let help =
            "Postings in the last quarter of their window that are not found true, and whose proof nobody demanded";
        r.register("late", help, late);
        let (seconds, blocks) = (Family::<[(&str, u64); 1], Gauge<u64, AtomicU64>>::default(), Family::default());
        let slots = now.open.iter().map(|open| (open.slot, open.outlook.left.seconds, open.outlook.left.blocks));
        // Slot 0 is there always, so that a metric without a posting is told from one that is missing.
        for (slot, of_seconds, of_blocks) in [(0, 0, 0)].into_iter().chain(slots) {
            seconds.get_or_create(&[("slot", slot)]).set(of_seconds);
            let blocks: &Family<[(&str, u64); 1], Gauge<u64, AtomicU64>> = &blocks;
            blocks.get_or_create(&[("slot", slot)]).set(of_blocks);
        }
        let help = "What is left until the posting in a slot is final, or its demand unanswered; it is over when seconds and blocks are 0";
        r.register_with_unit("left", help, Unit::Seconds, seconds);
        r.register_with_unit("left", help, Unit::Other("blocks".to_owned()), blocks);
        r.register("found_false", "Postings that were found to be false", self.found_false.clone());
        if let Some(number) = now.demands {
            let demands = Gauge::<u64, AtomicU64>::default();
            demands.set(number);
            r.register("payer_demands", "How many demands the payer can pay, each with its bond and its gas", demands);
        }
        let help = "Calls, by what happened to them: sent, done, failed (in a block), refused (not sent), given up";
        r.register("calls", help, self.calls.clone());
    }
}

impl Watched for WatchMetrics {
    fn ready(&self) -> Result<(), String> {
        self.followed.ready()?;
        self.now().unpaid.clone().map_or(Ok(()), Err)
    }

    fn metrics(&self) -> String {
        let mut root = Registry::default();
        self.followed.register(self.followed.begin(&mut root));
        self.register(&mut root);
        metrics::text(&root)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use quorate_evm::posting::TimeLeft;

    use super::*;
    use crate::rpc::Rpc;

    fn posting(verdict: &'static str, is_final: bool, is_late: bool) -> OpenPosting {
        let left = TimeLeft { seconds: 5, blocks: 1 };
        OpenPosting {
            slot: 0,
            status: PostingStatus::Posted,
            verdict,
            outlook: PostingOutlook { left, is_final, is_late },
        }
    }

    /// What a page shows is what the metrics say.
    #[test]
    fn what_was_seen_is_told_in_both_ways() {
        let followed = SettlementMetrics::begun(Rpc::new("http://127.0.0.1:1").unwrap(), Duration::from_secs(4));
        let metrics = WatchMetrics::begun(Arc::new(followed));
        assert_eq!(metrics.sight(), WatchSight::default());
        let open = vec![
            posting("true", false, true),
            posting("false", false, true),
            posting("unknown", false, false),
            posting("unknown", false, true),
            posting("false", true, true),
        ];
        metrics.postings(open, [PostingStatus::Dropped].into_iter());
        metrics.found_false();
        metrics.demands(3);
        metrics.followed().caught_up(false);
        let sight = metrics.sight();
        assert!(sight.looked_ms.is_some());
        let expected = WatchSight {
            looked_ms: sight.looked_ms,
            open: PostingCounts { r#true: 1, r#false: 1, unknown: 2 },
            finals: PostingCounts { r#true: 0, r#false: 1, unknown: 0 },
            late: 2,
            found_false: 1,
            demands: Some(3),
        };
        assert_eq!(sight, expected);
        let text = metrics.metrics();
        for line in [
            "quorate_watcher_open{verdict=\"unknown\"} 2",
            "quorate_watcher_final{verdict=\"false\"} 1",
            "quorate_watcher_late 2",
            "quorate_watcher_found_false_total 1",
            "quorate_watcher_payer_demands 3",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
    }

    /// Whoever watches reads that calls cannot be paid, and not that nothing is recomputed.
    #[test]
    fn a_watcher_whose_payer_is_not_known_is_not_ready() {
        let followed = SettlementMetrics::begun(Rpc::new("http://127.0.0.1:1").unwrap(), Duration::from_secs(4));
        let metrics = WatchMetrics::begun(Arc::new(followed));
        let why = || "what the payer has is not known".to_owned();
        assert!(!metrics.unpaid(Some(why())));
        assert!(metrics.ready().unwrap_err().contains("the logs are still read"));
        metrics.followed().caught_up(false);
        assert_eq!(metrics.ready(), Err(why()));
        assert!(metrics.unpaid(None));
        assert_eq!(metrics.ready(), Ok(()));
    }
}
