//! All of it: plan, execute, search, settle.

use rand_core::CryptoRng;

use crate::{
    claim::{Claim, SourceId},
    culprit,
    execute::Execution,
    known::Known,
    plan::Plan,
    suite::Suite,
    verdict::{Outcome, Reason, Verdict},
};

pub use crate::plan::Options;

/// Verifies every claim and says which are false: one verdict a claim, in input order; none for no claims.
///
/// Draws a weight wᵢ for each claim from `rng` and checks the product that [`Plan`] describes; if it is not one,
/// [`culprit::search`] finds the false claims. Claims of different suites of one variant can stand in one batch; a claim
/// that occurs twice gets its verdict twice.
///
/// A false claim passes with probability at most 2^-64 for each set of claims that is looked at (2^-128 with
/// [`Soundness::Bits128`](crate::Soundness)). With no greater one the search mistakes one set of claims for another and calls a
/// true claim false, and only where two others are false. A claim alone in its batch is decided exactly. Where the plan has the
/// weighted sum of the signatures tell their membership, one outside the subgroup is missed with probability at most 2^-66
/// (2^-129): `docs/soundness.md`.
///
/// Cost when all are true: a hash a distinct message, a subgroup check an unchecked signature or a check of their sum,
/// k + 1 Miller loops where k vertices cover the graph of keys and messages, one final exponentiation, and a weighted sum in
/// each group.
///
/// Specification: draft-irtf-cfrg-bls-signature-05, sections 2.7, 2.9, 3. Does not check possession of keys: see
/// [`possession`](crate::possession).
pub fn verify<S: Suite>(claims: &[Claim<S>], options: &Options, rng: &mut impl CryptoRng) -> Outcome {
    settle(&Plan::new(claims, options), rng)
}

/// Verifies what is not known of the claims, and remembers the claims of one statement that are true.
///
/// The verdicts are about the whole claims. Statements of one call are not known to each other.
pub fn verify_and_remember<S: Suite>(
    claims: &[Claim<S>],
    known: &mut Known<S>,
    options: &Options,
    rng: &mut impl CryptoRng,
) -> Outcome {
    let rest: Vec<_> = claims.iter().map(|claim| claim.without(known)).collect();
    let outcome = verify(&rest, options, rng);
    for (claim, verdict) in claims.iter().zip(&outcome.verdicts) {
        if verdict.is_valid() {
            known.remember(claim);
        }
    }
    outcome
}

/// Executes a plan and settles its verdicts, for a caller that has looked at the plan first.
pub fn settle<S: Suite>(plan: &Plan<S>, rng: &mut impl CryptoRng) -> Outcome {
    let execution = Execution::new(plan, rng);
    let found = culprit::search(&execution);
    let mut outcome =
        Outcome { verdicts: vec![Verdict::Valid; plan.len()], work: execution.work(), ..Outcome::default() };
    outcome.work += found.work;

    let mut condemn = |index: usize, source: Option<SourceId>, reason| {
        outcome.verdicts[index] = Verdict::Invalid(reason);
        if let Some(source) = source {
            outcome.false_by_source.entry(source).or_default().push(index);
        }
    };
    for defect in &plan.defects {
        condemn(defect.index, defect.source, defect.reason);
    }
    for (position, claim) in plan.claims.iter().enumerate() {
        if let Some(reason) = execution.dropped(position) {
            condemn(claim.index, claim.source, reason);
        }
    }
    for position in found.positions {
        condemn(plan.claims[position].index, plan.claims[position].source, Reason::Mismatch);
    }
    outcome.false_by_source.values_mut().for_each(|indices| indices.sort_unstable());
    outcome
}
