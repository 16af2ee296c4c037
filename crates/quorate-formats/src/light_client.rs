//! Ethereum light-client objects: a sync committee of 512 signs the block before its own.
//!
//! Accepted is the JSON of the Beacon API, one object or several in a document: bootstraps, updates, finality updates and
//! optimistic updates, with or without their `{"version", "data"}` envelopes; and committee files. An update does not carry
//! the keys that signed it: they come from a bootstrap, from another update's next committee, or from a committee file. So
//! all documents of a run are read first, then [`Committees::learn`] goes over them, and then [`Document::records`] makes
//! one claim of each update.
//!
//! What this does not do: follow a chain of updates from a checkpoint. It says of each update whether it is what its
//! committee signed, and what that committee's keys rest on.

mod check;
mod claims;
mod committees;
mod document;
mod network;
mod object;
mod ssz;

pub use self::check::MIN_PARTICIPANTS;
pub use self::committees::{Committees, Lesson, Teaching};
pub use self::document::Document;
pub use self::network::{BeaconNetwork, Overrides, UnknownNetwork};
pub use self::object::{COMMITTEE_SIZE, Committee};

#[cfg(test)]
mod tests;
