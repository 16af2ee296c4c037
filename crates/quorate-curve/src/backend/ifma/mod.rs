//! The lanes: eight items at a time, one in each 64-bit lane of an AVX-512 vector, by its 52-bit multiplier (IFMA).
//!
//! | layer | files |
//! |---|---|
//! | instructions, and the kernels made of them | [`word`], [`kernel`], and [`kernel52`] for [`power`] |
//! | eight elements of a field | [`fp`], [`fp2`], [`fp12`], [`wide`] for what is not reduced yet, with [`bound`] beside them in debug builds; [`field`] is their common face |
//! | one element of Fp12, its coefficients in lanes | [`spread`] |
//! | elements one by one in memory; lines of prepared points | [`rows`], [`lines`] |
//! | the verbs, named as in the portable back end | the rest |
//!
//! No function here takes a secret. Verbs on few items go to the portable back end, which is faster there.

pub(crate) mod affine;
pub(crate) mod bound;
pub(crate) mod curve;
pub(crate) mod encoding;
pub(crate) mod field;
pub(crate) mod fp12;
pub(crate) mod fp2;
pub(crate) mod fp;
pub(crate) mod hash_to_curve;
pub(crate) mod kernel52;
pub(crate) mod kernel;
pub(crate) mod lines;
pub(crate) mod map_to_g1;
pub(crate) mod map_to_g2;
pub(crate) mod msm;
pub(crate) mod pairing;
pub(crate) mod power;
pub(crate) mod rows;
#[cfg(test)]
mod soak;
pub(crate) mod spread;
pub(crate) mod square_root;
pub(crate) mod subgroup;
pub(crate) mod sum;
pub(crate) mod weighted_sum;
pub(crate) mod vector;
pub(crate) mod wide;
pub(crate) mod word;

pub use vector::Ifma;
pub(crate) use vector::LANES;

/// Fewer items than this are decoded, hashed and checked by the portable backend, which is faster there.
const FEW: usize = 2;

/// The token where this CPU has lanes; where it does not, says that a test is skipped.
#[cfg(test)]
pub(crate) fn lanes_or_skip() -> Option<Ifma> {
    let lanes = Ifma::detect();
    if lanes.is_none() {
        std::println!("skipped: no AVX-512 IFMA on this CPU");
    }
    lanes
}
