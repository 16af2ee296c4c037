//! Why a network cannot be followed.

use alloy::primitives::{Address, B256};

use crate::rpc::RpcError;

/// Why a network cannot be followed, or not now. The follower is as it was before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkFollowError {
    /// The node gave no answer that can be used.
    #[error(transparent)]
    Rpc(#[from] RpcError),
    /// There is no contract at the address.
    #[error(
        "there is no contract at {contract} on chain {chain_id}; check the address, and which chain the node is of"
    )]
    NoContract {
        /// The address.
        contract: Address,
        /// The node's chain.
        chain_id: u64,
    },
    /// The contract is not a network.
    #[error("{contract} on chain {chain_id} is not a task network: {why}; check the address")]
    NotANetwork {
        /// The address.
        contract: Address,
        /// The node's chain.
        chain_id: u64,
        /// What no network has.
        why: String,
    },
    /// What the node says of a block contradicts the contract's rules, or itself.
    #[error(
        "block {block}: {why}; nothing was changed. Ask another node, or follow from the block of the deployment on"
    )]
    Contradiction {
        /// The block, or the one in whose state the contract was asked.
        block: u64,
        /// What contradicts what.
        why: Contradiction,
    },
    /// A block that was final is not the chain's any more.
    #[error(
        "block {block} was final, and the node's chain does not have it: the node lies or is of another chain, or the \
         confirmations are too few; compare with another node, and follow anew with more"
    )]
    FinalBlockUndone {
        /// The block.
        block: u64,
    },
    /// The chain does not become final, and as many blocks as allowed wait for it.
    #[error("{0} blocks with changes are not final; ask another node, or follow with fewer confirmations")]
    NotFinal(usize),
}

/// What contradicts what.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Contradiction {
    /// A log has the topic of a network's log, and not its form.
    #[error("the log {name} is not one of a network: {why}")]
    Form {
        /// The log.
        name: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// Logs are missing, or they are of different chains.
    #[error("logs are missing: {what} {found} follows, expected {expected}")]
    Gap {
        /// What is counted.
        what: &'static str,
        /// The number in the log.
        found: u64,
        /// The number that follows those before.
        expected: u64,
    },
    /// A log names something that the logs before it do not have.
    #[error("a log names {what} {number}, and no log before it does")]
    Unknown {
        /// What it names.
        what: &'static str,
        /// Its number.
        number: u64,
    },
    /// Keys, owners, weights or the beacon are not those of the snapshot's id.
    #[error("the keys and weights of epoch {epoch} are not those that its snapshot's id is a hash of")]
    SnapshotId {
        /// The epoch.
        epoch: u64,
    },
    /// Logs are of another block than the one that the node's chain has.
    #[error("the node has logs of another block than the one that its chain has with this number")]
    OtherBlock,
    /// The node has a transaction's logs, and not the transaction.
    #[error("the node has logs of transaction {0}, and not the transaction")]
    NoTransaction(B256),
    /// The contract says something else than its logs.
    #[error("the contract's {what} is not what its logs say: {found}, expected {expected}")]
    Contract {
        /// What was asked.
        what: &'static str,
        /// What the contract says.
        found: String,
        /// What the logs say.
        expected: String,
    },
}
