//! Key sets, and claims as bytes that name their members.

use std::{num::NonZeroUsize, sync::Arc};

use quorate::{
    AnyKeySet, Backend, Bitmap, Bls12381Suite, Bn254Suite, ClaimBytes, KeySet, Members, Messages, MinPk, MinSig,
    MisuseError, Options, ParseError, PublicKeys, Reason, SecretKey, Signature, Suite, Verdict, Verifier,
    aggregate::aggregate,
    keyset::{KeyError, Possession, SavedKeysError},
    proof_of_possession,
};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use sha2::{Digest, Sha256};

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([9; 32])
}

fn threads(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).unwrap()
}

fn secret<S: Suite>(suite: S, i: usize) -> SecretKey<S> {
    let mut material = [7; 32];
    material[..8].copy_from_slice(&(i as u64).to_le_bytes());
    SecretKey::key_gen(suite, &material, b"").unwrap()
}

/// The encoded keys of so many members.
fn encodings<S: Suite>(suite: S, n: usize) -> Vec<Vec<u8>> {
    (0..n).map(|i| secret(suite, i).claim_key(suite)).collect()
}

fn set_of<S: Suite>(suite: S, n: usize) -> KeySet<S> {
    let encodings = encodings(suite, n);
    let mut set = KeySet::new(suite, Backend::auto());
    set.decode(&slices(&encodings), true, threads(1), &mut rng()).unwrap();
    set
}

fn slices(encodings: &[Vec<u8>]) -> Vec<&[u8]> {
    encodings.iter().map(|bytes| &bytes[..]).collect()
}

/// The signature of members over one message, or of each over its own.
fn signed<S: Suite>(suite: S, members: &[usize], messages: &Messages) -> Vec<u8> {
    let parts = members.iter().enumerate().map(|(place, i)| match messages {
        Messages::Shared(message) => secret(suite, *i).sign(suite, message),
        Messages::Each(messages) => secret(suite, *i).sign(suite, &messages[place]),
        _ => proof_of_possession::prove(suite, &secret(suite, *i)).unwrap(),
    });
    let parts: Vec<Signature<S>> = parts.collect();
    aggregate(&parts, Backend::Portable).unwrap().to_bytes().as_ref().to_vec()
}

fn indices(members: &[usize]) -> Members {
    Members::Indices(members.iter().map(|i| *i as u32).collect())
}

/// Keys that are decoded together are those that are decoded singly, and a flaw is named by its place, however many keys stand
/// before it.
#[test]
fn keys_are_decoded_together() {
    let good = encodings(MinPk::Eth2, 600);
    let (mut identity, mut order_three) = (vec![0; 48], vec![0; 48]);
    (identity[0], order_three[0]) = (0xc0, 0x80);
    for backend in Backend::available() {
        for threads in [1, 3].map(threads) {
            let mut set = KeySet::new(MinPk::Eth2, *backend);
            set.decode(&slices(&good[..1]), false, threads, &mut rng()).unwrap();
            set.decode(&slices(&good[1..]), true, threads, &mut rng()).unwrap();
            let all: Vec<u32> = (0..600).collect();
            let keys: Vec<_> = set.keys(&all).unwrap().iter().map(|key| key.to_bytes().to_vec()).collect();
            assert_eq!(keys, good, "{backend}");
            assert_eq!(
                [0, 1, 599].map(|i| set.possession(i).unwrap()),
                [Possession::Unproven, Possession::Assumed, Possession::Assumed]
            );
            for place in [0, 1, 299, 599] {
                for (flaw, error) in [
                    (&identity, ParseError::IdentityKey),
                    (&order_three, ParseError::KeyNotInSubgroup),
                    (&good[0][1..].to_vec(), MinPk::Eth2.wrong_key_length(47)),
                ] {
                    let mut keys = good.clone();
                    keys[place] = flaw.clone();
                    let refused = set.decode(&slices(&keys), true, threads, &mut rng());
                    assert_eq!(refused, Err(KeyError { index: place, error }), "{backend}");
                    assert_eq!(set.len(), 600, "all or none");
                }
            }
        }
    }
}

/// Sums from several threads at once, each by the difference from one that the set knows, or not.
#[test]
fn sums_by_difference_from_several_threads() {
    let set = set_of(MinPk::Eth2, 200);
    let points: Vec<_> = set.keys(&(0..200).collect::<Vec<_>>()).unwrap().iter().map(|key| key.point()).collect();
    std::thread::scope(|scope| {
        for thread in 0..4_usize {
            let (set, points) = (&set, &points);
            scope.spawn(move || {
                for round in 0..40_usize {
                    let absent = |i: usize| {
                        (i * 31 + round * 7 + thread).is_multiple_of(23) || (round.is_multiple_of(5) && i > thread * 40)
                    };
                    let members: Vec<_> = (0..200).filter(|i| !absent(*i)).collect();
                    let expected = Backend::Portable.sum(&members.iter().map(|i| points[*i]).collect::<Vec<_>>());
                    assert_eq!(set.sum(&Bitmap::from_indices(members)), Ok(expected));
                }
            });
        }
    });
    let beyond = Bitmap::from_indices([3, 200]);
    assert_eq!(set.sum(&beyond), Err(MisuseError::NoSuchMember { index: 200, members: 200 }));
    let far = Bitmap::from_indices([1 << 33]);
    assert_eq!(set.sum(&far), Err(MisuseError::NoSuchMember { index: 1 << 33, members: 200 }));
    assert!(set.sum(&Bitmap::default()).unwrap() == quorate_curve::Group::IDENTITY);
}

/// Each kind of claim about members gets the verdict of the same claim with encoded keys.
fn agrees_with_encoded_keys<S: Suite>(suite: S, message: fn(u8) -> Vec<u8>) {
    let encodings = encodings(suite, 20);
    let set = set_of(suite, 20).into_any();
    let shared = |i: u8| Messages::Shared(message(i).into());
    let each = |n: u8| Messages::Each((0..n).map(|i| message(i).into()).collect());
    let cases: Vec<(Vec<usize>, Messages)> = vec![
        (vec![3], shared(1)),
        (vec![3], shared(2)),
        (vec![], shared(1)),
        ((0..20).collect(), shared(1)),
        (vec![5, 7, 11, 2], shared(1)),
        (vec![5, 5, 7], shared(3)),
        (vec![9, 4, 4, 0], each(4)),
        (vec![9, 4], each(3)),
        (vec![6], Messages::ProofOfPossession),
        (vec![6, 7], Messages::ProofOfPossession),
    ];
    let mut pairs = Vec::new();
    for (members, messages) in &cases {
        let fits = !members.is_empty()
            && match messages {
                Messages::Each(messages) => messages.len() == members.len(),
                Messages::ProofOfPossession => suite.proof_of_possession_tag().is_some(),
                _ => true,
            };
        let mut signatures = vec![signed(suite, &[1], &shared(9))];
        if fits {
            signatures.push(signed(suite, members, messages));
        }
        for signature in signatures {
            let keys: PublicKeys = members.iter().map(|i| encodings[*i].clone()).collect();
            let encoded = ClaimBytes::shared(suite.any(), keys, message(1), signature);
            let encoded = ClaimBytes { messages: messages.clone(), ..encoded }.from_source(7);
            let mut forms = vec![indices(members)];
            if members.is_sorted_by(|a, b| a < b) {
                forms.push(Members::Bitmap(Bitmap::from_indices(members.clone())));
            }
            for form in forms {
                let public_keys = PublicKeys::Members(set.clone(), form);
                assert_eq!(public_keys.len(), encoded.public_keys.len());
                pairs.push((ClaimBytes { public_keys, ..encoded.clone() }, encoded.clone()));
            }
        }
    }
    let (by_members, encoded): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    for backend in Backend::available() {
        for threads in [1, 2].map(threads) {
            let options = Options { threads, backend: *backend, ..Options::default() };
            let expected = Verifier::new(options).verify(&encoded, &mut rng());
            let (valid, n) = (encoded.len() - expected.invalid().count(), encoded.len());
            assert!(valid >= 4 && valid < n, "{suite}: {valid} of {n}");
            let verifier = Verifier::new(options);
            assert_eq!(verifier.verify(&by_members, &mut rng()).verdicts, expected.verdicts, "{suite}, {backend}");
            // All together, and with statements that are known.
            let both: Vec<_> = by_members.iter().chain(&encoded).cloned().collect();
            let twice: Vec<_> = expected.verdicts.iter().chain(&expected.verdicts).copied().collect();
            for _ in 0..2 {
                let outcome = verifier.verify_and_remember(&both, &mut quorate::Exhaustive, &mut rng());
                assert_eq!(outcome.verdicts, twice, "{suite}, {backend}");
            }
        }
    }
    for (claim, encoded) in by_members.iter().zip(&encoded) {
        assert_eq!(claim.verify(), encoded.verify(), "{suite}");
    }
}

#[test]
fn claims_by_members_on_bls12381() {
    for suite in [MinPk::Eth2, MinPk::Eth2SyncAggregate, MinPk::Augmented, MinPk::Basic, MinPk::Bdn] {
        agrees_with_encoded_keys(suite, |i| vec![i; 5]);
    }
    agrees_with_encoded_keys(MinSig::ProofOfPossession, |i| vec![i; 5]);
    agrees_with_encoded_keys(MinSig::Bdn, |i| vec![i; 5]);
}

#[test]
fn claims_by_members_on_bn254() {
    for suite in [Bn254Suite::EigenLayer, Bn254Suite::KeccakProofOfPossession, Bn254Suite::Sha256Augmented] {
        agrees_with_encoded_keys(suite, |i| vec![i; 32]);
    }
}

/// What the encoded form of a claim cannot say.
#[test]
fn claims_about_no_such_members() {
    let reason = |claim: ClaimBytes| {
        let outcome = Verifier::new(Options::default()).verify(std::slice::from_ref(&claim), &mut rng());
        assert_eq!(outcome.verdicts[0], claim.verify());
        outcome.verdicts[0].reason()
    };
    let suite = MinPk::Eth2;
    let message = Messages::Shared((*b"vote").into());
    let signature = signed(suite, &[0, 1], &message);
    let mut set = set_of(suite, 3);
    set.push(secret(suite, 3).public_key());
    let set = set.into_any();
    let of = |members: Members| ClaimBytes::of_members(&set, members, *b"vote", signature.clone());
    assert_eq!(reason(of(indices(&[0, 1]))), None);
    assert_eq!(reason(of(indices(&[0, 4]))), Some(Reason::NoSuchMember { index: 4, members: 4 }));
    let far = Members::Bitmap(Bitmap::from_indices([0, (1 << 32) + 1]));
    assert_eq!(reason(of(far)), Some(Reason::NoSuchMember { index: (1 << 32) + 1, members: 4 }));
    // Alone, a member whose possession nobody has shown can sign; among others it could have a rogue key.
    let unproven = Some(Reason::PossessionUnproven { index: 3 });
    assert_eq!(reason(of(indices(&[0, 3]))), unproven);
    assert_eq!(reason(of(Members::Bitmap(Bitmap::from_indices([0, 3])))), unproven);
    let alone = ClaimBytes::of_members(&set, indices(&[3]), *b"vote", signed(suite, &[3], &message));
    assert_eq!(reason(alone), None);
    // Nor does it help to give each member its message, which can be the same twice.
    let messages = vec![Arc::from(&b"vote"[..]); 2];
    let keys = PublicKeys::Members(set.clone(), indices(&[0, 3]));
    let twice = ClaimBytes::each(suite.any(), keys, messages, signed(suite, &[0, 3], &message));
    assert_eq!(reason(twice), unproven);
    // Nor that something about the message is known.
    let verifier = Verifier::new(Options::default());
    verifier.trust(&ClaimBytes::of_members(&set, indices(&[0]), *b"vote", signed(suite, &[0], &message))).unwrap();
    let claim = of(Members::Bitmap(Bitmap::from_indices([0, 3])));
    assert_eq!(verifier.verify(&[claim], &mut rng()).verdicts[0].reason(), unproven);
    // A set of another variant, and another suite of the same variant.
    let other = ClaimBytes { suite: MinSig::ProofOfPossession.any(), ..of(indices(&[0, 1])) };
    assert_eq!(reason(other), Some(Reason::OtherVariant));
    let same = ClaimBytes { suite: MinPk::Eth2SyncAggregate.any(), ..of(indices(&[0, 1])) };
    assert_eq!(reason(same), None);
    // Keys that cancel.
    let mut cancelling = KeySet::new(suite, Backend::auto());
    let point = secret(suite, 0).public_key().point();
    for point in [point, quorate_curve::Group::negate(point)] {
        cancelling.push_assumed(quorate::PublicKey::from_point(point).unwrap());
    }
    let mut identity = vec![0; 96];
    identity[0] = 0xc0;
    let claim = ClaimBytes::of_members(&cancelling.into_any(), indices(&[0, 1]), *b"vote", identity);
    assert_eq!(reason(claim), Some(Reason::IdentityAggregateKey));
}

/// Whoever sends a claim names its suite. So a set whose suite asks nobody for a proof of possession makes no claim of a suite that
/// needs them: its owners may have rogue keys, which BDN allows.
#[test]
fn a_set_without_proofs_makes_no_claim_that_needs_them() {
    let message = Messages::Shared((*b"vote").into());
    let alone = signed(MinPk::Eth2, &[2], &message);
    for suite in [MinPk::Bdn, MinPk::Basic, MinPk::Augmented] {
        let mut set = KeySet::new(suite, Backend::auto());
        let point = secret(suite, 0).public_key().point();
        for point in [point, quorate_curve::Group::negate(point), secret(suite, 2).public_key().point()] {
            set.push_assumed(quorate::PublicKey::from_point(point).unwrap());
        }
        let set = set.into_any();
        let reason = |members: &[usize], messages: &Messages| {
            let forms = [indices(members), Members::Bitmap(Bitmap::from_indices(members.to_vec()))];
            let reasons = forms.map(|form| {
                let keys = PublicKeys::Members(set.clone(), form);
                let claim = ClaimBytes::shared(MinPk::Eth2.any(), keys, *b"vote", alone.clone());
                let claim = ClaimBytes { messages: messages.clone(), ..claim };
                let outcome = Verifier::new(Options::default()).verify(std::slice::from_ref(&claim), &mut rng());
                assert_eq!(outcome.verdicts[0], claim.verify());
                outcome.verdicts[0].reason()
            });
            assert_eq!(reasons[0], reasons[1]);
            reasons[0]
        };
        let unproven = Some(Reason::PossessionUnproven { index: 0 });
        assert_eq!(reason(&[0, 1, 2], &message), unproven, "{suite}");
        assert_eq!(reason(&[0, 1, 2], &Messages::Each(vec![Arc::from(&b"vote"[..]); 3])), unproven, "{suite}");
        assert_eq!(reason(&[2], &message), None, "{suite}");
    }
}

/// A suite without members who took part, and one who has proven nothing: the set answers as a claim about it does.
#[test]
fn a_set_answers_for_nobody_and_for_one() {
    let message = Messages::Shared((*b"vote").into());
    let mut set = set_of(MinPk::Eth2SyncAggregate, 2);
    set.push(secret(MinPk::Eth2SyncAggregate, 2).public_key());
    let of = |members: &[usize], signature: &[u8]| {
        let signature = quorate::UncheckedSignature::from_bytes(signature).unwrap();
        set.claim(&Bitmap::from_indices(members.to_vec()), *b"vote", signature)
            .map(|claim| quorate::naive::verify(&claim))
    };
    let identity = [&[0xc0][..], &[0; 95]].concat();
    assert!(of(&[], &identity).unwrap().is_valid());
    assert!(!of(&[], &signed(MinPk::Eth2SyncAggregate, &[0], &message)).unwrap().is_valid());
    assert!(of(&[2], &signed(MinPk::Eth2SyncAggregate, &[2], &message)).unwrap().is_valid());
    assert!(of(&[1, 2], &identity).is_err());
}

/// A sum of members is no statement that can be known, and known statements of members are subtracted.
#[test]
fn what_is_known_of_members() {
    let suite = MinPk::Eth2;
    let set = set_of(suite, 40).into_any();
    let message = Messages::Shared((*b"vote").into());
    let claim =
        |members: &[usize]| ClaimBytes::of_members(&set, indices(members), *b"vote", signed(suite, members, &message));
    let verifier = Verifier::new(Options::default());
    let all: Vec<_> = (0..40).collect();
    let remember = |claims: &[ClaimBytes]| {
        let outcome = verifier.verify_and_remember(claims, &mut quorate::Exhaustive, &mut rng());
        assert!(outcome.all_valid());
        outcome.subtracted
    };
    assert_eq!(remember(&[claim(&all), claim(&[1, 2])]), [0, 0]);
    assert_eq!(verifier.known(), 0);
    assert_eq!(remember(&[claim(&[1]), claim(&[2])]), [0, 0]);
    assert_eq!(verifier.known(), 2);
    assert_eq!(remember(&[claim(&all)]), [2]);
    assert_eq!(verifier.knows(&claim(&[0, 1, 2])), [false, true, true]);
    // The encoded form of a member is the same statement.
    let key = set.encoded_key(1).unwrap();
    let encoded = ClaimBytes::single(suite.any(), &key, b"vote", &claim(&[1]).signature);
    assert_eq!(verifier.knows(&encoded), [true]);
    let lie = ClaimBytes { signature: claim(&[0]).signature, ..claim(&all) };
    assert!(!verifier.verify(&[lie], &mut rng()).all_valid());
}

/// A set comes back as it was saved.
fn comes_back<S: Bls12381Suite>(suite: S) {
    let mut set = set_of(suite, 300);
    set.push(secret(suite, 300).public_key());
    if let Some(proof) = proof_of_possession::prove(suite, &secret(suite, 1)) {
        assert!(set.prove(1, proof).unwrap().is_valid());
    }
    let saved = set.to_saved();
    for backend in Backend::available() {
        for threads in [1, 3].map(threads) {
            let read = AnyKeySet::from_saved(&saved, *backend, threads).unwrap();
            let read: &KeySet<S> = read.of_variant().unwrap();
            assert_eq!((read.suite(), read.backend(), read.len()), (suite, *backend, 301));
            let all: Vec<u32> = (0..301).collect();
            assert_eq!(read.keys(&all), set.keys(&all));
            assert!((0..301).all(|i| read.possession(i) == set.possession(i)));
            assert_eq!(read.to_saved(), saved);
        }
    }
    let empty = KeySet::new(suite, Backend::auto()).to_saved();
    assert!(AnyKeySet::from_saved(&empty, Backend::auto(), threads(1)).unwrap().is_empty());
}

#[test]
fn saved_sets_come_back() {
    comes_back(MinPk::Eth2);
    comes_back(MinPk::Chia);
    comes_back(MinSig::ProofOfPossession);
}

#[test]
fn damaged_sets_are_refused() {
    let set = set_of(MinPk::Eth2, 3);
    let saved = set.to_saved();
    let read = |bytes: &[u8]| AnyKeySet::from_saved(bytes, Backend::auto(), threads(1)).map(|set| set.len());
    assert_eq!(read(&saved), Ok(3));
    for length in 0..saved.len() {
        assert!(read(&saved[..length]).is_err(), "{length} bytes");
    }
    for byte in 0..saved.len() {
        let mut damaged = saved.clone();
        damaged[byte] ^= 1;
        assert!(read(&damaged).is_err(), "byte {byte}");
    }
    // With a digest that is right.
    let content = &saved[..saved.len() - 32];
    let with_digest = |content: &[u8]| [content, &Sha256::digest(content)].concat();
    let changed = |from: usize, bytes: &[u8]| {
        let mut content = content.to_vec();
        content[from..from + bytes.len()].copy_from_slice(bytes);
        read(&with_digest(&content))
    };
    let start = content.len() - 3 * 97;
    assert_eq!(changed(start + 1, &[3]), Err(SavedKeysError::Possession { index: 1, found: 3 }));
    assert_eq!(
        changed(start - 8, &[4]),
        Err(SavedKeysError::Length { members: 4, expected: saved.len() as u128 + 97, found: saved.len() })
    );
    assert!(matches!(changed(start - 8, &[0xff; 8]), Err(SavedKeysError::Length { members: u64::MAX, .. })));
    let key = |i: usize| start + 3 + i * 96;
    assert!(matches!(changed(key(2) + 95, &[1]), Err(SavedKeysError::Key { index: 2, .. })));
    let mut identity = [0; 96];
    identity[0] = 0x40;
    let refused = Err(SavedKeysError::Key { index: 1, error: ParseError::IdentityKey });
    assert_eq!(changed(key(1), &identity), refused);
    let other = |suite: &str| {
        let rest = &content[content.len() - 3 * 97 - 8..];
        read(&with_digest(&[&b"quorate key set 1\n"[..], suite.as_bytes(), b"\n", rest].concat()))
    };
    assert_eq!(other("eth2"), Ok(3));
    assert_eq!(other("drand-unchained"), Ok(3));
    for suite in ["eth3", "eigenlayer", ""] {
        assert_eq!(other(suite), Err(SavedKeysError::Suite(suite.to_owned())));
    }
    assert_eq!(other(&"x".repeat(200)), Err(SavedKeysError::Header));
}

/// It was called no key set, because it did not begin as one, which it does.
#[test]
fn a_key_set_cut_in_its_header_is_named() {
    let start = b"quorate key set 1\neth2\n\x03\0\0\0\0\0\0";
    for length in 0..=start.len() {
        let expected =
            if length < AnyKeySet::SAVED.len() { SavedKeysError::NotAKeySet } else { SavedKeysError::Header };
        assert_eq!(AnyKeySet::saved_header(&start[..length]), Err(expected), "{length} bytes");
    }
    assert!(AnyKeySet::saved_header(&[&start[..], &[0]].concat()).is_ok());
}

/// An owner of a set that claims have named changes it without a copy once they are gone.
#[test]
fn a_handle_gives_its_set_back_and_not_a_copy() {
    let set = Arc::new(set_of(MinPk::Eth2, 2));
    let handle = AnyKeySet::from(Arc::clone(&set));
    assert!(handle.clone().into_variant::<MinSig>().is_none());
    let mut back = handle.into_variant::<MinPk>().unwrap();
    assert!(Arc::ptr_eq(&back, &set));
    drop(set);
    let place = Arc::as_ptr(&back);
    Arc::make_mut(&mut back).push(secret(MinPk::Eth2, 2).public_key());
    assert_eq!((back.len(), Arc::as_ptr(&back)), (3, place));
}

/// Two handles are the same key for claims that a pool groups, if one is the clone of the other.
#[test]
fn handles_are_compared_by_what_they_stand_for() {
    let (first, second) = (set_of(MinPk::Eth2, 2).into_any(), set_of(MinPk::Eth2, 2).into_any());
    assert_eq!(first, first.clone());
    assert_ne!(first, second);
    let claim = |set: &AnyKeySet| ClaimBytes::of_members(set, indices(&[1]), *b"m", vec![1; 96]);
    assert_eq!(claim(&first), claim(&first));
    assert_ne!(claim(&first), claim(&second));
    let message: Arc<[u8]> = Arc::from(&b"m"[..]);
    let each = ClaimBytes::each(MinPk::Eth2.any(), vec![vec![1; 48]], vec![message], vec![2; 96]).from_source("peer");
    assert_eq!((each.statements(), each.source), (1, Some("peer".into())));
    assert_eq!(claim(&first).verify(), Verdict::Invalid(claim(&second).verify().reason().unwrap()));
}
