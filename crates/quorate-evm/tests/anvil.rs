//! The contracts on a node: deployed, followed and driven from Rust, by transactions.
//!
//! The node is the `anvil` that `make contracts` installs. If it is absent, the tests print that they are skipped and pass;
//! with `CI=true` they fail.
#![allow(clippy::unwrap_used, reason = "what a test cannot run fails it")]

mod rig;

#[path = "anvil/chain.rs"]
mod chain;
#[path = "anvil/settlement.rs"]
mod settlement;
#[path = "anvil/task_network.rs"]
mod task_network;
