//! Why a claim cannot be taken as known.

use crate::verdict::Reason;

/// Why a claim cannot be taken as known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// It makes no statement, or several. The signatures of several statements are known only as their sum.
    #[error("a known claim makes one statement, but this one makes {0}")]
    Statements(usize),
    /// It does not decode, or no signature makes it valid.
    #[error(transparent)]
    Invalid(#[from] Reason),
}
