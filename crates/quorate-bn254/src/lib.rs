//! BLS signatures on the curve BN254, whose pairing the EVM computes by a precompiled contract.
//!
//! A secret key signs a message in two steps: the message is hashed to a point of G1, and the point is multiplied by the
//! secret. A verifier compares two pairings. Signatures add up: the sum of several signatures over one message verifies
//! under the sum of the signers' keys.
//!
//! ```
//! use quorate_bn254::{Bn254SecretKey, aggregate, hash_to_curve::try_and_increment, verify};
//! let operators: Vec<_> = (1u8..4).map(|i| Bn254SecretKey::from_entropy(&[i; 48])).collect();
//! let message = try_and_increment(&[7; 32]).point;
//! let signature = operators.iter().map(|operator| operator.sign(&message)).sum();
//! let key = aggregate(operators.iter().map(Bn254SecretKey::public_key_g2)).expect("these keys do not cancel");
//! assert!(verify(&key, &message, &signature));
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`encoding`] | points to bytes in the EVM's byte order, and back with every check |
//! | `signature` | [`MessagePoint`], [`Bn254Signature`] |
//! | `ladder` | a point times a secret, in constant time |
//! | `key` | [`Bn254PublicKey`] in G1 or in G2, [`Bn254SecretKey`] |
//! | `verify` | [`verify`], [`verify_all`], [`aggregate_verify`] |
//! | `dual_key` | [`DualKey`]: the keys of one secret in both groups |
//! | [`hash_to_curve`] | bytes to a point of G1, in three ways |
//! | `suite` | [`Bn254Suite`]: six suites in the form of the IETF, and the conventions of `drand-evmnet` and `eigenlayer` |
//!
//! A module imports only modules above it.
//!
//! # Byte order
//!
//! Every word has 32 bytes, is big-endian, and is below the field modulus. A point of G1 is x ‖ y (64 bytes). A point of
//! G2 is x imaginary ‖ x real ‖ y imaginary ‖ y real (128 bytes), as EIP-197 has it. Zeros encode the identity.
//!
//! G1 has cofactor 1, so a point on the curve is in the group. G2 has a large cofactor, so every point of G2 is checked
//! for membership in the subgroup of order r.
//!
//! # What this crate does not do
//!
//! - It does not judge claims. Repeated messages, keys that cancel and the possession of keys are rules of
//!   an aggregate; the engine `quorate` applies them to the suites of this crate (feature `bn254`).
//! - Verifying does not take constant time: it handles nothing secret. [`Bn254SecretKey`] says what does.
//! - BN254 gives about 100 bits of security. New designs that do not need the EVM's BN254 precompiles should take
//!   BLS12-381.
//!
//! The types of points and field elements are those of arkworks: [`G1Affine`], [`G2Affine`], [`Fq`], [`Fq2`], [`Fr`].

#![forbid(unsafe_code)]

mod keccak;

pub mod encoding;
mod signature;
mod ladder;
mod key;
mod verify;
mod dual_key;
pub mod hash_to_curve;
mod suite;

pub use ark_bn254::{Fq, Fq2, Fr, G1Affine, G2Affine};
pub use dual_key::{DualKey, challenge, dual_key_verify};
pub use encoding::{Bn254Coordinate, Bn254Item, Bn254ParseError, KeyPoint};
pub use keccak::keccak256;
pub use key::{Bn254PublicKey, Bn254SecretKey, aggregate, sum};
pub use signature::{Bn254Signature, MessagePoint};
pub use suite::{Bn254Suite, DRAND_EVMNET_TAG, UnknownBn254Suite, drand_message};
pub use verify::{aggregate_verify, pairing_is_one, verify, verify_all};
