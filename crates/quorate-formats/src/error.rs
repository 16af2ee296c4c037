//! Why an input cannot be read, or not any further.

use std::io;

use thiserror::Error;

use crate::format::Format;
use crate::record::Place;

/// The input cannot be read, or not any further.
///
/// The caller knows the file's name and puts it in front.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputError {
    /// The system could not give more bytes.
    #[error("reading failed: {0}")]
    Read(#[from] io::Error),

    /// A whole-document format longer than its limit.
    #[error("the {format} document is longer than {} MiB; split it into several files", .limit >> 20)]
    TooLong {
        /// The format that was read.
        format: Format,
        /// The limit in bytes.
        limit: u64,
    },

    /// A document that stops in the middle.
    #[error("the {format} document ends in the middle, at line {line} column {column}; fetch it again")]
    Truncated {
        /// The format that was read.
        format: Format,
        /// The line at which it ends, from 1.
        line: usize,
        /// The column at which it ends.
        column: usize,
    },

    /// A document that is not JSON, or not UTF-8.
    #[error("this is no {format} document: {reason}")]
    NotJson {
        /// The format that was read.
        format: Format,
        /// The parser's complaint with its line and column.
        reason: String,
    },

    /// Parquet that cannot be read.
    #[cfg(feature = "parquet")]
    #[error(transparent)]
    Parquet(#[from] ParquetFileError),

    /// Rounds without a key to verify them.
    #[error(
        "{place}: no chain is known for this round; name one with --chain NAME (default, quicknet, evmnet, fastnet) or --chain-info FILE"
    )]
    ChainUnknown {
        /// The first such round.
        place: Place,
    },

    /// A chain name that is not built in.
    #[error(
        "no chain {name:?} is built in (default, quicknet, evmnet and fastnet are); give its /info document with --chain-info FILE"
    )]
    ChainName {
        /// The name or hash.
        name: String,
    },

    /// A chain info document that does not hold together.
    #[error("the chain info is not usable: {reason}")]
    ChainInfo {
        /// What is wrong with it.
        reason: String,
    },

    /// The caller's chain is not the document's.
    #[error(
        "{place}: the document's chain has the public key {found}, the chosen chain has {chosen}; one of the two is the wrong chain"
    )]
    ChainMismatch {
        /// The element that states another chain.
        place: Place,
        /// The document's key.
        found: String,
        /// The caller's key.
        chosen: String,
    },

    /// A scheme that drand does not define.
    #[error("unsupported scheme {scheme:?}: {reason}")]
    UnsupportedScheme {
        /// The scheme as written.
        scheme: String,
        /// Why it is not supported.
        reason: &'static str,
    },

    /// A profile that does not tell how drand messages are formed.
    #[error(
        "the suite {suite:?} does not say whether rounds are chained; choose drand-chained, drand-unchained, drand-quicknet, drand-g1-legacy or drand-evmnet, or give the chain's schemeID"
    )]
    SuiteNotDrand {
        /// The suite as given.
        suite: String,
    },

    /// A sync committee file that does not hold together.
    #[error("the sync committee is not usable: {reason}")]
    Committee {
        /// What is wrong with it.
        reason: String,
    },
}

/// A Parquet file that cannot be read, or not any further.
#[cfg(feature = "parquet")]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParquetFileError {
    /// Parquet from a pipe. The reader takes files alone; a caller that has a pipe says so with this variant.
    #[error("Parquet keeps its index at the end of the file, so it cannot come from a pipe; save it and name the file")]
    NeedsFile,

    /// A file without Parquet's marks.
    #[error("this is no Parquet file: {reason}")]
    NotParquet {
        /// What was expected and what stood there.
        reason: String,
    },

    /// Parquet without its end.
    #[error("this Parquet file is cut off: it lacks the closing \"PAR1\"; fetch or write it again")]
    Truncated,

    /// A column that every claim needs.
    #[error("this Parquet file has no column {name}; it has: {found}")]
    MissingColumn {
        /// The column, with its alternative.
        name: &'static str,
        /// The columns that are there.
        found: String,
    },

    /// A column of a type that cannot hold what its name says.
    #[error("the Parquet column \"{name}\" has the type {found}; expected {expected}")]
    ColumnType {
        /// The column.
        name: &'static str,
        /// Its type.
        found: String,
        /// What would do.
        expected: &'static str,
    },

    /// Damaged pages, or a codec that is not built in.
    #[error("reading Parquet failed after row {row}: {reason}")]
    Damaged {
        /// Rows read before.
        row: u64,
        /// The reader's complaint.
        reason: String,
    },
}
