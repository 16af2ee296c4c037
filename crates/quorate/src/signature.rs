//! Signatures: points of the subgroup, or points of the curve whose membership of the subgroup is checked later.
//!
//! ```
//! use quorate::{MinPk, SecretKey, Signature, UncheckedSignature};
//! let signature = SecretKey::<MinPk>::key_gen(MinPk::Basic, &[1; 32], b"")?.sign(MinPk::Basic, b"hello");
//! let bytes: [u8; 96] = signature.to_bytes();
//! // Decode now and leave the subgroup check to the batch:
//! let unchecked = UncheckedSignature::<MinPk>::from_bytes(&bytes)?;
//! // or check at once:
//! assert_eq!(unchecked.check()?, signature);
//! # Ok::<(), quorate::ParseError>(())
//! ```

use quorate_curve::{Backend, Bls12381Group};

use crate::{
    key::SecretKey,
    parse::{Encoded, ParseError, conversions},
    suite::{Bls12381Suite, Scheme, Suite},
    tag::{SuiteTag, Tag},
};

/// A signature in the subgroup of order r. It may be the identity: for example, if two keys cancel, their signatures
/// over one message add up to it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signature<S: Suite>(S::Signature);

impl<S: Suite> Signature<S> {
    /// Reads a compressed signature: 96 bytes in min-pk, 48 in min-sig.
    ///
    /// # Errors
    /// [`ParseError::Signature`], [`ParseError::SignatureNotInSubgroup`].
    ///
    /// Cost: a square root and a subgroup check, about 80 µs in G2, by blst.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ParseError> {
        UncheckedSignature::from_bytes(bytes)?.check()
    }

    /// Takes the caller's word that a point is in the subgroup: because it was checked before, or because it is a sum of
    /// such points. A point that is not makes verdicts meaningless, and a false claim may pass. If you do not know it,
    /// call [`UncheckedSignature::from_point`], and the batch checks it for little.
    pub fn assume_in_subgroup(point: S::Signature) -> Self {
        Self(point)
    }

    /// Takes a point that is in the subgroup, because signing made it or because it is a sum of points of the subgroup.
    pub(crate) fn from_member(point: S::Signature) -> Self {
        Self(point)
    }

    /// The compressed encoding: `[u8; 96]` in min-pk, `[u8; 48]` in min-sig.
    pub fn to_bytes(&self) -> S::SignatureBytes {
        S::encode_signature(&self.0)
    }

    /// The point.
    pub fn point(&self) -> S::Signature {
        self.0
    }
}

impl<S: Bls12381Suite> Signature<S> {
    /// Reads an uncompressed signature: 192 bytes in min-pk, 96 in min-sig.
    ///
    /// # Errors
    /// [`ParseError::Signature`], [`ParseError::SignatureNotInSubgroup`].
    ///
    /// Cost: a subgroup check, about 50 µs in G2, by blst.
    pub fn from_uncompressed(bytes: &[u8]) -> Result<Self, ParseError> {
        UncheckedSignature::from_uncompressed(bytes)?.check()
    }

    /// The uncompressed encoding: `[u8; 192]` in min-pk, `[u8; 96]` in min-sig.
    pub fn to_uncompressed(&self) -> <S::Signature as Bls12381Group>::Uncompressed {
        self.0.serialize()
    }
}

conversions!(Signature, Encoded::Signature);

impl<S: Suite> SecretKey<S> {
    /// `Sign` (sections 2.6 and 3.2.1) under the suite's tag.
    ///
    /// # Panics
    /// If the message cannot be signed: under `eigenlayer`, if it has not 32 bytes.
    ///
    /// Cost: a hash and a multiplication by the secret. An AUG suite also needs the public key, which costs one more
    /// multiplication.
    pub fn sign(&self, suite: S, message: &[u8]) -> Signature<S> {
        self.sign_in(suite, &suite.tag(), message)
    }

    /// The same under a tag of the caller's, in the place of the suite's.
    ///
    /// # Panics
    /// As [`sign`](Self::sign).
    pub fn sign_under_tag(&self, suite: S, tag: &Tag, message: &[u8]) -> Signature<S> {
        self.sign_in(suite, &tag.clone().in_place_of(&suite.tag()), message)
    }

    fn sign_in(&self, suite: S, tag: &SuiteTag, message: &[u8]) -> Signature<S> {
        match suite.scheme() {
            Scheme::Augmented => self.sign_under(tag, self.public_key().to_bytes().as_ref(), message),
            Scheme::Basic | Scheme::ProofOfPossession | Scheme::Bdn => self.sign_under(tag, &[], message),
        }
    }

    pub(crate) fn sign_under(&self, tag: &SuiteTag, prefix: &[u8], message: &[u8]) -> Signature<S> {
        let hash = S::hash_to_curve_one(tag.hashing(), (prefix, message));
        Signature::from_member(S::sign(self.scalar(), &hash))
    }
}

/// A signature whose encoding is canonical and whose point is on the curve. A batch checks later whether its signatures
/// are in the subgroup.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct UncheckedSignature<S: Suite>(S::Signature);

impl<S: Suite> UncheckedSignature<S> {
    /// Reads a compressed signature: 96 bytes in min-pk, 48 in min-sig.
    ///
    /// # Errors
    /// [`ParseError::Signature`].
    ///
    /// Cost: a square root, about 30 µs in G2, by blst. For many signatures call
    /// [`from_bytes_each`](Self::from_bytes_each).
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ParseError> {
        S::decode_signatures(&[bytes], Backend::Portable)[0].map(Self)
    }

    /// Reads many compressed signatures. Each answer is the one that [`from_bytes`](Self::from_bytes) gives.
    ///
    /// Cost: with a backend that has lanes, less for each signature than `from_bytes`.
    pub fn from_bytes_each(encodings: &[&[u8]], backend: Backend) -> Vec<Result<Self, ParseError>> {
        S::decode_signatures(encodings, backend).into_iter().map(|point| point.map(Self)).collect()
    }

    /// Takes a point on the curve.
    pub fn from_point(point: S::Signature) -> Self {
        Self(point)
    }

    /// Checks membership of the subgroup.
    ///
    /// # Errors
    /// [`ParseError::SignatureNotInSubgroup`].
    pub fn check(self) -> Result<Signature<S>, ParseError> {
        let member = Backend::Portable.in_subgroup(&[self.0])[0];
        if member { Ok(Signature(self.0)) } else { Err(ParseError::SignatureNotInSubgroup) }
    }

    /// The compressed encoding.
    pub fn to_bytes(&self) -> S::SignatureBytes {
        S::encode_signature(&self.0)
    }

    /// The point.
    pub fn point(&self) -> S::Signature {
        self.0
    }
}

impl<S: Bls12381Suite> UncheckedSignature<S> {
    /// Reads an uncompressed signature: 192 bytes in min-pk, 96 in min-sig.
    ///
    /// # Errors
    /// [`ParseError::Signature`].
    ///
    /// Cost: the check of the curve equation, less than a microsecond.
    pub fn from_uncompressed(bytes: &[u8]) -> Result<Self, ParseError> {
        Backend::Portable.decode_uncompressed(bytes).map(Self).map_err(ParseError::Signature)
    }

    /// The uncompressed encoding.
    pub fn to_uncompressed(&self) -> <S::Signature as Bls12381Group>::Uncompressed {
        self.0.serialize()
    }
}

conversions!(UncheckedSignature, Encoded::Signature);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::MinSig;

    #[test]
    fn uncompressed_signatures_are_the_compressed_ones() {
        let secret = SecretKey::<MinSig>::key_gen(MinSig::Basic, &[1; 32], b"").unwrap();
        let good = secret.sign(MinSig::Basic, b"m");
        assert_eq!(Signature::from_uncompressed(&good.to_uncompressed()), Ok(good));
        // (0, 2), of order 3.
        let mut outside = [0; 96];
        outside[95] = 2;
        assert_eq!(UncheckedSignature::<MinSig>::from_uncompressed(&outside).unwrap().to_uncompressed(), outside);
        let refused = Signature::<MinSig>::from_uncompressed(&outside);
        assert_eq!(refused, Err(ParseError::SignatureNotInSubgroup));
        assert!(matches!(Signature::<MinSig>::from_uncompressed(&good.to_bytes()), Err(ParseError::Signature(_))));
    }

    #[test]
    fn signatures_read_together_are_signatures_read_singly() {
        let secret = SecretKey::<MinSig>::key_gen(MinSig::Basic, &[1; 32], b"").unwrap();
        let good = secret.sign(MinSig::Basic, b"m").to_bytes();
        let encodings = [&good[..], &[0x80; 48], &[0xff; 48], &[], &good];
        let expected = encodings.map(UncheckedSignature::<MinSig>::from_bytes);
        for backend in Backend::available() {
            assert_eq!(UncheckedSignature::from_bytes_each(&encodings, *backend), expected, "{backend}");
        }
    }
}
