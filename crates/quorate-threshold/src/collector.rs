//! Collecting signature shares as they arrive, until they make a signature.
//!
//! A collector hopes first: as soon as t shares are there, it combines them and verifies the one signature. Only if that
//! is false, it verifies the shares, each as a claim (verification key, message, share) of one batch, and finds the false
//! ones by the engine's search. These are out, and the others go on. From then on each new share is verified before it
//! takes part, so false shares cost one failed combination and a verification each, however many come.
//!
//! The signature is checked for membership of the subgroup, and t shares that make the one valid signature of the group
//! are not: whatever they are, no other signature verifies. See `docs/soundness.md`.
//!
//! Nobody signs that a share comes from whom it names. So a second share of a participant does not replace the first, nor
//! is it dropped: both are verified at once, and the true one stays. A participant has one true share, so any further one
//! is false without a pairing.
//!
//! A participant whose verification key is the identity has no share of the key. Nothing is taken under its number, and the
//! others sign without it. A dealer who speaks last in a ceremony can put itself into that place, and stops nobody by it.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::Arc,
};

use quorate::{
    Backend, Bls12381Suite, Claim, Options, ParseError, PublicKey, Reason, Scheme, Signature, UncheckedSignature,
    Verdict, rand_core::CryptoRng, threads::parallel_chunks, verify,
};
use quorate_curve::Bls12381Group;

use crate::{
    committee::{Committee, CommitteeError, Index},
    interpolation::Interpolation,
};

/// Shares of one signature of one message.
///
/// ```
/// use quorate::{MinPk, Options, SecretKey};
/// use quorate_threshold::{Collector, Committee, Identifiers, deal};
/// let options = Options::default();
/// let suite = MinPk::Eth2;
/// let committee = Committee::new(2, 3, Identifiers::Integers, options.backend)?;
/// let secret = SecretKey::generate(suite, &mut rand::rng());
/// let (shares, commitment) = deal(&committee, suite, &secret, &options, &mut rand::rng())?;
///
/// let keys = shares.iter().map(|share| Some(share.verification_key())).collect();
/// let mut collector = Collector::new(committee, suite, secret.public_key(), keys, b"hello", options)?;
/// let [one, three] = [&shares[0], &shares[2]].map(|share| share.sign(suite, b"hello").to_bytes());
/// assert_eq!(collector.add(1, &one, &mut rand::rng())?, None);
/// assert_eq!(collector.add(3, &three, &mut rand::rng())?, Some(secret.sign(suite, b"hello")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Collector<S: Bls12381Suite> {
    committee: Committee,
    suite: S,
    public_key: PublicKey<S>,
    verification_keys: Arc<[Option<PublicKey<S>>]>,
    message: Vec<u8>,
    options: Options,
    /// None is of a participant without a verification key.
    shares: BTreeMap<Index, UncheckedSignature<S>>,
    /// Of these, those that were not verified under the participant's key.
    unverified: BTreeSet<Index>,
    /// One for each participant at most.
    false_shares: BTreeMap<Index, Reason>,
    /// Of shares that were there, those that were found false since the last [`take_refuted`](Self::take_refuted).
    refuted: BTreeMap<Index, Reason>,
    /// Whether a combination was false. Then no share takes part that was not verified.
    doubtful: bool,
    signature: Option<Signature<S>>,
    work: CollectorWork,
}

/// What a collector has computed up to now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CollectorWork {
    /// How often it combined t shares and verified the sum.
    pub combinations: usize,
    /// How many shares it verified, each as a claim.
    pub verified: usize,
}

/// Why there is no collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CollectorError {
    /// There are not as many verification keys as participants.
    #[error("there are {found} verification keys for {participants} participants")]
    VerificationKeys {
        /// The number of keys.
        found: usize,
        /// How many participants share the key: n.
        participants: usize,
    },
    /// An AUG suite hashes the signer's key before the message, so that each participant signs something else.
    #[error("the suite {0} signs the signer's key with the message, so shares cannot be combined")]
    Augmented(&'static str),
}

/// Why a share is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShareError {
    /// No participant has the number.
    #[error(transparent)]
    Index(#[from] CommitteeError),
    /// The bytes are no point of the curve.
    #[error("the share of participant {index}: {reason}")]
    Malformed {
        /// The participant.
        index: Index,
        /// What is wrong with the bytes.
        reason: ParseError,
    },
    /// The participant's verification key is the identity, so nothing is its share.
    #[error("participant {0} has no share of the key: its verification key is the identity")]
    NoKey(Index),
    /// The signature is there.
    #[error("the signature is there already, and the share of participant {0} is not needed")]
    Unneeded(Index),
    /// The same share is there already.
    #[error("the share of participant {0} is there already")]
    Duplicate(Index),
    /// The share does not verify under the key of the participant, or another one does.
    #[error("the share of participant {index} is false: {reason}")]
    False {
        /// The participant.
        index: Index,
        /// The reason why it is false.
        reason: Reason,
    },
}

impl<S: Bls12381Suite> Collector<S> {
    /// A collector for the signature of `message` by a committee. `verification_keys` are those of the participants, in
    /// their order, with `None` where it is the identity, and `public_key` is the key of the group; both must come from the
    /// sharing of the key.
    ///
    /// # Errors
    /// [`CollectorError`].
    pub fn new(
        committee: Committee,
        suite: S,
        public_key: PublicKey<S>,
        verification_keys: Vec<Option<PublicKey<S>>>,
        message: &[u8],
        options: Options,
    ) -> Result<Self, CollectorError> {
        let (found, participants) = (verification_keys.len(), committee.participants());
        if found != participants {
            return Err(CollectorError::VerificationKeys { found, participants });
        }
        if suite.scheme() == Scheme::Augmented {
            return Err(CollectorError::Augmented(suite.id()));
        }
        Ok(Self {
            committee,
            suite,
            public_key,
            verification_keys: verification_keys.into(),
            message: message.to_vec(),
            options,
            shares: BTreeMap::new(),
            unverified: BTreeSet::new(),
            false_shares: BTreeMap::new(),
            refuted: BTreeMap::new(),
            doubtful: false,
            signature: None,
            work: CollectorWork::default(),
        })
    }

    /// A collector for another message of the same committee, without shares. The verification keys are in memory once.
    #[must_use]
    pub fn for_message(&self, message: &[u8]) -> Self {
        Self {
            committee: self.committee.clone(),
            verification_keys: Arc::clone(&self.verification_keys),
            message: message.to_vec(),
            shares: BTreeMap::new(),
            unverified: BTreeSet::new(),
            false_shares: BTreeMap::new(),
            refuted: BTreeMap::new(),
            doubtful: false,
            signature: None,
            work: CollectorWork::default(),
            ..*self
        }
    }

    /// The message.
    pub fn message(&self) -> &[u8] {
        &self.message
    }

    /// Takes the share of the participant with a number, and returns the signature once there is one. The bytes are a
    /// compressed signature, or an uncompressed one, which is twice as long and needs no square root.
    ///
    /// # Errors
    /// [`ShareError`]. The shares that are there stay, and further ones can be added. Once the signature is there, every
    /// share is [`Unneeded`](ShareError::Unneeded).
    ///
    /// Cost: nothing below the threshold, and a combination and a pairing check there. If these fail, all shares are
    /// verified, and from then on each new one. A second share of a participant costs a verification of both, once.
    pub fn add(
        &mut self,
        number: u64,
        bytes: &[u8],
        rng: &mut impl CryptoRng,
    ) -> Result<Option<Signature<S>>, ShareError> {
        let index = self.admit(number)?;
        self.take(index, decode(bytes), rng)?;
        match self.settle(rng).get(&index) {
            Some(reason) => Err(ShareError::False { index, reason: *reason }),
            None => Ok(self.signature),
        }
    }

    /// Takes many shares, each with the number of its participant, and gives the answer of [`add`](Self::add) for each. The
    /// shares are decoded together, on all threads, and verified and combined together, after the last: see
    /// [`signature`](Self::signature).
    pub fn add_each(&mut self, arrivals: &[(u64, &[u8])], rng: &mut impl CryptoRng) -> Vec<Result<(), ShareError>> {
        if self.signature.is_some() {
            return arrivals.iter().map(|(number, _)| self.admit(*number).map(drop)).collect();
        }
        let Options { backend, threads, .. } = self.options;
        let decoded = parallel_chunks(threads, arrivals, LEAST_SHARES, |arrivals| decode_each(arrivals, backend));
        let taken = arrivals.iter().zip(decoded).map(|((number, _), share)| {
            let index = self.admit(*number)?;
            self.take(index, share, rng).map(|()| index)
        });
        let taken: Vec<_> = taken.collect();
        let found = self.settle(rng);
        let answer = |taken: Result<Index, ShareError>| {
            taken.and_then(|index| match found.get(&index) {
                Some(reason) => Err(ShareError::False { index, reason: *reason }),
                None => Ok(()),
            })
        };
        taken.into_iter().map(answer).collect()
    }

    /// The participant with a number, if a share of it can be of use. It costs nothing.
    fn admit(&self, number: u64) -> Result<Index, ShareError> {
        let index = self.committee.index(number)?;
        match (self.signature, self.verification_keys[index.place()]) {
            (Some(_), _) => Err(ShareError::Unneeded(index)),
            (None, None) => Err(ShareError::NoKey(index)),
            (None, Some(_)) => Ok(index),
        }
    }

    /// Stores a share, or decides between it and another one of the participant.
    fn take(
        &mut self,
        index: Index,
        decoded: Result<UncheckedSignature<S>, ParseError>,
        rng: &mut impl CryptoRng,
    ) -> Result<(), ShareError> {
        let signature = decoded.map_err(|reason| ShareError::Malformed { index, reason })?;
        match self.shares.get(&index).copied() {
            Some(known) if known == signature => Err(ShareError::Duplicate(index)),
            Some(known) => self.choose(index, known, signature, rng),
            None => {
                self.shares.insert(index, signature);
                self.unverified.insert(index);
                Ok(())
            }
        }
    }

    /// Combines the shares, if there are enough and no signature yet. Returns the shares that it found false, which are out.
    fn settle(&mut self, rng: &mut impl CryptoRng) -> BTreeMap<Index, Reason> {
        let mut found = BTreeMap::new();
        if self.doubtful {
            found = self.verify_shares(rng);
        }
        while self.signature.is_none() && self.shares.len() >= self.committee.threshold() {
            self.signature = self.combine();
            if self.signature.is_none() {
                self.doubtful = true;
                let more = self.verify_shares(rng);
                if more.is_empty() {
                    // Shares that are all true make the signature, unless the keys are not those of one sharing.
                    break;
                }
                found.extend(more);
            }
        }
        found
    }

    /// The signature, once there is one.
    pub fn signature(&self) -> Option<Signature<S>> {
        self.signature
    }

    /// The participants whose shares are there and were not found false.
    pub fn indices(&self) -> impl Iterator<Item = Index> {
        self.shares.keys().copied()
    }

    /// The participants under whose numbers a false share came, ascending, with the reason: one for each, however many came.
    /// A participant may be there although someone else sent the share.
    pub fn false_shares(&self) -> Vec<(Index, Reason)> {
        self.false_shares.iter().map(|(index, reason)| (*index, *reason)).collect()
    }

    /// The participants whose share was taken out since this was asked before, because it is false, with the reason. Whoever keeps
    /// something beside each share asks after each call, and need not look through all of them.
    pub fn take_refuted(&mut self) -> BTreeMap<Index, Reason> {
        mem::take(&mut self.refuted)
    }

    /// What was computed up to now.
    pub fn work(&self) -> CollectorWork {
        self.work
    }

    /// The signature of t shares, if it is valid under the key of the group.
    fn combine(&mut self) -> Option<Signature<S>> {
        self.work.combinations += 1;
        let available: Vec<_> = self.indices().collect();
        // The indices are distinct members of the committee, so an error says that they are too few.
        let interpolation = Interpolation::new(&self.committee, &available, &self.options).ok()?;
        let points: Vec<_> = interpolation.signers().iter().map(|index| self.shares[index].point()).collect();
        let sum = interpolation.of_points(&points, &self.options);
        // The shares may lie outside the subgroup, for which the sum is not defined. What its bytes decode to is a point of
        // the curve whatever it is, and only the signature of the group passes the two checks.
        let signature = UncheckedSignature::from_bytes(sum.compress().as_ref()).ok()?.check().ok()?;
        self.public_key.verify(self.suite, &self.message, signature).is_valid().then_some(signature)
    }

    /// Decides between the share of a participant that is there and another one. The one that is true, if any, stays.
    fn choose(
        &mut self,
        index: Index,
        known: UncheckedSignature<S>,
        signature: UncheckedSignature<S>,
        rng: &mut impl CryptoRng,
    ) -> Result<(), ShareError> {
        // The true share of a participant is one point. If it is known, no pairing is needed to see that another one is false.
        let verdicts = if self.unverified.remove(&index) {
            let verdicts = self.verdicts(&[(index, known), (index, signature)], rng);
            [verdicts[0], verdicts[1]]
        } else {
            [Verdict::Valid, Verdict::Invalid(Reason::Mismatch)]
        };
        if let Verdict::Invalid(reason) = verdicts[0] {
            self.remove(index, reason);
        }
        match verdicts[1] {
            Verdict::Invalid(reason) => {
                self.false_shares.entry(index).or_insert(reason);
                Err(ShareError::False { index, reason })
            }
            Verdict::Valid => {
                self.shares.insert(index, signature);
                Ok(())
            }
        }
    }

    /// Verifies the shares that are not verified yet. Those that are false are out, and returned.
    fn verify_shares(&mut self, rng: &mut impl CryptoRng) -> BTreeMap<Index, Reason> {
        let open = mem::take(&mut self.unverified);
        let open: Vec<_> = open.into_iter().map(|index| (index, self.shares[&index])).collect();
        let mut found = BTreeMap::new();
        for ((index, _), verdict) in open.iter().zip(self.verdicts(&open, rng)) {
            if let Verdict::Invalid(reason) = verdict {
                self.remove(*index, reason);
                found.insert(*index, reason);
            }
        }
        found
    }

    /// Takes a share out that was found false.
    fn remove(&mut self, index: Index, reason: Reason) {
        self.shares.remove(&index);
        self.false_shares.insert(index, reason);
        self.refuted.insert(index, reason);
    }

    /// Each share as a claim, in one batch.
    fn verdicts(&mut self, shares: &[(Index, UncheckedSignature<S>)], rng: &mut impl CryptoRng) -> Vec<Verdict> {
        self.work.verified += shares.len();
        let claims = shares.iter().map(|(index, signature)| {
            let key =
                self.verification_keys[index.place()].expect("`admit` lets no share in whose participant has no key");
            Claim::single(self.suite, key, &self.message[..], *signature)
        });
        verify(&claims.collect::<Vec<_>>(), &self.options, rng).verdicts
    }
}

/// Reads a share, which is compressed unless it has the length of an uncompressed point.
fn decode<S: Bls12381Suite>(bytes: &[u8]) -> Result<UncheckedSignature<S>, ParseError> {
    if bytes.len() == S::Signature::UNCOMPRESSED {
        UncheckedSignature::from_uncompressed(bytes)
    } else {
        UncheckedSignature::from_bytes(bytes)
    }
}

/// The same for many shares, of which the compressed ones are decoded together.
fn decode_each<S: Bls12381Suite>(
    arrivals: &[(u64, &[u8])],
    backend: Backend,
) -> Vec<Result<UncheckedSignature<S>, ParseError>> {
    let is_long = |bytes: &[u8]| bytes.len() == S::Signature::UNCOMPRESSED;
    let compressed: Vec<_> = arrivals.iter().map(|(_, bytes)| *bytes).filter(|bytes| !is_long(bytes)).collect();
    let mut compressed = UncheckedSignature::from_bytes_each(&compressed, backend).into_iter();
    let next = |(_, bytes): &(u64, &[u8])| {
        if is_long(bytes) { decode(bytes) } else { compressed.next().expect("an answer for each encoding") }
    };
    arrivals.iter().map(next).collect()
}

/// A thread for fewer shares than this costs more than it saves.
const LEAST_SHARES: usize = 64;
