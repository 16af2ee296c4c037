//! `identify`: all of t signature shares verified, and the false ones found, from decoded points with subgroup checks.
//! `recover/*`: one signature from t of n = 2t - 1 signature shares, whose points are decoded. `transform`: the values of a
//! polynomial over Fr at roots of unity.
//!
//! The shares are points of G1 with known logarithms, so that every answer is asserted. The time has the coefficients and
//! the multi-scalar multiplication in it, and no check of the signature. `recover/msm-only` is the part that no library
//! over blst can avoid: its multi-scalar multiplication of t points by full scalars.

mod setting;
mod collect;
mod keys;

use std::hint::black_box;

use ark_bls12_381::Fr;
use ark_poly::{EvaluationDomain, Radix2EvaluationDomain};
use blst::{BLST_ERROR, MultiPoint, blst_p1_affine, min_pk};
use quorate::{
    Backend, Bls12381Suite, Claim, MinPk, MinSig, Options, PublicKey, SecretKey, Suite, UncheckedSignature,
    claim::ClaimSignature, verify,
};
use quorate_curve::{Bls12381Group, Domain, G1, Group, Scalar};
use quorate_threshold::{Committee, Identifiers, Index, Interpolation, Method};
use rand_core::Rng;

use self::setting::{MESSAGE, engines, random_half, rounds, scalar, source};
use crate::{
    data::{self, options},
    measure::{Engine, Run, measure},
    row::Row,
};

pub(crate) fn run(run: &Run) -> Vec<Row> {
    let mut rows = Vec::new();
    let logs = run.choose(&[7, 11, 14][..], &[6, 7, 8, 10, 11, 12, 14, 16, 17, 20]);
    for log in logs {
        rows.extend(transform(run, *log));
    }
    for log in logs {
        let shares = Shares::new(2 << log);
        rows.extend(msm_only(run, 1 << log, &shares));
        rows.extend(random(run, 1 << log, &shares));
        rows.extend(missing(run, 1 << log, &shares));
    }
    let shares = Shares::new(1 << 13);
    for (t, n) in [(5, 7), (7, 10), (9, 13)] {
        rows.extend(small(run, t, n, &shares));
    }
    rows.extend(replaced(run, 1 << 12));
    for log in run.choose(&[10][..], &[10, 14, 17]) {
        rows.extend(identify(run, MinPk::Basic, "identify", 1 << log));
        rows.extend(identify(run, MinSig::Basic, "identify/min-sig", 1 << log));
    }
    rows.extend(members(run, run.choose(1 << 10, 1 << 14)));
    for log in run.choose(&[][..], &[7, 10, 14]) {
        rows.extend(false_shares(run, 1 << log));
    }
    rows.extend(collect::run(run));
    rows.extend(keys::run(run));
    rows
}

/// Points of G1 with their logarithms.
struct Shares {
    points: Vec<G1>,
    logarithms: Vec<Scalar>,
}

impl Shares {
    /// Sums of one number of a short list and one of another, times the generator.
    fn new(n: usize) -> Self {
        let root = n.isqrt() + 1;
        let mut rng = data::rng();
        let numbers: Vec<_> = (0..2 * root).map(|_| scalar(&mut rng)).collect();
        let backend = Backend::auto();
        let generator = G1::generator();
        let points: Vec<_> = numbers.iter().map(|number| backend.msm(&[(generator, *number)])).collect();
        let pair = |i: usize| [i / root, root + i % root];
        Self {
            points: backend.sums(&(0..n).map(|i| pair(i).map(|j| points[j])).collect()),
            logarithms: (0..n).map(|i| pair(i).map(|j| numbers[j]).into_iter().sum()).collect(),
        }
    }

    /// The points of the signers, and the sum of their multiples.
    fn of(&self, interpolation: &Interpolation) -> (Vec<G1>, G1) {
        let places = || interpolation.signers().iter().map(|index| index.place());
        let logarithms: Vec<_> = places().map(|place| self.logarithms[place]).collect();
        let sum = Backend::auto().msm(&[(G1::generator(), interpolation.of_scalars(&logarithms))]);
        (places().map(|place| self.points[place]).collect(), sum)
    }
}

fn for_blst(points: &[G1]) -> Vec<blst_p1_affine> {
    points
        .iter()
        .map(|point| min_pk::PublicKey::deserialize(point.serialize().as_ref()).expect("a point").into())
        .collect()
}

/// Little-endian, as blst wants them.
fn bytes(scalars: &[Scalar]) -> Vec<u8> {
    scalars.iter().flat_map(|scalar| scalar.to_bytes().into_iter().rev()).collect()
}

fn msm_only(run: &Run, t: usize, shares: &Shares) -> Vec<Row> {
    let mut rng = data::rng();
    let scalars = bytes(&(0..t).map(|_| scalar(&mut rng)).collect::<Vec<_>>());
    let points = for_blst(&shares.points[..t]);
    let key = |sum| min_pk::AggregatePublicKey::from(sum).to_public_key();
    let expected = key(points.mult(&scalars, 255));
    let one = Engine::new("blst", 1, || assert_eq!(key(points.mult(&scalars, 255)), expected));
    // Each thread multiplies half of the points, and one addition makes the sum.
    let (lower, upper) = points.split_at(t / 2);
    let (of_lower, of_upper) = scalars.split_at(scalars.len() / t * (t / 2));
    let two = Engine::new("blst", 2, || {
        let halves = std::thread::scope(|scope| {
            let half = scope.spawn(|| lower.mult(of_lower, 255));
            [upper.mult(of_upper, 255), half.join().expect("a sum")]
        });
        let [a, b] = halves.map(key);
        let sum = min_pk::AggregatePublicKey::aggregate(&[&a, &b], false).expect("two sums");
        assert_eq!(sum.to_public_key(), expected);
    });
    measure("recover/msm-only", t, "signature", 1, rounds(run, t), vec![one, two])
}

/// Which of the participants 1 to n are there.
fn available(committee: &Committee, keep: impl Fn(usize) -> bool) -> Vec<Index> {
    committee.indices().filter(|index| keep(index.place())).collect()
}

fn engine<'a>(
    backend: Backend,
    threads: usize,
    committee: &'a Committee,
    available: &'a [Index],
    shares: &'a Shares,
) -> Engine<'a> {
    let options = options(backend, threads);
    let interpolation = Interpolation::new(committee, available, &options).expect("enough signers");
    let (points, expected) = shares.of(&interpolation);
    Engine::of(backend, threads, move || {
        let interpolation = Interpolation::new(committee, available, &options).expect("enough signers");
        assert_eq!(interpolation.of_points(&points, &options), expected);
    })
}

/// A random half of the participants, so that few cosets are whole.
fn random(run: &Run, t: usize, shares: &Shares) -> Vec<Row> {
    let n = 2 * t - 1;
    let committee = Committee::new(t, n, Identifiers::RootsOfUnity, Backend::auto()).expect("a committee");
    let all = random_half(&committee);
    let mut measured: Vec<_> = engines(run, &[1, 2], t, 1 << 14)
        .map(|(backend, threads)| engine(backend, threads, &committee, &all, shares))
        .collect();
    if t <= 1 << 11 {
        measured.push(naive(&committee, &all, shares));
    }
    let mut rows = measure("recover/random", t, "signature", 1, rounds(run, t), measured);
    let published = SOURCE.into_iter().filter(|(log, _, _)| t == 1 << log);
    rows.extend(published.flat_map(|(_, fast, naive)| {
        let both = [("published/libpolycrypto", Some(fast)), ("published/libpolycrypto-naive", naive)];
        both.into_iter().filter_map(|(engine, seconds)| {
            let row = source("recover/random", t, "signature", seconds?, "one thread");
            Some(Row { engine: engine.into(), ..row })
        })
    }));
    rows
}

/// The threshold's logarithm, and the seconds that the source took by its fast algorithm and by the naive one.
const SOURCE: [(u32, f64, Option<f64>); 9] = [
    (7, 7.64e-3, Some(8.59e-3)),
    (8, 14.3e-3, Some(19.3e-3)),
    (10, 50.7e-3, Some(0.156)),
    (11, 0.1, Some(1.0)),
    (12, 0.187, Some(2.06)),
    (14, 0.72, Some(29.7)),
    (16, 2.87, Some(483.0)),
    (17, 5.7, None),
    (20, 46.3, Some(137_376.0)),
];

/// The coefficients by every difference, from quorate's portable code, and blst's multi-scalar multiplication: blst itself has no
/// coefficients.
fn naive<'a>(committee: &'a Committee, available: &'a [Index], shares: &Shares) -> Engine<'a> {
    let options = Options { backend: Backend::Portable, ..Options::default() };
    let interpolation = Interpolation::by(Method::Naive, committee, available, &options).expect("enough signers");
    let (points, expected) = shares.of(&interpolation);
    let (points, expected) = (for_blst(&points), expected.compress());
    Engine::new("blst", 1, move || {
        let interpolation = Interpolation::by(Method::Naive, committee, available, &options).expect("enough signers");
        let sum = points.mult(&bytes(&interpolation.coefficients()), 255);
        let mut compressed = [0; 48];
        // The only safe way from blst's point to bytes is a key.
        let key: min_pk::PublicKey = min_pk::AggregatePublicKey::from(sum).to_public_key();
        compressed.copy_from_slice(&key.compress());
        assert_eq!(compressed, expected);
    })
    .note("naive coefficients by quorate's portable code, and blst's multiplication")
}

/// One participant of a hundred is absent, at random.
fn missing(run: &Run, t: usize, shares: &Shares) -> Vec<Row> {
    let committee = Committee::new(t, 2 * t - 1, Identifiers::RootsOfUnity, Backend::auto()).expect("a committee");
    let mut rng = data::rng();
    let absent: Vec<bool> = (0..2 * t).map(|_| rng.next_u64().is_multiple_of(100)).collect();
    let available = available(&committee, |place| !absent[place]);
    let measured = engines(run, &[1, 2], t, 1 << 14)
        .map(|(backend, threads)| engine(backend, threads, &committee, &available, shares))
        .collect();
    measure("recover/missing=1%", t, "signature", 1, rounds(run, t), measured)
}

/// A small committee, with the last participants of it.
fn small(run: &Run, t: usize, n: usize, shares: &Shares) -> Vec<Row> {
    let committee = Committee::new(t, n, Identifiers::Integers, Backend::auto()).expect("a committee");
    let available = available(&committee, |place| place >= n - t);
    let mut engines: Vec<_> =
        run.each(&[1]).map(|(backend, threads)| engine(backend, threads, &committee, &available, shares)).collect();
    engines.push(naive(&committee, &available, shares));
    measure(&format!("recover/small={t}-of-{n}"), t, "signature", 1, run.choose(9, 61), engines)
}

/// The coefficients after one signer was replaced, beside all of them anew. No point is multiplied.
fn replaced(run: &Run, t: usize) -> Vec<Row> {
    let committee = Committee::new(t, 2 * t - 1, Identifiers::RootsOfUnity, Backend::auto()).expect("a committee");
    let signers = available(&committee, |place| place % 2 == 0);
    let mut rows = Vec::new();
    for (backend, threads) in run.each(&[1]) {
        let options = options(backend, threads);
        let interpolation = Interpolation::new(&committee, &signers, &options).expect("enough signers");
        let (leaves, joins) = (signers[t / 3], committee.index(t as u64 / 2 * 2).expect("a participant"));
        let new = Engine::of(backend, threads, || {
            assert!(Interpolation::new(&committee, &signers, &options).expect("enough signers") == interpolation);
        });
        rows.extend(measure("recover/coefficients", t, "signature", 1, run.choose(3, 15), vec![new]));
        let replaced = || interpolation.replaced(&committee, leaves, joins, backend).expect("a signer for another");
        let expected = Interpolation::new(&committee, replaced().signers(), &options).expect("enough signers");
        let of_one = Engine::of(backend, threads, || assert!(replaced() == expected));
        rows.extend(measure("recover/incremental", t, "signature", 1, run.choose(3, 31), vec![of_one]));
    }
    rows
}

/// Decoded signature shares of one message, each a claim under the key of its participant.
fn claims<S: Bls12381Suite>(suite: S, t: usize, is_false: impl Fn(usize) -> bool) -> Vec<Claim<S>> {
    let backend = Backend::auto();
    let root = t.isqrt() + 1;
    let mut rng = data::rng();
    let secrets: Vec<_> = (0..2 * root).map(|_| SecretKey::generate(suite, &mut rng)).collect();
    let keys: Vec<_> = secrets.iter().map(|secret| secret.public_key().point()).collect();
    let signatures: Vec<_> = secrets.iter().map(|secret| secret.sign(suite, MESSAGE).point()).collect();
    let pair = |i: usize| [i / root, root + i % root];
    let keys = backend.sums(&(0..t).map(|i| pair(i).map(|j| keys[j])).collect());
    // A false share is the one of another participant.
    let signer = |i: usize| if is_false(i) { (i + 1) % t } else { i };
    let signatures = backend.sums(&(0..t).map(|i| pair(signer(i)).map(|j| signatures[j])).collect());
    let bytes: Vec<_> = keys.iter().map(Bls12381Group::compress).collect();
    let bytes: Vec<&[u8]> = bytes.iter().map(AsRef::as_ref).collect();
    let keys = PublicKey::from_bytes_each(&bytes, backend).into_iter().map(|key| key.expect("a key"));
    let shares = keys
        .zip(signatures)
        .map(|(key, signature)| Claim::single(suite, key, MESSAGE, UncheckedSignature::from_point(signature)));
    shares.collect()
}

/// Verifying all shares, of which none is false.
fn identify<S: Bls12381Suite>(run: &Run, suite: S, bench: &str, t: usize) -> Vec<Row> {
    let claims = claims(suite, t, |_| false);
    let claims = &claims;
    let engines = engines(run, &[1, 2], t, 1 << 14).map(|(backend, threads)| {
        Engine::of(backend, threads, move || {
            assert!(verify(claims, &options(backend, threads), &mut data::rng()).all_valid());
        })
    });
    measure(bench, t, "share", t, run.choose(2, 3), engines.collect())
}

/// What the membership checks of signatures in G1 take of `identify/min-sig`.
fn members(run: &Run, t: usize) -> Vec<Row> {
    let shares = &Shares::new(t).points;
    let engines = run.each(&[1]).map(|(backend, threads)| {
        Engine::of(backend, threads, move || assert!(backend.in_subgroup(shares).into_iter().all(|member| member)))
    });
    measure("identify/members", t, "share", t, run.choose(2, 5), engines.collect())
}

/// Verifying all shares and finding those that are false.
fn false_shares(run: &Run, t: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, every) in [("0", usize::MAX), ("1", t), ("0.1%", 1000), ("1%", 100), ("10%", 10), ("33%", 3)] {
        let is_false = |i: usize| every <= t && i % every == every / 2;
        let claims = claims(MinPk::Basic, t, is_false);
        let expected: Vec<_> = (0..t).filter(|i| is_false(*i)).collect();
        let (claims, expected) = (&claims, &expected);
        let mut measured: Vec<_> = engines(run, &[1], t, 1 << 10)
            .map(|(backend, threads)| {
                Engine::of(backend, threads, move || {
                    let outcome = verify(claims, &options(backend, threads), &mut data::rng());
                    assert_eq!(outcome.invalid().collect::<Vec<_>>(), *expected);
                })
            })
            .collect();
        if every == usize::MAX && t <= 1 << 10 {
            measured.push(one_by_one(claims));
        }
        rows.extend(measure(&format!("identify/bad={name}"), t, "share", t, run.choose(1, 3), measured));
    }
    rows
}

/// blst, share by share.
fn one_by_one(claims: &[Claim<MinPk>]) -> Engine<'_> {
    let shares: Vec<_> = claims
        .iter()
        .map(|claim| {
            let (key, _) = claim.statements().next().expect("a statement");
            let ClaimSignature::Unchecked(signature) = claim.signature() else { panic!("a share is unchecked") };
            let key = min_pk::PublicKey::from_bytes(&key.to_bytes()).expect("a key");
            (key, min_pk::Signature::from_bytes(&signature.to_bytes()).expect("a point"))
        })
        .collect();
    Engine::new("blst", 1, move || {
        for (key, signature) in &shares {
            let tag = MinPk::Basic.id().as_bytes();
            assert_eq!(signature.verify(true, MESSAGE, tag, &[], key, false), BLST_ERROR::BLST_SUCCESS);
        }
    })
}

fn transform(run: &Run, log: u32) -> Vec<Row> {
    let n = 1 << log;
    let mut rng = data::rng();
    let coefficients: Vec<_> = (0..n).map(|_| scalar(&mut rng)).collect();
    let mut engines = Vec::new();
    for (backend, threads) in run.each(&[1]) {
        let domain = Domain::new(backend, n).expect("a power of two");
        let (mut values, coefficients) = (coefficients.clone(), &coefficients);
        let expected = backend.values(coefficients, &[domain.point(n / 3)]);
        engines.push(Engine::of(backend, threads, move || {
            values.copy_from_slice(coefficients);
            domain.evaluate(&mut values);
            assert_eq!(values[n / 3], expected[0]);
        }));
    }
    let domain = Radix2EvaluationDomain::<Fr>::new(n).expect("a power of two");
    let ark: Vec<Fr> = (0..n as u64).map(|i| Fr::from(i * i + 1)).collect();
    let mut values = ark.clone();
    engines.push(Engine::new("arkworks", 1, move || {
        values.copy_from_slice(&ark);
        domain.fft_in_place(&mut values);
        black_box(&values);
    }));
    measure("transform", n, "transform", 1, rounds(run, n), engines)
}
