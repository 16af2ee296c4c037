//! `--key-set`, and `quorate key-set`, which makes what it reads.

use quorate::{MinPk, MinSig, Suite};
use quorate_lab::run::{Ran, Run as _, command};
use serde_json::{Value, json};

use crate::verify::run::{Folder, Verdicts as _, claim, lines, secret, shared, verify, verify_input, with, without};

/// Keys 0 to 5, one a line.
fn list() -> String {
    (0..6).map(|i| const_hex::encode_prefixed(secret(MinPk::Eth2, i).public_key().to_bytes()) + "\n").collect()
}

/// The claim of these keys over a message, which names them as members.
fn by_members(keys: &[u8], members: impl Into<Value>) -> Value {
    let claim = without(shared(MinPk::Eth2, keys, b"head"), "public_keys");
    without(with(with(claim, "key_set", "sync"), "members", members), "suite")
}

fn save(arguments: &[&str]) -> Ran {
    command("quorate").arg("key-set").args(arguments).ran()
}

/// A list and the set that is saved of it give the same verdicts.
#[test]
fn claims_name_members_of_a_list_or_a_saved_set() {
    let folder = Folder::new();
    let list = folder.file("keys.txt", list());
    let saved = folder.path("keys.set");
    let ran = save(&["--suite", "eth2", &list, "--out", &saved]).exits(0).says("keys.set: 6 members, eth2");
    assert_eq!(ran.out, "");
    let claims = [
        by_members(&[0, 2, 5], "0x25"),
        by_members(&[0, 2, 5], json!([5, 0, 2])),
        by_members(&[0, 2, 5], "0x24"),
        by_members(&[3], json!([3])),
        by_members(&[3], json!([6])),
        with(by_members(&[3], json!([])), "members", ""),
        claim(1),
    ];
    let lines = lines(&claims);
    for arguments in [
        &["--verdicts", "--key-set", &format!("sync={saved}")][..],
        &["--verdicts", "--suite", "eth2", "--key-set", &format!("sync={list}")],
    ] {
        let ran = verify_input(arguments, &lines).exits(1);
        assert_eq!(ran.valid(), [true, true, false, true, false, false, true]);
        assert!(!ran.err.contains("warning"), "{ran:?}");
        assert_eq!(ran.objects()[4]["reason"], "the claim names member 6 of a key set of 6");
    }
    // A single member is remembered as the key that it is.
    let (set, seen) = (format!("sync={saved}"), folder.path("seen.jsonl"));
    verify_input(&["--remember", &seen, "--key-set", &set], by_members(&[3], json!([3])).to_string()).exits(0);
    let key = const_hex::encode(secret(MinPk::Eth2, 3).public_key().to_bytes());
    assert!(std::fs::read_to_string(&seen).unwrap().contains(&key));
    let again = verify_input(&["--known", &seen, "--key-set", &set], by_members(&[3], "08").to_string()).exits(0);
    again.says("1 statement known");
    // The suite of the claim goes before that of the set.
    let other = with(by_members(&[0, 2], "0x05"), "suite", MinSig::Basic.name());
    let ran = verify_input(&["--verdicts", "--key-set", &set], other.to_string()).exits(1);
    assert_eq!(ran.objects()[0]["reason"], "the key set is one of another variant than the claim's suite");
}

#[test]
fn what_cannot_be_used_is_named_with_its_exit_code() {
    let folder = Folder::new();
    let list = folder.file("keys.txt", list());
    let saved = folder.path("keys.set");
    let (from_list, set) = (format!("sync={list}"), format!("sync={saved}"));
    save(&["--suite", "eth2", &list, "--out", &saved]).exits(0);
    let claims = folder.file("claims.jsonl", lines(&[by_members(&[1], json!([1])), claim(1)]));
    // A set that is not there makes that line alone malformed.
    let ran = verify(&["--verdicts", "--key-set", &format!("other={saved}"), &claims]).exits(2);
    let ran = ran.says("line 1: \"key_set\": found \"sync\", expected one of the key sets \"other\"");
    assert_eq!(ran.valid(), [true]);
    verify(&[&claims]).exits(2).says("no key sets were given; give one (on the command line --key-set NAME=FILE)");
    // The command line.
    verify(&["--key-set", "sync", &claims]).exits(2).says("expected NAME=FILE");
    verify(&["--key-set", &set, "--key-set", &set, &claims]).exits(2).says("two key sets have the name \"sync\"");
    verify(&["--key-set", &from_list, &claims]).exits(2).says("keys.txt: a list of keys does not say its suite");
    verify(&["--key-set", "sync=/nowhere", &claims]).exits(3).says("/nowhere: cannot read the key set");
    verify(&["--suite", MinSig::Basic.name(), "--key-set", &from_list, &claims])
        .exits(2)
        .says("keys.txt: line 1: public key: found 48 bytes, expected the 96");
    verify(&["--suite", "eigenlayer", "--key-set", &from_list, &claims]).exits(2).says("key sets are on BLS12-381");
    // Nobody needed it.
    let own = folder.file("own.jsonl", lines(&[claim(1)]));
    verify(&["--key-set", &set, &own]).exits(0).says("warning: --key-set was not needed");
    let rounds = crate::verify::run::example("drand-quicknet.json");
    verify(&["--key-set", &set, &rounds]).exits(2).says("--key-set is for claims in JSON Lines");
    // A damaged set, one that is cut off, and one that others may write.
    let whole = std::fs::read(&saved).unwrap();
    for content in [&whole[..whole.len() - 1], &[&whole[..60], &[0xff], &whole[61..]].concat()] {
        std::fs::write(&saved, content).unwrap();
        verify(&["--key-set", &set, &claims]).exits(2).says("make it again with `quorate key-set`");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::write(&saved, &whole).unwrap();
        std::fs::set_permissions(&saved, std::fs::Permissions::from_mode(0o622)).unwrap();
        verify(&["--key-set", &set, &claims]).exits(2).says("keys.set: others may write it (mode 622)");
    }
}

#[test]
fn a_set_is_saved_whole_for_its_owner_alone_or_not_at_all() {
    let folder = Folder::new();
    let (list, out) = (folder.file("keys.txt", list()), folder.path("keys.set"));
    let bad = folder.file("bad.txt", "00\n");
    save(&["--suite", "eth2", &bad, "--out", &out]).exits(2).says("bad.txt: line 1: public key: found 1 byte");
    save(&["--suite", "eth2", "--out", &out]).exits(2).says("standard input: the key set has no keys");
    save(&["--suite", "eth2", "/nowhere", "--out", &out]).exits(3).says("cannot read /nowhere");
    save(&["--suite", "eth2", &list, "--out", "/nowhere/keys.set"]).exits(3);
    save(&["--suite", "eigenlayer", &list, "--out", &out]).exits(2).says("BN254");
    save(&[&list, "--out", &out]).exits(2).says("--suite");
    assert!(!std::path::Path::new(&out).exists());
    save(&["--suite", "eth2", &list, "--out", &out]).exits(0);
    save(&["--suite", "eth2", &list, "--out", &out]).exits(2).says("use --force to replace it");
    save(&["--suite", "eth2", "--force", &list, "--out", &out]).exits(0);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
