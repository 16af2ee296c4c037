//! The batcher: threads around the schedule.
//!
//! Every worker is a thread that asks the schedule for work and sleeps when there is none. One more worker takes blocks
//! alone, so that a block never waits for a batch to end. No thread of the caller's runtime verifies anything.

use std::{
    collections::VecDeque,
    io,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use quorate::{ClaimBytes, Forecast, Messages, Options, Patience, Reason, Scheme, SourceId, Verdict, Verifier};
use quorate_host::{contained, unix_seconds};
use rand::{
    SeedableRng,
    rngs::{StdRng, SysRng},
};

use crate::{
    answer::{Asker, Pending, Refused},
    class::Class,
    observer::{BatchReport, Event, Observer},
    pool::{Appraiser, Waiting},
    pulse::{Heart, Pulse, Verifying},
    schedule::{Banned, Batch, BatchKind, Load, Next, OverloadChange, Rejected, Role, Schedule},
    settings::{Settings, SettingsError, SourceSettings},
    source::{Ban, SourceReport, shown_name},
    store::{KnownStore, OpenedStore, StoreError, is_storable},
};

/// Verifies claims that arrive one by one, in batches. A clone is the same batcher. Dropping the last one stops it, refuses
/// what waits, and waits for the batches in progress.
///
/// ```
/// use quorate::{ClaimBytes, MinPk, SecretKey, Suite};
/// use quorate_batcher::{Batcher, Class, Settings};
/// let secret = SecretKey::key_gen(MinPk::Eth2, &[1; 32], b"")?;
/// let (key, signature) = (secret.public_key().to_bytes(), secret.sign(MinPk::Eth2, b"a").to_bytes());
/// let batcher = Batcher::start(Settings::default())?;
/// let claim = |message: &[u8]| ClaimBytes::single(MinPk::Eth2.any(), &key, message, &signature);
/// // Both are verified in one batch. In an asynchronous function, write `.await` in place of `.wait()`.
/// let answers = [b"a", b"b"].map(|message| batcher.submit(claim(message), Class::Gossip, None));
/// let [a, b] = answers.map(|answer| answer.wait());
/// assert!(a?.is_valid() && !b?.is_valid());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Batcher {
    handle: Arc<Handle>,
}

/// The threads. They end with the last clone of the batcher.
#[derive(Debug)]
struct Handle {
    shared: Arc<Shared>,
    /// `None` if they have not all been started, or if somebody waits for them already.
    threads: Mutex<Option<Threads>>,
}

#[derive(Debug)]
struct Threads {
    workers: Vec<JoinHandle<()>>,
    /// The thread that writes to the store. It ends after the workers, so that it writes all that they verified.
    store: Option<JoinHandle<()>>,
}

/// What the threads share.
struct Shared {
    state: Mutex<State>,
    /// Workers that take everything wait here.
    work: Condvar,
    /// The worker of blocks waits here.
    block: Condvar,
    /// Whoever waits for the end waits here.
    end: Condvar,
    appraiser: Appraiser,
    verifier: Verifier,
    store: Option<Arc<KnownStore>>,
    observer: Option<Arc<dyn Observer>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("verifier", &self.verifier).finish_non_exhaustive()
    }
}

struct State {
    schedule: Schedule<Asker>,
    /// Workers that wait on `work`.
    idle: usize,
    /// When the first of them wakes by itself.
    timer: Option<Instant>,
    heart: Heart,
    /// Verified claims on their way to the store. Dropped to end the thread that writes them.
    to_store: Option<SyncSender<Vec<ClaimBytes>>>,
}

impl State {
    /// Whether a worker that sleeps must look: a batch closes before one wakes by itself.
    fn wants_a_worker(&self, now: Instant) -> bool {
        let closes = || self.schedule.next_close(now);
        self.idle > 0 && closes().is_some_and(|close| self.timer.is_none_or(|timer| close < timer))
    }
}

/// A batcher cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A setting that no batcher can work with.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The system gives no thread.
    #[error("no thread can be started: {0}")]
    Thread(io::Error),
    /// The store of known statements cannot be read.
    #[error(transparent)]
    Store(#[from] crate::store::StoreError),
}

impl Batcher {
    /// Starts the threads. Verified statements are remembered in memory alone.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn start(settings: Settings) -> Result<Self, StartError> {
        Self::start_with(settings, None, None)
    }

    /// Starts the threads. The newest statements of the store are known from the beginning, as far as they were verified with the
    /// soundness of the settings, and what is verified goes into it, a moment later. The observer is told what happens.
    ///
    /// # Errors
    /// [`StartError`].
    pub fn start_with(
        settings: Settings,
        store: Option<KnownStore>,
        observer: Option<Arc<dyn Observer>>,
    ) -> Result<Self, StartError> {
        settings.check()?;
        let threads = settings.threads;
        let options =
            Options { threads, soundness: settings.soundness, backend: settings.backend, ..Options::default() };
        let verifier = Verifier::with_known_limit(options, settings.known);
        let store = store.map(|store| store.with_soundness(settings.soundness));
        if let Some(store) = &store {
            // Whatever does not decode is left out: it is only not known.
            let newest = store.newest(settings.known / 2, unix_seconds())?;
            let left_out = verifier.trust_each(&newest).iter().filter(|result| result.is_err()).count();
            tracing::debug!(known = verifier.known(), left_out, "statements are known from the store");
        }
        let (to_store, stored) = sync_channel(STORE_QUEUE);
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                schedule: Schedule::new(settings),
                idle: 0,
                timer: None,
                heart: Heart::default(),
                to_store: store.is_some().then_some(to_store),
            }),
            work: Condvar::new(),
            block: Condvar::new(),
            end: Condvar::new(),
            appraiser: Appraiser::new(options.backend),
            verifier,
            store: store.map(Arc::new),
            observer,
        });
        let batcher = Self { handle: Arc::new(Handle { shared: shared.clone(), threads: Mutex::new(None) }) };
        let spawn = |name: String, body: Box<dyn FnOnce(&Shared) + Send>| {
            let shared = shared.clone();
            thread::Builder::new().name(name).spawn(move || body(&shared)).map_err(StartError::Thread)
        };
        let mut workers = vec![spawn("quorate-block".to_owned(), Box::new(|shared| shared.work(Role::Blocks)))?];
        for i in 0..threads.get() {
            workers.push(spawn(format!("quorate-batch-{i}"), Box::new(|shared| shared.work(Role::All)))?);
        }
        let store = match &shared.store {
            Some(_) => Some(spawn("quorate-store".to_owned(), Box::new(move |shared| shared.write_to_store(&stored)))?),
            None => None,
        };
        *lock(&batcher.handle.threads) = Some(Threads { workers, store });
        Ok(batcher)
    }

    /// Hands a claim in. It never blocks, and there is always an answer.
    ///
    /// A claim whose deadline passes before a worker is free is refused. A batch is closed so early that its verdicts are
    /// there at the deadlines of its claims, if the plan is right about the time that it takes.
    pub fn submit(&self, claim: ClaimBytes, class: Class, deadline: Option<Instant>) -> Pending {
        let now = Instant::now();
        let (waiting, pending) = self.handle.shared.appraise(claim, class, deadline, now);
        self.hand_in([waiting], class, now, |_, _, _| true);
        pending
    }

    /// Hands in claims that came together: the first one, and those behind it as far as [there is room](Self::has_room), 256 at
    /// most. They are taken out of `claims`, and their answers have their order.
    ///
    /// No worker begins before all of them wait. So an idle machine verifies them in one batch, where it would verify the first one
    /// alone if they were [submitted](Self::submit) one by one.
    pub fn submit_as_fits(
        &self,
        claims: &mut VecDeque<ClaimBytes>,
        class: Class,
        deadline: Option<Instant>,
    ) -> Vec<Pending> {
        let now = Instant::now();
        let most = claims.len().min(TOGETHER);
        let appraised = claims.drain(..most).map(|claim| self.handle.shared.appraise(claim, class, deadline, now));
        let (waiting, mut pending): (Vec<_>, Vec<_>) = appraised.unzip();
        let left = self.hand_in(waiting, class, now, |schedule, taken, waiting| {
            taken == 0 || schedule.has_room(class, waiting.claim.source.as_ref(), waiting.charged, now)
        });
        pending.truncate(most - left.len());
        left.into_iter().rev().for_each(|waiting| claims.push_front(waiting.claim));
        pending
    }

    /// Hands in what fits, and hands back the rest. `fits` knows how many were taken before.
    fn hand_in(
        &self,
        all: impl IntoIterator<Item = Waiting<Asker>>,
        class: Class,
        now: Instant,
        fits: impl Fn(&Schedule<Asker>, usize, &Waiting<Asker>) -> bool,
    ) -> Vec<Waiting<Asker>> {
        let shared = &*self.handle.shared;
        let (mut all, mut rejected, mut changes) = (all.into_iter().peekable(), Vec::new(), Vec::new());
        let mut state = shared.lock();
        let mut taken = 0;
        while let Some(waiting) = all.next_if(|waiting| fits(&state.schedule, taken, waiting)) {
            let (refused, change) = state.schedule.admit(waiting);
            rejected.extend(refused);
            changes.push(change);
            taken += 1;
        }
        if class == Class::Block {
            shared.block.notify_one();
        }
        if state.wants_a_worker(now) {
            shared.work.notify_one();
        }
        drop(state);
        changes.into_iter().for_each(|change| shared.tell_overload(change));
        shared.reject(rejected);
        all.collect()
    }

    /// How much work waits.
    pub fn load(&self) -> Load {
        self.handle.shared.lock().schedule.load()
    }

    /// Whether half of the part of the queue is free that claims of this one's source may have: a quarter of it if the source sent false
    /// ones, else all. Half of the queue's memory must be free too. For a block, only blocks count, and for a duty of at most a quarter of
    /// the queue only blocks and duties: the others make room. Whoever has more claims than the queue takes hands them in as long as there
    /// is room.
    pub fn has_room(&self, class: Class, claim: &ClaimBytes) -> bool {
        let shared = &*self.handle.shared;
        let work = Forecast::of(claim, shared.appraiser.backend).alone();
        shared.lock().schedule.has_room(class, claim.source.as_ref(), work, Instant::now())
    }

    /// The sources that sent false claims, the banned ones and the highest scores first.
    pub fn sources(&self) -> Vec<SourceReport> {
        self.worst_sources(usize::MAX, |_| true).0
    }

    /// At most so many of those that `of` names, the worst ones, and how many of these there are in all. The batcher stands still while
    /// it asks `of`, which must not call it.
    pub fn worst_sources(&self, most: usize, of: impl Fn(&SourceId) -> bool) -> (Vec<SourceReport>, usize) {
        self.handle.shared.lock().schedule.sources(most, of, Instant::now())
    }

    /// How many sources are banned.
    pub fn banned(&self) -> usize {
        self.handle.shared.lock().schedule.banned(Instant::now())
    }

    /// The bans that have not ended, for a program that writes them down. Those come first that would be kept longest.
    pub fn bans(&self) -> Vec<Ban> {
        self.handle.shared.lock().schedule.bans(Instant::now())
    }

    /// Bans again whom [`bans`](Self::bans) told, for the times that are left. For a program that starts.
    pub fn restore_bans(&self, bans: &[Ban]) {
        let (mut state, now) = (self.handle.shared.lock(), Instant::now());
        bans.iter().for_each(|ban| state.schedule.restore(ban, now));
    }

    /// Bans a source, whatever it sent. Its claims that wait are refused. A source with a name of more than 1 MiB cannot be banned; it is
    /// always a suspect.
    pub fn ban(&self, source: &SourceId, time: Duration) {
        let banned = self.handle.shared.lock().schedule.ban(source, Instant::now(), time);
        self.handle.shared.tell_ban(banned);
    }

    /// Forgets what a source did, and with it its ban. `false` if nothing was known of it.
    pub fn pardon(&self, source: &SourceId) -> bool {
        self.handle.shared.lock().schedule.pardon(source)
    }

    /// The pulse of the workers, and wakes those that sleep, so that it moves on. A worker that verifies looks for work when its batch is
    /// done; until then the pulse [moves on](Pulse) if the batch is large. For a watchdog: two readings between which it does not move are
    /// a sign that no batch ends any more.
    pub fn pulse(&self) -> Pulse {
        let shared = &*self.handle.shared;
        let pulse = shared.lock().heart.pulse(Instant::now());
        shared.work.notify_one();
        shared.block.notify_one();
        pulse
    }

    /// Judges sources by other settings from now on. What they did, and bans in force, stay.
    ///
    /// # Errors
    /// [`SettingsError`], and nothing has changed.
    pub fn set_sources(&self, sources: SourceSettings) -> Result<(), SettingsError> {
        sources.check()?;
        self.handle.shared.lock().schedule.set_sources(sources);
        Ok(())
    }

    /// How many statements are known in memory.
    pub fn known(&self) -> usize {
        self.handle.shared.verifier.known()
    }

    /// By statement of a claim: whether it is known in memory.
    pub fn knows(&self, claim: &ClaimBytes) -> Vec<bool> {
        self.handle.shared.verifier.knows(claim)
    }

    /// Forgets all known statements in memory. Those in the store stay there.
    pub fn forget_known(&self) {
        self.handle.shared.verifier.forget_known();
    }

    /// Takes no more claims, answers those that wait, and ends. What is not verified by then is refused.
    ///
    /// It waits for the batches in progress, even after `by`: each takes about as long as the target says. Do not call it
    /// on a thread of an asynchronous runtime.
    ///
    /// If several threads stop it at the same time, the earliest `by` counts for all, and one of them waits for the batches in
    /// progress: the others may return before.
    pub fn stop(&self, by: Instant) {
        let shared = &*self.handle.shared;
        let mut state = shared.lock();
        state.schedule.stop();
        shared.wake_all();
        while !state.schedule.is_done() {
            let left = by.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = shared.end.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(state);
        self.handle.end();
    }
}

impl Handle {
    /// Refuses what waits, and waits for the threads.
    fn end(&self) {
        let mut state = self.shared.lock();
        state.schedule.stop();
        let abandoned = state.schedule.abandon();
        self.shared.wake_all();
        drop(state);
        self.shared.reject(abandoned);
        let Some(Threads { workers, store }) = lock(&self.threads).take() else { return };
        let join = |thread: JoinHandle<()>| {
            // A thread that dropped the last batcher, from within an observer, cannot wait for itself.
            if thread.thread().id() != thread::current().id() {
                // What a thread panicked with has been printed, and its claims have been answered.
                let _ = thread.join();
            }
        };
        workers.into_iter().for_each(join);
        // If this is a worker, the batch of which it tells just now is not stored.
        self.shared.lock().to_store = None;
        store.into_iter().for_each(join);
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    /// A claim as it waits, and whoever waits for its answer.
    fn appraise(
        &self,
        claim: ClaimBytes,
        class: Class,
        deadline: Option<Instant>,
        now: Instant,
    ) -> (Waiting<Asker>, Pending) {
        let (asker, pending) = Pending::new();
        (self.appraiser.appraise(claim, class, deadline, asker, now), pending)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn wake_all(&self) {
        self.work.notify_all();
        self.block.notify_all();
        self.end.notify_all();
    }

    /// What a worker does until there is nothing left to do.
    fn work(&self, role: Role) {
        let mut state = self.lock();
        loop {
            state.heart.beat(role);
            let now = Instant::now();
            let (next, rejected) = state.schedule.next(role, now);
            let change = state.schedule.end_overload();
            if let Next::Batch(batch) = next {
                // Somebody else looks after what is left.
                if state.wants_a_worker(now) {
                    self.work.notify_one();
                }
                let verifying = state.heart.begin(role, batch.work(), now);
                drop(state);
                self.tell_overload(change);
                self.reject(rejected);
                self.verify(batch, verifying, now);
                state = self.lock();
                continue;
            }
            if !rejected.is_empty() || change.is_some() {
                drop(state);
                self.tell_overload(change);
                self.reject(rejected);
                state = self.lock();
                continue;
            }
            state = match next {
                Next::End => break,
                Next::At(at) if role == Role::All => self.sleep(state, Some(at), now),
                _ if role == Role::All => self.sleep(state, None, now),
                _ => self.block.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
        drop(state);
        self.wake_all();
    }

    /// Sleeps until somebody wakes it, or until a time if nobody else wakes before.
    fn sleep<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        at: Option<Instant>,
        now: Instant,
    ) -> MutexGuard<'a, State> {
        state.idle += 1;
        let mine = at.filter(|at| state.timer.is_none_or(|timer| *at < timer));
        let mut state = match mine {
            Some(at) => {
                state.timer = Some(at);
                let slept = self.work.wait_timeout(state, at.saturating_duration_since(now));
                let mut state = slept.unwrap_or_else(PoisonError::into_inner).0;
                if state.timer == mine {
                    state.timer = None;
                }
                state
            }
            None => self.work.wait(state).unwrap_or_else(PoisonError::into_inner),
        };
        state.idle -= 1;
        state
    }

    /// Verifies a batch and answers its claims.
    fn verify(&self, batch: Batch<Asker>, verifying: Verifying, closed: Instant) {
        let (kind, closed_by, planned, planned_by_table) =
            (batch.kind, batch.closed_by, batch.planned, batch.planned_by_table());
        let options = Options { threads: batch.threads, ..*self.verifier.options() };
        let (claims, askers): (Vec<_>, Vec<_>) = batch
            .claims
            .into_iter()
            .map(|Waiting { claim, class, arrived, asker, .. }| (claim, (asker, class, arrived)))
            .unzip();
        let mut bans = Bans { shared: self, claims: &claims };
        let verifier = self.verifier.with_options(options);
        // A panic is a fault of ours. It must not end the worker, and the claims must be answered: as refused.
        let outcome = contained(|| {
            if kind == BatchKind::Block {
                self.recall(&verifier, &claims);
            }
            verifier.verify_and_remember(&claims, &mut bans, &mut weights())
        });
        let took = closed.elapsed();
        let mut report = BatchReport {
            kind,
            closed_by,
            claims: claims.len(),
            statements: claims.iter().map(ClaimBytes::statements).sum(),
            subtracted: 0,
            invalid: 0,
            given_up: 0,
            planned,
            took,
            waits: askers.iter().map(|(_, _, arrived)| closed.saturating_duration_since(*arrived)).collect(),
            work: quorate::Work::default(),
        };
        let outcome = outcome.inspect_err(|panicked| {
            tracing::error!(claims = claims.len(), %panicked, "the verification of a batch panicked; its claims are refused");
        });
        let Ok(outcome) = outcome else {
            for (asker, class, _) in askers {
                self.observe(&Event::Refused { class, refused: Refused::Failed });
                answer(asker, Err(Refused::Failed));
            }
            self.done(kind, verifying, planned_by_table, took, false);
            return;
        };
        report.subtracted = outcome.subtracted.iter().sum();
        report.work = outcome.work;
        report.given_up =
            outcome.verdicts.iter().filter(|verdict| **verdict == Verdict::Invalid(Reason::GivenUp)).count();
        report.invalid = outcome.invalid().count() - report.given_up;
        self.done(kind, verifying, planned_by_table, took, outcome.all_valid() && report.subtracted == 0);
        // Before the answers, so that whoever has an answer finds it counted.
        self.observe(&Event::Batch(&report));
        for ((asker, class, _), verdict) in askers.into_iter().zip(&outcome.verdicts) {
            if *verdict == Verdict::Invalid(Reason::GivenUp) {
                self.observe(&Event::Refused { class, refused: Refused::Banned });
                answer(asker, Err(Refused::Banned));
            } else {
                answer(asker, Ok(*verdict));
            }
        }
        let new = claims.into_iter().zip(outcome.verdicts).zip(outcome.subtracted);
        self.store(
            new.filter(|((claim, verdict), known)| verdict.is_valid() && *known == 0 && is_storable(claim))
                .map(|((claim, _), _)| claim)
                .collect(),
        );
    }

    fn done(&self, kind: BatchKind, verifying: Verifying, planned_by_table: u64, took: Duration, was_true: bool) {
        let mut state = self.lock();
        state.heart.end(verifying);
        state.schedule.done(kind, planned_by_table, took, was_true);
        let all = kind == BatchKind::Block || state.schedule.is_stopping();
        drop(state);
        if all {
            self.wake_all();
        }
    }

    /// Brings statements of blocks from the store into memory, if memory has forgotten them.
    fn recall(&self, verifier: &Verifier, claims: &[ClaimBytes]) {
        let Some(store) = &self.store else { return };
        let now = unix_seconds();
        let mut recalled = Vec::new();
        for claim in claims.iter().filter(|claim| is_worth_recalling(claim)) {
            let known = verifier.knows(claim);
            let unknown: Vec<_> = known.iter().enumerate().filter(|(_, known)| !**known).map(|(i, _)| i).collect();
            match store.signatures(claim, &unknown, now) {
                Ok(signatures) => {
                    let found = unknown.iter().zip(signatures).filter_map(|(i, signature)| Some((*i, signature?)));
                    let found: Vec<_> = found.collect();
                    // All at once, since to find one key of a bitmap takes as long as to find all.
                    let keys = if found.is_empty() { Vec::new() } else { claim.public_keys.encodings() };
                    recalled
                        .extend(found.iter().filter_map(|(i, signature)| single(claim, *i, keys.get(*i)?, signature)));
                }
                // What cannot be read is not known.
                Err(StoreError::Closed) => return,
                Err(error) => {
                    tracing::warn!(%error, "the store of known statements cannot be read");
                    return;
                }
            }
        }
        verifier.trust_each(&recalled);
    }

    /// Sends verified claims to the thread that writes them. If it is behind, they are not written: it is a cache.
    fn store(&self, claims: Vec<ClaimBytes>) {
        if claims.is_empty() {
            return;
        }
        let Some(to_store) = self.lock().to_store.clone() else { return };
        if let Err(TrySendError::Full(claims)) = to_store.try_send(claims) {
            tracing::debug!(statements = claims.len(), "the store is behind; these statements are not written");
        }
    }

    /// What the thread of the store does. Everything that has come meanwhile is one transaction.
    ///
    /// If writing fails, the store is opened again after a pause, which doubles, and the newest claims are written then.
    fn write_to_store(&self, claims: &Receiver<Vec<ClaimBytes>>) {
        let Some(store) = &self.store else { return };
        let mut failing: Option<Failing> = None;
        loop {
            let received = match &failing {
                None => claims.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(failing) => claims.recv_timeout(failing.retry.saturating_duration_since(Instant::now())),
            };
            let mut batch = match received {
                Ok(batch) => batch,
                Err(RecvTimeoutError::Timeout) => Vec::new(),
                Err(RecvTimeoutError::Disconnected) => break,
            };
            while batch.len() < MOST_WRITTEN
                && let Ok(more) = claims.try_recv()
            {
                batch.extend(more);
            }
            if let Some(failing) = &mut failing {
                if !batch.is_empty() {
                    failing.lost += failing.newest.len();
                    failing.newest = batch;
                }
                if Instant::now() < failing.retry {
                    continue;
                }
                batch = std::mem::take(&mut failing.newest);
            }
            match self.write_once(store, &batch, failing.is_some()) {
                Ok(statements) => {
                    if let Some(Failing { lost, .. }) = failing.take() {
                        tracing::warn!(lost, "verified statements are stored again");
                    }
                    self.observe(&Event::Stored { statements });
                }
                Err(error) => {
                    let error = error.to_string();
                    let (pause, lost) = failing
                        .as_ref()
                        .map_or((FIRST_PAUSE, 0), |failing| ((2 * failing.pause).min(LONGEST_PAUSE), failing.lost));
                    if failing.is_none() {
                        tracing::error!(
                            error,
                            "verified statements cannot be stored; verification goes on without, and the store is opened again \
                             from time to time"
                        );
                    }
                    self.observe(&Event::StoreFailed { error: &error });
                    failing = Some(Failing { retry: Instant::now() + pause, pause, newest: batch, lost });
                }
            }
        }
    }

    fn write_once(&self, store: &KnownStore, batch: &[ClaimBytes], reopen: bool) -> Result<usize, StoreError> {
        if reopen && let OpenedStore::SetAside { to, why } = store.reopen()? {
            tracing::warn!(path = %to.display(), why, "the store of known statements was set aside, and an empty one begun");
        }
        store.put(batch, unix_seconds())
    }

    fn reject(&self, rejected: Vec<Rejected<Asker>>) {
        for (waiting, refused) in rejected {
            self.observe(&Event::Refused { class: waiting.class, refused });
            answer(waiting.asker, Err(refused));
        }
    }

    fn tell_overload(&self, change: Option<OverloadChange>) {
        match change {
            Some(OverloadChange::Begins) => {
                tracing::warn!("overload: claims are refused from now on");
                self.observe(&Event::OverloadBegins);
            }
            Some(OverloadChange::Ends { refused }) => {
                tracing::warn!(refused, "the overload is over");
                self.observe(&Event::OverloadEnds { refused });
            }
            Some(OverloadChange::SuspectsBegin) => {
                tracing::warn!(
                    "claims of sources that sent false ones fill their part of the queue: some are refused from now on"
                );
            }
            Some(OverloadChange::SuspectsEnd { refused }) => {
                tracing::warn!(
                    refused,
                    "claims of sources that sent false ones fit into their part of the queue again"
                );
            }
            None => {}
        }
    }

    fn tell_ban(&self, banned: Option<Banned<Asker>>) {
        let Some(Banned { report, evicted }) = banned else { return };
        let source = shown_name(&report.source);
        tracing::warn!(source, false_claims = report.false_claims, evicted = evicted.len(), "banned");
        self.observe(&Event::Banned { source: &report, evicted: evicted.len() });
        self.reject(evicted);
    }

    fn observe(&self, event: &Event<'_>) {
        let Some(observer) = &self.observer else { return };
        // What an observer does must cost no claim its answer and no worker its life.
        if let Err(panicked) = contained(|| observer.observe(event)) {
            tracing::error!(%panicked, "the observer panicked; its fault is ignored");
        }
    }
}

/// A store that cannot be written.
struct Failing {
    /// When it is tried again.
    retry: Instant,
    /// How long that pause is.
    pause: Duration,
    /// What is written then.
    newest: Vec<ClaimBytes>,
    /// How many statements were not written.
    lost: usize,
}

/// Bans sources while the search for false claims goes on, so that it ends as soon as its source is banned: by this batch,
/// or by another one.
struct Bans<'a> {
    shared: &'a Shared,
    claims: &'a [ClaimBytes],
}

impl Patience for Bans<'_> {
    fn left(&mut self, source: &SourceId) -> usize {
        self.shared.lock().schedule.until_ban(source, Instant::now())
    }

    fn found(&mut self, index: usize, _: Option<&SourceId>, reason: Reason) {
        if !reason.proves_a_lie() {
            return;
        }
        let banned = self.shared.lock().schedule.found_false(&self.claims[index], reason, Instant::now());
        self.shared.tell_ban(banned);
    }
}

/// Whether a claim can cost less if the store is asked for its statements. Those about one message are hashed and paired once, however
/// many are known, so that a signature that is read from disk costs more than it saves.
fn is_worth_recalling(claim: &ClaimBytes) -> bool {
    let is_one_message = matches!(claim.messages, Messages::Shared(_)) && claim.suite.scheme() != Scheme::Augmented;
    claim.statements() == 1 || (claim.statements() <= MOST_RECALLED && !is_one_message)
}

/// The claim of one statement of a claim, whose encoded key the caller has.
fn single(claim: &ClaimBytes, index: usize, key: &[u8], signature: &[u8]) -> Option<ClaimBytes> {
    match &claim.messages {
        Messages::Shared(message) => Some(ClaimBytes::single(claim.suite, key, message, signature)),
        Messages::Each(messages) => Some(ClaimBytes::single(claim.suite, key, messages.get(index)?, signature)),
        Messages::ProofOfPossession => Some(ClaimBytes::proof_of_possession(claim.suite, key, signature)),
        _ => None,
    }
}

fn answer(asker: Asker, answer: Result<Verdict, Refused>) {
    // Who asked may be gone. Its waker is code of the caller's, which must cost no worker its life.
    if let Err(panicked) = contained(|| asker.send(answer)) {
        tracing::error!(%panicked, "the waker of an answer panicked; its fault is ignored");
    }
}

/// The value of a lock. A thread that panicked while it held the lock was between two changes of the schedule, or in it;
/// every method of the schedule leaves it usable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The generator of a batch's weights, with a fresh seed of the operating system's. `rand::rng()` is not seeded anew in a process
/// that forks, so the children of a server that forks would draw the same weights.
fn weights() -> StdRng {
    StdRng::try_from_rng(&mut SysRng).expect("the operating system has random numbers")
}

/// Claims that are handed in at once: more than a node's gossip brings in a burst, and few enough that nobody waits long for the lock.
const TOGETHER: usize = 256;
/// Batches on their way to the store.
const STORE_QUEUE: usize = 64;
/// About how many statements one transaction of the store writes.
const MOST_WRITTEN: usize = 4096;
/// How long a store rests after writing failed, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Statements of claims with more are not looked for in the store.
const MOST_RECALLED: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use quorate::{MinPk, SecretKey, Suite};

    use super::*;
    use crate::{
        answer::Answer,
        store::tests::{Fillable, on},
    };

    #[derive(Default)]
    struct Seen {
        failures: Mutex<usize>,
        stored: Mutex<usize>,
        written: Mutex<usize>,
    }

    impl Observer for Seen {
        fn observe(&self, event: &Event<'_>) {
            match event {
                Event::StoreFailed { error } => {
                    assert!(!error.is_empty());
                    *lock(&self.failures) += 1;
                }
                Event::Stored { statements } => {
                    *lock(&self.stored) += statements;
                    *lock(&self.written) += 1;
                }
                _ => {}
            }
        }
    }

    fn until(what: &str, is_so: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < quorate_lab::run::LIMIT, "{what}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// The answer, if it comes within the time of a test.
    fn answer_of(pending: Pending) -> Answer {
        let answered = Arc::new(Mutex::new(None));
        let answer = answered.clone();
        thread::spawn(move || *lock(&answer) = Some(pending.wait()));
        until("nobody answers", || lock(&answered).is_some());
        let answer = lock(&answered).take();
        answer.unwrap()
    }

    /// The worker that read a damaged store for a block died, and no other batch ever began.
    #[test]
    fn a_store_that_is_damaged_costs_no_verdict() {
        let (folder, disk) = (tempfile::tempdir().unwrap(), Fillable::default());
        let secret = SecretKey::key_gen(MinPk::Basic, &[1; 32], b"").unwrap();
        let key = secret.public_key().to_bytes();
        let claim = |message: &[u8]| {
            ClaimBytes::single(MinPk::Basic.any(), &key, message, &secret.sign(MinPk::Basic, message).to_bytes())
        };
        on(&disk, folder.path()).0.put(&[claim(b"before")], unix_seconds()).unwrap();
        let store = on(&disk, folder.path()).0;
        // No record is read at the start.
        let settings = Settings { known: 1, ..Settings::default() };
        let batcher = Batcher::start_with(settings, Some(store), None).unwrap();
        disk.damage(true);
        for (message, class) in [(b"before", Class::Block), (b"gossip", Class::Gossip), (b"before", Class::Block)] {
            let pending = batcher.submit(claim(message), class, None);
            assert_eq!(answer_of(pending), Ok(Verdict::Valid));
        }
    }

    /// A caller's waker panics on the thread of the worker that answers.
    #[test]
    fn a_waker_that_panics() {
        struct Panics;
        impl std::task::Wake for Panics {
            fn wake(self: Arc<Self>) {
                panic!("as the test wants");
            }
        }
        /// Keeps the answers back until the test lets them go.
        #[derive(Default)]
        struct Holds(Mutex<()>);
        impl Observer for Holds {
            fn observe(&self, event: &Event<'_>) {
                if matches!(event, Event::Batch(_)) {
                    drop(lock(&self.0));
                }
            }
        }
        let holds = Arc::new(Holds::default());
        let settings = Settings { threads: std::num::NonZeroUsize::MIN, ..Settings::default() };
        let batcher = Batcher::start_with(settings, None, Some(holds.clone())).unwrap();
        let claim = || ClaimBytes::single(MinPk::Eth2.any(), &[1; 48], b"m", &[2; 96]);
        let waker = std::task::Waker::from(Arc::new(Panics));
        let held = lock(&holds.0);
        let mut pending = std::pin::pin!(batcher.submit(claim(), Class::Gossip, None));
        let polled = pending.as_mut().poll(&mut std::task::Context::from_waker(&waker));
        assert!(polled.is_pending());
        drop(held);
        assert!(answer_of(batcher.submit(claim(), Class::Gossip, None)).is_ok());
    }

    /// What the store does not keep filled the queue to its thread, and made it write nothing.
    #[test]
    fn long_messages_are_not_sent_to_the_store() {
        let (folder, seen) = (tempfile::tempdir().unwrap(), Arc::new(Seen::default()));
        let store = on(&Fillable::default(), folder.path()).0;
        let batcher = Batcher::start_with(Settings::default(), Some(store), Some(seen.clone())).unwrap();
        let secret = SecretKey::key_gen(MinPk::Eth2, &[1; 32], b"").unwrap();
        for length in [KnownStore::LONGEST_MESSAGE + 1, 64 << 10] {
            let message = vec![7; length];
            let signature = secret.sign(MinPk::Eth2, &message).to_bytes();
            let claim = ClaimBytes::single(MinPk::Eth2.any(), &secret.public_key().to_bytes(), &message, &signature);
            assert_eq!(batcher.submit(claim, Class::Gossip, None).wait(), Ok(Verdict::Valid));
        }
        // It waits for the thread of the store.
        drop(batcher);
        assert_eq!(*lock(&seen.written), 0);
    }

    /// A worker that dropped the last batcher waited for the thread of the store, which waited for the worker.
    #[test]
    fn a_worker_that_drops_a_batcher_with_a_store() {
        #[derive(Default)]
        struct Drops(Mutex<Option<Batcher>>);
        impl Observer for Drops {
            fn observe(&self, event: &Event<'_>) {
                if matches!(event, Event::Batch(_)) {
                    let last = lock(&self.0).take();
                    drop(last);
                }
            }
        }
        let (folder, drops) = (tempfile::tempdir().unwrap(), Arc::new(Drops::default()));
        let store = on(&Fillable::default(), folder.path()).0;
        let batcher = Batcher::start_with(Settings::default(), Some(store), Some(drops.clone())).unwrap();
        let claim = ClaimBytes::single(MinPk::Eth2.any(), &[1; 48], b"m", &[2; 96]);
        let mut told = drops.0.lock().unwrap();
        let pending = batcher.submit(claim, Class::Gossip, None);
        *told = Some(batcher);
        drop(told);
        assert!(answer_of(pending).is_ok_and(|verdict| !verdict.is_valid()));
    }

    /// One full disk made the store silent for ever. Now each failure is told, and what is verified later is stored when there is room.
    #[test]
    fn the_store_comes_back_after_a_full_disk() {
        let (folder, disk, seen) = (tempfile::tempdir().unwrap(), Fillable::default(), Arc::new(Seen::default()));
        let secret = SecretKey::key_gen(MinPk::Eth2, &[1; 32], b"").unwrap();
        let key = secret.public_key().to_bytes();
        let claim = |message: &[u8]| {
            ClaimBytes::single(MinPk::Eth2.any(), &key, message, &secret.sign(MinPk::Eth2, message).to_bytes())
        };
        let store = on(&disk, folder.path()).0;
        let batcher = Batcher::start_with(Settings::default(), Some(store), Some(seen.clone())).unwrap();
        let verify = |message: &[u8]| {
            let verdict = batcher.submit(claim(message), Class::Gossip, None).wait();
            assert_eq!(verdict, Ok(Verdict::Valid));
        };
        verify(b"before");
        until("nothing is stored", || *lock(&seen.stored) == 1);
        disk.fill(true);
        verify(b"meanwhile");
        // It is tried again without any further claim, and each failure is told.
        until("the failures are not told", || *lock(&seen.failures) >= 2);
        disk.fill(false);
        until("it is not written again", || *lock(&seen.stored) == 2);
        verify(b"after");
        until("what comes after it is not stored", || *lock(&seen.stored) == 3);
        batcher.stop(Instant::now() + Duration::from_secs(5));
        drop(batcher);
        let (store, _) = on(&disk, folder.path());
        for message in [&b"before"[..], b"meanwhile", b"after"] {
            assert!(store.signature(&claim(message), 0, unix_seconds()).unwrap().is_some(), "{message:?}");
        }
    }
}
