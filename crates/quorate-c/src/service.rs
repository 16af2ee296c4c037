//! Claims as they come: a [`Batcher`] that answers by a call.

use std::{
    cell::RefCell,
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    time::{Duration, Instant},
};

use quorate::ClaimBytes;
use quorate_batcher::{Answer, Batcher, Class, Pending, Settings};

use crate::{
    engine::{backend, soundness, threads},
    fault::{CallFailure, Code},
    verdicts::Ruled,
};

/// How a batcher works. Zeros are the defaults of [`Settings`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ServiceOptions<'a> {
    /// How many batches are verified at the same time; 0 or `u32::MAX` for one on each core.
    pub threads: u32,
    /// As in [`EngineOptions`](crate::EngineOptions).
    pub soundness: u32,
    /// As in [`EngineOptions`](crate::EngineOptions).
    pub backend: &'a str,
    /// The longest that a claim waits for others while a thread is idle, in microseconds. It waits if batches begin so soon after one
    /// another that this takes an eighth of the threads' time: docs/batcher.md, "When a batch closes".
    pub linger_us: u64,
    /// The planned work at which a batch is full, in microseconds.
    pub target_us: u64,
    /// The planned work that may wait for each thread, in microseconds.
    pub queue_us: u64,
    /// The most memory that waiting claims may take, in bytes, and the most bytes of messages that are hashed for one claim.
    pub queue_bytes: u64,
}

/// Verifies claims as they come, on threads of its own. Dropping it refuses what waits, and waits for the batches in progress.
#[derive(Clone, Debug)]
pub struct Service {
    batcher: Batcher,
    /// The number of this service in the process, by which [`tell`] knows its answers.
    number: u64,
}

/// A claim's answer as a number, and why it is not valid.
#[must_use]
pub fn ruled(answer: Answer) -> (Ruled, String) {
    match answer {
        Ok(verdict) => (verdict.into(), verdict.reason().map(|reason| reason.to_string()).unwrap_or_default()),
        Err(refused) => (refused.into(), refused.to_string()),
    }
}

/// How urgent a claim is: 0 a block, 1 a duty, 2 gossip.
///
/// # Errors
/// [`Code::Misuse`].
pub fn class(number: u32) -> Result<Class, CallFailure> {
    let found = Class::ALL.get(number as usize).copied();
    found.ok_or_else(|| {
        CallFailure::misuse(format!("there is no class {number}: expected 0 (block), 1 (duty) or 2 (gossip)"))
    })
}

impl Service {
    /// Starts the threads.
    ///
    /// # Errors
    /// [`Code::Misuse`], [`Code::System`].
    pub fn start(options: &ServiceOptions<'_>) -> Result<Self, CallFailure> {
        static STARTED: AtomicU64 = AtomicU64::new(0);
        let defaults = Settings::default();
        let time = |micros: u64, default: Duration| if micros == 0 { default } else { Duration::from_micros(micros) };
        let settings = Settings {
            threads: threads(options.threads, defaults.threads)?,
            soundness: soundness(options.soundness)?,
            backend: backend(options.backend)?,
            linger: time(options.linger_us, defaults.linger),
            target: time(options.target_us, defaults.target),
            queue: time(options.queue_us, defaults.queue),
            queue_bytes: match options.queue_bytes {
                0 => defaults.queue_bytes,
                bytes => usize::try_from(bytes).unwrap_or(usize::MAX),
            },
            ..defaults
        };
        let batcher = Batcher::start(settings).map_err(|error| match error {
            quorate_batcher::StartError::Settings(error) => CallFailure::misuse(error.to_string()),
            error => CallFailure::new(Code::System, error.to_string()),
        })?;
        Ok(Self { batcher, number: STARTED.fetch_add(1, Ordering::Relaxed) })
    }

    /// Hands a claim in. `done` is called once, with the answer: on a thread of the batcher, or on this one if the answer is there at
    /// once. If `done` hands in a claim whose answer is there at once, that answer comes after this `done` has returned, so answers of
    /// one service do not pile up on a stack.
    ///
    /// The deadline is a time from now; none if it is zero.
    pub fn submit(
        &self,
        claim: ClaimBytes,
        class: Class,
        deadline: Duration,
        done: impl FnOnce(Answer) + Send + 'static,
    ) {
        let waiting =
            Waiting { service: self.number, pending: self.pending(claim, class, deadline), done: Box::new(done) };
        Arc::new(Asked(Mutex::new(Some(waiting)))).look();
    }

    /// Hands claims in and waits for all answers, which are in their order.
    #[must_use]
    pub fn verify(&self, claims: Vec<ClaimBytes>, class: Class, deadline: Duration) -> Vec<Answer> {
        let pending: Vec<_> = claims.into_iter().map(|claim| self.pending(claim, class, deadline)).collect();
        pending.into_iter().map(Pending::wait).collect()
    }

    fn pending(&self, claim: ClaimBytes, class: Class, deadline: Duration) -> Pending {
        let deadline = if deadline.is_zero() { None } else { Instant::now().checked_add(deadline) };
        self.batcher.submit(claim, class, deadline)
    }

    /// Takes no more claims, answers those that wait for at most this time, and ends. What is not verified by then is refused. Of calls
    /// at the same time, the shortest time counts, and one waits for the batches in progress ([`Batcher::stop`]).
    pub fn stop(&self, within: Duration) {
        let now = Instant::now();
        self.batcher.stop(now.checked_add(within).unwrap_or(now));
    }
}

/// A claim that was handed in, and whom to tell. Whoever answers wakes it, so no thread waits for an answer.
struct Asked(Mutex<Option<Waiting>>);

struct Waiting {
    service: u64,
    pending: Pending,
    done: Done,
}

type Done = Box<dyn FnOnce(Answer) + Send>;

impl Asked {
    fn look(self: Arc<Self>) {
        let waker = Waker::from(self.clone());
        let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(mut waiting) = place.take() else { return };
        match std::pin::Pin::new(&mut waiting.pending).poll(&mut Context::from_waker(&waker)) {
            Poll::Pending => *place = Some(waiting),
            Poll::Ready(answer) => {
                // The caller may hand in the next claim.
                drop(place);
                tell(waiting.service, waiting.done, answer);
            }
        }
    }
}

impl Wake for Asked {
    fn wake(self: Arc<Self>) {
        self.look();
    }
}

/// A service that tells an answer on this thread.
struct Telling {
    service: u64,
    /// What came meanwhile, to be told afterwards.
    later: VecDeque<(Done, Answer)>,
}

thread_local! {
    /// The services that tell an answer on this thread. The innermost one is the last.
    static TELLING: RefCell<Vec<Telling>> = const { RefCell::new(Vec::new()) };
}

/// Tells an answer. If it comes within another answer of the same service on this thread, it is told after that one, and not within it:
/// otherwise an answer that hands in its refused claim again and again would use up the stack.
///
/// Each service has a list of its own. So when a service ends, all of its answers have been told: its threads have ended, and nobody frees
/// it during a call.
fn tell(service: u64, done: Done, answer: Answer) {
    let mut next = Some((done, answer));
    // A thread that ends may have no list any more. Then the answer is told at once.
    let _ = TELLING.try_with(|all| {
        let mut all = all.borrow_mut();
        match all.iter_mut().find(|telling| telling.service == service) {
            Some(telling) => telling.later.extend(next.take()),
            None => all.push(Telling { service, later: VecDeque::new() }),
        }
    });
    let mut panicked = None;
    while let Some((done, answer)) = next {
        // The others are told all the same, and then the caller gets the panic.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| done(answer))) {
            panicked = Some(panic);
        }
        let following = TELLING.try_with(|all| {
            let mut all = all.borrow_mut();
            let following = all.last_mut().and_then(|telling| telling.later.pop_front());
            if following.is_none() {
                all.pop();
            }
            following
        });
        next = following.ok().flatten();
    }
    if let Some(panic) = panicked {
        resume_unwind(panic);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use quorate::{MinPk, SecretKey, Suite as _};

    use super::*;

    fn claim(message: &[u8], signed: &[u8]) -> ClaimBytes {
        let secret = SecretKey::key_gen(MinPk::Eth2, &[1; 32], b"").unwrap();
        let signature = secret.sign(MinPk::Eth2, signed).to_bytes();
        ClaimBytes::single(MinPk::Eth2.any(), &secret.public_key().to_bytes(), message, &signature)
    }

    #[test]
    fn every_claim_is_answered_once() {
        let service = Service::start(&ServiceOptions::default()).unwrap();
        let (answers, received) = channel();
        for number in 0..40_u8 {
            let (answers, signed) = (answers.clone(), if number % 8 == 0 { 255 } else { number });
            service.submit(claim(&[number], &[signed]), Class::Gossip, Duration::ZERO, move |answer| {
                answers.send((number, ruled(answer).0)).unwrap();
            });
        }
        drop(answers);
        let mut all: Vec<_> = received.iter().collect();
        all.sort_unstable_by_key(|(number, _)| *number);
        assert_eq!(all.len(), 40);
        for (number, ruled) in all {
            assert_eq!(ruled, if number % 8 == 0 { Ruled::Mismatch } else { Ruled::Valid }, "{number}");
        }
    }

    #[test]
    fn after_the_end_claims_are_refused() {
        let service = Service::start(&ServiceOptions { threads: 1, ..Default::default() }).unwrap();
        service.stop(Duration::from_secs(1));
        let (answers, received) = channel();
        service.submit(claim(b"a", b"a"), Class::Block, Duration::ZERO, move |answer| {
            answers.send(ruled(answer)).unwrap()
        });
        let stopped = "the batcher stops or has stopped; send the claim to another one".to_owned();
        assert_eq!(received.recv().unwrap(), (Ruled::Stopped, stopped));
        assert!(class(3).unwrap_err().text.contains("gossip"));
        assert!(Service::start(&ServiceOptions { soundness: 80, ..Default::default() }).is_err());
        assert!(Service::start(&ServiceOptions { threads: 1025, ..Default::default() }).is_err());
    }

    /// Hands a claim in again after each refusal.
    fn again(service: &Arc<Service>, rounds: u32, answers: &Sender<(u32, Ruled)>) {
        let (own, told) = (Arc::clone(service), answers.clone());
        let claim = ClaimBytes::single(MinPk::Eth2.any(), b"", b"", b"");
        service.submit(claim, Class::Gossip, Duration::ZERO, move |answer| {
            if let Some(rounds) = rounds.checked_sub(1) {
                again(&own, rounds, &told);
            }
            told.send((rounds, ruled(answer).0)).unwrap();
        });
    }

    #[test]
    fn an_answer_that_hands_its_refused_claim_in_again_takes_no_stack() {
        const ROUNDS: u32 = 100_000;
        let start = || Arc::new(Service::start(&ServiceOptions { threads: 1, ..Default::default() }).unwrap());
        let (service, other) = (start(), start());
        for service in [&service, &other] {
            service.stop(Duration::ZERO);
        }
        let (answers, received) = channel();
        again(&service, ROUNDS, &answers);
        let told: Vec<_> = received.try_iter().collect();
        let expected: Vec<_> = (0..=ROUNDS).rev().map(|rounds| (rounds, Ruled::Stopped)).collect();
        assert!(told == expected, "every answer is told before the call returns, each after the one before");
        // The answer of another service is told within this one, so that no service waits for another one's answers.
        let (own, told) = (Arc::clone(&other), answers.clone());
        let claim = ClaimBytes::single(MinPk::Eth2.any(), b"", b"", b"");
        service.submit(claim, Class::Gossip, Duration::ZERO, move |answer| {
            again(&own, 0, &told);
            told.send((1, ruled(answer).0)).unwrap();
        });
        assert_eq!(received.try_iter().collect::<Vec<_>>(), [(0, Ruled::Stopped), (1, Ruled::Stopped)]);
    }

    #[test]
    fn a_panic_in_an_answer_loses_no_other_answer() {
        let service = Arc::new(Service::start(&ServiceOptions { threads: 1, ..Default::default() }).unwrap());
        service.stop(Duration::ZERO);
        let (answers, received) = channel();
        let (own, told) = (Arc::clone(&service), answers.clone());
        let claim = ClaimBytes::single(MinPk::Eth2.any(), b"", b"", b"");
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            service.submit(claim, Class::Gossip, Duration::ZERO, move |_| {
                again(&own, 0, &told);
                panic!("in an answer");
            });
        }));
        assert!(panicked.is_err());
        again(&service, 0, &answers);
        assert_eq!(received.try_iter().collect::<Vec<_>>(), [(0, Ruled::Stopped); 2]);
    }
}
