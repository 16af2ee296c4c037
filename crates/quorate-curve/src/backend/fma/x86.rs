//! The tokens and the vectors of x86-64: AVX2 with FMA, and AVX-512.

use core::{arch::asm, arch::x86_64::*, marker::PhantomData, mem::transmute};

use super::{
    vector::{Vector, half, token, unseen, word},
    word::{Fused, LIMB_BITS, Repeat, Word},
};
use crate::{
    backend::lanes::{
        field::{LANES, Mask},
        integer::{Bits, limbs_of_words},
        unroll::limbs_of,
    },
    pairing::Bls12381,
};

cpufeatures::new!(detection_of_avx2, "avx2", "fma");
cpufeatures::new!(detection_of_avx512, "avx512f", "avx512vl");
token! { Avx2: "AVX2 and FMA", detection_of_avx2::get() }
token! { Avx512: "AVX-512 F and VL", detection_of_avx512::get() }
half! { HalfOfAvx2 of Avx2 }

word! {
    /// Four doubles in a register of AVX.
    Four(__m256d, ymm_reg as "/* {0} */", 4, "avx2,fma") {
        _mm256_set1_pd _mm256_add_pd _mm256_sub_pd _mm256_fmadd_pd _mm256_fnmadd_pd four_within seen
    }
}

word! {
    /// Eight doubles in a register of AVX-512.
    Eight(__m512d, zmm_reg as "/* {0} */", 8, "avx512f,avx512vl") {
        _mm512_set1_pd _mm512_add_pd _mm512_sub_pd _mm512_fmadd_pd _mm512_fnmadd_pd eight_within unseen
    }
}

/// Whether all lanes are at least `least` and below `most`.
#[inline]
#[target_feature(enable = "avx2,fma")]
fn four_within(a: __m256d, least: __m256d, most: __m256d) -> bool {
    let within = _mm256_and_pd(_mm256_cmp_pd::<_CMP_GE_OQ>(a, least), _mm256_cmp_pd::<_CMP_LT_OQ>(a, most));
    _mm256_movemask_pd(within) == 0b1111
}

/// Whether all lanes are at least `least` and below `most`.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn eight_within(a: __m512d, least: __m512d, most: __m512d) -> bool {
    (_mm512_cmp_pd_mask::<_CMP_GE_OQ>(a, least) & _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, most)) == Mask::MAX
}

/// Eight doubles in two registers.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct TwoFours([Four; 2]);

/// The lower four of eight lanes, in one register. What is loaded into the upper four is lost. They give zeros, but are
/// not in the mask of the lanes that are zero, so that they never look like an exceptional case.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct OneFour(Four);

/// Eight doubles in one register.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct OneEight(Eight);

/// The bits of 2^52, whose lowest bits count ones.
const TWO_TO_52: i64 = 0x433 << 52;

/// Defines a register of words of 64 bits, and the instructions that cut them. The compiler knows by how many bits they are
/// moved, and makes an immediate operand of that.
macro_rules! words {
    ($(#[$doc:meta])* $words:ident($register:ident) to $word:ident {
        $set:ident $and:ident $or:ident $right:ident $left:ident $cast:ident $sub:ident
    }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        struct $words($register);

        impl Bits for $words {
            #[inline(always)]
            fn low_limb(self, bits: u32) -> Self {
                // SAFETY: only functions with a token make words, so the CPU has the instructions. The same holds below.
                Self(unsafe { $and(self.0, $set((1 << bits) - 1)) })
            }
            #[inline(always)]
            fn moved_down(self, bits: u32) -> Self {
                // SAFETY: as above.
                Self(unsafe { $right(self.0, $set(bits.into())) })
            }
            #[inline(always)]
            fn with_above(self, above: Self, bits: u32) -> Self {
                // SAFETY: as above.
                Self(unsafe { $or(self.0, $left(above.0, $set(bits.into()))) })
            }
        }

        impl $words {
            /// The doubles of numbers below 2^52.
            #[inline(always)]
            fn to_doubles(self) -> $word {
                // SAFETY: as above.
                unsafe {
                    let one = $set(TWO_TO_52);
                    $word($sub($cast($or(self.0, one)), $cast(one)))
                }
            }
        }
    };
}

words! {
    /// Four words in a register of AVX2.
    FourWords(__m256i) to Four {
        _mm256_set1_epi64x _mm256_and_si256 _mm256_or_si256 _mm256_srlv_epi64 _mm256_sllv_epi64 _mm256_castsi256_pd _mm256_sub_pd
    }
}

words! {
    /// Eight words in a register of AVX-512.
    EightWords(__m512i) to Eight {
        _mm512_set1_epi64 _mm512_and_si512 _mm512_or_si512 _mm512_srlv_epi64 _mm512_sllv_epi64 _mm512_castsi512_pd _mm512_sub_pd
    }
}

impl Vector for TwoFours {
    type Token = Avx2;
    type Word = Four;
    const PARTS: usize = 2;

    #[inline(always)]
    fn splat(_: Avx2, n: f64) -> Self {
        // SAFETY: a token exists, so the CPU has the instruction.
        Self([Four(unsafe { _mm256_set1_pd(n) }); 2])
    }

    #[inline(always)]
    fn load(_: Avx2, numbers: &[f64; LANES]) -> Self {
        let [a, b, c, d, e, f, g, h] = *numbers;
        Self([Four::of(&[a, b, c, d]), Four::of(&[e, f, g, h])])
    }

    #[inline(always)]
    fn store(self) -> [f64; LANES] {
        let ([a, b, c, d], [e, f, g, h]) = (self.0[0].numbers(), self.0[1].numbers());
        [a, b, c, d, e, f, g, h]
    }

    #[inline(always)]
    fn token(self) -> Avx2 {
        Avx2(PhantomData)
    }

    #[inline(always)]
    fn part(&self, part: usize) -> Four {
        self.0[part]
    }

    #[inline(always)]
    fn put_part(&mut self, part: usize, word: Four) {
        self.0[part] = word;
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self([self.0[0].plus(other.0[0]), self.0[1].plus(other.0[1])])
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Self([self.0[0].minus(other.0[0]), self.0[1].minus(other.0[1])])
    }

    #[inline(always)]
    fn in_mask(self, mask: Mask, other: Self) -> Self {
        // SAFETY: a vector exists, so the CPU has the instructions.
        unsafe {
            let mask = _mm256_set1_epi64x(mask.into());
            let bits = [_mm256_setr_epi64x(1, 2, 4, 8), _mm256_setr_epi64x(0x10, 0x20, 0x40, 0x80)];
            Self(limbs_of!(PART in [0 1] => {
                let chosen = _mm256_cmpeq_epi64(_mm256_and_si256(mask, bits[PART]), bits[PART]);
                Four(_mm256_blendv_pd(other.0[PART].0, self.0[PART].0, _mm256_castsi256_pd(chosen)))
            }))
        }
    }

    #[inline(always)]
    fn is_zero(self) -> Mask {
        // SAFETY: a vector exists, so the CPU has the instructions.
        let [low, high] = limbs_of!(PART in [0 1] => unsafe {
            _mm256_movemask_pd(_mm256_cmp_pd::<_CMP_EQ_OQ>(self.0[PART].0, _mm256_setzero_pd()))
        });
        (low | high << 4) as Mask
    }

    #[inline(always)]
    fn of_rows(token: Avx2, rows: &[&[f64; LANES]; LANES]) -> [Self; LANES] {
        Self::transposed(&limbs_of!(I < 8 => Self::load(token, rows[I])))
    }

    #[inline(always)]
    fn to_rows(vectors: &[Self; LANES]) -> [[f64; LANES]; LANES] {
        let rows = Self::transposed(vectors);
        limbs_of!(I < 8 => rows[I].store())
    }

    #[inline(always)]
    fn limbs_of_words(_: Avx2, words: &[[u64; LANES]; 6]) -> [Self; 8] {
        // SAFETY: eight words of 64 bits are the bits of two registers.
        let words = unsafe { transmute::<[[u64; LANES]; 6], [[FourWords; 2]; 6]>(*words) };
        let limbs = limbs_of!(PART in [0 1] => {
            limbs_of_words::<_, 8>(&limbs_of!(I in [0 1 2 3 4 5] => words[I][PART]), LIMB_BITS)
        });
        limbs_of!(I < 8 => Self(limbs_of!(PART in [0 1] => limbs[PART][I].to_doubles())))
    }
}

impl TwoFours {
    /// Lane i of vector j becomes lane j of vector i.
    #[inline(always)]
    fn transposed(vectors: &[Self; LANES]) -> [Self; LANES] {
        let quarters = limbs_of!(PART in [0 1] => [
            transposed(&limbs_of!(I in [0 1 2 3] => vectors[I].0[PART])),
            transposed(&limbs_of!(I in [0 1 2 3] => vectors[4 + I].0[PART])),
        ]);
        limbs_of!(I < 8 => Self([quarters[I / 4][0][I % 4], quarters[I / 4][1][I % 4]]))
    }
}

/// Lane i of word j becomes lane j of word i.
#[inline(always)]
fn transposed(words: &[Four; 4]) -> [Four; 4] {
    let [a, b, c, d] = *words;
    // SAFETY: a word exists, so the CPU has the instructions.
    unsafe {
        let even = [_mm256_unpacklo_pd(a.0, b.0), _mm256_unpacklo_pd(c.0, d.0)];
        let odd = [_mm256_unpackhi_pd(a.0, b.0), _mm256_unpackhi_pd(c.0, d.0)];
        [
            Four(_mm256_permute2f128_pd::<0x20>(even[0], even[1])),
            Four(_mm256_permute2f128_pd::<0x20>(odd[0], odd[1])),
            Four(_mm256_permute2f128_pd::<0x31>(even[0], even[1])),
            Four(_mm256_permute2f128_pd::<0x31>(odd[0], odd[1])),
        ]
    }
}

impl Vector for OneFour {
    type Token = HalfOfAvx2;
    type Word = Four;
    const PARTS: usize = 1;

    #[inline(always)]
    fn splat(token: HalfOfAvx2, n: f64) -> Self {
        Self(TwoFours::splat(token.0, n).0[0])
    }

    #[inline(always)]
    fn load(_: HalfOfAvx2, numbers: &[f64; LANES]) -> Self {
        let [a, b, c, d, ..] = *numbers;
        Self(Four::of(&[a, b, c, d]))
    }

    #[inline(always)]
    fn store(self) -> [f64; LANES] {
        let [a, b, c, d] = self.0.numbers();
        [a, b, c, d, 0.0, 0.0, 0.0, 0.0]
    }

    #[inline(always)]
    fn token(self) -> HalfOfAvx2 {
        HalfOfAvx2(Avx2(PhantomData))
    }

    #[inline(always)]
    fn part(&self, _: usize) -> Four {
        self.0
    }

    #[inline(always)]
    fn put_part(&mut self, _: usize, word: Four) {
        self.0 = word;
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self(self.0.plus(other.0))
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Self(self.0.minus(other.0))
    }

    #[inline(always)]
    fn in_mask(self, mask: Mask, other: Self) -> Self {
        Self(TwoFours([self.0; 2]).in_mask(mask, TwoFours([other.0; 2])).0[0])
    }

    #[inline(always)]
    fn is_zero(self) -> Mask {
        TwoFours([self.0; 2]).is_zero() & 0x0f
    }

    #[inline(always)]
    fn of_rows(token: HalfOfAvx2, rows: &[&[f64; LANES]; LANES]) -> [Self; LANES] {
        let rows = limbs_of!(I in [0 1 2 3] => TwoFours::load(token.0, rows[I]).0);
        let limbs = limbs_of!(HALF in [0 1] => transposed(&limbs_of!(I in [0 1 2 3] => rows[I][HALF])));
        limbs_of!(I < 8 => Self(limbs[I / 4][I % 4]))
    }

    #[inline(always)]
    fn to_rows(vectors: &[Self; LANES]) -> [[f64; LANES]; LANES] {
        let limbs = limbs_of!(HALF in [0 1] => transposed(&limbs_of!(I in [0 1 2 3] => vectors[4 * HALF + I].0)));
        limbs_of!(I < 8 => if I < 4 { TwoFours([limbs[0][I % 4], limbs[1][I % 4]]).store() } else { [0.0; LANES] })
    }

    #[inline(always)]
    fn limbs_of_words(token: HalfOfAvx2, words: &[[u64; LANES]; 6]) -> [Self; 8] {
        let limbs = TwoFours::limbs_of_words(token.0, words);
        limbs_of!(I < 8 => Self(limbs[I].0[0]))
    }
}

impl Vector for OneEight {
    type Token = Avx512;
    type Word = Eight;
    const PARTS: usize = 1;

    #[inline(always)]
    fn splat(_: Avx512, n: f64) -> Self {
        // SAFETY: a token exists, so the CPU has the instruction.
        Self(Eight(unsafe { _mm512_set1_pd(n) }))
    }

    #[inline(always)]
    fn load(_: Avx512, numbers: &[f64; LANES]) -> Self {
        Self(Eight::of(numbers))
    }

    #[inline(always)]
    fn store(self) -> [f64; LANES] {
        self.0.numbers()
    }

    #[inline(always)]
    fn token(self) -> Avx512 {
        Avx512(PhantomData)
    }

    #[inline(always)]
    fn part(&self, _: usize) -> Eight {
        self.0
    }

    #[inline(always)]
    fn put_part(&mut self, _: usize, word: Eight) {
        self.0 = word;
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self(self.0.plus(other.0))
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Self(self.0.minus(other.0))
    }

    #[inline(always)]
    fn in_mask(self, mask: Mask, other: Self) -> Self {
        // SAFETY: a vector exists, so the CPU has the instruction.
        Self(Eight(unsafe { _mm512_mask_mov_pd(other.0.0, mask, self.0.0) }))
    }

    #[inline(always)]
    fn is_zero(self) -> Mask {
        // SAFETY: a vector exists, so the CPU has the instructions.
        unsafe { _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(self.0.0, _mm512_setzero_pd()) }
    }

    #[inline(always)]
    fn permuted(self, from: [i64; LANES]) -> Self {
        // SAFETY: a vector exists, so the CPU has the instruction. Eight integers of 64 bits are the bits of a register.
        Self(Eight(unsafe { _mm512_permutexvar_pd(transmute::<[i64; LANES], __m512i>(from), self.0.0) }))
    }

    #[inline(always)]
    fn gathered(self, other: Self, from: [i64; LANES]) -> Self {
        // SAFETY: as above.
        let from = unsafe { transmute::<[i64; LANES], __m512i>(from) };
        // SAFETY: a vector exists, so the CPU has the instruction.
        Self(Eight(unsafe { _mm512_permutex2var_pd(self.0.0, from, other.0.0) }))
    }

    #[inline(always)]
    fn of_rows(token: Avx512, rows: &[&[f64; LANES]; LANES]) -> [Self; LANES] {
        Self::transposed(&limbs_of!(I < 8 => Self::load(token, rows[I])))
    }

    #[inline(always)]
    fn to_rows(vectors: &[Self; LANES]) -> [[f64; LANES]; LANES] {
        let rows = Self::transposed(vectors);
        limbs_of!(I < 8 => rows[I].store())
    }

    #[inline(always)]
    fn limbs_of_words(_: Avx512, words: &[[u64; LANES]; 6]) -> [Self; 8] {
        // SAFETY: eight words of 64 bits are the bits of a register.
        let words = unsafe { transmute::<[[u64; LANES]; 6], [EightWords; 6]>(*words) };
        let limbs = limbs_of_words::<_, 8>(&words, LIMB_BITS);
        limbs_of!(I < 8 => Self(limbs[I].to_doubles()))
    }
}

impl OneEight {
    /// Lane i of vector j becomes lane j of vector i.
    #[inline(always)]
    fn transposed(vectors: &[Self; LANES]) -> [Self; LANES] {
        let rows = limbs_of!(I < 8 => vectors[I].0.0);
        // SAFETY: a vector exists, so the CPU has the instructions.
        unsafe {
            // The even lanes of two rows, alternating, and the odd ones.
            let pairs = limbs_of!(I in [0 1 2 3] => [
                _mm512_unpacklo_pd(rows[2 * I], rows[2 * I + 1]),
                _mm512_unpackhi_pd(rows[2 * I], rows[2 * I + 1]),
            ]);
            // Of four rows, the pairs that stand first and third, and those that stand second and fourth.
            let fours = limbs_of!(I in [0 1 2 3] => {
                let (a, b) = (pairs[I / 2 * 2][I % 2], pairs[I / 2 * 2 + 1][I % 2]);
                [_mm512_shuffle_f64x2::<0x88>(a, b), _mm512_shuffle_f64x2::<0xdd>(a, b)]
            });
            limbs_of!(I < 8 => {
                let (a, b) = (fours[I % 2][I / 2 % 2], fours[2 + I % 2][I / 2 % 2]);
                Self(Eight(if I < 4 { _mm512_shuffle_f64x2::<0x88>(a, b) } else { _mm512_shuffle_f64x2::<0xdd>(a, b) }))
            })
        }
    }
}

/// Constants that the compiler recognises.
#[inline(always)]
fn seen<T>(constants: &T) -> &T {
    constants
}
