//! A task that was signed, and which two tasks conflict.

use quorate_evm::{
    alloy_primitives::{B256, FixedBytes},
    digest::{Contract, Task},
};
use serde::{Deserialize, Serialize};

/// A task that the signer signed for its network, with the epoch and the snapshot that the digest names.
///
/// Ordered by epoch, then by id, then by snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(clippy::exhaustive_structs, reason = "it is what a digest names")]
pub struct SignedTask {
    /// The epoch for which it was signed.
    pub epoch: u64,
    /// The task's id.
    pub id: B256,
    /// The id of the epoch's snapshot.
    pub snapshot: FixedBytes<20>,
    /// What was signed of it.
    pub content: TaskContent,
}

/// What an attester says of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "it is what a digest names")]
#[serde(deny_unknown_fields)]
pub struct TaskContent {
    /// The index of the performer's key in the epoch's table.
    pub performer: u64,
    /// The hash of its result.
    pub result: B256,
    /// The verdict: whether the result is right.
    pub approved: bool,
}

/// In what two signed tasks conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Conflict {
    /// They have one id and two results.
    Result,
    /// They have one id, one result and two verdicts.
    Verdict,
    /// They have one id, two performers, and are of one snapshot.
    Performer,
}

impl SignedTask {
    /// The task that is signed.
    pub fn of(task: &Task) -> Self {
        let Task { network: _, epoch, snapshot, id, performer, result, approved } = *task;
        Self { epoch, id, snapshot, content: TaskContent { performer, result, approved } }
    }

    /// `TaskNetwork.taskDigest`.
    pub fn digest(&self, network: Contract) -> [u8; 32] {
        let Self { epoch, id, snapshot, content: TaskContent { performer, result, approved } } = *self;
        Task { network, epoch, snapshot, id, performer, result, approved }.digest()
    }

    /// Whether one operator must not sign both: `_differ` of `contracts/src/Slashing.sol`, and more.
    ///
    /// The contract compares two attestations under the one snapshot that its epoch has in the chain. So two tasks of one
    /// epoch with different snapshots never count together, and their performers may differ, because each snapshot elects
    /// its own. Their results and verdicts may not differ here, although the contract would not slash for it: each may still
    /// be compared with a task of another epoch.
    pub fn conflict_with(&self, other: &Self) -> Option<Conflict> {
        let (ours, theirs) = (&self.content, &other.content);
        if self.id != other.id {
            None
        } else if ours.result != theirs.result {
            Some(Conflict::Result)
        } else if ours.approved != theirs.approved {
            Some(Conflict::Verdict)
        } else if ours.performer != theirs.performer && (self.epoch, self.snapshot) == (other.epoch, other.snapshot) {
            Some(Conflict::Performer)
        } else {
            None
        }
    }
}

impl Conflict {
    /// What the two have two of, in a sentence.
    pub fn what(self) -> &'static str {
        match self {
            Self::Result => "another result",
            Self::Verdict => "another verdict",
            Self::Performer => "another performer",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_tasks_conflict() {
        let content = TaskContent { performer: 1, result: B256::repeat_byte(1), approved: true };
        let (id, snapshot) = (B256::repeat_byte(9), FixedBytes::repeat_byte(1));
        let task = SignedTask { epoch: 5, id, snapshot, content };
        let with = |content| SignedTask { content, ..task };
        let result = with(TaskContent { result: B256::repeat_byte(2), ..content });
        let verdict = with(TaskContent { approved: false, ..content });
        let performer = with(TaskContent { performer: 2, ..content });
        let elsewhere = |task: SignedTask| {
            [SignedTask { epoch: 6, ..task }, SignedTask { snapshot: FixedBytes::repeat_byte(2), ..task }]
        };
        assert_eq!(task.conflict_with(&task), None);
        for (other, here, there) in [
            (task, None, None),
            (result, Some(Conflict::Result), Some(Conflict::Result)),
            (verdict, Some(Conflict::Verdict), Some(Conflict::Verdict)),
            (performer, Some(Conflict::Performer), None),
        ] {
            assert_eq!((task.conflict_with(&other), other.conflict_with(&task)), (here, here));
            for other in elsewhere(other) {
                assert_eq!((task.conflict_with(&other), other.conflict_with(&task)), (there, there));
            }
            let other_id = SignedTask { id: B256::ZERO, ..other };
            assert_eq!(task.conflict_with(&other_id), None);
        }
    }
}
