//! The threads on which calls with a promise work. They are the library's own, because the four of libuv are those of files, of
//! `dns.lookup` and of other packages: long calls would keep them, and such work would keep calls.

use std::{
    collections::VecDeque,
    num::NonZeroUsize,
    sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError},
    thread,
    time::Duration,
};

use quorate_c::{CallFailure, Code};

use crate::fault::Fault;

/// The threads of the process: its environments of Node share them.
pub(crate) static POOL: Pool = Pool::new();

/// What a thread does. If nothing will do it, it is called with the fault, on the thread of the caller.
pub(crate) type Work = Box<dyn FnOnce(Result<(), Fault>) + Send>;

/// Threads that take work in its order: at most one for each core, started when there is work for them. A thread ends when it had none for
/// [`IDLE`]. None of them keeps the process alive, and it waits for none when it ends. What waits takes at most [`MOST_WAITING`].
pub(crate) struct Pool {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    waiting: VecDeque<Waiting>,
    /// Those of all that waits.
    bytes: usize,
    threads: usize,
    /// Threads that wait for work.
    idle: usize,
}

/// Work that waits for its turn.
struct Waiting {
    work: Work,
    /// What it holds meanwhile.
    bytes: usize,
}

/// How long a thread waits for work before it ends.
const IDLE: Duration = Duration::from_secs(10);

/// The most bytes of work that waits for its turn, but of one alone there may be more. It is what waits in a batcher by default.
const MOST_WAITING: usize = 256 << 20;

/// About the bytes that any work holds beside its arguments: the function, its promise, and what JavaScript has of them.
const ANY_WORK: usize = 1 << 10;

impl Pool {
    const fn new() -> Self {
        let state = State { waiting: VecDeque::new(), bytes: 0, threads: 0, idle: 0 };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Has work done on one of the threads. While it waits for its turn, it holds so many bytes of arguments: if that is too much beside
    /// what waits already, it is not done.
    pub(crate) fn run(&'static self, bytes: usize, work: Work) {
        let bytes = bytes.saturating_add(ANY_WORK);
        let mut state = self.state();
        if !state.waiting.is_empty() && state.bytes.saturating_add(bytes) > MOST_WAITING {
            let full = Fault::queue_full(state.bytes, MOST_WAITING, bytes);
            drop(state);
            return work(Err(full));
        }
        state.bytes = state.bytes.saturating_add(bytes);
        state.waiting.push_back(Waiting { work, bytes });
        if state.idle >= state.waiting.len() {
            self.changed.notify_one();
        } else if state.threads < most() {
            state.threads += 1;
            drop(state);
            if let Err(fault) = start(move || self.serve()) {
                self.not_started(&fault);
            }
        }
    }

    /// One thread less was started. If there is none at all, nobody takes what waits.
    fn not_started(&self, fault: &Fault) {
        let mut state = self.state();
        state.threads -= 1;
        let mut refused = VecDeque::new();
        if state.threads == 0 {
            refused = std::mem::take(&mut state.waiting);
            state.bytes = 0;
        }
        drop(state);
        refused.into_iter().for_each(|Waiting { work, .. }| work(Err(fault.clone())));
    }

    /// The life of a thread.
    fn serve(&self) {
        let mut state = self.state();
        loop {
            if let Some(Waiting { work, bytes }) = state.waiting.pop_front() {
                state.bytes -= bytes;
                drop(state);
                // A panic of the computation is held in the work. One beside it, when Node is told, must not end a thread that is counted.
                let _: Result<(), _> = quorate_host::contained(|| work(Ok(())));
                state = self.state();
                continue;
            }
            state.idle += 1;
            let (woken, waited) = self.changed.wait_timeout(state, IDLE).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.idle -= 1;
            if waited.timed_out() && state.waiting.is_empty() {
                state.threads -= 1;
                return;
            }
        }
    }

    /// A thread that panicked has left whole values.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The most threads: one for each core. The system is asked once, because that takes longer than all else here.
fn most() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, NonZeroUsize::get))
}

/// Has work that waits for something done on a thread of its own, so that it keeps none of the pool's.
pub(crate) fn run_apart(work: Work) {
    // The thread takes it out, unless there is no thread.
    let place = Arc::new(Mutex::new(Some(work)));
    let take = |place: &Mutex<Option<Work>>| place.lock().unwrap_or_else(PoisonError::into_inner).take();
    let own = Arc::clone(&place);
    let started = start(move || {
        if let Some(work) = take(&own) {
            work(Ok(()));
        }
    });
    let Err(fault) = started else { return };
    if let Some(work) = take(&place) {
        work(Err(fault));
    }
}

fn start(body: impl FnOnce() + Send + 'static) -> Result<(), Fault> {
    let started = thread::Builder::new().name("quorate".to_owned()).spawn(body);
    let none = |error| CallFailure::new(Code::System, format!("the operating system gives no thread: {error}"));
    started.map(drop).map_err(|error| none(error).into())
}
