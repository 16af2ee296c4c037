//! The verbs in lanes: eight items at a time, one in each lane of a vector.
//!
//! All formulas stand here, generic in the field of the lanes. What differs between kinds of lanes is the form of a number:
//! its words, products and reductions. It stands in `ifma`, `fma` and [`serial`](super::serial), below the traits
//! [`Lanes`](field::Lanes) and [`PrimeField`](field::PrimeField). The third has no vectors: the portable backend takes it for some verbs.
//!
//! The layers, from the lowest to the highest. A file imports only files of its own layer and of those above it in the
//! table.
//!
//! | layer | files |
//! |---|---|
//! | functions compiled for each kind of lanes; loops written out; constants; limbs of integers; bounds in debug builds; where lanes are faster than the portable backend | [`instructions`], [`unroll`], [`constant`], [`integer`], [`tracked`], [`thresholds`] |
//! | what a kind of lanes offers | [`field`] |
//! | eight elements of Fp2, sums before their reduction | [`fp2`], [`wide`] |
//! | squares of a part of the coefficients, eight elements of Fp12 | [`compressed`], [`fp12`] |
//! | one element of Fp12, its coefficients in the lanes | [`spread`] |
//! | powers and roots | [`power`], [`square_root`] |
//! | the lines of prepared points | [`lines`] |
//! | points; one point with its coordinates in the lanes | [`curve`], [`affine`], [`spread_point`] |
//! | the steps of a Miller loop, the loop of few pairs | [`steps`], [`few_pairs`] |
//! | the verbs, under the names of the portable backend | the rest |
//!
//! No function here takes a secret. Verbs on few items call the portable backend where it is faster.

pub(crate) mod instructions;
pub(crate) mod unroll;
pub(crate) mod constant;
pub(crate) mod integer;
pub(crate) mod tracked;
pub(crate) mod thresholds;
pub(crate) mod field;
pub(crate) mod fp2;
pub(crate) mod wide;
pub(crate) mod compressed;
pub(crate) mod fp12;
pub(crate) mod spread;
pub(crate) mod power;
pub(crate) mod square_root;
pub(crate) mod lines;
pub(crate) mod curve;
pub(crate) mod affine;
pub(crate) mod spread_point;
pub(crate) mod encoding;
#[cfg(all(test, feature = "soak"))]
mod soak;
#[cfg(test)]
mod proofs;
pub(crate) mod subgroup;
pub(crate) mod hash_to_curve;
pub(crate) mod map_to_g1;
pub(crate) mod map_to_g2;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod sum;
pub(crate) mod stored;
pub(crate) mod weighted_sum;
pub(crate) mod members;
pub(crate) mod msm;
pub(crate) mod multiples;
pub(crate) mod steps;
pub(crate) mod few_pairs;
pub(crate) mod pairing;
mod bls12381;
