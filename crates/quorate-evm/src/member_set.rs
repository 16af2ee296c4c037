//! A set of members, in the one encoding that a contract accepts.

use std::fmt;

use alloy_primitives::Bytes;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// A set of members, encoded as a bitmap: bit i, counted from the most significant bit of the first byte, stands for the
/// member with index i. The last byte is never zero, so a set has one encoding, and the empty set has no bytes.
///
/// This is the contracts' order of bits. The bitmaps of `quorate`'s key sets count from the least significant bit.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemberSet(Vec<u8>);

/// The last byte of a bitmap is zero, so the set has a shorter encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("the last byte of the bitmap ({length} bytes) is zero; leave zero bytes at its end out")]
pub struct NotShortest {
    /// The number of bytes of the bitmap.
    pub length: usize,
}

impl MemberSet {
    /// Reads a bitmap.
    ///
    /// # Errors
    /// [`NotShortest`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NotShortest> {
        match bytes.last() {
            Some(0) => Err(NotShortest { length: bytes.len() }),
            _ => Ok(Self(bytes.to_vec())),
        }
    }

    /// The members with the indices 0 to `n` - 1.
    pub fn full(n: usize) -> Self {
        (0..n).collect()
    }

    /// The bitmap.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether a member is in the set.
    pub fn contains(&self, index: usize) -> bool {
        self.0.get(index / 8).is_some_and(|byte| byte & bit(index) != 0)
    }

    /// Adds a member.
    pub fn insert(&mut self, index: usize) {
        if self.0.len() <= index / 8 {
            self.0.resize(index / 8 + 1, 0);
        }
        self.0[index / 8] |= bit(index);
    }

    /// Removes a member.
    pub fn remove(&mut self, index: usize) {
        if let Some(byte) = self.0.get_mut(index / 8) {
            *byte &= !bit(index);
        }
        self.shorten();
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.0.iter().map(|byte| byte.count_ones() as usize).sum()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The indices of the members, ascending. The contract goes through members in this order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..8 * self.0.len()).filter(|index| self.contains(*index))
    }

    /// The members of either set that are not in the other: those that change from one quorum to the other.
    #[must_use]
    pub fn symmetric_difference(&self, other: &Self) -> Self {
        let (long, short) = if self.0.len() < other.0.len() { (other, self) } else { (self, other) };
        let mut difference = long.clone();
        difference.0.iter_mut().zip(&short.0).for_each(|(byte, other)| *byte ^= other);
        difference.shorten();
        difference
    }

    /// The members of either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let (long, short) = if self.0.len() < other.0.len() { (other, self) } else { (self, other) };
        let mut union = long.clone();
        union.0.iter_mut().zip(&short.0).for_each(|(byte, other)| *byte |= other);
        union
    }

    /// Whether no member is in both sets.
    pub fn is_disjoint(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(byte, other)| byte & other == 0)
    }

    /// Whether all members are in the other set.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.0.iter().enumerate().all(|(at, byte)| byte & !other.0.get(at).copied().unwrap_or(0) == 0)
    }

    /// The number of members that change, without allocating the set of them.
    pub fn distance(&self, other: &Self) -> usize {
        let n = self.0.len().max(other.0.len());
        let byte = |set: &Self, i: usize| set.0.get(i).copied().unwrap_or(0);
        (0..n).map(|i| (byte(self, i) ^ byte(other, i)).count_ones() as usize).sum()
    }

    fn shorten(&mut self) {
        let used = self.0.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        self.0.truncate(used);
    }
}

fn bit(index: usize) -> u8 {
    0x80 >> (index % 8)
}

impl FromIterator<usize> for MemberSet {
    fn from_iter<I: IntoIterator<Item = usize>>(members: I) -> Self {
        let mut set = Self::default();
        members.into_iter().for_each(|index| set.insert(index));
        set
    }
}

/// The bitmap as hexadecimal.
impl Serialize for MemberSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Bytes::copy_from_slice(&self.0).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for MemberSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_bytes(&Bytes::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl fmt::Debug for MemberSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
