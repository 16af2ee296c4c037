//! Settlements and reports: what an aggregator sends to the chain, and when.
//!
//! ```text
//!            stragglers, turns                mined                final
//! quorum ── begins ────────────── Settle ───────────── settled ──────────── done
//!                                  ^  │                    │
//!                        retry     │  │ refused, timed out │ undone by a reorganisation
//!                                  └──┴────────────────────┘
//! ```
//!
//! A node has one submission of a task at a time. It submits again only after its own was refused, given up, or was not
//! mined in `submission_timeout`. That the chain settles an id once is the contract's doing; turns only save gas. What is refused
//! again and again, by a contract that is paused for example, is submitted ever more rarely.
//!
//! Reports have the same order and the same rules. A node reports at most [`MAX_REPORTS`] conflicts of an operator in an epoch, and
//! those count for which the chain slashed the operator in it, whoever reported them. The others wait for the next epoch, or for the place
//! of one that was refused.

use std::collections::BTreeSet;

use quorate_evm::{
    SnapshotId,
    alloy_primitives::{Address, B256},
};

use super::{
    event::{NodeOutput, Settlement},
    state::{Due, Node, OpenTask, Retry},
};

/// The most conflicts of one operator that a node reports in an epoch, with those that others reported. Each report takes a share of what
/// the operator has left, so further ones bring less than they cost.
const MAX_REPORTS: usize = 8;

impl Node {
    /// Settles a task if it is this node's turn, and says when to look again.
    pub(super) fn settle(&mut self, task: &OpenTask, key: (u64, SnapshotId), out: &mut Vec<NodeOutput>) -> Option<u64> {
        let round = task.rounds.get(&key)?;
        let ready = round.ready.filter(|_| self.settings.roles.aggregate)?;
        let id = ready.candidate.id;
        let timeout = self.now + self.settings.submission_timeout;
        if let Some(until) = self.saved.pending.get(&id).filter(|until| self.now < **until) {
            return Some(*until);
        }
        let due = (ready.begins + ready.place * self.settings.turn).max(task.submit.at);
        if self.now < due {
            return Some(due);
        }
        let ballot = (ready.candidate.result, ready.candidate.approved);
        let cover = round.cover(ballot);
        debug_assert!(
            round.held.get(&ballot).is_some_and(|held| (&held.signers, held.weight) == (&cover.signers, cover.weight)),
            "what was counted is what there is"
        );
        if cover.weight <= round.snapshot.required() {
            // A sum with more signers took the place of heavier ones. It waits for more: an answer, a greater sum, an appeal.
            return None;
        }
        let signatures = cover.pieces.into_iter().map(|(signers, signature)| (signers, signature.clone())).collect();
        let signers = cover.signers;
        self.saved.pending.insert(id, timeout);
        self.unsaved = true;
        out.push(NodeOutput::Settle(Settlement { candidate: ready.candidate, signers, signatures }));
        Some(timeout)
    }

    /// A reorganisation undid a settlement. Turns begin anew. If this node's own submission settled it, that one is among
    /// the transactions that wait again.
    pub(super) fn unsettled(&mut self, id: B256, out: &mut Vec<NodeOutput>) {
        self.settled.remove(&id);
        let now = self.now;
        if let Some(task) = self.tasks.get_mut(&id) {
            task.submit = Retry::default();
            for ready in task.rounds.values_mut().filter_map(|round| round.ready.as_mut()) {
                ready.begins = now;
            }
        }
        if let Some(until) = self.saved.pending.get_mut(&id) {
            *until = now + self.settings.submission_timeout;
            self.unsaved = true;
        }
        self.look_at(id, out);
    }

    /// The file is not written for it: with what it says, a node waits once after a restart, as for a submission that may succeed.
    pub(super) fn settle_failed(&mut self, id: B256, out: &mut Vec<NodeOutput>) {
        self.saved.pending.remove(&id);
        if let Some(task) = self.tasks.get_mut(&id) {
            task.submit.failed(&self.settings, self.now);
        }
        self.look_at(id, out);
    }

    /// Reports a conflict if it is this node's turn, and notes when to look again.
    pub(super) fn look_at_conflict(&mut self, operator: Address, id: B256, out: &mut Vec<NodeOutput>) {
        let due = Due::Conflict(operator, id);
        let Some(mut conflict) = self.conflicts.remove(&(id, operator)) else { return };
        if let Some(at) = conflict.wake.take() {
            self.wakes.remove(&(at, due));
        }
        let epoch = conflict.evidence.epoch();
        let wanted = self.settings.roles.aggregate
            && !self.is_slashed(operator, id, epoch)
            && self.is_reportable(&conflict.evidence);
        let snapshot = self.snapshots.get(&epoch).filter(|_| wanted).map(|(snapshot, _)| snapshot.clone());
        if let Some(snapshot) = snapshot {
            let place = *conflict.place.get_or_insert_with(|| self.place(&snapshot, id));
            let turn = (conflict.begins + place * self.settings.turn).max(conflict.report.at);
            let waits = self.saved.reports.get(&(operator, id)).filter(|until| self.now < **until);
            conflict.wake = match waits {
                Some(until) => Some(*until),
                None if self.now < turn => Some(turn),
                // It is looked at again when an epoch begins, or a report of the operator is refused.
                None if !self.may_report(operator, id) => None,
                None => {
                    let timeout = self.now + self.settings.submission_timeout;
                    self.saved.reports.insert((operator, id), timeout);
                    self.reported.insert((operator, id));
                    self.unsaved = true;
                    out.push(NodeOutput::ReportConflict { operator, evidence: conflict.evidence.clone() });
                    Some(timeout)
                }
            };
        }
        if let Some(at) = conflict.wake {
            self.wakes.insert((at, due));
        }
        self.conflicts.insert((id, operator), conflict);
    }

    /// Whether a conflict is among the [`MAX_REPORTS`] of its operator in this epoch. A node that starts takes slashings of the past, too,
    /// for ones of the running epoch.
    fn may_report(&self, operator: Address, id: B256) -> bool {
        let (first, last) = (B256::ZERO, B256::repeat_byte(0xff));
        let reported = self.reported.range((operator, first)..=(operator, last)).map(|(_, id)| *id);
        let slashed = self.slashed.range((operator, first, 0)..=(operator, last, u64::MAX));
        let slashed = slashed.filter(|(_, seen)| **seen == self.epoch).map(|((_, id, _), _)| *id);
        let paid: BTreeSet<B256> = reported.chain(slashed).collect();
        self.reported.contains(&(operator, id)) || paid.len() < MAX_REPORTS
    }

    /// A reorganisation undid a slashing. Turns begin anew.
    pub(super) fn unslashed(&mut self, operator: Address, id: B256, epoch: u64, out: &mut Vec<NodeOutput>) {
        self.slashed.remove(&(operator, id, epoch));
        let (now, timeout) = (self.now, self.now + self.settings.submission_timeout);
        if let Some(conflict) = self.conflicts.get_mut(&(id, operator)) {
            conflict.begins = now;
            conflict.report = Retry::default();
        }
        if let Some(until) = self.saved.reports.get_mut(&(operator, id)) {
            *until = timeout;
            self.unsaved = true;
        }
        self.look_at_conflict(operator, id, out);
    }

    /// The file is not written for it, as for a settlement. Its place among the reports of the epoch is free for another conflict of the
    /// operator.
    pub(super) fn report_failed(&mut self, operator: Address, id: B256, out: &mut Vec<NodeOutput>) {
        self.saved.reports.remove(&(operator, id));
        self.reported.remove(&(operator, id));
        if let Some(conflict) = self.conflicts.get_mut(&(id, operator)) {
            conflict.report.failed(&self.settings, self.now);
        }
        self.look_at_conflict(operator, id, out);
        // Those that wait for a time are looked at when it comes.
        let of_operator = self.conflicts.iter().filter(|((_, other), _)| *other == operator);
        let waiting = of_operator.filter(|(_, conflict)| conflict.wake.is_none()).map(|((id, _), _)| *id);
        for id in waiting.collect::<Vec<_>>() {
            if !self.may_report(operator, id) {
                break;
            }
            self.look_at_conflict(operator, id, out);
        }
    }
}
