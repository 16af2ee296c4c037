//! Bounds: how large a number can be, [tracked](crate::backend::lanes::tracked) beside it in builds that check.
//!
//! The columns of a sum of products must stay below 2^99 (see [`word`](super::word)), which is 32 products of two units.
//! Seven products of lower limbs meet in column 6. In column 7 six meet, and two that have an eighth limb, which is small.
//! In each column above, one less of the former meets, and the reduction adds its products to the same sums. The highest has
//! the product of both eighth limbs alone. `sizes` proves that no other column is larger, for all bounds.

use core::ops::{Add, Mul};

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
        self.assert_columns(other, columns_of_product);
        Self(self.0.with(other.0, |a, b| reduced(a.value * b.value)))
    }

    /// Of a product in Fp2 after its reduction. The kernel multiplies carried sums with both factors.
    #[inline(always)]
    pub(super) fn of_product_in_fp2(self, other: Self) -> Self {
        self.assert_columns(other, columns_of_product_in_fp2);
        Self(self.0.with(other.0, |a, b| reduced(2.0 * a.value * b.value)))
    }

    /// Of a square in Fp2 after its reduction. The kernel multiplies the sum of the parts with their carried difference,
    /// and twice one part, carried, with the other.
    #[inline(always)]
    pub(super) fn of_square_in_fp2(self) -> Self {
        self.assert_columns(self, |a, _| columns_of_square_in_fp2(a));
        Self(self.0.with(self.0, |a, _| reduced(2.0 * a.value * a.value)))
    }

    /// Asserts that every column of a product stays in its binade, and that carries of its factors can be taken.
    #[inline(always)]
    fn assert_columns(self, other: Self, columns: impl Fn([f64; 2], [f64; 2]) -> [f64; 4]) {
        if let (Some(a), Some(b)) = (self.0.get(), other.0.get()) {
            let is_factor = |n: Largest| n.units <= LARGEST_FACTOR[0] && n.value <= LARGEST_FACTOR[1];
            assert!(is_factor(a) && is_factor(b), "no factors: {a:?} and {b:?}");
            let most = columns([a.units, a.value], [b.units, b.value]).into_iter().fold(0.0, f64::max);
            assert!(most <= MOST_PRODUCTS, "{most} products of units in a column, of {a:?} and {b:?}");
        }
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

/// The most products of units that a column may have. In 2^99 are 32, and the limits of carries and of roundings take a little.
pub(super) const MOST_PRODUCTS: f64 = 31.99;
/// The most units and the largest value of a factor, in p.
pub(super) const LARGEST_FACTOR: [f64; 2] = [31.0, 62.0];

/// What a reduction adds to the columns above the seventh, in products of units, rounded up: column 12 has the most.
const REDUCTION: f64 = 4.4;

/// What columns are computed with: numbers, or in the tests polynomials in the bounds of the factors.
pub(super) trait Number: Copy + Add<Output = Self> + Mul<Output = Self> + From<f64> {}

impl<T: Copy + Add<Output = T> + Mul<Output = T> + From<f64>> Number for T {}

/// The columns up to the sixth, the seventh, those above it, and the highest, in products of units: so many products of lower
/// limbs for each pair that meets, those with one eighth limb, and that of both. A reduction may continue the sums.
fn columns<T: Number>(pair: T, tops: T, highest: T, reduction: f64) -> [T; 4] {
    let times = |n: f64| T::from(n) * pair;
    let added = T::from(reduction);
    [times(7.0), times(6.0) + tops, times(5.0) + tops + added, highest + added]
}

/// The columns of a product of numbers with so many units and p.
pub(super) fn columns_of_product<T: Number>([u, v]: [T; 2], [w, x]: [T; 2]) -> [T; 4] {
    let top = T::from(TOP_OF_P);
    columns(u * w, top * (u * x + v * w), top * top * v * x, REDUCTION)
}

/// Those of a product in Fp2, which another kernel reduces.
pub(super) fn columns_of_product_in_fp2<T: Number>([u, v]: [T; 2], [w, x]: [T; 2]) -> [T; 4] {
    let (top, two) = (T::from(TOP_OF_P), T::from(2.0));
    columns(u + w, top * (two * v * w + x + v + two * u * x), two * two * top * top * v * x, 0.0)
}

/// Those of a square in Fp2.
pub(super) fn columns_of_square_in_fp2<T: Number>([u, v]: [T; 2]) -> [T; 4] {
    let two = T::from(2.0);
    columns_of_product([two * u, two * v], [T::from(1.0), two * v])
}

/// The bound after the reduction of a number of `products`·p².
fn reduced(products: f64) -> Largest {
    Largest { units: ONE_UNIT, value: products * P_OVER_R + REDUCED }
}
