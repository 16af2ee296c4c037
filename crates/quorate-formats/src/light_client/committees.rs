//! The sync committees that are known, and what proves each.

use std::collections::btree_map::Entry as Slot;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::check;
use super::claims::{self, Known};
use super::document::Document;
use super::network::BeaconNetwork;
use super::object::{Bootstrap, CommitteeFile, Object, SyncCommittee, Update};
use crate::entry::{Entry, Malformed};
use crate::error::InputError;
use crate::record::{Check, CheckResult, Id, Origin, Place};
use crate::ssz::Root;

/// Sync committees by period.
///
/// A committee file of [`add_file`](Self::add_file) and a bootstrap are trusted because the caller gave them: compare a bootstrap's block
/// root with a checkpoint that you trust. A committee file among the documents is never believed, because whoever wrote the updates
/// could have written it, and no block root of it can be compared. A committee from updates is proven by the signatures of those
/// updates alone, and one that is valid is enough, so the records that use it name all of them
/// ([`Record::rests_on`](crate::Record::rests_on)). Such a chain of proofs always ends at a committee that the caller gave: an update
/// of period p teaches the committee of p + 1, and only if the committee of p is known.
#[derive(Clone, Debug, Default)]
pub struct SyncCommittees {
    by_period: BTreeMap<u64, Known>,
    trusted_root: Option<Root>,
}

impl SyncCommittees {
    /// No committees, and the only block that they may start from: a bootstrap of another block is refused. Committees that the
    /// caller adds by [`add_file`](Self::add_file) are still trusted.
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
        if let Some(stated) = file.network.filter(|stated| !network.is_called(stated)) {
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

    /// Learns the committees of all documents of a run: first those of bootstraps, then the next committees of the updates, in the
    /// order of their periods. The lessons of committee files stand between them.
    ///
    /// A committee that its branch does not prove against the header is refused, and so is a committee file that states anything but
    /// what is known already. Where an update names another committee than an update before it, one of the two is forged: the later one
    /// counts if each of its checks passes, with `at_least` participants as in [`Document::records`], and if its signature is valid.
    /// Signatures are verified here in that case alone, one by one.
    pub fn learn(&mut self, documents: &[Document], network: &BeaconNetwork, at_least: usize) -> Vec<Lesson> {
        let mut lessons = Vec::new();
        let (mut files, mut updates) = (Vec::new(), Vec::new());
        for (origin, object) in objects(documents) {
            match object {
                Object::Bootstrap(bootstrap) => lessons.push(self.learn_bootstrap(bootstrap, origin, network)),
                Object::Committee(file) => files.push((origin, file)),
                Object::Update(update) => updates.push((origin, update)),
            }
        }
        lessons.extend(files.into_iter().filter_map(|(origin, file)| self.compare_file(file, origin, network)));
        updates.sort_by_key(|(_, update)| BeaconNetwork::period(update.attested.beacon.slot));
        let first = lessons.len();
        for (origin, update) in updates {
            lessons.extend(self.learn_update(update, origin, network, at_least));
        }
        // An update that vouches for nothing names a committee whose place another one has taken.
        let vouchers: HashSet<&Origin> =
            self.by_period.values().filter_map(|known| known.rests_on.as_deref()).flatten().collect();
        for lesson in &mut lessons[first..] {
            let of_update = self.known(lesson.period).is_some_and(|known| known.rests_on.is_some());
            let was_believed = matches!(lesson.teaching, Teaching::Learned | Teaching::KnownAlready);
            if of_update && was_believed && !vouchers.contains(&lesson.origin) {
                lesson.teaching = Teaching::Conflict;
            }
        }
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

    fn known(&self, period: u64) -> Option<&Known> {
        self.by_period.get(&period)
    }

    fn learn_bootstrap(&mut self, bootstrap: &Bootstrap, origin: Origin, network: &BeaconNetwork) -> Lesson {
        let header = &bootstrap.header;
        let block_root = header.beacon.root();
        let mut checks = vec![
            check::current_sync_committee_branch(bootstrap, network),
            check::execution_of_bootstrap(bootstrap, network),
        ];
        checks.extend(check::block_roots_of_bootstrap(bootstrap, network));
        checks.extend(check::validators_root(bootstrap, network));
        checks.extend(check::network(bootstrap.stated.network.as_ref(), network));
        checks.extend(check::period(bootstrap.stated.period, [header.beacon.slot]));
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

    /// What a committee file among the documents says, which is never learned: whoever wrote the documents wrote it, too. Returns none
    /// for a file without a period, which `records` reports.
    fn compare_file(&self, file: &CommitteeFile, origin: Origin, network: &BeaconNetwork) -> Option<Lesson> {
        let period = file.period?;
        let is_known = self.committee(period).is_some_and(|known| known.public_keys == file.committee.public_keys);
        let unproven = (!is_known).then(|| {
            let reason = "expected a bootstrap, found a committee that no block proves; if you trust it, give it as a committee file \
                          (on the command line --committee FILE)";
            Check::decided("committee_proof", CheckResult::Failed, reason)
        });
        let of_network = check::network(file.network.as_ref(), network);
        let checks: Vec<Check> = of_network.into_iter().chain(unproven).collect();
        let teaching = if checks.iter().any(Check::failed) { Teaching::Refused } else { Teaching::KnownAlready };
        Some(Lesson { origin, period, block_root: None, checks, teaching })
    }

    fn learn_update(
        &mut self,
        update: &Update,
        origin: Origin,
        network: &BeaconNetwork,
        at_least: usize,
    ) -> Option<Lesson> {
        let (committee, _) = update.next_committee.as_ref()?;
        let check = check::next_sync_committee_branch(update, network);
        let attested = BeaconNetwork::period(update.attested.beacon.slot);
        let period = attested + 1;
        // A signature of a later period could be by the committee that the update itself names.
        let vouched =
            BeaconNetwork::period(update.signature_slot) == attested && self.by_period.contains_key(&attested);
        let teaching = match check.result {
            CheckResult::NotPossible | CheckResult::Unproved => return None,
            CheckResult::Failed => Teaching::Refused,
            CheckResult::Passed if !vouched => Teaching::NotVouchedFor,
            CheckResult::Passed => {
                let known = Known::taught(committee.clone(), origin.clone());
                match self.insert(period, known.clone()) {
                    Teaching::Conflict if self.is_proven(update, period, network, at_least) => {
                        self.by_period.insert(period, known);
                        Teaching::Learned
                    }
                    teaching => teaching,
                }
            }
        };
        Some(Lesson { origin, period, block_root: None, checks: vec![check], teaching })
    }

    /// Whether an update is valid that names another committee of a period than the known one, which the caller did not give. The
    /// committee of the period before has signed it.
    fn is_proven(&self, update: &Update, period: u64, network: &BeaconNetwork, at_least: usize) -> bool {
        let Some(signers) = self.known(period - 1) else { return false };
        if self.known(period).is_some_and(|known| known.rests_on.is_none()) {
            return false;
        }
        let record = claims::claim(update, Place::Element(0), signers, None, network, at_least);
        record.failed_check().is_none() && record.into_claim(None).is_ok_and(|claim| claim.verify().is_valid())
    }

    /// The claim of an update, or why there is none.
    fn claim(&self, update: &Update, place: Place, network: &BeaconNetwork, at_least: usize) -> Entry {
        let id = || Some(Id::number(update.signature_slot));
        if !check::has_layout(update, network) {
            let reason = "the specification has no light-client layout for Gloas yet, so nothing that the update states can be proved";
            return Err(Malformed::new(place, reason).with_id(id()));
        }
        let period = BeaconNetwork::period(update.signature_slot);
        let known = self.known(period).ok_or_else(|| {
            let reason = format!(
                "the sync committee of period {period} is not known; add a bootstrap of that period, an update of period {} that \
                 names the next committee, or a committee file (on the command line --committee FILE)",
                period.saturating_sub(1)
            );
            Malformed::new(place, reason).with_id(id()).of_no_committee()
        })?;
        let next = self.known(BeaconNetwork::period(update.attested.beacon.slot) + 1);
        Ok(claims::claim(update, place, known, next, network, at_least))
    }

    /// Keeps the first committee given for a period. A later one either agrees with it, and vouches for it too, or is a conflict.
    fn insert(&mut self, period: u64, known: Known) -> Teaching {
        match self.by_period.entry(period) {
            Slot::Vacant(slot) => {
                slot.insert(known);
                Teaching::Learned
            }
            Slot::Occupied(mut slot) if slot.get().committee.public_keys == known.committee.public_keys => {
                if let (Some(vouchers), Some(more)) = (&mut slot.get_mut().rests_on, known.rests_on) {
                    Arc::make_mut(vouchers).extend(more.iter().cloned());
                }
                Teaching::KnownAlready
            }
            Slot::Occupied(_) => Teaching::Conflict,
        }
    }
}

impl Document {
    /// The claims of this document, in order: one for each update, and an error for each object that cannot be read.
    ///
    /// Bootstraps and committees make no claim. `at_least` is how many of the 512 keys must have taken part; the
    /// specification asks for [`MIN_PARTICIPANTS`](check::MIN_PARTICIPANTS), and fewer are never enough.
    pub fn records(
        &self,
        committees: &SyncCommittees,
        network: &BeaconNetwork,
        at_least: usize,
    ) -> impl Iterator<Item = Entry> {
        self.objects.iter().filter_map(move |(place, object)| {
            let claim = match object {
                Ok(Object::Update(update)) => committees.claim(update, *place, network, at_least),
                Ok(Object::Committee(CommitteeFile { period: None, .. })) => {
                    let reason = "found a committee without a period, and no block proves it; if you trust it, add \"period\": N and give \
                                  it as a committee file (on the command line --committee FILE)";
                    Err(Malformed::new(*place, reason))
                }
                Ok(Object::Bootstrap(_) | Object::Committee(_)) => return None,
                Err(reason) => Err(Malformed::new(*place, reason)),
            };
            Some(claim)
        })
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
    /// The same committee was known already. An update is one more proof of it.
    KnownAlready,
    /// A check failed, so the committee was not believed.
    Refused,
    /// No known committee could have signed the update: the committee of the update's own period is not known, or its
    /// signature is of another period than its attested block. The committee was not believed, although no check failed.
    NotVouchedFor,
    /// A different committee is known, which the caller gave or which a valid update names, so this one was not believed.
    Conflict,
}

fn objects(documents: &[Document]) -> impl Iterator<Item = (Origin, &Object)> {
    documents.iter().flat_map(|document| {
        document.objects.iter().filter_map(|(place, object)| {
            let origin = Origin { document: document.name.clone(), place: *place };
            Some((origin, object.as_ref().ok()?))
        })
    })
}
