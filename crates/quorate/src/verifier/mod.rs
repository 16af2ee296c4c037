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
//! let verifier = Verifier::new(Options::default());
//! let outcome = verifier.verify(&claims, &mut rand::rng());
//! assert_eq!(outcome.invalid().collect::<Vec<_>>(), [1, 2]);
//! # Ok::<(), quorate::ParseError>(())
//! ```

mod keys;
mod sum_error;
mod trust;
mod variant;

use std::{fmt, sync::Arc};

#[cfg(feature = "bn254")]
use quorate_bn254::Bn254Suite;
use rand_core::CryptoRng;

pub use self::sum_error::SumError;
pub use self::trust::TrustError;
use self::variant::{Batch, Variant};
use crate::{
    claim::SourceId,
    claim_bytes::{ClaimBytes, Item},
    culprit::{Exhaustive, Patience},
    plan::Options,
    suite::{AnySuite, MinPk, MinSig},
    verdict::{Outcome, Verdict, Work},
};

/// Verifies claims that are bytes, of any suites. It keeps known statements, and the decoded keys and the hashes of messages of valid
/// claims for later claims.
///
/// A message that a valid claim had before costs no hash, as long as it is among the recent ones:
/// [`limit_hashes`](Self::limit_hashes) says which. Of keys it keeps the newest 32,768 to 65,536. A false claim makes it keep nothing, and
/// forget nothing.
///
/// A clone shares this memory, and threads can use one verifier at the same time.
#[derive(Clone, Debug)]
pub struct Verifier {
    options: Options,
    memory: Arc<Memory>,
}

/// What a verifier keeps for later claims.
#[derive(Debug)]
struct Memory {
    min_pk: Variant<MinPk>,
    min_sig: Variant<MinSig>,
    #[cfg(feature = "bn254")]
    bn254: Variant<Bn254Suite>,
}

impl Verifier {
    /// A verifier that knows no statement. Nothing limits how many it can know.
    pub fn new(options: Options) -> Self {
        Self::with_known_limit(options, usize::MAX)
    }

    /// A verifier that knows no statement, and never more than `most` of each variant. When there are too many, it
    /// forgets the older half. A statement takes 450 to 900 bytes, however long its message is.
    pub fn with_known_limit(options: Options, most: usize) -> Self {
        let memory = Memory {
            min_pk: Variant::new(most),
            min_sig: Variant::new(most),
            #[cfg(feature = "bn254")]
            bn254: Variant::new(most),
        };
        Self { options, memory: Arc::new(memory) }
    }

    /// The same verifier with other options. It shares the memory of this one.
    pub fn with_options(&self, options: Options) -> Self {
        Self { options, memory: self.memory.clone() }
    }

    /// The options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// How many statements are known.
    pub fn known(&self) -> usize {
        let known = self.memory.min_pk.known() + self.memory.min_sig.known();
        #[cfg(feature = "bn254")]
        let known = known + self.memory.bn254.known();
        known
    }

    /// Forgets all known statements.
    pub fn forget_known(&self) {
        self.memory.min_pk.forget_known();
        self.memory.min_sig.forget_known();
        #[cfg(feature = "bn254")]
        self.memory.bn254.forget_known();
    }

    /// How many messages it has hashes of.
    pub fn cached_hashes(&self) -> usize {
        let hashes = self.memory.min_pk.cached_hashes() + self.memory.min_sig.cached_hashes();
        #[cfg(feature = "bn254")]
        let hashes = hashes + self.memory.bn254.cached_hashes();
        hashes
    }

    /// Forgets the hashes of all messages, and keeps at most so many bytes of them from now on, for each variant of
    /// BLS12-381 and for BN254. With 0 it keeps none.
    ///
    /// A new verifier keeps 2 MiB: at least the 1,792 messages of the newest valid claims with signatures in G2, or twice
    /// as many in G1. A message takes 225 bytes or 129, however long it is, in tables that are half full or more. The
    /// verdicts are the same under any limit.
    ///
    /// Three kinds of messages are hashed each time: those of a call with more messages than half of what stays; those that
    /// a plan covers by key, so that their hashes are only summed; and those of a plan whose pairing accepts uncleared hashes.
    pub fn limit_hashes(&self, bytes: usize) {
        self.memory.min_pk.limit_hashes(bytes);
        self.memory.min_sig.limit_hashes(bytes);
        #[cfg(feature = "bn254")]
        self.memory.bn254.limit_hashes(bytes);
    }

    /// The sum of encoded keys, encoded: the key under which a multi-signature over one message verifies, in a BDN suite with its
    /// coefficients. Under `eigenlayer` it is the sum in G2.
    ///
    /// Keys that were decoded for an earlier call are not decoded again, and the sum itself is kept as a decoded key. Rely on it only after
    /// you have checked that the owner of each key possesses the secret.
    ///
    /// # Errors
    /// [`SumError`].
    ///
    /// Cost: one addition for each key, and decoding those that are new.
    pub fn sum_of_keys(&self, suite: AnySuite, encodings: &[&[u8]]) -> Result<Vec<u8>, SumError> {
        match suite {
            AnySuite::MinPk(suite) => self.memory.min_pk.sum_of_keys(suite, encodings, &self.options),
            AnySuite::MinSig(suite) => self.memory.min_sig.sum_of_keys(suite, encodings, &self.options),
            #[cfg(feature = "bn254")]
            AnySuite::Bn254(suite) => self.memory.bn254.sum_of_keys(suite, encodings, &self.options),
        }
    }

    /// Takes the caller's word that a claim of one statement was verified before. The statement is subtracted from
    /// later claims that contain it, so a wrong entry makes false claims pass.
    ///
    /// # Errors
    /// [`TrustError`] if the claim does not decode, is invalid whatever its signature is, or does not make exactly one statement.
    pub fn trust(&self, claim: &ClaimBytes) -> Result<(), TrustError> {
        match self.trust_each(std::slice::from_ref(claim)).pop() {
            Some(result) => result,
            None => Err(TrustError::Statements(0)),
        }
    }

    /// [`trust`](Self::trust) for each of many claims, which are decoded together.
    ///
    /// Cost: a decoding and a subgroup check for each key that was not decoded before and for each signature.
    ///
    /// # Errors
    /// By claim. The others are known nevertheless.
    pub fn trust_each(&self, claims: &[ClaimBytes]) -> Vec<Result<(), TrustError>> {
        let (min_pk, min_sig) = by_variant(claims);
        let mut results: Vec<_> = claims.iter().map(|claim| Err(TrustError::Statements(claim.statements()))).collect();
        self.memory.min_pk.trust(&min_pk, &self.options, &mut results);
        self.memory.min_sig.trust(&min_sig, &self.options, &mut results);
        #[cfg(feature = "bn254")]
        self.memory.bn254.trust(&on_bn254(claims), &self.options, &mut results);
        results
    }

    /// By statement of a claim: whether it is known. False for all of a claim whose keys do not decode.
    ///
    /// Cost: keys that were not decoded before are decoded, together. At least 7,168 of them, or all if they are fewer, are kept
    /// for later calls, apart from the keys of valid claims, among which they come when a claim that has them is valid.
    pub fn knows(&self, claim: &ClaimBytes) -> Vec<bool> {
        match claim.suite {
            AnySuite::MinPk(suite) => self.memory.min_pk.knows(suite, claim, &self.options),
            AnySuite::MinSig(suite) => self.memory.min_sig.knows(suite, claim, &self.options),
            #[cfg(feature = "bn254")]
            AnySuite::Bn254(suite) => self.memory.bn254.knows(suite, claim, &self.options),
        }
    }

    /// Verifies every claim and says which are false: one verdict for each claim, in input order; none for no claims.
    ///
    /// Bytes that do not decode make their claim invalid, with the flaw as the reason. The claims of each variant of
    /// BLS12-381 are one batch, and so are those on BN254, with the soundness and the cost of [`verify`](crate::verify()).
    ///
    /// `rng` must be a CSPRNG of [`rand_core`] 0.10, such as `rand::rng()`.
    pub fn verify(&self, claims: &[ClaimBytes], rng: &mut impl CryptoRng) -> Outcome {
        self.prepare(claims).decide(rng)
    }

    /// Verifies every claim, and remembers those of one statement that are valid. Of a source whose claims are false, it
    /// finds only as many as the caller has [`Patience`] for.
    ///
    /// A claim of the call is not yet known when the others are verified.
    pub fn verify_and_remember(
        &self,
        claims: &[ClaimBytes],
        patience: &mut dyn Patience,
        rng: &mut impl CryptoRng,
    ) -> Outcome {
        let mut prepared = self.prepare(claims);
        prepared.fill_verdicts(patience, rng);
        if let Some(batch) = &mut prepared.min_pk {
            self.memory.min_pk.remember(batch, &prepared.verdicts);
        }
        if let Some(batch) = &mut prepared.min_sig {
            self.memory.min_sig.remember(batch, &prepared.verdicts);
        }
        #[cfg(feature = "bn254")]
        if let Some(batch) = &mut prepared.bn254 {
            self.memory.bn254.remember(batch, &prepared.verdicts);
        }
        prepared.settle()
    }

    /// Decodes the claims, subtracts known statements and plans the rest. Call it instead of [`verify`](Self::verify)
    /// to print the plans before the work starts.
    pub fn prepare(&self, claims: &[ClaimBytes]) -> Prepared {
        let mut verdicts = vec![None; claims.len()];
        let mut subtracted = vec![0; claims.len()];
        let (min_pk, min_sig) = by_variant(claims);
        Prepared {
            memory: self.memory.clone(),
            min_pk: self.memory.min_pk.prepare(&min_pk, &self.options, &mut verdicts, &mut subtracted),
            min_sig: self.memory.min_sig.prepare(&min_sig, &self.options, &mut verdicts, &mut subtracted),
            #[cfg(feature = "bn254")]
            bn254: self.memory.bn254.prepare(&on_bn254(claims), &self.options, &mut verdicts, &mut subtracted),
            sources: claims.iter().map(|claim| claim.source.clone()).collect(),
            verdicts,
            subtracted,
            work: Work::default(),
        }
    }
}

/// The claims of each variant of BLS12-381.
fn by_variant(claims: &[ClaimBytes]) -> (Vec<Item<'_, MinPk>>, Vec<Item<'_, MinSig>>) {
    let min_pk = |suite| if let AnySuite::MinPk(suite) = suite { Some(suite) } else { None };
    let min_sig = |suite| if let AnySuite::MinSig(suite) = suite { Some(suite) } else { None };
    (items(claims, min_pk), items(claims, min_sig))
}

/// The claims on BN254.
#[cfg(feature = "bn254")]
fn on_bn254(claims: &[ClaimBytes]) -> Vec<Item<'_, Bn254Suite>> {
    items(claims, |suite| if let AnySuite::Bn254(suite) = suite { Some(suite) } else { None })
}

/// The claims whose suite is one of a kind.
fn items<S>(claims: &[ClaimBytes], of: impl Fn(AnySuite) -> Option<S>) -> Vec<Item<'_, S>> {
    let claims = claims.iter().enumerate();
    claims.filter_map(|(index, claim)| Some(Item { index, suite: of(claim.suite)?, claim })).collect()
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
            AnySuite::Bn254(suite) => variant::verify_alone(suite, self),
        }
    }
}

/// Claims that were decoded and planned. It prints its plans.
#[derive(Clone, Debug)]
#[must_use = "nothing is verified before `decide`"]
pub struct Prepared {
    /// That of the verifier.
    memory: Arc<Memory>,
    min_pk: Option<Batch<MinPk>>,
    min_sig: Option<Batch<MinSig>>,
    #[cfg(feature = "bn254")]
    bn254: Option<Batch<Bn254Suite>>,
    /// By claim: the verdict of a claim that does not decode, else `None`.
    verdicts: Vec<Option<Verdict>>,
    /// By claim: how many of its statements were known.
    subtracted: Vec<usize>,
    /// By claim.
    sources: Vec<Option<SourceId>>,
    /// Of the verdicts that are there.
    work: Work,
}

impl Prepared {
    /// Does the arithmetic and settles the verdicts: [`Verifier::verify`].
    pub fn decide(mut self, rng: &mut impl CryptoRng) -> Outcome {
        self.fill_verdicts(&mut Exhaustive, rng);
        self.settle()
    }

    fn fill_verdicts(&mut self, patience: &mut dyn Patience, rng: &mut impl CryptoRng) {
        for (index, (verdict, source)) in self.verdicts.iter().zip(&self.sources).enumerate() {
            if let Some(reason) = verdict.and_then(Verdict::reason) {
                patience.found(index, source.as_ref(), reason);
            }
        }
        if let Some(batch) = &mut self.min_pk {
            self.work += self.memory.min_pk.decide(batch, rng, patience, &mut self.verdicts);
        }
        if let Some(batch) = &mut self.min_sig {
            self.work += self.memory.min_sig.decide(batch, rng, patience, &mut self.verdicts);
        }
        #[cfg(feature = "bn254")]
        if let Some(batch) = &mut self.bn254 {
            self.work += self.memory.bn254.decide(batch, rng, patience, &mut self.verdicts);
        }
    }

    fn settle(self) -> Outcome {
        Outcome::settle(self.verdicts, self.sources.iter().map(Option::as_ref), self.subtracted, self.work)
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
