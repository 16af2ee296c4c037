//! Ethereum light-client objects, in which the 512 members of a sync committee sign the previous block.
//!
//! The reader accepts the JSON of the Beacon API, one object or several in a document: bootstraps, updates, finality updates
//! and optimistic updates, with or without their `{"version", "data"}` envelopes. It also accepts the same objects in SSZ, from
//! Altair to Fulu: one object alone, or several as `/eth/v1/beacon/light_client/updates` sends them. An update
//! does not contain the keys that signed it. They come from a bootstrap, from the next committee of another update, or from a
//! committee file that the caller trusts ([`SyncCommittees::add_file`]); one among the documents is refused. So the caller reads all documents of a run first, then calls [`SyncCommittees::learn`] with them, and then
//! [`Document::records`], which makes one claim of each update.
//!
//! This module does not follow a chain of updates from a checkpoint. It makes each update a claim that its committee signed
//! it, and says which updates prove the committee's keys ([`Record::rests_on`](crate::Record::rests_on)).

mod execution;
mod object;
mod binary;
mod network;
mod check;
mod document;
mod claims;
mod committees;

pub use self::check::{MIN_PARTICIPANTS, TRUSTED_ROOT, TWO_THIRDS};
pub use self::committees::{Lesson, SyncCommittees, Teaching};
pub use self::document::Document;
pub use self::network::{BeaconNetwork, Overrides, UnknownNetwork};
pub use self::object::{COMMITTEE_SIZE, SyncCommittee};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod execution_tests;
