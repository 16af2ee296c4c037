//! Files that appear whole or not at all: the network, and beside it the cursor, from which `follow` goes on.

use std::path::{Path, PathBuf};

use alloy::primitives::B256;
use anyhow::Context as _;
use quorate_evm::follow::Follower;
use quorate_host::{
    exit::{Failure, Result},
    file::{self, Existing, Readers},
};
use serde::{Deserialize, Serialize};

/// A block, and the settlement after it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cursor {
    /// The form of the file.
    pub(crate) version: u32,
    /// The block from which the logs were read.
    pub(crate) from_block: u64,
    /// The last block whose logs were read.
    pub(crate) block: u64,
    pub(crate) hash: B256,
    pub(crate) follower: Follower,
}

/// The form that this program writes and reads.
pub(crate) const VERSION: u32 = 2;

/// `network.json` has its cursor in `network.json.cursor`.
pub(crate) fn path_of(network: &Path) -> PathBuf {
    let mut name = network.as_os_str().to_owned();
    name.push(".cursor");
    name.into()
}

/// Reads a cursor. `None` if there is no file.
pub(crate) fn read(path: &Path) -> Result<Option<Cursor>> {
    let Some(text) = file::read_if_there(path, file::LARGEST_DOCUMENT)? else { return Ok(None) };
    let cursor: Cursor = serde_json::from_slice(&text)
        .with_context(|| format!("{}: this is not a cursor; delete it, and the logs are read anew", path.display()))
        .map_err(Failure::usage)?;
    if cursor.version == VERSION {
        return Ok(Some(cursor));
    }
    let error = anyhow::anyhow!(
        "{}: version {}, expected {VERSION}; delete it, and the logs are read anew",
        path.display(),
        cursor.version
    );
    Err(Failure::usage(error))
}

/// Writes a file that others may read: all of it is public.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let written = file::write(path, Readers::Everybody, Existing::Replace, bytes);
    written.with_context(|| format!("cannot write {}", path.display())).map_err(Failure::io)
}
