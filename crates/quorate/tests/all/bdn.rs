//! Multi-signatures with coefficients: their attacks by name, and every entry that takes claims.

use num_bigint::BigUint;
use proptest::prelude::*;
use quorate::{
    AnySuite, Backend, Bitmap, Bls12381Suite, Claim, ClaimBytes, Exhaustive, KeySet, Known, Messages, MinPk, MinSig,
    MisuseError, PublicKey, Reason, SecretKey, Signature, Suite, Tag, UncheckedSignature, Verdict, Verifier,
    aggregate::aggregate_public_keys, bdn, naive, verify, verify_and_remember,
};
use quorate_curve::{Group, Scalar, Weight};
use quorate_lab::forge::{Forge, Recipe, cases, recipe, secret};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

use crate::options::every_options;

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([21; 32])
}

/// The signatures of secrets over one message, with their keys.
fn signed<S: Bls12381Suite>(suite: S, secrets: &[SecretKey<S>], message: &[u8]) -> Vec<(PublicKey<S>, Signature<S>)> {
    secrets.iter().map(|secret| (secret.public_key(), secret.sign(suite, message))).collect()
}

fn secrets<S: Bls12381Suite>(suite: S, n: u8) -> Vec<SecretKey<S>> {
    (0..n).map(|i| secret(suite, i)).collect()
}

/// The verdict of the oracle, which every plan shares: alone, and in a batch beside a true claim.
fn verdict<S: Bls12381Suite>(claim: Claim<S>) -> Verdict {
    let expected = naive::verify(&claim);
    let suite = claim.suite();
    let other = secret(suite, 200);
    let other = Claim::single(suite, other.public_key(), *b"other", other.sign(suite, b"other"));
    for options in every_options() {
        let alone = verify(std::slice::from_ref(&claim), &options, &mut rng()).verdicts;
        assert_eq!(alone, [expected], "{options:?}");
        let batch = verify(&[other.clone(), claim.clone()], &options, &mut rng()).verdicts;
        assert_eq!(batch, [Verdict::Valid, expected], "{options:?}");
    }
    expected
}

fn in_both_variants(test: impl Fn(MinPk), other: impl Fn(MinSig)) {
    test(MinPk::Bdn);
    other(MinSig::Bdn);
}

/// The owner of a rogue key x·g - pk signs for the owner of pk. Without coefficients that works.
#[test]
fn rogue_key() {
    fn test<S: Bls12381Suite>(bdn: S, possession: S) {
        let (victim, attacker) = (secret(bdn, 1).public_key(), secret(bdn, 2));
        let rogue = Backend::Portable.sum(&[attacker.public_key().point(), victim.point().negate()]);
        let keys = vec![victim, PublicKey::from_point(rogue).unwrap()];
        let forged = |suite| Claim::shared(suite, keys.clone(), *b"pay", attacker.sign(suite, b"pay"));
        assert_eq!(verdict(forged(possession)), Verdict::Valid, "POP relies on proofs of possession");
        assert_eq!(verdict(forged(bdn)), Verdict::Invalid(Reason::Mismatch));
        // The attacker multiplies its signature by a coefficient, or signs with all that it knows. Nothing fits.
        let key = bdn::aggregate_public_keys(bdn, &keys, Backend::auto()).unwrap();
        let pairs: Vec<_> = keys.iter().map(|key| (*key, attacker.sign(bdn, b"pay"))).collect();
        let weighed = bdn::aggregate(bdn, &pairs, Backend::auto()).unwrap();
        assert_eq!(verdict(Claim::shared(bdn, keys, *b"pay", weighed)), Verdict::Invalid(Reason::Mismatch));
        assert_ne!(key, attacker.public_key());
    }
    test(MinPk::Bdn, MinPk::ProofOfPossession);
    test(MinSig::Bdn, MinSig::ProofOfPossession);
}

/// A subset of a set has other coefficients, so a subset that is chosen by the coefficients of the whole cancels nothing.
#[test]
fn subset_sum() {
    fn test<S: Bls12381Suite>(suite: S) {
        let keys: Vec<_> = secrets(suite, 6).iter().map(SecretKey::public_key).collect();
        let sum = |keys: &[PublicKey<S>]| bdn::aggregate_public_keys(suite, keys, Backend::auto()).unwrap().point();
        for left_out in 0..6 {
            let mut subset = keys.clone();
            let key = subset.remove(left_out);
            let difference = Backend::Portable.sum(&[sum(&keys), sum(&subset).negate()]);
            // With fixed coefficients the difference would be a coefficient times the key that was left out.
            let whole = coefficients(suite.id(), &keys);
            assert_ne!(difference, Backend::Portable.msm(&[(key.point(), whole[left_out])]));
        }
        // A signature of the whole set does not stand for a part, nor the other way round.
        let signed = signed(suite, &secrets(suite, 6), b"m");
        let [whole, part] = [&signed[..], &signed[..5]].map(|s| bdn::aggregate(suite, s, Backend::auto()).unwrap());
        let claim = |n: usize, signature| Claim::shared(suite, keys[..n].to_vec(), *b"m", signature);
        assert_eq!(verdict(claim(6, whole)), Verdict::Valid);
        assert_eq!(verdict(claim(5, part)), Verdict::Valid);
        assert_eq!(verdict(claim(5, whole)), Verdict::Invalid(Reason::Mismatch));
        assert_eq!(verdict(claim(6, part)), Verdict::Invalid(Reason::Mismatch));
    }
    in_both_variants(test, test);
}

/// A set has no key twice: who counts the keys of a valid claim counts signers.
#[test]
fn duplicate_keys() {
    fn test<S: Bls12381Suite>(suite: S) {
        let mut pairs = signed(suite, &secrets(suite, 3), b"m");
        let keys = |pairs: &[(PublicKey<S>, Signature<S>)]| pairs.iter().map(|(key, _)| *key).collect::<Vec<_>>();
        let distinct = bdn::aggregate(suite, &pairs, Backend::auto()).unwrap();
        pairs.push(pairs[1]);
        let error = MisuseError::RepeatedKey { index: 3 };
        assert_eq!(bdn::aggregate(suite, &pairs, Backend::auto()), Err(error));
        assert_eq!(bdn::aggregate_public_keys(suite, &keys(&pairs), Backend::auto()), Err(error));
        let expected = Verdict::Invalid(Reason::RepeatedKey);
        assert_eq!(verdict(Claim::shared(suite, keys(&pairs), *b"m", distinct)), expected);
        // Twice the same key alone is not a set of one.
        assert_eq!(verdict(Claim::shared(suite, vec![pairs[0].0; 2], *b"m", pairs[0].1)), expected);
        let mut set = KeySet::new(suite, Backend::auto());
        keys(&pairs).into_iter().for_each(|key| set.push(key));
        let claim = set.claim(&Bitmap::from_indices(0..4), *b"m", distinct).unwrap();
        assert_eq!(verdict(claim), expected);
    }
    in_both_variants(test, test);
}

#[test]
fn order() {
    fn test<S: Bls12381Suite>(suite: S) {
        let mut pairs = signed(suite, &secrets(suite, 5), b"m");
        let first = bdn::aggregate(suite, &pairs, Backend::auto()).unwrap();
        for turn in 0..5 {
            pairs.rotate_left(1);
            pairs.swap(turn, 2);
            assert_eq!(bdn::aggregate(suite, &pairs, Backend::auto()), Ok(first));
            let keys = pairs.iter().map(|(key, _)| *key).collect();
            assert_eq!(verdict(Claim::shared(suite, keys, *b"m", first)), Verdict::Valid);
        }
    }
    in_both_variants(test, test);
}

/// A set of one has the coefficient one, so its signature is the signer's own. Nobody signs with no keys.
#[test]
fn one_key() {
    fn test<S: Bls12381Suite>(suite: S) {
        let [pair] = signed(suite, &secrets(suite, 1), b"m")[..] else { unreachable!() };
        assert_eq!(bdn::aggregate(suite, &[pair], Backend::auto()), Ok(pair.1));
        assert_eq!(bdn::aggregate_public_keys(suite, &[pair.0], Backend::auto()), Ok(pair.0));
        assert_eq!(verdict(Claim::shared(suite, vec![pair.0], *b"m", pair.1)), Verdict::Valid);
        assert!(pair.0.verify(suite, b"m", pair.1).is_valid());
        assert_eq!(bdn::aggregate::<S>(suite, &[], Backend::auto()), Err(MisuseError::NothingToAggregate));
        let nobody = Claim::shared(suite, Vec::new(), *b"m", pair.1);
        assert_eq!(verdict(nobody), Verdict::Invalid(Reason::NoStatements));
    }
    in_both_variants(test, test);
}

/// Where each key has a message of its own, the signature is a plain sum, and the messages differ.
#[test]
fn each_key_with_its_message() {
    let suite = MinPk::Bdn;
    let [a, b] = [1, 2].map(|i| secret(suite, i));
    let claim = |first: &[u8], second: &[u8]| {
        let signatures = [a.sign(suite, first), b.sign(suite, second)];
        let sum = quorate::aggregate::aggregate(&signatures, Backend::auto()).unwrap();
        Claim::each(suite, vec![(a.public_key(), first.into()), (b.public_key(), second.into())], sum)
    };
    assert_eq!(verdict(claim(b"one", b"two")), Verdict::Valid);
    assert_eq!(verdict(claim(b"one", b"one")), Verdict::Invalid(Reason::RepeatedMessage));
}

/// Known statements are subtracted with their coefficients, and a false rest stays false.
#[test]
fn known_statements() {
    fn test<S: Forge + Bls12381Suite>(suite: S) {
        let pairs = signed(suite, &secrets(suite, 9), b"m");
        let keys: Vec<_> = pairs.iter().map(|(key, _)| *key).collect();
        let sum = bdn::aggregate(suite, &pairs, Backend::auto()).unwrap();
        let outside = Backend::Portable.sum(&[sum.point(), S::small_order()]);
        let true_claim = Claim::shared(suite, keys.clone(), *b"m", UncheckedSignature::from_point(sum.point()));
        let false_claim = Claim::shared(suite, keys.clone(), *b"m", pairs[0].1);
        let not_member = Claim::shared(suite, keys, *b"m", UncheckedSignature::from_point(outside));
        for known_ones in [0..0, 0..1, 3..8, 0..8, 0..9] {
            let gossip = pairs[known_ones.clone()].iter().map(|(key, s)| Claim::single(suite, *key, *b"m", *s));
            let gossip: Vec<_> = gossip.collect();
            for options in every_options() {
                let mut known = Known::new();
                assert_eq!(
                    verify_and_remember(&gossip, &mut known, &options, &mut rng()).all_valid(),
                    !gossip.is_empty()
                );
                let rest = true_claim.without(&known, options.backend);
                assert_eq!(rest.len(), 9 - known_ones.len());
                assert!(naive::verify(&rest).is_valid());
                let claims = [true_claim.clone(), false_claim.clone(), not_member.clone()];
                let outcome = verify_and_remember(&claims, &mut known, &options, &mut rng());
                assert!(outcome.verdicts[0].is_valid(), "{known_ones:?} under {options:?}");
                assert_eq!(outcome.invalid().collect::<Vec<_>>(), [1, 2], "{known_ones:?} under {options:?}");
                assert_eq!(outcome.subtracted, [known_ones.len(); 3]);
                // A rest of one key has a coefficient, so its signature is not the key's own.
                assert_eq!(known.len(), known_ones.len());
                let one_left = verify_and_remember(&[rest], &mut known, &options, &mut rng());
                assert!(one_left.all_valid());
                assert_eq!(known.len(), known_ones.len());
            }
        }
    }
    in_both_variants(test, test);
}

/// A key set of a BDN suite sums with coefficients, and asks for no proofs of possession.
#[test]
fn key_set() {
    let suite = MinPk::Bdn;
    let pairs = signed(suite, &secrets(suite, 4), b"m");
    let mut set = KeySet::new(suite, Backend::auto());
    pairs.iter().for_each(|(key, _)| set.push(*key));
    let signature = bdn::aggregate(suite, &[pairs[1], pairs[3]], Backend::auto()).unwrap();
    let claim = set.claim(&Bitmap::from_indices([1, 3]), *b"m", signature).unwrap();
    assert_eq!(verdict(claim), Verdict::Valid);
    assert_eq!(set.claim(&Bitmap::default(), *b"m", signature).unwrap_err(), MisuseError::NothingToAggregate);
    let no_member = MisuseError::NoSuchMember { index: 4, members: 4 };
    assert_eq!(set.claim(&Bitmap::from_indices([4]), *b"m", signature).unwrap_err(), no_member);
    assert_eq!(set.prove(0, signature), Err(MisuseError::NoProofsOfPossession(suite.name())));
    // Under the plain sum, the owner of a rogue key would sign for the others.
    assert_eq!(set.sum(&Bitmap::from_indices([1, 3])), Err(MisuseError::NeedsCoefficients(suite.name())));
    let mut plain = KeySet::new(MinPk::Basic, Backend::auto());
    plain.push(pairs[0].0);
    let error = plain.claim(&Bitmap::from_indices([0]), *b"m", signature).unwrap_err();
    assert_eq!(error, MisuseError::NoSumOverOneMessage(MinPk::Basic.name()));
}

/// The sums of other suites and the sums with coefficients are different things, under different tags.
#[test]
fn other_suites_have_no_coefficients() {
    let suite = MinPk::Eth2;
    let pairs = signed(suite, &secrets(suite, 2), b"m");
    let error = Err(MisuseError::NoCoefficients("eth2"));
    assert_eq!(bdn::aggregate(suite, &pairs, Backend::auto()), error);
    let keys: Vec<_> = pairs.iter().map(|(key, _)| *key).collect();
    let plain = aggregate_public_keys(&keys, Backend::auto()).unwrap();
    let weighted = bdn::aggregate_public_keys(MinPk::Bdn, &keys, Backend::auto()).unwrap();
    assert_ne!(weighted, plain);
    assert_eq!(bdn::sum_of_keys(suite, &keys, Backend::auto()), Ok(plain));
    assert_eq!(bdn::sum_of_keys(MinPk::Bdn, &keys, Backend::auto()), Ok(weighted));
    assert_eq!(bdn::refuse_plain_sums(suite), Ok(()));
    assert_eq!(bdn::refuse_plain_sums(MinPk::Bdn), Err(MisuseError::NeedsCoefficients(MinPk::Bdn.name())));
    let single = secret(MinPk::Basic, 0).sign(MinPk::Basic, b"m");
    assert!(!keys[0].verify(MinPk::Bdn, b"m", single).is_valid());
}

/// The coefficients bind the tag that the message is hashed under.
#[test]
fn tag_of_the_caller() {
    let (suite, tag) = (MinPk::Bdn, Tag::from(&b"EXAMPLE-V01-BLS12381G2_XMD:SHA-256_SSWU_RO_"[..]));
    let pairs: Vec<_> =
        secrets(suite, 3).iter().map(|s| (s.public_key(), s.sign_under_tag(suite, &tag, b"m"))).collect();
    let keys: Vec<_> = pairs.iter().map(|(key, _)| *key).collect();
    let [own, suites] = [&tag, &Tag::from(suite.id().as_bytes())]
        .map(|tag| bdn::aggregate_under_tag(suite, tag, &pairs, Backend::auto()).unwrap());
    assert_eq!(bdn::aggregate(suite, &pairs, Backend::auto()), Ok(suites));
    let claim = |signature| Claim::shared(suite, keys.clone(), *b"m", signature).under_tag(tag.clone());
    assert_eq!(verdict(claim(own)), Verdict::Valid);
    assert_eq!(verdict(claim(suites)), Verdict::Invalid(Reason::Mismatch));
}

/// The same through the entry for bytes: a batch with false claims, and what is known of them.
#[test]
fn claims_as_bytes() {
    fn claim<S: Bls12381Suite>(suite: S, from: u8, n: u8, lie: bool) -> ClaimBytes {
        let secrets: Vec<_> = (from..from + n).map(|i| secret(suite, i)).collect();
        let pairs = signed(suite, &secrets, if lie { b"lie" } else { b"m" });
        let signature = bdn::aggregate(suite, &pairs, Backend::auto()).unwrap();
        ClaimBytes {
            suite: suite.any(),
            public_keys: pairs.iter().map(|(key, _)| key.to_bytes().as_ref().to_vec()).collect(),
            messages: Messages::Shared((*b"m").into()),
            signature: signature.to_bytes().as_ref().to_vec(),
            source: None,
        }
    }
    for options in every_options() {
        let verifier = Verifier::new(options);
        let singles: Vec<_> = (0..4).map(|i| claim(MinPk::Bdn, i, 1, false)).collect();
        assert!(verifier.verify_and_remember(&singles, &mut Exhaustive, &mut rng()).all_valid());
        assert_eq!(verifier.known(), 4);
        let mut claims: Vec<_> = (0..20).map(|i| claim(MinPk::Bdn, i % 7, 2 + i % 5, i == 13)).collect();
        claims.extend((0..9).map(|i| claim(MinSig::Bdn, i, 3, i == 2)));
        let eth2 = secret(MinPk::Eth2, 1);
        let (key, signature) = (eth2.public_key().to_bytes(), eth2.sign(MinPk::Eth2, b"m").to_bytes());
        claims.push(ClaimBytes::single(MinPk::Eth2.any(), &key, b"m", &signature));
        let outcome = verifier.verify_and_remember(&claims, &mut Exhaustive, &mut rng());
        assert_eq!(outcome.invalid().collect::<Vec<_>>(), [13, 22], "{options:?}");
        assert_eq!(outcome.subtracted[0], 2);
        assert_eq!(claims[0].verify(), Verdict::Valid);
        assert_eq!(claims[13].verify(), Verdict::Invalid(Reason::Mismatch));
        assert_eq!(verifier.knows(&claims[3]), [true, false, false, false, false]);
    }
}

/// The coefficients by a second implementation, with integers: SHA-256 as in the documentation, digits by their values.
fn coefficients<S: Bls12381Suite>(tag: &str, keys: &[PublicKey<S>]) -> Vec<Scalar> {
    use sha2::{Digest, Sha256};
    let mut sorted: Vec<Vec<u8>> = keys.iter().map(|key| key.to_bytes().as_ref().to_vec()).collect();
    sorted.sort();
    let number = |n: usize| (n as u64).to_be_bytes().to_vec();
    let parts = [b"QUORATE-BDN-SET-V1".to_vec(), number(tag.len()), tag.into(), number(keys.len()), sorted.concat()];
    let set = Sha256::digest(parts.concat());
    let stream: Vec<u8> = (0..keys.len()).flat_map(|j| Sha256::digest([&set[..], &number(j)].concat())).collect();
    let order = BigUint::parse_bytes(b"73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001", 16).unwrap();
    // ω acts as λ = -z² modulo r, with z = -0xd201000000010000.
    let z = BigUint::from(0xd201_0000_0001_0000u64);
    let lambda = &order - &z * &z;
    let of_key = |key: &PublicKey<S>| {
        let at = sorted.iter().position(|bytes| bytes == key.to_bytes().as_ref()).unwrap();
        let digits = stream[16 * at..16 * at + 16].iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let value = digits.fold(BigUint::ZERO, |sum, nibble| {
            let (size, turn, negative) = match nibble {
                0 => (BigUint::ZERO, 0, false),
                1..=3 => (BigUint::from(1u8), nibble - 1, false),
                4..=6 => (BigUint::from(1u8), nibble - 4, true),
                7..=9 => (BigUint::from(2u8), nibble - 7, false),
                10..=12 => (BigUint::from(1u8) + &order - &lambda, nibble - 10, false),
                _ => (BigUint::from(1u8) + &order - &lambda, nibble - 13, true),
            };
            let digit = size * lambda.pow(turn.into()) % &order;
            (sum * 4u8 + if negative { &order - digit } else { digit }) % &order
        });
        Scalar::reduce(&value.to_bytes_be())
    };
    keys.iter().map(of_key).collect()
}

/// The aggregate key by integers modulo r and blst's multiplication, up to many keys.
#[test]
fn coefficients_agree_with_a_second_implementation() {
    fn test<S: Bls12381Suite>(suite: S) {
        for n in [2, 3, 7, 8, 9, 16, 17, 63, 64, 65] {
            let keys: Vec<_> = secrets(suite, n).iter().map(SecretKey::public_key).collect();
            let terms = keys.iter().map(PublicKey::point).zip(coefficients(suite.id(), &keys));
            let expected = Backend::Portable.msm(&terms.collect::<Vec<_>>());
            for backend in Backend::available() {
                let sum = bdn::aggregate_public_keys(suite, &keys, *backend).unwrap();
                assert_eq!(sum.point(), expected, "{n} keys, {backend}");
            }
        }
    }
    in_both_variants(test, test);
    // The documentation calls the coefficient a weight: its digits are the nibbles, the highest first.
    assert_eq!(Scalar::from(Weight::from_bits(0x7).unwrap()), Scalar::from(2));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Single, shared and pairwise claims of the suite, over few keys and messages, with every lie.
    #[test]
    fn batches_agree_with_naive(recipes in proptest::collection::vec(recipe(), 0..20)) {
        fn test<S: Forge>(recipes: &[Recipe], suite: S) -> Result<(), TestCaseError> {
            let suite = S::all().iter().position(|other| *other == suite).unwrap();
            let recipes: Vec<_> = recipes.iter().map(|recipe| Recipe { suite, ..recipe.clone() }).collect();
            let (claims, expected): (Vec<_>, Vec<_>) =
                cases::<S>(&recipes).into_iter().map(|case| (case.claim, case.verdict)).unzip();
            for options in every_options() {
                prop_assert_eq!(&verify(&claims, &options, &mut rng()).verdicts, &expected, "{:?}", options);
            }
            Ok(())
        }
        test(&recipes, MinPk::Bdn)?;
        test(&recipes, MinSig::Bdn)?;
    }
}

#[test]
fn the_suites_have_names() {
    let names = [MinPk::Bdn.any(), MinSig::Bdn.any()].map(AnySuite::name);
    assert_eq!(names, ["BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_BDN_", "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_BDN_"]);
    assert!(names.iter().all(|name| name.parse::<AnySuite>().is_ok_and(|suite| !suite.is_profile())));
}
