//! `quorate key derive`.

use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use clap::{ArgGroup, Args};
use quorate::{Bls12381Suite, MinPk, SecretKey};
use zeroize::Zeroizing;

use super::{
    material,
    store::{Destination, Provenance},
};
use crate::{
    commands::{
        suite::{Bls12381Argument, Bls12381Choice, InBls12381},
        unlock::{self, FromPassphraseArguments, KeyFile, name_of},
    },
    secrets::{
        key_path::KeyPath,
        mnemonic,
        passphrase::{self, PassphrasePurpose, PassphraseSource},
        secret_source::SecretSource,
    },
};
use quorate_host::exit::{Failure, Result};

/// Derive a key from a mnemonic, a seed or a parent key (EIP-2333) and print its public key
///
/// A mnemonic (BIP-39) is typed without echo, or read from a file; it is never an argument, which other processes can see. Its
/// language is found out. Chia derives its keys in another way, so the suite chia is refused.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE, group = ArgGroup::new("root").required(true))]
pub(super) struct Arguments {
    #[command(flatten)]
    suite: Bls12381Argument,

    /// Ask for the mnemonic on the terminal, without echo
    #[arg(long, group = "root")]
    mnemonic: bool,

    /// File with the mnemonic, 12 to 24 words, each whole or its first four letters; `-` means standard input
    #[arg(long, value_name = "FILE", group = "root")]
    mnemonic_file: Option<PathBuf>,

    /// Passphrase of the mnemonic: the first line of FILE. Without this flag and --mnemonic-passphrase-fd, it is empty
    #[arg(long, value_name = "FILE", conflicts_with = "mnemonic_passphrase_fd")]
    mnemonic_passphrase_file: Option<PathBuf>,

    /// Passphrase of the mnemonic: a line from file descriptor N (0 is standard input)
    #[arg(long, value_name = "N")]
    mnemonic_passphrase_fd: Option<u32>,

    /// File with the seed of the key tree in hexadecimal digits, at least 32 bytes; `-` means standard input
    #[arg(long, value_name = "FILE", group = "root")]
    seed_file: Option<PathBuf>,

    /// File with the parent key, in any format; `-` means standard input
    #[arg(long, value_name = "KEYFILE", group = "root")]
    from: Option<PathBuf>,

    #[command(flatten)]
    opens: FromPassphraseArguments,

    /// Path of the key. From a mnemonic or a seed it is the whole path, m/12381/3600/0/0/0; from a parent it is the path below the parent, 0/0
    #[arg(long, value_name = "PATH")]
    path: String,

    #[command(flatten)]
    destination: Destination,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        if self.suite.suite == Bls12381Choice::MinPk(MinPk::Chia) {
            return Err(Failure::usage(anyhow!(
                "chia derives keys as an older EIP-2333 did, which quorate does not; derive the key with a Chia wallet, and \
                 convert it with `quorate key import`"
            )));
        }
        self.suite.run(self)
    }
}

impl InBls12381 for Arguments {
    fn run_in<S: Bls12381Suite>(self, suite: S) -> Result {
        let passphrases = [self.mnemonic_passphrase()?, Some(self.opens.source()?)];
        let files = [&self.mnemonic_file, &self.seed_file, &self.from].into_iter().flatten().cloned();
        let passphrase =
            self.destination.check(files.chain(passphrases.iter().flatten().filter_map(PassphraseSource::path)))?;
        if self.from.is_none() && self.opens.is_given() {
            return Err(Failure::usage(anyhow!(
                "--from-passphrase-file and --from-passphrase-fd are for the key of --from, and a seed file has no \
                 passphrase; leave them out"
            )));
        }
        let (key, path) = match &self.from {
            None => {
                let path: KeyPath = self.path.parse().map_err(Failure::usage)?;
                let (seed, name) = self.seed()?;
                let master = SecretKey::<S>::derive_master(&seed);
                let master = master.context(name).map_err(Failure::usage)?;
                (master.derive(path.indices()), Some(path))
            }
            Some(file) => {
                let below = below(&self.path)?;
                let parent = KeyFile::read(file)?;
                let above = stated_path(&parent.source)?;
                let path =
                    above.map(|above| above.indices().iter().chain(below.indices()).copied().collect::<KeyPath>());
                (self.opens.unlock(suite, parent)?.derive(below.indices()), path)
            }
        };
        self.destination.store(suite, &key, Provenance { path, description: None }, &passphrase)
    }
}

impl Arguments {
    /// Where the passphrase of the mnemonic comes from, if it has one.
    fn mnemonic_passphrase(&self) -> std::result::Result<Option<PassphraseSource>, Failure> {
        match (&self.mnemonic_passphrase_file, self.mnemonic_passphrase_fd) {
            (None, None) => Ok(None),
            (file, fd) => Ok(Some(PassphraseSource::from_flags(file.clone(), fd)?)),
        }
    }

    /// The seed of the key tree, and the name of what it came from.
    fn seed(&self) -> std::result::Result<(Zeroizing<Vec<u8>>, String), Failure> {
        if let Some(file) = &self.seed_file {
            if self.mnemonic_passphrase_file.is_some() || self.mnemonic_passphrase_fd.is_some() {
                return Err(Failure::usage(anyhow!(
                    "--mnemonic-passphrase-file and --mnemonic-passphrase-fd are for a mnemonic, whose passphrase changes the \
                     seed; leave them out, or give the mnemonic in place of the seed"
                )));
            }
            return Ok((material::read(file)?, name_of(file)));
        }
        if self.mnemonic_file.as_deref().is_some_and(unlock::is_dash) && self.mnemonic_passphrase_fd == Some(0) {
            return Err(Failure::usage(anyhow!(
                "standard input cannot be both the mnemonic and its passphrase; use --mnemonic-passphrase-file or another \
                 descriptor"
            )));
        }
        let ask = |source| unlock::ask(&source, PassphrasePurpose::Unlock, "the mnemonic");
        let passphrase = self.mnemonic_passphrase()?.map(ask).transpose()?;
        // A command that ended without a word writes such a line too, and the key would be another one than its owner believes.
        if passphrase.as_ref().is_some_and(|passphrase| passphrase.expose().is_empty()) {
            return Err(Failure::usage(anyhow!(
                "the passphrase of the mnemonic is empty; for none leave --mnemonic-passphrase-file and --mnemonic-passphrase-fd out"
            )));
        }
        let (text, name) = match &self.mnemonic_file {
            None => (passphrase::ask_for_mnemonic()?, "the mnemonic".to_owned()),
            Some(file) => (material::read_text(file)?, name_of(file)),
        };
        let seed = mnemonic::seed(text.expose(), passphrase.as_ref());
        let seed = seed.map_err(|error| Failure::usage(error).context(name.clone()))?;
        Ok((Zeroizing::new(seed.to_vec()), name))
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
           <--mnemonic|--mnemonic-file <FILE>|--seed-file <FILE>|
           --from <KEYFILE>> --path <PATH> --out <FILE>";

const EXAMPLES: &str = "\
Examples:
  quorate key derive --suite eth2 --mnemonic \\
      --path m/12381/3600/0/0/0 --keystore --out signing.json
  quorate key derive --suite eth2 --seed-file seed.hex \\
      --path m/12381/3600/0/0/0 --keystore --out signing.json
  quorate key derive --suite eth2 --from withdrawal.json --path 0 \\
      --keystore --out signing.json";
