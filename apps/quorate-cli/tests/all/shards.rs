//! `quorate history plan | run | status | merge` as a person or a scheduler runs them: the built binary, killed, interrupted and without
//! space on the disk.
#![allow(clippy::unwrap_used, reason = "what a test cannot run or read fails it")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use quorate::{MinPk, SecretKey};
use quorate_lab::{
    run::{self, Ran, Run as _, Running},
    vectors,
};
use serde_json::Value;
use sha2::Digest as _;
use tempfile::TempDir;

fn command(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Command {
    let mut command = run::command("quorate");
    command.arg("history").args(arguments.iter().map(|argument| argument.as_ref()));
    command
}

fn history(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Ran {
    command(arguments).ran()
}

fn lines(text: &str) -> BTreeSet<String> {
    text.lines().map(str::to_owned).collect()
}

/// A folder with so many files of claims, each a shard. One claim of each file is false.
fn claims(files: u8, of_each: u8) -> TempDir {
    let folder = TempDir::new().unwrap();
    let inputs = folder.path().join("inputs");
    fs::create_dir(&inputs).unwrap();
    for file in 0..files {
        let line = |claim: u8| {
            let secret = SecretKey::key_gen(MinPk::Eth2, &[claim; 32], b"").unwrap();
            let signature = secret.sign(MinPk::Eth2, &[file, claim.max(1)]);
            let hex = |bytes: &[u8]| const_hex::encode(bytes);
            format!(
                "{{\"public_key\":\"{}\",\"message\":\"{}\",\"signature\":\"{}\"}}\n",
                hex(&secret.public_key().to_bytes()),
                hex(&[file, claim]),
                hex(&signature.to_bytes())
            )
        };
        fs::write(inputs.join(format!("{file:03}.jsonl")), (0..of_each).map(line).collect::<String>()).unwrap();
    }
    folder
}

fn plan(folder: &Path) -> PathBuf {
    let run = folder.join("run");
    let ran = history(&[&"plan", &"--suite", &"eth2", &"--into", &run, &folder.join("inputs")]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    run
}

fn status(run: &Path) -> Value {
    let ran = history(&[&"status", &"--json", &run]);
    serde_json::from_str(&ran.out).unwrap()
}

#[test]
fn shards_of_eras_give_the_verdicts_of_verify() {
    for (name, code) in [("deneb_lies", 1), ("capella_deneb", 0)] {
        let Some(folder) = vectors::path(Path::new("20_history").join(name)) else { return };
        let verified = history(&[&"verify", &"--verdicts", &"-q", &folder]);
        let temporary = TempDir::new().unwrap();
        let run = temporary.path().join("run");
        let ran = history(&[&"plan", &"--into", &run, &folder]);
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
        assert!(ran.err.contains("2 shards in ") && ran.err.contains("next: quorate history run "), "{}", ran.err);
        assert_eq!(history(&[&"status", &run]).code, 1);
        assert_eq!(history(&[&"run", &run, &"--shard", &"1", &"-q"]).code, code);
        let ran = history(&[&"merge", &run]);
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains("1 of 2 shards have no result, the first is shard 0"), "{}", ran.err);
        let ran = history(&[&"run", &run]);
        assert_eq!(ran.code, code, "{}", ran.err);
        assert!(ran.err.contains("all shards are done; next: quorate history merge "), "{}", ran.err);
        assert_eq!(history(&[&"status", &run]).code, 0);

        let ran = history(&[&"merge", &run, &"--json"]);
        assert_eq!(ran.code, code);
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        let merged = fs::read_to_string(run.join("verdicts.jsonl")).unwrap();
        assert_eq!(lines(&merged), lines(&verified.out), "{name}");
        assert_eq!(merged.lines().count() as u64, report["claims"].as_u64().unwrap());
        assert_eq!(report["failures"].as_array().unwrap().len() as u64, report["invalid"].as_u64().unwrap());
        assert_eq!(fs::read_to_string(run.join("report.json")).unwrap(), ran.out);
    }
}

#[test]
fn a_merge_reads_well() {
    let Some(folder) = vectors::path("20_history/deneb_lies") else { return };
    let temporary = TempDir::new().unwrap();
    let run = temporary.path().join("run");
    assert_eq!(history(&[&"plan", &"--only-invalid", &"--into", &run, &folder]).code, 0);
    assert_eq!(history(&[&"run", &run]).code, 1);
    let ran = history(&[&"merge", &run, &"--core-hour", &"0.04"]);
    assert_eq!(ran.code, 1);
    for expected in [
        "2 shards, each counted once\n",
        "838 claims: 823 valid, 13 invalid, 2 false deposits that a chain may hold\n",
        "INVALID   minimal-00001.era, slot 19, randao 0\n",
        "core-seconds",
        "at 0.04 for a core-hour",
    ] {
        assert!(ran.out.contains(expected), "{expected}: {}", ran.out);
    }
    assert_eq!(fs::read_to_string(run.join("verdicts.jsonl")).unwrap().lines().count(), 15);
}

/// A fault of one version is in its results alone, so whoever reads the report has to know that there are several.
#[test]
fn a_merge_says_that_results_are_of_several_versions() {
    let folder = claims(2, 2);
    let run = plan(folder.path());
    assert_eq!(history(&[&"run", &run, &"-q"]).code, 1);
    let merged = history(&[&"merge", &run]).exits(1);
    assert!(!merged.out.contains("versions of quorate"), "{}", merged.out);
    // A receipt of an older version, which states no digest of itself.
    let path = run.join("results/000001.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let (verdicts, last) = text.trim_end().rsplit_once('\n').unwrap();
    let mut receipt = serde_json::from_str::<Value>(last).unwrap()["receipt"].take();
    let newer = std::mem::replace(&mut receipt["version"], "0.0.9".into());
    fs::write(&path, format!("{verdicts}\n{{\"receipt\":{receipt}}}\n")).unwrap();
    let merged = history(&[&"merge", &run]).exits(1);
    let expected = format!("results of 2 versions of quorate: 0.0.9, {}\n", newer.as_str().unwrap());
    assert!(merged.out.contains(&expected), "{}", merged.out);
}

/// Before the results are read: of a million shards that takes hours.
#[test]
fn a_merge_refuses_a_link_in_the_place_of_what_it_writes() {
    let folder = claims(2, 2);
    let run = plan(folder.path());
    assert_eq!(history(&[&"run", &run, &"-q"]).code, 1);
    fs::write(run.join("results/000000.jsonl"), "damaged").unwrap();
    for name in ["verdicts.jsonl", "report.json"] {
        std::os::unix::fs::symlink("elsewhere", run.join(name)).unwrap();
        let ran = history(&[&"merge", &run]);
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains(name) && ran.err.contains("link"), "{}", ran.err);
        assert!(!run.join("elsewhere").exists());
        fs::remove_file(run.join(name)).unwrap();
    }
}

/// The result would take the link's place, and what it leads to would stay as it is.
#[test]
fn a_link_in_the_place_of_a_result_is_refused() {
    let folder = claims(1, 2);
    let run = plan(folder.path());
    fs::create_dir_all(run.join("results")).unwrap();
    let link = run.join("results/000000.jsonl");
    std::os::unix::fs::symlink("elsewhere", &link).unwrap();
    history(&[&"run", &run]).refused("is a link, which would be replaced and not followed");
    assert!(link.is_symlink() && fs::read_dir(run.join("results")).unwrap().count() == 1);
}

/// An id is whatever JSON allows: half a character, and numbers that no machine word holds.
#[test]
fn ids_that_are_no_text_and_no_word_are_listed_as_written() {
    let folder = TempDir::new().unwrap();
    let ids = [r#""\ud800""#, "1e999", "18446744073709551616000123"];
    let line = |id: &str| {
        let (key, signature) = ("ab".repeat(48), "ab".repeat(96));
        format!("{{\"id\":{id},\"public_key\":\"{key}\",\"message\":\"00\",\"signature\":\"{signature}\"}}\n")
    };
    fs::create_dir(folder.path().join("inputs")).unwrap();
    fs::write(folder.path().join("inputs/claims.jsonl"), ids.map(line).concat()).unwrap();
    let run = plan(folder.path());
    assert_eq!(history(&[&"run", &run, &"-q"]).code, 1);
    let ran = history(&[&"merge", &run]).exits(1);
    for (line, id) in (1..).zip(ids) {
        let expected = format!("INVALID   claims.jsonl, line {line}, id {id}\n");
        assert!(ran.out.contains(&expected), "{expected}: {}", ran.out);
    }
}

/// A command that failed may have written it. The other file has claims.
#[test]
fn a_file_of_blank_lines_is_no_success() {
    let folder = claims(1, 2);
    for blank in ["", "\n", "\u{feff}", "\u{feff}\r\n \n"] {
        fs::write(folder.path().join("inputs/blank.jsonl"), blank).unwrap();
        history(&[&"plan", &"--suite", &"eth2", &"--into", &folder.path().join("run"), &folder.path().join("inputs")])
            .refused("blank.jsonl: found no claim, expected at least one; check what wrote this file");
    }
}

/// The plan does not read rounds, so the shard of a file without any fails.
#[test]
fn a_file_without_rounds_is_no_success() {
    let folder = TempDir::new().unwrap();
    let (lines, info) = rounds(2);
    let (given, run) = (folder.path().join("info.json"), folder.path().join("run"));
    fs::write(&given, &info).unwrap();
    let inputs = [("1.jsonl", lines.concat()), ("2.json", r#"{"beacons":[]}"#.to_owned()), ("3.json", info)];
    let paths = inputs.map(|(name, text)| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    });
    let plan = |empty: &Path| history(&[&"plan", &"--into", &run, &"--chain", &given, &paths[0], &empty]);
    for empty in &paths[1..] {
        let name = empty.file_name().expect("it has a name").to_string_lossy();
        plan(empty).refused(&format!("{name}: found no claim, expected at least one"));
    }
    // The description of the chain is no input.
    plan(&given).exits(0);
    history(&[&"run", &run]).exits(0).says("shard 0: 2 claims: 2 valid");
}

#[test]
fn a_status_counts_entries_that_make_no_claim() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("inputs")).unwrap();
    fs::write(folder.path().join("inputs/claims.jsonl"), "{}\n").unwrap();
    let run = plan(folder.path());
    assert_eq!(history(&[&"run", &run, &"-q"]).code, 2);
    assert_eq!(status(&run)["malformed"], 1);
    let ran = history(&[&"status", &run]).exits(0);
    assert!(ran.out.contains("0 claims: 0 valid, 0 invalid, 1 malformed\n"), "{}", ran.out);
}

/// Whoever merges on another machine did not see what the plan said.
#[test]
fn what_is_left_out_is_said_by_plan_status_and_merge() {
    let folder = claims(1, 2);
    let (inputs, run) = (folder.path().join("inputs"), folder.path().join("run"));
    fs::write(inputs.join("more.ndjson"), "rubbish").unwrap();
    let left = format!("{}: not read: 1 file (first: more.ndjson)", inputs.display());
    let ran = history(&[&"plan", &"-q", &"--suite", &"eth2", &"--into", &run, &inputs]).exits(0);
    assert_eq!(ran.err, format!("{left}\n"));
    assert_eq!(history(&[&"run", &run, &"-q"]).code, 1);
    assert_eq!(status(&run)["left_out"], serde_json::json!([left]));
    assert!(history(&[&"status", &run]).exits(0).out.contains(&left));
    let ran = history(&[&"merge", &run, &"-q"]).exits(1).says(&left);
    assert_eq!(ran.out, "");
    let report: Value = serde_json::from_str(&fs::read_to_string(run.join("report.json")).unwrap()).unwrap();
    assert_eq!(report["left_out"], serde_json::json!([left]));
}

/// A terminal would obey the first character, and turn the text after the second one around.
#[test]
fn verdicts_and_the_report_hold_no_character_that_a_reader_does_not_see() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("inputs")).unwrap();
    fs::write(folder.path().join("inputs/claims.jsonl"), "{\"id\":\"a\u{9b}\u{202e}dilav\"}\n").unwrap();
    let run = plan(folder.path());
    assert_eq!(history(&[&"run", &run, &"-q"]).code, 2);
    assert_eq!(history(&[&"merge", &run, &"-q"]).code, 2);
    for file in ["results/000000.jsonl", "verdicts.jsonl", "report.json"] {
        let text = fs::read_to_string(run.join(file)).unwrap();
        assert!(text.contains(r#""id":"a\u009b\u202edilav""#), "{file}: {text}");
    }
}

#[test]
fn a_process_that_is_killed_again_and_again_loses_and_doubles_nothing() {
    let folder = claims(24, 40);
    let whole = folder.path().join("whole");
    // Each try gets a little more time, so that the run ends on a slow machine, too.
    let killed_until_it_ends = |run: &Path| {
        let mut kills = 0;
        loop {
            let mut process = Running::start(&mut command(&[&"run", &run, &"-q"]));
            sleep(Duration::from_millis(40 + 7 * kills));
            if !process.runs() {
                assert_eq!(process.ended(), 1);
                return kills;
            }
            process.kill();
            kills += 1;
        }
    };
    // A busy machine may stop this test for longer than a run takes.
    let killed = (0..20).find_map(|_| {
        let run = plan(folder.path());
        if killed_until_it_ends(&run) > 2 {
            return Some(run);
        }
        fs::remove_dir_all(run).unwrap();
        None
    });
    let killed = killed.expect("the run ended before it could be killed");
    let unfinished = "the process that ends a shard removes what a killed one has not finished of it";
    assert_eq!(fs::read_dir(killed.join("results")).unwrap().count(), 24, "{unfinished}");
    let merge = history(&[&"merge", &killed, &"--json"]);
    assert_eq!(merge.code, 1, "{}", merge.err);
    let report: Value = serde_json::from_str(&merge.out).unwrap();
    assert_eq!((&report["shards"], &report["claims"], &report["invalid"]), (&24.into(), &960.into(), &24.into()));

    fs::rename(folder.path().join("run"), &whole).unwrap();
    let run = plan(folder.path());
    assert_eq!(history(&[&"run", &run, &"-q"]).code, 1);
    assert_eq!(history(&[&"merge", &run, &"-q"]).code, 1);
    let verdicts = |run: &Path| fs::read(run.join("verdicts.jsonl")).unwrap();
    assert!(verdicts(&run) == verdicts(&whole));
    assert!(fs::read_dir(whole.join("results")).unwrap().count() == 24, "something unfinished is left");
}

#[test]
fn several_processes_share_a_run() {
    let folder = claims(9, 10);
    let run = plan(folder.path());
    // Two ranges overlap.
    let ranges = ["0-3", "3-6", "6-8"];
    let start = |range: &&str| Running::start(&mut command(&[&"run", &run, &"-q", &"--shard", range]));
    let processes: Vec<_> = ranges.iter().map(start).collect();
    for mut process in processes {
        assert_eq!(process.ended(), 1);
    }
    let merge = history(&[&"merge", &run, &"--json"]);
    assert_eq!(merge.code, 1, "{}", merge.err);
    let report: Value = serde_json::from_str(&merge.out).unwrap();
    assert_eq!((&report["claims"], &report["valid"]), (&90.into(), &81.into()));
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_the_shards_that_are_done() {
    let folder = claims(24, 60);
    let run = plan(folder.path());
    let process = Running::start(command(&[&"run", &run]).stderr(Stdio::piped()));
    let begun = Instant::now();
    while status(&run)["done"] == 0 && begun.elapsed() < run::LIMIT {
        sleep(Duration::from_millis(20));
    }
    process.signal(run::Signal::INT);
    let Ran { code, err, .. } = process.ends();
    let done = status(&run)["done"].as_u64().unwrap();
    if code == 130 {
        assert!(err.contains("was interrupted, and nothing of it is kept; shards that are done stay"), "{err}");
    } else {
        assert_eq!(done, 24, "{err}");
    }
    assert!(done > 0);
    assert_eq!(fs::read_dir(run.join("results")).unwrap().count() as u64, done);
    assert_eq!(history(&[&"run", &run, &"-q"]).code, 1);
    assert_eq!(history(&[&"merge", &run, &"-q"]).code, 1);
}

/// A file may not grow beyond two blocks, which the process is told by an error as of a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error_that_leaves_nothing() {
    let folder = claims(1, 60);
    let run = plan(folder.path());
    // Blocks of 512 or 1,024 bytes.
    let limited = |command: &str| {
        let mut limited = run::command_after("trap '' XFSZ; ulimit -f 2", "quorate");
        limited.args(["history", command, "run"]).current_dir(folder.path()).ran().exits(3).err
    };
    let err = limited("run");
    assert!(err.contains("shard 0: cannot write ") && err.contains("results/000000.jsonl"), "{err}");
    assert_eq!(fs::read_dir(run.join("results")).unwrap().count(), 0);

    assert_eq!(history(&[&"run", &run, &"-q"]).code, 1);
    let err = limited("merge");
    assert!(err.contains("cannot write ") && err.contains("verdicts.jsonl"), "{err}");
    assert!(!run.join("verdicts.jsonl").exists() && !run.join("report.json").exists());
    assert_eq!(history(&[&"merge", &run, &"-q"]).code, 1);
}

#[test]
fn what_is_wrong_is_named() {
    let folder = claims(2, 3);
    let run = plan(folder.path());
    for (arguments, code, expected) in [
        (&["run", "run", "--shard", "2"][..], 2, "found shard 2, expected one from 0 to 1"),
        (&["run", "run", "--shard", "5-3"], 2, "expected the number of a shard such as 3, or two such as 3-7"),
        (&["run", "elsewhere"], 3, "cannot read elsewhere/manifest.jsonl"),
        (&["plan", "--into", "run", "inputs"], 2, "there is a plan already"),
        (&["plan", "--into", "other", "elsewhere"], 3, "cannot read elsewhere"),
        (&["plan", "--into", "other", "run/results"], 3, "cannot read run/results"),
        (&["plan", "--into", "-", "inputs"], 2, "this names a file and not standard output"),
        (&["merge", "run", "--core-hour", "cheap"], 2, "expected a price such as 0.04"),
    ] {
        let arguments: Vec<&dyn AsRef<std::ffi::OsStr>> =
            arguments.iter().map(|argument| argument as &dyn AsRef<std::ffi::OsStr>).collect();
        command(&arguments).current_dir(folder.path()).ran().exits(code).says(expected);
    }
    // One input is another, or gone: the other shard is still verified.
    fs::write(folder.path().join("inputs/000.jsonl"), "{}\n").unwrap();
    let ran = history(&[&"run", &run]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("shard 0: ") && ran.err.contains("the file is not the one that was planned"),
        "{}",
        ran.err
    );
    assert!(
        ran.err.contains("shard 1: 3 claims: 2 valid, 1 invalid") && ran.err.contains("1 shard of the run left"),
        "{}",
        ran.err
    );
    fs::remove_file(run.join("results/000001.jsonl")).unwrap();
    fs::remove_file(folder.path().join("inputs/000.jsonl")).unwrap();
    let ran = history(&[&"run", &run]).exits(3).says("shard 0: cannot read ");
    assert!(ran.err.contains("shard 1: 3 claims: 2 valid, 1 invalid"), "{}", ran.err);
}

/// The footer of a Parquet file is at its end, and states where its rows are.
#[test]
fn a_parquet_file_whose_rows_are_gone_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("claims.parquet");
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/history");
    run::command("quorate").args(["era", "claims", example, "--output"]).arg(&path).ran().exits(0);
    let whole = fs::read(&path).unwrap();
    let (rows, length) = whole.split_at(whole.len() - 8);
    let footer = rows.len() - u32::from_le_bytes(length[..4].try_into().unwrap()) as usize;
    fs::write(&path, [&whole[..4], &whole[footer..]].concat()).unwrap();
    run::command("quorate").arg("verify").arg(&path).ran().exits(2);
    history(&[&"plan", &"--into", &folder.path().join("run"), &path])
        .refused("claims.parquet: found the end of the file, expected ");
}

/// Rounds of a chained chain of drand, one a line, and the chain info that says so.
fn rounds(last: u64) -> (Vec<String>, String) {
    let secret = SecretKey::key_gen(MinPk::DrandChained, &[9; 32], b"").unwrap();
    let mut previous = vec![7; 32];
    let lines = (1..=last).map(|round| {
        let message = sha2::Sha256::digest([previous.as_slice(), &round.to_be_bytes()].concat());
        let signature = secret.sign(MinPk::DrandChained, &message).to_bytes().to_vec();
        let before = std::mem::replace(&mut previous, signature.clone());
        let (signature, before) = (const_hex::encode(signature), const_hex::encode(before));
        format!("{{\"round\":{round},\"signature\":\"{signature}\",\"previous_signature\":\"{before}\"}}\n")
    });
    let lines = lines.collect();
    let key = const_hex::encode(secret.public_key().to_bytes());
    (
        lines,
        format!("{{\"public_key\":\"{key}\",\"schemeID\":\"pedersen-bls-chained\",\"period\":30,\"genesis_time\":1}}"),
    )
}

/// What verify says, and what shards say: code, claims, invalid ones, and the faults of the chain.
fn both(folder: &Path, files: &[(&str, String)]) -> [(i32, u64, u64, String); 2] {
    let inputs = folder.join("rounds");
    let _ = fs::remove_dir_all(&inputs);
    let _ = fs::remove_dir_all(folder.join("run"));
    fs::create_dir(&inputs).unwrap();
    for (name, text) in files {
        fs::write(inputs.join(name), text).unwrap();
    }
    let (info, run) = (folder.join("info.json"), folder.join("run"));
    let ran = history(&[&"verify", &"--json", &"--chain", &info, &inputs]);
    let summary: Value = serde_json::from_str(&ran.out).unwrap();
    let number = |value: &Value, field: &str| value[field].as_u64().unwrap();
    let verified = (ran.code, number(&summary, "claims"), number(&summary, "invalid"), ran.err);
    assert_eq!(history(&[&"plan", &"--into", &run, &"--chain", &info, &inputs]).code, 0);
    history(&[&"run", &run, &"-q"]);
    let ran = history(&[&"merge", &run, &"--json"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let faults = format!("{} {}", report["round_faults"], report["broken_links"]);
    [verified, (ran.code, number(&report, "claims"), number(&report, "invalid"), faults)]
}

#[test]
fn a_chain_of_rounds_in_several_files() {
    let folder = TempDir::new().unwrap();
    let (lines, info) = rounds(12);
    fs::write(folder.path().join("info.json"), info).unwrap();
    let text = |from: usize, to: usize| lines[from - 1..to].concat();
    let cases = [
        (vec![("a.jsonl", text(1, 5)), ("b.jsonl", text(6, 12))], 0, 12, 0, ""),
        (vec![("a.jsonl", text(8, 12)), ("b.jsonl", text(1, 7))], 0, 12, 0, ""),
        (vec![("a.jsonl", text(1, 5)), ("b.jsonl", text(8, 12))], 2, 10, 0, "rounds 6 to 7: missing"),
        (vec![("a.jsonl", text(1, 5)), ("b.jsonl", text(5, 12))], 2, 13, 0, "round 5: given more than once"),
        // A signature of another round in one file is false, and so is the link to it from the next file.
        (
            vec![
                ("a.jsonl", text(1, 4) + &lines[4].replace(&signature(&lines[4]), &signature(&lines[3]))),
                ("b.jsonl", text(6, 12)),
            ],
            1,
            12,
            1,
            "round 6 names the signature",
        ),
    ];
    for (files, code, claims, invalid, fault) in cases {
        for (found_code, found_claims, found_invalid, said) in both(folder.path(), &files) {
            assert_eq!((found_code, found_claims, found_invalid), (code, claims, invalid), "{said}");
            assert!(said.contains(fault), "{said}");
        }
    }
}

#[test]
fn a_malformed_round_is_listed_with_its_place() {
    let folder = TempDir::new().unwrap();
    let (lines, info) = rounds(2);
    let path = folder.path().join("rounds.jsonl");
    fs::write(&path, format!("{info}\n{}{{\"round\":2}}\n", lines[0])).unwrap();
    let run = folder.path().join("run");
    assert_eq!(history(&[&"plan", &"--into", &run, &path]).code, 0);
    assert_eq!(history(&[&"run", &run, &"-q"]).code, 2);
    let ran = history(&[&"merge", &run]).exits(2);
    assert!(ran.out.contains("malformed rounds.jsonl, element [1]\n"), "{}", ran.out);
}

fn signature(line: &str) -> String {
    serde_json::from_str::<Value>(line).unwrap()["signature"].as_str().unwrap().to_owned()
}

#[test]
fn blocks_of_chia_say_what_they_do_not_prove() {
    let Some(folder) = vectors::path("07_chia_blocks") else { return };
    let blocks: Vec<PathBuf> =
        ["300000.json", "466212.json", "1315537.json", "1315544.json"].iter().map(|name| folder.join(name)).collect();
    let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"verify", &"--json"];
    arguments.extend(blocks.iter().map(|path| path as &dyn AsRef<std::ffi::OsStr>));
    let ran = history(&arguments);
    let summary: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &summary["valid"], &summary["unverified"]), (0, &17.into(), &3.into()), "{}", ran.err);
    assert!(ran.err.contains("3 signatures of the kind transactions not verified: the puzzles"), "{}", ran.err);
    let temporary = TempDir::new().unwrap();
    let run = temporary.path().join("run");
    assert_eq!(history(&[&"plan", &"--into", &run, &blocks[0], &blocks[1]]).code, 0);
    assert_eq!(history(&[&"run", &run, &"-q"]).code, 0);
    let ran = history(&[&"merge", &run]);
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("1 signature not verified: "), "{}", ran.out);
}
