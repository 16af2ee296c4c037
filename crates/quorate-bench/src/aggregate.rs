//! `aggregate/*`: the three rows of "aggregation speed" (Safe Network forum): 100 signatures by five keys verified singly,
//! the same aggregated, and one message signed by 100 keys. Aggregation is inside.

use quorate::{Backend, Bls12381Suite, Claim, MinPk, UncheckedSignature, aggregate, verify};

use crate::{
    batch::Blst,
    block::published,
    data::{self, Signed, signed},
    measure::{Engine, Run, measure},
    row::Row,
};

pub(crate) fn run(run: &Run) -> Vec<Row> {
    let n = 100;
    let suite = MinPk::Eth2;
    let few = signed(suite, n, |i| i % 5, |i| i);
    let same = signed(suite, n, |i| i, |_| 0);
    let (blst_few, blst_same) = (Blst::new(&few), Blst::new(&same));
    let rounds = run.choose(2, 21);

    let singles: Vec<_> = few.iter().map(|s| s.unchecked(suite)).collect();
    let mut rows = Vec::new();
    let mut add = |bench, blst: &dyn Fn() -> bool, work: &dyn Fn(Backend)| {
        let mut engines = vec![Engine::new("blst", 1, || assert!(blst()))];
        engines.extend(run.each(&[1]).map(|(backend, threads)| Engine::of(backend, threads, move || work(backend))));
        rows.extend(measure(bench, n, "100", 1, rounds, engines));
    };
    add("aggregate/single", &|| blst_few.verify_each().into_iter().all(|valid| valid), &|backend| {
        singles.iter().for_each(|claim| hold(claim, backend));
    });
    add("aggregate/messages", &|| blst_few.aggregate_verify(), &|backend| {
        let statements = few.iter().map(|s| (s.key, s.message.clone().into())).collect();
        hold(&Claim::each(suite, statements, sum(&few, backend)), backend);
    });
    add("aggregate/signers", &|| blst_same.fast_aggregate_verify(), &|backend| {
        let keys = same.iter().map(|s| s.key).collect();
        hold(&Claim::shared(suite, keys, same[0].message.clone(), sum(&same, backend)), backend);
    });
    let note = "noble-bls12-381 in a browser, 2021";
    for (bench, ms) in [("aggregate/single", 6445.0), ("aggregate/messages", 3606.0), ("aggregate/signers", 586.0)] {
        let row = Row { per: "100".into(), ..published(bench, n, "published/noble", ms * 1e3, note) };
        let place = rows.iter().rposition(|r| r.bench == bench).map_or(rows.len(), |i| i + 1);
        rows.insert(place, row);
    }
    rows
}

fn hold<S: Bls12381Suite>(claim: &Claim<S>, backend: Backend) {
    assert!(verify(std::slice::from_ref(claim), &data::options(backend, 1), &mut data::rng()).all_valid());
}

/// The aggregate, unchecked: its membership is checked in the verification, as blst does.
fn sum(signed: &[Signed<MinPk>], backend: Backend) -> UncheckedSignature<MinPk> {
    let signatures: Vec<_> = signed.iter().map(|s| s.signature).collect();
    UncheckedSignature::from_point(aggregate::aggregate(&signatures, backend).expect("signatures to add").point())
}
