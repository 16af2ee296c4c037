//! Messages to points: RFC 9380 and the sets that follow it.

use quorate::{Backend, MinPk, MinSig, Suite};
use quorate_curve::{Bls12381Group, G1, G2};
use serde::Deserialize;

use quorate_lab::answers::{
    File, Vectors,
    bytes::{FieldBytes, Hex},
    catalogue::Kind,
    ethereum::Framed,
    secrets::compatible,
    wycheproof::tests,
};

#[test]
fn message_to_point() {
    let Some(vectors) = Vectors::open("hashing to the curve", &["01", "02", "03", "09"]) else { return };
    let hashes = vectors.collect("hashes to the curve", |file| match file.kind {
        Kind::HashToCurve => Some(rfc9380(file)),
        Kind::EthHashToG2 => Some(ethereum(file).into_iter().collect()),
        Kind::Compatibility => Some(compatibility(file)),
        Kind::WycheproofHash => Some(wycheproof(file)),
        _ => None,
    });
    for hash in &hashes {
        match hash.point.len() {
            48 | 96 if hash.in_g1 => check::<G1>(hash),
            96 | 192 if !hash.in_g1 => check::<G2>(hash),
            length => panic!("{}: a point of {length} bytes", hash.id),
        }
    }
}

/// A message and the point it hashes to, compressed or not.
struct Hash {
    id: String,
    in_g1: bool,
    tag: String,
    message: Vec<u8>,
    point: Vec<u8>,
}

/// The message in one part, and in two parts, as an AUG suite passes it.
fn check<G: Bls12381Group>(hash: &Hash) {
    let (head, tail) = hash.message.split_at(hash.message.len() / 2);
    for &backend in Backend::available() {
        let points = backend.hash_to_curve::<G>(hash.tag.as_bytes(), &[(&[], &hash.message), (head, tail)]);
        for point in points {
            let (short, long) = (point.compress(), point.serialize());
            let found = if hash.point.len() == G::COMPRESSED { short.as_ref() } else { long.as_ref() };
            assert_eq!(found, hash.point, "{} on {backend}", hash.id);
        }
    }
}

/// A point by its coordinates. A coordinate in G2 is `c0,c1`.
#[derive(Deserialize)]
struct Coordinates {
    x: String,
    y: String,
}

impl Coordinates {
    /// The uncompressed encoding, which has c1 before c0.
    fn bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        let parts = [&self.x, &self.y].into_iter().flat_map(|coordinate| coordinate.split(',').rev());
        let fields =
            parts.map(|part| serde_json::from_value::<FieldBytes>(part.into())).collect::<Result<Vec<_>, _>>()?;
        Ok(fields.into_iter().flat_map(|field| field.0).collect())
    }
}

fn rfc9380(file: &File) -> Vec<Hash> {
    #[derive(Deserialize)]
    struct Ciphersuite {
        curve: String,
        dst: String,
    }
    #[derive(Deserialize)]
    struct Vector {
        msg: String,
        #[serde(rename = "P")]
        point: Coordinates,
    }
    let Some(suite) = file.parse::<Ciphersuite>() else { return Vec::new() };
    let hash = |(index, vector): (usize, Vector)| {
        let id = file.id(index);
        let point = file.fitting(&id, vector.point.bytes())?;
        let (in_g1, tag) = (suite.curve == "BLS12-381 G1", suite.dst.clone());
        Some(Hash { id, in_g1, tag, message: vector.msg.into_bytes(), point })
    };
    file.items("vectors").into_iter().filter_map(hash).collect()
}

fn ethereum(file: &File) -> Option<Hash> {
    #[derive(Deserialize)]
    struct Input {
        msg: String,
    }
    let Framed::<Input, Coordinates> { input, output } = file.parse()?;
    Some(Hash {
        id: file.name.clone(),
        in_g1: false,
        // The set names no tag: its messages and points are those of the RFC.
        tag: "QUUX-V01-CS02-with-BLS12381G2_XMD:SHA-256_SSWU_RO_".to_owned(),
        message: input.msg.into_bytes(),
        point: file.fitting(&file.name, output.bytes())?,
    })
}

/// The set in which a missing tag means the default tag of each group, and not the empty tag.
pub(crate) const DEFAULT_TAGS: &str = "03_kyber_bls12381";

/// Records with a hash to each group under one tag, which is the proper tag of only one of the groups.
fn compatibility(file: &File) -> Vec<Hash> {
    let records = compatible(file).into_iter();
    let hashes = records.flat_map(|(index, record)| {
        [(true, record.g1.0), (false, record.g2.0)].map(|(in_g1, point)| {
            let tag = match record.ciphersuite.as_str() {
                "" if file.set == DEFAULT_TAGS && in_g1 => MinSig::Basic.id(),
                "" if file.set == DEFAULT_TAGS => MinPk::Basic.id(),
                tag => tag,
            };
            let (id, message) = (file.id(index), record.msg.clone().into_bytes());
            Hash { id, in_g1, tag: tag.to_owned(), message, point }
        })
    });
    hashes.collect()
}

fn wycheproof(file: &File) -> Vec<Hash> {
    #[derive(Deserialize)]
    struct Group {
        dst: String,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Test {
        tc_id: u32,
        msg: Hex,
        expected: Hex,
    }
    let hashes = tests::<Group, Test>(file).into_iter().map(|(group, test)| {
        let id = format!("{}#tcId {}", file.name, test.tc_id);
        Hash { id, in_g1: false, tag: group.dst.clone(), message: test.msg.0, point: test.expected.0 }
    });
    hashes.collect()
}
