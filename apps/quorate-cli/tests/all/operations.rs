//! `quorate sign deposit`, `change` and `exit`: what a validator signs about its stake, as the staking tools write it.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;

use quorate_lab::run::{Run as _, command};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

const ADDRESS: &str = "0x5FbDB2315678afecb367f032d93F642f64180aa3";

struct Room {
    folder: TempDir,
    public_key: String,
}

impl Room {
    fn new() -> Self {
        let mut room = Self { folder: tempfile::tempdir().unwrap(), public_key: String::new() };
        room.write("key", &format!("{:064x}\n", 1000));
        room.write("other", &format!("{:064x}\n", 1001));
        let shown = room.run(0, &["key", "show", "--suite", "eth2", "--json", "key"]).0;
        room.public_key = serde_json::from_str::<Value>(&shown).unwrap()["public_key"].as_str().unwrap().to_owned();
        room
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        #[cfg(unix)]
        fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    fn run(&self, code: i32, arguments: &[&str]) -> (String, String) {
        let mut command = command("quorate");
        // A suite in the environment is that of messages. These are always of eth2.
        command.env("QUORATE_SUITE", "chia");
        let ran = command.args(arguments).current_dir(self.folder.path()).ran().exits(code);
        (ran.out, ran.err)
    }

    /// What `sign` prints, for a network.
    fn sign(&self, code: i32, object: &str, network: &str, more: &[&str]) -> (String, String) {
        let arguments = [&["sign", object, "--network", network, "--key", "key"], more].concat();
        self.run(code, &arguments)
    }

    fn exit(&self, code: i32, network: &str, index: u64, epoch: u64, more: &[&str]) -> (String, String) {
        let (index, epoch) = (index.to_string(), epoch.to_string());
        let named = ["--validator-index", &index, "--epoch", &epoch, "--record", "record"];
        self.sign(code, "exit", network, &[&named[..], more].concat())
    }

    /// Whether `verify` finds all of a text valid for a network.
    fn verify(&self, code: i32, network: &str, text: &str) -> String {
        self.write("operations.json", text);
        self.run(code, &["verify", "--network", network, "--verdicts", "operations.json"]).0
    }
}

#[test]
fn deposits_as_the_staking_tool_writes_them() {
    let room = Room::new();
    for (network, version) in
        [("mainnet", "00000000"), ("Hoodi", "10000910"), ("gnosis", "00000064"), ("chiado", "0000006f")]
    {
        let text = room.sign(0, "deposit", network, &["--withdrawal-address", ADDRESS]).0;
        let deposit = &serde_json::from_str::<Value>(&text).unwrap()[0];
        let credentials = format!("010000000000000000000000{}", ADDRESS[2..].to_lowercase());
        assert_eq!(deposit["pubkey"], room.public_key.trim_start_matches("0x"));
        assert_eq!(
            (&deposit["withdrawal_credentials"], &deposit["amount"]),
            (&json!(credentials), &json!(32_000_000_000_u64))
        );
        assert_eq!(
            (&deposit["fork_version"], &deposit["network_name"]),
            (&json!(version), &json!(network.to_lowercase()))
        );
        room.verify(0, network, &text);
        // It is of one network alone.
        room.verify(1, "sepolia", &text);
    }
    let compounding = ["--withdrawal-address", ADDRESS, "--compounding", "--amount", "1024.5"];
    let text = room.sign(0, "deposit", "hoodi", &compounding).0;
    assert!(text.contains("\"020000000000000000000000") && text.contains("1024500000000"), "{text}");
    room.verify(0, "hoodi", &text);
    let text = room.sign(0, "deposit", "hoodi", &["--withdrawal-key", &room.public_key]).0;
    assert!(text.contains("\"withdrawal_credentials\":\"00"), "{text}");
    room.verify(0, "hoodi", &text);
}

#[test]
fn deposits_that_would_be_lost_are_not_signed() {
    let room = Room::new();
    let refused = |more: &[&str], why: &str| {
        let (out, err) = room.sign(2, "deposit", "mainnet", more);
        assert!(out.is_empty() && err.contains(why), "{err}");
    };
    refused(&["--withdrawal-address", ADDRESS, "--amount", "0.5"], "at least 1 ETH");
    refused(&["--withdrawal-address", ADDRESS, "--amount", "2048.000000001"], "at most 2048 ETH");
    refused(&["--withdrawal-address", &ADDRESS.replace("5Fb", "5fb")], "EIP-55");
    refused(&["--withdrawal-address", &format!("0x{}", "00".repeat(20))], "nobody has the address zero");
    refused(&["--withdrawal-key", "0x8000"], "--withdrawal-key");
    refused(&[], "--withdrawal-address");
    let (_, err) = room.sign(2, "deposit", "mainet", &["--withdrawal-address", ADDRESS]);
    assert!(err.contains("this network is not known, expected one of mainnet"), "{err}");
}

/// Credentials of a key do not compound: rewards above 32 ETH would not be staked, though the flag says so.
#[test]
fn compounding_with_a_withdrawal_key_is_refused() {
    let room = Room::new();
    let more = ["--withdrawal-key", &room.public_key, "--compounding", "--amount", "2048"];
    let (out, err) = room.sign(2, "deposit", "hoodi", &more);
    assert!(out.is_empty() && err.contains("--compounding") && err.contains("cannot be used with"), "{err}");
}

#[test]
fn changes_as_the_staking_tool_writes_them() {
    let room = Room::new();
    for network in ["mainnet", "hoodi", "gnosis"] {
        let text = room.sign(0, "change", network, &["--validator-index", "7", "--to-address", ADDRESS]).0;
        let change = &serde_json::from_str::<Value>(&text).unwrap()[0];
        assert_eq!(change["message"]["validator_index"], "7");
        assert_eq!(change["message"]["from_bls_pubkey"], room.public_key);
        assert_eq!(change["message"]["to_execution_address"], ADDRESS.to_lowercase());
        assert_eq!(change["metadata"]["network_name"], network);
        room.verify(0, network, &text);
        room.verify(1, "sepolia", &text);
    }
    let zero = format!("0x{}", "00".repeat(20));
    let (out, err) = room.sign(2, "change", "mainnet", &["--validator-index", "7", "--to-address", &zero]);
    assert!(out.is_empty() && err.contains("address zero"), "{err}");
}

/// A key in the place of the record is not shown, and the record of another command is no damaged one.
#[test]
fn the_record_is_not_a_key_and_not_of_checkpoints() {
    let room = Room::new();
    let digits = "12345678".repeat(8);
    room.write("record", &digits);
    let (out, err) = room.exit(2, "hoodi", 7, 9, &[]);
    assert!(out.is_empty() && err.contains("column ") && !err.contains("1234"), "{err}");
    let signed = r#"{"checkpoint":{"height":7}}"#;
    let checksum = const_hex::encode_prefixed(Sha256::digest(signed));
    room.write("record", &format!("{{\"signed\":{signed},\"checksum\":\"{checksum}\"}}\n"));
    let (out, err) = room.exit(2, "hoodi", 7, 9, &[]);
    assert!(out.is_empty() && err.contains("found an entry `checkpoint`, expected `exit`"), "{err}");
}

#[test]
fn exits_as_the_beacon_api_has_them() {
    let room = Room::new();
    let text = room.exit(0, "hoodi", 7, 90_000, &["--new-record"]).0;
    let exit: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(exit["message"], json!({"epoch": "90000", "validator_index": "7"}));
    room.write("exit.json", &text);
    let verify = |code: i32, network: &str| {
        room.run(code, &["verify", "--network", network, "--public-key", &room.public_key, "--verdicts", "exit.json"])
    };
    verify(0, "hoodi");
    verify(1, "mainnet");
    // The same one again is the same.
    assert_eq!(room.exit(0, "hoodi", 7, 90_000, &[]).0, text);
}

/// An exit cannot be taken back. So no other one is signed by accident: of a later epoch, of a mistyped validator, or because the
/// record lost its end.
#[test]
fn no_second_exit_is_signed_with_a_key() {
    let room = Room::new();
    assert!(room.exit(2, "hoodi", 7, 90_000, &[]).1.contains("there is no record of this name"));
    room.exit(0, "hoodi", 7, 90_000, &["--new-record"]);
    for (index, epoch) in [(7, 90_001), (7, 0), (8, 90_000)] {
        let (out, err) = room.exit(1, "hoodi", index, epoch, &[]);
        assert!(
            out.is_empty() && err.contains("the exit of validator 7 in epoch 90000 was signed already on hoodi"),
            "{err}"
        );
    }
    assert!(room.exit(2, "hoodi", 7, 90_000, &["--new-record"]).1.contains("there is a file already"));
    // While another process signs with it, the command line is right all the same.
    let other = fs::File::open(room.folder.path().join("record")).unwrap();
    other.lock().unwrap();
    let (out, err) = room.exit(1, "hoodi", 7, 90_000, &[]);
    assert!(out.is_empty() && err.contains("record is used by another process"), "{err}");
    drop(other);
    // Another network has another validator of this key.
    room.exit(0, "mainnet", 3, 1, &[]);
    let whole = room.read("record");
    room.write("record", whole.trim_end());
    assert!(room.exit(1, "mainnet", 3, 2, &[]).1.contains("its line end was missing"));
    // Cut off behind the chain, the entry may be any exit of it, and none of another chain.
    let third = whole[..whole.len() - 1].rfind('\n').unwrap() + 1;
    room.write("record", &whole[..third + 120]);
    let (out, err) = room.exit(1, "mainnet", 3, 2, &[]);
    assert!(out.is_empty() && err.contains("may have been signed already") && err.contains("is torn"), "{err}");
    room.exit(0, "hoodi", 7, 90_000, &[]);
    room.exit(0, "gnosis", 7, 90_000, &[]);
    room.write("record", &"\0".repeat(300));
    assert!(room.exit(2, "mainnet", 3, 2, &[]).1.contains("the record is damaged"));
    room.write("record", &whole);
    let other = [
        "sign",
        "exit",
        "--network",
        "hoodi",
        "--key",
        "other",
        "--validator-index",
        "9",
        "--epoch",
        "1",
        "--record",
        "record",
    ];
    assert!(room.run(2, &other).1.contains("it is the record of the key"));
}
