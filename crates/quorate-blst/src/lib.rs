//! The Rust API of the crate `blst` on quorate's engine: the same calls with the same answers, faster where many claims
//! or many keys come together.
//!
//! ```toml
//! [dependencies]
//! blst = { package = "quorate-blst", path = "../quorate/crates/quorate-blst" }
//! ```
//!
//! That line, with the path of a clone of the repository (nothing is published yet), is the whole change: what compiled
//! with blst 0.3.17 compiles, and gives the same results, error for error. `docs/drop-in.md` in the repository says with
//! which programs this was tried, and names each difference.
//!
//! ```
//! use quorate_blst::{BLST_ERROR, min_pk::{SecretKey, Signature}};
//! let dst = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_";
//! let secret = SecretKey::key_gen(&[1; 32], &[]).expect("32 bytes");
//! let signature = secret.sign(b"hello", dst, &[]);
//! let error = signature.verify(true, b"hello", dst, &[], &secret.sk_to_pk(), true);
//! assert_eq!(error, BLST_ERROR::BLST_SUCCESS);
//! ```
//!
//! # What the engine does, and what blst does
//!
//! | calls | by |
//! |---|---|
//! | secret keys, encodings, single checks, the raw functions | blst |
//! | `verify`, `fast_aggregate_verify`: one message | the engine's way for one claim: one loop for both pairings |
//! | `verify_multiple_aggregate_signatures`, `aggregate_verify`: several messages | a plan, and lanes where the CPU has them |
//! | [`verify_each`](min_pk::Signature::verify_each), which blst does not have | a batch, and a search for what is false |
//! | sums, checks and decoding of many points; [`MultiPoint`] | lanes where the CPU has them, else blst |
//!
//! # Points that nobody checked
//!
//! Where blst checks membership of the subgroup, this crate does. Where the caller waives the check, the answer is
//! still blst's: the engine uses only what holds for every point of the curve, and if that is not enough and a point
//! turns out to lie outside, blst itself decides the call.
//!
//! # The caller's random scalars
//!
//! [`verify_multiple_aggregate_signatures`](min_pk::Signature::verify_multiple_aggregate_signatures) takes random
//! scalars and does not use them: it draws weights of its own, from a generator that the operating system seeds, with 128
//! bits if `rand_bits` is above 64. So scalars that are zero, repeated or predictable make no false set pass. blst skips
//! a set whose scalar is zero. With `rand_bits = 0` the caller asks for no scalars: then blst itself decides, and its
//! answer is about the product of all sets.
//!
//! # Threads
//!
//! Calls with enough work take a thread for each core, started for the call; blst keeps a pool, and uses it for less work.
//! [`set_threads`] limits them, and the feature `no-threads` keeps all work on the caller's thread. blst's own functions,
//! which this crate re-exports, are built without threads, for all crates of the program that use blst 0.3.

#![forbid(unsafe_code)]

mod check;
mod threads;
mod points;
mod multi_point;
mod verify;
mod variant;

// A name that this crate defines itself takes precedence: `min_pk`, `min_sig` and `MultiPoint`.
#[doc(no_inline)]
pub use blst::*;

pub use multi_point::MultiPoint;
pub use threads::set_threads;
pub use variant::{min_pk, min_sig};
