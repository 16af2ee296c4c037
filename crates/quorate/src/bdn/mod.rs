//! Multi-signatures over one message whose keys need no proofs of possession: the scheme of Boneh, Drijvers and Neven
//! ("Compact multi-signatures for smaller blockchains", 2018, section 3).
//!
//! Each signer signs as in any BLS suite. Whoever sums the signatures multiplies each by a *coefficient*, and whoever verifies
//! multiplies each key by the same one:
//!
//! ```text
//! e(Σ aᵢ·pkᵢ, H(m)) = e(g, Σ aᵢ·σᵢ)
//! ```
//!
//! The coefficients are a hash of the whole set of signers. So a rogue key, the difference of a key and the keys of others,
//! cancels nothing: the coefficients change with it. `docs/soundness.md` has the proof.
//!
//! ```
//! use quorate::{Backend, Claim, MinSig, SecretKey, bdn, naive};
//! let suite = MinSig::Bdn;
//! let secrets = [1, 2, 3].map(|i| SecretKey::key_gen(suite, &[i; 32], b"").expect("32 bytes"));
//! let signed = secrets.each_ref().map(|secret| (secret.public_key(), secret.sign(suite, b"block root")));
//! let signature = bdn::aggregate(suite, &signed, Backend::auto())?;
//! // The keys may come in any order, but they must be exactly those of the signers.
//! let keys: Vec<_> = signed.iter().rev().map(|(key, _)| *key).collect();
//! assert!(naive::verify(&Claim::shared(suite, keys.clone(), *b"block root", signature)).is_valid());
//! assert!(!naive::verify(&Claim::shared(suite, keys[1..].to_vec(), *b"block root", signature)).is_valid());
//! # Ok::<(), quorate::MisuseError>(())
//! ```
//!
//! # The suites
//!
//! [`MinPk::Bdn`](crate::MinPk::Bdn) and [`MinSig::Bdn`](crate::MinSig::Bdn). In these suites:
//!
//! - A claim of one key is a single signature. Its coefficient is one.
//! - A claim of several keys over one message ([`Claim::shared`](crate::Claim::shared)) has coefficients. A key must not occur
//!   twice ([`Reason::RepeatedKey`](crate::Reason::RepeatedKey)).
//! - A claim of several keys with a message each ([`Claim::each`](crate::Claim::each)) is a plain sum, and its messages must
//!   differ, as in a NUL suite.
//!
//! # The coefficients
//!
//! `tag` is the domain separation tag that the message is hashed under, pk₁ < … < pkₙ are the compressed keys of the n ≥ 2
//! signers in ascending order, numbers have 8 bytes, big-endian, and ‖ joins bytes:
//!
//! ```text
//! set      = SHA-256("QUORATE-BDN-SET-V1" ‖ length of tag ‖ tag ‖ n ‖ pk₁ ‖ … ‖ pkₙ)
//! blockⱼ   = SHA-256(set ‖ j)                                   j = 0, 1, …
//! ```
//!
//! The 16 bytes from place 16·(i - 1) on of block₀ ‖ block₁ ‖ … are the coefficient aᵢ: a
//! [`Weight`](quorate_curve::weight) of 32 digits, the highest first. If all are zero, aᵢ is one. Different bytes are different
//! numbers modulo r, and the multiplication by a weight costs half of that by an integer of 128 bits.
//!
//! # What it does not check
//!
//! [`aggregate`] believes that the signatures are valid. Verify each as a claim of one key first, in one batch, or a false one
//! spoils the sum.

#[cfg(feature = "kyber")]
pub mod kyber;

use quorate_curve::{Backend, Weight, WeightedSegments};
use sha2::{Digest, Sha256};

use crate::{
    aggregate::{MisuseError, aggregate_public_keys as plain_sum},
    key::PublicKey,
    signature::Signature,
    suite::{Scheme, Suite},
    tag::{SuiteTag, Tag},
};

/// Σ aᵢ·σᵢ: one signature of all who signed one message.
///
/// # Errors
/// [`MisuseError::NoCoefficients`] if the suite is not a BDN suite, [`MisuseError::NothingToAggregate`], and
/// [`MisuseError::RepeatedKey`].
///
/// Cost: a hash of the keys, and a sum with weights of 128 bits in the group of signatures.
pub fn aggregate<S: Suite>(
    suite: S,
    signed: &[(PublicKey<S>, Signature<S>)],
    backend: Backend,
) -> Result<Signature<S>, MisuseError> {
    aggregate_in_place(suite, &suite.tag(), signed, backend)
}

/// The same for signatures made under a tag of the caller's ([`SecretKey::sign_under_tag`](crate::SecretKey::sign_under_tag)).
///
/// # Errors
/// Those of [`aggregate`].
pub fn aggregate_under_tag<S: Suite>(
    suite: S,
    tag: &Tag,
    signed: &[(PublicKey<S>, Signature<S>)],
    backend: Backend,
) -> Result<Signature<S>, MisuseError> {
    aggregate_in_place(suite, &tag.clone().in_place_of(&suite.tag()), signed, backend)
}

fn aggregate_in_place<S: Suite>(
    suite: S,
    tag: &SuiteTag,
    signed: &[(PublicKey<S>, Signature<S>)],
    backend: Backend,
) -> Result<Signature<S>, MisuseError> {
    let keys: Vec<_> = signed.iter().map(|(key, _)| *key).collect();
    let coefficients = of_signers(suite, tag, &keys)?;
    let points = signed.iter().map(|(_, signature)| signature.point());
    Ok(Signature::from_member(weighted_sum(points.zip(coefficients), backend)))
}

/// Σ aᵢ·pkᵢ: the key under which the aggregate verifies as a single signature of a suite with the same tag.
///
/// # Errors
/// Those of [`aggregate`], and [`MisuseError::IdentitySum`]. Nobody knows keys whose sum is the identity.
///
/// Cost: a hash of the keys, and a sum with weights of 128 bits in the group of keys.
pub fn aggregate_public_keys<S: Suite>(
    suite: S,
    keys: &[PublicKey<S>],
    backend: Backend,
) -> Result<PublicKey<S>, MisuseError> {
    let coefficients = of_signers(suite, &suite.tag(), keys)?;
    let points = keys.iter().map(PublicKey::point);
    PublicKey::from_sum(weighted_sum(points.zip(coefficients), backend)).ok_or(MisuseError::IdentitySum)
}

/// The sum of keys under which a signature of all of them over one message verifies, in any suite: with coefficients in a BDN suite, and
/// plain in the others ([`aggregate::aggregate_public_keys`](crate::aggregate::aggregate_public_keys) says when to rely on it).
///
/// # Errors
/// [`MisuseError::NothingToAggregate`], [`MisuseError::IdentitySum`], and in a BDN suite [`MisuseError::RepeatedKey`].
///
/// Cost: that of the function which adds.
pub fn sum_of_keys<S: Suite>(suite: S, keys: &[PublicKey<S>], backend: Backend) -> Result<PublicKey<S>, MisuseError> {
    match suite.scheme() {
        Scheme::Bdn => aggregate_public_keys(suite, keys, backend),
        Scheme::Basic | Scheme::Augmented | Scheme::ProofOfPossession => plain_sum(keys, backend),
    }
}

/// Refuses a suite whose signatures and keys are not added plainly: with the plain sum the owner of a rogue key signs for others.
///
/// # Errors
/// [`MisuseError::NeedsCoefficients`] in a BDN suite.
pub fn refuse_plain_sums<S: Suite>(suite: S) -> Result<(), MisuseError> {
    match suite.scheme() {
        Scheme::Bdn => Err(MisuseError::NeedsCoefficients(suite.name())),
        Scheme::Basic | Scheme::Augmented | Scheme::ProofOfPossession => Ok(()),
    }
}

fn of_signers<S: Suite>(suite: S, tag: &SuiteTag, keys: &[PublicKey<S>]) -> Result<Vec<Weight>, MisuseError> {
    if suite.scheme() != Scheme::Bdn {
        return Err(MisuseError::NoCoefficients(suite.name()));
    }
    if keys.is_empty() {
        return Err(MisuseError::NothingToAggregate);
    }
    coefficients(tag, keys).map_err(|index| MisuseError::RepeatedKey { index })
}

/// The coefficient of each key, in the order of the keys.
///
/// # Errors
/// The index of a key that occurs before it.
///
/// Cost: the sorting of the keys, SHA-256 of all of them, and a block of SHA-256 for every two.
pub(crate) fn coefficients<S: Suite>(tag: &SuiteTag, keys: &[PublicKey<S>]) -> Result<Vec<Weight>, usize> {
    let encodings: Vec<_> = keys.iter().map(PublicKey::to_bytes).collect();
    // Only keys whose first eight bytes are equal are compared as a whole.
    let head =
        |index: usize| encodings[index].as_ref().iter().take(8).fold(0, |head, byte| head << 8 | u64::from(*byte));
    let mut sorted: Vec<_> = (0..keys.len()).map(|index| (head(index), index)).collect();
    sorted.sort_unstable_by(|(head, i), (other, j)| {
        head.cmp(other).then_with(|| (encodings[*i].as_ref(), i).cmp(&(encodings[*j].as_ref(), j)))
    });
    if let Some(pair) = sorted.windows(2).find(|pair| keys[pair[0].1] == keys[pair[1].1]) {
        return Err(pair[1].1);
    }
    if let [_] = keys {
        return Ok(vec![Weight::ONE]);
    }
    let length = |n: usize| (n as u64).to_be_bytes();
    let mut set = Sha256::new_with_prefix(b"QUORATE-BDN-SET-V1");
    set.update(length(tag.as_bytes().len()));
    set.update(tag.as_bytes());
    set.update(length(keys.len()));
    sorted.iter().for_each(|(_, index)| set.update(encodings[*index]));
    let set = set.finalize();
    let mut coefficients = vec![Weight::ONE; keys.len()];
    for (j, pair) in sorted.chunks(2).enumerate() {
        let block = Sha256::new_with_prefix(set).chain_update(length(j)).finalize();
        for ((_, index), bytes) in pair.iter().zip(block.chunks_exact(16)) {
            let bits = bytes.iter().fold(0, |bits, byte| bits << 8 | u128::from(*byte));
            coefficients[*index] = Weight::from_bits(bits).unwrap_or(Weight::ONE);
        }
    }
    Ok(coefficients)
}

/// Σ weight·point.
pub(crate) fn weighted_sum<G: quorate_curve::Group>(terms: impl Iterator<Item = (G, Weight)>, backend: Backend) -> G {
    let mut segments = WeightedSegments::new();
    terms.for_each(|(point, weight)| segments.push(point, weight));
    segments.close();
    backend.weighted_sums(&segments)[0]
}
