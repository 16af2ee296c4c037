//! A task network: what its nodes send each other, and what each of them does, without a socket, clock, process, thread or
//! file. Whoever embeds it gives it messages that were verified, the time and what the chain says, and does what it answers.
//!
//! The network's contract is `TaskNetwork`. Operators stake, and an epoch's snapshot fixes their weights. A *performer*,
//! elected by weight, executes a task and publishes the result. *Attesters* check it and sign a verdict. An *aggregator*
//! adds the signatures up and settles the task on the chain.
//!
//! ```text
//! bytes ── wire ──> Message ── (verified) ──> roles ──> outputs: messages, calls, work, signatures, state to keep
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`message`] | what nodes send each other |
//! | [`wire`] | the same as bytes |
//! | [`election`] | a task's performer, and the order of its aggregators |
//! | [`groups`] | who adds up whose signatures |
//! | [`roles`] | performer, attester and aggregator as one state machine |
//! | [`registry`] | the operators' keys, by snapshot and index; who may be a peer |
//! | [`schedule`] | tasks that begin at fixed times |
//!
//! A module imports only modules above it. The program `quorate-node` is this with libp2p or HTTP, a chain, and a signer.

#![forbid(unsafe_code)]

pub mod message;
pub mod wire;
pub mod election;
pub mod groups;
pub mod roles;
pub mod registry;
pub mod schedule;
