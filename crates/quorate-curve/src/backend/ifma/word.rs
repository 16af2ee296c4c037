//! Eight 64-bit integers, one for each lane, and the few instructions that kernels are made of.

use core::arch::x86_64::*;

/// What a kernel computes with: eight lanes of a vector, or in the tests the range of values that a lane can take.
///
/// The methods are always inlined, so that they become instructions inside functions that enable AVX-512.
pub(crate) trait Word: Copy {
    /// The same number in every lane.
    fn splat(n: i64) -> Self;
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
    fn truncated(self) -> Self;
    /// The number divided by 2^50, downwards; the number may be negative.
    fn carry(self) -> Self;
    /// The number divided by 2^52, downwards; the number is not negative.
    fn carry_52(self) -> Self;
}

// SAFETY, for every block below: lanes exist only where `Ifma::detect` found the instructions (see `Fp`).
impl Word for __m512i {
    #[inline(always)]
    fn splat(n: i64) -> Self {
        // SAFETY: see above.
        unsafe { _mm512_set1_epi64(n) }
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { _mm512_add_epi64(self, other) }
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        // SAFETY: see above.
        unsafe { _mm512_sub_epi64(self, other) }
    }

    #[inline(always)]
    fn add_low(self, a: Self, b: Self) -> Self {
        // SAFETY: see above.
        unsafe { _mm512_madd52lo_epu64(self, a, b) }
    }

    #[inline(always)]
    fn add_high(self, a: Self, b: Self) -> Self {
        // SAFETY: see above.
        unsafe { _mm512_madd52hi_epu64(self, a, b) }
    }

    #[inline(always)]
    fn times_four(self) -> Self {
        // SAFETY: see above.
        unsafe { _mm512_slli_epi64(self, 2) }
    }

    #[inline(always)]
    fn low_limb(self) -> Self {
        // SAFETY: see above.
        unsafe { _mm512_and_si512(self, _mm512_set1_epi64((1 << 50) - 1)) }
    }

    #[inline(always)]
    fn truncated(self) -> Self {
        self
    }

    #[inline(always)]
    fn carry(self) -> Self {
        // SAFETY: see above.
        unsafe { _mm512_srai_epi64(self, 50) }
    }

    #[inline(always)]
    fn carry_52(self) -> Self {
        // SAFETY: see above.
        unsafe { _mm512_srli_epi64(self, 52) }
    }
}
