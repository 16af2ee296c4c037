//! Verifies each claim with its own pairings. It is slow and short, and every plan, batch and backend must agree with
//! it.
//!
//! To verify one signature, call [`PublicKey::verify`](crate::PublicKey::verify).

use quorate_curve::{Backend, Group};

use crate::{
    bdn,
    claim::{Claim, ClaimSignature},
    parse::ParseError,
    suite::Suite,
    verdict::{Reason, Verdict},
};

/// `Verify`, `AggregateVerify` or `FastAggregateVerify` of draft-irtf-cfrg-bls-signature-05:
/// `∏ e(pkᵢ, H(mᵢ)) · e(-g, signature) = 1`. Keys that share a message are summed first, except in AUG
/// suites, and in BDN suites with their coefficients.
///
/// Cost: a hash and a Miller loop for each message, and one more Miller loop and a final exponentiation for the claim,
/// by blst.
pub fn verify<S: Suite>(claim: &Claim<S>) -> Verdict {
    let backend = Backend::Portable;
    if let Some(defect) = claim.defect() {
        return Verdict::Invalid(defect.into());
    }
    let mut statements: Vec<_> = claim.statements().map(|(key, message)| (key.point(), message)).collect();
    if claim.is_shared() {
        let keys: Vec<_> = statements.iter().map(|(key, _)| *key).collect();
        statements.truncate(1);
        statements[0].0 = match claim.coefficients() {
            None => backend.sum(&keys),
            Some(coefficients) => bdn::weighted_sum(keys.into_iter().zip(coefficients), backend),
        };
        if statements[0].0.is_identity() {
            return Verdict::Invalid(Reason::IdentityAggregateKey);
        }
    }
    let signature = claim.signature().point();
    if matches!(claim.signature(), ClaimSignature::Unchecked(_)) && !backend.in_subgroup(&[signature])[0] {
        return Verdict::Invalid(Reason::Parse(ParseError::SignatureNotInSubgroup));
    }
    let mut pairs = vec![S::pair(S::Key::generator().negate(), signature)];
    for (key, message) in statements {
        let prefix = if claim.is_augmented() { S::encode_key(&key).as_ref().to_vec() } else { Vec::new() };
        let hash = S::hash_to_curve(backend, claim.tag().hashing(), &[(&prefix, message)])[0];
        pairs.push(S::pair(key, hash));
    }
    let holds = backend.final_exponentiation(backend.miller_product(&pairs)).is_one();
    if holds { Verdict::Valid } else { Verdict::Invalid(Reason::Mismatch) }
}
