//! Open-loop load: claims are sent when their time has come, whether or not earlier ones have been answered.
//!
//! A latency is counted from the time at which the claim should have been sent. So a verifier that stops for a second is
//! charged with a second for every claim that waited meanwhile (no "coordinated omission").

use std::{
    future::Future,
    iter,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::{Duration, Instant},
};

use futures_util::stream::{FuturesUnordered, StreamExt};
use quorate::ClaimBytes;
use quorate_batcher::Answer;
use rand_chacha::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};

use crate::measure::cpu_time;

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

    /// The part of the claims that were refused.
    pub(crate) fn refused_part(&self) -> f64 {
        self.refused as f64 / (self.verified + self.refused).max(1) as f64
    }

    /// A percentile of the latencies, in milliseconds; zero if there are none.
    pub(crate) fn percentile(&self, percent: f64) -> f64 {
        let Some(last) = self.latencies.len().checked_sub(1) else { return 0.0 };
        let index = (last as f64 * percent / 100.0).round() as usize;
        self.latencies[index].as_secs_f64() * 1e3
    }

    /// Counts an answer that came at a time after the start, to a claim that was due at another.
    fn keep(&mut self, expected: Expected, answer: Answer, due: Duration, now: Duration) {
        match answer {
            Ok(verdict) => assert_eq!(verdict.is_valid(), expected.valid, "claim {}: {verdict}", expected.index),
            Err(_) if !expected.counts => return,
            Err(_) => {
                self.refused += 1;
                return;
            }
        }
        if !expected.counts {
            return;
        }
        self.verified += 1;
        self.latencies.push(now.saturating_sub(due));
        let tenth = (now.as_millis() / 100) as usize;
        if self.by_tenth.len() <= tenth {
            self.by_tenth.resize(tenth + 1, 0);
        }
        self.by_tenth[tenth] += 1;
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
    choose: impl FnMut(u64) -> Expected,
) -> Driven {
    drive_at(target, poisson(rate).take_while(|due| *due < time), choose)
}

/// The times of Poisson arrivals at a rate a second, from a start on, without an end.
pub(crate) fn poisson(rate: f64) -> impl Iterator<Item = Duration> {
    let mut rng = ChaCha20Rng::from_seed([4; 32]);
    iter::successors(Some(Duration::ZERO), move |due| {
        // The next arrival of a Poisson process: -ln(u)/rate later.
        let u = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        Some(*due + Duration::from_secs_f64(-(1.0 - u).ln() / rate))
    })
}

/// Sends claims at times from now on. `choose` says which claim is the nth.
///
/// One thread sends and takes the answers. It sleeps in between, and each answer wakes it, so that a latency has the time of
/// one waking in it and no period of a timer.
///
/// # Panics
/// If a verdict is wrong.
pub(crate) fn drive_at<T: Target>(
    target: &Arc<T>,
    arrivals: impl Iterator<Item = Duration>,
    mut choose: impl FnMut(u64) -> Expected,
) -> Driven {
    let waker = Waker::from(Arc::new(Unparks(thread::current())));
    let mut context = Context::from_waker(&waker);
    let (mut driven, cpu) = (Driven::default(), cpu_time());
    let (mut arrivals, mut answers) = (arrivals.peekable(), FuturesUnordered::new());
    let start = Instant::now();
    loop {
        while let Some(due) = arrivals.next_if(|due| *due <= start.elapsed()) {
            let expected = choose(driven.sent);
            let answer = target.submit(expected.index);
            answers.push(async move { (expected, answer.await, due) });
            driven.sent += 1;
        }
        while let Poll::Ready(Some((expected, answer, due))) = answers.poll_next_unpin(&mut context) {
            driven.keep(expected, answer, due, start.elapsed());
        }
        match arrivals.peek() {
            Some(due) => thread::park_timeout(due.saturating_sub(start.elapsed()).max(TICK)),
            None if answers.is_empty() => break,
            None => thread::park(),
        }
    }
    driven.time = start.elapsed();
    driven.cpu = cpu_time().zip(cpu).map_or(Duration::ZERO, |(after, before)| after.saturating_sub(before));
    driven.latencies.sort_unstable();
    driven
}

/// Wakes the thread of the sender.
struct Unparks(Thread);

impl Wake for Unparks {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
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
const TICK: Duration = Duration::from_micros(50);

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

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
