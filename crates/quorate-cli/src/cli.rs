//! The commands and their order in `--help`.

use clap::{Parser, Subcommand};

use crate::{commands::verify, exit::Result};

/// Verify BLS signatures in bulk and say which are false; make keys, signatures and proofs of possession.
#[derive(Debug, Parser)]
#[command(name = "quorate", version, propagate_version = true, arg_required_else_help = true, max_term_width = 80)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Verify(Box<verify::Arguments>),
}

impl Cli {
    /// Does what was asked.
    ///
    /// # Errors
    /// Whatever stops the command, with the exit code it ends in.
    pub fn run(self) -> Result {
        match self.command {
            Command::Verify(arguments) => arguments.run(),
        }
    }
}
