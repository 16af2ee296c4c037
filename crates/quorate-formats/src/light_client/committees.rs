//! The sync committees that are known, and what proves each.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Slot;
use std::sync::Arc;

use super::check;
use super::document::Document;
use super::network::BeaconNetwork;
use super::object::{Bootstrap, CommitteeFile, Object, SyncCommittee, Update};
use crate::error::InputError;
use crate::record::{Check, CheckResult, Origin};
use crate::ssz::Root;

/// Sync committees by period.
///
/// A committee file and a bootstrap are trusted because the caller gave them: compare a bootstrap's block root with a
/// checkpoint that you trust. A committee from an update is proven by that update's signature alone, so the records that use
/// it name the update ([`Record::rests_on`](crate::Record::rests_on)). Such a chain of proofs always ends at a committee that
/// the caller gave: an update of period p teaches the committee of p + 1, and only if the committee of p is known.
#[derive(Clone, Debug, Default)]
pub struct SyncCommittees {
    by_period: BTreeMap<u64, Known>,
    trusted_root: Option<Root>,
}

impl SyncCommittees {
    /// No committees, and the only block that they may start from: a bootstrap of another block is refused, and so is a committee
    /// among the documents. Committees that the caller adds by [`add_file`](Self::add_file) are still trusted.
    #[must_use]
    pub fn trusting(block_root: Root) -> Self {
        Self { trusted_root: Some(block_root), ..Self::default() }
    }

    /// Adds a committee file: `{"period": …, "pubkeys": [512 keys], "network"?: …, "aggregate_pubkey"?: …}`.
    ///
    /// `period` is for a file that does not state its period. Call this before [`learn`](Self::learn): the first committee
    /// given for a period stays.
    ///
    /// # Errors
    /// The text is not such a file, states another network or period, or contradicts a committee that is known.
    pub fn add_file(
        &mut self,
        text: &str,
        name: &str,
        period: Option<u64>,
        network: &BeaconNetwork,
    ) -> Result<u64, InputError> {
        let unusable = |reason: String| InputError::Committee { reason };
        let Object::Committee(file) = Object::from_json(text.trim(), None).map_err(unusable)? else {
            return Err(unusable(
                "found a bootstrap or an update, expected a committee with \"period\" and \"pubkeys\"; give bootstraps and \
                 updates as input"
                    .to_owned(),
            ));
        };
        if let Some(stated) = file.network.filter(|stated| *stated != network.name) {
            return Err(unusable(format!("found the network {stated:?}, expected {:?}", network.name)));
        }
        let period = match (file.period, period) {
            (Some(stated), Some(given)) if stated != given => {
                return Err(unusable(format!("found the period {stated}, expected {given}")));
            }
            (Some(period), _) | (None, Some(period)) => period,
            (None, None) => return Err(unusable("\"period\" is missing; add \"period\": N".to_owned())),
        };
        match self.insert(period, Known::given(file.committee, name.to_owned())) {
            Teaching::Conflict => {
                Err(unusable(format!("a different committee of period {period} is known already; give one of the two")))
            }
            _ => Ok(period),
        }
    }

    /// Learns the committees of all documents of a run: first those of bootstraps and committee files, then the next committees
    /// of the updates, in the order of their periods.
    ///
    /// A committee that its branch does not prove against the header is refused.
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
    pub fn committee(&self, period: u64) -> Option<&SyncCommittee> {
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
        let block_root = header.beacon.root();
        let mut checks = vec![
            check::current_sync_committee_branch(bootstrap, network),
            check::execution_branch("execution_branch", header, bootstrap.fork, network),
        ];
        checks.extend(check::block_roots_branch(bootstrap.block_roots.as_ref(), Some(header), bootstrap.fork, network));
        checks.extend(check::validators_root(bootstrap, network));
        checks.extend(self.trusted_root.map(|trusted| check::trusted_root(&block_root, &trusted)));
        let period = BeaconNetwork::period(header.beacon.slot);
        // A bootstrap whose header has a false execution payload is refused too, although its committee is proven.
        let refused = checks[0].result != CheckResult::Passed || checks.iter().any(Check::failed);
        let teaching = if refused {
            Teaching::Refused
        } else {
            self.insert(period, Known::given(bootstrap.committee.clone(), origin.to_string()))
        };
        Lesson { origin, period, block_root: Some(block_root), checks, teaching }
    }

    /// Learns from a committee file among the inputs. Returns none for a file without a period, which `records` reports.
    fn learn_file(&mut self, file: &CommitteeFile, origin: Origin, network: &BeaconNetwork) -> Option<Lesson> {
        let period = file.period?;
        let stated = file.network.as_ref();
        let of_network = stated.map(|name| {
            Check::decided(
                "network",
                CheckResult::of(*name == network.name),
                format!("expected the network {}, found {name:?}", network.name),
            )
        });
        // Whoever wrote the inputs wrote this committee, too.
        let of_caller = self.trusted_root.map(|_| {
            let reason = "expected a bootstrap of the trusted block, found a committee that no block proves";
            Check::decided("trusted_root", CheckResult::Failed, reason)
        });
        let checks: Vec<Check> = of_network.into_iter().chain(of_caller).collect();
        let refused = checks.iter().any(Check::failed);
        let teaching = if refused {
            Teaching::Refused
        } else {
            self.insert(period, Known::given(file.committee.clone(), origin.to_string()))
        };
        Some(Lesson { origin, period, block_root: None, checks, teaching })
    }

    fn learn_update(&mut self, update: &Update, origin: Origin, network: &BeaconNetwork) -> Option<Lesson> {
        let (committee, _) = update.next_committee.as_ref()?;
        let check = check::next_sync_committee_branch(update, network);
        let attested = BeaconNetwork::period(update.attested.beacon.slot);
        let period = attested + 1;
        // A signature of a later period could be by the committee that the update itself names.
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

    /// Keeps the first committee given for a period. A later one either agrees with it or is a conflict.
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

/// What a document says about the committee of a period, and whether it was believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lesson {
    /// The object that names the committee.
    pub origin: Origin,
    /// The committee's period.
    pub period: u64,
    /// The root of a bootstrap's block, to be compared with a checkpoint.
    pub block_root: Option<Root>,
    /// What was checked before the committee was believed.
    pub checks: Vec<Check>,
    /// What came of it.
    pub teaching: Teaching,
}

/// Whether a committee was believed, and why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Teaching {
    /// The committee was not known before, and is known now.
    Learned,
    /// The same committee was known already.
    KnownAlready,
    /// A check failed, so the committee was not believed.
    Refused,
    /// No known committee could have signed the update: the committee of the update's own period is not known, or its
    /// signature is of another period than its attested block. The committee was not believed, although no check failed.
    NotVouchedFor,
    /// A different committee was known already, so this one was not believed.
    Conflict,
}

/// A committee and what proves it.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub committee: Arc<SyncCommittee>,
    pub from: String,
    /// The update whose signature proves it; none if the caller gave the committee.
    pub rests_on: Option<Origin>,
}

impl Known {
    fn given(committee: SyncCommittee, from: String) -> Self {
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
