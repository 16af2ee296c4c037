//! Multiples of the generators and of other points.

use quorate::Backend;
use quorate_curve::{Bls12381Group, DecodeError, SecretScalar};
use serde::Deserialize;

use quorate_lab::answers::{
    File, Vectors,
    bytes::{FieldBytes, ScalarBytes},
    catalogue::Kind,
};

/// The points k·G for k = 0, 1, 2 and so on. Each is decoded and encoded, and compared with the point before it plus G
/// and with the secret k times G.
#[test]
fn multiples_of_the_generators() {
    let Some(vectors) = Vectors::open("multiples of the generators", &["03"]) else { return };
    vectors.collect("multiples of a generator", |file| {
        let in_g1 = file.stem().starts_with("g1");
        match file.kind {
            Kind::Points if in_g1 => Some(multiples(file, |secret| secret.times_g1())),
            Kind::Points => Some(multiples(file, |secret| secret.times_g2())),
            _ => None,
        }
        .map(|count| vec![(); count])
    });
}

/// The points sk·P for points P that are not generators, computed as signatures over P.
#[test]
fn multiples_of_other_points() {
    let Some(vectors) = Vectors::open("multiples of other points", &["03"]) else { return };
    let found = vectors.collect("multiples of a point", |file| match file.kind {
        Kind::ScalarMultiplication if file.name.contains("_G1_") => Some(products(file, SecretScalar::sign_in_g1)),
        Kind::ScalarMultiplication => Some(products(file, SecretScalar::sign_in_g2)),
        _ => None,
    });
    println!(
        "{} of them by no secret key: zero, or not below the order",
        found.iter().filter(|by_key| !**by_key).count()
    );
}

fn multiples<G: Bls12381Group>(file: &File, times: impl Fn(&SecretScalar) -> G) -> usize {
    let content = file.bytes();
    let compressed = !file.stem().contains("uncompressed");
    let length = if compressed { G::COMPRESSED } else { G::UNCOMPRESSED };
    let start = first_multiple(file);
    assert_eq!(content.len() % length, 0, "{}: whole points", file.name);
    for &backend in Backend::available() {
        let decode = |bytes: &[u8]| -> Result<G, DecodeError> {
            if compressed { backend.decode(bytes) } else { backend.decode_uncompressed(bytes) }
        };
        let mut points: Vec<G> = Vec::new();
        for (place, bytes) in content.chunks_exact(length).enumerate() {
            let k = start + place as u64;
            let at = format!("{}: {k}·G on {backend}", file.name);
            let point = decode(bytes).unwrap_or_else(|e| panic!("{at}: {e}"));
            let (short, long) = (point.compress(), point.serialize());
            assert_eq!(if compressed { short.as_ref() } else { long.as_ref() }, bytes, "{at}");
            let other =
                if compressed { backend.decode_uncompressed(long.as_ref()) } else { backend.decode(short.as_ref()) };
            assert_eq!(other, Ok(point), "{at}");
            assert_eq!(scalar(k).map_or(G::IDENTITY, |secret| times(&secret)), point, "{at}");
            if let Some(last) = points.last() {
                assert_eq!(backend.sum(&[*last, G::generator()]), point, "{at}");
            }
            points.push(point);
        }
        assert!(backend.in_subgroup(&points).into_iter().all(|member| member), "{}", file.name);
    }
    content.len() / length
}

/// The name of a file with a part of the multiples says which part: `…_600-999.dat`.
fn first_multiple(file: &File) -> u64 {
    let cut = file.stem().rsplit('_').next().and_then(|range| range.split_once('-'));
    cut.map_or(0, |(first, _)| first.parse().unwrap_or_else(|e| panic!("{}: {e}", file.name)))
}

/// `None` for zero, which is not a secret key.
fn scalar(k: u64) -> Option<SecretScalar> {
    let mut bytes = [0; 32];
    bytes[24..].copy_from_slice(&k.to_be_bytes());
    SecretScalar::from_bytes(&bytes).ok()
}

/// An element of Fp, or of Fp2 by its parts.
#[derive(Deserialize)]
#[serde(untagged)]
enum Coordinate {
    Fp(FieldBytes),
    Fp2 { c0: FieldBytes, c1: FieldBytes },
}

#[derive(Deserialize)]
struct Point {
    x: Coordinate,
    y: Coordinate,
}

impl Point {
    fn decode<G: Bls12381Group>(&self, id: &str) -> G {
        let bytes: Vec<u8> = [&self.x, &self.y].into_iter().flat_map(Coordinate::bytes).collect();
        Backend::Portable.decode_uncompressed(&bytes).unwrap_or_else(|e| panic!("{id}: {e}"))
    }
}

impl Coordinate {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Fp(x) => x.0.to_vec(),
            Self::Fp2 { c0, c1 } => [c1.0, c0.0].concat(),
        }
    }
}

/// Whether the scalar of each product is a secret key. The products of secret keys are checked.
fn products<G: Bls12381Group>(file: &File, multiply: impl Fn(&SecretScalar, &G) -> G) -> Vec<bool> {
    #[derive(Deserialize)]
    #[serde(rename_all = "UPPERCASE")]
    struct Product {
        p: Point,
        #[serde(rename = "scalar")]
        scalar: ScalarBytes,
        q: Point,
    }
    let check = |(index, product): (usize, Product)| {
        let id = file.id(index);
        let (p, q) = (product.p.decode::<G>(&id), product.q.decode::<G>(&id));
        let secret = SecretScalar::from_bytes(&product.scalar.0).ok();
        if let Some(secret) = &secret {
            assert_eq!(multiply(secret, &p), q, "{id}");
        }
        secret.is_some()
    };
    file.items("vectors").into_iter().map(check).collect()
}
