//! `quorate evm`: what an aggregator of quorums on an EVM chain asks before it pays. Nothing here opens a connection.

mod plan;
mod report;
mod signers;

use clap::{Args, Subcommand};

use crate::exit::Result;

/// Quorums that an EVM contract settles
///
/// Everything is computed from a file; nothing here talks to a chain.
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
    /// Does what was asked.
    ///
    /// # Errors
    /// Whatever stops the command, with the exit code it ends in.
    pub fn run(self) -> Result {
        match self.command {
            Command::Plan(arguments) => arguments.run(),
        }
    }
}
