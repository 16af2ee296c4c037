//! Shares of keys and of signatures: known answers of SSV and blsttc, and what participants, dealers and strangers could
//! try.
#![allow(clippy::unwrap_used, reason = "what a test cannot set up fails it")]

use std::path::Path;

use quorate::{
    Backend, Bls12381Suite, MinPk, MinSig, Options, PublicKey, Reason, SecretKey, Signature, Suite, UncheckedSignature,
    rand_core::CryptoRng,
};
use quorate_curve::{G1, G2, Group, Scalar, SecretPolynomial, SecretScalar};
use quorate_threshold::{
    Collector, CollectorError, Commitment, Committee, CommitteeError, Identifiers, Index, KeyShare, ShareError,
    SharingError, deal,
};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use serde_json::Value;

const POINTS: [Identifiers; 2] = [Identifiers::Integers, Identifiers::RootsOfUnity];

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([5; 32])
}

fn committee(t: usize, n: usize, identifiers: Identifiers) -> Committee {
    Committee::new(t, n, identifiers, Backend::auto()).unwrap()
}

/// A vector of `08_threshold`, if the test data is on this machine.
fn vector(name: &str) -> Option<Value> {
    let text = quorate_lab::vectors::read(Path::new("08_threshold").join(name))?;
    Some(serde_json::from_slice(&text).unwrap())
}

fn hex(value: &Value) -> Vec<u8> {
    let text = value.as_str().unwrap().trim_start_matches("0x");
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

fn secret<S: Bls12381Suite>(value: &Value) -> SecretKey<S> {
    SecretKey::from_bytes(&hex(value).try_into().unwrap()).unwrap()
}

/// The shares, verification keys, signature shares and signatures of SSV's committees.
#[test]
fn ssv_committees_sign() {
    let mut counts = (0, 0);
    for name in ["ssv_4of.json", "ssv_7_10_13.json"] {
        let Some(file) = vector(name) else { return };
        for set in file["sets"].as_array().unwrap() {
            let number = |field: &str| set[field].as_u64().unwrap() as usize;
            let committee = committee(number("threshold"), number("n"), Identifiers::Integers);
            let group: SecretKey<MinPk> = secret(&set["validator_sk"]);
            assert_eq!(group.public_key().to_bytes().to_vec(), hex(&set["validator_pk"]));
            let shares: Vec<_> = committee
                .indices()
                .map(|index| KeyShare::<MinPk>::new(index, secret(&set["shares"][index.to_string()])))
                .collect();
            let keys: Vec<_> = shares.iter().map(KeyShare::verification_key).collect();
            let some_keys: Vec<_> = keys.iter().copied().map(Some).collect();
            for (index, key) in committee.indices().zip(&keys) {
                assert_eq!(key.to_bytes().to_vec(), hex(&set["share_pks"][index.to_string()]));
            }
            counts.0 += 1;
            for derived in set["derived"].as_array().into_iter().flatten() {
                let tag = derived["dst"].as_str().unwrap();
                let suite =
                    [MinPk::Basic, MinPk::ProofOfPossession].into_iter().find(|suite| suite.id() == tag).unwrap();
                let message = hex(&derived["message"]);
                let public_key = group.public_key();
                let options = Options::default();
                let keys = some_keys.clone();
                let collector = Collector::new(committee.clone(), suite, public_key, keys, &message, options);
                let mut collector = collector.unwrap();
                let mut last = None;
                for share in shares.iter().rev().take(committee.threshold()) {
                    let bytes = hex(&derived["partial_signatures"][share.index().to_string()]);
                    assert_eq!(share.sign(suite, &message).to_bytes().to_vec(), bytes);
                    assert_eq!(last, None);
                    last = collector.add(share.index().number().into(), &bytes, &mut rng()).unwrap();
                }
                assert_eq!(last.unwrap().to_bytes().to_vec(), hex(&derived["group_signature"]));
                assert!(collector.false_shares().is_empty());
                counts.1 += 1;
            }
        }
    }
    println!("{} committees, {} signatures", counts.0, counts.1);
    assert!(counts.0 > 0 && counts.1 > 0);
}

/// blsttc evaluates its polynomials at i + 1 for share i, as our integers are.
#[test]
fn blsttc_key_sets_are_ours() {
    let Some(file) = vector("blsttc_key_sets.json") else { return };
    let mut checked = 0;
    for set in file["secret_key_sets"].as_array().unwrap() {
        let coefficients = hex(&set["set"]);
        let scalars: Vec<_> =
            coefficients.chunks(32).map(|c| SecretScalar::from_bytes(c.try_into().unwrap()).unwrap()).collect();
        let t = scalars.len();
        let polynomial = SecretPolynomial::new(scalars);
        assert_eq!(polynomial.coefficients()[0].to_bytes().to_vec(), hex(&set["secret_key"]));
        let shares = set["shares"].as_array().unwrap();
        let committee = committee(t, shares.len().max(t), Identifiers::Integers);
        for (index, share) in committee.indices().zip(shares) {
            assert_eq!(polynomial.value(&committee.point(index)).unwrap().to_bytes().to_vec(), hex(share));
            checked += 1;
        }
    }
    for set in file["public_key_sets"].as_array().unwrap() {
        let points = hex(&set["set"]);
        let points: Vec<_> = points.chunks(48).collect();
        let shares = set["shares"].as_array().unwrap();
        let committee = committee(points.len(), shares.len().max(points.len()), Identifiers::Integers);
        let commitment = Commitment::<MinPk>::from_bytes(&committee, &points, Backend::auto()).unwrap();
        assert_eq!(commitment.public_key().to_bytes().to_vec(), hex(&set["public_key"]));
        for (index, share) in committee.indices().zip(shares) {
            let key = commitment.verification_key(&committee, index, Backend::auto()).unwrap();
            assert_eq!(key.to_bytes().to_vec(), hex(share));
            checked += 1;
        }
    }
    println!("{checked} shares");
    assert!(checked > 0);
}

struct Dealt<S: Bls12381Suite> {
    committee: Committee,
    suite: S,
    secret: SecretKey<S>,
    shares: Vec<KeyShare<S>>,
    commitment: Commitment<S>,
}

impl<S: Bls12381Suite> Dealt<S> {
    fn new(t: usize, n: usize, identifiers: Identifiers, suite: S) -> Self {
        let committee = committee(t, n, identifiers);
        let secret = SecretKey::key_gen(suite, &[7; 32], b"").unwrap();
        let (shares, commitment) = deal(&committee, suite, &secret, &Options::default(), &mut rng()).unwrap();
        Self { committee, suite, secret, shares, commitment }
    }

    fn collector(&self, options: Options) -> Collector<S> {
        let keys = self.shares.iter().map(|share| Some(share.verification_key())).collect();
        Collector::new(self.committee.clone(), self.suite, self.secret.public_key(), keys, b"m", options).unwrap()
    }

    /// The bytes of a participant's share.
    fn share(&self, number: usize) -> Vec<u8> {
        self.shares[number - 1].sign(self.suite, b"m").to_bytes().as_ref().to_vec()
    }

    fn index(&self, number: usize) -> Index {
        self.committee.index(number as u64).unwrap()
    }

    fn signature(&self) -> Signature<S> {
        self.secret.sign(self.suite, b"m")
    }
}

/// The shares verify against the commitment, and any t sign, in both variants and with both kinds of points.
fn deals_and_signs<S: Bls12381Suite>(suite: S) {
    for identifiers in POINTS {
        for (t, n) in [(1, 1), (1, 3), (2, 2), (3, 5), (5, 7), (20, 40)] {
            let dealt = Dealt::new(t, n, identifiers, suite);
            assert_eq!(dealt.commitment.public_key(), dealt.secret.public_key());
            for share in &dealt.shares {
                dealt.commitment.proves(&dealt.committee, share, Backend::auto()).unwrap();
            }
            for backend in Backend::available() {
                let options = Options { backend: *backend, threads: 2.try_into().unwrap(), ..Options::default() };
                let mut collector = dealt.collector(options);
                for number in (1..=n).rev().take(t) {
                    assert_eq!(collector.signature(), None);
                    collector.add(number as u64, &dealt.share(number), &mut rng()).unwrap();
                }
                assert_eq!(collector.signature(), Some(dealt.signature()), "{t} of {n}, {identifiers:?}, {backend}");
            }
        }
    }
}

#[test]
fn any_t_of_n_sign() {
    deals_and_signs(MinPk::Eth2);
    deals_and_signs(MinSig::Basic);
}

/// What a stranger or a false participant sends is named, and the honest shares make the signature.
#[test]
fn false_shares_are_out_and_the_rest_go_on() {
    let dealt = Dealt::new(4, 9, Identifiers::RootsOfUnity, MinPk::Eth2);
    let mut collector = dealt.collector(Options::default());
    // 1 sends the share of 2, and 3 a share of another message.
    let other = dealt.shares[2].sign(dealt.suite, b"other").to_bytes();
    assert_eq!(collector.add(1, &dealt.share(2), &mut rng()), Ok(None));
    assert_eq!(collector.add(3, &other, &mut rng()), Ok(None));
    assert_eq!(collector.add(4, &dealt.share(4), &mut rng()), Ok(None));
    assert_eq!(collector.add(5, &dealt.share(5), &mut rng()), Ok(None));
    assert_eq!(collector.work().verified, 4);
    assert_eq!(collector.false_shares(), [1, 3].map(|number| (dealt.index(number), Reason::Mismatch)));
    assert_eq!(collector.indices().collect::<Vec<_>>(), [4, 5].map(|number| dealt.index(number)));
    // The false share did not shadow the true one.
    assert_eq!(collector.add(1, &dealt.share(1), &mut rng()), Ok(None));
    assert_eq!(collector.add(8, &dealt.share(8), &mut rng()), Ok(Some(dealt.signature())));
}

/// Two false shares whose errors cancel in the sum of the shares. The weights of the batch tell them apart.
#[test]
fn errors_that_cancel_are_found() {
    let dealt = Dealt::new(2, 3, Identifiers::Integers, MinPk::Eth2);
    let moved = |number: usize, by: G2| {
        let point = Signature::<MinPk>::from_bytes(&dealt.share(number)).unwrap().point();
        UncheckedSignature::<MinPk>::from_point(Backend::auto().sum(&[point, by])).to_bytes()
    };
    let mut collector = dealt.collector(Options::default());
    let delta = G2::generator();
    collector.add(1, &moved(1, delta), &mut rng()).unwrap();
    let refused = collector.add(2, &moved(2, delta.negate()), &mut rng());
    assert_eq!(refused, Err(ShareError::False { index: dealt.index(2), reason: Reason::Mismatch }));
    assert_eq!(collector.signature(), None);
    assert_eq!(collector.false_shares().len(), 2);
    // With coefficients 3 and -3 of three shares, equal errors cancel in the signature, which is then the true one.
    let dealt = Dealt::new(3, 3, Identifiers::Integers, MinPk::Eth2);
    let moved = |number: usize| {
        let point = Signature::<MinPk>::from_bytes(&dealt.share(number)).unwrap().point();
        UncheckedSignature::<MinPk>::from_point(Backend::auto().sum(&[point, delta])).to_bytes()
    };
    let mut collector = dealt.collector(Options::default());
    collector.add(1, &moved(1), &mut rng()).unwrap();
    collector.add(2, &moved(2), &mut rng()).unwrap();
    assert_eq!(collector.add(3, &dealt.share(3), &mut rng()), Ok(Some(dealt.signature())));
}

/// A point of small order is on the curve. The share is false, and the honest ones sign.
#[test]
fn shares_outside_the_subgroup_are_false() {
    let dealt = Dealt::new(2, 3, Identifiers::Integers, MinSig::Basic);
    let mut order_three = [0; 48];
    order_three[0] = 0x80;
    let torsion: G1 = Backend::auto().decode(&order_three).unwrap();
    let honest = Signature::<MinSig>::from_bytes(&dealt.share(1)).unwrap().point();
    let outside = UncheckedSignature::<MinSig>::from_point(Backend::auto().sum(&[honest, torsion])).to_bytes();
    for bytes in [&order_three[..], &outside] {
        let mut collector = dealt.collector(Options::default());
        collector.add(1, bytes, &mut rng()).unwrap();
        assert_eq!(collector.add(2, &dealt.share(2), &mut rng()), Ok(None));
        assert_eq!(
            collector.false_shares(),
            [(dealt.index(1), Reason::Parse(quorate::ParseError::SignatureNotInSubgroup))]
        );
        assert_eq!(collector.add(3, &dealt.share(3), &mut rng()), Ok(Some(dealt.signature())));
    }
}

/// Many shares with signatures in G1, whose membership the batch checks through sums: one with a part of order three, two
/// whose parts cancel, and a bare point of order three. Each is named, and the others sign.
#[test]
fn torsion_among_many_shares_is_named() {
    let (t, n) = (140, 150);
    let dealt = Dealt::new(t, n, Identifiers::RootsOfUnity, MinSig::Basic);
    let mut order_three = [0; 48];
    order_three[0] = 0x80;
    let torsion: G1 = Backend::auto().decode(&order_three).unwrap();
    let moved = |number: usize, by: G1| {
        let honest = Signature::<MinSig>::from_bytes(&dealt.share(number)).unwrap().point();
        UncheckedSignature::<MinSig>::from_point(Backend::auto().sum(&[honest, by])).to_bytes().to_vec()
    };
    let attacks: [&[(usize, Vec<u8>)]; 3] = [
        &[(7, moved(7, torsion))],
        &[(1, moved(1, torsion)), (2, moved(2, torsion.negate()))],
        &[(3, order_three.to_vec()), (9, moved(9, torsion)), (140, moved(140, torsion))],
    ];
    for attack in attacks {
        for backend in Backend::available() {
            let mut shares: Vec<_> = (1..=n).map(|number| (number as u64, dealt.share(number))).collect();
            attack.iter().for_each(|(number, bytes)| shares[number - 1].1.clone_from(bytes));
            let arrivals: Vec<_> = shares[..t].iter().map(|(number, bytes)| (*number, &bytes[..])).collect();
            let mut collector = dealt.collector(Options { backend: *backend, ..Options::default() });
            let answers = collector.add_each(&arrivals, &mut rng());
            let outside = Reason::Parse(quorate::ParseError::SignatureNotInSubgroup);
            let expected: Vec<_> = attack.iter().map(|(number, _)| (dealt.index(*number), outside)).collect();
            let refused: Vec<_> = answers.into_iter().filter_map(Result::err).collect();
            let named = |(index, reason): &(Index, Reason)| ShareError::False { index: *index, reason: *reason };
            assert_eq!(refused, collector.false_shares().iter().map(named).collect::<Vec<_>>());
            // Parts that cancel in the sum of the shares do no harm, and are not looked for.
            if collector.signature().is_none() {
                assert_eq!(collector.false_shares(), expected, "{backend}");
                let rest: Vec<_> = shares[t..].iter().map(|(number, bytes)| (*number, &bytes[..])).collect();
                collector.add_each(&rest, &mut rng());
            }
            assert_eq!(collector.signature(), Some(dealt.signature()), "{backend}");
        }
    }
}

/// Compressed and uncompressed shares in one call, with bad ones between them, and the answers of `add`.
#[test]
fn shares_taken_together_are_shares_taken_one_by_one() {
    for backend in Backend::available() {
        let dealt = Dealt::new(5, 9, Identifiers::Integers, MinPk::Eth2);
        let long = |number: usize| dealt.shares[number - 1].sign(dealt.suite, b"m").to_uncompressed().to_vec();
        let mut off_curve = long(4);
        off_curve[191] ^= 1;
        let arrivals = [
            (1, dealt.share(1)),
            (2, long(2)),
            (0, dealt.share(3)),
            (1, long(1)),
            (10, long(3)),
            (3, dealt.share(3)[..95].to_vec()),
            (4, off_curve),
            (5, long(6)),
            (6, vec![0xff; 96]),
            (6, dealt.share(6)),
            (5, dealt.share(5)),
            (7, long(7)),
        ];
        let arrivals: Vec<_> = arrivals.iter().map(|(number, bytes)| (*number, &bytes[..])).collect();
        for threads in [1, 3] {
            let options = Options { backend: *backend, threads: threads.try_into().unwrap(), ..Options::default() };
            let (mut together, mut singly) = (dealt.collector(options), dealt.collector(options));
            let answers = together.add_each(&arrivals, &mut rng());
            let expected: Vec<_> =
                arrivals.iter().map(|(number, bytes)| singly.add(*number, bytes, &mut rng()).map(|_| ())).collect();
            assert_eq!(answers, expected, "{backend}");
            assert_eq!(together.signature(), Some(dealt.signature()), "{backend}");
            assert_eq!(together.false_shares(), singly.false_shares());
            assert!(together.indices().eq(singly.indices()));
        }
        let mut empty = dealt.collector(Options::default());
        assert!(empty.add_each(&[], &mut rng()).is_empty() && empty.signature().is_none());
    }
}

#[test]
fn a_second_share_of_a_participant_shadows_nothing() {
    let dealt = Dealt::new(3, 5, Identifiers::RootsOfUnity, MinPk::Eth2);
    let (mut rng, one) = (rng(), dealt.index(1));
    let mut collector = dealt.collector(Options::default());
    // The false share comes first, and the true one takes its place.
    assert_eq!(collector.add(1, &dealt.share(2), &mut rng), Ok(None));
    assert_eq!(collector.add(1, &dealt.share(1), &mut rng), Ok(None));
    assert_eq!(collector.false_shares(), [(one, Reason::Mismatch)]);
    // The true share is there, and a false one does not take its place. It costs no pairing.
    let false_share = Err(ShareError::False { index: one, reason: Reason::Mismatch });
    let verified = collector.work().verified;
    assert_eq!(collector.add(1, &dealt.share(3), &mut rng), false_share);
    assert_eq!(collector.work().verified, verified);
    assert_eq!(collector.add(1, &dealt.share(1), &mut rng), Err(ShareError::Duplicate(one)));
    // Twice the same is not two.
    assert_eq!(collector.indices().count(), 1);
    collector.add(4, &dealt.share(4), &mut rng).unwrap();
    assert_eq!(collector.add(5, &dealt.share(5), &mut rng), Ok(Some(dealt.signature())));
    // Two false shares of one participant are both out.
    let mut collector = dealt.collector(Options::default());
    assert_eq!(collector.add(1, &dealt.share(2), &mut rng), Ok(None));
    assert_eq!(collector.add(1, &dealt.share(3), &mut rng), false_share);
    assert_eq!((collector.false_shares(), collector.indices().count()), (vec![(one, Reason::Mismatch)], 0));
}

/// Shares carry no sender's signature, so anyone can send false ones under any number. However many come, one combination
/// fails. Each further false share costs a verification, none after the true share of its number, and nothing once the
/// signature is there. One of each participant is kept.
#[test]
fn false_shares_of_nobody_cost_one_combination() {
    for together in [false, true] {
        let (t, n) = (5, 9);
        let dealt = Dealt::new(t, n, Identifiers::RootsOfUnity, MinPk::Eth2);
        let mut collector = dealt.collector(Options::default());
        for number in 1..t {
            assert_eq!(collector.add(number as u64, &dealt.share(number), &mut rng()), Ok(None));
        }
        let lie = |i: usize| dealt.shares[0].sign(dealt.suite, &i.to_be_bytes()).to_bytes();
        let send = |collector: &mut Collector<MinPk>, number: u64, bytes: &[u8]| {
            if together {
                collector.add_each(&[(number, bytes)], &mut rng()).remove(0)
            } else {
                collector.add(number, bytes, &mut rng()).map(drop)
            }
        };
        let false_one = |number: usize| Err(ShareError::False { index: dealt.index(number), reason: Reason::Mismatch });
        for i in 0..60 {
            let number = t + i % (n - t) + 1;
            assert_eq!(send(&mut collector, number as u64, &lie(i)), false_one(number), "{i}");
        }
        let work = collector.work();
        assert_eq!((work.combinations, work.verified), (1, t - 1 + 60));
        assert_eq!(collector.false_shares().len(), n - t);
        // Under the numbers of true shares.
        for i in 0..60 {
            let number = i % (t - 1) + 1;
            assert_eq!(send(&mut collector, number as u64, &lie(i)), false_one(number), "{i}");
        }
        assert_eq!(collector.work(), work);
        assert_eq!(collector.false_shares().len(), n - 1);
        // The true one, and then the signature is there.
        assert_eq!(send(&mut collector, t as u64, &dealt.share(t)), Ok(()));
        assert_eq!(collector.signature(), Some(dealt.signature()));
        let work = collector.work();
        assert_eq!((work.combinations, work.verified), (2, t + 60));
        let (false_shares, shares) = (collector.false_shares(), collector.indices().count());
        for i in 0..60 {
            let number = i % n + 1;
            let bytes = if i % 2 == 0 { lie(i).to_vec() } else { dealt.share(number) };
            let unneeded = Err(ShareError::Unneeded(dealt.index(number)));
            assert_eq!(send(&mut collector, number as u64, &bytes), unneeded);
        }
        assert_eq!((collector.work(), collector.false_shares()), (work, false_shares));
        assert_eq!((collector.indices().count(), collector.signature()), (shares, Some(dealt.signature())));
    }
}

/// Once shares are in doubt, each call names those that it took out, and no other: whoever keeps something beside each looks up no more.
#[test]
fn many_false_shares_cost_no_square() {
    let (t, n) = (40, 80);
    let dealt = Dealt::new(t, n, Identifiers::RootsOfUnity, MinPk::Eth2);
    let mut collector = dealt.collector(Options::default());
    let other = |number: usize| dealt.shares[number - 1].sign(dealt.suite, b"other").to_bytes();
    let mut looked_up = 0;
    for number in 1..=n {
        let bytes = if number <= t { other(number).to_vec() } else { dealt.share(number) };
        let added = collector.add(number as u64, &bytes, &mut rng());
        assert_eq!(added.is_err(), number == t, "the last one is found false when it comes");
        let refuted = collector.take_refuted();
        assert_eq!(refuted.len(), if number == t { t } else { 0 }, "{number}");
        looked_up += refuted.len();
    }
    assert_eq!((looked_up, collector.work().verified), (t, n));
    assert_eq!(collector.signature(), Some(dealt.signature()));
    // A false share that the true one replaces is named, and one that comes after the true one is not there.
    let mut collector = dealt.collector(Options::default());
    assert_eq!(collector.add(1, &other(1), &mut rng()), Ok(None));
    assert_eq!(collector.add(1, &dealt.share(1), &mut rng()), Ok(None));
    assert!(collector.take_refuted().into_keys().eq([dealt.index(1)]));
    assert!(collector.add(1, &other(1), &mut rng()).is_err());
    assert!(collector.take_refuted().is_empty());
}

/// A polynomial that is zero at one participant's point, as a dealer who speaks last in a ceremony can make it. That
/// participant has no true share, whatever is sent under its number, and the others sign.
fn without_a_key<S: Bls12381Suite>(suite: S) {
    for identifiers in POINTS {
        for keyless in [1, 3, 5] {
            let committee = committee(3, 5, identifiers);
            let indices: Vec<_> = committee.indices().collect();
            // (X - x)(X + 9), whose value at zero is the secret.
            let x = committee.point(indices[keyless - 1]);
            let (a, b, c) = (-(x * Scalar::from(9)), Scalar::from(9) - x, Scalar::ONE);
            let secret_of = |scalar: Scalar| SecretKey::<S>::from_bytes(&scalar.to_bytes());
            let points = [a, b, c].map(|coefficient| secret_of(coefficient).unwrap().public_key());
            let commitment = Commitment::new(&committee, points.to_vec()).unwrap();
            let key = quorate_threshold::SharedKey::new(suite, committee.clone(), commitment).unwrap();
            assert_eq!(key.without_share(&Options::default()), [indices[keyless - 1]]);
            let share = |index: &Index| {
                let x = committee.point(*index);
                secret_of((c * x + b) * x + a).map(|secret| secret.sign(suite, b"m").to_bytes().as_ref().to_vec())
            };
            assert!(share(&indices[keyless - 1]).is_err(), "zero is not a secret key");
            let others: Vec<_> = indices.iter().filter(|index| index.place() != keyless - 1).collect();
            let mut collector = key.collector(b"m", Options::default()).unwrap();
            let mut identity = vec![0; share(others[0]).unwrap().len()];
            identity[0] = 0xc0;
            let refused = Err(ShareError::NoKey(indices[keyless - 1]));
            for bytes in [&identity, &share(others[0]).unwrap()] {
                assert_eq!(collector.add(keyless as u64, bytes, &mut rng()), refused);
                let each = collector.add_each(&[(keyless as u64, bytes)], &mut rng());
                assert_eq!(each, [refused.map(drop)]);
            }
            assert_eq!(collector.indices().count(), 0);
            // A false share of another one does not change it.
            collector.add(others[0].number().into(), &share(others[1]).unwrap(), &mut rng()).unwrap();
            for index in &others[..3] {
                collector.add(index.number().into(), &share(index).unwrap(), &mut rng()).unwrap();
            }
            assert_eq!(collector.signature(), Some(secret_of(a).unwrap().sign(suite, b"m")));
        }
    }
}

#[test]
fn a_participant_without_a_key_stops_nobody() {
    without_a_key(MinPk::Eth2);
    without_a_key(MinSig::Basic);
}

#[test]
fn shares_of_nobody_and_bytes_that_are_no_point_are_refused() {
    let dealt = Dealt::new(2, 3, Identifiers::Integers, MinPk::Eth2);
    let mut collector = dealt.collector(Options::default());
    for number in [0, 4, 1 << 32 | 1, u64::MAX] {
        let error = CommitteeError::NoSuchParticipant { number, participants: 3 };
        assert_eq!(collector.add(number, &dealt.share(1), &mut rng()), Err(ShareError::Index(error)));
    }
    let share = dealt.share(1);
    for bytes in [&share[..95], &share[..48], &[][..], &[0xff; 96], &[0; 96]] {
        let refused = collector.add(1, bytes, &mut rng());
        assert!(matches!(refused, Err(ShareError::Malformed { .. })), "{refused:?}");
    }
    assert_eq!(collector.indices().count(), 0);
    // The identity is a point, and no share.
    let mut identity = [0; 96];
    identity[0] = 0xc0;
    collector.add(1, &identity, &mut rng()).unwrap();
    collector.add(2, &dealt.share(2), &mut rng()).unwrap();
    assert_eq!(collector.false_shares(), [(dealt.index(1), Reason::Mismatch)]);
}

#[test]
fn keys_that_do_not_fit_the_committee_and_aug_suites_are_refused() {
    let dealt = Dealt::new(2, 3, Identifiers::Integers, MinPk::Eth2);
    let key = dealt.secret.public_key();
    let made = |suite, keys: usize| {
        Collector::new(dealt.committee.clone(), suite, key, vec![Some(key); keys], b"m", Options::default()).map(|_| ())
    };
    assert_eq!(made(MinPk::Eth2, 2), Err(CollectorError::VerificationKeys { found: 2, participants: 3 }));
    assert_eq!(made(MinPk::Chia, 3), Err(CollectorError::Augmented(MinPk::Chia.id())));
    assert_eq!(made(MinPk::Eth2, 3), Ok(()));
}

/// A dealer who commits to a polynomial of another degree raises or lowers the threshold.
#[test]
fn commitments_that_are_none_are_refused() {
    let dealt = Dealt::new(3, 5, Identifiers::Integers, MinPk::Eth2);
    let points: Vec<_> = dealt.commitment.points().iter().map(PublicKey::to_bytes).collect();
    let read = |points: &[&[u8]]| Commitment::<MinPk>::from_bytes(&dealt.committee, points, Backend::auto());
    let bytes: Vec<_> = points.iter().map(|point| &point[..]).collect();
    assert_eq!(read(&bytes).as_ref(), Ok(&dealt.commitment));
    for found in [0, 1, 2] {
        assert_eq!(read(&bytes[..found]).err(), Some(SharingError::Degree { found, threshold: 3 }));
    }
    let four = [&bytes[..], &bytes[..1]].concat();
    assert_eq!(read(&four).err(), Some(SharingError::Degree { found: 4, threshold: 3 }));
    let mut identity = [0; 48];
    identity[0] = 0xc0;
    let mut order_three = [0; 48];
    order_three[0] = 0x80;
    for bad in [&identity[..], &order_three, &[0xff; 48], &points[0][..47]] {
        for place in 0..3 {
            let mut changed = bytes.clone();
            changed[place] = bad;
            let refused = read(&changed).err();
            assert!(matches!(refused, Some(SharingError::Point { place: at, .. }) if at == place), "{refused:?}");
        }
    }
}

#[test]
fn a_false_key_share_is_named() {
    let dealt = Dealt::new(3, 5, Identifiers::RootsOfUnity, MinSig::Basic);
    let swapped = KeyShare::new(dealt.index(2), dealt.shares[3].secret().clone());
    let refused = dealt.commitment.proves(&dealt.committee, &swapped, Backend::auto());
    assert_eq!(refused, Err(SharingError::FalseShare(dealt.index(2))));
}

/// A dealer whose polynomial is zero at a participant's point: 1 - X at 1.
#[test]
fn a_share_that_is_zero_is_no_key() {
    let committee = committee(2, 3, Identifiers::Integers);
    let one = SecretKey::<MinPk>::from_bytes(&Scalar::ONE.to_bytes()).unwrap();
    let minus_one = SecretKey::<MinPk>::from_bytes(&(-Scalar::ONE).to_bytes()).unwrap();
    let points = [one.public_key().to_bytes(), minus_one.public_key().to_bytes()];
    let bytes = [&points[0][..], &points[1][..]];
    let commitment = Commitment::<MinPk>::from_bytes(&committee, &bytes, Backend::auto()).unwrap();
    let index = committee.index(1).unwrap();
    let refused = commitment.verification_key(&committee, index, Backend::auto());
    assert_eq!(refused, Err(SharingError::IdentityKey(index)));
}

/// Keys and messages decide, not the generator: the same seed deals the same shares, another seed others.
#[test]
fn dealing_uses_the_generator() {
    let deal_with = |rng: &mut dyn FnMut() -> ChaCha20Rng| {
        let committee = committee(3, 4, Identifiers::Integers);
        let secret = SecretKey::key_gen(MinPk::Eth2, &[7; 32], b"").unwrap();
        deal_points(&committee, &secret, &mut rng())
    };
    let (a, b) = (deal_with(&mut rng), deal_with(&mut || ChaCha20Rng::from_seed([6; 32])));
    assert_eq!(a, deal_with(&mut rng));
    assert!(a[0] == b[0] && a[1..].iter().zip(&b[1..]).all(|(a, b)| a != b));
}

fn deal_points(committee: &Committee, secret: &SecretKey<MinPk>, rng: &mut impl CryptoRng) -> Vec<PublicKey<MinPk>> {
    deal(committee, MinPk::Eth2, secret, &Options::default(), rng).unwrap().1.points().to_vec()
}
