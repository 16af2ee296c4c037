//! `BN254.hashToG1` of EigenLayer's middleware.

use ark_ff::{Field, PrimeField};

use super::{point, right_side};
use crate::bn254::{Fp, MessagePoint};

/// x = digest mod p, counted up until x³ + 3 is a square; y = (x³ + 3)^((p + 1)/4), whichever root that is.
///
/// Neighbouring digests meet in the same point, and a digest and its sum with p do: the digest has to be a hash. Takes a
/// root for each x that is tried, two on average, and no bound is known on how many.
pub fn eigenlayer(digest: &[u8; 32]) -> MessagePoint {
    let mut x = Fp::from_be_bytes_mod_order(digest);
    loop {
        let right = right_side(x);
        let y = right.pow(ROOT_EXPONENT);
        if y.square() == right {
            return MessagePoint::from_point(point(x, y));
        }
        x += Fp::ONE;
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
        assert_eq!(four, Fp::MODULUS.0);
    }
}
