//! `quorate history verify` as a person runs it: the built binary on generated eras, whole and damaged.
//!
//! `quorate_lab::vectors` says where they lie, and what a test does without them.
#![allow(clippy::unwrap_used, reason = "what a test cannot run or read fails it")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use quorate_lab::run::{Folder, Ran, Run as _, command, shell};
use serde_json::Value;
use tempfile::TempDir;

/// A folder of the chains, if the test data is on this machine.
fn folder(name: &str) -> Option<PathBuf> {
    quorate_lab::vectors::path(Path::new("20_history").join(name))
}

/// `quorate history verify`.
fn history(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Ran {
    command("quorate").args(["history", "verify"]).args(arguments.iter().map(|argument| argument.as_ref())).ran()
}

fn era(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("minimal-{number:05}.era"))
}

/// A copy of a chain to damage.
fn copy(folder: &Path) -> TempDir {
    let copy = TempDir::new().unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        fs::write(copy.path().join(path.file_name().unwrap()), fs::read(path).unwrap()).unwrap();
    }
    copy
}

/// Slot, kind, place and verdict of each signature: the expected answer.
fn expected(folder: &Path) -> BTreeSet<(u64, String, String, bool)> {
    let mut rows = BTreeSet::new();
    for number in [1, 2] {
        let text = fs::read_to_string(folder.join(format!("claims-{number:05}.tsv"))).unwrap();
        for line in text.lines().skip(1) {
            let [slot, kind, place, _, _, verdict, ..] = line.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            rows.insert((slot.parse().unwrap(), kind.to_owned(), place.to_owned(), verdict == "true"));
        }
    }
    rows
}

/// The same of verdict lines.
fn found(objects: &[Value]) -> BTreeSet<(u64, String, String, bool)> {
    let row = |verdict: &Value| {
        let place = verdict["index"].as_str().map_or_else(|| verdict["index"].to_string(), str::to_owned);
        let kind = verdict["kind"].as_str().unwrap().to_owned();
        (verdict["slot"].as_u64().unwrap(), kind, place, verdict["valid"].as_bool().unwrap())
    };
    objects.iter().map(row).collect()
}

#[test]
fn a_verdict_for_every_signature() {
    for (name, code, legal) in [("capella", 0, 0), ("deneb", 0, 2), ("capella_deneb", 0, 2), ("deneb_lies", 1, 2)] {
        let Some(folder) = folder(name) else { return };
        let ran = history(&[&"--verdicts", &"-q", &folder]);
        // The tables of the expected verdicts lie in the folder too.
        let left = format!("{}: not read: 2 files (first: claims-00001.tsv)\n", folder.display());
        assert_eq!((ran.code, ran.err.as_str()), (code, left.as_str()), "{name}");
        let objects = ran.objects();
        let expected = expected(&folder);
        assert_eq!((objects.len(), found(&objects)), (expected.len(), expected), "{name}");
        let lies: Vec<&Value> = objects.iter().filter(|verdict| verdict["valid"] == false).collect();
        assert!(lies.iter().all(|verdict| verdict["reason"].is_string()), "{name}");
        let legal_lies: Vec<_> = lies.iter().filter(|verdict| verdict["legal"] == true).collect();
        assert_eq!(legal_lies.len(), legal, "{name}");
        assert!(legal_lies.iter().all(|verdict| verdict["kind"] == "deposit"), "{name}");
    }
}

#[test]
fn the_order_of_the_slots_and_not_of_the_names() {
    let Some(folder) = folder("capella") else { return };
    let network = folder.join("chain.json");
    let copy = TempDir::new().unwrap();
    for (number, name) in [(0, "c.era"), (1, "b.era"), (2, "a.era")] {
        fs::copy(era(&folder, number), copy.path().join(name)).unwrap();
    }
    let ran = history(&[&"--network", &network, &"--json", &copy.path()]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let summary = &ran.objects()[0];
    assert_eq!(
        (summary["claims"].as_u64(), summary["valid"].as_u64(), summary["blocks"].as_u64()),
        (Some(850), Some(850), Some(122))
    );
    assert_eq!(summary["kinds"]["attestation"]["claims"], 484);
    assert!(ran.err.contains("850 claims: 850 valid, 0 invalid"), "{}", ran.err);
}

#[test]
fn the_summary_names_lies_by_their_place_in_a_block() {
    let Some(folder) = folder("deneb_lies") else { return };
    let ran = history(&[&"--json", &"--threads", &"1", &"--soundness", &"128", &folder]);
    assert_eq!(ran.code, 1);
    let summary = &ran.objects()[0];
    assert_eq!((summary["invalid"].as_u64(), summary["legal"].as_u64()), (Some(13), Some(2)));
    let failures = summary["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 13);
    let first = &failures[0];
    assert_eq!((&first["slot"], &first["kind"], &first["index"]), (&11.into(), &"attestation".into(), &0.into()));
    assert!(ran.err.contains("13 invalid, 2 false deposits that a chain may hold"), "{}", ran.err);
    // For a person: each lie with its place, and the deposits apart.
    let ran = history(&[&folder]);
    assert!(
        ran.out.contains("slot 19, randao 0\n") && ran.out.contains("false, but a chain may hold it: "),
        "{}",
        ran.out
    );
}

#[test]
fn a_chain_that_is_not_described() {
    let Some(folder) = folder("deneb") else { return };
    let files = [era(&folder, 0), era(&folder, 1)];
    let ran = history(&[&files[0], &files[1]]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("0x2d95ac4f") && ran.err.contains("none of mainnet,") && ran.err.contains("--network FILE"),
        "{}",
        ran.err
    );
    // Another network than the states'.
    let ran = history(&[&"--network", &"mainnet", &files[0], &files[1]]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(
        ran.err.contains("minimal-00000.era") && ran.err.contains("expected the end of an era")
            || ran.err.contains("of another network"),
        "{}",
        ran.err
    );
    let ran = history(&[&"--network", &"atlantis", &files[0]]);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("the network atlantis is none of mainnet, "), "{}", ran.err);
}

#[test]
fn eras_that_are_missing_or_doubled() {
    let Some(folder) = folder("capella") else { return };
    let network = folder.join("chain.json");
    let run = |numbers: &[u64]| {
        let files: Vec<PathBuf> = numbers.iter().map(|number| era(&folder, *number)).collect();
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"--network", &network, &"--json"];
        arguments.extend(files.iter().map(|file| file as &dyn AsRef<std::ffi::OsStr>));
        let ran = history(&arguments);
        (ran.code, ran.objects()[0]["claims"].as_u64().unwrap(), ran.err)
    };
    let (code, claims, err) = run(&[2]);
    assert_eq!((code, claims), (2, 0));
    assert!(err.contains("minimal-00002.era: era 2 begins with the state at the end of era 1"), "{err}");
    // Of the first file the state is used, which is said.
    let (code, claims, err) = run(&[2, 1]);
    assert_eq!((code, claims), (0, 441));
    assert!(
        err.contains("minimal-00001.era: only its state is used, because no input has the state before its 59 blocks"),
        "{err}"
    );
    // A gap.
    let (code, claims, err) = run(&[0, 2]);
    assert_eq!((code, claims), (2, 0));
    assert!(err.contains("minimal-00002.era: era 2 begins with the state at the end of era 1"), "{err}");
    // The genesis state alone has no block.
    let (code, claims, err) = run(&[0]);
    assert_eq!((code, claims), (2, 0));
    assert!(err.contains("found no block and no round to verify"), "{err}");
    // Twice: nothing is counted twice.
    let (code, claims, err) = run(&[0, 1, 1]);
    assert_eq!((code, claims), (2, 409));
    assert!(err.contains("minimal-00001.era: it is era 1, and so is ") && err.contains("give each era once"), "{err}");
}

#[test]
fn a_truncated_file_and_one_of_another_kind() {
    let Some(folder) = folder("deneb") else { return };
    let copy = copy(&folder);
    let path = era(copy.path(), 1);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 100]).unwrap();
    let ran = history(&[&"--json", &copy.path()]);
    // Era 2 has lost the state that it begins with.
    assert_eq!((ran.code, ran.objects()[0]["claims"].as_u64()), (2, Some(0)));
    assert!(ran.err.contains("minimal-00001.era: offset 90908: found a record of 528 bytes, but "), "{}", ran.err);
    assert!(ran.err.contains("minimal-00002.era: era 2 begins with"), "{}", ran.err);
    fs::write(&path, b"# not an era").unwrap();
    let ran = history(&[&copy.path()]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("is this an era file?"), "{}", ran.err);
    let ran = history(&[&copy.path().join("nothing.era")]);
    assert_eq!(ran.code, 3);
    let empty = TempDir::new().unwrap();
    let ran = history(&[&empty.path()]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("found no file whose name ends in .era"), "{}", ran.err);
}

#[test]
fn a_damaged_block_ends_its_era_and_no_other() {
    let Some(folder) = folder("deneb") else { return };
    let copy = copy(&folder);
    let path = era(copy.path(), 1);
    let mut bytes = fs::read(&path).unwrap();
    // The checksum of the second block's first chunk.
    bytes[613 + 8 + 14] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let ran = history(&[&"--json", &copy.path()]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("minimal-00001.era: offset 613, the block of slot 2: the packed data is damaged"),
        "{}",
        ran.err
    );
    // Three signatures of slot 1, and all of era 2.
    assert_eq!(ran.objects()[0]["claims"], 3 + 390);
    assert_eq!(
        ran.objects()[0]["errors"][0]["file"].as_str().map(|file| file.ends_with("minimal-00001.era")),
        Some(true)
    );
}

/// The example has the rounds 2, 42 and others of quicknet.
#[test]
fn the_rounds_that_were_covered_are_said_and_can_be_asked_for() {
    let example = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/drand-quicknet.json"));
    let folder = TempDir::new().unwrap();
    let mut bundle: Value = serde_json::from_str(&fs::read_to_string(example).unwrap()).unwrap();
    bundle["beacons"].as_array_mut().unwrap().truncate(2);
    let path = folder.path().join("rounds.json");
    fs::write(&path, bundle.to_string()).unwrap();
    let ran = history(&[&"--json", &path]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("drand: the inputs have rounds 2 to 42"), "{}", ran.err);
    assert!(ran.err.contains("rounds 3 to 41: missing between the rounds that are given"), "{}", ran.err);
    assert_eq!(ran.objects()[0]["rounds"], serde_json::json!([2, 42]));
    for (asked, code, missing) in [
        ("2", 0, ""),
        ("42-42", 0, ""),
        ("1-2", 2, "round 1: asked for, and not given"),
        ("2-50", 2, "rounds 43 to 50: asked for, and not given"),
        ("7-9", 2, "rounds 7 to 9: asked for, and not given"),
        ("9-7", 2, "expected the first and the last round"),
    ] {
        let ran = history(&[&"--rounds", &asked, &path]);
        assert_eq!(ran.code, code, "{asked}: {}", ran.err);
        assert!(ran.err.contains(missing), "{}", ran.err);
    }
    // A flag that no input uses is an error.
    let Some(eras) = self::folder("deneb") else { return };
    let ran = history(&[&"--rounds", &"1-2", &eras]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("--rounds asks for rounds of drand, but no input has any"), "{}", ran.err);
}

/// The eras of a chain in one file, which the format allows.
fn joined(chain: &Path) -> TempDir {
    let folder = TempDir::new().unwrap();
    let all: Vec<u8> = [0, 1, 2].into_iter().flat_map(|number| fs::read(era(chain, number)).unwrap()).collect();
    fs::write(folder.path().join("all.era"), all).unwrap();
    fs::copy(chain.join("chain.json"), folder.path().join("chain.json")).unwrap();
    folder
}

#[test]
fn a_file_of_several_eras_is_read_as_eras() {
    let Some(chain) = folder("deneb") else { return };
    let together = joined(&chain);
    let alone = history(&[&"--verdicts", &chain]);
    let ran = history(&[&"--verdicts", &together.path()]);
    assert_eq!((ran.code, alone.code), (0, 0), "{}", ran.err);
    let without_files = |ran: &Ran| {
        let mut objects = ran.objects();
        objects.iter_mut().for_each(|object| drop(object.as_object_mut().unwrap().remove("file")));
        objects
    };
    assert_eq!(without_files(&ran), without_files(&alone));
    // The shards of such a file, and their merge.
    let run = |command: &str, arguments: &[&dyn AsRef<std::ffi::OsStr>]| {
        let arguments = arguments.iter().map(|argument| argument.as_ref());
        quorate_lab::run::command("quorate").args(["history", command]).args(arguments).ran().exits(0).out
    };
    let into = together.path().join("run");
    run("plan", &[&"--into", &into, &together.path()]);
    run("run", &[&into]);
    let report: Value = serde_json::from_str(&run("merge", &[&"--json", &into])).unwrap();
    assert_eq!((&report["valid"], &report["legal"]), (&Value::from(806), &Value::from(2)), "{report}");
    // An era that is cut off refuses the file, by the era's name.
    let path = together.path().join("all.era");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    let cut = history(&[&together.path()]);
    assert!(cut.code == 2 && cut.err.contains("all.era"), "{} {}", cut.code, cut.err);
    // The same era twice.
    fs::write(&path, [&whole[..], &fs::read(era(&chain, 2)).unwrap()].concat()).unwrap();
    assert!(history(&[&together.path()]).err.contains("it is era 2, and so is"));
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, content).unwrap();
    gzip.finish().unwrap()
}

/// A file that is left out is not verified, so whoever named the folder must hear of it.
#[test]
fn what_a_folder_holds_and_is_not_read_is_said() {
    let folder = Folder::new();
    let example = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/drand-quicknet.json"));
    let bundle: Value = serde_json::from_str(&fs::read_to_string(example).unwrap()).unwrap();
    let round = |number: usize| format!("{}\n", bundle["beacons"][number]);
    folder.file("chain.json", "{}");
    folder.file("rounds-1.jsonl", round(0));
    let path = folder.path("");
    let run = || history(&[&"--chain", &"quicknet", &path]);
    assert!(!run().exits(0).err.contains("not read"), "a description of a chain is no input");
    folder.file("X.ERA", "");
    folder.file("rounds-2.json", round(1));
    fs::create_dir(folder.path("older")).unwrap();
    run().exits(0).says(": not read: 2 files (first: X.ERA), 1 folder (first: older)\n");
    // A file that is given by its name is read, and one that is packed is refused like one that is given.
    let second = folder.path("rounds-2.json");
    let ran = history(&[&"--chain", &"quicknet", &path, &second]).says(": not read: 1 file (first: X.ERA), ");
    assert!(ran.err.contains("2 claims: 2 valid"), "{}", ran.err);
    folder.file("rounds-3.jsonl.gz", gzip(round(2).as_bytes()));
    run().exits(2).says("rounds-3.jsonl.gz: found a file packed with gzip, expected the file itself");
    let into = folder.path("run");
    let plan = ["history", "plan", "--into", &into, "--chain", "quicknet", &path];
    command("quorate").args(plan).ran().exits(2).says("rounds-3.jsonl.gz: found a file packed with gzip");
    // Unpacked, it is read, and the packed one beside it is left out.
    folder.file("rounds-3.jsonl", round(2));
    let ran = run().says(": not read: 3 files (first: X.ERA), ");
    assert!(!ran.err.contains("packed with gzip"), "{}", ran.err);
}

/// With `--quiet` too, and in the summary: a program that reads it alone would take the run for a whole one.
#[test]
fn what_is_left_out_is_said_with_quiet_and_in_the_summary() {
    let folder = Folder::new();
    let example = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/drand-quicknet.json"));
    let bundle: Value = serde_json::from_str(&fs::read_to_string(example).unwrap()).unwrap();
    folder.file("rounds-1.jsonl", format!("{}\n", bundle["beacons"][0]));
    let path = folder.path("");
    let run = || history(&[&"-q", &"--json", &"--chain", &"quicknet", &path]).exits(0);
    let ran = run();
    assert_eq!((ran.err.as_str(), &ran.object()["left_out"]), ("", &Value::Null));
    folder.file("rounds-2.json", "rubbish");
    let ran = run();
    let left = format!("{path}: not read: 1 file (first: rounds-2.json)");
    assert_eq!(ran.err, format!("{left}\n"));
    assert_eq!(ran.object()["left_out"], serde_json::json!([left]));
}

#[test]
fn the_blocks_of_a_first_era_are_said_to_be_left_out() {
    let Some(folder) = folder("capella") else { return };
    let (network, first, second) = (folder.join("chain.json"), era(&folder, 1), era(&folder, 2));
    let ran = history(&[&"-q", &"--json", &"--network", &network, &first, &second]).exits(0);
    let ran =
        ran.says("minimal-00001.era: only its state is used, because no input has the state before its 59 blocks");
    let left_out = &ran.object()["left_out"];
    assert!(left_out[0].as_str().unwrap().contains("only its state is used"), "{left_out}");
}

/// The help says `.era`, `.jsonl` or `.json`; a file of claims in Parquet beside the eras is left out, and said.
#[test]
fn a_folder_gives_what_the_help_says() {
    let Some(chain) = folder("deneb") else { return };
    let copy = copy(&chain);
    fs::write(copy.path().join("claims.parquet"), "PAR1").unwrap();
    let ran = history(&[&copy.path()]).exits(0);
    assert!(ran.err.contains(": not read: ") && !ran.err.contains("expected eras"), "{}", ran.err);
    let alone = Folder::new();
    alone.file("claims.parquet", "PAR1");
    history(&[&alone.path("")]).exits(2).says("found no file whose name ends in .era, .jsonl or .json, expected");
    let (path, into) = (alone.path(""), alone.path("run"));
    let ran = command("quorate").args(["history", "plan", "--into", &into, &path]).ran();
    assert!(ran.err.contains("claims.parquet") && !ran.err.contains("found no file"), "a plan takes it: {}", ran.err);
}

#[test]
fn a_packed_era_is_told_what_to_do() {
    let Some(chain) = folder("deneb") else { return };
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("minimal-00000.era.gz");
    fs::write(&path, gzip(&fs::read(era(&chain, 0)).unwrap())).unwrap();
    let ran = history(&[&path]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("found a file packed with gzip, expected the file itself; unpack it first"),
        "{}",
        ran.err
    );
}

#[test]
fn a_zero_is_refused_with_what_is_expected() {
    command("quorate")
        .args(["history", "plan", "--into", "run", "--shard-size", "0", "x"])
        .ran()
        .exits(2)
        .says("0 is not in 1..");
    command("quorate").args(["checkpoint", "propose", "--days", "0"]).ran().exits(2).says("0 is not in 1..");
}

/// A file is looked at, and read later, so the beginning of a pipe would be missing.
#[test]
fn pipes_and_devices_are_refused() {
    let folder = Folder::new();
    let pipe = folder.path("pipe");
    shell("mkfifo \"$0\"").arg(&pipe).ran().exits(0);
    for path in [pipe.as_str(), "/dev/null"] {
        history(&[&path]).exits(2).says(&format!("{path}: found a pipe or a device, expected a regular file"));
    }
}

#[test]
fn a_file_that_has_the_name_of_a_chain_is_not_that_chain() {
    let folder = Folder::new();
    let example = |name: &str| Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples")).join(name);
    folder.file("quicknet", fs::read(example("drand-default.json")).unwrap());
    let rounds = example("drand-quicknet.json");
    let mut history = command("quorate");
    history.args(["history", "verify", "--chain", "quicknet"]).arg(&rounds).current_dir(folder.path(""));
    history.ran().says("5 claims: 5 valid");
    // Nor is it left out of the inputs as a description of the chain.
    folder.file("quicknet", "{}\n");
    let mut history = command("quorate");
    history.args(["history", "verify", "--chain", "quicknet", "quicknet"]).arg(rounds).current_dir(folder.path(""));
    history.ran().exits(2).says("quicknet: found a file of claims");
}

/// What the system says of a file is repeated. It is a matter of usage only if a chain may have been mistyped.
#[test]
fn a_description_that_cannot_be_read_is_an_io_error() {
    let folder = Folder::new();
    let rounds = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/drand-quicknet.json"));
    let (nothing, whole_folder) = (folder.path("nothing.json"), folder.path(""));
    for (flag, code) in [("--chain", 2), ("--network", 3)] {
        let ran = history(&[&flag, &nothing, &rounds]).exits(code).says("nothing.json is none of ");
        ran.says("cannot be read as a file: No such file or directory");
        history(&[&flag, &whole_folder, &rounds]).exits(3).says(&format!("cannot read {whole_folder}: Is a directory"));
    }
    history(&[&"--chain", &"quicknett", &rounds]).exits(2).says("the chain quicknett is none of ");
    history(&[&"--chain", &format!("{}/file", rounds.display()), &rounds]).exits(3).says("Not a directory");
    history(&[&"--chain", &nothing, &rounds]).exits(2).says("(on the command line --chain FILE)");
    // What can be read, and is no description.
    history(&[&"--chain", &rounds, &rounds]).exits(2).says("the chain info cannot be used: ");
}

/// The chain info of one file does not speak for the rounds of another.
#[test]
fn a_chain_info_alone_is_told_what_to_do() {
    let folder = Folder::new();
    let example = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/drand-quicknet.json"));
    let bundle: Value = serde_json::from_str(&fs::read_to_string(example).unwrap()).unwrap();
    let info = folder.file("info.json", bundle["chain_info"].to_string());
    let rounds = folder.file("rounds.jsonl", format!("{}\n", bundle["beacons"][0]));
    history(&[&info, &rounds])
        .refused("rounds.jsonl: element [0]: nothing says which chain")
        .says("takes --chain FILE");
    history(&[&"--chain", &info, &rounds]).exits(0).says("1 claim: valid");
    // Beside the rounds, in a folder for example.
    history(&[&"--chain", &info, &info, &rounds]).exits(0).says("1 claim: valid");
    history(&[&info]).refused("info.json: found no claim, expected at least one; check what wrote this input");
}

/// A description that has rounds as well is an input like any other: what stands in it is not left out.
#[test]
fn a_description_of_a_chain_that_has_rounds_is_verified() {
    let folder = Folder::new();
    let example = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/drand-quicknet.json"));
    let bundle: Value = serde_json::from_str(&fs::read_to_string(example).unwrap()).unwrap();
    let mut described = bundle["chain_info"].clone();
    described["beacons"] = serde_json::json!([bundle["beacons"][0]]);
    let described = folder.file("described.json", described.to_string());
    let round = folder.file("round-42.jsonl", format!("{}\n", bundle["beacons"][1]));
    history(&[&"--chain", &described, &described]).exits(0).says("1 claim: valid");
    history(&[&"--chain", &described, &"--rounds", &"42", &described, &round]).exits(0).says("2 claims: 2 valid");
    // Without being given, it describes the chain and is no more.
    history(&[&"--chain", &described, &round]).exits(0).says("1 claim: valid");
}

/// What has no round is not verified, whatever the others have.
#[test]
fn an_input_without_a_claim_is_named_by_history() {
    let folder = Folder::new();
    let example = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/drand-quicknet.json"));
    let bundle: Value = serde_json::from_str(&fs::read_to_string(example).unwrap()).unwrap();
    let first = folder.file("rounds-1.json", bundle["beacons"][0].to_string());
    for (name, empty) in
        [("rounds-2.json", r#"{"beacons": []}"#.to_owned()), ("rounds-3.json", bundle["chain_info"].to_string())]
    {
        let empty = folder.file(name, empty);
        let ran = history(&[&"--json", &"--chain", &"quicknet", &first, &empty]);
        let ran = ran.refused(&format!("{empty}: found no claim, expected at least one"));
        let summary = &ran.objects()[0];
        assert_eq!((&summary["valid"], &summary["errors"][0]["file"]), (&1.into(), &empty.into()));
    }
    history(&[&"--chain", &"quicknet", &first]).exits(0);
}

/// A download that failed leaves such a file. It is no file of claims, and the others are verified.
#[test]
fn an_empty_file_is_refused_by_its_name_and_the_rest_is_verified() {
    let folder = Folder::new();
    let example = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/history"));
    for blank in ["", " \n", "\u{feff}\r\n"] {
        let empty = folder.file("rounds.jsonl", blank);
        let said = format!("{empty}: found no claim, expected at least one; check what wrote this file");
        history(&[&empty]).refused(&said);
        history(&[&"--chain", &"quicknet", &empty]).refused(&said);
        history(&[&example, &empty]).refused(&said).says("426 claims: 416 valid");
        let output = folder.path("claims.parquet");
        command("quorate").args(["era", "claims", "--output", &output, &empty]).ran().refused(&said);
        assert!(!Path::new(&output).exists());
    }
}

/// As docs/history.md writes a whole chain: a chain info that names no scheme, then rounds.
#[test]
fn the_file_of_the_guide_is_verified() {
    let folder = Folder::new();
    let example = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/drand-default.json"));
    let mut bundle: Value = serde_json::from_str(&fs::read_to_string(example).unwrap()).unwrap();
    let info = bundle["chain_info"].as_object_mut().unwrap();
    info.remove("schemeID").unwrap();
    let rounds = folder.file("rounds.jsonl", format!("{}\n{}\n", bundle["chain_info"], bundle["beacons"][0]));
    history(&[&rounds]).exits(0).says("1 claim: valid");
    history(&[&"--chain", &"default", &rounds]).exits(0).says("1 claim: valid");
    command("quorate").args(["verify", &rounds]).ran().exits(0).says("1 claim: valid");
}

#[test]
fn a_chain_that_no_file_is_of_is_an_error() {
    let Some(chain) = folder("deneb") else { return };
    let ran = history(&[&"--chain", &"quicknet", &chain]);
    assert!(ran.code == 2 && ran.err.contains("--chain") && ran.err.contains("would check nothing"), "{}", ran.err);
    assert!(ran.out.is_empty());
    let rounds = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/drand-quicknet.json"));
    let ran = history(&[&"--network", &"mainnet", &rounds]);
    assert!(ran.code == 2 && ran.err.contains("--network") && ran.err.contains("would check nothing"), "{}", ran.err);
}
