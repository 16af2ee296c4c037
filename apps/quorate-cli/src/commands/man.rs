//! `quorate man`.

use anyhow::anyhow;
use clap::{Args, Command, builder::Resettable};
use clap_mangen::Man;

use super::print;
use quorate_host::exit::{Exit, Failure, Result};

/// Print a man page
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub struct Arguments {
    /// Command, such as `key new`; without it the page of quorate itself is printed
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
}

impl Arguments {
    /// Prints the page of one of the commands below `root`.
    ///
    /// # Errors
    /// There is no such command, or writing fails.
    pub fn run(self, mut root: Command) -> Result {
        // Building the tree gives the subcommands their full names, such as "quorate-key-new".
        root.build();
        let mut command: &Command = &root;
        for name in &self.command {
            command = command.find_subcommand(name).ok_or_else(|| {
                Failure::usage(anyhow!("there is no command '{name}'; `quorate --help` lists the commands"))
            })?;
        }
        print::all(&page(command)?)?;
        Ok(Exit::Success)
    }
}

/// The page, with the examples and notes exactly as the help has them: clap_mangen leaves out the examples, and it joins the lines
/// of the notes.
fn page(command: &Command) -> std::result::Result<Vec<u8>, Failure> {
    let version = format!("quorate {}", command.get_version().unwrap_or_default());
    let mut page = Vec::new();
    Man::new(command.clone().after_long_help(Resettable::Reset)).source(version).render(&mut page)?;
    let verbatim = [("EXAMPLES", command.get_before_long_help()), ("NOTES", command.get_after_long_help())];
    for (title, text) in verbatim {
        let Some(text) = text else { continue };
        page.extend_from_slice(format!(".SH {title}\n.nf\n").as_bytes());
        for line in text.to_string().lines().filter(|line| *line != "Examples:") {
            // `\&` keeps a leading dot or quote from being a request. A bare hyphen would be typeset as another character.
            let line = line.replace('\\', "\\e").replace('-', "\\-");
            page.extend_from_slice(format!("\\&{line}\n").as_bytes());
        }
        page.extend_from_slice(b".fi\n");
    }
    Ok(page)
}

const EXAMPLES: &str = "\
Examples:
  quorate man | man -l -
  quorate man key new > quorate-key-new.1";
