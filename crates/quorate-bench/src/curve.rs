//! `curve/*`: the curve's verbs, an item. The plan's costs are these medians.

use std::hint::black_box;

use quorate_curve::{Backend, G1, G2, Group, Weight};
use rand_core::Rng;

use crate::{
    data,
    measure::{Effort, Engine, measure},
    row::Row,
};

pub(crate) fn run(effort: Effort) -> Vec<Row> {
    let mut rows = group::<G1>("g1", effort);
    rows.extend(group::<G2>("g2", effort));
    rows.extend(pairing(effort));
    rows
}

fn group<G: Group>(name: &str, effort: Effort) -> Vec<Row> {
    let (n, rounds) = (256, effort.choose(3, 21));
    let names: Vec<_> = (0..n).map(|i: usize| i.to_le_bytes()).collect();
    let messages: Vec<_> = names.iter().map(|m| (&[][..], &m[..])).collect();
    let points: Vec<G> = Backend::auto().hash_to_curve(b"bench", &messages);
    let bytes: Vec<_> = points.iter().map(Group::compress).collect();
    let mut rng = data::rng();
    let mut draw = |bits: u32| -> Vec<Weight> {
        let mut word = || u128::from(rng.next_u64());
        let mut weight = || if bits == 64 { word() } else { word() << 64 | word() };
        (0..n).map(|_| Weight::from_bits(weight() | 1).expect("odd")).collect()
    };
    let (weights, wide) = (draw(64), draw(128));
    let each: Vec<usize> = (1..=n).collect();
    let sixteens: Vec<usize> = (1..=n / 16).map(|i| 16 * i).collect();

    let mut rows = Vec::new();
    for backend in Backend::available() {
        let mut add = |verb: &str, work: &mut dyn FnMut()| {
            let engine = Engine::new(engine_name(*backend), 1, work);
            rows.extend(measure(&format!("curve/{name}-{verb}"), n, "point", n, rounds, vec![engine]));
        };
        add("decode", &mut || {
            bytes.iter().for_each(|b| assert!(black_box(backend.decode::<G>(b.as_ref())).is_ok()));
        });
        add("hash", &mut || assert_eq!(backend.hash_to_curve::<G>(b"bench", &messages), points));
        add("hash-for-sums", &mut || assert_eq!(backend.hash_for_sums::<G>(b"bench", &messages).len(), n));
        add("clear-sums", &mut || assert_eq!(backend.clear_sums(&points).len(), n));
        add("subgroup", &mut || assert!(backend.in_subgroup(&points).into_iter().all(|member| member)));
        add("sum", &mut || assert!(!backend.sum(black_box(&points)).is_identity()));
        add("weigh-64", &mut || assert_eq!(backend.weighted_sums(&points, &weights, &each).len(), n));
        add("weigh-128", &mut || assert_eq!(backend.weighted_sums(&points, &wide, &each).len(), n));
        add("weighted-16-64", &mut || assert_eq!(backend.weighted_sums(&points, &weights, &sixteens).len(), n / 16));
        add("weighted-sum-64", &mut || assert_eq!(backend.weighted_sums(&points, &weights, &[n]).len(), 1));
        add("weighted-sum-128", &mut || assert_eq!(backend.weighted_sums(&points, &wide, &[n]).len(), 1));
    }
    rows
}

fn pairing(effort: Effort) -> Vec<Row> {
    let rounds = effort.choose(5, 51);
    let mut rows = Vec::new();
    for backend in Backend::available() {
        for n in [1, 2, 8, 16] {
            let pairs = vec![(G1::generator(), G2::generator()); n];
            let engine = Engine::new(engine_name(*backend), 1, || {
                black_box(backend.miller_product(black_box(&pairs)));
            });
            rows.extend(measure("curve/miller", n, "pair", n, rounds, vec![engine]));
        }
        let value = backend.miller_product(&[(G1::generator(), G2::generator())]);
        let engine = Engine::new(engine_name(*backend), 1, || {
            assert!(!backend.final_exponentiation(black_box(value)).is_one());
        });
        rows.extend(measure("curve/final-exponentiation", 1, "value", 1, rounds, vec![engine]));
    }
    rows
}

fn engine_name(backend: Backend) -> &'static str {
    match backend.name() {
        "portable" => "quorate/portable",
        other => other,
    }
}
