//! Hashes that a verifier keeps: they save work, and change no verdict.

use proptest::prelude::*;
use quorate::{
    AnySuite, Backend, Bls12381Suite, ClaimBytes, Messages, MinPk, MinSig, Options, Outcome, SecretKey, Suite,
    Verifier, aggregate::aggregate,
};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([4; 32])
}

/// Every backend, on one thread and on three.
fn verifiers() -> impl Iterator<Item = Verifier> {
    let options = Backend::available().iter().flat_map(|backend| {
        [1, 3].map(|threads| Options { backend: *backend, threads: threads.try_into().unwrap(), ..Options::default() })
    });
    options.map(Verifier::new)
}

fn secret<S: Bls12381Suite>(suite: S, i: u8) -> SecretKey<S> {
    SecretKey::key_gen(suite, &[i; 32], b"hashes").unwrap()
}

/// Key `i` signs one message, and the claim is about another.
fn claim_about<S: Bls12381Suite>(suite: S, i: u8, signed: &[u8], claimed: &[u8]) -> ClaimBytes {
    let secret = secret(suite, i);
    let (key, signature) = (secret.public_key().to_bytes(), secret.sign(suite, signed).to_bytes());
    ClaimBytes::single(suite.any(), key.as_ref(), claimed, signature.as_ref())
}

fn single<S: Bls12381Suite>(suite: S, i: u8, message: &[u8]) -> ClaimBytes {
    claim_about(suite, i, message, message)
}

/// How many messages were hashed, and how many of them had been hashed before.
fn hashes(outcome: &Outcome) -> [usize; 2] {
    [outcome.work.hashes, outcome.work.cached_hashes]
}

/// The same message by another key costs no hash, alone and in a batch, whatever the other claims are.
#[test]
fn a_message_that_comes_again_costs_no_hash() {
    for verifier in verifiers() {
        let verify = |claims: &[ClaimBytes]| verifier.verify(claims, &mut rng());
        let outcome = verify(&[single(MinPk::Eth2, 1, b"vote")]);
        assert_eq!((hashes(&outcome), outcome.all_valid()), ([1, 0], true));
        let outcome = verify(&[single(MinPk::Eth2, 2, b"vote")]);
        assert_eq!((hashes(&outcome), outcome.all_valid()), ([0, 1], true));
        let outcome = verify(&[single(MinPk::Eth2, 3, b"vote"), single(MinPk::Eth2, 4, b"another")]);
        assert_eq!((hashes(&outcome), outcome.all_valid()), ([1, 1], true));
        // A false claim about a message whose hash is known.
        let outcome = verify(&[claim_about(MinPk::Eth2, 4, b"vote", b"another"), single(MinPk::Eth2, 4, b"vote")]);
        assert_eq!((hashes(&outcome), outcome.invalid().collect()), ([0, 2], vec![0]));
        assert_eq!(verifier.cached_hashes(), 2);
        assert!(verifier.prepare(&[single(MinPk::Eth2, 5, b"vote")]).to_string().contains("and 1 more from the cache"));
        // A clone shares them, and so does a verifier with other options.
        let options = Options { backend: Backend::Portable, ..Options::default() };
        let outcome = verifier.clone().with_options(options).verify(&[single(MinPk::Eth2, 6, b"vote")], &mut rng());
        assert_eq!((hashes(&outcome), outcome.all_valid()), ([0, 1], true));
        verifier.limit_hashes(0);
        for _ in 0..2 {
            let outcome = verify(&[single(MinPk::Eth2, 7, b"vote")]);
            assert_eq!((hashes(&outcome), outcome.all_valid(), verifier.cached_hashes()), ([1, 0], true, 0));
        }
    }
}

/// What nobody signed is not kept: a sender of false claims pushes nothing out.
#[test]
fn a_false_claim_evicts_nothing() {
    let verifier = Verifier::new(Options::default());
    // Seven messages in each half.
    verifier.limit_hashes(2 * 7 * 225 * 3);
    let seen = single(MinPk::Eth2, 1, b"seen");
    assert!(verifier.verify(std::slice::from_ref(&seen), &mut rng()).all_valid());
    for i in 0..40 {
        let outcome = verifier.verify(&[claim_about(MinPk::Eth2, 1, b"x", &[i]), seen.clone()], &mut rng());
        assert_eq!((hashes(&outcome), outcome.invalid().collect()), ([1, 1], vec![0]));
        assert_eq!(verifier.cached_hashes(), 1);
    }
    // True ones push it out, unless it comes again, and never stay beyond the bound.
    for i in 0..40 {
        assert!(verifier.verify(&[single(MinPk::Eth2, 1, &[i])], &mut rng()).all_valid());
        assert!(verifier.cached_hashes() <= 28);
    }
    assert_eq!(hashes(&verifier.verify(&[seen], &mut rng())), [1, 0]);
}

/// One message under every suite, in turn: a hash under one tag, or of one curve, or with a key in front, is no other's.
#[test]
fn suites_do_not_mix() {
    let all = |message: &[u8]| -> Vec<ClaimBytes> {
        let min_pk = MinPk::all().iter().map(|suite| single(*suite, 1, message));
        min_pk.chain(MinSig::all().iter().map(|suite| single(*suite, 1, message))).collect()
    };
    for verifier in verifiers() {
        let claims = all(b"one message");
        for _ in 0..2 {
            for claim in &claims {
                assert!(verifier.verify(std::slice::from_ref(claim), &mut rng()).all_valid(), "{claim:?}");
            }
            // The signature of one suite under another is judged as it is alone.
            for (a, b) in claims.iter().flat_map(|a| claims.iter().map(move |b| (a, b))) {
                let mixed = ClaimBytes { suite: b.suite, ..a.clone() };
                let verdict = verifier.verify(std::slice::from_ref(&mixed), &mut rng()).verdicts[0];
                if *verifier.options() == Options::default() {
                    assert_eq!(verdict, mixed.verify(), "{} under {}", a.suite, b.suite);
                }
                assert_eq!(verdict.is_valid(), same_hash(a.suite, b.suite), "{} under {}", a.suite, b.suite);
            }
        }
        assert!(verifier.verify(&claims, &mut rng()).all_valid());
    }
}

/// Whether a signature under one suite is one under another: its tag, its variant and what is hashed are the same.
fn same_hash(a: AnySuite, b: AnySuite) -> bool {
    use quorate::Scheme::Augmented;
    match (a, b) {
        (AnySuite::MinPk(a), AnySuite::MinPk(b)) => {
            (a.id(), a.scheme() == Augmented) == (b.id(), b.scheme() == Augmented)
        }
        (AnySuite::MinSig(a), AnySuite::MinSig(b)) => {
            (a.id(), a.scheme() == Augmented) == (b.id(), b.scheme() == Augmented)
        }
        _ => false,
    }
}

/// The key of one signer covers messages of which some hashes are known, and the sum is right all the same.
#[test]
fn known_hashes_are_summed_with_others() {
    for verifier in verifiers() {
        let message = |i: u8| [i, 0xaa];
        let first: Vec<_> = (0..20).step_by(3).map(|i| single(MinPk::Eth2, 7, &message(i))).collect();
        for claim in &first {
            assert!(verifier.verify(std::slice::from_ref(claim), &mut rng()).all_valid());
        }
        let mut claims: Vec<_> = (0..20).map(|i| single(MinPk::Eth2, 1 + i % 2, &message(i))).collect();
        let prepared = verifier.prepare(&claims);
        assert!(prepared.to_string().contains("by message, 2 by key"), "{prepared}");
        let outcome = prepared.decide(&mut rng());
        assert_eq!((hashes(&outcome), outcome.all_valid()), ([13, 7], true));
        for bad in [0, 1, 19] {
            let good = std::mem::replace(
                &mut claims[bad],
                claim_about(MinPk::Eth2, 1 + bad as u8 % 2, b"x", &message(bad as u8)),
            );
            assert_eq!(verifier.verify(&claims, &mut rng()).invalid().collect::<Vec<_>>(), [bad]);
            claims[bad] = good;
        }
        // Only those that are known.
        let claims: Vec<_> = (0..20).step_by(3).map(|i| single(MinPk::Eth2, 9, &message(i))).collect();
        let outcome = verifier.verify(&claims, &mut rng());
        assert_eq!((hashes(&outcome), outcome.all_valid()), ([0, 7], true));
    }
}

/// A batch of more messages than can stay leaves what is kept as it is.
#[test]
fn a_great_batch_leaves_the_cache_alone() {
    let verifier = Verifier::new(Options { backend: Backend::auto(), ..Options::default() });
    verifier.limit_hashes(2 * 14 * 225 * 3);
    let seen = single(MinPk::Eth2, 1, b"seen");
    assert!(verifier.verify(std::slice::from_ref(&seen), &mut rng()).all_valid());
    let great: Vec<_> = (0..60).map(|i| single(MinPk::Eth2, i % 7, &[i, 0xbb])).collect();
    let outcome = verifier.verify(&great, &mut rng());
    assert_eq!((hashes(&outcome), outcome.all_valid(), verifier.cached_hashes()), ([60, 0], true, 1));
    assert_eq!(hashes(&verifier.verify(&[seen], &mut rng())), [0, 1]);
}

/// Threads share one verifier.
#[test]
fn threads_share_the_hashes() {
    let verifier = Verifier::new(Options::default());
    verifier.limit_hashes(2 * 14 * 225 * 3);
    let claims: Vec<Vec<_>> = (0..4u8).map(|t| (0..30).map(|i| single(MinPk::Eth2, t, &[i % 17])).collect()).collect();
    std::thread::scope(|scope| {
        for claims in &claims {
            let verifier = &verifier;
            scope.spawn(move || {
                for claim in claims {
                    let lie = ClaimBytes { messages: Messages::Shared(b"lie"[..].into()), ..claim.clone() };
                    let outcome = verifier.verify(&[claim.clone(), lie], &mut rng());
                    assert_eq!(outcome.invalid().collect::<Vec<_>>(), [1]);
                }
            });
        }
    });
}

/// A claim of a few statements: each is a key and a message. `false` if one of them was not signed.
fn aggregated(statements: &[(u8, u8)], is_true: bool) -> ClaimBytes {
    let suite = MinPk::Eth2;
    let lie = |i: usize, m: u8| if i == 0 && !is_true { m + 100 } else { m };
    let signed = statements.iter().enumerate().map(|(i, (key, m))| secret(suite, *key).sign(suite, &[lie(i, *m)]));
    let sum = aggregate(&signed.collect::<Vec<_>>(), Backend::Portable).unwrap();
    ClaimBytes {
        suite: suite.any(),
        public_keys: statements.iter().map(|(key, _)| secret(suite, *key).public_key().to_bytes().to_vec()).collect(),
        messages: Messages::Each(statements.iter().map(|(_, m)| [*m][..].into()).collect()),
        signature: sum.to_bytes().to_vec(),
        source: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Batches one after the other, of few messages, through verifiers that keep none, a few and all hashes: the same
    /// verdicts, which are those of each claim alone.
    #[test]
    fn verdicts_are_the_same(
        batches in proptest::collection::vec(
            proptest::collection::vec(
                (proptest::collection::vec((0u8..5, 0u8..12), 1..4), proptest::bool::weighted(0.9)),
                1..14,
            ),
            1..6,
        ),
        backend in 0usize..8,
    ) {
        let backend = Backend::available()[backend % Backend::available().len()];
        let verifiers = [0, 14 * 225 * 3, 2 << 20].map(|bytes| {
            let verifier = Verifier::new(Options { backend, ..Options::default() });
            verifier.limit_hashes(bytes);
            verifier
        });
        for batch in batches {
            let claims: Vec<_> = batch.iter().map(|(statements, is_true)| aggregated(statements, *is_true)).collect();
            let expected: Vec<_> = claims.iter().map(ClaimBytes::verify).collect();
            for verifier in &verifiers {
                let outcome = verifier.verify(&claims, &mut rng());
                prop_assert_eq!(&outcome.verdicts, &expected);
            }
        }
    }
}
