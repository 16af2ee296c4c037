//! Integers of 64 bits in lanes, and the limbs that numbers are cut into: in lanes of integers, on the way to lanes of doubles
//! and back, and in the tests of numbers of which a proof knows what they are made of.

use super::{
    constant::Cut,
    unroll::{limbs_of, unroll},
};

/// The bits of integers.
pub(crate) trait Bits: Copy {
    /// The number modulo 2^`bits`.
    fn low_limb(self, bits: u32) -> Self;
    /// The 64 bits of the number, moved down by so many.
    fn moved_down(self, bits: u32) -> Self;
    /// The number, which is below 2^`bits`, with the bits of another one above it, as far as they fit 64 bits.
    fn with_above(self, above: Self, bits: u32) -> Self;
}

/// Integers with signs.
pub(crate) trait Integer: Bits {
    /// `n` in every lane. The value of `self` does not matter.
    fn splat(self, n: i64) -> Self;
    fn plus(self, other: Self) -> Self;
    /// The number divided by 2^`bits`, rounded down. The number may be negative.
    fn carry(self, bits: u32) -> Self;
    /// `kept` where this number is negative, `other` elsewhere.
    fn where_negative(self, kept: Self, other: Self) -> Self;
}

/// One lane.
impl Bits for i64 {
    #[inline(always)]
    fn low_limb(self, bits: u32) -> Self {
        self & ((1 << bits) - 1)
    }
    #[inline(always)]
    fn moved_down(self, bits: u32) -> Self {
        ((self as u64) >> bits) as i64
    }
    #[inline(always)]
    fn with_above(self, above: Self, bits: u32) -> Self {
        debug_assert!((self as u64) >> bits == 0, "bits meet others");
        self | above << bits
    }
}

/// One lane, in which an overflow is a panic where builds check for it.
impl Integer for i64 {
    #[inline(always)]
    fn splat(self, n: i64) -> Self {
        n
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }
    #[inline(always)]
    fn carry(self, bits: u32) -> Self {
        self >> bits
    }
    #[inline(always)]
    fn where_negative(self, kept: Self, other: Self) -> Self {
        if self < 0 { kept } else { other }
    }
}

/// The limbs, of so many bits, of a number in words of 64 bits.
#[inline(always)]
pub(crate) fn limbs_of_words<B: Bits, const N: usize>(words: &[B; 6], bits: u32) -> [B; N] {
    limbs_of!(I < N => {
        let Cut { word, shift, goes_on } = Cut::new(bits * I as u32, bits, 6);
        let mut limb = words[word % 6].moved_down(shift);
        if goes_on {
            limb = limb.with_above(words[(word + 1) % 6], 64 - shift);
        }
        limb.low_limb(bits)
    })
}

/// The words of 64 bits of a number below 2^384 in limbs of so many bits.
#[inline(always)]
pub(crate) fn words_of_limbs<B: Integer, const N: usize>(limbs: &[B; N], bits: u32) -> [B; 6] {
    let mut words = [limbs[0].splat(0); 6];
    unroll!(I < N {
        let Cut { word, shift, goes_on } = Cut::new(bits * I as u32, bits, 6);
        words[word % 6] = words[word % 6].with_above(limbs[I], shift);
        if goes_on {
            words[(word + 1) % 6] = limbs[I].moved_down(64 - shift);
        }
    });
    words
}

/// The same number in limbs of so many bits without signs, and what is above them, from limbs with signs.
#[inline(always)]
pub(crate) fn without_signs<B: Integer, const N: usize>(limbs: &[B; N], bits: u32) -> ([B; N], B) {
    let mut carry = limbs[0].splat(0);
    let limbs = limbs_of!(I < N => {
        let limb = limbs[I].plus(carry);
        carry = limb.carry(bits);
        limb.low_limb(bits)
    });
    (limbs, carry)
}

#[cfg(test)]
mod tests {
    use super::{super::constant::limbs, *};

    /// Limbs of constants and of lanes are the same bits, of each size in which a backend has limbs.
    #[test]
    fn constants_are_cut_as_lanes_are() {
        let all = [u64::MAX; 6];
        let mixed = [0x0123_4567_89ab_cdef, 1, u64::MAX - 1, 1 << 63, 0x00ff_00ff_00ff_00ff, 0xfedc_ba98_7654_3210];
        for words in [all, mixed, [0, 0, 0, 0, 0, 1 << 63]] {
            let lane = words.map(|word| word as i64);
            for bits in [48, 50, 52] {
                let cut: [i64; 8] = limbs_of_words(&lane, bits);
                assert_eq!(cut, limbs(words, bits as usize, 8), "{bits}");
                let bit = |n: u32| words[n as usize / 64] >> (n % 64) & 1;
                for n in 0..384 {
                    assert_eq!(cut[(n / bits) as usize] as u64 >> (n % bits) & 1, bit(n), "bit {n} of limbs of {bits}");
                }
                assert_eq!(words_of_limbs(&cut, bits), lane);
            }
        }
    }
}
