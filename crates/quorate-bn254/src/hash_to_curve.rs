//! Bytes to a point of G1. There are three functions, and they give different points.
//!
//! | function | used by | what a contract needs as a hint |
//! |---|---|---|
//! | [`hash_to_curve`] | RFC 9380, `BN254G1_XMD:KECCAK-256_SVDW_RO_`: drand evmnet, kyber, Randamu | inverses and roots |
//! | [`try_and_increment`] | this project's own contracts | counter and root |
//! | [`eigenlayer`] | EigenLayer's middleware | nothing; it computes at least two roots by MODEXP |
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

use ark_bn254::{Fq, G1Affine};
use ark_ec::{AffineRepr, CurveGroup};
use ark_ff::{BigInteger, Field, LegendreSymbol, PrimeField};
use sha3::Keccak256;

use crate::signature::MessagePoint;

/// RFC 9380, section 3: `hash_to_curve` of the suite `BN254G1_XMD:KECCAK-256_SVDW_RO_`, under a domain separation tag.
///
/// Two maps and one addition. The cofactor is 1, so there is no cofactor clearing.
pub fn hash_to_curve(message: &[u8], tag: &[u8]) -> MessagePoint {
    let [u0, u1] = hash_to_field::<Keccak256, 2>(message, tag);
    let sum = map_to_curve(u0).point.into_group() + map_to_curve(u1).point;
    MessagePoint::from_point(sum.into_affine())
}

/// x³ + 3, the square of the y that belong to x. It is never zero: the order of the curve is odd, so no point has y = 0.
pub fn right_side(x: Fq) -> Fq {
    x.square() * x + Fq::from(3u8)
}

/// Whether a field element, read as an integer, is even or odd: `sgn0` of RFC 9380, section 4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "an integer is even or odd")]
pub enum Parity {
    /// `sgn0` is 0.
    Even,
    /// `sgn0` is 1.
    Odd,
}

/// The parity of a field element.
pub fn parity(element: Fq) -> Parity {
    if element.into_bigint().is_odd() { Parity::Odd } else { Parity::Even }
}

/// Whether an element is a square; zero is one.
fn is_square(element: Fq) -> bool {
    element.legendre() != LegendreSymbol::QuadraticNonResidue
}

/// The square root that has the wanted parity; `None` if there is no root.
fn root_of_parity(square: Fq, wanted: Parity) -> Option<Fq> {
    let root = square.sqrt()?;
    Some(if parity(root) == wanted { root } else { -root })
}

fn point(x: Fq, y: Fq) -> G1Affine {
    let point = G1Affine::new_unchecked(x, y);
    debug_assert!(point.is_on_curve(), "y is a root of x³ + 3");
    point
}
