//! Puts the results of all shards together.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use quorate_host::{
    file::{self, Existing, NewFile, Readers, refuse_irregular},
    plain,
};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{
    error::ShardError,
    judge::{ClaimCounts, is_zero},
    manifest::Manifest,
    results::{self, Receipt, Span},
};
use crate::drand;

/// What a run found.
#[derive(Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// How many shards there were. Each was counted once.
    pub shards: u64,
    /// The claims.
    #[serde(flatten)]
    pub counts: ClaimCounts,
    /// Entries that make no claim.
    #[serde(skip_serializing_if = "is_zero")]
    pub malformed: u64,
    /// The claims by their kind, if they are of a chain.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<String, ClaimCounts>,
    /// Signatures of which their block does not say what they sign. They are not claims, and are not counted among them.
    #[serde(skip_serializing_if = "is_zero")]
    pub unverified: u64,
    /// What is not verified although the inputs have it: [`Files::left_out`](crate::Files::left_out).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// The first and the last round of drand, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<(u64, u64)>,
    /// Rounds that are missing, doubled or of another chain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub round_faults: Vec<String>,
    /// Rounds that begin a file and name another signature for the round before them than the file before has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub broken_links: Vec<String>,
    /// The verdicts about the first claims that are invalid, and about entries that make none, as they stand in the results. False claims
    /// that their chain may hold are counted alone.
    pub failures: Vec<Box<RawValue>>,
    /// How many more there are.
    pub failures_omitted: u64,
    /// The bytes of the inputs that were read.
    pub bytes: u64,
    /// The time of processors that all shards took: what the run cost.
    pub core_seconds: f64,
    /// Claims divided by these seconds: what one core did in a second.
    pub claims_per_core_second: f64,
    /// The versions of quorate that made the results, as their receipts say.
    pub versions: BTreeSet<String>,
    /// The backends that did the arithmetic.
    pub backends: BTreeSet<String>,
}

/// Where the verdicts of all shards are, once they are merged.
#[must_use]
pub fn verdicts_path(folder: &Path) -> PathBuf {
    folder.join("verdicts.jsonl")
}

/// Where the report is, once the run is merged.
#[must_use]
pub fn report_path(folder: &Path) -> PathBuf {
    folder.join("report.json")
}

/// Checks that every shard has one result that is whole and of this run, writes their verdicts in order into one file, and a report.
///
/// That every claim was counted once follows from three checks: the shards cover each file once ([`Manifest::read`]); each result
/// states the digest of the manifest and its shard's number, and there is one for each number; and a result is written only after
/// its part of the file was found to have the planned digest and was read to its end.
///
/// # Errors
/// A shard has no result ([`ShardError::NotDone`]) or a damaged one, or a file cannot be read or written. Nothing is written then.
pub fn merge(folder: &Path, manifest: &Manifest) -> Result<Report, ShardError> {
    let missing: Vec<u64> = manifest
        .shards
        .iter()
        .map(|shard| shard.shard)
        .filter(|n| !results::result_path(folder, *n).exists())
        .collect();
    if let Some(first) = missing.first() {
        let shards = manifest.shards.len() as u64;
        return Err(ShardError::NotDone { left: missing.len() as u64, first: *first, shards });
    }
    let left_out = manifest.left_out.clone();
    let mut report = Report { shards: manifest.shards.len() as u64, left_out, ..Report::default() };
    let mut spans = Vec::new();
    let path = verdicts_path(folder);
    // Before hours of reading, and not at their end.
    refuse_irregular(&path)?;
    refuse_irregular(&report_path(folder))?;
    let mut verdicts = BufWriter::new(NewFile::begin(&path, Readers::Everybody).map_err(ShardError::write(&path))?);
    for shard in &manifest.shards {
        let take = |line: &[u8]| {
            verdicts.write_all(line).map_err(ShardError::write(&path))?;
            if is_failure(line) {
                // The digest is known at the end alone, so the line may be damaged.
                let damaged =
                    |_| results::again(&results::result_path(folder, shard.shard), shard.shard, results::CHANGED);
                report.failure(line).map_err(damaged)?;
            }
            Ok(())
        };
        let receipt = results::read(folder, manifest, shard.shard, take)?;
        let absent = ShardError::NotDone { left: 1, first: shard.shard, shards: report.shards };
        let receipt = receipt.ok_or(absent)?;
        let read = receipt.rounds.iter().map(Span::read).collect::<Option<Vec<_>>>();
        let path = results::result_path(folder, shard.shard);
        spans.extend(read.ok_or_else(|| ShardError::unfit(&path, "the rounds of the receipt cannot be read"))?);
        report.add(receipt);
    }
    let joined = drand::join(spans);
    report.rounds = joined.range.map(|range| (range.first, range.last));
    report.round_faults = joined.faults(None);
    report.broken_links = joined.broken.iter().map(ToString::to_string).collect();
    if report.core_seconds > 0.0 {
        report.claims_per_core_second = report.counts.claims as f64 / report.core_seconds;
    }
    let verdicts = verdicts.into_inner().map_err(|error| ShardError::write(&path)(error.into_error()))?;
    verdicts.finish(Existing::Replace).map_err(ShardError::write(&path))?;
    let path = report_path(folder);
    let write = ShardError::write(&path);
    let text = plain::in_json(&serde_json::to_string(&report).map_err(|error| write(error.into()))?) + "\n";
    file::write(&path, Readers::Everybody, Existing::Replace, text.as_bytes()).map_err(write)?;
    results::remove_unfinished(folder)?;
    Ok(report)
}

impl Report {
    fn add(&mut self, receipt: Receipt) {
        self.counts.add(receipt.counts);
        self.malformed = self.malformed.saturating_add(receipt.malformed);
        self.unverified = self.unverified.saturating_add(receipt.unverified);
        self.core_seconds += receipt.core_seconds();
        self.versions.insert(receipt.version);
        self.backends.insert(receipt.backend);
        for (kind, counts) in receipt.kinds {
            self.kinds.entry(kind).or_default().add(counts);
        }
        self.bytes = self.bytes.saturating_add(receipt.bytes);
    }

    fn failure(&mut self, line: &[u8]) -> Result<(), serde_json::Error> {
        if self.failures.len() < FAILURES_KEPT {
            let text = String::from_utf8_lossy(line).trim_end().to_owned();
            self.failures.push(RawValue::from_string(text)?);
        } else {
            self.failures_omitted += 1;
        }
        Ok(())
    }
}

/// Whether a verdict says that its claim is not valid, and not that its chain may hold it. The text stands there as serde writes it; an id
/// or a reason that holds the same text has its quotes escaped.
fn is_failure(line: &[u8]) -> bool {
    let says = |text: &[u8]| line.windows(text.len()).any(|part| part == text);
    says(FALSE) && !says(LEGAL)
}

const FALSE: &[u8] = b"\"valid\":false";
const LEGAL: &[u8] = b"\"legal\":true";
/// Failures that the report lists.
const FAILURES_KEPT: usize = 1000;
