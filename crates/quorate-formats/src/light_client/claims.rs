//! Makes one claim of each update: the keys that took part, what they signed, and what can be checked without a pairing.

use std::sync::Arc;

use quorate::Messages;

use super::check;
use super::network::BeaconNetwork;
use super::object::{SyncCommittee, Update};
use crate::record::{Check, CheckResult, Id, Origin, Place, Record};
use crate::ssz;

/// A committee and what proves it.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub committee: Arc<SyncCommittee>,
    pub from: String,
    /// The updates whose signatures prove it, of which one is enough. The one that taught it comes first. `None` if the caller gave
    /// the committee.
    pub rests_on: Option<Arc<Vec<Origin>>>,
}

impl Known {
    pub(super) fn given(committee: SyncCommittee, from: String) -> Self {
        Self { committee: Arc::new(committee), from, rests_on: None }
    }

    /// The next committee of updates, at least one.
    pub(super) fn taught(committee: SyncCommittee, by: Vec<Origin>) -> Self {
        let from = by.first().map_or_else(String::new, |first| format!("the next committee of {first}"));
        Self { committee: Arc::new(committee), from, rests_on: Some(Arc::new(by)) }
    }
}

/// What is known of the committee that an update may name as the next one.
#[derive(Clone, Copy)]
pub(super) enum Next<'a> {
    /// Nothing.
    Unknown,
    /// The committee.
    Known(&'a Known),
    /// Updates that equally many members signed name different ones.
    Contradicted,
}

/// Altair lets all members of a committee be absent, so a sync aggregate has a suite of its own. Whether nobody took part is
/// for the check `participants` to say.
const SUITE: &str = "eth2-sync-aggregate";

/// The claim that a committee signed an update. `next` is about the committee of the period after the attested block's.
pub(super) fn claim(
    update: &Update,
    place: Place,
    known: &Known,
    next: Next<'_>,
    network: &BeaconNetwork,
    at_least: usize,
) -> Record {
    let period = BeaconNetwork::period(update.signature_slot);
    let keys = &known.committee.public_keys;
    let public_keys = keys.iter().zip(bits(&update.bits)).filter(|(_, took_part)| *took_part);
    let mut checks =
        vec![Check::decided("committee", CheckResult::Passed, format!("period {period}, from {}", known.from))];
    checks.extend(own_checks(update, network, at_least));
    checks.extend(next_committee_agrees(update, next));
    checks.push(check::current_slot(update));
    let signing_root = network.signing_root(&update.attested.beacon.root(), update.signature_slot);
    Record {
        id: Some(Id::number(update.signature_slot)),
        suite: Some(SUITE.to_owned()),
        public_keys: public_keys.map(|(key, _)| key.to_vec()).collect(),
        messages: Messages::Shared(signing_root.into()),
        signature: update.signature.clone(),
        source: None,
        place,
        checks,
        rests_on: known.rests_on.clone(),
        chain: None,
    }
}

/// How many members took part in an update.
pub(super) fn participants(update: &Update) -> usize {
    bits(&update.bits).filter(|took_part| *took_part).count()
}

/// The checks that an update passes or fails by itself, whoever signed it.
pub(super) fn own_checks(update: &Update, network: &BeaconNetwork, at_least: usize) -> Vec<Check> {
    let mut checks = vec![
        check::participants(participants(update), at_least),
        check::slot_order(update),
        check::finality_branch(update, network),
        check::next_sync_committee_branch(update, network),
        check::attested_execution(update, network),
    ];
    checks.extend(check::finalized_execution(update, network));
    checks.extend(check::block_roots_of_update(update, network));
    checks.extend(check::network(update.stated.network.as_ref(), network));
    // An update is listed under the period of its attested block, and its signature may be of the next one.
    let slots = [update.signature_slot, update.attested.beacon.slot];
    checks.extend(check::period(update.stated.period, slots));
    checks
}

/// A next committee that its branch proves must be the committee that is known for its period. Two different ones would mean
/// a forged state or a fork. The known committee is the caller's, or a valid update names it that more members signed
/// (`SyncCommittees::learn`).
fn next_committee_agrees(update: &Update, next: Next<'_>) -> Option<Check> {
    let (committee, branch) = update.next_committee.as_ref()?;
    let period = BeaconNetwork::period(update.attested.beacon.slot) + 1;
    if ssz::is_empty(branch) {
        return None;
    }
    let known = match next {
        Next::Unknown => return None,
        Next::Known(known) => known,
        Next::Contradicted => return Some(check::next_committees_contradict(period)),
    };
    let (agrees, from) = (known.committee.public_keys == committee.public_keys, &known.from);
    let detail = if agrees {
        format!("period {period}, as in {from}")
    } else {
        format!("expected the committee of period {period} that is known from {from}, found another")
    };
    Some(Check::decided(check::NEXT_COMMITTEE_AGREES, CheckResult::of(agrees), detail))
}

/// The bits of an SSZ bitvector: the lowest bit of a byte comes first.
fn bits(bytes: &[u8]) -> impl Iterator<Item = bool> {
    bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1))
}
