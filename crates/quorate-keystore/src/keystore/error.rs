//! The errors of keystores.

use super::kdf::KdfError;
use crate::hex::HexError;
use crate::secret::NotASecret;
use quorate_host::exit::{Ends, Exit};

/// Why a keystore could not be read, written or decrypted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeystoreError {
    /// The file is not JSON, or a field is missing or of the wrong type.
    #[error("expected a keystore (EIP-2335): {0}")]
    Json(String),
    /// The file is in UTF-16, as Windows' tools write it.
    #[error("the file is UTF-16, expected UTF-8; save it as UTF-8")]
    Utf16,
    /// The file is a list.
    #[error("the file is a list; give each keystore a file of its own, as `jq '.[0]'` prints the first one")]
    List,
    /// Version 3 is the older Ethereum keystore, which holds keys of another curve.
    #[error("found a keystore of version {version}, expected version 4 (EIP-2335), which is for BLS keys")]
    Version {
        /// The version in the file.
        version: u64,
    },
    /// A module names a function that EIP-2335 does not have.
    #[error("\"crypto.{module}.function\": found {function:?}, expected {known}")]
    UnknownFunction {
        /// `kdf`, `checksum` or `cipher`.
        module: &'static str,
        /// The name in the file.
        function: String,
        /// The names that would do.
        known: &'static str,
    },
    /// A parameter of a module is missing or of the wrong type.
    #[error("\"crypto.{module}.params\" cannot be read: {why}")]
    Params {
        /// `kdf` or `cipher`.
        module: &'static str,
        /// Which, and how.
        why: String,
    },
    /// A field is not hexadecimal digits, or has the wrong number of bytes.
    #[error("\"{field}\" cannot be read")]
    Hex {
        /// The field, with dots.
        field: &'static str,
        /// What is wrong with it.
        source: HexError,
    },
    /// The uuid is not one.
    #[error("\"uuid\": found {uuid:?}, expected a UUID")]
    Uuid {
        /// The text in the file.
        uuid: String,
    },
    /// The file asks for a cost that is out of bounds.
    #[error("the keystore's key derivation function cannot be used")]
    Kdf(#[from] KdfError),
    /// The checksum does not match. A wrong passphrase and a damaged file look the same.
    #[error("wrong passphrase or damaged file: the keystore's checksum does not match")]
    WrongPassphrase,
    /// The passphrase is right, but the secret is not the key that the file states.
    #[error(transparent)]
    Secret(#[from] NotASecret),
    /// An empty passphrase does not protect the secret.
    #[error("the passphrase is empty, which would not protect the key; choose another")]
    EmptyPassphrase,
    /// A keystore for a private key must state the public key.
    #[error("a keystore must state the public key of its secret key")]
    NoPublicKey,
    /// The operating system has no random bytes.
    #[error("the operating system has no random bytes")]
    Random(#[from] getrandom::Error),
}

impl Ends for KeystoreError {
    fn exit(&self) -> Exit {
        if matches!(self, Self::Random(_)) { Exit::Internal } else { Exit::Usage }
    }
}
