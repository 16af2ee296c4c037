//! `quorate checkpoint` as signers run it: the built binary, and every kind of trouble with files.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;

use quorate_lab::{
    needs::example,
    run::{Ran, Run as _, command, shell},
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with the keys of five signers and their set.
struct Room {
    folder: TempDir,
}

impl Room {
    fn new() -> Self {
        let room = Self { folder: tempfile::tempdir().unwrap() };
        for i in 0..6 {
            room.write(&format!("{i}.key"), &format!("{:064x}\n", 1000 + i));
        }
        let proofs = (0..5).map(|i| room.proof(i)).collect::<String>();
        room.write("proofs.jsonl", &proofs);
        let sets = room.run(0, &["set", "--threshold", "3", "proofs.jsonl"]);
        room.write("sets.json", &sets.0);
        room
    }

    fn proof(&self, i: usize) -> String {
        self.command(&["pop", "prove", "--suite", "eth2", "--json", "--key", &format!("{i}.key")]).out
    }

    fn command(&self, arguments: &[&str]) -> Ran {
        for i in 0..6 {
            use std::os::unix::fs::PermissionsExt;
            let path = self.folder.path().join(format!("{i}.key"));
            fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        command("quorate").args(arguments).current_dir(self.folder.path()).ran()
    }

    /// Runs `quorate checkpoint`: what it prints on both outputs.
    fn run(&self, code: i32, arguments: &[&str]) -> (String, String) {
        let ran = self.command(&[&["checkpoint"], arguments].concat()).exits(code);
        (ran.out, ran.err)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    fn propose(&self, height: u64, block: &str) -> String {
        let (height, block, chain) = (height.to_string(), block.repeat(32), "c1".repeat(32));
        let arguments = [
            "propose",
            "--sets",
            "sets.json",
            "--chain-id",
            &chain,
            "--first",
            "--height",
            &height,
            "--block-hash",
            &block,
        ];
        self.run(0, &arguments).0
    }

    fn sign(&self, code: i32, i: usize, checkpoint: &str) -> (String, String) {
        let (key, record) = (format!("{i}.key"), format!("{i}.record"));
        let mut arguments = vec!["sign", "--sets", "sets.json", "--key", &key, "--record", &record, checkpoint];
        arguments.extend(self.new_record(&record));
        self.run(code, &arguments)
    }

    /// The option that begins a record that is not there.
    fn new_record(&self, record: &str) -> Option<&'static str> {
        (!self.folder.path().join(record).exists()).then_some("--new-record")
    }

    /// A checkpoint that signers have signed, as lines.
    fn signed(&self, height: u64, block: &str, by: &[usize]) -> String {
        self.write("checkpoint.json", &self.propose(height, block));
        by.iter().map(|i| self.sign(0, *i, "checkpoint.json").0).collect()
    }
}

#[test]
fn the_example_runs() {
    let ran = shell("exec sh \"$0\"").arg(example("checkpoint.sh")).ran().exits(0);
    for expected in [
        "height 800000, block 0xb2b2",
        ": valid\n",
        "exit code 1\nerror: at height 800000 the checkpoint with the digest 0x… was signed already",
        "exit code 1\nproven: enough signers have signed two things",
        "mallory signed both\n",
        "height 802016, block 0xb3b3",
    ] {
        assert!(ran.out.contains(expected), "{expected:?}\n{ran:#?}");
    }
}

/// The second file would be empty.
#[test]
fn standard_input_is_one_file() {
    let room = Room::new();
    for arguments in [["verify", "--sets", "-", "-"], ["judge", "--sets", "-", "-"], ["combine", "--sets", "-", "-"]] {
        let mut command = command("quorate");
        command.arg("checkpoint").args(arguments).current_dir(room.folder.path());
        command.ran_with(room.read("sets.json")).refused("standard input cannot be read twice");
    }
    // Nor is there a passphrase behind a file.
    room.write("checkpoint.json", &room.propose(100, "b2"));
    room.write("passphrase", "a passphrase\n");
    let keystore = ["--keystore", "--kdf", "pbkdf2", "--passphrase-file", "passphrase", "--out", "0.json"];
    room.command(&[&["key", "import", "--suite", "eth2", "0.key"][..], &keystore].concat()).exits(0);
    let signer = ["--key", "0.json", "--record", "0.record", "--new-record", "--passphrase-fd", "0"];
    for (sets, checkpoint) in [("-", "checkpoint.json"), ("sets.json", "-")] {
        let mut command = command("quorate");
        command.args(["checkpoint", "sign", "--sets", sets, checkpoint]).args(signer).current_dir(room.folder.path());
        let input = room.read(if sets == "-" { "sets.json" } else { "checkpoint.json" });
        assert_eq!(command.ran_with(input).refused("0.json: standard input cannot be read twice").out, "");
        assert!(!room.folder.path().join("0.record").exists());
    }
}

#[test]
fn a_record_forbids_a_second_checkpoint_at_one_height() {
    let room = Room::new();
    let lines = room.signed(100, "b2", &[0]);
    let digest = room.run(0, &["show", "checkpoint.json"]).0;
    let digest = digest.lines().find_map(|line| line.strip_prefix("digest")).unwrap().trim().to_owned();
    room.write("other.json", &room.propose(100, "66"));
    let (out, err) = room.sign(1, 0, "other.json");
    assert!(
        out.is_empty() && err.contains(&format!("the checkpoint with the digest {digest} was signed already")),
        "{err}"
    );
    room.write("lower.json", &room.propose(99, "66"));
    assert!(room.sign(1, 0, "lower.json").1.contains("a checkpoint at height 100 was signed already"));
    room.write("higher.json", &room.propose(101, "66"));
    assert!(room.sign(1, 0, "higher.json").1.contains("previous is zero"));
    // The same one again, also from a file with signatures.
    room.write("signed.json", &lines);
    assert_eq!(room.sign(0, 0, "signed.json").0, lines);
    assert_eq!(room.read("0.record").lines().count(), 2);
    // While another process signs with it, the command line is right all the same.
    let other = fs::File::open(room.folder.path().join("0.record")).unwrap();
    other.lock().unwrap();
    let (out, err) = room.sign(1, 0, "signed.json");
    assert!(out.is_empty() && err.contains("0.record is used by another process"), "{err}");
    drop(other);
    // Another key is not one of the set.
    assert!(room.sign(2, 5, "checkpoint.json").1.contains("not one of the set"));
    room.write("0.record", &room.read("0.record").replace("\"height\":100", "\"height\":101"));
    assert!(room.sign(2, 0, "checkpoint.json").1.contains("0.record, line 2: the checksum"));
}

/// `$(cat record)`, a secret store and many an editor take the last line end away; a copy can break off; a disk can leave zeros.
#[test]
fn a_record_that_lost_its_end_signs_no_height_twice() {
    let room = Room::new();
    room.signed(100, "b2", &[0]);
    room.write("other.json", &room.propose(100, "66"));
    let whole = room.read("0.record");
    let second = whole.find('\n').unwrap() + 1;
    // With its line of the key, and as earlier versions wrote it.
    for record in [whole.trim_end(), whole[second..].trim_end()] {
        room.write("0.record", record);
        let (out, err) = room.sign(1, 0, "other.json");
        assert!(out.is_empty() && err.contains("0.record, line") && err.contains("its line end was missing"), "{err}");
        assert!(err.contains("at height 100 the checkpoint with the digest"), "{err}");
        assert_eq!(room.read("0.record"), format!("{record}\n"));
        assert_eq!(err.contains("names no key"), record.starts_with("{\"signed\""), "{err}");
    }
    for cut in [40, second + 40, second + 150, whole.len() - 2] {
        room.write("0.record", &whole[..cut]);
        let (out, err) = room.sign(1, 0, "other.json");
        assert!(
            out.is_empty() && err.contains("the entry is torn") && err.contains("may have been signed"),
            "{cut}: {err}"
        );
    }
    for damaged in [String::new(), "\0".repeat(357), whole.replace('\n', "\r\n"), format!("{whole}\0\0\0")] {
        room.write("0.record", &damaged);
        let (out, err) = room.sign(2, 0, "other.json");
        assert!(out.is_empty() && err.contains("the record is damaged"), "{err}");
        assert_eq!(room.read("0.record"), damaged);
    }
}

#[test]
fn a_record_is_of_one_key_and_begins_when_it_is_asked_for() {
    let room = Room::new();
    room.signed(100, "b2", &[0]);
    room.write("other.json", &room.propose(100, "66"));
    let sign = |code: i32, more: &[&str]| {
        room.run(code, &[&["sign", "--sets", "sets.json", "--key", "0.key", "other.json"], more].concat()).1
    };
    assert!(sign(2, &["--record", "typo.record"]).contains("typo.record: there is no record of this name"));
    assert!(!room.folder.path().join("typo.record").exists());
    assert!(sign(2, &["--record", "0.record", "--new-record"]).contains("there is a file already"));
    fs::copy(room.folder.path().join("0.record"), room.folder.path().join("1.record")).unwrap();
    let err = room.sign(2, 1, "other.json").1;
    assert!(err.contains("1.record: it is the record of the key 0x"), "{err}");
    // An earlier version wrote no key. The first new signature binds it.
    let old = room.read("0.record").lines().skip(1).map(|line| format!("{line}\n")).collect::<String>();
    room.write("1.record", &old.replace("\"height\":100", "\"height\":99"));
    assert!(room.sign(2, 1, "other.json").1.contains("the checksum"));
    room.write("1.record", &old);
    let higher = room.propose(101, "66").replacen(&"00".repeat(32), &"11".repeat(32), 1);
    room.write("higher.json", &higher);
    assert!(room.sign(0, 1, "higher.json").1.contains("names no key"));
    fs::rename(room.folder.path().join("1.record"), room.folder.path().join("0.record")).unwrap();
    assert!(room.sign(2, 0, "higher.json").1.contains("it is the record of the key 0x"));
}

#[test]
fn signatures_are_united_and_verified() {
    let room = Room::new();
    let lines = room.signed(100, "b2", &[0, 2, 4]);
    room.write("two.jsonl", &lines.lines().take(2).map(|line| format!("{line}\n")).collect::<String>());
    room.write("three.jsonl", &lines);
    let (few, err) = room.run(1, &["combine", "--sets", "sets.json", "two.jsonl"]);
    assert!(err.contains("2 signers, too few (expected at least 3): 0, 2"), "{err}");
    room.write("one.jsonl", &lines.lines().take(1).map(|line| format!("{line}\n")).collect::<String>());
    let (_, err) = room.run(1, &["combine", "--sets", "sets.json", "one.jsonl"]);
    assert!(err.contains("1 signer, too few (expected at least 3): 0"), "{err}");
    // Partial checkpoints unite, and one key counts once.
    room.write("few.json", &few);
    assert!(room.run(1, &["combine", "--sets", "sets.json", "few.json", "two.jsonl"]).1.contains("2 signers, too few"));
    let (all, err) = room.run(0, &["combine", "--sets", "sets.json", "few.json", "three.jsonl"]);
    assert!(err.contains("3 signers, enough"), "{err}");
    room.write("all.json", &all);
    let verified = room.run(0, &["verify", "--sets", "sets.json", "all.json"]).0;
    assert!(verified.contains(": valid\nsigner 0: 0x") && verified.contains("signer 4: 0x"), "{verified}");
    let verified: Value =
        serde_json::from_str(&room.run(0, &["verify", "--json", "--sets", "sets.json", "all.json"]).0).unwrap();
    let block = format!("0x{}", "b2".repeat(32));
    let expected = json!({"valid": true, "height": 100, "block_hash": block, "signers": [0, 2, 4], "threshold": 3});
    assert_eq!(verified, expected);
    // What is not valid, and why.
    assert!(room.run(1, &["verify", "--sets", "sets.json", "few.json"]).0.contains("invalid: 2 signers, too few"));
    let expires = serde_json::from_str::<Value>(&all).unwrap()["document"]["expires_at"].to_string();
    assert!(room.run(1, &["verify", "--sets", "sets.json", "--at", &expires, "all.json"]).0.contains("it expired at"));
    assert!(room.run(1, &["verify", "--sets", "sets.json", "--at", "0", "all.json"]).0.contains("it is issued at"));
    let mut forged: Value = serde_json::from_str(&all).unwrap();
    forged["signatures"][1]["signature"] = forged["signatures"][0]["signature"].clone();
    forged.as_object_mut().unwrap().remove("sum");
    room.write("forged.json", &forged.to_string());
    assert!(
        room.run(1, &["verify", "--sets", "sets.json", "forged.json"]).0.contains("the signature of signer 2 is false")
    );
    let (_, err) = room.run(1, &["combine", "--sets", "sets.json", "forged.json"]);
    assert!(err.contains("forged.json: checkpoint at height 100") && err.contains("signer 2 is false"), "{err}");
    // Signatures of two checkpoints are not mixed.
    room.write("mixed.jsonl", &(lines + &all.replace("\"height\":100", "\"height\":101")));
    assert!(room.run(2, &["combine", "--sets", "sets.json", "mixed.jsonl"]).1.contains("another checkpoint"));
}

#[test]
fn input_that_cannot_be_read() {
    let room = Room::new();
    room.write("checkpoint.json", &room.propose(100, "b2"));
    let sign = ["sign", "--sets", "sets.json", "--key", "0.key", "--record", "0.record"];
    let fails = |code: i32, name: &str, text: &str, reason: &str| {
        room.write("input.json", text);
        let arguments: Vec<_> = match name {
            "sets" => vec!["verify", "--sets", "input.json", "checkpoint.json"],
            "sign" => [&sign[..], &["input.json"]].concat(),
            "set" => vec!["set", "--threshold", "3", "input.json"],
            "show" => vec!["show", "input.json"],
            _ => vec![name, "--sets", "sets.json", "input.json"],
        };
        let err = room.run(code, &arguments).1;
        assert!(err.contains(reason) && err.contains("input.json"), "{name}: {err}");
    };
    let sets = room.read("sets.json");
    fails(2, "sets", "", "it does not begin with {");
    fails(2, "sets", &sets[..sets.len() / 2], "EOF");
    fails(2, "sets", &sets.replacen("\"threshold\":3", "\"threshold\":2", 1), "expected more than half");
    fails(2, "sets", &sets.replacen("\"epoch\"", "\"epochs\"", 1), "in the field first");
    fails(2, "sets", &format!("{{\"first\":{}", "[".repeat(100_000)), "expected sets of signers");
    let checkpoint = room.read("checkpoint.json");
    fails(2, "sign", &checkpoint.replacen("\"version\":1", "\"version\":9", 1), "found version 9, expected 1");
    fails(2, "sign", &checkpoint.replacen("0xb2", "0x", 1), "expected 64");
    fails(2, "sign", "{\"document\":{}}", "a checkpoint with its signatures");
    fails(2, "show", &sets.replacen("\"epoch\"", "\"epochs\"", 1), "expected sets of signers");
    fails(2, "show", "{}", "expected a checkpoint");
    fails(2, "combine", "\n", "is empty");
    fails(2, "combine", "{}", "line 1");
    fails(2, "judge", "{}", "evidence");
    fails(2, "set", &room.proof(0).replace("eth2", "chia"), "line 1");
    let proofs = room.read("proofs.jsonl");
    let twice: String = proofs.lines().take(2).chain(proofs.lines().take(1)).map(|line| format!("{line}\n")).collect();
    room.write("twice.jsonl", &twice);
    assert!(room.run(2, &["set", "--threshold", "2", "twice.jsonl"]).1.contains("signers 0 and 2 have the same key"));
    let id = "ab".repeat(32);
    let (_, err) = room.run(2, &["verify", "--sets", "sets.json", "--pin", &id, "checkpoint.json"]);
    assert!(err.contains("expected the pinned one, 0xabab"), "{err}");
    assert!(
        room.run(2, &["verify", "--sets", "sets.json", "--pin", "abab", "checkpoint.json"])
            .1
            .contains("found 4 hexadecimal digits, expected 64")
    );
    room.run(3, &["verify", "--sets", "missing.json", "checkpoint.json"]);
    let nowhere = ["sign", "--sets", "sets.json", "--key", "0.key", "--record", "no/such/record", "checkpoint.json"];
    room.run(3, &[&nowhere[..], &["--new-record"]].concat());
    assert!(room.run(2, &nowhere).1.contains("no/such/record: there is no record of this name"));
    // Nothing was signed in all of this.
    assert!(!room.folder.path().join("0.record").exists());
}

#[test]
fn both_sets_sign_a_rotation() {
    let room = Room::new();
    let proofs: String = (1..6).map(|i| room.proof(i)).collect();
    room.write("next-proofs.jsonl", &proofs);
    room.write("next.json", &room.run(0, &["set", "--threshold", "3", "--epoch", "2", "next-proofs.jsonl"]).0);
    let rotate = |code: i32, i: usize, to: &str| {
        let (key, record) = (format!("{i}.key"), format!("{i}.record"));
        let mut arguments = vec!["rotate", "--sets", "sets.json", "--to", to, "--key", &key, "--record", &record];
        arguments.extend(room.new_record(&record));
        room.run(code, &arguments)
    };
    let lines: Vec<_> = (0..6).map(|i| rotate(0, i, "next.json").0).collect();
    // Keys 1 and 2 are in both sets; 0 is only in the old one, 5 only in the new one.
    room.write("few.jsonl", &[&lines[0][..], &lines[1], &lines[2]].concat());
    let err = room.run(1, &["adopt", "--sets", "sets.json", "few.jsonl"]).1;
    assert!(err.contains("2 signers of the new set have signed the change, expected at least 3"), "{err}");
    room.write("enough.jsonl", &[&lines[0][..], &lines[1], &lines[2], &lines[5]].concat());
    let (sets, err) = room.run(0, &["adopt", "--sets", "sets.json", "enough.jsonl"]);
    assert!(err.contains("3 signers of the new set have signed"), "{err}");
    room.write("sets-2.json", &sets);
    let err = room.run(2, &["adopt", "--sets", "sets-2.json", "enough.jsonl"]).1;
    assert!(err.contains("the sets contain this change already, to the set with epoch 2"), "{err}");
    // What the old set signed is no longer valid.
    room.write("signed.jsonl", &room.signed(100, "b2", &[0, 3, 4]));
    room.write("signed.json", &room.run(0, &["combine", "--sets", "sets.json", "signed.jsonl"]).0);
    room.run(0, &["verify", "--sets", "sets.json", "signed.json"]);
    let (out, _) = room.run(1, &["verify", "--sets", "sets-2.json", "signed.json"]);
    assert!(out.contains("invalid: it is of the set with epoch 1, and the newest is 2\nsigner 0: 0x"), "{out}");
    let shown = room.run(0, &["show", "sets-2.json"]).0;
    assert!(shown.contains("set of epoch 1: 3 of 5") && shown.contains("set of epoch 2: 3 of 5"), "{shown}");
    room.write("one.json", &lines[2]);
    assert!(room.run(0, &["show", "one.json"]).0.contains("signed by signers of the old set (not verified): 2"));
    // A second change of the same set is refused.
    room.write("mine.jsonl", &(room.proof(0) + &room.proof(1)));
    room.write("mine.json", &room.run(0, &["set", "--threshold", "2", "--epoch", "2", "mine.jsonl"]).0);
    assert!(rotate(1, 0, "mine.json").1.contains("was signed already"));
    room.write("late.json", &room.run(0, &["set", "--threshold", "2", "--epoch", "3", "mine.jsonl"]).0);
    assert!(rotate(2, 0, "late.json").1.contains("does not lead from this set (epoch 1) to the next epoch"));
    assert!(rotate(2, 0, "sets-2.json").1.contains("has changes already"));
}
