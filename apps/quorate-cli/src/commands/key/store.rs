//! Where a secret key is written to, in which format, and what is printed about it.

use std::{fs, path::PathBuf};

use anyhow::anyhow;
use clap::Args;
use quorate::{SecretKey, Suite};
use serde::Serialize;
use zeroize::Zeroizing;

use crate::{
    commands::{lock::KeystoreArguments, print, suite::hex, unlock},
    secrets::{
        key_path::KeyPath,
        keystore::{Keystore, KeystoreOptions},
        passphrase::{PassphrasePurpose, PassphraseSource},
        secret::Secret,
        secret_file::{self, Existing, SecretFileError},
    },
};
use quorate_host::{
    exit::{Exit, Failure, Result},
    same_file::refuse_an_output_that_is_an_input,
};

/// Where a secret key is written to, in which format, and what is printed.
#[derive(Clone, Debug, Args)]
pub(in crate::commands) struct Destination {
    /// File to write the secret key to, readable by its owner alone (mode 0600); `-` means standard output
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,

    /// Replace FILE if it exists
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    pub(in crate::commands::key) keystore: KeystoreArguments,

    /// Keystore: a description, which is not encrypted
    #[arg(long, value_name = "TEXT", requires = "keystore")]
    description: Option<String>,

    /// Print a JSON object instead of the public key
    #[arg(long)]
    pub(in crate::commands) json: bool,
}

/// What the file that a key came from says about it.
#[derive(Clone, Debug, Default)]
pub(in crate::commands) struct Provenance {
    /// Its place in the key tree.
    pub(in crate::commands::key) path: Option<KeyPath>,
    /// The description.
    pub(in crate::commands::key) description: Option<String>,
}

impl Destination {
    /// Finds errors that would otherwise come up only at the end, after the user has typed a passphrase. The file must not be one of the
    /// inputs, nor that of the passphrase.
    pub(in crate::commands) fn check(
        &self,
        inputs: impl IntoIterator<Item = PathBuf>,
    ) -> std::result::Result<PassphraseSource, Failure> {
        let passphrase = self.keystore.check()?;
        if self.to_standard_output() {
            if self.json {
                return Err(Failure::usage(anyhow!(
                    "--out - and --json both want standard output; leave one of them out"
                )));
            }
        } else {
            refuse_an_output_that_is_an_input(&self.out, inputs.into_iter().chain(passphrase.path()))?;
            if !self.force && fs::symlink_metadata(&self.out).is_ok() {
                return Err(SecretFileError::Exists { path: self.out.clone() }.into());
            }
        }
        Ok(passphrase)
    }

    /// Writes the secret key, then prints the public key.
    pub(super) fn store<S: Suite>(
        &self,
        suite: S,
        key: &SecretKey<S>,
        provenance: Provenance,
        passphrase: &PassphraseSource,
    ) -> Result {
        let public_key = key.claim_key(suite);
        let written = self.write(&Secret::new(key.to_bytes()), &public_key, provenance, passphrase)?;
        let public_key = hex(suite.any(), public_key);
        match written {
            None => print::note(format_args!("public key {public_key}")),
            Some(file) if self.json => print::json(&Stored { suite: suite.name(), public_key, file })?,
            Some(_) => print::line(public_key)?,
        }
        Ok(Exit::Success)
    }

    /// Writes a secret key, of which a keystore states the public key; says what is written, or nothing if it went to
    /// standard output.
    pub(in crate::commands) fn write(
        &self,
        secret: &Secret,
        public_key: &[u8],
        provenance: Provenance,
        passphrase: &PassphraseSource,
    ) -> std::result::Result<Option<WrittenFile>, Failure> {
        let description = self.description.clone().or(provenance.description);
        let path = provenance.path.filter(|_| self.keystore.is_given());
        let (contents, uuid) = if self.keystore.is_given() {
            let what = if self.to_standard_output() { "the keystore".into() } else { self.out.display().to_string() };
            let passphrase = unlock::ask(passphrase, PassphrasePurpose::Create, &what)?;
            let options = KeystoreOptions { kdf: self.keystore.kdf(), path: path.clone(), description };
            let keystore = Keystore::encrypt(secret, public_key, &passphrase, options)?;
            (Zeroizing::new(keystore.to_json()), Some(keystore.uuid().to_string()))
        } else {
            (secret.to_hex_line(), None)
        };
        if self.to_standard_output() {
            print::all(contents.as_bytes())?;
            return Ok(None);
        }
        let overwrite = if self.force { Existing::Replace } else { Existing::Refuse };
        secret_file::write(&self.out, contents.as_bytes(), overwrite)?;
        Ok(Some(WrittenFile {
            format: if self.keystore.is_given() { "keystore" } else { "plain" },
            path: path.map(|path| path.to_string()),
            uuid,
            file: self.out.display().to_string(),
        }))
    }

    fn to_standard_output(&self) -> bool {
        unlock::is_dash(&self.out)
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Stored {
    suite: &'static str,
    public_key: String,
    #[serde(flatten)]
    file: WrittenFile,
}

/// A file with a secret key that was written.
#[derive(Serialize)]
pub(in crate::commands) struct WrittenFile {
    format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uuid: Option<String>,
    file: String,
}
