//! A network from logs that were read before, without a node.

use std::collections::BTreeMap;

use alloy::{
    primitives::{B256, Bytes, Log as Emitted},
    rpc::types::Log,
};
use quorate_evm::Network;

use super::{
    change::Change,
    error::Contradiction,
    log::Event,
    state::{State, Transaction},
    terms::ContractTerms,
};

/// Follows a network by logs from an archive, or from a fuzzer: what [`NetworkFollower`](super::NetworkFollower) does with a node's
/// logs, without a node.
///
/// Logs are compared with each other, and with the id of each snapshot whose weights are given. Nothing is compared
/// with the contract, so whoever made the logs is believed. A reorganisation is not known here.
#[derive(Clone, Debug)]
pub struct Replay {
    terms: ContractTerms,
    state: State,
}

impl Replay {
    /// A network without keys.
    pub fn new(terms: ContractTerms) -> Self {
        Self { terms, state: State::default() }
    }

    /// Takes the logs of one transaction, in their order, and says what changed. Logs of other contracts are passed
    /// over. The calldata may hold calls of the network at any place; at most 256 are looked at. `weights` has those of
    /// each epoch whose snapshot is in these logs; without them, the snapshot is not told, and nothing can be planned
    /// in its epoch.
    ///
    /// Cost: each log once, and the calldata once for each of its bytes at which a call begins.
    ///
    /// # Errors
    /// [`Contradiction`]; the network is as it was before.
    pub fn transaction(
        &mut self,
        block: u64,
        hash: B256,
        logs: &[Emitted],
        calldata: &Bytes,
        weights: &BTreeMap<u64, Vec<u64>>,
    ) -> Result<Vec<Change>, Contradiction> {
        let mut events = Vec::new();
        for log in logs {
            let log =
                Log { inner: log.clone(), block_number: Some(block), transaction_hash: Some(hash), ..Log::default() };
            events.extend(Event::decode(&log, self.terms.contract, self.terms.verifier)?);
        }
        let mut state = self.state.clone();
        let transaction = Transaction { hash, events, calldata: calldata.clone() };
        let changes = state.apply(&self.terms, &transaction, weights)?;
        self.state = state;
        Ok(changes)
    }

    /// What a quorum of an epoch is planned with. `None` without its snapshot. The bases are those that the calldata
    /// stored; the verifier may hold others. Copies all keys.
    pub fn network(&self, epoch: u64) -> Option<Network> {
        self.state.network(&self.terms, epoch)
    }

    /// How many keys the running table and the next one hold, and how many contracts the verifier created: its
    /// `extent()`.
    pub fn extent(&self) -> (u64, u64, u64) {
        self.state.extent()
    }
}
