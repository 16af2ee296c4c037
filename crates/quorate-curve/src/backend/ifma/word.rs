//! What kernels compute with, and the few operations that they are made of.

/// The eight lanes of a [`Vector`](super::vector::Vector), or in the tests one lane or the range of values that a lane can take.
pub(crate) trait Word: Copy {
    /// The same number in every lane, whatever stands in `self`.
    fn splat(self, n: i64) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    /// Adds the low 52 bits of the product of two numbers of 52 bits.
    fn add_low(self, a: Self, b: Self) -> Self;
    /// Adds the product of two numbers of 52 bits, divided by 2^52.
    fn add_high(self, a: Self, b: Self) -> Self;
    /// Four times the number.
    fn times_four(self) -> Self;
    /// The number modulo 2^50.
    fn low_limb(self) -> Self;
    /// The number modulo some power of two that is at least 2^52, for a factor of which only the low bits matter: the
    /// multiplier reads no others.
    #[inline(always)]
    fn truncated(self) -> Self {
        self
    }
    /// The number divided by 2^50, downwards; the number may be negative.
    fn carry(self) -> Self;
    /// The number divided by 2^52, downwards; the number is not negative.
    fn carry_52(self) -> Self;
}
