//! `hash/*`, `single/sign` and others, `multi/*`, `round/*`: the case of "Benchmarking Hash and Signature Algorithms"
//! (P. Wang, C. Hua, M. Zochowski, 2019), whose figures are lost. Its parameters are those of its authors' code
//! (github.com/LogosNetwork/crypto-function-benchmark, commit 0468833): messages of 14 sizes from 128 bytes to 1 MiB, and
//! 32 delegates who sign 512 bytes. It ran on an E5-2686 v4 at 2.3 GHz.
//!
//! `hash` and `single` measure hashes and one signer. `protocol` says what a scheme of many signers must do, and `musig2`,
//! `frost`, `bls`, `bls_by_blst` and `ed25519` do it. `multi` measures their steps, and `round` whole runs. All times are
//! wall-clock times of one thread. `aws_lc` has the engines of a library that a feature turns on.

mod sizes;
mod protocol;
mod aws_lc;
mod bls;
mod bls_by_blst;
mod ed25519;
mod frost;
mod hash;
mod multi;
mod musig2;
mod round;
mod single;

use quorate::{Backend, MinPk, MinSig};

use self::{
    bls::{Bls, Kind},
    bls_by_blst::BlsByBlst,
    ed25519::Ed25519,
    frost::Frost,
    musig2::Musig2,
    protocol::Protocol,
    sizes::Sizes,
};
use crate::{measure::Run, row::Row};

pub(crate) fn run(run: &Run) -> Vec<Row> {
    if !cfg!(feature = "aws-lc") {
        eprintln!("skipped: AWS-LC, which `--features quorate-bench/aws-lc` builds in");
    }
    measured(&Sizes::of(run), run)
}

fn measured(sizes: &Sizes, run: &Run) -> Vec<Row> {
    let backend = backend(run);
    let mut rows = hash::run(sizes);
    rows.extend(single::run(sizes, backend));
    let protocols = protocols(sizes, backend);
    rows.extend(multi::run(sizes, &protocols));
    rows.extend(bls::aggregate_many(run, sizes));
    rows.extend(round::run(sizes, &protocols));
    rows
}

/// The fastest backend, unless `--backend` chose another.
fn backend(run: &Run) -> Backend {
    let fastest = Backend::auto();
    if run.backends.contains(&fastest) { fastest } else { run.backends[0] }
}

fn protocols(sizes: &Sizes, backend: Backend) -> Vec<Box<dyn Protocol>> {
    let (n, quorum) = (sizes.delegates, sizes.quorum);
    vec![
        Box::new(Musig2::new(n)),
        Box::new(Frost::new(n, quorum)),
        Box::new(Bls::new("bls-distinct-min-sig/quorate", MinSig::Basic, Kind::Distinct, backend, n)),
        Box::new(Bls::new("bls-bdn-min-sig/quorate", MinSig::Bdn, Kind::Coefficients, backend, n)),
        Box::new(Bls::new("bls-bdn-min-pk/quorate", MinPk::Bdn, Kind::Coefficients, backend, n)),
        Box::new(Bls::new("bls-pop-min-sig/quorate", MinSig::ProofOfPossession, Kind::Possession, backend, n)),
        Box::new(Bls::new("bls-pop-min-pk/quorate", MinPk::ProofOfPossession, Kind::Possession, backend, n)),
        Box::new(BlsByBlst::new(n)),
        Box::new(Ed25519::new(n, quorum)),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{sizes::MESSAGE, *};
    use crate::measure::Effort;

    fn small() -> Sizes {
        Sizes {
            messages: vec![64, MESSAGE],
            delegates: 5,
            quorum: 3,
            corrupted: 1,
            bad: vec![0, 1, 2, 3, 5],
            keys: 9,
            rounds: 1,
        }
    }

    pub(super) fn protocols() -> Vec<Box<dyn Protocol>> {
        super::protocols(&small(), Backend::auto())
    }

    /// A run with few delegates has every bench that a full one has, each engine's answers asserted.
    #[test]
    fn every_bench_has_its_rows() {
        let run = Run { effort: Effort::Quick, backends: Backend::available().to_vec() };
        let rows = measured(&small(), &run);
        let found: BTreeSet<_> = rows.iter().map(|row| &row.bench[..]).collect();
        let hashes = "md5 sha-1 sha-256 sha-512 sha3-256 shake-128 shake-256 keccak-256 blake2b blake2s blake3";
        let hashes = hashes.split(' ').map(|hash| format!("hash/{hash}"));
        let others = "single/sign single/verify single/verify-from-bytes \
            multi/aggregate-keys multi/sign multi/aggregate multi/verify \
            multi/find-bad=0 multi/find-bad=1 multi/find-bad=2 multi/find-bad=3 multi/find-bad=5 \
            round/A/delegate round/A/primary round/B/delegate round/B/primary";
        let expected: BTreeSet<_> = hashes.chain(others.split_whitespace().map(str::to_owned)).collect();
        assert_eq!(found, expected.iter().map(|bench| &bench[..]).collect());
        assert_eq!(rows.iter().any(|row| row.engine == "ed25519/aws-lc"), cfg!(feature = "aws-lc"));
        let of_many: Vec<_> =
            rows.iter().filter(|row| row.n == 9).map(|row| (&row.engine[..], &row.note[..])).collect();
        let expected = Backend::available().iter().flat_map(|backend| {
            ["bls-bdn-min-pk/quorate", "bls-bdn-min-sig/quorate"].map(|engine| (engine, backend.name()))
        });
        assert_eq!(of_many, expected.collect::<Vec<_>>());
        let has_traffic = |row: &&Row| row.bench.starts_with("round/") && row.bench.ends_with("/primary");
        assert!(rows.iter().all(|row| row.traffic.is_some() == has_traffic(&row)));
    }

    /// Each of them and no other bench.
    #[test]
    fn a_full_run_searches_for_up_to_ten_bad_shares() {
        let full = Sizes::of(&Run { effort: Effort::Full, backends: vec![Backend::auto()] });
        assert_eq!(full.bad, [0, 1, 2, 3, 5, 10]);
        assert_eq!((full.delegates, full.quorum, full.corrupted), (32, 22, 10));
        assert!([64, 128, 512, 1024, 2048, 1 << 20].iter().all(|size| full.messages.contains(size)));
        assert_eq!(full.messages.len(), 15);
    }
}
