//! Why an era cannot be read, or not any further.

use std::{fmt, io};

use thiserror::Error;

/// An era cannot be read, or not any further. The caller knows the file's name and puts it in front.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EraError {
    /// The operating system returned an error.
    #[error("cannot read the file: {0}")]
    Read(io::Error),
    /// The file is not an era file, or its records do not fit together.
    #[error("offset {offset}: {reason}")]
    Container {
        /// Where in the file, in bytes.
        offset: u64,
        /// What was found and what was expected.
        reason: String,
    },
    /// A record does not unpack, or is not the object that it should be.
    #[error("offset {offset}, {record}: {reason}")]
    Record {
        /// Where the record begins, in bytes from the beginning of the file.
        offset: u64,
        /// Which record.
        record: RecordName,
        /// What was found and what was expected.
        reason: String,
    },
    /// The state before the era is not at hand.
    #[error(
        "era {era} begins with the state at the end of era {}, and no input that can be read has it; give the file of that era too", era - 1
    )]
    NoStateBefore {
        /// The era.
        era: u64,
    },
}

impl EraError {
    pub(crate) fn container(offset: u64, reason: impl Into<String>) -> Self {
        Self::Container { offset, reason: reason.into() }
    }

    pub(crate) fn record(offset: u64, record: RecordName, reason: impl Into<String>) -> Self {
        Self::Record { offset, record, reason: reason.into() }
    }

    /// The error of a reader of a record's unpacked bytes: damaged data, or the operating system's.
    pub(crate) fn unpacking(offset: u64, record: RecordName, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::InvalidData => Self::record(offset, record, error.to_string()),
            io::ErrorKind::UnexpectedEof => Self::record(offset, record, "its unpacked bytes end too early"),
            _ => Self::Read(error),
        }
    }
}

/// A record, as messages name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordName {
    /// The state at the end of an era.
    State,
    /// The block of a slot.
    Block(u64),
}

impl fmt::Display for RecordName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::State => f.write_str("the state"),
            Self::Block(slot) => write!(f, "the block of slot {slot}"),
        }
    }
}
