//! What is counted, in the text that Prometheus reads. docs/node.md lists those with labels.
//!
//! Counters never go back. So what a reorganisation can undo is counted when it is final, or is a gauge.

use std::sync::atomic::AtomicU64;

use prometheus_client::{
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::{Registry, Unit},
};
use quorate_chain::watch::WatchMetrics;
use quorate_host::metrics::{self, Labels, number, real};

/// Everything that the node counts.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) tasks: Family<Labels<1>, Counter>,
    pub(crate) result: Seconds,
    pub(crate) quorum: Seconds,
    pub(crate) settled: Seconds,
    pub(crate) signatures: Family<Labels<1>, Counter>,
    pub(crate) received: Counter,
    pub(crate) published: Counter,
    pub(crate) verifications: Family<Labels<1>, Counter>,
    pub(crate) programs: Family<Labels<1>, Counter>,
    pub(crate) failures: Family<Labels<1>, Counter>,
    pub(crate) conflicts_found: Counter,
    pub(crate) submissions: Family<Labels<2>, Counter>,
    pub(crate) gas_used: Family<Labels<1>, Counter>,
    pub(crate) gas_estimated: Family<Labels<1>, Counter>,
    pub(crate) fees: Family<Labels<1>, Counter<f64, AtomicU64>>,
    pub(crate) bytes: Family<Labels<1>, Counter>,
    pub(crate) messages: Family<Labels<1>, Counter>,
    pub(crate) transport: Family<Labels<1>, Counter>,
}

/// A time between two moments of a task.
#[derive(Debug)]
pub(crate) struct Seconds(Histogram);

impl Default for Seconds {
    /// From 10 ms to 5,243 s: a task may wait for programs, blocks and turns.
    fn default() -> Self {
        Self(Histogram::new(exponential_buckets(0.01, 2.0, 20)))
    }
}

impl Seconds {
    /// Counts a time in milliseconds.
    pub(crate) fn observe_ms(&self, ms: u64) {
        self.0.observe(ms as f64 / 1000.0);
    }
}

/// What is so at the moment of asking.
#[derive(Clone, Debug, Default)]
pub(crate) struct Now {
    pub(crate) version: String,
    pub(crate) started_ms: u64,
    pub(crate) ready: bool,
    pub(crate) open_tasks: usize,
    pub(crate) members: usize,
    pub(crate) conflicts: usize,
    pub(crate) punishments: [(&'static str, usize); 2],
    pub(crate) peers: usize,
    pub(crate) bans: usize,
    /// Whether each component has a problem.
    pub(crate) problems: Vec<(&'static str, bool)>,
    pub(crate) chain: Option<ChainNow>,
    /// Stake, earned, claimed and pending, in whole tokens.
    pub(crate) tokens: Option<[f64; 4]>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChainNow {
    pub(crate) head: u64,
    pub(crate) final_block: u64,
    pub(crate) epoch: u64,
    /// Since the newest block.
    pub(crate) head_age_ms: u64,
    /// Since the chain was read.
    pub(crate) read_age_ms: u64,
}

impl Metrics {
    /// The text for Prometheus (OpenMetrics 1.0), with that of the watch if there is one.
    pub(crate) fn text(&self, now: &Now, watch: Option<&WatchMetrics>) -> String {
        let mut root = Registry::default();
        let r = metrics::begin(&mut root, "quorate_node", now.started_ms, &now.version);
        self.register_counters(r);
        now.register(r);
        if let Some(watch) = watch {
            watch.register_beside(&mut root);
        }
        metrics::text(&root)
    }

    fn register_counters(&self, r: &mut Registry) {
        let wei = || Unit::Other("wei".to_owned());
        r.register("tasks", "Tasks that have ended, by outcome: approved, rejected or lapsed", self.tasks.clone());
        let help = "From when a task was known to when its result was there";
        r.register_with_unit("task_result", help, Unit::Seconds, self.result.0.clone());
        let help = "From when a result was there to when a quorum had signed it";
        r.register_with_unit("task_quorum", help, Unit::Seconds, self.quorum.0.clone());
        let help = "From when a result was there to when the chain had settled the task";
        r.register_with_unit("task_settled", help, Unit::Seconds, self.settled.0.clone());
        let help = "Members at each final settlement, by whether they signed: signed or missing";
        r.register("settlement_members", help, self.signatures.clone());
        let help = "Signed messages from peers, without those in answers";
        r.register("messages_received", help, self.received.clone());
        r.register("messages_published", "Signed messages of this node", self.published.clone());
        let help = "Signed messages from peers, with those in answers, by what became of them: true, false or ignored";
        r.register("verifications", help, self.verifications.clone());
        let help = "Calls of the user's programs that answered, by program: execute or validate";
        r.register("program_calls", help, self.programs.clone());
        r.register("failures", "Calls that failed, by component", self.failures.clone());
        let help = "Conflicts that this node has found since it started, without those on its disk";
        r.register("conflicts_found", help, self.conflicts_found.clone());
        let help = "Changes of this node's transactions, by purpose and state";
        r.register("submissions", help, self.submissions.clone());
        r.register("gas_used", "Gas of this node's final transactions, by purpose", self.gas_used.clone());
        let help = "Gas that was estimated for the same transactions, by purpose";
        r.register("gas_estimated", help, self.gas_estimated.clone());
        r.register_with_unit("fees", "Fees of this node's final transactions, by purpose", wei(), self.fees.clone());
        r.register_with_unit("peer", "Bytes from and to peers, by direction", Unit::Bytes, self.bytes.clone());
        r.register("peer_messages", "Messages from and to peers, by direction", self.messages.clone());
        r.register("transport_events", "What the transport dropped and refused, by event", self.transport.clone());
    }
}

impl Now {
    fn register(&self, r: &mut Registry) {
        let whole = |count: usize| number(count as u64);
        r.register("ready", "1 if /readyz says yes, else 0", whole(usize::from(self.ready)));
        let problems = Family::<Labels<1>, Gauge>::default();
        for (component, failing) in &self.problems {
            problems.get_or_create(&[("component", *component)]).set(i64::from(*failing));
        }
        r.register("problem", "1 if a component has a problem, else 0", problems);
        r.register("open_tasks", "Tasks that are neither settled nor lapsed", whole(self.open_tasks));
        r.register("members", "Members of the running epoch", whole(self.members));
        r.register("conflicts", "Conflicts that this node knows", whole(self.conflicts));
        let punishments = Family::<Labels<1>, Gauge>::default();
        for (kind, number) in self.punishments {
            punishments.get_or_create(&[("kind", kind)]).set(i64::try_from(number).unwrap_or(i64::MAX));
        }
        r.register("punishments", "Punishments that the chain's logs tell of, by kind", punishments);
        r.register("peers", "Peers that are connected", whole(self.peers));
        r.register("bans", "Peers and strangers that are banned, as far as they are shown", whole(self.bans));
        if let Some(chain) = self.chain {
            r.register("chain_head", "The newest block", number(chain.head));
            r.register("chain_final", "The newest block that nothing undoes", number(chain.final_block));
            r.register("chain_epoch", "The epoch of the newest block", number(chain.epoch));
            let seconds = |ms: u64| real(ms as f64 / 1000.0);
            let help = "How old the newest block is";
            r.register_with_unit("chain_head_age", help, Unit::Seconds, seconds(chain.head_age_ms));
            let help = "How long ago the chain was read";
            r.register_with_unit("chain_read_age", help, Unit::Seconds, seconds(chain.read_age_ms));
        }
        if let Some([stake, earned, claimed, pending]) = self.tokens {
            let tokens = || Unit::Other("tokens".to_owned());
            r.register_with_unit("stake", "The operator's stake", tokens(), real(stake));
            let help = "What the operator earned in the epochs that the node knows";
            r.register_with_unit("rewards_earned", help, tokens(), real(earned));
            r.register_with_unit("rewards_claimed", "What it claimed of that", tokens(), real(claimed));
            r.register_with_unit("rewards_pending", "What is left of that to be claimed", tokens(), real(pending));
        }
    }
}
