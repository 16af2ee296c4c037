//! The portable backend: blst, one item at a time.
//!
//! The verbs call [`arithmetic`](crate::arithmetic), which makes blst's functions safe.

pub(crate) mod affine;
pub(crate) mod encoding;
pub(crate) mod hash_to_curve;
pub(crate) mod map_to_g2;
pub(crate) mod msm;
pub(crate) mod multiples;
pub(crate) mod pairing;
pub(crate) mod scalars;
pub(crate) mod subgroup;
pub(crate) mod sum;
pub(crate) mod transform;
pub(crate) mod weighted_sum;
