//! Bounds: how large a value can be, tracked beside the value in builds with debug assertions.
//!
//! A bound follows from the operations that made a value, not from the value. So one run of a computation proves that
//! no run of the same operations overflows. Random values would prove little, because they rarely come near a bound.
//!
//! In other builds a bound has no size, and its methods do nothing.

pub(super) use kept::Tracked;

/// In builds with debug assertions.
#[cfg(debug_assertions)]
mod kept {
    /// A value that only builds with debug assertions keep.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Tracked<T>(T);

    impl<T: Copy> Tracked<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(value)
        }

        /// The value, where it is kept.
        pub(crate) const fn get(self) -> Option<T> {
            Some(self.0)
        }

        /// What follows from two values.
        pub(crate) fn with<U: Copy, V: Copy>(self, other: Tracked<U>, follow: impl Fn(T, U) -> V) -> Tracked<V> {
            Tracked(follow(self.0, other.0))
        }
    }
}

/// In other builds.
#[cfg(not(debug_assertions))]
mod kept {
    use core::marker::PhantomData;

    /// A value that only builds with debug assertions keep.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Tracked<T>(PhantomData<T>);

    impl<T: Copy> Tracked<T> {
        #[inline(always)]
        pub(crate) const fn new(_: T) -> Self {
            Self(PhantomData)
        }

        /// The value, where it is kept.
        #[inline(always)]
        pub(crate) const fn get(self) -> Option<T> {
            None
        }

        /// What follows from two values.
        #[inline(always)]
        pub(crate) fn with<U: Copy, V: Copy>(self, _: Tracked<U>, _: impl Fn(T, U) -> V) -> Tracked<V> {
            Tracked(PhantomData)
        }
    }
}

/// The largest limb and the largest value of a number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound(Tracked<Largest>);

#[derive(Clone, Copy, Debug)]
struct Largest {
    /// The lower seven limbs are at most this. The eighth is bounded by the value.
    limb: u64,
    /// The value is at most this many p.
    value: f64,
}

/// 2^50, the weight of the next limb.
const UNIT: u64 = 1 << 50;
/// p/2^400.
const P_OVER_R: f64 = 1.55e-6;

impl Bound {
    /// A canonical number.
    pub(crate) const CANONICAL: Self = Self::new(1, 1.0);

    /// Limbs below `units`·2^50, and a value of at most `value`·p.
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

    /// The bound after a number of `products`·p² is reduced and added to this one, with the carries taken.
    #[inline(always)]
    pub(crate) fn plus_reduced(self, products: Tracked<f64>) -> Self {
        Self(self.0.with(products, |a, products| {
            let reduced = reduced(products);
            Largest { value: reduced.value + a.value, ..reduced }
        }))
    }

    /// The largest value, in p.
    #[inline(always)]
    pub(crate) fn value(self) -> Tracked<f64> {
        self.0.with(self.0, |a, _| a.value)
    }

    /// Asserts that the number can be a factor: every limb is below `units`·2^50, and the multiplier takes at most four
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

    /// Asserts that the number can be subtracted: every limb is at most `units`·(2^50 - 1).
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
