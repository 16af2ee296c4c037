//! The keys to which shares are encrypted.
//!
//! A key is y = x·g in G1, with a proof that its owner knows x (Schnorr, 1991). The proof matters: whoever had y + d·g for a
//! key when it knows only d, could compare its digits with the owner's, because all receivers share one encapsulation.
//!
//! The secret x must multiply nothing in G2. With x·Q for any Q there, a pairing would tell whether a digit was guessed
//! rightly, and 24 bits are soon guessed. So it is no signing key, and the proof is no signature of BLS.

use std::fmt::{self, Debug};

use quorate::Backend;
use quorate_curve::{Bls12381Group, G1, Group, Scalar, SecretScalar, marking::declassify};
use sha2::{Digest as _, Sha512};

/// What makes the secret of something else another secret.
const DERIVATION: &[u8] = b"QUORATE-ONE-ROUND-V01-DECRYPTION-KEY_";
const NONCE: &[u8] = b"QUORATE-ONE-ROUND-V01-NONCE_";
const CHALLENGE: &[u8] = b"QUORATE-ONE-ROUND-V01-POSSESSION_";

/// A receiver's secret key. It is wiped when it is dropped.
#[derive(Clone)]
pub struct ShareDecryptionKey(SecretScalar);

/// A receiver's public key, with the proof that its owner knows the secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ShareEncryptionKey {
    point: G1,
    challenge: Scalar,
    answer: Scalar,
}

/// Why bytes are no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShareKeyError {
    /// There are not 112 bytes.
    #[error("a key and its proof have {expected} bytes, and there are {found}", expected = ShareEncryptionKey::BYTES)]
    Length {
        /// How many there are.
        found: usize,
    },
    /// The point does not decode, is the identity, or is outside the subgroup.
    #[error("the point is no key: it must be in the subgroup of G1 and not the identity")]
    Point,
    /// The proof is false.
    #[error("the proof that the owner knows the secret is false")]
    Proof,
}

impl ShareDecryptionKey {
    /// The key that follows from 32 secret bytes that are as random as a key.
    pub fn derive(material: &[u8; 32]) -> Self {
        Self(SecretScalar::key_gen(material, DERIVATION).expect("32 bytes are enough"))
    }

    /// The public half.
    ///
    /// Cost: two multiplications in constant time.
    pub fn encryption_key(&self) -> ShareEncryptionKey {
        let point = declassify(self.0.times_g1());
        let nonce = SecretScalar::key_gen(self.0.to_bytes().as_slice(), NONCE).expect("32 bytes are enough");
        let challenge = challenge(point, declassify(nonce.times_g1()));
        let answer = SecretScalar::combination([(Scalar::ONE, &nonce), (challenge, &self.0)]);
        let answer = declassify(*answer.expect("it is zero with a probability of 2^-255").to_bytes());
        ShareEncryptionKey { point, challenge, answer: Scalar::from_bytes(&answer).expect("it is below the order") }
    }

    /// x times a point of the subgroup and a number times the generator, in constant time.
    pub(super) fn times_plus_short(&self, point: &G1, number: i64, bits: usize) -> G1 {
        self.0.times_plus_short(point, number, bits)
    }
}

impl ShareEncryptionKey {
    /// The bytes of a key and its proof: a compressed point, and two scalars.
    pub const BYTES: usize = 112;

    /// Reads a key, and checks its proof.
    ///
    /// # Errors
    /// [`ShareKeyError`].
    ///
    /// Cost: a square root, a check of membership and two multiplications.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ShareKeyError> {
        let found = bytes.len();
        let bytes: &[u8; Self::BYTES] = bytes.try_into().map_err(|_| ShareKeyError::Length { found })?;
        let (point, scalars) = bytes.split_at(G1::COMPRESSED);
        let backend = Backend::Portable;
        let point: G1 = backend.decode(point).map_err(|_| ShareKeyError::Point)?;
        if point.is_identity() || !backend.is_member(&point) {
            return Err(ShareKeyError::Point);
        }
        let scalar =
            |bytes: &[u8]| Scalar::from_bytes(bytes.try_into().expect("32 bytes")).map_err(|_| ShareKeyError::Proof);
        let (expected, answer) = (scalar(&scalars[..32])?, scalar(&scalars[32..])?);
        let nonce = backend.msm(&[(G1::generator(), answer), (point, -expected)]);
        if challenge(point, nonce) == expected {
            Ok(Self { point, challenge: expected, answer })
        } else {
            Err(ShareKeyError::Proof)
        }
    }

    /// The bytes that [`from_bytes`](Self::from_bytes) reads.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let parts = [self.point.compress().as_ref(), &self.challenge.to_bytes(), &self.answer.to_bytes()].concat();
        parts.try_into().expect("the parts of a key")
    }

    pub(super) fn point(&self) -> G1 {
        self.point
    }
}

fn challenge(point: G1, nonce: G1) -> Scalar {
    let hash = Sha512::new().chain_update(CHALLENGE).chain_update(point.compress()).chain_update(nonce.compress());
    Scalar::reduce(&hash.finalize())
}

impl Debug for ShareDecryptionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShareDecryptionKey(redacted)")
    }
}

impl Debug for ShareEncryptionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ShareEncryptionKey({})", const_hex::encode(self.point.compress()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_proves_that_its_owner_knows_it() {
        let [one, two] = [1, 2].map(|seed| ShareDecryptionKey::derive(&[seed; 32]).encryption_key());
        let bytes = one.to_bytes();
        assert_eq!(ShareEncryptionKey::from_bytes(&bytes), Ok(one));
        assert_ne!(one, two);
        for length in [0, 48, 111, 113] {
            let cut: Vec<_> = bytes.iter().copied().cycle().take(length).collect();
            assert_eq!(ShareEncryptionKey::from_bytes(&cut), Err(ShareKeyError::Length { found: length }));
        }
        for place in [48, 79, 80, 111] {
            let mut changed = bytes;
            changed[place] ^= 1;
            assert_eq!(ShareEncryptionKey::from_bytes(&changed), Err(ShareKeyError::Proof), "byte {place}");
        }
        let stolen = [&two.to_bytes()[..48], &bytes[48..]].concat();
        assert_eq!(ShareEncryptionKey::from_bytes(&stolen), Err(ShareKeyError::Proof));
    }

    /// The identity, a point of small order, and one whose parts of order r and of small order are both there.
    #[test]
    fn points_that_are_no_keys_are_refused() {
        let key = ShareDecryptionKey::derive(&[1; 32]).encryption_key();
        let small = crate::one_round::tests::point_of_order_three();
        for point in [G1::IDENTITY, small, Backend::Portable.sum(&[small, key.point])] {
            let bytes = [point.compress().as_ref(), &key.to_bytes()[48..]].concat();
            assert_eq!(ShareEncryptionKey::from_bytes(&bytes), Err(ShareKeyError::Point));
        }
    }
}
