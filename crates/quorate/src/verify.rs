//! Verifies claims: makes a plan, executes it, searches for the false claims, settles the verdicts.

use rand_core::CryptoRng;

use crate::{
    claim::Claim,
    culprit::{self, Exhaustive, Patience},
    execute::Execution,
    known::{Entry, Known},
    plan::{Defective, Plan},
    signature::Signature,
    suite::Suite,
    verdict::{Outcome, Verdict, Work},
};

pub use crate::plan::{Keys, Options};

/// Verifies every claim and says which are false: one verdict for each claim, in input order; none for no claims.
///
/// `rng` must be a CSPRNG of [`rand_core`] 0.10, such as `rand::rng()`. (After a fork that generator is the same in parent
/// and child, so a program that forks seeds one for each batch from the operating system.) After all claims are fixed, a
/// weight wᵢ is drawn for each claim, and the product that [`Plan`] describes is computed. If the product is not one,
/// [`culprit::search`] finds the false claims. A batch can mix the suites of one variant. A claim that occurs twice
/// gets its verdict twice.
///
/// The probability that any verdict on a batch of n claims is wrong is at most 3n/(2^64 - 1), or 3n/(2^128 - 1) with
/// [`Soundness::Bits128`](crate::Soundness). Only one error is possible: a false claim passes. A claim that stands alone
/// in its batch is decided exactly. If the plan checks membership of the subgroup through the weighted sum of the
/// signatures, it misses a signature outside the subgroup with probability at most 2^-65 (2^-129).
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

/// Whether there are claims and all of them are valid, without a search for those that are not.
///
/// It gives the answer of [`verify`]`(…).all_valid()`, and takes less time if a claim is false.
pub fn all_valid<S: Suite>(claims: &[Claim<S>], options: &Options, rng: &mut impl CryptoRng) -> bool {
    let plan = Plan::new(claims, options);
    plan.defects.is_empty() && Execution::new(&plan, rng).holds()
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
        if verdict.is_valid()
            && let Some(entry) = Entry::of_claim(claim)
        {
            known.insert(entry, Signature::from_member(claim.signature().point()));
        }
    }
    outcome
}

fn outcome<S: Suite>(claims: &[Claim<S>], subtracted: Vec<usize>, plan: &Plan<S>, rng: &mut impl CryptoRng) -> Outcome {
    let mut verdicts = vec![None; claims.len()];
    let work = decide(&Execution::new(plan, rng), &mut Exhaustive, &mut verdicts);
    Outcome::settle(verdicts, claims.iter().map(Claim::source), subtracted, work)
}

/// Decides the claims of an executed plan: writes the verdict of each claim to its index. A claim that nothing proved
/// or refuted keeps its `None`.
pub(crate) fn decide<S: Suite>(
    execution: &Execution<'_, S>,
    patience: &mut dyn Patience,
    verdicts: &mut [Option<Verdict>],
) -> Work {
    let plan = execution.plan();
    for Defective { index, source, reason } in &plan.defects {
        patience.found(*index, source.as_ref(), *reason);
        verdicts[*index] = Some(Verdict::Invalid(*reason));
    }
    let found = culprit::search_with(execution, patience);
    for position in plan.claims.span().iter() {
        if let Some(reason) = execution.dropped(position) {
            verdicts[plan.claims[position].index] = Some(Verdict::Invalid(reason));
        }
    }
    found.settle(execution, verdicts);
    let mut work = execution.work();
    work += found.work;
    work
}

#[cfg(test)]
mod tests {
    use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

    use super::*;
    use crate::{key::SecretKey, suite::MinPk, tag::Tag};

    /// Claims under tags of their own beside the suite's, with equal messages: each is judged under its tag.
    #[test]
    fn tags_in_a_batch_are_kept_apart() {
        let (suite, mut rng) = (MinPk::Basic, ChaCha20Rng::from_seed([5; 32]));
        let secret = SecretKey::key_gen(suite, &[1; 32], b"").unwrap();
        let tags = [Tag::from(&b"first tag"[..]), Tag::from(suite.id().as_bytes()), Tag::from(&b""[..])];
        let claim = |signed: &Tag, claimed: &Tag| {
            let signature = secret.sign_under_tag(suite, signed, b"message");
            Claim::single(suite, secret.public_key(), *b"message", signature).under_tag(claimed.clone())
        };
        let mut claims: Vec<_> = tags.iter().map(|tag| claim(tag, tag)).collect();
        claims.push(Claim::single(suite, secret.public_key(), *b"message", secret.sign(suite, b"message")));
        assert!(all_valid(&claims, &Options::default(), &mut rng));
        claims.push(claim(&tags[0], &tags[1]));
        assert!(!all_valid(&claims, &Options::default(), &mut rng));
        assert_eq!(verify(&claims, &Options::default(), &mut rng).invalid().collect::<Vec<_>>(), [4]);
    }

    #[test]
    fn nothing_and_a_defect_are_not_all_valid() {
        let mut rng = ChaCha20Rng::from_seed([6; 32]);
        assert!(!all_valid::<MinPk>(&[], &Options::default(), &mut rng));
        let secret = SecretKey::key_gen(MinPk::Eth2, &[1; 32], b"").unwrap();
        let good = Claim::single(MinPk::Eth2, secret.public_key(), *b"m", secret.sign(MinPk::Eth2, b"m"));
        let empty = Claim::each(MinPk::Eth2, Vec::new(), secret.sign(MinPk::Eth2, b"m"));
        assert!(!all_valid(&[good.clone(), empty], &Options::default(), &mut rng));
        assert!(all_valid(&[good], &Options::default(), &mut rng));
    }
}
