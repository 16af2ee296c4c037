//! `msm/*`: the time of multi-scalar multiplications for a point, with public scalars of 255 bits.

use std::hint::black_box;

use blst::{MultiPoint, blst_p1, blst_p1_affine, blst_p2, blst_p2_affine, min_pk};
use quorate::Backend;
use quorate_curve::{Bls12381Group, G1, G2, Scalar};
use rand_core::Rng;

use crate::{
    data,
    measure::{Engine, Run, measure},
    row::Row,
};

pub(crate) fn run(run: &Run) -> Vec<Row> {
    let mut rows = Vec::new();
    for log in run.choose(&[10][..], &[10, 14, 16]) {
        // The only safe ways from blst's points to bytes are a key and a signature.
        rows.extend(group::<G1, blst_p1_affine, _>(
            run,
            "msm/g1",
            1 << log,
            |bytes| min_pk::PublicKey::deserialize(bytes).expect("a point").into(),
            |sum: blst_p1| min_pk::AggregatePublicKey::from(sum).to_public_key().serialize().to_vec(),
        ));
        rows.extend(group::<G2, blst_p2_affine, _>(
            run,
            "msm/g2",
            1 << log,
            |bytes| min_pk::Signature::deserialize(bytes).expect("a point").into(),
            |sum: blst_p2| min_pk::AggregateSignature::from(sum).to_signature().serialize().to_vec(),
        ));
    }
    rows
}

fn group<G: Bls12381Group, A, J>(
    run: &Run,
    bench: &str,
    n: usize,
    into_blst: impl Fn(&[u8]) -> A,
    from_blst: impl Fn(J) -> Vec<u8>,
) -> Vec<Row>
where
    [A]: MultiPoint<Output = J>,
{
    let points = points::<G>(n);
    let blst_points: Vec<A> = points.iter().map(|point| into_blst(point.serialize().as_ref())).collect();
    let mut rng = data::rng();
    let scalar = |_| {
        let mut bytes = [0; 32];
        rng.fill_bytes(&mut bytes);
        bytes[31] &= 0x7f;
        bytes
    };
    let scalars: Vec<[u8; 32]> = (0..n).map(scalar).collect();
    let public = |bytes: &[u8; 32]| {
        let mut bytes = *bytes;
        bytes.reverse();
        Scalar::reduce(&bytes)
    };
    let terms: Vec<_> = points.into_iter().zip(scalars.iter().map(public)).collect();
    let expected: G = Backend::Portable.msm(&terms);
    let mut engines = vec![Engine::new("blst", 1, || {
        assert_eq!(from_blst(blst_points.mult(scalars.as_flattened(), 255)), expected.serialize().as_ref());
    })];
    engines.extend(run.each(&[1]).map(|(backend, threads)| {
        let terms = &terms;
        Engine::of(backend, threads, move || {
            assert_eq!(backend.msm(black_box(terms)), expected);
        })
    }));
    measure(bench, n, "point", n, run.choose(3, 7), engines)
}

/// Points that differ: the sums of a hash of one short list and one of another.
fn points<G: Bls12381Group>(n: usize) -> Vec<G> {
    let root = n.isqrt() + 1;
    let names: Vec<_> = (0..2 * root).map(|i| i.to_le_bytes()).collect();
    let messages: Vec<_> = names.iter().map(|m| (&[][..], &m[..])).collect();
    let hashes: Vec<G> = Backend::Portable.hash_to_curve(b"bench", &messages);
    let (rows, columns) = hashes.split_at(root);
    Backend::Portable.sums(&(0..n).map(|i| [rows[i / root], columns[i % root]]).collect())
}
