//! A flag that no input uses gives false comfort, so it is an error that says so.

use quorate_lab::vectors;

use crate::verify::run::{Folder, claim, example, lines, verify, verify_input};

#[test]
fn a_flag_that_no_input_uses_is_an_error() {
    let root = "11".repeat(32);
    let key = "22".repeat(48);
    let claims = lines(&[claim(1)]);
    let folder = Folder::new();
    let file = folder.file("claims.jsonl", &claims);
    let flags: [&[&str]; 9] = [
        &["--chain", "quicknet"],
        &["--chain-info", &example("drand-quicknet.json")],
        &["--network", "holesky"],
        &["--genesis-validators-root", &root],
        &["--fork-version", "00000000"],
        &["--committee", &file],
        &["--trusted-root", &root],
        &["--min-participants", "1"],
        &["--public-key", &key],
    ];
    for flag in flags.iter().filter(|flag| flag[0] != "--chain-info") {
        let ran = verify(&[flag, &["--verdicts", &file][..]].concat()).exits(2);
        let ran = ran
            .says(&format!("error: {} is for ", flag[0]))
            .says("it would check nothing")
            .says("claims in JSON Lines");
        assert!(ran.out.is_empty(), "no verdict before the error: {ran:?}");
    }
    // One of several inputs is enough, and the others are named.
    let rounds = example("drand-quicknet.json");
    verify(&["--chain", "quicknet", &file, &rounds]).exits(0).says("it says nothing of");
    verify(&["--network", "mainnet", &rounds]).exits(2).says("found drand rounds");
    verify_input(&["--network", "atlantis"], claims).exits(2).says("expected one of mainnet, sepolia");
}

/// Whoever writes an input chooses its format: a claim under a key of its own is valid whatever the flag trusts.
#[test]
fn inputs_that_a_flag_about_trust_does_not_concern_are_named() {
    let folder = Folder::new();
    let claims = folder.file("claims.jsonl", lines(&[claim(1)]));
    let rounds = example("drand-quicknet.json");
    let run = |files: &[&str]| verify(&[&["-q", "--verdicts", "--chain", "quicknet"][..], files].concat()).exits(0);
    let expected = "warning: --chain is for drand rounds, so it says nothing of ";
    let ran = run(&[&rounds, &claims]);
    assert_eq!(ran.err, format!("{expected}{claims} (claims in JSON Lines)\n"));
    assert_eq!(run(&[&rounds]).err, "");
    let mut files = vec![&rounds[..]];
    files.extend([&claims[..]; 12]);
    let ran = run(&files).says("(claims in JSON Lines) and of 2 other inputs");
    assert_eq!((ran.err.matches(&claims).count(), ran.err.lines().count()), (10, 1), "{}", ran.err);
    // A claim says itself whether it is of a key set.
    let keys = folder.file("keys", claim(1)["public_key"].as_str().unwrap());
    let ran = verify(&["-q", "--suite", "eth2", "--key-set", &format!("a={keys}"), &claims, &rounds]).exits(0);
    assert_eq!(ran.err, "");
}

#[test]
fn a_trusted_root_without_a_bootstrap_is_an_error() {
    let Some(folder) = vectors::path("07_eth_helios") else { return };
    let finality = folder.join("finality.json");
    let root = "11".repeat(32);
    let ran = verify(&["--trusted-root", &root, finality.to_str().unwrap()]).exits(2);
    ran.says("--trusted-root names the block of a bootstrap, and the inputs have none");
    verify(&["--network", "gnosis", finality.to_str().unwrap()]).exits(2).says("--network: found the network");
}

#[test]
fn a_suite_that_no_claim_needed_is_a_warning() {
    let warning = "warning: --suite eth2 was not needed";
    verify_input(&["--suite", "eth2"], lines(&[claim(1)])).exits(0).says(warning);
    assert!(!verify_input(&["--suite", "eth2", "-q"], lines(&[claim(1)])).exits(0).err.contains("warning"));
    let mut nameless = claim(1);
    nameless.as_object_mut().unwrap().remove("suite");
    assert!(!verify_input(&["--suite", "eth2"], lines(&[nameless, claim(2)])).exits(0).err.contains("warning"));
}
