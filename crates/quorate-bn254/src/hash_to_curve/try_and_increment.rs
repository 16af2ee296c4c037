//! A digest to a point by trying one x after the other. A contract that is given the counter and the root checks them for
//! 190 gas.

use ark_bn254::Fq;
use ark_ff::PrimeField;

use super::roots::{Parity, Roots, lifted, of_parity, point, roots_one_by_one};
use crate::{encoding::fq_from_bytes, keccak::keccak256, signature::MessagePoint};

/// The point of a digest, and the counter that leads to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incremented {
    /// The point; its y is even.
    pub point: MessagePoint,
    /// The least counter that leads to a point. A higher counter may lead to another point, which no honest signer signs.
    pub counter: u8,
}

/// For c = 0, 1, 2, …: x = keccak256(TAG ‖ digest ‖ c) mod 2^254 with TAG = keccak256("quorate.bn254.g1.try-and-increment")
/// and c in 32 bytes. The function takes the first x that is below p and for which x³ + 3 is a square, and the even root.
///
/// A counter is accepted with probability p/2^255 = 0.378, so the function tries 2.6 counters on average.
///
/// # Panics
/// If none of the 256 counters is accepted. A digest has this property with probability 2^-175; nobody can find one.
pub fn try_and_increment(digest: &[u8; 32]) -> Incremented {
    try_and_increment_each(&[*digest], &roots_one_by_one)[0]
}

/// The point of each digest.
///
/// # Panics
/// As [`try_and_increment`].
pub fn try_and_increment_each(digests: &[[u8; 32]], roots: Roots<'_>) -> Vec<Incremented> {
    let mut found: Vec<Option<Incremented>> = vec![None; digests.len()];
    let mut counters = vec![0..=u8::MAX; digests.len()];
    let mut open: Vec<_> = (0..digests.len()).collect();
    while !open.is_empty() {
        // The next x below p of each digest that has no point yet.
        let next = |i: &usize| {
            let x = |counter| Some((counter, fq_from_bytes(&candidate(&digests[*i], counter))?));
            counters[*i].find_map(x).expect("one of 256 counters is accepted but for 2^-175")
        };
        let (tried, x): (Vec<_>, Vec<_>) = open.iter().map(next).unzip();
        for (((i, counter), x), y) in open.iter().zip(tried).zip(&x).zip(lifted(&x, roots)) {
            let of = |y| MessagePoint::from_point(point(*x, of_parity(y, Parity::Even)));
            found[*i] = y.map(|y| Incremented { point: of(y), counter });
        }
        open.retain(|i| found[*i].is_none());
    }
    found.into_iter().flatten().collect()
}

/// The word of a counter, below 2^254. It is the x of a point if it is below p and x³ + 3 is a square.
pub fn candidate(digest: &[u8; 32], counter: u8) -> [u8; 32] {
    let tag = keccak256(&[b"quorate.bn254.g1.try-and-increment"]);
    let mut counted = [0; 32];
    counted[31] = counter;
    let mut word = keccak256(&[&tag, digest, &counted]);
    word[0] &= 0x3f;
    debug_assert_eq!(Fq::MODULUS_BIT_SIZE, 254);
    word
}
