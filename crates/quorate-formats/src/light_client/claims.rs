//! Makes one claim of each update: the keys that took part, what they signed, and what can be checked without a pairing.

use quorate::Messages;

use super::check;
use super::committees::SyncCommittees;
use super::document::Document;
use super::network::BeaconNetwork;
use super::object::{CommitteeFile, Object, Update};
use crate::entry::{Entry, Malformed};
use crate::record::{Check, CheckResult, Id, Place, Record};

impl Document {
    /// The claims of this document, in order: one for each update, and an error for each object that cannot be read.
    ///
    /// Bootstraps and committees make no claim. `at_least` is how many of the 512 keys must have taken part; the
    /// specification asks for [`MIN_PARTICIPANTS`](check::MIN_PARTICIPANTS).
    pub fn records(
        &self,
        committees: &SyncCommittees,
        network: &BeaconNetwork,
        at_least: usize,
    ) -> impl Iterator<Item = Entry> {
        self.objects.iter().filter_map(move |(place, object)| {
            let claim = match object {
                Ok(Object::Update(update)) => claim(update, *place, committees, network, at_least),
                Ok(Object::Committee(CommitteeFile { period: None, .. })) => {
                    Err(Malformed::new(*place, "the committee does not say its period; add \"period\": N"))
                }
                Ok(Object::Bootstrap(_) | Object::Committee(_)) => return None,
                Err(reason) => Err(Malformed::new(*place, reason)),
            };
            Some(claim)
        })
    }
}

/// Altair lets all members of a committee be absent, so a sync aggregate has a suite of its own. Whether nobody took part is
/// for the check `participants` to say.
const SUITE: &str = "eth2-sync-aggregate";

fn claim(
    update: &Update,
    place: Place,
    committees: &SyncCommittees,
    network: &BeaconNetwork,
    at_least: usize,
) -> Entry {
    let period = BeaconNetwork::period(update.signature_slot);
    let known = committees.known(period).ok_or_else(|| {
        let reason = format!(
            "the sync committee of period {period} is not known; add a bootstrap of that period, an update of period {} that \
             names the next committee, or a committee file (on the command line --committee FILE)",
            period.saturating_sub(1)
        );
        Malformed::new(place, reason).with_id(Some(Id::number(update.signature_slot))).of_no_committee()
    })?;
    let keys = &known.committee.public_keys;
    let public_keys: Vec<_> = keys.iter().zip(bits(&update.bits)).filter(|(_, took_part)| *took_part).collect();
    let mut checks = vec![
        Check::decided("committee", CheckResult::Passed, format!("period {period}, from {}", known.from)),
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
    let finalized = update.finalized.as_ref().map(|(header, _)| header);
    checks.extend(check::block_roots_branch(update.block_roots.as_ref(), finalized, update.fork, network));
    let signing_root = network.signing_root(&update.attested.beacon.root(), update.signature_slot);
    Ok(Record {
        id: Some(Id::number(update.signature_slot)),
        suite: Some(SUITE.to_owned()),
        public_keys: public_keys.into_iter().map(|(key, _)| key.to_vec()).collect(),
        messages: Messages::Shared(signing_root.into()),
        signature: update.signature.clone(),
        source: None,
        place,
        checks,
        rests_on: known.rests_on.clone(),
        chain: None,
    })
}

/// A next committee that its branch proves must be the committee that is known for its period. Two different ones would mean
/// a forged state or a fork.
fn next_committee_agrees(update: &Update, committees: &SyncCommittees) -> Option<Check> {
    let (committee, branch) = update.next_committee.as_ref()?;
    if branch.iter().all(|node| *node == [0; 32]) {
        return None;
    }
    let period = BeaconNetwork::period(update.attested.beacon.slot) + 1;
    let known = committees.known(period)?;
    let agrees = known.committee.public_keys == committee.public_keys;
    Some(Check::decided(
        "next_sync_committee_agrees",
        CheckResult::of(agrees),
        match agrees {
            true => format!("period {period}, as in {}", known.from),
            false => {
                format!("expected the committee of period {period} that is known from {}, found another", known.from)
            }
        },
    ))
}

/// The bits of an SSZ bitvector: the lowest bit of a byte comes first.
fn bits(bytes: &[u8]) -> impl Iterator<Item = bool> {
    bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1))
}
