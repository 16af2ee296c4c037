//! Bytes to a point of G1, in three ways that do not agree with each other.
//!
//! | function | who | on chain |
//! |---|---|---|
//! | [`hash_to_curve`] | RFC 9380, `BN254G1_XMD:KECCAK-256_SVDW_RO_`: drand evmnet, kyber, Randamu | inverses and roots as hints |
//! | [`try_and_increment`] | this project's own contracts | counter and root as a hint |
//! | [`eigenlayer`] | EigenLayer's middleware | two roots by MODEXP at least |
//!
//! None is constant time: messages are public.

mod eigenlayer;
mod expand_message;
mod svdw;
mod try_and_increment;

pub use eigenlayer::eigenlayer;
pub use expand_message::{expand_message_xmd, hash_to_field};
pub use svdw::{Candidate, Mapped, candidates, denominator, map_to_curve};
pub use try_and_increment::{Incremented, candidate, try_and_increment};

use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{BigInteger, Field, LegendreSymbol, PrimeField};
use sha3::{
    Keccak256,
    digest::{Digest, common::BlockSizeUser},
};

use crate::bn254::{Fp, G1, MessagePoint};

/// RFC 9380, section 3: `hash_to_curve` of the suite `BN254G1_XMD:KECCAK-256_SVDW_RO_`, under a domain separation tag.
///
/// Two maps and an addition; cofactor 1 needs no clearing.
pub fn hash_to_curve(message: &[u8], tag: &[u8]) -> MessagePoint {
    hash_to_curve_with::<Keccak256>(message, tag)
}

/// [`hash_to_curve`] with another hash function: gnark's `BN254G1_XMD:SHA-256_SVDW_RO_` with SHA-256.
pub fn hash_to_curve_with<D: Digest + BlockSizeUser>(message: &[u8], tag: &[u8]) -> MessagePoint {
    let [u0, u1] = hash_to_field::<D, 2>(message, tag);
    let sum = map_to_curve(u0).point.into_group() + map_to_curve(u1).point;
    MessagePoint::from_point(sum.into_affine())
}

/// RFC 9380, section 3: `encode_to_curve`, one map and not uniform. The NU suites; no contract here uses it.
pub fn encode_to_curve_with<D: Digest + BlockSizeUser>(message: &[u8], tag: &[u8]) -> MessagePoint {
    let [u] = hash_to_field::<D, 1>(message, tag);
    MessagePoint::from_point(map_to_curve(u).point)
}

/// x³ + 3, whose roots are the y of x. It is never zero: the order of the curve is odd, so no point has y = 0.
pub(crate) fn right_side(x: Fp) -> Fp {
    x.square() * x + Fp::from(3u8)
}

/// Whether an element is a square, zero included.
fn is_square(element: Fp) -> bool {
    element.legendre() != LegendreSymbol::QuadraticNonResidue
}

/// The root of a square whose parity (`sgn0` of a prime field) is as wanted; `None` where there is no root.
pub(crate) fn root_of_parity(square: Fp, odd: Parity) -> Option<Fp> {
    let root = square.sqrt()?;
    Some(if parity(root) == odd { root } else { -root })
}

/// `sgn0` (section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parity {
    Even,
    Odd,
}

pub(crate) fn parity(element: Fp) -> Parity {
    if element.into_bigint().is_odd() { Parity::Odd } else { Parity::Even }
}

fn point(x: Fp, y: Fp) -> G1 {
    let point = G1::new_unchecked(x, y);
    debug_assert!(point.is_on_curve(), "y is a root of x³ + 3");
    point
}
