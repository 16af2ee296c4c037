//! Lanes of double-precision fused multiply-adds (FMA), for CPUs without the 52-bit multiplier: eight lanes in a register
//! of AVX-512 F, in two of AVX2, or in four of NEON.
//!
//! The layers, from the lowest to the highest. A file imports only files of its own layer and of those above it in the
//! table.
//!
//! | layer | files |
//! |---|---|
//! | the rounding of the CPU, whose register is read and written in `unsafe` blocks | [`rounding`] |
//! | what kernels compute with | [`word`] |
//! | the tokens and the vectors, all other `unsafe` code | [`vector`], `x86`, `neon` |
//! | how large a number can be, in debug builds | [`bound`] |
//! | kernels: products and reductions of limbs | [`kernel`] |
//! | eight elements of Fp | [`fp`] |
//!
//! No function here takes a secret.

pub(crate) mod rounding;
pub(crate) mod word;
pub(crate) mod vector;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
pub(crate) mod bound;
pub(crate) mod kernel;
pub(crate) mod fp;
#[cfg(test)]
mod proofs;
#[cfg(test)]
mod sizes;

use self::{
    fp::{Fp, InFma},
    vector::Vector,
};
use super::lanes::{
    constant::Modulus,
    field::{LANES, Lanes},
    instructions::Token,
    thresholds::Thresholds,
};
use crate::pairing::Bls12381;

impl<V: Vector<Token: Lanes<Curve = Bls12381, Fp = Fp<V, Bls12381, 8>>>> InFma<V, 8> for Bls12381 {
    type Token = V::Token;

    fn token(lanes: V::Token) -> V::Token {
        lanes
    }

    fn instructions(lanes: V::Token) -> V::Token {
        lanes
    }
}

/// The thresholds of vectors that take several registers, measured with AVX2.
const SEVERAL_REGISTERS: Thresholds = Thresholds {
    // Four are 6 % slower to 6 % faster, five 17 to 54 % faster.
    items: 5,
    messages: 5,
    points: 5,
    // AVX2 has no permutation of eight lanes, so this was not tried.
    spread_points: false,
    // Measured at 80 in G1 and 192 to 256 in G2.
    sum: 256,
    // Measured at 9 to 11.
    weighted_sum: 12,
    // Measured at 2, since up to four take four lanes alone.
    weighted_sums: 2,
    buckets: 96,
    joined_segments: 2,
    members_in_g1: 128,
    members_in_g2: 32,
    // Measured at 4.
    msm: 5,
    // Measured at 2: one takes four lanes alone, and 1.3 to 1.7 times as long as by blst.
    multiples: 2,
    // Two pairs would cost 657 µs, and by blst they cost 503: AVX2 has no permutation of eight lanes.
    spread_pairs: 0,
    // A product of three pairs costs as much by blst, and three products of one pair 1.3 times as much.
    pairs: 3,
    // One pair costs as much by blst.
    pairs_left: 2,
    // Eight products of three pairs cost as much both ways.
    narrow_pairs: 4,
    // Measured at 6.
    prepared_pairs: 6,
    // 1,120 µs for eight products of one pair, and 1,190 µs without inversions.
    inversions: 1,
    twisted_inversions: 1,
    // Six cost 1,025 µs one by one, and eight at a time 1,090 µs.
    values: 7,
    spread: true,
    compressed: true,
};

/// Implements lanes of several registers, and of half of them: for Miller loops of few products or of long ones, for a single
/// final exponentiation, and for up to four weighted sums.
macro_rules! lanes_of_several_registers {
    ($token:ident($vector:ident), $half:ident($half_vector:ident), $instructions:ident) => {
        // SAFETY: a token comes from `detect`, which has found the instructions, or from a vector.
        unsafe impl<C: Modulus> Token for $token<C> {
            const INSTRUCTIONS: u8 = $instructions;
        }

        impl Lanes for $token {
            type Curve = Bls12381;
            const THRESHOLDS: Thresholds = SEVERAL_REGISTERS;
            const WIDTH: usize = LANES;
            type Fp = Fp<$vector, Bls12381, 8>;
            type Narrow = $half;

            fn narrow(self) -> $half {
                self.half()
            }
        }

        // SAFETY: the token holds another one of the same instructions.
        unsafe impl<C: Modulus> Token for $half<C> {
            const INSTRUCTIONS: u8 = $instructions;
        }

        impl Lanes for $half {
            type Curve = Bls12381;
            const THRESHOLDS: Thresholds = SEVERAL_REGISTERS;
            const WIDTH: usize = 4;
            type Fp = Fp<$half_vector, Bls12381, 8>;
            type Narrow = Self;

            fn narrow(self) -> Self {
                self
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod of_x86 {
    use super::{
        super::lanes::instructions::{AVX2_FMA, AVX512},
        x86::{Avx2, Avx512, HalfOfAvx2, OneEight, OneFour, TwoFours},
        *,
    };

    lanes_of_several_registers!(Avx2(TwoFours), HalfOfAvx2(OneFour), AVX2_FMA);

    // SAFETY: a token comes from `Avx512::detect`, which has found AVX-512 F, or from a vector.
    unsafe impl<C: Modulus> Token for Avx512<C> {
        const INSTRUCTIONS: u8 = AVX512;
    }

    impl Lanes for Avx512 {
        type Curve = Bls12381;
        const THRESHOLDS: Thresholds = Thresholds {
            // Three are 2 to 19 % faster.
            items: 3,
            // Of two, both u in one vector cost 142 µs, and by blst 205.
            messages: 2,
            points: 3,
            spread_points: true,
            // Measured at 64 in G1 and 80 in G2.
            sum: 96,
            // Measured at 5 to 7.
            weighted_sum: 8,
            weighted_sums: 3,
            buckets: 96,
            joined_segments: 3,
            members_in_g1: 128,
            members_in_g2: 32,
            // Measured at 3 and 4.
            msm: 4,
            // Measured at 3.
            multiples: 3,
            // Measured at 10 to 15.
            spread_pairs: 12,
            // Measured at 6.
            pairs: 6,
            // Measured at 3: two cost as much as by blst.
            pairs_left: 3,
            narrow_pairs: usize::MAX,
            // Measured at 5.
            prepared_pairs: 5,
            // Measured at 1 on a Zen 4, where 900 µs are 980 µs without inversions. Vectors of full width are faster, and
            // inversions are not.
            inversions: 2,
            twisted_inversions: 2,
            // Five cost 855 µs one by one, and eight at a time 905 µs.
            values: 6,
            spread: true,
            compressed: false,
        };
        const WIDTH: usize = LANES;
        type Fp = Fp<OneEight, Bls12381, 8>;
        type Narrow = Self;

        fn narrow(self) -> Self {
            self
        }
    }
}

#[cfg(target_arch = "aarch64")]
mod of_neon {
    use super::{
        super::lanes::instructions::BASELINE,
        neon::{FourTwos, HalfOfNeon, Neon, TwoTwos},
        *,
    };

    lanes_of_several_registers!(Neon(FourTwos), HalfOfNeon(TwoTwos), BASELINE);
}

#[cfg(test)]
mod tests {
    /// Calls a test with the vectors of each kind of lanes that this CPU has, all eight lanes of it. The argument is the token.
    macro_rules! for_each_vector {
        ($test:ident) => {
            #[cfg(target_arch = "x86_64")]
            {
                use $crate::backend::{
                    fma::x86::{OneEight, TwoFours},
                    lanes::tests::{avx2_or_skip, avx512_or_skip, run},
                };
                run(avx512_or_skip(), $test::<OneEight>);
                run(avx2_or_skip(), $test::<TwoFours>);
            }
            #[cfg(target_arch = "aarch64")]
            {
                use $crate::backend::{
                    fma::neon::{FourTwos, Neon},
                    lanes::tests::run,
                };
                run(Neon::detect(), $test::<FourTwos>);
            }
        };
    }

    /// Calls a test with the vectors of eight lanes that are several registers, and of half of those lanes. The argument is the
    /// token of the eight.
    macro_rules! for_each_half {
        ($test:ident) => {
            #[cfg(target_arch = "x86_64")]
            {
                use $crate::backend::{
                    fma::x86::{OneFour, TwoFours},
                    lanes::tests::{avx2_or_skip, run},
                };
                run(avx2_or_skip(), $test::<TwoFours, OneFour>);
            }
            #[cfg(target_arch = "aarch64")]
            {
                use $crate::backend::{
                    fma::neon::{FourTwos, Neon, TwoTwos},
                    lanes::tests::run,
                };
                run(Neon::detect(), $test::<FourTwos, TwoTwos>);
            }
        };
    }

    pub(super) use {for_each_half, for_each_vector};
}
