//! `quorate evm network new`.

use std::{fs, io, path::PathBuf};

use anyhow::anyhow;
use clap::{Args, Subcommand};
use quorate_host::{
    exit::{Exit, Failure, Result},
    file::{self, Existing, Readers},
};

use crate::commands::{print, value::path_to_write};

/// Begin a task network: its terms, how to deploy it, what its members do
///
/// A task network is a contract of stake, tasks and rewards (`TaskNetwork`), whose operators run `quorate-node`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    New(New),
}

/// Write the files of a new task network into a folder
///
/// They are the terms with their defaults (terms.toml for `quorate-node create`, terms.env for the deployment by Foundry, without
/// a node's program), members.md for the operators, and README.md, which says what comes next. Nothing is sent to a chain.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLE)]
struct New {
    /// The folder; it is made if it does not exist. No file in it is replaced
    #[arg(long, value_name = "FOLDER", value_parser = path_to_write())]
    out: PathBuf,
}

/// The files, by their names.
const FILES: [(&str, &str); 4] = [
    ("terms.toml", include_str!("network/terms.toml")),
    ("terms.env", include_str!("network/terms.env")),
    ("members.md", include_str!("network/members.md")),
    ("README.md", include_str!("network/readme.md")),
];

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// A file is there already, or writing fails.
    pub(super) fn run(self) -> Result {
        let Command::New(New { out }) = self.command;
        let failed = |path: &PathBuf, error| Failure::io(anyhow!("cannot write {}: {error}", path.display()));
        // Before the first file is written: a folder with the files of two networks helps nobody.
        for (name, _) in FILES {
            let path = out.join(name);
            if path.symlink_metadata().is_ok() {
                let why = anyhow!("{} is there already: name another folder with --out", path.display());
                return Err(Failure::usage(why));
            }
        }
        fs::create_dir_all(&out).map_err(|error| failed(&out, error))?;
        for (name, text) in FILES {
            let path = out.join(name);
            let written = file::write(&path, Readers::Everybody, Existing::Refuse, text.as_bytes());
            written.map_err(|error: io::Error| failed(&path, error))?;
            print::line(path.display())?;
        }
        print::note(format_args!("next: {} says how to deploy", out.join("README.md").display()));
        Ok(Exit::Success)
    }
}

const EXAMPLE: &str = "\
Example:
  quorate evm network new --out our-network";
