//! Arrivals on their way from the thread that reads to the one that judges.
//!
//! Bounded by number and by bytes, so that a fast reader waits; and whatever is in it can be taken, so that a claim never
//! waits for the next one to be read.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::arrival::Arrival;

/// A queue of at most so many arrivals and about so many bytes: the end to push to and the end to take from.
pub(super) fn queue(most: usize, most_bytes: usize) -> (Pusher, Taker) {
    let queue = Arc::new(Queue { state: Mutex::default(), changed: Condvar::new(), most, most_bytes });
    (Pusher(queue.clone()), Taker(queue))
}

/// The end to push to; the other end sees when it is dropped.
pub(super) struct Pusher(Arc<Queue>);

impl Pusher {
    /// Waits while the queue is full. `None` once nobody takes.
    pub(super) fn push(&self, arrival: Arrival) -> Option<()> {
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

/// The end to take from; the other end sees when it is dropped.
pub(super) struct Taker(Arc<Queue>);

/// What a [`Taker`] found.
pub(super) enum Taken {
    /// Everything that was in the queue.
    Some(Vec<Arrival>),
    /// Nothing in time.
    Late,
    /// Nothing, and nothing will come.
    Ended,
}

impl Taker {
    /// Takes everything in the queue; waits so long for something to be in it.
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
    /// A thread that panicked holding the lock left nothing half done.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
