//! The portable back end: blst, one item at a time.
//!
//! [`field`], [`curve`] and [`pairing`] make blst's functions safe and give both groups one face; only they are `unsafe`.

pub(crate) mod affine;
pub(crate) mod curve;
pub(crate) mod encoding;
pub(crate) mod field;
pub(crate) mod hash_to_curve;
pub(crate) mod map_to_g2;
pub(crate) mod msm;
pub(crate) mod pairing;
pub(crate) mod subgroup;
pub(crate) mod sum;
pub(crate) mod weighted_sum;

pub(crate) use curve::{Curve, negate};
