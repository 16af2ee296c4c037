//! Primes, and constants of their fields in the forms of all lanes, computed when the program is compiled.

use core::marker::PhantomData;

use crate::pairing::Bls12381;

/// p of BLS12-381 in words of 64 bits, the lowest first.
pub(crate) const P_WORDS: [u64; 6] = [
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
];

/// A prime, and the forms of numbers modulo it.
pub trait Modulus: Copy + core::fmt::Debug + Eq + core::hash::Hash + Send + Sync + Sized + 'static {
    /// The prime p in words of 64 bits, the lowest first.
    const P: [u64; 6];
    /// Outside the lanes an element a is stored as a·2^`ELEMENT_BITS` mod p.
    const ELEMENT_BITS: u32;
    /// The number of limbs of an element in the lanes.
    const LIMBS: usize;
    /// The bits of a limb in lanes of integers. Lanes of doubles have 48 for every prime.
    const INTEGER_BITS: u32;
    /// A difference of products is never further below zero than p·2^`LIFT_BITS`, in lanes of integers.
    const LIFT_BITS: u32;
    /// How many products may be summed before a reduction in lanes of integers, so that no column overflows.
    const MOST_PRODUCTS: f64;
}

impl Modulus for Bls12381 {
    const P: [u64; 6] = P_WORDS;
    const ELEMENT_BITS: u32 = 384;
    const LIMBS: usize = 8;
    const INTEGER_BITS: u32 = 50;
    const LIFT_BITS: u32 = 392;
    // A column of a product is below 40·2^52, and the reduction adds as much again.
    const MOST_PRODUCTS: f64 = 48.0;
}

/// A constant a of Fp.
#[derive(Clone, Copy)]
pub struct Constant<C = Bls12381> {
    /// a times two to the number of bits of all limbs, modulo p, in limbs of `C::INTEGER_BITS` bits.
    #[cfg_attr(
        not(all(target_arch = "x86_64", target_feature = "sse2")),
        allow(dead_code, reason = "lanes of integers alone read it")
    )]
    pub(in crate::backend) integers: [i64; 8],
    /// a times two to the number of bits of all limbs, modulo p, in balanced limbs of 48 bits: between -2^47 and 2^47.
    pub(in crate::backend) doubles: [f64; 8],
    /// The form outside the lanes, in words of 64 bits.
    pub(in crate::backend) words: [u64; 6],
    curve: PhantomData<C>,
}

impl<C: Modulus> Constant<C> {
    pub(crate) const ZERO: Self = Self::new([0; 6]);
    pub(crate) const ONE: Self = Self::of_number([1, 0, 0, 0, 0, 0]);

    /// The constant whose form outside the lanes is given: a·2^`C::ELEMENT_BITS` mod p, in words of 64 bits from the lowest.
    pub(crate) const fn new(words: [u64; 6]) -> Self {
        Self::of_forms(
            doubled::<C>(words, C::INTEGER_BITS * C::LIMBS as u32 - C::ELEMENT_BITS),
            doubled::<C>(words, 48 * C::LIMBS as u32 - C::ELEMENT_BITS),
            words,
        )
    }

    /// The constant of a number below p.
    pub(crate) const fn of_number(words: [u64; 6]) -> Self {
        Self::new(doubled::<C>(words, C::ELEMENT_BITS))
    }

    /// The constant whose forms are given: those of integers, of doubles, and outside the lanes.
    pub(in crate::backend) const fn of_forms(integers: [u64; 6], doubles: [u64; 6], words: [u64; 6]) -> Self {
        Self {
            integers: limbs(integers, C::INTEGER_BITS as usize, C::LIMBS),
            doubles: limbs_of_48(doubles, C::LIMBS),
            words,
            curve: PhantomData,
        }
    }
}

/// 2^n·a mod p.
pub(in crate::backend) const fn doubled<C: Modulus>(mut words: [u64; 6], n: u32) -> [u64; 6] {
    let mut doublings = 0;
    while doublings < n {
        let mut i = 5;
        while i > 0 {
            words[i] = words[i] << 1 | words[i - 1] >> 63;
            i -= 1;
        }
        words[0] <<= 1;
        // 2a is below 2p, which is below 2^384.
        let (mut less, mut borrow) = (words, false);
        i = 0;
        while i < 6 {
            let (rest, first) = words[i].overflowing_sub(C::P[i]);
            let (rest, second) = rest.overflowing_sub(borrow as u64);
            (less[i], borrow) = (rest, first | second);
            i += 1;
        }
        if !borrow {
            words = less;
        }
        doublings += 1;
    }
    words
}

/// 2^-n mod p.
pub(in crate::backend) const fn halved<C: Modulus>(n: u32) -> [u64; 6] {
    let mut words = [1, 0, 0, 0, 0, 0];
    let mut step = 0;
    while step < n {
        if words[0] & 1 == 1 {
            let (mut carry, mut i) = (0, 0);
            while i < 6 {
                let sum = words[i] as u128 + C::P[i] as u128 + carry;
                words[i] = sum as u64;
                carry = sum >> 64;
                i += 1;
            }
        }
        let mut i = 0;
        while i < 6 {
            words[i] = words[i] >> 1 | if i < 5 { words[i + 1] << 63 } else { 0 };
            i += 1;
        }
        step += 1;
    }
    words
}

/// (p - 1)/2.
pub(in crate::backend) const fn half_of_p<C: Modulus>() -> [u64; 6] {
    let mut out = C::P;
    let mut i = 0;
    while i < 6 {
        out[i] = C::P[i] >> 1 | if i < 5 { C::P[i + 1] << 63 } else { 0 };
        i += 1;
    }
    out
}

/// -1/p modulo 2^`bits`, for at most 62 bits.
pub(in crate::backend) const fn minus_inverse<C: Modulus>(bits: u32) -> i64 {
    let (mut inverse, mut correct) = (1_u64, 1);
    while correct < bits {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(C::P[0].wrapping_mul(inverse)));
        correct *= 2;
    }
    (inverse.wrapping_neg() & ((1 << bits) - 1)) as i64
}

/// Where a limb of a number stands in its words of 64 bits.
#[derive(Clone, Copy)]
pub(in crate::backend) struct Cut {
    /// The word with its lowest bit.
    pub(in crate::backend) word: usize,
    /// The place of this bit in the word.
    pub(in crate::backend) shift: u32,
    /// Whether its upper bits are in the next word.
    pub(in crate::backend) goes_on: bool,
}

impl Cut {
    /// The limb of `bits` bits from the bit `from` on, of a number of so many words.
    #[inline(always)]
    pub(in crate::backend) const fn new(from: u32, bits: u32, words: usize) -> Self {
        let (word, shift) = ((from / 64) as usize, from % 64);
        Self { word, shift, goes_on: shift + bits > 64 && word + 1 < words }
    }
}

/// The lowest `count` limbs of so many bits of a number.
pub(in crate::backend) const fn limbs<const N: usize>(words: [u64; 6], bits: usize, count: usize) -> [i64; N] {
    let mut limbs = [0; N];
    let mut i = 0;
    while i < count && bits * i < 384 {
        let Cut { word, shift, goes_on } = Cut::new((bits * i) as u32, bits as u32, 6);
        let mut limb = words[word] >> shift;
        if goes_on {
            limb |= words[word + 1] << (64 - shift);
        }
        limbs[i] = (limb & ((1 << bits) - 1)) as i64;
        i += 1;
    }
    limbs
}

/// A number in so many balanced limbs of 48 bits. A limb above 2^47 borrows from the next one, but for the last.
const fn limbs_of_48(words: [u64; 6], count: usize) -> [f64; 8] {
    let unsigned: [i64; 8] = limbs(words, 48, count);
    let mut limbs = [0.0; 8];
    let (mut i, mut carry) = (0, 0);
    while i < count {
        let limb = unsigned[i] + carry;
        carry = (limb > 1 << 47 && i + 1 < count) as i64;
        limbs[i] = (limb - (carry << 48)) as f64;
        i += 1;
    }
    limbs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both forms of a constant are the number that it was made from.
    #[test]
    fn forms_of_constants() {
        let number = |limbs: &[i64], bits: u32| {
            let mut words = [0_u64; 7];
            for limb in limbs.iter().rev() {
                let mut carry = *limb as i128;
                for word in &mut words {
                    carry += i128::from(*word) << bits;
                    *word = carry as u64;
                    carry >>= 64;
                }
            }
            words
        };
        for words in [[0; 6], [5, 0, 0, 0, 0, 0], crate::arithmetic::curve::ONE.l, P_WORDS.map(|word| word >> 1)] {
            let constant: Constant = Constant::new(words);
            let mut wide = [0; 7];
            wide[..6].copy_from_slice(&words);
            assert_eq!(number(&constant.doubles.map(|limb| limb as i64), 48), wide);
            wide[..6].copy_from_slice(&doubled::<Bls12381>(words, 16));
            assert_eq!(number(&constant.integers, 50), wide);
        }
        // 1 as a number is blst's one.
        assert_eq!(doubled::<Bls12381>([1, 0, 0, 0, 0, 0], 384), crate::arithmetic::curve::ONE.l);
        assert_eq!(doubled::<Bls12381>(P_WORDS.map(|_| 0), 400), [0; 6]);
        for n in [0, 1, 48, 52, 336, 384] {
            assert_eq!(doubled::<Bls12381>(halved::<Bls12381>(n), n), [1, 0, 0, 0, 0, 0]);
        }
    }
}
