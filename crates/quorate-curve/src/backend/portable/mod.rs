//! The portable back end: blst, one item at a time.
//!
//! [`curve`] is the only file here with `unsafe`: it makes blst's functions safe and gives both curves one face.

pub(crate) mod curve;
pub(crate) mod encoding;
pub(crate) mod hash_to_curve;
pub(crate) mod pairing;
pub(crate) mod subgroup;
pub(crate) mod sum;
pub(crate) mod weighted_sum;

pub(crate) use curve::{Curve, negate};
