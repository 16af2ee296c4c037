//! A modelled chain with the rules of `TaskNetwork` for snapshots, submissions and reports.
//!
//! Withdrawals, rewards and key tables are left out, and what is slashed does not change the weights of later epochs.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use quorate_evm::{
    Task,
    alloy_primitives::{Address, B256},
};

use super::{chance::Chance, faults::Scenario, operators::Operators, signer};
use quorate_network::{election::Snapshot, message::ConflictEvidence, roles::Settlement};

/// Blocks so deep are final: one more than a reorganisation replaces.
pub(super) const FINAL_DEPTH: usize = 4;

#[derive(Clone, Debug)]
pub(super) enum Transaction {
    Settle(Settlement),
    Report(Address, ConflictEvidence),
}

/// A transaction, and the operator that pays for it.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) from: usize,
    pub(super) transaction: Transaction,
}

#[derive(Clone, Debug)]
pub(super) enum Change {
    Snapshot(Arc<Snapshot>),
    Settled(Task),
    Slashed(Address, B256, u64),
    Fined(Address, B256),
}

/// Why the contract reverts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Revert {
    EpochClosed,
    NotSnapshotted,
    OtherSnapshot,
    AlreadySettled,
    FalseSum,
    QuorumTooLight,
    NotElected,
    NotConflicting,
    OutsideWindow,
    AlreadySlashed,
    /// Not the contract: a reorganisation removed the transaction and nobody has it any more.
    Lost,
}

#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) epoch: u64,
    pub(super) changes: Vec<Change>,
    transactions: Vec<Sent>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) snapshots: BTreeMap<u64, Arc<Snapshot>>,
    pub(super) settled: BTreeMap<B256, Task>,
    pub(super) slashed: BTreeMap<(Address, B256), u64>,
    fined: BTreeSet<(Address, u64)>,
}

#[derive(Clone, Debug)]
pub(super) struct Chain {
    epoch_length: u64,
    /// All blocks that were ever mined.
    pub(super) blocks: Vec<Block>,
    /// Those in the chain, by number, and the state behind each.
    pub(super) path: Vec<usize>,
    states: Vec<State>,
    pub(super) waiting: Vec<Sent>,
}

impl Chain {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let genesis = Block { epoch: 0, changes: Vec::new(), transactions: Vec::new() };
        Self {
            epoch_length: scenario.epoch_length,
            blocks: vec![genesis],
            path: vec![0],
            states: vec![State::default()],
            waiting: Vec::new(),
        }
    }

    pub(super) fn state(&self) -> &State {
        self.states.last().expect("the first block is never removed")
    }

    /// Removes blocks. Their transactions wait again, or are lost: those are returned.
    pub(super) fn remove(&mut self, depth: usize, lost: u32, chance: &mut Chance) -> Vec<Sent> {
        let mut vanished = Vec::new();
        for _ in 0..depth.min(self.path.len() - 1) {
            self.states.pop();
            let block = self.path.pop().expect("the first block stays");
            for sent in std::mem::take(&mut self.blocks[block].transactions) {
                if chance.permille(lost) { vanished.push(sent) } else { self.waiting.push(sent) }
            }
        }
        vanished
    }

    /// Mines a block, and returns the transactions that reverted.
    pub(super) fn mine(&mut self, now: u64, operators: &Operators, chance: &mut Chance) -> Vec<(Sent, Revert)> {
        let mut state = self.state().clone();
        let mut block = Block { epoch: now / self.epoch_length, changes: Vec::new(), transactions: Vec::new() };
        // Somebody calls `snapshot` within the first blocks of an epoch. The beacon is another one in each block.
        if !state.snapshots.contains_key(&block.epoch) && chance.permille(700) {
            let snapshot = operators.snapshot(block.epoch, chance.word().into());
            state.snapshots.insert(block.epoch, snapshot.clone());
            block.changes.push(Change::Snapshot(snapshot));
        }
        let mut reverted = Vec::new();
        for sent in std::mem::take(&mut self.waiting) {
            if chance.permille(200) {
                self.waiting.push(sent);
                continue;
            }
            let done = match &sent.transaction {
                Transaction::Settle(settlement) => submit(&mut state, block.epoch, settlement),
                Transaction::Report(_, evidence) => report(&mut state, block.epoch, evidence),
            };
            match done {
                Ok(changes) => {
                    block.changes.extend(changes);
                    block.transactions.push(sent);
                }
                Err(revert) => reverted.push((sent, revert)),
            }
        }
        self.path.push(self.blocks.len());
        self.blocks.push(block);
        self.states.push(state);
        reverted
    }
}

/// `TaskNetwork.submitTasks` for one task.
fn submit(state: &mut State, current: u64, settlement: &Settlement) -> Result<Vec<Change>, Revert> {
    let candidate = &settlement.candidate;
    if candidate.epoch > current || candidate.epoch + 1 < current {
        return Err(Revert::EpochClosed);
    }
    let snapshot = state.snapshots.get(&candidate.epoch).ok_or(Revert::NotSnapshotted)?;
    if state.settled.contains_key(&candidate.id) {
        return Err(Revert::AlreadySettled);
    }
    // The contract computes the digest with its own snapshot, and compares one sum with the sum of the bitmap's keys.
    if candidate.snapshot != snapshot.id() {
        return Err(Revert::OtherSnapshot);
    }
    let mut signed: Vec<usize> = settlement.signatures.iter().flat_map(|(signers, _)| signers.iter()).collect();
    signed.sort_unstable();
    let mut signatures = settlement.signatures.iter();
    let true_ones = signatures.all(|(signers, signature)| signer::is_sum(signers, candidate, signature));
    if !true_ones || signed != settlement.signers.iter().collect::<Vec<_>>() {
        return Err(Revert::FalseSum);
    }
    let weight: u128 = signed.iter().map(|index| u128::from(snapshot.weight(*index as u32))).sum();
    if weight <= snapshot.required() {
        return Err(Revert::QuorumTooLight);
    }
    let mut changes = vec![Change::Settled(*candidate)];
    if !candidate.approved {
        let elected = snapshot.performer(candidate.id);
        if candidate.performer != u64::from(elected) {
            return Err(Revert::NotElected);
        }
        let performer = snapshot.owner(elected).ok_or(Revert::NotElected)?;
        if state.fined.insert((performer, candidate.epoch)) {
            changes.push(Change::Fined(performer, candidate.id));
        }
    }
    state.settled.insert(candidate.id, *candidate);
    Ok(changes)
}

/// `TaskNetwork.reportConflict`, with a window of one epoch.
fn report(state: &mut State, current: u64, evidence: &ConflictEvidence) -> Result<Vec<Change>, Revert> {
    let mut signers = Vec::new();
    for attestation in [evidence.first(), evidence.second()] {
        let candidate = attestation.candidate();
        let snapshot = state.snapshots.get(&candidate.epoch).ok_or(Revert::NotSnapshotted)?;
        if candidate.snapshot != snapshot.id() {
            return Err(Revert::OtherSnapshot);
        }
        if current >= candidate.epoch + 3 {
            return Err(Revert::OutsideWindow);
        }
        if !signer::is_true(attestation) {
            return Err(Revert::FalseSum);
        }
        signers.push(snapshot.owner(attestation.index()).ok_or(Revert::NotConflicting)?);
    }
    if signers[0] != signers[1] || !evidence.first().candidate().is_slashed_with(evidence.second().candidate()) {
        return Err(Revert::NotConflicting);
    }
    // Once an id and epoch.
    let (key, epoch) = ((signers[0], evidence.id()), evidence.epoch());
    if state.slashed.get(&key).is_some_and(|latest| epoch <= *latest) {
        return Err(Revert::AlreadySlashed);
    }
    state.slashed.insert(key, epoch);
    Ok(vec![Change::Slashed(signers[0], evidence.id(), epoch)])
}
