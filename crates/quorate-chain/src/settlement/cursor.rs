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

/// The most bytes of a file that is written and read. Whoever posts to a settlement chooses how long its postings are.
pub(super) const MOST_BYTES: u64 = file::LARGEST_DOCUMENT;

/// Reads a cursor. `None` if there is no file.
pub(super) fn read(path: &Path) -> Result<Option<Cursor>, SettlementError> {
    let Some(text) = file::read_if_there(path, MOST_BYTES)? else { return Ok(None) };
    let refused = |why: String, source| SettlementError::Cursor { path: path.to_owned(), why, source };
    let cursor: Cursor =
        serde_json::from_slice(&text).map_err(|error| refused("this is not a cursor".to_owned(), Some(error)))?;
    if cursor.version != VERSION {
        return Err(refused(format!("version {}, expected {VERSION}", cursor.version), None));
    }
    cursor.follower.check().map_err(|error| refused(format!("this is not a cursor: {error}"), None))?;
    Ok(Some(cursor))
}

/// Writes a cursor, which others may read: all of it is public. `false` if it is too long to be read again: then the file stays as it is.
pub(super) fn write(path: &Path, cursor: &Cursor) -> Result<bool, SettlementError> {
    let written = bytes(cursor).map_err(std::io::Error::from).and_then(|bytes| {
        let Some(bytes) = bytes else { return Ok(false) };
        file::write(path, Readers::Everybody, Existing::Replace, &bytes).map(|()| true)
    });
    written.map_err(|source| SettlementError::Unwritten { path: path.to_owned(), source })
}

/// A cursor as it is written; `None` if it is too long.
fn bytes(cursor: &Cursor) -> serde_json::Result<Option<Vec<u8>>> {
    let bytes = serde_json::to_vec(cursor)?;
    Ok((bytes.len() as u64 <= MOST_BYTES).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use alloy::primitives::{Address, Bytes, U256};
    use quorate_evm::{
        follow::{Deployment, SettlementEvent},
        posting::{Moment, PostedResults},
    };
    use serde_json::json;

    use super::*;

    /// Otherwise the next start would fail.
    #[test]
    fn what_is_too_long_to_be_read_is_not_written() {
        let (chain_id, contract) = (1, Address::repeat_byte(1));
        let deployment = Deployment { chain_id, contract, pinned_slots: 1, changes_a_store: 5, digest_hash: None };
        let mut follower = Follower::new(deployment);
        let posting = PostedResults {
            head: U256::ZERO,
            deadline: 0,
            results: vec![B256::ZERO],
            evidence: Bytes::new(),
            poster: Address::ZERO,
            when: Moment::default(),
            slot: 0,
        };
        let posted = SettlementEvent::Posted { head: U256::ZERO, newest: B256::ZERO, posting: posting.into() };
        follower.apply(&[posted], &[]).unwrap();
        let cursor = Cursor { version: VERSION, from_block: 0, block: 9, hash: B256::ZERO, follower };
        assert!(bytes(&cursor).unwrap().is_some());
        let mut long = serde_json::to_value(&cursor).unwrap();
        let evidence = format!("0x{}", "00".repeat(MOST_BYTES as usize / 2));
        long["follower"]["postings"]["0"]["posting"]["evidence"] = json!(evidence);
        assert!(bytes(&serde_json::from_value(long).unwrap()).unwrap().is_none());
    }
}
