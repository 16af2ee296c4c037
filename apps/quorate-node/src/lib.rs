//! A node of a task network: the edges of the state machine of `quorate-network`, to other nodes, the chain, the signer, the
//! disk and the user's programs.
//!
//! ```text
//! bytes ── wire ──> Message ── verification ──> Verified ── roles ──> outputs ── runtime ──> peers, chain, programs, signer, disk
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`transport`] | how nodes reach each other: a mesh of libp2p, or HTTP to an aggregator |
//! | `programs` | what executes a task and what judges a result: programs or endpoints of the user; on Unix |
//! | [`verification`] | whether the signatures of messages are true |
//! | [`kept_tasks`] | the tasks that a node has acknowledged |
//! | [`data_folder`] | what survives a restart, on disk |
//! | [`options`] | what a node is told: file, environment, flags |
//! | [`tokens`] | amounts of a token as people write them |
//! | [`network_terms`] | what a network of one's own is made with |
//! | [`board`] | what a running node shows: reports of its loop, readiness, views |
//! | `watch` | the watch of an optimistic settlement, beside the node's own work; on Unix |
//! | `api` | HTTP: health, metrics, status, the dashboard, and tasks of the operator; on Unix |
//! | `runtime` | a node that runs: the loop, and the task that follows the chain; on Unix |
//!
//! A module imports only modules above it.

#![forbid(unsafe_code)]

pub mod transport;
#[cfg(unix)]
pub mod programs;
pub mod verification;
pub mod kept_tasks;
pub mod data_folder;
pub mod options;
pub mod tokens;
pub mod network_terms;
mod metrics;
pub mod board;
mod dashboard;
#[cfg(unix)]
pub mod watch;
#[cfg(unix)]
pub mod api;
#[cfg(unix)]
pub mod runtime;
