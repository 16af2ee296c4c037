//! Verdicts for entries: windows of them, bounded in number and in bytes, verified together and answered in their order.
//!
//! ```text
//! a reader (a thread of its own) -> queue -> windows of items -> Judge (the engine) -> verdicts in the order of the items
//! ```
//!
//! Memory is bounded by a [`WindowLimit`], three times: what waits in the queue, what was taken from it for the window after this one,
//! and the window that is judged. Each can be longer than the limit by its last item.

use std::{
    collections::VecDeque,
    fmt,
    num::NonZeroUsize,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use quorate::{ClaimBytes, Outcome, Reason, Verdict, Verifier, rand_core::CryptoRng};
use thiserror::Error;

use crate::drand::OtherChains;

/// How much is verified together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowLimit {
    /// So many items make a window full.
    pub items: usize,
    /// So many bytes that its items hold make it full.
    pub bytes: usize,
}

impl WindowLimit {
    /// 1,024 items a thread, or 16 MiB of what they hold, whichever is reached first.
    #[must_use]
    pub fn of(threads: NonZeroUsize) -> Self {
        Self { items: threads.get().saturating_mul(1024), bytes: 16 << 20 }
    }

    fn is_reached(self, items: usize, bytes: usize) -> bool {
        items >= self.items || bytes >= self.bytes
    }
}

/// An entry of an input on its way to its verdict.
#[derive(Clone, Debug)]
pub struct Item<T> {
    /// What the caller knows of the entry. It comes back with the verdict.
    pub about: T,
    /// The claim that the engine verifies. Without one, the item passes through in its place.
    pub claim: Option<ClaimBytes>,
    /// About how many bytes of memory all of it takes.
    pub bytes: usize,
}

/// Items that are judged together.
#[derive(Clone, Debug)]
pub struct Window<T> {
    limit: WindowLimit,
    items: Vec<Item<T>>,
    bytes: usize,
}

impl<T> Window<T> {
    /// A window without items.
    #[must_use]
    pub fn new(limit: WindowLimit) -> Self {
        Self { limit, items: Vec::new(), bytes: 0 }
    }

    /// Adds an item.
    pub fn push(&mut self, item: Item<T>) {
        self.bytes = self.bytes.saturating_add(item.bytes);
        self.items.push(item);
    }

    /// Whether it is to be judged before anything is added.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.limit.is_reached(self.items.len(), self.bytes)
    }

    /// The items. The window is empty then.
    pub fn take(&mut self) -> Vec<Item<T>> {
        self.bytes = 0;
        std::mem::take(&mut self.items)
    }

    /// How many items it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether it has no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

/// Judges items: the engine, and the chains of drand to which a claim of another chain may belong.
#[derive(Clone, Debug)]
pub struct Judge {
    verifier: Verifier,
    other_chains: OtherChains,
    explains: bool,
}

impl Judge {
    /// A judge with an engine and the statements that it knows.
    #[must_use]
    pub fn new(verifier: Verifier) -> Self {
        Self { verifier, other_chains: OtherChains::default(), explains: false }
    }

    /// A judge that also says what it computes.
    #[must_use]
    pub fn explaining(self, explains: bool) -> Self {
        Self { explains, ..self }
    }

    /// The engine.
    #[must_use]
    pub fn verifier(&self) -> &Verifier {
        &self.verifier
    }

    /// Verifies the claims of some items together. Cost: one batch of the engine, and a search where claims are false.
    pub fn judge<T>(&mut self, items: Vec<Item<T>>, rng: &mut impl CryptoRng) -> Judgements<T> {
        self.judge_by(items, |verifier, claims, explains| {
            let prepared = verifier.prepare(claims);
            let plan = if explains { prepared.to_string() } else { String::new() };
            (plan, prepared.decide(rng))
        })
    }

    /// [`judge`](Self::judge) with a way of one's own to verify a batch: its plan as text, and its outcome.
    pub fn judge_by<T>(
        &mut self,
        items: Vec<Item<T>>,
        verify: impl FnOnce(&Verifier, &[ClaimBytes], bool) -> (String, Outcome),
    ) -> Judgements<T> {
        let mut claims = Vec::with_capacity(items.len());
        let places = items.into_iter().map(|Item { about, claim, .. }| {
            let place = claim.map(|claim| {
                claims.push(claim);
                claims.len() - 1
            });
            (about, place)
        });
        let places: Vec<_> = places.collect();
        let (plan, outcome) = if claims.is_empty() {
            (String::new(), Outcome::default())
        } else {
            verify(&self.verifier, &claims, self.explains)
        };
        let judged = places.into_iter().map(|(about, place)| {
            let ruling = place.map(|place| {
                // A claim without a verdict is not decided.
                let verdict = outcome.verdicts.get(place).copied().unwrap_or(Verdict::Invalid(Reason::Undecided));
                let chain = verdict.reason().and_then(|reason| self.other_chains.look(&claims[place], reason));
                Ruling { place, verdict, chain }
            });
            Judged { about, ruling }
        });
        Judgements { judged: judged.collect(), plan, outcome, claims }
    }
}

/// What became of the items of a window.
#[derive(Debug)]
#[non_exhaustive]
pub struct Judgements<T> {
    /// One for each item, in order.
    pub judged: Vec<Judged<T>>,
    /// What was computed, as text: empty if the judge does not explain, or nothing was computed.
    pub plan: String,
    /// The engine's answer about the claims.
    pub outcome: Outcome,
    /// The claims, in the order of their items.
    pub claims: Vec<ClaimBytes>,
}

/// An item with its verdict.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Judged<T> {
    /// What the caller knows of the entry.
    pub about: T,
    /// The verdict about its claim, if it has one.
    pub ruling: Option<Ruling>,
}

/// The verdict about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ruling {
    /// The place of the claim in [`Judgements::claims`].
    pub place: usize,
    /// The engine's verdict.
    pub verdict: Verdict,
    /// The chain of drand whose round the claim is, if it is invalid as a round of its own.
    pub chain: Option<&'static str>,
}

/// The engine came to no verdict about a claim. It says nothing about the claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the engine came to no verdict about a claim; this is a fault of the program or of the machine")]
pub struct Undecided;

impl Ruling {
    /// `None` if the claim is valid, or why it is not.
    ///
    /// # Errors
    /// [`Undecided`].
    pub fn fault(self) -> Result<Option<Fault>, Undecided> {
        Ok(self.decided()?.reason().map(|reason| Fault { reason, chain: self.chain }))
    }

    /// The engine's verdict, if it is one.
    ///
    /// # Errors
    /// [`Undecided`].
    pub fn decided(self) -> Result<Verdict, Undecided> {
        match self.verdict {
            Verdict::Invalid(Reason::Undecided | Reason::GivenUp) => Err(Undecided),
            verdict => Ok(verdict),
        }
    }
}

/// Why a claim is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What the engine found.
    pub reason: Reason,
    /// The chain of drand whose round the claim is.
    pub chain: Option<&'static str>,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)?;
        self.chain.map_or(Ok(()), |chain| write!(f, "; it is a round of the chain {chain}"))
    }
}

/// A queue between the thread that reads and the thread that judges. It holds as much as one window.
#[must_use]
pub fn queue<T>(limit: WindowLimit, linger: Duration) -> (Pusher<T>, Windows<T>) {
    let state = State { window: Window::new(limit), ended: false, abandoned: false };
    let queue = Arc::new(Queue { state: Mutex::new(state), changed: Condvar::new() });
    (Pusher(queue.clone()), Windows { queue, left: VecDeque::new(), limit, linger })
}

/// The end of a queue to push to. The other end notices when it is dropped.
#[derive(Debug)]
pub struct Pusher<T>(Arc<Queue<T>>);

impl<T> Pusher<T> {
    /// Pushes an item, and waits while the queue is full. Answers with `None` if the other end was dropped.
    pub fn push(&self, item: Item<T>) -> Option<()> {
        let queue = &*self.0;
        let full = |state: &mut State<T>| !state.abandoned && state.window.is_full();
        let mut state = queue.changed.wait_while(queue.lock(), full).unwrap_or_else(PoisonError::into_inner);
        if state.abandoned {
            return None;
        }
        state.window.push(item);
        queue.changed.notify_all();
        Some(())
    }
}

impl<T> Drop for Pusher<T> {
    fn drop(&mut self) {
        self.0.lock().ended = true;
        self.0.changed.notify_all();
    }
}

/// The windows of what was pushed. The other end of the queue notices when they are dropped.
#[derive(Debug)]
pub struct Windows<T> {
    queue: Arc<Queue<T>>,
    /// Taken from the queue, and in no window yet.
    left: VecDeque<Item<T>>,
    limit: WindowLimit,
    linger: Duration,
}

impl<T> Windows<T> {
    /// The next items to judge together: as many as the limit allows, or what has come since the first of them has waited for
    /// the queue's `linger`. `None` at the end. `stop` is asked at least once in that time; if it says yes, what was read and
    /// not judged is dropped.
    pub fn next(&mut self, stop: impl Fn() -> bool) -> Option<Vec<Item<T>>> {
        let mut window = Window::new(self.limit);
        let mut since: Option<Instant> = None;
        loop {
            if stop() {
                return None;
            }
            while !window.is_full()
                && let Some(item) = self.left.pop_front()
            {
                window.push(item);
            }
            if !window.is_empty() {
                since.get_or_insert_with(Instant::now);
            }
            let patience = since.map_or(self.linger, |since| self.linger.saturating_sub(since.elapsed()));
            if window.is_full() || (patience.is_zero() && !window.is_empty()) {
                return Some(window.take());
            }
            match self.fetch(patience.max(Duration::from_millis(1))) {
                Fetched::Items => {}
                Fetched::Nothing if window.is_empty() => {}
                Fetched::End if window.is_empty() => return None,
                Fetched::Nothing | Fetched::End => return Some(window.take()),
            }
        }
    }

    /// Takes everything in the queue. If the queue is empty, waits at most `wait`.
    fn fetch(&mut self, wait: Duration) -> Fetched {
        let queue = &*self.queue;
        let nothing = |state: &mut State<T>| state.window.is_empty() && !state.ended;
        let waited = queue.changed.wait_timeout_while(queue.lock(), wait, nothing);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.window.is_empty() {
            return if state.ended { Fetched::End } else { Fetched::Nothing };
        }
        self.left.extend(state.window.take());
        queue.changed.notify_all();
        Fetched::Items
    }
}

impl<T> Drop for Windows<T> {
    fn drop(&mut self) {
        self.queue.lock().abandoned = true;
        self.queue.changed.notify_all();
    }
}

/// What a look into the queue found.
enum Fetched {
    /// Something.
    Items,
    /// The queue stayed empty for as long as the caller wanted to wait.
    Nothing,
    /// The queue is empty, and the other end was dropped.
    End,
}

#[derive(Debug)]
struct Queue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    window: Window<T>,
    ended: bool,
    abandoned: bool,
}

impl<T> Queue<T> {
    /// A thread that panicked while it held the lock left the state consistent, so a poisoned lock is used on.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use quorate::{AnySuite, MinPk, Options, SecretKey};
    use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng as _};

    use super::*;

    const THREADS: NonZeroUsize = NonZeroUsize::MIN;

    fn item<T>(about: T, bytes: usize) -> Item<T> {
        Item { about, claim: None, bytes }
    }

    fn claim(message: &[u8], signed: &[u8]) -> ClaimBytes {
        let secret = SecretKey::key_gen(MinPk::Eth2, &[1; 32], b"").expect("long enough");
        let signature = secret.sign(MinPk::Eth2, signed).to_bytes();
        ClaimBytes::single(AnySuite::MinPk(MinPk::Eth2), &secret.public_key().to_bytes(), message, &signature)
    }

    #[test]
    fn verdicts_come_in_the_order_of_the_items() {
        let mut judge = Judge::new(Verifier::new(Options { threads: THREADS, ..Options::default() })).explaining(true);
        let items = vec![
            Item { about: 'a', claim: Some(claim(b"one", b"one")), bytes: 1 },
            item('b', 1),
            Item { about: 'c', claim: Some(claim(b"two", b"other")), bytes: 1 },
        ];
        let judgements = judge.judge(items, &mut ChaCha20Rng::seed_from_u64(1));
        let faults: Vec<_> = judgements
            .judged
            .iter()
            .map(|judged| (judged.about, judged.ruling.map(|ruling| ruling.fault().expect("decided").is_none())))
            .collect();
        assert_eq!(faults, [('a', Some(true)), ('b', None), ('c', Some(false))]);
        assert!(!judgements.plan.is_empty() && judgements.claims.len() == 2);
        let none = judge.judge(vec![item('d', 1)], &mut ChaCha20Rng::seed_from_u64(1));
        assert!(none.plan.is_empty() && none.judged[0].ruling.is_none());
    }

    /// A verdict that is missing is not a verdict: nobody takes it for a yes or a no.
    #[test]
    fn a_claim_without_a_verdict_is_undecided() {
        let mut judge = Judge::new(Verifier::new(Options::default()));
        let items = vec![Item { about: (), claim: Some(claim(b"one", b"one")), bytes: 1 }];
        let judgements = judge.judge_by(items, |_, _, _| (String::new(), Outcome::default()));
        assert_eq!(judgements.judged[0].ruling.expect("a claim").fault(), Err(Undecided));
    }

    #[test]
    fn a_window_is_full_by_number_and_by_bytes() {
        let mut window = Window::new(WindowLimit::of(THREADS));
        (0..1023).for_each(|number| window.push(item(number, 1)));
        assert!(!window.is_full());
        window.push(item(1023, 1));
        assert!(window.is_full() && window.take().len() == 1024 && window.is_empty());
        window.push(item(0, 16 << 20));
        assert!(window.is_full());
    }

    #[test]
    fn a_queue_gives_windows_in_order_and_makes_a_fast_reader_wait() {
        let limit = WindowLimit { items: 10, bytes: 100 };
        let (to, mut windows) = queue(limit, Duration::from_secs(60));
        let reader = thread::spawn(move || {
            (0..95).try_for_each(|number| to.push(item(number, if number == 50 { 500 } else { 1 })))
        });
        let mut seen = Vec::new();
        while let Some(items) = windows.next(|| false) {
            assert!(items.len() <= 10, "{}", items.len());
            seen.extend(items.into_iter().map(|item| item.about));
        }
        assert_eq!(seen, (0..95).collect::<Vec<_>>());
        assert_eq!(reader.join().expect("no panic"), Some(()));
    }

    #[test]
    fn a_half_full_window_does_not_wait_for_ever() {
        let (to, mut windows) = queue(WindowLimit::of(THREADS), Duration::from_millis(20));
        to.push(item(1, 1));
        assert_eq!(windows.next(|| false).expect("one").len(), 1);
        to.push(item(2, 1));
        assert!(windows.next(|| true).is_none(), "stopped");
        drop(windows);
        assert_eq!(to.push(item(3, 1)), None);
    }
}
