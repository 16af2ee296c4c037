//! Bounds: how large a number can be, [tracked](crate::backend::lanes::tracked) beside it in builds that check.
//!
//! The columns of a sum of products must stay below 2^99 (see [`word`](super::word)), which is 32 products of two units.
//! Seven products of lower limbs meet in column 6. In column 7 six meet, and two that have an eighth limb, which is small.
//! In each column above, one less of the former meets, and the reduction adds its products to the same sums.

use crate::backend::lanes::tracked::Tracked;

/// The largest limb and the largest value of a number, both absolute.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound(Tracked<Largest>);

#[derive(Clone, Copy, Debug)]
struct Largest {
    /// The lower seven limbs are at most this many units of 2^47. The eighth is bounded by the value.
    units: f64,
    /// The value is at most this many p.
    value: f64,
}

/// A limb after its carry: at most 2^47, and what the limb below gave it.
const ONE_UNIT: f64 = 1.0001;
/// p/2^384, rounded up.
pub(super) const P_OVER_R: f64 = 0.1016;
/// The eighth limb of p in units, rounded up.
pub(super) const TOP_OF_P: f64 = 0.204;
/// What a reduction adds to T/R, in p: see [`kernel::reduce`](super::kernel::reduce).
pub(super) const REDUCED: f64 = 0.812;

impl Bound {
    pub(super) const ZERO: Self = Self::new(0.0, 0.0);
    /// A number below 2^384 in limbs of 48 bits without a sign.
    pub(super) const UNSIGNED: Self = Self::new(2.0, 9.85);
    /// A constant or a number whose carries were taken, below p.
    pub(super) const CANONICAL: Self = Self::new(ONE_UNIT, 1.0);
    /// What [`kernel::normalise`](super::kernel::normalise) gives.
    pub(super) const NORMALISED: Self = Self::new(ONE_UNIT, 0.51);

    /// 7p in limbs whose carries were taken.
    #[cfg(test)]
    pub(super) const SEVEN_P: Self = Self::new(ONE_UNIT, 7.0);

    pub(super) const fn new(units: f64, value: f64) -> Self {
        Self(Tracked::new(Largest { units, value }))
    }

    /// Of a sum or a difference.
    #[inline(always)]
    pub(super) fn plus(self, other: Self) -> Self {
        Self(self.0.with(other.0, |a, b| Largest { units: a.units + b.units, value: a.value + b.value }))
    }

    /// The bound of a number that is one or the other.
    #[inline(always)]
    pub(super) fn or(self, other: Self) -> Self {
        Self(self.0.with(other.0, |a, b| Largest { units: a.units.max(b.units), value: a.value.max(b.value) }))
    }

    /// Of a product after its reduction.
    #[inline(always)]
    pub(super) fn of_product(self, other: Self) -> Self {
        if let (Some(a), Some(b)) = (self.0.get(), other.0.get()) {
            let products = a.units * b.units;
            let tops = TOP_OF_P * (a.units * b.value + a.value * b.units);
            assert_columns(products, tops, true, a, b);
        }
        Self(self.0.with(other.0, |a, b| reduced(a.value * b.value)))
    }

    /// Of a product in Fp2 after its reduction. The kernel multiplies carried sums with both factors.
    #[inline(always)]
    pub(super) fn of_product_in_fp2(self, other: Self) -> Self {
        if let (Some(a), Some(b)) = (self.0.get(), other.0.get()) {
            let units = a.units + b.units;
            let tops = TOP_OF_P * (2.0 * a.value * b.units + b.value + a.value + 2.0 * a.units * b.value);
            assert_columns(units, tops, false, a, b);
        }
        Self(self.0.with(other.0, |a, b| reduced(2.0 * a.value * b.value)))
    }

    /// Of a square in Fp2 after its reduction. The kernel multiplies the sum of the parts with their carried difference,
    /// and twice one part, carried, with the other.
    #[inline(always)]
    pub(super) fn of_square_in_fp2(self) -> Self {
        if let Some(a) = self.0.get() {
            let tops = TOP_OF_P * (4.0 * a.units * a.value + 2.0 * a.value);
            assert_columns(2.0 * a.units, tops, true, a, a);
        }
        Self(self.0.with(self.0, |a, _| reduced(2.0 * a.value * a.value)))
    }

    /// Asserts that the number can be normalised.
    #[inline(always)]
    pub(super) fn assert_normalisable(self) {
        if let Some(Largest { units, value }) = self.0.get() {
            assert!(units <= 31.0 && value <= 31.0, "limbs of {units} units, {value} p");
        }
    }

    /// Asserts that the number is normalised.
    #[inline(always)]
    pub(super) fn assert_normalised(self) {
        if let Some(Largest { units, value }) = self.0.get() {
            assert!(units <= ONE_UNIT && value <= 0.52, "limbs of {units} units, {value} p");
        }
    }
}

/// Asserts that every column stays in its binade: so many products of lower limbs for each pair that meets, and those with
/// an eighth limb. `continued` says that the reduction continues the sums.
fn assert_columns(pair: f64, tops: f64, continued: bool, a: Largest, b: Largest) {
    let above = 5.0 * pair + tops + if continued { REDUCTION } else { 0.0 };
    let most = (7.0 * pair).max(6.0 * pair + tops).max(above);
    assert!(most < 32.0, "{most} products of units in a column, of {a:?} and {b:?}");
}

/// What a reduction adds to a column above the seventh, in products of units, rounded up: column 12 has the most.
const REDUCTION: f64 = 4.4;

/// The bound after the reduction of a number of `products`·p².
fn reduced(products: f64) -> Largest {
    Largest { units: ONE_UNIT, value: products * P_OVER_R + REDUCED }
}
