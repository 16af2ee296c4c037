//! blst's arithmetic on one field element, one point or one value of a pairing at a time, made safe.
//!
//! Both curves share two traits: [`field::Field`] for Fp and Fp2, and [`curve::Curve`] for E(Fp) and its twist.

pub(crate) mod field;
pub(crate) mod curve;
pub(crate) mod fp12;

pub(crate) use curve::{BlstCurve, Curve};
