//! Bytes to a point of G1. There are three functions, and they give different points.
//!
//! | function | used by | what a contract needs as a hint |
//! |---|---|---|
//! | [`hash_to_curve`] | RFC 9380, `BN254G1_XMD:KECCAK-256_SVDW_RO_`: drand evmnet, kyber, Randamu | inverses and roots |
//! | [`try_and_increment`] | this project's own contracts | counter and root |
//! | [`eigenlayer`] | EigenLayer's middleware | nothing; it computes at least two roots by MODEXP |
//!
//! None is constant time: messages are public.

mod roots;
mod eigenlayer;
mod expand_message;
mod svdw;
mod try_and_increment;

pub use eigenlayer::eigenlayer;
pub use expand_message::{expand_message_xmd, hash_to_field};
pub use roots::{Parity, parity, right_side};
pub use svdw::{Candidate, Mapped, candidates, denominator, map_to_curve};
pub use try_and_increment::{Incremented, candidate, try_and_increment};

use ark_ec::{AffineRepr, CurveGroup};
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
