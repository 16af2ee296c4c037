//! Execution payload headers: proved in the layout of their fork, and refused where nothing proves them.

use std::iter;

use super::check::attested_execution;
use super::object::{Header, HeaderExecution, Object};
use super::tests::{
    CAPELLA, bootstrap, bootstrap_with, claim_of, climb, committee, header, hex, hexes, mainnet, read, result, run,
    update_with, with_execution,
};
use super::{BeaconNetwork, Document, MIN_PARTICIPANTS, SyncCommittees, Teaching};
use crate::network::Fork;
use crate::record::{Check, CheckResult};
use crate::ssz::{self, Root};

/// Any slot of Bellatrix and of Deneb on mainnet.
const BELLATRIX: u64 = 194_048 * 32 - 9;
const DENEB: u64 = 269_568 * 32 + 5;
/// What the specification says of a header without an execution payload header, or with zeros in its place.
const ZEROS: [(u64, CheckResult); 3] =
    [(BELLATRIX, CheckResult::NotPossible), (CAPELLA, CheckResult::Failed), (DENEB, CheckResult::Failed)];

/// A header as it is read.
fn parsed(header: &str) -> Header {
    let object = Object::from_json(&update_with(header, 6, &[255; 64], ""), None).unwrap();
    let Object::Update(update) = object else { panic!() };
    update.attested
}

/// A header like one of [`with_execution`], which the branch proves in the layout of a fork.
fn proven_in(fork: Fork, header: &str) -> String {
    let HeaderExecution::Stated(execution, _) = parsed(header).execution else { panic!() };
    let root = execution.root(fork).unwrap();
    let (branch, body_root) = climb(root, 25);
    let body = |root: &[u8]| format!(r#""body_root": "{}""#, hex(root));
    header.replace(&hexes(&[[7; 32]; 4]), &hexes(&branch)).replace(&body(&[9; 32]), &body(&body_root))
}

/// A header with the fields of Deneb beside its others.
fn with_blobs(header: &str, used: u8, excess: u8) -> String {
    let blobs = format!(r#""blob_gas_used": "{used}", "excess_blob_gas": "{excess}", "extra_data""#);
    header.replacen(r#""extra_data""#, &blobs, 1)
}

/// Where nothing says the fork, an execution payload header is proved in the layout of any.
#[test]
fn a_custom_network_proves_execution_payload_headers() {
    let custom = BeaconNetwork::custom([7; 32], [1, 2, 3, 4]);
    let capella = with_execution(&header(5, &[0; 32]), 7);
    let deneb = with_blobs(&capella, 1, 2);
    for (forged, fork) in [(capella, Fork::Capella), (deneb, Fork::Deneb)] {
        let proven = proven_in(fork, &forged);
        let false_field = proven.replacen(r#""gas_used": "7""#, r#""gas_used": "8""#, 1);
        for (attested, expected) in
            [(proven, CheckResult::Passed), (false_field, CheckResult::Failed), (forged, CheckResult::Failed)]
        {
            let known = bootstrap(5, &committee(1), 54);
            let text = format!("[{known}, {}]", update_with(&attested, 6, &[255; 64], ""));
            let record = run(&text, &custom).1.remove(0).unwrap();
            assert_eq!(result(&record, "attested_execution_branch"), expected);
        }
    }
}

/// The `version` of the Beacon API is that of the attested header, and the finalized one is older.
#[test]
fn a_custom_network_proves_updates_across_a_fork() {
    let custom = BeaconNetwork::custom([7; 32], [1, 2, 3, 4]);
    for (version, index, fork, roots_at, expected) in [
        (Some("deneb"), 105, Fork::Capella, 37, Ok(None)),
        (Some("deneb"), 105, Fork::Deneb, 37, Ok(None)),
        (Some("electra"), 169, Fork::Electra, 69, Ok(None)),
        (None, 105, Fork::Deneb, 37, Ok(None)),
        (None, 169, Fork::Electra, 69, Ok(None)),
        // What was finalized is of no later fork than what attests to it.
        (Some("capella"), 105, Fork::Deneb, 37, Ok(Some("finalized_execution_branch"))),
        (Some("deneb"), 105, Fork::Deneb, 69, Ok(Some("block_roots_branch"))),
        (None, 105, Fork::Deneb, 69, Ok(Some("block_roots_branch"))),
        // Before Electra this is the root, and since then another node. It was believed in any state.
        (Some("electra"), 169, Fork::Deneb, 37, Err(true)),
        (None, 169, Fork::Electra, 37, Err(true)),
    ] {
        let (branch, state_root) = climb([5; 32], roots_at);
        let block_roots =
            format!(r#""block_roots_root": "{}", "block_roots_branch": {}"#, hex(&[5; 32]), hexes(&branch));
        let blobs = if fork < Fork::Deneb { 0 } else { 3 };
        let finalized = proven_in(fork, &with_blobs(&with_execution(&header(5, &state_root), 7), blobs, blobs));
        let (branch, state_root) = climb(parsed(&finalized).beacon.root(), index);
        let rest =
            format!(r#", "finalized_header": {finalized}, "finality_branch": {}, {block_roots}"#, hexes(&branch));
        let signed = update_with(&header(40, &state_root), 41, &[255; 64], &rest);
        let signed = match version {
            Some(version) => format!(r#"{{"version": "{version}", "data": {signed}}}"#),
            None => signed,
        };
        let entry = run(&format!("[{}, {signed}]", bootstrap(5, &committee(1), 54)), &custom).1.remove(0);
        let found = entry.as_ref().map(|record| record.failed_check().map(|check| check.name));
        let found = found.map_err(|malformed| malformed.reason.contains("\"block_roots_root\" cannot be proved"));
        assert_eq!(found, expected, "{version:?} after {fork:?}, {roots_at}: {entry:?}");
    }
}

/// Zeros at the older place are in every state of Electra, whatever is finalized.
#[test]
fn nothing_finalized_is_not_proved_where_nothing_says_the_layout() {
    let custom = BeaconNetwork::custom([7; 32], [1, 2, 3, 4]);
    let empty = header(0, &[0; 32]).replace(&hex(&[9; 32]), &hex(&[0; 32])).replace("\"1\"", "\"0\"");
    for (version, index, expected) in [
        (None, 105, CheckResult::NotPossible),
        (None, 169, CheckResult::Passed),
        (Some("deneb"), 105, CheckResult::Passed),
    ] {
        let (branch, state_root) = climb([0; 32], index);
        let rest = format!(r#", "finalized_header": {empty}, "finality_branch": {}"#, hexes(&branch));
        let signed = update_with(&header(5, &state_root), 6, &[255; 64], &rest);
        let signed = match version {
            Some(version) => format!(r#"{{"version": "{version}", "data": {signed}}}"#),
            None => signed,
        };
        let record = run(&format!("[{}, {signed}]", bootstrap(5, &committee(1), 54)), &custom).1.remove(0).unwrap();
        assert_eq!(result(&record, "finality_branch"), expected, "{version:?}, {index}: {:?}", record.checks);
    }
}

/// The committee of a bootstrap shows how its state is laid out, where nothing else does.
#[test]
fn an_inner_node_of_electras_state_is_no_root_of_recent_blocks() {
    let custom = BeaconNetwork::custom([7; 32], [1, 2, 3, 4]);
    let committee_root = committee(1).root().unwrap();
    for (committee_at, roots_at, teaching) in [
        (54, 37, Teaching::Learned),
        (86, 69, Teaching::Learned),
        (86, 37, Teaching::Refused),
        (54, 69, Teaching::Refused),
    ] {
        let state = [(committee_at, committee_root), (roots_at, [5; 32])];
        let (state_root, [committee_branch, roots_branch]) = tree(state);
        let bootstrap = bootstrap_with(&header(5, &state_root), &committee(1), &committee_branch);
        let roots =
            format!(r#"{{"block_roots_root": "{}", "block_roots_branch": {}, "#, hex(&[5; 32]), hexes(&roots_branch));
        let lesson = run(&bootstrap.replacen('{', &roots, 1), &custom).0.remove(0);
        assert_eq!(lesson.teaching, teaching, "{committee_at}, {roots_at}: {:?}", lesson.checks);
    }
}

/// The root of a tree of depth 6 that has these nodes, none of which is above another, and their branches.
fn tree<const N: usize>(nodes: [(u64, Root); N]) -> (Root, [Vec<Root>; N]) {
    let node = |index: u64| node_of(&nodes, index);
    let branches = nodes.map(|(index, _)| (0..index.ilog2()).map(|level| node(index >> level ^ 1)).collect());
    (node(1), branches)
}

fn node_of(nodes: &[(u64, Root)], index: u64) -> Root {
    match nodes.iter().find(|(at, _)| *at == index) {
        Some((_, node)) => *node,
        None if index >= 64 => [index as u8; 32],
        None => ssz::parent(&node_of(nodes, 2 * index), &node_of(nodes, 2 * index + 1)),
    }
}

/// A zero before a branch is for the branches whose fields moved in Electra, in containers that are not older.
#[test]
fn a_zero_before_a_branch_is_taken_where_a_fork_has_it() {
    let custom = BeaconNetwork::custom([7; 32], [1, 2, 3, 4]);
    let padded = |branch: &[Root]| [&[[0; 32]][..], branch].concat();
    let (branch, state_root) = climb(committee(1).root().unwrap(), 54);
    let object = bootstrap_with(&header(5, &state_root), &committee(1), &padded(&branch));
    for (version, teaching) in [("deneb", Teaching::Refused), ("heze", Teaching::Refused), ("", Teaching::Learned)] {
        let text = match version {
            "" => object.clone(),
            version => format!(r#"{{"version": "{version}", "data": {object}}}"#),
        };
        assert_eq!(
            run(&text, &custom).0.first().map_or(Teaching::Refused, |lesson| lesson.teaching),
            teaching,
            "{version}"
        );
    }
    // The body of a block did not become deeper.
    let proven = proven_in(Fork::Capella, &with_execution(&header(CAPELLA, &[0; 32]), 7));
    let nodes = hexes(&climb([0; 32], 25).0);
    assert!(proven.contains(&nodes));
    for (branch, expected) in [
        (nodes.clone(), CheckResult::Passed),
        (nodes.replacen('[', &format!("[{:?},", hex(&[0; 32])), 1), CheckResult::Failed),
    ] {
        let record = claim_of(&update_with(&proven.replace(&nodes, &branch), CAPELLA + 1, &[255; 64], ""), CAPELLA);
        assert_eq!(result(&record, "attested_execution_branch"), expected, "{branch}");
    }
}

/// No root of a header of Capella covers them. An object of Capella has no such fields; in one of Deneb they are zero.
#[test]
fn fields_of_deneb_in_a_header_of_capella_are_zero_or_said_to_be_unproved() {
    let custom = BeaconNetwork::custom([7; 32], [1, 2, 3, 4]);
    let (branch, state_root) = climb(committee(1).root().unwrap(), 54);
    let proven = proven_in(Fork::Capella, &with_execution(&header(CAPELLA, &state_root), 7));
    for (used, excess, are_zero) in [(0, 0, true), (5, 7, false), (5, 0, false), (0, 7, false)] {
        let stated = with_blobs(&proven, used, excess);
        let update = update_with(&stated, CAPELLA + 1, &[255; 64], "");
        let lesson = bootstrap_with(&stated, &committee(1), &branch);
        for version in [None, Some("capella"), Some("deneb")] {
            let case = format!("{used}, {excess}, {version:?}");
            let of_version = |object: &str| match version {
                Some(version) => format!(r#"{{"version": "{version}", "data": {object}}}"#),
                None => object.to_owned(),
            };
            let passes = are_zero || version != Some("deneb");
            let text = format!("[{}, {}]", bootstrap(CAPELLA, &committee(1), 54), of_version(&update));
            let record = run(&text, &mainnet()).1.remove(0).unwrap();
            let check = record.checks.iter().find(|check| check.name == "attested_execution_branch").unwrap();
            assert_eq!(check.result, CheckResult::of(passes), "{case}: {check:?}");
            assert_eq!(check.detail.contains("blob_gas_used"), !are_zero, "{case}: {check:?}");
            let teaching = if passes { Teaching::Learned } else { Teaching::Refused };
            assert_eq!(run(&of_version(&lesson), &mainnet()).0[0].teaching, teaching, "{case}");
        }
    }
    let forged = update_with(&with_blobs(&proven, 5, 7), CAPELLA + 1, &[255; 64], "");
    let text = format!("[{}, {forged}]", bootstrap(CAPELLA, &committee(1), 54));
    let record = run(&text, &custom).1.remove(0).unwrap();
    assert_eq!(result(&record, "attested_execution_branch"), CheckResult::Passed);
}

/// In SSZ the layout of Deneb has a place for them, so they are stated.
#[test]
fn fields_of_deneb_in_ssz_are_zero_in_a_header_of_capella() {
    let proven = proven_in(Fork::Capella, &with_execution(&header(CAPELLA, &[0; 32]), 7));
    for (blobs, expected) in [(0, CheckResult::Passed), (5, CheckResult::Failed)] {
        let mut header = parsed(&with_blobs(&proven, blobs, 0));
        let HeaderExecution::Stated(execution, _) = &mut header.execution else { panic!() };
        execution.in_layout_of_deneb = true;
        let Object::Update(mut update) =
            Object::from_json(&update_with(&proven, CAPELLA + 1, &[255; 64], ""), None).unwrap()
        else {
            panic!()
        };
        update.attested = header;
        assert_eq!(attested_execution(&update, &mainnet()).result, expected, "{blobs}");
    }
}

#[test]
fn zeros_that_a_document_states_fail_since_capella() {
    let zeros = |slot: u64, state_root: &Root| with_blobs(&with_execution(&header(slot, state_root), 0), 0, 0);
    for (slot, expected) in ZEROS {
        let failed = |name| (expected == CheckResult::Failed).then_some(name);
        let record = claim_of(&update_with(&zeros(slot, &[0; 32]), slot + 1, &[255; 64], ""), slot);
        assert_eq!(result(&record, "attested_execution_branch"), expected, "{slot}");
        assert_eq!(record.failed_check().map(|check| check.name), failed("attested_execution_branch"), "{slot}");

        let finalized = zeros(slot - 1, &[0; 32]);
        let (branch, state_root) = climb(parsed(&finalized).beacon.root(), 105);
        let rest = format!(r#", "finalized_header": {finalized}, "finality_branch": {}"#, hexes(&branch));
        let record = claim_of(&update_with(&header(slot, &state_root), slot + 1, &[255; 64], &rest), slot);
        assert_eq!(result(&record, "finalized_execution_branch"), expected, "{slot}");
        assert_eq!(record.failed_check().map(|check| check.name), failed("finalized_execution_branch"), "{slot}");

        let (branch, state_root) = climb(committee(1).root().unwrap(), 54);
        let lesson = run(&bootstrap_with(&zeros(slot, &state_root), &committee(1), &branch), &mainnet()).0.remove(0);
        assert_eq!(
            lesson.checks.iter().find(|check| check.failed()).map(|check| check.name),
            failed("execution_branch")
        );
        let teaching = if lesson.checks.iter().any(Check::failed) { Teaching::Refused } else { Teaching::Learned };
        assert_eq!(lesson.teaching, teaching, "{slot}");
    }
}

/// JSON can leave the header out. Nothing of it is checked then, and the check says so.
#[test]
fn an_execution_payload_header_that_is_left_out_is_not_proved() {
    for slot in [BELLATRIX, CAPELLA, DENEB] {
        let record = claim_of(&update_with(&header(slot, &[0; 32]), slot + 1, &[255; 64], ""), slot);
        let check = record.checks.iter().find(|check| check.name == "attested_execution_branch").unwrap();
        let (expected, reason) = match slot {
            BELLATRIX => (CheckResult::NotPossible, "before Capella have no"),
            _ => (CheckResult::Unproved, "leaves out the execution payload header"),
        };
        assert_eq!((check.result, record.failed_check()), (expected, None));
        assert!(check.detail.contains(reason), "{}", check.detail);
    }
}

/// The document's `version` takes the place of a schedule. Without it, the block may be of a fork before Capella.
#[test]
fn zeros_on_a_custom_network_fail_if_the_version_is_capella_or_later() {
    let custom = BeaconNetwork::custom([7; 32], [1, 2, 3, 4]);
    let zeros = with_blobs(&with_execution(&header(5, &[0; 32]), 0), 0, 0);
    for (version, expected) in [
        (r#""version": "bellatrix", "#, CheckResult::NotPossible),
        (r#""version": "capella", "#, CheckResult::Failed),
        (r#""version": "deneb", "#, CheckResult::Failed),
        ("", CheckResult::Unproved),
    ] {
        let known = bootstrap(5, &committee(1), 54);
        let text = format!(r#"[{known}, {{{version}"data": {}}}]"#, update_with(&zeros, 6, &[255; 64], ""));
        let record = run(&text, &custom).1.remove(0).unwrap();
        assert_eq!(result(&record, "attested_execution_branch"), expected, "{version}");
    }
}

/// SSZ leaves nothing out: of the layout of Altair the specification makes zeros (capella/light-client/fork.md).
#[test]
fn an_object_in_ssz_without_an_execution_payload_header_fails_since_capella() {
    let (branch, state_root) = climb(committee(1).root().unwrap(), 54);
    let keys = committee(1).public_keys.concat();
    let committee_parts = [&keys[..], &committee(1).aggregate_public_key.unwrap(), branch.as_flattened()].concat();
    for (slot, expected) in ZEROS {
        let signed_parts = [&[255_u8; 64][..], &[0xab; 96], &(slot + 1).to_le_bytes()].concat();
        let [bootstraps, updates] =
            [&committee_parts, &signed_parts].map(|parts| in_both_layouts(&beacon(slot, &state_root), parts));
        for (from, update) in iter::zip(bootstraps, updates) {
            let ssz = Document::read(from.as_slice(), 0, "bootstrap.ssz").unwrap();
            let lesson = SyncCommittees::default().learn(&[ssz], &mainnet(), MIN_PARTICIPANTS).remove(0);
            let execution = lesson.checks.iter().find(|check| check.name == "execution_branch").unwrap();
            assert_eq!(execution.result, expected, "{slot}: {}", execution.detail);
            let learned = expected != CheckResult::Failed;
            assert_eq!(lesson.teaching, if learned { Teaching::Learned } else { Teaching::Refused }, "{slot}");

            let mut committees = SyncCommittees::default();
            committees.learn(&[read(&bootstrap(slot, &committee(1), 54))], &mainnet(), MIN_PARTICIPANTS);
            let ssz = Document::read(update.as_slice(), 0, "update.ssz").unwrap();
            let record = ssz.records(&committees, &mainnet(), MIN_PARTICIPANTS).next().unwrap().unwrap();
            assert_eq!(result(&record, "attested_execution_branch"), expected, "{slot}");
            assert_eq!(record.failed_check().is_none(), learned, "{slot}");
        }
    }
}

/// A `BeaconBlockHeader` in SSZ.
fn beacon(slot: u64, state_root: &Root) -> Vec<u8> {
    [&slot.to_le_bytes()[..], &1_u64.to_le_bytes(), &[9; 32], state_root, &[9; 32]].concat()
}

/// An object of one header and parts of fixed size in SSZ: in the layout of Altair, and in that of Deneb, with zeros for the execution
/// payload header and its branch.
fn in_both_layouts(beacon: &[u8], parts: &[u8]) -> [Vec<u8>; 2] {
    const EXECUTION: u32 = 584;
    let mut execution = [0; EXECUTION as usize];
    // Where the extra data begins, which is empty.
    execution[436..440].copy_from_slice(&EXECUTION.to_le_bytes());
    let header = [beacon, &244_u32.to_le_bytes(), &[0; 4 * 32], &execution].concat();
    let offset = u32::try_from(parts.len()).unwrap() + 4;
    [[beacon, parts].concat(), [&offset.to_le_bytes()[..], parts, &header[..]].concat()]
}
