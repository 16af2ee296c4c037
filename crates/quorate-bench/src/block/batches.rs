//! `block/batch=B` and `block/batch-spoiled=B`: transactions that arrive by gossip and are verified in batches of B, as many as
//! one or two threads can take. In a spoiled batch one transaction is false, and the verifier must say which.
//!
//! The source ("BLS: Is it really that slow?") verifies a spoiled batch again one by one, and so does blst here.

use std::{hint::black_box, thread};

use quorate::{Backend, Claim, MinPk, verify};

use crate::{
    batch::Blst,
    data::{self, Signed, signed},
    measure::{Engine, Run, measure},
    row::Row,
};

pub(super) fn run(run: &Run) -> Vec<Row> {
    let mut rows = Vec::new();
    for n in run.choose(&[1, 32, 128][..], &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512]) {
        for bad in [None, Some(n / 2)] {
            rows.extend(of_size(run, *n, bad));
        }
    }
    rows
}

fn of_size(run: &Run, n: usize, bad: Option<usize>) -> Vec<Row> {
    let mut transactions = signed(MinPk::Eth2, n, |i| i, |i| i);
    if let Some(bad) = bad {
        let other = signed(MinPk::Eth2, 1, |_| n, |_| n);
        transactions[bad].signature = other[0].signature;
    }
    let batches = (64 / n).max(1);
    let blst = Blst::new(&transactions);
    let claims: Vec<_> = transactions.iter().map(|s: &Signed<MinPk>| s.unchecked(MinPk::Eth2)).collect();
    let name = if bad.is_none() { "batch" } else { "batch-spoiled" };
    let mut rows = Vec::new();
    for threads in [1, 2] {
        let work = || in_parallel(threads, batches, || by_blst(&blst, bad));
        let note = if bad.is_some() { "its batch, then one by one" } else { "" };
        let one_by_one = Engine::new("naive/blst", threads, || {
            in_parallel(threads, batches, || assert_eq!(false_ones(&blst.verify_each()), Vec::from_iter(bad)));
        });
        let mut engines = vec![one_by_one, Engine::new("blst", threads, work).note(note)];
        engines.extend(run.each(&[threads]).map(|(backend, threads)| {
            let claims = &claims;
            Engine::of(backend, threads, move || in_parallel(threads, batches, || by_quorate(claims, bad, backend)))
        }));
        let bench = format!("block/{name}={n}");
        rows.extend(measure(
            &bench,
            n,
            "claim",
            n * batches * threads,
            run.choose(2, if n > 64 { 4 } else { 7 }),
            engines,
        ));
    }
    rows
}

/// Each thread verifies batches of its own.
fn in_parallel(threads: usize, batches: usize, batch: impl Fn() + Sync) {
    let work = || (0..batches).for_each(|_| batch());
    thread::scope(|scope| {
        (1..threads).for_each(|_| {
            scope.spawn(work);
        });
        work();
    });
}

fn by_blst(blst: &Blst, bad: Option<usize>) {
    let valid = blst.verify(true);
    assert_eq!(valid, bad.is_none());
    if !valid {
        assert_eq!(false_ones(&blst.verify_each()), Vec::from_iter(bad));
    }
}

fn by_quorate(claims: &[Claim<MinPk>], bad: Option<usize>, backend: Backend) {
    let outcome = verify(black_box(claims), &data::options(backend, 1), &mut data::rng());
    assert!(outcome.invalid().eq(bad));
}

fn false_ones(verdicts: &[bool]) -> Vec<usize> {
    (0..verdicts.len()).filter(|i| !verdicts[*i]).collect()
}
