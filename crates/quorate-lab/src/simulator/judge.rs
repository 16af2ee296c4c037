//! The invariants of a simulated network. Honest nodes are watched after each step; what must come in the end is looked at
//! in the end.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use quorate_evm::{
    MemberSet, SnapshotId, Task,
    alloy_primitives::{Address, B256},
};

use super::{
    chain::{Change, Revert, State},
    faults::Lie,
    operators::Operators,
    signer::{self, Signer},
};
use quorate_network::{
    election::Snapshot,
    message::{Attestation, ConflictEvidence, Signed},
    roles::{Footprint, Settlement},
};

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at {time} ms: {what}")]
pub struct Violation {
    /// When it was found, in milliseconds from the beginning.
    pub time: u64,
    /// Which one, and of whom.
    pub what: String,
}

/// A task of the simulation.
#[derive(Clone, Debug)]
pub(super) struct Work {
    pub(super) id: B256,
    pub(super) epoch: u64,
    pub(super) at: u64,
}

/// One life of a node: its number, and how often it had crashed.
pub(super) type Life = (usize, u32);

#[derive(Clone, Debug, Default)]
pub(super) struct Judge {
    pub(super) now: u64,
    pub(super) violation: Option<Violation>,
    /// Of each result that a program answered, by its hash, whether it is right.
    pub(super) results: BTreeMap<B256, bool>,
    pub(super) snapshots: BTreeMap<SnapshotId, Arc<Snapshot>>,
    /// Submissions that the operator knows no end of, and until when it must wait for them.
    submissions: BTreeMap<(usize, B256), u64>,
    reports: BTreeMap<(usize, Address, B256), u64>,
    evidence: BTreeSet<(Life, ConflictEvidence)>,
    /// Of each operator and id, what honest nodes saw signed, and which nodes.
    seen: BTreeMap<(Address, B256), BTreeMap<Task, BTreeSet<Life>>>,
}

impl Judge {
    pub(super) fn accuse(&mut self, what: String) {
        let time = self.now;
        self.violation.get_or_insert(Violation { time, what });
    }

    fn owner(&self, attestation: &Attestation) -> Option<Address> {
        self.snapshots.get(&attestation.candidate().snapshot)?.owner(attestation.index())
    }

    /// An honest node was shown a message that it could use.
    pub(super) fn saw(&mut self, life: Life, message: &Signed) {
        for attestation in message.attestations() {
            let Some(owner) = self.owner(attestation) else { continue };
            let candidates = self.seen.entry((owner, attestation.candidate().id)).or_default();
            candidates.entry(*attestation.candidate()).or_default().insert(life);
        }
    }

    /// An honest node published a message of its own.
    pub(super) fn published(
        &mut self,
        life: Life,
        message: &Signed,
        signers: Option<&MemberSet>,
        operators: &Operators,
    ) {
        if !signer::are_true(message, signers) {
            self.accuse(format!("node {} published a false signature: {message:?}", life.0));
        }
        if let Signed::Evidence(evidence) = message {
            self.accused(life.0, evidence, operators);
            if !self.evidence.insert((life, evidence.clone())) {
                self.accuse(format!("node {} published evidence twice: {evidence:?}", life.0));
            }
        }
    }

    fn accused(&mut self, node: usize, evidence: &ConflictEvidence, operators: &Operators) {
        let owners = [evidence.first(), evidence.second()].map(|attestation| self.owner(attestation));
        match owners {
            [Some(first), Some(second)] if first == second && !operators.is_honest(first) => {}
            _ => self.accuse(format!("node {node} accused {owners:?}: {evidence:?}")),
        }
    }

    /// An honest node submits a settlement.
    pub(super) fn settles(&mut self, node: usize, settlement: &Settlement, timeout: u64, settled_in_view: bool) {
        let candidate = settlement.candidate;
        let until = self.submissions.insert((node, candidate.id), self.now + timeout);
        if until.is_some_and(|until| self.now < until) {
            self.accuse(format!("node {node} submitted {} while its own submission was pending", candidate.id));
        }
        if settled_in_view {
            self.accuse(format!("node {node} submitted {}, which it knew to be settled", candidate.id));
        }
        let indices: BTreeSet<u32> =
            settlement.signatures.iter().flat_map(|(signers, _)| signers.iter()).map(|index| index as u32).collect();
        if indices.len() != settlement.signatures.iter().map(|(signers, _)| signers.len()).sum::<usize>() {
            self.accuse(format!("node {node} counted a signer twice: {settlement:?}"));
        }
        for (signers, signature) in &settlement.signatures {
            if !signer::is_sum(signers, &candidate, signature) {
                self.accuse(format!("node {node} added a false signature of {signers:?}: {settlement:?}"));
            }
        }
        let Some(snapshot) = self.snapshots.get(&candidate.snapshot) else {
            return self.accuse(format!("node {node} submitted for a snapshot that never was"));
        };
        let weight: u128 = indices.iter().map(|index| u128::from(snapshot.weight(*index))).sum();
        if weight <= snapshot.required() {
            let required = snapshot.required();
            self.accuse(format!("node {node} submitted {weight} where more than {required} is required"));
        }
    }

    /// An honest node reports a conflict.
    pub(super) fn reported(
        &mut self,
        node: usize,
        operator: Address,
        evidence: &ConflictEvidence,
        timeout: u64,
        operators: &Operators,
    ) {
        self.accused(node, evidence, operators);
        let until = self.reports.insert((node, operator, evidence.id()), self.now + timeout);
        if until.is_some_and(|until| self.now < until) {
            self.accuse(format!("node {node} reported {operator} twice at a time"));
        }
    }

    /// A node learned that its submission, or its report of an operator, will not be mined.
    pub(super) fn failed(&mut self, node: usize, id: B256, operator: Option<Address>) {
        match operator {
            None => self.submissions.remove(&(node, id)),
            Some(operator) => self.reports.remove(&(node, operator, id)),
        };
    }

    /// A transaction of an honest node reverted.
    pub(super) fn reverted(&mut self, node: usize, revert: Revert) {
        use Revert::{AlreadySettled, AlreadySlashed, EpochClosed, Lost, NotSnapshotted, OtherSnapshot, OutsideWindow};
        // Those of a race, of a reorganisation, or of a transaction that waited too long.
        let excused = [AlreadySettled, AlreadySlashed, EpochClosed, Lost, NotSnapshotted, OtherSnapshot, OutsideWindow];
        if !excused.contains(&revert) {
            self.accuse(format!("a transaction of node {node} reverted: {revert:?}"));
        }
    }

    /// The chain changed.
    pub(super) fn changed(&mut self, change: &Change, before: &State, operators: &Operators) {
        match change {
            Change::Snapshot(snapshot) => {
                self.snapshots.insert(snapshot.id(), snapshot.clone());
            }
            Change::Settled(candidate) => {
                if before.settled.contains_key(&candidate.id) {
                    self.accuse(format!("{} was settled twice", candidate.id));
                }
                let elected = self.snapshots.get(&candidate.snapshot).map(|held| held.performer(candidate.id).into());
                if elected != Some(candidate.performer) {
                    self.accuse(format!("{candidate:?} was settled, and {elected:?} was elected"));
                }
                let right = self.results.get(&candidate.result).copied().unwrap_or(false);
                if right != candidate.approved {
                    self.accuse(format!("a false verdict was settled: {candidate:?}"));
                }
            }
            Change::Slashed(operator, id, _) | Change::Fined(operator, id) => {
                if operators.is_honest(*operator) {
                    self.accuse(format!("an honest operator was punished: {change:?} for {id}"));
                }
            }
        }
    }

    /// A node is within its bounds.
    pub(super) fn bounded(&mut self, node: usize, footprint: Footprint, operators: usize, tasks: usize) {
        // Each task has one epoch, with at most four snapshots. An operator has one index with weight in each.
        let rounds = 4 * footprint.tasks;
        let bounded = footprint.tasks <= tasks
            && footprint.attestations <= rounds * operators
            // Of each member in one sum a level, for two verdicts; three levels are more than any simulation has.
            && footprint.sums <= 6 * rounds * operators
            && footprint.results <= rounds + tasks
            && footprint.conflicts <= tasks * operators;
        if !bounded {
            self.accuse(format!("node {node} holds more than it may: {footprint:?}"));
        }
    }

    /// What must have come when no task of the simulation can settle any more.
    pub(super) fn end(
        &mut self,
        state: &State,
        works: &[Work],
        operators: &Operators,
        signers: &[&Signer],
        lives: &[u32],
    ) {
        for work in works {
            let Some(snapshot) = state.snapshots.get(&work.epoch) else { continue };
            // Work whose result differs each time cannot settle again once its snapshot was replaced.
            let free = |number: usize| !signers[number].is_bound(work.id, snapshot);
            if operators.honest_weight(snapshot, free) <= snapshot.required() {
                continue;
            }
            let performer = snapshot.performer(work.id);
            let performer = snapshot.owner(performer).and_then(|owner| operators.number_of(owner));
            let lie = performer.and_then(|performer| operators.0[performer].lie);
            let Some(expected) = Lie::expected_verdict(lie) else { continue };
            match state.settled.get(&work.id) {
                Some(settled) if settled.approved == expected => {}
                other => {
                    let (id, epoch) = (work.id, work.epoch);
                    self.accuse(format!(
                        "task {id} of epoch {epoch}, performed by {performer:?} ({lie:?}), ended with {other:?}"
                    ));
                }
            }
        }
        let mut unpunished = Vec::new();
        for ((operator, id), candidates) in &self.seen {
            // Nodes that never crashed since: what one node saw before a crash may be gone.
            let candidates: Vec<_> = candidates
                .iter()
                .filter(|(_, lived)| lived.iter().any(|(node, life)| lives[*node] == *life))
                .map(|(candidate, _)| candidate)
                .filter(|seen| state.snapshots.get(&seen.epoch).is_some_and(|held| held.id() == seen.snapshot))
                .collect();
            let conflict = candidates.iter().any(|one| candidates.iter().any(|other| one.is_slashed_with(other)));
            if conflict && !state.slashed.contains_key(&(*operator, *id)) {
                unpunished.push((*operator, *id, candidates.len()));
            }
        }
        for (operator, id, count) in unpunished {
            self.accuse(format!(
                "{operator} signed {count} candidates of {id}, honest nodes saw it, and nobody reported it"
            ));
        }
    }
}

/// How the answer of a right program for a task begins.
pub(super) fn right_result(id: B256) -> Vec<u8> {
    id.iter().map(|byte| byte ^ 0x55).collect()
}

pub(super) fn candidate_result(bytes: &[u8]) -> B256 {
    quorate_evm::alloy_primitives::keccak256(bytes)
}
