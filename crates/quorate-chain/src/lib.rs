//! Follows contracts of BLS quorums on an EVM chain, and submits to them: what a node of a task network, and the
//! program `quorate-chain`, have of a chain. It opens connections and holds at most the key that pays for a
//! transaction, never an operator's.
//!
//! ```text
//! logs, calldata ── task_network::Follower ──> changes, and the network to plan with
//! a quorum ── task_network::settle ──> a planned call ── Submitter ──> transactions, until one is final
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`revert`] | a contract's error in words |
//! | [`rpc`] | [`Rpc`]: questions to a node |
//! | [`task_network`] | follows a `TaskNetwork`, and makes the calls of its operators and aggregators |
//! | [`fees`] | what is offered for a unit of gas |
//! | [`submitter`] | [`Submitter`]: the transactions of one account, from the call to finality |
//! | [`deploy`] | deploys a token, a verifier and a `TaskNetwork`, for demonstrations and tests |
//!
//! A module imports only modules above it. The program follows settlements, which are another kind of contract, by
//! [`quorate_evm::follow`].

#![forbid(unsafe_code)]

pub mod revert;
pub mod rpc;
pub mod task_network;
pub mod fees;
pub mod submitter;
pub mod deploy;

pub use fees::FeeLimits;
pub use rpc::{Rpc, RpcError, RpcLimits};
pub use submitter::{Call, Payer, SubmitError, SubmitEvent, SubmitSettings, Submitter};
