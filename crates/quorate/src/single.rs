//! Verifies one signature by one key over one message, without allocation: for callers with one claim at a time.
//!
//! ```
//! use quorate::{MinPk, SecretKey};
//! let secret = SecretKey::key_gen(MinPk::Basic, &[1; 32], b"")?;
//! let signature = secret.sign(MinPk::Basic, b"hello");
//! assert!(secret.public_key().verify(MinPk::Basic, b"hello", signature).is_valid());
//! assert!(!secret.public_key().verify(MinPk::Basic, b"other", signature).is_valid());
//! # Ok::<(), quorate::ParseError>(())
//! ```

use quorate_curve::{Backend, Group, PairingCurve};

use crate::{
    claim::ClaimSignature,
    key::PublicKey,
    parse::ParseError,
    suite::{Bls12381Suite, Scheme, Suite},
    tag::{HashFunction, Hashing},
    verdict::{Reason, Verdict},
};

impl<S: Suite> PublicKey<S> {
    /// `Verify` (section 2.7): whether this key made this signature over this message.
    ///
    /// For many signatures call [`verify`](crate::verify()), which takes a fraction of the time for each.
    ///
    /// Cost: a hash, two Miller loops and a final exponentiation, half a millisecond to one, and a subgroup check if the signature is
    /// unchecked. On BLS12-381 it allocates nothing, unless an AUG suite puts the key before a message of more than 150 bytes.
    pub fn verify(&self, suite: S, message: &[u8], signature: impl Into<ClaimSignature<S>>) -> Verdict {
        let (tag, bytes) = (suite.tag(), self.to_bytes());
        let prefix = if suite.scheme() == Scheme::Augmented { bytes.as_ref() } else { &[] };
        match suite.message_flaw(message) {
            Some(flaw) => Verdict::Invalid(flaw.into()),
            None => self.verify_hash(tag.hashing(), prefix, message, signature.into()),
        }
    }

    fn verify_hash(
        &self,
        hashing: Hashing<'_>,
        prefix: &[u8],
        message: &[u8],
        signature: ClaimSignature<S>,
    ) -> Verdict {
        let (backend, point) = (S::Curve::backend(Backend::auto()), signature.point());
        if matches!(signature, ClaimSignature::Unchecked(_)) && !backend.is_member(&point) {
            return Verdict::Invalid(Reason::Parse(ParseError::SignatureNotInSubgroup));
        }
        let hash = S::hash_to_curve_one(hashing, (prefix, message));
        let pairs = [S::pair(self.point(), hash), S::pair(S::Key::generator().negate(), point)];
        if backend.pairs_to_one(&pairs) { Verdict::Valid } else { Verdict::Invalid(Reason::Mismatch) }
    }
}

impl<S: Bls12381Suite> PublicKey<S> {
    /// [`verify`](Self::verify) under a tag of the caller's, with a prefix that is hashed in front of the message: the key's encoding in
    /// an AUG suite, and nothing in others.
    pub fn verify_under_tag(
        &self,
        tag: &[u8],
        prefix: &[u8],
        message: &[u8],
        signature: impl Into<ClaimSignature<S>>,
    ) -> Verdict {
        self.verify_hash(Hashing { tag, function: HashFunction::Sha256 }, prefix, message, signature.into())
    }
}
