//! Each claim by its own pairings: slow, short, and what every plan, batch and back end must agree with.

use quorate_curve::{Backend, Group};

use crate::{
    claim::{Claim, ClaimSignature},
    suite::Suite,
    verdict::{Reason, Verdict},
};

/// `Verify`, `AggregateVerify` or `FastAggregateVerify` of draft-irtf-cfrg-bls-signature-05, statement by statement:
/// `∏ e(pkᵢ, H(mᵢ)) · e(-g, signature) = 1`.
///
/// Cost: a hash and a pairing a statement, one pairing and one final exponentiation a claim.
pub fn verify<S: Suite>(claim: &Claim<S>) -> Verdict {
    let backend = Backend::Portable;
    if let Some(defect) = claim.defect() {
        return Verdict::Invalid(defect.into());
    }
    let keys: Vec<_> = claim.statements().map(|(key, _)| key.point()).collect();
    if claim.is_shared() && backend.sum(&keys).is_identity() {
        return Verdict::Invalid(Reason::IdentityAggregateKey);
    }
    let signature = claim.signature().point();
    if matches!(claim.signature(), ClaimSignature::Unchecked(_)) && !backend.in_subgroup(&[signature])[0] {
        return Verdict::Invalid(Reason::SignatureNotInSubgroup);
    }
    let mut pairs = vec![S::pair(S::Key::generator().negate(), signature)];
    for (key, message) in claim.statements() {
        let prefix = if claim.is_augmented() { key.to_bytes() } else { Vec::new() };
        let hash = backend.hash_to_curve(claim.tag().as_bytes(), &[(&prefix, message)])[0];
        pairs.push(S::pair(key.point(), hash));
    }
    let holds = backend.final_exponentiation(backend.miller_product(&pairs)).is_one();
    if holds { Verdict::Valid } else { Verdict::Invalid(Reason::Mismatch) }
}
