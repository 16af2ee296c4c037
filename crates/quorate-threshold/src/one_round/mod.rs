//! Sharing in one round: each dealer publishes one transcript, and anyone verifies that every receiver can decrypt a share.
//!
//! A share is cut into eleven digits of 24 bits, and each digit s is encrypted as s·g + r·y to the receiver's key y (ElGamal,
//! in the exponent). Nothing has to be said after that: whoever was offline decrypts later, and nobody complains, because a
//! transcript with a false share does not verify. `docs/one-round.md` has the scheme, its proofs and its measures.
//!
//! | module | noun |
//! |---|---|
//! | `parameters`, private | how many digits, and how large they can be |
//! | [`key`] | [`ShareDecryptionKey`] and [`ShareEncryptionKey`] |
//! | `digits`, private | shares as digits |
//! | [`receivers`] | [`ShareReceivers`]: who receives how many shares |
//! | [`challenge`] | [`ShareStatement`]: what a transcript is for |
//! | [`transcript`] | [`UncheckedShareTranscript`]: what a dealer published |
//! | [`deal`] | [`publish`]: makes one |
//! | [`verify`] | [`ShareTranscript`]: one that proved itself |
//! | `search`, private | digits from points |
//! | [`receive`] | [`Contributions`]: the key, and the shares of it |
//!
//! ```
//! use quorate::{MinPk, Options};
//! use quorate_curve::{SecretPolynomial, SecretScalar};
//! use quorate_threshold::{Committee, Identifiers, one_round::*};
//! # let (options, mut rng) = (Options::default(), rand::rng());
//! let secrets = [1, 2, 3].map(|seed| ShareDecryptionKey::derive(&[seed; 32])); // Random ones, each at home.
//! let members: Vec<_> = secrets.iter().map(|secret| (secret.encryption_key(), 1)).collect();
//! let committee = Committee::new(2, 3, Identifiers::Integers, options.backend)?;
//! let receivers = ShareReceivers::new(committee, &members)?;
//!
//! // Each dealer publishes a transcript.
//! let published = (1..=2).map(|dealer| {
//!     let coefficients = [1, 2].map(|k| SecretScalar::key_gen(&[dealer * 16 + k; 32], b"").unwrap()); // Random ones.
//!     let statement = ShareStatement { ceremony: [7; 32], dealer: dealer.into() };
//!     publish(MinPk::Eth2, &receivers, &statement, &SecretPolynomial::new(coefficients.into()), &options, &mut rng)
//! });
//! let published = published.collect::<Result<Vec<_>, _>>()?;
//!
//! // Anyone verifies them, and has the key. The third member comes late, and decrypts its share.
//! let numbered: Vec<_> = (1..).zip(&published).collect();
//! let verified = verify_all(MinPk::Eth2, &receivers, [7; 32], &numbered, &options, &mut rng);
//! let verified = verified.into_iter().collect::<Result<Vec<_>, _>>()?;
//! let contributions = Contributions::to_new_key(&verified, &options)?;
//! let shares = contributions.decrypt(&secrets[2], &receivers, 2, &options, &mut rng)?;
//! assert_eq!(shares[0].index().number(), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod parameters;
pub mod key;
mod digits;
pub mod receivers;
pub mod challenge;
pub mod transcript;
pub mod deal;
pub mod verify;
mod search;
pub mod receive;
#[cfg(test)]
mod tests;

pub use challenge::ShareStatement;
pub use deal::publish;
pub use key::{ShareDecryptionKey, ShareEncryptionKey, ShareKeyError};
pub use receive::{Contributions, ContributionsError};
pub use receivers::{ShareReceivers, ShareReceiversError};
pub use transcript::{ShareTranscriptError, UncheckedShareTranscript};
pub use verify::{ShareTranscript, verify_all};
