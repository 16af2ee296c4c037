//! Sums and differences of signatures and of keys.
//!
//! ```
//! use quorate::{Backend, MinPk, SecretKey, aggregate::{aggregate, subtract}};
//! let secrets = [1, 2].map(|i| SecretKey::<MinPk>::key_gen(MinPk::Basic, &[i; 32], b"").expect("32 bytes"));
//! let [a, b] = [secrets[0].sign(MinPk::Basic, b"a"), secrets[1].sign(MinPk::Basic, b"b")];
//! let backend = Backend::auto();
//! assert_eq!(subtract(aggregate(&[a, b], backend)?, &[a], backend), b);
//! # Ok::<(), quorate::aggregate::MisuseError>(())
//! ```

use std::num::NonZeroUsize;

use quorate_curve::{Backend, Bls12381Group, Group, Scalar};

use crate::{key::PublicKey, signature::Signature, suite::Suite, threads::parallel};

/// A mistake of the caller: not bad bytes, and not a false signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MisuseError {
    /// `Aggregate` is not defined for nothing (section 2.8).
    #[error("there is nothing to aggregate")]
    NothingToAggregate,
    /// The sum of the keys is the identity.
    #[error("the keys add up to the identity, which is not a public key")]
    IdentitySum,
    /// A bitmap or an index names a member that the key set does not have.
    #[error("there is no member {index} in a set of {members}")]
    NoSuchMember {
        /// The index, counted from 0.
        index: usize,
        /// Keys in the set.
        members: usize,
    },
    /// A key whose owner has not proven possession would take part in an aggregate over one message.
    #[error("member {index} has not proven possession of its key")]
    PossessionUnproven {
        /// The index in the key set.
        index: usize,
    },
    /// A multi-signature in a suite whose messages must differ or contain the key.
    #[error("keys of the suite {0} cannot be summed over one message: its scheme is neither POP nor BDN")]
    NoSumOverOneMessage(&'static str),
    /// A proof of possession in a suite that has none.
    #[error("the suite {0} has no proofs of possession: its scheme is not POP")]
    NoProofsOfPossession(&'static str),
    /// Coefficients in a suite that has none.
    #[error("the suite {0} has no coefficients: its scheme is not BDN")]
    NoCoefficients(&'static str),
    /// A plain sum or difference in a suite that has coefficients.
    #[error(
        "signatures and keys of the suite {0} are added with coefficients, for which each signature needs its key; `quorate aggregate` \
         on the command line does that"
    )]
    NeedsCoefficients(&'static str),
    /// A key occurs twice where a set of signers is asked for.
    #[error("key {index} (counted from 0) is there before, but a set of signers has each key once")]
    RepeatedKey {
        /// The index of its second occurrence.
        index: usize,
    },
    /// A roster is larger than its coefficients are safe for.
    #[error("a roster of {members} members: its coefficients are safe for at most {most}")]
    RosterTooLarge {
        /// Keys in the roster.
        members: usize,
        /// The most that are allowed.
        most: usize,
    },
    /// Two statements that are required have one name.
    #[error("requirement {index} (counted from 0) has the name of one before it")]
    RepeatedName {
        /// The index of the second one.
        index: usize,
    },
    /// Verdicts that are not those of the claims beside them.
    #[error("{claims} claims, but {verdicts} verdicts; each claim needs its own")]
    UnequalVerdicts {
        /// How many claims there are.
        claims: usize,
        /// How many verdicts there are.
        verdicts: usize,
    },
}

/// `Aggregate` (section 2.8). The sum does not say whether any of the signatures is valid.
///
/// # Errors
/// [`MisuseError::NothingToAggregate`].
///
/// Cost: one addition for each signature.
pub fn aggregate<S: Suite>(signatures: &[Signature<S>], backend: Backend) -> Result<Signature<S>, MisuseError> {
    if signatures.is_empty() {
        return Err(MisuseError::NothingToAggregate);
    }
    let points: Vec<_> = signatures.iter().map(Signature::point).collect();
    Ok(Signature::from_member(backend.sum(&points)))
}

/// The aggregate without some of its parts. It is the caller's task to know that they are parts of it.
///
/// Cost: one addition for each signature.
#[must_use]
pub fn subtract<S: Suite>(aggregate: Signature<S>, parts: &[Signature<S>], backend: Backend) -> Signature<S> {
    let mut points: Vec<_> = parts.iter().map(|s| s.point().negate()).collect();
    points.push(aggregate.point());
    Signature::from_member(backend.sum(&points))
}

/// Σ nᵢ·Pᵢ for public scalars, on all threads: [`Backend::msm`] for each share of the points, which says what holds for points outside
/// the subgroup of order r.
///
/// Cost: that of `Backend::msm` for the points of one thread.
pub fn sum_of_multiples<G: Bls12381Group>(terms: &[(G, Scalar)], backend: Backend, threads: NonZeroUsize) -> G {
    let chunk = terms.len().div_ceil(threads.get()).max(LEAST_TERMS);
    let chunks: Vec<_> = terms.chunks(chunk).collect();
    backend.sum(&parallel(threads, chunks.len(), |i| backend.msm(chunks[i])))
}

/// A thread for fewer terms than this costs more than it saves.
const LEAST_TERMS: usize = 32;

/// The sum of keys, under which a multi-signature over one message verifies (section 3.3.4; `eth_aggregate_pubkeys`).
///
/// Rely on it only after you have checked that the owner of each key possesses the secret.
///
/// # Errors
/// [`MisuseError::NothingToAggregate`], [`MisuseError::IdentitySum`].
///
/// Cost: one addition for each key.
pub fn aggregate_public_keys<S: Suite>(keys: &[PublicKey<S>], backend: Backend) -> Result<PublicKey<S>, MisuseError> {
    if keys.is_empty() {
        return Err(MisuseError::NothingToAggregate);
    }
    let points: Vec<_> = keys.iter().map(PublicKey::point).collect();
    PublicKey::from_sum(backend.sum(&points)).ok_or(MisuseError::IdentitySum)
}
