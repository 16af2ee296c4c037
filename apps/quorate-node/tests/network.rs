//! Whole networks on this machine: a chain, signers and nodes as processes, whose outcomes are read from the chain and from the
//! nodes' HTTP interface.
//!
//! The chain is the `anvil` that `make contracts` installs, and the signer is the program of `quorate-signer`. If one of them
//! is absent, the tests print that they are skipped and pass; with `CI=true` they fail. What takes long is ignored:
//! `make network` runs it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "what a test cannot set up fails it")]

#[path = "network/rig.rs"]
mod rig;

#[path = "network/client.rs"]
mod client;
#[path = "network/crashes.rs"]
mod crashes;
#[path = "network/hostile.rs"]
mod hostile;
#[path = "network/outages.rs"]
mod outages;
#[path = "network/proxy.rs"]
mod proxy;
#[path = "network/raw.rs"]
mod raw;
#[path = "network/reorganisations.rs"]
mod reorganisations;
#[path = "network/rotation.rs"]
mod rotation;
#[path = "network/settling.rs"]
mod settling;
