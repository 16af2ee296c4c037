//! A committee's keys. They are checked once, and a bitmap says which of them to add up.
//!
//! Little changes from one signature of a committee to the next. So a set keeps its last sum. For the next sum it adds
//! the members who joined and subtracts the members who left, if that takes fewer additions than a new sum of all.
//!
//! ```
//! use quorate::{Backend, Bitmap, KeySet, MinPk, SecretKey, aggregate::aggregate, naive};
//! let suite = MinPk::Eth2;
//! let secrets = [1, 2, 3].map(|i| SecretKey::key_gen(suite, &[i; 32], b"").expect("32 bytes"));
//! let mut set = KeySet::new(suite, Backend::auto());
//! secrets.iter().for_each(|secret| set.push_assumed(secret.public_key()));
//! let signed = aggregate(&[secrets[0].sign(suite, b"vote"), secrets[2].sign(suite, b"vote")], Backend::auto())?;
//! let claim = set.claim(&Bitmap::from_indices([0, 2]), &b"vote"[..], signed)?;
//! assert!(naive::verify(&claim).is_valid());
//! # Ok::<(), quorate::aggregate::MisuseError>(())
//! ```

use std::sync::Arc;

use quorate_curve::{Backend, Group};

use crate::{
    aggregate::MisuseError,
    claim::{Claim, ClaimSignature},
    key::PublicKey,
    signature::Signature,
    suite::{Scheme, Suite},
    verdict::Verdict,
};

/// Which members of a [`KeySet`] take part. Bit i, counted from the least significant bit of the first word, stands for
/// the member with index i.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bitmap(Vec<u64>);

impl Bitmap {
    /// Reads SSZ's bits: the least significant bit of the first byte stands for the first member.
    pub fn from_le_bytes(bytes: &[u8]) -> Self {
        let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        Self(bytes.chunks(8).map(word).collect())
    }

    /// Takes the indices of members, in any order.
    pub fn from_indices(indices: impl IntoIterator<Item = usize>) -> Self {
        let mut map = Self::default();
        for index in indices {
            if map.0.len() <= index / 64 {
                map.0.resize(index / 64 + 1, 0);
            }
            map.0[index / 64] |= 1 << (index % 64);
        }
        map
    }

    /// The indices of the members, ascending.
    pub fn indices(&self) -> impl Iterator<Item = usize> {
        let bits = |(i, word): (usize, &u64)| {
            let word = *word;
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 64 * i + bit)
        };
        self.0.iter().enumerate().flat_map(bits)
    }

    /// How many members take part.
    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// The members of this bitmap that are not in the other.
    fn minus(&self, other: &Self) -> Self {
        let beside = |i: usize| other.0.get(i).copied().unwrap_or(0);
        Self(self.0.iter().enumerate().map(|(i, word)| word & !beside(i)).collect())
    }
}

/// Whether the owner of a key has shown that it holds the secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Possession {
    /// Nobody has shown it. The key takes part in no multi-signature.
    Unproven,
    /// The caller says that it was shown elsewhere: [`KeySet::push_assumed`].
    Assumed,
    /// The set has verified a proof: [`KeySet::prove`].
    Proven,
}

/// A committee's keys by index. A key may occur more than once, as in Ethereum's sync committees. An index is never
/// reused.
#[derive(Clone, Debug)]
pub struct KeySet<S: Suite> {
    suite: S,
    backend: Backend,
    keys: Vec<PublicKey<S>>,
    possession: Vec<Possession>,
    last: (Bitmap, S::Key),
}

impl<S: Suite> KeySet<S> {
    /// An empty set under a suite. The backend computes its sums.
    pub fn new(suite: S, backend: Backend) -> Self {
        Self { suite, backend, keys: Vec::new(), possession: Vec::new(), last: (Bitmap::default(), S::Key::IDENTITY) }
    }

    /// Adds a member, whose index is the number of members so far. Its possession is unproven until
    /// [`prove`](Self::prove) has verified a proof.
    pub fn push(&mut self, key: PublicKey<S>) {
        self.add(key, Possession::Unproven);
    }

    /// Adds a member, and takes the caller's word that its owner has shown elsewhere that it holds the secret. An
    /// Ethereum validator's deposit is such a proof. With a wrong entry, the owner of a rogue key can forge for all
    /// members.
    pub fn push_assumed(&mut self, key: PublicKey<S>) {
        self.add(key, Possession::Assumed);
    }

    fn add(&mut self, key: PublicKey<S>, possession: Possession) {
        self.keys.push(key);
        self.possession.push(possession);
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The keys, by index.
    pub fn keys(&self) -> &[PublicKey<S>] {
        &self.keys
    }

    /// What is known about a member's possession of its secret.
    ///
    /// # Errors
    /// [`MisuseError::NoSuchMember`].
    pub fn possession(&self, index: usize) -> Result<Possession, MisuseError> {
        self.possession.get(index).copied().ok_or(MisuseError::NoSuchMember { index, members: self.len() })
    }

    /// Verifies a member's proof of possession, and records it if it is true.
    ///
    /// # Errors
    /// [`MisuseError::NoSuchMember`], [`MisuseError::NoProofsOfPossession`].
    ///
    /// Cost: a hash, two Miller loops and a final exponentiation.
    pub fn prove(&mut self, index: usize, proof: Signature<S>) -> Result<Verdict, MisuseError> {
        self.possession(index)?;
        let claim = Claim::proof_of_possession(self.suite, self.keys[index], proof)
            .ok_or(MisuseError::NoProofsOfPossession(self.suite.name()))?;
        let verdict = crate::naive::verify(&claim);
        if verdict.is_valid() {
            self.possession[index] = Possession::Proven;
        }
        Ok(verdict)
    }

    /// The sum of the members' keys. For no members it is the identity.
    ///
    /// # Errors
    /// [`MisuseError::NoSuchMember`].
    ///
    /// Cost: one addition for each member, or one for each member that joined or left since the last sum, whichever is
    /// less.
    pub fn sum(&mut self, members: &Bitmap) -> Result<S::Key, MisuseError> {
        self.contains(members)?;
        let (came, left) = (members.minus(&self.last.0), self.last.0.minus(members));
        let points: Vec<_> = if came.count() + left.count() < members.count() {
            let came = came.indices().map(|i| self.keys[i].point());
            let left = left.indices().map(|i| self.keys[i].point().negate());
            came.chain(left).chain([self.last.1]).collect()
        } else {
            members.indices().map(|i| self.keys[i].point()).collect()
        };
        self.last = (members.clone(), self.backend.sum(&points));
        Ok(self.last.1)
    }

    /// The claim that these members signed one message. In a POP suite it makes one statement, under the sum of their keys. In a
    /// BDN suite it makes a statement for each member, and needs no proofs of possession.
    ///
    /// # Errors
    /// [`MisuseError::NoSumOverOneMessage`] if the suite is neither a POP nor a BDN suite, [`MisuseError::NoSuchMember`],
    /// [`MisuseError::NothingToAggregate`] for no members, and in a POP suite [`MisuseError::PossessionUnproven`], and
    /// [`MisuseError::IdentitySum`] if the keys add up to the identity.
    ///
    /// Cost: that of [`sum`](Self::sum) in a POP suite. In a BDN suite the claim has all the keys, and they are summed when it
    /// is verified.
    pub fn claim(
        &mut self,
        members: &Bitmap,
        message: impl Into<Arc<[u8]>>,
        signature: impl Into<ClaimSignature<S>>,
    ) -> Result<Claim<S>, MisuseError> {
        match self.suite.scheme() {
            Scheme::ProofOfPossession => {}
            Scheme::Bdn => return self.claim_with_coefficients(members, message, signature),
            Scheme::Basic | Scheme::Augmented => return Err(MisuseError::NoSumOverOneMessage(self.suite.name())),
        }
        let sum = self.sum(members)?;
        if let Some(index) = members.indices().find(|index| self.possession[*index] == Possession::Unproven) {
            return Err(MisuseError::PossessionUnproven { index });
        }
        if members.count() == 0 {
            return Err(MisuseError::NothingToAggregate);
        }
        let key = PublicKey::from_sum(sum).ok_or(MisuseError::IdentitySum)?;
        Ok(Claim::single(self.suite, key, message, signature))
    }

    fn claim_with_coefficients(
        &self,
        members: &Bitmap,
        message: impl Into<Arc<[u8]>>,
        signature: impl Into<ClaimSignature<S>>,
    ) -> Result<Claim<S>, MisuseError> {
        self.contains(members)?;
        if members.count() == 0 {
            return Err(MisuseError::NothingToAggregate);
        }
        let keys = members.indices().map(|index| self.keys[index]).collect();
        Ok(Claim::shared(self.suite, keys, message, signature))
    }

    /// Whether the bitmap names members of this set alone.
    fn contains(&self, members: &Bitmap) -> Result<(), MisuseError> {
        match members.indices().find(|index| *index >= self.len()) {
            Some(index) => Err(MisuseError::NoSuchMember { index, members: self.len() }),
            None => Ok(()),
        }
    }
}
