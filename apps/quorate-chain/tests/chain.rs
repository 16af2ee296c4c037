//! The program on a node: settlements are made by transactions, followed, taken back by reorganisations, and sent.
//!
//! `rig/node.rs` of quorate-evm says which node that is.
#![allow(clippy::unwrap_used, reason = "what a test cannot run fails it")]

#[path = "../../../crates/quorate-evm/tests/rig/mod.rs"]
mod rig;

#[path = "chain/errors.rs"]
mod errors;
#[path = "chain/follow.rs"]
mod follow;
#[path = "../../../crates/quorate-evm/tests/rig/node.rs"]
mod node;
#[path = "chain/program.rs"]
mod program;
#[path = "chain/proxy.rs"]
mod proxy;
#[path = "chain/send.rs"]
mod send;
#[path = "chain/transactions.rs"]
mod transactions;
#[path = "chain/world.rs"]
mod world;
