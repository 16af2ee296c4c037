//! The message that a command signs.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use clap::Args;
use quorate::AnySuite;
use quorate_formats::from_hex;
use quorate_host::{dash, exit::Failure};

use super::{print, suite::is_drand, unlock::is_dash};

/// Where the message comes from: one of three.
#[derive(Debug, Args)]
#[group(id = "what", required = true, multiple = false)]
pub(super) struct MessageArguments {
    /// Sign the bytes of these hexadecimal digits, with or without 0x
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
    /// standard input.
    pub(super) fn read(&self, secret: &Path, what: &str) -> Result<Vec<u8>, Failure> {
        if let Some(text) = &self.message {
            let hint = "--message must be hexadecimal digits; for the bytes of a text use --message-file, or - for standard input";
            return from_hex(text).context(hint).map_err(Failure::usage);
        }
        match &self.message_file {
            Some(path) if !is_dash(path) => Ok(dash::read(path, LONGEST)?),
            _ if is_dash(secret) => Err(Failure::usage(anyhow!(
                "standard input cannot be both {what} and the message; name a file for one of them"
            ))),
            _ => Ok(dash::read(Path::new("-"), LONGEST)?),
        }
    }
}

/// Prints a warning if a suite of drand's signs something other than a digest.
pub(super) fn warn_of_no_digest(suite: AnySuite, message: &[u8]) {
    if is_drand(suite) && message.len() != DIGEST {
        print::note(format_args!(
            "warning: {suite} signs digests of {DIGEST} bytes, but this message has {}; no beacon of drand's has such a signature",
            message.len()
        ));
    }
}

/// Bytes that a drand node signs: a SHA-256 digest.
const DIGEST: usize = 32;

/// The longest message that is read: 1 GiB.
const LONGEST: u64 = 1 << 30;
