//! `quorate key new`.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use quorate::{InSuite, SecretKey, Suite};
use quorate_formats::{NotHex, from_hex};
use quorate_host::exit::{Failure, Result};

use super::{
    material,
    store::{Destination, Provenance},
};
use crate::{
    commands::{random, suite::SuiteArgument, unlock::name_of},
    secrets::key_path::KeyPath,
};

/// Make a secret key and print its public key
///
/// Uses KeyGen of the IETF draft (section 2.3) with 32 random bytes of the operating system. For chia it uses KeyGen of draft 3. On
/// BN254 it uses the KeyGen of section 2.3 with the order of that curve's groups.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    suite: SuiteArgument,

    #[command(flatten)]
    destination: Destination,

    /// Keystore: a path to note in the file (EIP-2334). The key is not derived along it; `quorate key derive` does that
    #[arg(long, value_name = "PATH", requires = "keystore")]
    path: Option<KeyPath>,

    /// Make the key from FILE, which has at least 64 hexadecimal digits, instead of random bytes; `-` means standard input
    #[arg(long, value_name = "FILE")]
    ikm_file: Option<PathBuf>,

    /// KeyGen's key_info: the same key material makes a different key with each key_info
    #[arg(long, value_name = "HEX", requires = "ikm_file", value_parser = bytes)]
    key_info: Option<Bytes>,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        self.suite.suite.run(self)
    }
}

impl InSuite for Arguments {
    type Output = Result;

    fn run_in<S: Suite>(self, suite: S) -> Result {
        let passphrase = self.destination.check(self.ikm_file.clone())?;
        let info = self.key_info.unwrap_or_default().0;
        let key = match &self.ikm_file {
            None => SecretKey::key_gen(suite, random::secret_bytes()?.as_slice(), b"").map_err(Failure::internal)?,
            Some(path) => {
                let key = SecretKey::key_gen(suite, &material::read(path)?, &info);
                key.with_context(|| name_of(path)).map_err(Failure::usage)?
            }
        };
        let provenance = Provenance { path: self.path, description: None };
        self.destination.store(suite, &key, provenance, &passphrase)
    }
}

/// The bytes of a flag. They have a type of their own, because clap reads a `Vec` as a flag that may be repeated.
#[derive(Clone, Debug, Default)]
struct Bytes(Vec<u8>);

fn bytes(text: &str) -> std::result::Result<Bytes, NotHex> {
    from_hex(text).map(Bytes)
}

const EXAMPLES: &str = "\
Examples:
  quorate key new --suite eth2 --keystore --out key.json
  quorate key new --suite drand-quicknet --out node.key
  quorate key new --suite eth2 --keystore --passphrase-file p --out key.json
  quorate key new --suite eth2 --ikm-file material.hex --out key.hex";
