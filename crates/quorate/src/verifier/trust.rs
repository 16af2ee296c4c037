//! Why a claim cannot be taken as known.

use crate::{suite::AnySuite, verdict::Reason};

/// Why a claim cannot be taken as known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// It makes no statement, or several. The signatures of several statements are known only as their sum.
    #[error("a known claim makes one statement, but this one makes {0}")]
    Statements(usize),
    /// It does not decode.
    #[error(transparent)]
    Invalid(#[from] Reason),
    /// Claims of this suite are verified one by one, so nothing is subtracted from them.
    #[error("nothing is subtracted from claims of the suite {0}: each is verified by itself")]
    NotSubtracted(AnySuite),
}
