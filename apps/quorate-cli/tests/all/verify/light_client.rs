//! Ethereum mainnet's light-client objects: true as they are, and false for the right reason with a bit flipped.

use std::{fs, path::Path};

use quorate_lab::vectors;
use serde_json::Value;

use crate::verify::run::{Folder, Ran, Verdicts as _, claim, lines, verify};

const FILES: [&str; 4] = ["bootstrap.json", "updates.json", "finality.json", "optimistic.json"];

fn paths(folder: &Path) -> Vec<String> {
    FILES.iter().map(|name| folder.join(name).to_str().unwrap().to_owned()).collect()
}

#[test]
fn bootstraps_and_updates_of_mainnet() {
    for set in ["07_eth_helios", "07_eth_trin"] {
        let Some(folder) = vectors::path(set) else { return };
        let paths = paths(&folder);
        let mut arguments = vec!["--json", "--explain"];
        arguments.extend(paths.iter().map(String::as_str));
        let ran = verify(&arguments).exits(0).says("trusting the committee of period");
        let summary = ran.object();
        println!("{set}: {} updates", summary["claims"]);
        assert!(summary["valid"].as_u64() >= Some(3) && summary["invalid"] == 0 && summary["malformed"] == 0);
        assert!(ran.err.contains("next_sync_committee_branch") && !ran.err.contains("  failed "), "{}", ran.err);
    }
}

/// Trin's test data has 16 in the fields of Deneb of headers of Capella.
#[test]
fn fields_of_deneb_in_headers_of_capella_are_said_to_be_unproved() {
    let Some(folder) = vectors::path("07_eth_trin") else { return };
    let paths = paths(&folder);
    let files: Vec<_> = paths.iter().map(String::as_str).collect();
    verify(&[&["--explain"][..], &files].concat()).exits(0).says("nothing proves \"blob_gas_used\"");
}

#[test]
fn documents_in_any_order() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let mut paths = paths(&folder);
    paths.reverse();
    let arguments: Vec<_> = paths.iter().map(String::as_str).collect();
    verify(&arguments).exits(0);
}

#[test]
fn updates_without_their_committee_say_what_to_add() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let finality = folder.join("finality.json");
    let ran = verify(&["--json", finality.to_str().unwrap()]).exits(2).says("add a bootstrap").says("--committee FILE");
    assert_eq!(ran.object()["claims"], 0);
}

#[test]
fn a_flipped_bit_fails_the_check_of_its_field() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let update = first_update(&folder);
    let flips = [
        ("/data/finality_branch/3", "finality_branch"),
        ("/data/finalized_header/beacon/body_root", "finality_branch"),
        ("/data/finalized_header/execution/extra_data", "finalized_execution_branch"),
        ("/data/next_sync_committee_branch/0", "next_sync_committee_branch"),
        ("/data/next_sync_committee/pubkeys/17", "next_sync_committee_branch"),
        ("/data/next_sync_committee/aggregate_pubkey", "next_sync_committee_branch"),
        ("/data/attested_header/execution/state_root", "attested_execution_branch"),
        ("/data/attested_header/execution/logs_bloom", "attested_execution_branch"),
        ("/data/attested_header/execution_branch/2", "attested_execution_branch"),
        ("/data/attested_header/beacon/state_root", "finality_branch"),
    ];
    for (pointer, check) in flips {
        let ran = with_update(&folder, &flipped(&update, pointer), &[]).exits(1);
        let reason = ran.object()["reason"].as_str().unwrap().to_owned();
        assert!(reason.starts_with(&format!("{check}: ")), "{pointer}: {reason}");
        let mut failed = ran.err.lines().filter(|line| line.trim_start().starts_with("failed"));
        assert!(failed.any(|line| line.contains(&format!("{check}: "))), "{pointer}: {}", ran.err);
    }
}

/// What no branch covers is covered by the signature.
#[test]
fn a_flipped_bit_of_what_is_signed_fails_the_signature() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let update = first_update(&folder);
    for pointer in ["/data/attested_header/beacon/parent_root", "/data/sync_aggregate/sync_committee_bits"] {
        let ran = with_update(&folder, &flipped(&update, pointer), &[]).exits(1);
        assert_eq!(ran.object()["reason"], "the signature does not match the keys and messages", "{pointer}");
    }
    // A signature with a bit flipped is not a point, or one off the subgroup.
    let ran = with_update(&folder, &flipped(&update, "/data/sync_aggregate/sync_committee_signature"), &[]).exits(1);
    assert!(ran.object()["reason"].as_str().unwrap().starts_with("signature: "), "{ran:?}");
    let mut early = update.clone();
    early["data"]["signature_slot"] = early["data"]["attested_header"]["beacon"]["slot"].clone();
    assert!(
        with_update(&folder, &early, &[]).exits(1).object()["reason"].as_str().unwrap().starts_with("slot_order: ")
    );
}

#[test]
fn too_few_participants_for_the_caller() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let update = first_update(&folder);
    with_update(&folder, &update, &["--min-participants", "0"]).exits(2);
    let ran = with_update(&folder, &update, &["--min-participants", "512"]);
    let few = ran.object()["reason"].as_str().is_some_and(|reason| reason.starts_with("participants: "));
    assert!(few || ran.code == 0, "{ran:?}");
    // No committee has more.
    with_update(&folder, &update, &["--min-participants", "513"]).exits(2).says("513 is not in 1..=512");
}

#[test]
fn another_network_signs_other_roots() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let update = first_update(&folder);
    let root = "11".repeat(32);
    let ran = with_update(&folder, &update, &["--genesis-validators-root", &root]).exits(1);
    assert_eq!(ran.object()["reason"], "it is signed for the network mainnet");
}

/// On a network that is not built in, the schedule of one that is says nothing of layouts.
#[test]
fn a_network_of_ones_own_has_no_schedule() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let root = "11".repeat(32);
    // On mainnet a slot of Altair, whose headers have no execution payload header to prove.
    let mut bootstrap = read(&folder, "bootstrap.json");
    bootstrap["data"]["header"]["beacon"]["slot"] = "2400000".into();
    let mut update = first_update(&folder);
    update["data"]["attested_header"]["beacon"]["slot"] = "2400000".into();
    update["data"]["attested_header"]["execution"]["state_root"] = root.clone().into();
    update["data"]["signature_slot"] = "2400001".into();
    for name in ["finalized_header", "finality_branch"] {
        update["data"].as_object_mut().unwrap().remove(name);
    }
    let files = Folder::new();
    let paths = [files.file("bootstrap.json", bootstrap.to_string()), files.file("update.json", update.to_string())];
    let own = ["--verdicts", "--genesis-validators-root", &root, "--fork-version", "0x10000000"];
    let ran = verify(&[&own[..], &[&paths[0], &paths[1]]].concat()).exits(1);
    let reason = ran.object()["reason"].as_str().unwrap().to_owned();
    assert!(reason.starts_with("attested_execution_branch: expected the block body root"), "{reason}");
}

/// All updates are false for one reason, which is told once, with what to do.
#[test]
fn a_wrong_network_is_told_as_the_cause() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let paths = paths(&folder);
    let files: Vec<_> = paths.iter().map(String::as_str).collect();
    let ran = verify(&[&["--network", "sepolia", "--verdicts"][..], &files].concat()).exits(2);
    let ran = ran.says(
        "error: the light-client updates are signed for mainnet, and not as sepolia signs; give --network mainnet",
    );
    assert_eq!(ran.err.matches("error:").count(), 1, "{}", ran.err);
    let objects = ran.objects();
    assert_eq!(objects.len(), updates_of(&folder));
    assert!(objects.iter().all(|line| line["valid"] == false), "{ran:?}");
    assert!(!ran.err.contains("is not believed") && !ran.err.contains("add a bootstrap"), "{}", ran.err);
    // The same without a bootstrap that another network's forks refuse.
    let root = "11".repeat(32);
    let ran = verify(&[&["--genesis-validators-root", &root, "--verdicts"][..], &files].concat()).exits(1);
    assert_eq!(ran.err.matches("error:").count(), 1, "{}", ran.err);
    let objects = ran.objects();
    assert_eq!(objects.len(), updates_of(&folder));
    assert!(objects.iter().all(|line| line["reason"].as_str().unwrap().contains("mainnet")), "{objects:?}");
    // A false update on the right network is not another network's.
    let update = flipped(&first_update(&folder), "/data/attested_header/beacon/parent_root");
    assert!(!with_update(&folder, &update, &[]).exits(1).err.contains("--network"));
}

/// What rests on a bootstrap that is refused is not complained about one by one.
#[test]
fn a_wrong_trusted_root_is_told_as_the_cause() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let paths = paths(&folder);
    let files: Vec<_> = paths.iter().map(String::as_str).collect();
    let root = "11".repeat(32);
    let ran = verify(&[&["--trusted-root", &root, "--verdicts"][..], &files].concat()).exits(2);
    let ran = ran.says("is not believed").says("trusted_root: expected").says("updates not judged");
    assert!(!ran.err.contains("add a bootstrap"), "{}", ran.err);
    let objects = ran.objects();
    assert_eq!(objects.len(), updates_of(&folder));
    assert!(objects.iter().all(|line| line["malformed"] == true && line["id"].is_u64()), "{ran:?}");
}

#[test]
fn a_forged_bootstrap_is_not_believed() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let bootstrap = read(&folder, "bootstrap.json");
    let files = Folder::new();
    for pointer in ["/data/current_sync_committee/pubkeys/3", "/data/current_sync_committee_branch/1"] {
        let forged = files.file("forged.json", flipped(&bootstrap, pointer).to_string());
        verify(&[&forged]).exits(2).says("is not believed").says("current_sync_committee_branch");
    }
}

/// Of what rests on an update that is false, nobody knows who signed it.
#[test]
fn what_rests_on_a_false_update_is_not_judged() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let mut updates = read(&folder, "updates.json");
    updates[0] = flipped(&updates[0], "/data/sync_aggregate/sync_committee_bits");
    let objects = with_update(&folder, &updates, &[]).exits(2).objects();
    assert_eq!(objects[0]["reason"], "the signature does not match the keys and messages");
    for line in &objects[1..] {
        let reason = line["reason"].as_str().unwrap();
        assert!(line["malformed"] == true && reason.contains("is not known, because it rests on"), "{line}");
    }
}

/// A false update that names the true next committee makes what rests on a true one no less valid, whichever comes first.
#[test]
fn what_rests_on_a_true_update_beside_false_ones_is_valid() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let updates = read(&folder, "updates.json").as_array().unwrap().clone();
    let mut few = updates[0].clone();
    few["data"]["sync_aggregate"]["sync_committee_bits"] = format!("0x{}{}", "ff".repeat(42), "00".repeat(22)).into();
    let unsigned = flipped(&updates[0], "/data/sync_aggregate/sync_committee_bits");
    let false_ones = [few, unsigned];
    for place in [0, 1] {
        let all = [&updates[..place], &false_ones[..], &updates[place..]].concat();
        let ran = with_update(&folder, &all.clone().into(), &[]).exits(1);
        let verdicts: Vec<_> = ran.objects().iter().map(|line| line["valid"] == true).collect();
        let expected = |index| !(place..place + false_ones.len()).contains(&index);
        assert_eq!(verdicts, (0..all.len()).map(expected).collect::<Vec<_>>(), "{ran:?}");
    }
    // With false ones alone, nothing that rests on them is judged. The one that too few signed does not even count.
    let ran = with_update(&folder, &[&false_ones[..], &updates[1..]].concat().into(), &[]).exits(2);
    let objects = ran.objects();
    assert!(objects.iter().all(|line| line["valid"] == false), "{objects:?}");
    assert!(objects[2..].iter().all(|line| line["malformed"] == true), "{objects:?}");
    let reason = objects[2]["reason"].as_str().unwrap();
    assert!(reason.contains("element [1], which is not valid; add a bootstrap"), "{reason}");
}

/// A forged update that names another next committee and comes first makes no true one false, nor what rests on it.
#[test]
fn a_forged_committee_that_comes_first_is_forgotten() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let mut updates = read(&folder, "updates.json");
    let alone = with_update(&folder, &updates, &[]).exits(0).objects().len();
    // The committee after the next one, in a block of the first period.
    let mut forged = updates[1].clone();
    forged["data"]["attested_header"]["beacon"]["slot"] =
        updates[0]["data"]["attested_header"]["beacon"]["slot"].clone();
    forged["data"]["signature_slot"] = updates[0]["data"]["signature_slot"].clone();
    for name in ["finalized_header", "finality_branch"] {
        forged["data"].as_object_mut().unwrap().remove(name);
    }
    for place in [0, alone] {
        let mut all = updates.as_array().unwrap().clone();
        all.insert(place, forged.clone());
        let ran = with_update(&folder, &all.into(), &[]).exits(1);
        let invalid: Vec<_> = ran.objects().into_iter().filter(|line| line["valid"] == false).collect();
        let reason = invalid[0]["reason"].as_str().unwrap();
        assert!(invalid.len() == 1 && reason.contains("next_sync_committee_agrees"), "{invalid:?}");
    }
    // If the true update is false, too, nothing that rests on either is valid.
    updates[0] = flipped(&updates[0], "/data/sync_aggregate/sync_committee_bits");
    updates.as_array_mut().unwrap().insert(0, forged);
    assert!(with_update(&folder, &updates, &[]).exits(2).objects().iter().all(|line| line["valid"] == false));
}

#[test]
fn only_a_bootstrap_of_the_trusted_root_is_believed() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let paths = paths(&folder);
    let files: Vec<_> = paths.iter().map(String::as_str).collect();
    let printed = verify(&files).exits(0).err;
    let root = printed.split_whitespace().find(|word| word.starts_with("0x")).expect("the block root").to_owned();
    verify(&[&["--trusted-root", &root][..], &files].concat()).exits(0);
    let other = root.replace(&root[60..], "000000");
    let ran = verify(&[&["--json", "--trusted-root", &other][..], &files].concat()).exits(2);
    let ran = ran.says("is not believed").says("trusted_root: expected").says(&other).says(&root);
    assert_eq!((&ran.object()["committees_refused"], &ran.object()["valid"]), (&Value::from(1), &Value::from(0)));
    verify(&["--trusted-root", "0x00", files[0]]).exits(2).says("found 2 hexadecimal digits, expected 64");
}

/// A claim under the attacker's key that is an update as well was valid as a claim, and nothing of the update was checked.
#[test]
fn an_update_that_is_a_claim_as_well_is_neither() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let bootstrap = folder.join("bootstrap.json");
    let bootstrap = bootstrap.to_str().unwrap();
    let printed = verify(&[bootstrap]).exits(2).err;
    let root = printed.split_whitespace().find(|word| word.starts_with("0x")).expect("the block root").to_owned();
    let update = flipped(&read(&folder, "optimistic.json"), "/data/attested_header/beacon/state_root");
    let both = |update: &Value| {
        let mut both = claim(1);
        both.as_object_mut().unwrap().extend(update.as_object().unwrap().clone());
        both
    };
    let files = Folder::new();
    let run = |content: String| {
        let file = files.file("forged.json", content);
        verify(&["--quiet", "--verdicts", "--trusted-root", &root, bootstrap, &file]).exits(2)
    };
    // In an envelope, and without one.
    for update in [&update, &update["data"]] {
        let forged = both(update);
        let ran = run(forged.to_string()).says("\"message\" of the format jsonl").says("of the format light-client");
        assert_eq!(ran.out, "");
        let ran = run(lines(&[claim(2), forged, claim(3)])).says("line 2: found the field");
        assert_eq!(ran.valid(), [true, true]);
        let line = &ran.objects()[1];
        assert_eq!((&line["malformed"], &line["valid"]), (&true.into(), &false.into()), "{line}");
    }
}

/// A committee of the attacker's and an update that it signs, beside a true bootstrap: nothing but the flag makes it believed.
#[test]
fn a_committee_among_the_inputs_is_not_believed_without_the_flag() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let (bootstrap, update) = (read(&folder, "bootstrap.json"), first_update(&folder));
    let number = |value: &Value| value.as_str().unwrap().parse::<u64>().unwrap();
    let period = number(&update["data"]["signature_slot"]) / (256 * 32);
    let committee = |period: u64, keys: &Value| serde_json::json!({"period": period, "pubkeys": keys}).to_string();
    let files = Folder::new();
    let true_keys = &bootstrap["data"]["current_sync_committee"]["pubkeys"];
    let given = files.file("given.json", committee(period, true_keys));
    let updates = files.file("update.json", update.to_string());
    // The file alone, with an update that its keys signed.
    let ran = verify(&["--verdicts", &given, &updates]).exits(2);
    let ran = ran.says("given.json element [0]: its committee of period").says("is not believed");
    let ran = ran.says("committee_proof").says("--committee");
    assert!(ran.objects().iter().all(|line| line["malformed"] == true), "{ran:?}");
    let ran = verify(&["--verdicts", "--committee", &given, &updates]).exits(0);
    assert_eq!(ran.object()["valid"], true);
    // What is known already may stand among the inputs, too.
    verify(&["--verdicts", "--committee", &given, &given, &updates]).exits(0);
    // A false one of the bootstrap's own period comes first, and takes nobody's place.
    let mut other_keys = true_keys.clone();
    other_keys.as_array_mut().unwrap().rotate_left(1);
    let root = folder.join("bootstrap.json");
    let root = root.to_str().unwrap();
    for (period, keys) in [(period, &other_keys), (period + 1, true_keys)] {
        let forged = files.file("committee.json", committee(period, keys));
        for arguments in [[&forged[..], root, &updates[..]], [root, &updates[..], &forged[..]]] {
            let ran =
                verify(&[&["--quiet", "--verdicts"][..], &arguments[..]].concat()).exits(1).says("is not believed");
            assert_eq!(ran.object()["valid"], true, "{ran:?}");
        }
    }
}

/// Without --trusted-root nobody has compared the block root, so that it is said to whoever asks for verdicts alone.
#[test]
fn a_block_root_that_is_trusted_is_said_with_quiet() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let [bootstrap, updates] = ["bootstrap.json", "updates.json"].map(|name| folder.join(name));
    let inputs = [bootstrap.to_str().unwrap(), updates.to_str().unwrap()];
    let ran = verify(&[&["-q", "--verdicts"][..], &inputs[..]].concat()).exits(0);
    let ran = ran.says("trusting the committee of period").says("by block root");
    assert_eq!(ran.err.lines().count(), 2, "{}", ran.err);
    let root = ran.err.split_whitespace().find(|word| word.starts_with("0x")).expect("the block root");
    let ran = verify(&[&["-q", "--verdicts", "--trusted-root", root][..], &inputs[..]].concat()).exits(0);
    assert_eq!(ran.err, "");
}

/// JSON may leave out the execution payload header. The verdict stays, and its reader is told what it does not cover.
#[test]
fn an_execution_payload_header_that_is_left_out_is_said_once_beside_the_verdict() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let warning =
        "warning: the document leaves out the execution payload header, so nothing of the execution payload is proved";
    let without_execution = |object: &Value, headers: &[&str]| {
        let mut object = object.clone();
        for name in headers {
            let header = object["data"][name].as_object_mut().unwrap();
            header.retain(|field, _| field == "beacon");
        }
        object
    };
    let (bootstrap, update) = (read(&folder, "bootstrap.json"), first_update(&folder));
    let short = without_execution(&update, &["attested_header", "finalized_header"]);
    let files = Folder::new();
    let run = |bootstrap: &Value, updates: &[&Value], code| {
        let bootstrap = files.file("bootstrap.json", bootstrap.to_string());
        let updates = files.file("updates.json", serde_json::json!(updates).to_string());
        verify(&["--quiet", "--verdicts", &bootstrap, &updates]).exits(code)
    };
    assert!(!run(&bootstrap, &[&update], 0).err.contains("warning"));
    let ran = run(&bootstrap, &[&update, &short], 0).says(&format!("updates.json element [1]: {warning}"));
    assert!(!ran.err.contains("the same is true"), "{}", ran.err);
    let ran = run(&bootstrap, &[&short, &short, &short], 0).says("the same is true of 2 other objects");
    assert_eq!(ran.err.matches("warning").count(), 1, "{}", ran.err);
    let ran = run(&without_execution(&bootstrap, &["header"]), &[&update], 0);
    ran.says(&format!("bootstrap.json element [0]: {warning}"));
    // Of an update that is not valid, that alone is said.
    let ran = run(&bootstrap, &[&flipped(&short, "/data/finality_branch/3")], 1);
    assert!(!ran.err.contains("warning"), "{}", ran.err);
}

#[test]
fn a_false_bootstrap_is_counted() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let files = Folder::new();
    let bootstrap = read(&folder, "bootstrap.json");
    let forged = files.file("forged.json", flipped(&bootstrap, "/data/current_sync_committee/pubkeys/3").to_string());
    let update = files.file("update.json", first_update(&folder).to_string());
    assert_eq!(verify(&["--json", &forged, &update]).exits(2).object()["committees_refused"], 1);
    let good = files.file("good.json", bootstrap.to_string());
    assert_eq!(verify(&["--json", &good, &update]).exits(0).object()["committees_refused"], 0);
    assert_eq!(verify(&["--json", &good, &forged, &update]).exits(1).object()["committees_refused"], 1);
}

/// Every check, the signature among them, says what it expected and what it found, within 80 columns.
#[test]
fn checks_are_explained_within_80_columns() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let update = first_update(&folder);
    let good = with_update(&folder, &update, &[]).exits(0).says("  passed       signature: it matches");
    let ran = with_update(&folder, &flipped(&update, "/data/finality_branch/3"), &[]).exits(1);
    let ran = ran.says("  not possible signature: not verified, because finality_branch failed");
    let failed = ran.err.split("  failed ").nth(1).unwrap_or_else(|| panic!("{}", ran.err));
    assert!(failed.contains("expected") && failed.contains("found"), "{failed}");
    let bits = with_update(&folder, &flipped(&update, "/data/sync_aggregate/sync_committee_bits"), &[]).exits(1);
    let bits = bits.says("  failed       signature: the signature does not match");
    for line in [&good, &ran, &bits].iter().flat_map(|ran| ran.err.lines()) {
        let of_a_file = line.contains("/") || line.contains("committee: period");
        assert!(line.chars().count() <= 80 || of_a_file, "{} columns: {line}", line.chars().count());
    }
}

#[test]
fn two_thirds_must_have_signed() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let mut update = first_update(&folder);
    update["data"]["sync_aggregate"]["sync_committee_bits"] =
        format!("0x{}{}", "ff".repeat(42), "00".repeat(22)).into();
    let reason = with_update(&folder, &update, &[]).exits(1).object()["reason"].as_str().unwrap().to_owned();
    assert!(reason.starts_with("participants: expected at least 342, found that 336 of 512"), "{reason}");
    let ran = with_update(&folder, &update, &["--min-participants", "1"]).exits(1);
    assert_eq!(ran.object()["reason"], "the signature does not match the keys and messages");
}

#[test]
fn an_update_from_standard_input() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let bootstrap = folder.join("bootstrap.json");
    let update = first_update(&folder).to_string();
    crate::verify::run::verify_input(&[bootstrap.to_str().unwrap(), "-"], update).exits(0).says("1 claim: valid");
}

fn read(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

/// A bootstrap makes no claim: whoever acts on the code 0 would act although the updates are missing.
#[test]
fn a_bootstrap_alone_is_nothing_to_verify() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let bootstrap = folder.join("bootstrap.json");
    let bootstrap = bootstrap.to_str().unwrap();
    let ran = verify(&[bootstrap]).exits(2).says("no claims judged; 1 committee read");
    ran.says(&format!("{bootstrap}: found no claim, expected at least one"));
    verify(&["-q", bootstrap]).exits(2).says("found no claim");
    assert_eq!(verify(&["--json", bootstrap]).exits(2).object()["claims"], 0);
    // Beside claims it needs none.
    let updates = folder.join("updates.json");
    let ran = verify(&[bootstrap, updates.to_str().unwrap()]).exits(0);
    assert!(!ran.err.contains("found no claim"), "{}", ran.err);
}

#[test]
fn a_committee_file_alone_is_nothing_to_verify() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let keys = &read(&folder, "bootstrap.json")["data"]["current_sync_committee"]["pubkeys"];
    let files = Folder::new();
    let committee = files.file("committee.json", serde_json::json!({"period": 1, "pubkeys": keys}).to_string());
    verify(&[&committee]).exits(2).says("no claims judged").says("found no claim");
    verify(&["--committee", &committee, &committee]).exits(2).says("no claims judged").says("found no claim");
}

/// An update that the bootstrap's own committee signed.
fn first_update(folder: &Path) -> Value {
    read(folder, "updates.json")[0].clone()
}

/// The number of updates in the files: those of the list, the one that tells what is final, and the newest.
fn updates_of(folder: &Path) -> usize {
    read(folder, "updates.json").as_array().unwrap().len() + 2
}

/// The bootstrap of the set and this update, with their verdicts and checks.
fn with_update(folder: &Path, update: &Value, options: &[&str]) -> Ran {
    let files = Folder::new();
    let bootstrap = folder.join("bootstrap.json");
    let update = files.file("update.json", update.to_string());
    let arguments = [&["--verdicts", "--explain"], options, &[bootstrap.to_str().unwrap(), &update]].concat();
    verify(&arguments)
}

/// The lowest bit of a field's last digit flipped.
fn flipped(document: &Value, pointer: &str) -> Value {
    let mut document = document.clone();
    let field = document.pointer_mut(pointer).unwrap_or_else(|| panic!("no {pointer}"));
    let text = field.as_str().unwrap();
    let (rest, last) = text.split_at(text.len() - 1);
    let last = u8::from_str_radix(last, 16).unwrap() ^ 1;
    *field = format!("{rest}{last:x}").into();
    document
}
