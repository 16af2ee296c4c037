//! Where a secret key is written to, in which format, and what is printed about it.

use std::{fs, path::PathBuf};

use anyhow::anyhow;
use clap::Args;
use quorate::{SecretKey, Suite};
use serde::Serialize;
use zeroize::Zeroizing;

use crate::{
    commands::{lock::KeystoreArguments, print, suite::SuiteArgument, unlock},
    exit::{Exit, Failure, Result},
    secrets::{
        key_path::KeyPath,
        keystore::{Keystore, KeystoreOptions},
        passphrase::{PassphraseSource, Purpose},
        secret::Secret,
        secret_file::{self, Overwrite, SecretFileError},
    },
};

/// Where a secret key is written to, in which format, and what is printed.
#[derive(Clone, Debug, Args)]
pub(super) struct Destination {
    /// File to write the secret key to, readable by its owner alone (mode 0600); `-` means standard output
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,

    /// Replace FILE if it exists
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    pub(super) keystore: KeystoreArguments,

    /// Keystore: a description, which is not encrypted
    #[arg(long, value_name = "TEXT", requires = "keystore")]
    description: Option<String>,

    /// Print a JSON object instead of the public key
    #[arg(long)]
    json: bool,
}

/// What the file that a key came from says about it.
#[derive(Clone, Debug, Default)]
pub(super) struct Provenance {
    /// Its place in the key tree.
    pub(super) path: Option<KeyPath>,
    /// The description.
    pub(super) description: Option<String>,
}

impl Destination {
    /// Finds errors that would otherwise come up only at the end, after the user has typed a passphrase.
    pub(super) fn check(&self) -> std::result::Result<PassphraseSource, Failure> {
        let passphrase = self.keystore.check()?;
        if self.to_standard_output() {
            if self.json {
                return Err(Failure::usage(anyhow!(
                    "--out - and --json both want standard output; leave one of them out"
                )));
            }
        } else if !self.force && fs::symlink_metadata(&self.out).is_ok() {
            return Err(SecretFileError::Exists { path: self.out.clone() }.into());
        }
        Ok(passphrase)
    }

    /// Writes the secret key, then prints the public key.
    pub(super) fn store<S: Suite>(
        &self,
        suite: SuiteArgument,
        key: &SecretKey<S>,
        provenance: Provenance,
        passphrase: &PassphraseSource,
    ) -> Result {
        let secret = Secret::new(key.to_bytes());
        let public_key = key.public_key().to_bytes();
        let description = self.description.clone().or(provenance.description);
        let path = provenance.path.filter(|_| self.keystore.is_given());
        let (contents, uuid) = if self.keystore.is_given() {
            let what = if self.to_standard_output() { "the keystore".into() } else { self.out.display().to_string() };
            let passphrase = unlock::ask(passphrase, Purpose::Create, &what)?;
            let options = KeystoreOptions { kdf: self.keystore.kdf(), path: path.clone(), description };
            let keystore = Keystore::encrypt(&secret, public_key.as_ref(), &passphrase, options)?;
            (Zeroizing::new(keystore.to_json()), Some(keystore.uuid().to_string()))
        } else {
            (secret.to_hex_line(), None)
        };

        let public_key = suite.hex(public_key);
        if self.to_standard_output() {
            print::all(contents.as_bytes())?;
            print::note(format_args!("public key {public_key}"));
            return Ok(Exit::Success);
        }
        let overwrite = if self.force { Overwrite::Replace } else { Overwrite::Refuse };
        secret_file::write(&self.out, contents.as_bytes(), overwrite)?;
        if self.json {
            print::json(&Stored {
                suite: suite.suite.name(),
                public_key,
                format: if self.keystore.is_given() { "keystore" } else { "plain" },
                path: path.map(|path| path.to_string()),
                uuid,
                file: self.out.display().to_string(),
            })?;
        } else {
            print::line(public_key)?;
        }
        Ok(Exit::Success)
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
    format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uuid: Option<String>,
    file: String,
}
