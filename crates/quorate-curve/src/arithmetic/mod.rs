//! blst's arithmetic of one field element, one point and one value of a pairing, made safe.
//!
//! Both groups have one face here: [`field::Field`] for Fp and Fp2, [`curve::Curve`] for E(Fp) and its twist.

pub(crate) mod curve;
pub(crate) mod field;
pub(crate) mod fp12;

pub(crate) use curve::Curve;
