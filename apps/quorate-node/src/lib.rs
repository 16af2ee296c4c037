//! A node of a task network, without its edge: messages, elections and roles. No socket, clock, process, thread or file.
//!
//! The network's contract is `TaskNetwork`. Operators stake, and an epoch's snapshot fixes their weights. A *performer*,
//! elected by weight, executes a task and publishes the result. *Attesters* check it and sign a verdict. An *aggregator*
//! adds the signatures up and settles the task on the chain.
//!
//! ```text
//! bytes ── wire ──> Message ── signatures verified by the edge ──> Verified ── roles ──> outputs, which the edge carries out
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`message`] | what nodes send each other |
//! | [`wire`] | the same as bytes |
//! | [`election`] | a task's performer, and the order of its aggregators |
//! | [`roles`] | performer, attester and aggregator as one state machine |
//! | `simulator` | a network of these that loses messages, crashes and lies; with the feature `simulator` |
//!
//! A module imports only modules above it.

#![forbid(unsafe_code)]

pub mod message;
pub mod wire;
pub mod election;
pub mod roles;
#[cfg(any(test, feature = "simulator"))]
pub mod simulator;
