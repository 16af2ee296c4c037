//! Every signature with a known answer, through the command line: no case that the library verifies is out of its reach.
#![allow(clippy::unwrap_used, reason = "what a test cannot run or read fails it")]

use std::{collections::BTreeMap, io::Write, path::PathBuf};

use quorate_lab::answers::{
    Case, CaseMessages, Vectors,
    catalogue::{self, Kind},
    signature_cases,
};
use quorate_lab::run::{Run as _, command};
use serde_json::{Value, json};

/// Runs `quorate`: the exit code, the objects on standard output, standard error.
fn quorate(arguments: &[&str]) -> (i32, Vec<Value>, String) {
    let ran = command("quorate").args(arguments).ran();
    (ran.code, ran.objects(), ran.err)
}

#[test]
fn every_case_as_a_line() {
    let claims: Vec<_> = signature_cases().into_iter().filter(|case| !is_possession(case)).collect();
    if claims.is_empty() {
        return;
    }
    println!("{} claims", claims.len());
    let mut file = tempfile::NamedTempFile::new().unwrap();
    for case in &claims {
        writeln!(file, "{}", line(case)).unwrap();
    }
    file.flush().unwrap();

    for options in [&["--threads", "1"][..], &["--threads", "3", "--soundness", "128"]] {
        let arguments = [&["verify", "--verdicts", "-q"], options, &[file.path().to_str().unwrap()]].concat();
        let (code, verdicts, err) = quorate(&arguments);
        assert_eq!((code, err.as_str(), verdicts.len()), (1, "", claims.len()));
        let mut counts = BTreeMap::<&str, usize>::new();
        for (case, verdict) in claims.iter().zip(&verdicts) {
            assert_eq!(verdict["id"], case.id);
            assert_eq!(verdict["valid"], case.expected, "{} under {}: {verdict}", case.id, case.suite);
            assert_eq!(verdict.get("reason").is_none(), case.expected, "{verdict}");
            *counts.entry(&case.set).or_default() += 1;
        }
        println!("{counts:?}");
    }
}

fn line(case: &Case) -> Value {
    let hexes = |all: &[Vec<u8>]| all.iter().map(hex::encode).collect::<Vec<_>>();
    let mut line = json!({
        "id": case.id, "suite": case.suite.name(), "source": case.set,
        "public_keys": hexes(&case.keys), "signature": hex::encode(&case.signature),
    });
    match &case.messages {
        CaseMessages::Shared(message) => line["message"] = hex::encode(message).into(),
        CaseMessages::Each(messages) => line["messages"] = hexes(messages).into(),
        CaseMessages::Possession => unreachable!("these are for another command"),
    }
    line
}

fn is_possession(case: &Case) -> bool {
    matches!(case.messages, CaseMessages::Possession)
}

/// Proofs of possession have a command of their own, one suite a run.
#[test]
fn every_proof_of_possession() {
    let mut by_suite = BTreeMap::<&str, Vec<Case>>::new();
    let all = signature_cases();
    let without_data = all.is_empty();
    for case in all.into_iter().filter(is_possession) {
        by_suite.entry(case.suite.name()).or_default().push(case);
    }
    assert!(without_data || !by_suite.is_empty(), "no case is a proof of possession");
    for (suite, cases) in by_suite {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        for case in &cases {
            let [key] = &case.keys[..] else { panic!("{}: a proof is of one key", case.id) };
            let (key, proof) = (hex::encode(key), hex::encode(&case.signature));
            writeln!(file, "{}", json!({"id": case.id, "public_key": key, "proof": proof})).unwrap();
        }
        let (code, verdicts, err) =
            quorate(&["pop", "verify", "--suite", suite, "--json", file.path().to_str().unwrap()]);
        let all_valid = cases.iter().all(|case| case.expected);
        assert_eq!((code, verdicts.len()), (i32::from(!all_valid), cases.len()), "{suite}: {err}");
        for (case, verdict) in cases.iter().zip(&verdicts) {
            assert_eq!((&verdict["id"], &verdict["valid"]), (&json!(case.id), &json!(case.expected)), "{verdict}");
        }
        println!("{suite}: {} proofs of possession", cases.len());
    }
}

/// drand's bundles as they are, and not the claims that the loader makes of them.
#[test]
fn every_drand_bundle_as_it_is() {
    let Some(vectors) = Vectors::open("drand bundles", &["06"]) else { return };
    let (mut files, mut rounds) = (0, 0);
    for file in vectors.files.iter().filter(|file| matches!(file.kind, Kind::Beacons)) {
        let content: Option<Value> = file.parse();
        let Some(beacons) = content.and_then(|content| Some(content["beacons"].as_array()?.len())) else {
            println!("skipped: {}: it has no list `beacons`", file.name);
            continue;
        };
        let Some(path) = path(&file.name) else { continue };
        let (code, objects, err) = quorate(&["verify", "--json", "-q", path.to_str().unwrap()]);
        assert_eq!((code, err.as_str()), (0, ""), "{}", file.name);
        assert_eq!(objects[0]["valid"], beacons, "{}", file.name);
        (files, rounds) = (files + 1, rounds + beacons);
    }
    println!("{files} bundles, {rounds} rounds");
    assert!(files > 0);
}

/// Light-client objects as the Beacon API gives them.
#[test]
fn every_light_client_object_as_it_is() {
    if Vectors::open("light-client objects", &["07"]).is_none() {
        return;
    }
    let mut updates = 0;
    for set in ["07_eth_helios", "07_eth_trin"] {
        let names = ["bootstrap", "updates", "finality", "optimistic"];
        let files: Vec<_> = names.iter().filter_map(|name| path(&format!("{set}/{name}.json"))).collect();
        if files.len() > 1 {
            updates += valid_updates(&files.iter().map(|path| path.to_str().unwrap()).collect::<Vec<_>>());
        }
    }
    let committee = path("07_eth_derived/committees/mainnet_713.json");
    let update = path("07_eth_datachainlab/mainnet_light_client_update_slot_5841038.json");
    if let (Some(committee), Some(update)) = (committee, update) {
        updates += valid_updates(&["--committee", committee.to_str().unwrap(), update.to_str().unwrap()]);
    }
    println!("{updates} updates");
}

/// Verifies documents of which all updates are valid; how many there are.
fn valid_updates(arguments: &[&str]) -> u64 {
    let (code, objects, err) = quorate(&[&["verify", "--json", "-q"], arguments].concat());
    // What is trusted is said in any case.
    assert!(code == 0 && (err.is_empty() || err.contains("trusting the committee of period")), "{arguments:?}: {err}");
    let valid = objects[0]["valid"].as_u64().unwrap();
    assert!(valid > 0, "{arguments:?}");
    valid
}

/// A file of the vectors, if it is on this machine.
fn path(name: &str) -> Option<PathBuf> {
    assert!(catalogue::entry(name).is_some(), "{name} is in no row of the catalogue");
    quorate_lab::vectors::path(name)
}
