//! The file with the key that pays: 64 hexadecimal digits, or an Ethereum keystore and its passphrase.

use std::{
    io,
    path::{Path, PathBuf},
};

use quorate_host::{
    BYTE_ORDER_MARK,
    exit::{Ends, Exit},
    text::UTF_16_MARKS,
};
use quorate_keystore::{
    keystore::{AccountKeystore, AccountKeystoreError},
    passphrase::{LineError, Passphrase},
    secret_file::{self, ModeWarning, SecretFile, SecretFileError},
};

use super::payer::{Payer, PayerError};

/// Where the key that pays stands.
#[derive(Clone, Copy, Debug)]
pub struct PayerFile<'a> {
    /// 64 hexadecimal digits, or an Ethereum keystore of version 3.
    pub key: &'a Path,
    /// A file whose first line is the passphrase of the keystore.
    pub passphrase: Option<&'a Path>,
    /// The option that names that file, for messages, such as "--passphrase-file".
    pub passphrase_option: &'static str,
}

/// Why a file gives no key that pays. No message repeats a secret.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PayerFileError {
    /// The file cannot be read.
    #[error(transparent)]
    Key(#[from] SecretFileError),
    /// The file with the passphrase cannot be read.
    #[error(transparent)]
    Passphrase(#[from] LineError),
    /// The person who is asked for the passphrase cannot be.
    #[error("cannot ask for the passphrase of {}", path.display())]
    Asked {
        /// The keystore.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file is neither of both.
    #[error("{}: expected an Ethereum keystore of version 3, or 64 hexadecimal digits", path.display())]
    Neither {
        /// The file.
        path: PathBuf,
    },
    /// There is a passphrase, and nothing that it opens.
    #[error("{} holds a key that is not encrypted; leave {option} out", path.display())]
    NotEncrypted {
        /// The file.
        path: PathBuf,
        /// The option that names the passphrase.
        option: &'static str,
    },
    /// There is no passphrase, and nobody to ask.
    #[error("{} is a keystore, and there is no passphrase for it; pass {option} FILE", path.display())]
    NoPassphrase {
        /// The keystore.
        path: PathBuf,
        /// The option that names the passphrase.
        option: &'static str,
    },
    /// What the file holds is not a key.
    #[error("{}: {source}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why.
        source: PayerError,
    },
}

impl PayerFile<'_> {
    /// The key. A byte order mark before either form is skipped.
    ///
    /// A keystore without a file for its passphrase has `ask` ask a person, once everything else about it is known to be right; `None`
    /// says that nobody can be asked. `warn` hears of files that others than their owner can use.
    ///
    /// # Errors
    /// [`PayerFileError`].
    pub fn open(
        self,
        ask: impl FnOnce() -> io::Result<Option<Passphrase>>,
        mut warn: impl FnMut(ModeWarning),
    ) -> Result<Payer, PayerFileError> {
        let Self { key: path, passphrase, passphrase_option: option } = self;
        let refused = |source| PayerFileError::Refused { path: path.to_owned(), source };
        let SecretFile { contents, warning } = secret_file::read(path)?;
        warning.into_iter().for_each(&mut warn);
        if UTF_16_MARKS.iter().any(|mark| contents.starts_with(mark)) {
            return Err(refused(AccountKeystoreError::Utf16.into()));
        }
        let neither = || PayerFileError::Neither { path: path.to_owned() };
        let text = std::str::from_utf8(&contents).map_err(|_| neither())?;
        match Payer::from_hex(text) {
            Ok(_) if passphrase.is_some() => {
                return Err(PayerFileError::NotEncrypted { path: path.to_owned(), option });
            }
            Err(PayerError::Digits) => {}
            key => return key.map_err(refused),
        }
        if !text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).trim_start().starts_with(['{', '[']) {
            return Err(neither());
        }
        // What cannot be opened with any passphrase is refused before one is asked for.
        AccountKeystore::parse(&contents).map_err(|error| refused(error.into()))?;
        let passphrase = match passphrase {
            Some(file) => {
                let (passphrase, warning) = Passphrase::read_file(file)?;
                warning.into_iter().for_each(&mut warn);
                passphrase
            }
            None => ask()
                .map_err(|source| PayerFileError::Asked { path: path.to_owned(), source })?
                .ok_or_else(|| PayerFileError::NoPassphrase { path: path.to_owned(), option })?,
        };
        Payer::from_keystore(&contents, &passphrase).map_err(refused)
    }
}

impl Ends for PayerFileError {
    fn exit(&self) -> Exit {
        match self {
            Self::Key(error) => error.exit(),
            Self::Passphrase(error) => error.exit(),
            Self::Asked { .. } => Exit::Io,
            Self::Neither { .. } | Self::NotEncrypted { .. } | Self::NoPassphrase { .. } | Self::Refused { .. } => {
                Exit::Usage
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use alloy::primitives::Address;
    use quorate_lab::run::Folder;

    use super::*;

    const DIGITS: &str = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
    /// Of the definition of keystores, version 3; its passphrase is "testpassword".
    const KEYSTORE: &str = r#"{"version": 3, "address": "008aeeda4d805471df9b2a5b0f38a0c3bcba786b", "crypto": {"cipher": "aes-128-ctr",
        "cipherparams": {"iv": "6087dab2f9fdbbfaddc31a909735c1e6"},
        "ciphertext": "5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46", "kdf": "pbkdf2",
        "kdfparams": {"c": 262144, "dklen": 32, "prf": "hmac-sha256",
            "salt": "ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd"},
        "mac": "517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2"}}"#;

    /// A folder with what is written there, which only its owner can read.
    fn written(folder: &Folder, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = PathBuf::from(folder.file(name, contents));
        #[cfg(unix)]
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        path
    }

    fn open(key: &Path, passphrase: Option<&Path>, asked: Option<&str>) -> Result<Address, PayerFileError> {
        let file = PayerFile { key, passphrase, passphrase_option: "--the-option" };
        let warn = |warning| panic!("{warning}");
        file.open(|| Ok(asked.map(Passphrase::from)), warn).map(|payer| payer.address())
    }

    #[test]
    fn both_forms_are_read_with_a_byte_order_mark_and_without() {
        let folder = Folder::new();
        let plain: Address = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266".parse().unwrap();
        let locked: Address = "0x008aeeda4d805471df9b2a5b0f38a0c3bcba786b".parse().unwrap();
        let passphrase = written(&folder, "passphrase", "\u{feff}testpassword\r\n");
        for mark in ["", BYTE_ORDER_MARK] {
            let digits = written(&folder, "payer.key", format!("{mark}0x{DIGITS}\r\n"));
            assert_eq!(open(&digits, None, None).unwrap(), plain);
            let keystore = written(&folder, "payer.json", format!("{mark}\n {KEYSTORE}"));
            assert_eq!(open(&keystore, Some(&passphrase), None).unwrap(), locked);
            assert_eq!(open(&keystore, None, Some("testpassword")).unwrap(), locked);
        }
    }

    #[test]
    fn what_gives_no_key_is_named() {
        let folder = Folder::new();
        let says = |wrong: Result<Address, PayerFileError>, exit: Exit, words: &[&str]| {
            let error = wrong.unwrap_err();
            assert_eq!(error.exit(), exit, "{error}");
            words.iter().for_each(|words| assert!(error.to_string().contains(words), "{error}: {words}"));
            assert!(!error.to_string().contains(&DIGITS[..8]), "{error}");
        };
        let digits = written(&folder, "payer.key", DIGITS);
        let keystore = written(&folder, "payer.json", KEYSTORE);
        let another = written(&folder, "passphrase", "another");
        let nowhere = folder.path("nowhere");
        let nowhere = Path::new(&nowhere);
        says(open(&digits, Some(&another), None), Exit::Usage, &["payer.key", "not encrypted; leave --the-option out"]);
        says(open(&keystore, None, None), Exit::Usage, &["payer.json is a keystore", "pass --the-option FILE"]);
        says(open(&keystore, Some(&another), None), Exit::Usage, &["payer.json", "the passphrase is wrong"]);
        says(open(&keystore, Some(nowhere), None), Exit::Io, &["nowhere"]);
        says(open(nowhere, None, None), Exit::Io, &["nowhere"]);
        for (text, words) in [
            (&b""[..], "expected an Ethereum keystore of version 3, or 64 hexadecimal digits"),
            (&DIGITS.as_bytes()[1..], "expected an Ethereum keystore of version 3, or 64 hexadecimal digits"),
            (b"\xff\xfe{\0", "the file is UTF-16, expected UTF-8"),
            (b" [{\"version\": 3}]", "the file is a list; give each keystore a file of its own"),
            (&[b'0'; 64], "not a key of secp256k1"),
            (b"{\"version\": 4}", "version"),
        ] {
            let wrong = written(&folder, "wrong", text);
            says(open(&wrong, None, Some("never asked")), Exit::Usage, &["wrong", words]);
        }
    }
}
