//! Rules that need no real network. Committees and states are made up, and their roots are computed from the leaf upwards.

use proptest::prelude::*;
use quorate_lab::light_client::{self as lab, MadeUpCommittee};
use serde_json::Value;

use super::object::Object;
use super::*;
use crate::entry::Entry;
use crate::network::Fork;
use crate::record::{CheckResult, Id, Place, Record};
use crate::ssz::{self, Root};

/// Any slot of Capella and of Electra on mainnet.
pub(super) const CAPELLA: u64 = 194_048 * 32 + 8192 - 7;
const ELECTRA: u64 = 364_032 * 32 + 77;

pub(super) fn mainnet() -> BeaconNetwork {
    "mainnet".parse().unwrap()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    const_hex::encode_prefixed(bytes)
}

pub(super) fn hexes(nodes: &[Root]) -> String {
    let quoted: Vec<String> = nodes.iter().map(|node| format!("{:?}", hex(node))).collect();
    format!("[{}]", quoted.join(","))
}

pub(super) fn committee(seed: u8) -> SyncCommittee {
    let key = |index: usize| {
        let mut key = [seed; 48];
        key[..8].copy_from_slice(&(index as u64).to_le_bytes());
        key
    };
    SyncCommittee { public_keys: (0..COMMITTEE_SIZE).map(key).collect(), aggregate_public_key: Some([seed; 48]) }
}

fn committee_json(committee: &SyncCommittee) -> String {
    let keys: Vec<String> = committee.public_keys.iter().map(|key| format!("{:?}", hex(key))).collect();
    let aggregate = hex(&committee.aggregate_public_key.unwrap());
    format!(r#"{{"pubkeys": [{}], "aggregate_pubkey": "{aggregate}"}}"#, keys.join(","))
}

/// A branch of made-up siblings, and the root that it leads the leaf to.
pub(super) fn climb(leaf: Root, index: u64) -> (Vec<Root>, Root) {
    let branch: Vec<Root> = (0..index.ilog2()).map(|level| [level as u8 + 1; 32]).collect();
    let root = branch.iter().enumerate().fold(leaf, |node, (level, sibling)| {
        if index >> level & 1 == 1 { ssz::parent(sibling, &node) } else { ssz::parent(&node, sibling) }
    });
    (branch, root)
}

pub(super) fn header(slot: u64, state_root: &Root) -> String {
    let root = hex(&[9; 32]);
    format!(
        r#"{{"beacon": {{"slot": "{slot}", "proposer_index": "1", "parent_root": "{root}", "state_root": "{}", "body_root": "{root}"}}}}"#,
        hex(state_root)
    )
}

pub(super) fn bootstrap(slot: u64, committee: &SyncCommittee, index: u64) -> String {
    let (branch, state_root) = climb(committee.root().unwrap(), index);
    bootstrap_with(&header(slot, &state_root), committee, &branch)
}

pub(super) fn bootstrap_with(header: &str, committee: &SyncCommittee, branch: &[Root]) -> String {
    format!(
        r#"{{"header": {header}, "current_sync_committee": {}, "current_sync_committee_branch": {}}}"#,
        committee_json(committee),
        hexes(branch)
    )
}

pub(super) fn update_with(attested: &str, signature_slot: u64, bits: &[u8], rest: &str) -> String {
    format!(
        r#"{{"attested_header": {attested}, "signature_slot": "{signature_slot}", "sync_aggregate":
            {{"sync_committee_bits": "{}", "sync_committee_signature": "0xab"}} {rest}}}"#,
        hex(bits)
    )
}

fn update(attested: u64, signature_slot: u64, rest: &str) -> String {
    update_with(&header(attested, &[0; 32]), signature_slot, &[255; 64], rest)
}

/// An update whose attested state holds the next committee.
fn teaching_update(slot: u64, next: &SyncCommittee, index: u64) -> String {
    let (branch, state_root) = climb(next.root().unwrap(), index);
    let rest = format!(
        r#", "next_sync_committee": {}, "next_sync_committee_branch": {}"#,
        committee_json(next),
        hexes(&branch)
    );
    update_with(&header(slot, &state_root), slot + 1, &[255; 64], &rest)
}

pub(super) fn read(text: &str) -> Document {
    Document::read(text.as_bytes(), 0, "test.json").unwrap()
}

/// Reads one document, learns from it, and returns what it taught and claims.
pub(super) fn run(text: &str, network: &BeaconNetwork) -> (Vec<Lesson>, Vec<Entry>) {
    let documents = [read(text)];
    let mut committees = SyncCommittees::default();
    let lessons = committees.learn(&documents, network, MIN_PARTICIPANTS);
    (lessons, documents[0].records(&committees, network, MIN_PARTICIPANTS).collect())
}

pub(super) fn result(record: &Record, name: &str) -> CheckResult {
    record.checks.iter().find(|check| check.name == name).unwrap_or_else(|| panic!("no check {name}")).result
}

/// The record of one update of which the committee is known.
pub(super) fn claim_of(update: &str, slot: u64) -> Record {
    let text = format!("[{}, {update}]", bootstrap(slot, &committee(1), 54));
    let (lessons, entries) = run(&text, &mainnet());
    assert_eq!(lessons[0].teaching, Teaching::Learned);
    entries.into_iter().next().unwrap().unwrap()
}

#[test]
fn an_update_becomes_a_claim() {
    let mut bits = [0; 64];
    (bits[0], bits[1], bits[63]) = (0b101, 0b10, 0x80);
    let record = claim_of(&update_with(&header(CAPELLA, &[0; 32]), CAPELLA + 1, &bits, ""), CAPELLA);
    let keys = committee(1).public_keys;
    assert_eq!(*record.public_keys.as_encoded().unwrap(), [keys[0], keys[2], keys[9], keys[511]]);
    assert_eq!(record.id, Some(Id::number(CAPELLA + 1)));
    assert_eq!(record.suite.as_deref(), Some("eth2-sync-aggregate"));
    assert_eq!(record.signature, [0xab]);
    assert_eq!(record.rests_on, None);
    assert_eq!(record.failed_check(), None);
}

#[test]
fn an_update_without_finality_or_next_committee() {
    let record = claim_of(&update(CAPELLA, CAPELLA + 1, ""), CAPELLA);
    assert_eq!(result(&record, "finality_branch"), CheckResult::NotPossible);
    assert_eq!(result(&record, "next_sync_committee_branch"), CheckResult::NotPossible);
}

/// No signature covers these labels, and a verdict that passes over them would vouch for them.
#[test]
fn an_update_that_states_another_network_is_invalid() {
    let with = |text: &str, label: &str| text.replacen('{', &format!("{{{label}, "), 1);
    // The block is the last one of its period, so the signature is of the next.
    let slot = (BeaconNetwork::period(CAPELLA) + 1) * 8192 - 1;
    let period = BeaconNetwork::period(slot);
    let next = bootstrap(slot + 1, &committee(1), 54);
    let cases = [
        (r#""network": "mainnet""#.to_owned(), None),
        (format!(r#""network": "Mainnet", "period": "{period}""#), None),
        (format!(r#""period": {}"#, period + 1), None),
        (
            r#""network": "sepolia""#.to_owned(),
            Some("network: expected the network mainnet, found \"sepolia\"".to_owned()),
        ),
        (r#""period": 3"#.to_owned(), Some(format!("period: expected the period {period} or {}, found 3", period + 1))),
    ];
    for (label, expected) in cases {
        let text = format!("[{next}, {}]", with(&update(slot, slot + 1, ""), &label));
        let record = run(&text, &mainnet()).1.remove(0).unwrap();
        assert_eq!(record.failed_check().map(ToString::to_string), expected, "{label}");
    }
}

#[test]
fn a_bootstrap_that_states_another_network_or_period_is_not_believed() {
    let known = bootstrap(CAPELLA, &committee(1), 54);
    let period = BeaconNetwork::period(CAPELLA);
    for (label, teaching) in [
        (format!(r#""network": "mainnet", "period": {period}"#), Teaching::Learned),
        (r#""network": "holesky""#.to_owned(), Teaching::Refused),
        (format!(r#""period": {}"#, period + 1), Teaching::Refused),
    ] {
        let (lessons, _) = run(&known.replacen('{', &format!("{{{label}, "), 1), &mainnet());
        assert_eq!(lessons[0].teaching, teaching, "{label}");
    }
}

#[test]
fn nobody_is_never_enough() {
    let (nobody, mut one) = ([0; 64], [0; 64]);
    one[5] = 1;
    for (bits, expected) in [(nobody, CheckResult::Failed), (one, CheckResult::Passed)] {
        let update = update_with(&header(CAPELLA, &[0; 32]), CAPELLA + 1, &bits, "");
        let documents = [read(&format!("[{}, {update}]", bootstrap(CAPELLA, &committee(1), 54)))];
        let mut committees = SyncCommittees::default();
        committees.learn(&documents, &mainnet(), MIN_PARTICIPANTS);
        let record = documents[0].records(&committees, &mainnet(), 0).next().unwrap().unwrap();
        assert_eq!(result(&record, "participants"), expected);
    }
}

#[test]
fn zeros_stand_for_no_finality_and_no_next_committee() {
    let empty = SyncCommittee { public_keys: vec![[0; 48]; 512], aggregate_public_key: Some([0; 48]) };
    let zero_header = header(0, &[0; 32]).replace(&hex(&[9; 32]), &hex(&[0; 32])).replace("\"1\"", "\"0\"");
    let rest = |finalized: &str, next: &SyncCommittee| {
        format!(
            r#", "finalized_header": {finalized}, "finality_branch": {}, "next_sync_committee": {}, "next_sync_committee_branch": {}"#,
            hexes(&[[0; 32]; 6]),
            committee_json(next),
            hexes(&[[0; 32]; 5])
        )
    };
    let record = claim_of(&update(CAPELLA, CAPELLA + 1, &rest(&zero_header, &empty)), CAPELLA);
    assert_eq!(record.failed_check(), None);
    let smuggled = claim_of(&update(CAPELLA, CAPELLA + 1, &rest(&zero_header, &committee(2))), CAPELLA);
    assert_eq!(smuggled.failed_check().unwrap().name, "next_sync_committee_branch");
    let smuggled = claim_of(&update(CAPELLA, CAPELLA + 1, &rest(&header(5, &[0; 32]), &empty)), CAPELLA);
    assert_eq!(smuggled.failed_check().unwrap().name, "finality_branch");
}

#[test]
fn finality_is_proven_against_the_attested_state() {
    for (slot, index) in [(CAPELLA, 105), (ELECTRA, 169)] {
        let finalized = header(slot - 64, &[3; 32]);
        let Object::Update(parsed) = Object::from_json(&update_with(&finalized, 1, &[0; 64], ""), None).unwrap() else {
            panic!()
        };
        let (branch, state_root) = climb(parsed.attested.beacon.root(), index);
        let rest =
            |finalized: &str| format!(r#", "finalized_header": {finalized}, "finality_branch": {}"#, hexes(&branch));
        let attested = header(slot, &state_root);
        let known = bootstrap(slot, &committee(1), if slot == CAPELLA { 54 } else { 86 });
        for (finalized, expected) in
            [(finalized.as_str(), CheckResult::Passed), (&header(slot - 64, &[4; 32]), CheckResult::Failed)]
        {
            let text = format!("[{known}, {}]", update_with(&attested, slot + 1, &[255; 64], &rest(finalized)));
            let record = run(&text, &mainnet()).1.remove(0).unwrap();
            assert_eq!(result(&record, "finality_branch"), expected);
        }
    }
}

#[test]
fn slots_must_rise() {
    for (attested, signature, expected) in [
        (CAPELLA, CAPELLA + 1, CheckResult::Passed),
        (CAPELLA, CAPELLA, CheckResult::Failed),
        (CAPELLA, CAPELLA - 1, CheckResult::Failed),
    ] {
        let record = claim_of(&update(attested, signature, ""), CAPELLA);
        assert_eq!(result(&record, "slot_order"), expected);
    }
    let finalized_later = format!(
        r#", "finalized_header": {}, "finality_branch": {}"#,
        header(CAPELLA + 1, &[0; 32]),
        hexes(&[[1; 32]; 6])
    );
    let record = claim_of(&update(CAPELLA, CAPELLA + 1, &finalized_later), CAPELLA);
    assert_eq!(result(&record, "slot_order"), CheckResult::Failed);
}

/// Whoever reads the checks must not think that an update is of the past.
#[test]
fn what_takes_a_clock_is_said_not_to_be_checked() {
    let record = claim_of(&update(CAPELLA, CAPELLA + 1, ""), CAPELLA);
    let check = record.checks.iter().find(|check| check.name == "current_slot").unwrap();
    let said = format!("no clock is asked whether slot {} has begun", CAPELLA + 1);
    assert!(check.result == CheckResult::NotPossible && check.detail.starts_with(&said), "{check:?}");
}

#[test]
fn nobody_taking_part_fails() {
    let record = claim_of(&update_with(&header(CAPELLA, &[0; 32]), CAPELLA + 1, &[0; 64], ""), CAPELLA);
    assert_eq!(record.failed_check().unwrap().name, "participants");
    assert!(record.public_keys.is_empty());
}

#[test]
fn a_caller_may_ask_for_two_thirds() {
    let documents = [read(&format!(
        "[{}, {}]",
        bootstrap(CAPELLA, &committee(1), 54),
        update_with(&header(CAPELLA, &[0; 32]), CAPELLA + 1, &[0x0f; 64], "")
    ))];
    let mut committees = SyncCommittees::default();
    committees.learn(&documents, &mainnet(), MIN_PARTICIPANTS);
    let record = documents[0].records(&committees, &mainnet(), 342).next().unwrap().unwrap();
    assert_eq!(record.failed_check().unwrap().name, "participants");
}

#[test]
fn an_unknown_committee_names_its_period_and_the_remedy() {
    let (_, entries) = run(&update(CAPELLA, CAPELLA + 1, ""), &mainnet());
    let reason = &entries[0].as_ref().unwrap_err().reason;
    let period = BeaconNetwork::period(CAPELLA + 1);
    assert!(reason.contains(&format!("period {period}")) && reason.contains("--committee FILE"), "{reason}");
}

#[test]
fn the_next_committee_is_learned_and_vouched_for() {
    let slot = CAPELLA;
    let next_slot = (BeaconNetwork::period(slot) + 1) * 8192 + 5;
    let text = format!(
        "[{}, {}, {}]",
        update(next_slot, next_slot + 1, ""),
        teaching_update(slot, &committee(2), 55),
        bootstrap(slot, &committee(1), 54)
    );
    let (lessons, entries) = run(&text, &mainnet());
    assert!(lessons.iter().all(|lesson| lesson.teaching == Teaching::Learned));
    let record = entries[0].as_ref().unwrap();
    assert_eq!(record.public_keys.as_encoded().unwrap()[0], committee(2).public_keys[0]);
    assert_eq!(vouchers(record), [Place::Element(1)]);
    assert_eq!(record.rests_on.as_ref().unwrap()[0].document, "test.json");
    assert_eq!(entries[1].as_ref().unwrap().rests_on, None);
}

/// Where the updates stand that prove a record's keys.
fn vouchers(record: &Record) -> Vec<Place> {
    record.rests_on.iter().flat_map(|origins| origins.iter().map(|origin| origin.place)).collect()
}

/// One of two updates that name one committee can be false, whichever comes first.
#[test]
fn a_committee_rests_on_all_updates_that_name_it() {
    let slot = CAPELLA;
    let next_slot = (BeaconNetwork::period(slot) + 1) * 8192 + 5;
    // The committee that it names itself could have signed it.
    let signed_late =
        teaching_update(slot, &committee(2), 55).replacen(&format!("\"{}\"", slot + 1), &format!("\"{next_slot}\""), 1);
    let text = format!(
        "[{}, {}, {}, {signed_late}, {}]",
        bootstrap(slot, &committee(1), 54),
        teaching_update(slot + 1, &committee(2), 55),
        teaching_update(slot, &committee(2), 55),
        update(next_slot, next_slot + 1, "")
    );
    let (lessons, entries) = run(&text, &mainnet());
    let teachings: Vec<_> = lessons[1..].iter().map(|lesson| lesson.teaching).collect();
    assert_eq!(teachings, [Teaching::Learned, Teaching::KnownAlready, Teaching::NotVouchedFor]);
    assert_eq!(vouchers(entries[3].as_ref().unwrap()), [Place::Element(1), Place::Element(2)]);
    // A committee that the caller gave needs no update.
    let given = format!("[{}, {}]", bootstrap(next_slot, &committee(2), 54), &text[1..text.len() - 1]);
    let record = run(&given, &mainnet()).1.pop().unwrap().unwrap();
    assert_eq!(record.rests_on, None);
}

/// The update whose signature is of the next period already: what it teaches could be what signed it.
#[test]
fn an_update_cannot_vouch_for_its_own_keys() {
    let last_slot = (BeaconNetwork::period(CAPELLA) + 1) * 8192 - 1;
    let forged = teaching_update(last_slot, &committee(2), 55);
    let (lessons, entries) = run(&format!("[{}, {forged}]", bootstrap(CAPELLA, &committee(1), 54)), &mainnet());
    assert_eq!(lessons[1].teaching, Teaching::NotVouchedFor);
    assert!(entries[0].as_ref().unwrap_err().reason.contains("is not known"));
}

#[test]
fn updates_in_a_circle_vouch_for_nothing() {
    let first = BeaconNetwork::period(CAPELLA) * 8192;
    let signed_late = teaching_update(first, &committee(2), 55).replacen(
        &format!("\"{}\"", first + 1),
        &format!("\"{}\"", first + 2 * 8192),
        1,
    );
    let text = format!("[{signed_late}, {}]", teaching_update(first + 8192, &committee(3), 55));
    let (lessons, entries) = run(&text, &mainnet());
    assert_eq!(lessons.iter().map(|lesson| lesson.teaching).collect::<Vec<_>>(), [Teaching::NotVouchedFor; 2]);
    assert_eq!(entries.iter().map(Result::is_err).collect::<Vec<_>>(), [true; 2]);
}

#[test]
fn updates_teach_in_the_order_of_their_periods() {
    let slot = |later: u64| (BeaconNetwork::period(CAPELLA) + later) * 8192;
    let text = format!(
        "[{}, {}, {}]",
        teaching_update(slot(1), &committee(3), 55),
        teaching_update(slot(0), &committee(2), 55),
        bootstrap(slot(0), &committee(1), 54)
    );
    let (lessons, entries) = run(&text, &mainnet());
    assert!(lessons.iter().all(|lesson| lesson.teaching == Teaching::Learned));
    assert_eq!(entries[0].as_ref().unwrap().public_keys.as_encoded().unwrap()[0], committee(2).public_keys[0]);
}

#[test]
fn electra_moves_the_committees() {
    let text = format!("[{}, {}]", bootstrap(ELECTRA, &committee(1), 86), teaching_update(ELECTRA, &committee(2), 87));
    let (lessons, entries) = run(&text, &mainnet());
    assert!(lessons.iter().all(|lesson| lesson.teaching == Teaching::Learned));
    assert_eq!(entries[0].as_ref().unwrap().failed_check(), None);
    // The old index in the new fork proves nothing, and the other way round.
    assert_eq!(run(&bootstrap(ELECTRA, &committee(1), 54), &mainnet()).0[0].teaching, Teaching::Refused);
    assert_eq!(run(&bootstrap(CAPELLA, &committee(1), 86), &mainnet()).0[0].teaching, Teaching::Refused);
}

#[test]
fn a_forged_committee_is_not_learned() {
    let forged =
        teaching_update(CAPELLA, &committee(2), 55).replacen(&hex(&committee(2).public_keys[7]), &hex(&[7; 48]), 1);
    let (lessons, entries) = run(&format!("[{}, {forged}]", bootstrap(CAPELLA, &committee(1), 54)), &mainnet());
    assert_eq!(lessons[1].teaching, Teaching::Refused);
    assert_eq!(entries[0].as_ref().unwrap().failed_check().unwrap().name, "next_sync_committee_branch");
}

/// Nobody knows which of them is forged until their signatures are verified. Here both are.
#[test]
fn of_two_next_committees_that_nothing_proves_none_is_believed() {
    let text = format!(
        "[{}, {}, {}]",
        bootstrap(CAPELLA, &committee(1), 54),
        teaching_update(CAPELLA, &committee(2), 55),
        teaching_update(CAPELLA + 1, &committee(3), 55)
    );
    let (lessons, entries) = run(&text, &mainnet());
    assert_eq!((lessons[1].teaching, lessons[2].teaching), (Teaching::NotProven, Teaching::NotProven));
    assert!(entries.iter().all(|entry| entry.as_ref().unwrap().failed_check().is_none()), "{entries:?}");
}

/// What objects of the network come to whose committees sign: the lessons, and what becomes of each update.
fn run_signed(objects: &[&Value]) -> (Vec<Teaching>, Vec<String>) {
    let network = BeaconNetwork::custom(lab::GENESIS_VALIDATORS_ROOT, lab::FORK_VERSION);
    // All of them have one name.
    let objects = objects.iter().map(|object| object.to_string()).enumerate();
    let documents = objects.map(|(input, text)| Document::read(text.as_bytes(), input, "test.json").unwrap());
    let documents: Vec<_> = documents.collect();
    let mut committees = SyncCommittees::default();
    let lessons = committees.learn(&documents, &network, MIN_PARTICIPANTS);
    let entries = documents.iter().flat_map(|document| document.records(&committees, &network, MIN_PARTICIPANTS));
    let outcome = |entry: Entry| match entry {
        Err(malformed) => malformed.reason,
        Ok(record) => record.failed_check().map_or("passes", |check| check.name).to_owned(),
    };
    (lessons.iter().map(|lesson| lesson.teaching).collect(), entries.map(outcome).collect())
}

/// A slot of the network whose committees sign.
const SIGNED: u64 = 9 * lab::SLOTS_PER_PERIOD + 5;

fn signed(later: u64, signers: u8, participants: usize, next: u8) -> Value {
    let next = MadeUpCommittee::new(next);
    lab::update(SIGNED + later, MadeUpCommittee::new(signers), participants, Some(next))
}

#[test]
fn two_thirds_teach_a_committee_and_fewer_do_not() {
    let known = lab::bootstrap(SIGNED, MadeUpCommittee::new(1));
    let later = lab::update(SIGNED + lab::SLOTS_PER_PERIOD, MadeUpCommittee::new(2), 512, None);
    for (participants, teaching) in [(1, Teaching::NotProven), (341, Teaching::NotProven), (342, Teaching::Learned)] {
        let (teachings, outcomes) = run_signed(&[&known, &signed(0, 1, participants, 2), &later]);
        assert_eq!((teachings[1], outcomes[0].as_str()), (teaching, "passes"), "{participants}");
        assert_eq!(outcomes[1].contains("is not known"), teaching != Teaching::Learned, "{participants}: {outcomes:?}");
    }
}

#[test]
fn the_valid_update_that_most_members_signed_teaches() {
    use Teaching::{Conflict, KnownAlready, Learned, NotProven};
    let known = lab::bootstrap(SIGNED, MadeUpCommittee::new(1));
    let agrees = "next_sync_committee_agrees";
    let (most, fewer, few) = (signed(0, 1, 400, 2), signed(1, 1, 399, 3), signed(2, 1, 100, 4));
    let (same, forged) = (signed(3, 1, 350, 2), signed(4, 9, 512, 5));
    // Fewer than two thirds do not teach, and yet their update names another committee than the known one.
    let (teachings, outcomes) = run_signed(&[&known, &few, &fewer, &forged, &most, &same]);
    assert_eq!(teachings, [Learned, NotProven, Conflict, Conflict, Learned, KnownAlready]);
    assert_eq!(outcomes, [agrees, agrees, agrees, "passes", "passes"]);
    // If nobody else may teach, nothing is known that the one of few could contradict.
    let (teachings, outcomes) = run_signed(&[&known, &few, &forged]);
    assert_eq!((teachings, outcomes), (vec![Learned, NotProven, NotProven], vec!["passes".to_owned(); 2]));
    // Equally many: none is believed.
    let (teachings, outcomes) = run_signed(&[&known, &fewer, &signed(5, 1, 399, 6), &few]);
    assert_eq!(teachings, [Learned, Conflict, Conflict, NotProven]);
    assert_eq!(outcomes, [agrees; 3]);
}

#[test]
fn an_update_with_a_failed_check_teaches_nothing() {
    let known = lab::bootstrap(SIGNED, MadeUpCommittee::new(1));
    let mut labelled = signed(0, 1, 512, 3);
    labelled["data"]["network"] = "mainnet".into();
    let (teachings, outcomes) = run_signed(&[&known, &labelled, &signed(1, 1, 100, 2)]);
    assert_eq!(teachings, [Teaching::Learned, Teaching::NotProven, Teaching::NotProven]);
    assert_eq!(outcomes, ["network", "passes"]);
}

#[test]
fn bootstraps_that_contradict_each_other_are_not_believed() {
    let [one, other] = [1, 2].map(|seed| lab::bootstrap(SIGNED, MadeUpCommittee::new(seed)));
    let update = lab::update(SIGNED, MadeUpCommittee::new(1), 512, None);
    for objects in [[&one, &other, &update], [&other, &one, &update]] {
        let (teachings, outcomes) = run_signed(&objects);
        assert_eq!(teachings, [Teaching::Conflict; 2]);
        assert!(outcomes[0].contains("is not known"), "{outcomes:?}");
    }
    assert_eq!(run_signed(&[&one, &one, &update]).0, [Teaching::Learned, Teaching::KnownAlready]);
}

/// A committee that the caller gave is believed before any update.
#[test]
fn a_next_committee_agrees_with_the_one_that_was_given() {
    let slot = CAPELLA + 8192;
    let text = format!(
        "[{}, {}, {}]",
        bootstrap(CAPELLA, &committee(1), 54),
        teaching_update(CAPELLA, &committee(3), 55),
        bootstrap(slot, &committee(2), 54)
    );
    let (lessons, entries) = run(&text, &mainnet());
    assert_eq!(lessons[2].teaching, Teaching::Conflict);
    assert_eq!(entries[0].as_ref().unwrap().failed_check().unwrap().name, "next_sync_committee_agrees");
}

#[test]
fn a_committee_file_may_write_its_network_in_capitals_or_by_its_older_name() {
    let goerli: BeaconNetwork = "goerli".parse().unwrap();
    let custom = BeaconNetwork::custom([7; 32], [1, 2, 3, 4]);
    for (stated, network, agrees) in [
        ("Mainnet", mainnet(), true),
        ("Prater", goerli.clone(), true),
        ("goerli", goerli.clone(), true),
        ("mainnet", goerli, false),
        ("devnet-7", mainnet(), false),
        // A network that is not built in has no name of its own. It is none of those that are.
        ("devnet-7", custom.clone(), true),
        ("Mainnet", custom, false),
    ] {
        let text =
            committee_json(&committee(1)).replacen('{', &format!(r#"{{"network": "{stated}", "period": 3, "#), 1);
        let given = SyncCommittees::default().add_file(&text, "a.json", None, &network);
        assert_eq!(given.is_ok(), agrees, "{stated}");
    }
}

#[test]
fn a_committee_file_is_believed_first() {
    let period = BeaconNetwork::period(CAPELLA + 1);
    let file = |seed| {
        committee_json(&committee(seed)).replacen('{', &format!(r#"{{"network": "mainnet", "period": {period}, "#), 1)
    };
    let mut committees = SyncCommittees::default();
    assert_eq!(committees.add_file(&file(1), "a.json", None, &mainnet()).unwrap(), period);
    assert_eq!(committees.add_file(&file(1), "b.json", Some(period), &mainnet()).unwrap(), period);
    assert!(
        committees.add_file(&file(2), "c.json", None, &mainnet()).unwrap_err().to_string().contains("known already")
    );
    assert!(committees.add_file(&file(1), "d.json", Some(period + 1), &mainnet()).is_err());
    assert!(committees.add_file(&file(1), "e.json", None, &"sepolia".parse().unwrap()).is_err());
    let bare = committee_json(&committee(1));
    assert!(committees.add_file(&bare, "f.json", None, &mainnet()).unwrap_err().to_string().contains("period"));
    assert!(committees.add_file(&bare, "g.json", Some(period + 1), &mainnet()).is_ok());
    for rubbish in ["", "[]", "{", "{}", &update(1, 2, "")] {
        assert!(committees.add_file(rubbish, "h.json", None, &mainnet()).is_err());
    }
    let conflicting = [read(&bootstrap(CAPELLA, &committee(2), 54))];
    assert_eq!(committees.learn(&conflicting, &mainnet(), MIN_PARTICIPANTS)[0].teaching, Teaching::Conflict);
    assert_eq!(committees.committee(period), Some(&committee(1)));
}

/// Whoever wrote the updates could have written the committee, too.
#[test]
fn a_committee_among_the_documents_is_never_believed() {
    let period = BeaconNetwork::period(CAPELLA + 1);
    let file = committee_json(&committee(1)).replacen('{', &format!(r#"{{"period": {period}, "#), 1);
    let signed = update(CAPELLA, CAPELLA + 1, "");
    let (lessons, entries) = run(&format!("{file}\n{signed}"), &mainnet());
    assert_eq!((lessons[0].period, lessons[0].teaching), (period, Teaching::Refused));
    let reason = lessons[0].checks.iter().find(|check| check.failed()).unwrap().to_string();
    assert!(reason.contains("no block proves") && reason.contains("--committee FILE"), "{reason}");
    // It makes no claim, and the update has no committee.
    assert_eq!(entries.len(), 1);
    assert!(entries[0].as_ref().unwrap_err().reason.contains("is not known"), "{entries:?}");
    // Before a bootstrap of the period, it does not take its place.
    let (lessons, entries) = run(&format!("{file}\n{}\n{signed}", bootstrap(CAPELLA, &committee(2), 54)), &mainnet());
    assert_eq!(lessons.iter().map(|it| it.teaching).collect::<Vec<_>>(), [Teaching::Learned, Teaching::Refused]);
    assert_eq!(entries[0].as_ref().unwrap().public_keys.as_encoded().unwrap()[0], committee(2).public_keys[0]);
    // What is known already needs no proof.
    let (lessons, _) = run(&format!("{file}\n{}", bootstrap(CAPELLA, &committee(1), 54)), &mainnet());
    assert_eq!(lessons[1].teaching, Teaching::KnownAlready);
    // Another network is a reason of its own.
    let foreign = file.replacen('{', r#"{"network": "holesky", "#, 1);
    let lesson = run(&foreign, &mainnet()).0.remove(0);
    assert_eq!((lesson.checks[0].name, lesson.checks[0].result), ("network", CheckResult::Failed));
    let (_, entries) = run(&committee_json(&committee(1)), &mainnet());
    let reason = &entries[0].as_ref().unwrap_err().reason;
    assert!(reason.contains("period") && reason.contains("--committee FILE"), "{reason}");
}

#[test]
fn envelopes_single_doubled_and_listed() {
    let known = bootstrap(CAPELLA, &committee(1), 54);
    let plain = update(CAPELLA, CAPELLA + 1, "");
    for text in [
        format!(r#"[{{"version": "capella", "data": {known}}}, {{"version": "capella", "data": {plain}}}]"#),
        format!(r#"{{"data": [{known}, {plain}]}}"#),
        format!("{known}\n{plain}"),
    ] {
        let (_, entries) = run(&text, &mainnet());
        assert_eq!(entries.len(), 1);
        let record = entries[0].as_ref().unwrap();
        assert_eq!((record.place, record.failed_check()), (Place::Element(1), None));
    }
}

#[test]
fn bad_objects_do_not_stop_the_others() {
    let text = format!(
        r#"[5, {{}}, {{"data": 7}}, {{"data": []}}, {{"data": [8]}}, {}, {}]"#,
        bootstrap(CAPELLA, &committee(1), 54),
        update(CAPELLA, CAPELLA + 1, "")
    );
    let (_, entries) = run(&text, &mainnet());
    assert_eq!(entries.iter().filter(|entry| entry.is_err()).count(), 4);
    assert!(entries.last().unwrap().is_ok());
}

#[test]
fn a_document_of_anything_else_is_not_read_to_its_end() {
    let zeros = format!("[{}0]", "0,".repeat(2000));
    for text in [zeros.clone(), format!(r#"{{"data": {zeros}}}"#)] {
        let error = Document::read(text.as_bytes(), 0, "test.json").unwrap_err().to_string();
        assert!(error.contains("more than 1000 elements"), "{error}");
    }
}

#[test]
fn a_custom_network_reads_the_layout_from_the_document() {
    let custom = BeaconNetwork::custom([7; 32], [1, 2, 3, 4]);
    for (slot, index) in [(5, 54), (5, 86)] {
        assert_eq!(run(&bootstrap(slot, &committee(1), index), &custom).0[0].teaching, Teaching::Learned);
    }
    let stated = format!(r#"{{"version": "electra", "data": {}}}"#, bootstrap(5, &committee(1), 54));
    assert_eq!(run(&stated, &custom).0[0].teaching, Teaching::Refused);
    // In the containers of Electra, a branch of the forks before stands behind a zero.
    let (branch, _) = climb(committee(1).root().unwrap(), 54);
    for (before, teaching) in [([0; 32], Teaching::Learned), ([1; 32], Teaching::Refused)] {
        let padded: Vec<Root> = [before].into_iter().chain(branch.iter().copied()).collect();
        let text = bootstrap(5, &committee(1), 54).replace(&hexes(&branch), &hexes(&padded));
        assert_eq!(run(&text, &custom).0[0].teaching, teaching);
    }
}

#[test]
fn gloas_is_not_judged() {
    let sepolia: BeaconNetwork = "sepolia".parse().unwrap();
    let slot = 353_024 * 32;
    assert_eq!(sepolia.fork(slot), Some(Fork::Gloas));
    let lesson = run(&bootstrap(slot, &committee(1), 86), &sepolia).0.remove(0);
    assert_eq!((lesson.checks[0].result, lesson.teaching), (CheckResult::NotPossible, Teaching::Refused));
    // A committee file of the caller is believed in any fork, and yet nothing proves what the update states.
    let mut committees = SyncCommittees::default();
    let period = Some(BeaconNetwork::period(slot));
    committees.add_file(&committee_json(&committee(1)), "given.json", period, &sepolia).unwrap();
    let finality =
        format!(r#", "finalized_header": {}, "finality_branch": {}"#, header(slot, &[3; 32]), hexes(&[[1; 32]; 7]));
    for update in [update(slot, slot + 1, ""), update(slot, slot + 1, &finality)] {
        let entry = read(&update).records(&committees, &sepolia, MIN_PARTICIPANTS).next().unwrap();
        assert!(entry.as_ref().unwrap_err().reason.contains("no light-client layout for Gloas"), "{entry:?}");
    }
}

/// A schedule can be older than the network: what it says of later forks would call true updates invalid.
#[test]
fn a_fork_that_the_schedule_does_not_have_is_not_judged() {
    let known = bootstrap(ELECTRA, &committee(1), 86);
    let of_version = |version: &str, object: &str| format!(r#"{{"version": "{version}", "data": {object}}}"#);
    let signed = update(ELECTRA, ELECTRA + 1, "");
    for (version, expected) in [
        ("electra", None),
        // The containers of a later fork, whose schedule is known.
        ("fulu", None),
        ("gloas", Some("the document states the fork gloas, and the forks of mainnet that are built in end with fulu")),
        ("heze", Some("\"version\": found \"heze\", expected a fork, of which gloas is the latest")),
    ] {
        let entry = run(&format!("[{known}, {}]", of_version(version, &signed)), &mainnet()).1.remove(0);
        match (&entry, expected) {
            (Ok(record), None) => assert_eq!(record.failed_check(), None),
            (Err(malformed), Some(expected)) => assert!(malformed.reason.contains(expected), "{malformed}"),
            _ => panic!("{version}: {entry:?}"),
        }
        let (lessons, entries) = run(&of_version(version, &known), &mainnet());
        let believed = lessons.first().is_some_and(|lesson| lesson.teaching == Teaching::Learned);
        assert_eq!((believed, entries.len()), (expected.is_none(), usize::from(version == "heze")), "{version}");
    }
    // Of another kind, in an object without an envelope.
    assert_eq!(run(&known.replacen('{', r#"{"version": "1.0", "#, 1), &mainnet()).0[0].teaching, Teaching::Learned);
}

/// What an update states beside its signed header, where the specification has zeros or nothing.
#[test]
fn what_nothing_proves_is_refused() {
    let zero_header = header(0, &[0; 32]).replace(&hex(&[9; 32]), &hex(&[0; 32])).replace("\"1\"", "\"0\"");
    let finalized = |byte| {
        let header = with_execution(&zero_header, byte);
        format!(r#", "finalized_header": {header}, "finality_branch": {}"#, hexes(&[[0; 32]; 6]))
    };
    let next = |byte| {
        let committee = SyncCommittee { public_keys: vec![[0; 48]; 512], aggregate_public_key: Some([byte; 48]) };
        let branch = hexes(&[[0; 32]; 5]);
        let committee = committee_json(&committee);
        format!(r#", "next_sync_committee": {committee}, "next_sync_committee_branch": {branch}"#)
    };
    let block_roots = |byte| {
        format!(r#", "block_roots_root": "{}", "block_roots_branch": {}"#, hex(&[byte; 32]), hexes(&[[0; 32]; 5]))
    };
    let of_capella = |rest: String| claim_of(&update(CAPELLA, CAPELLA + 1, &rest), CAPELLA);
    // The last slots before Capella.
    let of_bellatrix = |byte| {
        let slot = 194_048 * 32 - 9;
        claim_of(&update_with(&with_execution(&header(slot, &[0; 32]), byte), slot + 1, &[255; 64], ""), slot)
    };
    for (check, [stated, nothing]) in [
        ("finality_branch", [finalized(7), finalized(0)].map(of_capella)),
        ("next_sync_committee_branch", [next(7), next(0)].map(of_capella)),
        ("block_roots_branch", [block_roots(7), block_roots(0)].map(of_capella)),
        ("attested_execution_branch", [of_bellatrix(7), of_bellatrix(0)]),
    ] {
        assert_eq!(stated.failed_check().unwrap().name, check);
        assert_eq!((nothing.failed_check(), result(&nothing, check)), (None, CheckResult::NotPossible));
    }
}

/// A header with an execution payload header of which every byte is the same, and a branch that proves nothing.
pub(super) fn with_execution(header: &str, byte: u8) -> String {
    let roots = [
        "parent_hash",
        "state_root",
        "receipts_root",
        "prev_randao",
        "block_hash",
        "transactions_root",
        "withdrawals_root",
    ];
    let numbers = ["block_number", "gas_limit", "gas_used", "timestamp", "base_fee_per_gas"];
    let root = hex(&[byte; 32]);
    let fields = roots.iter().map(|name| format!(r#""{name}": "{root}""#));
    let fields = fields.chain(numbers.iter().map(|name| format!(r#""{name}": "{byte}""#)));
    format!(
        r#"{}, "execution": {{{}, "fee_recipient": "{}", "logs_bloom": "{}", "extra_data": "0x"}}, "execution_branch": {}}}"#,
        header.strip_suffix('}').unwrap(),
        fields.collect::<Vec<_>>().join(", "),
        hex(&[byte; 20]),
        hex(&[byte; 256]),
        hexes(&[[byte; 32]; 4])
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_written_bitvector_reads_back(bits in prop::array::uniform32(any::<u16>())) {
        let bytes: Vec<u8> = bits.iter().flat_map(|two| two.to_le_bytes()).collect();
        let record = claim_of(&update_with(&header(CAPELLA, &[0; 32]), CAPELLA + 1, &bytes, ""), CAPELLA);
        let expected: Vec<Vec<u8>> = (0..512)
            .filter(|index| bits[index / 16] >> (index % 16) & 1 == 1)
            .map(|index| committee(1).public_keys[index].to_vec())
            .collect();
        prop_assert_eq!(record.public_keys, expected.into());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = Document::read(bytes.as_slice(), 0, "test.json");
    }

    #[test]
    fn no_slots_make_it_panic(attested in any::<u64>(), signature in any::<u64>()) {
        let text = format!("[{}, {}]", teaching_update(attested.min(u64::MAX - 1), &committee(2), 55), update(attested, signature, ""));
        for name in ["mainnet", "sepolia"] {
            let _ = run(&text, &name.parse().unwrap());
        }
    }
}
