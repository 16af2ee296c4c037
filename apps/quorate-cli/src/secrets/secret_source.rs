//! Reads a secret key in any format, and tells the formats apart by their content.

use std::ops::RangeInclusive;

use quorate_host::{BYTE_ORDER_MARK, text::UTF_16_MARKS};

use crate::secrets::hex::HexError;
use crate::secrets::jwk::{Jwk, JwkError};
use crate::secrets::keystore::{Decrypted, Keystore, KeystoreError};
use crate::secrets::passphrase::{Passphrase, PassphraseError};
use crate::secrets::secret::{NotASecret, Secret};

/// A secret key as its file holds it.
#[derive(Debug)]
#[non_exhaustive]
pub enum SecretSource {
    /// The secret in hexadecimal digits, not encrypted, without a public key.
    Plain(Secret),
    /// Encrypted with a passphrase (EIP-2335).
    Keystore(Box<Keystore>),
    /// A JSON Web Key, not encrypted.
    Jwk(Jwk),
}

impl SecretSource {
    /// The secret. It is compared with the public key in the file, if there is one.
    ///
    /// `passphrase` is called only for a keystore. `derive` returns the encoded public key of a
    /// secret, or `None` if the bytes are not a secret key.
    ///
    /// # Errors
    /// [`UnlockError`]: no passphrase, the wrong one, or a secret that does not belong to the stated public key.
    ///
    /// Cost: one key derivation for a keystore, nothing for the other formats.
    pub fn unlock(
        self,
        passphrase: impl FnOnce() -> Result<Passphrase, PassphraseError>,
        derive: impl FnOnce(&Secret) -> Option<Vec<u8>>,
    ) -> Result<Decrypted, UnlockError> {
        let secret = match self {
            Self::Keystore(keystore) => return Ok(keystore.decrypt(&passphrase()?, derive)?),
            Self::Plain(secret) => secret.checked(None, derive)?,
            Self::Jwk(jwk) => jwk.into_secret(derive)?,
        };
        Ok(Decrypted { secret, older: None })
    }
}

/// Reads a key file. A JSON object is a keystore or a JSON Web Key; everything else must be 64 hexadecimal digits in one line, with
/// or without `0x`. White space around the content is skipped, and a byte order mark before it.
///
/// # Errors
/// [`ReadSecretError`]. Its messages repeat no secret. Of the file's bytes they repeat at most the name of an unknown function in
/// a keystore.
pub fn read_secret(bytes: &[u8]) -> Result<SecretSource, ReadSecretError> {
    if UTF_16_MARKS.iter().any(|mark| bytes.starts_with(mark)) && bytes.len() != Secret::LENGTH {
        return Err(ReadSecretError::Utf16);
    }
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(bytes);
    let text = bytes.trim_ascii();
    if text.is_empty() {
        return Err(ReadSecretError::Empty);
    }
    if !text.starts_with(b"{") {
        // What is not a key is looked at only now, so that the time says nothing about one that is.
        return Secret::from_hex(text).map(SecretSource::Plain).map_err(|error| not_a_key(bytes, error));
    }
    // The bytes are read untrimmed from here on, so that errors name the lines of the file.
    let members: Members = serde_json::from_slice(bytes)
        .map_err(|error| ReadSecretError::Json { line: error.line(), column: error.column() })?;
    match members {
        Members { kty: Some(_), .. } => Ok(SecretSource::Jwk(Jwk::parse(bytes)?)),
        _ if is_of_eigensdk(bytes) => Err(ReadSecretError::Eigensdk),
        Members { version: Some(_), .. } | Members { crypto: Some(_), .. } => {
            Ok(SecretSource::Keystore(Box::new(Keystore::parse(bytes)?)))
        }
        _ => Err(ReadSecretError::UnknownObject),
    }
}

/// What a file holds that is neither JSON nor a key in hexadecimal digits.
fn not_a_key(bytes: &[u8], error: HexError) -> ReadSecretError {
    let text = bytes.trim_ascii();
    if text.starts_with(b"-----BEGIN ") {
        return ReadSecretError::Pem;
    }
    if text.starts_with(b"[") {
        return ReadSecretError::List;
    }
    let digits = text.strip_prefix(b"0x").or_else(|| text.strip_prefix(b"0X")).unwrap_or(text);
    if DECIMAL_DIGITS.contains(&text.len()) && text.iter().all(u8::is_ascii_digit) {
        return ReadSecretError::Decimal { digits: text.len() };
    }
    if digits.iter().all(u8::is_ascii_hexdigit) {
        return error.into();
    }
    let printed = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    if bytes.len() == Secret::LENGTH && !bytes.iter().all(printed) {
        return ReadSecretError::Raw;
    }
    match str::from_utf8(text) {
        Ok(text) if text.split_whitespace().count() >= LEAST_WORDS && !text.contains(|c: char| c.is_ascii_digit()) => {
            ReadSecretError::Words
        }
        Ok(_) => ReadSecretError::Text,
        Err(_) => ReadSecretError::Binary { bytes: bytes.len() },
    }
}

/// How long nearly every secret key is as a decimal number: 2^255 has 77 digits.
const DECIMAL_DIGITS: RangeInclusive<usize> = 70..=77;

/// The words of the shortest mnemonic.
const LEAST_WORDS: usize = 12;

/// Why a key file was not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadSecretError {
    /// The file has nothing but white space.
    #[error("the key file is empty, expected hexadecimal digits, a keystore or a JSON Web Key")]
    Empty,
    /// The file is in UTF-16, as Windows' tools write it.
    #[error(
        "the key file is UTF-16, expected UTF-8; save it as UTF-8, in PowerShell with `Set-Content -Encoding utf8`"
    )]
    Utf16,
    /// A key in PEM, which is for keys of other schemes.
    #[error(
        "the key file is PEM, expected hexadecimal digits, a keystore or a JSON Web Key; PEM has no form for a BLS secret key, so this \
         is most likely a key of another scheme"
    )]
    Pem,
    /// A JSON list.
    #[error(
        "the key file is a list, expected one key; give each keystore a file of its own, as `jq '.[0]'` prints the first one"
    )]
    List,
    /// As many bytes as a secret has, and no text.
    #[error(
        "the key file has 32 raw bytes, expected hexadecimal digits, a keystore or a JSON Web Key; if it is the secret key in \
         big-endian bytes, `xxd -p -c 32` prints its digits"
    )]
    Raw,
    /// Other bytes.
    #[error(
        "the key file has {bytes} bytes that are no text, expected hexadecimal digits, a keystore or a JSON Web Key"
    )]
    Binary {
        /// How many.
        bytes: usize,
    },
    /// Twelve words or more.
    #[error(
        "the key file has words, expected hexadecimal digits, a keystore or a JSON Web Key; if they are a mnemonic, use `quorate key \
         derive --mnemonic-file`"
    )]
    Words,
    /// Other text.
    #[error("the key file is other text, expected 64 hexadecimal digits, a keystore or a JSON Web Key")]
    Text,
    /// The file has hexadecimal digits, and too few or too many.
    #[error("expected a secret key in hexadecimal digits, a keystore or a JSON Web Key")]
    Hex(#[from] HexError),
    /// The file has so many decimal digits as a secret key has.
    #[error(
        "the key file has {digits} decimal digits, expected 64 hexadecimal ones; if they are the secret key as a decimal number, \
         write that number in hexadecimal, with zeros before it if there are fewer than 64 digits"
    )]
    Decimal {
        /// Digits found.
        digits: usize,
    },
    /// An encrypted BLS key of eigensdk, as EigenLayer's operators have it.
    #[error(
        "the key file is an encrypted BLS key of EigenLayer's tools (with 'pubKey' and 'crypto.mac'), which is not read here; export \
         the key with the tool that made the file, and give it as 64 hexadecimal digits"
    )]
    Eigensdk,
    /// The file begins like JSON, but is not JSON.
    #[error("the key file begins with '{{' but is not JSON, at line {line}, column {column}")]
    Json {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// The file is a JSON object of another kind.
    #[error("the key file is JSON, but neither a keystore (with 'crypto') nor a JSON Web Key (with 'kty')")]
    UnknownObject,
    /// The keystore cannot be read.
    #[error(transparent)]
    Keystore(#[from] KeystoreError),
    /// The JSON Web Key cannot be read.
    #[error(transparent)]
    Jwk(#[from] JwkError),
}

/// Why the secret in a key file cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnlockError {
    /// There is no passphrase.
    #[error(transparent)]
    Passphrase(#[from] PassphraseError),
    /// The keystore cannot be decrypted.
    #[error(transparent)]
    Keystore(#[from] KeystoreError),
    /// The bytes are not a secret key, or not the one of the stated public key.
    #[error(transparent)]
    Secret(#[from] NotASecret),
}

/// Which members the object has. Their values are skipped.
#[derive(serde::Deserialize)]
struct Members {
    kty: Option<serde::de::IgnoredAny>,
    version: Option<serde::de::IgnoredAny>,
    crypto: Option<serde::de::IgnoredAny>,
}

/// Whether the object is an encrypted BLS key of eigensdk: the `crypto` of an account's keystore, beside a point as `pubKey`, and often
/// without a version.
fn is_of_eigensdk(bytes: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct File {
        #[serde(rename = "pubKey")]
        public_key: Option<serde::de::IgnoredAny>,
        crypto: Option<Crypto>,
    }
    #[derive(serde::Deserialize)]
    struct Crypto {
        mac: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_slice::<File>(bytes)
        .is_ok_and(|file| file.public_key.is_some() && file.crypto.is_some_and(|crypto| crypto.mac.is_some()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use zeroize::Zeroizing;

    use super::*;
    use crate::secrets::keystore::{Kdf, KeystoreOptions, Pbkdf2};

    #[test]
    fn plain_keys() {
        let digits = "0A".repeat(32);
        for text in [
            digits.clone(),
            digits.to_lowercase(),
            format!("0x{digits}"),
            format!("  {digits}\r\n"),
            secret(10).to_hex_line().to_string(),
        ] {
            let source = read_secret(text.as_bytes()).expect("a plain key");
            assert!(matches!(&source, SecretSource::Plain(found) if *found == secret(10)));
            assert_eq!(source.unlock(nobody, derive).expect("unprotected").secret, secret(10));
        }
    }

    #[test]
    fn keystores() {
        let passphrase = Passphrase::from("right");
        let kdf = Kdf::Pbkdf2(Pbkdf2::new(1).expect("cheap"));
        let options = KeystoreOptions { kdf, ..KeystoreOptions::default() };
        let keystore = Keystore::encrypt(&secret(10), &[10; 32], &passphrase, options);
        let json = format!("\n{}", keystore.expect("encrypts").to_json());
        let source = || read_secret(json.as_bytes()).expect("a keystore");
        assert!(matches!(source(), SecretSource::Keystore(_)));
        assert_eq!(source().unlock(|| Ok(passphrase), derive).expect("right").secret, secret(10));
        assert!(matches!(
            source().unlock(|| Ok(Passphrase::from("wrong")), derive),
            Err(UnlockError::Keystore(KeystoreError::WrongPassphrase))
        ));
        assert!(matches!(
            source().unlock(|| Err(PassphraseError::Interrupted), derive),
            Err(UnlockError::Passphrase(PassphraseError::Interrupted))
        ));
    }

    #[test]
    fn json_web_keys() {
        let json = format!(r#"{{"kty":"OKP","crv":"BLS12381G1","d":"{}"}}"#, "A".repeat(43));
        let source = read_secret(json.as_bytes()).expect("a JSON Web Key");
        assert!(matches!(source, SecretSource::Jwk(_)));
        assert_eq!(source.unlock(nobody, derive).expect("unprotected").secret, secret(0));
    }

    #[test]
    fn bytes_that_are_no_key() {
        let source = read_secret("00".repeat(32).as_bytes()).expect("64 digits");
        let error = source.unlock(nobody, |_| None);
        assert!(matches!(error, Err(UnlockError::Secret(NotASecret::NotASecretKey))));
    }

    #[test]
    fn each_error_by_name() {
        assert!(matches!(read(""), ReadSecretError::Empty));
        assert!(matches!(read(" \n\t"), ReadSecretError::Empty));
        let length = |text: &str, found| match read(text) {
            ReadSecretError::Hex(HexError::Length { expected: 64, digits }) => {
                assert_eq!(digits, found);
            }
            other => panic!("{other:?}"),
        };
        length(&"0".repeat(63), 63);
        length(&"0".repeat(65), 65);
        for text in ["hello world".to_owned(), "g".repeat(64), format!("{0}\n{0}", "0".repeat(64))] {
            assert!(matches!(read(&text), ReadSecretError::Text));
        }
        assert!(matches!(read("\n{\n!"), ReadSecretError::Json { line: 3, .. }));
        assert!(matches!(read("{}"), ReadSecretError::UnknownObject));
        assert!(matches!(read(r#"{"d":"secret"}"#), ReadSecretError::UnknownObject));
        assert!(matches!(read(r#"{"kty":"RSA","crv":""}"#), ReadSecretError::Jwk(_)));
        for text in [r#"{"version":3}"#, r#"{"crypto":{}}"#] {
            assert!(matches!(read(text), ReadSecretError::Keystore(_)));
        }
    }

    #[test]
    fn files_that_are_no_key_are_named_as_what_they_are() {
        let raw = |bytes: &[u8]| read_secret(bytes).expect_err("not a key");
        assert!(matches!(read("-----BEGIN EC PRIVATE KEY-----\nMHcC\n"), ReadSecretError::Pem));
        assert!(matches!(read(" [{\"crypto\":{}}]"), ReadSecretError::List));
        assert!(matches!(read(&"zoo ".repeat(12)), ReadSecretError::Words));
        assert!(matches!(raw(&[0x80; 32]), ReadSecretError::Raw));
        assert!(matches!(raw(&[&[0xff, 0xfe][..], &[7; 30]].concat()), ReadSecretError::Raw));
        assert!(matches!(raw(&[0x80; 31]), ReadSecretError::Binary { bytes: 31 }));
        assert!(matches!(raw(b"\xff\xfe{\0"), ReadSecretError::Utf16));
        for text in [
            "0a".repeat(32),
            r#"{"kty":"OKP","crv":"BLS12381G1","d":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#.into(),
        ] {
            read_secret(&[BYTE_ORDER_MARK.as_bytes(), text.as_bytes()].concat()).expect("the mark is skipped");
        }
    }

    /// As `eigensdk-go` writes it, and with a version that somebody added.
    #[test]
    fn a_bls_key_file_of_eigensdk_is_named() {
        let crypto = r#"{"cipher":"aes-128-ctr","ciphertext":"00","cipherparams":{"iv":"00"},"kdf":"scrypt","kdfparams":{},"mac":"00"}"#;
        for version in ["", r#","version":3"#, r#","version":4"#] {
            let text = format!(r#"{{"pubKey":"E([1,2])","crypto":{crypto}{version}}}"#);
            assert!(matches!(read(&text), ReadSecretError::Eigensdk), "{version}");
        }
        // An account's keystore has no such key.
        let account = format!(r#"{{"address":"00","crypto":{crypto},"version":3}}"#);
        assert!(matches!(read(&account), ReadSecretError::Keystore(_)));
        for digits in [70, 77] {
            assert!(matches!(read(&"7".repeat(digits)), ReadSecretError::Decimal { digits: found } if found == digits));
        }
    }

    #[test]
    fn debug_is_redacted() {
        let source = read_secret("0a".repeat(32).as_bytes()).expect("a plain key");
        assert_eq!(format!("{source:?}"), "Plain(Secret(redacted))");
    }

    proptest! {
        #[test]
        fn secrets_there_and_back(bytes: [u8; 32]) {
            let secret = Secret::new(Zeroizing::new(bytes));
            let source = read_secret(secret.to_hex_line().as_bytes()).expect("a plain key");
            prop_assert_eq!(source.unlock(nobody, derive).expect("unprotected").secret, secret);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>, text in "\\{[\"a-z:,0-9{}]{0,48}") {
            let _ = read_secret(&bytes);
            let _ = read_secret(text.as_bytes());
        }
    }

    fn read(text: &str) -> ReadSecretError {
        read_secret(text.as_bytes()).expect_err("not a key")
    }

    fn secret(byte: u8) -> Secret {
        Secret::new(Zeroizing::new([byte; 32]))
    }

    /// Takes the place of the curve.
    fn derive(secret: &Secret) -> Option<Vec<u8>> {
        Some(secret.expose().to_vec())
    }

    fn nobody() -> Result<Passphrase, PassphraseError> {
        unreachable!("nothing here is encrypted")
    }
}
