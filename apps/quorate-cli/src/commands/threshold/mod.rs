//! `quorate threshold`: keys that several participants share, of whom a threshold signs.
//!
//! ```text
//! split -> shared-key.json, share-1.json … -> sign (each participant) -> combine -> a claim
//!                                                   verify-share
//! ```

mod shares;
mod combine;
mod sign;
mod split;
mod verify_share;
mod weights;

use clap::{Args, Subcommand};
use quorate_host::exit::Result;

/// Share a key among participants, of whom a threshold signs together
///
/// A key is split into n shares, one file each. Each participant signs with its share. Any t of these signature shares are
/// combined into the one signature of the key, and fewer than t say nothing about it. For keys on BLS12-381, in suites that do
/// not sign the key with the message (not chia).
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: ThresholdCommand,
}

#[derive(Debug, Subcommand)]
enum ThresholdCommand {
    Split(split::Arguments),
    Sign(sign::Arguments),
    Combine(combine::Arguments),
    VerifyShare(verify_share::Arguments),
    Weights(weights::Arguments),
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The command line or an input is wrong, or reading or writing fails.
    pub fn run(self) -> Result {
        match self.command {
            ThresholdCommand::Split(arguments) => arguments.run(),
            ThresholdCommand::Sign(arguments) => arguments.run(),
            ThresholdCommand::Combine(arguments) => arguments.run(),
            ThresholdCommand::VerifyShare(arguments) => arguments.run(),
            ThresholdCommand::Weights(arguments) => arguments.run(),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate threshold split --suite eth2 --threshold 3 --participants 5 \\
      --out shares
  quorate threshold sign --share shares/share-2.json --message 0x… \\
      >> signed.jsonl
  quorate threshold combine --shared-key shares/shared-key.json signed.jsonl
  quorate threshold verify-share --shared-key shares/shared-key.json \\
      signed.jsonl
  quorate threshold weights stakes.csv";
