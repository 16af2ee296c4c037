//! What the connections of a listener do, so that one that does nothing makes room for a new one.
//!
//! There are only so many connections at once. Without this, a client that opens all of them and asks something harmless on each now and
//! then would keep everybody else out.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tokio_util::sync::CancellationToken;

/// The connections of a listener.
#[derive(Debug)]
pub(super) struct Activities {
    begun: Instant,
    all: Mutex<HashMap<u64, Arc<State>>>,
}

/// What one connection does. Dropping it forgets the connection.
#[derive(Debug)]
pub(super) struct Activity {
    number: u64,
    state: Arc<State>,
    all: Arc<Activities>,
}

#[derive(Debug)]
struct State {
    /// Requests that are ours to answer. One whose answer waits for the client is not.
    in_progress: AtomicUsize,
    /// Since when there are none, in milliseconds after the listener began.
    idle_since: AtomicU64,
    close: CancellationToken,
}

impl Activities {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { begun: Instant::now(), all: Mutex::default() })
    }

    /// A connection that begins.
    pub(super) fn open(self: &Arc<Self>, number: u64) -> Activity {
        let idle_since = AtomicU64::new(self.now());
        let state = Arc::new(State { in_progress: AtomicUsize::new(0), idle_since, close: CancellationToken::new() });
        self.lock().insert(number, state.clone());
        Activity { number, state, all: self.clone() }
    }

    /// Asks the connection to close that has been idle for the longest time. A moment is not idle: it may be that its request is on
    /// the way.
    pub(super) fn close_the_most_idle(&self) {
        self.close_the_most_idle_at(self.now());
    }

    /// The same at a time, in milliseconds after the listener began.
    fn close_the_most_idle_at(&self, now: u64) {
        let Some(before) = now.checked_sub(MOMENT.as_millis() as u64) else { return };
        let all = self.lock();
        let idle = all.values().filter(|state| {
            state.in_progress.load(Ordering::Relaxed) == 0
                && state.idle_since.load(Ordering::Relaxed) <= before
                && !state.close.is_cancelled()
        });
        if let Some(state) = idle.min_by_key(|state| state.idle_since.load(Ordering::Relaxed)) {
            state.close.cancel();
        }
    }

    fn now(&self) -> u64 {
        self.begun.elapsed().as_millis() as u64
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Arc<State>>> {
        // Nothing panics while it holds this.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Activity {
    /// A request begins. It ends when this is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> InProgress {
        self.state.in_progress.fetch_add(1, Ordering::Relaxed);
        InProgress { of: self.clone(), is_ours: true }
    }

    /// Is cancelled when the connection is to make room.
    pub(super) fn closing(&self) -> &CancellationToken {
        &self.state.close
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        self.all.lock().remove(&self.number);
    }
}

/// A request in progress.
#[derive(Debug)]
pub(super) struct InProgress {
    of: Arc<Activity>,
    /// Whether the client waits for us, and not we for the client.
    is_ours: bool,
}

impl InProgress {
    /// The client waits for more of the answer.
    pub(super) fn resume(&mut self) {
        if !std::mem::replace(&mut self.is_ours, true) {
            self.of.state.in_progress.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A part of the answer waits for the client from now on. A client that takes none of it is as idle as one that asks nothing.
    pub(super) fn pause(&mut self) {
        self.of.state.idle_since.store(self.of.all.now(), Ordering::Relaxed);
        if std::mem::replace(&mut self.is_ours, false) {
            self.of.state.in_progress.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        self.pause();
    }
}

/// So long a connection must have been idle.
pub(super) const MOMENT: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_idle_connection_makes_room_and_a_busy_one_does_not() {
        let all = Activities::new();
        let [first, second, third] = [1, 2, 3].map(|number| Arc::new(all.open(number)));
        let busy = first.begin();
        for state in all.lock().values() {
            state.idle_since.store(0, Ordering::Relaxed);
        }
        second.state.idle_since.store(1, Ordering::Relaxed);
        let moment = MOMENT.as_millis() as u64;
        all.close_the_most_idle_at(moment - 1);
        assert!(![&first, &second, &third].iter().any(|each| each.closing().is_cancelled()), "a moment is not idle");
        all.close_the_most_idle_at(moment + 1);
        assert!(third.closing().is_cancelled() && !second.closing().is_cancelled());
        all.close_the_most_idle_at(moment + 1);
        assert!(second.closing().is_cancelled() && !first.closing().is_cancelled());
        all.close_the_most_idle_at(moment + 1);
        assert!(!first.closing().is_cancelled());
        drop((busy, third));
        assert_eq!(all.lock().len(), 2);
    }

    #[test]
    fn a_request_whose_answer_waits_for_the_client_keeps_no_place() {
        let all = Activities::new();
        let connection = Arc::new(all.open(1));
        let mut request = connection.begin();
        let in_progress = || connection.state.in_progress.load(Ordering::Relaxed);
        for _ in 0..2 {
            request.pause();
            request.pause();
            assert_eq!(in_progress(), 0);
            request.resume();
            request.resume();
            assert_eq!(in_progress(), 1);
        }
        request.pause();
        drop(request);
        assert_eq!(in_progress(), 0);
        all.close_the_most_idle_at(all.now() + MOMENT.as_millis() as u64);
        assert!(connection.closing().is_cancelled());
    }
}
