//! The tasks on the board: when each thing was first so, and how they ended.

use std::collections::{BTreeMap, VecDeque};

use quorate_evm::{
    MemberSet,
    alloy_primitives::{Address, B256},
};

use super::{
    bounds::{MAX_MEMBERS, MAX_TASKS},
    report::SettledReport,
};
use crate::metrics::Metrics;
use quorate_network::roles::{RoundReport, TaskReport};

/// The tasks, at most [`MAX_TASKS`]: those that are open before those that are over, and of each the newest.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    records: BTreeMap<B256, Record>,
    /// In the order in which the board learned of them.
    order: VecDeque<B256>,
}

/// A task, and when each thing was first so.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) id: B256,
    pub(super) epoch: u64,
    pub(super) label: String,
    pub(super) known: Option<u64>,
    pub(super) result: Option<u64>,
    pub(super) quorum: Option<u64>,
    pub(super) submitted: Option<u64>,
    pub(super) settled: Option<u64>,
    pub(super) finalised: Option<u64>,
    pub(super) lapsed: bool,
    pub(super) report: Option<TaskReport>,
    pub(super) settlement: Option<SettledReport>,
    /// Who was counted as having signed, and the round whose members were counted.
    tallied: Option<(RoundReport, MemberSet)>,
    /// Whether the time to the settlement was counted. A second settlement after a reorganisation is not.
    timed: bool,
}

/// How often an operator signed what was settled, of the tasks on the board and those before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) signed: u64,
    pub(super) missing: u64,
}

impl Tasks {
    /// The newest first.
    pub(super) fn newest(&self) -> impl Iterator<Item = &Record> + '_ {
        self.order.iter().rev().filter_map(|id| self.records.get(id))
    }

    /// How many are neither settled nor lapsed.
    pub(super) fn open(&self) -> usize {
        self.records.values().filter(|record| record.settlement.is_none() && !record.lapsed).count()
    }

    pub(super) fn seen(&mut self, id: B256, epoch: u64, label: &str, now_ms: u64, metrics: &Metrics) {
        let record = self.record(id, epoch, metrics);
        record.known.get_or_insert(now_ms);
        if record.label.is_empty() {
            record.label = label.to_owned();
        }
        if record.settlement.is_none() && epoch > record.epoch {
            // The task was named again, for a later epoch.
            (record.epoch, record.lapsed) = (epoch, false);
        }
    }

    pub(super) fn report(&mut self, report: TaskReport, now_ms: u64, metrics: &Metrics) {
        let Some(record) = self.records.get_mut(&report.id) else { return };
        if let Some(round) = &report.round {
            if round.result.is_some() && record.result.is_none() {
                record.result = Some(now_ms);
                if let Some(known) = record.known {
                    metrics.result.observe_ms(now_ms.saturating_sub(known));
                }
            }
            if round.has_quorum() && record.quorum.is_none() {
                record.quorum = Some(now_ms);
                if let Some(result) = record.result {
                    metrics.quorum.observe_ms(now_ms.saturating_sub(result));
                }
            }
        }
        if record.settlement.is_none() {
            record.epoch = report.epoch;
        }
        record.report = Some(report);
    }

    pub(super) fn submitted(&mut self, id: B256, now_ms: u64) {
        if let Some(record) = self.records.get_mut(&id) {
            record.submitted.get_or_insert(now_ms);
        }
    }

    pub(super) fn settled(
        &mut self,
        id: B256,
        epoch: u64,
        report: SettledReport,
        now_ms: u64,
        standings: &mut BTreeMap<Address, Standing>,
        metrics: &Metrics,
    ) {
        let record = self.record(id, epoch, metrics);
        if record.finalised.is_some() {
            return;
        }
        record.untally(standings);
        record.settled.get_or_insert(now_ms);
        (record.epoch, record.lapsed) = (epoch, false);
        // A node that starts learns of old settlements at once: only those whose result it saw before tell a time.
        if let Some(result) = record.result.filter(|_| !record.timed) {
            record.timed = true;
            metrics.settled.observe_ms(now_ms.saturating_sub(result));
        }
        record.tally(&report, standings);
        record.settlement = Some(report);
    }

    pub(super) fn is_settled(&self, id: B256) -> bool {
        self.records.get(&id).is_some_and(|record| record.settlement.is_some())
    }

    pub(super) fn finalised(&mut self, id: B256, now_ms: u64, metrics: &Metrics) {
        let Some(record) = self.records.get_mut(&id) else { return };
        let Some(settlement) = record.settlement.as_ref().filter(|_| record.finalised.is_none()) else { return };
        record.finalised = Some(now_ms);
        let outcome = if settlement.approved { "approved" } else { "rejected" };
        metrics.tasks.get_or_create(&[("outcome", outcome)]).inc();
        if let Some((round, signers)) = &record.tallied {
            for (_, signed) in members(round, signers) {
                let signature = if signed { "signed" } else { "missing" };
                metrics.signatures.get_or_create(&[("signature", signature)]).inc();
            }
        }
    }

    pub(super) fn unsettled(&mut self, id: B256, standings: &mut BTreeMap<Address, Standing>) {
        let Some(record) = self.records.get_mut(&id).filter(|record| record.finalised.is_none()) else { return };
        record.untally(standings);
        (record.settlement, record.settled) = (None, None);
    }

    /// Tasks of epochs that can settle nothing more have lapsed.
    pub(super) fn lapse(&mut self, epoch: u64, metrics: &Metrics) {
        let old = self.records.values_mut().filter(|record| record.epoch.saturating_add(1) < epoch);
        old.for_each(|record| record.lapse(metrics));
    }

    /// A task that made room for another one has lapsed.
    pub(super) fn dropped(&mut self, id: B256, metrics: &Metrics) {
        self.records.get_mut(&id).into_iter().for_each(|record| record.lapse(metrics));
    }

    /// The record of a task, a new one if there is none. When there are too many, the oldest of those that are over goes, or else the
    /// oldest. What becomes of that one is not seen any more, so it counts as lapsed. If it settles all the same, it counts as that, too.
    fn record(&mut self, id: B256, epoch: u64, metrics: &Metrics) -> &mut Record {
        if !self.records.contains_key(&id) {
            while self.order.len() >= MAX_TASKS {
                let is_over = |id: &B256| self.records.get(id).is_none_or(Record::is_over);
                let place = self.order.iter().position(is_over).unwrap_or(0);
                let oldest = self.order.remove(place).and_then(|oldest| self.records.remove(&oldest));
                oldest.into_iter().for_each(|mut record| record.lapse(metrics));
            }
            self.order.push_back(id);
        }
        self.records.entry(id).or_insert_with(|| Record {
            id,
            epoch,
            label: String::new(),
            known: None,
            result: None,
            quorum: None,
            submitted: None,
            settled: None,
            finalised: None,
            lapsed: false,
            report: None,
            settlement: None,
            tallied: None,
            timed: false,
        })
    }
}

impl Record {
    /// Whether nothing more becomes of the task.
    fn is_over(&self) -> bool {
        self.finalised.is_some() || self.lapsed
    }

    /// Counts the task as lapsed, unless it is settled or counted already.
    fn lapse(&mut self, metrics: &Metrics) {
        if self.settlement.is_none() && !self.lapsed {
            self.lapsed = true;
            metrics.tasks.get_or_create(&[("outcome", "lapsed")]).inc();
        }
    }

    /// Counts who signed what was settled: the chain's word if there is one, else what this node saw.
    fn tally(&mut self, report: &SettledReport, standings: &mut BTreeMap<Address, Standing>) {
        let Some(round) = self.report.as_ref().and_then(|held| held.round.as_ref()) else { return };
        if round.snapshot.epoch() != self.epoch {
            return;
        }
        let same = |approved: bool, result: B256| (approved, result) == (report.approved, report.result);
        let seen = round.leading.as_ref().filter(|held| same(held.approved, held.result));
        let Some(signers) = report.signers.clone().or_else(|| seen.map(|held| held.signers.clone())) else { return };
        for (owner, signed) in members(round, &signers) {
            if standings.len() < MAX_MEMBERS || standings.contains_key(&owner) {
                let standing = standings.entry(owner).or_default();
                *(if signed { &mut standing.signed } else { &mut standing.missing }) += 1;
            }
        }
        self.tallied = Some((round.clone(), signers));
    }

    fn untally(&mut self, standings: &mut BTreeMap<Address, Standing>) {
        let Some((round, signers)) = self.tallied.take() else { return };
        for (owner, signed) in members(&round, &signers) {
            if let Some(standing) = standings.get_mut(&owner) {
                let count = if signed { &mut standing.signed } else { &mut standing.missing };
                *count = count.saturating_sub(1);
            }
        }
    }
}

/// The owners of a round's members, and whether each signed.
fn members<'a>(round: &'a RoundReport, signers: &'a MemberSet) -> impl Iterator<Item = (Address, bool)> + 'a {
    let owners = round.snapshot.indices().filter_map(|index| Some((index, round.snapshot.owner(index)?)));
    owners.map(|(index, owner)| (owner, signers.contains(index as usize)))
}
