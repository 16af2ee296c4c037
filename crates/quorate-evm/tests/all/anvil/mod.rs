//! The contracts on a node: deployed, followed and driven from Rust, by transactions.
//!
//! `quorate_lab::anvil` says which node that is.
#![allow(clippy::unwrap_used, reason = "what a test cannot run fails it")]

mod settlement;
mod task_network;
