//! The token [`Ifma`], and the vectors that can only be made from it.
//!
//! **Why the whole backend is safe.** [`Ifma::detect`] makes a token if the CPU and the operating system have AVX-512 F
//! and IFMA, and nothing else makes one. Every [`Vector`] is made from a token or from another vector. So a function
//! that has a vector or a token runs only where these instructions exist, and may use them. This file turns that into
//! safe functions:
//!
//! - The methods of [`Vector`] are single instructions.
//! - [`in_lanes!`](crate::backend::lanes::instructions::in_lanes) defines functions that are compiled with the
//!   instructions and take the token.
//!
//! All other files of the backend are safe code, but for one empty `asm!` in `kernel_fp2`.

use core::{arch::x86_64::*, marker::PhantomData, mem::transmute};

use super::word::{Table, Word};
use crate::{
    backend::lanes::{
        field::{LANES, Mask},
        integer::{Bits, Integer},
    },
    pairing::Bls12381,
};

/// Proof that this CPU has AVX-512 F and IFMA, and that the operating system keeps their registers. Only
/// [`detect`](Self::detect) makes one.
///
/// `C` is the curve whose numbers are in the lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ifma<C = Bls12381>(PhantomData<C>);

cpufeatures::new!(detection, "avx512f", "avx512ifma");

impl Ifma {
    /// Asks the CPU once. The answer is `None` if AVX-512 F or IFMA is missing.
    pub fn detect() -> Option<Self> {
        detection::get().then_some(Self(PhantomData))
    }

    /// The token as a constant.
    ///
    /// # Safety
    /// Use the constant only after [`detect`](Self::detect) has found the instructions.
    pub(in crate::backend) const unsafe fn assume() -> Self {
        Self(PhantomData)
    }
}

#[cfg(feature = "bn254")]
impl<C> Ifma<C> {
    /// The same proof for numbers of another curve.
    #[inline(always)]
    pub(crate) fn on<D>(self) -> Ifma<D> {
        Ifma(PhantomData)
    }
}

/// Eight 64-bit integers, one in each lane.
///
/// The methods are always inlined, so that they become instructions inside functions that are compiled with AVX-512.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Vector(__m512i);

impl Vector {
    /// The same number in every lane.
    #[inline(always)]
    pub(super) fn splat<C>(_: Ifma<C>, n: i64) -> Self {
        // SAFETY: a token exists, so the CPU has the instruction.
        Self(unsafe { _mm512_set1_epi64(n) })
    }

    /// A number for each lane.
    #[inline(always)]
    pub(super) fn load<C>(_: Ifma<C>, words: &[i64; LANES]) -> Self {
        // SAFETY: eight words of 64 bits are the bits of a vector.
        Self(unsafe { transmute::<[i64; LANES], __m512i>(*words) })
    }

    /// Words of 64 bits. (`map` over an array would be a call, compiled without the instructions of the lanes.)
    #[inline(always)]
    pub(super) fn load_words<C>(_: Ifma<C>, words: &[u64; LANES]) -> Self {
        // SAFETY: as above.
        Self(unsafe { transmute::<[u64; LANES], __m512i>(*words) })
    }

    /// The number of each lane.
    #[inline(always)]
    pub(super) fn words(self) -> [i64; LANES] {
        // SAFETY: a vector is the bits of eight words of 64 bits.
        unsafe { transmute::<__m512i, [i64; LANES]>(self.0) }
    }

    /// The token that the vector was made from.
    #[inline(always)]
    pub(super) fn lanes<C>(self) -> Ifma<C> {
        Ifma(PhantomData)
    }
}

/// Methods of one or two instructions each.
macro_rules! instructions {
    (impl $([$trait:ident for])? Vector { $(
        $(#[$doc:meta])*
        $visibility:vis fn $name:ident $([$constant:ident: $kind:ty])? (
            $self:ident $(, $argument:ident: $type:ty)*
        ) -> $output:ty = $instruction:expr;
    )* }) => {
        impl $($trait for)? Vector { $(
            $(#[$doc])*
            #[inline(always)]
            $visibility fn $name $(<const $constant: $kind>)? ($self $(, $argument: $type)*) -> $output {
                // SAFETY: a vector exists, so the CPU has the instructions.
                unsafe { $instruction }
            }
        )* }
    };
}

instructions! {
    impl [Bits for] Vector {
        // The number of bits is known to the compiler, which makes an immediate operand of it.
        fn low_limb(self, bits: u32) -> Self = Self(_mm512_and_si512(self.0, _mm512_set1_epi64((1 << bits) - 1)));
        fn moved_down(self, bits: u32) -> Self = Self(_mm512_srlv_epi64(self.0, _mm512_set1_epi64(bits.into())));
        fn with_above(self, above: Self, bits: u32) -> Self =
            Self(_mm512_or_si512(self.0, _mm512_sllv_epi64(above.0, _mm512_set1_epi64(bits.into()))));
    }
}

instructions! {
    impl [Integer for] Vector {
        fn splat(self, n: i64) -> Self = Self(_mm512_set1_epi64(n));
        fn plus(self, other: Self) -> Self = Self(_mm512_add_epi64(self.0, other.0));
        fn carry(self, bits: u32) -> Self = Self(_mm512_srav_epi64(self.0, _mm512_set1_epi64(bits.into())));
        fn where_negative(self, kept: Self, other: Self) -> Self =
            Self(_mm512_mask_mov_epi64(other.0, _mm512_cmplt_epi64_mask(self.0, _mm512_setzero_si512()), kept.0));
    }
}

instructions! {
    impl [Word for] Vector {
        fn minus(self, other: Self) -> Self = Self(_mm512_sub_epi64(self.0, other.0));
        fn add_low(self, a: Self, b: Self) -> Self = Self(_mm512_madd52lo_epu64(self.0, a.0, b.0));
        fn add_high(self, a: Self, b: Self) -> Self = Self(_mm512_madd52hi_epu64(self.0, a.0, b.0));
        fn scaled(self, bits: u32) -> Self = Self(_mm512_sllv_epi64(self.0, _mm512_set1_epi64(bits.into())));
        fn carry_52(self) -> Self = Self(_mm512_srli_epi64::<52>(self.0));
        fn low_limb_52(self) -> Self = Self(_mm512_and_si512(self.0, _mm512_set1_epi64((1 << 52) - 1)));
        fn signed_carry_52(self) -> Self = Self(_mm512_srai_epi64::<52>(self.0));
        fn entry(self, table: &Table) -> Self =
            Self(_mm512_permutex2var_epi64(
                transmute::<[i64; 8], __m512i>(table[0]),
                self.0,
                transmute::<[i64; 8], __m512i>(table[1]),
            ));
    }
}

instructions! {
    impl Vector {
        pub(super) fn or(self, other: Self) -> Self = Self(_mm512_or_si512(self.0, other.0));

        /// The lanes where the number is less.
        pub(super) fn is_less(self, other: Self) -> Mask = _mm512_cmplt_epi64_mask(self.0, other.0);
        /// The lanes where the numbers are the same.
        pub(super) fn is_same(self, other: Self) -> Mask = _mm512_cmpeq_epi64_mask(self.0, other.0);
        /// The lanes of a mask where the numbers are the same.
        pub(super) fn is_same_in(self, mask: Mask, other: Self) -> Mask =
            _mm512_mask_cmpeq_epi64_mask(mask, self.0, other.0);
        /// The lanes in which some bit is set in both numbers.
        pub(super) fn meets(self, other: Self) -> Mask = _mm512_test_epi64_mask(self.0, other.0);
        /// The lanes in which the number is zero.
        pub(super) fn is_zero(self) -> Mask = _mm512_testn_epi64_mask(self.0, self.0);
        /// The number of `self` in the lanes of the mask, that of `other` elsewhere.
        pub(super) fn in_mask(self, mask: Mask, other: Self) -> Self = Self(_mm512_mask_mov_epi64(other.0, mask, self.0));

        /// Lane i takes the number of lane `from[i]`.
        pub(super) fn permuted(self, from: Self) -> Self = Self(_mm512_permutexvar_epi64(from.0, self.0));
        /// Lane i takes the number of lane `from[i]` of `self`, or of lane `from[i]` - 8 of `other`.
        pub(super) fn gathered(self, other: Self, from: Self) -> Self =
            Self(_mm512_permutex2var_epi64(self.0, from.0, other.0));
        /// The even lanes of both, alternating.
        pub(super) fn even_lanes(self, other: Self) -> Self = Self(_mm512_unpacklo_epi64(self.0, other.0));
        /// The odd lanes of both, alternating.
        pub(super) fn odd_lanes(self, other: Self) -> Self = Self(_mm512_unpackhi_epi64(self.0, other.0));
        /// The even pairs of lanes of `self`, then those of `other`.
        pub(super) fn even_pairs(self, other: Self) -> Self = Self(_mm512_shuffle_i64x2::<0x88>(self.0, other.0));
        /// The odd pairs of lanes of `self`, then those of `other`.
        pub(super) fn odd_pairs(self, other: Self) -> Self = Self(_mm512_shuffle_i64x2::<0xdd>(self.0, other.0));
    }
}

impl Vector {
    /// Lane i of vector j becomes lane j of vector i.
    #[inline(always)]
    pub(super) fn transposed(rows: &[Self; 8]) -> [Self; 8] {
        // First, lanes of two neighbouring rows side by side: the even lanes in one vector, the odd ones in the next.
        let mut twos = *rows;
        for i in [0, 2, 4, 6] {
            twos[i] = rows[i].even_lanes(rows[i + 1]);
            twos[i + 1] = rows[i].odd_lanes(rows[i + 1]);
        }
        // Then pairs of lanes: first those of four rows, then those of eight.
        let mut columns = *rows;
        for odd in [0, 1] {
            let [a, b, c, d] = [twos[odd], twos[2 + odd], twos[4 + odd], twos[6 + odd]];
            let (ab_even, ab_odd) = (a.even_pairs(b), a.odd_pairs(b));
            let (cd_even, cd_odd) = (c.even_pairs(d), c.odd_pairs(d));
            columns[odd] = ab_even.even_pairs(cd_even);
            columns[4 + odd] = ab_even.odd_pairs(cd_even);
            columns[2 + odd] = ab_odd.even_pairs(cd_odd);
            columns[6 + odd] = ab_odd.odd_pairs(cd_odd);
        }
        columns
    }
}
