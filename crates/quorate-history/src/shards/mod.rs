//! A run over shards: parts of the inputs that are verified one by one, by any number of processes and machines.
//!
//! ```text
//! plan -> manifest.jsonl -> run (each shard, anywhere) -> results/000000.jsonl … -> merge -> verdicts.jsonl, report.json
//! ```
//!
//! The folder of a run holds all of its state, so a scheduler only says who runs which shard. Every file appears by a rename, whole.
//! A process that is killed at any point leaves a shard without a result, which is run again; what it had not finished is removed when the
//! result is there. What a run covers is fixed by the manifest's
//! digests of the inputs, so a file that changes meanwhile is an error and no verdict.

mod error;
mod hashing;
mod manifest;
mod judge;
mod results;
mod plan;
mod run;
mod status;
mod merge;

pub use error::ShardError;
pub use hashing::Digest;
pub use judge::ClaimCounts;
pub use manifest::{Covers, EraBefore, Manifest, RunTerms, Shard};
pub use merge::{Report, merge, report_path, verdicts_path};
pub use plan::plan;
pub use results::{Receipt, Span, remove_unfinished, result_path};
pub use run::run;
pub use status::{Status, status};
