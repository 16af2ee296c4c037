//! A `TaskNetwork` on a node: deployed, followed, settled, reported, reorganised, and paid for by a submitter.
//!
//! `quorate_lab::anvil` says which node that is.
#![allow(clippy::unwrap_used, reason = "what a test cannot run fails it")]

mod follow;
mod liar;
mod submit;
mod world;
