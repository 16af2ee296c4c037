//! Verdicts, and the outcome of a batch.
//!
//! ```
//! # use quorate::*;
//! # use rand_core::SeedableRng;
//! # let mut rng = rand_chacha::ChaCha20Rng::from_seed([7; 32]);
//! # let secret = SecretKey::key_gen(MinPk::Basic, &[1; 32], b"").expect("32 bytes");
//! // Two peers send a claim each; the second one lies.
//! let claim = |message: &[u8], peer: u64| {
//!     Claim::single(MinPk::Basic, secret.public_key(), message, secret.sign(MinPk::Basic, b"block")).from_source(peer)
//! };
//! let outcome = verify(&[claim(b"block", 4), claim(b"lie", 9)], &Options::default(), &mut rng);
//! assert_eq!(outcome.verdicts, [Verdict::Valid, Verdict::Invalid(Reason::Mismatch)]);
//! assert_eq!(outcome.false_by_source.keys().collect::<Vec<_>>(), [&SourceId::from(9)]); // whom to ban
//! ```

use std::{collections::BTreeMap, fmt};

use crate::{
    aggregate::MisuseError,
    claim::{Defect, SourceId},
    parse::ParseError,
};

/// The truth of one claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use = "a claim is valid only if its verdict says so"]
pub enum Verdict {
    /// Something proved the claim: its own pairings, or a product of pairings over a batch that it is part of.
    Valid,
    /// The claim is false, or nothing proved it, and why.
    Invalid(Reason),
}

impl Verdict {
    /// Whether the claim is true.
    #[must_use]
    pub fn is_valid(self) -> bool {
        self == Self::Valid
    }

    /// Why the claim is not valid; `None` if it is.
    #[must_use]
    pub fn reason(self) -> Option<Reason> {
        match self {
            Self::Valid => None,
            Self::Invalid(reason) => Some(reason),
        }
    }
}

impl fmt::Display for Verdict {
    /// `valid`, or `invalid: reason`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Valid => f.write_str("valid"),
            Self::Invalid(reason) => write!(f, "invalid: {reason}"),
        }
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Verdict {
    /// `{"valid":true}`, or `{"valid":false,"reason":"…"}`.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        let reason = self.reason().map(|reason| reason.to_string());
        let mut object = serializer.serialize_struct("Verdict", 1 + usize::from(reason.is_some()))?;
        object.serialize_field("valid", &self.is_valid())?;
        match reason {
            Some(reason) => object.serialize_field("reason", &reason)?,
            None => object.skip_field("reason")?,
        }
        object.end()
    }
}

/// Why a claim is not valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// Its only key, its signature or a message does not decode.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// One of its several keys does not decode.
    #[error("{error} (key {} of {keys})", index + 1)]
    ParseKey {
        /// Which key, counted from 0.
        index: usize,
        /// How many keys the claim has.
        keys: usize,
        /// What is wrong with it.
        error: ParseError,
    },
    /// It has several messages, but not one for each key.
    #[error("{keys} public keys, but {messages} messages; each key needs its own message, or all share one")]
    UnequalCounts {
        /// Public keys.
        keys: usize,
        /// How many messages the claim has.
        messages: usize,
    },
    /// It names members of a key set of another variant than its suite.
    #[error("the key set is one of another variant than the claim's suite")]
    OtherVariant,
    /// It names a member that its key set does not have.
    #[error("the claim names member {index} of a key set of {members}")]
    NoSuchMember {
        /// The index.
        index: usize,
        /// How many members the set has.
        members: usize,
    },
    /// One of the several members whom it names in a POP suite has not shown that it possesses its secret.
    #[error("member {index} of the key set has not proven possession of its key")]
    PossessionUnproven {
        /// The index of the member.
        index: usize,
    },
    /// It is a proof of possession, but the scheme of its suite has no such proofs.
    #[error("the suite has no proofs of possession; its scheme is not POP")]
    NoProofsOfPossession,
    /// It makes no statement.
    #[error("the claim has no keys and messages")]
    NoStatements,
    /// Two of its messages are equal, which a NUL suite forbids: with a rogue key, an attacker could forge the part of
    /// the other signer. A BDN suite forbids it where each key has a message of its own.
    #[error("two messages of the aggregate are equal, which a NUL or BDN suite forbids")]
    RepeatedMessage,
    /// Two of its keys over one message are equal, which a BDN suite forbids: its coefficients are those of a set of signers.
    #[error("a key occurs twice among the signers, which a BDN suite forbids")]
    RepeatedKey,
    /// The keys over its one message add up to the identity, under which the identity verifies as a signature of any
    /// message.
    #[error("the keys add up to the identity")]
    IdentityAggregateKey,
    /// Its signature is not the one that these keys make over these messages.
    #[error("the signature does not match the keys and messages")]
    Mismatch,
    /// Nothing proved or refuted it: the caller gave up on its source after other claims of that source were false
    /// ([`Patience`](crate::Patience)).
    #[error("not decided: the search gave up on its source, which sent false claims")]
    GivenUp,
    /// An internal error of quorate: nothing proved the claim, and nothing refuted it. Please report it.
    #[error("internal error: nothing proved or refuted the claim; please report it")]
    Undecided,
}

impl Reason {
    /// Whether it proves that the claim's source is at fault, and may be banned for it.
    ///
    /// What the verifier's own key set does not fit proves nothing: the set can be older than the claim. Nor does a claim that nothing
    /// decided.
    #[must_use]
    pub fn proves_a_lie(self) -> bool {
        match self {
            Self::OtherVariant
            | Self::NoSuchMember { .. }
            | Self::PossessionUnproven { .. }
            | Self::GivenUp
            | Self::Undecided => false,
            Self::Parse(_)
            | Self::ParseKey { .. }
            | Self::UnequalCounts { .. }
            | Self::NoProofsOfPossession
            | Self::NoStatements
            | Self::RepeatedMessage
            | Self::RepeatedKey
            | Self::IdentityAggregateKey
            | Self::Mismatch => true,
        }
    }
}

impl Reason {
    /// Why the members of a set make no claim.
    pub(crate) fn of_members(misuse: MisuseError) -> Self {
        match misuse {
            MisuseError::NoSuchMember { index, members } => Self::NoSuchMember { index, members },
            MisuseError::PossessionUnproven { index } => Self::PossessionUnproven { index },
            // A sum of members has no other flaw.
            _ => Self::Undecided,
        }
    }
}

impl From<Defect> for Reason {
    fn from(defect: Defect) -> Self {
        match defect {
            Defect::NoStatements => Self::NoStatements,
            Defect::RepeatedMessage => Self::RepeatedMessage,
            Defect::RepeatedKey => Self::RepeatedKey,
            Defect::IdentityAggregateKey => Self::IdentityAggregateKey,
            Defect::Message(flaw) => flaw.into(),
        }
    }
}

/// The outcome of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
#[must_use = "the outcome says which claims are valid"]
pub struct Outcome {
    /// One verdict for each claim, in input order.
    pub verdicts: Vec<Verdict>,
    /// By claim: how many of its statements were known and subtracted. All zero for [`verify`](crate::verify()).
    pub subtracted: Vec<usize>,
    /// The indices of the invalid claims by their source, ascending. Claims without a source are not listed. Not every one is its
    /// source's fault: see [`Reason::proves_a_lie`].
    pub false_by_source: BTreeMap<SourceId, Vec<usize>>,
    /// The operations that the verdicts took.
    pub work: Work,
}

impl Outcome {
    /// Whether there are claims and all of them are valid. Nothing to verify is not a success.
    #[must_use]
    pub fn all_valid(&self) -> bool {
        !self.verdicts.is_empty() && self.verdicts.iter().all(|verdict| verdict.is_valid())
    }

    /// The indices of the invalid claims, ascending.
    pub fn invalid(&self) -> impl Iterator<Item = usize> {
        self.verdicts.iter().enumerate().filter(|(_, verdict)| !verdict.is_valid()).map(|(index, _)| index)
    }

    /// Settles the verdicts of a batch. If a claim has no verdict, nothing proved it, and it is not valid.
    pub(crate) fn settle<'a>(
        verdicts: Vec<Option<Verdict>>,
        sources: impl Iterator<Item = Option<&'a SourceId>>,
        subtracted: Vec<usize>,
        work: Work,
    ) -> Self {
        let verdicts: Vec<_> =
            verdicts.into_iter().map(|verdict| verdict.unwrap_or(Verdict::Invalid(Reason::Undecided))).collect();
        let mut false_by_source = BTreeMap::<SourceId, Vec<usize>>::new();
        for ((index, verdict), source) in verdicts.iter().enumerate().zip(sources) {
            if let (Verdict::Invalid(_), Some(source)) = (verdict, source) {
                false_by_source.entry(source.clone()).or_default().push(index);
            }
        }
        Self { verdicts, subtracted, false_by_source, work }
    }
}

/// Counts of the operations that take time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Work {
    /// Messages hashed to the curve.
    pub hashes: usize,
    /// Messages that the [`Verifier`](crate::Verifier) had hashed before.
    pub cached_hashes: usize,
    /// Signatures whose membership was checked.
    pub subgroup_checks: usize,
    /// Points multiplied by a weight or a coefficient.
    pub weighted: usize,
    /// Miller loops.
    pub pairings: usize,
    /// Final exponentiations.
    pub final_exponentiations: usize,
    /// Values that the search for false claims computed, each of a set of claims. Values that are quotients of others
    /// are not counted.
    pub search_nodes: usize,
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        self.hashes += other.hashes;
        self.cached_hashes += other.cached_hashes;
        self.subgroup_checks += other.subgroup_checks;
        self.weighted += other.weighted;
        self.pairings += other.pairings;
        self.final_exponentiations += other.final_exponentiations;
        self.search_nodes += other.search_nodes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_verify_is_not_all_valid() {
        assert!(!Outcome::default().all_valid());
    }

    #[test]
    fn a_claim_without_a_verdict_is_not_valid() {
        let source = SourceId::from("peer");
        let verdicts = vec![Some(Verdict::Valid), None];
        let outcome = Outcome::settle(verdicts, [None, Some(&source)].into_iter(), vec![0; 2], Work::default());
        assert_eq!(outcome.verdicts, [Verdict::Valid, Verdict::Invalid(Reason::Undecided)]);
        assert_eq!(outcome.false_by_source[&source], [1]);
        assert!(!outcome.all_valid());
    }
}
