//! `quorate threshold sign`.

use std::path::PathBuf;

use clap::Args;
use quorate::Bls12381Suite;

use super::shares::SignatureShareLine;
use crate::commands::{
    key_share::KeyShareFile,
    message::{MessageArguments, warn_of_no_digest},
    print,
    suite::InBls12381,
    unlock::PassphraseArguments,
};
use quorate_host::exit::{Exit, Result};

/// Sign a message with a share of a key and print the signature share
///
/// Prints one JSON object on one line, {"suite", "index", "public_key", "message", "signature"}, where "public_key" is the key
/// that the participants share. Append the lines of several participants to one file, and give it to `quorate threshold
/// combine`. The bytes of the message are signed as they are, as `quorate sign` does.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE)]
pub(super) struct Arguments {
    /// File with the share, as `quorate threshold split` writes it; `-` means standard input
    #[arg(long, value_name = "FILE")]
    share: PathBuf,

    #[command(flatten)]
    passphrase: PassphraseArguments,

    #[command(flatten)]
    message: MessageArguments,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let message = self.message.read(&self.share, "the share")?;
        let file = KeyShareFile::read(&self.share)?;
        file.suite().run(Sign { arguments: self, file, message })
    }
}

/// What is signed, and with which share.
struct Sign {
    arguments: Arguments,
    file: KeyShareFile,
    message: Vec<u8>,
}

impl InBls12381 for Sign {
    fn run_in<S: Bls12381Suite>(self, suite: S) -> Result {
        let Self { arguments, file, message } = self;
        let written = file.suite();
        warn_of_no_digest(written.suite.into(), &message);
        let share = file.unlock(suite, &arguments.passphrase.source()?)?;
        print::json(&SignatureShareLine {
            suite: suite.name(),
            index: share.index,
            public_key: written.hex(share.public_key),
            signature: written.hex(share.secret.sign(suite, &message).to_bytes()),
            message: written.hex(message),
        })?;
        Ok(Exit::Success)
    }
}

/// Clap's own usage line does not fit.
const USAGE: &str = "\
quorate threshold sign [OPTIONS] --share <FILE>
           <--message <HEX>|--message-file <FILE>|->";

const EXAMPLES: &str = "\
Examples:
  quorate threshold sign --share share-2.json --message 0x…
  quorate threshold sign --share share-2.json --message-file root.bin \\
      >> signed.jsonl
  printf hello | quorate threshold sign --share share-2.json -";
