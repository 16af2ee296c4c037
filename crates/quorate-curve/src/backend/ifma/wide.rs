//! Products before their reduction, and sums of them.
//!
//! A reduction costs as much as a product, so a sum of products is reduced once. [`combine`] writes such a sum and
//! computes each column in one pass, because a sum of vectors that goes through memory costs more than its additions.

use super::{
    bound::{Bound, Tracked},
    fp::Fp,
    fp2::{self, Fp2},
    kernel,
    vector::{Ifma, Vector, in_lanes},
    word::Word,
};

/// Sixteen signed columns of a number that is not reduced yet.
#[derive(Clone, Copy)]
pub(crate) struct Columns {
    pub(super) columns: [Vector; 16],
    pub(super) range: Range,
}

/// The range of a number, tracked as a [`Bound`] is.
#[derive(Clone, Copy)]
pub(super) struct Range(Tracked<Extent>);

/// The range of the number in p², and how many products its columns sum.
#[derive(Clone, Copy, Debug)]
struct Extent {
    least: f64,
    most: f64,
    products: f64,
}

impl Range {
    /// The range of a product of two numbers in Fp2.
    fn of_product(a: Bound, b: Bound) -> Self {
        Self(a.value().with(b.value(), |a, b| Extent { least: -a * b, most: 2.0 * a * b, products: 2.0 }))
    }

    /// The range of a square in Fp2 of a value below 8p.
    fn of_square(a: Bound) -> Self {
        a.assert_value(7.99);
        let value = a.value();
        Self(value.with(value, |a, _| Extent { least: -a * a, most: 2.0 * a * (a + 8.0), products: 2.0 }))
    }

    #[inline(always)]
    pub(super) fn plus(self, other: Self) -> Self {
        Self(self.0.with(other.0, |a, b| Extent {
            least: a.least + b.least,
            most: a.most + b.most,
            products: a.products + b.products,
        }))
    }

    #[inline(always)]
    pub(super) fn minus(self, other: Self) -> Self {
        Self(self.0.with(other.0, |a, b| Extent {
            least: a.least - b.most,
            most: a.most - b.least,
            products: a.products + b.products,
        }))
    }

    /// 2^392/p, rounded down: the lift raises a number by so many p².
    const MOST_BELOW_ZERO: f64 = 2500.0;

    #[inline(always)]
    fn assert_reducible(self) {
        if let Some(extent) = self.0.get() {
            assert!(extent.least >= -Self::MOST_BELOW_ZERO, "{extent:?} before a reduction");
            assert!(extent.most <= 4.0 * Self::MOST_BELOW_ZERO, "{extent:?} before a reduction");
            // A column of a product of Fp is below 40·2^52, and the reduction adds as much again.
            assert!(extent.products <= 48.0, "{extent:?} before a reduction");
        }
    }

    /// The largest number that is reduced, with the lift, in p².
    #[inline(always)]
    fn lifted(self) -> Tracked<f64> {
        self.0.with(self.0, |extent, _| extent.most + 2.0 * Self::MOST_BELOW_ZERO)
    }
}

/// Sums of columns: `combine!(a = x.c0, b = y.c1 => a.plus(b).minus(a))`.
macro_rules! combine {
    ($($name:ident = $columns:expr),+ => $sum:expr) => {{
        $(let $name: &$crate::backend::ifma::wide::Columns = &$columns;)+
        $crate::backend::ifma::wide::Columns {
            columns: $crate::backend::ifma::kernel::limbs_of!(I < 16 => {
                $(let $name = $name.columns[I];)+
                $sum
            }),
            range: {
                $(let $name = $name.range;)+
                $sum
            },
        }
    }};
}
pub(crate) use combine;

impl Columns {
    /// Divides by R modulo p and adds the result to an element. Then it has limbs below one unit and is larger by about 2p.
    #[inline(always)]
    pub(crate) fn reduce_onto(&self, to: &mut Fp) {
        lift_and_reduce(to.lanes(), &self.columns, &mut to.limbs);
        self.range.assert_reducible();
        to.bound = to.bound.plus_reduced(self.range.lifted());
    }
}

/// An element of Fp2 that is not reduced yet.
#[derive(Clone, Copy)]
pub(crate) struct Wide {
    pub(crate) c0: Columns,
    pub(crate) c1: Columns,
}

impl Wide {
    /// The product of factors with limbs below 2 units.
    #[inline(always)]
    pub(crate) fn product(a: &Fp2, b: &Fp2) -> Self {
        [&a.c0, &a.c1, &b.c0, &b.c1].iter().for_each(|part| part.bound.assert_factor(2));
        let range = Range::of_product(a.c0.bound.or(a.c1.bound), b.c0.bound.or(b.c1.bound));
        let mut out = product(a.lanes(), &[&a.c0.limbs, &a.c1.limbs], &[&b.c0.limbs, &b.c1.limbs]);
        (out.c0.range, out.c1.range) = (range, range);
        out
    }

    /// The square of a number with limbs below 2 units and values below 8p.
    #[inline(always)]
    pub(crate) fn square(a: &Fp2) -> Self {
        [&a.c0, &a.c1].iter().for_each(|part| part.bound.assert_factor(2));
        let range = Range::of_square(a.c0.bound.or(a.c1.bound));
        let mut out = square(a.lanes(), &a.c0.limbs, &a.c1.limbs);
        (out.c0.range, out.c1.range) = (range, range);
        out
    }

    #[inline(always)]
    fn of_columns([c0, c1]: [[Vector; 16]; 2]) -> Self {
        let range = Range(Tracked::new(Extent { least: 0.0, most: 0.0, products: 0.0 }));
        Self { c0: Columns { columns: c0, range }, c1: Columns { columns: c1, range } }
    }

    /// Divides by R modulo p. The result has limbs below one unit and values of about 2p.
    #[inline(always)]
    pub(crate) fn reduced(&self) -> Fp2 {
        let mut out = Fp2::zero(self.c0.columns[0].lanes());
        self.reduce_onto(&mut out);
        out
    }

    /// Divides by R modulo p and adds the result to an element. Then it has limbs below one unit and is larger by about 2p.
    #[inline(always)]
    pub(crate) fn reduce_onto(&self, to: &mut Fp2) {
        self.c0.reduce_onto(&mut to.c0);
        self.c1.reduce_onto(&mut to.c1);
    }
}

in_lanes! {
    #[inline(never)]
    fn product(lanes: Ifma, a: &[&[Vector; 8]; 2], b: &[&[Vector; 8]; 2]) -> Wide {
        Wide::of_columns(fp2::columns(a, b))
    }

    #[inline(never)]
    fn square(lanes: Ifma, c0: &[Vector; 8], c1: &[Vector; 8]) -> Wide {
        Wide::of_columns(fp2::square_columns::<8, _>(c0, c1))
    }

    #[inline(never)]
    fn lift_and_reduce(lanes: Ifma, a: &[Vector; 16], to: &mut [Vector; 8]) {
        let mut columns = fp2::lifted(a);
        for i in 0..8 {
            columns[8 + i] = columns[8 + i].plus(to[i]);
        }
        *to = kernel::reduce(&columns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        arithmetic::field::Field as _,
        backend::ifma::{
            fp2::tests::{elements2, load},
            lanes_or_skip,
        },
    };

    #[test]
    fn sums_of_products_are_reduced_once() {
        let Some(lanes) = lanes_or_skip() else { return };
        let vectors = elements2();
        for (i, a) in vectors.iter().enumerate() {
            let b = &vectors[(5 * i + 3) % vectors.len()];
            let (x, y) = (load(lanes, a), load(lanes, b));
            let (product, square) = (Wide::product(&x, &y), Wide::square(&x));
            let sum = Wide {
                c0: combine!(p = product.c0, s = square.c0, t = square.c1 => p.minus(s).plus(t)),
                c1: combine!(p = product.c1, s = square.c0, t = square.c1 => p.minus(s).minus(t)),
            };
            let one_plus_i = blst::blst_fp2 { fp: [crate::arithmetic::curve::ONE; 2] };
            let expected: [_; 8] = core::array::from_fn(|lane| {
                let (a, b) = (&a[lane], &b[lane]);
                a.times(b).minus(&a.squared().times(&one_plus_i)).plus(b)
            });
            let mut onto = y;
            sum.reduce_onto(&mut onto);
            assert_eq!(onto.store(), expected);
        }
    }
}
