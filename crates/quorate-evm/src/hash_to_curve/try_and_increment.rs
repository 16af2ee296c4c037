//! A digest to a point by counting until one is met: 190 gas on chain for who is told counter and root.

use ark_ff::PrimeField;

use super::{Parity, point, right_side, root_of_parity};
use crate::{
    bn254::{Fp, MessagePoint, fp_from_bytes},
    keccak::keccak256,
};

/// A digest's point, and the counter that led to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incremented {
    /// The point; its y is even.
    pub point: MessagePoint,
    /// The least counter that is accepted. A later one names a point that nobody signed.
    pub counter: u8,
}

/// For c = 0, 1, 2, …: x = keccak256(TAG ‖ digest ‖ c) mod 2^254 with TAG = keccak256("quorate.bn254.g1.try-and-increment")
/// and c in 32 bytes; the first x that is below p, and x³ + 3 a square, is taken, with the even root.
///
/// 2.6 counters on average: each is accepted with probability p/2^255 = 0.378.
///
/// # Panics
/// If none of 256 counters is accepted: probability 2^-175, a digest that nobody can find.
pub fn try_and_increment(digest: &[u8; 32]) -> Incremented {
    let found = (0..=u8::MAX).find_map(|counter| {
        let x = fp_from_bytes(&candidate(digest, counter))?;
        let y = root_of_parity(right_side(x), Parity::Even)?;
        Some(Incremented { point: MessagePoint::from_point(point(x, y)), counter })
    });
    found.expect("one of 256 counters is accepted but for 2^-175")
}

/// The word of a counter, below 2^254: an x if it is below p and on the curve.
pub fn candidate(digest: &[u8; 32], counter: u8) -> [u8; 32] {
    let tag = keccak256(&[b"quorate.bn254.g1.try-and-increment"]);
    let mut counted = [0; 32];
    counted[31] = counter;
    let mut word = keccak256(&[&tag, digest, &counted]);
    word[0] &= 0x3f;
    debug_assert_eq!(Fp::MODULUS_BIT_SIZE, 254);
    word
}
