//! Rounds of drand's mainnet: one, an array, a bundle, with the chain named or given.

use std::fs;

use quorate::MinPk;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::verify::run::{
    Folder, Run as _, Verdicts as _, command, example, single, verify, verify_input, with, without,
};

/// The bundle of an example.
fn bundle(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(example(name)).unwrap()).unwrap()
}

/// A round of quicknet.
fn round() -> Value {
    bundle("drand-quicknet.json")["beacons"][0].clone()
}

/// The round with another number, and without the message that the file may state.
fn another_round() -> Value {
    let number = round()["round"].as_u64().unwrap();
    with(round(), "round", number + 1)
}

#[test]
fn a_round_of_a_named_chain() {
    let ran = verify_input(&["--verdicts", "--chain", "quicknet"], round().to_string()).exits(0);
    assert_eq!(ran.object(), json!({"index": 0, "id": round()["round"], "valid": true}));
    let hash = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971";
    verify_input(&["--chain", hash], round().to_string()).exits(0);
    verify_input(&["--chain", "quicknet"], another_round().to_string()).exits(1);
    verify_input(&["--chain", "nonesuch"], round().to_string()).exits(2).says("\"nonesuch\"");
}

#[test]
fn a_round_of_another_chain_says_so() {
    // Another key of the same length: the keys of the others are asked.
    let ran = verify_input(&["--verdicts", "--chain", "fastnet"], round().to_string()).exits(1);
    let expected = "the signature does not match the keys and messages; it is a round of the chain quicknet";
    assert_eq!(ran.object()["reason"], expected);
    let ran = verify_input(&["--verdicts", "--chain", "fastnet"], another_round().to_string()).exits(1);
    assert_eq!(ran.object()["reason"], "the signature does not match the keys and messages", "a round of no chain");
    for (chain, length) in [("evmnet", 64), ("default", 96)] {
        let ran = verify_input(&["--verdicts", "--chain", chain], round().to_string()).exits(1);
        let expected = format!(
            "chain: its signature has 48 bytes, as those of quicknet and fastnet have, and not {length}, so it is a round of another \
             chain than {chain}"
        );
        assert_eq!(ran.object()["reason"], expected);
    }
}

#[test]
fn a_chain_info_that_contradicts_a_known_chain_is_refused() {
    let folder = Folder::new();
    let info = || bundle("drand-quicknet.json")["chain_info"].clone();
    for (field, value, what) in [
        ("schemeID", json!("bls-unchained-on-g1"), "scheme"),
        ("period", json!(30), "its fields hash to"),
        ("hash", json!("ab".repeat(32)), "its fields hash to"),
        ("public_key", bundle("drand-default.json")["chain_info"]["public_key"].clone(), "its fields hash to"),
    ] {
        let path = folder.file("info.json", with(info(), field, value).to_string());
        verify_input(&["--chain-info", &path], round().to_string()).exits(2).says(what);
    }
    let path = folder.file("info.json", without(with(info(), "period", 30), "genesis_time").to_string());
    verify_input(&["--chain-info", &path], round().to_string()).exits(2).says("states the period \"30\"");
}

#[test]
fn a_round_without_a_chain_is_an_error_that_says_what_to_add() {
    verify_input(&[], round().to_string()).exits(2).says("element [0]").says("--chain NAME");
}

#[test]
fn an_array_of_rounds_names_the_false_one() {
    let array = json!([round(), another_round(), {"round": 0, "signature": "00"}, round()]).to_string();
    let ran = verify_input(&["--verdicts", "--chain", "quicknet"], array).exits(2).says("element [2]: \"round\" is 0");
    assert_eq!(ran.valid(), [true, false, true]);
}

#[test]
fn bundles_carry_their_chain() {
    for name in ["drand-default.json", "drand-quicknet.json"] {
        let beacons = bundle(name)["beacons"].as_array().unwrap().len();
        let ran = verify(&["--json", &example(name)]).exits(0);
        assert_eq!(ran.object()["valid"], beacons);
    }
    // A caller who names the chain is told of a document of another.
    verify(&["--chain", "default", &example("drand-quicknet.json")]).exits(2).says("but the chosen chain has");
    verify(&["--chain", "quicknet", &example("drand-quicknet.json")]).exits(0);
}

#[test]
fn a_chain_info_document_stands_in() {
    let folder = Folder::new();
    let info = folder.file("info.json", bundle("drand-quicknet.json")["chain_info"].to_string());
    let ran = verify_input(&["--verdicts", "--chain-info", &info], round().to_string()).exits(0);
    assert_eq!(ran.valid(), [true]);
    let broken = folder.file("broken.json", "{}");
    verify_input(&["--chain-info", &broken], round().to_string())
        .exits(2)
        .says(&broken)
        .says("chain info cannot be used");
}

/// A file in a folder could otherwise choose the key of the rounds in all files behind it.
#[test]
fn a_chain_info_speaks_for_its_own_file_alone() {
    let folder = Folder::new();
    let info = bundle("drand-quicknet.json")["chain_info"].to_string();
    let whole = folder.file("whole.jsonl", format!("{info}\n{}\n", round()));
    let info = folder.file("info.json", info);
    let round = folder.file("round.json", round().to_string());
    assert_eq!(verify(&["--verdicts", &whole]).exits(0).valid(), [true]);
    for files in [[&info, &round], [&round, &info], [&whole, &round]] {
        let ran =
            verify(&["--verdicts", files[0], files[1]]).exits(2).says("round.json: element [0]: nothing says which");
        ran.says("--chain-info FILE");
    }
    // Nothing is verified by a chain info alone, whatever stands beside it, unless the flag asks for it.
    verify(&["-q", &info]).exits(2).says(&info).says("found no claim");
    verify(&["-q", &info, &whole]).exits(2).says(&format!("{info}: found no claim"));
    for chain in [["--chain-info", &info[..]], ["--chain", "quicknet"]] {
        assert_eq!(verify(&[chain[0], chain[1], "--verdicts", &info, &round]).exits(0).valid(), [true]);
    }
    verify(&["--chain", "default", &info, &round]).exits(2).says("but the chosen chain has");
}

/// The suite of `--suite` and of its variable is for rounds whose chain states no scheme.
#[test]
fn a_suite_does_not_replace_the_scheme_of_a_chain() {
    let rounds = example("drand-quicknet.json");
    for suite in ["eth2", "drand-chained", "drand-g1-legacy", "eigenlayer"] {
        for arguments in [&[&rounds[..]][..], &["--chain", "quicknet", &rounds]] {
            let ran = command("quorate").arg("verify").args(arguments).env("QUORATE_SUITE", suite).ran().exits(0);
            assert!(!ran.err.contains("warning"), "{ran:?}");
            let ran = verify(&[&["--suite", suite][..], arguments].concat()).exits(0);
            ran.says(&format!("warning: --suite {suite} was not needed, because every claim names its suite"));
        }
    }
    // A chain that states none, and a round of it.
    let message = Sha256::digest(7_u64.to_be_bytes());
    let round = single(MinPk::DrandUnchained, 1, &message[..], &message[..]);
    let beacon = json!({"round": 7, "signature": round["signature"]});
    let input = json!({"chain_info": {"public_key": round["public_key"]}, "beacons": [beacon]}).to_string();
    verify_input(&[], &input).exits(2).says("lacks \"previous_signature\"");
    let ran = verify_input(&["--suite", "drand-unchained"], &input).exits(0);
    assert!(!ran.err.contains("warning"), "{ran:?}");
    verify_input(&["--suite", "drand-quicknet"], &input).exits(2).says("whose keys have 96; add \"schemeID\"");
}

#[test]
fn the_hash_of_a_known_chain_with_another_key_is_an_error() {
    let mut forged = bundle("drand-quicknet.json");
    let key = bundle("drand-default.json")["chain_info"]["public_key"].clone();
    let hash = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971";
    forged["chain_info"] = serde_json::json!({"hash": hash, "public_key": key, "schemeID": "pedersen-bls-unchained"});
    verify_input(&[], forged.to_string()).exits(2).says("of the chain quicknet").says("that chain has \"83cf");
}

/// A round under a key of one's own was valid although it says that it is of quicknet.
#[test]
fn a_round_that_states_a_known_chain_under_another_key_is_invalid() {
    let message = Sha256::digest(7_u64.to_be_bytes());
    let own = single(MinPk::DrandUnchained, 1, &message[..], &message[..]);
    let input = |said: Value| {
        let mut beacon = json!({"round": 7, "signature": own["signature"]});
        beacon.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
        let info = json!({"public_key": own["public_key"], "schemeID": "pedersen-bls-unchained"});
        json!({"chain_info": info, "beacons": [beacon]}).to_string()
    };
    let hash = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971";
    for said in [json!({"chain": "quicknet"}), json!({"chain_hash": hash}), json!({"metadata": {"chainHash": hash}})] {
        let ran = verify_input(&["--verdicts"], input(said)).exits(1);
        let reason = ran.object()["reason"].as_str().unwrap().to_owned();
        assert!(
            reason.starts_with("chain: the round ") && reason.contains("a round of another chain than"),
            "{reason}"
        );
    }
    verify_input(&[], input(json!({"metadata": {"beaconID": "default"}}))).exits(0);
}

#[test]
fn a_chained_round_needs_the_one_before() {
    let chained = bundle("drand-default.json")["beacons"][1].clone();
    verify_input(&["--chain", "default"], chained.to_string()).exits(0);
    let alone = without(chained.clone(), "previous_signature");
    verify_input(&["--chain", "default"], alone.to_string()).exits(2).says("lacks \"previous_signature\"");
    let other = bundle("drand-default.json")["beacons"][2]["previous_signature"].clone();
    verify_input(&["--chain", "default"], with(chained, "previous_signature", other).to_string()).exits(1);
}

/// A claim under the attacker's key that is a round as well was valid as a claim, whatever chain the flag names.
#[test]
fn a_round_that_is_a_claim_as_well_is_neither() {
    let folder = Folder::new();
    let both = with(single(MinPk::Eth2, 1, &[1], &[1]), "round", 7);
    let rounds = example("drand-quicknet.json");
    for content in [both.to_string(), json!([both]).to_string()] {
        let forged = folder.file("forged.json", content);
        let ran = verify(&["-q", "--verdicts", "--chain", "quicknet", &forged, &rounds]).exits(2);
        let ran = ran.says("the field \"message\" of the format jsonl and the field \"round\" of the format drand");
        assert!(ran.objects().iter().all(|line| line["file"] == rounds), "{ran:?}");
    }
}

#[test]
fn false_randomness_is_named() {
    let ran = verify_input(
        &["--verdicts", "--explain", "--chain", "quicknet"],
        with(round(), "randomness", "00".repeat(32)).to_string(),
    )
    .exits(1)
    .says("failed")
    .says("randomness");
    assert!(ran.object()["reason"].as_str().unwrap().starts_with("randomness: "));
}
