//! Public keys, which are checked once, and secret keys, which are wiped when they are dropped and never printed.
//!
//! ```
//! use quorate::{MinSig, PublicKey, SecretKey};
//! let secret = SecretKey::<MinSig>::key_gen(MinSig::Basic, &[1; 32], b"")?;
//! let key = secret.public_key();
//! let bytes: [u8; 96] = key.to_bytes();
//! assert_eq!(PublicKey::from_bytes(&bytes)?, key);
//! let signature = secret.sign(MinSig::Basic, b"hello");
//! assert!(key.verify(MinSig::Basic, b"hello", signature).is_valid());
//! assert_eq!(format!("{secret:?}"), "SecretKey(redacted)");
//! # Ok::<(), quorate::ParseError>(())
//! ```

use std::fmt::{self, Debug};

use quorate_curve::{Backend, Bls12381Group, Group, SecretScalar};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::{
    parse::{Encoded, ParseError, conversions},
    suite::{Bls12381Suite, Placed, Suite, checked_keys},
};

/// A public key: canonical, on the curve, in the subgroup of order r, not the identity (`KeyValidate`, section 2.5).
///
/// A valid key can still be one whose secret nobody knows: see [`proof_of_possession`](crate::proof_of_possession).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct PublicKey<S: Suite>(S::Key);

impl<S: Suite> PublicKey<S> {
    /// Reads a compressed key: 48 bytes in min-pk, 96 in min-sig. On BN254 it reads coordinates: 128 bytes of a key in G2, or 192 of
    /// a key in both groups.
    ///
    /// # Errors
    /// [`ParseError::Key`], [`ParseError::KeyNotInSubgroup`], [`ParseError::IdentityKey`].
    ///
    /// Cost: a square root and a subgroup check, about 60 µs in G1, by blst. For many keys call
    /// [`from_bytes_each`](Self::from_bytes_each).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ParseError> {
        S::decode_keys(&[bytes], Backend::Portable)[0].map(Self)
    }

    /// Reads a key as a claim of the suite has it: as [`from_bytes`](Self::from_bytes) does, but under `eigenlayer` the keys in both groups
    /// and no other, and in the other suites on BN254 the key in G2 alone.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes).
    pub fn from_claim(suite: S, bytes: &[u8]) -> Result<Self, ParseError> {
        if bytes.len() == suite.key_length() {
            Self::from_bytes(bytes)
        } else {
            Err(suite.wrong_key_length(bytes.len()))
        }
    }

    /// Reads many compressed keys. Each answer is the one that [`from_bytes`](Self::from_bytes) gives.
    ///
    /// Cost: for each key in G1, a quarter of `from_bytes` with `ifma`, and under a half with `fma-avx2`.
    pub fn from_bytes_each(encodings: &[&[u8]], backend: Backend) -> Vec<Result<Self, ParseError>> {
        S::decode_keys(encodings, backend).into_iter().map(|key| key.map(Self)).collect()
    }

    /// Reads keys of claims, each once, by all places where it stands. An answer is that of [`from_bytes`](Self::from_bytes), or an error
    /// of a key that stands behind a wrong one in all its claims.
    pub(crate) fn of_claims(keys: &[&[Placed<'_>]], backend: Backend) -> Vec<Result<Self, ParseError>> {
        S::decode_keys_of_claims(keys, backend).into_iter().map(|key| key.map(Self)).collect()
    }

    /// Checks a point that is on the curve.
    ///
    /// # Errors
    /// [`ParseError::KeyNotInSubgroup`], [`ParseError::IdentityKey`].
    pub fn from_point(point: S::Key) -> Result<Self, ParseError> {
        checked_keys(&[Ok(point)], Backend::Portable)[0].map(Self)
    }

    /// Takes the caller's word that a point is in the subgroup: because it was checked before, or because it is a sum of
    /// such points. A point that is not makes verdicts meaningless, and a false claim may pass. If you do not know it,
    /// call [`from_point`](Self::from_point).
    ///
    /// If the caller's word is only somebody else's, say so: [`Keys::Assumed`](crate::Keys).
    ///
    /// # Errors
    /// [`ParseError::IdentityKey`].
    pub fn assume_in_subgroup(point: S::Key) -> Result<Self, ParseError> {
        Self::from_sum(point).ok_or(ParseError::IdentityKey)
    }

    /// A sum of checked keys. It is in the subgroup because they are. `None` if it is the identity.
    pub(crate) fn from_sum(point: S::Key) -> Option<Self> {
        (!point.is_identity()).then_some(Self(point))
    }

    /// The compressed encoding: `[u8; 48]` in min-pk, `[u8; 96]` in min-sig. On BN254 the coordinates in G2, `[u8; 128]`.
    pub fn to_bytes(&self) -> S::KeyBytes {
        S::encode_key(&self.0)
    }

    /// The point.
    pub fn point(&self) -> S::Key {
        self.0
    }
}

impl<S: Bls12381Suite> PublicKey<S> {
    /// Reads an uncompressed key: 96 bytes in min-pk, 192 in min-sig.
    ///
    /// # Errors
    /// [`ParseError::Key`], [`ParseError::KeyNotInSubgroup`], [`ParseError::IdentityKey`].
    ///
    /// Cost: a subgroup check, about 40 µs in G1, by blst. It saves the square root of [`from_bytes`](Self::from_bytes).
    /// For many keys call [`from_uncompressed_each`](Self::from_uncompressed_each).
    pub fn from_uncompressed(bytes: &[u8]) -> Result<Self, ParseError> {
        Self::from_uncompressed_each(&[bytes], Backend::Portable)[0]
    }

    /// Reads many uncompressed keys. Each answer is the one that [`from_uncompressed`](Self::from_uncompressed) gives.
    ///
    /// Cost: with a backend that has lanes, about a sixth of `from_uncompressed` for each key.
    pub fn from_uncompressed_each(encodings: &[&[u8]], backend: Backend) -> Vec<Result<Self, ParseError>> {
        let decoded = backend.decode_uncompressed_each(encodings);
        checked_keys(&decoded, backend).into_iter().map(|key| key.map(Self)).collect()
    }

    /// The uncompressed encoding: `[u8; 96]` in min-pk, `[u8; 192]` in min-sig.
    pub fn to_uncompressed(&self) -> <S::Key as Bls12381Group>::Uncompressed {
        self.0.serialize()
    }
}

conversions!(PublicKey, Encoded::PublicKey);

/// A secret key. It is wiped when dropped and never printed. Every operation on it is constant-time code: blst's on BLS12-381,
/// and on BN254 the ladder of `quorate-bn254`.
#[derive(Clone)]
pub struct SecretKey<S: Suite>(S::Secret);

impl<S: Suite> SecretKey<S> {
    /// A new key: `KeyGen` of 32 random bytes. `rng` must be a CSPRNG of [`rand_core`] 0.10, such as
    /// `rand::rng()`.
    pub fn generate(suite: S, rng: &mut impl CryptoRng) -> Self {
        let mut material = Zeroizing::new([0; 32]);
        rng.fill_bytes(material.as_mut_slice());
        Self::key_gen(suite, material.as_slice(), b"").expect("32 bytes are enough key material")
    }

    /// `KeyGen` (draft-irtf-cfrg-bls-signature-05, section 2.3) with the curve's r; in the profile `chia` the `KeyGen` of draft 3.
    ///
    /// # Errors
    /// [`ParseError::Secret`] if there are fewer than 32 bytes of key material.
    pub fn key_gen(suite: S, key_material: &[u8], key_info: &[u8]) -> Result<Self, ParseError> {
        suite.key_gen(key_material, key_info).map(Self)
    }

    /// Reads a big-endian scalar in 1..r.
    ///
    /// # Errors
    /// [`ParseError::Secret`], and on BN254 `ParseError::Bn254`.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, ParseError> {
        S::secret_from_bytes(bytes).map(Self)
    }

    /// The big-endian scalar.
    pub fn to_bytes(&self) -> Zeroizing<[u8; 32]> {
        S::secret_to_bytes(&self.0)
    }

    /// `SkToPk` (section 2.4).
    pub fn public_key(&self) -> PublicKey<S> {
        PublicKey(S::public_key(&self.0))
    }

    /// The bytes of the public key as a [`ClaimBytes`](crate::ClaimBytes) has them: the encoded [`public_key`](Self::public_key), and under
    /// `eigenlayer` the keys in both groups.
    ///
    /// Cost: a multiplication by the secret, under `eigenlayer` one in each group.
    pub fn claim_key(&self, suite: S) -> Vec<u8> {
        suite.claim_key(&self.0)
    }

    pub(crate) fn scalar(&self) -> &S::Secret {
        &self.0
    }
}

impl<S: Bls12381Suite> SecretKey<S> {
    /// `derive_master_SK` of EIP-2333 from a seed of at least 32 bytes.
    ///
    /// # Errors
    /// [`ParseError::Secret`] if the seed is shorter.
    pub fn derive_master(seed: &[u8]) -> Result<Self, ParseError> {
        SecretScalar::derive_master_eip2333(seed).map(Self).map_err(ParseError::Secret)
    }

    /// The key at a path of EIP-2333 indices below this one.
    ///
    /// Chia's wallets derive differently: they use the `KeyGen` of draft 3 at every step.
    #[must_use]
    pub fn derive(&self, path: &[u32]) -> Self {
        Self(path.iter().fold(self.0.clone(), |parent, index| parent.derive_child_eip2333(*index)))
    }
}

impl<S: Suite> Debug for SecretKey<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(redacted)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::MinPk;

    /// Each flaw stands between good keys, in each lane.
    #[test]
    fn keys_read_together_are_keys_read_singly() {
        let key =
            |i: u8| SecretKey::<MinPk>::key_gen(MinPk::Eth2, &[i; 32], b"").unwrap().public_key().to_bytes().to_vec();
        let mut identity = vec![0; 48];
        identity[0] = 0xc0;
        let mut order_three = vec![0; 48];
        order_three[0] = 0x80;
        let bad = [identity, order_three, vec![0xff; 48], vec![0x80; 47], Vec::new()];
        let encodings: Vec<_> =
            (0..40).map(|i| if i % 4 == 1 { bad[i / 4 % 5].clone() } else { key(i as u8) }).collect();
        let expected: Vec<_> = encodings.iter().map(|bytes| PublicKey::<MinPk>::from_bytes(bytes)).collect();
        assert_eq!(expected.iter().filter(|key| key.is_ok()).count(), 30);
        let encodings: Vec<_> = encodings.iter().map(|bytes| &bytes[..]).collect();
        for backend in Backend::available() {
            for n in 0..=encodings.len() {
                assert_eq!(PublicKey::from_bytes_each(&encodings[..n], *backend), expected[..n], "{backend}, {n}");
            }
        }
    }

    /// Flaws of uncompressed keys between good keys, and a point of order three, (0, 2).
    #[test]
    fn uncompressed_keys_are_read_like_compressed_ones() {
        let key = |i: u8| SecretKey::<MinPk>::key_gen(MinPk::Eth2, &[i; 32], b"").unwrap().public_key();
        let mut identity = vec![0; 96];
        identity[0] = 0x40;
        let mut order_three = vec![0; 96];
        order_three[95] = 2;
        let not_on_curve = vec![1; 96];
        let bad = [identity, order_three, not_on_curve, key(1).to_bytes().to_vec(), Vec::new()];
        let good: Vec<_> = (0..20).map(key).collect();
        let encodings: Vec<_> = good.iter().map(|key| key.to_uncompressed().to_vec()).chain(bad).collect();
        let expected: Vec<_> = encodings.iter().map(|bytes| PublicKey::<MinPk>::from_uncompressed(bytes)).collect();
        for (key, read) in good.iter().zip(&expected) {
            assert_eq!(*read, Ok(*key));
        }
        assert_eq!(expected[20], Err(ParseError::IdentityKey));
        assert_eq!(expected[21], Err(ParseError::KeyNotInSubgroup));
        assert!(matches!(expected[22..], [Err(ParseError::Key(_)), Err(ParseError::Key(_)), Err(ParseError::Key(_))]));
        let encodings: Vec<_> = encodings.iter().map(|bytes| &bytes[..]).collect();
        for backend in Backend::available() {
            assert_eq!(PublicKey::from_uncompressed_each(&encodings, *backend), expected, "{backend}");
        }
    }

    #[test]
    fn the_identity_is_not_assumed_to_be_a_key() {
        use quorate_curve::G1;
        assert_eq!(PublicKey::<MinPk>::assume_in_subgroup(G1::IDENTITY), Err(ParseError::IdentityKey));
        let key = PublicKey::<MinPk>::assume_in_subgroup(G1::generator());
        assert_eq!(key, PublicKey::from_point(G1::generator()));
    }
}
