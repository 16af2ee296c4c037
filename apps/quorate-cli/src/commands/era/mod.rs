//! `quorate era`: what Ethereum's era files hold, for other programs.

mod sink;
mod claims;

use clap::{Args, Subcommand};
use quorate_host::exit::Result;

/// Turn Ethereum's era files into claims
///
/// `quorate history verify` verifies era files itself. Claims in Parquet can be looked at, sorted and joined by other programs, and
/// `quorate verify` verifies them.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: EraCommand,
}

#[derive(Debug, Subcommand)]
enum EraCommand {
    Claims(claims::Arguments),
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The command line or an input is wrong, or reading or writing fails.
    pub fn run(self) -> Result {
        match self.command {
            EraCommand::Claims(arguments) => arguments.run(),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate era claims eras/ --output claims.parquet
  quorate verify claims.parquet";
