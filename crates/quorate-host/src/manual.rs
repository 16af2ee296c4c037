//! What an installation adds to a program: man pages and completions, made from the definitions of its command line.

use std::{fs, path::PathBuf};

use anyhow::{Context as _, anyhow};
use clap::{Args, Command, builder::Resettable};
use clap_complete::Shell;
use clap_mangen::Man;

use super::exit::{Exit, Failure, Result, print_all};

/// Print completions for a shell
#[derive(Debug, Args)]
pub struct Completions {
    /// Shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    /// Prints completions of the program `root` and the commands below it.
    ///
    /// # Errors
    /// Writing fails.
    pub fn run(self, mut root: Command) -> Result {
        let name = root.get_name().to_owned();
        // Into memory first: `generate` panics where it cannot write.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut root, name, &mut script);
        print_all(&script)?;
        Ok(Exit::Success)
    }
}

/// Print a man page
#[derive(Debug, Args)]
pub struct ManPages {
    /// Command, such as `key new`; without it the page of the program itself is printed
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Write the pages of the program and of every command into this folder instead
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    into: Option<PathBuf>,
}

impl ManPages {
    /// Prints the page of the program `root` or of a command below it, or writes all of them.
    ///
    /// # Errors
    /// There is no such command, or writing fails.
    pub fn run(self, mut root: Command) -> Result {
        // Building the tree gives the commands their full names, such as "quorate-key-new".
        root.build();
        let program = root.get_name().to_owned();
        if let Some(folder) = self.into {
            fs::create_dir_all(&folder)
                .and_then(|()| write_all(&root, &folder, &program))
                .map_err(|error| Failure::io(anyhow!(error).context(format!("man pages into {}", folder.display()))))?;
            return Ok(Exit::Success);
        }
        let mut command: &Command = &root;
        for name in &self.command {
            command = command
                .find_subcommand(name)
                .with_context(|| format!("there is no command '{name}'; `{program} --help` lists the commands"))
                .map_err(Failure::usage)?;
        }
        print_all(&page(command, &program)?)?;
        Ok(Exit::Success)
    }
}

/// The pages of a command and of those below it, each in a file of its full name.
fn write_all(command: &Command, folder: &std::path::Path, program: &str) -> std::io::Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    fs::write(folder.join(format!("{name}.1")), page(command, program)?)?;
    let below = command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help");
    below.into_iter().try_for_each(|below| write_all(below, folder, program))
}

/// The page, with the examples and notes exactly as the help has them: clap_mangen leaves out the examples, and it joins the lines
/// of the notes.
fn page(command: &Command, program: &str) -> std::io::Result<Vec<u8>> {
    let version = format!("{program} {}", command.get_version().unwrap_or_default());
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
