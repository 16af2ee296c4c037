//! How far a run is.

use std::path::Path;

use serde::Serialize;

use super::{
    error::ShardError,
    judge::{ClaimCounts, is_zero},
    manifest::Manifest,
    results,
};

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Status {
    /// How many shards the run has.
    pub shards: u64,
    /// How many of them have a result.
    pub done: u64,
    /// The numbers of the first ones that have none.
    pub left: Vec<u64>,
    /// The claims of the results.
    #[serde(flatten)]
    pub counts: ClaimCounts,
    /// Entries of the results that make no claim.
    #[serde(skip_serializing_if = "is_zero")]
    pub malformed: u64,
    /// The bytes of the inputs that are done.
    pub bytes: u64,
    /// The bytes of all inputs.
    pub of_bytes: u64,
    /// The time of processors that the results took.
    pub core_seconds: f64,
    /// What is not verified although the inputs have it: [`Files::left_out`](crate::Files::left_out).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Results that are not those of this run, and why.
    pub damaged: Vec<String>,
}

/// Counts the results, by their receipts.
///
/// # Errors
/// A file cannot be read. A result that is damaged is counted among the [`damaged`](Status::damaged).
pub fn status(folder: &Path, manifest: &Manifest) -> Result<Status, ShardError> {
    let left_out = manifest.left_out.clone();
    let mut status = Status { shards: manifest.shards.len() as u64, left_out, ..Status::default() };
    for shard in &manifest.shards {
        status.of_bytes += shard.bytes;
        match results::receipt(folder, manifest, shard.shard) {
            Ok(Some(receipt)) => {
                status.done += 1;
                status.counts.add(receipt.counts);
                status.malformed = status.malformed.saturating_add(receipt.malformed);
                status.bytes += shard.bytes;
                status.core_seconds += receipt.core_seconds();
                continue;
            }
            Ok(None) => {}
            Err(ShardError::Unfit { path, reason }) => status.damaged.push(format!("{}: {reason}", path.display())),
            Err(error) => return Err(error),
        }
        if status.left.len() < LISTED {
            status.left.push(shard.shard);
        }
    }
    Ok(status)
}

/// Shards that are listed by number.
const LISTED: usize = 1000;
