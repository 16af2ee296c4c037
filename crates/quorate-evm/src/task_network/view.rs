//! A network as it was told, and what was read since.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use alloy_primitives::{Address, B256, U256};

use super::{
    block::BlockLogs,
    change::{Change, EpochSnapshot},
    contradiction::{BlockContradiction, Contradiction},
    history::History,
    log::BlockId,
    plan::{CallError, PlannedCall, Writes, settle_with, storing},
    state::{State, rent_of},
    terms::ContractTerms,
};
use crate::{
    contract::{task_network::ITaskNetwork::Snapshot, verifier::KeyTable::Extent},
    gas::{Measured, RewardRecord},
    member_set::MemberSet,
    network::{Network, QuorumSignature},
    quorum::Store,
    task::{Finality, Task},
};

/// The key table and the slot of a base.
pub type BasePlace = (u16, u16);

/// A network after the newest block that was told.
#[derive(Clone, Debug)]
pub struct NetworkView {
    pub(super) terms: ContractTerms,
    pub(super) history: History,
    newest: Option<BlockId>,
    /// The number of the last final block.
    last_final: Option<u64>,
    epoch: Option<u64>,
    /// The commitments of bases that are the contract's.
    compared: BTreeMap<BasePlace, B256>,
}

/// A network with blocks that were read and not told yet, or without blocks that are not the chain's any more.
#[derive(Clone, Debug)]
pub struct NetworkDraft {
    pub(super) view: NetworkView,
    undone: Vec<Change>,
    pub(super) told: Vec<Change>,
}

impl NetworkView {
    /// A network of which nothing was told.
    pub fn new(terms: ContractTerms) -> Self {
        let (history, compared) = (History::default(), BTreeMap::new());
        Self { terms, history, newest: None, last_final: None, epoch: None, compared }
    }

    /// What is fixed for the network.
    pub fn terms(&self) -> &ContractTerms {
        &self.terms
    }

    /// The epoch of the newest block that was told; 0 before the first one, and before epoch 0.
    pub fn epoch(&self) -> u64 {
        self.epoch.unwrap_or(0)
    }

    /// The number of the newest block that was told.
    pub fn block(&self) -> Option<u64> {
        self.newest.map(|block| block.0)
    }

    /// The number of the last block that was final when the chain was read last; `None` while none is.
    pub fn final_block(&self) -> Option<u64> {
        self.last_final
    }

    /// Whether an epoch that can settle has a snapshot.
    pub fn has_snapshot(&self, epoch: u64) -> bool {
        self.snapshot(epoch).is_some()
    }

    /// The snapshot of an epoch. Only the last epoch with a snapshot is kept, and the one before it.
    pub fn snapshot(&self, epoch: u64) -> Option<&Arc<EpochSnapshot>> {
        self.history.state()?.snapshot(epoch)
    }

    /// The operators that have a seat after the newest block that was told, by rising addresses. The seat of an operator with stake in a
    /// restaking protocol may weigh nothing.
    pub fn operators(&self) -> impl Iterator<Item = Address> + '_ {
        self.history.state().into_iter().flat_map(State::seats).copied()
    }

    /// Whether an operator has a seat after the newest block that was told.
    pub fn has_seat(&self, operator: Address) -> bool {
        self.history.state().is_some_and(|state| state.seats().contains(&operator))
    }

    /// What a quorum of an epoch is planned with, after the newest block that was told: keys, weights, pages, and the
    /// bases to which the verifier's slots commit. Its `contract` is the verifier, which makes the pages. `None`
    /// without a snapshot. Copies all keys.
    pub fn network(&self, epoch: u64) -> Option<Network> {
        let mut network = self.history.state()?.network(&self.terms, epoch)?;
        let table = network.table;
        network.bases.retain(|base| self.compared.get(&(table, base.slot)) == Some(&base.commitment()));
        Some(network)
    }

    /// Where to store a quorum of an epoch as a base, by ski rental ([`refresh`](crate::refresh)): as soon as the members that
    /// were brought in since a base was stored have cost as much gas, with this quorum's, as storing it. A few slots are
    /// used in turn: a settlement that waits to be mined keeps the base that it was planned from. The account is kept from
    /// what the chain settled, so all who follow it decide alike.
    pub fn store(&self, epoch: u64, signers: &MemberSet) -> Store {
        let (Some(network), Some(state)) = (self.network(epoch), self.history.state()) else {
            return Store::Nowhere;
        };
        let measured = Measured::default();
        let Ok(ways) = network.ways(&measured, signers, Default::default()) else { return Store::Nowhere };
        let Some(way) = ways.first().filter(|way| !way.changed.is_empty()) else { return Store::Nowhere };
        let here = rent_of(network.key_group, way.steps.paged, way.steps.passed, way.steps.key_pages);
        let slot = state.next_slot(self.terms.pinned_slots);
        let from = way.base.and_then(|base| network.bases.get(base)).map(|base| base.slot);
        let price = measured.store(storing(&network, from, slot));
        if state.rent().saturating_add(here) >= price { Store::Slot(slot) } else { Store::Nowhere }
    }

    /// [`settle`](super::settle) with the network, the snapshot and the slot that this view knows. Its estimate of the
    /// gas also knows whether these signers submitted before in the epoch, whether the pool pays, and whether the
    /// performer of a rejected task was fined before in the epoch. Two rejections that are planned before the first is
    /// mined both count a fine, though only one of them costs it.
    ///
    /// # Errors
    /// [`CallError`]; [`CallError::NoSnapshot`] if the epoch has no snapshot here.
    pub fn settle(
        &self,
        task: &Task,
        signers: &MemberSet,
        signature: &QuorumSignature,
    ) -> Result<PlannedCall, CallError> {
        let none = CallError::NoSnapshot { epoch: task.epoch };
        let (Some(snapshot), Some(network)) = (self.snapshot(task.epoch), self.network(task.epoch)) else {
            return Err(none);
        };
        let state = self.history.state().ok_or(none)?;
        let recorded = state.is_recorded(task.epoch, signers);
        let record = match (state.pays() && self.terms.attester_reward != 0, recorded) {
            (false, _) => RewardRecord::Untouched,
            (true, false) => RewardRecord::New,
            (true, true) => RewardRecord::Known,
        };
        let fined = state.is_fined(task.epoch, task.performer);
        let writes = Writes { record, pays: state.pays(), fined };
        let store = self.store(task.epoch, signers);
        settle_with(&network, &self.terms, snapshot, task, signers, signature, store, writes)
    }

    /// A draft in which nothing was read.
    pub fn draft(&self) -> NetworkDraft {
        NetworkDraft { view: self.clone(), undone: Vec::new(), told: Vec::new() }
    }
}

impl NetworkDraft {
    /// The newest block that was read.
    pub fn newest(&self) -> Option<BlockId> {
        self.view.history.newest()
    }

    /// The newest of the blocks that can be undone with at most this number.
    pub fn newest_up_to(&self, number: u64) -> Option<BlockId> {
        self.view.history.newest_up_to(number)
    }

    /// How many blocks with changes are kept because they can be undone.
    pub fn recent(&self) -> usize {
        self.view.history.len()
    }

    /// What the blocks changed that were read.
    pub fn told(&self) -> &[Change] {
        &self.told
    }

    /// How many keys the running table and the next one hold, and how many contracts the verifier created: its
    /// `extent()`.
    pub fn extent(&self) -> (u64, u64, u64) {
        self.view.history.state().map_or_else(|| State::default().extent(), State::extent)
    }

    /// Undoes the newest block. `None` if it is final, or if there is none.
    pub fn undo(&mut self) -> Option<()> {
        self.undone.extend(self.view.history.undo()?);
        // A slot may hold what it held before.
        self.view.compared.clear();
        Some(())
    }

    /// Takes the logs of a range of blocks. `last` is the range's last block, and `last_final` the number of the chain's last
    /// final one. `weights` has those of each epoch that [needs](BlockLogs::needs_weights) them; without them, a snapshot is
    /// not told, and nothing can be planned in its epoch.
    ///
    /// Cost: each log once, and the calldata once for each of its bytes at which a call begins.
    ///
    /// # Errors
    /// [`BlockContradiction`]. The draft is not to be used any more then.
    pub fn read(
        &mut self,
        blocks: &[BlockLogs],
        weights: &BTreeMap<u64, Vec<u64>>,
        last: BlockId,
        last_final: Option<u64>,
    ) -> Result<(), BlockContradiction> {
        let history = &mut self.view.history;
        let mut state = history.state().cloned().unwrap_or_default();
        let unseen = state.unseen();
        for block in blocks {
            let number = block.id.0;
            let mut changes = Vec::new();
            for transaction in &block.transactions {
                let told = state.apply(&self.view.terms, transaction, weights);
                changes.extend(told.map_err(|why| why.at(number))?);
            }
            if last_final.is_some_and(|last_final| number <= last_final) {
                for change in &mut changes {
                    if let Change::Settled { finality, .. } = change {
                        *finality = Finality::Final;
                    }
                }
                self.told.extend(changes);
                changes = Vec::new();
            } else {
                self.told.extend(changes.iter().cloned());
            }
            history.push(block.id, state.clone(), changes);
        }
        if state.unseen() != unseen {
            // Any slot may hold another base.
            self.view.compared.clear();
        }
        if history.newest() != Some(last) {
            history.push(last, state, Vec::new());
        }
        // What is final cannot be undone, and need not be kept.
        if let Some(number) = last_final
            && number >= last.0
        {
            self.told.extend(history.finalise(number));
        }
        Ok(())
    }

    /// Compares the number of keys and pages with the verifier's `extent()`. Needed if something was read or undone.
    ///
    /// # Errors
    /// [`Contradiction::Contract`].
    pub fn compare_extent(&self, found: &Extent) -> Result<(), Contradiction> {
        let (found, expected) = ((u64::from(found.keys), u64::from(found.carried), found.pages), self.extent());
        let words = |(keys, carried, pages)| format!("{keys} keys, {carried} carried, {pages} pages");
        if found == expected { Ok(()) } else { Err(differs("number of keys", words(found), words(expected))) }
    }

    /// Whether a block with changes was read, or a block undone.
    pub fn has_changes(&self) -> bool {
        !self.told.is_empty() || !self.undone.is_empty()
    }

    /// The epochs whose snapshots are to be compared with the contract's at a second in Unix time: those that can settle, and
    /// those of which the logs have a snapshot, unless they were compared for the view from which this draft was made.
    pub fn epochs_to_compare(&self, before: &NetworkView, time: u64) -> Vec<u64> {
        let Some(state) = self.view.history.state().filter(|_| self.newest() != before.newest) else {
            return Vec::new();
        };
        let current = self.view.terms.epoch_at(time);
        let open = current.into_iter().flat_map(|epoch| [epoch.checked_sub(1), Some(epoch)]).flatten();
        let epochs: BTreeSet<u64> = open.chain(state.epochs()).collect();
        let is_known = |epoch: u64| {
            let fixed = state.fixed(epoch);
            let known = before.history.state().and_then(|before| before.fixed(epoch));
            fixed.is_some() && known == fixed && self.undone.is_empty()
        };
        epochs.into_iter().filter(|epoch| !is_known(*epoch)).collect()
    }

    /// Compares the snapshot of an epoch with the contract's `snapshotOf`. If the logs have none, the contract has none.
    ///
    /// # Errors
    /// [`Contradiction::Contract`].
    pub fn compare_snapshot(&self, epoch: u64, found: &Snapshot) -> Result<(), Contradiction> {
        let expected = self.view.history.state().and_then(|state| state.fixed(epoch));
        let (total, required, table, beacon, id) = expected.unwrap_or_default();
        let is_same = (found.total, found.required, found.table)
            == (U256::from(total), U256::from(required), U256::from(table))
            && (found.beacon, found.id) == (beacon, id);
        if is_same {
            return Ok(());
        }
        let found = format!("{} in table {}", found.id, found.table);
        Err(differs("snapshot of the epoch", found, format!("{id} in table {table}")))
    }

    /// The bases whose commitments are to be compared with the verifier's `commitmentAt`. Adds up the keys of those that are
    /// new.
    pub fn bases_to_compare(&self) -> Vec<(BasePlace, B256)> {
        let Some(state) = self.view.history.state() else { return Vec::new() };
        let is_new = |(place, value): &(BasePlace, B256)| self.view.compared.get(place) != Some(value);
        state.commitments(self.view.terms.key_group).into_iter().filter(is_new).collect()
    }

    /// Takes the verifier's commitments. A base that its slot does not hold is left out, which costs gas alone.
    pub fn compare_bases(&mut self, expected: &[(BasePlace, B256)], found: &[B256]) {
        let Some(mut state) = self.view.history.state().cloned() else { return };
        for (&(place, value), found) in expected.iter().zip(found) {
            if *found == value {
                self.view.compared.insert(place, value);
            } else {
                state.forget(place);
            }
        }
        self.view.history.replace_state(state);
    }

    /// The view after the newest block, whose time is in Unix time, and what is told: what was undone first, newest first.
    ///
    /// What was read is believed from here on, so compare it with the contract first: [`compare_extent`](Self::compare_extent),
    /// [`compare_snapshot`](Self::compare_snapshot), the settled and slashed of [`told`](Self::told), and
    /// [`compare_bases`](Self::compare_bases), all in the state of the newest block.
    pub fn finish(self, newest: BlockId, time: u64, last_final: Option<u64>) -> (NetworkView, Vec<Change>) {
        let Self { mut view, undone, told } = self;
        let mut changes = undone;
        if view.newest != Some(newest) {
            view.newest = Some(newest);
            changes.push(Change::Block { number: newest.0, hash: newest.1, time });
        }
        let epoch = view.terms.epoch_at(time);
        if view.epoch != epoch {
            view.epoch = epoch;
            changes.extend(epoch.map(Change::Epoch));
        }
        changes.extend(told);
        changes.extend(last_final.map(|number| view.history.finalise(number)).unwrap_or_default());
        view.last_final = last_final;
        (view, changes)
    }
}

/// The contract says something else than its logs.
fn differs(what: &'static str, found: String, expected: String) -> Contradiction {
    Contradiction::Contract { what, found, expected }
}
