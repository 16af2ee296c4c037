//! The file from which a follower goes on after a restart. It appears whole or not at all.

use std::path::Path;

use alloy::primitives::B256;
use quorate_evm::follow::Follower;
use quorate_host::file::{self, Existing, Readers};
use serde::{Deserialize, Serialize};

use super::error::SettlementError;

/// A block, and the settlement after it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cursor {
    /// The form of the file.
    pub(super) version: u32,
    /// The block from which the logs were read.
    pub(super) from_block: u64,
    /// The last block whose logs were read.
    pub(super) block: u64,
    pub(super) hash: B256,
    pub(super) follower: Follower,
}

/// The form that is written and read.
pub(super) const VERSION: u32 = 2;

/// Reads a cursor. `None` if there is no file.
pub(super) fn read(path: &Path) -> Result<Option<Cursor>, SettlementError> {
    let Some(text) = file::read_if_there(path, file::LARGEST_DOCUMENT)? else { return Ok(None) };
    let refused = |why: String, source| SettlementError::Cursor { path: path.to_owned(), why, source };
    let cursor: Cursor =
        serde_json::from_slice(&text).map_err(|error| refused("this is not a cursor".to_owned(), Some(error)))?;
    if cursor.version != VERSION {
        return Err(refused(format!("version {}, expected {VERSION}", cursor.version), None));
    }
    Ok(Some(cursor))
}

/// Writes a cursor, which others may read: all of it is public.
pub(super) fn write(path: &Path, cursor: &Cursor) -> Result<(), SettlementError> {
    let written = serde_json::to_vec(cursor).map_err(std::io::Error::from);
    let written = written.and_then(|bytes| file::write(path, Readers::Everybody, Existing::Replace, &bytes));
    written.map_err(|source| SettlementError::Unwritten { path: path.to_owned(), source })
}
