//! Other ways to collect claims into batches, around the same verifier: what clients do today, and no batches at all.

use std::{
    collections::VecDeque,
    future::Future,
    sync::{Arc, Condvar, Mutex},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use quorate::{ClaimBytes, Verdict, Verifier};
use quorate_batcher::{Answer, Batcher, Class, Refused};
use tokio::sync::oneshot;

use super::load::Target;

/// How claims are collected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    /// A batch is taken when so many wait.
    pub(crate) least: usize,
    /// Or when the first has waited for so long.
    pub(crate) wait: Duration,
    /// A batch has no more.
    pub(crate) most: usize,
    /// No more claims wait. Further ones are refused.
    pub(crate) queue: usize,
}

/// Up to 64 of what waits, without waiting: Lighthouse.
pub(crate) const FIXED_64: Policy = Policy { least: 1, wait: Duration::ZERO, most: 64, queue: QUEUE };
/// 32 to 128, or what there is after 50 ms: Lodestar.
pub(crate) const LODESTAR: Policy = Policy { least: 32, wait: Duration::from_millis(50), most: 128, queue: QUEUE };
/// One by one.
pub(crate) const NAIVE: Policy = Policy { least: 1, wait: Duration::ZERO, most: 1, queue: QUEUE };

/// Verifies the claims with these indices.
pub(crate) type Verify = Box<dyn Fn(&[usize]) -> Vec<Verdict> + Send + Sync>;

/// The length of the queues of these clients.
const QUEUE: usize = 16_384;

/// The batcher in this process.
pub(crate) struct Embedded {
    pub(crate) batcher: Batcher,
    pub(crate) claims: Arc<Vec<ClaimBytes>>,
    pub(crate) class: Class,
}

impl Target for Embedded {
    fn submit(&self, index: usize) -> impl Future<Output = Answer> + Send + 'static {
        self.batcher.submit(self.claims[index].clone(), self.class, None)
    }
}

/// A policy with its threads.
pub(crate) struct Collector {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    policy: Policy,
    state: Mutex<State>,
    wake: Condvar,
    verify: Verify,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(usize, Instant, oneshot::Sender<Answer>)>,
    ends: bool,
    batches: u64,
    claims: u64,
}

impl Collector {
    /// Starts threads that verify batches of claims by a verifier of quorate's.
    pub(crate) fn start(policy: Policy, verifier: Verifier, claims: Arc<Vec<ClaimBytes>>, threads: usize) -> Self {
        let verify = move |indices: &[usize]| {
            let batch: Vec<_> = indices.iter().map(|i| claims[*i].clone()).collect();
            verifier.verify(&batch, &mut super::super::data::rng()).verdicts
        };
        Self::with(policy, threads, Box::new(verify))
    }

    /// The same with another verifier.
    pub(crate) fn with(policy: Policy, threads: usize, verify: Verify) -> Self {
        let shared = Arc::new(Shared { policy, state: Mutex::default(), wake: Condvar::new(), verify });
        let threads = (0..threads).map(|_| {
            let shared = shared.clone();
            thread::spawn(move || shared.work())
        });
        Self { threads: threads.collect(), shared }
    }

    /// The mean number of claims in a batch.
    pub(crate) fn mean_batch(&self) -> f64 {
        let state = self.shared.state.lock().expect("no worker panicked");
        state.claims as f64 / state.batches.max(1) as f64
    }
}

impl Target for Collector {
    fn submit(&self, index: usize) -> impl Future<Output = Answer> + Send + 'static {
        let (asker, answer) = oneshot::channel();
        let mut state = self.shared.state.lock().expect("no worker panicked");
        if state.waiting.len() < self.shared.policy.queue {
            state.waiting.push_back((index, Instant::now(), asker));
            let n = state.waiting.len();
            if n == 1 || n == self.shared.policy.least {
                self.shared.wake.notify_one();
            }
        }
        drop(state);
        async move { answer.await.unwrap_or(Err(Refused::Overloaded)) }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.shared.state.lock().expect("no worker panicked").ends = true;
        self.shared.wake.notify_all();
        for thread in self.threads.drain(..) {
            thread.join().expect("no worker panicked");
        }
    }
}

impl Shared {
    fn work(&self) {
        let Policy { least, wait, most, .. } = self.policy;
        let mut state = self.state.lock().expect("no worker panicked");
        while !state.ends {
            let now = Instant::now();
            let waited = state.waiting.front().map(|(_, arrived, _)| now.saturating_duration_since(*arrived));
            match waited {
                None => state = self.wake.wait(state).expect("no worker panicked"),
                Some(waited) if waited < wait && state.waiting.len() < least => {
                    state = self.wake.wait_timeout(state, wait - waited).expect("no worker panicked").0;
                }
                Some(_) => {
                    let n = state.waiting.len().min(most);
                    let batch: Vec<_> = state.waiting.drain(..n).collect();
                    state.batches += 1;
                    state.claims += n as u64;
                    if !state.waiting.is_empty() {
                        self.wake.notify_one();
                    }
                    drop(state);
                    let indices: Vec<_> = batch.iter().map(|(index, ..)| *index).collect();
                    for ((.., asker), verdict) in batch.into_iter().zip((self.verify)(&indices)) {
                        // A sender that is gone wants no answer.
                        let _ = asker.send(Ok(verdict));
                    }
                    state = self.state.lock().expect("no worker panicked");
                }
            }
        }
    }
}
