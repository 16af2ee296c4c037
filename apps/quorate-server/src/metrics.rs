//! What is counted: for Prometheus without end, and for the dashboard second by second.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    time::{Duration, Instant},
};

use prometheus_client::{
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::{Registry, Unit},
};
use quorate_batcher::{Answer, Class, Event, Load, Observer, Refused};
use quorate_host::metrics::{self, Labels, RealGauge};
use tokio::sync::Notify;

use crate::{board::Summary, log};

/// Everything that the server counts.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    claims: Family<Labels<2>, Counter>,
    refused: Family<Labels<2>, Counter>,
    requests: Family<Labels<2>, Counter>,
    latency: Family<Labels<1>, Histogram>,
    batch_claims: Family<Labels<1>, Histogram>,
    wait: Histogram,
    verify: Histogram,
    culprits: Counter,
    bans: Counter,
    known_hits: Counter,
    overloads: Counter,
    store_failures: Counter,
    store_writes: Gauge,
    bans_failures: Counter,
    bans_writes: Gauge,
    board_failures: Counter,
    board_writes: Gauge,
    log_failures: Counter,
    queue: Family<Labels<1>, RealGauge>,
    queue_capacity: RealGauge,
    queue_claims: Gauge,
    known: Gauge,
    banned: Gauge,
    requests_now: Gauge,
    memory_now: Gauge,
    connections_free: Gauge,
    uptime: RealGauge,
    reloads: Family<Labels<1>, Counter>,
    reloaded_at: Gauge,
    unknown_clients: Counter,
    checkpoint_documents: Gauge,
    checkpoint_signatures: Gauge,
    checkpoint_height: Gauge,
    checkpoint_evidence: Gauge,
    false_signatures: Counter,
    bans_changed: Arc<Notify>,
    recent: Mutex<Recent>,
}

/// How a reload ends.
const APPLIED: &str = "applied";
const REFUSED: &str = "refused";

/// What is found of a claim.
const VALID: &str = "valid";
const INVALID: &str = "invalid";

/// What is only known when somebody asks.
#[derive(Debug)]
pub(crate) struct Now<'a> {
    pub(crate) load: &'a Load,
    pub(crate) known: usize,
    pub(crate) banned: usize,
    pub(crate) requests: usize,
    pub(crate) memory: usize,
    pub(crate) connections_free: usize,
    pub(crate) uptime: Duration,
    pub(crate) checkpoints: Option<Summary>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        // From 0.1 ms to 26 s.
        let seconds = || Histogram::new(exponential_buckets(1e-4, 2.0, 19));
        let claims = || Histogram::new(exponential_buckets(1.0, 2.0, 14));
        let mut this = Self {
            registry: Registry::with_prefix("quorate"),
            claims: Family::default(),
            refused: Family::default(),
            requests: Family::default(),
            latency: Family::new_with_constructor(seconds),
            batch_claims: Family::new_with_constructor(claims),
            wait: seconds(),
            verify: seconds(),
            culprits: Counter::default(),
            bans: Counter::default(),
            known_hits: Counter::default(),
            overloads: Counter::default(),
            store_failures: Counter::default(),
            store_writes: Gauge::default(),
            bans_failures: Counter::default(),
            bans_writes: Gauge::default(),
            board_failures: Counter::default(),
            board_writes: Gauge::default(),
            log_failures: Counter::default(),
            queue: Family::default(),
            queue_capacity: Gauge::default(),
            queue_claims: Gauge::default(),
            known: Gauge::default(),
            banned: Gauge::default(),
            requests_now: Gauge::default(),
            memory_now: Gauge::default(),
            connections_free: Gauge::default(),
            uptime: Gauge::default(),
            reloads: Family::default(),
            reloaded_at: Gauge::default(),
            unknown_clients: Counter::default(),
            checkpoint_documents: Gauge::default(),
            checkpoint_signatures: Gauge::default(),
            checkpoint_height: Gauge::default(),
            checkpoint_evidence: Gauge::default(),
            false_signatures: Counter::default(),
            bans_changed: Arc::default(),
            recent: Mutex::new(Recent::new(Instant::now())),
        };
        for writes in [&this.store_writes, &this.bans_writes, &this.board_writes] {
            writes.set(1);
        }
        let r = &mut this.registry;
        r.register("claims", "Claims that have a verdict, by class and verdict", this.claims.clone());
        r.register("refused", "Claims that were refused, by class and reason", this.refused.clone());
        r.register("requests", "Requests, by interface and result", this.requests.clone());
        r.register_with_unit("latency", "From submission to the answer", Unit::Seconds, this.latency.clone());
        r.register("batch_claims", "Claims of a batch, by kind", this.batch_claims.clone());
        r.register_with_unit(
            "wait",
            "How long a claim waited for its batch to close",
            Unit::Seconds,
            this.wait.clone(),
        );
        r.register_with_unit("verify", "How long a batch was verified", Unit::Seconds, this.verify.clone());
        r.register("culprits", "Claims that batches found false", this.culprits.clone());
        r.register("bans", "Bans of sources", this.bans.clone());
        r.register("known_hits", "Statements that were known and subtracted", this.known_hits.clone());
        r.register("overloads", "Times that the queue became full", this.overloads.clone());
        r.register("store_failures", "Times that the store could not be written", this.store_failures.clone());
        let writes = "0 if the store could not be written the last time, else 1";
        r.register("store_writes", writes, this.store_writes.clone());
        r.register("bans_failures", "Times that bans could not be written down", this.bans_failures.clone());
        let writes = "0 if bans could not be written down the last time, else 1";
        r.register("bans_writes", writes, this.bans_writes.clone());
        let failures = "Times that the board of checkpoints could not be written";
        r.register("checkpoint_failures", failures, this.board_failures.clone());
        let writes = "0 if the board of checkpoints could not be written the last time, else 1";
        r.register("checkpoint_writes", writes, this.board_writes.clone());
        r.register("log_failures", "Log lines that could not be written", this.log_failures.clone());
        let planned = "Planned work of one core that waits, by class";
        r.register_with_unit("queue_planned", planned, Unit::Seconds, this.queue.clone());
        let capacity = "Planned work of one core that may wait";
        r.register_with_unit("queue_capacity", capacity, Unit::Seconds, this.queue_capacity.clone());
        r.register("queue_claims", "Claims that wait", this.queue_claims.clone());
        r.register("known_statements", "Statements that are remembered", this.known.clone());
        r.register("banned_sources", "Sources that are banned now", this.banned.clone());
        r.register("requests_in_progress", "Requests in progress", this.requests_now.clone());
        r.register_with_unit("held", "What requests in progress hold", Unit::Bytes, this.memory_now.clone());
        r.register("connections_free", "Connections that would still be accepted", this.connections_free.clone());
        r.register_with_unit("uptime", "Since the start", Unit::Seconds, this.uptime.clone());
        r.register("reloads", "Times that the configuration was read again, by result", this.reloads.clone());
        let at = "When the configuration in force was read, in Unix time";
        r.register_with_unit("configuration_time", at, Unit::Seconds, this.reloaded_at.clone());
        let unknown = "Requests that were refused, and streams that ended, because no client is known that sends them";
        r.register("unknown_clients", unknown, this.unknown_clients.clone());
        r.register("checkpoint_documents", "Checkpoints that are held", this.checkpoint_documents.clone());
        r.register("checkpoint_signatures", "Signatures under them", this.checkpoint_signatures.clone());
        let height = "Height of the newest checkpoint that enough signers have signed, or else of the one with the most signatures";
        r.register("checkpoint_height", height, this.checkpoint_height.clone());
        let evidence = "1 if there is evidence against signers of checkpoints, else 0";
        r.register("checkpoint_evidence", evidence, this.checkpoint_evidence.clone());
        let refused = "False signatures of checkpoints, which were refused";
        r.register("checkpoint_false_signatures", refused, this.false_signatures.clone());
        this.begin_at_zero();
        this
    }

    /// Counters that stand at zero before anything is counted, so that an alert sees the first of each.
    fn begin_at_zero(&self) {
        for class in Class::ALL.map(Class::name) {
            for verdict in [VALID, INVALID] {
                drop(self.claims.get_or_create(&[("class", class), ("verdict", verdict)]));
            }
            for refused in Refused::ALL {
                drop(self.refused.get_or_create(&[("class", class), ("reason", refused.name())]));
            }
        }
        for result in [APPLIED, REFUSED] {
            drop(self.reloads.get_or_create(&[("result", result)]));
        }
    }

    /// A claim was answered.
    pub(crate) fn answered(&self, class: Class, answer: &Answer, took: Duration) {
        let class = class.name();
        if let Ok(verdict) = answer {
            let result = if verdict.is_valid() { VALID } else { INVALID };
            self.claims.get_or_create(&[("class", class), ("verdict", result)]).inc();
            self.latency.get_or_create(&[("class", class)]).observe(took.as_secs_f64());
        }
        self.recent().answered(answer, took);
    }

    /// A request ended.
    pub(crate) fn request(&self, interface: &'static str, result: &'static str) {
        self.requests.get_or_create(&[("interface", interface), ("result", result)]).inc();
    }

    /// A configuration was put in force, at this time; `None` if the one before stays.
    pub(crate) fn reloaded(&self, at: Option<u64>) {
        let result = if at.is_some() { APPLIED } else { REFUSED };
        self.reloads.get_or_create(&[("result", result)]).inc();
        at.into_iter().for_each(|at| self.read_at(at));
    }

    /// When the configuration in force was read.
    pub(crate) fn read_at(&self, at: u64) {
        self.reloaded_at.set(i64::try_from(at).unwrap_or(i64::MAX));
    }

    /// A request came from nobody who is known.
    pub(crate) fn unknown_client(&self) {
        self.unknown_clients.inc();
    }

    /// Signatures of a posting were false.
    pub(crate) fn false_signatures(&self, number: usize) {
        self.false_signatures.inc_by(number as u64);
    }

    /// Bans were written down, or could not be.
    pub(crate) fn bans_written(&self, written: bool) {
        self.bans_writes.set(i64::from(written));
        self.bans_failures.inc_by(u64::from(!written));
    }

    /// How often bans could not be written down.
    #[cfg(test)]
    pub(crate) fn bans_failures(&self) -> u64 {
        self.bans_failures.get()
    }

    /// Told when the bans change.
    pub(crate) fn bans_changed(&self) -> &Arc<Notify> {
        &self.bans_changed
    }

    /// The text for Prometheus.
    pub(crate) fn text(&self, now: &Now<'_>) -> String {
        let count = |gauge: &Gauge, count: usize| gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        for (class, planned) in planned(now.load) {
            self.queue.get_or_create(&[("class", class)]).set(seconds(planned));
        }
        self.queue_capacity.set(seconds(now.load.capacity_us));
        bring_up_to(&self.log_failures, log::unwritten());
        count(&self.queue_claims, now.load.claims);
        count(&self.known, now.known);
        count(&self.banned, now.banned);
        count(&self.requests_now, now.requests);
        count(&self.memory_now, now.memory);
        count(&self.connections_free, now.connections_free);
        self.uptime.set(now.uptime.as_secs_f64());
        if let Some(Summary { best, documents, signatures, evidence, write_failures, is_failing, .. }) =
            &now.checkpoints
        {
            count(&self.checkpoint_documents, *documents);
            count(&self.checkpoint_signatures, *signatures);
            count(&self.checkpoint_height, best.as_ref().map_or(0, |best| best.height) as usize);
            count(&self.checkpoint_evidence, usize::from(*evidence));
            bring_up_to(&self.board_failures, *write_failures);
            self.board_writes.set(i64::from(!*is_failing));
        }
        metrics::text(&self.registry)
    }

    /// The last seconds, the oldest first.
    pub(crate) fn recent_seconds(&self) -> Vec<Second> {
        let mut recent = self.recent();
        recent.advance(Instant::now());
        recent.seconds.iter().map(Tally::second).collect()
    }

    fn recent(&self) -> std::sync::MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Metrics {
    fn observe(&self, event: &Event<'_>) {
        match event {
            Event::Batch(report) => {
                let kind = report.kind.name();
                let claims = f64::from(u32::try_from(report.claims).unwrap_or(u32::MAX));
                self.batch_claims.get_or_create(&[("kind", kind)]).observe(claims);
                report.waits.iter().for_each(|wait| self.wait.observe(wait.as_secs_f64()));
                self.verify.observe(report.took.as_secs_f64());
                self.culprits.inc_by(report.invalid as u64);
                self.known_hits.inc_by(report.subtracted as u64);
                let mut recent = self.recent();
                let tally = recent.now();
                tally.batches += 1;
                tally.known += report.subtracted as u64;
                drop(recent);
                tracing::debug!(
                    claims = report.claims,
                    kind,
                    closed_by = report.closed_by.name(),
                    took_us = u64::try_from(report.took.as_micros()).unwrap_or(u64::MAX),
                    invalid = report.invalid,
                    "a batch"
                );
            }
            Event::Refused { class, refused } => {
                self.refused.get_or_create(&[("class", class.name()), ("reason", refused.name())]).inc();
            }
            // The batcher writes these into the log.
            Event::Banned { .. } => {
                self.bans.inc();
                self.bans_changed.notify_one();
            }
            Event::StoreFailed { .. } => {
                self.store_failures.inc();
                self.store_writes.set(0);
            }
            Event::Stored { .. } => {
                self.store_writes.set(1);
            }
            Event::OverloadBegins => {
                self.overloads.inc();
            }
            _ => {}
        }
    }
}

/// Brings a counter up to what was counted elsewhere. Whoever asks at the same time counts nothing twice.
fn bring_up_to(counter: &Counter, counted: u64) {
    counter.inner().fetch_max(counted, Ordering::Relaxed);
}

fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}

/// The planned work that waits, in microseconds, by what it waits for.
pub(crate) fn planned(load: &Load) -> [(&'static str, u64); 4] {
    let Load { block_us, duty_us, gossip_us, suspects_us, .. } = *load;
    [("block", block_us), ("duty", duty_us), ("gossip", gossip_us), ("suspects", suspects_us)]
}

/// What happened in one second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Second {
    /// Claims found valid.
    pub(crate) valid: u64,
    /// Claims found false.
    pub(crate) invalid: u64,
    /// Claims refused.
    pub(crate) refused: u64,
    /// Statements that were known and subtracted.
    pub(crate) known: u64,
    /// Batches.
    pub(crate) batches: u64,
    /// The time within which half of the verdicts were there, in milliseconds; at most 19 % too high.
    pub(crate) p50_ms: f64,
    /// The same for 99 of 100 verdicts.
    pub(crate) p99_ms: f64,
}

impl Second {
    /// Claims that have a verdict.
    pub(crate) fn verdicts(&self) -> u64 {
        self.valid + self.invalid
    }
}

/// How many seconds are kept, with the one that is not over.
const SECONDS: usize = 61;

#[derive(Debug)]
struct Recent {
    begun: Instant,
    seconds: VecDeque<Tally>,
}

impl Recent {
    fn new(now: Instant) -> Self {
        Self { begun: now, seconds: VecDeque::from(vec![Tally::default(); SECONDS]) }
    }

    /// Begins the seconds that have begun since the last call.
    fn advance(&mut self, now: Instant) {
        let over = now.saturating_duration_since(self.begun).as_secs();
        self.begun += Duration::from_secs(over);
        for _ in 0..over.min(SECONDS as u64) {
            self.seconds.pop_front();
            self.seconds.push_back(Tally::default());
        }
    }

    fn now(&mut self) -> &mut Tally {
        self.advance(Instant::now());
        let last = self.seconds.len() - 1;
        &mut self.seconds[last]
    }

    fn answered(&mut self, answer: &Answer, took: Duration) {
        let tally = self.now();
        match answer {
            Ok(verdict) => {
                *(if verdict.is_valid() { &mut tally.valid } else { &mut tally.invalid }) += 1;
                tally.latencies[bucket(took)] += 1;
            }
            Err(_) => tally.refused += 1,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Tally {
    valid: u64,
    invalid: u64,
    refused: u64,
    known: u64,
    batches: u64,
    latencies: [u32; BUCKETS],
}

impl Default for Tally {
    fn default() -> Self {
        Self { valid: 0, invalid: 0, refused: 0, known: 0, batches: 0, latencies: [0; BUCKETS] }
    }
}

/// Four buckets each time the latency doubles, from 64 µs to a minute.
const BUCKETS: usize = 80;
const FIRST_BUCKET: f64 = 64e-6;

fn bucket(took: Duration) -> usize {
    let doublings = (took.as_secs_f64() / FIRST_BUCKET).log2();
    ((doublings * 4.0).ceil().max(0.0) as usize).min(BUCKETS - 1)
}

impl Tally {
    fn second(&self) -> Second {
        let Self { valid, invalid, refused, known, batches, .. } = *self;
        Second { valid, invalid, refused, known, batches, p50_ms: self.within(0.5), p99_ms: self.within(0.99) }
    }

    /// The upper end of the bucket in which this part of the verdicts is reached, in milliseconds; 0 without verdicts.
    fn within(&self, part: f64) -> f64 {
        let all: u64 = self.latencies.iter().map(|count| u64::from(*count)).sum();
        if all == 0 {
            return 0.0;
        }
        let mut seen = 0;
        let reached = self.latencies.iter().position(|count| {
            seen += u64::from(*count);
            seen as f64 >= part * all as f64
        });
        let seconds = FIRST_BUCKET * 2f64.powf(reached.unwrap_or(BUCKETS - 1) as f64 / 4.0);
        (seconds * 1e5).round() / 100.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_ends_and_the_oldest_is_forgotten() {
        let start = Instant::now();
        let mut recent = Recent::new(start);
        recent.seconds[SECONDS - 1].valid = 5;
        recent.advance(start + Duration::from_millis(2500));
        assert_eq!(recent.seconds.iter().rposition(|tally| tally.valid == 5), Some(SECONDS - 3));
        recent.advance(start + Duration::from_secs(10_000));
        assert_eq!(recent.seconds.len(), SECONDS);
        assert!(recent.seconds.iter().all(|tally| tally.valid == 0));
    }

    /// Two who asked at the same time had a failure counted twice.
    #[test]
    fn what_was_counted_elsewhere_is_counted_once() {
        let counter = Counter::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..=100_000).for_each(|counted| bring_up_to(&counter, counted)));
            }
        });
        assert_eq!(counter.get(), 100_000);
    }

    #[test]
    fn latencies_are_at_most_a_fifth_too_high() {
        for us in [70u64, 1000, 33_333, 1_000_000] {
            let mut tally = Tally::default();
            tally.latencies[bucket(Duration::from_micros(us))] = 100;
            let (found, true_ms) = (tally.within(0.99), us as f64 / 1000.0);
            assert!(found >= true_ms * 0.99 && found <= true_ms * 1.2, "{us} µs: {found} ms");
        }
        assert_eq!(bucket(Duration::ZERO), 0);
        assert_eq!(bucket(Duration::MAX), BUCKETS - 1);
    }
}
