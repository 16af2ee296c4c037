//! What `watch` counts, beside what every follower counts. docs/operate.md has the list.

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

use crate::following::metrics::Metrics;

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
pub(super) struct WatchMetrics {
    followed: Arc<Metrics>,
    calls: Family<Labels<2>, Counter>,
    found_false: Counter,
    now: Mutex<Now>,
}

/// What was seen last.
#[derive(Clone, Debug, Default)]
struct Now {
    open: Vec<OpenPosting>,
    settled: u64,
    dropped: u64,
    /// How many demands the payer can pay; none without a payer.
    demands: Option<u64>,
}

/// The calls that are counted.
pub(super) const WITHDRAW: &str = "withdraw";
/// What becomes of them.
pub(super) const OUTCOMES: [&str; 5] = ["sent", "done", "failed", "refused", "given up"];

impl WatchMetrics {
    /// Counts from now on.
    pub(super) fn begun(followed: Arc<Metrics>) -> Self {
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

    /// Something happened to a call.
    pub(super) fn call(&self, call: &'static str, outcome: &'static str) {
        self.calls.get_or_create(&[("call", call), ("outcome", outcome)]).inc();
    }

    /// Everything that is confirmed was read and recomputed.
    pub(super) fn caught_up(&self) {
        self.followed.caught_up(false);
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        // Nothing panics while it holds this.
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn register(&self, root: &mut Registry) {
        let now = self.now().clone();
        let r = root.sub_registry_with_prefix("quorate_watcher");
        let gauges = |label: &'static str, values: Vec<(&'static str, u64)>| {
            let family: Family<Labels<1>, Gauge<u64, AtomicU64>> = Family::default();
            for (value, number) in values {
                family.get_or_create(&[(label, value)]).set(number);
            }
            family
        };
        let count = |holds: &dyn Fn(&OpenPosting) -> bool| now.open.iter().filter(|open| holds(open)).count() as u64;
        let of_status = |name: &str| count(&|open| open.status.name() == name && !open.outlook.is_final);
        let states = vec![
            ("posted", of_status("posted")),
            ("demanded", of_status("demanded")),
            ("final", count(&|open| open.outlook.is_final)),
            ("settled", now.settled),
            ("dropped", now.dropped),
        ];
        r.register("postings", "Postings in the slots, by state", gauges("state", states));
        let verdicts = ["true", "false", "unknown"];
        let waiting =
            |verdict: &'static str| (verdict, count(&|open| open.verdict == verdict && !open.outlook.is_final));
        let help = "Postings that are neither final nor decided, by what they turned out to be";
        r.register("open", help, gauges("verdict", verdicts.map(waiting).to_vec()));
        let is_final =
            |verdict: &'static str| (verdict, count(&|open| open.verdict == verdict && open.outlook.is_final));
        let help = "Postings that became final without a proof, by what they turned out to be";
        r.register("final", help, gauges("verdict", verdicts.map(is_final).to_vec()));
        let late = Gauge::<u64, AtomicU64>::default();
        late.set(count(&|open| open.outlook.is_late && !open.outlook.is_final && open.verdict != "true"));
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
        self.followed.ready()
    }

    fn metrics(&self) -> String {
        let mut root = Registry::default();
        self.followed.register(&mut root);
        self.register(&mut root);
        metrics::text(&root)
    }
}
