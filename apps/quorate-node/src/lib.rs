//! A node of a task network: messages, elections and roles without a socket, clock, process, thread or file; and the edges:
//! to other nodes, and to the user's programs.
//!
//! The network's contract is `TaskNetwork`. Operators stake, and an epoch's snapshot fixes their weights. A *performer*,
//! elected by weight, executes a task and publishes the result. *Attesters* check it and sign a verdict. An *aggregator*
//! adds the signatures up and settles the task on the chain.
//!
//! ```text
//! bytes ── wire ──> Message ── verification ──> Verified ── roles ──> outputs ── runtime ──> peers, chain, programs, signer, disk
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`message`] | what nodes send each other |
//! | [`wire`] | the same as bytes |
//! | [`election`] | a task's performer, and the order of its aggregators |
//! | [`groups`] | who adds up whose signatures |
//! | [`roles`] | performer, attester and aggregator as one state machine |
//! | [`transport`] | how nodes reach each other: a mesh of libp2p, or HTTP to an aggregator |
//! | `programs` | what executes a task and what judges a result: programs or endpoints of the user; on Unix |
//! | [`registry`] | the operators' keys, by snapshot and index; who may be a peer |
//! | [`verification`] | whether the signatures of messages are true |
//! | [`schedule`] | tasks that begin at fixed times |
//! | [`data_folder`] | what survives a restart, on disk |
//! | [`options`] | what a node is told: file, environment, flags |
//! | [`tokens`] | amounts of a token as people write them |
//! | [`network_terms`] | what a network of one's own is made with |
//! | [`board`] | what a running node shows: reports of its loop, readiness, views |
//! | `api` | HTTP: health, metrics, status, the dashboard, and tasks of the operator; on Unix |
//! | `runtime` | a node that runs: the loop, and the task that follows the chain; on Unix |
//! | `local` | a whole network on one machine, as processes: for demonstrations, tests and benchmarks; on Unix |
//! | `simulator` | a network of these that loses messages, crashes and lies; with the feature `simulator` |
//!
//! A module imports only modules above it.

#![forbid(unsafe_code)]

pub mod message;
pub mod wire;
pub mod election;
pub mod groups;
pub mod roles;
pub mod transport;
#[cfg(unix)]
pub mod programs;
pub mod registry;
pub mod verification;
pub mod schedule;
pub mod data_folder;
pub mod options;
pub mod tokens;
pub mod network_terms;
mod metrics;
pub mod board;
mod dashboard;
#[cfg(unix)]
pub mod api;
#[cfg(unix)]
pub mod runtime;
#[cfg(unix)]
pub mod local;
#[cfg(any(test, feature = "simulator"))]
pub mod simulator;
