//! Bounds: how large a value can be, [tracked](crate::backend::lanes::tracked) beside the value in builds with debug
//! assertions.

use crate::backend::lanes::tracked::Tracked;

/// The largest limb and the largest value of a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound(Tracked<Largest>);

#[derive(Clone, Copy, Debug)]
struct Largest {
    /// The lower limbs are at most this. The highest is bounded by the value.
    limb: u64,
    /// The value is at most this many p.
    value: f64,
}

/// The weight of the next limb, which is 2^50 for BLS12-381 and less for others: limbs are bounded in units of it.
const UNIT: u64 = 1 << 50;
/// p/2^400 of BLS12-381. It is less for others.
pub(super) const P_OVER_R: f64 = 1.55e-6;

/// The largest value of a product in Fp2, in p. On BN254 the lift of its real part is 0.0157p after the reduction.
pub(super) const LARGEST_IN_FP2: f64 = 2.016;

impl Bound {
    /// A canonical number.
    pub(crate) const CANONICAL: Self = Self::new(1, 1.0);
    /// A product in Fp2 of values of at most 32p each.
    pub(super) const PRODUCT_IN_FP2: Self = Self::new(1, LARGEST_IN_FP2);

    /// Limbs below `units` units, and a value of at most `value`·p.
    #[inline(always)]
    pub(crate) const fn new(units: u64, value: f64) -> Self {
        Self(Tracked::new(Largest { limb: units * UNIT - 1, value }))
    }

    #[inline(always)]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self(self.0.with(other.0, |a, b| Largest { limb: a.limb + b.limb, value: a.value + b.value }))
    }

    /// The bound of a number that is one or the other.
    #[inline(always)]
    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0.with(other.0, |a, b| Largest { limb: a.limb.max(b.limb), value: a.value.max(b.value) }))
    }

    /// The bound after the carries from each limb to the next.
    #[inline(always)]
    pub(crate) fn carried(self) -> Self {
        Self(self.0.with(Self::CANONICAL.0, |a, one_unit| Largest { limb: one_unit.limb, value: a.value }))
    }

    /// The bound after the reduction of a product of two numbers.
    #[inline(always)]
    pub(crate) fn of_product(self, other: Self) -> Self {
        Self(self.0.with(other.0, |a, b| reduced(a.value * b.value)))
    }

    /// The bound after the reduction of a sum of two products.
    #[inline(always)]
    pub(crate) fn of_two_products(a: [Self; 2], b: [Self; 2]) -> Self {
        let value = |a: Self, b: Self| a.0.with(b.0, |a, b| a.value * b.value);
        Self(value(a[0], b[0]).with(value(a[1], b[1]), |first, second| reduced(first + second)))
    }

    /// The bound after a number T is reduced and added to this one, with the carries taken, from T/R in p.
    #[inline(always)]
    pub(crate) fn plus_reduced(self, over_r: Tracked<f64>) -> Self {
        Self(self.0.with(over_r, |a, over_r| Largest { limb: UNIT - 1, value: over_r + 2.0 + a.value }))
    }

    /// The largest value, in p.
    #[inline(always)]
    pub(crate) fn value(self) -> Tracked<f64> {
        self.0.with(self.0, |a, _| a.value)
    }

    /// Asserts that the number can be a factor: every limb is below `units` units, and the multiplier takes at most four
    /// units.
    #[track_caller]
    #[inline(always)]
    pub(crate) fn assert_factor(self, units: u64) {
        if let Some(Largest { limb, .. }) = self.0.get() {
            let found = limb as f64 / UNIT as f64;
            assert!(limb < units * UNIT, "a limb of {found:.3} units where a factor has {units}");
            self.assert_value(1024.0);
        }
    }

    /// Asserts that the number can be subtracted: every limb is at most `units` units less `units`.
    #[track_caller]
    #[inline(always)]
    pub(crate) fn assert_limbs(self, units: u64) {
        if let Some(Largest { limb, .. }) = self.0.get() {
            let found = limb as f64 / UNIT as f64;
            assert!(limb <= units * (UNIT - 1), "a limb of {found:.3} units where {units} are taken away");
        }
    }

    /// Asserts that the value is at most `most`·p.
    #[track_caller]
    #[inline(always)]
    pub(crate) fn assert_value(self, most: f64) {
        if let Some(Largest { value, .. }) = self.0.get() {
            assert!(value <= most, "{value} p where at most {most} p are allowed");
        }
    }
}

/// The bound after the reduction of a number of `products`·p².
fn reduced(products: f64) -> Largest {
    Largest { limb: UNIT - 1, value: products * P_OVER_R + 2.0 }
}
