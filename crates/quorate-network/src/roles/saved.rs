//! What a node keeps over a restart. All else comes back as long as it is of use: tasks from the operator's source, snapshots,
//! settlements and slashings from the chain, attestations from peers, and what the operator signed from the signer's own record.
//!
//! | kept | because otherwise |
//! |---|---|
//! | results that this node executed | a program that answers differently the second time would make an honest performer sign two results; the signer would refuse, and the task would be lost |
//! | verdicts, with signatures when they came | a program that judges differently the second time would ask the signer for a conflict |
//! | submissions and reports that wait | the node would pay for a second one |
//! | evidence of conflicts, at most 64 of each operator | the contract takes it longer than anybody answers questions about its task |

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use quorate_evm::{
    SnapshotId, Task,
    alloy_primitives::{Address, B256, Bytes},
};
use serde::{Deserialize, Serialize};

use crate::message::{Attestation, ConflictEvidence};

/// What a node keeps over a restart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// Of each task that this node executed: the last epoch for which it is known, and the result.
    pub(super) results: BTreeMap<B256, (u64, Bytes)>,
    /// Of each task, what the operator signed or is about to sign.
    pub(super) verdicts: BTreeMap<B256, Vec<SavedVerdict>>,
    /// Of each task with a submission that waits: when the node stops waiting, in its own milliseconds.
    pub(super) pending: BTreeMap<B256, u64>,
    /// The same of reports, by operator and task.
    pub(super) reports: BTreeMap<(Address, B256), u64>,
    /// By operator and task, evidence that the contract still takes: that of `Node::conflicts`, as far as there is room.
    pub(super) evidence: BTreeMap<(Address, B256), SavedEvidence>,
}

/// Evidence of a conflict, whose halves are checked for their form when they are read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "[SavedHalf; 2]", into = "[SavedHalf; 2]")]
pub(super) struct SavedEvidence(pub(super) ConflictEvidence);

/// An attestation: what is signed, the index of the key, and the signature.
type SavedHalf = (Task, u32, Bytes);

impl From<SavedEvidence> for [SavedHalf; 2] {
    fn from(SavedEvidence(evidence): SavedEvidence) -> Self {
        [evidence.first(), evidence.second()].map(|half| (*half.candidate(), half.index(), half.signature().clone()))
    }
}

impl TryFrom<[SavedHalf; 2]> for SavedEvidence {
    type Error = &'static str;

    fn try_from(halves: [SavedHalf; 2]) -> Result<Self, Self::Error> {
        let read = |(candidate, index, signature)| Attestation::new(candidate, index, signature).ok();
        let [first, second] = halves.map(read);
        let evidence = first.zip(second).and_then(|(first, second)| ConflictEvidence::new(first, second));
        evidence.map(Self).ok_or("two attestations that do not conflict")
    }
}

/// A verdict that the operator gave, or is about to give.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SavedVerdict {
    pub(super) candidate: Task,
    /// None until the signer has answered.
    pub(super) signature: Option<Bytes>,
}

/// Bytes are not a saved state of this version.
#[derive(Debug, thiserror::Error)]
#[error(
    "the saved state of the node does not decode ({0}); remove it, and restore no copy: an old one is worse than none. The node then \
     forgets what it did in open tasks, and evidence of conflicts; the signer, if its record is whole, still refuses conflicts"
)]
pub struct SavedError(#[source] postcard::Error);

/// The most evidence against one operator that is kept over a restart, so that nobody makes the file long. Each report takes a share
/// of what the operator has left, so further ones are worth little.
pub(super) const MAX_SAVED_EVIDENCE: usize = 64;

/// The first byte. Version 1 ended before the evidence.
const VERSION: u8 = 2;

impl Saved {
    /// The state as bytes, for a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_extend(self, vec![VERSION]).expect("maps, integers and bytes always encode, and a vector grows")
    }

    /// Reads what [`Self::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`SavedError`] if bytes are missing, left over, or of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, SavedError> {
        let (rest, has_evidence) = match bytes {
            [VERSION, rest @ ..] => (Cow::Borrowed(rest), true),
            // A map without entries is one byte.
            [1, rest @ ..] => (Cow::Owned([rest, &[0]].concat()), false),
            _ => return Err(SavedError(postcard::Error::DeserializeBadEncoding)),
        };
        match postcard::take_from_bytes::<Self>(&rest).map_err(SavedError)? {
            (saved, []) if has_evidence || saved.evidence.is_empty() => Ok(saved),
            _ => Err(SavedError(postcard::Error::DeserializeBadEncoding)),
        }
    }

    /// Whether evidence of an operator's conflict about a task can be kept.
    pub(super) fn has_room(&self, operator: Address, id: B256) -> bool {
        let of_operator = self.evidence.range((operator, B256::ZERO)..=(operator, B256::repeat_byte(0xff)));
        self.has_evidence(operator, id) || of_operator.count() < MAX_SAVED_EVIDENCE
    }

    /// Whether evidence of an operator's conflict about a task is kept.
    pub(super) fn has_evidence(&self, operator: Address, id: B256) -> bool {
        self.evidence.contains_key(&(operator, id))
    }

    /// Keeps evidence if there is room, in place of that about the same task. Whether anything changed.
    pub(super) fn keep_evidence(&mut self, operator: Address, evidence: &ConflictEvidence) -> bool {
        let id = evidence.id();
        let has_room = self.has_room(operator, id);
        if has_room {
            self.evidence.insert((operator, id), SavedEvidence(evidence.clone()));
        }
        has_room
    }

    /// Forgets evidence of conflicts. Whether there was any.
    pub(super) fn forget_evidence(&mut self, is_old: impl Fn(Address, B256) -> bool) -> bool {
        let before = self.evidence.len();
        self.evidence.retain(|(operator, id), _| !is_old(*operator, *id));
        before != self.evidence.len()
    }

    /// What the operator said about an id in one epoch and snapshot.
    pub(super) fn verdict_in(&self, id: B256, (epoch, snapshot): (u64, SnapshotId)) -> Option<&SavedVerdict> {
        let same = |signed: &Task| (signed.epoch, signed.snapshot) == (epoch, snapshot);
        self.verdicts.get(&id)?.iter().find(|verdict| same(&verdict.candidate))
    }

    /// Whether the operator may sign this: nothing that it signed conflicts, on any branch of the chain.
    ///
    /// The signer's rule is stricter: it also compares results and verdicts of two snapshots of one epoch.
    pub(super) fn permits(&self, candidate: &Task) -> bool {
        let verdicts = self.verdicts.get(&candidate.id).into_iter().flatten();
        !verdicts.map(|verdict| &verdict.candidate).any(|signed| signed.is_slashed_with(candidate))
    }

    /// Forgets results, by their task and the last epoch for which it is known. Whether there were any.
    pub(super) fn forget_results(&mut self, is_old: impl Fn(B256, u64) -> bool) -> bool {
        let before = self.results.len();
        self.results.retain(|id, (last, _)| !is_old(*id, *last));
        before != self.results.len()
    }

    /// Forgets verdicts of epochs before one. Of a task that is held, one of each result and approval stays, as a verdict of another epoch
    /// conflicts with it or with none: a task that is named for every epoch keeps no more. Whether there were any.
    pub(super) fn forget_verdicts(&mut self, epoch: u64, is_held: impl Fn(B256) -> bool) -> bool {
        let mut has_changed = false;
        self.verdicts.retain(|id, verdicts| {
            let (before, mut older) = (verdicts.len(), BTreeSet::new());
            verdicts.retain(|SavedVerdict { candidate, .. }| {
                candidate.epoch >= epoch || (is_held(*id) && older.insert((candidate.result, candidate.approved)))
            });
            has_changed |= before != verdicts.len();
            !verdicts.is_empty()
        });
        has_changed
    }
}
