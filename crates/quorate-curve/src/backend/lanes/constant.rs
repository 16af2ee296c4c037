//! Constants of Fp in the forms of all lanes, computed when the program is compiled.

/// p in words of 64 bits, the lowest first.
pub(crate) const P_WORDS: [u64; 6] = [
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
];

/// A constant a of Fp.
#[derive(Clone, Copy)]
pub struct Constant {
    /// a·2^400 mod p, in eight limbs of 50 bits.
    pub(in crate::backend) limbs_of_50: [i64; 8],
    /// a·2^384 modulo p, in eight balanced limbs of 48 bits: between -2^47 and 2^47.
    pub(in crate::backend) limbs_of_48: [f64; 8],
}

impl Constant {
    pub(crate) const ZERO: Self = Self::new([0; 6]);
    pub(crate) const ONE: Self = Self::new(crate::arithmetic::curve::ONE.l);

    /// The constant whose form in blst is given: a·2^384 mod p, in words of 64 bits from the lowest.
    pub(crate) const fn new(words: [u64; 6]) -> Self {
        Self { limbs_of_50: limbs_of_50(doubled(words, 16)), limbs_of_48: limbs_of_48(words) }
    }

    /// The constant of a number below p.
    pub(crate) const fn of_number(words: [u64; 6]) -> Self {
        Self::new(doubled(words, 384))
    }
}

/// 2^n·a mod p.
const fn doubled(mut words: [u64; 6], n: u32) -> [u64; 6] {
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
            let (rest, first) = words[i].overflowing_sub(P_WORDS[i]);
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
pub(in crate::backend) const fn halved(n: u32) -> [u64; 6] {
    let mut words = [1, 0, 0, 0, 0, 0];
    let mut step = 0;
    while step < n {
        if words[0] & 1 == 1 {
            let (mut carry, mut i) = (0, 0);
            while i < 6 {
                let sum = words[i] as u128 + P_WORDS[i] as u128 + carry;
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

/// A number of 384 bits in limbs of 50.
pub(in crate::backend) const fn limbs_of_50(words: [u64; 6]) -> [i64; 8] {
    let mut limbs = [0; 8];
    let mut i = 0;
    while i < 8 {
        let (word, shift) = (50 * i / 64, 50 * i % 64);
        let mut bits = words[word] >> shift;
        if shift > 14 && word + 1 < 6 {
            bits |= words[word + 1] << (64 - shift);
        }
        limbs[i] = (bits & ((1 << 50) - 1)) as i64;
        i += 1;
    }
    limbs
}

/// A number of 384 bits in balanced limbs of 48. A limb above 2^47 borrows from the next one, but for the last.
pub(in crate::backend) const fn limbs_of_48(words: [u64; 6]) -> [f64; 8] {
    let mut limbs = [0.0; 8];
    let (mut i, mut carry) = (0, 0);
    while i < 8 {
        let (word, shift) = (48 * i / 64, 48 * i % 64);
        let mut bits = words[word] >> shift;
        if shift > 16 && word + 1 < 6 {
            bits |= words[word + 1] << (64 - shift);
        }
        let limb = (bits & ((1 << 48) - 1)) as i64 + carry;
        carry = (limb > 1 << 47 && i < 7) as i64;
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
            let constant = Constant::new(words);
            let mut wide = [0; 7];
            wide[..6].copy_from_slice(&words);
            assert_eq!(number(&constant.limbs_of_48.map(|limb| limb as i64), 48), wide);
            wide[..6].copy_from_slice(&doubled(words, 16));
            assert_eq!(number(&constant.limbs_of_50, 50), wide);
        }
        // 1 as a number is blst's one.
        assert_eq!(doubled([1, 0, 0, 0, 0, 0], 384), crate::arithmetic::curve::ONE.l);
        assert_eq!(doubled(P_WORDS.map(|_| 0), 400), [0; 6]);
        for n in [0, 1, 48, 52, 336, 384] {
            assert_eq!(doubled(halved(n), n), [1, 0, 0, 0, 0, 0]);
        }
    }
}
