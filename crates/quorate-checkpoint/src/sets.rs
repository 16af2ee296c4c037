//! Sets follow each other: a new one counts once enough signers of the old **and** of the new set have signed the change.

use std::sync::Arc;

use quorate::{SourceId, rand_core::CryptoRng};
use serde::{Deserialize, Serialize};

use crate::{
    hex,
    json::{self, JsonError},
    set::{SetError, SetManifest, SignerSet, Statement, judge},
    signatures::{FlawKind, IndexedSignature, check_indices},
};

/// A change from one set to the next, with signatures of both. Nothing in it is checked; [`SetChain::extend`] checks it.
///
/// Signers sign the tag `QUORATE-CHECKPOINT-V01-ROTATION_`, the old set's id, the new set's id: 96 bytes. Who is in both
/// sets signs once, and the signature stands in both lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rotation {
    /// The id of the old set.
    #[serde(with = "hex::array")]
    pub from: [u8; 32],
    /// The new set, whose epoch is one greater.
    pub to: SetManifest,
    /// Signatures of the old set's signers, with ascending indices.
    pub old: Vec<IndexedSignature>,
    /// Signatures of the new set's signers, with ascending indices.
    pub new: Vec<IndexedSignature>,
}

/// The first set, and the changes since: all that it takes to get from a pinned id to the newest set. Nothing in it is
/// checked; [`SetChain::follow`] checks it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sets {
    /// The set whose id is pinned.
    pub first: SetManifest,
    /// The changes, oldest first.
    pub rotations: Vec<Rotation>,
}

/// Sets that were checked, from the pinned one to the newest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetChain {
    sets: Vec<SignerSet>,
    rotations: Vec<Rotation>,
}

/// Why a set does not follow from the pinned id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RotationError {
    /// The first set is not the pinned one.
    #[error(
        "found a first set with the id {}, expected the pinned one, {}",
        hex::prefixed(found),
        hex::prefixed(pinned)
    )]
    NotPinned {
        /// Its id.
        found: [u8; 32],
        /// The pinned id.
        pinned: [u8; 32],
    },
    /// The change begins at another set than the newest one.
    #[error("the change begins at the set {}, but the newest set is {}", hex::prefixed(found), hex::prefixed(newest))]
    From {
        /// Where it begins.
        found: [u8; 32],
        /// The newest set.
        newest: [u8; 32],
    },
    /// The change leads to another set than the others that it is united with.
    #[error("the change leads to the set {}, and the first one to {}", hex::prefixed(found), hex::prefixed(expected))]
    To {
        /// Where it leads.
        found: [u8; 32],
        /// Where the others lead.
        expected: [u8; 32],
    },
    /// Epochs are numbered without gaps, so that nobody can jump to the last one.
    #[error("found epoch {found} of the new set; expected {}", next_epoch(*expected))]
    Epoch {
        /// The new set's epoch.
        found: u64,
        /// The old set's epoch plus 1.
        expected: Option<u64>,
    },
    /// The list of signatures is wrong.
    #[error("signatures of the {side} set: {kind}")]
    Signatures {
        /// `old` or `new`.
        side: SetSide,
        /// What is wrong.
        kind: FlawKind,
    },
    /// Too few signers have signed.
    #[error("{found} signers of the {side} set have signed the change, expected at least {needed}")]
    TooFew {
        /// `old` or `new`.
        side: SetSide,
        /// How many.
        found: usize,
        /// Its threshold.
        needed: usize,
    },
    /// A set of the chain is not valid.
    #[error("the set with epoch {epoch}: {error}")]
    Set {
        /// Its epoch.
        epoch: u64,
        /// What is wrong.
        error: SetError,
    },
    /// More changes than anyone has made.
    #[error("found {found} changes of the set, and at most {MOST_ROTATIONS} are read")]
    TooMany {
        /// How many.
        found: usize,
    },
}

fn next_epoch(expected: Option<u64>) -> String {
    expected.map_or_else(
        || "no set, because the old one has the last epoch".to_owned(),
        |expected| format!("{expected}, which is the old one plus 1"),
    )
}

/// A side of a rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SetSide {
    /// The set that was.
    Old,
    /// The set that follows.
    New,
}

impl std::fmt::Display for SetSide {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Old => "old",
            Self::New => "new",
        })
    }
}

impl Rotation {
    /// A change that nobody has signed yet.
    pub fn proposal(from: &SignerSet, to: SetManifest) -> Self {
        Self { from: from.id(), to, old: Vec::new(), new: Vec::new() }
    }

    /// What the signers of both sets sign.
    pub fn signing_bytes(&self) -> Vec<u8> {
        [&TAG[..], &self.from, &self.to.id()].concat()
    }

    /// Reads the JSON of a rotation.
    ///
    /// # Errors
    /// [`JsonError`].
    pub fn from_json(bytes: &[u8]) -> Result<Self, JsonError> {
        json::object(bytes, LARGEST, "a change of the set of signers")
    }

    /// Whether enough signers of the old set have signed it. Each signature must be true.
    ///
    /// # Errors
    /// [`RotationError`].
    pub(crate) fn check_old(&self, old: &SignerSet, rng: &mut impl CryptoRng) -> Result<(), RotationError> {
        if self.from != old.id() {
            return Err(RotationError::From { found: self.from, newest: old.id() });
        }
        self.check_side(SetSide::Old, old, &self.old, rng)
    }

    /// The new set, if this change is in order. The old signers are looked at first, so that a stranger's set costs nothing.
    ///
    /// # Errors
    /// [`RotationError`].
    pub(crate) fn check(&self, old: &SignerSet, rng: &mut impl CryptoRng) -> Result<SignerSet, RotationError> {
        let expected = old.epoch().checked_add(1);
        if expected != Some(self.to.epoch) {
            return Err(RotationError::Epoch { found: self.to.epoch, expected });
        }
        self.check_old(old, rng)?;
        let set = SignerSet::prove(self.to.clone(), rng);
        let set = set.map_err(|error| RotationError::Set { epoch: self.to.epoch, error })?;
        self.check_side(SetSide::New, &set, &self.new, rng)?;
        Ok(set)
    }

    fn check_side(
        &self,
        side: SetSide,
        set: &SignerSet,
        signatures: &[IndexedSignature],
        rng: &mut impl CryptoRng,
    ) -> Result<(), RotationError> {
        let wrong = |kind| RotationError::Signatures { side, kind };
        check_indices(signatures, set.keys().len()).map_err(wrong)?;
        if signatures.len() < set.threshold() {
            return Err(RotationError::TooFew { side, found: signatures.len(), needed: set.threshold() });
        }
        for (signature, judged) in signatures.iter().zip(judge(&self.statements(set, signatures), rng)) {
            judged.map_err(|reason| wrong(FlawKind::Signature { index: signature.index, reason }))?;
        }
        Ok(())
    }

    fn statements(&self, set: &SignerSet, signatures: &[IndexedSignature]) -> Vec<Statement> {
        let message: Arc<[u8]> = self.signing_bytes().into();
        let statement = |s: &IndexedSignature| set.statement(s.index, &message, s.signature);
        signatures.iter().filter_map(statement).collect()
    }

    /// Unites partly signed copies of one change. False signatures do not count, and are named with their source.
    ///
    /// # Errors
    /// [`RotationError`] if no change begins at `old`, or if the new set is not valid.
    pub fn unite(
        old: &SignerSet,
        to: &SetManifest,
        parts: &[(SourceId, Self)],
        rng: &mut impl CryptoRng,
    ) -> Result<(Self, Vec<(SourceId, RotationError)>), RotationError> {
        let newest = old.id();
        if let Some((_, first)) = parts.first()
            && parts.iter().all(|(_, part)| part.from != newest)
        {
            return Err(RotationError::From { found: first.from, newest });
        }
        let set = SignerSet::prove(to.clone(), rng).map_err(|error| RotationError::Set { epoch: to.epoch, error })?;
        let (mut united, mut flaws) = (Self::proposal(old, to.clone()), Vec::new());
        for (source, part) in parts {
            if part.from != united.from {
                flaws.push((source.clone(), RotationError::From { found: part.from, newest }));
                continue;
            }
            if part.to != united.to {
                flaws.push((source.clone(), RotationError::To { found: part.to.id(), expected: to.id() }));
                continue;
            }
            let sides =
                [(SetSide::Old, old, &part.old, &mut united.old), (SetSide::New, &set, &part.new, &mut united.new)];
            for (side, set, signatures, into) in sides {
                let mut flaw = |kind| flaws.push((source.clone(), RotationError::Signatures { side, kind }));
                if let Err(kind) = check_indices(signatures, set.keys().len()) {
                    flaw(kind);
                    continue;
                }
                for (signature, judged) in signatures.iter().zip(judge(&part.statements(set, signatures), rng)) {
                    let index = signature.index;
                    match (judged, into.binary_search_by_key(&index, |other| other.index)) {
                        (Err(reason), _) => flaw(FlawKind::Signature { index, reason }),
                        (Ok(_), Err(place)) => into.insert(place, signature.clone()),
                        (Ok(_), Ok(_)) => {}
                    }
                }
            }
        }
        Ok((united, flaws))
    }
}

impl Sets {
    /// Reads the JSON of a chain of sets.
    ///
    /// # Errors
    /// [`JsonError`].
    pub fn from_json(bytes: &[u8]) -> Result<Self, JsonError> {
        json::object(bytes, LARGEST, "sets of signers")
    }
}

impl SetChain {
    /// Follows the changes from the pinned set to the newest.
    ///
    /// # Errors
    /// [`RotationError`].
    pub fn follow(sets: &Sets, pinned: [u8; 32], rng: &mut impl CryptoRng) -> Result<Self, RotationError> {
        let found = sets.first.id();
        if found != pinned {
            return Err(RotationError::NotPinned { found, pinned });
        }
        let epoch = sets.first.epoch;
        let first = SignerSet::prove(sets.first.clone(), rng).map_err(|error| RotationError::Set { epoch, error })?;
        let mut chain = Self { sets: vec![first], rotations: Vec::new() };
        for rotation in &sets.rotations {
            chain.extend(rotation.clone(), rng)?;
        }
        Ok(chain)
    }

    /// Adds a set, if enough signers of the newest set and of itself have signed the change.
    ///
    /// # Errors
    /// [`RotationError`].
    pub fn extend(&mut self, rotation: Rotation, rng: &mut impl CryptoRng) -> Result<(), RotationError> {
        if self.rotations.len() >= MOST_ROTATIONS {
            return Err(RotationError::TooMany { found: self.rotations.len() + 1 });
        }
        let set = rotation.check(self.newest(), rng)?;
        self.sets.push(set);
        self.rotations.push(rotation);
        Ok(())
    }

    /// The newest set, whose checkpoints count.
    pub fn newest(&self) -> &SignerSet {
        self.sets.last().expect("a chain begins with a set")
    }

    /// All sets, oldest first.
    pub fn sets(&self) -> &[SignerSet] {
        &self.sets
    }

    /// The changes, oldest first.
    pub fn rotations(&self) -> &[Rotation] {
        &self.rotations
    }

    /// The id of the first set.
    pub fn pinned(&self) -> [u8; 32] {
        self.sets[0].id()
    }

    /// As it is sent.
    pub fn to_sets(&self) -> Sets {
        Sets { first: self.sets[0].manifest().clone(), rotations: self.rotations.clone() }
    }
}

/// A chain has at most this many changes.
pub const MOST_ROTATIONS: usize = 256;

const TAG: &[u8; 32] = b"QUORATE-CHECKPOINT-V01-ROTATION_";

/// 256 changes of 20 signers have 5 MB.
const LARGEST: usize = 8 << 20;
