//! `quorate evm`: computations for an aggregator of quorums on an EVM chain. Nothing here opens a network connection.

mod plan;
mod report;
mod signers;

use clap::{Args, Subcommand};

use crate::exit::Result;

/// Plan quorums that an EVM contract settles
///
/// Everything is computed from a file. Nothing connects to a chain.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Plan(plan::Arguments),
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The failure that stops the command, with its exit code.
    pub fn run(self) -> Result {
        match self.command {
            Command::Plan(arguments) => arguments.run(),
        }
    }
}
