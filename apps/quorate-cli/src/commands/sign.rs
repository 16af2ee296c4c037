//! `quorate sign`.

use std::path::PathBuf;

use clap::Args;
use quorate::Suite;

use super::{
    message::{MessageArguments, warn_of_no_digest},
    print::{self, ClaimLine},
    suite::{InSuite, SuiteArgument},
    unlock::{KeyFile, PassphraseArguments},
};
use crate::exit::{Exit, Result};

/// Sign a message and print the signature
///
/// The bytes of the message are signed as they are. In eth2 the message is a signing root of 32 bytes, not the object itself. In
/// the drand profiles it is a digest of 32 bytes: sha256(previous signature || round) in drand-chained, sha256(round) in the
/// others. A signature is not a proof of possession; `quorate pop prove` makes one.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE)]
pub struct Arguments {
    #[command(flatten)]
    suite: SuiteArgument,

    /// File with the secret key: hexadecimal digits, keystore or JSON Web Key; `-` means standard input
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    #[command(flatten)]
    passphrase: PassphraseArguments,

    #[command(flatten)]
    message: MessageArguments,

    /// Print a claim as one JSON object on one line, as `quorate verify` reads it
    #[arg(long, visible_alias = "json")]
    claim: bool,
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The command line, the key or the message is wrong, or reading or writing fails.
    pub fn run(self) -> Result {
        self.suite.run(self)
    }
}

impl InSuite for Arguments {
    fn run_in<S: Suite>(self, suite: S) -> Result {
        let message = self.message.read(&self.key, "the key")?;
        warn_of_no_digest(self.suite, &message);
        let key = KeyFile::read(&self.key)?.unlock(suite, &self.passphrase.source()?)?;
        let signature = self.suite.hex(key.sign(suite, &message).to_bytes());
        if self.claim {
            print::json(&ClaimLine {
                suite: suite.name(),
                public_key: self.suite.hex(key.public_key().to_bytes()),
                message: self.suite.hex(message),
                signature,
            })?;
        } else {
            print::line(signature)?;
        }
        Ok(Exit::Success)
    }
}

/// Clap's own usage line has 100 columns.
const USAGE: &str = "\
quorate sign [OPTIONS] --suite <NAME> --key <FILE>
           <--message <HEX>|--message-file <FILE>|->";

const EXAMPLES: &str = "\
Examples:
  quorate sign --suite eth2 --key key.json --message 0xabab
  quorate sign --suite eth2 --key key.json --message-file root.bin --claim
  printf hello | quorate sign --suite chia --key key.hex -
  quorate sign --suite eth2 --key key.json --message 0xabab --claim \\
      | quorate verify -";
