//! Verdicts, and what a batch comes to.
//!
//! ```
//! # use quorate::*;
//! # use rand_core::SeedableRng;
//! # let mut rng = rand_chacha::ChaCha20Rng::from_seed([7; 32]);
//! # let secret = SecretKey::key_gen(MinPk::Basic, &[1; 32], b"").expect("32 bytes");
//! // Two peers send a claim each; the second one lies.
//! let claim = |message: &[u8], peer| {
//!     Claim::single(MinPk::Basic, secret.public_key(), message, secret.sign(MinPk::Basic, b"block"))
//!         .from_source(SourceId(peer))
//! };
//! let outcome = verify(&[claim(b"block", 4), claim(b"lie", 9)], &Options::default(), &mut rng);
//! assert_eq!(outcome.verdicts, [Verdict::Valid, Verdict::Invalid(Reason::Mismatch)]);
//! assert_eq!(outcome.false_by_source.keys().collect::<Vec<_>>(), [&SourceId(9)]); // whom to ban
//! ```

use std::{collections::BTreeMap, fmt};

use crate::claim::{Defect, SourceId};

/// The truth of one claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "a claim is true or it is not")]
pub enum Verdict {
    /// The claim is true.
    Valid,
    /// The claim is false, and why.
    Invalid(Reason),
}

impl Verdict {
    /// Whether the claim is true.
    pub fn is_valid(self) -> bool {
        self == Self::Valid
    }
}

/// Why a claim is false.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// It makes no statement.
    NoStatements,
    /// Two of its messages are equal, which a NUL suite forbids: a rogue key could forge the other's part.
    RepeatedMessage,
    /// The keys over its one message add up to the identity, under which anything verifies.
    IdentityAggregateKey,
    /// Its signature is not in the subgroup of order r.
    SignatureNotInSubgroup,
    /// Its signature is not the one that these keys make over these messages.
    Mismatch,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoStatements => "the claim has no keys and messages",
            Self::RepeatedMessage => "two messages of the aggregate are equal, which a NUL suite forbids",
            Self::IdentityAggregateKey => "the keys add up to the identity",
            Self::SignatureNotInSubgroup => "signature: the point is not in the subgroup",
            Self::Mismatch => "the signature does not match the keys and messages",
        })
    }
}

impl From<Defect> for Reason {
    fn from(defect: Defect) -> Self {
        match defect {
            Defect::NoStatements => Self::NoStatements,
            Defect::RepeatedMessage => Self::RepeatedMessage,
            Defect::IdentityAggregateKey => Self::IdentityAggregateKey,
        }
    }
}

/// What a batch comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// One verdict a claim, in input order.
    pub verdicts: Vec<Verdict>,
    /// The false claims' indices, by who sent them. Claims without a source are not in here.
    pub false_by_source: BTreeMap<SourceId, Vec<usize>>,
    /// What it took.
    pub work: Work,
}

impl Outcome {
    /// Whether every claim is true.
    pub fn all_valid(&self) -> bool {
        self.verdicts.iter().all(|v| v.is_valid())
    }

    /// The indices of the false claims.
    pub fn invalid(&self) -> impl Iterator<Item = usize> {
        self.verdicts.iter().enumerate().filter(|(_, v)| !v.is_valid()).map(|(i, _)| i)
    }
}

/// Counts of the operations that cost time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Work {
    /// Messages hashed to the curve.
    pub hashes: usize,
    /// Signatures whose membership was checked.
    pub subgroup_checks: usize,
    /// Points multiplied by a weight.
    pub weighted: usize,
    /// Miller loops.
    pub pairings: usize,
    /// Final exponentiations.
    pub final_exponentiations: usize,
    /// Values computed in the search for false claims: of a set of them, or of a product of parts raised to their indices.
    pub search_nodes: usize,
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        self.hashes += other.hashes;
        self.subgroup_checks += other.subgroup_checks;
        self.weighted += other.weighted;
        self.pairings += other.pairings;
        self.final_exponentiations += other.final_exponentiations;
        self.search_nodes += other.search_nodes;
    }
}
