//! blst's arithmetic on one field element, one point or one value of a pairing at a time, made safe.
//!
//! All curves share two traits: [`field::Field`] for Fp and Fp2, and [`curve::Curve`] for E(Fp) and its twist. Those of BLS12-381 have more:
//! [`field::BlstField`] and [`curve::BlstCurve`].

pub(crate) mod field;
pub(crate) mod curve;
pub(crate) mod fp12;

pub(crate) use curve::{BlstCurve, Curve};
