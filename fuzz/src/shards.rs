//! No text makes the reader of manifests panic, and what it takes covers each file once.

use std::{collections::BTreeSet, path::Path};

use quorate_history::shards::{Covers, Manifest, ShardError};
use sha2::{Digest, Sha256};

pub fn run(text: &[u8]) {
    let _ = Manifest::parse(text, Path::new("manifest.jsonl"));
    if let Ok(manifest) = ended(text) {
        crate::accepted();
        let mut seen = BTreeSet::new();
        for shard in &manifest.shards {
            let from = match shard.covers {
                Covers::Era { begins, .. } => begins,
                Covers::Lines { from, .. } => from,
                Covers::Rows { group, .. } => group as u64,
                _ => 0,
            };
            // A shard of no bytes may begin where the next one does.
            assert!(seen.insert((&shard.file, from)) || shard.bytes == 0);
        }
    }
}

/// The manifest of these lines with an end that fits, so that the fuzzer gets beyond the digest.
pub(crate) fn ended(text: &[u8]) -> Result<Manifest, ShardError> {
    let shards = text.iter().filter(|byte| **byte == b'\n').count().saturating_sub(1);
    let end = format!("{{\"shards\":{shards},\"sha256\":\"{}\"}}\n", const_hex::encode(Sha256::digest(text)));
    Manifest::parse(&[text, end.as_bytes()].concat()[..], Path::new("manifest.jsonl"))
}
