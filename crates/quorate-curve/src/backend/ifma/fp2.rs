//! Eight elements of Fp2 = Fp(i), i² = -1.

use blst::blst_fp2;

use super::{
    bound::Bound,
    fp::Fp,
    kernel::{self, Limbs, P, limbs_of},
    vector::{Ifma, LANES, Mask, Vector, in_lanes},
    word::Word,
};

/// c0 + c1·i in each lane.
#[derive(Clone, Copy)]
pub struct Fp2 {
    pub(crate) c0: Fp,
    pub(crate) c1: Fp,
}

impl Fp2 {
    #[inline(always)]
    pub(crate) fn new(c0: Fp, c1: Fp) -> Self {
        Self { c0, c1 }
    }

    /// The token that the element was made from.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> Ifma {
        self.c0.lanes()
    }

    #[inline(always)]
    pub(crate) fn zero(lanes: Ifma) -> Self {
        Self::new(Fp::zero(lanes), Fp::zero(lanes))
    }

    #[inline(always)]
    pub(crate) fn one(lanes: Ifma) -> Self {
        Self::new(Fp::one(lanes), Fp::zero(lanes))
    }

    /// A canonical constant in every lane.
    #[inline(always)]
    pub(crate) fn constant(lanes: Ifma, limbs: &[Limbs; 2]) -> Self {
        Self::new(Fp::constant(lanes, &limbs[0]), Fp::constant(lanes, &limbs[1]))
    }

    #[inline(always)]
    pub(crate) fn load(lanes: Ifma, elements: &[&blst_fp2; LANES]) -> Self {
        Self::new(Fp::load(lanes, &elements.map(|e| &e.fp[0])), Fp::load(lanes, &elements.map(|e| &e.fp[1])))
    }

    #[inline(always)]
    pub(crate) fn splat(lanes: Ifma, element: &blst_fp2) -> Self {
        Self::load(lanes, &[element; LANES])
    }

    #[inline(always)]
    pub(crate) fn store(&self) -> [blst_fp2; LANES] {
        let (c0, c1) = (self.c0.store(), self.c1.store());
        core::array::from_fn(|lane| blst_fp2 { fp: [c0[lane], c1[lane]] })
    }

    #[inline(always)]
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self::new(self.c0.plus(&other.c0), self.c1.plus(&other.c1))
    }

    #[inline(always)]
    pub(crate) fn doubled(&self) -> Self {
        self.plus(self)
    }

    /// As [`Fp::minus`].
    #[inline(always)]
    pub(crate) fn minus(&self, other: &Self) -> Self {
        self.subtract::<4, 1>(other)
    }

    /// As [`Fp::minus_sum`].
    #[inline(always)]
    pub(crate) fn minus_sum(&self, other: &Self) -> Self {
        self.subtract::<8, 2>(other)
    }

    /// As [`Fp::subtract`].
    #[inline(always)]
    pub(crate) fn subtract<const TIMES: i64, const UNITS: i64>(&self, other: &Self) -> Self {
        Self::new(self.c0.subtract::<TIMES, UNITS>(&other.c0), self.c1.subtract::<TIMES, UNITS>(&other.c1))
    }

    /// As [`Fp::negated`].
    #[inline(always)]
    pub(crate) fn negated(&self) -> Self {
        Self::new(self.c0.negated(), self.c1.negated())
    }

    /// c0 - c1·i.
    #[inline(always)]
    pub(crate) fn conjugated(&self) -> Self {
        Self::new(self.c0, self.c1.negated())
    }

    #[inline(always)]
    pub(crate) fn carried(&self) -> Self {
        Self::new(self.c0.carried(), self.c1.carried())
    }

    /// As [`Fp::shrunk`].
    #[inline(always)]
    pub(crate) fn shrunk(&self) -> Self {
        Self::new(self.c0.shrunk(), self.c1.shrunk())
    }

    /// The product of factors with limbs below 2 units. It has limbs below one unit and values of about 2p.
    #[inline(always)]
    pub(crate) fn times(&self, other: &Self) -> Self {
        for part in [&self.c0, &self.c1, &other.c0, &other.c1] {
            part.bound.assert_factor(2);
            part.bound.assert_value(32.0);
        }
        let (a, b) = ([&self.c0.limbs, &self.c1.limbs], [&other.c0.limbs, &other.c1.limbs]);
        Self::made_of(multiply(self.lanes(), &a, &b))
    }

    /// The square of a number with limbs below 2 units and values below 16p. It has limbs below one unit and values of
    /// about 2p.
    #[inline(always)]
    pub(crate) fn squared(&self) -> Self {
        for part in [&self.c0, &self.c1] {
            part.bound.assert_factor(2);
            part.bound.assert_value(15.99);
        }
        Self::made_of(square(self.lanes(), &self.c0.limbs, &self.c1.limbs))
    }

    /// The element with these limbs, which a kernel made from factors within their bounds.
    #[inline(always)]
    fn made_of([c0, c1]: [[Vector; 8]; 2]) -> Self {
        let bound = Bound::new(1, 64.0).of_product(Bound::new(1, 64.0));
        Self::new(Fp { limbs: c0, bound }, Fp { limbs: c1, bound })
    }

    /// The product with an element of Fp, both with limbs below 4 units.
    #[inline(always)]
    pub(crate) fn times_fp(&self, other: &Fp) -> Self {
        Self::new(self.c0.times(other), self.c1.times(other))
    }

    /// The product of a number with limbs below one unit and values below 4p with 1 + i. It has limbs below three units
    /// and values below 8p.
    #[inline(always)]
    pub(crate) fn times_one_plus_i(&self) -> Self {
        Self::new(self.c0.minus(&self.c1), self.c0.plus(&self.c1))
    }

    /// The norm c0² + c1² of a number with limbs below 2 units.
    #[inline(always)]
    pub(crate) fn norm(&self) -> Fp {
        self.c0.squared().plus(&self.c1.squared())
    }

    /// The inverses of elements that are not zero, with limbs below one unit and values below 4p.
    #[inline(always)]
    pub(crate) fn inverted(&self) -> Self {
        invert(self.lanes(), self)
    }

    #[inline(always)]
    pub(crate) fn or(&self, mask: Mask, other: &Self) -> Self {
        Self::new(self.c0.or(mask, &other.c0), self.c1.or(mask, &other.c1))
    }

    /// As [`Fp::permuted`].
    #[inline(always)]
    pub(crate) fn permuted(&self, from: [i64; LANES]) -> Self {
        Self::new(self.c0.permuted(from), self.c1.permuted(from))
    }

    /// As [`Fp::gathered`].
    #[inline(always)]
    pub(crate) fn gathered(&self, other: &Self, from: [i64; LANES]) -> Self {
        Self::new(self.c0.gathered(&other.c0, from), self.c1.gathered(&other.c1, from))
    }

    #[inline(always)]
    pub(crate) fn is_zero(&self) -> Mask {
        self.c0.is_zero() & self.c1.is_zero()
    }

    /// The lanes where both are the same. The other number has limbs below one unit and values below 4p.
    #[inline(always)]
    pub(crate) fn equals(&self, other: &Self) -> Mask {
        self.c0.equals(&other.c0) & self.c1.equals(&other.c1)
    }

    /// `sgn0` of RFC 9380, section 4.1: whether the first part that is not zero is odd. Values are below 8p.
    #[inline(always)]
    pub(crate) fn is_odd(&self) -> Mask {
        self.c0.is_odd() | (self.c0.is_zero() & self.c1.is_odd())
    }

    /// The lanes whose number is larger than its negative. The imaginary part counts first. Values are below 8p.
    #[inline(always)]
    pub(crate) fn is_larger(&self) -> Mask {
        self.c1.is_larger() | (self.c1.is_zero() & self.c0.is_larger())
    }
}

in_lanes! {
    fn invert(lanes: Ifma, a: &Fp2) -> Fp2 {
        let inverse = a.norm().inverted();
        Fp2::new(a.c0.times(&inverse), a.c1.negated().times(&inverse))
    }

    #[inline(never)]
    fn multiply(lanes: Ifma, a: &[&[Vector; 8]; 2], b: &[&[Vector; 8]; 2]) -> [[Vector; 8]; 2] {
        let [c0, c1] = columns(a, b);
        let c0 = kernel::reduce(&lifted(&c0));
        [c0, kernel::reduce(&c1)]
    }

    #[inline(never)]
    fn square(lanes: Ifma, c0: &[Vector; 8], c1: &[Vector; 8]) -> [[Vector; 8]; 2] {
        let [real, imaginary] = square_columns::<16, _>(c0, c1);
        let real = kernel::reduce(&real);
        [real, kernel::reduce(&imaginary)]
    }
}

/// p·2^392 in columns. A difference of products is never so far below zero.
const LIFT: [i64; 16] = {
    let mut columns = [0; 16];
    let mut i = 0;
    while i < 8 {
        // 392 = 7·50 + 42.
        columns[7 + i] += (P[i] << 42) & ((1 << 50) - 1);
        columns[8 + i] += P[i] >> 8;
        i += 1;
    }
    columns
};

/// The columns of a0·b0 - a1·b1, which may be negative, and those of a0·b1 + a1·b0. Three products of Fp.
#[inline(always)]
pub(super) fn columns<W: Word>(a: &[&[W; 8]; 2], b: &[&[W; 8]; 2]) -> [[W; 16]; 2] {
    let v0 = kernel::product(a[0], b[0]);
    staged();
    let v1 = kernel::product(a[1], b[1]);
    staged();
    let (a, b) = (limbs_of!(I < 8 => a[0][I].plus(a[1][I])), limbs_of!(I < 8 => b[0][I].plus(b[1][I])));
    let v2 = kernel::product(&a, &b);
    staged();
    [limbs_of!(I < 16 => v0[I].minus(v1[I])), limbs_of!(I < 16 => v2[I].minus(v0[I]).minus(v1[I]))]
}

#[inline(always)]
pub(super) fn lifted<W: Word>(columns: &[W; 16]) -> [W; 16] {
    limbs_of!(I < 16 => if LIFT[I] == 0 { columns[I] } else { columns[I].plus(columns[I].splat(LIFT[I])) })
}

/// The columns of (c0 + c1)·(c0 - c1 + `TIMES`·p) and those of 2·c0·c1, for limbs below 2 units. Two products of Fp.
///
/// c0 - c1 has limbs of up to five units, so its carries are taken.
#[inline(always)]
pub(super) fn square_columns<const TIMES: i64, W: Word>(c0: &[W; 8], c1: &[W; 8]) -> [[W; 16]; 2] {
    let multiple = const { kernel::multiple_of_p(TIMES, 2) };
    let sum = limbs_of!(I < 8 => c0[I].plus(c1[I]));
    let difference = kernel::carry(&limbs_of!(I < 8 => c0[I].plus(c0[I].splat(multiple[I])).minus(c1[I])));
    let real = kernel::product(&sum, &difference);
    staged();
    let twice = limbs_of!(I < 8 => c0[I].plus(c0[I]));
    [real, kernel::product(&twice, c1)]
}

/// Keeps the compiler from interleaving two products, whose columns would not fit the registers.
#[inline(always)]
fn staged() {
    // SAFETY: there is no instruction.
    unsafe { core::arch::asm!("", options(nostack, preserves_flags)) }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{
        arithmetic::field::Field as _,
        backend::ifma::{
            fp::tests::{elements, largest, near_multiple},
            kernel::tests::{Range, assert_reduced, edges, modulo_p},
            lanes_or_skip,
            wide::Wide,
        },
    };
    use alloc::vec::Vec;

    /// Vectors of elements of Fp2 whose parts are at the edges of limbs, and others.
    pub(in crate::backend::ifma) fn elements2() -> Vec<[blst_fp2; 8]> {
        let parts = elements();
        let element =
            |i: usize| blst_fp2 { fp: [parts[i % parts.len()], parts[(7 * i + i / parts.len()) % parts.len()]] };
        (0..2 * parts.len() / 8).map(|v| core::array::from_fn(|lane| element(8 * v + lane))).collect()
    }

    pub(in crate::backend::ifma) fn load(lanes: Ifma, elements: &[blst_fp2; 8]) -> Fp2 {
        Fp2::load(lanes, &core::array::from_fn(|lane| &elements[lane]))
    }

    #[test]
    fn ranges_of_kernels() {
        let two = &[Range::units(2); 8];
        let [c0, c1] = columns(&[two, two], &[two, two]);
        let sum = |c: [Range; 16]| c.map(|c| Range::new(24 * c.least, 24 * c.most));
        kernel::reduce(&lifted(&sum(c0)));
        kernel::reduce(&lifted(&sum(c1)));
        // The upper limb of a value below 8p.
        let mut below = [Range::units(2); 8];
        below[7] = Range::new(0, i128::from(P[7]) * 799 / 100);
        for columns in square_columns::<16, _>(&below, &below) {
            kernel::reduce(&columns);
        }
    }

    #[test]
    fn columns_at_the_edges() {
        let edges = edges(2);
        for (i, a1) in edges.iter().enumerate() {
            // Values below 2^388 (200p), so that the real part is above zero when it is lifted.
            let small = |a: &Limbs| core::array::from_fn(|i| if i == 7 { a[7] & ((1 << 38) - 1) } else { a[i] });
            let (a0, a1) = (small(&edges[(i + 3) % edges.len()]), small(a1));
            for b in &edges {
                let (b0, b1) = (small(b), small(&edges[(i * 7) % edges.len()]));
                let [c0, c1] = columns(&[&a0, &a1], &[&b0, &b1]);
                let of = |x: &Limbs| modulo_p(x);
                assert_eq!(modulo_p(&c0), of(&a0).times(&of(&b0)).minus(&of(&a1).times(&of(&b1))));
                assert_eq!(modulo_p(&c1), of(&a0).times(&of(&b1)).plus(&of(&a1).times(&of(&b0))));
                assert_eq!(modulo_p(&lifted(&c0)), modulo_p(&c0));
            }
        }
        let most = kernel::multiple_of_p(32, 0);
        let [c0, _] = columns(&[&[0; 8], &most], &[&[0; 8], &most]);
        assert_reduced(&lifted(&c0));
    }

    #[test]
    fn agrees_with_blst() {
        let Some(lanes) = lanes_or_skip() else { return };
        let vectors = elements2();
        for (i, a) in vectors.iter().enumerate() {
            let b = &vectors[(5 * i + 3) % vectors.len()];
            let (x, y) = (load(lanes, a), load(lanes, b));
            let each = |f: fn(&blst_fp2, &blst_fp2) -> blst_fp2| core::array::from_fn(|lane| f(&a[lane], &b[lane]));
            assert_eq!(x.store(), *a);
            assert_eq!(x.times(&y).store(), each(|a, b| a.times(b)));
            assert_eq!(x.squared().store(), each(|a, _| a.squared()));
            assert_eq!(x.plus(&y).store(), each(|a, b| a.plus(b)));
            assert_eq!(x.minus(&y).store(), each(|a, b| a.minus(b)));
            let (sum, difference) = (x.plus(&y), x.minus(&y).carried());
            assert_eq!(sum.times(&difference).store(), each(|a, b| a.plus(b).times(&a.minus(b))));
            assert_eq!(sum.squared().store(), each(|a, b| a.plus(b).squared()));
            let large = Fp2::new(largest(&x.c0), largest(&x.c1)).carried();
            assert!(large.c0.store() == x.c0.store());
            assert_eq!(x.times_fp(&largest(&y.c0)).store(), each(|a, b| a.times_fp(&b.fp[0])));
        }
    }

    /// Every multiple of p that can be added is subtracted again.
    #[test]
    fn shrunk_is_small() {
        let Some(lanes) = lanes_or_skip() else { return };
        for a in elements2() {
            let x = load(lanes, &a).c0;
            let mut large = x;
            for _ in 0..3 {
                large = large.subtract::<8, 1>(&Fp::zero(lanes)).carried();
                let shrunk = large.shrunk();
                assert_eq!(shrunk.store(), x.store());
                let limbs = shrunk.limbs.map(Vector::words);
                assert!(limbs[7].iter().all(|top| *top <= 2 * P[7] + P[7] / 10), "{limbs:?}");
                assert!(limbs[..7].iter().flatten().all(|limb| (0..1 << 50).contains(limb)));
            }
        }
    }

    /// A real part that is below zero by whole multiples of 2^400. No digit of the reduction would correct it.
    #[test]
    fn products_below_zero() {
        let Some(lanes) = lanes_or_skip() else { return };
        for more in [1, 2, (1 << 50) - 1] {
            let root = |limb| Fp2::new(Fp::zero(lanes), Fp::constant(lanes, &[0, 0, 0, 0, limb, 0, 0, 0]));
            let (x, y) = (root(1), root(more));
            let expected = x.store()[0].times(&y.store()[0]);
            assert!(x.times(&y).store() == [expected; 8]);
            assert!(Wide::product(&x, &y).reduced().store() == [expected; 8]);
        }
    }

    /// Squares of the largest allowed values, with the other part zero.
    #[test]
    fn squares_of_the_largest() {
        let Some(lanes) = lanes_or_skip() else { return };
        let parts = |times| {
            let part = near_multiple(lanes, times, -1);
            [(part, Fp::zero(lanes)), (Fp::zero(lanes), part)]
        };
        for (c0, c1) in parts(16) {
            let x = Fp2::new(c0, c1);
            assert!(x.squared().store() == x.store().map(|x| x.squared()));
        }
        for (c0, c1) in parts(8) {
            let x = Fp2::new(c0, c1);
            assert!(Wide::square(&x).reduced().store() == x.store().map(|x| x.squared()));
        }
    }

    /// Which number is larger than its negative and which is odd, decided by the part that is not zero if only one is.
    #[test]
    fn signs_of_real_and_imaginary_numbers() {
        let Some(lanes) = lanes_or_skip() else { return };
        let zero = blst::blst_fp::default();
        for part in elements() {
            let (is_odd, is_larger) = (Fp::splat(lanes, &part).is_odd(), Fp::splat(lanes, &part).is_larger());
            let of = |c0, c1| Fp2::splat(lanes, &blst_fp2 { fp: [c0, c1] });
            let (real, imaginary, both) = (of(part, zero), of(zero, part), of(part, part));
            assert_eq!([real, imaginary, both].map(|x| x.is_odd()), [is_odd; 3]);
            assert_eq!([real, imaginary, both].map(|x| x.is_larger()), [is_larger; 3]);
            // `is_odd` looks at the real part first, `is_larger` at the imaginary part.
            let negative = zero.minus(&part);
            if !part.is_zero() {
                let mixed = of(part, negative);
                assert_eq!((mixed.is_odd(), mixed.is_larger()), (is_odd, !is_larger));
            }
        }
    }
}
