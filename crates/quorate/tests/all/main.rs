//! The tests of the engine through its public interface, in one binary, so that the engine is compiled once for all.
//!
//! `quorate_lab::forge` makes true and false claims for them, and asks the oracle about these.
//!
//! | module | what it checks |
//! |---|---|
//! | [`options`] | the backends, threads and soundnesses under which batches are verified |
//! | [`vectors`] | known answers |
//! | [`graphs`] | random graphs of keys and messages: the batch against the oracle |
//! | [`bdn`] | multi-signatures with coefficients |
//! | [`lanes`] | batches around every width of a vector |
//! | [`culprits`] | the search for false claims |
//! | [`torsion`] | signatures outside the subgroup, of every order |
//! | [`weights`] | that each bit of the caller's generator is used, and how often few weights err |
//! | [`single`] | what one signature allocates |
//! | [`threads`] | where the operating system gives no threads |
//! | [`verifier`] | the entry for claims as bytes |
//! | [`hash_cache`] | hashes that a verifier keeps |
//! | [`key_sets`] | key sets, and claims that name their members |
#![allow(clippy::unwrap_used, reason = "what a test cannot set up fails it")]

mod options;

mod bdn;
mod culprits;
mod graphs;
mod hash_cache;
mod key_sets;
mod lanes;
mod patience;
mod single;
#[cfg(target_os = "linux")]
mod threads;
mod torsion;
mod vectors;
mod verifier;
mod weights;
