//! What a node knows of its tasks, for people: a view that changes nothing.
//!
//! A report holds the snapshot itself, so names and weights of members are looked up in it and not copied.

use std::sync::Arc;

use quorate_evm::{
    Finality, MemberSet, Task,
    alloy_primitives::{Address, B256},
};

use super::state::{Duty, Execution, Node, OpenTask, Round, Support};
use crate::election::Snapshot;

/// A task that the operator's own source has named, and how far it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskReport {
    /// Its id.
    pub id: B256,
    /// The epoch that the report is about: the settled one, or else the last one for which the task was named.
    pub epoch: u64,
    /// How far the task is in that epoch; `None` as long as the chain has no snapshot for it.
    pub round: Option<RoundReport>,
    /// Whether the chain settled the id, and whether that can be undone.
    pub settled: Option<Finality>,
}

/// How far a task is in an epoch under a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundReport {
    /// The members, their weights, and what a quorum must exceed.
    pub snapshot: Arc<Snapshot>,
    /// The index of the elected performer.
    pub performer: u32,
    /// The index of the node's own operator, if it has weight.
    pub own: Option<u32>,
    /// What the node's own operator does.
    pub part: RoundPart,
    /// The performer's result, if it is there.
    pub result: Option<ResultReport>,
    /// The result and verdict that weigh most, if anybody has signed.
    pub leading: Option<LeadingReport>,
    /// The weight of those who signed another result or verdict, in stake units.
    pub against: u128,
    /// When a quorum may be settled, if one is there.
    pub ready: Option<ReadyReport>,
}

/// A result, without its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultReport {
    /// Keccak-256 of its bytes.
    pub hash: B256,
    /// How many bytes it has.
    pub length: usize,
}

/// The result and verdict that weigh most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeadingReport {
    /// Keccak-256 of the result that is signed.
    pub result: B256,
    /// The verdict: whether the result is right.
    pub approved: bool,
    /// Who signed it.
    pub signers: MemberSet,
    /// What they weigh, in stake units.
    pub weight: u128,
}

/// When a quorum may be settled. Times are in the node's own milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyReport {
    /// When the first aggregator's turn begins.
    pub begins: u64,
    /// When this node's turn begins. It settles only with the role of an aggregator.
    pub turn: u64,
}

/// What the node's own operator does for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RoundPart {
    /// Nothing: it has no weight, or the node does not have the role.
    None,
    /// It will have a part, and waits for a result, a program or a time.
    Waiting,
    /// It was elected, and the user's program executes the task.
    Performing,
    /// The user's program judges the result.
    Validating,
    /// The signer was asked.
    Signing,
    /// Its signature was published.
    Signed,
    /// It gives no verdict, because that would conflict with one that it gave.
    Abstained,
}

/// Two verdicts of an operator that conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConflictReport {
    /// Who signed both.
    pub operator: Address,
    /// The task.
    pub id: B256,
    /// The lesser of the two candidates.
    pub first: Task,
    /// The greater of the two candidates.
    pub second: Task,
    /// Whether the contract would take the evidence: the chain has both snapshots.
    pub reportable: bool,
    /// Whether the chain has slashed the operator for it.
    pub slashed: bool,
}

impl RoundReport {
    /// The members with weight whose signature under the leading candidate is missing: index, owner and weight in stake
    /// units, by index. All members, if nobody has signed.
    pub fn missing(&self) -> impl Iterator<Item = (u32, Address, u64)> + '_ {
        let signed = |index: u32| self.leading.as_ref().is_some_and(|held| held.signers.contains(index as usize));
        let missing = self.snapshot.indices().filter(move |index| !signed(*index));
        missing.filter_map(|index| Some((index, self.snapshot.owner(index)?, self.snapshot.weight(index))))
    }

    /// Whether the leading candidate weighs enough to settle.
    pub fn has_quorum(&self) -> bool {
        self.leading.as_ref().is_some_and(|held| held.weight > self.snapshot.required())
    }
}

impl Node {
    /// A report of each task that is open, by id. Cost: a pass over the attestations of each.
    pub fn tasks(&self) -> impl Iterator<Item = TaskReport> + '_ {
        self.tasks.iter().map(|(id, task)| self.report(*id, task))
    }

    /// The report of one task, if it is open. Cost: a pass over its attestations.
    pub fn task_report(&self, id: B256) -> Option<TaskReport> {
        self.tasks.get(&id).map(|task| self.report(id, task))
    }

    /// The conflicts that the node knows, by task and operator.
    pub fn conflicts(&self) -> impl Iterator<Item = ConflictReport> + '_ {
        self.conflicts.iter().map(|((id, operator), conflict)| ConflictReport {
            operator: *operator,
            id: *id,
            first: *conflict.evidence.first().candidate(),
            second: *conflict.evidence.second().candidate(),
            reportable: self.is_reportable(&conflict.evidence),
            slashed: self.is_slashed(*operator, *id, conflict.evidence.epoch()),
        })
    }

    /// How many conflicts the node has found since it was made, by itself or in the evidence of peers. Those that it had saved before
    /// are not among them; those that it has forgotten since are.
    pub fn conflicts_found(&self) -> u64 {
        self.found
    }

    fn report(&self, id: B256, task: &OpenTask) -> TaskReport {
        let settled = self.settled.get(&id);
        let newest = || task.epochs.last().copied().unwrap_or(self.epoch);
        let epoch = settled.map_or_else(newest, |settled| settled.epoch);
        let snapshot = self.snapshots.get(&epoch).map(|(snapshot, _)| snapshot.id());
        let round = snapshot.and_then(|snapshot| task.rounds.get(&(epoch, snapshot)));
        TaskReport {
            id,
            epoch,
            round: round.map(|round| self.report_round(task, round)),
            settled: settled.map(|settled| settled.finality),
        }
    }

    fn report_round(&self, task: &OpenTask, round: &Round) -> RoundReport {
        let heaviest = round.held.iter().max_by_key(|(_, held)| held.weight).map(|(of, _)| *of);
        let ready = round.ready.map(|ready| (ready.candidate.result, ready.candidate.approved));
        let leading = ready.or(heaviest).map(|(result, approved)| {
            let Support { signers, weight } = round.held.get(&(result, approved)).cloned().unwrap_or_default();
            LeadingReport { result, approved, signers, weight }
        });
        let signed: u128 = round.held.values().map(|held| held.weight).sum();
        RoundReport {
            snapshot: round.snapshot.clone(),
            performer: round.performer,
            own: round.own,
            part: self.part(task, round),
            result: round
                .result
                .as_ref()
                .map(|held| ResultReport { hash: held.candidate().result, length: held.bytes().len() }),
            against: signed.saturating_sub(leading.as_ref().map_or(0, |held| held.weight)),
            leading,
            ready: round.ready.map(|ready| ReadyReport {
                begins: ready.begins,
                turn: (ready.begins + ready.place * self.settings.turn).max(task.submit.at),
            }),
        }
    }

    fn part(&self, task: &OpenTask, round: &Round) -> RoundPart {
        let Some(own) = round.own else { return RoundPart::None };
        // After a restart the own signature comes back from peers.
        if round.attested.contains_key(&own) {
            return RoundPart::Signed;
        }
        let performs = own == round.performer;
        match round.duty {
            Duty::Done => RoundPart::Signed,
            Duty::Abstained => RoundPart::Abstained,
            Duty::Signing(..) => RoundPart::Signing,
            Duty::Validating => RoundPart::Validating,
            Duty::Idle if performs && matches!(task.execution, Execution::Running) => RoundPart::Performing,
            Duty::Idle if performs && self.settings.roles.perform => RoundPart::Waiting,
            Duty::Idle if !performs && self.settings.roles.attest => RoundPart::Waiting,
            Duty::Idle => RoundPart::None,
        }
    }
}
