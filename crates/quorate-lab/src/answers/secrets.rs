//! Signatures with the secret keys that made them.

use quorate::{AnySuite, MinPk, MinSig, SecretKey};
use serde::Deserialize;

use super::{
    Case, CaseMessages, File, Vectors,
    bytes::{Base64, Hex, ScalarBytes, hex_bytes},
    catalogue::Kind,
    ethereum::{Framed, POSSESSION},
    herumi,
    schemes::{chia, suite_of},
};

/// A secret key, a message and the signature that the key makes over it.
pub struct Signing {
    /// The folder it comes from.
    pub set: String,
    /// File and place in the file.
    pub id: String,
    /// The suite that the signature is made in.
    pub suite: AnySuite,
    /// The scalar as the source has it. It may be zero, or not below the group order.
    pub secret: [u8; 32],
    /// The public key, if the source states it.
    pub public_key: Option<Vec<u8>>,
    /// The signed message.
    pub message: Vec<u8>,
    /// `None` if the source refuses to sign.
    pub signature: Option<Vec<u8>>,
}

/// Every signature in the data that comes with its secret key.
pub fn signings(vectors: &Vectors) -> Vec<Signing> {
    vectors.collect("signatures with their secret key", |file| match file.kind {
        Kind::EthSign => Some(ethereum(file).into_iter().collect()),
        Kind::Herumi => signed_by_herumi(file),
        Kind::Compatibility => Some(compatibility(file)),
        Kind::NobleMinPk => Some(noble(file, AnySuite::MinPk(MinPk::Basic))),
        Kind::NobleMinSig => Some(noble(file, AnySuite::MinSig(MinSig::Basic))),
        Kind::SignedUnderTag => with_key(file),
        Kind::ChiaSchemes => Some(signed_by_chia(file)),
        _ => None,
    })
}

impl Signing {
    /// The signature as a case to verify. The key is the public key of the secret modulo the group order.
    pub fn case(self) -> Option<Case> {
        let secret = reduced(self.secret);
        let key = match self.suite {
            AnySuite::MinPk(_) => {
                SecretKey::<MinPk>::from_bytes(&secret).map(|secret| secret.public_key().to_bytes().to_vec())
            }
            AnySuite::MinSig(_) => {
                SecretKey::<MinSig>::from_bytes(&secret).map(|secret| secret.public_key().to_bytes().to_vec())
            }
            other => panic!("the vectors have no case of {other}"),
        };
        let (set, id, suite, messages) = (self.set, self.id, self.suite, CaseMessages::Shared(self.message));
        Some(Case { set, id, suite, keys: vec![key.ok()?], messages, signature: self.signature?, expected: true })
    }
}

/// The order r of the groups, big-endian.
const ORDER: [u8; 32] = [
    0x73, 0xed, 0xa7, 0x53, 0x29, 0x9d, 0x7d, 0x48, 0x33, 0x39, 0xd8, 0x08, 0x09, 0xa1, 0xd8, 0x05, 0x53, 0xbd, 0xa4,
    0x02, 0xff, 0xfe, 0x5b, 0xfe, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x01,
];

/// A scalar modulo r.
pub fn reduced(mut scalar: [u8; 32]) -> [u8; 32] {
    while scalar >= ORDER {
        let mut borrow = false;
        for (byte, order) in scalar.iter_mut().zip(ORDER).rev() {
            let (once, first) = byte.overflowing_sub(order);
            let (twice, second) = once.overflowing_sub(u8::from(borrow));
            (*byte, borrow) = (twice, first | second);
        }
    }
    scalar
}

fn ethereum(file: &File) -> Option<Signing> {
    #[derive(Deserialize)]
    struct Input {
        privkey: Hex,
        message: Hex,
    }
    let Framed::<Input, Option<Hex>> { input, output } = file.parse()?;
    let secret = file.fitting(&file.name, secret(&input.privkey.0))?;
    Some(signing(file, 0, POSSESSION, secret, None, input.message.0, output.map(|signature| signature.0)))
}

fn signed_by_herumi(file: &File) -> Option<Vec<Signing>> {
    let signings =
        herumi::of(file, herumi::HerumiContent::Signing)?.into_iter().enumerate().filter_map(|(index, record)| {
            let secret = file.fitting(&record.id, secret(&record.secrets.concat()))?;
            let signature = file.fitting(&record.id, hex_bytes(&record.out))?;
            Some(signing(file, index, POSSESSION, secret, None, record.messages.concat(), Some(signature)))
        });
    Some(signings.collect())
}

/// A record of Filecoin and of drand: hashes to both groups, and a signature if the record has a secret key.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Compatible {
    /// The message.
    pub msg: String,
    /// The tag that the message is hashed under.
    pub ciphersuite: String,
    /// The hash in G1, encoded.
    #[serde(rename = "G1Compressed")]
    pub g1: Base64,
    /// The hash in G2, encoded.
    #[serde(rename = "G2Compressed")]
    pub g2: Base64,
    /// Decimal, or empty.
    #[serde(rename = "BLSPrivKey")]
    secret: String,
    #[serde(rename = "BLSPubKey")]
    key: Option<Base64>,
    #[serde(rename = "BLSSigG2")]
    signature: Option<Base64>,
}

/// The records with their indices. drand's file is the list itself.
pub fn compatible(file: &File) -> Vec<(usize, Compatible)> {
    file.items("cases")
}

fn compatibility(file: &File) -> Vec<Signing> {
    let records = compatible(file).into_iter().filter(|(_, record)| !record.secret.is_empty());
    let signing = |(index, record): (usize, Compatible)| {
        let signing = || {
            let ScalarBytes(secret) =
                serde_json::from_value(record.secret.into()).map_err(|error| error.to_string())?;
            let key = record.key.ok_or("a secret key without its public key")?.0;
            let suite =
                suite_of(&record.ciphersuite, &key).ok_or_else(|| format!("no suite {}", record.ciphersuite))?;
            let signature = record.signature.ok_or("a secret key without a signature")?.0;
            Ok::<_, String>(signing(file, index, suite, secret, Some(key), record.msg.into_bytes(), Some(signature)))
        };
        file.fitting(&file.id(index), signing())
    };
    records.filter_map(signing).collect()
}

fn noble(file: &File, suite: AnySuite) -> Vec<Signing> {
    let signing = |(index, line): (usize, &str)| {
        let id = format!("{}, line {}", file.name, index + 1);
        let fields: Vec<_> = line.trim().split(':').map(|field| hex_bytes(field).ok()).collect();
        let [Some(key), Some(message), Some(signature)] = &fields[..] else {
            file.skip(&id, "not three hexadecimal fields");
            return None;
        };
        let secret = file.fitting(&id, secret(key))?;
        Some(signing(file, index, suite, secret, None, message.clone(), Some(signature.clone())))
    };
    file.text().lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).filter_map(signing).collect()
}

/// Signatures that come with their secret key, each under a tag of its own.
fn with_key(file: &File) -> Option<Vec<Signing>> {
    #[derive(Deserialize)]
    struct Item {
        dst: Option<String>,
        sk: Option<Hex>,
        pk: Option<Hex>,
        msg: Option<Hex>,
        sig: Option<Hex>,
    }
    // Signatures without a secret key are read elsewhere, as cases to verify, or counted there as skipped.
    let signing = |(index, item): (usize, Item)| {
        let Item { dst: Some(dst), sk: Some(sk), pk: Some(pk), msg: Some(msg), sig: Some(sig) } = item else {
            return None;
        };
        let id = file.id(index);
        let suite = file.fitting(&id, suite_of(&dst, &pk.0).ok_or_else(|| format!("no suite has the tag {dst}")))?;
        let secret = file.fitting(&id, secret(&sk.0))?;
        Some(signing(file, index, suite, secret, Some(pk.0), msg.0, Some(sig.0)))
    };
    let signings: Vec<_> = file.items("cases").into_iter().filter_map(signing).collect();
    (!signings.is_empty()).then_some(signings)
}

fn signed_by_chia(file: &File) -> Vec<Signing> {
    let mut signings = Vec::new();
    for (_, suite, scheme) in chia(file) {
        for ((sk, pk), sig) in scheme.sk.iter().zip(&scheme.pk).zip(&scheme.sig) {
            let Some(secret) = file.fitting(&file.name, secret(&sk.0)) else { continue };
            let (key, message, signature) = (Some(pk.0.clone()), scheme.message.0.clone(), Some(sig.0.clone()));
            signings.push(signing(file, signings.len(), suite, secret, key, message, signature));
        }
    }
    signings
}

fn signing(
    file: &File,
    index: usize,
    suite: AnySuite,
    secret: [u8; 32],
    public_key: Option<Vec<u8>>,
    message: Vec<u8>,
    signature: Option<Vec<u8>>,
) -> Signing {
    Signing { set: file.set.clone(), id: file.id(index), suite, secret, public_key, message, signature }
}

fn secret(bytes: &[u8]) -> Result<[u8; 32], String> {
    bytes.try_into().map_err(|_| format!("a secret key of {} bytes", bytes.len()))
}
