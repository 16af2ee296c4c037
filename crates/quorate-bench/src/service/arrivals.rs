//! `block/arrivals=R` and `block/arrivals-spoiled=R`: transactions that arrive one by one at R a second, on one thread and on two.
//! They are verified singly, in batches of a fixed size or after 100 ms as in "BLS: Is it really that slow?", and by the batcher.
//! In the spoiled rows one transaction in 128 is false.

use std::{sync::Arc, time::Duration};

use blst::{BLST_ERROR, min_pk};
use quorate::{ClaimBytes, Verdict};
use quorate_batcher::{Class, Settings};

use super::{
    Bench, BlstClaim, TAG, blst_claim,
    load::{self, Expected},
    policy::{Collector, Embedded, Policy, Verify},
};
use crate::{batch::weights, measure::Run, row::Row};

pub(crate) fn run(run: &Run) -> Vec<Row> {
    let mut bench = Bench::with_claims(run, 4096);
    let mut rows = Vec::new();
    for threads in run.choose(&[2][..], &[1, 2]) {
        bench.threads = *threads;
        for rate in run.choose(&[100u32, 10_000][..], &[10, 100, 1000, 10_000, 100_000]) {
            for spoiled in [false, true] {
                rows.extend(at_rate(&bench, *rate, spoiled));
            }
        }
    }
    rows
}

fn at_rate(bench: &Bench<'_>, rate: u32, spoiled: bool) -> Vec<Row> {
    let name = format!("block/arrivals{}={rate}", if spoiled { "-spoiled" } else { "" });
    let claims = if spoiled { with_false_ones(&bench.claims) } else { bench.claims.clone() };
    // Ten a second are few, so their load lasts longer.
    let time =
        bench.run.choose(Duration::from_millis(500), Duration::from_millis(if rate < 100 { 4000 } else { 1000 }));
    let n = claims.len();
    let chosen = move |i: u64| {
        let index = i as usize % n;
        Expected { index, valid: !(spoiled && is_false(index)), counts: true }
    };
    let mut rows = Vec::new();
    let blst: Arc<Vec<BlstClaim>> = Arc::new(
        bench
            .signed
            .iter()
            .zip(claims.iter())
            .map(|(s, c)| BlstClaim { signature: c.signature.clone(), ..blst_claim(s) })
            .collect(),
    );
    let each = {
        let blst = blst.clone();
        Box::new(move |indices: &[usize]| indices.iter().map(|i| blst[*i].verify()).collect())
    };
    let batch =
        Box::new(move |indices: &[usize]| batch_by_blst(&indices.iter().map(|i| &blst[*i]).collect::<Vec<_>>()));
    let by_blst: [(&str, Policy, Verify); 2] =
        [("naive/blst", of_size(1), each), ("batch-128/blst", of_size(128), batch)];
    let by_quorate = [("batch-32/quorate", 32), ("batch-128/quorate", 128)];
    let collectors = by_blst
        .into_iter()
        .map(|(engine, policy, verify)| (engine, Collector::with(policy, bench.threads, verify)))
        .chain(by_quorate.map(|(engine, n)| {
            (engine, Collector::start(of_size(n), bench.verifier(), claims.clone(), bench.threads))
        }));
    for (engine, collector) in collectors {
        let collector = Arc::new(collector);
        let driven = load::drive(&collector, f64::from(rate), time, chosen);
        rows.push(bench.cpu_row(&name, engine, &driven, collector.mean_batch(), None));
    }
    let (warm, seen) = bench.embedded(Settings::default());
    let target = Arc::new(Embedded { batcher: warm.batcher.clone(), claims, class: Class::Gossip });
    let before = seen.counts();
    let driven = load::drive(&target, f64::from(rate), time, chosen);
    let (batch, wait) = seen.means_since(before);
    rows.push(bench.cpu_row(&name, "quorate/embedded", &driven, batch, Some(wait)));
    rows
}

/// The policy of the source: a batch of this size, or what there is after 100 ms.
const fn of_size(n: usize) -> Policy {
    Policy { least: n, wait: Duration::from_millis(100), most: n, queue: QUEUE }
}

/// Some seconds of blst's work, so that a load above what it can verify ends soon.
const QUEUE: usize = 2048;

fn is_false(index: usize) -> bool {
    index % 128 == 64
}

/// The claims, of which some have the signature of another.
fn with_false_ones(claims: &[ClaimBytes]) -> Arc<Vec<ClaimBytes>> {
    let n = claims.len();
    let changed = claims.iter().enumerate().map(|(i, claim)| match is_false(i) {
        true => ClaimBytes { signature: claims[(i + 1) % n].signature.clone(), ..claim.clone() },
        false => claim.clone(),
    });
    Arc::new(changed.collect())
}

/// blst's batch, and each claim by itself if it fails.
fn batch_by_blst(claims: &[&BlstClaim]) -> Vec<Verdict> {
    let signatures: Vec<_> =
        claims.iter().map(|claim| min_pk::Signature::from_bytes(&claim.signature).expect("a signature")).collect();
    let result = min_pk::Signature::verify_multiple_aggregate_signatures(
        &claims.iter().map(|claim| &claim.message[..]).collect::<Vec<_>>(),
        TAG,
        &claims.iter().map(|claim| &claim.key).collect::<Vec<_>>(),
        false,
        &signatures.iter().collect::<Vec<_>>(),
        true,
        &weights(claims.len()),
        64,
    );
    if result == BLST_ERROR::BLST_SUCCESS {
        return vec![Verdict::Valid; claims.len()];
    }
    claims.iter().map(|claim| claim.verify()).collect()
}
