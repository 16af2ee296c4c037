//! `collect/bytes`: t signature shares as bytes to one verified signature, with their decoding in it, compressed or not.
//! `collect/decode` and `collect/combine` are its parts; the rest is one pairing check. No share is false, so that no share
//! is checked for membership of the subgroup by itself, only the signature.

use quorate::{Bls12381Suite, MinPk, MinSig, PublicKey, UncheckedSignature, threads::parallel_chunks};
use quorate_curve::{Backend, Bls12381Group, Domain, Group, Scalar};
use quorate_threshold::{Collector, Committee, Identifiers, Interpolation};

use super::setting::{MESSAGE, engines, random_half, rounds, scalar};
use crate::{
    data::{self, options},
    measure::{Engine, Run, measure},
    row::Row,
};

pub(super) fn run(run: &Run) -> Vec<Row> {
    let mut rows = Vec::new();
    for log in run.choose(&[10][..], &[14, 17]) {
        rows.extend(collect(run, MinPk::Basic, "collect", 1 << log));
        rows.extend(collect(run, MinSig::Basic, "collect/min-sig", 1 << log));
    }
    rows
}

fn collect<S: Bls12381Suite>(run: &Run, suite: S, bench: &str, t: usize) -> Vec<Row> {
    let backend = Backend::auto();
    let committee = &Committee::new(t, 2 * t - 1, Identifiers::RootsOfUnity, backend).expect("a committee");
    let mut rng = data::rng();
    let mut values: Vec<_> = (0..t).map(|_| scalar(&mut rng)).collect();
    let secret = values[0];
    values.resize(2 * t, Scalar::ZERO);
    Domain::new(backend, 2 * t).expect("a power of two").evaluate(&mut values);
    let signers = &random_half(committee);
    let values: Vec<_> = signers.iter().map(|index| values[index.place()]).collect();
    let hash: S::Signature = backend.hash_to_curve_one(suite.id().as_bytes(), (b"", MESSAGE));
    let shares = backend.multiples(&vec![hash; t], &values);
    let key = |secret| backend.msm(&[(S::Key::generator(), secret)]);
    let public_key = PublicKey::<S>::assume_in_subgroup(key(secret)).expect("not the identity");
    // Without a false share no verification key is used.
    let keys = vec![Some(public_key); 2 * t - 1];
    let signature = backend.msm(&[(hash, secret)]);

    let mut rows = Vec::new();
    let compressed: Vec<Vec<u8>> = shares.iter().map(|share| share.compress().as_ref().to_vec()).collect();
    let uncompressed: Vec<Vec<u8>> = shares.iter().map(|share| share.serialize().as_ref().to_vec()).collect();
    for (name, bytes) in [("compressed", &compressed), ("uncompressed", &uncompressed)] {
        let arrivals: Vec<_> =
            signers.iter().map(|index| u64::from(index.number())).zip(bytes.iter().map(Vec::as_slice)).collect();
        let arrivals = &arrivals;
        let all = engines(run, &[1, 2], t, 1 << 14).map(|(backend, threads)| {
            let options = options(backend, threads);
            let collector = Collector::new(committee.clone(), suite, public_key, keys.clone(), MESSAGE, options);
            let collector = collector.expect("a key for each participant");
            Engine::of(backend, threads, move || {
                let mut collector = collector.clone();
                collector.add_each(arrivals, &mut data::rng());
                assert_eq!(collector.signature().map(|signature| signature.point()), Some(signature));
            })
            .note(name)
        });
        rows.extend(measure(&format!("{bench}/bytes"), t, "signature", 1, rounds(run, t), all.collect()));
        let decode = engines(run, &[1, 2], t, 1 << 14).map(|(backend, threads)| {
            Engine::of(backend, threads, move || {
                let options = options(backend, threads);
                let decoded = parallel_chunks(options.threads, bytes, 64, |bytes| match name {
                    "compressed" => {
                        let bytes: Vec<_> = bytes.iter().map(Vec::as_slice).collect();
                        UncheckedSignature::<S>::from_bytes_each(&bytes, backend)
                    }
                    _ => bytes.iter().map(|bytes| UncheckedSignature::from_uncompressed(bytes)).collect(),
                });
                assert!(decoded.iter().all(Result::is_ok));
            })
            .note(name)
        });
        rows.extend(measure(&format!("{bench}/decode"), t, "signature", 1, rounds(run, t), decode.collect()));
    }
    let combine = engines(run, &[1, 2], t, 1 << 14).map(|(backend, threads)| {
        let shares = &shares;
        Engine::of(backend, threads, move || {
            let options = options(backend, threads);
            let interpolation = Interpolation::new(committee, signers, &options).expect("enough signers");
            assert_eq!(interpolation.of_points(shares, &options), signature);
        })
    });
    rows.extend(measure(&format!("{bench}/combine"), t, "signature", 1, rounds(run, t), combine.collect()));
    rows
}
