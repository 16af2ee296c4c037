//! The one entry for claims as bytes. The command line calls it, and so does every other program that takes claims from
//! outside.
//!
//! ```text
//! &[ClaimBytes] -> prepare (decode, subtract what is known, plan) -> Prepared -> decide -> Outcome
//! ```
//!
//! ```
//! use quorate::{ClaimBytes, MinPk, Options, SecretKey, Suite, Verifier};
//! # let secret = SecretKey::key_gen(MinPk::Eth2, &[1; 32], b"")?;
//! # let (key, signature) = (secret.public_key().to_bytes(), secret.sign(MinPk::Eth2, b"a").to_bytes());
//! let suite = MinPk::Eth2.any();
//! let claims = [
//!     ClaimBytes::single(suite, &key, b"a", &signature),
//!     ClaimBytes::single(suite, &key, b"b", &signature),
//!     ClaimBytes::single(suite, b"not a key", b"c", &signature),
//! ];
//! let mut verifier = Verifier::new(Options::default());
//! let outcome = verifier.verify(&claims, &mut rand::rng());
//! assert_eq!(outcome.invalid().collect::<Vec<_>>(), [1, 2]);
//! # Ok::<(), quorate::ParseError>(())
//! ```

#[cfg(feature = "bn254")]
mod bn254;
mod trust;
mod variant;

use std::fmt;

use rand_core::CryptoRng;

pub use self::trust::TrustError;
use self::variant::{Batch, Variant};
use crate::{
    claim::SourceId,
    claim_bytes::{ClaimBytes, Item},
    plan::Options,
    suite::{AnySuite, MinPk, MinSig},
    verdict::{Outcome, Verdict, Work},
};

/// Verifies claims that are bytes, of any suites. It keeps known statements and decoded keys for later claims.
#[derive(Clone, Debug)]
pub struct Verifier {
    options: Options,
    min_pk: Variant<MinPk>,
    min_sig: Variant<MinSig>,
}

impl Verifier {
    /// A verifier that knows no statement.
    pub fn new(options: Options) -> Self {
        Self { options, min_pk: Variant::default(), min_sig: Variant::default() }
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// How many statements are known.
    pub fn known(&self) -> usize {
        self.min_pk.known() + self.min_sig.known()
    }

    /// Takes the caller's word that a claim of one statement was verified before. The statement is subtracted from
    /// later claims that contain it, so a wrong entry makes false claims pass.
    ///
    /// # Errors
    /// [`TrustError`] if the claim does not decode, does not make exactly one statement, or is on BN254.
    pub fn trust(&mut self, claim: &ClaimBytes) -> Result<(), TrustError> {
        match claim.suite {
            AnySuite::MinPk(suite) => self.min_pk.trust(suite, claim),
            AnySuite::MinSig(suite) => self.min_sig.trust(suite, claim),
            #[cfg(feature = "bn254")]
            AnySuite::Bn254(_) => Err(TrustError::NotSubtracted(claim.suite)),
        }
    }

    /// Verifies every claim and says which are false: one verdict for each claim, in input order; none for no claims.
    ///
    /// Bytes that do not decode make their claim invalid, with the flaw as the reason. The claims of each variant of
    /// BLS12-381 are one batch, with the soundness and the cost of [`verify`](crate::verify()). Claims on BN254 are
    /// verified one by one.
    ///
    /// `rng` must be a CSPRNG of [`rand_core`] 0.10, such as `rand::rng()`.
    pub fn verify(&mut self, claims: &[ClaimBytes], rng: &mut impl CryptoRng) -> Outcome {
        self.prepare(claims).decide(rng)
    }

    /// Decodes the claims, subtracts known statements and plans the rest. Call it instead of [`verify`](Self::verify)
    /// to print the plans before the work starts.
    pub fn prepare(&mut self, claims: &[ClaimBytes]) -> Prepared {
        let mut verdicts = vec![None; claims.len()];
        let mut subtracted = vec![0; claims.len()];
        let (mut min_pk, mut min_sig) = (Vec::new(), Vec::new());
        #[cfg(feature = "bn254")]
        let mut bn254 = Vec::new();
        for (index, claim) in claims.iter().enumerate() {
            match claim.suite {
                AnySuite::MinPk(suite) => min_pk.push(Item { index, suite, claim }),
                AnySuite::MinSig(suite) => min_sig.push(Item { index, suite, claim }),
                #[cfg(feature = "bn254")]
                AnySuite::Bn254(suite) => bn254.push(Item { index, suite, claim }),
            }
        }
        Prepared {
            min_pk: self.min_pk.prepare(&min_pk, &self.options, &mut verdicts, &mut subtracted),
            min_sig: self.min_sig.prepare(&min_sig, &self.options, &mut verdicts, &mut subtracted),
            #[cfg(feature = "bn254")]
            bn254: bn254::Batch::prepare(&bn254, self.options.threads, &mut verdicts),
            sources: claims.iter().map(|claim| claim.source.clone()).collect(),
            verdicts,
            subtracted,
        }
    }
}

impl ClaimBytes {
    /// Verifies this claim alone, by its own pairings.
    ///
    /// For many claims call [`Verifier::verify`], which takes a fraction of the time for each.
    pub fn verify(&self) -> Verdict {
        match self.suite {
            AnySuite::MinPk(suite) => variant::verify_alone(suite, self),
            AnySuite::MinSig(suite) => variant::verify_alone(suite, self),
            #[cfg(feature = "bn254")]
            AnySuite::Bn254(suite) => bn254::verify_alone(suite, self),
        }
    }
}

/// Claims that were decoded and planned. It prints its plans.
#[derive(Clone, Debug)]
#[must_use = "nothing is verified before `decide`"]
pub struct Prepared {
    min_pk: Option<Batch<MinPk>>,
    min_sig: Option<Batch<MinSig>>,
    #[cfg(feature = "bn254")]
    bn254: Option<bn254::Batch>,
    /// By claim: the verdict of a claim that does not decode, else `None`.
    verdicts: Vec<Option<Verdict>>,
    /// By claim: how many of its statements were known.
    subtracted: Vec<usize>,
    /// By claim.
    sources: Vec<Option<SourceId>>,
}

impl Prepared {
    /// Does the arithmetic and settles the verdicts: [`Verifier::verify`].
    pub fn decide(mut self, rng: &mut impl CryptoRng) -> Outcome {
        let mut work = Work::default();
        if let Some(batch) = &self.min_pk {
            work += batch.decide(rng, &mut self.verdicts);
        }
        if let Some(batch) = &self.min_sig {
            work += batch.decide(rng, &mut self.verdicts);
        }
        #[cfg(feature = "bn254")]
        if let Some(batch) = &self.bn254 {
            work += batch.decide(&mut self.verdicts);
        }
        Outcome::settle(self.verdicts, self.sources.iter().map(Option::as_ref), self.subtracted, work)
    }
}

impl fmt::Display for Prepared {
    /// The plans, one for each variant that has claims.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.min_pk.as_ref().map(ToString::to_string),
            self.min_sig.as_ref().map(ToString::to_string),
            #[cfg(feature = "bn254")]
            self.bn254.as_ref().map(ToString::to_string),
        ];
        let parts: Vec<_> = parts.into_iter().flatten().collect();
        f.write_str(&parts.join("\n"))
    }
}
