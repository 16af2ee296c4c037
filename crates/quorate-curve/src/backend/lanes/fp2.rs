//! Eight elements of Fp2 = Fp(i), i² = -1.

pub(crate) use super::field::Fp2;
use super::{
    constant::Constant,
    field::{Field, LANES, Mask, Parameters, PrimeField, Words},
};

impl<P: PrimeField> Fp2<P> {
    #[inline(always)]
    pub(crate) fn new(c0: P, c1: P) -> Self {
        Self { c0, c1 }
    }

    /// A constant in every lane.
    #[inline(always)]
    pub(crate) fn constant(lanes: P::Lanes, [c0, c1]: &[Constant<P::Curve>; 2]) -> Self {
        Self::new(P::constant(lanes, c0), P::constant(lanes, c1))
    }

    /// c0 - c1·i.
    #[inline(always)]
    pub(crate) fn conjugated(&self) -> Self {
        Self::new(self.c0, self.c1.negated())
    }

    /// The product of a number with limbs below one unit and values below 4p with ξ. It has limbs below three units and values
    /// below 8p.
    #[inline(always)]
    pub(crate) fn times_xi(&self) -> Self {
        P::Curve::times_xi(self)
    }

    /// The norm c0² + c1² of a number with limbs below 2 units.
    #[inline(always)]
    pub(crate) fn norm(&self) -> P {
        self.c0.squared().plus(&self.c1.squared())
    }
}

/// Both parts by one expression.
macro_rules! each_part {
    ($method:ident($self:ident $(, $other:ident)*)) => {
        Self::new($self.c0.$method($(&$other.c0),*), $self.c1.$method($(&$other.c1),*))
    };
}

impl<P: PrimeField> Field for Fp2<P> {
    type Lanes = P::Lanes;
    type Fp = P;
    type Element = <P::Curve as Parameters>::Element2;
    const PARTS: usize = 2;
    type Row = [P::Row; 2];
    const ZERO_ROW: Self::Row = [P::ZERO_ROW; 2];

    #[inline(always)]
    fn lanes(&self) -> P::Lanes {
        self.c0.lanes()
    }

    #[inline(always)]
    fn zero(lanes: P::Lanes) -> Self {
        Self::new(P::zero(lanes), P::zero(lanes))
    }

    #[inline(always)]
    fn one(lanes: P::Lanes) -> Self {
        Self::new(P::one(lanes), P::zero(lanes))
    }

    #[inline(always)]
    fn load(lanes: P::Lanes, elements: &[&Self::Element; LANES]) -> Self {
        let part = |i: usize| P::load(lanes, &elements.map(|element| P::Curve::parts(element)[i]));
        Self::new(part(0), part(1))
    }

    #[inline(always)]
    fn store(&self) -> [Self::Element; LANES] {
        let (c0, c1) = (self.c0.store(), self.c1.store());
        core::array::from_fn(|lane| P::Curve::of_parts([c0[lane], c1[lane]]))
    }

    #[inline(always)]
    fn from_words(lanes: P::Lanes, [c0, c1]: &Words) -> Self {
        let part = |words| P::from_words(lanes, &[words, [[0; LANES]; 6]]);
        Self::new(part(*c0), part(*c1))
    }

    #[inline(always)]
    fn gather(lanes: P::Lanes, rows: &[&[P::Row; 2]; LANES]) -> Self {
        let part = |i: usize| P::gather(lanes, &core::array::from_fn(|lane| &rows[lane][i]));
        Self::new(part(0), part(1))
    }

    #[inline(always)]
    fn scatter(&self) -> [[P::Row; 2]; LANES] {
        let (c0, c1) = (self.c0.scatter(), self.c1.scatter());
        core::array::from_fn(|i| [c0[i], c1[i]])
    }

    #[inline(always)]
    fn blank(&self) -> Mask {
        self.c0.blank() & self.c1.blank()
    }

    #[inline(always)]
    fn plus(&self, other: &Self) -> Self {
        each_part!(plus(self, other))
    }

    #[inline(always)]
    fn sum_factor(&self, other: &Self) -> Self {
        each_part!(sum_factor(self, other))
    }

    #[inline(always)]
    fn minus(&self, other: &Self) -> Self {
        each_part!(minus(self, other))
    }

    #[inline(always)]
    fn minus_sum(&self, other: &Self) -> Self {
        each_part!(minus_sum(self, other))
    }

    #[inline(always)]
    fn subtract<const TIMES: i64, const UNITS: i64>(&self, other: &Self) -> Self {
        Self::new(self.c0.subtract::<TIMES, UNITS>(&other.c0), self.c1.subtract::<TIMES, UNITS>(&other.c1))
    }

    #[inline(always)]
    fn negated(&self) -> Self {
        each_part!(negated(self))
    }

    #[inline(always)]
    fn carried(&self) -> Self {
        each_part!(carried(self))
    }

    #[inline(always)]
    fn shrunk(&self) -> Self {
        each_part!(shrunk(self))
    }

    /// Its carries are taken.
    #[inline(always)]
    fn factor(&self) -> Self {
        self.carried()
    }

    #[inline(always)]
    fn times(&self, other: &Self) -> Self {
        P::times_in_fp2(self, other)
    }

    #[inline(always)]
    fn squared(&self) -> Self {
        P::squared_in_fp2(self)
    }

    /// The product with an element of Fp, both with limbs below 4 units.
    #[inline(always)]
    fn times_fp(&self, other: &P) -> Self {
        Self::new(self.c0.times(other), self.c1.times(other))
    }

    #[inline(always)]
    fn inverted(&self) -> Self {
        let inverse = self.norm().inverted();
        Self::new(self.c0.times(&inverse), self.c1.negated().times(&inverse))
    }

    #[inline(always)]
    fn or(&self, mask: Mask, other: &Self) -> Self {
        Self::new(self.c0.or(mask, &other.c0), self.c1.or(mask, &other.c1))
    }

    #[inline(always)]
    fn is_zero(&self) -> Mask {
        self.c0.is_zero() & self.c1.is_zero()
    }

    #[inline(always)]
    fn equals(&self, other: &Self) -> Mask {
        self.c0.equals(&other.c0) & self.c1.equals(&other.c1)
    }

    /// Whether the first part that is not zero is odd.
    #[inline(always)]
    fn is_odd(&self) -> Mask {
        self.c0.is_odd() | (self.c0.is_zero() & self.c1.is_odd())
    }

    /// The imaginary part counts first.
    #[inline(always)]
    fn is_larger(&self) -> Mask {
        self.c1.is_larger() | (self.c1.is_zero() & self.c0.is_larger())
    }

    #[inline(always)]
    fn image(x: &Self, y: &Self) -> (Self, Self) {
        let [of_x, of_y] = P::Curve::PSI;
        let part = |part: &Self, factor| part.conjugated().carried().times(&Self::constant(x.lanes(), &factor));
        (part(x, of_x), part(y, of_y))
    }

    #[inline(always)]
    fn permuted(&self, from: [i64; LANES]) -> Self {
        Self::new(self.c0.permuted(from), self.c1.permuted(from))
    }

    #[inline(always)]
    fn gathered(&self, other: &Self, from: [i64; LANES]) -> Self {
        Self::new(self.c0.gathered(&other.c0, from), self.c1.gathered(&other.c1, from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blst::blst_fp2;

    use crate::{
        arithmetic::field::{BlstField as _, Field as _},
        backend::lanes::tests::{elements, elements2, in_each_kind_and_serially, load2},
    };

    in_each_kind_and_serially! {
        fn agrees_with_blst(lanes: L) {
            let vectors = elements2();
            for (i, a) in vectors.iter().enumerate() {
                let b = &vectors[(5 * i + 3) % vectors.len()];
                let (x, y) = (load2(lanes, a), load2(lanes, b));
                let each = |f: fn(&blst_fp2, &blst_fp2) -> blst_fp2| core::array::from_fn(|lane| f(&a[lane], &b[lane]));
                assert_eq!(x.store(), *a);
                assert_eq!(x.times(&y).store(), each(|a, b| a.times(b)));
                assert_eq!(x.squared().store(), each(|a, _| a.squared()));
                assert_eq!(x.plus(&y).store(), each(|a, b| a.plus(b)));
                assert_eq!(x.minus(&y).store(), each(|a, b| a.minus(b)));
                let (sum, difference) = (x.plus(&y), x.minus(&y).carried());
                assert_eq!(sum.times(&difference).store(), each(|a, b| a.plus(b).times(&a.minus(b))));
                assert_eq!(sum.squared().store(), each(|a, b| a.plus(b).squared()));
                let large = Fp2::new(x.c0.largest(), x.c1.largest()).carried();
                assert!(large.c0.store() == x.c0.store());
                assert_eq!(x.times_fp(&y.c0.largest()).store(), each(|a, b| a.times_fp(&b.fp[0])));
            }
        }
    }

    in_each_kind_and_serially! {
        /// Which number is larger than its negative and which is odd, decided by the part that is not zero if only one
        /// is.
        fn signs_of_real_and_imaginary_numbers(lanes: L) {
            let zero = blst::blst_fp::default();
            for part in elements() {
                let (is_odd, is_larger) = (L::Fp::splat(lanes, &part).is_odd(), L::Fp::splat(lanes, &part).is_larger());
                let of = |c0, c1| Fp2::<L::Fp>::splat(lanes, &blst_fp2 { fp: [c0, c1] });
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
}
