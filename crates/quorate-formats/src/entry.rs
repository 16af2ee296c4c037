//! What stands at one place of an input: a claim, or something of which no claim can be made.

use thiserror::Error;

use crate::record::{Id, Place, Record};

/// What stands at one place of an input.
pub type Entry = Result<Record, Malformed>;

/// An entry of which no claim can be made. The entries around it are not affected.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{place}: {reason}")]
#[non_exhaustive]
pub struct Malformed {
    /// Where it stands in its file.
    pub place: Place,
    /// What was found, what was expected, and what to do.
    pub reason: String,
    /// The entry's own name, if that much of it can be read.
    pub id: Option<Id>,
    /// Whether the fault is the entry's, or in what it depends on.
    pub fault: EntryFault,
}

/// Where the fault of an entry is that makes no claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryFault {
    /// In the entry.
    Own,
    /// The sync committee that signed it is not known. It may be known and not believed: then that is the cause.
    NoCommittee,
}

impl Malformed {
    /// An entry and what is wrong with it.
    #[must_use]
    pub fn new(place: Place, reason: impl Into<String>) -> Self {
        Self { place, reason: reason.into(), id: None, fault: EntryFault::Own }
    }

    /// The same entry, with its own name.
    #[must_use]
    pub fn with_id(self, id: Option<Id>) -> Self {
        Self { id, ..self }
    }

    /// The same entry, whose committee is not known.
    #[must_use]
    pub(crate) fn of_no_committee(self) -> Self {
        Self { fault: EntryFault::NoCommittee, ..self }
    }
}
