//! The batcher with real signatures and real threads, and the store with real files and real kills.

#![allow(clippy::unwrap_used, reason = "tests")]

mod claims;

mod batcher;
mod kill;
mod memory;
mod members;
mod sources;
mod store;
#[cfg(feature = "tower")]
mod tower;
