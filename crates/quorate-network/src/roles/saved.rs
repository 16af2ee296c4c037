//! What a node keeps over a restart. All else comes back: tasks from the operator's source, snapshots and settlements from
//! the chain, attestations from peers, and what the operator signed from the signer's own record.
//!
//! | kept | because otherwise |
//! |---|---|
//! | results that this node executed | a program that answers differently the second time would make an honest performer sign two results; the signer would refuse, and the task would be lost |
//! | verdicts, with signatures when they came | a program that judges differently the second time would ask the signer for a conflict |
//! | submissions and reports that wait | the node would pay for a second one |

use std::collections::BTreeMap;

use quorate_evm::{
    SnapshotId, Task,
    alloy_primitives::{Address, B256, Bytes},
};
use serde::{Deserialize, Serialize};

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
    "the saved state of the node does not decode ({0}); restore it from a copy, or start without it on a signer that is intact"
)]
pub struct SavedError(#[source] postcard::Error);

/// The first byte.
const VERSION: u8 = 1;

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
        let [VERSION, rest @ ..] = bytes else { return Err(SavedError(postcard::Error::DeserializeBadEncoding)) };
        match postcard::take_from_bytes(rest).map_err(SavedError)? {
            (saved, []) => Ok(saved),
            _ => Err(SavedError(postcard::Error::DeserializeBadEncoding)),
        }
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

    /// Forgets what is about epochs before one.
    pub(super) fn forget_before(&mut self, epoch: u64) -> bool {
        let size = |saved: &Self| (saved.results.len(), saved.verdicts.values().map(Vec::len).sum::<usize>());
        let before = size(self);
        self.results.retain(|_, (last, _)| *last >= epoch);
        self.verdicts.retain(|_, verdicts| {
            verdicts.retain(|verdict| verdict.candidate.epoch >= epoch);
            !verdicts.is_empty()
        });
        before != size(self)
    }
}
