//! The lanes: eight items at a time, one in each 64-bit lane of an AVX-512 vector, with the 52-bit multiplier (IFMA).
//!
//! The layers, from the lowest to the highest. A file imports only files of its own layer and of those above it in the table.
//!
//! | layer | files |
//! |---|---|
//! | what kernels compute with; the token and the vectors, which alone are `unsafe` | [`word`], [`vector`] |
//! | how large a value can be, in debug builds | [`bound`] |
//! | kernels: products and reductions of limbs | [`kernel`], [`kernel52`] for [`power`], [`kernel_fr`] for [`fr`] |
//! | eight elements of a field | [`fp`], [`fp2`], [`wide`] for sums before their reduction, [`fp12`] |
//! | one element of Fp12, its coefficients in the lanes | [`spread`] |
//! | powers and roots; the trait that Fp and Fp2 share | [`power`], [`square_root`], [`field`] |
//! | elements one by one in memory; the lines of prepared points | [`rows`], [`lines`] |
//! | points | [`curve`], [`affine`] |
//! | eight scalars | [`fr`] |
//! | the verbs, under the names of the portable backend | the rest |
//!
//! No function here takes a secret. Verbs on few items call the portable backend, which is faster there.

pub(crate) mod affine;
pub(crate) mod bound;
pub(crate) mod curve;
pub(crate) mod encoding;
pub(crate) mod field;
pub(crate) mod fp12;
pub(crate) mod fp2;
pub(crate) mod fp;
pub(crate) mod fr;
pub(crate) mod hash_to_curve;
pub(crate) mod kernel52;
pub(crate) mod kernel;
pub(crate) mod kernel_fr;
pub(crate) mod lines;
pub(crate) mod map_to_g1;
pub(crate) mod map_to_g2;
pub(crate) mod msm;
pub(crate) mod multiples;
pub(crate) mod pairing;
pub(crate) mod power;
pub(crate) mod rows;
pub(crate) mod scalars;
#[cfg(test)]
mod soak;
pub(crate) mod spread;
pub(crate) mod square_root;
pub(crate) mod subgroup;
pub(crate) mod sum;
pub(crate) mod transform;
pub(crate) mod weighted_sum;
pub(crate) mod vector;
pub(crate) mod wide;
pub(crate) mod word;

pub use vector::Ifma;
pub(crate) use vector::LANES;

/// The portable backend decodes, hashes and checks fewer items than this, and is faster there.
const FEW: usize = 2;

/// The token, if this CPU has lanes. If not, says that the test is skipped.
#[cfg(test)]
pub(crate) fn lanes_or_skip() -> Option<Ifma> {
    let lanes = Ifma::detect();
    if lanes.is_none() {
        std::println!("skipped: no AVX-512 IFMA on this CPU");
    }
    lanes
}
