//! Verifies claims: makes a plan, executes it, searches for the false claims, settles the verdicts.

use rand_core::CryptoRng;

use crate::{
    claim::Claim,
    culprit,
    execute::Execution,
    known::Known,
    plan::Plan,
    signature::Signature,
    suite::Suite,
    verdict::{Outcome, Verdict, Work},
};

pub use crate::plan::Options;

/// Verifies every claim and says which are false: one verdict for each claim, in input order; none for no claims.
///
/// `rng` must be a CSPRNG of [`rand_core`] 0.10, such as `rand::rng()`. After all claims are fixed, a
/// weight wᵢ is drawn for each claim, and the product that [`Plan`] describes is computed. If the product is not one,
/// [`culprit::search`] finds the false claims. A batch can mix the suites of one variant. A claim that occurs twice
/// gets its verdict twice.
///
/// The probability that any verdict on a batch of n claims is wrong is at most 2n/(2^64 - 1), or 2n/(2^128 - 1) with
/// [`Soundness::Bits128`](crate::Soundness). Only one error is possible: a false claim passes. A claim that stands alone
/// in its batch is decided exactly. If the plan checks membership of the subgroup through the weighted sum of the
/// signatures, it misses a signature outside the subgroup with probability at most 2^-66 (2^-129).
/// `docs/soundness.md` proves these bounds.
///
/// Cost if all claims are true: a hash for each distinct message, a subgroup check for each unchecked signature or for
/// their sum, k Miller loops if k vertices cover the graph of keys and messages, one Miller loop for the signatures
/// (with a backend that has lanes, one for each block of pairings), one final exponentiation, and a weighted sum in
/// each group.
///
/// Specification: draft-irtf-cfrg-bls-signature-05, sections 2.7, 2.9 and 3. The function does not check that the
/// owners of keys possess the secrets: see [`proof_of_possession`](crate::proof_of_possession).
pub fn verify<S: Suite>(claims: &[Claim<S>], options: &Options, rng: &mut impl CryptoRng) -> Outcome {
    outcome(claims, vec![0; claims.len()], &Plan::new(claims, options), rng)
}

/// Verifies the claims without their known statements, and remembers the valid claims of one statement.
///
/// The verdicts are about the whole claims. A claim of the call is not yet known when the others are verified.
pub fn verify_and_remember<S: Suite>(
    claims: &[Claim<S>],
    known: &mut Known<S>,
    options: &Options,
    rng: &mut impl CryptoRng,
) -> Outcome {
    let rest: Vec<_> = claims.iter().map(|claim| claim.without(known, options.backend)).collect();
    let subtracted = claims.iter().zip(&rest).map(|(claim, rest)| claim.len() - rest.len()).collect();
    let outcome = outcome(claims, subtracted, &Plan::new(&rest, options), rng);
    for (claim, verdict) in claims.iter().zip(&outcome.verdicts) {
        if verdict.is_valid() {
            known.remember(claim, Signature::from_member(claim.signature().point()));
        }
    }
    outcome
}

fn outcome<S: Suite>(claims: &[Claim<S>], subtracted: Vec<usize>, plan: &Plan<S>, rng: &mut impl CryptoRng) -> Outcome {
    let mut verdicts = vec![None; claims.len()];
    let work = decide(plan, rng, &mut verdicts);
    Outcome::settle(verdicts, claims.iter().map(Claim::source), subtracted, work)
}

/// Executes a plan, and writes the verdict of each of its claims to the claim's index. A claim that nothing proved or
/// refuted keeps its `None`.
pub(crate) fn decide<S: Suite>(plan: &Plan<S>, rng: &mut impl CryptoRng, verdicts: &mut [Option<Verdict>]) -> Work {
    let execution = Execution::new(plan, rng);
    let found = culprit::search(&execution);
    for defect in &plan.defects {
        verdicts[defect.index] = Some(Verdict::Invalid(defect.reason));
    }
    for position in plan.claims.span().iter() {
        if let Some(reason) = execution.dropped(position) {
            verdicts[plan.claims[position].index] = Some(Verdict::Invalid(reason));
        }
    }
    found.settle(&execution, verdicts);
    let mut work = execution.work();
    work += found.work;
    work
}
