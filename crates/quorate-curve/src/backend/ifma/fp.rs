//! Eight elements of Fp, one in each lane.
//!
//! An element a is stored as a·2^400 plus a multiple of p, in eight limbs of 50 bits or a little more. Sums and
//! differences take no carries, and a product accepts limbs of up to four units of 2^50. The documentation of each
//! operation says what limbs and values it accepts and gives, in units of 2^50 and in p; in debug builds [`Bound`]
//! checks it.
//!
//! The file is long because a third of it are tests, which need the limbs.

use blst::blst_fp;

use super::{
    bound::Bound,
    kernel::{self, Limbs, P, limbs, limbs_of, multiple_of_p, unroll},
    vector::{Ifma, LANES, Mask, Vector, in_lanes},
    word::Word,
};
use crate::arithmetic::{self, field::Field};

/// Eight elements of Fp.
#[derive(Clone, Copy)]
pub struct Fp {
    pub(super) limbs: [Vector; 8],
    pub(super) bound: Bound,
}

/// 2^400 mod p: one.
const ONE: Limbs = limbs([
    0x5635_0003_480e_6299,
    0x8670_deb2_699e_b128,
    0x0983_e84e_f669_7c98,
    0xe3e8_a053_a4e6_fe97,
    0x385c_20d3_23ec_f271,
    0x156d_a47f_1286_6eb6,
]);
/// 2^416 mod p. It turns blst's a·2^384 into a·2^400.
pub(super) const FROM_BLST: Limbs = limbs([
    0x44f6_480e_a8e9_b9af,
    0xa96f_7d65_766c_8fe4,
    0xe82e_fd42_28b5_40fe,
    0x6723_e5f0_ade5_3b2e,
    0x25ff_6eb6_fdd4_230a,
    0x14c8_ee06_ef23_c24a,
]);
/// 2^384 mod p, blst's one. It turns a·2^400 into blst's a·2^384.
pub(super) const TO_BLST: Limbs = limbs(arithmetic::curve::ONE.l);

/// 2^800 mod p. It turns a number into its Montgomery form.
const R2: Limbs = limbs([
    0x3dc5_5103_9a1d_2c25,
    0xe8da_66c8_57a9_8437,
    0xb82e_8f65_1333_1128,
    0xb197_b625_2a29_ba38,
    0x5dcb_e4f4_e329_28cb,
    0x0e91_f80e_f81f_158c,
]);

/// (p + 1)/2.
const HALF_OF_P: Limbs = {
    let mut out = P;
    out[0] += 1;
    let mut i = 0;
    while i < 8 {
        if i < 7 {
            out[i] |= (out[i + 1] & 1) << 50;
        }
        out[i] >>= 1;
        i += 1;
    }
    out
};

impl Fp {
    /// The token that the element was made from.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> Ifma {
        self.limbs[0].lanes()
    }

    /// A canonical constant a·2^400 mod p in every lane.
    #[inline(always)]
    pub(crate) fn constant(lanes: Ifma, limbs: &Limbs) -> Self {
        Self { limbs: limbs_of!(I < 8 => Vector::splat(lanes, limbs[I])), bound: Bound::CANONICAL }
    }

    #[inline(always)]
    pub(crate) fn zero(lanes: Ifma) -> Self {
        Self::constant(lanes, &[0; 8])
    }

    #[inline(always)]
    pub(crate) fn one(lanes: Ifma) -> Self {
        Self::constant(lanes, &ONE)
    }

    /// One element of blst in every lane. One multiplication.
    #[inline(always)]
    pub(crate) fn splat(lanes: Ifma, element: &blst_fp) -> Self {
        Self::load(lanes, &[element; LANES])
    }

    /// Elements of blst, one in each lane. One multiplication.
    #[inline(always)]
    pub(crate) fn load(lanes: Ifma, elements: &[&blst_fp; LANES]) -> Self {
        load(lanes, elements)
    }

    /// The elements in blst's canonical form. One multiplication.
    #[inline(always)]
    pub(crate) fn store(&self) -> [blst_fp; LANES] {
        store(self.lanes(), self)
    }

    /// The element of a number below 2^384 in each lane, given as six words of 64 bits from the lowest, not in
    /// Montgomery form. One multiplication.
    #[inline(always)]
    pub(crate) fn from_words(lanes: Ifma, words: &[[u64; LANES]; 6]) -> Self {
        from_words(lanes, words, &R2)
    }

    /// The canonical number of each lane, not in Montgomery form, in limbs of 50 bits. One multiplication.
    #[inline(always)]
    fn number(&self) -> Self {
        canonical(self.lanes(), &self.times(&Self::constant(self.lanes(), &[1, 0, 0, 0, 0, 0, 0, 0])))
    }

    /// The lanes whose number is odd: `sgn0` of RFC 9380, section 4.1. One multiplication.
    #[inline(always)]
    pub(crate) fn is_odd(&self) -> Mask {
        let lowest = self.number().limbs[0];
        lowest.meets(lowest.splat(1))
    }

    /// The lanes whose number is larger than its negative. One multiplication.
    #[inline(always)]
    pub(crate) fn is_larger(&self) -> Mask {
        let number = self.number().limbs;
        let less = kernel::carry(&limbs_of!(I < 8 => number[I].minus(number[I].splat(HALF_OF_P[I]))));
        less[7].splat(-1).is_less(less[7])
    }

    #[inline(always)]
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self { limbs: limbs_of!(I < 8 => self.limbs[I].plus(other.limbs[I])), bound: self.bound.plus(other.bound) }
    }

    #[inline(always)]
    pub(crate) fn doubled(&self) -> Self {
        self.plus(self)
    }

    /// The difference to a number with limbs below one unit and a value below 4p. It adds 2 units and 4p to the bound.
    #[inline(always)]
    pub(crate) fn minus(&self, other: &Self) -> Self {
        self.subtract::<4, 1>(other)
    }

    /// The difference to a sum of two such numbers. It adds 3 units and 8p to the bound.
    #[inline(always)]
    pub(crate) fn minus_sum(&self, other: &Self) -> Self {
        self.subtract::<8, 2>(other)
    }

    /// The difference to a number with limbs below `UNITS` units and a value below `TIMES`·p. It adds `UNITS` + 1 units
    /// and `TIMES`·p to the bound.
    #[inline(always)]
    pub(crate) fn subtract<const TIMES: i64, const UNITS: i64>(&self, other: &Self) -> Self {
        struct Multiple<const TIMES: i64, const UNITS: i64>;
        impl<const TIMES: i64, const UNITS: i64> Multiple<TIMES, UNITS> {
            const LIMBS: Limbs = multiple_of_p(TIMES, UNITS);
        }
        let multiple = &Multiple::<TIMES, UNITS>::LIMBS;
        other.bound.assert_limbs(UNITS as u64);
        other.bound.assert_value(TIMES as f64 - 0.01);
        Self {
            limbs: limbs_of!(I < 8 => {
                let limb = self.limbs[I];
                limb.plus(limb.splat(multiple[I])).minus(other.limbs[I])
            }),
            bound: self.bound.plus(Bound::new(UNITS as u64 + 1, TIMES as f64)),
        }
    }

    /// The negative of a number with limbs below one unit and a value below 4p. It has limbs below 2 units and a value
    /// of at most 4p.
    #[inline(always)]
    pub(crate) fn negated(&self) -> Self {
        Self::zero(self.lanes()).minus(self)
    }

    /// The same number with limbs below one unit.
    #[inline(always)]
    pub(crate) fn carried(&self) -> Self {
        Self { limbs: kernel::carry(&self.limbs), bound: self.bound.carried() }
    }

    /// The same element with limbs below one unit and a value below 2.1p. It accepts limbs below 8 units and values
    /// below 32p.
    ///
    /// The eighth limb says how many times 2p is subtracted, and a permutation reads this multiple from a table.
    #[inline(always)]
    pub(crate) fn shrunk(&self) -> Self {
        self.bound.assert_factor(8);
        self.bound.assert_value(31.9);
        Self { limbs: shrink(self.lanes(), &self.limbs), bound: Bound::new(1, 2.1) }
    }

    /// The product of factors with limbs below 4 units. It has limbs below one unit and a value of about 2p.
    #[inline(always)]
    pub(crate) fn times(&self, other: &Self) -> Self {
        self.bound.assert_factor(4);
        other.bound.assert_factor(4);
        Self { limbs: multiply(self.lanes(), &self.limbs, &other.limbs), bound: self.bound.of_product(other.bound) }
    }

    /// The square of a number with limbs below 2 units. It has limbs below one unit and a value of about 2p.
    #[inline(always)]
    pub(crate) fn squared(&self) -> Self {
        self.bound.assert_factor(2);
        Self { limbs: square(self.lanes(), &self.limbs), bound: self.bound.of_product(self.bound) }
    }

    /// The same as [`times`](Self::times), under the name that Fp2 has too.
    #[inline(always)]
    pub(crate) fn times_fp(&self, other: &Self) -> Self {
        self.times(other)
    }

    /// `self` in the lanes of the mask, `other` elsewhere.
    #[inline(always)]
    pub(crate) fn or(&self, mask: Mask, other: &Self) -> Self {
        Self {
            limbs: limbs_of!(I < 8 => self.limbs[I].in_mask(mask, other.limbs[I])),
            bound: self.bound.or(other.bound),
        }
    }

    /// The inverses of elements that are not zero. Six products and one inversion by blst.
    #[inline(always)]
    pub(crate) fn inverted(&self) -> Self {
        invert(self.lanes(), self)
    }

    /// The lanes that are zero. It accepts a value below 8p with limbs below 4 units, and costs little if no lane is
    /// zero.
    #[inline(always)]
    pub(crate) fn is_zero(&self) -> Mask {
        is_zero(self.lanes(), self)
    }

    /// The lanes where both are the same.
    #[inline(always)]
    pub(crate) fn equals(&self, other: &Self) -> Mask {
        self.minus(other).is_zero()
    }

    /// A canonical constant a·2^400 mod p for each lane, by limb.
    #[inline(always)]
    pub(crate) fn constants(lanes: Ifma, limbs: &[[i64; LANES]; 8]) -> Self {
        Self { limbs: limbs_of!(I < 8 => Vector::load(lanes, &limbs[I])), bound: Bound::CANONICAL }
    }

    /// Permutes the lanes: lane i takes the element of lane `from[i]`.
    #[inline(always)]
    pub(crate) fn permuted(&self, from: [i64; LANES]) -> Self {
        let from = Vector::load(self.lanes(), &from);
        Self { limbs: limbs_of!(I < 8 => self.limbs[I].permuted(from)), bound: self.bound }
    }

    /// Lane i takes the element of lane `from[i]` of `self`, or of lane `from[i]` - 8 of `other`.
    #[inline(always)]
    pub(crate) fn gathered(&self, other: &Self, from: [i64; LANES]) -> Self {
        let from = Vector::load(self.lanes(), &from);
        Self {
            limbs: limbs_of!(I < 8 => self.limbs[I].gathered(other.limbs[I], from)),
            bound: self.bound.or(other.bound),
        }
    }
}

in_lanes! {
    #[inline(never)]
    fn multiply(lanes: Ifma, a: &[Vector; 8], b: &[Vector; 8]) -> [Vector; 8] {
        kernel::reduce(&kernel::product(a, b))
    }

    #[inline(never)]
    fn square(lanes: Ifma, a: &[Vector; 8]) -> [Vector; 8] {
        kernel::reduce(&kernel::square(a))
    }

    fn load(lanes: Ifma, elements: &[&blst_fp; LANES]) -> Fp {
        let mut words = [[0; LANES]; 6];
        for (lane, element) in elements.iter().enumerate() {
            for (word, limb) in words.iter_mut().zip(element.l) {
                word[lane] = limb;
            }
        }
        from_words(lanes, &words, &FROM_BLST)
    }

    fn from_words(lanes: Ifma, words: &[[u64; LANES]; 6], factor: &Limbs) -> Fp {
        let mut vectors = [Vector::splat(lanes, 0); 6];
        for (vector, words) in vectors.iter_mut().zip(words) {
            *vector = Vector::load(lanes, &words.map(|word| word as i64));
        }
        // 2^384 is below 10p.
        let mut out = Fp { bound: Bound::new(1, 10.0), ..Fp::zero(lanes) };
        unroll!(I < 8 {
            const WORD: usize = 50 * I / 64;
            const SHIFT: u32 = (50 * I % 64) as u32;
            let mut bits = vectors[WORD].shifted_down::<SHIFT>();
            if SHIFT > 14 && WORD < 5 {
                const UP: u32 = (64 - SHIFT) % 64;
                bits = bits.or(vectors[(WORD + 1) % 6].shifted_up::<UP>());
            }
            out.limbs[I] = bits.low_limb();
        });
        out.times(&Fp::constant(lanes, factor))
    }

    fn store(lanes: Ifma, a: &Fp) -> [blst_fp; LANES] {
        let words = to_words(&canonical(lanes, &a.times(&Fp::constant(lanes, &TO_BLST))));
        core::array::from_fn(|lane| blst_fp { l: core::array::from_fn(|word| words[word][lane] as u64) })
    }

    /// The inverse of a lane is the product of the other lanes, divided by the product of all. Rotations gather the
    /// products.
    #[inline(never)]
    fn invert(lanes: Ifma, a: &Fp) -> Fp {
        let across = a.permuted([4, 5, 6, 7, 0, 1, 2, 3]);
        let pairs = a.times(&across);
        let beside = pairs.permuted([2, 3, 0, 1, 6, 7, 4, 5]);
        let fours = pairs.times(&beside);
        let next = fours.permuted([1, 0, 3, 2, 5, 4, 7, 6]);
        let product = fours.times(&next).store()[0];
        let inverse = Fp::splat(lanes, &product.inverse());
        across.times(&beside).times(&next.times(&inverse))
    }

    #[inline]
    fn shrink(lanes: Ifma, a: &[Vector; 8]) -> [Vector; 8] {
        // The top limb counts 2^350. The lower ones are below 2^53 and add less than 8 to it. So the quotient by 2p,
        // rounded down, may be one too small, but is never too large.
        const INVERSE: i64 = (1 << 52) / (2 * (P[7] + 1));
        let quotient = Vector::splat(lanes, 0).add_high(a[7], Vector::splat(lanes, INVERSE));
        let mut out = *a;
        unroll!(I < 8 {
            let [low, high] = &EVEN_MULTIPLES[I];
            out[I] = out[I].minus(Vector::load(lanes, low).gathered(Vector::load(lanes, high), quotient));
        });
        kernel::carry(&out)
    }

    /// The least representative of a product.
    fn canonical(lanes: Ifma, a: &Fp) -> Fp {
        a.bound.assert_factor(1);
        a.bound.assert_value(2.99);
        let mut limbs = a.limbs;
        for _ in 0..2 {
            let mut less = limbs;
            unroll!(I < 8 { less[I] = less[I].minus(Vector::splat(lanes, P[I])); });
            let less = kernel::carry(&less);
            let negative = less[7].is_less(Vector::splat(lanes, 0));
            unroll!(I < 8 { limbs[I] = limbs[I].in_mask(negative, less[I]); });
        }
        Fp { limbs, bound: Bound::CANONICAL }
    }

    fn is_zero(lanes: Ifma, a: &Fp) -> Mask {
        a.bound.assert_value(7.99);
        // The lowest limb of a zero is the lowest limb of one of eight multiples of p.
        let lowest = a.limbs[0].low_limb();
        let mut perhaps: Mask = 0;
        for multiple in const { lowest_limbs() } {
            perhaps |= lowest.is_same(Vector::splat(lanes, multiple));
        }
        if perhaps == 0 {
            return 0;
        }
        // A product that is zero is 0, p or 2p. Its carries are taken, so it has exactly their limbs.
        let product = a.times(&Fp::one(lanes));
        let mut zero: Mask = 0;
        for multiple in [[0; 8], multiple_of_p(1, 0), multiple_of_p(2, 0)] {
            let mut same = perhaps;
            for (limb, of_multiple) in product.limbs.iter().zip(multiple) {
                same = limb.is_same_in(same, Vector::splat(lanes, of_multiple));
            }
            zero |= same;
        }
        zero
    }
}

/// The limbs of canonical numbers as words of 64 bits.
#[inline(always)]
fn to_words(a: &Fp) -> [[i64; LANES]; 6] {
    let mut words = [a.limbs[0].splat(0); 6];
    unroll!(I < 8 {
        const WORD: usize = 50 * I / 64;
        const SHIFT: u32 = (50 * I % 64) as u32;
        words[WORD] = words[WORD].or(a.limbs[I].shifted_up::<SHIFT>());
        if SHIFT > 14 && WORD < 5 {
            const DOWN: u32 = (64 - SHIFT) % 64;
            words[(WORD + 1) % 6] = a.limbs[I].shifted_down::<DOWN>();
        }
    });
    words.map(Vector::words)
}

/// 0, 2p, … 14p and 16p, … 30p, by limb.
static EVEN_MULTIPLES: [[[i64; LANES]; 2]; 8] = {
    let mut table = [[[0; LANES]; 2]; 8];
    let mut i = 0;
    while i < 2 * LANES {
        let multiple = multiple_of_p(2 * i as i64, 0);
        let mut limb = 0;
        while limb < 8 {
            table[limb][i / LANES][i % LANES] = multiple[limb];
            limb += 1;
        }
        i += 1;
    }
    table
};

/// The lowest limbs of 0, p, …, 7p.
const fn lowest_limbs() -> [i64; 8] {
    let mut out = [0; 8];
    let mut i = 0;
    while i < 8 {
        out[i] = multiple_of_p(i as i64, 0)[0];
        i += 1;
    }
    out
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::backend::ifma::{kernel::tests::modulo_p, lanes_or_skip};
    use alloc::vec::Vec;

    /// Elements at the edges of the limbs of both forms, and some that look random.
    pub(in crate::backend::ifma) fn elements() -> Vec<blst_fp> {
        let small = |words: [u64; 6]| {
            let mut out = blst_fp::default();
            // SAFETY: six words in.
            unsafe { blst::blst_fp_from_uint64(&mut out, words.as_ptr()) };
            out
        };
        let one = small([1, 0, 0, 0, 0, 0]);
        let mut elements = alloc::vec![blst_fp::default(), one, blst_fp::default().minus(&one)];
        for bit in (0..380).step_by(25).chain([49, 51, 63, 64, 99, 380]) {
            let mut words = [0; 6];
            words[bit / 64] = 1 << (bit % 64);
            let power = small(words);
            // As a number and as a Montgomery form.
            elements.extend([power, power.minus(&one), blst_fp { l: words }]);
        }
        let mut random = small([3, 1, 4, 1, 5, 9]);
        for _ in 0..64 {
            random = random.squared().plus(&one);
            elements.push(random);
        }
        while elements.len() % 8 != 0 {
            elements.push(one);
        }
        elements
    }

    /// `times`·p + `more` in every lane: the largest number that a bound allows, or one beside an edge.
    pub(in crate::backend::ifma) fn near_multiple(lanes: Ifma, times: i64, more: i64) -> Fp {
        let mut limbs = multiple_of_p(times, 0);
        limbs[0] += more;
        let bound = Bound::new(1, times as f64 + if more < 0 { -0.01 } else { 0.01 });
        Fp { bound, ..Fp::constant(lanes, &kernel::carry(&limbs)) }
    }

    /// The limbs of the first lane.
    pub(in crate::backend::ifma) fn first_lane(a: &Fp) -> Limbs {
        a.limbs.map(|limb| limb.words()[0])
    }

    /// The same element with limbs of nearly four units and a value of more than 40p.
    pub(in crate::backend::ifma) fn largest(a: &Fp) -> Fp {
        let mut out = *a;
        for _ in 0..4 {
            out = out.minus_sum(&Fp::zero(a.lanes())).carried();
        }
        out.minus_sum(&Fp::zero(a.lanes()))
    }

    #[test]
    fn agrees_with_blst() {
        let Some(lanes) = lanes_or_skip() else { return };
        let elements = elements();
        for a in elements.chunks_exact(8) {
            let lanes_a = Fp::load(lanes, &core::array::from_fn(|i| &a[i]));
            assert_eq!(lanes_a.store(), a);
            assert_eq!(lanes_a.squared().store(), core::array::from_fn(|i| a[i].squared()));
            for shift in 0..elements.len() / 3 {
                let b: [blst_fp; 8] = core::array::from_fn(|i| elements[(shift * 3 + i) % elements.len()]);
                let lanes_b = Fp::load(lanes, &core::array::from_fn(|i| &b[i]));
                let each = |f: fn(&blst_fp, &blst_fp) -> blst_fp| -> [blst_fp; 8] {
                    core::array::from_fn(|i| f(&a[i], &b[i]))
                };
                for (a, b) in [(lanes_a, lanes_b), (largest(&lanes_a), largest(&lanes_b))] {
                    assert_eq!(a.times(&b).store(), each(|a, b| a.times(b)));
                }
                assert_eq!(lanes_a.plus(&lanes_b).store(), each(|a, b| a.plus(b)));
                assert_eq!(lanes_a.minus(&lanes_b).store(), each(|a, b| a.minus(b)));
                assert_eq!(lanes_a.minus_sum(&lanes_b.doubled()).store(), each(|a, b| a.minus(&b.plus(b))));
                let equal = lanes_a.equals(&lanes_b);
                for lane in 0..8 {
                    assert_eq!(equal >> lane & 1 == 1, a[lane] == b[lane]);
                }
            }
        }
    }

    /// Beside every multiple of 2p that can be subtracted: never too much is subtracted, and the rest is below 2.1p.
    #[test]
    fn shrunk_beside_every_multiple() {
        let Some(lanes) = lanes_or_skip() else { return };
        for times in 0..=31 {
            for more in [-1, 0, 1, P[7]] {
                if times == 0 && more < 0 {
                    continue;
                }
                let number = near_multiple(lanes, times, more);
                let limbs = first_lane(&number.shrunk());
                assert!(limbs.iter().all(|limb| *limb >= 0), "{times}p + {more} to {limbs:?}");
                assert!(limbs[7] <= 2 * P[7] + P[7] / 10, "{times}p + {more} to {limbs:?}");
                assert_eq!(modulo_p(&limbs), modulo_p(&first_lane(&number)));
                if times > 0 {
                    assert_eq!(first_lane(&in_large_limbs(&number).shrunk()), limbs, "{times}p + {more}");
                }
            }
        }
    }

    /// The same number with seven units more in the lower limbs.
    fn in_large_limbs(a: &Fp) -> Fp {
        let lent = Fp::constant(a.lanes(), &multiple_of_p(0, 7));
        Fp { bound: Bound::new(8, 31.9), ..a.plus(&lent) }
    }

    /// Every representative that a product can have, beside the multiples of p.
    #[test]
    fn canonical_beside_every_multiple() {
        let Some(lanes) = lanes_or_skip() else { return };
        for times in 0..=2 {
            for more in [-1, 0, 1, 1 << 40] {
                if times == 0 && more < 0 {
                    continue;
                }
                let number = near_multiple(lanes, times, more);
                let limbs = first_lane(&canonical(lanes, &number));
                let expected =
                    if more < 0 { first_lane(&near_multiple(lanes, 1, more)) } else { [more, 0, 0, 0, 0, 0, 0, 0] };
                assert_eq!(limbs, expected, "{times}p + {more}");
            }
        }
    }

    /// Zero as every multiple of p, and its neighbours.
    #[test]
    fn zero_in_every_form() {
        let Some(lanes) = lanes_or_skip() else { return };
        for times in 0..8 {
            for more in [-1, 0, 1] {
                if times == 0 && more < 0 {
                    continue;
                }
                let number = near_multiple(lanes, times, more);
                assert_eq!(number.is_zero(), if more == 0 { !0 } else { 0 }, "{times}p + {more}");
                // One lane alone.
                let other = Fp::one(lanes);
                for lane in 0..8 {
                    let expected = if more == 0 { 1 << lane } else { 0 };
                    assert_eq!(number.or(1 << lane, &other).is_zero(), expected);
                }
            }
        }
    }

    /// Numbers at (p + 1)/2, and beside it by a bit of every limb: which is larger than its negative, and which is odd.
    #[test]
    fn signs_at_the_edges() {
        let Some(lanes) = lanes_or_skip() else { return };
        let words = |a: &blst_fp| {
            let mut out = [0; 6];
            // SAFETY: six words out.
            unsafe { blst::blst_uint64_from_fp(out.as_mut_ptr(), a) };
            out
        };
        let one = Fp::one(lanes).store()[0];
        let half = one.plus(&one).inverse();
        let mut numbers = elements();
        // (p + 1)/2 is 1/2.
        numbers.extend([half, half.minus(&one), half.plus(&one), half.minus(&one).minus(&one)]);
        for place in 0..8 {
            let mut limbs = [0; 8];
            limbs[place] = 1;
            let bit = modulo_p(&limbs);
            numbers.extend([half.plus(&bit), half.minus(&bit), half.minus(&bit).minus(&one)]);
        }
        for number in numbers {
            let (number_words, negative) = (words(&number), words(&blst_fp::default().minus(&number)));
            let larger = number_words.iter().rev().gt(negative.iter().rev());
            let lanes = Fp::splat(lanes, &number);
            assert_eq!(lanes.is_larger(), if larger { !0 } else { 0 }, "{number_words:x?}");
            assert_eq!(lanes.is_odd(), if number_words[0] & 1 == 1 { !0 } else { 0 }, "{number_words:x?}");
        }
    }
}
