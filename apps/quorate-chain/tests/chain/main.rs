//! The program on a node: settlements are made by transactions, followed, taken back by reorganisations, and sent.
//!
//! `quorate_lab::anvil` says which node that is.
#![allow(clippy::unwrap_used, reason = "what a test cannot run fails it")]

mod errors;
mod follow;
mod program;
mod send;
mod transactions;
mod watch;
mod weigh;
