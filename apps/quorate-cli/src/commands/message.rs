//! The message that a command signs.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::Args;
use quorate::{AnySuite, MinPk};
use quorate_formats::from_hex;
use quorate_host::{dash, exit::Failure};

use super::{
    print,
    suite::is_drand,
    unlock::{is_dash, name_of},
};

/// Where the message comes from: one of three.
#[derive(Debug, Args)]
#[group(id = "what", required = true, multiple = false)]
pub(super) struct MessageArguments {
    /// Sign the bytes of these hexadecimal digits, with or without 0x; 0x alone is a message of no bytes
    #[arg(long, value_name = "HEX")]
    message: Option<String>,

    /// Sign the bytes of FILE as they are, including a newline at the end; `-` means standard input
    #[arg(long, value_name = "FILE")]
    message_file: Option<PathBuf>,

    /// Sign the bytes of standard input as they are
    #[arg(value_name = "-", value_parser = ["-"], hide_possible_values = true)]
    standard_input: Option<String>,
}

impl MessageArguments {
    /// The bytes. `secret` is the file that the secret is read from, and `what` says what is in it: both cannot be
    /// standard input. A variable that is not set and a command that failed leave no bytes, so whoever means none writes `0x`.
    pub(super) fn read(&self, secret: &Path, what: &str) -> Result<Vec<u8>, Failure> {
        if let Some(text) = &self.message {
            let hint = "--message must be hexadecimal digits; for the bytes of a text use --message-file, or - for standard input";
            return match text.as_str() {
                "" => Err(is_empty("--message")),
                text => from_hex(text).context(hint).map_err(Failure::usage),
            };
        }
        let path = match &self.message_file {
            Some(path) if !is_dash(path) => path.as_path(),
            _ if is_dash(secret) => {
                return Err(Failure::usage(anyhow!(
                    "standard input cannot be both {what} and the message; name a file for one of them"
                )));
            }
            _ => Path::new("-"),
        };
        let message = dash::read(path, LONGEST)?;
        if message.is_empty() { Err(is_empty(&name_of(path))) } else { Ok(message) }
    }
}

fn is_empty(source: &str) -> Failure {
    Failure::usage(anyhow!("{source}: the message is empty; for a message of no bytes give --message 0x"))
}

/// Prints a warning if a suite of Ethereum's or drand's, whose messages are digests, signs something else.
pub(super) fn warn_of_no_digest(suite: AnySuite, message: &[u8]) {
    let (digests, nobody) = match suite {
        AnySuite::MinPk(MinPk::Eth2 | MinPk::Eth2SyncAggregate) => {
            ("signing roots", "nothing on Ethereum has such a signature")
        }
        suite if is_drand(suite) => ("digests", "no beacon of drand's has such a signature"),
        _ => return,
    };
    if message.len() != DIGEST {
        let found = message.len();
        print::note(format_args!(
            "warning: {suite} signs {digests} of {DIGEST} bytes, but this message has {found}; {nobody}"
        ));
    }
}

/// Bytes that validators and drand's nodes sign: a digest.
const DIGEST: usize = 32;

/// The longest message that is read: 1 GiB.
const LONGEST: u64 = 1 << 30;
