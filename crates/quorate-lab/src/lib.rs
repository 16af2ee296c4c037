//! What only tests, benchmarks and demonstrations need. Never published: crates use it as a development dependency alone.
//!
//! | module | what it is | feature |
//! |---|---|---|
//! | `needs` | the checkout, and what a test does without something that it needs | |
//! | `vectors` | where the test data lies | |
//! | `answers` | every signature with a known answer, as bytes | `answers` |
//! | `bn254` | known answers on BN254 | `bn254` |
//! | `light_client` | committees, bootstraps and updates of a network that is made up | `light-client` |
//! | `forge` | true and false claims of every kind, and what the oracle says of them | `forge` |
//! | `terms` | the terms of some network | `terms` |
//! | `replay` | what must hold for whatever a chain's node answers about a network | `replay` |
//! | `bodies` | what must hold for whatever a peer says to a node | `bodies` |
//! | `command_line` | what must hold for the command line of every program | `command-line` |
//! | `run` | programs that a test runs | `run` |
//! | `samples` | sample outputs in the documents, compared with what programs print | `run` |
//! | `anvil` | a chain's node on this machine, and transactions to it | `anvil` |
//! | `operators` | operators of a settlement or a network, who sign | `anvil` |
//! | `settlement` | a settlement on a local chain, and its network as a test knows it | `anvil` |
//! | `proxy` | a chain's node that lies, refuses or hangs, in front of a true one | `anvil` |
//! | `network` | a whole network on this machine, as processes: for the demonstration, tests and benchmarks; on Unix | `network` |
//! | `timing` | whether the time of an operation tells something about a secret | `timing` |
//! | `simulator` | a network in one process that loses messages, crashes and lies | `simulator` |
//!
//! The program `quorate-lab` is the demonstration; with the feature `network`.
//!
//! What is not set up panics, because it fails a test: so functions here say in words what was missing, and return no errors.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "what a test cannot set up fails it")]

pub mod needs;
pub mod vectors;

#[cfg(feature = "answers")]
pub mod answers;
#[cfg(feature = "bn254")]
pub mod bn254;
#[cfg(feature = "light-client")]
pub mod light_client;
#[cfg(feature = "forge")]
pub mod forge;
#[cfg(feature = "terms")]
pub mod terms;
#[cfg(feature = "replay")]
pub mod replay;
#[cfg(feature = "bodies")]
pub mod bodies;
#[cfg(feature = "command-line")]
pub mod command_line;
#[cfg(feature = "run")]
pub mod run;
#[cfg(all(feature = "run", unix))]
pub mod samples;
#[cfg(feature = "anvil")]
pub mod anvil;
#[cfg(feature = "anvil")]
pub mod operators;
#[cfg(feature = "anvil")]
pub mod settlement;
#[cfg(feature = "anvil")]
pub mod proxy;
#[cfg(all(feature = "network", unix))]
pub mod network;
#[cfg(feature = "simulator")]
pub mod simulator;
#[cfg(feature = "timing")]
pub mod timing;
