//! The operator's key, from a keystore of EIP-2335 and a file with its passphrase.

use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use clap::Args;
use quorate_evm::{KeyGroup, OperatorKey};
use quorate_host::{
    exit::{Failure, Result},
    flag::variable,
};
use quorate_keystore::{keystore::Keystore, passphrase::Passphrase, secret_file};

/// Where the key is.
#[derive(Clone, Debug, Args)]
pub(crate) struct KeyArguments {
    /// Keystore with the operator's key (EIP-2335), as `quorate evm key --keystore` makes it
    #[arg(long, value_name = "FILE", env = variable("QUORATE_SIGNER_KEYSTORE"))]
    keystore: PathBuf,

    /// File whose first line is the keystore's passphrase
    #[arg(long, value_name = "FILE", env = variable("QUORATE_SIGNER_PASSPHRASE_FILE"))]
    passphrase_file: PathBuf,
}

/// A key, and what the user should know about its files.
pub(crate) struct Unlocked {
    pub(crate) key: OperatorKey,
    pub(crate) warnings: Vec<String>,
}

impl KeyArguments {
    /// Decrypts the key and compares it with the public key that the keystore states. Takes about a second.
    pub(crate) fn unlock(&self, key_group: KeyGroup) -> Result<Unlocked> {
        let name = self.keystore.display();
        let file = secret_file::read(&self.keystore)?;
        let keystore = Keystore::parse(&file.contents).with_context(|| name.to_string()).map_err(Failure::usage)?;
        let (passphrase, loose) = Passphrase::read_file(&self.passphrase_file)?;
        if keystore.public_key().is_some_and(|stated| stated.len() != COMPRESSED) {
            return Err(Failure::usage(anyhow!(
                "{name}: the public key has another length than one in G2 of BLS12-381; make the operator's key with \
                 `quorate evm key --key-group {key_group} --keystore`"
            )));
        }
        let compressed = |secret: &quorate_keystore::secret::Secret| {
            let key = OperatorKey::from_bytes(key_group, secret.expose()).ok()?;
            Some(key.compressed()?.to_vec())
        };
        let opened =
            keystore.decrypt(&passphrase, compressed).with_context(|| name.to_string()).map_err(Failure::usage)?;
        let key = OperatorKey::from_bytes(key_group, opened.secret.expose())
            .with_context(|| name.to_string())
            .map_err(Failure::usage)?;
        // The keystore is encrypted, so whoever can read it has not got the key.
        let older = opened.older.map(|form| {
            format!("{name}: the passphrase opens it {form}; write the keystore anew with `quorate key import`")
        });
        let warnings = loose.iter().map(ToString::to_string).chain(older).collect();
        Ok(Unlocked { key, warnings })
    }
}

/// Bytes of a compressed key in G2.
const COMPRESSED: usize = 96;
