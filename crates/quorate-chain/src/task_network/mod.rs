//! Follows a [`TaskNetwork`](quorate_evm::task_network) on its chain, block by block.
//!
//! [`NetworkFollower::poll`] asks a node for what is new, and answers with changes in the order of the chain. What a
//! reorganisation undoes comes first, newest first. [`NetworkFollower::view`] is the network after them, with which quorums are
//! planned.
//!
//! The follower makes a [`NetworkDraft`](quorate_evm::task_network::NetworkDraft), and compares it with the contract as
//! [`quorate_evm::task_network`] says. It reads the weights of a snapshot from the verifier's `weightsOf`, and asks
//! `isSettledAs` and `slashableFrom` for settled tasks of epochs that are open and for slashed operators. A node that lies is an
//! error that changes nothing.
//!
//! NOT detected: that a node leaves out the log of a settled task, of a withdrawal or of a claim, and a node whose
//! contract states are made up as well as its logs. Ask a node of your own, or one that you trust.

mod error;
mod terms;
mod confirmations;
mod follower;

pub use confirmations::Confirmations;
pub use error::NetworkFollowError;
pub use follower::{FollowDepth, FollowSettings, NetworkFollower};
pub use terms::read_terms;
