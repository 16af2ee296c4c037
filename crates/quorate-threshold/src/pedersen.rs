//! Pedersen's commitments: they hide a secret and still bind whoever made them.
//!
//! A commitment to a with the blinding b is C = a·g + b·h, where g is the generator and h a second base of the group of
//! keys (Pedersen, 1991). For each a there is a b that gives the same C, so C says nothing about a. Whoever could open one C in
//! two ways would know the logarithm of h to the base g, which nobody does: h is the hash of a tag.
//!
//! Commitments add up: those to the coefficients of a polynomial give the commitment to its value at any point. That is
//! how [`dkg`](crate::dkg) deals shares before the dealer shows what it contributes.

use quorate::{Backend, Bls12381Suite};
use quorate_curve::{Bls12381Group, SecretScalar};

/// The tag that is hashed to the group for the second base.
const TAG: &[u8] = b"QUORATE-DKG-V01-PEDERSEN-BASE_";

/// h: the second base, in the subgroup.
///
/// Cost: a hash to the curve.
pub fn second_base<G: Bls12381Group>() -> G {
    Backend::Portable.hash_to_curve_one(TAG, (b"", b""))
}

/// a·g + b·h, in constant time.
///
/// Cost: two multiplications and a hash to the curve.
///
/// ```
/// use quorate::MinPk;
/// use quorate_curve::SecretScalar;
/// use quorate_threshold::pedersen::commit;
/// let [a, b, c] = [1, 2, 3].map(|i| SecretScalar::key_gen(&[i; 32], b"").unwrap());
/// let commitment = commit::<MinPk>(&a, &b);
/// assert_eq!(commit::<MinPk>(&a, &b), commitment);
/// assert_ne!(commit::<MinPk>(&a, &c), commitment);
/// ```
pub fn commit<S: Bls12381Suite>(secret: &SecretScalar, blinding: &SecretScalar) -> S::Key {
    Backend::Portable.sum(&[S::public_key(secret), S::multiply_key(blinding, &second_base())])
}

#[cfg(test)]
mod tests {
    use quorate_curve::Group;

    use super::*;
    use quorate::{MinPk, MinSig};
    use quorate_curve::{Scalar, SecretPolynomial};

    fn secrets(purpose: &[u8], n: u8) -> Vec<SecretScalar> {
        (0..n).map(|i| SecretScalar::key_gen(&[i; 32], purpose).expect("32 bytes")).collect()
    }

    /// The commitments to coefficients give the commitment to a value.
    fn commitments_add_up<S: Bls12381Suite>() {
        let backend = Backend::auto();
        let base: S::Key = second_base();
        assert!(backend.is_member(&base) && !base.is_identity() && base != S::Key::generator());
        for n in 1..6 {
            let (secret, blinding) = (secrets(b"secret", n), secrets(b"blinding", n));
            let points: Vec<_> = secret.iter().zip(&blinding).map(|(a, b)| commit::<S>(a, b)).collect();
            let [secret, blinding] = [secret, blinding].map(SecretPolynomial::new);
            for x in [1, 2, 7].map(Scalar::from) {
                let powers = std::iter::successors(Some(Scalar::ONE), |power| Some(*power * x));
                let expected: S::Key = backend.msm(&points.iter().copied().zip(powers).collect::<Vec<_>>());
                let [a, b] = [&secret, &blinding].map(|polynomial| polynomial.value(&x).expect("not zero"));
                assert_eq!(commit::<S>(&a, &b), expected);
                assert_ne!(commit::<S>(&b, &a), expected);
            }
        }
    }

    #[test]
    fn commitments_add_up_in_both_variants() {
        commitments_add_up::<MinPk>();
        commitments_add_up::<MinSig>();
    }
}
