//! The token and the vectors of aarch64: NEON, which every such CPU has. Eight lanes are four registers.

use core::{
    arch::{aarch64::*, asm},
    marker::PhantomData,
    mem::transmute,
};

use super::{
    vector::{Vector, half, token, unseen, word},
    word::{Fused, LIMB_BITS, Repeat, Word},
};
use crate::{
    backend::lanes::{
        field::{LANES, Mask},
        integer::limbs_of_words,
        unroll::{limbs_of, unroll},
    },
    pairing::Bls12381,
};

token! { Neon: "NEON", true }
half! { HalfOfNeon of Neon }

word! {
    /// Two doubles in a register of NEON.
    Two(float64x2_t, vreg as "/* {0:v} */", 2, "neon") { vdupq_n_f64 vaddq_f64 vsubq_f64 fused_add fused_subtract two_within unseen }
}

/// a·b + c.
#[inline]
#[target_feature(enable = "neon")]
fn fused_add(a: float64x2_t, b: float64x2_t, c: float64x2_t) -> float64x2_t {
    vfmaq_f64(c, a, b)
}

/// c - a·b.
#[inline]
#[target_feature(enable = "neon")]
fn fused_subtract(a: float64x2_t, b: float64x2_t, c: float64x2_t) -> float64x2_t {
    vfmsq_f64(c, a, b)
}

/// Whether both lanes are at least `least` and below `most`.
#[inline]
#[target_feature(enable = "neon")]
fn two_within(a: float64x2_t, least: float64x2_t, most: float64x2_t) -> bool {
    let within = vandq_u64(vcgeq_f64(a, least), vcltq_f64(a, most));
    vgetq_lane_u64::<0>(within) & vgetq_lane_u64::<1>(within) == u64::MAX
}

impl Two {
    /// Lane 0 of two words for an even `lane`, their lane 1 for an odd one.
    #[inline(always)]
    fn of_pair(a: Self, b: Self, lane: usize) -> Self {
        // SAFETY: a word exists, so the CPU has the instructions.
        Self(unsafe { if lane.is_multiple_of(2) { vtrn1q_f64(a.0, b.0) } else { vtrn2q_f64(a.0, b.0) } })
    }

    /// The number of `self` in the lanes of the mask's lowest two bits, that of `other` elsewhere.
    #[inline(always)]
    fn in_mask(self, mask: Mask, other: Self) -> Self {
        // SAFETY: a word exists, so the CPU has the instructions. Two integers of 64 bits are the bits of a register.
        unsafe {
            let chosen = vtstq_u64(vdupq_n_u64(mask.into()), transmute::<[u64; 2], uint64x2_t>([1, 2]));
            Self(vbslq_f64(chosen, self.0, other.0))
        }
    }

    /// A bit for each lane in which the number is zero.
    #[inline(always)]
    fn is_zero(self) -> Mask {
        // SAFETY: a word exists, so the CPU has the instructions.
        unsafe {
            let zero = vceqzq_f64(self.0);
            (vgetq_lane_u64::<0>(zero) & 1 | vgetq_lane_u64::<1>(zero) & 2) as Mask
        }
    }
}

/// Eight doubles in four registers.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct FourTwos([Two; 4]);

/// The lower four of eight lanes, in two registers. What is loaded into the upper four is lost. They give zeros, but are
/// not in the mask of the lanes that are zero, so that they never look like an exceptional case.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct TwoTwos([Two; 2]);

/// Implements what both vectors compute register by register.
macro_rules! by_registers {
    ($token:ident, $whole:expr, [$($part:literal)+]) => {
        type Token = $token;
        type Word = Two;
        const PARTS: usize = [$($part),+].len();

        #[inline(always)]
        fn splat(_: $token, n: f64) -> Self {
            // SAFETY: a token exists, so the CPU has the instruction.
            Self([Two(unsafe { vdupq_n_f64(n) }); Self::PARTS])
        }

        #[inline(always)]
        fn load(_: $token, numbers: &[f64; LANES]) -> Self {
            Self([$(Two::of(&[numbers[2 * $part], numbers[2 * $part + 1]])),+])
        }

        #[inline(always)]
        fn store(self) -> [f64; LANES] {
            let mut out = [0.0; LANES];
            $([out[2 * $part], out[2 * $part + 1]] = self.0[$part].numbers();)+
            out
        }

        #[inline(always)]
        fn part(&self, part: usize) -> Two {
            self.0[part]
        }

        #[inline(always)]
        fn put_part(&mut self, part: usize, word: Two) {
            self.0[part] = word;
        }

        #[inline(always)]
        fn plus(self, other: Self) -> Self {
            Self([$(self.0[$part].plus(other.0[$part])),+])
        }

        #[inline(always)]
        fn minus(self, other: Self) -> Self {
            Self([$(self.0[$part].minus(other.0[$part])),+])
        }

        #[inline(always)]
        fn in_mask(self, mask: Mask, other: Self) -> Self {
            Self([$(self.0[$part].in_mask(mask >> (2 * $part), other.0[$part])),+])
        }

        #[inline(always)]
        fn is_zero(self) -> Mask {
            0 $(| self.0[$part].is_zero() << (2 * $part))+
        }

        #[inline(always)]
        fn of_rows(token: $token, rows: &[&[f64; LANES]; LANES]) -> [Self; LANES] {
            let whole: fn($token) -> Neon = $whole;
            let rows = limbs_of!(I < 8 => FourTwos::load(whole(token), rows[I]));
            limbs_of!(I < 8 => Self([$(Two::of_pair(rows[2 * $part].0[I / 2], rows[2 * $part + 1].0[I / 2], I)),+]))
        }

        #[inline(always)]
        fn limbs_of_words(token: $token, words: &[[u64; LANES]; 6]) -> [Self; 8] {
            let mut limbs = [[0.0; LANES]; 8];
            for lane in 0..LANES {
                let words = limbs_of!(I in [0 1 2 3 4 5] => words[I][lane] as i64);
                let of_lane: [i64; 8] = limbs_of_words(&words, LIMB_BITS);
                unroll!(I in [0 1 2 3 4 5 6 7] { limbs[I][lane] = of_lane[I] as f64; });
            }
            limbs_of!(I < 8 => Self::load(token, &limbs[I]))
        }
    };
}

impl Vector for FourTwos {
    by_registers!(Neon, |token| token, [0 1 2 3]);

    #[inline(always)]
    fn token(self) -> Neon {
        Neon(PhantomData)
    }

    #[inline(always)]
    fn to_rows(vectors: &[Self; LANES]) -> [[f64; LANES]; LANES] {
        limbs_of!(I < 8 => Self(limbs_of!(PART in [0 1 2 3] => {
            Two::of_pair(vectors[2 * PART].0[I / 2], vectors[2 * PART + 1].0[I / 2], I)
        })).store())
    }
}

impl Vector for TwoTwos {
    by_registers!(HalfOfNeon, |half| half.0, [0 1]);

    #[inline(always)]
    fn token(self) -> HalfOfNeon {
        HalfOfNeon(Neon(PhantomData))
    }

    #[inline(always)]
    fn to_rows(vectors: &[Self; LANES]) -> [[f64; LANES]; LANES] {
        limbs_of!(I < 8 => if I < 4 {
            FourTwos(limbs_of!(PART in [0 1 2 3] => {
                Two::of_pair(vectors[2 * PART].0[I / 2 % 2], vectors[2 * PART + 1].0[I / 2 % 2], I)
            })).store()
        } else {
            [0.0; LANES]
        })
    }
}
