//! The result of a shard, which may come from another machine. No bytes make its readers panic, and what is merged has each claim counted
//! as one of three.

use std::{fs, sync::LazyLock};

use quorate_history::shards::{ClaimCounts, Manifest, merge, result_path, status};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// A run of one shard that keeps the verdicts on claims that are not valid.
static MANIFEST: LazyLock<Manifest> = LazyLock::new(|| {
    let zeros = "00".repeat(32);
    let text = format!(
        "{{\"format\":\"quorate-shards\",\"version\":1,\"soundness\":64,\"verdicts\":\"invalid\"}}\n\
         {{\"shard\":0,\"file\":\"/rounds.json\",\"bytes\":10,\"sha256\":\"{zeros}\",\"covers\":\"rounds\"}}\n"
    );
    crate::shards::ended(text.as_bytes()).expect("a manifest")
});

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(result_path(folder.path(), 0).parent().expect("the results")).expect("a folder");
    folder
});

pub fn run(bytes: &[u8]) {
    check(bytes);
    if let Some(result) = fitting(bytes) {
        check(&result);
    }
}

fn check(result: &[u8]) {
    let folder = FOLDER.path();
    fs::write(result_path(folder, 0), result).expect("it is written");
    let _ = status(folder, &MANIFEST).expect("it can be read");
    if let Ok(report) = merge(folder, &MANIFEST) {
        crate::accepted();
        let ClaimCounts { claims, valid, invalid, legal } = report.counts;
        assert_eq!(valid + invalid + legal, claims);
    }
}

/// The same with a receipt of this run and of its lines, so that the fuzzer gets beyond the digests.
fn fitting(result: &[u8]) -> Option<Vec<u8>> {
    let text = result.strip_suffix(b"\n").unwrap_or(result);
    let (lines, last) = text.split_at(text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1));
    let mut last: Value = serde_json::from_slice(last).ok()?;
    // The digest of a receipt that is changed here.
    last.as_object_mut()?.remove("sha256");
    let receipt = last.get_mut("receipt")?.as_object_mut()?;
    receipt.insert("manifest".to_owned(), MANIFEST.digest.to_string().into());
    receipt.insert("shard".to_owned(), 0.into());
    receipt.insert("lines".to_owned(), lines.iter().filter(|byte| **byte == b'\n').count().into());
    receipt.insert("sha256".to_owned(), const_hex::encode(Sha256::digest(lines)).into());
    Some([lines, last.to_string().as_bytes(), b"\n"].concat())
}
