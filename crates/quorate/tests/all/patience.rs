//! A search that gives a source up, and a memory that threads share.

use std::{collections::BTreeMap, thread};

use quorate::{
    Backend, Bls12381Suite, ClaimBytes, Exhaustive, MinPk, MinSig, Options, ParseError, Patience, Reason, SecretKey,
    SourceId, TrustError, UncheckedSignature, Verdict, Verifier,
};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([9; 32])
}

fn options(backend: Backend, threads: usize) -> Options {
    Options { backend, threads: threads.try_into().unwrap(), ..Options::default() }
}

/// Key `key` signed message `i`, or another message, says the source.
fn claim<S: Bls12381Suite>(suite: S, key: u8, i: usize, lie: bool, source: Option<&str>) -> ClaimBytes {
    let secret = SecretKey::key_gen(suite, &[key; 32], b"patience").unwrap();
    let (message, signed) = (i.to_be_bytes(), if lie { !i } else { i }.to_be_bytes());
    let (key, signature) = (secret.public_key().to_bytes(), secret.sign(suite, &signed).to_bytes());
    let claim = ClaimBytes::single(suite.any(), key.as_ref(), &message, signature.as_ref());
    ClaimBytes { source: source.map(SourceId::from), ..claim }
}

/// Bans each source after so many false claims, and counts what it is told.
struct Bans {
    after: usize,
    found: BTreeMap<Option<SourceId>, Vec<usize>>,
}

impl Patience for Bans {
    fn left(&mut self, source: &SourceId) -> usize {
        self.after.saturating_sub(self.found.get(&Some(source.clone())).map_or(0, Vec::len))
    }

    fn found(&mut self, index: usize, source: Option<&SourceId>, _: Reason) {
        self.found.entry(source.cloned()).or_default().push(index);
    }
}

/// A liar with many false claims is given up after some of them, and costs a fraction of the whole search. What others
/// sent is decided exactly, their lies included. Nothing false is ever valid.
#[test]
fn a_liar_is_given_up_and_the_others_are_decided() {
    let sources = [Some("honest"), Some("liar"), None, Some("one lie")];
    let claims: Vec<_> = (0..160)
        .map(|i| {
            let source = sources[i % 4];
            let lie = source == Some("liar") && i % 3 != 0 || source == Some("one lie") && i == 43 || i == 62;
            (lie, claim(MinPk::Eth2, 1 + (i % 7) as u8, i, lie, source))
        })
        .collect();
    let (lies, claims): (Vec<_>, Vec<_>) = claims.into_iter().unzip();
    for backend in Backend::available() {
        for threads in [1, 3] {
            let whole = Verifier::new(options(*backend, threads)).verify(&claims, &mut rng());
            assert_eq!(whole.verdicts.iter().map(|verdict| !verdict.is_valid()).collect::<Vec<_>>(), lies);
            for after in [0, 1, 2, 5, 1000] {
                let mut bans = Bans { after, found: BTreeMap::new() };
                let outcome =
                    Verifier::new(options(*backend, threads)).verify_and_remember(&claims, &mut bans, &mut rng());
                assert_eq!(outcome.verdicts.len(), claims.len());
                for (i, verdict) in outcome.verdicts.iter().enumerate() {
                    let of_liar = claims[i].source == Some("liar".into());
                    let given_up = *verdict == Verdict::Invalid(Reason::GivenUp);
                    match lies[i] {
                        // A source of which no lie is wanted is not searched at all.
                        _ if given_up => assert!(of_liar || after == 0 && claims[i].source.is_some(), "claim {i}"),
                        true => assert_eq!(*verdict, Verdict::Invalid(Reason::Mismatch), "claim {i}"),
                        false => assert_eq!(*verdict, Verdict::Valid, "claim {i}"),
                    }
                }
                let found = |source| bans.found.get(&source).map_or(0, Vec::len);
                assert_eq!(found(None), 1);
                assert_eq!(found(Some("one lie".into())), usize::from(after > 0));
                // One level of the search can find more than was asked for, but not by more than its parts.
                let most = after * (8 * threads + 1);
                assert!((after.min(26)..=most.min(27)).contains(&found(Some("liar".into()))), "after {after}");
                if after <= 1 {
                    assert!(outcome.work.pairings < whole.work.pairings, "{:?} {:?}", outcome.work, whole.work);
                }
            }
        }
    }
}

/// What cannot be decoded and what is outside the subgroup counts against its source before the search starts.
#[test]
fn flaws_of_bytes_exhaust_patience() {
    let mut claims: Vec<_> = (0..8).map(|i| claim(MinPk::Eth2, 1, i, i > 4, Some("peer"))).collect();
    claims[0].signature[95] ^= 1;
    claims[1].public_keys.as_encoded_mut().unwrap()[0].pop();
    let mut bans = Bans { after: 2, found: BTreeMap::new() };
    let outcome = Verifier::new(Options::default()).verify_and_remember(&claims, &mut bans, &mut rng());
    let mut found = bans.found.remove(&Some("peer".into())).unwrap();
    found.sort_unstable();
    assert_eq!(found, [0, 1]);
    assert_eq!(outcome.verdicts[2..], [Verdict::Invalid(Reason::GivenUp); 6]);
}

/// A pardon between two levels of a search leaves nothing undecided.
#[test]
fn patience_that_returns_leaves_nothing_out() {
    struct Fickle(usize);
    impl Patience for Fickle {
        fn left(&mut self, _: &SourceId) -> usize {
            self.0 += 1;
            1 + self.0 % 2
        }

        fn found(&mut self, _: usize, _: Option<&SourceId>, _: Reason) {}
    }
    let claims: Vec<_> = (0..40).map(|i| claim(MinPk::Basic, 1, i, i % 5 == 0, Some("peer"))).collect();
    for backend in Backend::available() {
        let outcome = Verifier::new(options(*backend, 1)).verify_and_remember(&claims, &mut Fickle(0), &mut rng());
        let invalid: Vec<_> = outcome.invalid().collect();
        assert_eq!(invalid, [0, 5, 10, 15, 20, 25, 30, 35]);
        assert!(outcome.verdicts.iter().all(|verdict| *verdict != Verdict::Invalid(Reason::GivenUp)));
    }
}

/// Only valid claims of one statement are remembered, by all clones, under any options, and up to the limit.
#[test]
fn valid_statements_are_remembered_and_shared() {
    for backend in Backend::available() {
        let verifier = Verifier::with_known_limit(options(*backend, 1), 40);
        let mut claims: Vec<_> = (0..10).map(|i| claim(MinPk::Eth2, 1, i, i == 3, None)).collect();
        claims.extend((0..5).map(|i| claim(MinSig::Basic, 1, i, i == 2, None)));
        let mut two = claims[0].clone();
        let repeated = two.public_keys.as_encoded().unwrap()[0].clone();
        two.public_keys.as_encoded_mut().unwrap().push(repeated);
        claims.push(two);
        let outcome = verifier.verify_and_remember(&claims, &mut Exhaustive, &mut rng());
        assert_eq!(outcome.invalid().collect::<Vec<_>>(), [3, 12, 15]);
        assert_eq!(verifier.known(), 13);
        assert!(claims.iter().enumerate().all(|(i, claim)| verifier.knows(claim)[0] != [3, 12].contains(&i)));

        let clone = verifier.with_options(options(*backend, 3));
        let again = clone.verify_and_remember(&claims, &mut Exhaustive, &mut rng());
        assert_eq!(again.verdicts, outcome.verdicts);
        assert_eq!(again.subtracted.iter().sum::<usize>(), 15);
        // A false signature of a known statement stays false.
        let forged = ClaimBytes { signature: claims[1].signature.clone(), ..claims[0].clone() };
        assert!(!clone.verify(&[forged], &mut rng()).all_valid());

        let many: Vec<_> = (100..200).map(|i| claim(MinPk::Eth2, 2, i, false, None)).collect();
        assert!(clone.verify_and_remember(&many, &mut Exhaustive, &mut rng()).all_valid());
        assert!((20..=44).contains(&verifier.known()), "{}", verifier.known());
        verifier.forget_known();
        assert_eq!(clone.known(), 0);
    }
}

/// Many records are trusted together, and each that cannot be is an error of its own.
#[test]
fn records_are_trusted_together() {
    for backend in Backend::available() {
        let verifier = Verifier::new(options(*backend, 2));
        let mut claims: Vec<_> = (0..30).map(|i| claim(MinPk::Eth2, 1 + (i % 3) as u8, i, false, None)).collect();
        claims.push(claim(MinSig::Basic, 1, 5, false, None));
        claims[4].signature.pop();
        claims[7].public_keys.as_encoded_mut().unwrap().clear();
        // On the curve, and with all but certainty not in the subgroup.
        let outside = (0..=u8::MAX).map(|x| [&[0x80][..], &[0; 94], &[x]].concat());
        let mut outside = outside.filter(|bytes| UncheckedSignature::<MinPk>::from_bytes(bytes).is_ok());
        claims[9].signature = outside.next().unwrap();
        let results = verifier.trust_each(&claims);
        let refused: Vec<_> =
            results.iter().enumerate().filter(|(_, result)| result.is_err()).map(|(i, _)| i).collect();
        assert_eq!(refused, [4, 7, 9]);
        let outside = ParseError::SignatureNotInSubgroup;
        assert_eq!(results[9], Err(TrustError::Invalid(Reason::Parse(outside))));
        assert_eq!(results[7], Err(TrustError::Statements(0)));
        assert_eq!(verifier.known(), 28);
        assert!(verifier.trust_each(&[]).is_empty());
    }
}

/// Threads that verify with one verifier at the same time get the verdicts that one thread gets.
#[test]
fn threads_share_a_verifier() {
    let verifier = Verifier::with_known_limit(Options::default(), 16);
    let claims: Vec<_> = (0..48).map(|i| claim(MinPk::Eth2, 1 + (i % 5) as u8, i / 2, i % 11 == 0, None)).collect();
    thread::scope(|scope| {
        for start in 0..4 {
            let (verifier, claims) = (&verifier, &claims[start * 8..start * 8 + 24]);
            scope.spawn(move || {
                for _ in 0..3 {
                    let outcome = verifier.verify_and_remember(claims, &mut Exhaustive, &mut rng());
                    let expected: Vec<_> = (0..24).filter(|i| (start * 8 + i) % 11 == 0).collect();
                    assert_eq!(outcome.invalid().collect::<Vec<_>>(), expected);
                }
            });
        }
    });
    assert!(verifier.known() <= 16);
}
