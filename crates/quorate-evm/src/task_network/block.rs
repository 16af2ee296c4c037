//! The logs of a block, checked and decoded.

use std::collections::BTreeMap;

use alloy_primitives::{B256, Bytes};

use super::{
    contradiction::{BlockContradiction, Contradiction},
    log::{BlockId, Event, PlacedLog},
    state::{TransactionLogs, needs_calldata},
    terms::ContractTerms,
};

/// The logs of one block that say something about a network.
#[derive(Clone, Debug)]
pub struct BlockLogs {
    pub(super) id: BlockId,
    pub(super) transactions: Vec<TransactionLogs>,
}

impl BlockLogs {
    /// Logs by block and transaction, in the order of the chain. Those of other contracts and topics are passed over.
    ///
    /// # Errors
    /// [`BlockContradiction`]: a log has another form than a network's, is not of the blocks from `from` to `last`, or stands
    /// in one place with another.
    pub fn of(
        terms: &ContractTerms,
        mut logs: Vec<PlacedLog>,
        from: u64,
        last: BlockId,
    ) -> Result<Vec<Self>, BlockContradiction> {
        logs.sort_by_key(|log| (log.block.0, log.index));
        let mut blocks: Vec<Self> = Vec::new();
        let mut before = None;
        for log in logs {
            let PlacedLog { block: (number, hash), transaction, index, .. } = log;
            let is_in_range = (from..=last.0).contains(&number) && (number != last.0 || hash == last.1);
            if !is_in_range || before.replace((number, index)) == Some((number, index)) {
                return Err(Contradiction::OtherBlock.at(number));
            }
            let event = Event::decode(&log, terms.contract, terms.verifier).map_err(|why| why.at(number))?;
            let Some(event) = event else { continue };
            if blocks.last().is_none_or(|block| block.id.0 != number) {
                blocks.push(Self { id: (number, hash), transactions: Vec::new() });
            }
            let Some(block) = blocks.last_mut() else { continue };
            if block.id.1 != hash {
                return Err(Contradiction::OtherBlock.at(number));
            }
            match block.transactions.last_mut() {
                Some(last) if last.hash == transaction => last.events.push(event),
                _ => block.transactions.push(TransactionLogs {
                    hash: transaction,
                    events: vec![event],
                    calldata: Bytes::new(),
                }),
            }
        }
        Ok(blocks)
    }

    /// The block.
    pub fn id(&self) -> BlockId {
        self.id
    }

    /// The transactions whose logs do not say all, so that their calldata is needed.
    pub fn needs_calldata<'a>(&'a self, terms: &ContractTerms) -> impl Iterator<Item = B256> + use<'a> {
        let key_group = terms.key_group;
        let needed = move |transaction: &&TransactionLogs| needs_calldata(key_group, &transaction.events);
        self.transactions.iter().filter(needed).map(|transaction| transaction.hash)
    }

    /// Takes the calldata of transactions, by their hashes. It may hold calls of the network at any place; at most 256 are
    /// looked at.
    pub fn add_calldata(&mut self, calldata: &BTreeMap<B256, Bytes>) {
        for transaction in &mut self.transactions {
            if let Some(calldata) = calldata.get(&transaction.hash) {
                transaction.calldata = calldata.clone();
            }
        }
    }

    /// The epochs whose snapshots are in these logs and whose weights are needed at a second in Unix time. Once conflicts of
    /// an epoch can no longer be reported, its snapshot says nothing to anybody.
    pub fn needs_weights<'a>(&'a self, terms: &'a ContractTerms, time: u64) -> impl Iterator<Item = u64> + 'a {
        let epoch = move |event: &Event| match event {
            Event::Snapshotted { epoch, .. } if terms.slashable_until(*epoch) > time => Some(*epoch),
            _ => None,
        };
        self.transactions.iter().flat_map(|transaction| &transaction.events).filter_map(epoch)
    }
}
