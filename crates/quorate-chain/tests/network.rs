//! A `TaskNetwork` on a node: deployed, followed, settled, reported, reorganised, and paid for by a submitter.
//!
//! `rig/node.rs` of quorate-evm says which node that is.
#![allow(clippy::unwrap_used, reason = "what a test cannot run fails it")]

#[path = "../../quorate-evm/tests/rig/mod.rs"]
mod rig;

#[path = "network/follow.rs"]
mod follow;
#[path = "network/liar.rs"]
mod liar;
#[path = "../../quorate-evm/tests/rig/node.rs"]
mod node;
#[path = "network/submit.rs"]
mod submit;
#[path = "network/world.rs"]
mod world;
