//! Bytes that are a point, and the right flaw of those that are none.

use quorate::{Backend, MinPk, ParseError, PublicKey, Signature};
use quorate_curve::{Bls12381Group, DecodeError, G1, G2};
use serde::Deserialize;

use quorate_lab::answers::{
    File, Vectors,
    bytes::{Hex, plain},
    catalogue::Kind,
    ethereum::Framed,
    wycheproof,
};

#[test]
fn flaw_of_each_encoding() {
    let Some(vectors) = Vectors::open("encodings", &["01", "03", "09"]) else { return };
    let encodings = vectors.collect("encodings", |file| match file.kind {
        Kind::DeserializeG1 => Some(deserialize_g1(file).into_iter().collect()),
        Kind::DeserializeG2 => Some(deserialize_g2(file).into_iter().collect()),
        Kind::InvalidEncodings => Some(chia(file)),
        Kind::InvalidEncodingsByReason => Some(dash(file)),
        Kind::WycheproofVerify => Some(commented(file)),
        _ => None,
    });
    let mut named = 0;
    for encoding in &encodings {
        let stated = stated_flaw(encoding);
        named += usize::from(stated.is_some());
        for &backend in Backend::available() {
            let found = if encoding.in_g1 { decode::<G1>(backend, encoding) } else { decode::<G2>(backend, encoding) };
            agree(encoding, stated, found);
        }
        if !encoding.is_uncompressed() {
            agree(encoding, stated, parse(encoding));
        }
    }
    println!("{named} of {} encodings have a flaw that their source names", encodings.len());
    assert!(named > 0 || encodings.is_empty(), "no flaw is named");
}

/// What can be wrong with the bytes of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    Length,
    Zeros,
    CompressionFlag,
    Flags,
    NotCanonical,
    NotOnCurve,
    NotInSubgroup,
    IdentityKey,
}

/// The flaw that a name, a reason or a comment describes. The first phrase of the list that occurs in it counts.
const PHRASES: &[(&str, Flaw)] = &[
    ("too_few_bytes", Flaw::Length),
    ("too_many_bytes", Flaw::Length),
    ("too short", Flaw::Length),
    ("wrong length", Flaw::Length),
    ("truncated", Flaw::Length),
    ("trailing byte", Flaw::Length),
    ("uncompressed-length", Flaw::Length),
    ("empty signature", Flaw::Length),
    ("compression flag cleared", Flaw::CompressionFlag),
    ("all-zero signature", Flaw::Zeros),
    ("all-zero bytes", Flaw::Zeros),
    ("no compression flag", Flaw::CompressionFlag),
    ("mask_bits_0", Flaw::CompressionFlag),
    ("mask_bits_11", Flaw::Flags),
    ("fails_infinity_with_true_b_flag", Flaw::Flags),
    ("with_b_flag_and", Flaw::Flags),
    ("not all zeros", Flaw::Flags),
    ("infinity flag set", Flaw::Flags),
    ("infinity and sort flags set", Flaw::Flags),
    ("sort flag set", Flaw::Flags),
    ("_equal_to_modulus", Flaw::NotCanonical),
    ("_greater_than_modulus", Flaw::NotCanonical),
    ("equal to p", Flaw::NotCanonical),
    (">= field prime", Flaw::NotCanonical),
    ("not_in_curve", Flaw::NotOnCurve),
    ("invalid x-coord", Flaw::NotOnCurve),
    ("not on curve", Flaw::NotOnCurve),
    ("not on the", Flaw::NotOnCurve),
    ("not_in_G", Flaw::NotInSubgroup),
    ("subgroup", Flaw::NotInSubgroup),
    ("identity public key", Flaw::IdentityKey),
];

/// The only test whose comment is wrong about its bytes. The table of known disagreements lists it.
pub(crate) const MISNAMED: &str = "bls_sig_g2_basic_verify_test.json#tcId 64";

/// Bytes, and whether they are a point of the subgroup.
struct Encoding {
    id: String,
    /// What the source says about the bytes.
    said: String,
    in_g1: bool,
    bytes: Vec<u8>,
    valid: bool,
}

impl Encoding {
    /// Whether the bytes are meant as an uncompressed point. The length decides, since some are too short or too long.
    fn is_uncompressed(&self) -> bool {
        self.bytes.len() > if self.in_g1 { 72 } else { 144 } && self.bytes[0] & 0x80 == 0
    }
}

fn stated_flaw(encoding: &Encoding) -> Option<Flaw> {
    let phrase = PHRASES.iter().find(|(phrase, _)| encoding.said.contains(phrase));
    phrase.filter(|_| !encoding.valid).map(|(_, flaw)| *flaw)
}

fn agree(encoding: &Encoding, stated: Option<Flaw>, found: Result<(), Flaw>) {
    let Encoding { id, said, .. } = encoding;
    assert_eq!(found.is_ok(), encoding.valid, "{id} ({said}): {found:?}");
    assert!(stated.is_none_or(|flaw| found == Err(flaw)), "{id} ({said}): {found:?}");
}

/// Decodes with the functions of the curve. They take the identity as a point of the subgroup, and it counts as a flaw
/// only if the source says so.
fn decode<G: Bls12381Group>(backend: Backend, encoding: &Encoding) -> Result<(), Flaw> {
    let bytes = &encoding.bytes;
    let point = if encoding.is_uncompressed() { backend.decode_uncompressed(bytes) } else { backend.decode(bytes) };
    let point: G = point.map_err(undecoded)?;
    if point.is_identity() && !encoding.valid {
        return Err(Flaw::IdentityKey);
    }
    if backend.in_subgroup(&[point])[0] { Ok(()) } else { Err(Flaw::NotInSubgroup) }
}

/// Decodes with the types of the engine: min-pk has keys in G1 and signatures in G2.
fn parse(encoding: &Encoding) -> Result<(), Flaw> {
    let parsed = if encoding.in_g1 {
        PublicKey::<MinPk>::from_bytes(&encoding.bytes).map(drop)
    } else {
        Signature::<MinPk>::from_bytes(&encoding.bytes).map(drop)
    };
    parsed.or_else(|error| match error {
        // The Ethereum suite deserialises the identity and refuses it as a key later.
        ParseError::IdentityKey if encoding.valid => Ok(()),
        ParseError::IdentityKey => Err(Flaw::IdentityKey),
        ParseError::KeyNotInSubgroup | ParseError::SignatureNotInSubgroup => Err(Flaw::NotInSubgroup),
        ParseError::Key(error) | ParseError::Signature(error) => Err(undecoded(error)),
        other => panic!("{}: {other}", encoding.id),
    })
}

fn undecoded(error: DecodeError) -> Flaw {
    match error {
        DecodeError::Length { .. } => Flaw::Length,
        DecodeError::Zeros { .. } => Flaw::Zeros,
        DecodeError::CompressionFlag { .. } => Flaw::CompressionFlag,
        DecodeError::Flags { .. } => Flaw::Flags,
        DecodeError::NotCanonical { .. } => Flaw::NotCanonical,
        DecodeError::NotOnCurve => Flaw::NotOnCurve,
        other => panic!("the table of flaws lacks this one: {other}"),
    }
}

fn deserialize_g1(file: &File) -> Option<Encoding> {
    #[derive(Deserialize)]
    struct Input {
        pubkey: Hex,
    }
    let Framed::<Input, Option<bool>> { input, output } = file.parse()?;
    Some(deserialize(file, true, input.pubkey, output))
}

fn deserialize_g2(file: &File) -> Option<Encoding> {
    #[derive(Deserialize)]
    struct Input {
        signature: Hex,
    }
    let Framed::<Input, Option<bool>> { input, output } = file.parse()?;
    Some(deserialize(file, false, input.signature, output))
}

/// One carrier of the set writes `null` for `false`.
fn deserialize(file: &File, in_g1: bool, bytes: Hex, output: Option<bool>) -> Encoding {
    let said = file.stem().to_owned();
    Encoding { id: file.name.clone(), said, in_g1, bytes: bytes.0, valid: output == Some(true) }
}

fn chia(file: &File) -> Vec<Encoding> {
    #[derive(Deserialize)]
    #[serde(rename_all = "UPPERCASE")]
    struct Content {
        g1: Vec<Hex>,
        g2: Vec<Hex>,
    }
    let Some(Content { g1, g2 }) = file.parse() else { return Vec::new() };
    let all = plain(g1).into_iter().map(|bytes| (true, bytes)).chain(plain(g2).into_iter().map(|bytes| (false, bytes)));
    let invalid = |(i, (in_g1, bytes))| Encoding { id: file.id(i), said: String::new(), in_g1, bytes, valid: false };
    all.enumerate().map(invalid).collect()
}

fn dash(file: &File) -> Vec<Encoding> {
    #[derive(Deserialize)]
    #[serde(rename_all = "UPPERCASE")]
    struct Content {
        g1: Vec<Item>,
        g2: Vec<Item>,
    }
    #[derive(Deserialize)]
    struct Item {
        reason: String,
        data: Vec<Hex>,
    }
    let Some(Content { g1, g2 }) = file.parse() else { return Vec::new() };
    let all = g1.into_iter().map(|item| (true, item)).chain(g2.into_iter().map(|item| (false, item)));
    let invalid = all.flat_map(|(in_g1, item)| {
        let (id, said) = (file.name.clone(), item.reason);
        plain(item.data).into_iter().map(move |bytes| Encoding {
            id: id.clone(),
            said: said.clone(),
            in_g1,
            bytes,
            valid: false,
        })
    });
    invalid.collect()
}

/// Keys and signatures whose comment names what is wrong with their bytes.
fn commented(file: &File) -> Vec<Encoding> {
    let tests = wycheproof::verify(file).into_iter().map(|wycheproof::Commented { case, comment }| {
        let in_g1 = comment.contains("G1") || comment.contains("public key");
        let bytes = if in_g1 { case.keys.concat() } else { case.signature };
        Encoding { id: case.id, said: comment, in_g1, bytes, valid: case.expected }
    });
    tests.filter(|test| stated_flaw(test).is_some() && !test.id.ends_with(MISNAMED)).collect()
}
