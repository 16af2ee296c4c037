//! Every signature with a known answer: alone against the oracle, and all of them in batches on every backend.

use std::num::NonZeroUsize;

use quorate::{
    AnySuite, Backend, Claim, MinPk, MinSig, Options, ParseError, PublicKey, Signature, Soundness, Suite,
    UncheckedSignature, naive, verify,
};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

use crate::loader::{Case, Messages, Vectors, ethereum, signature_cases};

#[test]
fn each_case_alone() {
    for case in signature_cases() {
        let valid = match case.suite {
            AnySuite::MinPk(suite) => alone(suite, &case),
            AnySuite::MinSig(suite) => alone(suite, &case),
            other => panic!("the vectors have no case of {other}"),
        };
        assert_eq!(valid, case.expected, "{} under {}", case.id, case.suite);
    }
}

/// Good and bad ones of all suites together, on every backend, for each soundness and number of threads.
#[test]
fn all_cases_of_a_variant_in_one_batch() {
    let cases = signature_cases();
    let (min_pk, min_sig): (Vec<_>, Vec<_>) = cases.iter().partition(|case| matches!(case.suite, AnySuite::MinPk(_)));
    together::<MinPk>(&min_pk, |case| match case.suite {
        AnySuite::MinPk(suite) => suite,
        other => unreachable!("{other}: partitioned above"),
    });
    together::<MinSig>(&min_sig, |case| match case.suite {
        AnySuite::MinSig(suite) => suite,
        other => panic!("the vectors have no case of {other}"),
    });
}

/// The source says only whether all claims of a batch are true. In its forged batch, two errors cancel without weights.
#[test]
fn forged_batch_with_cancelling_signatures() {
    let Some(vectors) = Vectors::open("Ethereum batches", &["01"]) else { return };
    for batch in ethereum::batches(&vectors) {
        let claims: Vec<_> = batch.members.iter().map(|case| unchecked(MinPk::ProofOfPossession, case)).collect();
        let alone = claims.iter().map(|claim| claim.as_ref().is_ok_and(|claim| naive::verify(claim).is_valid()));
        let alone: Vec<_> = alone.collect();
        assert_eq!(alone.iter().all(|valid| *valid), batch.expected, "{}", batch.id);

        for options in all_options() {
            let parsed: Vec<_> = claims.iter().filter_map(|claim| claim.clone().ok()).collect();
            let mut verdicts = verify(&parsed, &options, &mut rng()).verdicts.into_iter();
            let together: Vec<_> =
                claims.iter().map(|claim| claim.is_ok() && verdicts.next().is_some_and(|v| v.is_valid())).collect();
            assert_eq!(together, alone, "{} with {options:?}", batch.id);
        }
    }
}

fn alone<S: Suite>(suite: S, case: &Case) -> bool {
    let signature = Signature::from_bytes(&case.signature);
    let claim = signature.and_then(|signature| claim(suite, case, signature));
    claim.is_ok_and(|claim| naive::verify(&claim).is_valid())
}

fn together<S: Suite>(cases: &[&Case], suite: impl Fn(&Case) -> S) {
    let mut claims = Vec::new();
    let mut members = Vec::new();
    for case in cases {
        match unchecked(suite(case), case) {
            Ok(claim) => {
                claims.push(claim);
                members.push(case);
            }
            Err(flaw) => assert!(!case.expected, "{}: {flaw}", case.id),
        }
    }
    for options in all_options() {
        let verdicts = verify(&claims, &options, &mut rng()).verdicts;
        assert_eq!(verdicts.len(), members.len());
        for (case, verdict) in members.iter().zip(verdicts) {
            assert_eq!(verdict.is_valid(), case.expected, "{}: {verdict:?} with {options:?}", case.id);
        }
    }
}

/// The case as a claim that leaves the subgroup check of its signature to the batch.
fn unchecked<S: Suite>(suite: S, case: &Case) -> Result<Claim<S>, ParseError> {
    let signature = UncheckedSignature::from_bytes(&case.signature)?;
    claim(suite, case, signature)
}

pub(crate) fn claim<S: Suite>(
    suite: S,
    case: &Case,
    signature: impl Into<quorate::claim::ClaimSignature<S>>,
) -> Result<Claim<S>, ParseError> {
    let keys = case.keys.iter().map(|key| PublicKey::from_bytes(key)).collect::<Result<Vec<_>, _>>()?;
    Ok(match &case.messages {
        Messages::Shared(message) if keys.len() == 1 => Claim::single(suite, keys[0], &message[..], signature),
        Messages::Shared(message) => Claim::shared(suite, keys, &message[..], signature),
        Messages::Each(messages) => {
            assert_eq!(keys.len(), messages.len(), "{}: a message for each key", case.id);
            let statements = keys.into_iter().zip(messages.iter().map(|message| message[..].into())).collect();
            Claim::each(suite, statements, signature)
        }
        Messages::Possession => {
            Claim::proof_of_possession(suite, keys[0], signature).expect("a suite with proofs of possession")
        }
    })
}

fn all_options() -> Vec<Options> {
    let mut all = Vec::new();
    for &backend in Backend::available() {
        for soundness in [Soundness::Bits64, Soundness::Bits128] {
            for threads in [NonZeroUsize::MIN, NonZeroUsize::MIN.saturating_add(1)] {
                all.push(Options { threads, soundness, backend });
            }
        }
    }
    all
}

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([28; 32])
}
