//! Keys for many participants: all verification keys at once, weighted sums of them, large deals, and commitments to
//! evaluations with what a dealer could try.
#![allow(clippy::unwrap_used, reason = "what a test cannot set up fails it")]

use quorate::{Backend, Bls12381Suite, MinPk, MinSig, Options, ParseError, PublicKey, SecretKey};
use quorate_curve::{G1, Group, Scalar};
use quorate_threshold::{
    Commitment, Committee, EvaluationCommitment, EvaluationError, Identifiers, Index, InterpolationError, KeyShare,
    SharingError, deal,
};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

const POINTS: [Identifiers; 2] = [Identifiers::Integers, Identifiers::RootsOfUnity];

/// t and n, with n much larger than t, equal to it, and beside powers of two.
const SIZES: [(usize, usize); 14] = [
    (1, 1),
    (1, 5),
    (2, 2),
    (2, 3),
    (3, 5),
    (4, 4),
    (5, 5),
    (7, 13),
    (8, 8),
    (3, 70),
    (9, 40),
    (17, 33),
    (33, 64),
    (40, 41),
];

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([9; 32])
}

/// A secret that the generator of the tests does not draw.
fn secret_key<S: Bls12381Suite>(suite: S) -> SecretKey<S> {
    SecretKey::generate(suite, &mut ChaCha20Rng::from_seed([10; 32]))
}

fn committee(t: usize, n: usize, identifiers: Identifiers) -> Committee {
    Committee::new(t, n, identifiers, Backend::auto()).unwrap()
}

/// Every backend, with one thread and with three.
fn all_options() -> impl Iterator<Item = Options> {
    let of = |(backend, threads): (&Backend, usize)| Options {
        backend: *backend,
        threads: threads.try_into().unwrap(),
        ..Options::default()
    };
    Backend::available().iter().flat_map(|backend| [(backend, 1), (backend, 3)]).map(of)
}

/// Every committee with its shares and commitment.
fn dealt<S: Bls12381Suite>(
    suite: S,
) -> impl Iterator<Item = (Committee, SecretKey<S>, Vec<KeyShare<S>>, Commitment<S>)> {
    POINTS.into_iter().flat_map(|identifiers| SIZES.map(|(t, n)| committee(t, n, identifiers))).map(move |committee| {
        let secret = secret_key(suite);
        let (shares, commitment) = deal(&committee, suite, &secret, &Options::default(), &mut rng()).unwrap();
        (committee, secret, shares, commitment)
    })
}

fn name(committee: &Committee) -> String {
    format!("{} of {}, {:?}", committee.threshold(), committee.participants(), committee.identifiers())
}

fn all_verification_keys<S: Bls12381Suite>(suite: S) {
    for (committee, _, shares, commitment) in dealt(suite) {
        let one_by_one =
            committee.indices().map(|index| commitment.verification_key(&committee, index, Backend::auto()).unwrap());
        let expected: Vec<_> = one_by_one.collect();
        assert_eq!(expected, shares.iter().map(KeyShare::verification_key).collect::<Vec<_>>(), "{}", name(&committee));
        for options in all_options() {
            let all: Option<Vec<_>> = commitment.verification_keys(&committee, &options).into_iter().collect();
            assert_eq!(all.as_ref(), Some(&expected), "{}, {}", name(&committee), options.backend);
        }
    }
}

#[test]
fn all_verification_keys_are_those_one_by_one_min_pk() {
    all_verification_keys(MinPk::Eth2);
}

#[test]
fn all_verification_keys_are_those_one_by_one_min_sig() {
    all_verification_keys(MinSig::Basic);
}

/// 1 - X at 1 among the integers, and at 1 = the first root of unity. The others have their keys.
#[test]
fn a_verification_key_that_is_the_identity_is_none() {
    for identifiers in POINTS {
        let committee = committee(2, 5, identifiers);
        let key = |scalar: Scalar| SecretKey::<MinPk>::from_bytes(&scalar.to_bytes()).unwrap().public_key().to_bytes();
        let points = [key(Scalar::ONE), key(-Scalar::ONE)];
        let commitment = Commitment::<MinPk>::from_bytes(&committee, &[&points[0], &points[1]], Backend::auto());
        let commitment = commitment.unwrap();
        for options in all_options() {
            let keys = commitment.verification_keys(&committee, &options);
            for (index, key) in committee.indices().zip(keys) {
                let alone = commitment.verification_key(&committee, index, Backend::auto());
                assert_eq!(key.ok_or(SharingError::IdentityKey(index)), alone, "{index}, {}", options.backend);
                assert_eq!(key.is_none(), index.number() == 1, "{index}");
            }
        }
    }
}

/// Scalars that differ.
fn scalars(n: usize) -> Vec<Scalar> {
    (0..n as u64).map(|i| Scalar::from(i * i + 11).power(25)).collect()
}

fn weighted_sums<S: Bls12381Suite>(suite: S) {
    for (committee, _, shares, commitment) in dealt(suite) {
        let n = committee.participants();
        // None, one, the last few, everyone, and everyone with some of them again.
        for chosen in [vec![], vec![n - 1], (n / 2..n).collect(), (0..n).collect(), (0..n).chain(0..n / 3).collect()] {
            let chosen: Vec<usize> = chosen;
            let weights: Vec<_> =
                chosen.iter().map(|place| shares[*place].index()).zip(scalars(chosen.len())).collect();
            let terms =
                weights.iter().map(|(index, weight)| (shares[index.place()].verification_key().point(), *weight));
            let expected: S::Key = Backend::auto().msm(&terms.collect::<Vec<_>>());
            for options in all_options() {
                let sum = commitment.weighted_sum(&committee, &weights, &options);
                assert_eq!(sum, expected, "{} of {}, {}", chosen.len(), name(&committee), options.backend);
            }
        }
    }
}

#[test]
fn weighted_sums_of_verification_keys_min_pk() {
    weighted_sums(MinPk::Eth2);
}

#[test]
fn weighted_sums_of_verification_keys_min_sig() {
    weighted_sums(MinSig::Basic);
}

/// Shares that are all true, one that is another participant's, and two whose errors cancel in their sum.
#[test]
fn shares_proven_together_and_false_ones_named() {
    for (committee, _, shares, commitment) in dealt(MinPk::Eth2) {
        let options = Options::default();
        let proven = |shares: &[KeyShare<MinPk>]| commitment.proves_all(&committee, shares, &options, &mut rng());
        assert_eq!(proven(&shares), Ok(()), "{}", name(&committee));
        assert_eq!(proven(&[]), Err(SharingError::NoShares));
        // With one coefficient all shares are equal.
        if committee.threshold() == 1 {
            continue;
        }
        let swap = |a: usize, b: usize| {
            let mut swapped = shares.clone();
            swapped[a] = KeyShare::new(shares[a].index(), shares[b].secret().clone());
            swapped[b] = KeyShare::new(shares[b].index(), shares[a].secret().clone());
            swapped
        };
        let last = shares.len() - 1;
        assert_eq!(proven(&swap(0, last)), Err(SharingError::FalseShare(shares[0].index())));
        let mut one = shares.clone();
        one[last] = KeyShare::new(shares[last].index(), shares[0].secret().clone());
        assert_eq!(proven(&one), Err(SharingError::FalseShare(shares[last].index())));
    }
}

fn evaluations<S: Bls12381Suite>(suite: S) {
    for identifiers in POINTS {
        for (t, n) in SIZES {
            let committee = committee(t, n, identifiers);
            let secret = secret_key(suite);
            for options in all_options() {
                let what = format!("{}, {}", name(&committee), options.backend);
                let (shares, commitment) =
                    EvaluationCommitment::deal(&committee, suite, &secret, &options, &mut rng()).unwrap();
                assert_eq!(commitment.verify(&committee, &options, &mut rng()), Ok(()), "{what}");
                assert_eq!(commitment.public_key(&committee, &options), Ok(secret.public_key()), "{what}");
                assert!(shares.iter().all(|share| commitment.proves(share).is_ok()));
                let bytes: Vec<_> = commitment.keys().iter().map(PublicKey::to_bytes).collect();
                let bytes: Vec<_> = bytes.iter().map(AsRef::as_ref).collect();
                assert_eq!(EvaluationCommitment::from_bytes(&committee, &bytes, &options).as_ref(), Ok(&commitment));
            }
        }
    }
}

#[test]
fn evaluations_of_a_polynomial_pass_min_pk() {
    evaluations(MinPk::Eth2);
}

#[test]
fn evaluations_of_a_polynomial_pass_min_sig() {
    evaluations(MinSig::Basic);
}

/// A dealer whose polynomial has one coefficient more, or who changes the point of one participant.
#[test]
fn raised_degree() {
    for identifiers in POINTS {
        for (t, n) in SIZES.into_iter().filter(|(t, n)| t < n) {
            let (low, high) = (committee(t, n, identifiers), committee(t + 1, n, identifiers));
            let secret = secret_key(MinPk::Eth2);
            let refused = Err(EvaluationError::RaisedDegree { threshold: t });
            for options in all_options() {
                let (_, raised) =
                    EvaluationCommitment::deal(&high, MinPk::Eth2, &secret, &options, &mut rng()).unwrap();
                assert_eq!(raised.verify(&high, &options, &mut rng()), Ok(()));
                assert_eq!(raised.verify(&low, &options, &mut rng()), refused, "{}", name(&low));
            }
            let options = Options::default();
            let (_, dealt) = EvaluationCommitment::deal(&low, MinPk::Eth2, &secret, &options, &mut rng()).unwrap();
            for place in 0..n {
                let mut keys = dealt.keys().to_vec();
                keys[place] = secret.public_key();
                let changed = EvaluationCommitment::from_keys(&low, keys).unwrap();
                let is_same = changed == dealt;
                assert!(is_same || changed.verify(&low, &options, &mut rng()) == refused, "{} at {place}", name(&low));
                assert!(!is_same || t == 1);
            }
        }
    }
}

/// A polynomial that is zero at zero passes the test of its degree, and has no public key.
#[test]
fn evaluations_of_a_key_that_is_the_identity() {
    let (committee, options) = (committee(2, 3, Identifiers::Integers), Options::default());
    let key = |n: u64| SecretKey::<MinPk>::from_bytes(&Scalar::from(n).to_bytes()).unwrap().public_key();
    let commitment = EvaluationCommitment::from_keys(&committee, vec![key(1), key(2), key(3)]).unwrap();
    assert_eq!(commitment.verify(&committee, &options, &mut rng()), Ok(()));
    assert_eq!(commitment.public_key(&committee, &options), Err(EvaluationError::IdentityKey));
}

/// The identity, points outside the subgroup, bytes that are no point, and lists of another length.
#[test]
fn evaluations_that_are_no_keys_are_refused() {
    let (committee, options) = (committee(3, 5, Identifiers::RootsOfUnity), Options::default());
    let secret = secret_key(MinPk::Eth2);
    let (_, dealt) = EvaluationCommitment::deal(&committee, MinPk::Eth2, &secret, &options, &mut rng()).unwrap();
    let bytes: Vec<_> = dealt.keys().iter().map(PublicKey::to_bytes).collect();
    let bytes: Vec<_> = bytes.iter().map(|key| &key[..]).collect();
    let read = |bytes: &[&[u8]]| EvaluationCommitment::<MinPk>::from_bytes(&committee, bytes, &options).err();
    assert_eq!(read(&bytes), None);
    let mut identity = [0; 48];
    identity[0] = 0xc0;
    let mut order_three = [0; 48];
    order_three[0] = 0x80;
    for (place, index) in committee.indices().enumerate() {
        let refused = |bad: &[u8]| {
            let mut changed = bytes.clone();
            changed[place] = bad;
            match read(&changed) {
                Some(EvaluationError::Point { index: at, reason }) if at == index => reason,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(refused(&identity), ParseError::IdentityKey);
        assert_eq!(refused(&order_three), ParseError::KeyNotInSubgroup);
        assert!(matches!(refused(&[0xff; 48]), ParseError::Key(_)));
        assert!(matches!(refused(&bytes[0][..47]), ParseError::Key(_)));
    }
    for found in [0, 1, 4] {
        let error = EvaluationError::Length { found, participants: 5 };
        assert_eq!(read(&bytes[..found]), Some(error));
        let keys = dealt.keys()[..found].to_vec();
        assert_eq!(EvaluationCommitment::from_keys(&committee, keys).err(), Some(error));
    }
    assert_eq!(read(&[&bytes[..], &bytes[..1]].concat()), Some(EvaluationError::Length { found: 6, participants: 5 }));
    let other = self::committee(3, 6, Identifiers::RootsOfUnity);
    let error = EvaluationError::Length { found: 5, participants: 6 };
    assert_eq!(dealt.verify(&other, &options, &mut rng()), Err(error));
    assert_eq!(dealt.public_key(&other, &options), Err(error));
    assert_eq!(dealt.reconstruct(&other, &[], &options, &mut rng()), Err(error));
}

#[test]
fn a_share_of_another_participant_is_not_proven() {
    let (committee, options) = (committee(3, 5, Identifiers::RootsOfUnity), Options::default());
    let secret = secret_key(MinPk::Eth2);
    let (shares, dealt) = EvaluationCommitment::deal(&committee, MinPk::Eth2, &secret, &options, &mut rng()).unwrap();
    let index = shares[1].index();
    let swapped = KeyShare::new(index, shares[2].secret().clone());
    assert_eq!(dealt.proves(&swapped), Err(SharingError::FalseShare(index)));
    let beyond = self::committee(3, 6, Identifiers::RootsOfUnity).index(6).unwrap();
    let stranger = KeyShare::new(beyond, shares[2].secret().clone());
    assert_eq!(dealt.proves(&stranger), Err(SharingError::FalseShare(beyond)));
}

/// Claimed shares of which some are false, some cancel each other, and some come twice.
#[test]
fn secrets_are_reconstructed_from_the_true_shares() {
    for identifiers in POINTS {
        for (t, n) in [(1, 1), (2, 3), (5, 9), (20, 70)] {
            let committee = committee(t, n, identifiers);
            let secret = secret_key(MinSig::Basic);
            let expected = Scalar::from_bytes(&secret.to_bytes()).unwrap();
            for options in all_options() {
                let dealt = EvaluationCommitment::deal(&committee, MinSig::Basic, &secret, &options, &mut rng());
                let (shares, commitment) = dealt.unwrap();
                let value = |share: &KeyShare<MinSig>| Scalar::from_bytes(&share.secret().to_bytes()).unwrap();
                let claimed: Vec<(Index, Scalar)> = shares.iter().map(|share| (share.index(), value(share))).collect();
                let reconstruct = |claimed: &[_]| {
                    commitment.reconstruct(&committee, claimed, &options, &mut rng()).map(|made| {
                        assert_eq!(made.secret, expected, "{}", name(&committee));
                        made.false_shares
                    })
                };
                assert_eq!(reconstruct(&claimed), Ok(vec![]));
                assert_eq!(reconstruct(&claimed[n - t..]), Ok(vec![]));
                let few = InterpolationError::TooFew { found: t - 1, threshold: t };
                assert_eq!(reconstruct(&claimed[..t - 1]), Err(EvaluationError::TooFew(few)));
                // Everyone twice, the second time one too many.
                let one_more = claimed.iter().map(|(index, share)| (*index, *share + Scalar::ONE));
                let twice: Vec<_> = claimed.iter().copied().chain(one_more).collect();
                assert_eq!(reconstruct(&twice), Ok((n..2 * n).collect()));
                assert_eq!(reconstruct(&[&claimed[..], &claimed[..]].concat()), Ok(vec![]));
                // The false ones do not count.
                let mut short = claimed[..t].to_vec();
                short[0].1 = Scalar::ZERO;
                assert_eq!(reconstruct(&short), Err(EvaluationError::TooFew(few)));
                // The same share of one participant twice is not two.
                let again = [&claimed[..t - 1], &claimed[..t - 1]].concat();
                assert_eq!(reconstruct(&again), Err(EvaluationError::TooFew(few)));
                if n >= t + 2 {
                    let mut errors = claimed.clone();
                    errors[0].1 = errors[0].1 + Scalar::ONE;
                    errors[n - 1].1 = errors[n - 1].1 - Scalar::ONE;
                    assert_eq!(reconstruct(&errors), Ok(vec![0, n - 1]));
                }
            }
        }
    }
}

/// Shares of a large committee come from a transform, and are those of the commitment.
#[test]
fn shares_by_a_transform_are_values_of_the_polynomial() {
    for (t, n) in [(8, 9), (9, 9), (100, 129), (200, 256)] {
        let committee = committee(t, n, Identifiers::RootsOfUnity);
        let secret = secret_key(MinPk::Eth2);
        let options = Options::default();
        let (shares, commitment) = deal(&committee, MinPk::Eth2, &secret, &options, &mut rng()).unwrap();
        assert_eq!(shares.iter().map(KeyShare::index).collect::<Vec<_>>(), committee.indices().collect::<Vec<_>>());
        for share in &shares {
            assert_eq!(commitment.proves(&committee, share, options.backend), Ok(()));
        }
    }
}

/// The points of a commitment may be added up: those of two dealers are the keys of the sum of their polynomials.
#[test]
fn evaluations_of_two_dealers_add_up() {
    let (committee, options) = (committee(3, 5, Identifiers::RootsOfUnity), Options::default());
    let secrets = [1_u64, 2].map(|n| SecretKey::<MinPk>::from_bytes(&Scalar::from(n).to_bytes()).unwrap());
    let [a, b] = secrets
        .map(|secret| EvaluationCommitment::deal(&committee, MinPk::Eth2, &secret, &options, &mut rng()).unwrap().1);
    let sums = a
        .keys()
        .iter()
        .zip(b.keys())
        .map(|(a, b)| PublicKey::<MinPk>::from_point(Backend::auto().sum(&[a.point(), b.point()])).unwrap());
    let sum = EvaluationCommitment::from_keys(&committee, sums.collect()).unwrap();
    assert_eq!(sum.verify(&committee, &options, &mut rng()), Ok(()));
    let three = Backend::auto().sum(&[G1::generator(); 3]);
    assert_eq!(sum.public_key(&committee, &options).map(|key| key.point()), Ok(three));
}
