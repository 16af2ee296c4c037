//! The members of a quorum, by index, in the one form that a contract accepts.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// A set of members. Bit i, counted from the most significant bit of the first byte, is the member with index i; there
/// is no zero byte at the end, so that a set has one encoding and the empty set has none.
#[derive(Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bitmap(Vec<u8>);

/// A bitmap whose last byte is zero: the same set has a shorter one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("bitmap: the last of its {length} bytes is zero, and a bitmap is as short as can be")]
pub struct NotShortest {
    /// Bytes of the bitmap.
    pub length: usize,
}

impl Bitmap {
    /// Reads the bytes of a bitmap.
    ///
    /// # Errors
    /// [`NotShortest`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NotShortest> {
        match bytes.last() {
            Some(0) => Err(NotShortest { length: bytes.len() }),
            _ => Ok(Self(bytes.to_vec())),
        }
    }

    /// The members with the indices from 0 to `n` - 1.
    pub fn full(n: usize) -> Self {
        (0..n).collect()
    }

    /// The bytes, as short as can be.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether a member is in the set.
    pub fn contains(&self, index: usize) -> bool {
        self.0.get(index / 8).is_some_and(|byte| byte & bit(index) != 0)
    }

    /// Puts a member in.
    pub fn insert(&mut self, index: usize) {
        if self.0.len() <= index / 8 {
            self.0.resize(index / 8 + 1, 0);
        }
        self.0[index / 8] |= bit(index);
    }

    /// Takes a member out.
    pub fn remove(&mut self, index: usize) {
        if let Some(byte) = self.0.get_mut(index / 8) {
            *byte &= !bit(index);
        }
        self.shorten();
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.iter().map(|byte| byte.count_ones() as usize).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The members, ascending: the order in which the contract goes through them.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..8 * self.0.len()).filter(|index| self.contains(*index))
    }

    /// The members of one set and not of the other: those that change.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let (long, short) = if self.0.len() < other.0.len() { (other, self) } else { (self, other) };
        let mut difference = long.clone();
        difference.0.iter_mut().zip(&short.0).for_each(|(byte, other)| *byte ^= other);
        difference.shorten();
        difference
    }

    /// How many members change, without making the set of them.
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

impl FromIterator<usize> for Bitmap {
    fn from_iter<I: IntoIterator<Item = usize>>(members: I) -> Self {
        let mut bitmap = Self::default();
        members.into_iter().for_each(|index| bitmap.insert(index));
        bitmap
    }
}

/// As hexadecimal.
impl Serialize for Bitmap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        hexadecimal::serialize(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for Bitmap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_bytes(&hexadecimal::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Bytes in JSON: hexadecimal, `0x` in front.
pub(crate) mod hexadecimal {
    use alloy_primitives::Bytes;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        Bytes::copy_from_slice(bytes).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        Bytes::deserialize(deserializer).map(Into::into)
    }
}

impl fmt::Debug for Bitmap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
