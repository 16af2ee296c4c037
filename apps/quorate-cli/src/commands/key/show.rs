//! `quorate key show`.

use std::path::PathBuf;

use clap::Args;
use quorate::{InSuite, PublicKey, Suite};
use serde::Serialize;
use zeroize::Zeroizing;

use crate::{
    commands::{
        print,
        suite::{SuiteArgument, hex},
        unlock::{KeyFile, PassphraseArguments},
    },
    secrets::{secret::Secret, secret_source::SecretSource},
};
use quorate_host::exit::{Exit, Failure, Result};

/// Show a key file's public key, format, path and uuid, and the secret key only on request
///
/// A keystore states its public key without encryption, so no passphrase is needed, and the public key is marked "stated". With
/// --check, --reveal-secret or a passphrase flag the keystore is decrypted. Its secret key must belong to the public key, which
/// is then marked "checked".
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    suite: SuiteArgument,

    /// Key file: hexadecimal digits, keystore or JSON Web Key; `-` means standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Decrypt a keystore and compare its secret key with the public key that it states
    #[arg(long)]
    check: bool,

    /// Print the secret key too, in hexadecimal digits. Everyone who sees it can sign with it
    #[arg(long)]
    reveal_secret: bool,

    /// Print a JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    passphrase: PassphraseArguments,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        self.suite.suite.run(self)
    }
}

impl InSuite for Arguments {
    type Output = Result;

    fn run_in<S: Suite>(self, suite: S) -> Result {
        let file = KeyFile::read(&self.file)?;
        file.refuse_other_variant(suite)?;
        let mut shown = Shown::of(&file.source, suite.name());

        let open = self.check || self.reveal_secret || self.passphrase.is_given();
        let stated = file.stated().map(<[u8]>::to_vec);
        match (&file.source, stated) {
            (SecretSource::Keystore(_), Some(stated)) if !open => {
                let key = PublicKey::<S>::from_bytes(&stated);
                key.map_err(|error| Failure::usage(error).context("the keystore's public key"))?;
                shown.public_key = hex(suite.any(), stated);
            }
            _ => {
                let key = file.unlock(suite, &self.passphrase.source()?)?;
                shown.public_key = hex(suite.any(), key.claim_key(suite));
                shown.checked = true;
                shown.secret = self.reveal_secret.then(|| Secret::new(key.to_bytes()).to_hex_line());
            }
        }
        if self.json {
            print::json(&shown)?
        } else {
            shown.print()?
        }
        Ok(Exit::Success)
    }
}

/// What is known of a key file.
#[derive(Serialize)]
struct Shown {
    suite: &'static str,
    public_key: String,
    /// Whether the secret key was decrypted, and belongs to the public key.
    checked: bool,
    format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uuid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "trimmed")]
    secret: Option<Zeroizing<String>>,
}

impl Shown {
    fn of(source: &SecretSource, suite: &'static str) -> Self {
        let keystore = match source {
            SecretSource::Keystore(keystore) => Some(keystore),
            _ => None,
        };
        Self {
            suite,
            public_key: String::new(),
            checked: false,
            format: match source {
                SecretSource::Plain(_) => "plain",
                SecretSource::Keystore(_) => "keystore",
                SecretSource::Jwk(_) => "jwk",
            },
            path: keystore.map(|k| k.path().to_owned()).filter(|path| !path.is_empty()),
            uuid: keystore.map(|k| k.uuid().to_string()),
            description: keystore.and_then(|k| k.description()).map(str::to_owned),
            secret: None,
        }
    }

    fn print(&self) -> std::result::Result<(), Failure> {
        let note = if self.checked { "checked" } else { "stated" };
        print::line(format_args!("public key   {} ({note})", self.public_key))?;
        print::line(format_args!("format       {}", self.format))?;
        let rest = [("path", &self.path), ("uuid", &self.uuid), ("description", &self.description)];
        for (name, value) in rest {
            if let Some(value) = value {
                print::line(format_args!("{name:<13}{value}"))?;
            }
        }
        if let Some(secret) = &self.secret {
            print::line(format_args!("secret       {}", secret.trim_end()))?;
        }
        Ok(())
    }
}

fn trimmed<S: serde::Serializer>(
    secret: &Option<Zeroizing<String>>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    secret.as_ref().map(|line| line.trim_end()).serialize(serializer)
}

const EXAMPLES: &str = "\
Examples:
  quorate key show --suite eth2 key.json
  quorate key show --suite eth2 --check --passphrase-file p key.json
  quorate key show --suite drand-quicknet --json - < node.key";
