//! Why keys have no sum.

use crate::{aggregate::MisuseError, parse::ParseError};

/// Why encoded keys have no sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SumError {
    /// One of them does not decode.
    #[error("{error} (number {index}, counted from 0)")]
    Key {
        /// Which key, counted from 0.
        index: usize,
        /// What is wrong with it.
        error: ParseError,
    },
    /// There is none, or they add up to the identity.
    #[error(transparent)]
    Misuse(#[from] MisuseError),
}
