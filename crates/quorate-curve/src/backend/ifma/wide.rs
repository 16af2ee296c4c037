//! Products before their reduction, and sums of them.
//!
//! A reduction costs as much as a product, so sums of products are reduced once. They are written with [`combine`], which
//! makes each column in one pass: a sum of vectors that went through memory would cost more than its additions.

use core::arch::x86_64::*;

#[cfg(debug_assertions)]
use super::bound::Bound;
use super::{
    fp::Fp,
    fp2::{self, Fp2},
    kernel,
    word::Word,
};

/// Sixteen signed columns of a number that is not reduced yet.
#[derive(Clone, Copy)]
pub(crate) struct Columns {
    pub(super) columns: [__m512i; 16],
    #[cfg(debug_assertions)]
    pub(super) bound: Range,
}

/// Of the number, in p²; and how many products' columns are summed.
#[cfg(debug_assertions)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    least: f64,
    most: f64,
    products: f64,
}

#[cfg(debug_assertions)]
impl Range {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { least: self.least + other.least, most: self.most + other.most, products: self.products + other.products }
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self { least: self.least - other.most, most: self.most - other.least, products: self.products + other.products }
    }

    /// 2^392/p, rounded down: so many p² below zero are made up for.
    const MOST_BELOW_ZERO: f64 = 2500.0;

    fn assert_reducible(self) {
        assert!(self.least >= -Self::MOST_BELOW_ZERO, "{self:?} before a reduction");
        assert!(self.most <= 4.0 * Self::MOST_BELOW_ZERO, "{self:?} before a reduction");
        // A column of a product of Fp is below 40·2^52, and the reduction adds another.
        assert!(self.products <= 48.0, "{self:?} before a reduction");
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
            #[cfg(debug_assertions)]
            bound: {
                $(let $name = $name.bound;)+
                $sum
            },
        }
    }};
}
pub(crate) use combine;

impl Columns {
    /// Divided by R modulo p and added to an element: one unit, about 2p more than that.
    #[inline(always)]
    pub(crate) fn reduce_onto(&self, to: &mut Fp) {
        // SAFETY: see the head of `fp.rs`.
        unsafe { lift_and_reduce(&self.columns, &mut to.limbs) };
        #[cfg(debug_assertions)]
        {
            self.bound.assert_reducible();
            let reduced = Bound::reduced(self.bound.most + 2.0 * Range::MOST_BELOW_ZERO);
            to.bound = Bound { value: reduced.value + to.bound.value, ..reduced };
        }
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
        // SAFETY: see the head of `fp.rs`.
        let product = unsafe { product(&[&a.c0.limbs, &a.c1.limbs], &[&b.c0.limbs, &b.c1.limbs]) };
        #[cfg(debug_assertions)]
        let product = {
            [&a.c0, &a.c1, &b.c0, &b.c1].iter().for_each(|part| part.bound.assert_factor(2));
            let (a, b) = (a.c0.bound.or(a.c1.bound).value, b.c0.bound.or(b.c1.bound).value);
            product.within(Range { least: -a * b, most: 2.0 * a * b, products: 2.0 })
        };
        product
    }

    /// The square of a number with limbs below 2 units and values below 8p.
    #[inline(always)]
    pub(crate) fn square(a: &Fp2) -> Self {
        // SAFETY: see the head of `fp.rs`.
        let square = unsafe { square(&a.c0.limbs, &a.c1.limbs) };
        #[cfg(debug_assertions)]
        let square = {
            [&a.c0, &a.c1].iter().for_each(|part| part.bound.assert_factor(2));
            let value = a.c0.bound.or(a.c1.bound).value;
            assert!(value < 8.0, "{value} p where less than 8 p are allowed");
            square.within(Range { least: -value * value, most: 2.0 * value * (value + 8.0), products: 2.0 })
        };
        square
    }

    #[inline(always)]
    fn of_columns([c0, c1]: [[__m512i; 16]; 2]) -> Self {
        let of = |columns| Columns {
            columns,
            #[cfg(debug_assertions)]
            bound: Range { least: 0.0, most: 0.0, products: 0.0 },
        };
        Self { c0: of(c0), c1: of(c1) }
    }

    #[cfg(debug_assertions)]
    fn within(mut self, bound: Range) -> Self {
        self.c0.bound = bound;
        self.c1.bound = bound;
        self
    }

    /// Divided by R modulo p: one unit, about 2p.
    #[inline(always)]
    pub(crate) fn reduced(&self) -> Fp2 {
        let mut out = Fp2::zero();
        self.reduce_onto(&mut out);
        out
    }

    /// Divided by R modulo p and added to an element: one unit, about 2p more than that.
    #[inline(always)]
    pub(crate) fn reduce_onto(&self, to: &mut Fp2) {
        self.c0.reduce_onto(&mut to.c0);
        self.c1.reduce_onto(&mut to.c1);
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline(never)]
fn product(a: &[&[__m512i; 8]; 2], b: &[&[__m512i; 8]; 2]) -> Wide {
    Wide::of_columns(fp2::columns(a, b))
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline(never)]
fn square(c0: &[__m512i; 8], c1: &[__m512i; 8]) -> Wide {
    Wide::of_columns(fp2::square_columns::<8, _>(c0, c1))
}

#[target_feature(enable = "avx512f,avx512ifma")]
#[inline(never)]
fn lift_and_reduce(a: &[__m512i; 16], to: &mut [__m512i; 8]) {
    let mut columns = fp2::lifted(a);
    for i in 0..8 {
        columns[8 + i] = columns[8 + i].plus(to[i]);
    }
    *to = kernel::reduce(&columns);
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
        if !lanes_or_skip() {
            return;
        }
        let vectors = elements2();
        for (i, a) in vectors.iter().enumerate() {
            let b = &vectors[(5 * i + 3) % vectors.len()];
            let (x, y) = (load(a), load(b));
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
