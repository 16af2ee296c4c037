//! `quorate history`: the signatures of whole chains.

mod inputs;
mod verify;
mod shards;
mod plan;
mod run;
mod merge;
mod status;

use clap::{Args, Subcommand};
pub(super) use inputs::open_files;
use quorate_host::exit::Result;

/// Verify every signature of a chain's history
///
/// Reads the era files in which Ethereum's clients keep old blocks, rounds of drand, and Chia's blocks. `verify` does the whole job in one go. For many files and machines,
/// `plan` cuts the job into shards, `run` verifies them, and `merge` puts the results together. docs/history.md says what is verified
/// and what is not.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: HistoryCommand,
}

#[derive(Debug, Subcommand)]
enum HistoryCommand {
    Verify(verify::Arguments),
    Plan(plan::Arguments),
    Run(run::Arguments),
    Status(status::Arguments),
    Merge(merge::Arguments),
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The command line or an input is wrong, or reading or writing fails.
    pub fn run(self) -> Result {
        match self.command {
            HistoryCommand::Verify(arguments) => arguments.run(),
            HistoryCommand::Plan(arguments) => arguments.run(),
            HistoryCommand::Run(arguments) => arguments.run(),
            HistoryCommand::Status(arguments) => arguments.run(),
            HistoryCommand::Merge(arguments) => arguments.run(),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate history verify eras/
  quorate history plan --into run/ eras/
  quorate history run run/
  quorate history merge run/";
