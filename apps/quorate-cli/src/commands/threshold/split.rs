//! `quorate threshold split`.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use quorate::{Backend, Bls12381Suite, Options, SecretKey};
use quorate_host::exit::{Exit, Failure, Result};
use quorate_threshold::{Committee, Identifiers, SharedKey, deal};
use serde::Serialize;

use crate::{
    commands::{
        identifiers::IdentifiersName,
        key_share,
        lock::KeystoreArguments,
        print, random,
        shared_key::{self, refuse_augmented},
        suite::{Bls12381Argument, InBls12381},
        unlock::{self, FromPassphraseArguments, KeyFile},
        value::path_to_write,
    },
    secrets::{passphrase::PassphrasePurpose, secret_folder},
};

/// Split a key into shares, and print its public key
///
/// Writes a new folder with shared-key.json, which everyone may have, and share-1.json to share-N.json, one for each
/// participant, readable by their owner alone (mode 0600). The folder appears with all files or not at all. Whoever runs this
/// command sees the whole key: hand out the shares, then delete them here, and the key if it was in a file.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE)]
pub(super) struct Arguments {
    #[command(flatten)]
    suite: Bls12381Argument,

    /// How many participants sign together, at least 2
    #[arg(short, long, value_name = "T")]
    threshold: usize,

    /// How many participants there are
    #[arg(short = 'n', long, value_name = "N")]
    participants: usize,

    /// Which points of the shared polynomial the participants have
    #[arg(long, value_name = "KIND", default_value = "integers")]
    identifiers: IdentifiersName,

    /// File with the secret key to split: hexadecimal digits, keystore or JSON Web Key; `-` means standard input. A new key is made
    /// without this flag
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,

    #[command(flatten)]
    opens: FromPassphraseArguments,

    #[command(flatten)]
    keystore: KeystoreArguments,

    /// Folder to write; it must not exist, or be empty
    #[arg(short, long, value_name = "FOLDER", value_parser = path_to_write())]
    out: PathBuf,

    /// Print a JSON object instead of the public key
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Split {
    suite: &'static str,
    public_key: String,
    threshold: usize,
    participants: usize,
    identifiers: Identifiers,
    folder: String,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        self.suite.run(self)
    }
}

impl InBls12381 for Arguments {
    fn run_in<S: Bls12381Suite>(self, suite: S) -> Result {
        refuse_augmented(suite)?;
        let identifiers = Identifiers::from(self.identifiers);
        let committee = Committee::new(self.threshold, self.participants, identifiers, Backend::auto());
        let committee = committee.map_err(Failure::usage)?;
        if self.threshold == 1 {
            return Err(Failure::usage(anyhow!(
                "the threshold is 1, so that every share would be the whole key; choose at least 2, or copy the key"
            )));
        }
        secret_folder::refuse_taken(&self.out)?;
        let passphrase = self.keystore.check()?;
        if self.key.is_none() && self.opens.is_given() {
            return Err(Failure::usage(anyhow!(
                "--from-passphrase-file and --from-passphrase-fd are for the key of --key; leave them out"
            )));
        }

        let key = match &self.key {
            Some(path) => self.opens.unlock(suite, KeyFile::read(path)?)?,
            None => SecretKey::key_gen(suite, random::secret_bytes()?.as_slice(), b"").map_err(Failure::internal)?,
        };
        let (shares, commitment) =
            deal(&committee, suite, &key, &Options::default(), &mut random::generator()?).map_err(Failure::internal)?;
        let shared = SharedKey::new(suite, committee, commitment).map_err(Failure::internal)?;
        let public_key = shared.public_key().to_bytes();

        let passphrase = match self.keystore.is_given() {
            true => Some(unlock::ask(&passphrase, PassphrasePurpose::Create, "the shares")?),
            false => None,
        };
        let lock = passphrase.as_ref().map(|passphrase| (passphrase, self.keystore.kdf()));
        secret_folder::create(&self.out, |folder| {
            for share in &shares {
                let path = folder.join(format!("share-{}.json", share.index()));
                key_share::write(&path, suite, public_key.as_ref(), share, lock)?;
            }
            shared_key::write(&folder.join("shared-key.json"), &shared)
        })?;

        let public_key = self.suite.hex(public_key);
        if self.json {
            print::json(&Split {
                suite: suite.name(),
                public_key,
                threshold: self.threshold,
                participants: self.participants,
                identifiers,
                folder: self.out.display().to_string(),
            })?;
        } else {
            print::line(public_key)?;
        }
        Ok(Exit::Success)
    }
}

/// Clap's own usage line has 104 columns.
const USAGE: &str = "\
quorate threshold split [OPTIONS] --suite <NAME> --threshold <T>
           --participants <N> --out <FOLDER>";

const EXAMPLES: &str = "\
Examples:
  quorate threshold split --suite eth2 --threshold 3 --participants 5 \\
      --out shares
  quorate threshold split --suite eth2 -t 3 -n 5 --key key.json \\
      --keystore --out shares
  quorate threshold split --suite drand-quicknet -t 667 -n 1000 \\
      --identifiers roots-of-unity --out shares";
