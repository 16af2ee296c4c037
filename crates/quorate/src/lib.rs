//! BLS signatures at network scale.
//!
//! One way through the house:
//!
//! ```text
//! bytes -> parse -> Claim -> Plan (pure) -> execute (the only arithmetic) -> settle (pure) -> Verdicts
//! ```
//!
//! | module | noun |
//! |---|---|
//! | [`suite`] | which curve holds the keys, which tag, which scheme: the trait [`Suite`], [`MinPk`] and [`MinSig`] |
//! | [`key`] | [`PublicKey`], checked once; [`SecretKey`], wiped and redacted |
//! | [`signature`] | [`Signature`], in the subgroup; [`UncheckedSignature`], on the curve so far |
//! | [`possession`] | proofs that a key's owner holds its secret |
//! | [`mod@aggregate`] | sums and differences of signatures and of keys |
//! | [`claim`] | [`Claim`]: "these keys signed these messages, and this is the sum of their signatures" |
//! | [`known`] | [`Known`]: statements verified earlier, subtracted from a later claim |
//! | [`verdict`] | [`Verdict`], [`Reason`], and the [`Outcome`] of a batch |
//! | [`naive`] | each claim by its own pairings: the oracle everything else must agree with |
//! | [`keyset`] | [`KeySet`]: a committee's keys, with sums by bitmap |
//! | [`plan`] | [`Plan`]: the fewest pairings that prove a set of claims, as data |
//! | [`mod@execute`] | the arithmetic of a plan, its partial values kept |
//! | [`culprit`] | the search for the false claims of a batch that failed |
//! | [`mod@verify`] | all of it: [`verify`](verify()) |
//!
//! A module imports only modules above it.
//!
//! ```
//! use quorate::{Claim, MinPk, Options, SecretKey, Verdict, verify};
//! # use rand_core::SeedableRng;
//! # let mut rng = rand_chacha::ChaCha20Rng::from_seed([7; 32]); // your CSPRNG here
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
//! let outcome = verify(&claims, &Options::default(), &mut rng);
//! assert!(outcome.verdicts[0].is_valid() && outcome.verdicts[2].is_valid());
//! assert!(matches!(outcome.verdicts[1], Verdict::Invalid(_)));
//! # Ok::<(), quorate::ParseError>(())
//! ```

#![forbid(unsafe_code)]

pub mod suite;
pub mod key;
pub mod signature;
pub mod possession;
pub mod aggregate;
pub mod claim;
pub mod known;
pub mod verdict;
pub mod naive;
pub mod keyset;
pub mod plan;
pub mod execute;
pub mod culprit;
pub mod verify;

pub use claim::{Claim, SourceId};
pub use key::{ParseError, PublicKey, SecretKey};
pub use keyset::{Bitmap, KeySet};
pub use known::Known;
pub use plan::Plan;
pub use quorate_curve::{Backend, Soundness};
pub use signature::{Signature, UncheckedSignature};
pub use suite::{AnySuite, MinPk, MinSig, Scheme, Suite};
pub use verdict::{Outcome, Reason, Verdict, Work};
pub use verify::{Options, verify, verify_and_remember};
