//! Why a run over shards stops.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use quorate_host::file::FileError;
use thiserror::Error;

/// A run over shards stops. What was written before stays whole.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ShardError {
    /// The operating system returned an error.
    #[error("cannot {action} {}: {error}", path.display())]
    Io {
        /// What was tried: "read", "write", "start a thread that reads".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// A file is not what it must be.
    #[error("{}: {reason}", path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What was found, what was expected, and what to do.
        reason: String,
    },
    /// Where a file is to be put, something stands that is no regular file.
    #[error(transparent)]
    Place(#[from] FileError),
    /// The manifest has no such shard.
    #[error("found shard {shard}, expected one from 0 to {}; `quorate history status` lists them", shards - 1)]
    NoSuchShard {
        /// The number.
        shard: u64,
        /// How many there are.
        shards: u64,
    },
    /// Not every shard has a result.
    #[error(
        "{left} of {shards} shards have no result, the first is shard {first}; run them first (`quorate history run`)"
    )]
    NotDone {
        /// How many lack.
        left: u64,
        /// The first of them.
        first: u64,
        /// How many there are.
        shards: u64,
    },
    /// The verifier is less sound than the run is planned to be.
    #[error(
        "found a verifier of {found} bits of soundness, expected the {expected} of the plan; give it at least those of `manifest.terms`"
    )]
    WeakVerifier {
        /// The bits of the verifier.
        found: u32,
        /// The bits of the plan.
        expected: u32,
    },
    /// The engine could not decide a claim.
    #[error("{}: the engine came to no verdict about a claim; this is a fault of the program or of the machine", .0.display())]
    Undecided(PathBuf),
    /// The caller broke off.
    #[error("interrupted; what is done is kept, and the rest can be run later")]
    Interrupted,
}

impl ShardError {
    /// Whether a file of this shard is at fault, so that another shard may be in order: it cannot be read, or is not what it must be.
    #[must_use]
    pub fn is_of_one_shard(&self) -> bool {
        matches!(self, Self::Unfit { .. } | Self::Io { action: READ, .. })
    }

    /// Whether a file was not there any more when it was written.
    pub(super) fn is_of_a_file_that_is_gone(&self) -> bool {
        matches!(self, Self::Io { action: WRITE, error, .. } if error.kind() == io::ErrorKind::NotFound)
    }

    pub(super) fn read(path: &Path) -> impl Fn(io::Error) -> Self + Copy + use<'_> {
        move |error| Self::Io { action: READ, path: path.to_owned(), error }
    }

    pub(super) fn write(path: &Path) -> impl Fn(io::Error) -> Self + Copy + use<'_> {
        move |error| Self::Io { action: WRITE, path: path.to_owned(), error }
    }

    pub(super) fn thread(path: &Path) -> impl Fn(io::Error) -> Self + Copy + use<'_> {
        move |error| Self::Io { action: "start a thread that reads", path: path.to_owned(), error }
    }

    pub(super) fn unfit(path: &Path, reason: impl fmt::Display) -> Self {
        Self::Unfit { path: path.to_owned(), reason: reason.to_string() }
    }
}

const READ: &str = "read";
const WRITE: &str = "write";
