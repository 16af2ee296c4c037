//! Known statements: they were verified earlier, each with its own signature, and are subtracted from a later claim.
//!
//! For example, a node verifies three transactions when gossip brings them. Later it sees a block of four, with one
//! aggregate signature. It subtracts the three signatures that it knows from the aggregate and verifies the rest, a
//! claim of one statement.
//!
//! A statement has exactly one valid signature. So if a claim makes a known statement twice, its signature is
//! subtracted twice.
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
//! // Gossip brings the first three.
//! let gossip: Vec<_> = signed[..3].iter().cloned().map(|(k, m, s)| Claim::single(suite, k, m, s)).collect();
//! let mut known = Known::new();
//! verify_and_remember(&gossip, &mut known, &Options::default(), &mut rng);
//! // A block has all four. Each of the known ones costs an addition.
//! let statements = signed.iter().cloned().map(|(k, m, _)| (k, m)).collect();
//! let sum = aggregate::aggregate(&signed.iter().map(|(_, _, s)| *s).collect::<Vec<_>>(), Backend::auto())?;
//! let block = Claim::each(suite, statements, sum);
//! assert_eq!(block.without(&known, Backend::auto()).len(), 1);
//! # Ok::<(), aggregate::MisuseError>(())
//! ```

use std::sync::Arc;

use quorate_curve::{Backend, Group, Weight};
use sha2::{Digest, Sha256};

use crate::{
    bdn,
    claim::{Claim, ClaimSignature, Defect, Statements},
    key::PublicKey,
    recent::Recent,
    signature::{Signature, UncheckedSignature},
    suite::{Scheme, Suite},
    tag::SuiteTag,
};

/// Statements that were verified earlier, with their signatures.
///
/// Entries are believed: a wrong one makes false claims pass. [`verify_and_remember`] adds the claims that it found
/// valid; call [`trust`](Self::trust) for statements that you verified earlier and kept.
///
/// [`verify_and_remember`]: crate::verify_and_remember
#[derive(Clone, Debug)]
pub struct Known<S: Suite> {
    signatures: Recent<Entry<S>, Signature<S>>,
    /// The messages of the statements, and perhaps of some that were forgotten. An entry is added or made new with each statement. The
    /// halves of the two maps fill at different times, so a message can be forgotten while a statement about it is known.
    messages: Recent<[u8; 32], ()>,
}

/// What was signed: a statement, the tag it is hashed under, and whether the signer's key is hashed in front of the
/// message. Suites that agree in these have the same signatures, so the suite itself does not stand here. An AUG suite
/// and another one do not, although a caller can give them one tag.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Entry<S: Suite> {
    tag: SuiteTag,
    /// Whether an AUG suite hashed the key in front of the message, as in [`plan::Message`](crate::plan).
    augmented: bool,
    key: PublicKey<S>,
    /// SHA-256 of the message, so that long messages take no more memory than short ones.
    message: [u8; 32],
}

impl<S: Suite> Entry<S> {
    /// A statement of a claim, about a message with this digest.
    fn of(claim: &Claim<S>, key: PublicKey<S>, message: [u8; 32]) -> Self {
        Self { tag: claim.tag().clone(), augmented: claim.is_augmented(), key, message }
    }

    /// The statement of a claim that makes one. The signatures of the statements of other claims are not known.
    pub(crate) fn of_claim(claim: &Claim<S>) -> Option<Self> {
        if claim.has_coefficients() {
            return None;
        }
        let mut statements = claim.statements();
        let (Some((key, message)), None) = (statements.next(), statements.next()) else { return None };
        Some(Self::of(claim, key, digest(message)))
    }

    /// A statement under the tag of a suite.
    fn of_suite(suite: S, key: PublicKey<S>, message: &[u8]) -> Self {
        let augmented = suite.scheme() == Scheme::Augmented;
        Self { tag: suite.tag(), augmented, key, message: digest(message) }
    }
}

/// SHA-256 of a message.
pub(crate) fn digest(message: &[u8]) -> [u8; 32] {
    Sha256::digest(message).into()
}

impl<S: Suite> Known<S> {
    /// Nothing known yet, and no limit.
    pub fn new() -> Self {
        Self::with_limit(usize::MAX)
    }

    /// Nothing known yet, and never more than `most` statements. When there are too many, the older half is forgotten.
    pub fn with_limit(most: usize) -> Self {
        Self { signatures: Recent::at_most(most), messages: Recent::at_most(most) }
    }

    /// Remembers a statement with its signature.
    pub(crate) fn insert(&mut self, entry: Entry<S>, signature: Signature<S>) {
        self.messages.insert(entry.message, ());
        self.signatures.insert(entry, signature);
    }

    /// Whether perhaps a statement about a message with this digest is known, under any tag. If not, none is, unless it is among the
    /// oldest: so it only says whether it pays to look for statements.
    pub(crate) fn has_about(&self, digest: &[u8; 32]) -> bool {
        self.messages.find(digest).is_some()
    }

    /// Remembers that a key signed a message.
    ///
    /// Call it only if you verified that the signature is valid for this key, message and suite: alone, or as a claim of
    /// one statement in a batch. It must not be a part of an aggregate of which only the sum was verified.
    pub fn trust(&mut self, suite: S, key: PublicKey<S>, message: impl AsRef<[u8]>, signature: Signature<S>) {
        self.insert(Entry::of_suite(suite, key, message.as_ref()), signature);
    }

    /// How many statements are known.
    pub fn len(&self) -> usize {
        self.signatures.len()
    }

    /// Whether no statement is known.
    pub fn is_empty(&self) -> bool {
        self.signatures.is_empty()
    }

    /// Forgets a statement; `true` if it was known.
    pub fn forget(&mut self, suite: S, key: PublicKey<S>, message: impl AsRef<[u8]>) -> bool {
        self.signatures.remove(&Entry::of_suite(suite, key, message.as_ref()))
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.signatures.clear();
        self.messages.clear();
    }

    /// By statement of a claim, with the digests of its messages: its signature, if it is known.
    pub(crate) fn signatures_of(&self, claim: &Claim<S>, digests: &MessageDigests) -> Vec<Option<Signature<S>>> {
        let digests = digests.0.iter().flat_map(|(digest, statements)| std::iter::repeat_n(digest, *statements));
        let statements = claim.statements().zip(digests);
        statements.map(|((key, _), digest)| self.signatures.find(&Entry::of(claim, key, *digest)).copied()).collect()
    }
}

/// The digests of the messages of a claim, in the order of its statements, each with the number of statements in a row that are about one
/// message. Taking them needs no [`Known`], so that nobody waits for a verifier that hashes long messages.
pub(crate) struct MessageDigests(Vec<([u8; 32], usize)>);

impl MessageDigests {
    /// Of a message that follows itself the digest is taken once.
    pub(crate) fn of<S: Suite>(claim: &Claim<S>) -> Self {
        let mut last: Option<&Arc<[u8]>> = None;
        let mut digests: Vec<([u8; 32], usize)> = Vec::new();
        for (_, message) in claim.statements() {
            let follows_itself = last.is_some_and(|last| Arc::ptr_eq(last, message));
            last = Some(message);
            match digests.last_mut() {
                Some((_, statements)) if follows_itself => *statements += 1,
                _ => digests.push((digest(message), 1)),
            }
        }
        Self(digests)
    }
}

impl<S: Suite> Default for Known<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Suite> Claim<S> {
    /// The rest of the claim: the statements that are not known, and the signature minus the signatures of the known
    /// ones.
    ///
    /// The rest is true if and only if the claim is true. If all statements are known, the rest has no statement, and
    /// it is true if its signature is the identity.
    ///
    /// Cost: a look-up for each statement, an addition for each known one (in a BDN claim of several keys a multiplication by its
    /// coefficient), and no pairing.
    #[must_use]
    pub fn without(&self, known: &Known<S>, backend: Backend) -> Self {
        if known.is_empty() {
            return self.clone();
        }
        let signatures = known.signatures_of(self, &MessageDigests::of(self));
        self.without_signatures(&signatures, backend).unwrap_or_else(|| self.clone())
    }

    /// The rest without the statements whose signatures are given, by statement. `None` if none is.
    pub(crate) fn without_signatures(&self, signatures: &[Option<Signature<S>>], backend: Backend) -> Option<Self> {
        if signatures.iter().all(Option::is_none) {
            return None;
        }
        if let Some(coefficients) = self.coefficients() {
            return Some(self.without_weighted(signatures, &coefficients, backend));
        }
        let mut unknown = Vec::new();
        let mut subtracted = Vec::with_capacity(self.len() + 1);
        for ((key, message), signature) in self.statements().zip(signatures) {
            match signature {
                Some(signature) => subtracted.push(signature.point().negate()),
                None => unknown.push((key, message.clone())),
            }
        }
        // The sum of the keys over one message must not be the identity, even if some of the statements are known.
        let vanishes = self.is_shared() && {
            let keys: Vec<_> = self.statements().map(|(key, _)| key.point()).collect();
            backend.sum(&keys).is_identity()
        };
        let defect = self.defect().or(vanishes.then_some(Defect::IdentityAggregateKey));
        subtracted.push(self.signature().point());
        Some(self.reduced(Statements::Each(unknown), self.difference(backend.sum(&subtracted)), defect))
    }

    /// The same for a claim whose keys have coefficients. The rest keeps the coefficients of the whole set.
    ///
    /// It is not checked again that the sum of all keys is not the identity. That check keeps the identity from being a
    /// signature of keys that cancel, and nobody can find a set whose coefficients make its keys cancel.
    fn without_weighted(&self, signatures: &[Option<Signature<S>>], coefficients: &[Weight], backend: Backend) -> Self {
        let mut unknown = Vec::new();
        let mut subtracted = Vec::new();
        for (((key, message), signature), coefficient) in self.statements().zip(signatures).zip(coefficients) {
            match signature {
                Some(signature) => subtracted.push((signature.point(), *coefficient)),
                None => unknown.push(((key, *coefficient), message.clone())),
            }
        }
        let subtracted = bdn::weighted_sum(subtracted.into_iter(), backend).negate();
        let rest = self.difference(backend.sum(&[self.signature().point(), subtracted]));
        let message = unknown.first().map(|(_, message)| message.clone());
        let keys = unknown.into_iter().map(|(key, _)| key).collect();
        let statements = message.map_or(Statements::Each(Vec::new()), |message| Statements::Weighted(keys, message));
        self.reduced(statements, rest, self.defect())
    }

    /// A difference of this claim's signature and known ones. These are in the subgroup, so the difference is in it if and only if
    /// the signature is.
    fn difference(&self, point: S::Signature) -> ClaimSignature<S> {
        match self.signature() {
            ClaimSignature::Checked(_) => ClaimSignature::Checked(Signature::from_member(point)),
            ClaimSignature::Unchecked(_) => ClaimSignature::Unchecked(UncheckedSignature::from_point(point)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{key::SecretKey, suite::MinPk};

    /// Never more than the limit, and the newest half is always there. An entry that comes again is counted once.
    #[test]
    fn the_older_half_is_forgotten() {
        let suite = MinPk::Basic;
        let secret = SecretKey::key_gen(suite, &[1; 32], b"").unwrap();
        let signature = secret.sign(suite, b"m");
        let message = |i: u32| i.to_be_bytes().to_vec();
        for most in [0, 1, 2, 3, 7, 8] {
            let mut known = Known::with_limit(most);
            for i in 0..50u32 {
                known.trust(suite, secret.public_key(), message(i), signature);
                known.trust(suite, secret.public_key(), message(i.saturating_sub(1)), signature);
                assert!(known.len() <= most, "{} of {most}", known.len());
                assert!(known.len() >= most.min(2).min(i as usize + 1));
            }
            if most >= 1 {
                assert!(known.forget(suite, secret.public_key(), message(48)));
                assert!(!known.forget(suite, secret.public_key(), message(48)));
                assert!(!known.forget(suite, secret.public_key(), message(0)));
            }
            known.clear();
            assert!(known.is_empty());
        }
    }

    #[test]
    fn a_limit_of_one_keeps_one() {
        let suite = MinPk::Basic;
        let secret = SecretKey::key_gen(suite, &[1; 32], b"").unwrap();
        let mut known = Known::with_limit(1);
        for i in [1u8, 2, 2, 3] {
            known.trust(suite, secret.public_key(), [i], secret.sign(suite, &[i]));
            assert_eq!(known.len(), 1);
            assert!(known.has_about(&digest(&[i])) && !known.has_about(&digest(&[i - 1])));
        }
        assert!(known.forget(suite, secret.public_key(), [3u8]) && known.is_empty());
    }

    #[test]
    fn as_many_are_known_as_the_limit_says() {
        let suite = MinPk::Basic;
        let secret = SecretKey::key_gen(suite, &[1; 32], b"").unwrap();
        let signature = secret.sign(suite, b"m");
        for most in 0..10 {
            let mut known = Known::with_limit(most);
            let lengths = (0..50u8).map(|i| {
                known.trust(suite, secret.public_key(), [i], signature);
                known.len()
            });
            assert_eq!(lengths.max(), Some(most));
        }
    }

    /// The bounds that the documentation states, with the slots that a hash table of this many entries has.
    #[test]
    fn known_statements_take_the_memory_that_is_stated() {
        fn bytes<S: Suite>(half: usize) -> usize {
            let slot = size_of::<(Entry<S>, Signature<S>)>() + 1 + size_of::<[u8; 32]>() + 1;
            2 * (half * 8 / 7).next_power_of_two() * slot
        }
        // A table is at most 7/8 full, and at least 7/16 when it has grown.
        let each = |bytes: fn(usize) -> usize| [7 << 12, (7 << 12) + 1].map(|half| bytes(half) / (2 * half));
        for bytes in [bytes::<MinPk>, bytes::<crate::suite::MinSig>] {
            assert_eq!(bytes(1 << 16) / 1_000_000, 103);
            assert_eq!(each(bytes), [450, 900]);
        }
        #[cfg(feature = "bn254")]
        {
            let of_bn254 = bytes::<quorate_bn254::Bn254Suite>;
            assert!(of_bn254(1 << 16) <= 103_000_000 && each(of_bn254)[1] <= 900, "{}", of_bn254(1 << 16));
        }
    }

    /// A message is looked for as long as the newest half of the statements is about it. After that it can be forgotten while a
    /// statement about it is known.
    #[test]
    fn messages_of_the_newest_statements_are_there() {
        let suite = MinPk::Basic;
        let secrets = [1, 2].map(|i| SecretKey::key_gen(suite, &[i; 32], b"").unwrap());
        let mut known = Known::with_limit(4);
        assert!(!known.has_about(&digest(&[1])));
        for (signer, message) in [(0, 1u8), (1, 1), (0, 2), (0, 3), (0, 4), (0, 5)] {
            let secret = &secrets[signer];
            known.trust(suite, secret.public_key(), [message], secret.sign(suite, &[message]));
            assert!(
                known.has_about(&digest(&[message])) && (message == 1 || known.has_about(&digest(&[message - 1]))),
                "{message}"
            );
        }
        let claim = Claim::single(suite, secrets[0].public_key(), [2u8], secrets[0].sign(suite, &[2]));
        assert!(known.signatures_of(&claim, &MessageDigests::of(&claim))[0].is_some());
        assert!(!known.has_about(&digest(&[2])));
        assert!(known.forget(suite, secrets[0].public_key(), [5u8]) && !known.has_about(&digest(&[2])));
    }
}
