//! How many requests are in progress, and how many bytes they hold.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::config::Limits;

/// Places for requests, and the memory that all of them share.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    requests: Arc<Semaphore>,
    memory: Arc<Semaphore>,
    requests_in_all: usize,
    memory_in_all: usize,
}

impl Budget {
    pub(crate) fn new(limits: &Limits) -> Self {
        let (requests_in_all, memory_in_all) = (limits.requests, limits.memory_bytes);
        let [requests, memory] = [requests_in_all, memory_in_all].map(|places| Arc::new(Semaphore::new(places)));
        Self { requests, memory, requests_in_all, memory_in_all }
    }

    /// A place for a request, if one is free. Dropping it gives it back.
    pub(crate) fn request(&self) -> Option<OwnedSemaphorePermit> {
        self.requests.clone().try_acquire_owned().ok()
    }

    /// Memory that a request holds until this is dropped; none yet.
    pub(crate) fn holding(&self) -> Option<Held> {
        let permit = self.memory.clone().try_acquire_many_owned(0).ok()?;
        Some(Held { memory: self.memory.clone(), permit })
    }

    /// Memory for one line of a stream. It waits for others to give some back.
    pub(crate) async fn line(&self, bytes: usize, longest: Duration) -> Option<OwnedSemaphorePermit> {
        let bytes = u32::try_from(bytes).ok()?;
        timeout(longest, self.memory.clone().acquire_many_owned(bytes)).await.ok()?.ok()
    }

    /// Requests in progress.
    pub(crate) fn requests_now(&self) -> usize {
        self.requests_in_all - self.requests.available_permits()
    }

    /// Bytes that they hold.
    pub(crate) fn memory_now(&self) -> usize {
        self.memory_in_all - self.memory.available_permits()
    }
}

/// Memory that a request holds.
#[derive(Debug)]
pub(crate) struct Held {
    memory: Arc<Semaphore>,
    permit: OwnedSemaphorePermit,
}

impl Held {
    /// Takes more, if there is enough.
    pub(crate) fn take(&mut self, bytes: usize) -> Option<()> {
        let bytes = u32::try_from(bytes).ok()?;
        let more = self.memory.clone().try_acquire_many_owned(bytes).ok()?;
        self.permit.merge(more);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_memory_come_back() {
        let budget = Budget::new(&Limits { requests: 1, memory_bytes: 100, ..Limits::default() });
        let place = budget.request().unwrap();
        assert!(budget.request().is_none());
        drop(place);
        assert!(budget.request().is_some());
        let mut held = budget.holding().unwrap();
        assert!(held.take(60).is_some() && held.take(41).is_none() && held.take(40).is_some());
        assert_eq!(budget.memory_now(), 100);
        drop(held);
        assert_eq!(budget.memory_now(), 0);
    }
}
