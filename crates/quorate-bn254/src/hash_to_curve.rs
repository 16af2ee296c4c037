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

pub use eigenlayer::{eigenlayer, eigenlayer_each};
pub use expand_message::{expand_message_xmd, hash_to_field};
pub use roots::{Parity, Roots, parity, right_side, roots_one_by_one};
pub use svdw::{Candidate, Mapped, candidates, denominator, map_to_curve, map_to_curve_each};
pub use try_and_increment::{Incremented, candidate, try_and_increment, try_and_increment_each};

use ark_bn254::G1Affine;
use ark_ec::{AffineRepr, CurveGroup};
use sha3::Keccak256;

use crate::signature::MessagePoint;

/// RFC 9380, section 3: `hash_to_curve` of the suite `BN254G1_XMD:KECCAK-256_SVDW_RO_`, under a domain separation tag.
///
/// Two maps and one addition. The cofactor is 1, so there is no cofactor clearing.
pub fn hash_to_curve(message: &[u8], tag: &[u8]) -> MessagePoint {
    let [[first, second]] = hash_to_curve_parts(&[message], tag, &roots_one_by_one)[..] else {
        unreachable!("a message has two points")
    };
    MessagePoint::from_point((first.into_group() + second).into_affine())
}

/// The two points of each message whose sum is its [`hash_to_curve`]. Who adds them can share the inversions of all sums.
pub fn hash_to_curve_parts(messages: &[&[u8]], tag: &[u8], roots: Roots<'_>) -> Vec<[G1Affine; 2]> {
    let u: Vec<_> = messages.iter().flat_map(|message| hash_to_field::<Keccak256, 2>(message, tag)).collect();
    map_to_curve_each(&u, roots).chunks_exact(2).map(|pair| [pair[0].point, pair[1].point]).collect()
}
