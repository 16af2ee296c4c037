//! Keystores: a secret key encrypted with a passphrase, as JSON (EIP-2335, version 4). [`AccountKeystore`] reads those of Ethereum's
//! accounts (version 3).
//!
//! ```text
//! key        = kdf(NFKD(passphrase) without control codes, salt)      32 bytes
//! checksum   = SHA-256(key[16..32] || ciphertext)
//! secret     = AES-128-CTR(key[0..16], iv, ciphertext)
//! ```
//!
//! The checksum does not cover the initialisation vector. If that is damaged, the passphrase is still accepted, but the secret is
//! a different one. Only the public key in the file shows this, so [`Keystore::decrypt`] asks for a way to derive it.

mod kdf;
mod decryption_key;
mod error;
mod json;
mod account;

use std::fmt;

use subtle::ConstantTimeEq;
use uuid::Uuid;
use zeroize::Zeroizing;

pub use self::account::{AccountKeystore, AccountKeystoreError};
pub use self::decryption_key::OlderForm;
use self::decryption_key::{DecryptionKey, older};
pub use self::error::KeystoreError;
pub use self::kdf::{Kdf, KdfError, Pbkdf2, Scrypt};
pub use crate::hex::HexError;
use crate::key_path::{KeyPath, KeyPathError};
use crate::passphrase::Passphrase;
use crate::secret::Secret;

/// An encrypted secret key, and what can be known of it without the passphrase.
///
/// Everything that can be checked without the passphrase has been checked: lengths, functions, costs.
#[derive(Clone, PartialEq)]
pub struct Keystore {
    kdf: Kdf,
    salt: Vec<u8>,
    checksum: [u8; 32],
    iv: [u8; 16],
    ciphertext: [u8; Secret::LENGTH],
    description: Option<String>,
    /// Empty if the file states none.
    public_key: Vec<u8>,
    path: String,
    uuid: Uuid,
}

impl Keystore {
    /// Encrypts `secret` with fresh salt, initialisation vector and uuid.
    ///
    /// `public_key` is the encoded public key of `secret`, with which [`Keystore::decrypt`] will compare.
    ///
    /// # Errors
    /// [`KeystoreError::EmptyPassphrase`], [`KeystoreError::NoPublicKey`] (EIP-2335 requires it
    /// where the secret is a private key), [`KeystoreError::Random`].
    ///
    /// Cost: one key derivation, see [`Kdf`].
    pub fn encrypt(
        secret: &Secret,
        public_key: &[u8],
        passphrase: &Passphrase,
        options: KeystoreOptions,
    ) -> Result<Self, KeystoreError> {
        Self::encrypt_with(secret, public_key, passphrase, options, Fresh::draw()?)
    }

    /// The secret, if the passphrase is right and the secret belongs to the stated public key.
    ///
    /// If the passphrase does not open the keystore as EIP-2335 processes it, the forms are tried in which other programs have
    /// taken passphrases ([`OlderForm`]). For a passphrase of ASCII without control codes they are all the same.
    ///
    /// `derive` returns the encoded public key of a secret, or `None` if the bytes are not a
    /// secret key. If [`Keystore::public_key`] is `None`, there is nothing to compare with,
    /// and a damaged initialisation vector is not noticed.
    ///
    /// # Errors
    /// [`KeystoreError::WrongPassphrase`], [`KeystoreError::Secret`].
    ///
    /// Cost: one key derivation, see [`Kdf`]; one for each older form, at most six, if the passphrase is not ASCII and does not
    /// open it.
    pub fn decrypt(
        &self,
        passphrase: &Passphrase,
        derive: impl FnOnce(&Secret) -> Option<Vec<u8>>,
    ) -> Result<Decrypted, KeystoreError> {
        let opens = |key: &DecryptionKey| bool::from(key.checksum(&self.ciphertext).ct_eq(&self.checksum));
        let standard =
            Some(DecryptionKey::derive(&self.kdf, passphrase, &self.salt)).filter(opens).map(|key| (key, None));
        let (key, older) = standard
            .or_else(|| {
                older(passphrase).into_iter().find_map(|(form, text)| {
                    let key = DecryptionKey::of_text(&self.kdf, &text, &self.salt);
                    opens(&key).then_some((key, Some(form)))
                })
            })
            .ok_or(KeystoreError::WrongPassphrase)?;
        let mut bytes = Zeroizing::new(self.ciphertext);
        key.apply_cipher(&self.iv, bytes.as_mut());
        Ok(Decrypted { secret: Secret::new(bytes).checked(self.public_key(), derive)?, older })
    }

    /// The public key that the file states; `None` if it is missing or empty.
    ///
    /// The text of EIP-2335 requires it for a private key, but its schema does not.
    pub fn public_key(&self) -> Option<&[u8]> {
        Some(self.public_key.as_slice()).filter(|key| !key.is_empty())
    }

    /// The key's place in the key tree, as the file writes it; empty if it is not known.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// [`Keystore::path`] as child indices; `None` if it is empty.
    ///
    /// # Errors
    /// [`KeyPathError`]: the text is not a path of EIP-2334. The key can be decrypted all the same.
    pub fn key_path(&self) -> Result<Option<KeyPath>, KeyPathError> {
        if self.path.is_empty() {
            return Ok(None);
        }
        self.path.parse().map(Some)
    }

    /// The random name of this keystore.
    pub fn uuid(&self) -> Uuid {
        self.uuid
    }

    /// The owner's description.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// The key derivation function and its cost.
    pub fn kdf(&self) -> Kdf {
        self.kdf
    }

    /// This function is private, because `fresh` must not be used twice: two secrets encrypted under one key and one initialisation
    /// vector reveal their difference.
    fn encrypt_with(
        secret: &Secret,
        public_key: &[u8],
        passphrase: &Passphrase,
        options: KeystoreOptions,
        fresh: Fresh,
    ) -> Result<Self, KeystoreError> {
        if passphrase.is_blank() {
            return Err(KeystoreError::EmptyPassphrase);
        }
        if public_key.is_empty() {
            return Err(KeystoreError::NoPublicKey);
        }
        let KeystoreOptions { kdf, path, description } = options;
        let Fresh { salt, iv, uuid } = fresh;
        let key = DecryptionKey::derive(&kdf, passphrase, &salt);
        let mut bytes = Zeroizing::new(*secret.expose());
        key.apply_cipher(&iv, bytes.as_mut());
        let ciphertext = *bytes;
        Ok(Self {
            kdf,
            salt: salt.to_vec(),
            checksum: key.checksum(&ciphertext),
            iv,
            ciphertext,
            description,
            public_key: public_key.to_vec(),
            path: path.map(|path| path.to_string()).unwrap_or_default(),
            uuid,
        })
    }
}

impl fmt::Debug for Keystore {
    /// Leaves out ciphertext and checksum: with them, everyone who reads a log could try passphrases.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keystore")
            .field("uuid", &self.uuid)
            .field("public_key", &crate::hex::encode(&self.public_key))
            .field("path", &self.path)
            .field("kdf", &self.kdf)
            .finish_non_exhaustive()
    }
}

/// A secret, and how its keystore was opened.
#[derive(Debug)]
pub struct Decrypted {
    /// The secret.
    pub secret: Secret,
    /// Set if the passphrase opened it only in an older form. Say so: other programs may not open this keystore.
    pub older: Option<OlderForm>,
}

/// What can be chosen for a new keystore.
#[derive(Clone, Debug, Default)]
pub struct KeystoreOptions {
    /// Key derivation; scrypt by default.
    pub kdf: Kdf,
    /// The key's place in a key tree, if it has one.
    pub path: Option<KeyPath>,
    /// A description for the owner. It is not encrypted.
    pub description: Option<String>,
}

/// Random bytes for one keystore.
struct Fresh {
    salt: [u8; 32],
    iv: [u8; 16],
    uuid: Uuid,
}

impl Fresh {
    fn draw() -> Result<Self, getrandom::Error> {
        let (mut salt, mut iv, mut uuid) = ([0; 32], [0; 16], [0; 16]);
        getrandom::fill(&mut salt)?;
        getrandom::fill(&mut iv)?;
        getrandom::fill(&mut uuid)?;
        let uuid = uuid::Builder::from_random_bytes(uuid).into_uuid();
        Ok(Self { salt, iv, uuid })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;
    use crate::secret::NotASecret;
    use quorate_lab::vectors;

    #[test]
    fn published_keystores() {
        for (name, passphrase) in [
            ("05_keys/erc2335_keystore_1.json", FRAKTUR),
            ("05_keys/erc2335_keystore_2.json", FRAKTUR),
            ("05_keys/ChainSafe-bls-keystore/pbkdf2-1.json", FRAKTUR),
            ("05_keys/ChainSafe-bls-keystore/scrypt-1.json", FRAKTUR),
            // The same passphrase, already in NFKD.
            ("05_keys/staking-deposit-cli/keystore_test_vectors/test0.json", "testpassword🔑"),
            ("05_keys/staking-deposit-cli/keystore_test_vectors/test1.json", "testpassword🔑"),
        ] {
            let Some(json) = vectors::read(name) else {
                continue;
            };
            let keystore = Keystore::parse(&json).expect("a published keystore");
            assert!(keystore.key_path().expect("a path of EIP-2334").is_some());
            assert_eq!(keystore.public_key(), derive(&example_secret()).as_deref());
            let secret = keystore.decrypt(&Passphrase::from(passphrase), derive).map(|opened| opened.secret);
            assert_eq!(secret.expect("the published passphrase"), example_secret(), "{name}");
        }
    }

    #[test]
    fn published_keystores_are_written_again_bit_for_bit() {
        for (name, kdf) in [
            ("05_keys/erc2335_keystore_1.json", Kdf::default()),
            ("05_keys/erc2335_keystore_2.json", Kdf::Pbkdf2(Pbkdf2::default())),
        ] {
            let Some(json) = vectors::read(name) else {
                continue;
            };
            let published = Keystore::parse(&json).expect("a published keystore");
            let fresh = Fresh {
                salt: published.salt.as_slice().try_into().expect("32 bytes of salt"),
                iv: published.iv,
                uuid: published.uuid,
            };
            let options = KeystoreOptions {
                kdf,
                path: published.key_path().expect("a path"),
                description: published.description.clone(),
            };
            let public_key = derive(&example_secret()).expect("a key");
            let passphrase = Passphrase::from(FRAKTUR);
            let ours =
                Keystore::encrypt_with(&example_secret(), &public_key, &passphrase, options, fresh).expect("encrypts");
            let (ours, theirs): (Value, Value) =
                (serde_json::from_str(&ours.to_json()).expect("JSON"), serde_json::from_slice(&json).expect("JSON"));
            for field in ["crypto", "description", "pubkey", "path", "uuid", "version"] {
                assert_eq!(ours[field], theirs[field], "{name}: {field}");
            }
        }
    }

    /// A keystore whose passphrase was processed otherwise is opened, and the form is told.
    #[test]
    fn passphrases_that_older_programs_normalised_otherwise() {
        for (taken, typed, form) in [
            ("contrasena-u-e", "contrase\u{f1}a-\u{fc}-\u{e9}", OlderForm::WithoutMarks),
            ("\u{f1}", "n\u{303}", OlderForm::Composed),
            ("\u{f1}\u{fb01}", "\u{f1}\u{fb01}", OlderForm::AsTyped),
            ("a\tb", "a\tb", OlderForm::AsTyped),
        ] {
            let mut keystore = cheap(&example_secret(), "right");
            let key = DecryptionKey::of_text(&keystore.kdf, taken, &keystore.salt);
            let mut bytes = *example_secret().expose();
            key.apply_cipher(&keystore.iv, &mut bytes);
            (keystore.ciphertext, keystore.checksum) = (bytes, key.checksum(&bytes));
            let opened = keystore.decrypt(&Passphrase::from(typed), derive).expect("an older form");
            assert_eq!((opened.secret, opened.older), (example_secret(), Some(form)), "{typed:?}");
            let wrong = keystore.decrypt(&Passphrase::from("na\u{ef}ve"), derive);
            assert!(matches!(wrong, Err(KeystoreError::WrongPassphrase)));
        }
        let opened =
            cheap(&example_secret(), "n\u{303}").decrypt(&Passphrase::from("\u{f1}"), derive).expect("the standard");
        assert_eq!(opened.older, None);
    }

    #[test]
    fn wrong_passphrase() {
        let keystore = cheap(&example_secret(), "right");
        let error = keystore.decrypt(&Passphrase::from("wrong"), |_| unreachable!());
        assert!(matches!(error, Err(KeystoreError::WrongPassphrase)));
    }

    #[test]
    fn damage_is_noticed() {
        type Damage = fn(&mut Keystore);
        let damages: [Damage; 3] = [|k| k.ciphertext[31] ^= 1, |k| k.checksum[0] ^= 0x80, |k| k.salt[5] ^= 4];
        for damage in damages {
            let mut keystore = cheap(&example_secret(), "right");
            damage(&mut keystore);
            let error = keystore.decrypt(&Passphrase::from("right"), derive).map(|opened| opened.secret);
            assert!(matches!(error, Err(KeystoreError::WrongPassphrase)), "{error:?}");
        }
    }

    #[test]
    fn a_damaged_iv_passes_the_checksum_but_not_the_public_key() {
        let mut keystore = cheap(&example_secret(), "right");
        keystore.iv[3] ^= 1;
        let error = keystore.decrypt(&Passphrase::from("right"), derive).map(|opened| opened.secret);
        assert!(matches!(error, Err(KeystoreError::Secret(NotASecret::PublicKeyMismatch { .. }))), "{error:?}");
        keystore.public_key.clear();
        let secret = keystore.decrypt(&Passphrase::from("right"), derive).map(|opened| opened.secret);
        assert_ne!(secret.expect("nothing left to compare with"), example_secret());
    }

    #[test]
    fn another_keys_public_key() {
        let mut keystore = cheap(&example_secret(), "right");
        keystore.public_key = vec![7; 48];
        let error = keystore.decrypt(&Passphrase::from("right"), derive).map(|opened| opened.secret);
        let Err(KeystoreError::Secret(NotASecret::PublicKeyMismatch { stated, derived })) = error else {
            panic!("{error:?}")
        };
        assert_eq!((Some(derived), stated), (derive(&example_secret()), vec![7; 48]));
    }

    #[test]
    fn bytes_that_are_no_key() {
        let keystore = cheap(&example_secret(), "right");
        let error = keystore.decrypt(&Passphrase::from("right"), |_| None);
        assert!(matches!(error, Err(KeystoreError::Secret(NotASecret::NotASecretKey))));
    }

    #[test]
    fn empty_passphrases_read_but_do_not_write() {
        // Control codes do not count: they are stripped.
        for passphrase in ["", "\n", "\u{7f}\u{80}"] {
            let passphrase = Passphrase::from(passphrase);
            let error = encrypt(&example_secret(), b"key", &passphrase);
            assert!(matches!(error, Err(KeystoreError::EmptyPassphrase)), "{error:?}");

            let mut keystore = cheap(&example_secret(), "right");
            let key = DecryptionKey::derive(&keystore.kdf, &passphrase, &keystore.salt);
            keystore.checksum = key.checksum(&keystore.ciphertext);
            keystore.public_key.clear();
            assert!(keystore.decrypt(&passphrase, derive).is_ok());
        }
    }

    #[test]
    fn a_keystore_is_not_written_without_a_public_key() {
        let error = encrypt(&example_secret(), b"", &Passphrase::from("right"));
        assert!(matches!(error, Err(KeystoreError::NoPublicKey)));
    }

    #[test]
    fn nothing_random_is_used_twice() {
        let (a, b) = (cheap(&example_secret(), "same"), cheap(&example_secret(), "same"));
        assert!(a.salt != b.salt && a.iv != b.iv && a.uuid != b.uuid);
        assert_eq!(a.uuid.get_version_num(), 4);
    }

    #[test]
    fn debug_gives_nothing_to_guess_at() {
        let keystore = cheap(&example_secret(), "right");
        let text = format!("{keystore:?}");
        assert!(text.contains(&keystore.uuid.to_string()));
        for hidden in [&keystore.ciphertext[..], &keystore.checksum] {
            assert!(!text.contains(&format!("{hidden:?}")));
            assert!(!text.contains(&crate::hex::encode(hidden)));
        }
    }

    proptest! {
        #[test]
        fn encrypted_written_read_decrypted(
            bytes: [u8; 32],
            passphrase in "\\PC{1,24}",
            kdf in prop_oneof![
                (1..5u32, 1..3u64, 1..3u64).prop_map(|(log_n, r, p)| {
                    Kdf::Scrypt(Scrypt::new(1 << log_n, r, p).expect("cheap"))
                }),
                (1..4u64).prop_map(|c| Kdf::Pbkdf2(Pbkdf2::new(c).expect("cheap"))),
            ],
            path in proptest::option::of(proptest::collection::vec(any::<u32>(), 0..6)),
            description in proptest::option::of(any::<String>()),
        ) {
            let secret = Secret::new(Zeroizing::new(bytes));
            let passphrase = Passphrase::from(passphrase.as_str());
            let path = path.map(KeyPath::new);
            let options =
                KeystoreOptions { kdf, path: path.clone(), description: description.clone() };
            let public_key = derive(&secret).expect("a key");
            let keystore =
                Keystore::encrypt(&secret, &public_key, &passphrase, options).expect("encrypts");
            let again = Keystore::parse(keystore.to_json().as_bytes()).expect("parses");
            prop_assert_eq!(&again, &keystore);
            prop_assert_eq!(again.key_path(), Ok(path));
            prop_assert_eq!(again.description(), description.as_deref());
            prop_assert_eq!(again.decrypt(&passphrase, derive).expect("decrypts").secret, secret);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>, text in "[{}\":,0-9a-z]{0,64}") {
            let _ = Keystore::parse(&bytes);
            let _ = Keystore::parse(text.as_bytes());
        }
    }

    /// The passphrase of the standard's examples: not in NFKD.
    const FRAKTUR: &str = "𝔱𝔢𝔰𝔱𝔭𝔞𝔰𝔰𝔴𝔬𝔯𝔡🔑";

    fn example_secret() -> Secret {
        let text = b"000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f";
        Secret::from_hex(text).expect("64 digits")
    }

    /// Stands in for the curve: right for the standard's example, and one-to-one elsewhere.
    fn derive(secret: &Secret) -> Option<Vec<u8>> {
        if *secret != example_secret() {
            return Some(secret.expose().to_vec());
        }
        let text = "9612d7a727c9d0a22e185a1c768478dfe919cada9266988cb32359c11f2b7b27\
                    f4ae4040902382ae2910c15e2b420d07";
        Some(crate::hex::decode(text).expect("96 digits"))
    }

    fn cheap(secret: &Secret, passphrase: &str) -> Keystore {
        let public_key = derive(secret).expect("a key");
        encrypt(secret, &public_key, &Passphrase::from(passphrase)).expect("encrypts")
    }

    fn encrypt(secret: &Secret, public_key: &[u8], passphrase: &Passphrase) -> Result<Keystore, KeystoreError> {
        let kdf = Kdf::Scrypt(Scrypt::new(2, 1, 1).expect("cheap"));
        let options = KeystoreOptions { kdf, ..KeystoreOptions::default() };
        Keystore::encrypt(secret, public_key, passphrase, options)
    }
}
