//! What only tests, benchmarks and demonstrations need. Never published: crates use it as a development dependency alone.
//!
//! | module | what it is | feature |
//! |---|---|---|
//! | [`needs`] | the checkout, and what a test does without something that it needs | |
//! | [`vectors`] | where the test data lies | |
//! | [`answers`] | every signature with a known answer, as bytes | `answers` |
//! | [`bn254`] | known answers on BN254 | `bn254` |
//! | [`run`] | programs that a test runs | `run` |
//! | [`samples`] | sample outputs in the documents, compared with what programs print | `run` |
//! | [`anvil`] | a chain's node on this machine, and transactions to it | `anvil` |
//! | [`operators`] | operators of a settlement or a network, who sign | `anvil` |
//! | [`proxy`] | a chain's node that lies, refuses or hangs, in front of a true one | `anvil` |
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
#[cfg(feature = "run")]
pub mod run;
#[cfg(all(feature = "run", unix))]
pub mod samples;
#[cfg(feature = "anvil")]
pub mod anvil;
#[cfg(feature = "anvil")]
pub mod operators;
#[cfg(feature = "anvil")]
pub mod proxy;
