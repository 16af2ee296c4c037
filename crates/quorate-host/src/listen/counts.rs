//! How many of something each of many has at once.

use std::{
    collections::HashMap,
    fmt::Debug,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Counts by key. Keys with a count of zero take no memory.
#[derive(Debug)]
pub struct CountsByKey<K>(Mutex<HashMap<K, usize>>);

/// One that is counted, until this is dropped.
#[derive(Debug)]
pub struct Counted<K: Eq + Hash> {
    key: K,
    counts: Arc<CountsByKey<K>>,
}

impl<K> Default for CountsByKey<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Clone + Eq + Hash> CountsByKey<K> {
    /// Counts one more; `None` if the key has as many as it may.
    pub fn begin(self: &Arc<Self>, key: K, most: usize) -> Option<Counted<K>> {
        let mut counts = self.lock();
        let count = counts.entry(key.clone()).or_default();
        if *count >= most {
            if *count == 0 {
                counts.remove(&key);
            }
            return None;
        }
        *count += 1;
        Some(Counted { key, counts: self.clone() })
    }
}

impl<K> CountsByKey<K> {
    fn lock(&self) -> MutexGuard<'_, HashMap<K, usize>> {
        // Nothing panics while it holds this.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash> Drop for Counted<K> {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        if let Some(count) = counts.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_as_many_as_it_may_and_nothing_is_left_afterwards() {
        let counts = Arc::new(CountsByKey::default());
        let [first, second] = [(); 2].map(|()| counts.begin("a", 2));
        assert!(first.is_some() && second.is_some() && counts.begin("a", 2).is_none());
        assert!(counts.begin("b", 2).is_some() && counts.begin("c", 0).is_none());
        drop(first);
        assert!(counts.begin("a", 2).is_some());
        drop(second);
        assert!(counts.lock().is_empty());
    }
}
