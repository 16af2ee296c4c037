//! `quorate key import`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use quorate::{InSuite, Suite};

use super::store::{Destination, Provenance};
use crate::{
    commands::{
        print,
        suite::SuiteArgument,
        unlock::{FromPassphraseArguments, KeyFile},
    },
    secrets::secret_source::SecretSource,
};
use quorate_host::exit::Result;

/// Convert a secret key to another format and print its public key
///
/// Reads hexadecimal digits, keystores (EIP-2335) and JSON Web Keys, and tells them apart by their content. The secret key must
/// belong to the public key that the file states. A keystore made from a keystore keeps the path and the description, and gets
/// the new passphrase.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE, group = ArgGroup::new("format").args(["keystore", "plain"]).required(true))]
pub(super) struct Arguments {
    #[command(flatten)]
    suite: SuiteArgument,

    /// Key file to read; `-` means standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    opens: FromPassphraseArguments,

    /// Write the secret key as 64 hexadecimal digits, not encrypted
    #[arg(long, conflicts_with_all = ["kdf", "description"])]
    plain: bool,

    #[command(flatten)]
    destination: Destination,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        self.suite.suite.run(self)
    }
}

impl InSuite for Arguments {
    type Output = Result;

    fn run_in<S: Suite>(self, suite: S) -> Result {
        debug_assert!(self.plain != self.destination.keystore.is_given(), "clap requires one of the two");
        // FILE may be replaced: the new one has the same secret.
        let passphrase = self.destination.check(self.opens.source()?.path())?;
        let file = KeyFile::read(&self.file)?;
        let provenance = provenance(&file.source);
        let key = self.opens.unlock(suite, file)?;
        self.destination.store(suite, &key, provenance, &passphrase)
    }
}

fn provenance(source: &SecretSource) -> Provenance {
    let SecretSource::Keystore(keystore) = source else { return Provenance::default() };
    let path = keystore.key_path().unwrap_or_else(|error| {
        print::note(format_args!("warning: the keystore's path is not copied: {error}"));
        None
    });
    Provenance { path, description: keystore.description().map(str::to_owned) }
}

/// Clap's own usage line has 91 columns.
const USAGE: &str = "\
quorate key import [OPTIONS] --suite <NAME> <FILE>
           <--keystore|--plain> --out <FILE>";

const EXAMPLES: &str = "\
Examples:
  quorate key import --suite eth2 key.hex --keystore --out key.json
  quorate key import --suite eth2 key.json --plain --out key.hex
  quorate key import --suite drand-quicknet key.jwk --keystore --out key.json
  quorate key import --suite eth2 old.json --from-passphrase-file old.txt \\
      --keystore --passphrase-file new.txt --out new.json";
