//! Asks a node what is new, and compares it with the contract.

use std::collections::BTreeMap;

use alloy::{
    primitives::{Address, B256, Bytes, U256},
    rpc::types::{Filter, Log},
};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use quorate_evm::{
    contract::{TaskNetwork, Verifier, task_network::ITaskNetwork::Task as AbiTask},
    task_network::{
        BasePlace, BlockId, BlockLogs, Change, Contradiction, NetworkDraft, NetworkView, PlacedLog, topics,
    },
};

use super::{confirmations::Confirmations, error::NetworkFollowError, terms::read_terms};
use crate::{
    lag::Lag,
    log_window::LogWindow,
    rpc::{AT_A_TIME, Rpc, RpcBlock, RpcError},
};

/// What is read of each transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FollowDepth {
    /// Its logs, and its calldata where the logs do not say all: all that quorums are planned with. A question for each
    /// submission.
    #[default]
    Calldata,
    /// Its logs, which tell every change. No base is known, and no key in G2 beside one in G1 of BN254.
    Logs,
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
    /// What is read of each transaction.
    pub depth: FollowDepth,
}

impl Default for FollowSettings {
    fn default() -> Self {
        Self {
            from_block: 0,
            confirmations: Confirmations::Finalized,
            blocks_per_request: 2_000,
            depth: FollowDepth::default(),
        }
    }
}

/// The most blocks that wait to be final. A chain that does not become final for longer stops the follower.
const MOST_RECENT: usize = 65_536;

/// A network, followed on its chain. See the [module](super).
#[derive(Debug)]
pub struct NetworkFollower {
    rpc: Rpc,
    settings: FollowSettings,
    window: LogWindow,
    /// What was told.
    view: NetworkView,
    /// What was read since, and is told once it was compared.
    draft: Option<NetworkDraft>,
    /// Since when the node's chain ends before what was read.
    lag: Lag,
    /// Whether the last call compared all that the node has.
    is_current: bool,
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
        let view = NetworkView::new(read_terms(&rpc, contract).await?);
        let window = LogWindow::new(settings.blocks_per_request);
        Ok(Self { rpc, settings, window, view, draft: None, lag: Lag::default(), is_current: false })
    }

    /// The network after the newest block that was told.
    pub fn view(&self) -> &NetworkView {
        &self.view
    }

    /// Whether the last [`poll`](Self::poll) read up to the node's newest block and compared the network after it.
    pub fn is_current(&self) -> bool {
        self.is_current
    }

    /// Whether the node's chain ended before what was read of it, the last time that it said where it ends. The view may be one of a
    /// chain that the node has left.
    pub fn is_behind(&self) -> bool {
        self.lag.is_known()
    }

    /// The node that is asked.
    pub fn rpc(&self) -> &Rpc {
        &self.rpc
    }

    /// What changed since the last call, in the order of the chain; what a reorganisation undid comes first, newest
    /// first.
    ///
    /// The first call reads all logs from the first block on, and takes as long as that takes. The future may be
    /// dropped: the next call goes on where it was. A node that is behind is waited for: nothing has changed then, and after half a
    /// minute that is an error.
    ///
    /// # Errors
    /// [`NetworkFollowError`]. Nothing has changed then, and a further call may succeed.
    pub async fn poll(&mut self) -> Result<Vec<Change>, NetworkFollowError> {
        let answer = self.advance().await;
        if !matches!(answer, Ok(_) | Err(NetworkFollowError::Rpc(_) | NetworkFollowError::Behind { .. })) {
            // What was read is wrong.
            self.draft = None;
        }
        answer
    }

    /// The next call of [`poll`](Self::poll) asks for half as many blocks at first. For a call that took too long and was dropped: the node
    /// may take longer for so many blocks than the caller waits, and would never answer.
    pub fn take_smaller_steps(&mut self) {
        self.window.halve();
    }

    async fn advance(&mut self) -> Result<Vec<Change>, NetworkFollowError> {
        self.is_current = false;
        let newest = self.rpc.newest().await?;
        let last_final = self.settings.confirmations.last_final(&self.rpc, &newest).await?;
        if let Some(draft) = &self.draft
            && let Some(last) = draft.newest()
        {
            if self.is_ahead(draft, &newest).await? {
                return self.wait(last, &newest);
            }
            if !self.is_in_chain(last, &newest).await? {
                self.draft = None;
            }
        }
        if self.draft.is_none() {
            let told = self.view.draft();
            if let Some(last) = told.newest()
                && self.is_ahead(&told, &newest).await?
            {
                return self.wait(last, &newest);
            }
            self.draft = Some(self.back_to_chain(told, &newest).await?);
        }
        self.lag.end();
        loop {
            let read = self.draft.as_ref().and_then(NetworkDraft::newest);
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
        let Some(draft) = self.draft.as_ref().filter(|draft| draft.newest().is_some()) else {
            return Err(NetworkFollowError::NotBegun { newest: newest.number, from_block: self.settings.from_block });
        };
        let (expected, found) = self.compare(draft, &newest).await?;
        let Some(mut draft) = self.draft.take() else { return Ok(Vec::new()) };
        draft.compare_bases(&expected, &found);
        let (view, changes) = draft.finish(id(&newest), newest.timestamp, last_final);
        self.view = view;
        self.is_current = true;
        Ok(changes)
    }

    /// Nothing is new, for as long as a node may lag.
    fn wait(&mut self, (read, _): BlockId, newest: &RpcBlock) -> Result<Vec<Change>, NetworkFollowError> {
        if self.lag.may_pass() {
            Ok(Vec::new())
        } else {
            Err(NetworkFollowError::Behind { newest: newest.number, read })
        }
    }

    /// Whether what was read goes on where the node's chain ends. Nodes behind one URL may differ by some blocks: only a block that
    /// contradicts one of ours is a reorganisation.
    async fn is_ahead(&self, draft: &NetworkDraft, newest: &RpcBlock) -> Result<bool, NetworkFollowError> {
        if draft.newest().is_none_or(|last| last.0 <= newest.number) {
            return Ok(false);
        }
        match draft.newest_up_to(newest.number) {
            Some(known) => self.is_in_chain(known, newest).await,
            None => Ok(true),
        }
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

    /// What was told, without the blocks that are not the chain's any more.
    async fn back_to_chain(
        &self,
        mut draft: NetworkDraft,
        newest: &RpcBlock,
    ) -> Result<NetworkDraft, NetworkFollowError> {
        while let Some(last) = draft.newest() {
            if self.is_in_chain(last, newest).await? {
                break;
            }
            draft.undo().ok_or(NetworkFollowError::FinalBlockUndone { block: last.0 })?;
        }
        Ok(draft)
    }

    /// Reads the next blocks into the draft.
    async fn step(
        &mut self,
        from: u64,
        newest: &RpcBlock,
        last_final: Option<u64>,
    ) -> Result<Step, NetworkFollowError> {
        let to = self.window.end(from, newest.number);
        // If the last block is the same before and after, the logs are those of one chain.
        let last = if to == newest.number { Some(*newest) } else { self.rpc.block_at(to).await? };
        let Some(last) = last else { return Ok(Step::Moved) };
        let terms = self.view.terms();
        let filter = Filter::new()
            .address(vec![terms.contract, terms.verifier])
            .event_signature(topics())
            .from_block(from)
            .to_block(to);
        let Some(logs) = self.window.ask(&self.rpc, &filter).await? else { return Ok(Step::Read) };
        let logs: Option<Vec<_>> = logs.into_iter().map(placed).collect();
        let logs = logs.ok_or_else(|| Contradiction::OtherBlock.at(last.number))?;
        let mut blocks = BlockLogs::of(terms, logs, from, id(&last))?;
        self.add_calldata(&mut blocks).await?;
        let may_move = |number: u64| number != to && last_final.is_none_or(|last_final| number > last_final);
        let recent: Vec<_> = blocks.iter().map(BlockLogs::id).filter(|(number, _)| may_move(*number)).collect();
        if !self.are_in_chain(recent).await? {
            return Ok(Step::Moved);
        }
        let weights = self.weights(&blocks, newest).await?;
        if self.rpc.block_at(to).await?.is_none_or(|block| block.hash != last.hash) {
            return Ok(Step::Moved);
        }
        // From here on nothing is waited for, so the step is done as a whole.
        let Some(draft) = &mut self.draft else { return Ok(Step::Moved) };
        draft.read(&blocks, &weights, id(&last), last_final)?;
        if draft.recent() > MOST_RECENT {
            return Err(NetworkFollowError::NotFinal(draft.recent()));
        }
        self.window.read();
        Ok(Step::Read)
    }

    /// Whether the node has all these blocks at their numbers.
    async fn are_in_chain(&self, blocks: Vec<BlockId>) -> Result<bool, NetworkFollowError> {
        let ask = |(number, hash): BlockId| async move {
            let found = self.rpc.block_at(number).await?;
            Ok::<_, RpcError>(found.is_some_and(|block| block.hash == hash))
        };
        let found: Vec<bool> = stream::iter(blocks).map(ask).buffered(AT_A_TIME).try_collect().await?;
        Ok(!found.contains(&false))
    }

    /// Asks for the calldata of those transactions whose logs do not say all.
    async fn add_calldata(&self, blocks: &mut [BlockLogs]) -> Result<(), NetworkFollowError> {
        if self.settings.depth == FollowDepth::Logs {
            return Ok(());
        }
        let needed = |block: &BlockLogs| -> Vec<(u64, B256)> {
            block.needs_calldata(self.view.terms()).map(|hash| (block.id().0, hash)).collect()
        };
        let wanted: Vec<_> = blocks.iter().flat_map(needed).collect();
        let ask = |(block, hash): (u64, B256)| async move {
            let found = self.rpc.calldata(hash).await?;
            let none = || Contradiction::NoTransaction(hash).at(block);
            Ok::<_, NetworkFollowError>((hash, found.ok_or_else(none)?))
        };
        let found: BTreeMap<B256, Bytes> = stream::iter(wanted).map(ask).buffered(AT_A_TIME).try_collect().await?;
        blocks.iter_mut().for_each(|block| block.add_calldata(&found));
        Ok(())
    }

    /// The weights that these blocks need. Weights do not change, so they are read in the newest state, which every node has.
    async fn weights(
        &self,
        blocks: &[BlockLogs],
        newest: &RpcBlock,
    ) -> Result<BTreeMap<u64, Vec<u64>>, NetworkFollowError> {
        let terms = self.view.terms();
        let epochs: Vec<u64> = blocks.iter().flat_map(|block| block.needs_weights(terms, newest.timestamp)).collect();
        let ask = |epoch: u64| async move {
            let call = Verifier::weightsOfCall { epoch: U256::from(epoch) };
            let weights = self.rpc.read(terms.verifier, &call, Some(newest.hash)).await?;
            Ok::<_, RpcError>((epoch, weights))
        };
        Ok(stream::iter(epochs).map(ask).buffered(AT_A_TIME).try_collect().await?)
    }

    /// Compares the draft with the contract and its verifier after the newest block. Returns the commitments of bases that
    /// were to be compared, and those that the verifier's slots hold.
    async fn compare(
        &self,
        draft: &NetworkDraft,
        newest: &RpcBlock,
    ) -> Result<(Vec<(BasePlace, B256)>, Vec<B256>), NetworkFollowError> {
        let (terms, block) = (self.view.terms(), Some(newest.hash));
        if draft.has_changes() {
            let found = self.rpc.read(terms.verifier, &Verifier::extentCall {}, block).await?;
            draft.compare_extent(&found).map_err(|why| why.at(newest.number))?;
        }
        for epoch in draft.epochs_to_compare(&self.view, newest.timestamp) {
            let call = TaskNetwork::snapshotOfCall { epoch: U256::from(epoch) };
            let found = self.rpc.read(terms.contract, &call, block).await?;
            draft.compare_snapshot(epoch, &found).map_err(|why| why.at(newest.number))?;
        }
        self.compare_told(draft, newest, terms.epoch_at(newest.timestamp).unwrap_or(0)).await?;
        let expected = draft.bases_to_compare();
        let ask = |(table, slot): BasePlace| async move {
            let place = U256::from(table) << 16 | U256::from(slot);
            self.rpc.read(terms.verifier, &Verifier::commitmentAtCall { place }, block).await
        };
        let places: Vec<_> = expected.iter().map(|(place, _)| *place).collect();
        let found = stream::iter(places).map(ask).buffered(AT_A_TIME).try_collect().await?;
        Ok((expected, found))
    }

    /// Compares settled tasks of open epochs, and slashed operators, with the contract.
    async fn compare_told(
        &self,
        draft: &NetworkDraft,
        newest: &RpcBlock,
        epoch: u64,
    ) -> Result<(), NetworkFollowError> {
        let contract = self.view.terms().contract;
        let ask = |change: &Change| {
            let change = change.clone();
            async move {
                let (what, is_so) = match change {
                    Change::Settled { id, epoch: of, performer, result, approved, .. }
                        if of.saturating_add(1) >= epoch =>
                    {
                        let task = AbiTask { id, performer, result, approved };
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
                if is_so { Ok(()) } else { Err(why.at(newest.number).into()) }
            }
        };
        stream::iter(draft.told()).map(ask).buffered(AT_A_TIME).try_collect().await
    }
}

fn id(block: &RpcBlock) -> BlockId {
    (block.number, block.hash)
}

/// The log with its place; `None` if it has none, or is not in the chain any more.
fn placed(log: Log) -> Option<PlacedLog> {
    let Log { block_number, block_hash, transaction_hash, log_index, removed: false, inner, .. } = log else {
        return None;
    };
    Some(PlacedLog {
        block: (block_number?, block_hash?),
        transaction: transaction_hash?,
        index: log_index?,
        log: inner,
    })
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, Mutex},
        time::Duration,
    };

    use alloy::primitives::{U64, keccak256};
    use quorate_lab::{
        proxy::{Proxy, ProxyReply},
        run::LIMIT,
        terms::some_terms,
    };
    use serde_json::{Value, json};
    use tokio::{
        runtime,
        time::{sleep, timeout},
    };

    use super::*;
    use crate::log_window::windows;

    fn hash(chain: u8, number: u64) -> B256 {
        keccak256([&[chain][..], &number.to_be_bytes()].concat())
    }

    fn block(chain: u8, number: u64) -> Value {
        let (at, parent) = (hash(chain, number), hash(chain, number.wrapping_sub(1)));
        json!({ "number": U64::from(number), "hash": at, "parentHash": parent, "timestamp": "0x1" })
    }

    /// A node without logs, of a chain up to a block. Whatever its contracts are asked is refused.
    fn without_logs(newest: u64) -> Proxy {
        changing(&Arc::new(Mutex::new((0, newest))))
    }

    /// The same; the test may change which chain it is of, and the number of its newest block.
    fn changing(chain: &Arc<Mutex<(u8, u64)>>) -> Proxy {
        let chain = Arc::clone(chain);
        Proxy::alone(move |method, parameters| match method {
            "eth_getBlockByNumber" => {
                let (chain, newest) = *chain.lock().unwrap();
                let number = serde_json::from_value::<U64>(parameters[0].clone());
                Ok(block(chain, number.map_or(newest, |number| number.to())))
            }
            "eth_getLogs" => Ok(json!([])),
            _ => Err("no".to_owned()),
        })
    }

    fn follower(node: &Proxy) -> NetworkFollower {
        let settings = FollowSettings { confirmations: Confirmations::Blocks(0), ..FollowSettings::default() };
        let window = LogWindow::new(settings.blocks_per_request);
        let (rpc, view) = (Rpc::new(&node.url).unwrap(), NetworkView::new(some_terms()));
        NetworkFollower { rpc, settings, window, view, draft: None, lag: Lag::default(), is_current: false }
    }

    const NEWEST: u64 = 1_999;

    #[test]
    fn a_node_that_hangs_is_asked_three_times() {
        let (node, asked) = windows::hanging(&without_logs(NEWEST));
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        // Whatever the contract is asked after the logs is refused.
        let _ = runtime.block_on(follower(&node).poll());
        let asked = asked.lock().unwrap();
        assert_eq!(asked[..4], windows::OF_HANGING);
        assert_eq!(asked.last().map(|(_, to)| *to), Some(NEWEST), "{asked:?}");
    }

    /// Two nodes answer by turns: the final block of the one is after the newest of the other.
    #[test]
    fn no_final_block_is_after_the_newest() {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let rpc = Rpc::new(&without_logs(12).url).unwrap();
            let newest = rpc.block_at(9).await.unwrap().unwrap();
            let last = async |confirmations: Confirmations| confirmations.last_final(&rpc, &newest).await.unwrap();
            assert_eq!(last(Confirmations::Finalized).await, Some(9));
            assert_eq!(last(Confirmations::Blocks(2)).await, Some(7));
            assert_eq!(last(Confirmations::Blocks(10)).await, None);
        });
    }

    /// Somebody named a block that is not there: nothing would ever be read, and nobody would know why.
    #[test]
    fn a_first_block_after_the_newest_is_an_error() {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let node = without_logs(12);
        let mut follower = follower(&node);
        follower.settings.from_block = 13;
        let error = runtime.block_on(follower.poll()).unwrap_err();
        assert!(matches!(error, NetworkFollowError::NotBegun { newest: 12, from_block: 13 }), "{error}");
        assert!(!follower.is_current() && !follower.is_behind() && read(&follower).is_none());
        follower.settings.from_block = 12;
        // Whatever the contract is asked after the logs is refused.
        let _ = runtime.block_on(follower.poll());
        assert_eq!(read(&follower), Some((12, hash(0, 12))));
    }

    /// A follower of a chain of which nothing is final, which has read the blocks 50 and 60, and what makes the chain another one.
    fn at_60(runtime: &runtime::Runtime) -> (NetworkFollower, Arc<Mutex<(u8, u64)>>, Proxy) {
        let chain = Arc::new(Mutex::new((0, 50)));
        let node = changing(&chain);
        let mut follower = follower(&node);
        follower.settings.confirmations = Confirmations::Blocks(100);
        for newest in [50, 60] {
            *chain.lock().unwrap() = (0, newest);
            // Whatever the contract is asked after the logs is refused.
            let _ = runtime.block_on(follower.poll());
        }
        assert_eq!(read(&follower), Some((60, hash(0, 60))));
        (follower, chain, node)
    }

    fn read(follower: &NetworkFollower) -> Option<BlockId> {
        follower.draft.as_ref().and_then(NetworkDraft::newest)
    }

    /// A chain that was begun anew, or rolled back, may stay shorter than it was for a long time.
    #[test]
    fn a_shorter_chain_with_other_blocks_is_a_reorganisation() {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (mut follower, chain, _node) = at_60(&runtime);
        *chain.lock().unwrap() = (0, 55);
        assert_eq!(runtime.block_on(follower.poll()).unwrap(), []);
        assert_eq!(
            read(&follower),
            Some((60, hash(0, 60))),
            "a node that lags says nothing of the blocks after its own"
        );
        *chain.lock().unwrap() = (1, 55);
        let _ = runtime.block_on(follower.poll());
        assert_eq!(read(&follower), Some((55, hash(1, 55))));
    }

    #[test]
    fn a_node_that_stays_behind_is_an_error() {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (mut follower, chain, _node) = at_60(&runtime);
        *chain.lock().unwrap() = (0, 55);
        assert_eq!(runtime.block_on(follower.poll()).unwrap(), []);
        assert!(follower.is_behind() && !follower.is_current());
        follower.lag = Lag::of(Duration::ZERO);
        let error = runtime.block_on(follower.poll()).unwrap_err();
        assert!(matches!(error, NetworkFollowError::Behind { newest: 55, read: 60 }), "{error}");
        assert_eq!(read(&follower), Some((60, hash(0, 60))), "what was read is as it was");
        *chain.lock().unwrap() = (0, 61);
        let _ = runtime.block_on(follower.poll());
        assert!(!follower.is_behind() && read(&follower) == Some((61, hash(0, 61))));
    }

    /// A node hangs if it is asked for the logs of more than 600 blocks. A caller that drops the call in time reads all logs all the same.
    #[test]
    fn a_node_that_hangs_is_asked_for_fewer_blocks() {
        let hangs = |from: u64, to: u64| (to - from >= 600).then_some(ProxyReply::Hang);
        let (node, asked) = windows::in_front_of(&without_logs(NEWEST), hangs);
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut follower = follower(&node);
            for _ in 0..50 {
                let before = asked.lock().unwrap().len();
                let hangs = async {
                    while asked.lock().unwrap().get(before).is_none_or(|(from, to)| to - from < 600) {
                        sleep(Duration::from_millis(5)).await;
                    }
                };
                let poll = async {
                    tokio::select! {
                        // Whatever the contract is asked after the logs is refused.
                        _ = follower.poll() => true,
                        () = hangs => false,
                    }
                };
                if timeout(LIMIT, poll).await.expect("it asks for logs") {
                    break;
                }
                follower.take_smaller_steps();
            }
        });
        let asked = asked.lock().unwrap();
        let first: Vec<_> = asked.iter().take(3).collect();
        assert_eq!(first, [&(0, 1_999), &(0, 999), &(0, 499)]);
        assert_eq!(asked.last().map(|(_, to)| *to), Some(NEWEST), "{asked:?}");
    }
}
