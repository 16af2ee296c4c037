//! Why a network cannot be followed.

use alloy::primitives::Address;
use quorate_evm::task_network::BlockContradiction;

use crate::rpc::RpcError;

/// Why a network cannot be followed, or not now. The follower is as it was before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkFollowError {
    /// The node gave no answer that can be used.
    #[error(transparent)]
    Rpc(#[from] RpcError),
    /// There is no contract at the address, or the node has not read the chain up to it.
    #[error(
        "there is no contract at {contract} on chain {chain_id}; check the address, and which chain the node is of, or wait if it has not \
         read the whole chain yet"
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
    #[error("{0}; nothing was changed. Ask another node, or follow from the block of the deployment on")]
    Contradiction(#[from] BlockContradiction),
    /// A block that was final is not the chain's any more.
    #[error(
        "block {block} was final, and the node's chain does not have it: the node lies or is of another chain, or the \
         confirmations are too few; compare with another node, and follow anew with more"
    )]
    FinalBlockUndone {
        /// The block.
        block: u64,
    },
    /// The node's chain ends before what was read of it, for longer than a node may lag.
    #[error(
        "the chain's node is behind: its newest block is {newest}, and block {read} was read before; wait until it has read the chain, \
         or ask another node"
    )]
    Behind {
        /// The node's newest block.
        newest: u64,
        /// The last block that was read.
        read: u64,
    },
    /// The node's chain ends before the first block that is to be read.
    #[error(
        "the newest block of the chain's node is {newest}, and the network is followed from block {from_block} on: name the block of its \
         deployment, or wait until the node has read the chain"
    )]
    NotBegun {
        /// The node's newest block.
        newest: u64,
        /// The first block that is to be read.
        from_block: u64,
    },
    /// The chain does not become final, and as many blocks as allowed wait for it.
    #[error("{0} blocks with changes are not final; ask another node, or follow with fewer confirmations")]
    NotFinal(usize),
}
