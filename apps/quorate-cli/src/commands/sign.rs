//! `quorate sign`.

use std::{fs, io::Read, path::PathBuf};

use anyhow::{Context as _, anyhow};
use clap::{ArgGroup, Args};
use quorate::Suite;
use quorate_formats::from_hex;
use serde::Serialize;

use super::{
    print,
    suite::{InSuite, SuiteArgument},
    unlock::{KeyFile, PassphraseArguments, is_dash},
};
use crate::exit::{Exit, Failure, Result};

/// Sign a message and print the signature
///
/// The bytes of the message are signed as they are. In eth2 the message is a signing root of 32 bytes, not the object itself. In
/// the drand profiles it is a digest of 32 bytes: sha256(previous signature || round) in drand-chained, sha256(round) in the
/// others. A signature is not a proof of possession; `quorate pop prove` makes one.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE, group = ArgGroup::new("what").required(true))]
pub struct Arguments {
    #[command(flatten)]
    suite: SuiteArgument,

    /// File with the secret key: hexadecimal digits, keystore or JSON Web Key; `-` means standard input
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    #[command(flatten)]
    passphrase: PassphraseArguments,

    /// Sign the bytes of these hexadecimal digits, with or without 0x
    #[arg(long, value_name = "HEX", group = "what")]
    message: Option<String>,

    /// Sign the bytes of FILE as they are, including a newline at the end
    #[arg(long, value_name = "FILE", group = "what")]
    message_file: Option<PathBuf>,

    /// Sign the bytes of standard input as they are
    #[arg(value_name = "-", value_parser = ["-"], hide_possible_values = true, group = "what")]
    standard_input: Option<String>,

    /// Print a claim as one JSON object on one line, as `quorate verify` reads it
    #[arg(long, visible_alias = "json")]
    claim: bool,
}

/// A claim of one statement.
#[derive(Serialize)]
struct ClaimLine {
    suite: &'static str,
    public_key: String,
    message: String,
    signature: String,
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
        let message = self.message()?;
        if self.suite.is_drand() && message.len() != DIGEST {
            print::note(format_args!(
                "warning: {suite} signs digests of {DIGEST} bytes, but this message has {}; no beacon of drand's has such \
                 a signature",
                message.len()
            ));
        }
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

impl Arguments {
    fn message(&self) -> std::result::Result<Vec<u8>, Failure> {
        if let Some(text) = &self.message {
            let hint = "--message must be hexadecimal digits; for the bytes of a text use --message-file, or - for standard input";
            return from_hex(text).context(hint).map_err(Failure::usage);
        }
        match &self.message_file {
            Some(path) if !is_dash(path) => {
                fs::read(path).with_context(|| format!("cannot read {}", path.display())).map_err(Failure::io)
            }
            _ if is_dash(&self.key) => Err(Failure::usage(anyhow!(
                "standard input cannot be both the key and the message; name a file for one of them"
            ))),
            _ => {
                let mut message = Vec::new();
                std::io::stdin().lock().read_to_end(&mut message)?;
                Ok(message)
            }
        }
    }
}

/// Bytes that a drand node signs: a SHA-256 digest.
const DIGEST: usize = 32;

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
