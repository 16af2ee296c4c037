//! A map of bounded size that forgets its older half.

use std::{borrow::Borrow, collections::HashMap, hash::Hash};

/// The newest entries of a map, never more than a limit.
#[derive(Clone, Debug)]
pub(crate) struct Recent<K, V> {
    /// At most half of the limit, rounded up. A new entry comes here.
    recent: HashMap<K, V>,
    /// What was recent before. No entry is in both.
    older: HashMap<K, V>,
    most: usize,
}

impl<K: Eq + Hash, V> Recent<K, V> {
    /// Nothing yet, and never more than `most` entries. When there are too many, the older half is forgotten.
    pub(crate) fn at_most(most: usize) -> Self {
        Self { recent: HashMap::new(), older: HashMap::new(), most }
    }

    /// The most entries that the newer half holds.
    pub(crate) fn half(&self) -> usize {
        self.most.div_ceil(2)
    }

    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.recent.len() + self.older.len()
    }

    /// Whether there is no entry.
    pub(crate) fn is_empty(&self) -> bool {
        self.recent.is_empty() && self.older.is_empty()
    }

    /// The value of a key. It does not make the entry newer.
    pub(crate) fn find<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.recent.get(key).or_else(|| self.older.get(key))
    }

    /// Whether a key is in the newer half.
    pub(crate) fn is_recent(&self, key: &K) -> bool {
        self.recent.contains_key(key)
    }

    /// Adds an entry, or makes it one of the newest.
    pub(crate) fn insert(&mut self, key: K, value: V) {
        if self.most == 0 {
            return;
        }
        self.older.remove(&key);
        // The halves of an odd limit are not equal, so the newer one is also full when both together are.
        let full = self.recent.len() >= self.half() || self.len() >= self.most;
        if full && !self.recent.contains_key(&key) {
            // The table of what is forgotten serves what is new.
            std::mem::swap(&mut self.recent, &mut self.older);
            self.recent.clear();
            if self.most == 1 {
                self.older.clear();
            }
        }
        self.recent.insert(key, value);
    }

    /// Adds new entries, as many as fit beside those that are there, but no fewer than half of the limit. So it forgets no more than the
    /// older half, however many there are.
    pub(crate) fn insert_new(&mut self, entries: impl IntoIterator<Item = (K, V)>) {
        let room = self.half().max(self.most - self.len());
        entries.into_iter().take(room).for_each(|(key, value)| self.insert(key, value));
    }

    /// Forgets an entry; `true` if it was there.
    pub(crate) fn remove(&mut self, key: &K) -> bool {
        self.recent.remove(key).or_else(|| self.older.remove(key)).is_some()
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.recent.clear();
        self.older.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_at_once_push_out_no_more_than_the_older_half() {
        for most in [2, 4, 40] {
            let mut recent = Recent::at_most(most);
            recent.insert_new((0..2 * most).map(|i| (i, ())));
            assert!((0..most).all(|i| recent.find(&i).is_some()) && recent.len() == most);
            recent.insert_new((100..100 + 2 * most).map(|i| (i, ())));
            assert!((most / 2..most).chain(100..100 + most / 2).all(|i| recent.find(&i).is_some()));
            assert_eq!(recent.len(), most);
        }
    }
}
