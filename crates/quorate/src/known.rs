//! Known statements: verified earlier, each with its own signature, and subtracted from a later claim.
//!
//! A signature over a statement is unique, so a statement that was verified once accounts for every occurrence of it in
//! a claim: the claim is a multiset, and what is known of it is subtracted as often as it occurs.
//!
//! ```
//! use quorate::{Backend, Claim, Known, MinPk, Options, SecretKey, aggregate, verify_and_remember};
//! # use rand_core::SeedableRng;
//! # let mut rng = rand_chacha::ChaCha20Rng::from_seed([7; 32]);
//! let suite = MinPk::Basic;
//! let signed: Vec<_> = (0u8..4)
//!     .map(|i| {
//!         let secret = SecretKey::key_gen(suite, &[i; 32], b"").expect("32 bytes");
//!         (secret.public_key(), vec![i].into(), secret.sign(suite, &[i]))
//!     })
//!     .collect();
//! // Gossip: the first three arrive one by one.
//! let gossip: Vec<_> = signed[..3].iter().cloned().map(|(k, m, s)| Claim::single(suite, k, m, s)).collect();
//! let mut known = Known::new();
//! verify_and_remember(&gossip, &mut known, &Options::default(), &mut rng);
//! // A block: all four at once. Three of them cost an addition each.
//! let statements = signed.iter().cloned().map(|(k, m, _)| (k, m)).collect();
//! let sum = aggregate::aggregate(&signed.iter().map(|(_, _, s)| *s).collect::<Vec<_>>(), Backend::auto())?;
//! let block = Claim::each(suite, statements, sum);
//! assert_eq!(block.without(&known, Backend::auto()).len(), 1);
//! # Ok::<(), aggregate::MisuseError>(())
//! ```

use std::{collections::HashMap, sync::Arc};

use quorate_curve::{Backend, Group};

use crate::{
    claim::{Claim, ClaimSignature, Defect},
    key::PublicKey,
    signature::{Signature, UncheckedSignature},
    suite::Suite,
};

/// Statements verified earlier, with their signatures.
///
/// What is in here is believed: a wrong entry would make false claims pass. [`verify_and_remember`] puts in what it
/// found valid; [`trust`](Self::trust) is for what the caller verified and kept.
///
/// [`verify_and_remember`]: crate::verify_and_remember
#[derive(Clone, Debug)]
pub struct Known<S: Suite> {
    signatures: HashMap<Entry<S>, Signature<S>>,
}

/// A statement under a tag. The tag is compared by content: suites that share it share their signatures.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Entry<S: Suite> {
    tag: &'static str,
    key: PublicKey<S>,
    message: Arc<[u8]>,
}

impl<S: Suite> Known<S> {
    /// Nothing.
    pub fn new() -> Self {
        Self { signatures: HashMap::new() }
    }

    /// Takes the caller's word that `signature` was verified for this key, message and suite, alone or under weights.
    pub fn trust(&mut self, suite: S, key: PublicKey<S>, message: impl Into<Arc<[u8]>>, signature: Signature<S>) {
        self.signatures.insert(Entry { tag: suite.id(), key, message: message.into() }, signature);
    }

    /// How many statements are known.
    pub fn len(&self) -> usize {
        self.signatures.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.signatures.is_empty()
    }

    /// Forgets a statement; `true` if it was known.
    pub fn forget(&mut self, suite: S, key: PublicKey<S>, message: impl Into<Arc<[u8]>>) -> bool {
        self.signatures.remove(&Entry { tag: suite.id(), key, message: message.into() }).is_some()
    }

    /// Remembers a claim that makes one statement, with its signature. The signatures of the statements of other claims are
    /// not known.
    pub(crate) fn remember(&mut self, claim: &Claim<S>, signature: Signature<S>) {
        let mut statements = claim.statements();
        if let (Some((key, message)), None) = (statements.next(), statements.next()) {
            self.signatures.insert(Entry { tag: claim.tag(), key, message: message.clone() }, signature);
        }
    }

    fn signature(&self, claim: &Claim<S>, key: PublicKey<S>, message: &Arc<[u8]>) -> Option<Signature<S>> {
        self.signatures.get(&Entry { tag: claim.tag(), key, message: message.clone() }).copied()
    }
}

impl<S: Suite> Default for Known<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Suite> Claim<S> {
    /// The claim of what is not known: the statements left, and the signature minus the known ones' signatures.
    ///
    /// The smaller claim is true exactly if this one is. Where all is known it has no statement left and is true if its
    /// signature is the identity.
    ///
    /// Cost: a look-up a statement and an addition a known one; no pairing.
    #[must_use]
    pub fn without(&self, known: &Known<S>, backend: Backend) -> Self {
        if known.is_empty() {
            return self.clone();
        }
        let mut unknown = Vec::new();
        let mut subtracted = Vec::with_capacity(self.len() + 1);
        for (key, message) in self.statements() {
            match known.signature(self, key, message) {
                Some(signature) => subtracted.push(signature.point().negate()),
                None => unknown.push((key, message.clone())),
            }
        }
        if subtracted.is_empty() {
            return self.clone();
        }
        // Keys over one message are also checked as one key, whatever is known of some of them.
        let vanishes = self.is_shared() && {
            let keys: Vec<_> = self.statements().map(|(key, _)| key.point()).collect();
            backend.sum(&keys).is_identity()
        };
        let defect = self.defect().or(vanishes.then_some(Defect::IdentityAggregateKey));
        subtracted.push(self.signature().point());
        let rest = backend.sum(&subtracted);
        let signature = match self.signature() {
            ClaimSignature::Checked(_) => ClaimSignature::Checked(Signature::from_member(rest)),
            // The known signatures are members, so the difference is one exactly if the signature is.
            ClaimSignature::Unchecked(_) => ClaimSignature::Unchecked(UncheckedSignature::from_point(rest)),
        };
        self.reduced(unknown, signature, defect)
    }
}
