//! Seeds to secret keys (EIP-2333), and secret keys to public keys (JWK).

use quorate::{MinPk, MinSig, SecretKey};
use serde::Deserialize;

use quorate_lab::answers::{
    File, Vectors,
    bytes::{Base64Url, Hex, ScalarBytes},
    catalogue::Kind,
};

#[test]
fn seed_to_master_and_child() {
    let Some(vectors) = Vectors::open("EIP-2333", &["05"]) else { return };
    let derivations = vectors.collect("derivations of secret keys", |file| match file.kind {
        Kind::Derivation => Some(derivations(file)),
        // The Lamport keys in it are steps inside the derivation, and no function returns them.
        Kind::DerivationSteps => {
            Some(file.parse_as_yaml().into_iter().map(|derivation| (file.name.clone(), derivation)).collect())
        }
        _ => None,
    });
    for (id, derivation) in derivations {
        let master = SecretKey::<MinPk>::derive_master(&derivation.seed.0).unwrap_or_else(|e| panic!("{id}: {e}"));
        assert_eq!(*master.to_bytes(), derivation.master.0, "{id}: master");
        assert_eq!(*master.derive(&[derivation.child_index]).to_bytes(), derivation.child.0, "{id}: child");
    }
}

#[test]
fn secret_to_public_key_of_a_jwk() {
    let Some(vectors) = Vectors::open("JSON web keys", &["05"]) else { return };
    let keys = vectors.collect("JSON web keys", |file| (file.kind == Kind::Jwk).then(|| jwks(file)));
    for (id, Jwk { crv, x, d }) in keys {
        let secret: [u8; 32] = d.0.try_into().unwrap_or_else(|_| panic!("{id}: a secret key has 32 bytes"));
        let key = match crv.as_str() {
            "BLS12381G1" => {
                SecretKey::<MinPk>::from_bytes(&secret).map(|secret| secret.public_key().to_bytes().to_vec())
            }
            "BLS12381G2" => {
                SecretKey::<MinSig>::from_bytes(&secret).map(|secret| secret.public_key().to_bytes().to_vec())
            }
            other => panic!("{id}: no curve is named `{other}`"),
        };
        assert_eq!(key, Ok(x.0), "{id}");
    }
}

/// Some sources write the scalars as numbers, too large for a JSON reader, and some as strings.
#[derive(Deserialize)]
struct Derivation {
    seed: Hex,
    #[serde(rename = "master_SK")]
    master: ScalarBytes,
    child_index: u32,
    #[serde(rename = "child_SK")]
    child: ScalarBytes,
}

fn derivations(file: &File) -> Vec<(String, Derivation)> {
    #[derive(Deserialize)]
    struct Content {
        #[serde(alias = "kdf_tests")]
        cases: Vec<Derivation>,
    }
    let cases = file.parse_as_yaml::<Content>().into_iter().flat_map(|content| content.cases).enumerate();
    cases.map(|(index, derivation)| (file.id(index), derivation)).collect()
}

#[derive(Deserialize)]
struct Jwk {
    crv: String,
    x: Base64Url,
    d: Base64Url,
}

fn jwks(file: &File) -> Vec<(String, Jwk)> {
    file.items("cases").into_iter().map(|(index, jwk)| (file.id(index), jwk)).collect()
}
