//! Random graphs of keys and messages, with false claims of every kind. The verdicts are the oracle's under every plan.

use std::num::NonZeroUsize;

use proptest::prelude::*;
use quorate::{
    Backend, Bitmap, Bls12381Suite, Bn254Suite, Claim, KeySet, Known, MinPk, MinSig, MisuseError, Options, ParseError,
    Plan, PublicKey, Reason, Soundness, SourceId, Suite, Tag, UncheckedSignature, Verdict,
    aggregate::{aggregate, aggregate_public_keys, subtract},
    keyset::Possession,
    naive, verify, verify_and_remember,
};
use quorate_curve::Group;
use quorate_lab::forge::{Forge, Lie, Recipe, Shape, cases, claims, recipe, secret};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

use crate::options::{Turns, every_options};

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([42; 32])
}

fn options(threads: usize, soundness: Soundness, backend: Backend) -> Options {
    Options { threads: NonZeroUsize::new(threads).unwrap(), soundness, backend, ..Options::default() }
}

/// The batch agrees with the oracle on every backend.
fn agrees<S: Forge>(recipes: &[Recipe], (threads, soundness): (usize, Soundness)) {
    let (claims, expected): (Vec<_>, Vec<_>) = cases::<S>(recipes).into_iter().map(|c| (c.claim, c.verdict)).unzip();
    for backend in Backend::available() {
        let outcome = verify(&claims, &options(threads, soundness, *backend), &mut rng());
        assert_eq!(outcome.verdicts, expected, "{backend}, {threads} threads, {soundness:?}");
        let by_source: usize = outcome.false_by_source.values().map(Vec::len).sum();
        let with_source = outcome.invalid().filter(|i| claims[*i].source().is_some()).count();
        assert_eq!(by_source, with_source);
        for (source, indices) in &outcome.false_by_source {
            assert!(indices.iter().all(|i| claims[*i].source() == Some(source) && !expected[*i].is_valid()));
        }
    }
}

/// Threads and soundness. Each random graph is verified under one such pair.
fn mode() -> impl Strategy<Value = (usize, Soundness)> {
    prop::sample::select(&[(1, Soundness::Bits64), (2, Soundness::Bits128), (5, Soundness::Bits64)][..])
}

/// If known statements are subtracted from a claim, the rest gets the verdict of the whole claim.
fn agrees_with_known<S: Forge>(recipes: &[Recipe], gossip: &[Recipe]) {
    let mut known = Known::new();
    let mut remembered = |recipes: &[Recipe]| {
        let (claims, expected): (Vec<_>, Vec<_>) =
            cases::<S>(recipes).into_iter().map(|c| (c.claim, c.verdict)).unzip();
        (verify_and_remember(&claims, &mut known, &Options::default(), &mut rng()).verdicts, expected)
    };
    let (first, expected) = remembered(gossip);
    assert_eq!(first, expected);
    let (second, expected) = remembered(recipes);
    let validity = |verdicts: &[Verdict]| verdicts.iter().map(|v| v.is_valid()).collect::<Vec<_>>();
    assert_eq!(validity(&second), validity(&expected));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn batch_agrees_with_naive_bn254(recipes in proptest::collection::vec(recipe(), 0..20), mode in mode()) {
        agrees::<Bn254Suite>(&recipes, mode);
    }

    #[test]
    fn batch_agrees_with_naive_min_pk(recipes in proptest::collection::vec(recipe(), 0..20), mode in mode()) {
        agrees::<MinPk>(&recipes, mode);
    }

    #[test]
    fn batch_agrees_with_naive_min_sig(recipes in proptest::collection::vec(recipe(), 0..20), mode in mode()) {
        agrees::<MinSig>(&recipes, mode);
    }

    #[test]
    fn known_agrees_with_naive(
        gossip in proptest::collection::vec(recipe(), 0..12),
        recipes in proptest::collection::vec(recipe(), 0..8),
    ) {
        agrees_with_known::<MinPk>(&recipes, &gossip);
        agrees_with_known::<MinSig>(&recipes, &gossip);
        agrees_with_known::<Bn254Suite>(&recipes, &gossip);
    }

    /// NUL, AUG, POP and BDN suites under one tag: what is known in one must not stand for what another signs.
    #[test]
    fn known_under_one_tag_agrees_with_naive(
        gossip in proptest::collection::vec(recipe(), 0..12),
        recipes in proptest::collection::vec(recipe(), 0..8),
    ) {
        // The lists of both variants begin with the four schemes.
        fn under_one_tag<S: Forge>(recipes: &[Recipe]) -> Vec<Recipe> {
            recipes.iter().map(|recipe| Recipe { suite: S::all().len() + recipe.suite % 4, ..recipe.clone() }).collect()
        }
        agrees_with_known::<MinPk>(&under_one_tag::<MinPk>(&recipes), &under_one_tag::<MinPk>(&gossip));
        agrees_with_known::<MinSig>(&under_one_tag::<MinSig>(&recipes), &under_one_tag::<MinSig>(&gossip));
    }

    #[test]
    fn key_set_sums_by_difference(bitmaps in proptest::collection::vec(proptest::collection::vec(0usize..70, 0..70), 1..6)) {
        let keys: Vec<_> = (0..70).map(|i| secret(MinPk::Eth2, i).public_key()).collect();
        let mut set = KeySet::new(MinPk::Eth2, Backend::auto());
        keys.iter().for_each(|key| set.push_assumed(*key));
        for members in bitmaps {
            let map = Bitmap::from_indices(members);
            let points: Vec<_> = map.indices().map(|i| keys[i].point()).collect();
            prop_assert_eq!(set.sum(&map).unwrap(), Backend::Portable.sum(&points));
        }
    }
}

#[test]
fn lane_edges_all_true_and_all_false() {
    for n in [0usize, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65] {
        for lie in [Lie::None, Lie::WrongKey] {
            let recipes: Vec<_> = (0..n).map(|i| recipe_of(Shape::Single(i as u8 % 9, i as u8 % 100), lie)).collect();
            let outcome = verify(&claims::<MinSig>(&recipes), &Options::default(), &mut rng());
            assert_eq!(outcome.verdicts.len(), n);
            assert_eq!(outcome.invalid().count(), if lie == Lie::None { 0 } else { n }, "{n} {lie:?}");
        }
    }
}

#[test]
fn empty_batch_has_no_verdicts() {
    let outcome = verify::<MinPk>(&[], &Options::default(), &mut rng());
    // Nothing to verify is not a success.
    assert!(outcome.verdicts.is_empty() && !outcome.all_valid());
    assert_eq!(outcome.work.final_exponentiations, 0);
}

#[test]
fn empty_claim_is_false_except_for_sync_aggregates_with_the_identity() {
    let identity = UncheckedSignature::from_point(quorate_curve::G2::IDENTITY);
    let other = secret(MinPk::Eth2, 1).sign(MinPk::Eth2, b"m");
    for (claim, expected) in [
        (Claim::shared(MinPk::Eth2SyncAggregate, vec![], *b"m", identity), Verdict::Valid),
        (Claim::shared(MinPk::Eth2SyncAggregate, vec![], *b"m", other), Verdict::Invalid(Reason::Mismatch)),
        (Claim::shared(MinPk::Eth2, vec![], *b"m", identity), Verdict::Invalid(Reason::NoStatements)),
        (Claim::shared(MinPk::ProofOfPossession, vec![], *b"m", identity), Verdict::Invalid(Reason::NoStatements)),
        (Claim::each(MinPk::Eth2SyncAggregate, vec![], identity), Verdict::Invalid(Reason::NoStatements)),
    ] {
        assert_eq!(naive::verify(&claim), expected, "{claim:?}");
        assert_eq!(verify(&[claim.clone(), claim], &Options::default(), &mut rng()).verdicts, [expected; 2]);
    }
}

#[test]
fn identity_signature_of_true_statements_is_false() {
    let key = secret(MinPk::Eth2, 1).public_key();
    let claim = Claim::single(MinPk::Eth2, key, *b"m", UncheckedSignature::from_point(quorate_curve::G2::IDENTITY));
    let outcome = verify(&[claim.clone(), claim], &Options::default(), &mut rng());
    assert_eq!(outcome.verdicts, [Verdict::Invalid(Reason::Mismatch); 2]);
}

#[test]
fn identity_key_is_refused() {
    assert_eq!(PublicKey::<MinPk>::from_point(quorate_curve::G1::IDENTITY), Err(quorate::ParseError::IdentityKey));
    let mut bytes = [0; 48];
    bytes[0] = 0xc0;
    assert_eq!(PublicKey::<MinPk>::from_bytes(&bytes), Err(quorate::ParseError::IdentityKey));
}

/// Keys a and -a over one message. Their sum is the identity, so the identity verifies as their signature.
#[test]
fn cancelling_keys_over_one_message() {
    let key = secret(MinPk::Eth2, 1).public_key();
    let opposite = PublicKey::from_point(key.point().negate()).unwrap();
    let identity = UncheckedSignature::from_point(quorate_curve::G2::IDENTITY);
    let claim = Claim::shared(MinPk::Eth2, vec![key, opposite], *b"m", identity);
    let expected = Verdict::Invalid(Reason::IdentityAggregateKey);
    assert_eq!(naive::verify(&claim), expected);
    assert_eq!(verify(std::slice::from_ref(&claim), &Options::default(), &mut rng()).verdicts, [expected]);
    assert!(aggregate_public_keys(&[key, opposite], Backend::auto()).is_err());
    // Knowing one of the two statements does not change the verdict on both.
    let mut known = Known::new();
    known.trust(MinPk::Eth2, key, *b"m", secret(MinPk::Eth2, 1).sign(MinPk::Eth2, b"m"));
    assert!(!verify(&[claim.without(&known, Backend::auto())], &Options::default(), &mut rng()).all_valid());
}

/// The owner of a rogue key x·g - pk forges a multi-signature with the owner of pk in a POP suite, in which the caller
/// must check possession. NUL and AUG suites refuse the forgery by themselves.
#[test]
fn rogue_key() {
    fn forged<S: Bls12381Suite>(suite: S) -> Verdict {
        let (victim, attacker) = (secret(suite, 1).public_key(), secret(suite, 2));
        let rogue = Backend::Portable.sum(&[attacker.public_key().point(), victim.point().negate()]);
        let keys = vec![victim, PublicKey::from_point(rogue).unwrap()];
        let signature = attacker.sign(suite, b"pay the attacker");
        verify(&[Claim::shared(suite, keys, &b"pay the attacker"[..], signature)], &Options::default(), &mut rng())
            .verdicts[0]
    }
    assert_eq!(forged(MinPk::Basic), Verdict::Invalid(Reason::RepeatedMessage));
    assert_eq!(forged(MinPk::Augmented), Verdict::Invalid(Reason::Mismatch));
    assert_eq!(forged(MinPk::ProofOfPossession), Verdict::Valid, "POP relies on proofs of possession");
    // The attacker cannot prove possession, so a key set keeps the rogue key out.
    let (victim, attacker) = (secret(MinPk::ProofOfPossession, 1), secret(MinPk::ProofOfPossession, 2));
    let rogue = Backend::Portable.sum(&[attacker.public_key().point(), victim.public_key().point().negate()]);
    let mut set = KeySet::new(MinPk::ProofOfPossession, Backend::auto());
    set.push(victim.public_key());
    set.push(PublicKey::from_point(rogue).unwrap());
    let proof = quorate::proof_of_possession::prove(MinPk::ProofOfPossession, &victim).unwrap();
    assert_eq!(set.prove(0, proof), Ok(Verdict::Valid));
    let false_proof = quorate::proof_of_possession::prove(MinPk::ProofOfPossession, &attacker).unwrap();
    assert!(!set.prove(1, false_proof).unwrap().is_valid());
    let both = Bitmap::from_indices([0, 1]);
    assert!(set.claim(&both, *b"m", proof).is_err());
    assert!(set.claim(&Bitmap::from_indices([0]), *b"m", proof).is_ok());
}

/// A member's possession is proven by a proof alone, and only a name of its own assumes it.
#[test]
fn possession_is_proven_by_a_proof_alone() {
    let suite = MinPk::ProofOfPossession;
    let (first, second) = (secret(suite, 1), secret(suite, 2));
    let mut set = KeySet::new(suite, Backend::auto());
    set.push(first.public_key());
    set.push_assumed(second.public_key());
    assert_eq!([0, 1].map(|i| set.possession(i).unwrap()), [Possession::Unproven, Possession::Assumed]);
    let proof = |secret| quorate::proof_of_possession::prove(suite, secret).unwrap();
    assert!(!set.prove(0, proof(&second)).unwrap().is_valid());
    assert_eq!(set.possession(0), Ok(Possession::Unproven));
    assert!(set.prove(0, proof(&first)).unwrap().is_valid());
    assert_eq!(set.possession(0), Ok(Possession::Proven));
    // In two steps, for a set that is shared: the claim alone changes nothing.
    let claims = [&first, &second].map(|secret| set.possession_claim(1, proof(secret)).unwrap());
    assert_eq!(claims.map(|claim| naive::verify(&claim).is_valid()), [false, true]);
    assert_eq!(set.possession(1), Ok(Possession::Assumed));
    assert_eq!(set.record_proven(1), Ok(()));
    assert_eq!(set.possession(1), Ok(Possession::Proven));
    let nobody = MisuseError::NoSuchMember { index: 2, members: 2 };
    assert_eq!(set.possession_claim(2, proof(&first)).err(), Some(nobody));
    assert_eq!(set.record_proven(2), Err(nobody));
}

/// The signatures s1 + D and s2 - D pass a check of their sum without weights.
#[test]
fn cancelling_pair() {
    let recipes = [0, 1].map(|i| recipe_of(Shape::Single(i, i), Lie::CancellingPair));
    let outcome = verify(&claims::<MinPk>(&recipes), &Options::default(), &mut rng());
    assert_eq!(outcome.verdicts, [Verdict::Invalid(Reason::Mismatch); 2]);
}

/// A claim that occurs twice gets a verdict for each occurrence, and two copies of a false claim do not cancel.
#[test]
fn duplicate_claims_get_a_verdict_each() {
    let good = recipe_of(Shape::Single(0, 0), Lie::None);
    let bad = recipe_of(Shape::Single(0, 0), Lie::WrongKey);
    let recipes = [good.clone(), bad.clone(), good, bad];
    let outcome = verify(&claims::<MinPk>(&recipes), &Options::default(), &mut rng());
    assert_eq!(outcome.invalid().collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn small_subgroup() {
    let mut recipes: Vec<_> = (0..9).map(|i| recipe_of(Shape::Single(i, i), Lie::None)).collect();
    recipes[4].lie = Lie::Torsion;
    for verdicts in [
        verify(&claims::<MinPk>(&recipes), &Options::default(), &mut rng()).verdicts,
        verify(&claims::<MinSig>(&recipes), &Options::default(), &mut rng()).verdicts,
    ] {
        assert_eq!(verdicts[4], Verdict::Invalid(Reason::Parse(ParseError::SignatureNotInSubgroup)));
        assert_eq!(verdicts.iter().filter(|v| v.is_valid()).count(), 8);
    }
}

/// A claim can have two faults: its keys add up to the identity, and its signature is outside the subgroup. The reason is
/// the oracle's on every backend, alone and in batches in which sums check membership, whose search finds a false claim.
#[test]
fn identity_aggregate_key_and_small_subgroup() {
    fn of<S: Forge>() {
        // The list of suites has a POP suite at this place for both variants.
        let two_faults = Recipe { suite: 2, ..recipe_of(Shape::Shared(vec![1, 2], 3), Lie::TorsionAndCancellingKeys) };
        let single = |i: u8| {
            let lie = match i {
                20 => Lie::WrongMessage,
                40 => Lie::Torsion,
                _ => Lie::None,
            };
            Recipe { suite: 2, ..recipe_of(Shape::Single(i, i), lie) }
        };
        for n in [1, 2, 9, 150] {
            let mut recipes: Vec<_> = (1..n).map(single).collect();
            let place = recipes.len() / 2;
            recipes.insert(place, two_faults.clone());
            let (claims, expected): (Vec<_>, Vec<_>) =
                cases::<S>(&recipes).into_iter().map(|case| (case.claim, case.verdict)).unzip();
            assert_eq!(expected[place], Verdict::Invalid(Reason::IdentityAggregateKey));
            for options in every_options() {
                assert_eq!(verify(&claims, &options, &mut rng()).verdicts, expected, "{n} claims under {options:?}");
            }
        }
    }
    of::<MinPk>();
    of::<MinSig>();
}

/// A batch with many blocks on every backend, and with sums long enough to check membership: with and without
/// signatures outside the subgroup.
#[test]
fn large_batch() {
    fn verdicts<S: Forge>(outside: &[usize], turns: &mut Turns) {
        let wrong = [5, 6, 200, 399];
        let recipes = (0..400).map(|i| {
            let lie = match i {
                _ if outside.contains(&i) => Lie::Torsion,
                _ if wrong.contains(&i) => Lie::WrongMessage,
                _ => Lie::None,
            };
            recipe_of(Shape::Single((i % 240) as u8, (i % 150) as u8), lie)
        });
        let claims = claims::<S>(&recipes.collect::<Vec<_>>());
        for options in turns.on_every_backend() {
            let outcome = verify(&claims, &options, &mut rng());
            assert_eq!(outcome.verdicts.len(), claims.len());
            for (i, verdict) in outcome.verdicts.into_iter().enumerate() {
                let expected = match i {
                    _ if outside.contains(&i) => Verdict::Invalid(Reason::Parse(ParseError::SignatureNotInSubgroup)),
                    _ if wrong.contains(&i) => Verdict::Invalid(Reason::Mismatch),
                    _ => Verdict::Valid,
                };
                assert_eq!(verdict, expected, "at {i} under {options:?}");
            }
            assert_eq!(outcome.work.subgroup_checks, 400);
        }
    }
    let mut turns = Turns::default();
    for outside in [&[][..], &[37, 300]] {
        verdicts::<MinPk>(outside, &mut turns);
        verdicts::<MinSig>(outside, &mut turns);
    }
}

#[test]
fn false_claims_are_reported_by_source() {
    let recipes: Vec<_> = (0..30u8)
        .map(|i| Recipe {
            source: Some(u64::from(i % 5)),
            lie: if i % 5 == 3 { Lie::WrongMessage } else { Lie::None },
            ..recipe_of(Shape::Single(i, i), Lie::None)
        })
        .collect();
    let outcome = verify(&claims::<MinPk>(&recipes), &Options::default(), &mut rng());
    assert_eq!(outcome.false_by_source.keys().cloned().collect::<Vec<_>>(), [SourceId::from(3)]);
    assert_eq!(outcome.false_by_source[&SourceId::from(3)], [3, 8, 13, 18, 23, 28]);
}

#[test]
fn few_signers_are_paired_by_key_and_one_message_by_message() {
    let by_key: Vec<_> = (0..40).map(|i| recipe_of(Shape::Single(i % 4, i), Lie::None)).collect();
    assert_eq!(Plan::new(&claims::<MinPk>(&by_key), &Options::default()).pairings(), 5);
    let by_message: Vec<_> = (0..40).map(|i| recipe_of(Shape::Single(i, 7), Lie::None)).collect();
    assert_eq!(Plan::new(&claims::<MinPk>(&by_message), &Options::default()).pairings(), 2);
    // A star of each kind, side by side: one pairing for the busy key, one for the busy message, one for the
    // signatures.
    let mixed: Vec<_> = (0..20)
        .flat_map(|i| [recipe_of(Shape::Single(90, i), Lie::None), recipe_of(Shape::Single(i, 90), Lie::None)])
        .collect();
    let claims = claims::<MinPk>(&mixed);
    assert_eq!(Plan::new(&claims, &Options::default()).pairings(), 3);
    assert!(verify(&claims, &Options::default(), &mut rng()).all_valid());
}

#[test]
fn all_known_costs_no_pairing_to_state() {
    let recipes: Vec<_> = (0..20).map(|i| recipe_of(Shape::Single(i, i), Lie::None)).collect();
    let mut known = Known::new();
    assert!(verify_and_remember(&claims::<MinPk>(&recipes), &mut known, &Options::default(), &mut rng()).all_valid());
    assert_eq!(known.len(), 20);
    let block = recipe_of(Shape::Each((0..20).map(|i| (i, i)).collect()), Lie::None);
    let [block] = &claims::<MinPk>(&[block])[..] else { unreachable!() };
    let rest = block.without(&known, Backend::auto());
    assert!(rest.is_empty() && !block.is_empty());
    assert!(verify(&[rest], &Options::default(), &mut rng()).all_valid());
    // The same block with one signature too many is false although every statement is known.
    let extra = secret(MinPk::Basic, 50).sign(MinPk::Basic, b"x");
    let signature = block.signature().point();
    let wrong = UncheckedSignature::from_point(Backend::Portable.sum(&[signature, extra.point()]));
    let statements = block.statements().map(|(k, m)| (k, m.clone())).collect();
    let wrong = Claim::each(MinPk::Basic, statements, wrong);
    assert!(!verify(&[wrong.without(&known, Backend::auto())], &Options::default(), &mut rng()).all_valid());
}

/// If a claim makes a known statement twice, its signature is subtracted twice.
#[test]
fn known_statements_are_subtracted_as_often_as_they_occur() {
    let suite = MinPk::Eth2;
    let (key, signature) = (secret(suite, 1).public_key(), secret(suite, 1).sign(suite, b"m"));
    let twice = aggregate(&[signature, signature], Backend::auto()).unwrap();
    assert_eq!(subtract(twice, &[signature], Backend::auto()), signature);
    let claim = Claim::each(suite, vec![(key, b"m"[..].into()), (key, b"m"[..].into())], twice);
    assert!(naive::verify(&claim).is_valid());
    let mut known = Known::new();
    known.trust(suite, key, *b"m", signature);
    let rest = claim.without(&known, Backend::auto());
    assert!(rest.is_empty());
    assert!(verify(&[rest], &Options::default(), &mut rng()).all_valid());
}

/// A valid aggregate does not make the signatures of its parts known, and its own signature must not stand for any of
/// them.
#[test]
fn aggregates_are_not_remembered() {
    let recipes = [Shape::Shared(vec![1, 2], 3), Shape::Each(vec![(1, 4), (2, 5)])]
        .map(|s| Recipe { suite: 4, ..recipe_of(s, Lie::None) });
    let mut known = Known::new();
    assert!(verify_and_remember(&claims::<MinPk>(&recipes), &mut known, &Options::default(), &mut rng()).all_valid());
    assert!(known.is_empty());
}

/// A statement that is known under one tag is not known under another.
#[test]
fn known_under_one_tag_only() {
    let signer = secret(MinPk::Basic, 1);
    let mut known = Known::new();
    known.trust(MinPk::Basic, signer.public_key(), *b"m", signer.sign(MinPk::Basic, b"m"));
    let signature = secret(MinPk::Eth2, 1).sign(MinPk::Eth2, b"m");
    let other = Claim::single(MinPk::Eth2, signer.public_key(), *b"m", signature);
    assert_eq!(other.without(&known, Backend::auto()).len(), 1);
}

/// An AUG suite signs the key in front of the message, so under one tag its signature of a message is not the one of the
/// other schemes. What is known of the one says nothing about the other, in both directions, and for all schemes.
#[test]
fn known_in_an_aug_suite_is_not_known_in_others_under_the_same_tag() {
    fn of<S: Bls12381Suite>(augmented: S, others: &[S]) {
        let tag = Tag::from(&b"one tag for suites of all schemes"[..]);
        let signer = secret(augmented, 1);
        let claim = |suite: S, signed_in: S| {
            let signature = signer.sign_under_tag(signed_in, &tag, b"m");
            Claim::single(suite, signer.public_key(), *b"m", signature).under_tag(tag.clone())
        };
        let remembering = |known: &mut Known<S>, claim: Claim<S>| {
            verify_and_remember(&[claim], known, &Options::default(), &mut rng()).verdicts[0]
        };
        for other in others {
            for (first, second) in [(augmented, *other), (*other, augmented)] {
                let mut known = Known::new();
                assert_eq!(remembering(&mut known, claim(first, first)), Verdict::Valid);
                let forged = remembering(&mut known, claim(second, first));
                assert_eq!(forged, Verdict::Invalid(Reason::Mismatch), "{first} known, {second} claimed");
                assert_eq!(claim(second, second).without(&known, Backend::auto()).len(), 1);
                assert_eq!(remembering(&mut known, claim(second, second)), Verdict::Valid, "{first}, then {second}");
                assert_eq!(known.len(), 2);
                for suite in [first, second] {
                    assert!(claim(suite, suite).without(&known, Backend::auto()).is_empty());
                }
            }
        }
        // The other schemes sign the same, so what is known in one is known in all.
        let mut known = Known::new();
        assert_eq!(remembering(&mut known, claim(others[0], others[0])), Verdict::Valid);
        for other in others {
            assert!(claim(*other, *other).without(&known, Backend::auto()).is_empty(), "{other}");
        }
    }
    of(MinPk::Augmented, &[MinPk::Basic, MinPk::ProofOfPossession, MinPk::Bdn]);
    of(MinSig::Augmented, &[MinSig::Basic, MinSig::ProofOfPossession, MinSig::Bdn]);
}

/// What a caller trusts in an AUG suite is known in AUG suites with its tag alone.
#[test]
fn trusted_in_an_aug_suite() {
    let (suite, signer) = (MinPk::Augmented, secret(MinPk::Augmented, 1));
    let signature = signer.sign(suite, b"m");
    let mut known = Known::new();
    known.trust(suite, signer.public_key(), *b"m", signature);
    let claim = |suite| Claim::single(suite, signer.public_key(), *b"m", signature);
    assert!(claim(suite).without(&known, Backend::auto()).is_empty());
    let elsewhere = claim(MinPk::Basic).under_tag(Tag::from(suite.id().as_bytes()));
    assert_eq!(elsewhere.without(&known, Backend::auto()).len(), 1);
    assert!(!known.forget(MinPk::Basic, signer.public_key(), *b"m"));
    assert!(known.forget(suite, signer.public_key(), *b"m"));
}

fn recipe_of(shape: Shape, lie: Lie) -> Recipe {
    Recipe { suite: 0, shape, lie, source: None }
}
