//! Proofs of possession: a key's owner signs the key itself, under a tag of its own.
//!
//! In a POP suite several keys may sign one message only if each owner has shown that it holds its secret; otherwise a
//! rogue key, chosen as a difference to honest keys, forges for all of them. A proof is checked as a claim, alone or in a
//! batch: [`Claim::possession`](crate::Claim::possession). A [`KeySet`](crate::KeySet) records the answer.
//!
//! ```
//! use quorate::{Claim, MinPk, SecretKey, naive, possession};
//! let suite = MinPk::Possession;
//! let secret = SecretKey::key_gen(suite, &[1; 32], b"")?;
//! let proof = possession::prove(suite, &secret).expect("a POP suite");
//! let claim = Claim::possession(suite, secret.public_key(), proof).expect("a POP suite");
//! assert!(naive::verify(&claim).is_valid());
//! # Ok::<(), quorate::ParseError>(())
//! ```

use crate::{key::SecretKey, signature::Signature, suite::Suite};

/// `PopProve` (section 3.3.2); `None` in a suite whose scheme has no proofs of possession.
pub fn prove<S: Suite>(suite: S, secret: &SecretKey<S>) -> Option<Signature<S>> {
    let tag = suite.possession_tag()?;
    Some(secret.sign_under(tag, &[], &secret.public_key().to_bytes()))
}
