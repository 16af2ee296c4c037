//! A share as digits: whole numbers of few bits, which can be found again in the exponent.

use quorate_curve::{Scalar, SecretError, SecretScalar, marking::declassify};
use zeroize::Zeroizing;

use super::parameters::{DIGIT_BITS, DIGITS};
use crate::sharing::listed;

/// The digits of a secret, the lowest first: Σ digit·2^(24·j) is the secret. Each is in -2^23..2^23. Constant time.
pub(super) fn digits(secret: &SecretScalar) -> Zeroizing<[i64; DIGITS]> {
    const HALF: i64 = 1 << (DIGIT_BITS - 1);
    let bytes = secret.to_bytes();
    let mut digits = Zeroizing::new([0; DIGITS]);
    let mut carry = 0;
    for (digit, chunk) in digits.iter_mut().zip(bytes.rchunks(DIGIT_BITS as usize / 8)) {
        let number = chunk.iter().fold(0, |number, byte| number << 8 | i64::from(*byte)) + carry;
        carry = (number + HALF) >> DIGIT_BITS;
        *digit = number - (carry << DIGIT_BITS);
    }
    digits
}

/// The secret scalar number + offset, in constant time.
///
/// # Errors
/// [`SecretError::Zero`].
///
/// # Panics
/// If the sum is negative.
pub(super) fn shifted(number: i64, offset: i64) -> Result<SecretScalar, SecretError> {
    let mut bytes = Zeroizing::new([0; 32]);
    let sum = number + offset;
    // A number that is too small is a fault of the caller, which ends there.
    assert!(declassify(sum >= 0), "the offset is larger than the number");
    bytes[24..].copy_from_slice(&sum.to_be_bytes());
    SecretScalar::from_bytes(&bytes)
}

/// Σ weight·digit for public weights and secret digits, in constant time.
///
/// # Errors
/// [`SecretError::Zero`].
///
/// # Panics
/// If a digit is farther than 2^62 from zero.
pub(super) fn weighted(weights: &[Scalar], digits: impl Iterator<Item = i64>) -> Result<SecretScalar, SecretError> {
    const OFFSET: i64 = 1 << 62;
    let shifted = listed(weights.len(), digits.map(|digit| shifted(digit, OFFSET)))?;
    let all = weights.iter().copied().sum::<Scalar>() * -Scalar::from(OFFSET as u64);
    let one = SecretScalar::from_bytes(&Scalar::ONE.to_bytes())?;
    SecretScalar::combination(weights.iter().copied().zip(&shifted).chain([(all, &one)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::one_round::parameters::{integer, powers};

    #[test]
    fn digits_make_the_secret_and_are_small() {
        let edges =
            [Scalar::ONE, -Scalar::ONE, Scalar::from(1 << 23), Scalar::from((1 << 23) - 1), -Scalar::from(1 << 23)];
        let random = (0..200_u8).map(|seed| Scalar::reduce(&[seed.wrapping_mul(37); 64]));
        for scalar in edges.into_iter().chain(random).filter(|scalar| !scalar.is_zero()) {
            let digits = digits(&SecretScalar::from_bytes(&scalar.to_bytes()).expect("not zero"));
            let sum: Scalar = digits.iter().zip(powers()).map(|(digit, power)| integer((*digit).into()) * power).sum();
            assert_eq!(sum, scalar);
            let weighted = weighted(&powers(), digits.iter().copied()).expect("not zero");
            assert_eq!(*weighted.to_bytes(), scalar.to_bytes());
            assert!(digits.iter().all(|digit| (-(1 << 23)..1 << 23).contains(digit)), "{digits:?}");
        }
    }

    #[test]
    fn numbers_are_shifted() {
        let of = |secret: SecretScalar| *secret.to_bytes();
        assert_eq!(shifted(-5, 12).map(of), Ok(Scalar::from(7).to_bytes()));
        assert_eq!(shifted(-5, 5).map(of), Err(SecretError::Zero));
    }
}
