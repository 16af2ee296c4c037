//! Where sources contradict each other or quorate. Each row of the table must still occur in the data that is present,
//! unless the source has corrected itself since.

use quorate::{
    AnySuite, Backend, Bls12381Suite, MinPk, MinSig, ParseError, PublicKey, SecretKey, Signature, Suite, naive,
};
use quorate_curve::{Bls12381Group, G1};

use quorate_lab::answers::{
    Case, CaseMessages, Vectors, is_overruled,
    secrets::{compatible, reduced, signings},
    stated_cases,
};

use super::{encodings::MISNAMED, hashing::DEFAULT_TAGS, signatures::claim};

/// A known disagreement.
struct Disagreement {
    /// A part of the names of the files that have it.
    source: &'static str,
    case: &'static str,
    says: &'static str,
    quorate: &'static str,
    why: &'static str,
    /// The commit from which on the source agrees with quorate. Data of that commit or later does not have the case.
    corrected_at: Option<&'static str>,
    occurs: Occurs,
}

/// How the occurrences of a disagreement are counted. For each of them, a check compares with what quorate does.
enum Occurs {
    /// The source's cases that fit the first function, checked by the second.
    In(fn(&Case) -> bool, fn(&Case)),
    /// Among other items than cases.
    Elsewhere(fn(&Vectors) -> usize),
}

const TABLE: &[Disagreement] = &[
    Disagreement {
        source: "03_noble_bls12381/bls12-381-g2-test-vectors",
        case: "secret keys that are not below r",
        says: "they sign, as their residue modulo r",
        quorate: "refuses them",
        why: "a secret key is in 1..r (draft-irtf-cfrg-bls-signature-05, section 2.3)",
        corrected_at: None,
        occurs: Occurs::Elsewhere(secrets_not_below_r),
    },
    Disagreement {
        source: "01_herumi_eth_draft07/verify",
        case: "the identity as key and as signature",
        says: "valid, at herumi/bls commit 52b02e15f63f8b782b9b5ca7e1875b4548b46650",
        quorate: "invalid: the key is the identity",
        why: "KeyValidate refuses the identity (section 2.5), as the later Ethereum suites have it",
        corrected_at: Some("herumi/bls commit aba0ffebd209ad7bc346d8c35d4be34c9fe04487"),
        occurs: Occurs::In(is_overruled, identity_key),
    },
    Disagreement {
        source: "/fast_aggregate_verify_infinity_pubkey",
        case: "the identity among the keys",
        says: "false, where blspy says true",
        quorate: "invalid, with the set: a key is the identity",
        why: "KeyValidate refuses the identity (section 2.5)",
        corrected_at: None,
        occurs: Occurs::In(any, identity_key),
    },
    Disagreement {
        source: "/aggregate_verify_na_pubkeys_and_infinity_signature",
        case: "no keys, the identity as signature",
        says: "false, where blspy says true",
        quorate: "invalid, with the set: no statements",
        why: "AggregateVerify needs n >= 1 (section 2.9)",
        corrected_at: None,
        occurs: Occurs::In(any, invalid),
    },
    Disagreement {
        source: "/eth_fast_aggregate_verify_na_pubkeys_and_infinity_signature",
        case: "no keys, the identity as signature",
        says: "true, where fast_aggregate_verify says false",
        quorate: "valid in the profile eth2-sync-aggregate, invalid in eth2 and in POP",
        why: "Altair lets a whole sync committee be absent; FastAggregateVerify needs n >= 1 (section 3.3.4)",
        corrected_at: None,
        occurs: Occurs::In(any, |case| {
            valid_but_not_in(MinPk::Eth2, case);
            valid_but_not_in(MinPk::ProofOfPossession, case);
        }),
    },
    Disagreement {
        source: "09_wycheproof_bls/bls_sig_g2_aggregate_verify_test.json",
        case: "no keys",
        says: "invalid, where blspy says valid",
        quorate: "invalid, with the set: no statements",
        why: "AggregateVerify needs n >= 1 (section 2.9)",
        corrected_at: None,
        occurs: Occurs::In(|case| case.keys.is_empty(), invalid),
    },
    Disagreement {
        source: MISNAMED,
        case: "a signature whose x.c1 is said to be not below the field prime",
        says: "invalid, for that reason",
        quorate: "invalid: the point is not in the subgroup",
        why: "x.c1 begins with 0x00ff behind the flags, and the prime with 0x1a01",
        corrected_at: None,
        occurs: Occurs::In(any, |case| {
            let read = Signature::<MinPk>::from_bytes(&case.signature);
            assert_eq!(read, Err(ParseError::SignatureNotInSubgroup), "{}", case.id);
        }),
    },
    Disagreement {
        source: "06_drand/fastnet",
        case: "signatures in G1 under the tag of G2",
        says: "true, under the tag of G2",
        quorate: "valid in drand-g1-legacy, invalid in drand-quicknet",
        why: "each group has its own tag (section 4.2.1); the retired networks used one, quicknet does as specified",
        corrected_at: None,
        occurs: Occurs::In(any, |case| valid_but_not_in(MinSig::DrandQuicknet, case)),
    },
    Disagreement {
        source: "03_kyber_bls12381/",
        case: "a hash without a tag",
        says: "the tag is the default one of each group, where Filecoin's data has the empty tag",
        quorate: "hashes under the empty tag, as Filecoin",
        why: "the caller says the tag, and none has a default",
        corrected_at: None,
        occurs: Occurs::Elsewhere(untagged),
    },
    Disagreement {
        source: "03_iohk_e2e/",
        case: "proofs of possession under the tag of signatures",
        says: "true, under BLS_SIG_…_POP_",
        quorate: "valid as a signature over the key, invalid as a proof of possession",
        why: "a proof has a tag of its own, BLS_POP_…_POP_ (section 4.2.3): no signature over a message can be one",
        corrected_at: None,
        occurs: Occurs::In(is_over_its_key, |case| {
            invalid(&Case { messages: CaseMessages::Possession, ..case.clone() });
            assert!(is_valid(case), "{}", case.id);
        }),
    },
    Disagreement {
        source: "03_chia_vectors/pyecc_vectors",
        case: "Basic: the sum of two signatures over one message",
        says: "it is an aggregate",
        quorate: "adds the signatures up, and calls the claim invalid",
        why: "the messages of a NUL aggregate differ, or a rogue key forges (section 3.1)",
        corrected_at: None,
        occurs: Occurs::In(|case| case.keys.len() > 1 && case.suite == AnySuite::MinPk(MinPk::Basic), invalid),
    },
];

#[test]
fn known_disagreements_still_occur() {
    let Some(vectors) = Vectors::open("known disagreements", &["01", "03", "06", "09"]) else { return };
    let cases = stated_cases(&vectors);
    for Disagreement { source, case, says, quorate, why, corrected_at, occurs } in TABLE {
        let file = source.split('#').next().unwrap_or(source);
        if !vectors.files.iter().any(|present| present.name.contains(file)) {
            println!("{source}: not here ({case})");
            continue;
        }
        let count = match occurs {
            Occurs::In(fits, check) => {
                let found = cases.iter().filter(|case| case.id.contains(source) && fits(case));
                found.inspect(|case| check(case)).count()
            }
            Occurs::Elsewhere(count) => count(&vectors),
        };
        if let (0, Some(commit)) = (count, corrected_at) {
            println!(
                "{source}: {case}: none; the data here is of {commit} or later, where the source agrees with quorate"
            );
            continue;
        }
        println!("{source}: {case}: {count}. It says: {says}. quorate: {quorate}. Why: {why}.");
        assert!(count > 0, "{source}: {case} does not occur any more");
    }
}

fn secrets_not_below_r(vectors: &Vectors) -> usize {
    let beyond = signings(vectors).into_iter().filter(|signing| reduced(signing.secret) != signing.secret);
    let refused = beyond.inspect(|signing| {
        let read = SecretKey::<MinPk>::from_bytes(&signing.secret);
        assert!(matches!(read, Err(ParseError::Secret(_))), "{}", signing.id);
    });
    refused.count()
}

/// Hashes of drand's data without a tag. Under the empty tag, quorate hashes to other points.
fn untagged(vectors: &Vectors) -> usize {
    let records = vectors.files.iter().filter(|file| file.set == DEFAULT_TAGS).flat_map(compatible);
    let untagged = records.map(|(_, record)| record).filter(|record| record.ciphersuite.is_empty()).inspect(|record| {
        let point: G1 = Backend::auto().hash_to_curve(b"", &[(&[], record.msg.as_bytes())])[0];
        assert_ne!(point.compress()[..], record.g1.0);
    });
    untagged.count()
}

fn any(_: &Case) -> bool {
    true
}

/// Whether the message is the key, under a suite that has proofs of possession.
fn is_over_its_key(case: &Case) -> bool {
    let tag = match case.suite {
        AnySuite::MinPk(suite) => suite.proof_of_possession_tag(),
        AnySuite::MinSig(suite) => suite.proof_of_possession_tag(),
        other => panic!("the vectors have no case of {other}"),
    };
    tag.is_some() && matches!(&case.messages, CaseMessages::Shared(message) if case.keys == [message.clone()])
}

fn identity_key(case: &Case) {
    let read: Result<Vec<_>, _> = case.keys.iter().map(|key| PublicKey::<MinPk>::from_bytes(key)).collect();
    assert_eq!(read, Err(ParseError::IdentityKey), "{}", case.id);
}

fn invalid(case: &Case) {
    assert!(!is_valid(case), "{}", case.id);
}

fn valid_but_not_in<S: Bls12381Suite>(other: S, case: &Case) {
    assert!(is_valid(case), "{}", case.id);
    assert!(!is_valid_in(other, case), "{} in {other}", case.id);
}

fn is_valid(case: &Case) -> bool {
    match case.suite {
        AnySuite::MinPk(suite) => is_valid_in(suite, case),
        AnySuite::MinSig(suite) => is_valid_in(suite, case),
        other => panic!("the vectors have no case of {other}"),
    }
}

fn is_valid_in<S: Bls12381Suite>(suite: S, case: &Case) -> bool {
    let read = Signature::from_bytes(&case.signature).and_then(|signature| claim(suite, case, signature));
    read.is_ok_and(|claim| naive::verify(&claim).is_valid())
}
