//! BLS quorums that an EVM contract settles: everything an operator, an aggregator or a test does off the chain.
//!
//! ```text
//! digest -> message point -> signatures -> sum -> base, difference, hints -> packed quorum, head -> calldata
//! ```
//!
//! | module | noun |
//! |---|---|
//! | [`bn254`] | points in the EVM's byte order, keys, signatures, the dual-key check |
//! | [`bls12381`] | keys and signatures of the back end on BLS12-381, in the contract's order |
//! | [`hash_to_curve`] | bytes to a point of G1: RFC 9380, hinted try-and-increment, EigenLayer's |
//! | [`digest`] | what operators sign: results, tasks, and possession of their own key |
//! | [`profile`] | networks that sign on BN254: `drand-evmnet`, `eigenlayer` |
//! | [`hint`] | roots, inverses and slopes that a contract checks instead of computing |
//! | [`bitmap`] | the members of a quorum, in the one form that a contract accepts |
//! | [`back_end`] | which curve and which group hold the keys: [`BackEnd`] |
//! | [`state`] | the one word that a settlement changes: its head, the newest base, how many members are enough |
//! | [`gas`] | what settling costs, with every constant in one place |
//! | [`base`](mod@base) | quorums whose key is known, and the one from which a new quorum is cheapest |
//! | [`refresh`] | when to store a new base: policies over a trace, and the best that could have been done |
//! | [`quorum`] | the packed bytes of a quorum, both ways |
//! | [`contract`] | the contracts' ABI and creation code |
//! | [`network`] | a settlement as its aggregator follows it, and the next call |
//!
//! A module imports only modules above it.
//!
//! BN254 gives about 100 bits of security, and its arithmetic here (arkworks) is **not constant time**: see
//! [`SecretKey`] before signing anything of value with it. Verifying handles nothing secret.
//!
//! ```
//! use quorate_evm::{SecretKey, bn254, hash_to_curve::try_and_increment};
//! let operators: Vec<_> = (1u8..4).map(|i| SecretKey::from_entropy(&[i; 48])).collect();
//! let digest = [7; 32];
//! let message = try_and_increment(&digest).point;
//! let signature = operators.iter().map(|operator| operator.sign(&message)).sum();
//! let key = bn254::aggregate(operators.iter().map(SecretKey::public_key_g2)).expect("not the identity");
//! assert!(bn254::verify(&key, &message, &signature));
//! ```

#![forbid(unsafe_code)]

mod keccak;

pub mod bn254;
pub mod bls12381;
pub mod hash_to_curve;
pub mod digest;
pub mod profile;
pub mod hint;
pub mod bitmap;
pub mod back_end;
pub mod state;
pub mod gas;
pub mod base;
pub mod refresh;
pub mod quorum;
pub mod contract;
pub mod network;

pub use alloy_primitives;
pub use alloy_sol_types;
pub use back_end::BackEnd;
pub use base::Base;
pub use bitmap::Bitmap;
pub use bn254::{DualKey, MessagePoint, ParseError, PublicKey, SecretKey, Signature};
pub use keccak::keccak256;
pub use network::{Network, NetworkError, Plan, PlanError};
pub use profile::{Profile, Reason};
pub use quorum::{KeySum, Proof, Quorum};
pub use state::Head;
