//! `quorate evm network new`.

use std::{
    fs,
    io::{self, ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use anyhow::anyhow;
use clap::{Args, Subcommand};
use quorate_host::{
    exit::{Exit, Failure, Result},
    file::{Existing, NewFile, Readers, flush_folder_of},
};

use crate::commands::{print, value::path_to_write};

/// Begin a task network: its terms, how to deploy it, what its members do
///
/// A task network is a contract of stake, tasks and rewards (`TaskNetwork`), whose operators run `quorate-node`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true, before_long_help = EXAMPLES)]
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
#[command(before_long_help = EXAMPLES)]
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
        // Before the folder is made: a folder with the files of two networks helps nobody.
        for (name, _) in FILES {
            let path = out.join(name);
            if path.symlink_metadata().is_ok() {
                return Err(is_there(&path));
            }
        }
        fs::create_dir_all(&out).map_err(|error| not_written(&out, &error))?;
        for path in write(&out)? {
            print::line(path.display())?;
        }
        print::note(format_args!("next: {} says how to deploy", out.join("README.md").display()));
        Ok(Exit::Success)
    }
}

/// Writes the files into a folder, all of them or none.
fn write(out: &Path) -> Result<Vec<PathBuf>> {
    let failed = |path: &Path, error: &io::Error| match error.kind() {
        ErrorKind::AlreadyExists => is_there(path),
        _ => not_written(path, error),
    };
    // On a full disk, no file has its name yet.
    let mut whole = Vec::new();
    for (name, text) in FILES {
        let path = out.join(name);
        let begun = NewFile::begin(&path, Readers::Everybody);
        let mut file = begun.map_err(|error| failed(&path, &error))?;
        file.write_all(text.as_bytes()).map_err(|error| failed(&path, &error))?;
        whole.push((path, file));
    }
    let mut placed = Vec::new();
    for (path, file) in whole {
        if let Err(error) = file.place(Existing::Refuse) {
            for path in &placed {
                // It was made here a moment ago. What cannot be removed stays, and the next run names it.
                let _ = fs::remove_file(path);
            }
            return Err(failed(&path, &error));
        }
        placed.push(path);
    }
    flush_folder_of(&out.join("README.md")).map_err(|error| not_written(out, &error))?;
    Ok(placed)
}

fn is_there(path: &Path) -> Failure {
    Failure::usage(anyhow!("{} is there already: name another folder with --out", path.display()))
}

fn not_written(path: &Path, error: &io::Error) -> Failure {
    Failure::io(anyhow!("cannot write {}: {error}", path.display()))
}

const EXAMPLES: &str = "\
Examples:
  quorate evm network new --out our-network";

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that appears after the command has looked stays, and none of the others is left beside it.
    #[test]
    fn all_files_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let readme = folder.path().join("README.md");
        fs::write(&readme, "of another network").unwrap();
        let failure = write(folder.path()).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        assert!(failure.error.to_string().contains("README.md is there already"), "{}", failure.error);
        assert_eq!(fs::read_to_string(&readme).unwrap(), "of another network");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        fs::remove_file(&readme).unwrap();
        assert_eq!(write(folder.path()).unwrap().len(), FILES.len());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), FILES.len());
    }
}
