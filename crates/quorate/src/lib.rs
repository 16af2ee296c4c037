//! BLS signatures at network scale: verify claims in bulk, and say which one is false.
//!
//! There are two ways in. If your claims are bytes, or if the user chooses the suite, call [`Verifier::verify`]. If you
//! have decoded keys and signatures, call [`verify`](verify()). To verify one signature alone, call
//! [`ClaimBytes::verify`] or [`PublicKey::verify`]. Both ways in follow one path:
//!
//! ```text
//! bytes -> parse -> Claim -> Plan (pure) -> execute and search (the only arithmetic) -> settle (pure) -> Verdicts
//! ```
//!
//! The crate has no clock, no I/O, no global thread pool and no random numbers of its own. Random numbers come from the
//! caller, through [`rand_core`] 0.10 (re-exported), which `rand` 0.10 implements.
//!
//! All features are off by default. `bn254` adds the suites on BN254. `serde` serializes keys, signatures, suites,
//! sources and verdicts. `kyber` adds the coefficients of the library kyber (`bdn::kyber`).
//!
//! | module | noun |
//! |---|---|
//! | [`threads`] | jobs on as many threads as the caller says |
//! | [`suite`] | which group holds the keys, which tag, which scheme: [`Suite`], [`MinPk`], [`MinSig`], [`AnySuite`] |
//! | [`tag`] | [`Tag`]: a domain separation tag of the caller's, in the place of the suite's |
//! | [`hexadecimal`] | [`from_hex`], [`array_from_hex`]: bytes as people write them |
//! | [`parse`] | [`ParseError`]: what can be wrong with bytes or text |
//! | [`key`] | [`PublicKey`], checked once; [`SecretKey`], wiped and redacted |
//! | [`signature`] | [`Signature`], in the subgroup; [`UncheckedSignature`], on the curve so far |
//! | [`proof_of_possession`] | proofs that the owner of a key holds the secret |
//! | [`mod@aggregate`] | sums and differences of signatures and of keys |
//! | [`bdn`] | one message, many signers, no proofs of possession: keys and signatures with coefficients |
//! | [`claim`] | [`Claim`]: "these keys signed these messages, and this is the sum of their signatures" |
//! | [`verdict`] | [`Verdict`], [`Reason`], and the [`Outcome`] of a batch |
//! | [`known`] | [`Known`]: statements verified earlier, subtracted from a later claim |
//! | [`naive`] | each claim by its own pairings: the oracle that everything else must agree with |
//! | [`single`] | one signature at a time, without allocation: [`PublicKey::verify`] |
//! | [`keyset`] | [`KeySet`]: a committee's keys, and their sums by bitmap |
//! | [`claim_bytes`] | [`ClaimBytes`]: a claim as bytes that nobody has decoded yet |
//! | [`plan`] | [`Plan`]: the fewest pairings that prove a set of claims, as data |
//! | [`mod@execute`] | the arithmetic of a plan; it keeps its partial values |
//! | [`culprit`] | the search for the false claims of a batch that failed |
//! | [`mod@verify`] | claims to verdicts: [`verify`](verify()) |
//! | [`verifier`] | bytes to verdicts: [`Verifier`], the one entry for claims of any suites |
//! | [`expected`] | [`Expected`]: what a block's claims must prove, so that none is left out |
//!
//! A module imports only modules above it.
//!
//! # Example
//!
//! ```
//! use quorate::{Claim, MinPk, Options, SecretKey, Verdict, verify};
//! let suite = MinPk::Eth2;
//! let claims: Vec<_> = (0u8..3)
//!     .map(|i| {
//!         let secret = SecretKey::key_gen(suite, &[i; 32], b"")?;
//!         let message = vec![i];
//!         // The second signature is made for another message.
//!         let signature = if i == 1 { secret.sign(suite, b"other") } else { secret.sign(suite, &message) };
//!         Ok(Claim::single(suite, secret.public_key(), message, signature))
//!     })
//!     .collect::<Result<_, quorate::ParseError>>()?;
//!
//! let outcome = verify(&claims, &Options::default(), &mut rand::rng());
//! assert!(outcome.verdicts[0].is_valid() && outcome.verdicts[2].is_valid());
//! assert!(matches!(outcome.verdicts[1], Verdict::Invalid(_)));
//! # Ok::<(), quorate::ParseError>(())
//! ```
//!
//! # What it does not check
//!
//! - Whether the owners of several keys over one message possess their secrets. A POP suite is safe only if someone
//!   checked that: [`proof_of_possession`], [`KeySet::prove`]. A BDN suite needs no such check: [`bdn`].
//! - The single signatures in an aggregate. The verdict is about their sum.
//! - What the caller puts into [`Known`]. It is subtracted and not verified.

#![forbid(unsafe_code)]

/// The examples of the README and of the library's guide are tested with those of this crate.
#[cfg(doctest)]
mod guides {
    #[doc = include_str!("../../../README.md")]
    struct Readme;

    #[doc = include_str!("../../../docs/library.md")]
    struct Library;
}

pub mod threads;
mod recent;
pub mod tag;
pub mod hexadecimal;
pub mod parse;
pub mod suite;
#[cfg(feature = "bn254")]
mod bn254;
pub mod key;
pub mod signature;
pub mod proof_of_possession;
pub mod aggregate;
pub mod bdn;
pub mod claim;
pub mod verdict;
pub mod known;
mod hash_cache;
pub mod naive;
pub mod single;
pub mod keyset;
pub mod claim_bytes;
pub mod plan;
pub mod execute;
pub mod culprit;
pub mod verify;
pub mod verifier;
pub mod expected;

pub use aggregate::MisuseError;
pub use claim::{Claim, SourceId};
pub use claim_bytes::{ClaimBytes, Messages, PublicKeys};
pub use culprit::{Exhaustive, Patience};
pub use expected::{Completeness, Expected, Finding};
pub use hexadecimal::{NotHex, array_from_hex, from_hex};
pub use key::{PublicKey, SecretKey};
pub use keyset::{AnyKeySet, Bitmap, KeySet, Members};
pub use known::Known;
pub use parse::{DecodeError, ParseError, SecretError};
pub use plan::{Forecast, Plan};
#[cfg(feature = "bn254")]
pub use quorate_bn254::Bn254Suite;
pub use quorate_curve::{Backend, Soundness};
pub use rand_core;
pub use signature::{Signature, UncheckedSignature};
pub use suite::{AnySuite, Bls12381Suite, InSuite, MinPk, MinSig, Scheme, Suite, UnknownSuite};
pub use tag::Tag;
pub use verdict::{Outcome, Reason, Verdict, Work};
pub use verifier::{Prepared, SumError, TrustError, Verifier};
pub use verify::{Keys, Options, all_valid, verify, verify_and_remember};
