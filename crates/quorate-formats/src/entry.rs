//! What stands at one place of an input: a claim, or something of which no claim can be made.

use quorate::{AnySuite, ClaimBytes};
use thiserror::Error;

use crate::record::{About, Id, Place, Record};

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

    /// How many bytes of memory its reason and its name take.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.reason.capacity() + self.id.as_ref().map_or(0, |id| id.as_json().len())
    }

    /// The same entry, whose committee is not known.
    #[must_use]
    pub(crate) fn of_no_committee(self) -> Self {
        Self { fault: EntryFault::NoCommittee, ..self }
    }
}

impl Record {
    /// The claim that the record makes, under the suite that it names or else under `default`, and what else it says.
    ///
    /// # Errors
    /// The record names no suite and there is no default, or no suite has the name.
    pub fn split(mut self, default: Option<AnySuite>) -> Result<(ClaimBytes, About), Malformed> {
        let about = About {
            id: self.id.take(),
            place: self.place,
            by_default: self.suite.is_none() && self.suite_of_set().is_none(),
            checks: std::mem::take(&mut self.checks),
            rests_on: self.rests_on.take(),
            chain: self.chain.take(),
        };
        match self.into_claim(default) {
            Ok(claim) => Ok((claim, about)),
            Err(error) => Err(Malformed::new(about.place, error.to_string()).with_id(about.id)),
        }
    }
}
