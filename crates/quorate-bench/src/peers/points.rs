//! Tasks whose answer is a point.

use std::hint::black_box;

use blst::{MultiPoint as _, blst_p1_affine, min_pk};
use quorate::{Backend, MinPk, PublicKey};
use quorate_curve::Scalar;
use rand_core::Rng as _;

use super::task::{Bytes, Found, Group, Input, Job, MIN_PK_TAG, Ours, Task};
use crate::data::{self, signed};

/// A task with n keys, which no claim has.
fn of_keys(job: Job, n: usize) -> Input {
    let signed = signed(MinPk::Eth2, n, |i| i, |_| 0);
    Input { keys: signed.iter().map(|s| Bytes::of(s.key.to_bytes())).collect(), ..Input::new(job, Group::MinPk) }
}

pub(super) fn key_sum(n: usize) -> Task {
    let truth = of_keys(Job::KeySum, n);
    let changed = Input { keys: truth.keys[1..].to_vec(), ..truth.clone() };
    let keys = truth.blst_keys();
    let blst = move || {
        let keys: Vec<_> = keys.iter().collect();
        let sum = min_pk::AggregatePublicKey::aggregate(&keys, false).expect("keys to add").to_public_key();
        Found::Encoded(sum.compress())
    };
    let ours = |input: &Input| -> Ours {
        let points: Vec<_> = input.decoded_keys().iter().map(PublicKey::point).collect();
        Box::new(move |backend: Backend| Found::G1(backend.sum(black_box(&points))))
    };
    Task::new("peers/key-sum", n, "sum", truth, vec![changed], ours, Some(Box::new(blst)))
}

pub(super) fn hash_to_g2() -> Task {
    let [truth, changed] = [b"one message", b"other words"]
        .map(|text| Input { messages: vec![Bytes::of(text)], ..Input::new(Job::Hash, Group::MinPk) });
    let ours = |input: &Input| -> Ours {
        let message = input.messages[0].0.clone();
        Box::new(move |backend: Backend| {
            Found::G2(backend.hash_to_curve_one(MIN_PK_TAG.as_bytes(), (&[], black_box(&message))))
        })
    };
    Task::new("peers/hash-to-g2", 1, "message", truth, vec![changed], ours, None)
}

pub(super) fn msm_g1(n: usize) -> Task {
    let mut rng = data::rng();
    let mut scalar = || {
        let mut bytes = [0; 48];
        rng.fill_bytes(&mut bytes);
        Bytes::of(Scalar::reduce(&bytes).to_bytes())
    };
    let truth = Input { scalars: (0..n).map(|_| scalar()).collect(), ..of_keys(Job::Msm, n) };
    let mut changed = truth.clone();
    changed.scalars.swap(0, 1);
    let points: Vec<blst_p1_affine> = truth.blst_keys().into_iter().map(Into::into).collect();
    let little: Vec<u8> = truth.scalars.iter().flat_map(|scalar| scalar.0.iter().rev().copied()).collect();
    let blst = move || {
        let sum = points.mult(&little, 255);
        Found::Encoded(min_pk::AggregatePublicKey::from(sum).to_public_key().compress())
    };
    let ours = |input: &Input| -> Ours {
        let points = input.decoded_keys().into_iter().map(|key| key.point());
        let terms: Vec<_> = points.zip(input.scalars.iter().map(|scalar| Scalar::reduce(&scalar.0))).collect();
        Box::new(move |backend: Backend| Found::G1(backend.msm(black_box(&terms))))
    };
    Task::new("peers/msm-g1", n, "point", truth, vec![changed], ours, Some(Box::new(blst)))
}
