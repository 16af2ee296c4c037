//! A node's verifier as a service. Claims come over HTTP, gRPC and Unix sockets; the verdicts go back; sources that send
//! false claims are banned. `docs/server.md` says how to run it.
//!
//! The program is `quorate-server`. This library is what it is made of, so that tests and benchmarks can start a server in
//! their own process:
//!
//! ```no_run
//! # async fn example() -> anyhow::Result<()> {
//! use quorate_server::{Server, config::Config};
//!
//! let mut config = Config::default();
//! config.listen.address = "127.0.0.1:0".to_owned();
//! let server = Server::start(config).await?;
//! println!("http://{}", server.address().expect("an address was configured"));
//! server.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! It holds no secret keys of signers. Without a file of clients it has no login: it trusts those who can reach its address and its
//! sockets to say who sent them a claim, and nothing else. With one, a client can speak of its own sources alone.

#![forbid(unsafe_code)]

// What the server is told, and what it writes about itself.
pub mod config;
pub mod log;

// Who may ask anything.
mod clients;

// What requests may hold together.
pub mod budget;

// From bytes to claims, and from verdicts to answers. These know no network.
pub mod claims;
mod answer;

// Assumed-valid checkpoints that the server holds.
mod board;

// What is counted.
mod metrics;

// Who is banned, on disk.
mod bans;

// What a node that syncs asks of servers.
pub mod fetch;

// Whether the threads that verify hang.
mod liveness;

// What is shared by everything that is served.
mod app;

// What is served.
pub mod grpc;
mod api;
mod dashboard;

// All together, and traffic to look at.
mod server;
pub mod demo;

pub use api::document as openapi;
pub use server::{Reloaded, Server};
