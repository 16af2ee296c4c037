//! Takes arrivals from the thread that reads to the thread that judges.
//!
//! The queue is bounded by number and by bytes, so that a fast reader has to wait. The judge takes whatever is in it, so that a claim
//! does not wait until the next one is read.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::arrival::Arrival;

/// A queue of at most `most` arrivals and about `most_bytes` bytes: the end to push to, and the end to take from.
pub(super) fn queue(most: usize, most_bytes: usize) -> (Pusher, Taker) {
    let queue = Arc::new(Queue { state: Mutex::default(), changed: Condvar::new(), most, most_bytes });
    (Pusher(queue.clone()), Taker(queue))
}

/// The end to push to. The other end notices when it is dropped.
pub(in crate::commands) struct Pusher(Arc<Queue>);

impl Pusher {
    /// Pushes an arrival, and waits while the queue is full. Returns `None` if the other end was dropped.
    pub(in crate::commands) fn push(&self, arrival: Arrival) -> Option<()> {
        let queue = &*self.0;
        let full = |state: &mut State| {
            !state.abandoned && (state.arrivals.len() >= queue.most || state.bytes >= queue.most_bytes)
        };
        let mut state = queue.changed.wait_while(queue.lock(), full).unwrap_or_else(PoisonError::into_inner);
        if state.abandoned {
            return None;
        }
        state.bytes += arrival.bytes();
        state.arrivals.push(arrival);
        queue.changed.notify_all();
        Some(())
    }
}

impl Drop for Pusher {
    fn drop(&mut self) {
        self.0.lock().ended = true;
        self.0.changed.notify_all();
    }
}

/// The end to take from. The other end notices when it is dropped.
pub(super) struct Taker(Arc<Queue>);

/// What a [`Taker`] found.
pub(super) enum Taken {
    /// Everything that was in the queue.
    Some(Vec<Arrival>),
    /// The queue stayed empty for as long as the taker wanted to wait.
    Late,
    /// The queue is empty, and the other end was dropped.
    Ended,
}

impl Taker {
    /// Takes everything in the queue. If the queue is empty, waits at most `wait`.
    pub(super) fn take(&self, wait: Duration) -> Taken {
        let queue = &*self.0;
        let nothing = |state: &mut State| state.arrivals.is_empty() && !state.ended;
        let waited = queue.changed.wait_timeout_while(queue.lock(), wait, nothing);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if state.arrivals.is_empty() {
            return if state.ended { Taken::Ended } else { Taken::Late };
        }
        state.bytes = 0;
        queue.changed.notify_all();
        Taken::Some(std::mem::take(&mut state.arrivals))
    }
}

impl Drop for Taker {
    fn drop(&mut self) {
        self.0.lock().abandoned = true;
        self.0.changed.notify_all();
    }
}

struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    most: usize,
    most_bytes: usize,
}

#[derive(Default)]
struct State {
    arrivals: Vec<Arrival>,
    bytes: usize,
    ended: bool,
    abandoned: bool,
}

impl Queue {
    /// A thread that panicked while it held the lock left the state consistent, so a poisoned lock is used on.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
