//! Threshold signatures on BLS12-381: a key is shared among n participants, and any t of them make one signature.
//!
//! A dealer, or the participants together, choose a polynomial φ of degree t - 1 over Fr. The secret key is φ(0), and the
//! share of a participant is φ(x), where x is the participant's point. Each participant signs a message with the share
//! as with any secret key. The signature of the group is a sum of t such signature shares, each multiplied by a number
//! that depends on the points alone: the Lagrange coefficient at zero.
//!
//! | module | noun |
//! |---|---|
//! | [`committee`] | [`Committee`]: t, n, and the points of the participants |
//! | [`stake`] | [`Allotment`](stake::Allotment): stakes turned into few shares for each signer |
//! | [`interpolation`] | [`Interpolation`]: which shares are summed, and by what they are multiplied |
//! | `transform`, private | polynomials whose coefficients are points |
//! | [`sharing`] | [`deal`], [`KeyShare`] and the [`Commitment`] that proves it |
//! | [`pedersen`] | commitments that hide what they commit to |
//! | [`verification`] | all verification keys of a [`Commitment`] at once, and weighted sums of them |
//! | [`evaluations`] | [`EvaluationCommitment`]: a commitment that is all verification keys, for many participants |
//! | [`collector`] | [`Collector`]: takes signature shares as they arrive, and names the false ones |
//! | [`shared_key`] | [`SharedKey`]: all that is public of a shared key, and its file |
//! | [`one_round`] | sharing by one transcript a dealer, which anyone verifies |
//! | [`dkg`] | ceremonies: a key that nobody ever holds whole, shared anew, or a lost share recovered |
//!
//! Recovering a signature from 2^20 of 2^21 - 1 decoded shares in G1 takes 0.6 GB of memory at its peak: about 600 bytes a
//! share.
//!
//! A module imports only modules above it. Both variants are there: keys in G1 and keys in G2. BN254 is not.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod committee;
pub mod stake;
pub mod interpolation;
mod transform;
pub mod sharing;
pub mod pedersen;
pub mod verification;
pub mod evaluations;
pub mod collector;
pub mod shared_key;
pub mod one_round;
pub mod dkg;

pub use collector::{Collector, CollectorError, CollectorWork, ShareError};
pub use committee::{Committee, CommitteeError, Identifiers, Index};
pub use evaluations::{EvaluationCommitment, EvaluationError, Reconstruction};
pub use interpolation::{Interpolation, InterpolationError, Method};
pub use shared_key::{SharedKey, SharedKeyError};
pub use sharing::{Commitment, KeyShare, SharingError, deal};
