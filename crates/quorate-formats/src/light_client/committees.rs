//! The sync committees that are known, and what proves each.

use std::collections::btree_map::Entry as Slot;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::check::{self, TWO_THIRDS};
use super::claims::{self, Known, Next};
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
/// of period p teaches the committee of p + 1, and only if the committee of p is known, and two thirds of it signed.
#[derive(Clone, Debug, Default)]
pub struct SyncCommittees {
    by_period: BTreeMap<u64, Known>,
    /// Periods of which valid updates that equally many members signed name different committees.
    contradicted: BTreeSet<u64>,
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
        match self.give(period, Known::given(file.committee, name.to_owned())) {
            Teaching::Conflict => {
                Err(unusable(format!("a different committee of period {period} is known already; give one of the two")))
            }
            _ => Ok(period),
        }
    }

    /// Learns the committees of all documents of a run, each of another input: first those of bootstraps, then the next committees of the updates, in the
    /// order of their periods. The lessons of committee files stand between them. The order of the documents changes nothing.
    ///
    /// A committee that its branch does not prove against the header is refused, and so is a committee file that states anything but
    /// what is known already. Of bootstraps that contradict each other none is believed.
    ///
    /// An update teaches its next committee if each of its checks passes, with `at_least` participants as in [`Document::records`], and
    /// if two thirds of the committee signed it, whatever `at_least` is. If all updates of a period name one committee, their signatures
    /// are not verified here: the records that use it rest on them ([`Record::rests_on`](crate::Record::rests_on)). If they name
    /// several, the signatures are verified here, one by one, and the committee is that of the valid update which the most members
    /// signed. If equally many signed for two, none is believed.
    pub fn learn(&mut self, documents: &[Document], network: &BeaconNetwork, at_least: usize) -> Vec<Lesson> {
        let (mut bootstraps, mut files) = (Vec::new(), Vec::new());
        let mut updates: BTreeMap<u64, Vec<(Origin, &Update)>> = BTreeMap::new();
        for (origin, object) in objects(documents) {
            match object {
                Object::Bootstrap(bootstrap) => bootstraps.push((origin, &**bootstrap)),
                Object::Committee(file) => files.push((origin, file)),
                Object::Update(update) => {
                    let period = BeaconNetwork::period(update.attested.beacon.slot);
                    updates.entry(period).or_default().push((origin, &**update));
                }
            }
        }
        let mut lessons = self.learn_bootstraps(bootstraps, network);
        lessons.extend(files.into_iter().filter_map(|(origin, file)| self.compare_file(file, origin, network)));
        for (attested, updates) in updates {
            lessons.extend(self.learn_updates(attested, updates, network, at_least));
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

    fn learn_bootstraps(&mut self, bootstraps: Vec<(Origin, &Bootstrap)>, network: &BeaconNetwork) -> Vec<Lesson> {
        let mut lessons = Vec::new();
        let mut by_period: BTreeMap<u64, Vec<(usize, &SyncCommittee)>> = BTreeMap::new();
        for (origin, bootstrap) in bootstraps {
            let lesson = self.check_bootstrap(bootstrap, origin, network);
            if lesson.teaching != Teaching::Refused {
                by_period.entry(lesson.period).or_default().push((lessons.len(), &bootstrap.committee));
            }
            lessons.push(lesson);
        }
        for (period, offers) in by_period {
            // The caller trusts them alike. A committee that is known already decides between them.
            let contradict =
                self.known(period).is_none() && name_several(offers.iter().map(|(_, committee)| *committee));
            for (place, committee) in offers {
                let lesson = &mut lessons[place];
                if contradict {
                    lesson.checks.push(check::bootstraps_contradict(period));
                    lesson.teaching = Teaching::Conflict;
                } else {
                    lesson.teaching = self.give(period, Known::given(committee.clone(), lesson.origin.to_string()));
                }
            }
        }
        lessons
    }

    /// The checks of a bootstrap, and whether it is refused. If not, what it teaches is not decided yet.
    fn check_bootstrap(&self, bootstrap: &Bootstrap, origin: Origin, network: &BeaconNetwork) -> Lesson {
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
        let teaching = if refused { Teaching::Refused } else { Teaching::Learned };
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

    /// The lessons of the updates whose attested blocks are of one period, about the committee of the next one.
    fn learn_updates(
        &mut self,
        attested: u64,
        updates: Vec<(Origin, &Update)>,
        network: &BeaconNetwork,
        at_least: usize,
    ) -> Vec<Lesson> {
        let period = attested + 1;
        let (mut lessons, mut teachers, mut named) = (Vec::new(), Vec::new(), Vec::new());
        for (origin, update) in updates {
            let Some((committee, _)) = &update.next_committee else { continue };
            if check::not_judged(update, network).is_some() {
                continue;
            }
            let mut checks = vec![check::next_sync_committee_branch(update, network)];
            let teaching = match checks[0].result {
                CheckResult::NotPossible | CheckResult::Unproved => continue,
                CheckResult::Failed => Teaching::Refused,
                CheckResult::Passed => {
                    named.push(committee);
                    if !self.could_vouch(update) {
                        Teaching::NotVouchedFor
                    } else if let Some(reason) = why_not_to_learn(update, network, at_least) {
                        checks.push(reason);
                        Teaching::NotProven
                    } else {
                        teachers.push(Teacher { update, committee, lesson: lessons.len() });
                        // It is decided below.
                        Teaching::NotProven
                    }
                }
            };
            lessons.push(Lesson { origin, period, block_root: None, checks, teaching });
        }
        let vouchers = |lessons: &[Lesson], committee: &SyncCommittee| -> Vec<Origin> {
            let agree = teachers.iter().filter(|teacher| teacher.names(committee));
            agree.map(|teacher| lessons[teacher.lesson].origin.clone()).collect()
        };
        if let Some(known) = self.by_period.get_mut(&period) {
            // More updates that prove what those of an earlier call have taught.
            let more = vouchers(&lessons, known.committee.as_ref());
            if let Some(vouchers) = &mut known.rests_on {
                Arc::make_mut(vouchers).extend(more);
            }
            for teacher in &teachers {
                let agrees = teacher.names(known.committee.as_ref());
                lessons[teacher.lesson].teaching = if agrees { Teaching::KnownAlready } else { Teaching::Conflict };
            }
            return lessons;
        }
        let Some(first) = teachers.first() else { return lessons };
        // Where nobody names another committee, whoever rests on the updates finds out whether one of them is valid.
        let signed = if name_several(named.into_iter()) {
            self.most_signed(&teachers, attested, network)
        } else {
            MostSigned::One(first.committee)
        };
        match signed {
            MostSigned::None => {}
            MostSigned::Several => {
                self.contradicted.insert(period);
                for teacher in &teachers {
                    let lesson = &mut lessons[teacher.lesson];
                    lesson.checks.push(check::next_committees_contradict(period));
                    lesson.teaching = Teaching::Conflict;
                }
            }
            MostSigned::One(committee) => {
                self.by_period.insert(period, Known::taught(committee.clone(), vouchers(&lessons, committee)));
                let mut agreed = Teaching::Learned;
                for teacher in &teachers {
                    let agrees = teacher.names(committee);
                    lessons[teacher.lesson].teaching = if agrees { agreed } else { Teaching::Conflict };
                    agreed = if agrees { Teaching::KnownAlready } else { agreed };
                }
            }
        }
        lessons
    }

    /// Whether a committee that is known could have signed an update that teaches the next one. A signature of a later period could be by
    /// the committee that the update itself names.
    fn could_vouch(&self, update: &Update) -> bool {
        let attested = BeaconNetwork::period(update.attested.beacon.slot);
        BeaconNetwork::period(update.signature_slot) == attested && self.by_period.contains_key(&attested)
    }

    /// The next committee of the valid update that the most members signed. The committee of the period before has to be known.
    ///
    /// Cost: a verification for each update, from the one with the most participants on, until one is valid, and for those with as many
    /// that name another committee.
    fn most_signed<'a>(&self, teachers: &[Teacher<'a>], attested: u64, network: &BeaconNetwork) -> MostSigned<'a> {
        let Some(signers) = self.known(attested) else { return MostSigned::None };
        let mut by_participants: Vec<_> =
            teachers.iter().map(|teacher| (claims::participants(teacher.update), teacher)).collect();
        by_participants.sort_by_key(|(participants, _)| std::cmp::Reverse(*participants));
        let mut most: Option<(usize, &'a SyncCommittee)> = None;
        for (participants, Teacher { update, committee, .. }) in by_participants {
            match most {
                Some((found, _)) if participants < found => break,
                Some((_, found)) if found.public_keys == committee.public_keys => continue,
                _ => {}
            }
            let record = claims::claim(update, Place::Element(0), signers, Next::Unknown, network, TWO_THIRDS);
            if record.into_claim(None).is_ok_and(|claim| claim.verify().is_valid()) {
                if most.is_some() {
                    return MostSigned::Several;
                }
                most = Some((participants, *committee));
            }
        }
        most.map_or(MostSigned::None, |(_, committee)| MostSigned::One(committee))
    }

    /// The claim of an update, or why there is none.
    fn claim(&self, update: &Update, place: Place, network: &BeaconNetwork, at_least: usize) -> Entry {
        let id = || Some(Id::number(update.signature_slot));
        if let Some(reason) = check::not_judged(update, network) {
            return Err(Malformed::new(place, reason).with_id(id()));
        }
        let period = BeaconNetwork::period(update.signature_slot);
        let known = self.known(period).ok_or_else(|| {
            let reason = format!(
                "the sync committee of period {period} is not known; add a bootstrap of that period, an update of period {} that \
                 names the next committee and that two thirds signed, or a committee file (on the command line --committee FILE)",
                period.saturating_sub(1)
            );
            Malformed::new(place, reason).with_id(id()).of_no_committee()
        })?;
        let period = BeaconNetwork::period(update.attested.beacon.slot) + 1;
        let next = match self.known(period) {
            Some(known) => Next::Known(known),
            None if self.contradicted.contains(&period) => Next::Contradicted,
            None => Next::Unknown,
        };
        Ok(claims::claim(update, place, known, next, network, at_least))
    }

    /// Keeps the first committee that the caller gives for a period. A later one either agrees with it, or is a conflict.
    fn give(&mut self, period: u64, known: Known) -> Teaching {
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

/// An update that teaches its next committee if it is valid.
struct Teacher<'a> {
    update: &'a Update,
    committee: &'a SyncCommittee,
    /// The place of its lesson.
    lesson: usize,
}

impl Teacher<'_> {
    /// Whether this is the committee that it names.
    fn names(&self, committee: &SyncCommittee) -> bool {
        self.committee.public_keys == committee.public_keys
    }
}

/// What the valid updates of a period come to.
enum MostSigned<'a> {
    /// No update is valid.
    None,
    /// The committee that the most members signed for.
    One(&'a SyncCommittee),
    /// Equally many members signed for different ones.
    Several,
}

/// Whether these are not one and the same committee.
fn name_several<'a>(mut committees: impl Iterator<Item = &'a SyncCommittee>) -> bool {
    let first = committees.next();
    first.is_some_and(|first| committees.any(|committee| committee.public_keys != first.public_keys))
}

/// Why nobody learns from an update, whoever signed it; none if somebody may.
fn why_not_to_learn(update: &Update, network: &BeaconNetwork, at_least: usize) -> Option<Check> {
    let failed = claims::own_checks(update, network, at_least).into_iter().find(Check::failed);
    failed.or_else(|| check::too_few_to_teach(claims::participants(update)))
}

impl Malformed {
    /// An update whose committee rests on updates of which none is valid, so that nobody knows who signs it.
    #[must_use]
    pub fn of_unproven_committee(place: Place, id: Option<Id>, rests_on: &[Origin]) -> Self {
        let on = match rests_on {
            [] => "nothing".to_owned(),
            [update] => format!("{update}, which is not valid"),
            [update, others @ ..] => format!("{update} and {} more, none of which is valid", others.len()),
        };
        let reason = format!(
            "its sync committee is not known, because it rests on {on}; add a bootstrap of its period, a valid update that names it as \
             the next committee, or a committee file (on the command line --committee FILE)"
        );
        Self::new(place, reason).with_id(id).of_no_committee()
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
    /// The update is not valid, or fewer than two thirds of the committee signed it: its checks say which, or else its signature is
    /// false. The committee was not believed, and the update's own claim says whether the update is.
    NotProven,
    /// No known committee could have signed the update: the committee of the update's own period is not known, or its
    /// signature is of another period than its attested block. The committee was not believed, although no check failed.
    NotVouchedFor,
    /// A different committee is known, which the caller gave, or which a valid update names that more members signed. Or nothing
    /// decides between two. So this one was not believed.
    Conflict,
}

fn objects(documents: &[Document]) -> impl Iterator<Item = (Origin, &Object)> {
    documents.iter().flat_map(|document| {
        document.objects.iter().filter_map(|(place, object)| {
            let origin = Origin { input: document.input, document: document.name.clone(), place: *place };
            Some((origin, object.as_ref().ok()?))
        })
    })
}
