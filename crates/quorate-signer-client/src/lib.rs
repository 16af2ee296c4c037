//! The signer of a quorate network: a process that holds an operator's key, so that the node, which faces the network, holds
//! none. It never signs two tasks that conflict, whatever it is asked. So a stolen node cannot make the operator lose its
//! stake.
//!
//! This library is what a node needs to talk to the signer. The key, the record on disk and the rules by which the signer
//! signs are in the program alone.
//!
//! | module | contents |
//! |---|---|
//! | [`network`] | the network that a signer signs for, and its epochs |
//! | [`record_file`] | what a signer signed, as a file that moves to another machine |
//! | [`protocol`] | requests and answers, one JSON object a line |
//! | [`mod@line`] | lines of a stream, of bounded length |
//! | [`client`] | asks a signer |
//!
//! A module imports only modules above it. `docs/signer.md` has the rules and their reasons.

#![forbid(unsafe_code)]

pub mod network;
pub mod record_file;
pub mod protocol;
pub mod line;
pub mod client;

pub use client::{SignerClient, SignerError};
