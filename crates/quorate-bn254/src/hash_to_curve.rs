//! Bytes to a point of G1. There are three functions, and they give different points.
//!
//! | function | used by | what a contract needs as a hint |
//! |---|---|---|
//! | [`hash_to_curve`] | RFC 9380, `BN254G1_XMD:KECCAK-256_SVDW_RO_` (drand evmnet, kyber, Randamu) and `BN254G1_XMD:SHA-256_SVDW_RO_` (gnark-crypto) | inverses and roots |
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
use sha2::Sha256;
use sha3::Keccak256;

use crate::signature::MessagePoint;

/// The hash function by which [`hash_to_curve`] expands messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum XmdHash {
    /// Keccak-256, which the EVM computes cheaply.
    Keccak256,
    /// SHA-256.
    Sha256,
}

/// A domain separation tag of RFC 9380, with the hash function that expands messages under it. Equal bytes with two hash
/// functions lead to different points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct XmdTag<'a> {
    /// The hash function.
    pub hash: XmdHash,
    /// The bytes of the tag.
    pub bytes: &'a [u8],
}

/// RFC 9380, section 3: `hash_to_curve` of the suites `BN254G1_XMD:KECCAK-256_SVDW_RO_` and `BN254G1_XMD:SHA-256_SVDW_RO_`,
/// under a domain separation tag.
///
/// Two maps and one addition. The cofactor is 1, so there is no cofactor clearing.
pub fn hash_to_curve(message: &[u8], tag: XmdTag<'_>) -> MessagePoint {
    let [[first, second]] = hash_to_curve_parts([message], tag, &roots_one_by_one)[..] else {
        unreachable!("a message has two points")
    };
    MessagePoint::from_point((first.into_group() + second).into_affine())
}

/// The two points of each message whose sum is its [`hash_to_curve`]. Who adds them can share the inversions of all sums.
///
/// Each message is dropped before the next one is taken, so an iterator that makes long messages holds one at a time.
pub fn hash_to_curve_parts(
    messages: impl IntoIterator<Item = impl AsRef<[u8]>>,
    tag: XmdTag<'_>,
    roots: Roots<'_>,
) -> Vec<[G1Affine; 2]> {
    let to_field = match tag.hash {
        XmdHash::Keccak256 => hash_to_field::<Keccak256, 2>,
        XmdHash::Sha256 => hash_to_field::<Sha256, 2>,
    };
    let u: Vec<_> = messages.into_iter().flat_map(|message| to_field(message.as_ref(), tag.bytes)).collect();
    map_to_curve_each(&u, roots).chunks_exact(2).map(|pair| [pair[0].point, pair[1].point]).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A message that is counted while it is held.
    struct Held<'a>(&'a Cell<usize>);

    impl AsRef<[u8]> for Held<'_> {
        fn as_ref(&self) -> &[u8] {
            b"message"
        }
    }

    impl Drop for Held<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() - 1);
        }
    }

    /// 512 messages of 4 MB, each behind its key, took 2 GB at once.
    #[test]
    fn one_message_is_held_at_a_time() {
        let (held, tag) = (Cell::new(0), XmdTag { hash: XmdHash::Sha256, bytes: b"tag" });
        let messages = (0..9).map(|_| {
            assert_eq!(held.replace(held.get() + 1), 0, "another message is still held");
            Held(&held)
        });
        assert_eq!(hash_to_curve_parts(messages, tag, &roots_one_by_one).len(), 9);
        assert_eq!(held.get(), 0);
    }
}
