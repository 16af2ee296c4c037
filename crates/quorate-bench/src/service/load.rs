//! Open-loop load: claims are sent when their time has come, whether or not earlier ones have been answered.
//!
//! A latency is counted from the time at which the claim should have been sent. So a verifier that stops for a second is
//! charged with a second for every claim that waited meanwhile (no "coordinated omission").

use std::{
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use quorate::ClaimBytes;
use quorate_batcher::Answer;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

/// What verifies claims one by one, as far as the sender sees.
pub(crate) trait Target: Send + Sync + 'static {
    /// Hands in the claim with an index.
    fn submit(&self, index: usize) -> impl Future<Output = Answer> + Send + 'static;
}

/// What came of a load.
#[derive(Clone, Debug, Default)]
pub(crate) struct Driven {
    /// From the first claim to the last answer.
    pub(crate) time: Duration,
    pub(crate) sent: u64,
    /// Claims with a verdict.
    pub(crate) verified: u64,
    pub(crate) refused: u64,
    /// Sorted, of the claims with a verdict.
    pub(crate) latencies: Vec<Duration>,
    /// CPU time of this process.
    pub(crate) cpu: Duration,
    /// Verdicts by tenth of a second since the start.
    pub(crate) by_tenth: Vec<u64>,
}

impl Driven {
    /// Verdicts a second.
    pub(crate) fn throughput(&self) -> f64 {
        self.verified as f64 / self.time.as_secs_f64()
    }

    /// A percentile of the latencies, in milliseconds; zero if there are none.
    pub(crate) fn percentile(&self, percent: f64) -> f64 {
        let Some(last) = self.latencies.len().checked_sub(1) else { return 0.0 };
        let index = (last as f64 * percent / 100.0).round() as usize;
        self.latencies[index].as_secs_f64() * 1e3
    }
}

/// A claim of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    pub(crate) index: usize,
    /// Whether it is true. A claim that is not must never be valid.
    pub(crate) valid: bool,
    /// Whether its answer counts.
    pub(crate) counts: bool,
}

/// Sends claims at a rate a second, in Poisson arrivals, for a time. `choose` says which claim is the nth.
///
/// # Panics
/// If a verdict is wrong.
pub(crate) fn drive<T: Target>(
    target: &Arc<T>,
    rate: f64,
    time: Duration,
    mut choose: impl FnMut(u64) -> Expected,
) -> Driven {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let cpu = cpu_time();
    let record = Arc::new(Record::default());
    let mut rng = ChaCha20Rng::from_seed([4; 32]);
    let mut sent = 0;
    let took = runtime.block_on(async {
        let start = Instant::now();
        let mut tasks = tokio::task::JoinSet::new();
        let mut due = Duration::ZERO;
        while due < time {
            let now = start.elapsed();
            while due <= now && due < time {
                let intended = start + due;
                let expected = choose(sent);
                let answer = target.submit(expected.index);
                let record = record.clone();
                tasks.spawn(async move { record.keep(expected, answer.await, start, intended) });
                sent += 1;
                // The next arrival of a Poisson process: -ln(u)/rate later.
                let u = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
                due += Duration::from_secs_f64(-(1.0 - u).ln() / rate);
            }
            while tasks.try_join_next().is_some() {}
            tokio::time::sleep((start + due.min(time)).saturating_duration_since(Instant::now()).max(TICK)).await;
        }
        while tasks.join_next().await.is_some() {}
        start.elapsed()
    });
    let Record { verified, refused, latencies, by_tenth } = Arc::try_unwrap(record).expect("all tasks have ended");
    let mut latencies = latencies.into_inner().expect("no task panicked");
    latencies.sort_unstable();
    Driven {
        time: took,
        sent,
        verified: verified.into_inner(),
        refused: refused.into_inner(),
        latencies,
        cpu: cpu_time().saturating_sub(cpu),
        by_tenth: by_tenth.into_inner().expect("no task panicked"),
    }
}

#[derive(Debug, Default)]
struct Record {
    verified: AtomicU64,
    refused: AtomicU64,
    latencies: Mutex<Vec<Duration>>,
    by_tenth: Mutex<Vec<u64>>,
}

impl Record {
    fn keep(&self, expected: Expected, answer: Answer, start: Instant, intended: Instant) {
        let now = Instant::now();
        match answer {
            Ok(verdict) => assert_eq!(verdict.is_valid(), expected.valid, "claim {}: {verdict}", expected.index),
            Err(_) if !expected.counts => return,
            Err(_) => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                return;
            }
        }
        if !expected.counts {
            return;
        }
        self.verified.fetch_add(1, Ordering::Relaxed);
        self.latencies.lock().expect("no task panicked").push(now.saturating_duration_since(intended));
        let tenth = (now.saturating_duration_since(start).as_millis() / 100) as usize;
        let mut by_tenth = self.by_tenth.lock().expect("no task panicked");
        if by_tenth.len() <= tenth {
            by_tenth.resize(tenth + 1, 0);
        }
        by_tenth[tenth] += 1;
    }
}

/// The CPU time of this process so far; zero where the system does not say.
pub(crate) fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the name, which can contain spaces: fields 14 and 15 are user and system time in hundredths of a second.
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields).unwrap_or_default();
    let ticks: u64 = fields.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}

/// The memory of this process, in MiB; zero where the system does not say.
pub(crate) fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// Claims of which each is chosen in turn.
pub(crate) fn in_turn(claims: &[ClaimBytes]) -> impl FnMut(u64) -> Expected + use<> {
    let n = claims.len() as u64;
    move |i| Expected { index: (i % n) as usize, valid: true, counts: true }
}

/// The sender looks at its clock no more often. The time that a claim waits for it counts as latency.
const TICK: Duration = Duration::from_micros(300);

#[cfg(test)]
mod tests {
    use super::*;
    use quorate::Verdict;

    /// Answers at once, but holds the sender up once.
    struct Stalls(AtomicU64);

    impl Target for Stalls {
        fn submit(&self, _: usize) -> impl Future<Output = Answer> + Send + 'static {
            if self.0.fetch_add(1, Ordering::Relaxed) == 20 {
                std::thread::sleep(Duration::from_millis(200));
            }
            async { Ok(Verdict::Valid) }
        }
    }

    /// Whoever should have been sent during a stall is charged with what was left of it.
    #[test]
    fn a_stall_is_charged_to_everybody_who_waited() {
        let claims =
            in_turn(&vec![ClaimBytes::single(quorate::AnySuite::MinPk(quorate::MinPk::Eth2), b"", b"", b""); 3]);
        let driven = drive(&Arc::new(Stalls(AtomicU64::new(0))), 1000.0, Duration::from_millis(400), claims);
        assert_eq!(driven.sent, driven.verified);
        assert!((300..500).contains(&driven.sent), "{}", driven.sent);
        let late = driven.latencies.iter().filter(|latency| **latency > Duration::from_millis(50)).count();
        assert!(late >= 100, "{late} of {} waited", driven.sent);
        assert!(driven.percentile(99.0) > 150.0);
    }
}
