//! How many requests are in progress, and how many bytes they hold.
//!
//! All requests take memory from one budget, before they keep what they take it for: each piece of a body, each claim, and each element
//! of a claim's lists. So it does not matter how many requests come at once, or what they hold.
//!
//! What is given back to the budget is not yet given back to the system: the allocator keeps a heap for each of many threads, each as
//! large as it once was. So long bodies are read on few threads at once.

use std::{sync::Arc, time::Duration};

use quorate_formats::Room;
use quorate_host::listen::{Counted, CountsByKey, Places};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::config::ServerLimits;

/// Places for requests, and the memory that all of them share.
#[derive(Clone, Debug)]
pub struct Budget {
    requests: Places,
    /// The clients that have places for requests.
    clients: Arc<CountsByKey<Arc<str>>>,
    health: Places,
    /// The connections that have a place for health.
    asking: Arc<CountsByKey<u64>>,
    memory: Places,
    readers: Arc<Semaphore>,
}

impl Budget {
    /// All places and all memory of a configuration.
    #[must_use]
    pub fn new(limits: &ServerLimits) -> Self {
        let health = limits.connections / CONNECTIONS_TO_ONE;
        let [requests, health, memory] = [limits.requests, health, limits.memory_bytes].map(Places::new);
        let (clients, asking) = (Arc::default(), Arc::default());
        Self { requests, clients, health, asking, memory, readers: Arc::new(Semaphore::new(READERS)) }
    }

    /// Gives away so much from now on. What is taken stays taken. It must be called on a runtime.
    pub(crate) fn resize(&self, limits: &ServerLimits) {
        self.requests.resize(limits.requests);
        self.health.resize(limits.connections / CONNECTIONS_TO_ONE);
        self.memory.resize(limits.memory_bytes);
    }

    /// A place for a request, if one is free. A client with a name has at most half of all. Dropping it gives it back.
    pub(crate) fn request(&self, client: Option<&Arc<str>>) -> Option<Place> {
        let most = self.requests.in_all().div_ceil(2);
        let of_client = match client {
            None => None,
            Some(client) => Some(self.clients.begin(client.clone(), most)?),
        };
        Some(Place { _place: self.requests.free().clone().try_acquire_owned().ok()?, _of_client: of_client })
    }

    /// Whether more requests find a place and memory.
    pub(crate) fn is_ready(&self) -> bool {
        self.requests.is_ready() && self.memory.is_ready()
    }

    /// A place for whoever asks for the server's health without a token, if one is free and this connection has none. Dropping it
    /// gives it back.
    pub(crate) fn health(&self, connection: u64) -> Option<(OwnedSemaphorePermit, Counted<u64>)> {
        let counted = self.asking.begin(connection, 1)?;
        Some((self.health.free().clone().try_acquire_owned().ok()?, counted))
    }

    /// A turn to read a long body, when it comes. Whoever reads keeps it until the body is read. `None` never comes: nobody ends this.
    pub(crate) async fn reader(&self) -> Option<OwnedSemaphorePermit> {
        self.readers.clone().acquire_owned().await.ok()
    }

    /// Memory that a request holds until this is dropped; none yet.
    #[must_use]
    pub fn holding(&self) -> Held {
        Held { memory: self.memory.free().clone(), permit: None, spare: 0 }
    }

    /// Requests in progress.
    pub(crate) fn requests_now(&self) -> usize {
        self.requests.taken()
    }

    /// Bytes that they hold.
    pub(crate) fn memory_now(&self) -> usize {
        self.memory.taken()
    }
}

/// A request's place.
#[derive(Debug)]
pub(crate) struct Place {
    _place: OwnedSemaphorePermit,
    _of_client: Option<Counted<Arc<str>>>,
}

/// Long bodies that are read at once.
const READERS: usize = 2;

/// For so many connections there is one place for questions about health. A connection has at most one.
const CONNECTIONS_TO_ONE: usize = 8;

/// Memory that a request holds. It is taken in portions, so that most claims do not ask the budget that all requests share.
#[derive(Debug)]
pub struct Held {
    memory: Arc<Semaphore>,
    permit: Option<OwnedSemaphorePermit>,
    /// What was taken and is not used.
    spare: usize,
}

impl Held {
    /// Takes more, if there is enough.
    pub(crate) fn take(&mut self, bytes: usize) -> Option<()> {
        if let Some(left) = self.spare.checked_sub(bytes) {
            self.spare = left;
            return Some(());
        }
        let missing = bytes - self.spare;
        // Less than a portion may be left.
        let (taken, permit) = [missing.max(PORTION), missing].into_iter().find_map(|bytes| {
            let permits = u32::try_from(bytes).ok()?;
            Some((bytes, self.memory.clone().try_acquire_many_owned(permits).ok()?))
        })?;
        self.keep(permit, taken - missing);
        Some(())
    }

    /// Takes more, and waits for others to give some back. `None` after the longest time.
    pub(crate) async fn wait_for(&mut self, bytes: usize, longest: Duration) -> Option<()> {
        if self.take(bytes).is_some() {
            return Some(());
        }
        let missing = u32::try_from(bytes - self.spare).ok()?;
        let permit = timeout(longest, self.memory.clone().acquire_many_owned(missing)).await.ok()?.ok()?;
        self.keep(permit, 0);
        Some(())
    }

    /// The same, and what is taken is there for the next calls of [`Held::take`].
    pub(crate) async fn reserve(&mut self, bytes: usize, longest: Duration) -> Option<()> {
        self.wait_for(bytes, longest).await?;
        self.spare += bytes;
        Some(())
    }

    fn keep(&mut self, new: OwnedSemaphorePermit, spare: usize) {
        self.spare = spare;
        match &mut self.permit {
            Some(permit) => permit.merge(new),
            None => self.permit = Some(new),
        }
    }

    /// Gives back what is no longer used. What it keeps of that for the next claims is bounded.
    pub(crate) fn give(&mut self, bytes: usize) {
        self.spare += bytes;
        if self.spare > 2 * PORTION {
            let surplus = self.spare - PORTION;
            // Dropping it gives it back.
            drop(self.permit.as_mut().and_then(|permit| permit.split(surplus)));
            self.spare -= surplus;
        }
    }
}

/// What is taken at once, unless more is needed or less is left.
const PORTION: usize = 64 << 10;

/// The memory that reading one claim takes. It asks the budget before the claim keeps anything.
pub(crate) struct Reading<'a> {
    held: &'a mut Held,
    keys: usize,
    taken: usize,
    refused: bool,
}

impl<'a> Reading<'a> {
    /// Reads a claim, which may have so many keys.
    pub(crate) fn new(held: &'a mut Held, keys: usize) -> Self {
        Self { held, keys, taken: 0, refused: false }
    }

    /// Whether there was no memory left.
    pub(crate) fn was_refused(&self) -> bool {
        self.refused
    }

    /// Ends the reading of a claim that takes so many bytes from now on. A claim that is dropped takes none. `None` if there is no memory left.
    pub(crate) fn end(mut self, bytes: usize) -> Option<()> {
        if let Some(more) = bytes.checked_sub(self.taken) {
            self.held.take(more)?;
            self.taken = 0;
        } else {
            self.taken -= bytes;
        }
        Some(())
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.held.give(self.taken);
    }
}

impl Room for Reading<'_> {
    fn elements(&self) -> usize {
        self.keys
    }

    fn take(&mut self, bytes: usize) -> bool {
        if self.held.take(bytes).is_some() {
            self.taken += bytes;
            return true;
        }
        self.refused = true;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(memory_bytes: usize) -> Budget {
        Budget::new(&ServerLimits { requests: 1, memory_bytes, ..ServerLimits::default() })
    }

    #[test]
    fn one_client_has_half_of_all_places() {
        let budget = Budget::new(&ServerLimits { requests: 5, ..ServerLimits::default() });
        let (alice, bob): (Arc<str>, Arc<str>) = ("alice".into(), "bob".into());
        let of_alice: Vec<_> = (0..3).map(|_| budget.request(Some(&alice)).unwrap()).collect();
        assert!(budget.request(Some(&alice)).is_none());
        let of_bob = [budget.request(Some(&bob)), budget.request(Some(&bob))];
        assert!(of_bob.iter().all(Option::is_some) && budget.request(Some(&bob)).is_none(), "all five are taken");
        drop(of_alice);
        assert!(budget.request(Some(&alice)).is_some());
    }

    #[test]
    fn places_and_memory_come_back() {
        let budget = budget(100);
        let place = budget.request(None).unwrap();
        assert!(budget.request(None).is_none());
        drop(place);
        assert!(budget.request(None).is_some());
        let mut held = budget.holding();
        assert!(held.take(60).is_some() && held.take(41).is_none() && held.take(40).is_some());
        assert_eq!(budget.memory_now(), 100);
        drop(held);
        assert_eq!(budget.memory_now(), 0);
    }

    #[test]
    fn what_many_hold_is_never_more_than_the_whole() {
        let budget = budget(3 << 20);
        let mut all: Vec<_> = (0..50).map(|_| (budget.holding(), 0)).collect();
        for step in 0..20_000usize {
            let (held, used) = &mut all[step * 7 % 50];
            if step % 3 == 2 {
                held.give(*used);
                *used = 0;
            } else if held.take(step * 31 % 100_000).is_some() {
                *used += step * 31 % 100_000;
            }
            let in_use: usize = all.iter().map(|(_, used)| used).sum();
            let spare: usize = all.iter().map(|(held, _)| held.spare).sum();
            assert!(in_use + spare == budget.memory_now() && in_use + spare <= 3 << 20);
            assert!(all.iter().all(|(held, _)| held.spare <= 2 * PORTION));
        }
        drop(all);
        assert_eq!(budget.memory_now(), 0);
    }

    #[tokio::test]
    async fn who_waits_gets_what_others_give_back() {
        let budget = budget(1 << 20);
        let (mut first, mut second) = (budget.holding(), budget.holding());
        first.take(1 << 20).unwrap();
        assert!(second.wait_for(1000, Duration::from_millis(20)).await.is_none());
        let waiting = tokio::spawn(async move { second.wait_for(1000, Duration::from_secs(30)).await });
        first.give(1 << 19);
        assert!(waiting.await.unwrap().is_some());
    }

    #[test]
    fn a_claim_keeps_what_it_takes_after_it_was_read() {
        let budget = budget(1 << 20);
        let mut held = budget.holding();
        let mut reading = Reading::new(&mut held, 7);
        assert!(Room::take(&mut reading, 900_000) && reading.elements() == 7);
        reading.end(300_000).unwrap();
        assert!(budget.memory_now() <= 300_000 + 2 * PORTION);
        let mut reading = Reading::new(&mut held, 7);
        assert!(!Room::take(&mut reading, 900_000) && reading.was_refused());
        assert!(reading.end(900_000).is_none());
    }
}
