//! A task as operators sign it, which two tasks nobody may sign both, and how certain a settlement is.

use alloy_primitives::{B256, FixedBytes};
use serde::{Deserialize, Serialize};

use crate::digest::{Contract, hash};

/// The id of an epoch's snapshot, from the event `EpochSnapshotted`: 20 bytes.
pub type SnapshotId = FixedBytes<20>;

/// A task with a result and a verdict, for one epoch and snapshot: what an operator of a `TaskNetwork` signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Task {
    /// The epoch in which it settles, and whose weights decide.
    pub epoch: u64,
    /// The id of the epoch's snapshot. If a reorganisation of the chain replaces the snapshot, what was signed before counts
    /// no more, neither for the task nor against the signer.
    pub snapshot: SnapshotId,
    /// Its name. A name settles once.
    pub id: B256,
    /// The index of the performer's key in the epoch's table.
    pub performer: u64,
    /// Keccak-256 of the result's bytes.
    pub result: B256,
    /// The verdict: whether the attesters found the result right.
    pub approved: bool,
}

/// How certain it is that the chain keeps a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finality {
    /// A reorganisation can undo it.
    Recent,
    /// It has as many confirmations as the follower's settings ask for. If it is undone all the same, the follower stops with
    /// an error.
    Final,
}

/// In what two tasks conflict.
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

impl Task {
    /// The 32 bytes that attesters sign: `TaskNetwork.taskDigest`.
    pub fn digest(&self, network: Contract) -> [u8; 32] {
        let Contract { chain_id, address } = network;
        let Self { epoch, snapshot, id, performer, result, approved } = *self;
        hash(TASK_TYPE, (chain_id, address, epoch, snapshot, id, performer, result, approved))
    }

    /// Whether one operator must not sign both: `_differ` of `contracts/src/Slashing.sol`, and more.
    ///
    /// The contract compares two attestations under the one snapshot that its epoch has in the chain. So two tasks of one
    /// epoch with different snapshots never count together, and their performers may differ, because each snapshot elects
    /// its own. Their results and verdicts may not differ, although the contract would not slash for it: each may still be
    /// compared with a task of another epoch.
    pub fn conflict_with(&self, other: &Self) -> Option<Conflict> {
        if self.id != other.id {
            None
        } else if self.result != other.result {
            Some(Conflict::Result)
        } else if self.approved != other.approved {
            Some(Conflict::Verdict)
        } else if self.performer != other.performer && self.round() == other.round() {
            Some(Conflict::Performer)
        } else {
            None
        }
    }

    /// Whether the contract slashes an operator who signed both: they conflict, and both can count, because they are not of
    /// two snapshots of one epoch.
    pub fn is_slashed_with(&self, other: &Self) -> bool {
        let both_count = self.epoch != other.epoch || self.snapshot == other.snapshot;
        both_count && self.conflict_with(other).is_some()
    }

    /// The epoch and its snapshot: a performer is elected for each.
    fn round(&self) -> (u64, SnapshotId) {
        (self.epoch, self.snapshot)
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

const TASK_TYPE: &str = "quorate.task(uint256 chain,address network,uint256 epoch,bytes20 snapshot,bytes32 id,uint256 performer,bytes32 result,bool approved)";

#[cfg(test)]
mod tests {
    use alloy_primitives::Address;

    use super::*;
    use crate::digest::{KeyPossession, PeerBinding, Results};

    /// The table of `Slashing._differ`, and what the signer refuses beyond it.
    #[test]
    fn which_tasks_conflict() {
        let (id, snapshot) = (B256::repeat_byte(9), SnapshotId::repeat_byte(1));
        let task = Task { epoch: 5, snapshot, id, performer: 1, result: B256::repeat_byte(1), approved: true };
        let result = Task { result: B256::repeat_byte(2), ..task };
        let verdict = Task { approved: false, ..task };
        let performer = Task { performer: 2, ..task };
        assert_eq!(task.conflict_with(&task), None);
        for (other, here, elsewhere) in [
            (task, None, None),
            (result, Some(Conflict::Result), Some(Conflict::Result)),
            (verdict, Some(Conflict::Verdict), Some(Conflict::Verdict)),
            (performer, Some(Conflict::Performer), None),
        ] {
            let check = |other: Task, conflict: Option<Conflict>, slashed: bool| {
                assert_eq!((task.conflict_with(&other), other.conflict_with(&task)), (conflict, conflict), "{other:?}");
                assert_eq!(
                    (task.is_slashed_with(&other), other.is_slashed_with(&task)),
                    (slashed, slashed),
                    "{other:?}"
                );
            };
            check(other, here, here.is_some());
            check(Task { epoch: 6, ..other }, elsewhere, elsewhere.is_some());
            check(Task { epoch: 6, snapshot: SnapshotId::repeat_byte(2), ..other }, elsewhere, elsewhere.is_some());
            check(Task { snapshot: SnapshotId::repeat_byte(2), ..other }, elsewhere, false);
            check(Task { id: B256::ZERO, ..other }, None, false);
        }
    }

    /// No two of these may be signed by one signature.
    #[test]
    fn digests_tell_everything_apart() {
        let word = B256::with_last_byte;
        let contract = Contract { chain_id: 1, address: Address::repeat_byte(1) };
        let other_chain = Contract { chain_id: 2, ..contract };
        let other_address = Contract { address: Address::repeat_byte(2), ..contract };
        let results = [word(0)];
        let settled = Results { settlement: contract, epoch: 0, nonce: 0, deadline: 0, store: 0, results: &results };
        let possession = KeyPossession { verifier: contract, owner: Address::repeat_byte(1), key: &[0; 64] };
        let peer = PeerBinding { network: contract, peer: &[0] };
        let snapshot = SnapshotId::ZERO;
        let (id, result) = (word(0), word(0));
        let task = Task { epoch: 0, snapshot, id, performer: 0, result, approved: false };
        let digests = [
            settled.digest(),
            Results { settlement: other_chain, ..settled }.digest(),
            Results { settlement: other_address, ..settled }.digest(),
            Results { epoch: 1, ..settled }.digest(),
            Results { nonce: 1, ..settled }.digest(),
            Results { deadline: 1, ..settled }.digest(),
            Results { store: 1, ..settled }.digest(),
            Results { results: &[word(1)], ..settled }.digest(),
            Results { results: &[word(0), word(0)], ..settled }.digest(),
            possession.digest(),
            KeyPossession { verifier: other_chain, ..possession }.digest(),
            KeyPossession { verifier: other_address, ..possession }.digest(),
            KeyPossession { owner: Address::repeat_byte(2), ..possession }.digest(),
            KeyPossession { key: &[1; 64], ..possession }.digest(),
            peer.digest(),
            PeerBinding { network: other_chain, ..peer }.digest(),
            PeerBinding { network: other_address, ..peer }.digest(),
            PeerBinding { peer: &[1], ..peer }.digest(),
            PeerBinding { peer: &[0, 0], ..peer }.digest(),
            task.digest(contract),
            task.digest(other_chain),
            task.digest(other_address),
            Task { epoch: 1, ..task }.digest(contract),
            Task { snapshot: SnapshotId::repeat_byte(1), ..task }.digest(contract),
            Task { id: word(1), ..task }.digest(contract),
            Task { performer: 1, ..task }.digest(contract),
            Task { result: word(1), ..task }.digest(contract),
            Task { approved: true, ..task }.digest(contract),
        ];
        let distinct: std::collections::HashSet<_> = digests.iter().collect();
        assert_eq!(distinct.len(), digests.len());
    }
}
