//! `single/*`: how long one claim takes by itself: what a node waits for before it relays a message.

use std::{hint::black_box, slice::from_ref};

use quorate::{Bls12381Suite, ClaimBytes, MinPk, MinSig, Suite, Verifier, verify};

use crate::{
    batch::{Blst, BlstMinSig},
    data::{self, signed},
    measure::{Engine, Run, measure},
    row::Row,
};

pub(crate) fn run(run: &Run) -> Vec<Row> {
    let min_pk = Blst::new(&signed(MinPk::Eth2, 1, |i| i, |i| i));
    let mut rows = verified(run, "single/verify", MinPk::Eth2, &|| min_pk.verify_each()[0]);
    let min_sig = BlstMinSig::new(&signed(MinSig::ProofOfPossession, 1, |i| i, |i| i));
    rows.extend(seen_before(run, MinPk::Eth2, &|| min_pk.verify_each()[0]));
    rows.extend(verified(run, "single/verify-min-sig", MinSig::ProofOfPossession, &|| min_sig.verify_one()));
    rows
}

/// By a verifier that has hashed the message before, for another key, as in a committee. Its signature is decoded inside. blst
/// keeps no hashes, and its row is that of decoded points.
fn seen_before(run: &Run, suite: MinPk, blst: &dyn Fn() -> bool) -> Vec<Row> {
    let claims = signed(suite, 2, |i| i, |_| 0)
        .into_iter()
        .map(|s| ClaimBytes::single(suite.any(), &s.key.to_bytes(), &s.message, &s.signature.to_bytes()));
    let claims: Vec<_> = claims.collect();
    let mut engines = vec![Engine::new("blst", 1, || assert!(blst()))];
    engines.extend(run.each(&[1]).map(|(backend, threads)| {
        let verifier = Verifier::new(data::options(backend, threads));
        assert!(verifier.verify(&claims, &mut data::rng()).all_valid());
        let claim = &claims[1];
        Engine::of(backend, threads, move || {
            let outcome = verifier.verify(from_ref(black_box(claim)), &mut data::rng());
            assert!(outcome.all_valid() && outcome.work.hashes == 0);
        })
        .note("message seen before; signature decoded inside")
    }));
    measure("single/verify-seen-message", 1, "claim", 1, run.choose(11, 301), engines)
}

/// From decoded points, the signature's subgroup check inside.
fn verified<S: Bls12381Suite>(run: &Run, bench: &str, suite: S, blst: &dyn Fn() -> bool) -> Vec<Row> {
    let claim = signed(suite, 1, |i| i, |i| i)[0].unchecked(suite);
    let mut engines = vec![Engine::new("blst", 1, || assert!(blst()))];
    engines.extend(run.each(&[1]).map(|(backend, threads)| {
        let (claim, options) = (&claim, data::options(backend, threads));
        Engine::of(backend, threads, move || {
            assert!(verify(from_ref(black_box(claim)), &options, &mut data::rng()).all_valid());
        })
    }));
    measure(bench, 1, "claim", 1, run.choose(11, 301), engines)
}
