//! `quorate completions`.

use clap::{Args, Command};
use clap_complete::Shell;

use super::print;
use quorate_host::exit::{Exit, Result};

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub struct Arguments {
    /// Shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Arguments {
    /// Prints completions of `root` and the commands below it.
    ///
    /// # Errors
    /// Writing fails.
    pub fn run(self, mut root: Command) -> Result {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut root, "quorate", &mut script);
        print::all(&script)?;
        Ok(Exit::Success)
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate completions bash > ~/.local/share/bash-completion/completions/quorate
  quorate completions fish > ~/.config/fish/completions/quorate.fish
  quorate completions zsh > ~/.zfunc/_quorate";
