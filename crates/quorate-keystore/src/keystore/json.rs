//! Reads and writes a keystore as JSON, in the schema of EIP-2335.

use quorate_host::{
    BYTE_ORDER_MARK,
    text::{UTF_16_MARKS, json_reason},
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

use super::decryption_key::{AES_128_CTR, CipherParams};
use super::error::KeystoreError;
use super::kdf::{HMAC_SHA256, KEY_LENGTH, Kdf, PBKDF2, Pbkdf2Params, SCRYPT, ScryptParams, read_params};
use super::{Fresh, Keystore};
use crate::hex;

impl Keystore {
    /// Reads a keystore from JSON, and checks everything that can be checked without a passphrase. Beyond the standard,
    /// hexadecimal may have `0x` and capitals, a byte order mark may stand before the text, and `path` and `uuid` may be missing,
    /// null or empty, as in exports of Prysm and Charon. A keystore without a uuid gets a fresh one.
    ///
    /// # Errors
    /// [`KeystoreError`]: not JSON or not the schema, a list, UTF-16, another version, an unknown function, a
    /// cost out of bounds, hexadecimal that is bad or of the wrong length.
    pub fn parse(json: &[u8]) -> Result<Self, KeystoreError> {
        if UTF_16_MARKS.iter().any(|mark| json.starts_with(mark)) {
            return Err(KeystoreError::Utf16);
        }
        let json = json.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(json);
        // serde would read the elements of a list as the fields in order.
        if json.trim_ascii_start().starts_with(b"[") {
            return Err(KeystoreError::List);
        }
        // The version is read first: other versions have other fields, and an error about a missing field would mislead.
        let unread = |error| KeystoreError::Json(json_reason(json, &error));
        let Versioned { version } = serde_json::from_slice(json).map_err(unread)?;
        if version != VERSION {
            return Err(KeystoreError::Version { version });
        }
        let File { crypto, description, pubkey, path, uuid, .. } = serde_json::from_slice(json).map_err(unread)?;
        let uuid = match uuid.filter(|uuid| !uuid.is_empty()) {
            Some(uuid) => Uuid::try_parse(&uuid).map_err(|_| KeystoreError::Uuid { uuid })?,
            None => Fresh::draw()?.uuid,
        };
        let Crypto { kdf, checksum, cipher } = crypto;
        let (kdf, salt) = kdf_from(kdf)?;
        expect_function("checksum", &checksum, SHA256)?;
        expect_function("cipher", &cipher, AES_128_CTR)?;
        let CipherParams { iv } = params("cipher", &cipher.params)?;
        Ok(Self {
            kdf,
            salt,
            checksum: array("crypto.checksum.message", &checksum.message)?,
            iv: array("crypto.cipher.params.iv", &iv)?,
            ciphertext: array("crypto.cipher.message", &cipher.message)?,
            description,
            public_key: bytes_of("pubkey", &pubkey.unwrap_or_default())?,
            path: path.unwrap_or_default(),
            uuid,
        })
    }

    /// The keystore as JSON: indented, in the order of the standard's examples, lower-case hexadecimal without `0x`, a newline
    /// at the end.
    pub fn to_json(&self) -> String {
        let Keystore { kdf, salt, checksum, iv, ciphertext, description, public_key, path, uuid } = self;
        let file = File {
            crypto: Crypto {
                kdf: kdf_module(kdf, salt),
                checksum: Module { function: SHA256.to_owned(), params: json!({}), message: hex::encode(checksum) },
                cipher: Module {
                    function: AES_128_CTR.to_owned(),
                    params: json!({ "iv": hex::encode(iv) }),
                    message: hex::encode(ciphertext),
                },
            },
            description: description.clone(),
            pubkey: (!public_key.is_empty()).then(|| hex::encode(public_key)),
            path: Some(path.clone()),
            uuid: Some(uuid.to_string()),
            version: VERSION,
        };
        let mut text =
            serde_json::to_string_pretty(&file).expect("strings and integers under string keys are always JSON");
        text.push('\n');
        text
    }
}

fn kdf_from(module: Module) -> Result<(Kdf, Vec<u8>), KeystoreError> {
    let (kdf, salt) = match module.function.as_str() {
        SCRYPT => params::<ScryptParams>("kdf", &module.params)?.cost()?,
        PBKDF2 => params::<Pbkdf2Params>("kdf", &module.params)?.cost()?,
        _ => return Err(unknown("kdf", module.function, "'scrypt' and 'pbkdf2'")),
    };
    Ok((kdf, bytes_of("crypto.kdf.params.salt", &salt)?))
}

fn kdf_module(kdf: &Kdf, salt: &[u8]) -> Module {
    let salt = hex::encode(salt);
    let (function, params) = match kdf {
        Kdf::Scrypt(cost) => {
            let (n, p, r) = (cost.n(), cost.p(), cost.r());
            let params = json!({ "dklen": KEY_LENGTH, "n": n, "p": p, "r": r, "salt": salt });
            (SCRYPT, params)
        }
        Kdf::Pbkdf2(cost) => {
            let (c, prf) = (cost.iterations(), HMAC_SHA256);
            let params = json!({ "dklen": KEY_LENGTH, "c": c, "prf": prf, "salt": salt });
            (PBKDF2, params)
        }
    };
    Module { function: function.to_owned(), params, message: String::new() }
}

fn expect_function(module: &'static str, found: &Module, known: &'static str) -> Result<(), KeystoreError> {
    if found.function == known {
        return Ok(());
    }
    Err(unknown(module, found.function.clone(), known))
}

fn unknown(module: &'static str, function: String, known: &'static str) -> KeystoreError {
    KeystoreError::UnknownFunction { module, function, known }
}

fn params<T: DeserializeOwned>(module: &'static str, params: &Value) -> Result<T, KeystoreError> {
    read_params(params).map_err(|why| KeystoreError::Params { module, why })
}

fn bytes_of(field: &'static str, text: &str) -> Result<Vec<u8>, KeystoreError> {
    hex::decode(text).map_err(|source| KeystoreError::Hex { field, source })
}

fn array<const N: usize>(field: &'static str, text: &str) -> Result<[u8; N], KeystoreError> {
    let mut bytes = [0; N];
    hex::decode_into(text.as_bytes(), &mut bytes).map_err(|source| KeystoreError::Hex { field, source })?;
    Ok(bytes)
}

#[derive(Deserialize)]
struct Versioned {
    version: u64,
}

/// The whole file. Other fields are ignored, because several tools add their own.
#[derive(Serialize, Deserialize)]
struct File {
    crypto: Crypto,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pubkey: Option<String>,
    path: Option<String>,
    uuid: Option<String>,
    version: u64,
}

#[derive(Serialize, Deserialize)]
struct Crypto {
    kdf: Module,
    checksum: Module,
    cipher: Module,
}

/// A construction, its parameters (which depend on the function) and its primary input.
#[derive(Serialize, Deserialize)]
struct Module {
    function: String,
    params: Value,
    message: String,
}

/// EIP-2335 begins with version 4, because Ethereum's older keystores use the versions below.
const VERSION: u64 = 4;

const SHA256: &str = "sha256";

#[cfg(test)]
mod tests {
    use super::super::kdf::KdfError;
    use super::*;
    use crate::hex::HexError;

    #[test]
    fn what_is_written_is_what_was_read() {
        let mut file = example();
        file["crypto"]["kdf"]["params"]["salt"] = json!("0xD4E5");
        let keystore = parse_value(&file).expect("0x and capitals are read");
        file["crypto"]["kdf"]["params"]["salt"] = json!("d4e5");
        let written = keystore.to_json();
        assert_eq!(serde_json::from_str::<Value>(&written).expect("JSON"), file);
        assert!(written.ends_with("}\n"));
        assert_eq!(Keystore::parse(written.as_bytes()).expect("reads its own"), keystore);
    }

    #[test]
    fn optional_fields_may_be_absent_empty_or_null() {
        for value in [None, Some(json!("")), Some(Value::Null)] {
            let mut file = example();
            match value {
                Some(value) => file["pubkey"] = value,
                None => drop(file.as_object_mut().expect("an object").remove("pubkey")),
            }
            let keystore = parse_value(&file).expect("a keystore without public key");
            assert_eq!(keystore.public_key(), None);
            assert!(!keystore.to_json().contains("pubkey"));
        }
        let mut file = example();
        file.as_object_mut().expect("an object").remove("description");
        assert_eq!(parse_value(&file).expect("no description").description(), None);
    }

    /// Prysm writes no `path`, Charon `name` in its place; others null or nothing for `uuid`.
    #[test]
    fn keystores_without_path_or_uuid() {
        for field in ["path", "uuid"] {
            for value in [None, Some(Value::Null), Some(json!(""))] {
                let mut file = example();
                match value {
                    Some(value) => file[field] = value,
                    None => drop(file.as_object_mut().expect("an object").remove(field)),
                }
                file["name"] = json!("a name");
                let keystore = parse_value(&file).expect("a keystore of another program");
                let written: Value = serde_json::from_str(&keystore.to_json()).expect("JSON");
                // Written again it has both.
                assert_eq!(written["path"], json!(if field == "path" { "" } else { "m/12381/60/0/0" }));
                assert_eq!(written["uuid"].as_str().map(str::len), Some(36));
                assert_eq!(parse_value(&written).expect("ours").uuid(), keystore.uuid());
                if field == "uuid" {
                    assert_ne!(parse_value(&file).expect("again").uuid(), keystore.uuid(), "it is fresh");
                }
            }
        }
    }

    #[test]
    fn byte_order_marks_and_lists() {
        let text = example().to_string();
        let marked = [&b"\xef\xbb\xbf"[..], text.as_bytes()].concat();
        assert_eq!(Keystore::parse(&marked).expect("UTF-8"), parse_value(&example()).expect("the same"));
        let utf_16: Vec<u8> = "\u{feff}".chars().chain(text.chars()).flat_map(|c| (c as u16).to_le_bytes()).collect();
        assert!(matches!(Keystore::parse(&utf_16), Err(KeystoreError::Utf16)));
        assert!(matches!(Keystore::parse(format!(" [{text}]").as_bytes()), Err(KeystoreError::List)));
    }

    #[test]
    fn required_fields_are_missed_by_name() {
        for field in ["crypto", "version"] {
            let mut file = example();
            file.as_object_mut().expect("an object").remove(field);
            let error = parse_value(&file).expect_err("a field is missing");
            assert!(matches!(error, KeystoreError::Json(_)), "{error:?}");
            assert!(error.to_string().contains(field), "{error:?}");
        }
        for module in ["kdf", "cipher", "checksum"] {
            let mut file = example();
            file["crypto"].as_object_mut().expect("an object").remove(module);
            let error = parse_value(&file).expect_err("missing");
            assert!(error.to_string().contains(module), "{error:?}");
        }
        let error = changed("/crypto/cipher/params", json!({}));
        assert!(matches!(error, KeystoreError::Params { module: "cipher", .. }), "{error:?}");
        assert!(error.to_string().contains("iv"), "{error:?}");
        let error = changed("/crypto/kdf/params", json!({ "dklen": 32 }));
        assert!(matches!(error, KeystoreError::Params { module: "kdf", .. }), "{error:?}");
    }

    #[test]
    fn another_version_is_named_before_its_fields_are_missed() {
        let error = parse_value(&json!({ "version": 3, "Crypto": {} })).expect_err("version 3");
        assert!(matches!(error, KeystoreError::Version { version: 3 }), "{error:?}");
        assert!(error.to_string().contains("version 3"), "{error}");
    }

    #[test]
    fn unknown_functions() {
        for (module, known) in [("kdf", "scrypt"), ("checksum", "sha256"), ("cipher", "aes-128-ctr")] {
            let error = changed(&format!("/crypto/{module}/function"), json!("rot13"));
            assert!(
                matches!(&error, KeystoreError::UnknownFunction { module: m, function, .. }
                    if *m == module && function == "rot13"),
                "{error:?}"
            );
            assert!(error.to_string().contains(known), "{error}");
        }
    }

    #[test]
    fn hostile_costs() {
        let cost = |field: &str, value| match changed(&format!("/crypto/kdf/params/{field}"), value) {
            KeystoreError::Kdf(error) => error,
            other => panic!("{other:?}"),
        };
        let n = 1 << 40;
        assert_eq!(cost("n", json!(n)), KdfError::ScryptTooLarge { n, r: 8, p: 1 });
        assert_eq!(cost("n", json!(12)), KdfError::ScryptN { n: 12 });
        assert_eq!(cost("r", json!(0)), KdfError::ScryptZero);
        for dklen in [0, 16, 31, 33, 1 << 40] {
            assert_eq!(cost("dklen", json!(dklen)), KdfError::DerivedKeyLength { dklen });
        }
        for value in [json!(-8), json!(8.5), json!("8"), json!(1e300), json!(null)] {
            let error = changed("/crypto/kdf/params/n", value);
            assert!(matches!(error, KeystoreError::Params { module: "kdf", .. }), "{error:?}");
        }
    }

    /// As the file has them, or at least with their field: serde_json reads another number.
    #[test]
    fn integers_of_more_than_64_bits_are_named_by_their_field() {
        let text = example().to_string();
        for (field, from) in [("version", "\"version\":4"), ("n", "\"n\":2"), ("dklen", "\"dklen\":32")] {
            let larger = text.replacen(from, &format!("\"{field}\":18446744073709551617"), 1);
            assert_ne!(larger, text);
            let error = Keystore::parse(larger.as_bytes()).expect_err("too large").to_string();
            let found = if field == "version" { "18446744073709551617" } else { "a number above 2^64 - 1" };
            assert!(error.contains(&format!("\"{field}\": found {found}, expected")), "{error}");
            assert!(!error.contains("floating point"), "{error}");
        }
    }

    #[test]
    fn hostile_pbkdf2() {
        let pbkdf2 = |c: u64, prf: &str| {
            let params = json!({ "dklen": 32, "c": c, "prf": prf, "salt": "d4e5" });
            let mut file = example();
            file["crypto"]["kdf"] = json!({ "function": "pbkdf2", "params": params, "message": "" });
            parse_value(&file)
        };
        assert!(pbkdf2(1, "hmac-sha256").is_ok());
        assert!(matches!(pbkdf2(1 << 40, "hmac-sha256"), Err(KeystoreError::Kdf(KdfError::Pbkdf2Iterations { .. }))));
        assert!(matches!(
            pbkdf2(1, "hmac-md5"),
            Err(KeystoreError::Kdf(KdfError::Pbkdf2Prf { prf })) if prf == "hmac-md5"
        ));
    }

    #[test]
    fn wrong_lengths_and_bad_hexadecimal_name_the_field() {
        for (pointer, field) in [
            ("/crypto/checksum/message", "crypto.checksum.message"),
            ("/crypto/cipher/message", "crypto.cipher.message"),
            ("/crypto/cipher/params/iv", "crypto.cipher.params.iv"),
        ] {
            for text in ["", "ab", &"ab".repeat(33)] {
                let error = changed(pointer, json!(text));
                let KeystoreError::Hex { field: found, source } = error else { panic!("{error:?}") };
                assert_eq!(found, field);
                assert!(matches!(source, HexError::Length { .. }), "{source:?}");
            }
        }
        for (pointer, field) in [("/crypto/kdf/params/salt", "crypto.kdf.params.salt"), ("/pubkey", "pubkey")] {
            let error = changed(pointer, json!("xyz0"));
            let KeystoreError::Hex { field: found, source } = error else { panic!("{error:?}") };
            assert_eq!((found, source), (field, HexError::Digit));
        }
    }

    #[test]
    fn not_a_uuid() {
        let error = changed("/uuid", json!("1d85ae20"));
        assert!(matches!(error, KeystoreError::Uuid { uuid } if uuid == "1d85ae20"));
    }

    #[test]
    fn not_json() {
        for bytes in [&b""[..], b"{", b"\xff", b"4"] {
            assert!(matches!(Keystore::parse(bytes), Err(KeystoreError::Json(_))));
        }
    }

    fn changed(pointer: &str, value: Value) -> KeystoreError {
        let mut file = example();
        *file.pointer_mut(pointer).expect("the example has this field") = value;
        parse_value(&file).expect_err("the changed field is refused")
    }

    fn parse_value(file: &Value) -> Result<Keystore, KeystoreError> {
        Keystore::parse(file.to_string().as_bytes())
    }

    fn example() -> Value {
        let params = json!({ "dklen": 32, "n": 2, "p": 1, "r": 8, "salt": "d4e5" });
        json!({
            "crypto": {
                "kdf": { "function": "scrypt", "params": params, "message": "" },
                "checksum": { "function": "sha256", "params": {}, "message": "d2".repeat(32) },
                "cipher": {
                    "function": "aes-128-ctr",
                    "params": { "iv": "26".repeat(16) },
                    "message": "06".repeat(32),
                },
            },
            "description": "an example",
            "pubkey": "96".repeat(48),
            "path": "m/12381/60/0/0",
            "uuid": "1d85ae20-35c5-4611-98e8-aa14a633906f",
            "version": 4,
        })
    }
}
