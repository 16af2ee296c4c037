//! A simulated network, in which the roles are attacked: messages are dropped, delayed, doubled and overtake each other; the
//! network falls apart and heals; clocks differ; operators crash at any output, and up to a third of the stake lies; the
//! chain is reorganised. All chance comes from one seed, so a run can be repeated.
//!
//! A [`Scenario`] says what goes wrong. [`run`] runs it and checks after each step of a node:
//!
//! - An honest node never counts a signer twice, adds a false signature, submits too little weight, or submits what it knows
//!   to be settled or has pending.
//! - An honest operator is never slashed, fined, accused or blamed by an honest node, and its signer is never asked for
//!   what the contract would slash, crashes included.
//! - The chain settles no id twice, no false verdict, and nobody's task but the elected performer's.
//! - A node holds no more than its bounds.
//!
//! And in the end:
//!
//! - Every task whose performer published one result has settled with the true verdict, if enough honest stake could sign it: an
//!   operator that signed the task under a snapshot that was replaced signs no other result.
//! - Every operator whose conflict honest nodes saw is slashed for it. The two halves may have been seen by two nodes.
//! - Nothing is left of tasks that cannot settle.
//!
//! | module | contents |
//! |---|---|
//! | `chance` | random numbers from the seed |
//! | `faults` | what goes wrong |
//! | `operators` | stakes, keys, liars |
//! | `signer` | modelled signatures, and the signer with its record |
//! | `chain` | snapshots, submissions and reports with the contract's rules; reorganisations |
//! | `mesh` | who forwards gossip to whom |
//! | `judge` | the invariants |
//! | `world` | the network, and the edge of each node |
//! | `figures` | messages, bytes and time to quorum of large networks |

mod chance;
mod faults;
mod operators;
mod signer;
mod chain;
mod mesh;
mod judge;
mod world;
#[cfg(test)]
mod tests;
mod figures;

pub use faults::{Lie, Scenario};
pub use figures::{Figures, measure};
pub use judge::Violation;
pub use world::SimulatedOutcome;

/// Runs a scenario with a seed. The same seed gives the same run.
///
/// # Errors
/// The first [`Violation`] of an invariant.
pub fn run(scenario: &Scenario, seed: u64) -> Result<SimulatedOutcome, Violation> {
    world::World::new(scenario, seed).run()
}
