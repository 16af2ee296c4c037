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
//! mined in `submission_timeout`. That the chain settles an id once is the contract's doing; turns only save gas.
//!
//! Reports have the same order and the same rules.

use quorate_evm::{
    SnapshotId,
    alloy_primitives::{Address, B256},
};

use super::{
    event::{NodeOutput, Settlement},
    state::{Due, Node, OpenTask},
};

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
        let due = (ready.begins + ready.place * self.settings.turn).max(task.submit_after);
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

    pub(super) fn settle_failed(&mut self, id: B256, out: &mut Vec<NodeOutput>) {
        self.unsaved |= self.saved.pending.remove(&id).is_some();
        let later = self.now + self.settings.retry;
        if let Some(task) = self.tasks.get_mut(&id) {
            task.submit_after = later;
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
            let turn = (conflict.begins + place * self.settings.turn).max(conflict.report_after);
            let waits = self.saved.reports.get(&(operator, id)).filter(|until| self.now < **until);
            conflict.wake = Some(match waits {
                Some(until) => *until,
                None if self.now < turn => turn,
                None => {
                    let timeout = self.now + self.settings.submission_timeout;
                    self.saved.reports.insert((operator, id), timeout);
                    self.unsaved = true;
                    out.push(NodeOutput::ReportConflict { operator, evidence: conflict.evidence.clone() });
                    timeout
                }
            });
        }
        if let Some(at) = conflict.wake {
            self.wakes.insert((at, due));
        }
        self.conflicts.insert((id, operator), conflict);
    }

    /// A reorganisation undid a slashing. Turns begin anew.
    pub(super) fn unslashed(&mut self, operator: Address, id: B256, epoch: u64, out: &mut Vec<NodeOutput>) {
        self.slashed.remove(&(operator, id, epoch));
        let (now, timeout) = (self.now, self.now + self.settings.submission_timeout);
        if let Some(conflict) = self.conflicts.get_mut(&(id, operator)) {
            conflict.begins = now;
        }
        if let Some(until) = self.saved.reports.get_mut(&(operator, id)) {
            *until = timeout;
            self.unsaved = true;
        }
        self.look_at_conflict(operator, id, out);
    }

    pub(super) fn report_failed(&mut self, operator: Address, id: B256, out: &mut Vec<NodeOutput>) {
        self.unsaved |= self.saved.reports.remove(&(operator, id)).is_some();
        let later = self.now + self.settings.retry;
        if let Some(conflict) = self.conflicts.get_mut(&(id, operator)) {
            conflict.report_after = later;
        }
        self.look_at_conflict(operator, id, out);
    }
}
