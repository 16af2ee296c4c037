//! The commands of the program, a file for each.

pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod run;
pub(crate) mod status;

use std::path::{Path, PathBuf};

use clap::Args;
use quorate_host::{
    exit::{Failure, Result, print_all},
    flag::variable,
};

use crate::store::{Store, StoreError};

pub(crate) use quorate_host::exit::note;

/// The folder of the record.
#[derive(Clone, Debug, Args)]
pub(crate) struct DataArguments {
    /// Folder with the record of what was signed
    #[arg(long, value_name = "FOLDER", env = variable("QUORATE_SIGNER_DATA"))]
    pub(crate) data: PathBuf,
}

impl DataArguments {
    pub(crate) fn open(&self) -> Result<Store> {
        Ok(Store::open(&self.data)?)
    }

    pub(crate) fn open_to_read(&self) -> Result<Store> {
        Ok(Store::open_to_read(&self.data)?)
    }

    pub(crate) fn open_to_run(&self) -> Result<Store> {
        Ok(Store::open_to_run(&self.data)?)
    }
}

/// The socket.
#[derive(Clone, Debug, Args)]
pub(crate) struct SocketArguments {
    /// Unix socket; its folder must have mode 0700 [default: signer.sock in the folder of the record]
    #[arg(long, value_name = "PATH", env = variable("QUORATE_SIGNER_SOCKET"))]
    socket: Option<PathBuf>,
}

impl SocketArguments {
    pub(crate) fn path(&self, data: &Path) -> PathBuf {
        self.socket.clone().unwrap_or_else(|| data.join("signer.sock"))
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::InUse(_) => Self::refused(error),
            // No start finds another content of a damaged record.
            StoreError::Missing(_)
            | StoreError::Exists(_)
            | StoreError::Linked(_)
            | StoreError::Mode { .. }
            | StoreError::Damaged { .. } => Self::usage(error),
            StoreError::File { .. } | StoreError::Permission { .. } | StoreError::Database { .. } => Self::io(error),
        }
    }
}

/// Prints to standard output.
pub(crate) fn print(text: &str) -> Result<()> {
    print_all(text.as_bytes())
}
