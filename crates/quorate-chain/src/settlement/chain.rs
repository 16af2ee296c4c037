//! A settlement on its chain: read block by block, taken back when the chain is reorganised, compared with the contract.

use std::{collections::VecDeque, path::Path, sync::Arc};

use alloy::{
    primitives::{Address, B256, Bytes, U256},
    rpc::types::{Filter, Log},
};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use quorate_evm::{
    bls12381::DigestHash,
    contract::{OptimisticSettlement, Settlement},
    follow::{Deployment, Follower, Note, SettlementEvent, SlotPosting},
    posting::ProofDemand,
    state::Head,
};

use super::{
    cursor::{Cursor, VERSION},
    error::{OptionNames, SettlementError, SettlementPlace},
    metrics::SettlementMetrics,
    settings::SettlementSettings,
};
use crate::{
    lag::Lag,
    log_window::LogWindow,
    rpc::{AT_A_TIME, Rpc, RpcBlock, RpcError},
    task_network::Confirmations,
};

type Result<T> = std::result::Result<T, SettlementError>;

/// A block by its number and hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    number: u64,
    hash: B256,
}

/// The settlement after a block.
#[derive(Clone)]
struct Checkpoint {
    block: Block,
    follower: Arc<Follower>,
}

/// Up to where is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// Up to this block.
    Block(u64),
    /// No block is confirmed.
    None,
    /// The node answers with a chain that is shorter than it was. So it is not known what the newest blocks are.
    Unclear,
}

/// What a step did.
#[derive(Debug)]
pub(super) enum Step {
    /// Blocks were read; there are more.
    Read,
    /// All blocks are read that are confirmed.
    Done,
}

/// A settlement, as far as its chain was read.
pub(super) struct Chain {
    node: Rpc,
    deployment: Deployment,
    /// The settlement's registrar, which cannot be changed.
    registrar: Address,
    from_block: u64,
    confirmations: Confirmations,
    window: LogWindow,
    checkpoints: VecDeque<Checkpoint>,
    /// The last block after which the contract was compared.
    compared: Option<Block>,
    /// How often the last blocks were read again, since the contract last matched.
    read_again: u32,
    /// How often blocks that were read were forgotten.
    forgotten: u64,
    /// The events of the last step, which count once it is known that they are not read again.
    uncounted: Vec<SettlementEvent>,
    /// The epoch whose weights were compared with the contract's.
    weighed: Option<u32>,
    /// The newest block of the chain, as it was seen last.
    newest: Option<RpcBlock>,
    /// Since when the node answers with a chain that is shorter than it was.
    shorter: Lag,
    /// What the user should know, since it was asked for.
    pub(super) notes: Vec<String>,
    metrics: Arc<SettlementMetrics>,
    options: OptionNames,
}

/// A reorganisation is undone if it goes back no farther than so many steps. Otherwise the logs are read anew.
const CHECKPOINTS: usize = 64;

/// How often blocks are read again whose logs do not lead to the contract's state.
const READ_AGAIN: u32 = 3;

impl Chain {
    /// Asks the node for the chain's id and the contract for what is fixed in it.
    pub(super) async fn open(
        node: Rpc,
        settings: &SettlementSettings,
        metrics: Arc<SettlementMetrics>,
    ) -> Result<Self> {
        let SettlementSettings { contract, from_block, confirmations, blocks_at_once, options, .. } = *settings;
        let chain_id = node.chain_id().await;
        let chain_id =
            chain_id.map_err(|source| SettlementError::NoNode { option: options.rpc, source: source.into() })?;
        if let Some(expected) = settings.chain_id.filter(|expected| *expected != chain_id) {
            let OptionNames { chain_id: option, rpc, .. } = options;
            return Err(SettlementError::AnotherChain { found: chain_id, expected, option, rpc });
        }
        let code = node.code(contract).await?;
        if code.is_empty() {
            let OptionNames { contract: option, rpc, .. } = options;
            return Err(SettlementError::NoContract { contract, chain_id, option, rpc });
        }
        let refused = |source: RpcError| {
            if source.is_of_contract() {
                SettlementError::NotASettlement { contract, chain_id, option: options.contract, source: source.into() }
            } else {
                // The node says nothing about the contract.
                source.into()
            }
        };
        let pinned = node.read(contract, &Settlement::pinnedSlotsCall {}, None).await.map_err(refused)?;
        let changes = node.read(contract, &Settlement::changesAStoreCall {}, None).await.map_err(refused)?;
        let registrar = node.read(contract, &Settlement::registrarCall {}, None).await.map_err(refused)?;
        let deployment = Deployment {
            chain_id,
            contract,
            // No slot has a larger number, and no quorum changes more members.
            pinned_slots: u16::try_from(pinned).unwrap_or(u16::MAX),
            changes_a_store: u32::try_from(changes).unwrap_or(u32::MAX),
            digest_hash: DigestHash::in_code(&code),
        };
        let (checkpoints, notes) = (VecDeque::new(), Vec::new());
        Ok(Self {
            node,
            deployment,
            registrar,
            from_block,
            confirmations,
            window: LogWindow::new(blocks_at_once),
            checkpoints,
            compared: None,
            read_again: 0,
            forgotten: 0,
            uncounted: Vec::new(),
            weighed: None,
            newest: None,
            shorter: Lag::default(),
            notes,
            metrics,
            options,
        })
    }

    /// Goes on from a cursor, which must be one of this settlement.
    pub(super) fn resume(&mut self, cursor: Cursor, path: &Path) -> Result<()> {
        let place = |of: &Deployment| SettlementPlace { contract: of.contract, chain_id: of.chain_id };
        let (found, expected) = (place(cursor.follower.deployment()), place(&self.deployment));
        if found != expected {
            let (path, option) = (path.to_owned(), self.options.cursor);
            return Err(SettlementError::CursorOfAnother { path, found, expected, option });
        }
        self.from_block = cursor.from_block;
        let block = Block { number: cursor.block, hash: cursor.hash };
        self.checkpoints = VecDeque::from([Checkpoint { block, follower: cursor.follower.into() }]);
        Ok(())
    }

    /// Forgets all blocks that were read. The next one is this: a cursor may have begun with another one.
    pub(super) fn begin_anew(&mut self, from_block: u64) {
        self.from_block = from_block;
        self.checkpoints.clear();
        self.uncounted.clear();
        (self.compared, self.weighed, self.read_again) = (None, None, 0);
        self.forgotten += 1;
    }

    /// Where to go on later; `None` if nothing was read.
    pub(super) fn cursor(&self) -> Option<Cursor> {
        let Checkpoint { block, follower } = self.checkpoints.back()?;
        Some(Cursor {
            version: VERSION,
            from_block: self.from_block,
            block: block.number,
            hash: block.hash,
            follower: Follower::clone(follower),
        })
    }

    /// The id of the settlement's chain.
    pub(super) fn chain_id(&self) -> u64 {
        self.deployment.chain_id
    }

    /// The last block that was read.
    pub(super) fn block(&self) -> Option<u64> {
        self.checkpoints.back().map(|checkpoint| checkpoint.block.number)
    }

    /// The block up to which is read, at this moment.
    pub(super) async fn target(&mut self) -> Result<Target> {
        let newest = self.node.block("latest").await?;
        if let Some(newest) = newest {
            self.metrics.head(newest.number, newest.timestamp);
            let before = self.newest.map(|before| before.number).max(self.block());
            if let Some(before) = before.filter(|before| newest.number < *before) {
                if !self.shorter.is_known() {
                    self.notes.push(format!(
                        "the node answers with block {} after block {before}: it lags, or several nodes answer by turns",
                        newest.number
                    ));
                }
                if self.shorter.may_pass() {
                    return Ok(Target::Unclear);
                }
            }
            self.shorter.end();
            self.newest = Some(newest);
        }
        let target = match newest {
            Some(newest) => self.confirmations.last_final(&self.node, &newest).await?,
            None => None,
        };
        if self.confirmations == Confirmations::Finalized {
            self.metrics.finalized(target);
        }
        Ok(target.map_or(Target::None, Target::Block))
    }

    /// How often blocks that were read were forgotten: what was concluded from them before may be otherwise now.
    pub(super) fn forgotten(&self) -> u64 {
        self.forgotten
    }

    /// The newest block of the chain, as [`target`](Self::target) saw it last.
    pub(super) fn newest(&self) -> Option<RpcBlock> {
        self.newest
    }

    /// Whether nothing was read, and the first block lies behind the target.
    pub(super) fn is_before(&self, target: Option<u64>) -> bool {
        self.block().is_none() && target.is_none_or(|target| target < self.from_block)
    }

    /// Forgets the blocks that are not the chain's any more. `false` if the node does not have a block that a chain of the length has
    /// which it told last: then several nodes answer, and nothing is known.
    pub(super) async fn go_back(&mut self) -> Result<bool> {
        let mut left = None;
        while let Some(Checkpoint { block, .. }) = self.checkpoints.back() {
            match self.block_at(block.number).await? {
                Some(found) if found == *block => break,
                None if self.newest.is_some_and(|newest| newest.number >= block.number) => return Ok(false),
                Some(_) | None => {}
            }
            left = Some(block.number);
            (self.compared, self.weighed) = (None, None);
            self.uncounted.clear();
            self.checkpoints.pop_back();
        }
        if let Some(block) = left {
            self.forgotten += 1;
            self.metrics.reorganised();
            let next = self.block().map_or(self.from_block, |block| block + 1);
            self.notes.push(format!(
                "block {block} is not the chain's any more: the logs are read anew from block {next} on"
            ));
        }
        Ok(true)
    }

    async fn block_at(&self, number: u64) -> Result<Option<Block>> {
        let found = self.node.block_at(number).await?;
        Ok(found.map(|RpcBlock { number, hash, .. }| Block { number, hash }))
    }

    async fn is_of_chain(&self, block: Block) -> Result<bool> {
        Ok(self.block_at(block.number).await? == Some(block))
    }

    /// Reads the next blocks, up to a target.
    pub(super) async fn step(&mut self, target: u64) -> Result<Step> {
        let from = self.block().map_or(self.from_block, |block| block + 1);
        if from > target {
            return Ok(Step::Done);
        }
        let to = self.window.end(from, target);
        // If the last block is the same before and after, the logs are those of one chain.
        let Some(last) = self.block_at(to).await? else { return Ok(Step::Done) };
        let filter = Filter::new()
            .address(vec![self.deployment.contract, self.registrar])
            .event_signature(SettlementEvent::TOPICS.to_vec())
            .from_block(from)
            .to_block(to);
        let Some(logs) = self.window.ask(&self.node, &filter).await? else { return Ok(Step::Read) };
        let transactions = self.transactions(logs).await;
        if !self.is_of_chain(last).await? {
            // What was read, or why it was not, says nothing. The caller looks for the common block before the next step.
            return Ok(Step::Done);
        }
        let transactions = transactions?;
        let (mut read, mut said) = (Vec::new(), Vec::new());
        let mut follower = self
            .checkpoints
            .back()
            .map_or_else(|| Arc::new(Follower::new(self.deployment)), |checkpoint| checkpoint.follower.clone());
        for Transaction { block, events, calldata } in transactions {
            let notes = Arc::make_mut(&mut follower).apply(&events, &calldata);
            let notes = notes.map_err(|source| SettlementError::Contradiction { block, source })?;
            said.extend(notes.iter().map(|note| format!("block {block}: {note}")));
            read.extend(events);
        }
        self.count();
        self.uncounted = read;
        self.notes.extend(said);
        self.metrics.read(to);
        self.checkpoints.push_back(Checkpoint { block: last, follower });
        if self.checkpoints.len() > CHECKPOINTS {
            self.checkpoints.pop_front();
        }
        self.window.read();
        Ok(if to == target { Step::Done } else { Step::Read })
    }

    /// Counts the events of the last step.
    fn count(&mut self) {
        self.uncounted.drain(..).for_each(|event| self.metrics.event(&event));
    }

    /// The logs by transaction, with the calldata that they need.
    async fn transactions(&self, mut logs: Vec<Log>) -> Result<Vec<Transaction>> {
        logs.sort_by_key(|log| (log.block_number, log.log_index));
        let mut transactions: Vec<(B256, Transaction)> = Vec::new();
        for log in logs {
            let (Some(hash), Some(block), false) = (log.transaction_hash, log.block_number, log.removed) else {
                return Err(SettlementError::NoBlock);
            };
            // What the registrar and the settlement emit under each other's topics says nothing.
            let of_registrar = log.topic0() == Some(&SettlementEvent::TOPIC_OF_REGISTRAR);
            if log.address() != if of_registrar { self.registrar } else { self.deployment.contract } {
                continue;
            }
            let event = SettlementEvent::decode(&log.inner).map_err(|source| SettlementError::Log { block, source })?;
            let Some(event) = event else { continue };
            match transactions.last_mut() {
                Some((last, transaction)) if *last == hash => transaction.events.push(event),
                _ => transactions.push((hash, Transaction { block, events: vec![event], calldata: Bytes::new() })),
            }
        }
        let filled = stream::iter(transactions).map(|(hash, mut transaction)| async move {
            if transaction.events.iter().any(SettlementEvent::needs_calldata) {
                let calldata = self.node.calldata(hash).await?;
                transaction.calldata = calldata.ok_or(SettlementError::NoTransaction(hash))?;
            }
            Ok(transaction)
        });
        filled.buffered(AT_A_TIME).try_collect().await
    }

    /// Compares what the logs say with the contract, after the last block that was read. Leaves out, with a note, a base that
    /// the contract's slot does not hold, and weights whose hash the contract does not have.
    ///
    /// The answer is `false` if the block is not the chain's any more: the caller looks for the common block.
    pub(super) async fn compare(&mut self) -> Result<bool> {
        let Some(block) = self.checkpoints.back().map(|checkpoint| checkpoint.block) else { return Ok(true) };
        if self.compared == Some(block) {
            return Ok(true);
        }
        if let Err(failure) = self.compare_last().await {
            // A node need not know a contract's state after a block that its chain has left.
            return if let Ok(false) = self.is_of_chain(block).await { Ok(false) } else { Err(failure) };
        }
        (self.compared, self.read_again) = (Some(block), 0);
        self.count();
        self.metrics.matched(block.number);
        Ok(true)
    }

    /// Forgets the blocks of the last step, so that they are read again: a node may know a block before it finds its logs. `false` if that
    /// was tried often enough, or if only the cursor is left.
    pub(super) fn read_again(&mut self) -> bool {
        if self.read_again == READ_AGAIN || self.checkpoints.len() < 2 {
            return false;
        }
        self.read_again += 1;
        self.forgotten += 1;
        (self.compared, self.weighed) = (None, None);
        self.uncounted.clear();
        self.checkpoints.pop_back();
        true
    }

    async fn compare_last(&mut self) -> Result<()> {
        let Some(Checkpoint { block, follower }) = self.checkpoints.back_mut() else { return Ok(()) };
        let (node, contract, block) = (&self.node, self.deployment.contract, *block);
        let is_new = **follower == Follower::new(self.deployment);
        let state = match node.read(contract, &Settlement::stateCall {}, Some(block.hash)).await {
            // The contract may not be deployed yet.
            Err(RpcError::Undecodable { .. }) if is_new => return Ok(()),
            state => state?,
        };
        if is_new && state == follower.state() {
            return Ok(());
        }
        if state != follower.state() {
            let terms = node.read(contract, &Settlement::termsCall {}, Some(block.hash)).await?;
            let waiting = node.read(contract, &Settlement::waitingCall {}, Some(block.hash)).await?;
            let from_block = self.options.from_block;
            return Err(difference(follower, block.number, state, terms, waiting, from_block));
        }
        for SlotPosting { posting, status, .. } in follower.postings().filter(|posting| posting.is_open()) {
            let demand_ = ProofDemand::named(status.demand());
            let call = OptimisticSettlement::statusOfCall { posting: posting.named(), demand_ };
            let found = node.read(contract, &call, Some(block.hash)).await?;
            if !status.is_that_of(found) {
                return Err(SettlementError::Differs(format!(
                    "after block {} the posting in slot {} is {} by the logs, and not so in the contract; nothing is \
                     written. The node left logs out: try again, or another node",
                    block.number,
                    posting.slot,
                    status.name()
                )));
            }
        }
        let follower = Arc::make_mut(follower);
        for (slot, place, commitment) in follower.commitments() {
            let call = Settlement::commitmentAtCall { place };
            if node.read(contract, &call, Some(block.hash)).await? != commitment {
                follower.forget(slot);
                self.notes.push(format!("block {}: {}", block.number, Note::BaseUnknown { slot }));
            }
        }
        // `publish` takes the weights of the last epoch that was begun.
        let (epoch, waits) = follower.last_epoch();
        if waits || self.weighed == Some(epoch) {
            return Ok(());
        }
        for (part, weights) in follower.packed_weights().into_iter().enumerate() {
            // Calldata that only looks like the registrar's call stands beside what he called, and is tried after it.
            if takes(node, contract, block, part, weights).await? {
                continue;
            }
            let mut chosen = None;
            for (place, weights) in follower.other_weights(part).into_iter().enumerate() {
                if takes(node, contract, block, part, weights).await? {
                    chosen = Some(place);
                    break;
                }
            }
            if let Some(place) = chosen {
                follower.choose_weights(part, place);
            } else {
                let note = follower.forget_weights();
                self.notes.push(format!("block {}: {note}", block.number));
                break;
            }
        }
        follower.confirm_weights();
        self.weighed = Some(epoch);
        Ok(())
    }

    /// Takes the weights of the running epoch, which no calldata tells, if the contract has these.
    pub(super) async fn take_weights(&mut self, weights: Vec<u64>) -> Result<bool> {
        let Some(Checkpoint { block, follower }) = self.checkpoints.back_mut() else { return Ok(false) };
        let mut taken = Follower::clone(follower);
        if !taken.take_weights(weights) {
            return Ok(false);
        }
        for (part, weights) in taken.packed_weights().into_iter().enumerate() {
            if !takes(&self.node, self.deployment.contract, *block, part, weights).await? {
                return Ok(false);
            }
        }
        taken.confirm_weights();
        *follower = Arc::new(taken);
        Ok(true)
    }

    /// The settlement after the last block that was read. The blocks before it may share it.
    pub(super) fn seen(&self) -> Option<&Follower> {
        self.checkpoints.back().map(|checkpoint| &*checkpoint.follower)
    }

    /// The same, to change: what it shares with the blocks before it is copied.
    pub(super) fn follower(&mut self) -> Option<&mut Follower> {
        self.checkpoints.back_mut().map(|checkpoint| Arc::make_mut(&mut checkpoint.follower))
    }
}

/// Whether the weights of a part are those of the contract: `publish` takes no others.
async fn takes(node: &Rpc, contract: Address, block: Block, part: usize, weights: Bytes) -> Result<bool> {
    let call = Settlement::publishCall { part: U256::from(part), weights };
    match node.read(contract, &call, Some(block.hash)).await {
        Ok(_) => Ok(true),
        Err(error) if error.revert().is_some() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// A transaction's logs, and its calldata if they need it.
struct Transaction {
    block: u64,
    events: Vec<SettlementEvent>,
    calldata: Bytes,
}

/// What differs from the contract. The contract tells its state hash, the last terms, and whether an epoch waits.
fn difference(
    follower: &Follower,
    block: u64,
    state: B256,
    terms: U256,
    waiting: bool,
    from_block: &str,
) -> SettlementError {
    let (head, terms) = (follower.head(), Head::decode(terms));
    let (epoch, is_waiting) = follower.last_epoch();
    let what = if terms.epoch != epoch {
        format!("the contract's last epoch is {}, that of the logs is {epoch}", terms.epoch)
    } else if waiting != is_waiting {
        let words = |waiting| if waiting { "waits to be entered" } else { "was entered" };
        format!("epoch {epoch} {} in the contract, and {} in the logs", words(waiting), words(is_waiting))
    } else if !waiting && terms != (Head { nonce: 0, paid: 0, ..head }) {
        format!("the contract's terms are {terms:?}, those of the logs are {head:?}")
    } else {
        format!(
            "the number of results ({} in the logs), the members paid ({}) or the newest base",
            head.nonce, head.paid
        )
    };
    SettlementError::Differs(format!(
        "after block {block} the contract's state is {state}, and the logs lead to {}; nothing is written. What differs: \
         {what}. The node left logs out, or {from_block} lies behind the deployment: try again, or another node",
        follower.state()
    ))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use alloy::primitives::{U64, keccak256};
    use quorate_evm::alloy_sol_types::{SolCall as _, SolEvent as _};
    use quorate_host::exit::{Ends as _, Exit};
    use quorate_lab::proxy::Proxy;
    use serde_json::{Value, json};
    use tokio::runtime;

    use super::*;
    use crate::log_window::windows;

    const OPTIONS: OptionNames = OptionNames {
        rpc: "--rpc",
        contract: "--contract",
        chain_id: "--chain-id",
        most_bond: "--most-bond",
        from_block: "--from-block",
        confirmations: "--confirmations",
        cursor: "--cursor",
    };

    /// A node without logs, of a chain up to [`NEWEST`]. The contract answers `state` and `terms` so.
    fn without_logs(state: &'static [u8], terms: U256) -> Proxy {
        Proxy::alone(move |method, parameters| {
            let block = |number: u64| {
                let hash = |number: u64| keccak256(number.to_be_bytes());
                let (at, parent) = (hash(number), hash(number.wrapping_sub(1)));
                let number = U64::from(number);
                json!({ "number": number, "hash": at, "parentHash": parent, "timestamp": "0x1", "baseFeePerGas": "0x1" })
            };
            Ok(match method {
                "eth_chainId" => json!("0x1"),
                "eth_getCode" => json!("0x60"),
                "eth_getLogs" => json!([]),
                "eth_getBlockByNumber" if parameters[0] == "latest" => block(NEWEST),
                "eth_getBlockByNumber" => block(serde_json::from_value::<U64>(parameters[0].clone()).unwrap().to()),
                "eth_call" => {
                    let data: Bytes = serde_json::from_value(parameters[0]["data"].clone()).unwrap();
                    if data[..] == Settlement::stateCall::SELECTOR {
                        json!(Bytes::from_static(state))
                    } else if data[..] == Settlement::termsCall::SELECTOR {
                        json!(B256::from(terms))
                    } else {
                        // Also: no epoch waits.
                        json!(B256::ZERO)
                    }
                }
                _ => Value::Null,
            })
        })
    }

    const NEWEST: u64 = 2_999;

    async fn opened(node: &Proxy) -> Result<Chain> {
        let node = Rpc::new(&node.url).unwrap();
        let settings = SettlementSettings {
            contract: Address::repeat_byte(1),
            chain_id: None,
            from_block: 0,
            confirmations: Confirmations::Blocks(0),
            blocks_at_once: SettlementSettings::BLOCKS_AT_ONCE,
            every: SettlementSettings::EVERY,
            cursor: "cursor".into(),
            options: OPTIONS,
        };
        let metrics = Arc::new(SettlementMetrics::begun(node.clone(), settings.every));
        Chain::open(node, &settings, metrics).await
    }

    fn compared(node: &Proxy) -> Result<bool> {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut chain = opened(node).await?;
            let target = chain.target().await?;
            assert_eq!(target, Target::Block(NEWEST));
            while matches!(chain.step(NEWEST).await?, Step::Read) {}
            assert_eq!(chain.block(), Some(NEWEST));
            chain.compare().await
        })
    }

    /// So `follow --once` ends also if the chain stays shorter than it was.
    #[test]
    fn a_node_that_stays_behind_is_believed_after_a_while() {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let node = without_logs(&[], U256::ZERO);
            let mut chain = opened(&node).await.unwrap();
            assert_eq!(chain.target().await.unwrap(), Target::Block(NEWEST));
            chain.newest.as_mut().unwrap().number += 5;
            assert_eq!(chain.target().await.unwrap(), Target::Unclear);
            assert_eq!(chain.notes.len(), 1, "{:?}", chain.notes);
            chain.shorter = Lag::of(Duration::ZERO);
            assert_eq!(chain.target().await.unwrap(), Target::Block(NEWEST));
        });
    }

    #[test]
    fn a_node_that_hangs_is_asked_three_times() {
        let new = quorate_evm::state::state(U256::ZERO, B256::ZERO);
        let (node, asked) = windows::hanging(&without_logs(new.0.to_vec().leak(), U256::ZERO));
        assert!(compared(&node).unwrap());
        assert_eq!(asked.lock().unwrap()[..4], windows::OF_HANGING);
    }

    /// A contract that nobody has called yet has no logs, and before its deployment it has no state.
    #[test]
    fn a_settlement_without_logs_may_be_new() {
        let new = quorate_evm::state::state(U256::ZERO, B256::ZERO);
        assert!(compared(&without_logs(new.0.to_vec().leak(), U256::ZERO)).unwrap());
        assert!(compared(&without_logs(&[], U256::ZERO)).unwrap());
    }

    /// A node cuts off what a log says. The contract has answered as a settlement does, so no option is wrong, and a service that ends with
    /// 1 is started again.
    #[test]
    fn a_node_that_garbles_its_logs_is_at_fault_and_not_the_address() {
        let node = Proxy::start(&without_logs(&[], U256::ZERO).url);
        node.tells(|question, answer| {
            if question["method"] == "eth_getLogs" {
                let (address, topics) = (Address::repeat_byte(1), [Settlement::KeyAdded::SIGNATURE_HASH]);
                answer["result"] = json!([{
                    "address": address, "topics": topics, "data": "0x00", "blockHash": B256::ZERO, "blockNumber": "0x7",
                    "transactionHash": B256::ZERO, "transactionIndex": "0x0", "logIndex": "0x0", "removed": false
                }]);
            }
            true
        });
        let error = compared(&node).unwrap_err();
        assert!(matches!(error, SettlementError::Log { block: 7, .. }), "{error}");
        assert_eq!(error.exit(), Exit::Negative);
        for words in ["block 7", "the log KeyAdded does not have the form", "try again, or another node"] {
            assert!(error.words().contains(words), "{}", error.words());
        }
    }

    /// The state says that there was an epoch, and the node shows no log at all.
    #[test]
    fn a_node_that_hides_all_logs_is_not_believed() {
        let head = Head { epoch: 1, ..Head::decode(U256::ZERO) }.encode().unwrap();
        let moved = quorate_evm::state::state(head, B256::ZERO);
        let error = compared(&without_logs(moved.0.to_vec().leak(), head)).unwrap_err();
        assert!(matches!(error, SettlementError::Differs(_)), "{error}");
        assert!(error.to_string().contains("the contract's last epoch is 1, that of the logs is 0"), "{error}");
    }
}
