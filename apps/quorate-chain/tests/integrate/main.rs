//! The whole way from nothing to a settled result: the guide's commands, and restaked stake.
//!
//! The tests need what `make contracts` installs and builds, and the program `quorate`, which `cargo test --workspace` builds.
//! If something is absent, the tests print that they are skipped and pass; with `CI=true` they fail.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "what a test cannot run fails it")]

mod adapters;
mod guide;
mod tools;
