//! JSON Web Keys with a BLS secret key: draft-ietf-cose-bls-key-representations, key type `OKP`.

use std::fmt;

use base64ct::{Base64UrlUnpadded, Encoding};
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::secrets::secret::{NotASecret, Secret};

/// A JSON Web Key with a secret key, which was not yet compared with the public key in the same file.
pub struct Jwk {
    curve: JwkCurve,
    secret: Secret,
    public_key: Option<Vec<u8>>,
}

impl Jwk {
    /// Reads a JSON Web Key. Members other than `kty`, `crv`, `x` and `d` are ignored.
    ///
    /// # Errors
    /// [`JwkError`]: not JSON, another key type or curve, no secret in it, bad base64url, or
    /// the wrong number of bytes.
    pub fn parse(json: &[u8]) -> Result<Self, JwkError> {
        let File { kty, crv, x, d } = serde_json::from_slice(json)
            .map_err(|error| JwkError::Json { line: error.line(), column: error.column() })?;
        if kty != KEY_TYPE {
            return Err(JwkError::KeyType { kty: kty.to_owned() });
        }
        let curve = JwkCurve::named(crv).ok_or_else(|| JwkError::Curve { crv: crv.to_owned() })?;
        let mut secret = Zeroizing::new([0; Secret::LENGTH]);
        decode_into("d", d.ok_or(JwkError::NoSecret)?, secret.as_mut())?;
        let public_key = x.map(|x| {
            let mut bytes = vec![0; curve.public_key_length()];
            decode_into("x", x, &mut bytes).map(|()| bytes)
        });
        Ok(Self { curve, secret: Secret::new(secret), public_key: public_key.transpose()? })
    }

    /// Returns the secret if it belongs to the public key in the same file.
    ///
    /// `derive` returns the compressed public key of a secret in this key's [`Jwk::curve`], or
    /// `None` if the bytes are not a secret key. Without `x`, the comparison is left out.
    ///
    /// # Errors
    /// [`NotASecret`].
    pub fn into_secret(self, derive: impl FnOnce(&Secret) -> Option<Vec<u8>>) -> Result<Secret, NotASecret> {
        self.secret.checked(self.public_key.as_deref(), derive)
    }

    /// The group of the public key.
    pub fn curve(&self) -> JwkCurve {
        self.curve
    }

    /// The compressed public key that the file states, if any.
    pub fn public_key(&self) -> Option<&[u8]> {
        self.public_key.as_deref()
    }
}

impl fmt::Debug for Jwk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jwk").field("curve", &self.curve).field("secret", &self.secret).finish_non_exhaustive()
    }
}

/// The group of public keys; signatures are in the other group. The enum is exhaustive, because a pairing has two groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JwkCurve {
    /// `BLS12381G1`: public keys of 48 bytes (min-pk).
    G1,
    /// `BLS12381G2`: public keys of 96 bytes (min-sig).
    G2,
}

impl JwkCurve {
    /// The curve by its name in `crv`.
    fn named(crv: &str) -> Option<Self> {
        match crv {
            "BLS12381G1" => Some(Self::G1),
            "BLS12381G2" => Some(Self::G2),
            _ => None,
        }
    }

    fn public_key_length(self) -> usize {
        match self {
            Self::G1 => 48,
            Self::G2 => 96,
        }
    }
}

/// Why a JSON Web Key was not read. No message repeats a member that could be the secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JwkError {
    /// The text is not JSON, or a member is missing or not text. The message names only the place, because the parser's own message
    /// would repeat the value that it found.
    #[error("expected a JSON Web Key, but line {line}, column {column} cannot be read")]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// `kty` is not `OKP`.
    #[error("\"kty\" of the JSON Web Key: found {kty:?}, expected {KEY_TYPE:?}, which is for BLS keys")]
    KeyType {
        /// The type in the file.
        kty: String,
    },
    /// `crv` is not a curve of BLS12-381.
    #[error("\"crv\" of the JSON Web Key: found {crv:?}, expected \"BLS12381G1\" or \"BLS12381G2\"")]
    Curve {
        /// The curve in the file.
        crv: String,
    },
    /// The file is a public key.
    #[error("the JSON Web Key has no \"d\", so it is a public key; name the file with the secret key")]
    NoSecret,
    /// A member is not base64url, or is padded.
    #[error("\"{member}\" of the JSON Web Key: expected base64url without padding")]
    Base64 {
        /// `d` or `x`.
        member: &'static str,
    },
    /// A member has the wrong number of bytes.
    #[error("\"{member}\" of the JSON Web Key: found {characters} characters, expected {expected}")]
    Length {
        /// `d` or `x`.
        member: &'static str,
        /// Characters needed.
        expected: usize,
        /// Characters found.
        characters: usize,
    },
}

/// The members that are read. They are borrowed, so that no copy of the secret's text is left behind.
#[derive(Deserialize)]
struct File<'a> {
    kty: &'a str,
    crv: &'a str,
    x: Option<&'a str>,
    d: Option<&'a str>,
}

fn decode_into(member: &'static str, text: &str, out: &mut [u8]) -> Result<(), JwkError> {
    let expected = Base64UrlUnpadded::encoded_len(out);
    // Padding is checked before the length, because it is the more likely mistake.
    if text.ends_with('=') {
        return Err(JwkError::Base64 { member });
    }
    if text.len() != expected {
        return Err(JwkError::Length { member, expected, characters: text.len() });
    }
    Base64UrlUnpadded::decode(text, out).map_err(|_| JwkError::Base64 { member })?;
    Ok(())
}

/// "Octet key pair", RFC 8037.
const KEY_TYPE: &str = "OKP";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use quorate_lab::vectors;

    #[test]
    fn published_keys() {
        let Some(bytes) = vectors::read("05_keys/cose_bls_jwk_examples.json") else {
            return;
        };
        let file: Value = serde_json::from_slice(&bytes).expect("JSON");
        let cases = file["cases"].as_array().expect("cases");
        assert_eq!(cases.len(), 4);
        for case in cases {
            let jwk = Jwk::parse(case.to_string().as_bytes()).expect("a published key");
            let curve = if case["crv"] == "BLS12381G1" { JwkCurve::G1 } else { JwkCurve::G2 };
            assert_eq!(jwk.curve(), curve);
            let stated = jwk.public_key().expect("x").to_vec();
            assert_eq!(Base64UrlUnpadded::encode_string(&stated), case["x"]);
            let secret = jwk.into_secret(|_| Some(stated)).expect("the stated key");
            assert_eq!(Base64UrlUnpadded::encode_string(secret.expose()), case["d"]);
        }
    }

    #[test]
    fn big_endian() {
        // 30 zero bytes, then 0x01 0x02.
        let jwk = json!({ "kty": "OKP", "crv": "BLS12381G1", "d": format!("{}AQI", "A".repeat(40)) });
        let secret = parse(&jwk).expect("a key").into_secret(|_| Some(vec![])).expect("a key");
        assert_eq!(secret.expose()[29..], [0, 1, 2]);
    }

    #[test]
    fn another_keys_public_key() {
        let jwk = parse(&example()).expect("a key");
        let error = jwk.into_secret(|_| Some(vec![7]));
        assert!(matches!(error, Err(NotASecret::PublicKeyMismatch { .. })), "{error:?}");
    }

    #[test]
    fn without_x_there_is_nothing_to_compare_with() {
        let mut jwk = example();
        jwk.as_object_mut().expect("an object").remove("x");
        let jwk = parse(&jwk).expect("a key");
        assert_eq!(jwk.public_key(), None);
        assert!(jwk.into_secret(|_| Some(vec![7])).is_ok());
    }

    #[test]
    fn each_error_by_name() {
        let changed = |member: &str, value: Value| {
            let mut jwk = example();
            jwk[member] = value;
            parse(&jwk).expect_err("the changed member is refused")
        };
        assert_eq!(changed("kty", json!("EC")), JwkError::KeyType { kty: "EC".to_owned() });
        assert_eq!(changed("crv", json!("X448")), JwkError::Curve { crv: "X448".to_owned() });
        assert_eq!(changed("d", Value::Null), JwkError::NoSecret);
        for (text, error) in [
            ("A".repeat(42), JwkError::Length { member: "d", expected: 43, characters: 42 }),
            ("A".repeat(44), JwkError::Length { member: "d", expected: 43, characters: 44 }),
            (format!("{}=", "A".repeat(43)), JwkError::Base64 { member: "d" }),
            (format!("{}+", "A".repeat(42)), JwkError::Base64 { member: "d" }),
            // The last character has two bits to spare, and they must be zero.
            (format!("{}B", "A".repeat(42)), JwkError::Base64 { member: "d" }),
        ] {
            assert_eq!(changed("d", json!(text)), error);
        }
        let error = JwkError::Length { member: "x", expected: 128, characters: 64 };
        assert_eq!(changed("crv", json!("BLS12381G2")), error);
    }

    #[test]
    fn errors_never_quote_the_secret() {
        for text in [
            r#"{"kty":"OKP","crv":"BLS12381G1","d":12345678}"#,
            r#"{"kty":"OKP","crv":"BLS12381G1","d":"hunter2"}"#,
            // An escape cannot be borrowed.
            r#"{"kty":"OKP","crv":"BLS12381G1","d":"hunter2\n"}"#,
            r#"{"d":"hunter2","kty":"OKP""#,
            r#"{"d":"hunter2"}"#,
        ] {
            let error = Jwk::parse(text.as_bytes()).expect_err("a bad key");
            let text = format!("{error} {error:?}");
            assert!(!text.contains("hunter2") && !text.contains("12345678"), "{text}");
        }
    }

    #[test]
    fn debug_is_redacted() {
        let text = format!("{:?}", parse(&example()).expect("a key"));
        assert_eq!(text, "Jwk { curve: G1, secret: Secret(redacted), .. }");
    }

    proptest! {
        #[test]
        fn secrets_there_and_back(bytes: [u8; 32]) {
            let mut jwk = example();
            jwk["d"] = json!(Base64UrlUnpadded::encode_string(&bytes));
            let stated = vec![0; 48];
            let secret = parse(&jwk).expect("a key").into_secret(|_| Some(stated)).expect("a key");
            prop_assert_eq!(secret.expose(), &bytes);
        }
    }

    fn parse(jwk: &Value) -> Result<Jwk, JwkError> {
        Jwk::parse(jwk.to_string().as_bytes())
    }

    fn example() -> Value {
        json!({ "kty": "OKP", "crv": "BLS12381G1", "x": "A".repeat(64), "d": "A".repeat(43) })
    }
}
