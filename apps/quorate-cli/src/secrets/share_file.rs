//! A participant's share of a key, in a file of JSON:
//!
//! ```text
//! {"suite": "eth2", "index": 3, "public_key": "a1…", "verification_key": "92…", "secret": "64 digits"}
//! ```
//!
//! The public key is the one that all participants share, and the verification key is that of the share. In place of `secret`,
//! `keystore` holds a keystore (EIP-2335) of the share, whose public key is the verification key.
//!
//! A share is not read as a key (`secret_source`), because a signature with it does not verify under the shared key.

use std::fmt;

use quorate::AnySuite;
use quorate_host::BYTE_ORDER_MARK;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use crate::secrets::{
    hex::{self, HexError},
    keystore::{Decrypted, Keystore, KeystoreError},
    passphrase::{Passphrase, PassphraseError},
    secret::Secret,
    secret_source::UnlockError,
};

/// A share as its file holds it. It was not yet compared with its verification key.
pub struct ShareFile {
    suite: AnySuite,
    index: u64,
    public_key: Vec<u8>,
    verification_key: Vec<u8>,
    secret: ShareSecret,
}

/// The secret of a share. The enum is exhaustive, because a share is encrypted or it is not.
#[derive(Debug)]
pub enum ShareSecret {
    /// Not encrypted.
    Plain(Secret),
    /// Encrypted with a passphrase.
    Keystore(Box<Keystore>),
}

/// Why a share was not read. No message repeats a member that could be the secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShareFileError {
    /// The text is not JSON, or has a member that is not of a share, or that is of another type, or twice. The message names only
    /// the place, because the parser's own message would repeat the value that it found.
    #[error(
        "expected the share of a key, JSON with \"suite\", \"index\", \"public_key\", \"verification_key\", and \"secret\" or \
         \"keystore\", but line {line}, column {column} cannot be read"
    )]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// A member is missing.
    #[error("\"{field}\" is missing, so this is not the share of a key")]
    Missing {
        /// Its name.
        field: &'static str,
    },
    /// There is no such suite.
    #[error("\"suite\": there is no suite {found:?}")]
    Suite {
        /// The name in the file.
        found: String,
    },
    /// No participant has the number 0: it would be the key itself.
    #[error("\"index\": found 0, expected the number of a participant, from 1 on")]
    IndexZero,
    /// A member is not hexadecimal digits.
    #[error("\"{field}\" cannot be read")]
    Hex {
        /// Its name.
        field: &'static str,
        /// What is wrong with it.
        source: HexError,
    },
    /// The secret is there twice, or not at all.
    #[error("expected either \"secret\" or \"keystore\"")]
    Secrets,
    /// The keystore cannot be read.
    #[error("\"keystore\"")]
    Keystore(#[from] KeystoreError),
    /// The keystore is of another share.
    #[error("\"keystore\" is of another public key than \"verification_key\"")]
    OtherKeystore,
}

impl ShareFile {
    /// The share of a participant. `verification_key` must be the public key of the secret.
    pub fn new(
        suite: AnySuite,
        index: u64,
        public_key: Vec<u8>,
        verification_key: Vec<u8>,
        secret: ShareSecret,
    ) -> Self {
        Self { suite, index, public_key, verification_key, secret }
    }

    /// Reads a share.
    ///
    /// # Errors
    /// [`ShareFileError`].
    pub fn parse(json: &[u8]) -> Result<Self, ShareFileError> {
        let json = json.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(json);
        // serde would also accept a list, and read its elements as the members in order.
        if !json.trim_ascii_start().starts_with(b"{") {
            return Err(ShareFileError::Json { line: 1, column: 1 });
        }
        let file: File<'_> = serde_json::from_slice(json)
            .map_err(|error| ShareFileError::Json { line: error.line(), column: error.column() })?;
        let suite = file.suite.ok_or(missing("suite"))?;
        let suite = suite.parse().map_err(|_| ShareFileError::Suite { found: suite.to_owned() })?;
        let index = file.index.ok_or(missing("index"))?;
        if index == 0 {
            return Err(ShareFileError::IndexZero);
        }
        let public_key = bytes("public_key", file.public_key)?;
        let verification_key = bytes("verification_key", file.verification_key)?;
        let secret = match (file.secret, file.keystore) {
            (Some(digits), None) => ShareSecret::Plain(
                Secret::from_hex(digits.as_bytes())
                    .map_err(|source| ShareFileError::Hex { field: "secret", source })?,
            ),
            (None, Some(keystore)) => {
                let keystore = Keystore::parse(keystore.get().as_bytes())?;
                if keystore.public_key() != Some(&verification_key) {
                    return Err(ShareFileError::OtherKeystore);
                }
                ShareSecret::Keystore(Box::new(keystore))
            }
            _ => return Err(ShareFileError::Secrets),
        };
        Ok(Self { suite, index, public_key, verification_key, secret })
    }

    /// The text of the file, with a line feed at its end.
    pub fn to_json(&self) -> Zeroizing<Vec<u8>> {
        let (secret, keystore) = match &self.secret {
            ShareSecret::Plain(secret) => (Some(Zeroizing::new(hex::encode(secret.expose()))), None),
            ShareSecret::Keystore(keystore) => {
                let json = keystore.to_json().trim_end().replace('\n', "\n  ");
                (None, Some(RawValue::from_string(json).expect("a keystore is written as JSON")))
            }
        };
        let (public_key, verification_key) = (hex::encode(&self.public_key), hex::encode(&self.verification_key));
        let file = File {
            suite: Some(self.suite.name()),
            index: Some(self.index),
            public_key: Some(&public_key),
            verification_key: Some(&verification_key),
            secret: secret.as_ref().map(|digits| digits.as_str()),
            keystore: keystore.as_deref(),
        };
        // All of it is reserved at once, because a vector that grows leaves a copy behind, which is not wiped.
        let mut json = Zeroizing::new(Vec::with_capacity(LONGEST));
        serde_json::to_writer_pretty(&mut *json, &file).expect("text and numbers are JSON");
        json.push(b'\n');
        json
    }

    /// The secret, which belongs to the verification key. `derive` returns the encoded public key of a secret, or `None` if
    /// the bytes are not a secret key. `passphrase` is called only for a keystore.
    ///
    /// # Errors
    /// [`UnlockError`].
    ///
    /// Cost: one key derivation for a keystore.
    pub fn unlock(
        self,
        passphrase: impl FnOnce() -> Result<Passphrase, PassphraseError>,
        derive: impl FnOnce(&Secret) -> Option<Vec<u8>>,
    ) -> Result<Decrypted, UnlockError> {
        Ok(match self.secret {
            ShareSecret::Plain(secret) => {
                Decrypted { secret: secret.checked(Some(&self.verification_key), derive)?, older: None }
            }
            // Its public key is the verification key.
            ShareSecret::Keystore(keystore) => keystore.decrypt(&passphrase()?, derive)?,
        })
    }

    /// The suite of the shared key.
    pub fn suite(&self) -> AnySuite {
        self.suite
    }

    /// Whose share this is: a number from 1 on.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// The key that all participants share, encoded.
    pub fn public_key(&self) -> &[u8] {
        &self.public_key
    }

    /// The public key of the share, encoded.
    pub fn verification_key(&self) -> &[u8] {
        &self.verification_key
    }

    /// The secret, as the file holds it.
    pub fn secret(&self) -> &ShareSecret {
        &self.secret
    }
}

impl fmt::Debug for ShareFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShareFile")
            .field("suite", &self.suite)
            .field("index", &self.index)
            .field("public_key", &hex::encode(&self.public_key))
            .field("verification_key", &hex::encode(&self.verification_key))
            .field("secret", &self.secret)
            .finish()
    }
}

/// The members. They are borrowed, so that no copy of the secret's text is left behind.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File<'a> {
    suite: Option<&'a str>,
    index: Option<u64>,
    public_key: Option<&'a str>,
    verification_key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<&'a str>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    keystore: Option<&'a RawValue>,
}

fn missing(field: &'static str) -> ShareFileError {
    ShareFileError::Missing { field }
}

/// The bytes of a public member.
fn bytes(field: &'static str, text: Option<&str>) -> Result<Vec<u8>, ShareFileError> {
    hex::decode(text.ok_or(missing(field))?).map_err(|source| ShareFileError::Hex { field, source })
}

/// More bytes than the file has: two keys, the secret, a keystore.
const LONGEST: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::secrets::{
        keystore::{Kdf, KeystoreOptions, Pbkdf2},
        secret::NotASecret,
    };

    fn secret(byte: u8) -> Secret {
        Secret::new(Zeroizing::new([byte; 32]))
    }

    fn suite() -> AnySuite {
        "eth2".parse().expect("a suite")
    }

    /// Takes the place of the curve.
    fn derive(secret: &Secret) -> Option<Vec<u8>> {
        Some(secret.expose().to_vec())
    }

    fn nobody() -> Result<Passphrase, PassphraseError> {
        unreachable!("nothing here is encrypted")
    }

    fn share() -> ShareFile {
        ShareFile::new(suite(), 3, vec![1; 48], vec![9; 32], ShareSecret::Plain(secret(9)))
    }

    fn changed(field: &str, value: Value) -> Result<ShareFile, ShareFileError> {
        let mut file: Value = serde_json::from_slice(&share().to_json()).expect("JSON");
        match value {
            Value::Null => drop(file.as_object_mut().expect("an object").remove(field)),
            value => file[field] = value,
        }
        ShareFile::parse(file.to_string().as_bytes())
    }

    #[test]
    fn plain_shares_there_and_back() {
        let json = share().to_json();
        let again = ShareFile::parse(&json).expect("a share");
        assert_eq!((again.suite(), again.index()), (suite(), 3));
        assert_eq!((again.public_key(), again.verification_key()), (&[1; 48][..], &[9; 32][..]));
        assert_eq!(again.to_json(), json);
        assert_eq!(again.unlock(nobody, derive).expect("its key").secret, secret(9));
    }

    #[test]
    fn keystores_there_and_back() {
        let kdf = Kdf::Pbkdf2(Pbkdf2::new(1).expect("cheap"));
        let keystore = |key: u8| {
            let options = KeystoreOptions { kdf, ..KeystoreOptions::default() };
            let keystore = Keystore::encrypt(&secret(9), &[key; 32], &Passphrase::from("right"), options);
            ShareSecret::Keystore(Box::new(keystore.expect("encrypts")))
        };
        let json = ShareFile::new(suite(), 3, vec![1; 48], vec![9; 32], keystore(9)).to_json();
        assert!(json.len() < LONGEST);
        let read = || ShareFile::parse(&json).expect("a share");
        assert_eq!(read().to_json(), json);
        assert_eq!(read().unlock(|| Ok(Passphrase::from("right")), derive).expect("right").secret, secret(9));
        let wrong = read().unlock(|| Ok(Passphrase::from("wrong")), derive);
        assert!(matches!(wrong, Err(UnlockError::Keystore(KeystoreError::WrongPassphrase))));
        let json = ShareFile::new(suite(), 3, vec![1; 48], vec![9; 32], keystore(8)).to_json();
        assert!(matches!(ShareFile::parse(&json), Err(ShareFileError::OtherKeystore)));
    }

    #[test]
    fn another_shares_verification_key() {
        let read = changed("verification_key", json!("08".repeat(32))).expect("a share");
        let error = read.unlock(nobody, derive);
        assert!(matches!(error, Err(UnlockError::Secret(NotASecret::PublicKeyMismatch { .. }))), "{error:?}");
    }

    #[test]
    fn each_error_by_name() {
        for field in ["suite", "index", "public_key", "verification_key"] {
            let error = changed(field, Value::Null).expect_err("it is missing");
            assert!(matches!(error, ShareFileError::Missing { field: found } if found == field), "{error:?}");
        }
        assert!(matches!(changed("suite", json!("eth3")), Err(ShareFileError::Suite { found }) if found == "eth3"));
        assert!(matches!(changed("index", json!(0)), Err(ShareFileError::IndexZero)));
        for index in [json!(-1), json!(1.5), json!("1")] {
            assert!(matches!(changed("index", index), Err(ShareFileError::Json { .. })));
        }
        for field in ["public_key", "verification_key", "secret"] {
            let error = changed(field, json!("zz".repeat(32))).expect_err("no digits");
            assert!(matches!(error, ShareFileError::Hex { source: HexError::Digit, .. }), "{error:?}");
        }
        assert!(matches!(changed("secret", json!("00")), Err(ShareFileError::Hex { field: "secret", .. })));
        assert!(matches!(changed("secret", Value::Null), Err(ShareFileError::Secrets)));
        assert!(matches!(changed("keystore", json!({})), Err(ShareFileError::Secrets)));
        assert!(matches!(changed("more", json!(1)), Err(ShareFileError::Json { .. })));
        let json = share().to_json();
        let doubled = [&json[..], &json[..]].concat();
        for bad in [&b""[..], b"[]", b"\xff", &json[..json.len() / 2], &doubled] {
            assert!(matches!(ShareFile::parse(bad), Err(ShareFileError::Json { .. })));
        }
        let twice = String::from_utf8(json.to_vec()).expect("text").replacen('{', "{\"index\":4,", 1);
        assert!(matches!(ShareFile::parse(twice.as_bytes()), Err(ShareFileError::Json { .. })));
    }

    #[test]
    fn nothing_quotes_the_secret() {
        let digits = "09".repeat(32);
        assert!(format!("{:?}", share()).ends_with("secret: Plain(Secret(redacted)) }"));
        for text in [
            format!(r#"{{"secret":"{digits}""#),
            format!(r#"{{"secret":["{digits}"]}}"#),
            format!(r#"{{"secret":"{digits}\n"}}"#),
            format!(r#"{{"{digits}":1}}"#),
            format!(r#"{{"suite":"eth2","index":1,"public_key":"","verification_key":"","secret":"{digits}0"}}"#),
        ] {
            let error = ShareFile::parse(text.as_bytes()).expect_err("no share");
            assert!(!format!("{error} {error:?}").contains(&digits), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>, text in "\\{[\"a-z_:,0-9{}]{0,64}") {
            let _ = ShareFile::parse(&bytes);
            let _ = ShareFile::parse(text.as_bytes());
        }
    }
}
