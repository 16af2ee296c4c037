//! Follows contracts of BLS quorums on an EVM chain, and submits to them: what a node of a task network, and the
//! program `quorate-chain`, have of a chain. It opens connections and holds at most the key that pays for a
//! transaction, never an operator's.
//!
//! ```text
//! a node ── NetworkFollower ──> changes, and the NetworkView to plan with
//! a planned call ── Submitter ──> transactions, until one is final
//! a node ── SettlementFollower ── Watcher ──> demands, drops, proofs
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`revert`] | a contract's error in words |
//! | [`halt`] | why the EVM stopped a call that no contract reverted |
//! | [`refusal`] | why a node does not take a transaction |
//! | [`rpc`] | [`Rpc`]: questions to a node |
//! | `log_window` | how many blocks a node is asked for the logs of at once |
//! | `lag` | how long a chain that is shorter than it was is taken for the answer of a node that lags |
//! | [`task_network`] | follows a `TaskNetwork` by what a node says |
//! | [`nonce`] | the nonce of an account's next transaction, if no other one waits |
//! | [`fees`] | what is offered for a unit of gas |
//! | [`gas`] | the limit of a transaction's gas |
//! | `transaction` | a transaction and its signature |
//! | [`submitter`] | [`Submitter`]: the transactions of one account, from the call to finality |
//! | [`account`] | an [`Account`](account::Account) that sends one transaction at a time, and waits until it is mined |
//! | [`token`] | the approvals that a transfer needs, and calls of a token that count only if it answers `true`, or nothing |
//! | [`settlement`] | follows a settlement by what a node says |
//! | [`watch`] | [`Watcher`](watch::Watcher): recomputes what is posted to a settlement, and demands the proof of what is false |
//! | [`deploy`] | deploys a token, a verifier and a `TaskNetwork`, for demonstrations and tests |
//!
//! A module imports only modules above it. What logs and calldata say is computed in `quorate-evm`, without a node: of a
//! `TaskNetwork` in [`quorate_evm::task_network`], of a settlement in [`quorate_evm::follow`], and what a watcher does about a posting
//! in [`quorate_evm::watch`].

#![forbid(unsafe_code)]

pub mod revert;
pub mod halt;
pub mod refusal;
pub mod rpc;
mod log_window;
mod lag;
pub mod task_network;
pub mod nonce;
pub mod fees;
pub mod gas;
mod transaction;
pub mod submitter;
pub mod account;
pub mod token;
pub mod settlement;
pub mod watch;
pub mod deploy;

pub use fees::FeeLimits;
pub use halt::EvmHalt;
pub use rpc::{Rpc, RpcError, RpcLimits};
pub use submitter::{
    Call, Payer, PayerError, PayerFile, PayerFileError, SubmitError, SubmitEvent, SubmitSettings, Submitter,
};
