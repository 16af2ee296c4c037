//! Whole networks on this machine: a chain, signers and nodes as processes, whose outcomes are read from the chain and from the
//! nodes' HTTP interface.
//!
//! The chain is the `anvil` that `make contracts` installs, the signer is the program of `quorate-signer`, and `quorate-lab`
//! executes the tasks. If one of them is absent, the tests print that they are skipped and pass; with `CI=true` they fail. What
//! takes long is ignored: `make network` runs it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "what a test cannot set up fails it")]

mod rig;

mod client;
mod crashes;
mod hostile;
mod outages;
mod raw;
mod reorganisations;
mod rotation;
mod settling;
mod watch;
