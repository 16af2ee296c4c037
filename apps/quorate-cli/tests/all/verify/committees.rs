//! Which update teaches a sync committee, on a network whose committees sign here.

use std::{collections::BTreeMap, ffi::OsStr, path::Path, process::Command};

use quorate_lab::light_client::{
    FORK_VERSION, GENESIS_VALIDATORS_ROOT, MadeUpCommittee, SLOTS_PER_PERIOD, bootstrap, update,
};
use serde_json::{Value, json};

use crate::verify::run::{Folder, Ran, Run as _, command};

/// A slot of a period, and one of the next period.
const SLOT: u64 = 800 * SLOTS_PER_PERIOD + 40;
const LATER: u64 = SLOT + SLOTS_PER_PERIOD;

fn committee(seed: u8) -> MadeUpCommittee {
    MadeUpCommittee::new(seed)
}

/// `quorate verify` on the network of the committees.
fn verifying(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let (root, version) = (const_hex::encode(GENESIS_VALIDATORS_ROOT), const_hex::encode(FORK_VERSION));
    let mut verify = command("quorate");
    verify.args(["verify", "--verdicts", "--genesis-validators-root", &root, "--fork-version", &version]);
    verify.args(arguments);
    verify
}

fn run(options: &[&str], files: &[String]) -> Ran {
    verifying(options.iter().copied().chain(files.iter().map(String::as_str))).ran()
}

/// A file for each input, by its name.
fn written(folder: &Folder, inputs: &[(&str, Value)]) -> Vec<String> {
    inputs.iter().map(|(name, input)| folder.file(name, input.to_string())).collect()
}

/// What became of each update: `valid`, `invalid` or `not judged`, by its file and its place there.
fn verdicts(ran: &Ran) -> BTreeMap<String, &'static str> {
    let verdict = |line: &Value| match (&line["valid"], &line["malformed"]) {
        (Value::Bool(true), Value::Null) => "valid",
        (Value::Bool(false), Value::Null) => "invalid",
        _ => "not judged",
    };
    let name = |line: &Value| {
        let file = Path::new(line["file"].as_str().unwrap()).file_name().unwrap().to_str().unwrap();
        format!("{file} {}", line["element"])
    };
    ran.objects().iter().map(|line| (name(line), verdict(line))).collect()
}

fn expected<const N: usize>(verdicts: [(&str, &'static str); N]) -> BTreeMap<String, &'static str> {
    verdicts.into_iter().map(|(name, verdict)| (name.to_owned(), verdict)).collect()
}

/// Checks that standard error says something, in however many lines.
#[track_caller]
fn says(ran: &Ran, text: &str) {
    let said: Vec<_> = ran.err.split_whitespace().collect();
    assert!(said.join(" ").contains(text), "expected {text:?} in {}", ran.err);
}

/// All orders of some things.
fn orders<T: Clone>(things: &[T]) -> Vec<Vec<T>> {
    if things.is_empty() {
        return vec![Vec::new()];
    }
    let beginning_with = |first: usize| {
        let mut rest = things.to_vec();
        let thing = rest.remove(first);
        orders(&rest).into_iter().map(move |rest| [vec![thing.clone()], rest].concat())
    };
    (0..things.len()).flat_map(beginning_with).collect()
}

/// Of two valid updates, the later one had its way.
#[test]
fn the_update_that_most_members_signed_teaches_in_any_order() {
    let folder = Folder::new();
    let inputs = [
        ("bootstrap", bootstrap(SLOT, committee(1))),
        ("most", update(SLOT + 1, committee(1), 400, Some(committee(2)))),
        ("fewer", update(SLOT + 2, committee(1), 399, Some(committee(3)))),
        ("forged", update(SLOT + 3, committee(9), 512, Some(committee(4)))),
    ];
    let later: Vec<_> = [2, 3, 4].map(|seed| update(LATER, committee(seed), 512, None)).into();
    let later = folder.file("later", json!(later).to_string());
    let orders = orders(&written(&folder, &inputs));
    assert_eq!(orders.len(), 24);
    for order in orders {
        let ran = run(&[], &[order.clone(), vec![later.clone()]].concat()).exits(1);
        let expected = expected([
            ("most 0", "valid"),
            ("fewer 0", "invalid"),
            ("forged 0", "invalid"),
            ("later 0", "valid"),
            ("later 1", "invalid"),
            ("later 2", "invalid"),
        ]);
        assert_eq!(verdicts(&ran), expected, "{order:?}: {}", ran.err);
    }
}

/// With `--min-participants 1`, one dishonest member could choose all later committees.
#[test]
fn fewer_than_two_thirds_teach_no_committee_whatever_the_flag_says() {
    let folder = Folder::new();
    for (participants, later) in [(1, "not judged"), (341, "not judged"), (342, "valid")] {
        let inputs = [
            ("bootstrap", bootstrap(SLOT, committee(1))),
            ("update", update(SLOT, committee(1), participants, Some(committee(2)))),
            ("later", update(LATER, committee(2), 512, None)),
        ];
        let ran = run(&["--min-participants", "1"], &written(&folder, &inputs));
        assert_eq!(verdicts(&ran), expected([("update 0", "valid"), ("later 0", later)]), "{participants}: {ran:?}");
        if later == "valid" {
            ran.exits(0);
        } else {
            let said = format!("is not believed: {participants} of 512 keys took part");
            ran.exits(2).says(&said).says("is not known").says("that two thirds signed");
        }
    }
}

#[test]
fn of_two_updates_that_equally_many_signed_none_teaches() {
    let folder = Folder::new();
    let inputs = [
        ("bootstrap", bootstrap(SLOT, committee(1))),
        ("one", update(SLOT, committee(1), 400, Some(committee(2)))),
        ("other", update(SLOT + 1, committee(1), 400, Some(committee(3)))),
        ("later", update(LATER, committee(2), 512, None)),
    ];
    for order in orders(&written(&folder, &inputs)) {
        let ran = run(&[], &order).exits(2);
        says(&ran, "several in valid updates that equally many members signed, so none of them is believed");
        let expected = expected([("one 0", "invalid"), ("other 0", "invalid"), ("later 0", "not judged")]);
        assert_eq!(verdicts(&ran), expected, "{order:?}");
    }
}

/// Each of these taught a committee, and the true update that names another one was called invalid.
#[test]
fn an_update_that_fails_makes_no_true_one_false() {
    let folder = Folder::new();
    let by_members = || update(SLOT, committee(1), 512, Some(committee(3)));
    let with = |field: &str, value: Value| {
        let mut update = by_members();
        update["data"][field] = value;
        update
    };
    let finalized = json!({"slot": "1", "proposer_index": "1", "parent_root": "00".repeat(32), "state_root": "00".repeat(32),
        "body_root": "00".repeat(32)});
    let mut unfinal = with("finalized_header", finalized);
    unfinal["data"]["finality_branch"] = json!(vec!["11".repeat(32); 6]);
    for failing in [
        unfinal,
        with("network", "mainnet".into()),
        with("period", 3.into()),
        update(SLOT, committee(9), 512, Some(committee(3))),
        update(SLOT, committee(1), 150, Some(committee(3))),
    ] {
        let inputs = [
            ("failing", failing),
            ("bootstrap", bootstrap(SLOT, committee(1))),
            ("true", update(SLOT + 1, committee(1), 200, Some(committee(2)))),
        ];
        let ran = run(&["--min-participants", "200"], &written(&folder, &inputs)).exits(1);
        assert_eq!(verdicts(&ran), expected([("failing 0", "invalid"), ("true 0", "valid")]), "{ran:?}");
    }
}

/// Whose committee only a forged update names, of that nobody knows who signed it.
#[test]
fn what_rests_on_a_forged_update_is_not_judged() {
    let folder = Folder::new();
    let inputs = [
        ("bootstrap", bootstrap(SLOT, committee(1))),
        ("forged", update(SLOT, committee(9), 512, Some(committee(3)))),
        ("later", json!([update(LATER, committee(2), 512, None), update(LATER, committee(3), 512, None)])),
    ];
    for order in orders(&written(&folder, &inputs)) {
        let ran = run(&[], &order).exits(2).says("its sync committee is not known, because it rests on");
        let expected = expected([("forged 0", "invalid"), ("later 0", "not judged"), ("later 1", "not judged")]);
        assert_eq!(verdicts(&ran), expected, "{order:?}");
    }
}

/// A true update in an input of the same name, at the same place, vouched for the committee of a forged one.
#[test]
fn an_input_of_the_same_name_vouches_for_nothing() {
    let folder = Folder::new();
    let forged = update(SLOT, committee(9), 512, Some(committee(3))).to_string();
    folder.file("bootstrap", bootstrap(SLOT, committee(1)).to_string());
    folder.file("standard input", update(SLOT, committee(1), 512, None).to_string());
    folder.file("later", update(LATER, committee(3), 512, None).to_string());
    for files in [["-", "standard input"], ["standard input", "-"]] {
        let arguments = [&["bootstrap"][..], &files[..], &["later"][..]].concat();
        let ran = verifying(arguments).current_dir(folder.path("")).ran_with(&forged).exits(2);
        assert_eq!(verdicts(&ran)["later 0"], "not judged", "{ran:?}");
        assert_eq!(ran.objects().iter().filter(|line| line["valid"] == true).count(), 1, "{ran:?}");
    }
}

/// The same of names that messages show alike, because they are not UTF-8.
#[cfg(target_os = "linux")]
#[test]
fn an_input_whose_name_looks_the_same_vouches_for_nothing() {
    use std::os::unix::ffi::OsStrExt as _;

    let folder = Folder::new();
    let file = |name: &[u8], object: &Value| {
        let path = Path::new(&folder.path("")).join(OsStr::from_bytes(name));
        std::fs::write(&path, object.to_string()).unwrap();
        path
    };
    let files = [
        file(b"bootstrap", &bootstrap(SLOT, committee(1))),
        file(b"update\xfe", &update(SLOT, committee(9), 512, Some(committee(3)))),
        file(b"update\xff", &update(SLOT, committee(1), 512, None)),
        file(b"later", &update(LATER, committee(3), 512, None)),
    ];
    let ran = verifying(files).ran().exits(2);
    let valid: Vec<_> = ran.objects().iter().map(|line| line["valid"] == true).collect();
    assert_eq!((valid, verdicts(&ran)["later 0"]), (vec![false, true, false], "not judged"), "{ran:?}");
}

/// The first of two bootstraps had its way.
#[test]
fn of_bootstraps_that_contradict_each_other_none_is_believed() {
    let folder = Folder::new();
    let inputs = [
        ("one", bootstrap(SLOT, committee(1))),
        ("other", bootstrap(SLOT, committee(2))),
        ("update", update(SLOT, committee(1), 512, None)),
    ];
    let files = written(&folder, &inputs);
    for order in orders(&files) {
        let ran = run(&[], &order).exits(2);
        says(&ran, "found several in bootstraps, so none of them is believed; name the block that you trust");
        assert_eq!(verdicts(&ran), expected([("update 0", "not judged")]), "{order:?}");
    }
    let trusting = run(&[], &[files[0].clone(), files[2].clone()]).exits(0).err;
    let root = trusting.split_whitespace().find(|word| word.starts_with("0x")).expect("the block root");
    for order in orders(&files) {
        let ran = run(&["--trusted-root", root], &order).exits(1);
        assert_eq!(verdicts(&ran), expected([("update 0", "valid")]), "{order:?}");
    }
}
