//! What is wrong with logs, or with what a contract answers.

use alloy_primitives::B256;

use crate::follow::BadLog;

/// What the chain says of a block contradicts the contract's rules, or itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("block {block}: {why}")]
pub struct BlockContradiction {
    /// The block, or the one in whose state the contract was asked.
    pub block: u64,
    /// What contradicts what.
    pub why: Contradiction,
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

impl Contradiction {
    /// The contradiction at a block.
    pub fn at(self, block: u64) -> BlockContradiction {
        BlockContradiction { block, why: self }
    }
}

impl From<BadLog> for Contradiction {
    fn from(BadLog { name, why }: BadLog) -> Self {
        Self::Form { name, why }
    }
}
