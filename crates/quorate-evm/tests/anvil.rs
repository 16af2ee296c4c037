//! The contracts on a node: deployed, followed and driven from Rust, by transactions.
//!
//! `rig/node.rs` says which node that is.
#![allow(clippy::unwrap_used, reason = "what a test cannot run fails it")]

mod rig;

#[path = "rig/node.rs"]
mod node;
#[path = "anvil/settlement.rs"]
mod settlement;
#[path = "anvil/task_network.rs"]
mod task_network;
