//! Which members of a set take part.

use std::borrow::Cow;

/// Which members of a [`KeySet`](super::KeySet) take part. Bit i, counted from the least significant bit of the first word, stands for
/// the member with index i.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bitmap(Vec<u64>);

impl Bitmap {
    /// Reads SSZ's bits: the least significant bit of the first byte stands for the first member. Zeros at the end stand for nobody, and
    /// take no memory.
    pub fn from_le_bytes(bytes: &[u8]) -> Self {
        let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let length = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        Self(bytes[..length].chunks(8).map(word).collect())
    }

    /// Takes the indices of members, in any order.
    pub fn from_indices(indices: impl IntoIterator<Item = usize>) -> Self {
        let mut map = Self::default();
        for index in indices {
            if map.0.len() <= index / 64 {
                map.0.resize(index / 64 + 1, 0);
            }
            map.0[index / 64] |= 1 << (index % 64);
        }
        map
    }

    /// The indices of the members, ascending.
    pub fn indices(&self) -> impl Iterator<Item = usize> {
        let bits = |(i, word): (usize, &u64)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest.wrapping_sub(1);
                (bit < 64).then_some(64 * i + bit)
            })
        };
        self.0.iter().enumerate().flat_map(bits)
    }

    /// How many members take part.
    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The highest index of a member.
    pub(super) fn highest(&self) -> Option<usize> {
        let last = self.0.iter().rposition(|word| *word != 0)?;
        Some(64 * last + 63 - self.0[last].leading_zeros() as usize)
    }

    /// The indices of the members of this bitmap that are not in the other.
    pub(super) fn minus(&self, other: &Self) -> Vec<u32> {
        let beside = |i: usize| other.0.get(i).copied().unwrap_or(0);
        let rest = Self(self.0.iter().enumerate().map(|(i, word)| word & !beside(i)).collect());
        rest.indices().map(|index| index as u32).collect()
    }

    /// How many members are in one of both bitmaps alone.
    pub(super) fn distance(&self, other: &Self) -> usize {
        let (long, short) = if self.0.len() < other.0.len() { (other, self) } else { (self, other) };
        let beside = short.0.iter().chain(std::iter::repeat(&0));
        long.0.iter().zip(beside).map(|(a, b)| (a ^ b).count_ones() as usize).sum()
    }
}

/// Which members of a set a claim is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Members {
    /// Those of a bitmap, ascending.
    Bitmap(Bitmap),
    /// Those at these indices, in this order. An index may repeat.
    Indices(Vec<u32>),
}

impl Members {
    /// How many there are, repeats included.
    pub fn len(&self) -> usize {
        match self {
            Self::Bitmap(bitmap) => bitmap.count(),
            Self::Indices(indices) => indices.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Their indices, of which the caller knows that the set has them.
    pub(crate) fn indices(&self) -> Cow<'_, [u32]> {
        match self {
            Self::Bitmap(bitmap) => bitmap.minus(&Bitmap::default()).into(),
            Self::Indices(indices) => indices.into(),
        }
    }

    /// The index of the one at a place.
    pub(crate) fn at(&self, place: usize) -> Option<u32> {
        match self {
            Self::Bitmap(bitmap) => bitmap.indices().nth(place)?.try_into().ok(),
            Self::Indices(indices) => indices.get(place).copied(),
        }
    }

    /// About how many bytes of memory they take beside their own size.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Self::Bitmap(Bitmap(words)) => words.capacity() * 8,
            Self::Indices(indices) => indices.capacity() * 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_at_the_end_take_no_memory() {
        let padded = Bitmap::from_le_bytes(&[&[3_u8][..], &[0; 4096]].concat());
        assert_eq!(padded, Bitmap::from_indices([0, 1]));
        assert_eq!(Members::Bitmap(padded).memory(), 8);
        assert_eq!(Bitmap::from_le_bytes(&[0; 9]), Bitmap::default());
        assert_eq!(Bitmap::from_le_bytes(&[0, 0, 0, 0, 0, 0, 0, 0, 2, 0]), Bitmap::from_indices([65]));
    }
}
