//! The set itself.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use quorate_curve::{Backend, StoredPoints};
use rand_core::CryptoRng;

use super::members::{Bitmap, Members};
use crate::{
    aggregate::MisuseError,
    bdn::refuse_plain_sums,
    claim::{Claim, ClaimSignature},
    key::PublicKey,
    parse::ParseError,
    signature::Signature,
    suite::{Scheme, Suite},
    threads::parallel_chunks,
    verdict::Verdict,
};

/// Whether the owner of a key has shown that it holds the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Possession {
    /// Nobody has shown it. The key takes part in no multi-signature.
    Unproven,
    /// The caller says that it was shown elsewhere: [`KeySet::push_assumed`]. It counts in a suite that has proofs of possession.
    Assumed,
    /// The set has verified a proof: [`KeySet::prove`].
    Proven,
}

/// A committee's keys by index. A key may occur more than once, as in Ethereum's sync committees. An index is never
/// reused.
///
/// Memory: for each key its point ([`StoredPoints`]) and a byte, and for each of the last sums a bit for each key.
#[derive(Debug)]
pub struct KeySet<S: Suite> {
    pub(super) suite: S,
    pub(super) points: StoredPoints<S::Key>,
    pub(super) possession: Vec<Possession>,
    /// How many members have shown nothing.
    pub(super) unproven: usize,
    sums: Mutex<Sums<S>>,
}

/// The last sums of a set, the newest at the end.
#[derive(Clone, Debug)]
struct Sums<S: Suite>(Vec<(Bitmap, S::Key)>);

/// How many sums a set keeps.
const KEPT_SUMS: usize = 8;

/// Keys that are decoded at a time, so that their random words take little memory.
pub(super) const DECODED_TOGETHER: usize = 1 << 16;

/// Random words for the check of a key's membership.
const WORDS: usize = 4;

/// The fewest keys for which another thread pays off.
pub(super) const LEAST: usize = 256;

impl<S: Suite> KeySet<S> {
    /// An empty set under a suite. The backend computes its sums.
    pub fn new(suite: S, backend: Backend) -> Self {
        let sums = Mutex::new(Sums(Vec::new()));
        Self { suite, points: backend.store(), possession: Vec::new(), unproven: 0, sums }
    }

    /// Adds a member, whose index is the number of members so far. Its possession is unproven until
    /// [`prove`](Self::prove) has verified a proof.
    pub fn push(&mut self, key: PublicKey<S>) {
        self.add(&[key.point()], Possession::Unproven);
    }

    /// Adds a member, and takes the caller's word that its owner has shown elsewhere that it holds the secret. An
    /// Ethereum validator's deposit is such a proof. With a wrong entry, the owner of a rogue key can forge for all
    /// members.
    pub fn push_assumed(&mut self, key: PublicKey<S>) {
        self.add(&[key.point()], Possession::Assumed);
    }

    /// Decodes the keys of many members and adds them, each as [`push`](Self::push) does, or with `assume_possession` as
    /// [`push_assumed`](Self::push_assumed) does. It adds all of them, or none.
    ///
    /// The membership of many keys is checked through random sums, so that a key outside the subgroup is missed with a
    /// probability below 2^-128 (`docs/soundness.md`). `rng` must be a CSPRNG that whoever made the keys cannot predict.
    /// On BN254 nothing is drawn from it for the sums, whose weights are a hash of the keys: each try of whoever makes n keys passes a
    /// wrong one with probability at most 4n/2^128.
    ///
    /// # Errors
    /// [`KeyError`]: the first key that is not valid.
    ///
    /// Cost: for each key a square root, and 12 to 28 additions.
    pub fn decode(
        &mut self,
        encodings: &[&[u8]],
        assume_possession: bool,
        threads: NonZeroUsize,
        rng: &mut impl CryptoRng,
    ) -> Result<(), KeyError> {
        let (suite, backend) = (self.suite, self.points.backend());
        let length = suite.key_length();
        if let Some(index) = encodings.iter().position(|bytes| bytes.len() != length) {
            return Err(KeyError { index, error: suite.wrong_key_length(encodings[index].len()) });
        }
        let mut points = Vec::with_capacity(encodings.len());
        let together = DECODED_TOGETHER.saturating_mul(threads.get());
        for (window, encodings) in encodings.chunks(together).enumerate() {
            // They are drawn after all keys are fixed.
            let mut bits = vec![0; WORDS * 8 * encodings.len()];
            rng.fill_bytes(&mut bits);
            let (words, _) = bits.as_chunks::<8>();
            let (words, _) = words.as_chunks::<WORDS>();
            let drawn: Vec<_> = encodings.iter().zip(words).map(|(key, words)| (*key, words)).collect();
            let decoded = parallel_chunks(threads, &drawn, LEAST, |drawn| {
                let words = |words: &[[u8; 8]; WORDS]| words.map(u64::from_le_bytes);
                let (encodings, random): (Vec<_>, Vec<_>) = drawn.iter().map(|(key, w)| (*key, words(w))).unzip();
                S::decode_key_set(&encodings, &random, backend)
            });
            for (i, point) in decoded.into_iter().enumerate() {
                let index = window * together + i;
                points.push(point.map_err(|error| KeyError { index, error })?);
            }
        }
        self.add(&points, if assume_possession { Possession::Assumed } else { Possession::Unproven });
        Ok(())
    }

    fn add(&mut self, points: &[S::Key], possession: Possession) {
        self.points.extend(points);
        self.possession.resize(self.points.len(), possession);
        self.unproven += if possession == Possession::Unproven { points.len() } else { 0 };
    }

    /// The suite.
    pub fn suite(&self) -> S {
        self.suite
    }

    /// The backend that computes its sums.
    pub fn backend(&self) -> Backend {
        self.points.backend()
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// The keys at these indices, which may repeat.
    ///
    /// # Errors
    /// [`MisuseError::NoSuchMember`].
    pub fn keys(&self, indices: &[u32]) -> Result<Vec<PublicKey<S>>, MisuseError> {
        self.contains(indices.iter().map(|index| *index as usize).max())?;
        Ok(self.points.get(indices).into_iter().map(key_of_member).collect())
    }

    /// What is known about a member's possession of its secret.
    ///
    /// # Errors
    /// [`MisuseError::NoSuchMember`].
    pub fn possession(&self, index: usize) -> Result<Possession, MisuseError> {
        self.contains(Some(index))?;
        Ok(self.possession[index])
    }

    /// Verifies a member's proof of possession, and records it if it is true.
    ///
    /// # Errors
    /// [`MisuseError::NoSuchMember`], [`MisuseError::NoProofsOfPossession`].
    ///
    /// Cost: a hash, two Miller loops and a final exponentiation.
    pub fn prove(&mut self, index: usize, proof: Signature<S>) -> Result<Verdict, MisuseError> {
        let verdict = crate::naive::verify(&self.possession_claim(index, proof)?);
        if verdict.is_valid() {
            self.record_proven(index)?;
        }
        Ok(verdict)
    }

    /// The claim that a proof of a member's possession makes. With [`record_proven`](Self::record_proven) it does what
    /// [`prove`](Self::prove) does for a set that threads share: it is verified while others use the set, and a false proof changes nothing.
    ///
    /// # Errors
    /// As [`prove`](Self::prove).
    pub fn possession_claim(&self, index: usize, proof: Signature<S>) -> Result<Claim<S>, MisuseError> {
        self.contains(Some(index))?;
        let key = self.keys(&[index as u32])?[0];
        Claim::proof_of_possession(self.suite, key, proof).ok_or(MisuseError::NoProofsOfPossession(self.suite.name()))
    }

    /// Records that the [claim](Self::possession_claim) of a proof for this member of this set was verified, at the caller's word. With a
    /// wrong word, the owner of a rogue key can forge for all members.
    ///
    /// # Errors
    /// [`MisuseError::NoSuchMember`].
    pub fn record_proven(&mut self, index: usize) -> Result<(), MisuseError> {
        self.contains(Some(index))?;
        self.unproven -= usize::from(self.possession[index] == Possession::Unproven);
        self.possession[index] = Possession::Proven;
        Ok(())
    }

    /// The sum of the members' keys, also of members that have proven nothing: verify with [`claim`](Self::claim), and not under this
    /// sum. For no members it is the identity.
    ///
    /// # Errors
    /// [`MisuseError::NoSuchMember`], and [`MisuseError::NeedsCoefficients`] in a BDN suite.
    ///
    /// Cost: one addition for each member, or one for each member that joined or left since one of the last eight sums,
    /// whichever is less.
    pub fn sum(&self, members: &Bitmap) -> Result<S::Key, MisuseError> {
        refuse_plain_sums(self.suite)?;
        self.contains(members.highest())?;
        let nearest = self.sums().nearest(members);
        let sum = match nearest {
            Some((0, _, sum)) => return Ok(sum),
            Some((distance, near, sum)) if distance < members.count() => {
                let difference = self.points.sum(&members.minus(&near), &near.minus(members));
                self.backend().sum(&[sum, difference])
            }
            _ => self.points.sum(&members.minus(&Bitmap::default()), &[]),
        };
        self.sums().keep(members.clone(), sum);
        Ok(sum)
    }

    /// The claim that these members signed one message. In a POP suite it makes one statement, under the sum of their keys. In a
    /// BDN suite it makes a statement for each member, and needs no proofs of possession.
    ///
    /// # Errors
    /// [`MisuseError::NoSumOverOneMessage`] if the suite is neither a POP nor a BDN suite, [`MisuseError::NoSuchMember`],
    /// [`MisuseError::NothingToAggregate`] for no members, unless the suite allows that, and in a POP suite
    /// [`MisuseError::PossessionUnproven`] for several members of whom one has proven nothing, and [`MisuseError::IdentitySum`] if the
    /// keys add up to the identity.
    ///
    /// Cost: that of [`sum`](Self::sum) in a POP suite. In a BDN suite the claim has all the keys, and they are summed when it
    /// is verified.
    pub fn claim(
        &self,
        members: &Bitmap,
        message: impl Into<Arc<[u8]>>,
        signature: impl Into<ClaimSignature<S>>,
    ) -> Result<Claim<S>, MisuseError> {
        if let Scheme::Basic | Scheme::Augmented = self.suite.scheme() {
            return Err(MisuseError::NoSumOverOneMessage(self.suite.name()));
        }
        self.contains(members.highest())?;
        if members.count() == 0 && !self.suite.allows_no_keys() {
            return Err(MisuseError::NothingToAggregate);
        }
        if self.suite.scheme() == Scheme::Bdn || members.count() == 0 {
            let keys = self.keys(&members.minus(&Bitmap::default()))?;
            return Ok(Claim::shared(self.suite, keys, message, signature));
        }
        let key = PublicKey::from_sum(self.proven_sum(members)?).ok_or(MisuseError::IdentitySum)?;
        Ok(Claim::single(self.suite, key, message, signature))
    }

    /// The sum of the keys of members who have all shown that they possess their secrets.
    fn proven_sum(&self, members: &Bitmap) -> Result<S::Key, MisuseError> {
        self.contains(members.highest())?;
        self.all_proven(members.indices())?;
        self.sum(members)
    }

    /// Whether several members, who are in the set, have all shown that they possess their secrets. For one member nothing needs
    /// to be shown.
    ///
    /// A suite without proofs of possession asks nobody for one, so nobody is taken to have shown it elsewhere: the suite that
    /// a claim names is its sender's choice.
    fn all_proven(&self, members: impl Iterator<Item = usize>) -> Result<(), MisuseError> {
        let has_proofs = self.suite.scheme() == Scheme::ProofOfPossession;
        if self.unproven == 0 && has_proofs {
            return Ok(());
        }
        let mut members = members.peekable();
        let Some(first) = members.next().filter(|_| members.peek().is_some()) else { return Ok(()) };
        let shown = |index: usize| has_proofs && self.possession[index] != Possession::Unproven;
        match std::iter::once(first).chain(members).find(|index| !shown(*index)) {
            Some(index) => Err(MisuseError::PossessionUnproven { index }),
            None => Ok(()),
        }
    }

    /// Whether the set has a member with the highest index that somebody names, if there is one.
    fn contains(&self, highest: Option<usize>) -> Result<(), MisuseError> {
        match highest {
            Some(index) if index >= self.len() => Err(MisuseError::NoSuchMember { index, members: self.len() }),
            _ => Ok(()),
        }
    }

    fn sums(&self) -> MutexGuard<'_, Sums<S>> {
        // A thread that panicked while it wrote has left whole entries.
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Suite> Clone for KeySet<S> {
    fn clone(&self) -> Self {
        let sums = Mutex::new(self.sums().clone());
        Self {
            suite: self.suite,
            points: self.points.clone(),
            possession: self.possession.clone(),
            unproven: self.unproven,
            sums,
        }
    }
}

impl<S: Suite> Sums<S> {
    /// The sum over the members who differ the least from these: how many differ, who they are, and their sum.
    fn nearest(&self, members: &Bitmap) -> Option<(usize, Bitmap, S::Key)> {
        let distances = self.0.iter().map(|(known, sum)| (known.distance(members), known, sum));
        let (distance, known, sum) = distances.min_by_key(|(distance, ..)| *distance)?;
        Some((distance, known.clone(), *sum))
    }

    /// Keeps a sum, and forgets the oldest one if there are too many.
    fn keep(&mut self, members: Bitmap, sum: S::Key) {
        self.0.retain(|(known, _)| *known != members);
        if self.0.len() == KEPT_SUMS {
            self.0.remove(0);
        }
        self.0.push((members, sum));
    }
}

/// The key of a member, whose point was checked when it was added.
fn key_of_member<S: Suite>(point: S::Key) -> PublicKey<S> {
    PublicKey::from_sum(point).expect("no member of a set is the identity")
}

/// One of several encoded keys is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error} (number {index}, counted from 0)")]
pub struct KeyError {
    /// Which key, counted from 0.
    pub index: usize,
    /// What is wrong with it.
    pub error: ParseError,
}

impl<S: Suite> KeySet<S> {
    /// Whether members are in the set and, if they are several, have all shown that they possess their secrets: whether a claim in a POP
    /// suite can name them.
    pub(super) fn proven(&self, members: &Members) -> Result<(), MisuseError> {
        match members {
            Members::Bitmap(bitmap) => {
                self.contains(bitmap.highest())?;
                self.all_proven(bitmap.indices())
            }
            Members::Indices(indices) => {
                self.contains(indices.iter().map(|index| *index as usize).max())?;
                self.all_proven(indices.iter().map(|index| *index as usize))
            }
        }
    }

    /// The sum of the keys of some members, for a claim that they all signed one message in a POP suite.
    pub(crate) fn sum_for_claim(&self, members: &Members) -> Result<S::Key, MisuseError> {
        match members {
            Members::Bitmap(bitmap) => self.proven_sum(bitmap),
            Members::Indices(indices) => {
                self.proven(members)?;
                Ok(self.points.sum(indices, &[]))
            }
        }
    }

    /// The keys of some members, for a claim that names them. With `proven` several of them must have shown that they possess
    /// their secrets, as the aggregates of a POP suite need it.
    pub(crate) fn keys_for_claim(&self, members: &Members, proven: bool) -> Result<Vec<PublicKey<S>>, MisuseError> {
        if let Members::Bitmap(bitmap) = members {
            self.contains(bitmap.highest())?;
        }
        let indices = members.indices();
        let keys = self.keys(&indices)?;
        if proven {
            self.all_proven(indices.iter().map(|index| *index as usize))?;
        }
        Ok(keys)
    }
}
