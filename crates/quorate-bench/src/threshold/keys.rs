//! Sharing a key among n = 2t participants with roots of unity: `deal`, `deal/evaluations`, `verify`, `reconstruct`, and
//! `verification-keys`. The rows' n is t.
//!
//! Beside them stand naive engines, which do the same value by value and key by key, and the numbers that the paper
//! published for its AMT scheme on BN254.

use std::hint::black_box;

use quorate::{Backend, Bls12381Suite, MinPk, MinSig, PublicKey, SecretKey, aggregate::sum_of_multiples};
use quorate_curve::{Bls12381Group, Domain, Group, Scalar, SecretPolynomial, SecretScalar};
use quorate_threshold::{Commitment, Committee, EvaluationCommitment, Identifiers, Index, deal};

use super::setting::{engines, scalar, source};
use crate::{
    data::{self, options},
    measure::{Engine, Run, measure},
    row::{Figures, Row, Times},
};

/// The sizes, as logarithms of n.
pub(super) fn run(run: &Run) -> Vec<Row> {
    let mut rows = Vec::new();
    for log in run.choose(&[8, 10][..], &[8, 11, 14, 16, 17]) {
        let t = 1 << (log - 1);
        rows.extend(dealing(run, t));
        rows.extend(evaluations(run, t));
    }
    for log in run.choose(&[8, 10][..], &[8, 11, 14, 16]) {
        rows.extend(verification_keys::<MinPk>(run, "verification-keys", 1 << (log - 1)));
    }
    for log in run.choose(&[][..], &[14]) {
        rows.extend(verification_keys::<MinSig>(run, "verification-keys/min-sig", 1 << (log - 1)));
    }
    rows
}

fn committee(t: usize) -> Committee {
    Committee::new(t, 2 * t, Identifiers::RootsOfUnity, Backend::auto()).expect("a committee")
}

fn rounds(run: &Run, t: usize) -> usize {
    let full = match t {
        0..1_024 => 9,
        1_024..10_000 => 5,
        _ => 1,
    };
    run.choose(full.min(2), full)
}

/// For large committees two threads alone, because one takes many seconds.
fn few_threads(t: usize) -> &'static [usize] {
    if t <= 1 << 13 { &[1, 2] } else { &[2] }
}

/// Dealing is constant-time code of blst on every backend, so one stands for all.
fn dealing(run: &Run, t: usize) -> Vec<Row> {
    let (committee, suite) = (committee(t), MinPk::Basic);
    let secret = SecretKey::key_gen(suite, &[3; 32], b"").expect("32 bytes are enough");
    let (committee, secret) = (&committee, &secret);
    let threads = few_threads(t);
    let mut measured: Vec<_> = threads
        .iter()
        .map(|threads| {
            Engine::of(run.backends[0], *threads, move || {
                let options = options(run.backends[0], *threads);
                black_box(deal(committee, suite, secret, &options, &mut data::rng()).expect("no share is zero"));
            })
        })
        .collect();
    if t <= 1 << 11 {
        measured.push(naive_deal(committee, secret));
    }
    let mut rows = measure("deal", t, "deal", 1, rounds(run, t), measured);
    rows.extend((t == 1 << 15).then(|| source("deal", t, "deal", 72.0, "AMT, of a player in key generation")));
    // It costs twice as much as `deal` at every size.
    if t > 1 << 13 {
        return rows;
    }
    let of_evaluations = threads.iter().map(|threads| {
        Engine::of(run.backends[0], *threads, move || {
            let options = options(run.backends[0], *threads);
            let dealt = EvaluationCommitment::deal(committee, suite, secret, &options, &mut data::rng());
            black_box(dealt.expect("no share is zero"));
        })
    });
    rows.extend(measure("deal/evaluations", t, "deal", 1, rounds(run, t), of_evaluations.collect()));
    rows
}

/// Every share by itself, on one thread.
fn naive_deal<'a>(committee: &'a Committee, secret: &'a SecretKey<MinPk>) -> Engine<'a> {
    let work = move || {
        let mut rng = data::rng();
        let further = (1..committee.threshold()).map(|_| SecretKey::generate(MinPk::Basic, &mut rng));
        let coefficients: Vec<_> = [secret.clone()].into_iter().chain(further).collect();
        coefficients.iter().for_each(|coefficient| {
            black_box(coefficient.public_key());
        });
        let scalar = |key: &SecretKey<MinPk>| SecretScalar::from_bytes(&key.to_bytes()).expect("a secret");
        let polynomial = SecretPolynomial::new(coefficients.iter().map(scalar).collect());
        for index in committee.indices() {
            black_box(polynomial.value(&committee.point(index)).expect("not zero"));
        }
    };
    Engine::new("naive", 1, work).note("blst, every share by itself")
}

/// Commitments to evaluations with known logarithms, and all claimed shares of them.
struct Dealt {
    committee: Committee,
    commitment: EvaluationCommitment<MinPk>,
    secret: Scalar,
    claimed: Vec<(Index, Scalar)>,
}

impl Dealt {
    fn new(t: usize) -> Self {
        let committee = committee(t);
        let backend = Backend::auto();
        let mut rng = data::rng();
        let mut values: Vec<_> = (0..t).map(|_| scalar(&mut rng)).collect();
        let secret = values[0];
        values.resize(2 * t, Scalar::ZERO);
        Domain::new(backend, 2 * t).expect("a power of two").evaluate(&mut values);
        let keys = backend.multiples(&vec![Group::generator(); 2 * t], &values);
        let keys = keys.into_iter().map(|key| PublicKey::assume_in_subgroup(key).expect("not the identity"));
        let commitment = EvaluationCommitment::from_keys(&committee, keys.collect()).expect("n points");
        let claimed = committee.indices().zip(values).collect();
        Self { committee, commitment, secret, claimed }
    }
}

fn evaluations(run: &Run, t: usize) -> Vec<Row> {
    let dealt = &Dealt::new(t);
    let Dealt { committee, commitment, secret, claimed } = dealt;
    let verify = engines(run, &[1, 2], t, 1 << 13).map(|(backend, threads)| {
        Engine::of(backend, threads, move || {
            let options = options(backend, threads);
            commitment.verify(committee, &options, &mut data::rng()).expect("a low degree");
        })
    });
    let mut rows = measure("verify", t, "deal", 1, rounds(run, t), verify.collect());
    rows.extend((t == 1 << 15).then(|| source("verify", t, "deal", 33.0, "AMT, the best case of a player")));
    let bytes: Vec<_> = commitment.keys().iter().map(PublicKey::to_bytes).collect();
    let bytes: Vec<&[u8]> = bytes.iter().map(AsRef::as_ref).collect();
    let from_bytes = engines(run, &[1, 2], t, 1 << 10).map(|(backend, threads)| {
        let bytes = &bytes;
        Engine::of(backend, threads, move || {
            let options = options(backend, threads);
            let read = EvaluationCommitment::<MinPk>::from_bytes(committee, bytes, &options).expect("keys");
            read.verify(committee, &options, &mut data::rng()).expect("a low degree");
        })
    });
    rows.extend(measure("verify/bytes", t, "deal", 1, rounds(run, t), from_bytes.collect()));
    // The worst case: every participant claims a share, and every third one is false.
    let mut some_false = claimed.clone();
    some_false.iter_mut().step_by(3).for_each(|(_, share)| *share = *share + Scalar::ONE);
    for (name, claimed) in [("reconstruct", &some_false), ("reconstruct/bad=0", claimed)] {
        let reconstruct = engines(run, &[1, 2], t, 1 << 10).map(|(backend, threads)| {
            Engine::of(backend, threads, move || {
                let options = options(backend, threads);
                let made = commitment.reconstruct(committee, claimed, &options, &mut data::rng());
                assert_eq!(made.expect("enough shares").secret, *secret);
            })
        });
        rows.extend(measure(name, t, "secret", 1, rounds(run, t), reconstruct.collect()));
    }
    rows.extend((t == 1 << 15).then(|| source("reconstruct", t, "secret", 630.0, "AMT, the worst case")));
    rows
}

/// All verification keys from t commitments, beside one of them, n times.
fn verification_keys<S: Bls12381Suite>(run: &Run, bench: &str, t: usize) -> Vec<Row> {
    let committee = &committee(t);
    let backend = Backend::auto();
    let mut rng = data::rng();
    let scalars: Vec<_> = (0..t).map(|_| scalar(&mut rng)).collect();
    let points: Vec<S::Key> = backend.multiples(&vec![Group::generator(); t], &scalars);
    let bytes: Vec<_> = points.iter().map(Bls12381Group::compress).collect();
    let bytes: Vec<&[u8]> = bytes.iter().map(AsRef::as_ref).collect();
    let commitment = &Commitment::<S>::from_bytes(committee, &bytes, backend).expect("points");
    let last = committee.index(2 * t as u64).expect("a participant");
    let expected = commitment.verification_key(committee, last, backend).expect("not the identity");
    let all = engines(run, few_threads(t), t, 1 << 10).map(|(backend, threads)| {
        Engine::of(backend, threads, move || {
            let keys = commitment.verification_keys(committee, &options(backend, threads));
            assert_eq!(keys[2 * t - 1], Some(expected));
        })
    });
    let mut rows = measure(bench, t, "deal", 1, rounds(run, t), all.collect());
    let one = engines(run, &[1], t, 1 << 10).map(|(backend, threads)| {
        let terms: Vec<_> = points.iter().copied().zip(scalars.iter().copied()).collect();
        Engine::of(backend, threads, move || {
            black_box(sum_of_multiples(&terms, backend, options(backend, threads).threads));
        })
        .note("one multi-scalar multiplication, times n")
    });
    for row in measure(bench, t, "deal", 1, rounds(run, t), one.collect()) {
        let Figures::Us(Times { min, median, max }) = row.figures else { continue };
        let [min, median, max] = [min, median, max].map(|us| us * 2.0 * t as f64);
        rows.push(Row { figures: Figures::Us(Times { min, median, max }), engine: "naive".into(), ..row });
    }
    rows
}
