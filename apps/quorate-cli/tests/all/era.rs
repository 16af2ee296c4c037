//! `quorate era claims` as a person runs it: eras become a file of claims, and `quorate verify` says of each claim what
//! `quorate history verify` says.
//!
//! `quorate_lab::vectors` says where the eras lie, and what a test does without them.
#![allow(clippy::unwrap_used, reason = "what a test cannot run or read fails it")]

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use quorate_formats::{Entry, jsonl::JsonLines, parquet::ParquetRows};
use quorate_lab::run::{Ran, Run as _, command, command_after};
use serde_json::Value;
use tempfile::TempDir;

/// A folder of the chains, if the test data is on this machine.
fn folder(name: &str) -> Option<PathBuf> {
    quorate_lab::vectors::path(Path::new("20_history").join(name))
}

fn quorate(words: &[&str], arguments: &[&dyn AsRef<OsStr>]) -> Ran {
    command("quorate").args(words).args(arguments.iter().map(|argument| argument.as_ref())).ran()
}

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn entries(path: &Path) -> Vec<Entry> {
    let file = fs::File::open(path).unwrap();
    if path.extension().is_some_and(|extension| extension == "jsonl") {
        return JsonLines::new(std::io::BufReader::new(file)).map(Result::unwrap).collect();
    }
    ParquetRows::open(file).unwrap().map(Result::unwrap).collect()
}

/// Verdict and reason of each signature.
type Verdicts = BTreeMap<(u64, String, String), (bool, Option<String>)>;

fn of_history(folder: &Path) -> Verdicts {
    let ran = quorate(&["history", "verify", "--verdicts", "-q"], &[&folder]);
    let row = |verdict: Value| {
        let index = verdict["index"].as_str().map_or_else(|| verdict["index"].to_string(), str::to_owned);
        let key = (verdict["slot"].as_u64().unwrap(), verdict["kind"].as_str().unwrap().to_owned(), index);
        (key, (verdict["valid"].as_bool().unwrap(), verdict["reason"].as_str().map(str::to_owned)))
    };
    objects(&ran.out).into_iter().map(row).collect()
}

fn of_claims(path: &Path) -> Verdicts {
    let ran = quorate(&["verify", "--verdicts", "-q"], &[&path]);
    assert_eq!(ran.err, "");
    let records = entries(path);
    let verdicts = objects(&ran.out);
    assert_eq!(records.len(), verdicts.len());
    let row = |(record, verdict): (Entry, Value)| {
        let chain = record.unwrap().chain.unwrap();
        let reason = verdict["reason"].as_str();
        // What the chain refutes is a check of its own, whose name stands before the reason.
        let reason = reason.map(|reason| reason.strip_prefix("chain: ").unwrap_or(reason).to_owned());
        ((chain.slot, chain.kind, chain.index.to_string()), (verdict["valid"].as_bool().unwrap(), reason))
    };
    records.into_iter().zip(verdicts).map(row).collect()
}

/// The names in a folder.
fn names(folder: &TempDir) -> Vec<String> {
    let names = fs::read_dir(folder.path()).unwrap();
    names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn verdicts_of_claims_are_those_of_the_eras() {
    let expected = [("capella", 850, 0), ("deneb", 808, 2), ("capella_deneb", 787, 2), ("deneb_lies", 838, 15)];
    for (name, count, lies) in expected {
        let Some(folder) = folder(name) else { return };
        let history = of_history(&folder);
        assert_eq!(history.len(), count);
        let out = TempDir::new().unwrap();
        for file in ["claims.parquet", "claims.jsonl"] {
            let path = out.path().join(file);
            let format = file.split('.').nth(1).unwrap();
            let ran = quorate(&["era", "claims", "--json", "--format", format], &[&folder, &"--output", &path]);
            assert_eq!(ran.code, 0, "{}", ran.err);
            let last = ran.err.lines().last().unwrap();
            assert!(last.contains(&format!("{count} claims of ")) && last.contains(file), "{}", ran.err);
            assert_eq!(objects(&ran.out)[0]["claims"], count);
            let claims = of_claims(&path);
            assert_eq!(claims, history, "{name} {format}");
            assert_eq!(claims.values().filter(|(valid, _)| !valid).count(), lies);
        }
        assert_eq!(names(&out).len(), 2, "nothing unfinished is left");
    }
}

#[test]
fn a_file_that_exists_is_replaced_only_with_force() {
    let Some(folder) = folder("capella") else { return };
    let out = TempDir::new().unwrap();
    let path = out.path().join("claims.parquet");
    fs::write(&path, "old").unwrap();
    let ran = quorate(&["era", "claims"], &[&folder, &"--output", &path]);
    assert_eq!((ran.code, fs::read(&path).unwrap()), (2, b"old".to_vec()));
    assert!(ran.err.contains("exists, and is not replaced") && ran.err.contains("--force"), "{}", ran.err);
    let ran = quorate(&["era", "claims", "--force", "-q"], &[&folder, &"--output", &path]);
    let left = format!("{}: not read: 2 files (first: claims-00001.tsv)\n", folder.display());
    assert_eq!((ran.code, ran.err), (0, left));
    assert_eq!(entries(&path).len(), 850);
    let ran = quorate(&["era", "claims", "--force"], &[&folder, &"--output", &out.path()]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("is no regular file"), "{}", ran.err);
    assert_eq!(names(&out), ["claims.parquet"]);
}

/// A copy of a chain that may be changed.
fn copy(folder: &Path) -> TempDir {
    let copy = TempDir::new().unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        fs::write(copy.path().join(path.file_name().unwrap()), fs::read(path).unwrap()).unwrap();
    }
    copy
}

#[test]
fn the_output_is_no_input() {
    let Some(folder) = folder("capella") else { return };
    let copy = copy(&folder);
    for name in ["minimal-00001.era", "chain.json"] {
        let path = copy.path().join(name);
        let before = fs::read(&path).unwrap();
        let ran = quorate(&["era", "claims", "--force"], &[&copy.path(), &"--output", &path]);
        let ran = ran.exits(2).says(&format!("{name} is also an input, so it is not replaced"));
        assert_eq!((ran.out.as_str(), fs::read(&path).unwrap()), ("", before));
    }
}

/// What the command has written into a folder of eras is no input of its next run.
#[test]
fn a_folder_gives_only_its_eras() {
    let Some(folder) = folder("capella") else { return };
    let copy = copy(&folder);
    let claims = |format: &str| {
        let path = copy.path().join(format!("claims.{format}"));
        let ran =
            quorate(&["era", "claims", "--json", "--format", format], &[&copy.path(), &"--output", &path]).exits(0);
        ran.object()["claims"].clone()
    };
    assert_eq!([claims("jsonl"), claims("parquet")], [850, 850]);
    let again = copy.path().join("again.parquet");
    quorate(&["era", "claims"], &[&copy.path(), &"--output", &again]).exits(0).says("(first: ");
    let nothing = TempDir::new().unwrap();
    fs::write(nothing.path().join("claims.jsonl"), "").unwrap();
    let ran = quorate(&["era", "claims"], &[&nothing.path(), &"--output", &again, &"--force"]);
    ran.exits(2).says("found no file whose name ends in .era, expected at least one");
}

#[test]
fn an_era_that_cannot_be_read_leaves_no_file() {
    let Some(folder) = folder("capella") else { return };
    let copy = TempDir::new().unwrap();
    for number in [0, 1, 2] {
        let name = format!("minimal-{number:05}.era");
        fs::copy(folder.join(&name), copy.path().join(&name)).unwrap();
    }
    let network = folder.join("chain.json");
    let out = TempDir::new().unwrap();
    let path = out.path().join("claims.parquet");
    let claims = || quorate(&["era", "claims"], &[&copy.path(), &"--network", &network, &"--output", &path]);
    // A block in the middle of the last era is damaged: the claims of the first era were read before.
    let last = copy.path().join("minimal-00002.era");
    let mut bytes = fs::read(&last).unwrap();
    bytes[2000] ^= 0xff;
    fs::write(&last, &bytes).unwrap();
    let ran = claims();
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("minimal-00002.era: offset "), "{}", ran.err);
    fs::write(&last, &bytes[..bytes.len() / 2]).unwrap();
    let ran = claims();
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("nothing is written"), "{}", ran.err);
    // The state before is missing.
    fs::remove_file(copy.path().join("minimal-00001.era")).unwrap();
    fs::copy(folder.join("minimal-00002.era"), &last).unwrap();
    assert_eq!(claims().code, 2);
    fs::remove_file(&last).unwrap();
    let ran = claims();
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("found no block"), "{}", ran.err);
    assert!(names(&out).is_empty(), "{:?}", names(&out));
}

#[cfg(unix)]
#[test]
fn a_place_that_cannot_be_written_is_an_io_error() {
    let Some(folder) = folder("capella") else { return };
    let ran = quorate(&["era", "claims"], &[&folder, &"--output", &"/nowhere/claims.parquet"]);
    assert_eq!(ran.code, 3);
    assert!(ran.err.contains("cannot write /nowhere/claims.parquet"), "{}", ran.err);
}

/// Where the system lets a process limit the length of its files, a full disk can be played.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_no_file() {
    let Some(folder) = folder("capella") else { return };
    let out = TempDir::new().unwrap();
    let path = out.path().join("claims.parquet");
    // SIGXFSZ is ignored, so that the write fails with an error. One block has 512 bytes.
    let mut limited = command_after("trap '' XFSZ; ulimit -f 40", "quorate");
    let ran = limited.args(["era", "claims"]).arg(&folder).arg("--output").arg(&path).ran().exits(3);
    ran.says("cannot write").says("nothing of it is kept");
    assert!(names(&out).is_empty(), "{:?}", names(&out));
}
