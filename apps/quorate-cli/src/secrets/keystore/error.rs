//! What can be wrong with a keystore.

use super::kdf::KdfError;
use crate::secrets::hex::HexError;
use crate::secrets::secret::SecretError;

/// Why a keystore could not be read, written or decrypted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeystoreError {
    /// Not JSON, or a field is missing or of the wrong type.
    #[error("not a keystore (EIP-2335)")]
    Json(#[from] serde_json::Error),
    /// Version 3 is the older Ethereum keystore, which holds keys of another curve.
    #[error("keystore version {version}; only version 4 (EIP-2335) holds BLS keys")]
    Version {
        /// The version in the file.
        version: u64,
    },
    /// A module names a function that EIP-2335 does not have.
    #[error("unknown {module} function '{function}'; known: {known}")]
    UnknownFunction {
        /// `kdf`, `checksum` or `cipher`.
        module: &'static str,
        /// The name in the file.
        function: String,
        /// The names that would do.
        known: &'static str,
    },
    /// A parameter of a module is missing or of the wrong type.
    #[error("parameters of the keystore's {module}")]
    Params {
        /// `kdf` or `cipher`.
        module: &'static str,
        /// Which, and how.
        source: serde_json::Error,
    },
    /// Bad hexadecimal, or the wrong number of bytes.
    #[error("keystore field {field}")]
    Hex {
        /// The field, with dots.
        field: &'static str,
        /// What is wrong with it.
        source: HexError,
    },
    /// The uuid is not one.
    #[error("keystore field uuid: '{uuid}' is not a UUID")]
    Uuid {
        /// The text in the file.
        uuid: String,
    },
    /// The file asks for a cost out of bounds.
    #[error("the keystore's key derivation is out of bounds")]
    Kdf(#[from] KdfError),
    /// The checksum does not match. There is no telling a wrong passphrase from a damaged file.
    #[error("wrong passphrase or damaged file: the keystore's checksum does not match")]
    WrongPassphrase,
    /// The passphrase is right, but the secret is not the key that the file states.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// Encrypting under nothing protects nothing.
    #[error("an empty passphrase protects nothing")]
    EmptyPassphrase,
    /// A keystore for a private key must state the public key.
    #[error("a keystore needs the public key of its secret")]
    NoPublicKey,
    /// The operating system gave no random bytes.
    #[error("no random bytes from the operating system")]
    Random(#[from] getrandom::Error),
}
