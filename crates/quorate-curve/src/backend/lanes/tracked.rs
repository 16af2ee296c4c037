//! Values that only builds that [check](CHECKED) keep: how large a number can be.
//!
//! A bound follows from the operations that made a value, not from the value. So one run of a computation proves that
//! no run of the same operations overflows. Random values would prove little, because they rarely come near a bound.
//!
//! In other builds a bound has no size, and its methods do nothing.

pub(crate) use kept::Tracked;

/// Whether the lanes assert the bound of every number: in the tests of this crate, if they have debug assertions. The
/// tests of other crates run the same operations, and would only take longer.
pub(crate) const CHECKED: bool = cfg!(all(test, debug_assertions));

/// In builds that check.
#[cfg(all(test, debug_assertions))]
mod kept {
    /// A value that only builds that check keep.
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
#[cfg(not(all(test, debug_assertions)))]
mod kept {
    use core::marker::PhantomData;

    /// A value that only builds that check keep.
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
