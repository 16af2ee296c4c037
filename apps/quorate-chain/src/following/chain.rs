//! A settlement on its chain: read block by block, taken back when the chain is reorganised, compared with the contract.

use std::{collections::VecDeque, sync::Arc};

use alloy::{
    primitives::{Address, B256, Bytes, U256},
    rpc::types::{Filter, Log},
};
use anyhow::anyhow;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use quorate_chain::rpc::{Rpc, RpcBlock, RpcPatience};
use quorate_evm::{
    bls12381::DigestHash,
    contract::{OptimisticSettlement, Settlement},
    follow::{Deployment, Follower, Note, SettlementEvent, SlotPosting},
    posting::ProofDemand,
    state::Head,
};
use quorate_host::exit::{Failure, Result};

use super::metrics::Metrics;
use crate::{
    cursor::{Cursor, VERSION},
    wallet::chain_of,
};

/// How far behind the newest block is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Confirmations {
    /// So many blocks follow the last one that is read.
    Blocks(u64),
    /// The last block that is read is final.
    Finalized,
}

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

/// What a step did.
#[derive(Debug)]
pub(crate) enum Step {
    /// Blocks were read; there are more.
    Read,
    /// All blocks are read that are confirmed.
    Done,
}

/// A settlement, as far as its chain was read.
pub(crate) struct Chain {
    node: Rpc,
    deployment: Deployment,
    /// The settlement's registrar, which cannot be changed.
    registrar: Address,
    from_block: u64,
    confirmations: Confirmations,
    /// The most blocks in one question for logs.
    most: u64,
    /// How many blocks are asked for next.
    page: u64,
    checkpoints: VecDeque<Checkpoint>,
    /// The last block after which the contract was compared.
    compared: Option<Block>,
    /// How often the last blocks were read again, since the contract last matched.
    read_again: u32,
    /// The epoch whose weights were compared with the contract's.
    weighed: Option<u32>,
    /// The newest block of the chain, as it was seen last.
    newest: Option<RpcBlock>,
    /// What the user should know, since it was asked for.
    pub(crate) notes: Vec<String>,
    metrics: Arc<Metrics>,
}

/// A reorganisation is undone if it goes back no farther than so many steps. Otherwise the logs are read anew.
const CHECKPOINTS: usize = 64;

/// How often blocks are read again whose logs do not lead to the contract's state.
const READ_AGAIN: u32 = 3;

/// How many transactions are asked for at a time.
const AT_A_TIME: usize = 8;

impl Chain {
    /// Asks the node for the chain's id and the contract for what is fixed in it.
    pub(crate) async fn open(
        node: Rpc,
        contract: Address,
        from_block: u64,
        confirmations: Confirmations,
        most: u64,
        metrics: Arc<Metrics>,
    ) -> Result<Self> {
        let chain_id = chain_of(&node).await?;
        let code = node.code(contract).await.map_err(Failure::io)?;
        if code.is_empty() {
            let error = anyhow!("there is no contract at {contract} on chain {chain_id}; check --contract and --rpc");
            return Err(Failure::usage(error));
        }
        let pinned = node.read(contract, &Settlement::pinnedSlotsCall {}, None).await;
        let changes = node.read(contract, &Settlement::changesAStoreCall {}, None).await;
        let registrar = node.read(contract, &Settlement::registrarCall {}, None).await;
        let (Ok(pinned), Ok(changes), Ok(registrar)) = (&pinned, &changes, &registrar) else {
            let error = [pinned.err(), changes.err(), registrar.err()].into_iter().flatten().next();
            let error = error.map_or_else(|| anyhow!("no answer"), anyhow::Error::from);
            let what = format!("{contract} on chain {chain_id} does not answer as a settlement does; check --contract");
            return Err(Failure::usage(error.context(what)));
        };
        let deployment = Deployment {
            chain_id,
            contract,
            // No slot has a larger number, and no quorum changes more members.
            pinned_slots: u16::try_from(*pinned).unwrap_or(u16::MAX),
            changes_a_store: u32::try_from(*changes).unwrap_or(u32::MAX),
            digest_hash: DigestHash::in_code(&code),
        };
        let (checkpoints, notes) = (VecDeque::new(), Vec::new());
        let registrar = *registrar;
        Ok(Self {
            node,
            deployment,
            registrar,
            from_block,
            confirmations,
            most,
            page: most,
            checkpoints,
            compared: None,
            read_again: 0,
            weighed: None,
            newest: None,
            notes,
            metrics,
        })
    }

    /// Goes on from a cursor, which must be one of this settlement.
    pub(crate) fn resume(&mut self, cursor: Cursor) -> anyhow::Result<()> {
        let Deployment { chain_id, contract, .. } = *cursor.follower.deployment();
        if (chain_id, contract) != (self.deployment.chain_id, self.deployment.contract) {
            anyhow::bail!(
                "it belongs to {contract} on chain {chain_id}, and not to {} on chain {}; choose another --network file",
                self.deployment.contract,
                self.deployment.chain_id,
            );
        }
        self.from_block = cursor.from_block;
        let block = Block { number: cursor.block, hash: cursor.hash };
        self.checkpoints = VecDeque::from([Checkpoint { block, follower: cursor.follower.into() }]);
        Ok(())
    }

    /// Where to go on later; `None` if nothing was read.
    pub(crate) fn cursor(&self) -> Option<Cursor> {
        let Checkpoint { block, follower } = self.checkpoints.back()?;
        Some(Cursor {
            version: VERSION,
            from_block: self.from_block,
            block: block.number,
            hash: block.hash,
            follower: Follower::clone(follower),
        })
    }

    /// The last block that was read.
    pub(crate) fn block(&self) -> Option<u64> {
        self.checkpoints.back().map(|checkpoint| checkpoint.block.number)
    }

    /// The block up to which is read, at this moment; `None` if there is none yet.
    pub(crate) async fn target(&mut self) -> Result<Option<u64>> {
        let newest = self.node.block("latest").await.map_err(Failure::io)?;
        if let Some(newest) = newest {
            self.metrics.head(newest.number, newest.timestamp);
            self.newest = Some(newest);
        }
        Ok(match self.confirmations {
            Confirmations::Finalized => {
                let finalized = self.node.block("finalized").await.map_err(Failure::io)?.map(|block| block.number);
                self.metrics.finalized(finalized);
                finalized
            }
            Confirmations::Blocks(behind) => newest.and_then(|block| block.number.checked_sub(behind)),
        })
    }

    /// The newest block of the chain, as [`target`](Self::target) saw it last.
    pub(crate) fn newest(&self) -> Option<RpcBlock> {
        self.newest
    }

    /// Whether nothing was read, and the first block lies behind the target.
    pub(crate) fn is_before(&self, target: Option<u64>) -> bool {
        self.block().is_none() && target.is_none_or(|target| target < self.from_block)
    }

    /// Forgets the blocks that are not the chain's any more.
    pub(crate) async fn go_back(&mut self) -> Result<()> {
        let mut left = None;
        while let Some(Checkpoint { block, .. }) = self.checkpoints.back() {
            if self.is_of_chain(*block).await? {
                break;
            }
            left = Some(block.number);
            self.weighed = None;
            self.checkpoints.pop_back();
        }
        if let Some(block) = left {
            self.metrics.reorganised();
            let next = self.block().map_or(self.from_block, |block| block + 1);
            self.notes.push(format!(
                "block {block} is not the chain's any more: the logs are read anew from block {next} on"
            ));
        }
        Ok(())
    }

    async fn block_at(&self, number: u64) -> Result<Option<Block>> {
        let found = self.node.block_at(number).await.map_err(Failure::io)?;
        Ok(found.map(|RpcBlock { number, hash, .. }| Block { number, hash }))
    }

    async fn is_of_chain(&self, block: Block) -> Result<bool> {
        Ok(self.block_at(block.number).await? == Some(block))
    }

    /// Reads the next blocks, up to a target.
    pub(crate) async fn step(&mut self, target: u64) -> Result<Step> {
        let from = self.block().map_or(self.from_block, |block| block + 1);
        if from > target {
            return Ok(Step::Done);
        }
        let to = target.min(from.saturating_add(self.page - 1));
        // If the last block is the same before and after, the logs are those of one chain.
        let Some(last) = self.block_at(to).await? else { return Ok(Step::Done) };
        let filter = Filter::new()
            .address(vec![self.deployment.contract, self.registrar])
            .event_signature(SettlementEvent::TOPICS.to_vec())
            .from_block(from)
            .to_block(to);
        let patience = if self.page > 1 { RpcPatience::Once } else { RpcPatience::Retry };
        let transactions = match self.node.logs(&filter, patience).await {
            Ok(logs) => self.transactions(logs).await,
            Err(_) if self.page > 1 => {
                self.page /= 2;
                return Ok(Step::Read);
            }
            Err(error) => return Err(Failure::io(error)),
        };
        if !self.is_of_chain(last).await? {
            // What was read, or why it was not, says nothing. The caller looks for the common block before the next step.
            return Ok(Step::Done);
        }
        let transactions = transactions?;
        let mut follower = self
            .checkpoints
            .back()
            .map_or_else(|| Arc::new(Follower::new(self.deployment)), |checkpoint| checkpoint.follower.clone());
        for Transaction { block, events, calldata } in &transactions {
            let notes = Arc::make_mut(&mut follower).apply(events, calldata);
            let notes = notes
                .map_err(|error| Failure::refused(anyhow::Error::from(error).context(format!("block {block}"))))?;
            self.notes.extend(notes.iter().map(|note| format!("block {block}: {note}")));
            events.iter().for_each(|event| self.metrics.event(event));
        }
        self.metrics.read(to);
        self.checkpoints.push_back(Checkpoint { block: last, follower });
        if self.checkpoints.len() > CHECKPOINTS {
            self.checkpoints.pop_front();
        }
        self.page = self.most.min(self.page * 2);
        Ok(if to == target { Step::Done } else { Step::Read })
    }

    /// The logs by transaction, with the calldata that they need.
    async fn transactions(&self, mut logs: Vec<Log>) -> Result<Vec<Transaction>> {
        logs.sort_by_key(|log| (log.block_number, log.log_index));
        let mut transactions: Vec<(B256, Transaction)> = Vec::new();
        for log in logs {
            let (Some(hash), Some(block), false) = (log.transaction_hash, log.block_number, log.removed) else {
                return Err(Failure::io(anyhow!(
                    "the node answers eth_getLogs with logs of no block; use another node"
                )));
            };
            // What the registrar and the settlement emit under each other's topics says nothing.
            let of_registrar = log.topic0() == Some(&SettlementEvent::TOPIC_OF_REGISTRAR);
            if log.address() != if of_registrar { self.registrar } else { self.deployment.contract } {
                continue;
            }
            let event = SettlementEvent::decode(&log.inner)
                .map_err(|error| Failure::usage(anyhow::Error::from(error).context(format!("block {block}"))))?;
            let Some(event) = event else { continue };
            match transactions.last_mut() {
                Some((last, transaction)) if *last == hash => transaction.events.push(event),
                _ => transactions.push((hash, Transaction { block, events: vec![event], calldata: Bytes::new() })),
            }
        }
        let filled = stream::iter(transactions).map(|(hash, mut transaction)| async move {
            if transaction.events.iter().any(SettlementEvent::needs_calldata) {
                let calldata = self.node.calldata(hash).await.map_err(Failure::io)?;
                transaction.calldata = calldata.ok_or_else(|| {
                    Failure::io(anyhow!(
                        "the node has logs of transaction {hash} and not the transaction; use a node that keeps them"
                    ))
                })?;
            }
            Ok(transaction)
        });
        filled.buffered(AT_A_TIME).try_collect().await
    }

    /// Compares what the logs say with the contract, after the last block that was read. Leaves out, with a note, a base that
    /// the contract's slot does not hold, and weights whose hash the contract does not have.
    ///
    /// The answer is `false` if the block is not the chain's any more: the caller looks for the common block.
    pub(crate) async fn compare(&mut self) -> Result<bool> {
        let Some(block) = self.checkpoints.back().map(|checkpoint| checkpoint.block) else { return Ok(true) };
        if self.compared == Some(block) {
            return Ok(true);
        }
        if let Err(failure) = self.compare_last().await {
            // A node need not know a contract's state after a block that its chain has left.
            return if let Ok(false) = self.is_of_chain(block).await { Ok(false) } else { Err(failure) };
        }
        (self.compared, self.read_again) = (Some(block), 0);
        self.metrics.matched(block.number);
        Ok(true)
    }

    /// Forgets the blocks of the last step, so that they are read again: a node may know a block before it finds its logs. `false` if that
    /// was tried often enough, or if only the cursor is left.
    pub(crate) fn read_again(&mut self) -> bool {
        if self.read_again == READ_AGAIN || self.checkpoints.len() < 2 {
            return false;
        }
        self.read_again += 1;
        self.weighed = None;
        self.checkpoints.pop_back();
        true
    }

    async fn compare_last(&mut self) -> Result<()> {
        let Some(Checkpoint { block, follower }) = self.checkpoints.back_mut() else { return Ok(()) };
        if **follower == Follower::new(self.deployment) {
            // The contract may not be deployed yet.
            return Ok(());
        }
        let (node, contract, block) = (&self.node, self.deployment.contract, *block);
        let state = node.read(contract, &Settlement::stateCall {}, Some(block.hash)).await.map_err(Failure::io)?;
        if state != follower.state() {
            let terms = node.read(contract, &Settlement::termsCall {}, Some(block.hash)).await.map_err(Failure::io)?;
            let waiting =
                node.read(contract, &Settlement::waitingCall {}, Some(block.hash)).await.map_err(Failure::io)?;
            return Err(Failure::refused(difference(follower, block.number, state, terms, waiting)));
        }
        for SlotPosting { posting, status, .. } in follower.postings().filter(|posting| posting.is_open()) {
            let demand_ = ProofDemand::named(status.demand());
            let call = OptimisticSettlement::statusOfCall { posting: posting.named(), demand_ };
            let found = node.read(contract, &call, Some(block.hash)).await.map_err(Failure::io)?;
            if !status.is_that_of(found) {
                return Err(Failure::refused(anyhow!(
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
            if node.read(contract, &call, Some(block.hash)).await.map_err(Failure::io)? != commitment {
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

    /// The settlement after the last block that was read.
    pub(crate) fn follower(&mut self) -> Option<&mut Follower> {
        self.checkpoints.back_mut().map(|checkpoint| Arc::make_mut(&mut checkpoint.follower))
    }
}

/// Whether the weights of a part are those of the contract: `publish` takes no others.
async fn takes(node: &Rpc, contract: Address, block: Block, part: usize, weights: Bytes) -> Result<bool> {
    let call = Settlement::publishCall { part: U256::from(part), weights };
    match node.read(contract, &call, Some(block.hash)).await {
        Ok(_) => Ok(true),
        Err(error) if error.revert().is_some() => Ok(false),
        Err(error) => Err(Failure::io(error)),
    }
}

/// A transaction's logs, and its calldata if they need it.
struct Transaction {
    block: u64,
    events: Vec<SettlementEvent>,
    calldata: Bytes,
}

/// What differs from the contract. The contract tells its state hash, the last terms, and whether an epoch waits.
fn difference(follower: &Follower, block: u64, state: B256, terms: U256, waiting: bool) -> anyhow::Error {
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
    anyhow!(
        "after block {block} the contract's state is {state}, and the logs lead to {}; nothing is written. What differs: \
         {what}. The node left logs out, or --from-block lies behind the deployment: try again, or another node",
        follower.state()
    )
}
