//! Asks a node what is new, and compares it with the contract.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use alloy::{
    primitives::{Address, B256, Bytes, U256},
    rpc::types::{Filter, Log},
};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use quorate_evm::{
    Finality, MemberSet, Network, QuorumSignature, Task,
    contract::{TaskNetwork, Verifier, task_network::ITaskNetwork::Task as AbiTask},
    gas::{Measured, RewardRecord},
    quorum::Store,
};

use super::{
    change::{Change, EpochSnapshot},
    error::{Contradiction, NetworkFollowError},
    history::{BlockId, History},
    log::{Event, topics},
    plan::{CallError, PlannedCall, Writes, settle_with, storing},
    state::{State, Transaction, needs_calldata, rent_of},
    terms::ContractTerms,
};
use crate::rpc::{Rpc, RpcBlock, RpcError, RpcPatience};

/// When a change is final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmations {
    /// Once so many blocks follow its block. 0: at once.
    Blocks(u64),
    /// Once the node says that its block is final (the tag "finalized").
    Finalized,
}

/// How a network is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FollowSettings {
    /// The block of the deployment, or one before it. All logs from there on are read.
    pub from_block: u64,
    /// When a change is final.
    pub confirmations: Confirmations,
    /// The most blocks in one question for logs, at least 1. A node that refuses is asked for fewer.
    pub blocks_per_request: u64,
}

impl Default for FollowSettings {
    fn default() -> Self {
        Self { from_block: 0, confirmations: Confirmations::Finalized, blocks_per_request: 2_000 }
    }
}

/// The most blocks that wait to be final. A chain that does not become final for longer stops the follower.
const MOST_RECENT: usize = 65_536;
/// How many questions are asked at a time.
const AT_A_TIME: usize = 8;

/// A network, followed on its chain. See the [module](super).
#[derive(Debug)]
pub struct NetworkFollower {
    rpc: Rpc,
    terms: ContractTerms,
    settings: FollowSettings,
    /// How many blocks are asked for next.
    page: u64,
    /// What was told.
    seen: Seen,
    /// What was read since, and is told once it was compared.
    draft: Option<Draft>,
}

/// How far the chain was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) history: History,
    newest: Option<BlockId>,
    /// The number of the last final block.
    last_final: Option<u64>,
    epoch: Option<u64>,
    /// The commitments of bases that are the contract's.
    compared: BTreeMap<(u16, u16), B256>,
}

/// What was read and not told yet.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) seen: Seen,
    undone: Vec<Change>,
    pub(super) told: Vec<Change>,
}

impl Draft {
    fn of(seen: &Seen) -> Self {
        Self { seen: seen.clone(), undone: Vec::new(), told: Vec::new() }
    }
}

/// What a step met.
enum Step {
    Read,
    /// The chain changed meanwhile.
    Moved,
}

impl NetworkFollower {
    /// Reads the terms of a network. No logs are read yet.
    ///
    /// # Errors
    /// [`NetworkFollowError`]: there is no contract, it is not a network, or the node does not answer.
    pub async fn open(rpc: Rpc, contract: Address, settings: FollowSettings) -> Result<Self, NetworkFollowError> {
        let terms = ContractTerms::read(&rpc, contract).await?;
        let settings = FollowSettings { blocks_per_request: settings.blocks_per_request.max(1), ..settings };
        Ok(Self { rpc, terms, settings, page: settings.blocks_per_request, seen: Seen::default(), draft: None })
    }

    /// What is fixed for the network.
    pub fn terms(&self) -> &ContractTerms {
        &self.terms
    }

    /// The node that is asked.
    pub fn rpc(&self) -> &Rpc {
        &self.rpc
    }

    /// The epoch of the newest block that was told; 0 before the first one, and before epoch 0.
    pub fn epoch(&self) -> u64 {
        self.seen.epoch.unwrap_or(0)
    }

    /// The number of the newest block that was told.
    pub fn block(&self) -> Option<u64> {
        self.seen.newest.map(|block| block.0)
    }

    /// The number of the last block that was final when the chain was read last; `None` while none is.
    pub fn final_block(&self) -> Option<u64> {
        self.seen.last_final
    }

    /// Whether an epoch that can settle has a snapshot.
    pub fn has_snapshot(&self, epoch: u64) -> bool {
        self.snapshot(epoch).is_some()
    }

    /// The snapshot of an epoch. Only the last epoch with a snapshot is kept, and the one before it.
    pub fn snapshot(&self, epoch: u64) -> Option<&Arc<EpochSnapshot>> {
        self.seen.history.state()?.snapshot(epoch)
    }

    /// What a quorum of an epoch is planned with, after the newest block that was told: keys, weights, pages, and the
    /// bases to which the verifier's slots commit. Its `contract` is the verifier, which makes the pages. `None`
    /// without a snapshot. Copies all keys.
    pub fn network(&self, epoch: u64) -> Option<Network> {
        let mut network = self.seen.history.state()?.network(&self.terms, epoch)?;
        let table = network.table;
        network.bases.retain(|base| self.seen.compared.get(&(table, base.slot)) == Some(&base.commitment()));
        Some(network)
    }

    /// Where to store a quorum of an epoch as a base, by ski rental (`quorate_evm::refresh`): as soon as the members that
    /// were brought in since a base was stored have cost as much gas, with this quorum's, as storing it. A few slots are
    /// used in turn: a settlement that waits to be mined keeps the base that it was planned from. The account is kept from
    /// what the chain settled, so all who follow it decide alike.
    pub fn store(&self, epoch: u64, signers: &MemberSet) -> Store {
        let (Some(network), Some(state)) = (self.network(epoch), self.seen.history.state()) else {
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

    /// [`settle`](super::settle) with the network, the snapshot and the slot that this follower knows. Its estimate of
    /// the gas also knows whether these signers submitted before in the epoch, whether the pool pays, and whether the
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
        let state = self.seen.history.state().ok_or(none)?;
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

    /// What changed since the last call, in the order of the chain; what a reorganisation undid comes first, newest
    /// first.
    ///
    /// The first call reads all logs from the first block on, and takes as long as that takes. The future may be
    /// dropped: the next call goes on where it was. A node that is behind is waited for: nothing has changed then.
    ///
    /// # Errors
    /// [`NetworkFollowError`]. Nothing has changed then, and a further call may succeed.
    pub async fn poll(&mut self) -> Result<Vec<Change>, NetworkFollowError> {
        let answer = self.advance().await;
        if !matches!(answer, Ok(_) | Err(NetworkFollowError::Rpc(_))) {
            // What was read is wrong.
            self.draft = None;
        }
        answer
    }

    async fn advance(&mut self) -> Result<Vec<Change>, NetworkFollowError> {
        let newest = self.rpc.newest().await?;
        let last_final = match self.settings.confirmations {
            Confirmations::Blocks(behind) => newest.number.checked_sub(behind),
            Confirmations::Finalized => self.rpc.block("finalized").await?.map(|block| block.number.min(newest.number)),
        };
        if let Some(block) = self.draft.as_ref().and_then(|draft| draft.seen.history.newest()) {
            if block.0 > newest.number {
                // The node is behind what was read.
                return Ok(Vec::new());
            }
            if !self.is_in_chain(block, &newest).await? {
                self.draft = None;
            }
        }
        if self.draft.is_none() {
            let Some(draft) = self.back_to_chain(&newest).await? else { return Ok(Vec::new()) };
            self.draft = Some(draft);
        }
        loop {
            let read = self.draft.as_ref().and_then(|draft| draft.seen.history.newest());
            let from = read.map_or(self.settings.from_block, |block| block.0 + 1);
            if from > newest.number {
                break;
            }
            if let Step::Moved = self.step(from, &newest, last_final).await? {
                self.draft = None;
                return Ok(Vec::new());
            }
        }
        // Nothing is lost if the comparison is cut off: the draft stays.
        let Some((state, compared)) = self.compare(&newest).await? else { return Ok(Vec::new()) };
        let Some(mut draft) = self.draft.take() else { return Ok(Vec::new()) };
        draft.seen.history.replace_state(state);
        draft.seen.compared = compared;
        Ok(self.commit(draft, &newest, last_final))
    }

    /// Whether a block is one of the chain that ends with this one.
    async fn is_in_chain(&self, (number, hash): BlockId, newest: &RpcBlock) -> Result<bool, NetworkFollowError> {
        if number > newest.number {
            return Ok(false);
        }
        if number == newest.number {
            return Ok(hash == newest.hash);
        }
        if number + 1 == newest.number {
            return Ok(hash == newest.parent_hash);
        }
        Ok(self.rpc.block_at(number).await?.is_some_and(|block| block.hash == hash))
    }

    /// What was told, without the blocks that are not the chain's any more. `None` if the node is behind.
    async fn back_to_chain(&self, newest: &RpcBlock) -> Result<Option<Draft>, NetworkFollowError> {
        let mut draft = Draft::of(&self.seen);
        let Some(last) = draft.seen.history.newest() else { return Ok(Some(draft)) };
        if last.0 > newest.number {
            // Nodes behind one URL may differ by some blocks. Only a block that contradicts one of ours is a
            // reorganisation.
            let known = draft.seen.history.newest_up_to(newest.number);
            let Some(known) = known else { return Ok(None) };
            if self.is_in_chain(known, newest).await? {
                return Ok(None);
            }
        }
        while let Some(last) = draft.seen.history.newest() {
            if self.is_in_chain(last, newest).await? {
                break;
            }
            let undone = draft.seen.history.undo().ok_or(NetworkFollowError::FinalBlockUndone { block: last.0 })?;
            draft.undone.extend(undone);
            // A slot may hold what it held before.
            draft.seen.compared.clear();
        }
        Ok(Some(draft))
    }

    /// Reads the next blocks into the draft.
    async fn step(
        &mut self,
        from: u64,
        newest: &RpcBlock,
        last_final: Option<u64>,
    ) -> Result<Step, NetworkFollowError> {
        let to = newest.number.min(from.saturating_add(self.page - 1));
        // If the last block is the same before and after, the logs are those of one chain.
        let last = if to == newest.number { Some(*newest) } else { self.rpc.block_at(to).await? };
        let Some(last) = last else { return Ok(Step::Moved) };
        let filter = Filter::new()
            .address(vec![self.terms.contract, self.terms.verifier])
            .event_signature(topics())
            .from_block(from)
            .to_block(to);
        let patience = if self.page > 1 { RpcPatience::Once } else { RpcPatience::Retry };
        let logs = match self.rpc.logs(&filter, patience).await {
            Ok(logs) => logs,
            Err(error) if self.page > 1 => {
                // A node may refuse, or answer with too much, where there are too many logs. If it hangs, it shall not
                // be waited for often.
                let divisor = if matches!(error, RpcError::Unreachable { .. }) { 16 } else { 2 };
                self.page = (self.page / divisor).max(1);
                return Ok(Step::Read);
            }
            Err(error) => return Err(error.into()),
        };
        let mut blocks = blocks_of(&self.terms, logs, from, &last)?;
        self.add_calldata(&mut blocks).await?;
        for (number, hash) in blocks.iter().map(|block| block.id) {
            let is_final = last_final.is_some_and(|last_final| number <= last_final);
            if number != to && !is_final && self.rpc.block_at(number).await?.is_none_or(|block| block.hash != hash) {
                return Ok(Step::Moved);
            }
        }
        let weights = self.weights(&blocks, newest).await?;
        if self.rpc.block_at(to).await?.is_none_or(|block| block.hash != last.hash) {
            return Ok(Step::Moved);
        }
        // From here on nothing is waited for, so the step is done as a whole.
        let Some(draft) = &mut self.draft else { return Ok(Step::Moved) };
        draft.read(&self.terms, &blocks, &weights, (last.number, last.hash), last_final)?;
        if draft.seen.history.len() > MOST_RECENT {
            return Err(NetworkFollowError::NotFinal(draft.seen.history.len()));
        }
        self.page = self.settings.blocks_per_request.min(self.page.saturating_mul(2));
        Ok(Step::Read)
    }

    /// Asks for the calldata of those transactions whose logs do not say all.
    async fn add_calldata(&self, blocks: &mut [BlockLogs]) -> Result<(), NetworkFollowError> {
        let wanted: Vec<(u64, B256)> = blocks
            .iter()
            .flat_map(|block| block.transactions.iter().map(|transaction| (block.id.0, transaction)))
            .filter(|(_, transaction)| needs_calldata(self.terms.key_group, &transaction.events))
            .map(|(block, transaction)| (block, transaction.hash))
            .collect();
        let ask = |(block, hash): (u64, B256)| async move {
            let found = self.rpc.calldata(hash).await?;
            let why = Contradiction::NoTransaction(hash);
            found.map(|calldata| (hash, calldata)).ok_or(NetworkFollowError::Contradiction { block, why })
        };
        let found: BTreeMap<B256, Bytes> = stream::iter(wanted).map(ask).buffered(AT_A_TIME).try_collect().await?;
        for transaction in blocks.iter_mut().flat_map(|block| &mut block.transactions) {
            if let Some(calldata) = found.get(&transaction.hash) {
                transaction.calldata = calldata.clone();
            }
        }
        Ok(())
    }

    /// The weights of the epochs whose snapshots are in these blocks, unless their conflicts can no longer be reported:
    /// so old ones say nothing to anybody. Weights do not change, so they are read in the newest state, which every
    /// node has.
    async fn weights(
        &self,
        blocks: &[BlockLogs],
        newest: &RpcBlock,
    ) -> Result<BTreeMap<u64, Vec<u64>>, NetworkFollowError> {
        let events = blocks.iter().flat_map(|block| &block.transactions).flat_map(|transaction| &transaction.events);
        let epoch = |event: &Event| match event {
            Event::Snapshotted { epoch, .. } if self.terms.slashable_until(*epoch) > newest.timestamp => Some(*epoch),
            _ => None,
        };
        let epochs: Vec<u64> = events.filter_map(epoch).collect();
        let ask = |epoch: u64| async move {
            let call = Verifier::weightsOfCall { epoch: U256::from(epoch) };
            let weights = self.rpc.read(self.terms.verifier, &call, Some(newest.hash)).await?;
            Ok::<_, RpcError>((epoch, weights))
        };
        Ok(stream::iter(epochs).map(ask).buffered(AT_A_TIME).try_collect().await?)
    }

    /// Compares the draft with the contract and its verifier after the newest block. Returns its state without the
    /// bases that the verifier's slots do not hold, and the commitments that they hold. `None` if nothing was read: the
    /// first block is not there yet.
    async fn compare(
        &self,
        newest: &RpcBlock,
    ) -> Result<Option<(State, BTreeMap<(u16, u16), B256>)>, NetworkFollowError> {
        let ContractTerms { contract, verifier, key_group, .. } = self.terms;
        let Some(draft) = &self.draft else { return Ok(None) };
        let Some(state) = draft.seen.history.state() else { return Ok(None) };
        let differs = |what, found: String, expected: String| NetworkFollowError::Contradiction {
            block: newest.number,
            why: Contradiction::Contract { what, found, expected },
        };
        let is_unchanged = draft.seen.history.newest() == self.seen.newest;
        if !draft.told.is_empty() || !draft.undone.is_empty() {
            let found = self.rpc.read(verifier, &Verifier::extentCall {}, Some(newest.hash)).await?;
            let found = (u64::from(found.keys), u64::from(found.carried), found.pages);
            if found != state.extent() {
                let words = |(keys, carried, pages)| format!("{keys} keys, {carried} carried, {pages} pages");
                return Err(differs("number of keys", words(found), words(state.extent())));
            }
        }
        // The epochs that can settle, and those of which the logs have a snapshot.
        let current = self.terms.epoch_at(newest.timestamp);
        let open = current.into_iter().flat_map(|epoch| [epoch.checked_sub(1), Some(epoch)]).flatten();
        let epochs: BTreeSet<u64> = open.chain(state.epochs()).collect();
        for epoch in epochs.into_iter().filter(|_| !is_unchanged) {
            let is_known = self.seen.history.state().and_then(|seen| seen.fixed(epoch));
            let expected = state.fixed(epoch);
            if expected.is_some() && is_known == expected && draft.undone.is_empty() {
                continue;
            }
            let call = TaskNetwork::snapshotOfCall { epoch: U256::from(epoch) };
            let found = self.rpc.read(contract, &call, Some(newest.hash)).await?;
            let expected = expected.unwrap_or_default();
            let (total, required, table, beacon, id) = expected;
            let is_same = (found.total, found.required, found.table)
                == (U256::from(total), U256::from(required), U256::from(table))
                && (found.beacon, found.id) == (beacon, id);
            if !is_same {
                return Err(differs(
                    "snapshot of the epoch",
                    format!("{} in table {}", found.id, found.table),
                    format!("{id} in table {table}"),
                ));
            }
        }
        self.compare_told(draft, newest, current.unwrap_or(0)).await?;
        let commitments = state.commitments(key_group);
        let seen_unseen = self.seen.history.state().map_or(0, State::unseen);
        let mut compared = if seen_unseen == state.unseen() { draft.seen.compared.clone() } else { BTreeMap::new() };
        let wanted: Vec<_> =
            commitments.iter().copied().filter(|(place, value)| compared.get(place) != Some(value)).collect();
        let ask = |((table, slot), value): ((u16, u16), B256)| async move {
            let place = U256::from(table) << 16 | U256::from(slot);
            let found = self.rpc.read(verifier, &Verifier::commitmentAtCall { place }, Some(newest.hash)).await?;
            Ok::<_, RpcError>(((table, slot), value, found == value))
        };
        let answers: Vec<_> = stream::iter(wanted).map(ask).buffered(AT_A_TIME).try_collect().await?;
        let mut corrected = state.clone();
        for (place, value, is_same) in answers {
            if is_same {
                compared.insert(place, value);
            } else {
                corrected.forget(place);
            }
        }
        Ok(Some((corrected, compared)))
    }

    /// Compares settled tasks of open epochs, and slashed operators, with the contract.
    async fn compare_told(&self, draft: &Draft, newest: &RpcBlock, epoch: u64) -> Result<(), NetworkFollowError> {
        let contract = self.terms.contract;
        let ask = |change: &Change| {
            let change = change.clone();
            async move {
                let (what, is_so) = match change {
                    Change::Settled { id, epoch: of, performer, result, approved, .. }
                        if of.saturating_add(1) >= epoch =>
                    {
                        let task = AbiTask { id, performer: U256::from(performer), result, approved };
                        let call = TaskNetwork::isSettledAsCall { epoch: U256::from(of), task };
                        ("settled task", self.rpc.read(contract, &call, Some(newest.hash)).await?)
                    }
                    Change::Slashed { operator, id, epoch, .. } => {
                        let call = TaskNetwork::slashableFromCall { operator, id };
                        let from = self.rpc.read(contract, &call, Some(newest.hash)).await?;
                        ("slashed operator", from > U256::from(epoch))
                    }
                    _ => return Ok(()),
                };
                let (found, expected) = ("it is not".to_owned(), format!("{change:?}"));
                let why = Contradiction::Contract { what, found, expected };
                if is_so { Ok(()) } else { Err(NetworkFollowError::Contradiction { block: newest.number, why }) }
            }
        };
        stream::iter(&draft.told).map(ask).buffered(AT_A_TIME).try_collect().await
    }

    /// Takes over what was read and compared, and says what is told.
    fn commit(&mut self, draft: Draft, newest: &RpcBlock, last_final: Option<u64>) -> Vec<Change> {
        let Draft { mut seen, undone, told } = draft;
        let mut changes = undone;
        if seen.newest != Some((newest.number, newest.hash)) {
            seen.newest = Some((newest.number, newest.hash));
            changes.push(Change::Block { number: newest.number, hash: newest.hash, time: newest.timestamp });
        }
        let epoch = self.terms.epoch_at(newest.timestamp);
        if seen.epoch != epoch {
            seen.epoch = epoch;
            changes.extend(epoch.map(Change::Epoch));
        }
        changes.extend(told);
        changes.extend(last_final.map(|number| seen.history.finalise(number)).unwrap_or_default());
        seen.last_final = last_final;
        self.seen = seen;
        changes
    }
}

impl Draft {
    /// Takes the logs of a range of blocks. `last` is the range's last block.
    pub(super) fn read(
        &mut self,
        terms: &ContractTerms,
        blocks: &[BlockLogs],
        weights: &BTreeMap<u64, Vec<u64>>,
        last: BlockId,
        last_final: Option<u64>,
    ) -> Result<(), NetworkFollowError> {
        let mut state = self.seen.history.state().cloned().unwrap_or_default();
        for block in blocks {
            let number = block.id.0;
            let mut changes = Vec::new();
            for transaction in &block.transactions {
                let told = state.apply(terms, transaction, weights);
                changes.extend(told.map_err(|why| NetworkFollowError::Contradiction { block: number, why })?);
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
            self.seen.history.push(block.id, state.clone(), changes);
        }
        if self.seen.history.newest() != Some(last) {
            self.seen.history.push(last, state, Vec::new());
        }
        // What is final cannot be undone, and need not be kept.
        if let Some(number) = last_final
            && number >= last.0
        {
            self.told.extend(self.seen.history.finalise(number));
        }
        Ok(())
    }
}

/// The logs of a block.
#[derive(Debug)]
pub(super) struct BlockLogs {
    pub(super) id: BlockId,
    pub(super) transactions: Vec<Transaction>,
}

/// Logs by block and transaction, in the order of the chain. Refuses logs that are not of this range, or of two chains.
fn blocks_of(
    terms: &ContractTerms,
    mut logs: Vec<Log>,
    from: u64,
    last: &RpcBlock,
) -> Result<Vec<BlockLogs>, NetworkFollowError> {
    let other = |block| NetworkFollowError::Contradiction { block, why: Contradiction::OtherBlock };
    logs.sort_by_key(|log| (log.block_number, log.log_index));
    let mut blocks: Vec<BlockLogs> = Vec::new();
    let mut before = None;
    for log in logs {
        let (Some(number), Some(hash), Some(transaction), Some(index), false) =
            (log.block_number, log.block_hash, log.transaction_hash, log.log_index, log.removed)
        else {
            return Err(other(last.number));
        };
        let is_in_range = (from..=last.number).contains(&number) && (number != last.number || hash == last.hash);
        if !is_in_range || before.replace((number, index)) == Some((number, index)) {
            return Err(other(number));
        }
        let event = Event::decode(&log, terms.contract, terms.verifier);
        let event = event.map_err(|why| NetworkFollowError::Contradiction { block: number, why })?;
        let Some(event) = event else { continue };
        if blocks.last().is_none_or(|block| block.id.0 != number) {
            blocks.push(BlockLogs { id: (number, hash), transactions: Vec::new() });
        }
        let Some(block) = blocks.last_mut() else { continue };
        if block.id.1 != hash {
            return Err(other(number));
        }
        match block.transactions.last_mut() {
            Some(last) if last.hash == transaction => last.events.push(event),
            _ => {
                block.transactions.push(Transaction { hash: transaction, events: vec![event], calldata: Bytes::new() })
            }
        }
    }
    Ok(blocks)
}
