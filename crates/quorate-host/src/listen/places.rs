//! Places that are taken and given back, and whose number can change while some are taken.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use tokio::sync::Semaphore;

/// Places, such as those of connections, or of bytes. A clone is the same places.
#[derive(Clone, Debug)]
pub struct Places {
    free: Arc<Semaphore>,
    in_all: Arc<AtomicUsize>,
}

impl Places {
    /// So many places, at least one.
    #[must_use]
    pub fn new(in_all: usize) -> Self {
        let in_all = within(in_all);
        Self { free: Arc::new(Semaphore::new(in_all)), in_all: Arc::new(in_all.into()) }
    }

    /// What gives them away.
    pub fn free(&self) -> &Arc<Semaphore> {
        &self.free
    }

    /// How many there are.
    pub fn in_all(&self) -> usize {
        self.in_all.load(Ordering::Relaxed)
    }

    /// Whether more than a fifth is free, so that whoever sends more finds a place.
    pub fn is_ready(&self) -> bool {
        self.left() > self.in_all() / 5
    }

    /// How many are free.
    pub fn left(&self) -> usize {
        self.free.available_permits()
    }

    /// How many are taken. While there are more than there shall be, those are not counted that still have to go.
    pub fn taken(&self) -> usize {
        self.in_all().saturating_sub(self.left())
    }

    /// Changes their number. If there are fewer from now on, nobody loses a place: those that are too many go when they are given back,
    /// before anybody gets one of them. It must be called on a runtime, which waits for that.
    pub fn resize(&self, in_all: usize) {
        let in_all = within(in_all);
        let before = self.in_all.swap(in_all, Ordering::Relaxed);
        if in_all >= before {
            self.free.add_permits(in_all - before);
            return;
        }
        let mut missing = before - in_all - self.free.forget_permits(before - in_all);
        let free = self.free.clone();
        tokio::spawn(async move {
            while missing > 0 {
                // A semaphore gives away so many at once, and no more.
                let some = u32::try_from(missing).unwrap_or(u32::MAX);
                // Nobody closes it.
                let Ok(places) = free.acquire_many(some).await else { return };
                places.forget();
                missing -= some as usize;
            }
        });
    }
}

fn within(places: usize) -> usize {
    places.clamp(1, Semaphore::MAX_PERMITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifth_is_left_of_places_that_are_ready() {
        let places = Places::new(10);
        let seven = places.free().clone().try_acquire_many_owned(7).unwrap();
        assert!(places.is_ready());
        let eighth = places.free().clone().try_acquire_owned().unwrap();
        assert!(!places.is_ready());
        drop((seven, eighth));
        assert!(places.is_ready() && places.in_all() == 10);
    }

    #[tokio::test]
    async fn the_number_of_places_follows_what_is_given_back() {
        let places = Places::new(10);
        let mut taken = places.free().clone().try_acquire_many_owned(8).unwrap();
        places.resize(4);
        tokio::task::yield_now().await;
        assert!(places.free().try_acquire().is_err(), "eight are taken, and four are too many");
        drop(taken.split(4));
        tokio::task::yield_now().await;
        assert_eq!((places.left(), places.taken()), (0, 4));
        places.resize(6);
        assert_eq!((places.left(), places.taken()), (2, 4));
        drop(taken);
        assert_eq!((places.left(), places.taken()), (6, 0));
        places.resize(0);
        assert_eq!(places.left(), 1, "nobody would ever get in");
    }
}
