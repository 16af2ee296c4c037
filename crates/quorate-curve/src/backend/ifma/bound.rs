//! How large a value can be, tracked beside it in builds with debug assertions.
//!
//! A bound follows from the operations that made a value and not from the value, so that one run of a computation proves
//! that no run of the same operations overflows. Random values would not: they hardly ever come near a bound.

/// The largest limb and the largest value, in p.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bound {
    /// The lower seven limbs are at most this. The eighth is bounded by the value.
    pub(crate) limb: u64,
    /// The value is at most this many p.
    pub(crate) value: f64,
}

/// 2^50: what a limb holds of its own.
pub(crate) const UNIT: u64 = 1 << 50;
/// p/2^400.
const P_OVER_R: f64 = 1.55e-6;

impl Bound {
    /// A canonical number.
    pub(crate) const CANONICAL: Self = Self { limb: UNIT - 1, value: 1.0 };

    pub(crate) fn plus(self, other: Self) -> Self {
        Self { limb: self.limb + other.limb, value: self.value + other.value }
    }

    /// Of a number that can be either.
    pub(crate) fn or(self, other: Self) -> Self {
        Self { limb: self.limb.max(other.limb), value: self.value.max(other.value) }
    }

    /// After the carries from each limb to the next.
    pub(crate) fn carried(self) -> Self {
        Self { limb: UNIT - 1, value: self.value }
    }

    /// After the reduction of a product of so many p².
    pub(crate) fn reduced(products: f64) -> Self {
        Self { limb: UNIT - 1, value: products * P_OVER_R + 2.0 }
    }

    /// Asserts that the number is a factor: every limb below `units`·2^50, of which the multiplier takes four.
    #[track_caller]
    pub(crate) fn assert_factor(self, units: u64) {
        assert!(self.limb < units * UNIT, "a limb of {:.3} units where a factor has {units}", self.units());
        self.assert_value(1024.0);
    }

    /// Asserts that the value is at most so many p.
    #[track_caller]
    pub(crate) fn assert_value(self, most: f64) {
        assert!(self.value <= most, "{} p where at most {most} p are allowed", self.value);
    }

    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn units(self) -> f64 {
        self.limb as f64 / UNIT as f64
    }
}
