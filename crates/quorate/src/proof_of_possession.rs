//! Proofs of possession: the owner of a key signs the key itself, under a tag of its own.
//!
//! In a POP suite several keys may sign one message only if each owner has shown that it holds the secret. Otherwise an
//! attacker registers a rogue key, the difference of a key of its own and the honest keys, and forges for all of them.
//! [`Claim::proof_of_possession`](crate::Claim::proof_of_possession) makes a claim of a proof, to be verified alone or
//! in a batch. A [`KeySet`](crate::KeySet) records which of its members have proven possession.
//!
//! ```
//! use quorate::{Claim, MinPk, SecretKey, naive, proof_of_possession};
//! let suite = MinPk::ProofOfPossession;
//! let secret = SecretKey::key_gen(suite, &[1; 32], b"")?;
//! let proof = proof_of_possession::prove(suite, &secret).expect("a POP suite");
//! let claim = Claim::proof_of_possession(suite, secret.public_key(), proof).expect("a POP suite");
//! assert!(naive::verify(&claim).is_valid());
//! # Ok::<(), quorate::ParseError>(())
//! ```

use crate::{key::SecretKey, signature::Signature, suite::Suite, tag::SuiteTag};

/// `PopProve` (section 3.3.2); `None` in a suite whose scheme has no proofs of possession.
///
/// Cost: a hash and two multiplications by the secret.
pub fn prove<S: Suite>(suite: S, secret: &SecretKey<S>) -> Option<Signature<S>> {
    let tag = proof_tag(suite)?;
    Some(secret.sign_under(&tag, &[], secret.public_key().to_bytes().as_ref()))
}

/// The tag that proofs of possession are hashed under, by the suite's function; `None` in a suite that has none.
pub(crate) fn proof_tag<S: Suite>(suite: S) -> Option<SuiteTag> {
    suite.proof_of_possession_tag().map(|tag| suite.tag().with_bytes(tag))
}
