//! Why an input cannot be read, or not any further.

use std::io;

use quorate_host::{
    exit::{Ends, Exit},
    text::WideText,
};
use thiserror::Error;

use crate::format::{Foreign, Format};
use crate::record::Place;
#[cfg(feature = "arrow")]
use crate::table::ColumnFault;

/// The input cannot be read, or not any further. Nothing follows it.
///
/// A message names the place in the file where there is one. The caller knows the file's name and puts it in front.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputError {
    /// The operating system returned an error.
    #[error("cannot read the input: {0}")]
    Read(io::Error),

    /// The input is not claims, but something else that is often met.
    #[error(transparent)]
    Foreign(#[from] Foreign),

    /// A packed input is damaged or cut off.
    #[error("the input cannot be read further: {reason}")]
    Packed {
        /// What is wrong with it.
        reason: String,
    },

    /// Claims in JSON stand on several lines each.
    #[error(
        "line {line}: the JSON object goes on over several lines (pretty-printed), expected one object a line; write each on one \
         line, as `jq -c .` does"
    )]
    PrettyPrinted {
        /// The line on which the first object begins.
        line: u64,
    },

    /// A document of a format that is read as a whole is longer than the limit.
    #[error("the {} document is longer than {} MiB, the limit; split it into several files", .format.of_document(), .limit >> 20)]
    TooLong {
        /// The format that was read.
        format: Format,
        /// The limit in bytes.
        limit: u64,
    },

    /// A document stops in the middle.
    #[error(
        "the {} document ends in the middle, at line {line}, column {column}; write or fetch it again",
        .format.of_document()
    )]
    Truncated {
        /// The format that was read.
        format: Format,
        /// The line at which it ends, from 1.
        line: usize,
        /// The column at which it ends.
        column: usize,
    },

    /// A document is not JSON, or not UTF-8.
    #[error("expected {} in JSON, but {reason}", .format.in_json())]
    NotJson {
        /// The format that was read.
        format: Format,
        /// What is wrong with it, and where.
        reason: String,
    },

    /// Too many elements of a document are not what its format has.
    #[error("more than {limit} elements of the {format} document are no {format} objects, so it was not read further")]
    Unfit {
        /// The format that was read.
        format: Format,
        /// The limit.
        limit: usize,
    },

    /// A document has more elements than the limit.
    #[error("the {format} document has more than {limit} elements; split it into several files")]
    TooManyElements {
        /// The format that was read.
        format: Format,
        /// The limit.
        limit: usize,
    },

    /// A Parquet file cannot be read.
    #[cfg(feature = "parquet")]
    #[error(transparent)]
    Parquet(#[from] ParquetFileError),

    /// An Arrow stream cannot be read.
    #[cfg(feature = "arrow")]
    #[error(transparent)]
    Arrow(#[from] ArrowStreamError),

    /// Nothing says which key verifies a drand round.
    #[error(
        "{place}: nothing says which chain this round belongs to; put the chain info into its document, before it, or name \
         the chain (on the command line --chain NAME with default, quicknet, evmnet or fastnet, or --chain-info FILE with its info; \
         `quorate history` takes --chain FILE)"
    )]
    ChainUnknown {
        /// The first such round.
        place: Place,
    },

    /// No chain of this name is built in.
    #[error(
        "found the chain name {name:?}, expected default, quicknet, evmnet, fastnet or the chain hash of one of them; for \
         another chain give its /info document (on the command line --chain-info FILE)"
    )]
    ChainName {
        /// The name or hash.
        name: String,
    },

    /// A chain info document contradicts itself, or lacks something.
    #[error("the chain info cannot be used: {reason}")]
    ChainInfo {
        /// What is wrong with it.
        reason: String,
    },

    /// The document belongs to another chain than the one that the caller chose.
    #[error(
        "{place}: the document's chain has the public key {found}, but the chosen chain has {chosen}; choose the chain of the \
         document, or leave the choice out"
    )]
    ChainMismatch {
        /// The element that states another chain.
        place: Place,
        /// The document's key.
        found: String,
        /// The key of the chain that the caller chose.
        chosen: String,
    },

    /// drand defines no scheme of this name.
    #[error("found the scheme {scheme:?}, which drand does not define; expected one of {}", expected.join(", "))]
    UnsupportedScheme {
        /// The scheme as written.
        scheme: String,
        /// The schemes that drand defines.
        expected: &'static [&'static str],
    },

    /// The caller chose a suite that does not tell how drand forms messages.
    #[error(
        "the suite {suite:?} does not say what a round signs; choose drand-chained, drand-unchained, drand-quicknet, \
         drand-g1-legacy or drand-evmnet, or add the chain's schemeID to its info"
    )]
    SuiteNotDrand {
        /// The suite as given.
        suite: String,
    },

    /// A sync committee file cannot be used.
    #[error("the sync committee cannot be used: {reason}")]
    Committee {
        /// What is wrong with it.
        reason: String,
    },
}

impl Ends for InputError {
    fn exit(&self) -> Exit {
        if matches!(self, Self::Read(_)) { Exit::Io } else { Exit::Usage }
    }
}

impl From<io::Error> for InputError {
    fn from(error: io::Error) -> Self {
        let error = match error.downcast::<WideText>() {
            Ok(wide) => return Self::Foreign(Foreign::Wide(wide)),
            Err(error) => error,
        };
        // The operating system does not use this kind: it is that of content that cannot be unpacked.
        if error.kind() == io::ErrorKind::InvalidData && error.raw_os_error().is_none() {
            return Self::Packed { reason: error.to_string() };
        }
        Self::Read(error)
    }
}

/// An Arrow stream that cannot be read, or not any further.
#[cfg(feature = "arrow")]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ArrowStreamError {
    /// A column that every claim needs is missing.
    #[error("the Arrow stream has no column {name}, which every claim needs; it has the columns: {found}")]
    MissingColumn {
        /// The column, with its alternative.
        name: &'static str,
        /// The columns that are there.
        found: String,
    },

    /// A column has a type that cannot hold what its name says.
    #[error("the Arrow column \"{name}\" has the type {found}, expected {expected}; cast the column to such a type")]
    ColumnType {
        /// The column.
        name: &'static str,
        /// Its type.
        found: String,
        /// The types that can hold it.
        expected: &'static str,
    },

    /// Two columns have one name.
    #[error("the Arrow stream has two columns \"{name}\"; keep one of them")]
    RepeatedColumn {
        /// The name.
        name: &'static str,
    },

    /// It is damaged, cut off, compressed, or no Arrow stream.
    #[error("cannot read the Arrow stream beyond row {row}: {reason}")]
    Damaged {
        /// Rows read before.
        row: u64,
        /// The message of the Arrow library.
        reason: String,
    },
}

#[cfg(feature = "arrow")]
impl From<ColumnFault> for ArrowStreamError {
    fn from(fault: ColumnFault) -> Self {
        match fault {
            ColumnFault::Missing { name, found } => Self::MissingColumn { name, found },
            ColumnFault::Type { name, found, expected } => Self::ColumnType { name, found, expected },
            ColumnFault::Repeated { name } => Self::RepeatedColumn { name },
        }
    }
}

/// A batch of Arrow arrays in memory that holds no claims.
#[cfg(feature = "arrow")]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ArrowBatchError {
    /// A column that every claim needs is missing.
    #[error("the table has no column {name}, which every claim needs; it has the columns: {found}")]
    MissingColumn {
        /// The column, with its alternative.
        name: &'static str,
        /// The columns that are there.
        found: String,
    },

    /// A column has a type that cannot hold what its name says.
    #[error("the column \"{name}\" has the type {found}, expected {expected}; cast the column to such a type")]
    ColumnType {
        /// The column.
        name: &'static str,
        /// Its type.
        found: String,
        /// The types that can hold it.
        expected: &'static str,
    },

    /// Two columns have one name.
    #[error("the table has two columns \"{name}\"; keep one of them")]
    RepeatedColumn {
        /// The name.
        name: &'static str,
    },

    /// A column points outside its own memory, or has text that is not UTF-8.
    #[error("the column \"{name}\" is damaged: {reason}; read the table again")]
    Damaged {
        /// The column.
        name: &'static str,
        /// The message of the Arrow library.
        reason: String,
    },

    /// A run of values takes no bytes for each of them, and a row of runs is a claim that takes time.
    #[error(
        "the batch states {stated} rows or elements, but its columns have {bytes} bytes; give the columns of claims without runs"
    )]
    Size {
        /// The most rows of a column, or elements of its lists.
        stated: usize,
        /// Bytes of the columns that are read.
        bytes: usize,
    },
}

#[cfg(feature = "arrow")]
impl From<ColumnFault> for ArrowBatchError {
    fn from(fault: ColumnFault) -> Self {
        match fault {
            ColumnFault::Missing { name, found } => Self::MissingColumn { name, found },
            ColumnFault::Type { name, found, expected } => Self::ColumnType { name, found, expected },
            ColumnFault::Repeated { name } => Self::RepeatedColumn { name },
        }
    }
}

/// A Parquet file that cannot be read, or not any further.
#[cfg(feature = "parquet")]
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParquetFileError {
    /// The input is a pipe or a packed file. The reader takes files alone, and a caller that has a pipe returns this error.
    #[error(
        "Parquet keeps its index at the end of the file, so it cannot be read from a pipe or from a packed file; save or unpack \
         the input to a file and name that file"
    )]
    NeedsFile,

    /// The file is not Parquet.
    #[error("expected a Parquet file, but {reason}")]
    NotParquet {
        /// What stands there in place of Parquet.
        reason: String,
    },

    /// The end of the file is missing.
    #[error("the Parquet file is cut off: it does not end with \"PAR1\"; write or fetch it again")]
    Truncated,

    /// A column that every claim needs is missing.
    #[error("the Parquet file has no column {name}, which every claim needs; it has the columns: {found}")]
    MissingColumn {
        /// The column, with its alternative.
        name: &'static str,
        /// The columns that are there.
        found: String,
    },

    /// A column has a type that cannot hold what its name says.
    #[error("the Parquet column \"{name}\" has the type {found}, expected {expected}; cast the column to such a type")]
    ColumnType {
        /// The column.
        name: &'static str,
        /// Its type.
        found: String,
        /// The types that can hold it.
        expected: &'static str,
    },

    /// Two columns have one name.
    #[error("the Parquet file has two columns \"{name}\"; keep one of them")]
    RepeatedColumn {
        /// The name.
        name: &'static str,
    },

    /// Pages are damaged, or compressed with a codec that is not built in.
    #[error("cannot read the Parquet file beyond row {row}: {reason}")]
    Damaged {
        /// Rows read before.
        row: u64,
        /// The message of the Parquet library.
        reason: String,
    },
}
