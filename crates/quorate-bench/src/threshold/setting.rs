//! What the measurements of this folder have in common: engines, rounds, participants, and the source's machine.

use quorate::Backend;
use quorate_curve::Scalar;
use quorate_threshold::{Committee, Index};
use rand_core::Rng;

use crate::{block::published, data, measure::Run, row::Row};

/// Every backend with these numbers of threads. For more than `most` signers the fastest alone, because blst takes minutes.
pub(super) fn engines<'a>(
    run: &'a Run,
    threads: &'a [usize],
    t: usize,
    most: usize,
) -> impl Iterator<Item = (Backend, usize)> {
    run.each(threads).filter(move |(backend, _)| t <= most || *backend == run.backends[0])
}

pub(super) fn rounds(run: &Run, t: usize) -> usize {
    let full = match t {
        0..1_024 => 31,
        1_024..10_000 => 9,
        10_000..100_000 => 3,
        _ => 1,
    };
    run.choose(full.min(3), full)
}

pub(super) fn scalar(rng: &mut impl Rng) -> Scalar {
    let mut bytes = [0; 48];
    rng.fill_bytes(&mut bytes);
    Scalar::reduce(&bytes)
}

/// A random t of the participants, ascending.
pub(super) fn random_half(committee: &Committee) -> Vec<Index> {
    let (t, n) = (committee.threshold(), committee.participants());
    let mut rng = data::rng();
    let mut all: Vec<_> = committee.indices().collect();
    for i in 0..t {
        all.swap(i, i + (rng.next_u64() as usize) % (n - i));
    }
    all.truncate(t);
    all.sort_unstable();
    all
}

/// A figure of the source. It measured on BN254, with an Intel i7-980X.
pub(super) fn source(bench: &str, t: usize, per: &str, seconds: f64, what: &str) -> Row {
    let note = format!("A. Tomescu et al., 2020, BN254, Intel i7-980X; {what}");
    let row = published(bench, t, "published/libpolycrypto", seconds * 1e6, &note);
    Row { per: per.into(), ..row }
}

/// What all signers sign.
pub(super) const MESSAGE: &[u8] = b"one message for all";
