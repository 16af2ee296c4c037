//! Why keys have no sum.

use crate::{aggregate::MisuseError, keyset::KeyError};

/// Why encoded keys have no sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SumError {
    /// One of them does not decode.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// There is none, or they add up to the identity.
    #[error(transparent)]
    Misuse(#[from] MisuseError),
}
