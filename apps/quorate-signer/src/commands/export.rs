//! `quorate-signer export`.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use quorate_host::{
    dash::path_to_write,
    exit::{Exit, Failure, Result},
};
use quorate_keystore::secret_file::{self, Existing, SecretFileError};
use quorate_signer_client::record_file::RecordFileError;

use super::{DataArguments, note, print};

/// Write what was signed to a file, for a signer on another machine
///
/// The signer must have stopped, because what it signs later is not in the file. With --retire it never signs again, once the
/// file is on disk.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    data: DataArguments,

    /// File to write; standard output without it. A file that exists is left as it is
    #[arg(long, value_name = "FILE", required_if_eq("retire", "true"), value_parser = path_to_write())]
    out: Option<PathBuf>,

    /// Retire the record: nothing more is signed here
    #[arg(long)]
    retire: bool,
}

impl Arguments {
    pub(crate) fn run(self) -> Result {
        // What retires a record writes to it, so no file is written where that has no room.
        let mut store = if self.retire { self.data.open()? } else { self.data.open_to_read()? };
        let file = store.export()?;
        let text = file.to_json().map_err(|error| match error {
            RecordFileError::TooLarge { .. } => Failure::refused(anyhow!(
                "{}: {error}; nothing was written or retired; stop what signs so much, and wait until entries leave the record",
                self.data.data.display()
            )),
            error => Failure::internal(error),
        })?;
        match &self.out {
            None => print(&text)?,
            Some(path) => {
                let not_retired = |failure: Failure| {
                    failure.context(format!(
                        "{} is written, but the record here is NOT retired and could still sign: import the file nowhere, make room on the \
                         disk, and repeat with another name",
                        path.display()
                    ))
                };
                secret_file::write(path, text.as_bytes(), Existing::Refuse).map_err(|error| match error {
                    SecretFileError::Exists { path } => {
                        Failure::usage(anyhow!("{}: the file exists already; name another", path.display()))
                    }
                    SecretFileError::NotDurable { .. } if self.retire => not_retired(error.into()),
                    SecretFileError::Io { .. } | SecretFileError::NotDurable { .. } => Failure::io(error),
                    _ => Failure::usage(error),
                })?;
                // The command line takes --retire with --out alone.
                if self.retire {
                    store.retire().map_err(|error| not_retired(error.into()))?;
                }
            }
        }
        let retired = if self.retire { "; nothing more is signed here" } else { "" };
        note(format!("{} tasks, floor at epoch {}{retired}", file.tasks.len(), file.floor));
        Ok(Exit::Success)
    }
}
