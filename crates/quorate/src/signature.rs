//! Signatures: points of the subgroup, or points of the curve whose membership is still to be checked.
//!
//! ```
//! use quorate::{MinPk, SecretKey, Signature, UncheckedSignature};
//! let signature = SecretKey::<MinPk>::key_gen(MinPk::Basic, &[1; 32], b"")?.sign(MinPk::Basic, b"hello");
//! // Decode now, leave the subgroup check to the batch:
//! let unchecked = UncheckedSignature::<MinPk>::from_bytes(&signature.to_bytes())?;
//! // or have it at once:
//! assert_eq!(unchecked.check()?, signature);
//! # Ok::<(), quorate::ParseError>(())
//! ```

use std::fmt::{self, Debug};

use quorate_curve::{Backend, Group};

use crate::{
    key::{ParseError, SecretKey},
    suite::{Scheme, Suite},
};

/// A signature in the subgroup of order r. It may be the identity, which an aggregate of cancelling keys can be.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signature<S: Suite>(S::Signature);

impl<S: Suite> Signature<S> {
    /// Reads a compressed signature: 96 bytes in min-pk, 48 in min-sig.
    ///
    /// # Errors
    /// [`ParseError::Signature`], [`ParseError::SignatureNotInSubgroup`].
    ///
    /// Cost: a square root and a subgroup check, about 80 µs in G2.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ParseError> {
        UncheckedSignature::from_bytes(bytes)?.check()
    }

    /// A point known to be in the subgroup: made by signing, or a sum of members.
    pub(crate) fn from_member(point: S::Signature) -> Self {
        Self(point)
    }

    /// The compressed encoding.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.compress().as_ref().to_vec()
    }

    /// The point.
    pub fn point(&self) -> S::Signature {
        self.0
    }
}

impl<S: Suite> Debug for Signature<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({:?})", self.0)
    }
}

impl<S: Suite> SecretKey<S> {
    /// `Sign` (sections 2.6 and 3.2.1) under the suite's tag.
    pub fn sign(&self, suite: S, message: &[u8]) -> Signature<S> {
        let key = self.public_key().point().compress();
        let prefix = if suite.scheme() == Scheme::Augmented { key.as_ref() } else { &[] };
        self.sign_under(suite.id(), prefix, message)
    }

    pub(crate) fn sign_under(&self, tag: &str, prefix: &[u8], message: &[u8]) -> Signature<S> {
        let hash: S::Signature = Backend::auto().hash_to_curve(tag.as_bytes(), &[(prefix, message)])[0];
        Signature::from_member(S::sign(self.scalar(), &hash))
    }
}

/// A signature that is canonical and on the curve. A batch checks its membership with the others, on all its threads.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct UncheckedSignature<S: Suite>(S::Signature);

impl<S: Suite> UncheckedSignature<S> {
    /// Reads a compressed signature: 96 bytes in min-pk, 48 in min-sig.
    ///
    /// # Errors
    /// [`ParseError::Signature`].
    ///
    /// Cost: a square root, about 30 µs in G2.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ParseError> {
        Backend::auto().decode(bytes).map(Self).map_err(ParseError::Signature)
    }

    /// Reads many compressed signatures, as [`from_bytes`](Self::from_bytes) does each.
    ///
    /// Cost: less a signature where the back end works on several at a time.
    pub fn from_bytes_each(encodings: &[&[u8]], backend: Backend) -> Vec<Result<Self, ParseError>> {
        let decoded = backend.decode_each(encodings).into_iter();
        decoded.map(|point| point.map(Self).map_err(ParseError::Signature)).collect()
    }

    /// A point on the curve.
    pub fn from_point(point: S::Signature) -> Self {
        Self(point)
    }

    /// Checks membership of the subgroup.
    ///
    /// # Errors
    /// [`ParseError::SignatureNotInSubgroup`].
    pub fn check(self) -> Result<Signature<S>, ParseError> {
        let member = Backend::auto().in_subgroup(&[self.0])[0];
        if member { Ok(Signature(self.0)) } else { Err(ParseError::SignatureNotInSubgroup) }
    }

    /// The point.
    pub fn point(&self) -> S::Signature {
        self.0
    }
}

impl<S: Suite> Debug for UncheckedSignature<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UncheckedSignature({:?})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::MinSig;

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
