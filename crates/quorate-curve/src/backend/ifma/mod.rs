//! Lanes of AVX-512 IFMA: the 52-bit multiplier.
//!
//! The layers, from the lowest to the highest. A file imports only files of its own layer and of those above it in the
//! table.
//!
//! | layer | files |
//! |---|---|
//! | what kernels compute with; the token and the vectors, with all `unsafe` code but an empty `asm!` of [`kernel_fp2`] | [`word`], [`vector`] |
//! | how large a value can be, in debug builds | [`bound`], [`range`] |
//! | kernels: products and reductions of limbs | [`kernel`], [`kernel_fp2`], [`kernel52`] for long chains, [`kernel_fr`] |
//! | eight elements of Fp | [`fp`] |
//! | eight scalars, and the verbs on scalars | [`fr`], [`scalars`], [`transform`] |

pub(crate) mod word;
pub(crate) mod vector;
pub(crate) mod bound;
pub(crate) mod range;
pub(crate) mod kernel;
pub(crate) mod kernel_fp2;
pub(crate) mod kernel52;
pub(crate) mod kernel_fr;
pub(crate) mod fp;
pub(crate) mod fr;
pub(crate) mod scalars;
pub(crate) mod transform;
#[cfg(test)]
mod proofs;

pub use vector::Ifma;

use self::fp::{Fp, InIfma};
use super::lanes::{
    constant::Modulus,
    field::{LANES, Lanes},
    instructions::{AVX512_IFMA, Token},
    thresholds::Thresholds,
};
use crate::pairing::Bls12381;

// SAFETY: a token comes from `Ifma::detect`, which has found AVX-512 F and IFMA, or from a vector.
unsafe impl<C: Modulus> Token for Ifma<C> {
    const INSTRUCTIONS: u8 = AVX512_IFMA;
}

impl InIfma<8> for Bls12381 {
    type Token = Ifma;

    fn token(lanes: Ifma) -> Ifma {
        lanes
    }

    fn ifma(lanes: Ifma) -> Ifma {
        lanes
    }
}

impl Lanes for Ifma {
    type Curve = Bls12381;
    const THRESHOLDS: Thresholds = Thresholds {
        items: 2,
        messages: 1,
        // The cofactors of four cost as much to clear one by one.
        points: 5,
        spread_points: true,
        // Measured at 64 to 96 in G2 and 96 to 128 in G1.
        sum: 96,
        // Measured at 2 to 4.
        weighted_sum: 4,
        weighted_sums: 4,
        // Measured at 80 to 110.
        buckets: 96,
        joined_segments: 2,
        // Measured at 80 to 112.
        members_in_g1: 128,
        // Measured at 24 to 32 for 64 bits of soundness and at 64 for 128 bits.
        members_in_g2: 32,
        // Measured at 3 and 4.
        msm: 4,
        // Measured at 2.
        multiples: 2,
        // 16 pairs of either curve cost as much in lanes of their own.
        spread_pairs: 15,
        // Measured at 4 on a Zen 4: three are 2 % slower in a batch of two claims.
        pairs: 4,
        // Measured at 2 on a Zen 4. With vectors of full width, one pair by blst costs more than a vector of eight.
        pairs_left: 1,
        narrow_pairs: usize::MAX,
        prepared_pairs: 2,
        // Both measured at 2 on a Zen 4. Vectors of full width are faster, and inversions are not.
        inversions: 3,
        twisted_inversions: 3,
        // Five cost 635 µs one by one, and eight at a time 745 µs.
        values: 6,
        // 127 µs, where blst takes 340 µs.
        spread: true,
        compressed: false,
    };
    const WIDTH: usize = LANES;
    type Fp = Fp<Bls12381, 8>;
    type Narrow = Self;

    fn narrow(self) -> Self {
        self
    }
}
