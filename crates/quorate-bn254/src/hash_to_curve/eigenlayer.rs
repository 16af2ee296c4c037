//! `BN254.hashToG1` of EigenLayer's middleware.

use ark_bn254::Fq;
use ark_ff::{Field, PrimeField};

use super::roots::{point, right_side};
use crate::signature::MessagePoint;

/// Starts at x = digest mod p and counts x up until x³ + 3 is a square; then y = (x³ + 3)^((p + 1)/4), which is one of the
/// two roots, even or odd.
///
/// The digest must be the output of a hash function: neighbouring digests lead to the same point, and so do a digest and
/// the digest plus p. Costs one exponentiation for each x, two on average; no bound on their number is known.
pub fn eigenlayer(digest: &[u8; 32]) -> MessagePoint {
    let mut x = Fq::from_be_bytes_mod_order(digest);
    loop {
        let right = right_side(x);
        let y = right.pow(ROOT_EXPONENT);
        if y.square() == right {
            return MessagePoint::from_point(point(x, y));
        }
        x += Fq::ONE;
    }
}

/// (p + 1)/4, least significant limb first.
const ROOT_EXPONENT: [u64; 4] = [0x4f082305b61f3f52, 0x65e05aa45a1c72a3, 0x6e14116da0605617, 0x0c19139cb84c680a];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponent_is_a_quarter_of_p_and_one() {
        let mut four = ROOT_EXPONENT;
        for _ in 0..2 {
            let carries: Vec<u64> = four.iter().map(|limb| limb >> 63).collect();
            four.iter_mut().for_each(|limb| *limb <<= 1);
            (1..4).for_each(|i| four[i] |= carries[i - 1]);
        }
        four[0] -= 1;
        assert_eq!(four, Fq::MODULUS.0);
    }
}
