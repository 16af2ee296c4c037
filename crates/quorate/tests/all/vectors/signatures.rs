//! Every signature with a known answer: alone, by the oracle, and all of a variant in one batch on every backend.

use quorate::{
    AnySuite, Bls12381Suite, Claim, MinPk, MinSig, Options, ParseError, PublicKey, UncheckedSignature, naive, verify,
};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

use crate::options::Turns;
use quorate_lab::answers::{Case, CaseMessages, Vectors, ethereum, signature_cases};

#[test]
fn min_pk_cases_alone_and_together() {
    alone_and_together::<MinPk>(|suite| match suite {
        AnySuite::MinPk(suite) => Some(suite),
        _ => None,
    });
}

#[test]
fn min_sig_cases_alone_and_together() {
    alone_and_together::<MinSig>(|suite| match suite {
        AnySuite::MinSig(suite) => Some(suite),
        _ => None,
    });
}

/// The vectors have cases of BLS12-381 alone.
#[test]
fn every_case_is_of_one_of_the_variants() {
    assert!(signature_cases().iter().all(|case| matches!(case.suite, AnySuite::MinPk(_) | AnySuite::MinSig(_))));
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

/// True and false ones of all suites of a variant: each by the oracle, and together on every backend, with each soundness
/// and each number of threads.
fn alone_and_together<S: Bls12381Suite>(of_variant: impl Fn(AnySuite) -> Option<S>) {
    let (mut claims, mut members) = (Vec::new(), Vec::new());
    for case in signature_cases() {
        let Some(suite) = of_variant(case.suite) else { continue };
        match unchecked(suite, &case) {
            Ok(claim) => {
                assert_eq!(naive::verify(&claim).is_valid(), case.expected, "{} under {suite}", case.id);
                claims.push(claim);
                members.push(case);
            }
            Err(flaw) => assert!(!case.expected, "{} under {suite}: {flaw}", case.id),
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
fn unchecked<S: Bls12381Suite>(suite: S, case: &Case) -> Result<Claim<S>, ParseError> {
    let signature = UncheckedSignature::from_bytes(&case.signature)?;
    claim(suite, case, signature)
}

pub(crate) fn claim<S: Bls12381Suite>(
    suite: S,
    case: &Case,
    signature: impl Into<quorate::claim::ClaimSignature<S>>,
) -> Result<Claim<S>, ParseError> {
    let keys = case.keys.iter().map(|key| PublicKey::from_bytes(key)).collect::<Result<Vec<_>, _>>()?;
    Ok(match &case.messages {
        CaseMessages::Shared(message) if keys.len() == 1 => Claim::single(suite, keys[0], &message[..], signature),
        CaseMessages::Shared(message) => Claim::shared(suite, keys, &message[..], signature),
        CaseMessages::Each(messages) => {
            assert_eq!(keys.len(), messages.len(), "{}: a message for each key", case.id);
            let statements = keys.into_iter().zip(messages.iter().map(|message| message[..].into())).collect();
            Claim::each(suite, statements, signature)
        }
        CaseMessages::Possession => {
            Claim::proof_of_possession(suite, keys[0], signature).expect("a suite with proofs of possession")
        }
    })
}

fn all_options() -> Vec<Options> {
    let mut turns = Turns::default();
    [turns.on_every_backend(), turns.on_every_backend()].concat()
}

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([28; 32])
}
