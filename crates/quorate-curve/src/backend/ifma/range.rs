//! The range of a sum of products before its reduction, in builds that [check](crate::backend::lanes::tracked::CHECKED).

use super::bound::Bound;
use crate::backend::lanes::{constant::Modulus, tracked::Tracked};

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
    pub(super) fn of_product(a: Bound, b: Bound) -> Self {
        Self(a.value().with(b.value(), |a, b| Extent { least: -a * b, most: 2.0 * a * b, products: 2.0 }))
    }

    /// The range of a square in Fp2 of a value below 8p.
    pub(super) fn of_square(a: Bound) -> Self {
        a.assert_value(7.99);
        let value = a.value();
        Self(value.with(value, |a, _| Extent { least: -a * a, most: 2.0 * a * (a + 8.0), products: 2.0 }))
    }

    #[inline(always)]
    pub(super) fn assert_reducible<C: Modulus>(self) {
        if let Some(extent) = self.0.get() {
            assert!(extent.least >= -lift::<C>(), "{extent:?} before a reduction");
            assert!(extent.most <= 4.0 * lift::<C>(), "{extent:?} before a reduction");
            assert!(extent.products <= C::MOST_PRODUCTS, "{extent:?} before a reduction");
        }
    }

    /// The largest T/R of a number T that is reduced, with the lift, in p.
    #[inline(always)]
    pub(super) fn over_r<C: Modulus>(self) -> Tracked<f64> {
        self.0.with(self.0, |extent, _| {
            (extent.most + 2.0 * lift::<C>()) * p::<C>() / two_to(C::INTEGER_BITS * C::LIMBS as u32)
        })
    }
}

/// p, nearly.
fn p<C: Modulus>() -> f64 {
    C::P.iter().rev().fold(0.0, |p, word| p * two_to(64) + *word as f64)
}

/// 2^`LIFT_BITS`/p, rounded down: the lift raises a number by so many p².
fn lift<C: Modulus>() -> f64 {
    (two_to(C::LIFT_BITS) / p::<C>()) as u64 as f64
}

fn two_to(power: u32) -> f64 {
    (0..power).fold(1.0, |product, _| 2.0 * product)
}

impl Range {
    /// Of nine times the number.
    #[inline(always)]
    pub(super) fn nine_times(self) -> Self {
        let times = |n| 9.0 * n;
        Self(self.0.with(self.0, |a, _| Extent {
            least: times(a.least),
            most: times(a.most),
            products: times(a.products),
        }))
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
}
