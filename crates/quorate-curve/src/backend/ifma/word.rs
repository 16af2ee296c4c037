//! What kernels compute with, and the few operations that they are made of.

use crate::backend::lanes::integer::Integer;

/// Sixteen numbers: the first eight, and the others.
pub(crate) type Table = [[i64; 8]; 2];

/// A number that kernels compute with: the eight lanes of a [`Vector`](super::vector::Vector), or in the tests one lane
/// or a number of which a proof knows what it is made of.
pub(crate) trait Word: Integer {
    fn minus(self, other: Self) -> Self;
    /// Adds the low 52 bits of the product of two numbers of 52 bits.
    fn add_low(self, a: Self, b: Self) -> Self;
    /// Adds the product of two numbers of 52 bits, divided by 2^52.
    fn add_high(self, a: Self, b: Self) -> Self;
    /// The number times 2^`bits`.
    fn scaled(self, bits: u32) -> Self;
    /// The number modulo a power of two that is at least 2^52. Factors may use it, because the multiplier reads only
    /// the lowest 52 bits.
    #[inline(always)]
    fn truncated(self) -> Self {
        self
    }
    /// The number divided by 2^52, rounded down. The number is not negative.
    fn carry_52(self) -> Self;
    /// The number modulo 2^52.
    fn low_limb_52(self) -> Self;
    /// The number divided by 2^52, rounded down. The number may be negative.
    fn signed_carry_52(self) -> Self;
    /// The number of a table that this number counts, from 0 to 15.
    fn entry(self, table: &Table) -> Self;
}
