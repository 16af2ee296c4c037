//! Follows contracts of BLS quorums on an EVM chain, and submits to them: what a node of a task network, and the
//! program `quorate-chain`, have of a chain. It opens connections and holds at most the key that pays for a
//! transaction, never an operator's.
//!
//! ```text
//! a node ── NetworkFollower ──> changes, and the NetworkView to plan with
//! a planned call ── Submitter ──> transactions, until one is final
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`revert`] | a contract's error in words |
//! | [`rpc`] | [`Rpc`]: questions to a node |
//! | [`task_network`] | follows a `TaskNetwork` by what a node says |
//! | [`fees`] | what is offered for a unit of gas |
//! | [`submitter`] | [`Submitter`]: the transactions of one account, from the call to finality |
//! | [`deploy`] | deploys a token, a verifier and a `TaskNetwork`, for demonstrations and tests |
//!
//! A module imports only modules above it. What logs and calldata say is computed in `quorate-evm`, without a node: of a
//! `TaskNetwork` in [`quorate_evm::task_network`], of a settlement, which the program follows, in [`quorate_evm::follow`].

#![forbid(unsafe_code)]

pub mod revert;
pub mod rpc;
pub mod task_network;
pub mod fees;
pub mod submitter;
pub mod deploy;

pub use fees::FeeLimits;
pub use rpc::{Rpc, RpcError, RpcLimits};
pub use submitter::{Call, Payer, PayerError, SubmitError, SubmitEvent, SubmitSettings, Submitter};
