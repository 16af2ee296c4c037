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
#[cfg(debug_assertions)]
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
pub(crate) mod wide;
pub(crate) mod word;

/// Lanes in a vector.
pub(crate) const LANES: usize = 8;

/// Fewer items than this are decoded, hashed and checked by the portable back end, which is faster there.
const FEW: usize = 2;

/// That this CPU has the lanes' instructions and the operating system keeps their registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ifma(());

cpufeatures::new!(lanes, "avx512f", "avx512ifma");

impl Ifma {
    /// What [`detect`](Self::detect) answers with, for constants.
    pub(crate) const FOUND: Self = Self(());

    /// Looks at the CPU, once; `None` where AVX-512 F or IFMA are missing.
    pub fn detect() -> Option<Self> {
        lanes::get().then_some(Self::FOUND)
    }
}

/// Whether this CPU has lanes; says so where it does not, and a test is skipped.
#[cfg(test)]
pub(crate) fn lanes_or_skip() -> bool {
    let found = Ifma::detect().is_some();
    if !found {
        std::println!("skipped: no AVX-512 IFMA on this CPU");
    }
    found
}
