//! Why a settlement cannot be followed.

use std::{fmt, io, path::PathBuf};

use alloy::primitives::{Address, B256, U256};
use quorate_evm::{
    amount,
    follow::{BadLog, FollowError},
};
use quorate_host::{
    exit::{Ends, Exit},
    file::FileError,
};

use crate::rpc::RpcError;

/// By which names a program's options are known, for messages that say what to change.
#[derive(Clone, Copy, Debug)]
pub struct OptionNames {
    /// The URL of the chain's node.
    pub rpc: &'static str,
    /// The settlement's address.
    pub contract: &'static str,
    /// The chain's id.
    pub chain_id: &'static str,
    /// The highest bond of a demand.
    pub most_bond: &'static str,
    /// The block from which logs are read.
    pub from_block: &'static str,
    /// How many blocks must follow a block before its logs count.
    pub confirmations: &'static str,
    /// What names the file of the cursor.
    pub cursor: &'static str,
}

/// Why a settlement cannot be followed, or not now.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettlementError {
    /// The node did not answer the first question.
    #[error("check {option}")]
    NoNode {
        /// The option that names the node.
        option: &'static str,
        /// Why there is no answer.
        source: Box<RpcError>,
    },
    /// The node is one of another chain than the one that is named.
    #[error("the node is of chain {found}, and {option} is {expected}; check {rpc}")]
    AnotherChain {
        /// The node's chain.
        found: u64,
        /// The chain that is named.
        expected: u64,
        /// The option that names it.
        option: &'static str,
        /// The option that names the node.
        rpc: &'static str,
    },
    /// The node gave no answer that can be used.
    #[error(transparent)]
    Rpc(#[from] RpcError),
    /// The node answers with logs that are in no block.
    #[error("the node answers eth_getLogs with logs of no block; use another node")]
    NoBlock,
    /// The node does not have a transaction that left logs.
    #[error("the node has logs of transaction {0} and not the transaction; use a node that keeps them")]
    NoTransaction(B256),
    /// There is no contract at the address, or the node has not read the chain up to it.
    #[error(
        "there is no contract at {contract} on chain {chain_id}; check {option} and {rpc}, or wait if the node has not read the whole \
         chain yet"
    )]
    NoContract {
        /// The address.
        contract: Address,
        /// The node's chain.
        chain_id: u64,
        /// The option that names the contract.
        option: &'static str,
        /// The option that names the node.
        rpc: &'static str,
    },
    /// The contract answers otherwise than a settlement.
    #[error("{contract} on chain {chain_id} does not answer as a settlement does; check {option}")]
    NotASettlement {
        /// The address.
        contract: Address,
        /// The node's chain.
        chain_id: u64,
        /// The option that names the contract.
        option: &'static str,
        /// Its answer.
        source: Box<RpcError>,
    },
    /// Nothing is posted to the settlement.
    #[error("{contract} is a settlement to which nothing is posted, so there is nothing to watch; check {option}")]
    NothingPosted {
        /// The address.
        contract: Address,
        /// The option that names the contract.
        option: &'static str,
        /// Its answer.
        source: Box<RpcError>,
    },
    /// A posting would be final before it was recomputed, or nearly so.
    #[error("{option} {confirmations} leaves less than half of the window of {window_blocks} blocks; choose fewer")]
    TooManyConfirmations {
        /// The option.
        option: &'static str,
        /// Its value.
        confirmations: u64,
        /// The contract's window.
        window_blocks: u32,
    },
    /// A demand costs more than is allowed.
    #[error(
        "a demand costs a bond of {}, and {option} is {}; check the contract and its node, or allow more",
        amount::exact(U256::from(*bond), amount::COIN_DECIMALS),
        amount::exact(U256::from(*most), amount::COIN_DECIMALS)
    )]
    BondTooHigh {
        /// The bond, in wei.
        bond: u128,
        /// The most that is allowed, in wei.
        most: u128,
        /// The option that says so.
        option: &'static str,
    },
    /// A log has another form than a settlement's. The contract has answered as a settlement does before any log is read.
    #[error(
        "block {block}: a log cannot be read, and nothing is written; the node garbles its logs: try again, or another node"
    )]
    Log {
        /// Its block.
        block: u64,
        /// What is wrong.
        source: BadLog,
    },
    /// The logs contradict each other.
    #[error("block {block}")]
    Contradiction {
        /// The block.
        block: u64,
        /// What is wrong.
        source: FollowError,
    },
    /// The contract does not have the state to which the logs lead.
    #[error("{0}")]
    Differs(String),
    /// The file of the cursor is not one.
    #[error("{}: {why}; delete it, and the logs are read anew", path.display())]
    Cursor {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
        /// Where it is wrong, if it is no cursor at all.
        source: Option<serde_json::Error>,
    },
    /// The cursor is that of another settlement.
    #[error("{}: it belongs to {found}, and not to {expected}; choose another {option}", path.display())]
    CursorOfAnother {
        /// The file.
        path: PathBuf,
        /// The settlement of the cursor.
        found: SettlementPlace,
        /// The settlement that is followed.
        expected: SettlementPlace,
        /// The option that names the file.
        option: &'static str,
    },
    /// The file of the cursor cannot be read.
    #[error(transparent)]
    Unread(#[from] FileError),
    /// The file of the cursor cannot be written.
    #[error("cannot write {}", path.display())]
    Unwritten {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// A contract on a chain, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettlementPlace {
    /// The address.
    pub contract: Address,
    /// The chain's id.
    pub chain_id: u64,
}

impl fmt::Display for SettlementPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on chain {}", self.contract, self.chain_id)
    }
}

impl SettlementError {
    /// Whether the same may succeed later, without anybody changing an option: the node or the disk is at fault.
    pub fn may_pass(&self) -> bool {
        self.exit() == Exit::Io
    }

    /// The error with its causes, in one line.
    pub fn words(&self) -> String {
        let mut words = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            words.push_str(": ");
            words.push_str(&error.to_string());
            cause = error.source();
        }
        words
    }
}

impl Ends for SettlementError {
    fn exit(&self) -> Exit {
        match self {
            // A node that reads its chain anew has no contract for a while: who goes on has to ask it again.
            Self::NoNode { .. }
            | Self::Rpc(_)
            | Self::NoBlock
            | Self::NoTransaction(_)
            | Self::NoContract { .. }
            | Self::Unwritten { .. } => Exit::Io,
            Self::AnotherChain { .. }
            | Self::NotASettlement { .. }
            | Self::NothingPosted { .. }
            | Self::TooManyConfirmations { .. }
            | Self::BondTooHigh { .. }
            | Self::Cursor { .. }
            | Self::CursorOfAnother { .. } => Exit::Usage,
            Self::Log { .. } | Self::Contradiction { .. } | Self::Differs(_) => Exit::Negative,
            Self::Unread(error) => error.exit(),
        }
    }
}
