//! `quorate key derive`.

use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use clap::{ArgGroup, Args};
use quorate::{MinPk, SecretKey, Suite};

use super::{
    material,
    store::{Destination, Provenance},
};
use crate::{
    commands::{
        suite::{InSuite, KeySuite, SuiteArgument},
        unlock::{FromPassphraseArguments, KeyFile, name_of},
    },
    exit::{Failure, Result},
    secrets::{key_path::KeyPath, secret_source::SecretSource},
};

/// Derive a key from a seed or from a parent key (EIP-2333) and print its public key
///
/// This command does not read mnemonics. It reads the seed that BIP-39 makes of a mnemonic, 64 bytes in hexadecimal digits. Chia
/// derives its keys in another way, so the suite chia is refused.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE, group = ArgGroup::new("root").required(true))]
pub(super) struct Arguments {
    #[command(flatten)]
    suite: SuiteArgument,

    /// File with the seed of the key tree in hexadecimal digits, at least 32 bytes; `-` means standard input
    #[arg(long, value_name = "FILE", group = "root")]
    seed_file: Option<PathBuf>,

    /// File with the parent key, in any format; `-` means standard input
    #[arg(long, value_name = "KEYFILE", group = "root")]
    from: Option<PathBuf>,

    #[command(flatten)]
    opens: FromPassphraseArguments,

    /// Path of the key. From a seed it is the whole path, m/12381/3600/0/0/0; from a parent it is the path below the parent, 0/0
    #[arg(long, value_name = "PATH")]
    path: String,

    #[command(flatten)]
    destination: Destination,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        if self.suite.suite == KeySuite::MinPk(MinPk::Chia) {
            return Err(Failure::usage(anyhow!(
                "chia derives keys as an older EIP-2333 did, which quorate does not; derive the key with a Chia wallet, and \
                 convert it with `quorate key import`"
            )));
        }
        self.suite.run(self)
    }
}

impl InSuite for Arguments {
    fn run_in<S: Suite>(self, suite: S) -> Result {
        let passphrase = self.destination.check()?;
        let (key, path) = match (&self.seed_file, &self.from) {
            (Some(_), _) if self.opens.is_given() => {
                return Err(Failure::usage(anyhow!(
                    "--from-passphrase-file and --from-passphrase-fd are for the key of --from, and a seed file has no \
                     passphrase; leave them out"
                )));
            }
            (Some(file), _) => {
                let path: KeyPath = self.path.parse().map_err(Failure::usage)?;
                let master = SecretKey::<S>::derive_master(&material::read(file)?);
                let master = master.with_context(|| name_of(file)).map_err(Failure::usage)?;
                (master.derive(path.indices()), Some(path))
            }
            (None, Some(file)) => {
                let below = below(&self.path)?;
                let parent = KeyFile::read(file)?;
                let above = stated_path(&parent.source)?;
                let path =
                    above.map(|above| above.indices().iter().chain(below.indices()).copied().collect::<KeyPath>());
                (self.opens.unlock(suite, parent)?.derive(below.indices()), path)
            }
            (None, None) => unreachable!("clap requires one of the two"),
        };
        self.destination.store(self.suite, &key, Provenance { path, description: None }, &passphrase)
    }
}

/// Reads a path below a parent, which has no `m`: that is the master key of the tree.
fn below(text: &str) -> std::result::Result<KeyPath, Failure> {
    if text == "m" || text.starts_with("m/") {
        return Err(Failure::usage(anyhow!(
            "with --from, the path is the one below the parent, without 'm': --path 0/0 is child 0 of child 0"
        )));
    }
    format!("m/{text}").parse().map_err(Failure::usage)
}

/// The parent's own path, if its file states one.
fn stated_path(source: &SecretSource) -> std::result::Result<Option<KeyPath>, Failure> {
    match source {
        SecretSource::Keystore(keystore) => keystore.key_path().map_err(Failure::usage),
        _ => Ok(None),
    }
}

/// Clap's own usage line has 115 columns.
const USAGE: &str = "\
quorate key derive [OPTIONS] --suite <NAME>
           <--seed-file <FILE>|--from <KEYFILE>> --path <PATH> --out <FILE>";

const EXAMPLES: &str = "\
Examples:
  quorate key derive --suite eth2 --seed-file seed.hex \\
      --path m/12381/3600/0/0/0 --keystore --out signing.json
  quorate key derive --suite eth2 --from withdrawal.json --path 0 \\
      --keystore --out signing.json";
