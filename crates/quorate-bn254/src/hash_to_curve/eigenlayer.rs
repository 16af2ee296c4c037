//! `BN254.hashToG1` of EigenLayer's middleware.

use ark_bn254::Fq;
use ark_ff::{Field, PrimeField};

use super::roots::{Roots, lifted, point, roots_one_by_one};
use crate::signature::MessagePoint;

/// Starts at x = digest mod p and counts x up until x³ + 3 is a square; then y = (x³ + 3)^((p + 1)/4), which is one of the
/// two roots, even or odd.
///
/// The digest must be the output of a hash function: neighbouring digests lead to the same point, and so do a digest and
/// the digest plus p. Costs one exponentiation for each x, two on average; no bound on their number is known.
pub fn eigenlayer(digest: &[u8; 32]) -> MessagePoint {
    eigenlayer_each(&[*digest], &roots_one_by_one)[0]
}

/// The point of each digest.
pub fn eigenlayer_each(digests: &[[u8; 32]], roots: Roots<'_>) -> Vec<MessagePoint> {
    let mut tried: Vec<_> = digests.iter().map(|digest| Fq::from_be_bytes_mod_order(digest)).collect();
    let mut points = vec![None; digests.len()];
    let mut open: Vec<_> = (0..digests.len()).collect();
    while !open.is_empty() {
        let x: Vec<_> = open.iter().map(|i| tried[*i]).collect();
        for ((i, x), y) in open.iter().zip(&x).zip(lifted(&x, roots)) {
            points[*i] = y.map(|y| MessagePoint::from_point(point(*x, y)));
            tried[*i] += Fq::ONE;
        }
        open.retain(|i| points[*i].is_none());
    }
    points.into_iter().flatten().collect()
}
