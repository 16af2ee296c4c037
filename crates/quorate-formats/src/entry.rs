//! What stands at one place of an input: a claim, or something of which no claim can be made.

use thiserror::Error;

use crate::record::{Place, Record};

/// What stands at one place of an input.
pub type Entry = Result<Record, Malformed>;

/// An entry of which no claim can be made. The entries around it are not affected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {reason}")]
pub struct Malformed {
    /// Where it stands in its file.
    pub place: Place,
    /// What was found, what was expected, and what to do.
    pub reason: String,
}

impl Malformed {
    /// An entry and what is wrong with it.
    #[must_use]
    pub fn new(place: Place, reason: impl Into<String>) -> Self {
        Self { place, reason: reason.into() }
    }
}
