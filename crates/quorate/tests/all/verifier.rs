//! The entry for claims as bytes: every suite, bytes that do not decode, known statements, the rules of BN254.

use quorate::{
    AnySuite, Backend, Bls12381Suite, ClaimBytes, DecodeError, Messages, MinPk, MinSig, Options, Outcome, ParseError,
    Reason, SecretKey, SourceId, Suite, TrustError, Verdict, Verifier, aggregate::aggregate, proof_of_possession,
};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([3; 32])
}

/// Every backend, on one thread and on three.
fn verifiers() -> impl Iterator<Item = Verifier> {
    let options = Backend::available().iter().flat_map(|backend| {
        [1, 3].map(|threads| Options { backend: *backend, threads: threads.try_into().unwrap(), ..Options::default() })
    });
    options.map(Verifier::new)
}

fn secret<S: Bls12381Suite>(suite: S, i: u8) -> SecretKey<S> {
    SecretKey::key_gen(suite, &[i; 32], b"verifier").unwrap()
}

/// The claim that key `i` signed a message.
fn single<S: Bls12381Suite>(suite: S, i: u8, message: &[u8]) -> ClaimBytes {
    let secret = secret(suite, i);
    let (key, signature) = (secret.public_key().to_bytes(), secret.sign(suite, message).to_bytes());
    ClaimBytes::single(suite.any(), key.as_ref(), message, signature.as_ref())
}

/// The claim that keys `i` signed one message, or each its own.
fn several<S: Bls12381Suite>(suite: S, keys: &[u8], messages: Messages) -> ClaimBytes {
    let secrets: Vec<_> = keys.iter().map(|i| secret(suite, *i)).collect();
    let signatures = secrets.iter().enumerate().map(|(i, secret)| match &messages {
        Messages::Shared(message) => secret.sign(suite, message),
        Messages::Each(messages) => secret.sign(suite, &messages[i]),
        _ => proof_of_possession::prove(suite, secret).expect("a POP suite"),
    });
    let sum = aggregate(&signatures.collect::<Vec<_>>(), Backend::Portable).unwrap();
    ClaimBytes {
        suite: suite.any(),
        public_keys: secrets.iter().map(|secret| secret.public_key().to_bytes().as_ref().to_vec()).collect(),
        messages,
        signature: sum.to_bytes().as_ref().to_vec(),
        source: None,
    }
}

fn each(messages: &[&[u8]]) -> Messages {
    Messages::Each(messages.iter().map(|message| (*message).into()).collect())
}

fn shared(message: &[u8]) -> Messages {
    Messages::Shared(message.into())
}

/// Claims with the verdict that each must get.
fn cases() -> Vec<(ClaimBytes, Verdict)> {
    let mismatch = Verdict::Invalid(Reason::Mismatch);
    let parse = |error| Verdict::Invalid(Reason::Parse(error));
    let good = single(MinPk::Eth2, 1, b"m");
    let with = |change: fn(&mut ClaimBytes)| {
        let mut claim = good.clone();
        change(&mut claim);
        claim
    };
    let length = |group, expected, found| DecodeError::Length { group, expected, found };
    let mut identity_key = vec![0; 48];
    identity_key[0] = 0xc0;
    let mut order_three = vec![0; 48];
    order_three[0] = 0x80;
    let mut cases = vec![
        (good.clone(), Verdict::Valid),
        (with(|claim| claim.messages = Messages::Shared((*b"n").into())), mismatch),
        (with(|claim| claim.suite = MinPk::Basic.any()), mismatch),
        (with(|claim| claim.suite = MinPk::ProofOfPossession.any()), Verdict::Valid),
        (
            with(|claim| claim.public_keys.as_encoded_mut().unwrap()[0].truncate(47)),
            parse(ParseError::Key(length("G1", 48, 47))),
        ),
        (
            with(|claim| claim.public_keys.as_encoded_mut().unwrap()[0].clear()),
            parse(ParseError::Key(length("G1", 48, 0))),
        ),
        (with(|claim| claim.signature.push(0)), parse(ParseError::Signature(length("G2", 96, 97)))),
        (ClaimBytes { public_keys: vec![identity_key.clone()].into(), ..good.clone() }, parse(ParseError::IdentityKey)),
        (ClaimBytes { public_keys: vec![order_three].into(), ..good.clone() }, parse(ParseError::KeyNotInSubgroup)),
        (with(|claim| claim.public_keys.as_encoded_mut().unwrap().clear()), Verdict::Invalid(Reason::NoStatements)),
        (
            ClaimBytes {
                public_keys: vec![good.public_keys.as_encoded().unwrap()[0].clone(), identity_key].into(),
                ..good.clone()
            },
            Verdict::Invalid(Reason::ParseKey { index: 1, keys: 2, error: ParseError::IdentityKey }),
        ),
        (
            ClaimBytes { messages: each(&[b"m", b"n"]), ..good.clone() },
            Verdict::Invalid(Reason::UnequalCounts { keys: 1, messages: 2 }),
        ),
        (several(MinPk::Eth2, &[1, 2, 3], shared(b"m")), Verdict::Valid),
        (several(MinPk::Eth2, &[1, 2], each(&[b"m", b"m"])), Verdict::Valid),
        (several(MinPk::Chia, &[1, 2], each(&[b"m", b"m"])), Verdict::Valid),
        (several(MinPk::Basic, &[1, 2], each(&[b"m", b"n"])), Verdict::Valid),
        (several(MinPk::Basic, &[1, 2], each(&[b"m", b"m"])), Verdict::Invalid(Reason::RepeatedMessage)),
        (several(MinSig::ProofOfPossession, &[1, 2], shared(b"m")), Verdict::Valid),
        (several(MinSig::DrandQuicknet, &[7], shared(b"round")), Verdict::Valid),
        (several(MinPk::Eth2, &[1], Messages::ProofOfPossession), Verdict::Valid),
        // A proof is not a signature over the key.
        (
            ClaimBytes {
                messages: Messages::Shared(secret(MinPk::Eth2, 1).public_key().to_bytes().into()),
                ..several(MinPk::Eth2, &[1], Messages::ProofOfPossession)
            },
            mismatch,
        ),
        (
            ClaimBytes { messages: Messages::ProofOfPossession, ..several(MinPk::Eth2, &[1, 2], shared(b"m")) },
            Verdict::Invalid(Reason::UnequalCounts { keys: 2, messages: 1 }),
        ),
        (
            ClaimBytes { messages: Messages::ProofOfPossession, ..single(MinPk::Basic, 1, b"m") },
            Verdict::Invalid(Reason::NoProofsOfPossession),
        ),
    ];
    // Altair's exception is for sync aggregates alone.
    let mut identity = vec![0; 96];
    identity[0] = 0xc0;
    for (suite, verdict) in
        [(MinPk::Eth2, Verdict::Invalid(Reason::NoStatements)), (MinPk::Eth2SyncAggregate, Verdict::Valid)]
    {
        let claim =
            ClaimBytes { suite: suite.any(), public_keys: vec![].into(), signature: identity.clone(), ..good.clone() };
        cases.push((claim, verdict));
    }
    #[cfg(feature = "bn254")]
    cases.extend(bn254::cases());
    cases
}

#[test]
fn every_case_alone_and_in_one_batch() {
    let (claims, expected): (Vec<_>, Vec<_>) = cases().into_iter().unzip();
    for (claim, expected) in claims.iter().zip(&expected) {
        assert_eq!(claim.verify(), *expected, "{claim:?}");
    }
    for verifier in verifiers() {
        let options = *verifier.options();
        // The second time, the keys are those that were kept.
        for _ in 0..2 {
            let outcome = verifier.verify(&claims, &mut rng());
            assert_eq!(outcome.verdicts, expected, "{options:?}");
            assert!(outcome.subtracted.iter().all(|n| *n == 0));
            assert!(outcome.work.pairings > 0 && !outcome.all_valid());
        }
        // In any order.
        let outcome = verifier.verify(&claims.iter().rev().cloned().collect::<Vec<_>>(), &mut rng());
        assert_eq!(outcome.verdicts, expected.iter().rev().copied().collect::<Vec<_>>(), "{options:?}");
    }
}

#[test]
fn nothing_in_is_nothing_out() {
    for verifier in verifiers() {
        let prepared = verifier.prepare(&[]);
        assert_eq!(prepared.to_string(), "");
        let outcome = prepared.decide(&mut rng());
        assert_eq!(outcome, Outcome::default());
        assert!(!outcome.all_valid());
    }
}

#[test]
fn false_claims_are_reported_by_source_across_suites() {
    let from = |mut claim: ClaimBytes, source: SourceId| {
        claim.source = Some(source);
        claim
    };
    let lie = |mut claim: ClaimBytes| {
        claim.messages = shared(b"lie");
        claim
    };
    let claims = [
        from(lie(single(MinPk::Eth2, 1, b"a")), "peer".into()),
        from(single(MinPk::Eth2, 1, b"a"), "honest".into()),
        from(lie(single(MinSig::Basic, 1, b"a")), "peer".into()),
        from(ClaimBytes::single(MinPk::Chia.any(), b"", b"", b""), 7.into()),
        lie(single(MinPk::Eth2, 2, b"a")),
    ];
    for verifier in verifiers() {
        let outcome = verifier.verify(&claims, &mut rng());
        let by_source: Vec<_> = outcome.false_by_source.into_iter().collect();
        assert_eq!(by_source, [(7.into(), vec![3]), ("peer".into(), vec![0, 2])]);
    }
}

#[test]
fn known_statements_are_subtracted_and_counted() {
    let messages: [&[u8]; 3] = [b"a", b"b", b"c"];
    let block = several(MinPk::Basic, &[1, 2, 3], each(&messages));
    let mut forged = block.clone();
    forged.signature = single(MinPk::Basic, 9, b"z").signature;
    for verifier in verifiers() {
        verifier.trust(&single(MinPk::Basic, 1, b"a")).unwrap();
        verifier.trust(&single(MinPk::Basic, 3, b"c")).unwrap();
        assert_eq!(verifier.known(), 2);
        let claims = [block.clone(), forged.clone(), single(MinPk::Basic, 3, b"c"), single(MinPk::Basic, 4, b"c")];
        let prepared = verifier.prepare(&claims);
        assert!(prepared.to_string().starts_with("known: 5 statements subtracted\n"), "{prepared}");
        let outcome = prepared.decide(&mut rng());
        let expected = [Verdict::Valid, Verdict::Invalid(Reason::Mismatch), Verdict::Valid, Verdict::Valid];
        assert_eq!(outcome.verdicts, expected);
        assert_eq!(outcome.subtracted, [2, 2, 1, 0]);
    }
}

#[test]
fn what_cannot_be_trusted_is_an_error() {
    let verifier = Verifier::new(Options::default());
    let two = several(MinPk::Eth2, &[1, 2], shared(b"m"));
    assert_eq!(verifier.trust(&two), Err(TrustError::Statements(2)));
    let none = ClaimBytes { public_keys: vec![].into(), ..two };
    assert_eq!(verifier.trust(&none), Err(TrustError::Statements(0)));
    let mut bad = single(MinPk::Eth2, 1, b"m");
    bad.signature[95] ^= 1;
    assert!(matches!(verifier.trust(&bad), Err(TrustError::Invalid(Reason::Parse(_)))));
    assert_eq!(verifier.known(), 0);
}

#[test]
fn a_suite_is_named_by_a_string() {
    let mut claim = single(MinPk::Eth2, 1, b"m");
    claim.suite = "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_".parse::<AnySuite>().unwrap();
    assert!(claim.verify().is_valid());
}

/// The verdicts of claims that cannot be judged are the texts that users see.
#[test]
fn verdicts_print_themselves() {
    let texts: Vec<_> = cases().iter().map(|(_, verdict)| verdict.to_string()).collect();
    assert_eq!(texts[0], "valid");
    assert_eq!(texts[1], "invalid: the signature does not match the keys and messages");
    assert!(texts.contains(&"invalid: public key: the point is the identity (key 2 of 2)".to_owned()), "{texts:?}");
}

#[cfg(feature = "serde")]
#[test]
fn keys_signatures_and_verdicts_as_json() {
    let secret = secret(MinPk::Eth2, 1);
    let (key, signature) = (secret.public_key(), secret.sign(MinPk::Eth2, b"m"));
    let json = serde_json::to_string(&(key, signature, MinPk::Eth2.any())).unwrap();
    assert_eq!(json, format!("[\"{key}\",\"{signature}\",\"eth2\"]"));
    type Read = (quorate::PublicKey<MinPk>, quorate::Signature<MinPk>, AnySuite);
    assert_eq!(serde_json::from_str::<Read>(&json).unwrap(), (key, signature, MinPk::Eth2.any()));
    let error = serde_json::from_str::<quorate::PublicKey<MinPk>>("\"c0\"").unwrap_err().to_string();
    assert!(error.starts_with("public key: found 1 bytes, expected the 48 bytes of a G1 point"), "{error}");
    assert_eq!(serde_json::to_string(&Verdict::Valid).unwrap(), r#"{"valid":true}"#);
    let invalid = serde_json::to_string(&Verdict::Invalid(Reason::NoStatements)).unwrap();
    assert_eq!(invalid, r#"{"valid":false,"reason":"the claim has no keys and messages"}"#);
}

#[cfg(feature = "bn254")]
mod bn254 {
    use quorate::{Bitmap, Bn254Suite, KeySet, MisuseError, PublicKey, Scheme, Signature, Verdict, naive};
    use quorate_bn254::{Bn254Coordinate, Bn254Item, Bn254ParseError, Bn254SecretKey, Bn254Signature, drand_message};

    use super::*;

    fn secret(i: u8) -> Bn254SecretKey {
        Bn254SecretKey::from_entropy(&[i; 48])
    }

    fn key(suite: Bn254Suite, i: u8) -> Vec<u8> {
        match suite.has_dual_keys() {
            false => secret(i).public_key_g2().to_bytes().to_vec(),
            true => secret(i).dual_key().to_bytes().to_vec(),
        }
    }

    fn claim(suite: Bn254Suite, keys: &[u8], messages: Messages) -> ClaimBytes {
        let signatures = keys.iter().enumerate().map(|(at, i)| match &messages {
            Messages::Each(messages) => suite.sign(&secret(*i), &messages[at]).unwrap(),
            Messages::Shared(message) => suite.sign(&secret(*i), message).unwrap(),
            Messages::ProofOfPossession => suite.prove_possession(&secret(*i)).expect("a POP suite"),
            other => panic!("{other:?}"),
        });
        let sum: Bn254Signature = signatures.sum();
        ClaimBytes {
            suite: AnySuite::Bn254(suite),
            public_keys: keys.iter().map(|i| key(suite, *i)).collect(),
            messages,
            signature: sum.to_bytes().to_vec(),
            source: None,
        }
    }

    /// The suites that are no network's.
    fn of_the_draft() -> impl Iterator<Item = Bn254Suite> {
        Bn254Suite::all().iter().copied().filter(|suite| !suite.is_profile())
    }

    /// Claims of every form under a suite in the form of the draft, with the verdicts that its scheme gives.
    fn cases_of(suite: Bn254Suite) -> Vec<(ClaimBytes, Verdict)> {
        let mismatch = Verdict::Invalid(Reason::Mismatch);
        let repeated = Verdict::Invalid(Reason::RepeatedMessage);
        let equal_messages = match suite.scheme() {
            Scheme::Basic => repeated,
            Scheme::Augmented | Scheme::ProofOfPossession => Verdict::Valid,
            Scheme::Bdn => panic!("{suite} has no coefficients"),
        };
        let parse = |error: Bn254ParseError| Verdict::Invalid(Reason::Parse(error.into()));
        let single = claim(suite, &[1], shared(b"one"));
        let other_key = |claim: ClaimBytes| ClaimBytes { public_keys: vec![key(suite, 2)].into(), ..claim };
        let of_key = |bytes: Vec<u8>| ClaimBytes { public_keys: vec![bytes].into(), ..single.clone() };
        let of_signature = |signature: Vec<u8>| ClaimBytes { signature, ..single.clone() };
        let distinct = claim(suite, &[1, 2], each(&[b"one", b"two"]));
        let crossed = ClaimBytes { messages: each(&[b"two", b"one"]), ..distinct.clone() };
        let same = claim(suite, &[1, 2], each(&[b"one", b"one"]));
        let same_but_one = ClaimBytes { signature: distinct.signature.clone(), ..same.clone() };
        let all = claim(suite, &[1, 2, 3], shared(b"one"));
        let one_of_all = ClaimBytes { signature: single.signature.clone(), ..all.clone() };
        let false_if = |verdict: Verdict| if verdict.is_valid() { mismatch } else { verdict };
        let (item, signature) = (Bn254Item::KeyG2, Bn254Item::Signature);
        let modulus = hex::decode("30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47").unwrap();
        let dual = secret(1).dual_key().to_bytes().to_vec();
        let mut cases = vec![
            (single.clone(), Verdict::Valid),
            (claim(suite, &[1], shared(b"")), Verdict::Valid),
            (ClaimBytes { messages: shared(b"two"), ..single.clone() }, mismatch),
            (other_key(single.clone()), mismatch),
            (distinct, Verdict::Valid),
            (crossed, mismatch),
            (same, equal_messages),
            (same_but_one, false_if(equal_messages)),
            (all, equal_messages),
            (one_of_all, false_if(equal_messages)),
            (of_key(vec![0; 128]), parse(Bn254ParseError::IdentityKey(item))),
            (of_key(vec![1; 127]), parse(Bn254ParseError::Length { item, expected: 128, found: 127 })),
            (of_key(dual), parse(Bn254ParseError::Length { item, expected: 128, found: 192 })),
            (
                of_key([&modulus, &key(suite, 1)[32..]].concat()),
                parse(Bn254ParseError::NotCanonical { item, coordinate: Bn254Coordinate::XImaginary }),
            ),
            (of_signature(vec![0; 64]), mismatch),
            (of_signature(vec![1; 48]), parse(Bn254ParseError::Length { item: signature, expected: 64, found: 48 })),
            (
                of_signature([&single.signature[..32], &modulus].concat()),
                parse(Bn254ParseError::NotCanonical { item: signature, coordinate: Bn254Coordinate::Y }),
            ),
        ];
        // The claim is of one suite alone; evmnet has the tag of the NUL suite.
        let tag = |suite: Bn254Suite| (suite.tag(), suite.scheme() == Scheme::Augmented);
        cases.extend(Bn254Suite::all().iter().filter(|other| !other.has_dual_keys()).map(|other| {
            let verdict = if tag(*other) == tag(suite) { Verdict::Valid } else { mismatch };
            (ClaimBytes { suite: other.any(), ..single.clone() }, verdict)
        }));
        if suite.proof_of_possession_tag().is_none() {
            let claimed = ClaimBytes { messages: Messages::ProofOfPossession, ..single };
            cases.push((claimed, Verdict::Invalid(Reason::NoProofsOfPossession)));
            return cases;
        }
        let proof = claim(suite, &[1], Messages::ProofOfPossession);
        let of_the_key = shared(&key(suite, 1));
        cases.extend([
            (proof.clone(), Verdict::Valid),
            (other_key(proof.clone()), mismatch),
            // Neither is a proof a signature over the key, nor such a signature a proof.
            (ClaimBytes { messages: of_the_key.clone(), ..proof.clone() }, mismatch),
            (ClaimBytes { messages: Messages::ProofOfPossession, ..claim(suite, &[1], of_the_key) }, mismatch),
        ]);
        cases.extend(of_the_draft().filter(|other| *other != suite).map(|other| {
            let none = Verdict::Invalid(Reason::NoProofsOfPossession);
            let verdict = if other.proof_of_possession_tag().is_some() { mismatch } else { none };
            (ClaimBytes { suite: other.any(), ..proof.clone() }, verdict)
        }));
        cases
    }

    /// The members of a POP suite prove possession, and then one key stands for all of them.
    #[test]
    fn members_prove_possession() {
        for suite in of_the_draft().filter(|suite| suite.scheme() == Scheme::ProofOfPossession) {
            let mut set = KeySet::new(suite, Backend::auto());
            for i in 0..3 {
                set.push(PublicKey::from_bytes(&key(suite, i)).unwrap());
            }
            let sum = Signature::from_bytes(&claim(suite, &[0, 1, 2], shared(b"vote")).signature).unwrap();
            let members = Bitmap::from_indices(0..3);
            let unproven = set.claim(&members, *b"vote", sum).map(|_| ());
            assert_eq!(unproven, Err(MisuseError::PossessionUnproven { index: 0 }));
            let proof = |by| Signature::from_bytes(&suite.prove_possession(&secret(by)).unwrap().to_bytes()).unwrap();
            for i in 0..3 {
                assert!(!set.prove(i, proof(7)).unwrap().is_valid());
                assert!(set.prove(i, proof(i as u8)).unwrap().is_valid());
            }
            assert!(naive::verify(&set.claim(&members, *b"vote", sum).unwrap()).is_valid());
            let two = Bitmap::from_indices(0..2);
            assert!(!naive::verify(&set.claim(&two, *b"vote", sum).unwrap()).is_valid());
        }
    }

    /// A message of 31 bytes has no hash under `eigenlayer`, and a claim about it was trusted with any signature.
    #[test]
    fn what_no_signature_makes_valid_cannot_be_trusted() {
        let verifier = Verifier::new(Options::default());
        let true_claim = claim(Bn254Suite::EigenLayer, &[1], shared(&drand_message(1)));
        let short = ClaimBytes { messages: shared(&[7; 31]), ..true_claim.clone() };
        let reason = short.verify().reason().expect("it is not valid");
        let results = verifier.trust_each(&[short.clone(), true_claim]);
        assert_eq!(results, [Err(TrustError::Invalid(reason)), Ok(())]);
        assert!(!verifier.knows(&short)[0] && verifier.known() == 1);
    }

    /// The key of a statement is in front of its message in an AUG suite: what is known of one key is not known of another.
    #[test]
    fn known_under_each_scheme() {
        for suite in of_the_draft() {
            let verifier = Verifier::new(Options::default());
            let gossip = claim(suite, &[1], shared(b"one"));
            assert_eq!(verifier.trust(&gossip), Ok(()));
            let block = claim(suite, &[1, 2], each(&[b"one", b"two"]));
            let stranger = claim(suite, &[2], shared(b"one"));
            let wrong = ClaimBytes { signature: gossip.signature.clone(), ..block.clone() };
            let outcome = verifier.verify(&[block, stranger, wrong], &mut rng());
            assert_eq!(outcome.invalid().collect::<Vec<_>>(), [2], "{suite}");
            assert_eq!(outcome.subtracted, [1, 0, 1], "{suite}");
            let others = Bn254Suite::all().iter().filter(|other| !other.has_dual_keys());
            for other in others {
                let elsewhere = ClaimBytes { suite: other.any(), ..gossip.clone() };
                let same = (other.tag(), other.scheme()) == (suite.tag(), suite.scheme());
                assert_eq!(verifier.knows(&elsewhere), [same], "{suite} under {other}");
            }
        }
    }

    pub(super) fn cases() -> Vec<(ClaimBytes, Verdict)> {
        [of_the_draft().flat_map(cases_of).collect(), cases_of_networks()].concat()
    }

    fn cases_of_networks() -> Vec<(ClaimBytes, Verdict)> {
        use Bn254Suite::{DrandEvmnet, EigenLayer};
        let mismatch = Verdict::Invalid(Reason::Mismatch);
        let (one, two) = (drand_message(1), drand_message(2));
        let single = claim(DrandEvmnet, &[1], shared(&one));
        let of_no_keys = |suite| ClaimBytes { public_keys: vec![].into(), ..claim(suite, &[1], shared(&one)) };
        let negated = {
            let mut claim = claim(EigenLayer, &[1, 1], shared(&one));
            claim.public_keys.as_encoded_mut().unwrap()[1] = {
                let mut order =
                    hex::decode("30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001").unwrap();
                let scalar = secret(1).to_bytes();
                // r - secret, big-endian.
                let mut borrow = 0i16;
                for (byte, minus) in order.iter_mut().zip(scalar.iter()).rev() {
                    let difference = i16::from(*byte) - i16::from(*minus) - borrow;
                    borrow = i16::from(difference < 0);
                    *byte = difference.rem_euclid(256) as u8;
                }
                Bn254SecretKey::from_bytes(order[..].try_into().unwrap()).unwrap().dual_key().to_bytes().to_vec()
            };
            claim
        };
        let strangers = {
            let mut claim = claim(EigenLayer, &[1], shared(&one));
            claim.public_keys.as_encoded_mut().unwrap()[0][..64].copy_from_slice(&key(EigenLayer, 2)[..64]);
            claim
        };
        let parse = |error: Bn254ParseError| Verdict::Invalid(Reason::Parse(error.into()));
        vec![
            (single.clone(), Verdict::Valid),
            (ClaimBytes { messages: shared(&two), ..single.clone() }, mismatch),
            (claim(EigenLayer, &[1], shared(&one)), Verdict::Valid),
            (claim(EigenLayer, &[1, 2, 3], shared(&one)), Verdict::Valid),
            (claim(EigenLayer, &[1, 2], each(&[&one, &one])), Verdict::Valid),
            (claim(DrandEvmnet, &[1, 2], each(&[&one, &two])), Verdict::Valid),
            (claim(DrandEvmnet, &[1, 2], each(&[&one, &one])), Verdict::Invalid(Reason::RepeatedMessage)),
            (claim(DrandEvmnet, &[1, 2], shared(&one)), Verdict::Invalid(Reason::RepeatedMessage)),
            (of_no_keys(DrandEvmnet), Verdict::Invalid(Reason::NoStatements)),
            (of_no_keys(EigenLayer), Verdict::Invalid(Reason::NoStatements)),
            (negated, Verdict::Invalid(Reason::IdentityAggregateKey)),
            (strangers, parse(Bn254ParseError::KeysDiffer)),
            (
                ClaimBytes { messages: Messages::ProofOfPossession, ..single.clone() },
                Verdict::Invalid(Reason::NoProofsOfPossession),
            ),
            (
                ClaimBytes { messages: each(&[&one, &two]), ..single.clone() },
                Verdict::Invalid(Reason::UnequalCounts { keys: 1, messages: 2 }),
            ),
            (
                ClaimBytes { messages: shared(b"short"), ..claim(EigenLayer, &[1], shared(&one)) },
                parse(EigenLayer.hash(b"short").unwrap_err()),
            ),
            (
                ClaimBytes { public_keys: vec![key(DrandEvmnet, 1), vec![0; 128]].into(), ..single.clone() },
                Verdict::Invalid(Reason::ParseKey {
                    index: 1,
                    keys: 2,
                    error: Bn254Suite::DrandEvmnet.key(&[0; 128]).unwrap_err().into(),
                }),
            ),
        ]
    }

    /// What is known is subtracted, also from a claim of several keys; and a false rest stays false.
    #[test]
    fn known_statements_are_subtracted() {
        use Bn254Suite::{DrandEvmnet, EigenLayer};
        let (one, two) = (drand_message(1), drand_message(2));
        for (suite, both) in
            [(DrandEvmnet, each(&[&one, &two])), (EigenLayer, each(&[&one, &two])), (EigenLayer, shared(&one))]
        {
            let verifier = Verifier::new(Options::default());
            let gossip = claim(suite, &[1], shared(&one));
            assert_eq!(verifier.trust(&gossip), Ok(()));
            assert_eq!((verifier.known(), verifier.knows(&gossip)), (1, vec![true]));
            let block = claim(suite, &[1, 2], both);
            let wrong = ClaimBytes { signature: gossip.signature.clone(), ..block.clone() };
            let outcome = verifier.verify(&[gossip, block, wrong], &mut rng());
            assert_eq!(outcome.invalid().collect::<Vec<_>>(), [2]);
            assert_eq!(outcome.subtracted, [1, 1, 1]);
            verifier.forget_known();
            assert_eq!(verifier.known(), 0);
        }
    }

    /// A key as another suite has it is no key of a claim, though the verifier has decoded it before.
    #[test]
    fn nothing_is_known_of_a_key_as_another_suite_has_it() {
        let suites = [Bn254Suite::DrandEvmnet, Bn254Suite::EigenLayer];
        let verifier = Verifier::new(Options::default());
        let claims = suites.map(|suite| claim(suite, &[1], shared(&drand_message(1))));
        for claim in &claims {
            assert_eq!((verifier.trust(claim), verifier.knows(claim)), (Ok(()), vec![true]));
        }
        for (claim, other) in [(&claims[0], &claims[1]), (&claims[1], &claims[0])] {
            let mixed = ClaimBytes { public_keys: other.public_keys.clone(), ..claim.clone() };
            assert_eq!(verifier.knows(&mixed), [false], "{}", claim.suite);
            assert!(!verifier.verify(&[mixed], &mut rng()).all_valid());
        }
    }

    /// Many signatures over one message take two pairings, and keys in both groups two more for all of them.
    #[test]
    fn one_message_is_paired_once() {
        let claims: Vec<_> = (1..=20).map(|i| claim(Bn254Suite::EigenLayer, &[i], shared(&drand_message(1)))).collect();
        let prepared = Verifier::new(Options::default()).prepare(&claims);
        let outcome = prepared.decide(&mut rng());
        assert!(outcome.all_valid());
        let work = outcome.work;
        assert_eq!((work.hashes, work.pairings, work.final_exponentiations), (1, 2, 1));
    }

    /// Each of some keys whose points have different secrets is found among true ones, and costs no other its verdict.
    #[test]
    fn keys_of_different_secrets_are_found_among_many() {
        let claims: Vec<_> = (1..=20).map(|i| claim(Bn254Suite::EigenLayer, &[i], shared(&drand_message(1)))).collect();
        for false_ones in [&[0][..], &[19], &[3, 4], &[0, 7, 19], &(0..20).collect::<Vec<_>>()] {
            let mut claims = claims.clone();
            for i in false_ones {
                claims[*i].public_keys.as_encoded_mut().unwrap()[0][..64]
                    .copy_from_slice(&key(Bn254Suite::EigenLayer, 99)[..64]);
            }
            let outcome = Verifier::new(Options::default()).verify(&claims, &mut rng());
            assert_eq!(outcome.invalid().collect::<Vec<_>>(), false_ones);
            let reason = Reason::Parse(Bn254ParseError::KeysDiffer.into());
            assert!(outcome.invalid().all(|i| outcome.verdicts[i] == Verdict::Invalid(reason)));
        }
        // In a claim of several keys the first one is named, also behind one that is wrong in another claim alone.
        let several = claim(Bn254Suite::EigenLayer, &[1, 2, 3, 4, 5], shared(&drand_message(1)));
        let mut wrong = several.clone();
        for i in [2, 4] {
            wrong.public_keys.as_encoded_mut().unwrap()[i][..64]
                .copy_from_slice(&key(Bn254Suite::EigenLayer, 99)[..64]);
        }
        let mut reversed = wrong.clone();
        reversed.public_keys.as_encoded_mut().unwrap().reverse();
        let mut broken = wrong.clone();
        broken.public_keys.as_encoded_mut().unwrap()[1].truncate(64);
        let mixed = [several, wrong, reversed, claims[3].clone(), broken];
        let outcome = Verifier::new(Options::default()).verify(&mixed, &mut rng());
        assert_eq!(outcome.verdicts, mixed.each_ref().map(ClaimBytes::verify));
        let named = |index| Reason::ParseKey { index, keys: 5, error: Bn254ParseError::KeysDiffer.into() };
        assert_eq!(outcome.verdicts[..3], [Verdict::Valid, Verdict::Invalid(named(2)), Verdict::Invalid(named(0))]);
        // Errors that cancel in a sum without weights.
        let mut swapped = claims;
        let (first, second) = (key(Bn254Suite::EigenLayer, 1), key(Bn254Suite::EigenLayer, 2));
        swapped[0].public_keys.as_encoded_mut().unwrap()[0][..64].copy_from_slice(&second[..64]);
        swapped[1].public_keys.as_encoded_mut().unwrap()[0][..64].copy_from_slice(&first[..64]);
        let outcome = Verifier::new(Options::default()).verify(&swapped, &mut rng());
        assert_eq!(outcome.invalid().collect::<Vec<_>>(), [0, 1]);
    }
}
