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
mod committees;
mod network;
mod object;
mod ssz;

use std::io::BufRead;

use serde_json::value::RawValue;

pub use self::committees::{Committees, Lesson, Teaching};
pub use self::network::{Network, Overrides, UnknownNetwork};
pub use self::object::Committee;
use self::object::{CommitteeFile, Envelope, Object, Update};
use super::document::elements;
use super::error::{InputError, Malformed};
use super::record::{Check, Id, Messages, Outcome, Place, Record};
use super::{Entry, Format};

/// Keys of a sync committee in the mainnet preset.
pub const COMMITTEE_SIZE: usize = 512;

/// `MIN_SYNC_COMMITTEE_PARTICIPANTS`: an update with fewer is not valid.
pub const MIN_PARTICIPANTS: usize = 1;

/// A document of light-client objects, read but not judged.
#[derive(Debug)]
pub struct Document {
    name: String,
    objects: Vec<(Place, Result<Object, String>)>,
}

impl Document {
    /// Reads a document; the name is for messages about what it taught.
    ///
    /// # Errors
    /// When it is no JSON or longer than [`DOCUMENT_LIMIT`](super::DOCUMENT_LIMIT). An object that is none of the accepted
    /// ones is not an error here: it comes out of [`records`](Self::records) as malformed.
    pub fn read(reader: impl BufRead, name: &str) -> Result<Self, InputError> {
        let mut document = Self { name: name.to_owned(), objects: Vec::new() };
        for element in elements(reader, Format::LightClient)? {
            document.open(&element);
        }
        Ok(document)
    }

    /// The claims of this document: one for each update, in order, and an entry for each object that is none.
    ///
    /// Bootstraps and committees make no claim. `at_least` is how many of the 512 keys must have taken part; the
    /// specification asks for [`MIN_PARTICIPANTS`].
    pub fn records(&self, committees: &Committees, network: &Network, at_least: usize) -> impl Iterator<Item = Entry> {
        self.objects.iter().filter_map(move |(place, object)| {
            let claim = match object {
                Ok(Object::Update(update)) => claim(update, *place, committees, network, at_least),
                Ok(Object::Committee(CommitteeFile { period: None, .. })) => {
                    Err("a committee that does not say its period; add \"period\": N".to_owned())
                }
                Ok(Object::Bootstrap(_) | Object::Committee(_)) => return None,
                Err(reason) => Err(reason.clone()),
            };
            Some(claim.map_err(|reason| Malformed::new(*place, reason)))
        })
    }

    /// Takes an element out of its envelope, which may hold one object or an array of them.
    fn open(&mut self, element: &RawValue) {
        let envelope = match Envelope::from_json(element.get()) {
            Ok(envelope) => envelope,
            Err(reason) => return self.push(Err(reason)),
        };
        let fork = envelope.fork();
        match envelope.data {
            None => self.push(Object::from_json(element.get(), fork)),
            Some(data) if data.get().starts_with('[') => match serde_json::from_str::<Vec<&RawValue>>(data.get()) {
                Ok(list) => list.into_iter().for_each(|item| self.push(Object::from_json(item.get(), fork))),
                Err(error) => self.push(Err(error.to_string())),
            },
            Some(data) => self.push(Object::from_json(data.get(), fork)),
        }
    }

    fn push(&mut self, object: Result<Object, String>) {
        self.objects.push((Place::Element(self.objects.len() as u64), object));
    }
}

fn claim(
    update: &Update,
    place: Place,
    committees: &Committees,
    network: &Network,
    at_least: usize,
) -> Result<Record, String> {
    let period = Network::period(update.signature_slot);
    let known = committees.known(period).ok_or_else(|| {
        format!(
            "the sync committee of period {period} is not known; add a bootstrap of that period, an update of period {}, or --committee FILE",
            period.saturating_sub(1)
        )
    })?;
    let keys = &known.committee.public_keys;
    let public_keys: Vec<_> = keys.iter().zip(bits(&update.bits)).filter(|(_, took_part)| *took_part).collect();
    let mut checks = vec![
        Check::decided("committee", Outcome::Passed, format!("period {period}, from {}", known.from)),
        check::participants(public_keys.len(), at_least),
        check::slot_order(update),
        check::finality_branch(update, network),
        check::next_sync_committee_branch(update, network),
    ];
    checks.extend(next_committee_agrees(update, committees));
    checks.push(check::execution_branch("attested_execution_branch", &update.attested, update.fork, network));
    if let Some((finalized, _)) = update.finalized.as_ref().filter(|(header, _)| header.beacon.slot > 0) {
        checks.push(check::execution_branch("finalized_execution_branch", finalized, update.fork, network));
    }
    let signing_root = network.signing_root(&update.attested.beacon.root(), update.signature_slot);
    Ok(Record {
        id: Some(Id::number(update.signature_slot)),
        suite: Some("eth2".to_owned()),
        public_keys: public_keys.into_iter().map(|(key, _)| key.to_vec()).collect(),
        messages: Messages::Shared(signing_root.to_vec()),
        signature: update.signature.clone(),
        source: None,
        place,
        checks,
        rests_on: known.rests_on.clone(),
    })
}

/// A proven next committee must be the one that is known for its period: two would mean a forged state or a fork.
fn next_committee_agrees(update: &Update, committees: &Committees) -> Option<Check> {
    let (committee, branch) = update.next_committee.as_ref()?;
    if branch.iter().all(|node| *node == [0; 32]) {
        return None;
    }
    let period = Network::period(update.attested.beacon.slot) + 1;
    let known = committees.known(period)?;
    let agrees = known.committee.public_keys == committee.public_keys;
    Some(Check::decided(
        "next_sync_committee_agrees",
        Outcome::of(agrees),
        format!("period {period}, from {}", known.from),
    ))
}

/// The bits of an SSZ bitvector: the lowest bit of a byte comes first.
fn bits(bytes: &[u8]) -> impl Iterator<Item = bool> {
    bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1))
}

#[cfg(test)]
mod tests;
