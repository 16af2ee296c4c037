//! The range of a sum of products before its reduction, in builds with debug assertions.

use super::bound::Bound;
use crate::backend::lanes::tracked::Tracked;

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

    /// 2^392/p, rounded down: the lift raises a number by so many p².
    const MOST_BELOW_ZERO: f64 = 2500.0;

    #[inline(always)]
    pub(super) fn assert_reducible(self) {
        if let Some(extent) = self.0.get() {
            assert!(extent.least >= -Self::MOST_BELOW_ZERO, "{extent:?} before a reduction");
            assert!(extent.most <= 4.0 * Self::MOST_BELOW_ZERO, "{extent:?} before a reduction");
            // A column of a product of Fp is below 40·2^52, and the reduction adds as much again.
            assert!(extent.products <= 48.0, "{extent:?} before a reduction");
        }
    }

    /// The largest number that is reduced, with the lift, in p².
    #[inline(always)]
    pub(super) fn lifted(self) -> Tracked<f64> {
        self.0.with(self.0, |extent, _| extent.most + 2.0 * Self::MOST_BELOW_ZERO)
    }
}

impl Range {
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
