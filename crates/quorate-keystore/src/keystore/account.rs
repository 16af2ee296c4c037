//! The keystore of an Ethereum account: version 3, the Web3 Secret Storage Definition
//! (<https://ethereum.org/en/developers/docs/data-structures-and-encoding/web3-secret-storage/>). It is only read.

use quorate_host::{
    BYTE_ORDER_MARK,
    text::{UTF_16_MARKS, json_reason},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::decryption_key::{AES_128_CTR, CipherParams, DecryptionKey};
use super::kdf::{Kdf, KdfError, PBKDF2, Pbkdf2Params, SCRYPT, ScryptParams, read_params};
use crate::hex::{self, HexError};
use crate::passphrase::Passphrase;
use crate::secret::Secret;

/// The keystore of an account, with a cost within the bounds of [`Kdf`].
///
/// The checksum does not cover the initialisation vector. If that is damaged, the passphrase is still accepted, but the key is that of
/// another account. Only the address in the file shows this, so compare [`AccountKeystore::address`] with that of the key.
pub struct AccountKeystore {
    address: Option<[u8; 20]>,
    kdf: Kdf,
    salt: Vec<u8>,
    iv: [u8; 16],
    ciphertext: [u8; 32],
    mac: [u8; 32],
}

/// Why a keystore of an account cannot be read or opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AccountKeystoreError {
    /// The text is not JSON, or a field is missing or of the wrong type.
    #[error("expected an Ethereum keystore of version 3: {why}")]
    Json {
        /// Which field, and where.
        why: String,
    },
    /// The file is in UTF-16, as Windows' tools write it.
    #[error("the file is UTF-16, expected UTF-8; save it as UTF-8")]
    Utf16,
    /// The file is a list.
    #[error("the file is a list; give each keystore a file of its own, as `jq '.[0]'` prints the first one")]
    List,
    /// Version 4 is for BLS keys.
    #[error("found a keystore of version {version}, expected version 3, which is for accounts")]
    Version {
        /// The version in the file.
        version: u64,
    },
    /// A function that the definition does not have.
    #[error("\"crypto.{field}\": found {found:?}, expected {known}")]
    Function {
        /// `kdf` or `cipher`.
        field: &'static str,
        /// The name in the file.
        found: String,
        /// The names that would do.
        known: &'static str,
    },
    /// A field is not hexadecimal digits, or has the wrong number of bytes.
    #[error("\"crypto.{field}\" cannot be read: {why}")]
    Hex {
        /// The field.
        field: &'static str,
        /// What is wrong with it.
        why: HexError,
    },
    /// The address is not hexadecimal digits, or has the wrong number of bytes.
    #[error("\"address\" cannot be read: {why}")]
    Address {
        /// What is wrong with it.
        why: HexError,
    },
    /// The file asks for a cost that is out of bounds.
    #[error("the keystore's key derivation function cannot be used: {0}")]
    Kdf(#[from] KdfError),
    /// The checksum does not match.
    #[error("the keystore is damaged, or the passphrase is wrong")]
    WrongPassphrase,
}

impl AccountKeystore {
    /// Reads a keystore from JSON, and checks everything that can be checked without a passphrase. A byte order mark may stand before
    /// the text.
    ///
    /// # Errors
    /// All of [`AccountKeystoreError`] but [`WrongPassphrase`](AccountKeystoreError::WrongPassphrase).
    pub fn parse(json: &[u8]) -> Result<Self, AccountKeystoreError> {
        if UTF_16_MARKS.iter().any(|mark| json.starts_with(mark)) {
            return Err(AccountKeystoreError::Utf16);
        }
        let json = json.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(json);
        // serde would read the elements of a list as the fields in order.
        if json.trim_ascii_start().starts_with(b"[") {
            return Err(AccountKeystoreError::List);
        }
        let unread = |error| AccountKeystoreError::Json { why: json_reason(json, &error) };
        let Versioned { version } = serde_json::from_slice(json).map_err(unread)?;
        if version != 3 {
            return Err(AccountKeystoreError::Version { version });
        }
        let File { address, crypto } = serde_json::from_slice(json).map_err(unread)?;
        if crypto.cipher != AES_128_CTR {
            return Err(AccountKeystoreError::Function { field: "cipher", found: crypto.cipher, known: AES_128_CTR });
        }
        let (kdf, salt) = match &crypto.kdf[..] {
            SCRYPT => params::<ScryptParams>(&crypto.kdfparams)?.cost()?,
            PBKDF2 => params::<Pbkdf2Params>(&crypto.kdfparams)?.cost()?,
            _ => {
                let known = "'scrypt' and 'pbkdf2'";
                return Err(AccountKeystoreError::Function { field: "kdf", found: crypto.kdf, known });
            }
        };
        // The definition does not ask for it, and some programs leave it out or empty, so that the file does not tell whose it is.
        let address = address.filter(|text| !text.is_empty()).map(|text| {
            let mut bytes = [0; 20];
            hex::decode_into(text.as_bytes(), &mut bytes).map(|()| bytes)
        });
        Ok(Self {
            address: address.transpose().map_err(|why| AccountKeystoreError::Address { why })?,
            kdf,
            salt: hex::decode(&salt).map_err(|why| AccountKeystoreError::Hex { field: "kdfparams.salt", why })?,
            iv: array("cipherparams.iv", &crypto.cipherparams.iv)?,
            ciphertext: array("ciphertext", &crypto.ciphertext)?,
            mac: array("mac", &crypto.mac)?,
        })
    }

    /// The address that the file states; `None` if it is missing or empty.
    pub fn address(&self) -> Option<[u8; 20]> {
        self.address
    }

    /// The key, which nobody has compared with [`address`](Self::address). The passphrase is taken as it was typed.
    ///
    /// Cost: one key derivation, see [`Kdf`].
    ///
    /// # Errors
    /// [`AccountKeystoreError::WrongPassphrase`].
    pub fn decrypt(&self, passphrase: &Passphrase) -> Result<Secret, AccountKeystoreError> {
        let key = DecryptionKey::of_text(&self.kdf, passphrase.expose(), &self.salt);
        if !bool::from(key.mac(&self.ciphertext).ct_eq(&self.mac)) {
            return Err(AccountKeystoreError::WrongPassphrase);
        }
        let mut bytes = Zeroizing::new(self.ciphertext);
        key.apply_cipher(&self.iv, bytes.as_mut());
        Ok(Secret::new(bytes))
    }
}

fn params<T: DeserializeOwned>(params: &Value) -> Result<T, AccountKeystoreError> {
    let in_field = |why| AccountKeystoreError::Json { why: format!("\"crypto.kdfparams\" cannot be read: {why}") };
    read_params(params).map_err(in_field)
}

fn array<const N: usize>(field: &'static str, text: &str) -> Result<[u8; N], AccountKeystoreError> {
    let mut bytes = [0; N];
    hex::decode_into(text.as_bytes(), &mut bytes).map_err(|why| AccountKeystoreError::Hex { field, why })?;
    Ok(bytes)
}

#[derive(Deserialize)]
struct Versioned {
    version: u64,
}

/// Some programs write the first field with a capital.
#[derive(Deserialize)]
struct File {
    address: Option<String>,
    #[serde(alias = "Crypto")]
    crypto: Crypto,
}

#[derive(Deserialize)]
struct Crypto {
    cipher: String,
    cipherparams: CipherParams,
    ciphertext: String,
    kdf: String,
    kdfparams: Value,
    mac: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The examples of the definition: PBKDF2, and scrypt (n = 262144).
    const SECRET: &str = "7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d";

    fn pbkdf2() -> Value {
        json!({
            "crypto": {
                "cipher": "aes-128-ctr",
                "cipherparams": { "iv": "6087dab2f9fdbbfaddc31a909735c1e6" },
                "ciphertext": "5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46",
                "kdf": "pbkdf2",
                "kdfparams": {
                    "c": 262_144, "dklen": 32, "prf": "hmac-sha256",
                    "salt": "ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd",
                },
                "mac": "517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2",
            },
            "id": "3198bc9c-6672-5ab3-d995-4942343ae5b6",
            "version": 3,
        })
    }

    fn scrypt() -> Value {
        json!({
            "Crypto": {
                "cipher": "aes-128-ctr",
                "cipherparams": { "iv": "83dbcc02d8ccb40e466191a123791e0e" },
                "ciphertext": "d172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c",
                "kdf": "scrypt",
                "kdfparams": {
                    "dklen": 32, "n": 262_144, "r": 1, "p": 8,
                    "salt": "ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19",
                },
                "mac": "2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097",
            },
            "id": "3198bc9c-6672-5ab3-d995-4942343ae5b6",
            "version": 3,
        })
    }

    fn open(file: &Value, passphrase: &str) -> Result<Secret, AccountKeystoreError> {
        AccountKeystore::parse(file.to_string().as_bytes())?.decrypt(&Passphrase::from(passphrase))
    }

    #[test]
    fn examples_of_the_definition() {
        for file in [pbkdf2(), scrypt()] {
            assert_eq!(open(&file, "testpassword").map(|secret| hex::encode(secret.expose())), Ok(SECRET.to_owned()));
            assert_eq!(open(&file, "testpassword ").err(), Some(AccountKeystoreError::WrongPassphrase));
        }
    }

    #[test]
    fn the_address_is_there_or_not() {
        let address = |value: Value| {
            let mut file = pbkdf2();
            file["address"] = value;
            AccountKeystore::parse(file.to_string().as_bytes()).map(|keystore| keystore.address())
        };
        for (value, expected) in [
            (json!("0x008AeEda4D805471dF9b2A5B0f38A0C3bCBA786b"), Some(0x6b)),
            (json!("008aeeda4d805471df9b2a5b0f38a0c3bcba786b"), Some(0x6b)),
            (json!(""), None),
            (Value::Null, None),
        ] {
            assert_eq!(address(value).map(|bytes| bytes.map(|bytes| bytes[19])), Ok(expected));
        }
        assert_eq!(
            AccountKeystore::parse(pbkdf2().to_string().as_bytes()).map(|keystore| keystore.address()),
            Ok(None)
        );
        for wrong in ["00", "zz8aeeda4d805471df9b2a5b0f38a0c3bcba786b"] {
            assert!(matches!(address(json!(wrong)), Err(AccountKeystoreError::Address { .. })), "{wrong}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        let marked = [BYTE_ORDER_MARK.as_bytes(), pbkdf2().to_string().as_bytes()].concat();
        assert!(AccountKeystore::parse(&marked).is_ok());
    }

    #[test]
    fn an_account_keystore_in_utf_16_or_in_a_list_is_named() {
        let text = pbkdf2().to_string();
        let utf_16: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(AccountKeystore::parse(&utf_16).err(), Some(AccountKeystoreError::Utf16));
        let list = format!("{BYTE_ORDER_MARK} [{text}]");
        assert_eq!(AccountKeystore::parse(list.as_bytes()).err(), Some(AccountKeystoreError::List));
    }

    #[test]
    fn damage_is_noticed() {
        for field in ["ciphertext", "mac"] {
            let mut file = pbkdf2();
            let text = file["crypto"][field].as_str().expect("text").replacen('5', "4", 1);
            file["crypto"][field] = text.into();
            assert_eq!(open(&file, "testpassword").err(), Some(AccountKeystoreError::WrongPassphrase), "{field}");
        }
    }

    /// Each is refused before any work is done, and names the field.
    #[test]
    fn hostile_files_are_refused() {
        let cases = [
            ("/version", json!(4), "version 4"),
            ("/version", json!("3"), "version 3"),
            ("/crypto/cipher", json!("aes-256-ctr"), "crypto.cipher"),
            ("/crypto/kdf", json!("argon2id"), "crypto.kdf"),
            ("/crypto/kdf", json!("scrypt"), "missing field"),
            ("/crypto/kdfparams/c", json!(u32::MAX), "found 4294967295"),
            ("/crypto/kdfparams/c", json!(0), "\"c\" of pbkdf2"),
            ("/crypto/kdfparams/dklen", json!(16), "dklen"),
            ("/crypto/kdfparams/prf", json!("hmac-sha1"), "prf"),
            ("/crypto/cipherparams/iv", json!("00"), "cipherparams.iv"),
            ("/crypto/ciphertext", json!(""), "ciphertext"),
            ("/crypto/mac", json!("zz"), "mac"),
        ];
        for (place, value, says) in cases {
            let mut file = pbkdf2();
            *file.pointer_mut(place).expect("a field") = value;
            let found = open(&file, "testpassword").err().map(|error| error.to_string()).unwrap_or_default();
            assert!(found.contains(says), "{place}: {found:?} does not say {says:?}");
        }
        for (from, field) in [("\"version\":3", "version"), ("\"c\":262144", "c")] {
            let text = pbkdf2().to_string();
            let larger = text.replacen(from, &format!("\"{field}\":18446744073709551617"), 1);
            assert_ne!(larger, text);
            let error = AccountKeystore::parse(larger.as_bytes()).err().expect("too large").to_string();
            assert!(error.contains(&format!("\"{field}\": found ")) && !error.contains("floating"), "{error}");
        }
        let mut greedy = scrypt();
        greedy["Crypto"]["kdfparams"]["n"] = json!(1_u64 << 40);
        assert!(matches!(open(&greedy, "").err(), Some(AccountKeystoreError::Kdf(KdfError::ScryptTooLarge { .. }))));
        for text in ["", "{", "null", "{\"version\":3}"] {
            assert!(
                matches!(AccountKeystore::parse(text.as_bytes()), Err(AccountKeystoreError::Json { .. })),
                "{text}"
            );
        }
    }
}
