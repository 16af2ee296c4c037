//! `quorate man`.

use anyhow::anyhow;
use clap::{Args, Command, CommandFactory as _};
use clap_mangen::Man;

use super::print;
use crate::{
    cli::Cli,
    exit::{Exit, Failure, Result},
};

/// Print a man page
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub struct Arguments {
    /// Command whose page to print, such as `key new`; the page of quorate itself where left out
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

impl Arguments {
    /// Prints.
    ///
    /// # Errors
    /// Where there is no such command, or writing fails.
    pub fn run(self) -> Result {
        let mut root = Cli::command();
        // Full names ("quorate-key-new") are given to subcommands when the tree is built.
        root.build();
        let mut command: &Command = &root;
        for name in &self.command {
            command = command
                .find_subcommand(name)
                .ok_or_else(|| Failure::usage(anyhow!("there is no command '{name}'; see quorate --help")))?;
        }
        let mut page = Vec::new();
        Man::new(command.clone()).render(&mut page)?;
        print::all(&page)?;
        Ok(Exit::Success)
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate man | man -l -
  quorate man key new > quorate-key-new.1";
