//! Eight elements of Fr, one in each lane.
//!
//! An element a is stored as a·2^260 plus a multiple of r, in five limbs of 52 bits. Every operation takes its carries.
//! Values are below 35·r. In debug builds each element carries the largest value that its operations allow, in r.
//!
//! A [`Scalar`] s has s·2^256 in memory, which here is the element s/16. So there are two ways in: [`Fr::load`] shifts
//! by four bits and gives s, up to 16·r large, and [`Fr::sixteenths`] gives s/16 as it is. A sum or a product with a
//! constant keeps the factor, and the product of s/16 and t is st/16. [`Fr::sixteenfold`] is the way back from all of
//! these.

use crate::backend::lanes::unroll::{limbs_of, unroll};
use core::array::from_fn;

use blst::blst_fr;

use super::{
    Ifma,
    kernel_fr::{self, Limbs},
    vector::Vector,
};
use crate::{
    backend::lanes::{
        field::{LANES, Mask},
        instructions::in_lanes,
        tracked::Tracked,
    },
    scalar::Scalar,
};

/// Eight elements of Fr.
#[derive(Clone, Copy)]
pub(crate) struct Fr {
    limbs: [Vector; 5],
    /// The value is at most this many r.
    most: Tracked<f64>,
}

/// Sixteen, by which a constant is multiplied so that [`Fr::splat_sixteenth`] gives the constant itself.
pub(crate) const FORM: Scalar =
    Scalar(blst_fr { l: [0x0000_0022_ffff_ffdd, 0x8d12_9397_0039_6c23, 0xff17_76e6_aedf_7745, 0x2682_1fa1_4f77_df20] });

/// r/2^260, rounded up.
const ORDER_OVER_R: f64 = 0.0284;

/// The largest factor of a product, in r.
const LARGEST: f64 = 35.0;

/// 2^260 mod r: one.
const ONE: Limbs =
    [0x0000_0022_ffff_ffdd, 0x0009_7003_96c2_3000, 0x000e_df77_458d_1293, 0x000d_f20f_f177_6e6a, 0x0000_2682_1fa1_4f77];

impl Fr {
    /// The token that the element was made from.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> Ifma {
        self.limbs[0].lanes()
    }

    #[inline(always)]
    fn new(limbs: [Vector; 5], most: f64) -> Self {
        Self { limbs, most: Tracked::new(most) }
    }

    #[inline(always)]
    pub(crate) fn one(lanes: Ifma) -> Self {
        Self::new(limbs_of!(I in [0 1 2 3 4] => Vector::splat(lanes, ONE[I])), 1.0)
    }

    /// The scalars.
    #[inline(always)]
    pub(crate) fn load(lanes: Ifma, scalars: [&Scalar; LANES]) -> Self {
        Self::new(load_limbs::<4>(lanes, &scalars), 16.0)
    }

    /// A sixteenth of each scalar. It is canonical if the scalars in memory are.
    #[inline(always)]
    pub(crate) fn sixteenths(lanes: Ifma, scalars: [&Scalar; LANES]) -> Self {
        Self::new(load_limbs::<0>(lanes, &scalars), 1.0)
    }

    /// A sixteenth of one scalar in every lane.
    #[inline(always)]
    pub(crate) fn splat_sixteenth(lanes: Ifma, scalar: &Scalar) -> Self {
        let [a, b, c, d] = scalar.0.l;
        let limbs = [a, a >> 52 | b << 12, b >> 40 | c << 24, c >> 28 | d << 36, d >> 16];
        const LIMB: u64 = (1 << 52) - 1;
        Self::new(limbs_of!(I in [0 1 2 3 4] => Vector::splat(lanes, (limbs[I] & LIMB) as i64)), 1.0)
    }

    /// Sixteen times each element.
    #[inline(always)]
    pub(crate) fn sixteenfold(&self) -> [Scalar; LANES] {
        sixteenfold(self.lanes(), self)
    }

    /// The scalars. One multiplication.
    #[inline(always)]
    pub(crate) fn store(&self) -> [Scalar; LANES] {
        // 2^256 is a sixteenth of one.
        self.times(&Self::splat_sixteenth(self.lanes(), &Scalar::ONE)).sixteenfold()
    }

    #[inline(always)]
    pub(crate) fn plus(&self, other: &Self) -> Self {
        let most = self.most.with(other.most, |a, b| a + b);
        Self { limbs: kernel_fr::sum(&self.limbs, &other.limbs), most }.within_limbs()
    }

    /// The difference to a value of at most `TIMES`·r. It adds `TIMES`·r to the bound.
    #[inline(always)]
    pub(crate) fn minus<const TIMES: i64>(&self, other: &Self) -> Self {
        other.assert_most(TIMES as f64);
        let most = self.most.with(self.most, |a, _| a + TIMES as f64);
        Self { limbs: kernel_fr::difference::<TIMES, _>(&self.limbs, &other.limbs), most }.within_limbs()
    }

    /// The product, of at most 37·r, or 3·r if one factor is canonical.
    #[inline(always)]
    pub(crate) fn times(&self, other: &Self) -> Self {
        Self { limbs: kernel_fr::product_reduced(&self.limbs, &other.limbs), most: self.most_of_product(other) }
    }

    /// a + cb and a - cb, for a canonical c. It adds 3·r to the bound of a.
    #[inline(always)]
    pub(crate) fn butterfly(a: &Self, b: &Self, c: &Self) -> [Self; 2] {
        if let Some(most) = b.most_of_product(c).get() {
            assert!(most <= 3.0, "a product of {most} r in a butterfly");
        }
        let most = a.most.with(a.most, |a, _| a + 3.0);
        let [sum, difference] = kernel_fr::butterfly(&a.limbs, &b.limbs, &c.limbs);
        [Self { limbs: sum, most }.within_limbs(), Self { limbs: difference, most }]
    }

    /// The bound of a product.
    #[inline(always)]
    fn most_of_product(&self, other: &Self) -> Tracked<f64> {
        self.assert_most(LARGEST);
        other.assert_most(LARGEST);
        self.most.with(other.most, |a, b| a * b * ORDER_OVER_R + 2.0)
    }

    /// The same element with a value of at most 2.1·r. It accepts values of at most 32·r.
    #[inline(always)]
    pub(crate) fn shrunk(&self) -> Self {
        self.assert_most(32.0);
        Self::new(kernel_fr::shrunk(&self.limbs), 2.1)
    }

    /// The limbs of the least representative.
    #[inline(always)]
    fn canonical(&self) -> [Vector; 5] {
        kernel_fr::canonical(&self.shrunk().limbs)
    }

    /// The lanes where both numbers are the same. Numbers that are not canonical can differ where their elements do not.
    #[inline(always)]
    pub(crate) fn is_same(&self, other: &Self) -> Mask {
        self.assert_most(1.0);
        other.assert_most(1.0);
        let mut same = Mask::MAX;
        unroll!(I in [0 1 2 3 4] { same = self.limbs[I].is_same_in(same, other.limbs[I]); });
        same
    }

    /// `self` in the lanes of the mask, `other` elsewhere.
    #[inline(always)]
    pub(crate) fn or(&self, mask: Mask, other: &Self) -> Self {
        let limbs = limbs_of!(I in [0 1 2 3 4] => self.limbs[I].in_mask(mask, other.limbs[I]));
        Self { limbs, most: self.most.with(other.most, f64::max) }
    }

    /// Element j of lane i becomes element i of lane j.
    #[inline(always)]
    pub(crate) fn transposed(elements: &[Self; 8]) -> [Self; 8] {
        let by_limb: [[Vector; 8]; 5] =
            limbs_of!(I in [0 1 2 3 4] => Vector::transposed(&limbs_of!(J < 8 => elements[J].limbs[I])));
        let most = elements.iter().fold(elements[0].most, |most, element| most.with(element.most, f64::max));
        limbs_of!(J < 8 => Self { limbs: limbs_of!(I in [0 1 2 3 4] => by_limb[I][J]), most })
    }

    #[inline(always)]
    fn assert_most(&self, most: f64) {
        if let Some(found) = self.most.get() {
            assert!(found <= most, "{found} r where at most {most} r are allowed");
        }
    }

    /// The element itself. Its value must fit the limbs.
    #[inline(always)]
    fn within_limbs(self) -> Self {
        self.assert_most(LARGEST);
        self
    }
}

in_lanes! {
    /// The limbs of eight scalars in memory, shifted up by `UP` bits.
    #[inline]
    fn load_limbs[UP: u32](lanes: Ifma, scalars: &[&Scalar; LANES]) -> [Vector; 5] {
        kernel_fr::of_words::<UP, _>(&words(lanes, scalars))
    }

    /// The words of eight scalars, from the lowest.
    #[inline]
    fn words(lanes: Ifma, scalars: &[&Scalar; LANES]) -> [Vector; 4] {
        let two = |i: usize| {
            let [a, b] = [scalars[i].0.l, scalars[i + 1].0.l];
            Vector::load_words(lanes, &[a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]])
        };
        let [a, b, c, d] = [two(0), two(2), two(4), two(6)];
        // Two words of four scalars at a time, then each word of all eight.
        let lower = Vector::load(lanes, &[0, 4, 8, 12, 1, 5, 9, 13]);
        let upper = Vector::load(lanes, &[2, 6, 10, 14, 3, 7, 11, 15]);
        let first = Vector::load(lanes, &[0, 1, 2, 3, 8, 9, 10, 11]);
        let second = Vector::load(lanes, &[4, 5, 6, 7, 12, 13, 14, 15]);
        let (ab, cd) = (a.gathered(b, lower), c.gathered(d, lower));
        let (ab_upper, cd_upper) = (a.gathered(b, upper), c.gathered(d, upper));
        [ab.gathered(cd, first), ab.gathered(cd, second), ab_upper.gathered(cd_upper, first), ab_upper.gathered(cd_upper, second)]
    }

    #[inline]
    fn sixteenfold(lanes: Ifma, element: &Fr) -> [Scalar; LANES] {
        let words = kernel_fr::words(&element.canonical()).map(Vector::words);
        from_fn(|lane| Scalar(blst_fr { l: from_fn(|word| words[word][lane] as u64) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{backend::lanes::tests::ifma_or_skip, scalar::tests::scalars};
    use alloc::vec::Vec;

    fn vectors() -> Vec<[Scalar; LANES]> {
        scalars(128).chunks_exact(LANES).map(|eight| from_fn(|lane| eight[lane])).collect()
    }

    #[test]
    fn scalars_there_and_back() {
        let Some(lanes) = ifma_or_skip() else { return };
        let sixteen = Scalar::from(16);
        for eight in vectors() {
            assert_eq!(Fr::load(lanes, eight.each_ref()).store(), eight);
            assert_eq!(Fr::sixteenths(lanes, eight.each_ref()).sixteenfold(), eight);
            assert_eq!(Fr::load(lanes, eight.each_ref()).sixteenfold(), eight.map(|scalar| scalar * sixteen));
            assert_eq!(Fr::splat_sixteenth(lanes, &eight[3]).sixteenfold(), [eight[3]; LANES]);
        }
        assert_eq!(Fr::one(lanes).store(), [Scalar::ONE; LANES]);
        assert_eq!(FORM, sixteen);
    }

    #[test]
    fn agrees_with_scalars() {
        let Some(lanes) = ifma_or_skip() else { return };
        let vectors = vectors();
        for (i, a) in vectors.iter().enumerate() {
            let b = &vectors[(5 * i + 3) % vectors.len()];
            let (x, y) = (Fr::load(lanes, a.each_ref()), Fr::load(lanes, b.each_ref()));
            let each = |f: fn(Scalar, Scalar) -> Scalar| from_fn(|lane| f(a[lane], b[lane]));
            assert_eq!(x.plus(&y).store(), each(|a, b| a + b));
            assert_eq!(x.minus::<16>(&y).store(), each(|a, b| a - b));
            assert_eq!(x.times(&y).shrunk().store(), each(|a, b| a * b));
            let [sum, difference] = Fr::butterfly(&x, &y, &Fr::splat_sixteenth(lanes, &(b[0] * FORM)));
            assert_eq!(sum.store(), from_fn(|lane| a[lane] + b[lane] * b[0]));
            assert_eq!(difference.store(), from_fn(|lane| a[lane] - b[lane] * b[0]));
        }
    }

    /// Products of the largest factors, taken away from nothing.
    #[test]
    fn butterflies_of_zero() {
        let Some(lanes) = ifma_or_skip() else { return };
        let zero = Fr::splat_sixteenth(lanes, &Scalar::ZERO);
        let vectors = vectors();
        for b in &vectors {
            let large = Fr::load(lanes, b.each_ref()).plus(&Fr::load(lanes, b.each_ref()));
            for c in vectors.as_flattened() {
                let [sum, difference] = Fr::butterfly(&zero, &large, &Fr::splat_sixteenth(lanes, &(*c * FORM)));
                let product = b.map(|b| (b + b) * *c);
                assert_eq!(sum.store(), product);
                assert_eq!(difference.store(), product.map(|product| -product));
            }
        }
    }

    /// Every multiple of r that can be added is subtracted again.
    #[test]
    fn shrunk_is_small() {
        let Some(lanes) = ifma_or_skip() else { return };
        for eight in vectors() {
            let x = Fr::sixteenths(lanes, eight.each_ref());
            let zero = Fr::splat_sixteenth(lanes, &Scalar::ZERO);
            let mut large = Fr::new(x.limbs, 1.0);
            for _ in 0..30 {
                large = large.minus::<1>(&zero);
                let shrunk = large.shrunk();
                assert_eq!(shrunk.sixteenfold(), eight);
                let top = shrunk.limbs[4].words();
                assert!(top.iter().all(|top| *top <= 21 * kernel_fr::ORDER[4] / 10), "{top:?}");
            }
        }
    }

    #[test]
    fn transposed_twice_is_the_same() {
        let Some(lanes) = ifma_or_skip() else { return };
        let elements: [_; 8] = from_fn(|i| Fr::load(lanes, vectors()[i].each_ref()));
        let rows = Fr::transposed(&elements);
        for (i, row) in rows.iter().enumerate() {
            assert_eq!(row.store(), from_fn(|lane| vectors()[lane][i]));
        }
        assert!(Fr::transposed(&rows).iter().zip(&elements).all(|(a, b)| a.store() == b.store()));
    }
}
