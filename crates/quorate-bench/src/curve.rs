//! `curve/*`: the time of the curve's verbs for an item. The costs of the plan are the medians of these rows.
//!
//! blst has a row if its crate offers the same verb without `unsafe`.

use std::hint::black_box;

use blst::{MultiPoint, blst_fp12, blst_p1_affine, blst_p2_affine, min_pk, min_sig};
use quorate::Backend;
use quorate_curve::{
    Bls12381Group, G1, G2, Group, Pairing, Segments, Soundness, UncheckedSegments, Weight, WeightedSegments,
};
use rand_core::Rng;

use crate::{
    data,
    measure::{Engine, Run, measure},
    row::Row,
};

pub(crate) fn run(run: &Run) -> Vec<Row> {
    let mut rows = group::<G1>(run, "g1");
    rows.extend(group::<G2>(run, "g2"));
    rows.extend(pairing(run));
    rows
}

fn group<G: Rival>(run: &Run, name: &str) -> Vec<Row> {
    let (n, rounds) = (256, run.choose(3, 21));
    let names: Vec<_> = (0..n).map(|i: usize| i.to_le_bytes()).collect();
    let messages: Vec<_> = names.iter().map(|m| (&[][..], &m[..])).collect();
    let points: Vec<G> = Backend::Portable.hash_to_curve(b"bench", &messages);
    let compressed: Vec<_> = points.iter().map(Bls12381Group::compress).collect();
    let encodings: Vec<_> = compressed.iter().map(AsRef::as_ref).collect();
    let mut rng = data::rng();
    let further: Vec<_> = (0..n).map(|_| rng.next_u64()).collect();
    let mut draw = |soundness| -> Vec<_> { (0..n).map(|_| Weight::draw(soundness, || rng.next_u64())).collect() };
    let (weights, wide) = (draw(Soundness::Bits64), draw(Soundness::Bits128));
    let cut = |weights: &[Weight], size: usize| -> WeightedSegments<G> {
        let weighted: Vec<_> = points.iter().copied().zip(weights.iter().copied()).collect();
        weighted.chunks(size).map(|segment| segment.iter().copied()).collect()
    };
    let (each_64, sixteens_64, all_64) = (cut(&weights, 1), cut(&weights, 16), cut(&weights, n));
    let (each_128, all_128) = (cut(&wide, 1), cut(&wide, n));
    let unchecked = |weights: &[Weight]| {
        let mut segments = UncheckedSegments::new();
        for ((point, weight), further) in points.iter().zip(weights).zip(&further) {
            segments.push(*point, *weight, *further);
        }
        segments.close();
        segments
    };
    let (unchecked_64, unchecked_128) = (unchecked(&weights), unchecked(&wide));
    let rival = G::rival(&points);
    let scalars = |bits: usize| vec![0xa5; n * bits / 8];
    let (scalars_64, scalars_128) = (scalars(64), scalars(128));

    let mut rows = Vec::new();
    let mut add = |verb: &str, blst: Option<&dyn Fn()>, work: &dyn Fn(Backend)| {
        let mut engines: Vec<_> = blst.into_iter().map(|blst| Engine::new("blst", 1, blst)).collect();
        engines.extend(run.each(&[1]).map(|(backend, threads)| Engine::of(backend, threads, move || work(backend))));
        rows.extend(measure(&format!("curve/{name}-{verb}"), n, "point", n, rounds, engines));
    };
    let blst_decode = || encodings.iter().for_each(|bytes| assert!(G::rival_decodes(bytes)));
    add("decode", Some(&blst_decode), &|b| {
        assert!(b.decode_each::<G>(black_box(&encodings)).iter().all(Result::is_ok));
    });
    add("hash", None, &|b| assert_eq!(b.hash_to_curve::<G>(b"bench", &messages), points));
    add("hash-for-sums", None, &|b| assert_eq!(b.hash_for_sums::<G>(b"bench", &messages).len(), n));
    add("clear-sums", None, &|b| assert_eq!(b.clear_sums(&points).len(), n));
    let blst_subgroup = || assert!(G::rival_in_subgroup(&rival));
    add("subgroup", Some(&blst_subgroup), &|b| assert!(b.in_subgroup(&points).into_iter().all(|member| member)));
    add("sum", Some(&|| G::rival_sum(&rival)), &|b| assert!(!b.sum(black_box(&points)).is_identity()));
    add("weigh-64", None, &|b| assert_eq!(b.weighted_sums(&each_64).len(), n));
    add("weigh-128", None, &|b| assert_eq!(b.weighted_sums(&each_128).len(), n));
    add("weighted-16-64", None, &|b| assert_eq!(b.weighted_sums(&sixteens_64).len(), n / 16));
    let blst_64 = || G::rival_multiples(&rival, &scalars_64, 64);
    add("weighted-sum-64", Some(&blst_64), &|b| assert_eq!(b.weighted_sums(&all_64).len(), 1));
    let blst_128 = || G::rival_multiples(&rival, &scalars_128, 128);
    add("weighted-sum-128", Some(&blst_128), &|b| assert_eq!(b.weighted_sums(&all_128).len(), 1));
    add("members-sum-64", None, &|b| {
        assert!(b.weighted_sums_of_members(&unchecked_64, Soundness::Bits64).is_some());
    });
    add("members-sum-128", None, &|b| {
        assert!(b.weighted_sums_of_members(&unchecked_128, Soundness::Bits128).is_some());
    });
    rows
}

/// The same verbs by blst's crate.
trait Rival: Bls12381Group {
    type Point: Clone;
    fn rival(points: &[Self]) -> Vec<Self::Point>;
    fn rival_decodes(bytes: &[u8]) -> bool;
    fn rival_in_subgroup(points: &[Self::Point]) -> bool;
    fn rival_sum(points: &[Self::Point]);
    fn rival_multiples(points: &[Self::Point], scalars: &[u8], bits: usize);
}

macro_rules! rival {
    ($group:ident, $affine:ident, $signature:ident) => {
        impl Rival for $group {
            type Point = $affine;
            fn rival(points: &[Self]) -> Vec<$affine> {
                let point = |point: &Self| $signature::Signature::deserialize(&point.serialize()).expect("a point");
                points.iter().map(|p| point(p).into()).collect()
            }
            fn rival_decodes(bytes: &[u8]) -> bool {
                black_box($signature::Signature::uncompress(bytes)).is_ok()
            }
            fn rival_in_subgroup(points: &[$affine]) -> bool {
                points.iter().all(|point| $signature::Signature::from(*point).subgroup_check())
            }
            fn rival_sum(points: &[$affine]) {
                black_box(black_box(points).add());
            }
            fn rival_multiples(points: &[$affine], scalars: &[u8], bits: usize) {
                black_box(black_box(points).mult(scalars, bits));
            }
        }
    };
}

rival!(G1, blst_p1_affine, min_sig);
rival!(G2, blst_p2_affine, min_pk);

fn pairing(run: &Run) -> Vec<Row> {
    let rounds = run.choose(5, 51);
    let mut rows = Vec::new();
    let blst_g1: blst_p1_affine = G1::rival(&[G1::generator()])[0];
    let blst_g2: blst_p2_affine = G2::rival(&[G2::generator()])[0];
    for n in run.choose(&[1, 8, 128][..], &[1, 2, 8, 16, 64, 128, 1024]) {
        let (p, q) = (vec![blst_g1; *n], vec![blst_g2; *n]);
        let blst = Engine::new("blst", 1, || {
            black_box(blst_fp12::miller_loop_n(black_box(&q), black_box(&p)));
        });
        rows.extend(loops(run, "curve/miller", *n, 1, Pairing::Ate, Some(blst)));
        rows.extend(loops(run, "curve/twisted", *n, 1, Pairing::TwistedAte, None));
    }
    // Eight products at a time, as in a batch.
    for n in run.choose(&[128][..], &[8, 64, 128, 1024]) {
        rows.extend(loops(run, "curve/miller-8", *n, 8, Pairing::Ate, None));
        rows.extend(loops(run, "curve/twisted-8", *n, 8, Pairing::TwistedAte, None));
    }
    for n in [8, 128] {
        rows.extend(prepared(run, n));
    }
    let value = Backend::Portable.miller_product(&[(G1::generator(), G2::generator())]);
    let blst_value = blst_fp12::miller_loop(&blst_g2, &blst_g1);
    for n in [1, 8] {
        let values = vec![value; n];
        let mut engines = vec![Engine::new("blst", 1, || {
            (0..n).for_each(|_| {
                black_box(black_box(&blst_value).final_exp());
            })
        })];
        engines.extend(run.each(&[1]).map(|(backend, threads)| {
            let values = &values;
            Engine::of(backend, threads, move || {
                assert!(!backend.final_exponentiations(black_box(values))[n - 1].is_one());
            })
        }));
        rows.extend(measure("curve/final-exponentiation", n, "value", n, rounds, engines));
    }
    rows
}

/// So many products of n pairs in all.
fn loops(run: &Run, bench: &str, n: usize, products: usize, pairing: Pairing, rival: Option<Engine<'_>>) -> Vec<Row> {
    let pairs = Segments::of_size(n / products, vec![(G1::generator(), G2::generator()); n]);
    let mut engines = Vec::from_iter(rival);
    engines.extend(run.each(&[1]).map(|(backend, threads)| {
        let pairs = &pairs;
        Engine::of(backend, threads, move || {
            black_box(backend.miller_products(pairing, black_box(pairs)));
        })
    }));
    measure(bench, n, "pair", n, run.choose(5, (20_000 / n).clamp(7, 51)), engines)
}

/// One product of n pairs with prepared points, each in its own memory, and the preparation of the points.
fn prepared(run: &Run, n: usize) -> Vec<Row> {
    let rounds = run.choose(5, (20_000 / n).clamp(7, 51));
    let points = vec![G2::generator(); n];
    let loops = run.each(&[1]).map(|(backend, threads)| {
        let prepared = backend.prepare(&points);
        Engine::of(backend, threads, move || {
            let pairs = Segments::one(prepared.iter().map(|point| (G1::generator(), point)).collect());
            black_box(backend.miller_products_prepared(black_box(&pairs)));
        })
    });
    let mut rows = measure("curve/miller-prepared", n, "pair", n, rounds, loops.collect());
    let preparations = run.each(&[1]).map(|(backend, threads)| {
        let points = &points;
        Engine::of(backend, threads, move || {
            black_box(backend.prepare(black_box(points)));
        })
    });
    rows.extend(measure("curve/prepare", n, "point", n, rounds, preparations.collect()));
    rows
}
