//! The sync committees that are known, and who vouches for each.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;
use std::sync::Arc;

use super::check;
use super::document::Document;
use super::network::BeaconNetwork;
use super::object::{Bootstrap, Committee, CommitteeFile, Object, Update};
use super::ssz::Root;
use crate::error::InputError;
use crate::record::{Check, CheckResult, Origin};

/// Sync committees by period.
///
/// A committee file and a bootstrap are taken at the caller's word: compare a bootstrap's block root with a checkpoint you
/// trust. A committee from an update is only as good as that update's signature, so the records that use it say whose it is
/// ([`Record::rests_on`](crate::Record::rests_on)). Such a chain always ends at a committee taken at the caller's
/// word: an update of period p teaches period p + 1, and only where the committee of p is known.
#[derive(Clone, Debug, Default)]
pub struct Committees {
    by_period: BTreeMap<u64, Known>,
}

impl Committees {
    /// Adds a committee file: `{"period": …, "pubkeys": [512 keys], "network"?: …, "aggregate_pubkey"?: …}`.
    ///
    /// A period given here stands in for one that the file lacks. Call this before [`learn`](Self::learn): the first word on a
    /// period holds.
    ///
    /// # Errors
    /// When it is no such file, states another network or period, or contradicts a committee that is known.
    pub fn add_file(
        &mut self,
        text: &str,
        name: &str,
        period: Option<u64>,
        network: &BeaconNetwork,
    ) -> Result<u64, InputError> {
        let unusable = |reason: String| InputError::Committee { reason };
        let Object::Committee(file) = Object::from_json(text.trim(), None).map_err(unusable)? else {
            return Err(unusable("expected \"period\" and \"pubkeys\"; give light-client objects as input".to_owned()));
        };
        if let Some(stated) = file.network.filter(|stated| *stated != network.name) {
            return Err(unusable(format!("it is of the network {stated:?}, not {:?}", network.name)));
        }
        let period = match (file.period, period) {
            (Some(stated), Some(given)) if stated != given => {
                return Err(unusable(format!("it is of period {stated}, not {given}")));
            }
            (Some(period), _) | (None, Some(period)) => period,
            (None, None) => return Err(unusable("it does not say its period; add \"period\": N".to_owned())),
        };
        match self.insert(period, Known::told(file.committee, name.to_owned())) {
            Teaching::Conflict => Err(unusable(format!("another committee of period {period} is known already"))),
            _ => Ok(period),
        }
    }

    /// Learns from all documents of a run: first their bootstraps and committees, then the updates' next committees in the
    /// order of their periods.
    ///
    /// What does not prove against its header is refused.
    pub fn learn(&mut self, documents: &[Document], network: &BeaconNetwork) -> Vec<Lesson> {
        let mut lessons = Vec::new();
        let mut updates = Vec::new();
        for (origin, object) in objects(documents) {
            match object {
                Object::Bootstrap(bootstrap) => lessons.push(self.learn_bootstrap(bootstrap, origin, network)),
                Object::Committee(file) => lessons.extend(self.learn_file(file, origin, network)),
                Object::Update(update) => updates.push((origin, update)),
            }
        }
        updates.sort_by_key(|(_, update)| BeaconNetwork::period(update.attested.beacon.slot));
        lessons.extend(updates.into_iter().filter_map(|(origin, update)| self.learn_update(update, origin, network)));
        lessons
    }

    /// The committee of a period.
    #[must_use]
    pub fn committee(&self, period: u64) -> Option<&Committee> {
        self.by_period.get(&period).map(|known| known.committee.as_ref())
    }

    /// The periods whose committees are known, in rising order.
    pub fn periods(&self) -> impl Iterator<Item = u64> {
        self.by_period.keys().copied()
    }

    pub(super) fn known(&self, period: u64) -> Option<&Known> {
        self.by_period.get(&period)
    }

    fn learn_bootstrap(&mut self, bootstrap: &Bootstrap, origin: Origin, network: &BeaconNetwork) -> Lesson {
        let header = &bootstrap.header;
        let checks = vec![
            check::current_sync_committee_branch(bootstrap, network),
            check::execution_branch("execution_branch", header, bootstrap.fork, network),
        ];
        let period = BeaconNetwork::period(header.beacon.slot);
        // Not only the committee: a header with a false payload is not one to start from.
        let refused = checks[0].result != CheckResult::Passed || checks[1].result == CheckResult::Failed;
        let teaching = if refused {
            Teaching::Refused
        } else {
            self.insert(period, Known::told(bootstrap.committee.clone(), origin.to_string()))
        };
        Lesson { origin, period, block_root: Some(header.beacon.root()), checks, teaching }
    }

    /// A committee file among the inputs; none for one without a period, which `records` reports.
    fn learn_file(&mut self, file: &CommitteeFile, origin: Origin, network: &BeaconNetwork) -> Option<Lesson> {
        let period = file.period?;
        let stated = file.network.as_ref();
        let check = stated.map(|name| {
            Check::decided(
                "network",
                CheckResult::of(*name == network.name),
                format!("the file is of {name}, the run of {}", network.name),
            )
        });
        let refused = check.as_ref().is_some_and(|check| check.result == CheckResult::Failed);
        let teaching = if refused {
            Teaching::Refused
        } else {
            self.insert(period, Known::told(file.committee.clone(), origin.to_string()))
        };
        Some(Lesson { origin, period, block_root: None, checks: check.into_iter().collect(), teaching })
    }

    fn learn_update(&mut self, update: &Update, origin: Origin, network: &BeaconNetwork) -> Option<Lesson> {
        let (committee, _) = update.next_committee.as_ref()?;
        let check = check::next_sync_committee_branch(update, network);
        let attested = BeaconNetwork::period(update.attested.beacon.slot);
        let period = attested + 1;
        // A signature of a later period could be by the very committee that the update names.
        let vouched =
            BeaconNetwork::period(update.signature_slot) == attested && self.by_period.contains_key(&attested);
        let teaching = match check.result {
            CheckResult::NotPossible => return None,
            CheckResult::Failed => Teaching::Refused,
            CheckResult::Passed if !vouched => Teaching::NotVouchedFor,
            CheckResult::Passed => {
                let from = format!("the next committee of {origin}");
                let rests_on = Some(origin.clone());
                self.insert(period, Known { committee: Arc::new(committee.clone()), from, rests_on })
            }
        };
        Some(Lesson { origin, period, block_root: None, checks: vec![check], teaching })
    }

    /// The first word on a period holds: a later one either agrees with it or is a conflict.
    fn insert(&mut self, period: u64, known: Known) -> Teaching {
        match self.by_period.entry(period) {
            Slot::Vacant(slot) => {
                slot.insert(known);
                Teaching::Learned
            }
            Slot::Occupied(slot) if slot.get().committee.public_keys == known.committee.public_keys => {
                Teaching::KnownAlready
            }
            Slot::Occupied(_) => Teaching::Conflict,
        }
    }
}

/// What a document had to say about the committee of a period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lesson {
    /// The object that said it.
    pub origin: Origin,
    /// The period in question.
    pub period: u64,
    /// For a bootstrap: the root of its block, to compare with a checkpoint.
    pub block_root: Option<Root>,
    /// What was checked before it was believed.
    pub checks: Vec<Check>,
    /// What came of it.
    pub teaching: Teaching,
}

/// What came of a lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Teaching {
    /// The committee was new.
    Learned,
    /// It agrees with what was known.
    KnownAlready,
    /// A check failed, so it was not believed.
    Refused,
    /// Nothing that is known could have signed it: the committee of its own period is not known, or its signature is of
    /// another period than its attested block. Not believed, though nothing is wrong with it.
    NotVouchedFor,
    /// It contradicts what was known, so it was not believed.
    Conflict,
}

/// A committee and who vouches for it.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub committee: Arc<Committee>,
    pub from: String,
    /// The update whose signature vouches for it; none when the caller does.
    pub rests_on: Option<Origin>,
}

impl Known {
    fn told(committee: Committee, from: String) -> Self {
        Self { committee: Arc::new(committee), from, rests_on: None }
    }
}

fn objects(documents: &[Document]) -> impl Iterator<Item = (Origin, &Object)> {
    documents.iter().flat_map(|document| {
        document.objects.iter().filter_map(|(place, object)| {
            let origin = Origin { document: document.name.clone(), place: *place };
            Some((origin, object.as_ref().ok()?))
        })
    })
}
