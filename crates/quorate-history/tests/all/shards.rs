//! Runs over shards: what they cover, what becomes of damaged and foreign files, and that nothing is counted twice.
#![allow(clippy::unwrap_used, reason = "what a test cannot write or read fails it")]

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use proptest::prelude::*;
use quorate::{MinPk, Options, SecretKey, Soundness, Verifier};
use quorate_formats::{Format, jsonl::JsonLines};
use quorate_history::{
    Content, Files, FolderFiles,
    shards::{self, Manifest, Receipt, Report, RunTerms, ShardError},
};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

const CLAIMS: FolderFiles = FolderFiles::ChainsAndClaims;
const TERMS: RunTerms = RunTerms { suite: None, soundness: Soundness::Bits64, all_verdicts: true };

/// A claim as a line; every seventh one is false.
fn claim(number: u64) -> String {
    let secret = SecretKey::key_gen(MinPk::Eth2, &[number as u8; 32], b"").unwrap();
    let message = if number % 7 == 3 { [1; 8] } else { [0; 8] };
    let (key, signature) = (secret.public_key(), secret.sign(MinPk::Eth2, &[0; 8]));
    let hex = |bytes: &[u8]| const_hex::encode(bytes);
    let (key, message, signature) = (hex(&key.to_bytes()), hex(&message), hex(&signature.to_bytes()));
    format!(r#"{{"id":{number},"suite":"eth2","public_key":"{key}","message":"{message}","signature":"{signature}"}}"#)
}

fn claims(number: u64) -> String {
    (0..number).map(|number| claim(number) + "\n").collect()
}

/// A folder with a file, planned in shards of so many bytes.
struct Run {
    folder: TempDir,
    manifest: Manifest,
}

impl Run {
    fn planned(text: &str, shard_bytes: u64, terms: RunTerms) -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("claims.jsonl"), text).unwrap();
        let files = Files::open(&[folder.path().join("claims.jsonl")], CLAIMS, None, None).unwrap();
        let manifest = shards::plan(&files, &folder.path().join("run"), terms, shard_bytes, go_on).unwrap();
        assert_eq!(Manifest::read(&folder.path().join("run")).unwrap(), manifest);
        Self { folder, manifest }
    }

    fn input(&self) -> PathBuf {
        self.folder.path().join("claims.jsonl")
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("run")
    }

    fn result(&self, shard: u64) -> PathBuf {
        shards::result_path(&self.path(), shard)
    }

    fn run(&self, shard: u64) -> Result<Receipt, ShardError> {
        run(&self.path(), &self.manifest, shard)
    }

    fn run_all(&self) {
        for shard in &self.manifest.shards {
            self.run(shard.shard).unwrap();
        }
    }

    fn merge(&self) -> Result<Report, ShardError> {
        shards::merge(&self.path(), &self.manifest)
    }

    /// Places, ids and verdicts after a merge.
    fn verdicts(&self) -> Vec<(u64, Option<u64>, bool)> {
        let text = fs::read_to_string(shards::verdicts_path(&self.path())).unwrap();
        let verdicts = text.lines().map(|line| {
            let verdict: Value = serde_json::from_str(line).unwrap();
            (verdict["line"].as_u64().unwrap(), verdict["id"].as_u64(), verdict["valid"].as_bool().unwrap())
        });
        verdicts.collect()
    }
}

fn go_on<T>(_: T) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn run(folder: &Path, manifest: &Manifest, shard: u64) -> Result<Receipt, ShardError> {
    let verifier = Verifier::new(Options { soundness: manifest.terms.soundness, ..Options::default() });
    shards::run(folder, manifest, shard, &verifier, &mut ChaCha20Rng::from_seed([7; 32]), go_on)
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, ShardError>, expected: &str) {
    let error = result.unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn every_claim_is_counted_once_whatever_the_size_of_a_shard() {
    let text = claims(20);
    let expected: Vec<_> = (0..20).map(|n| (n + 1, Some(n), n % 7 != 3)).collect();
    for shard_bytes in [1, 500, 1000, 4096, 1 << 20] {
        let run = Run::planned(&text, shard_bytes, TERMS);
        run.run_all();
        let report = run.merge().unwrap();
        assert_eq!(run.verdicts(), expected);
        assert_eq!((report.counts.claims, report.counts.valid, report.counts.invalid), (20, 17, 3));
        assert_eq!(report.failures.len(), 3);
        let length = run.manifest.shards.len();
        assert!(if shard_bytes == 1 { length == 20 } else { length < 20 }, "{length}");
    }
}

#[test]
fn only_verdicts_that_are_not_valid_are_kept_if_the_plan_says_so() {
    let run = Run::planned(&claims(20), 1000, RunTerms { all_verdicts: false, ..TERMS });
    run.run_all();
    let report = run.merge().unwrap();
    assert_eq!((report.counts.claims, report.counts.valid), (20, 17));
    assert_eq!(run.verdicts(), [(4, Some(3), false), (11, Some(10), false), (18, Some(17), false)]);
}

#[test]
fn malformed_lines_and_claims_without_a_suite_are_reported_at_their_lines() {
    let text = format!("{}\n\nno json\n{}\n", claim(0), claim(1).replace(r#""suite":"eth2","#, ""));
    let run = Run::planned(&text, 1, TERMS);
    run.run_all();
    let report = run.merge().unwrap();
    assert_eq!((report.counts.claims, report.malformed), (1, 2));
    assert_eq!(run.verdicts(), [(1, Some(0), true), (3, None, false), (4, Some(1), false)]);
    let named = Run::planned(&text, 1, RunTerms { suite: Some("eth2".parse().unwrap()), ..TERMS });
    named.run_all();
    assert_eq!(named.merge().unwrap().counts.valid, 2);
}

/// A file of claims may call a claim what it likes. Only a block proves that a false signature may stand in its chain.
#[test]
fn a_false_claim_that_calls_itself_a_deposit_is_invalid() {
    for kind in ["deposit", "deposit_request"] {
        let label = |slot: u64| format!(r#"{{"kind":"{kind}","slot":{slot},"index":0,"#);
        let text: String = [2, 3].map(|number| claim(number).replacen('{', &label(number), 1) + "\n").concat();
        for terms in [TERMS, RunTerms { all_verdicts: false, ..TERMS }] {
            let run = Run::planned(&text, 1 << 20, terms);
            run.run_all();
            let report = run.merge().unwrap();
            for counts in [report.counts, report.kinds[kind]] {
                assert_eq!((counts.claims, counts.valid, counts.invalid, counts.legal), (2, 1, 1, 0));
            }
            let verdicts = fs::read_to_string(shards::verdicts_path(&run.path())).unwrap();
            assert!(verdicts.contains(r#""valid":false"#) && !verdicts.contains("legal"), "{verdicts}");
        }
    }
}

/// Whoever reads the list looks for invalid claims, and many false deposits must not push one out of it.
#[test]
fn a_false_claim_that_its_chain_may_hold_is_no_failure() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("run");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/history");
    let files = Files::open(&[example], CLAIMS, None, None).unwrap();
    let manifest = shards::plan(&files, &path, TERMS, 1, go_on).unwrap();
    run(&path, &manifest, 0).unwrap();
    let report = shards::merge(&path, &manifest).unwrap();
    assert_eq!((report.counts.invalid, report.counts.legal), (8, 2));
    assert_eq!((report.failures.len(), report.failures_omitted), (8, 0));
    assert!(report.failures.iter().all(|failure| !failure.get().contains("\"legal\"")));
}

/// A line of drand can state any round. A false one with the highest number there is does not spoil what was verified.
#[test]
fn the_highest_round_is_merged() {
    let suite = MinPk::DrandUnchained;
    let secret = SecretKey::key_gen(suite, &[5; 32], b"").unwrap();
    let key = const_hex::encode(secret.public_key().to_bytes());
    let signature = secret.sign(suite, &Sha256::digest(1u64.to_be_bytes())).to_bytes();
    let mut text = format!(r#"{{"public_key":"{key}","schemeID":"pedersen-bls-unchained"}}"#);
    for round in [1, u64::MAX] {
        write!(text, "\n{{\"round\":{round},\"signature\":\"{}\"}}", const_hex::encode(signature)).unwrap();
    }
    let run = Run::planned(&text, 1 << 20, TERMS);
    run.run_all();
    let report = run.merge().unwrap();
    assert_eq!((report.counts.claims, report.counts.valid), (2, 1));
    assert_eq!(report.rounds, Some((1, u64::MAX)));
    assert_eq!(report.round_faults.len(), 1);
}

/// Of a file in which every second round is missing, the receipt is longer than what is read of a result at first.
#[test]
fn a_receipt_lists_every_run_of_rounds() {
    let secret = SecretKey::key_gen(MinPk::DrandChained, &[5; 32], b"").unwrap();
    let key = const_hex::encode(secret.public_key().to_bytes());
    let mut text = format!("{{\"public_key\":\"{key}\",\"schemeID\":\"pedersen-bls-chained\"}}\n");
    let signature = "ab".repeat(96);
    for round in (1..400).step_by(2) {
        writeln!(text, r#"{{"round":{round},"signature":"{signature}","previous_signature":"{signature}"}}"#).unwrap();
    }
    let run = Run::planned(&text, 1 << 20, TERMS);
    run.run_all();
    assert_eq!(shards::status(&run.path(), &run.manifest).unwrap().done, 1);
    let report = run.merge().unwrap();
    assert_eq!((report.counts.claims, report.counts.invalid, report.rounds), (200, 200, Some((1, 399))));
    assert_eq!(report.round_faults.len(), 199);
    let receipt = fs::read_to_string(run.result(0)).unwrap().lines().last().unwrap().len();
    assert!(receipt > 1 << 16, "{receipt}");
}

/// The receipt states the signatures at the ends of each run of rounds. A hostile one does not make it longer than it is read.
#[test]
fn a_signature_longer_than_any_point_spoils_no_receipt() {
    let suite = MinPk::DrandChained;
    let secret = SecretKey::key_gen(suite, &[5; 32], b"").unwrap();
    let key = const_hex::encode(secret.public_key().to_bytes());
    let info = format!(r#"{{"public_key":"{key}","schemeID":"pedersen-bls-chained"}}"#);
    let (short, long) = ("ab".repeat(96), "ab".repeat(70_000));
    for (signature, previous) in [(&long, &short), (&short, &long)] {
        let round = format!(r#"{{"round":7,"signature":"{signature}","previous_signature":"{previous}"}}"#);
        let run = Run::planned(&format!("{info}\n{round}\n"), 1 << 20, TERMS);
        run.run_all();
        assert_eq!(shards::status(&run.path(), &run.manifest).unwrap().done, 1);
        let report = run.merge().unwrap();
        assert_eq!((report.counts.claims, report.malformed), (0, 1));
    }
}

#[test]
fn a_shard_that_is_done_is_not_run_again() {
    let run = Run::planned(&claims(4), 1, TERMS);
    let first = run.run(2).unwrap();
    let written = fs::metadata(run.result(2)).unwrap().modified().unwrap();
    assert_eq!(run.run(2).unwrap(), first);
    assert_eq!(fs::metadata(run.result(2)).unwrap().modified().unwrap(), written);
}

#[test]
fn two_workers_on_one_shard_make_one_result() {
    let run = Run::planned(&claims(12), 1000, TERMS);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| run.run_all());
        }
    });
    assert_eq!(run.merge().unwrap().counts.claims, 12);
    assert_eq!(run.verdicts().len(), 12);
}

/// Whoever replaced the program between two runs finds in the report that two of them made it.
#[test]
fn a_report_names_every_version_and_backend_of_its_results() {
    let run = Run::planned(&claims(12), 1000, TERMS);
    run.run_all();
    let ours = run.run(0).unwrap();
    let [versions, backends] = [&ours.version, &ours.backend].map(|name| BTreeSet::from([name.clone()]));
    let report = run.merge().unwrap();
    assert_eq!((report.versions, report.backends), (versions, backends));
    // A result of another program, whole and of this plan.
    let text = fs::read_to_string(run.result(1)).unwrap();
    let (verdicts, last) = text.trim_end().rsplit_once('\n').unwrap();
    let mut last: Value = serde_json::from_str(last).unwrap();
    last["receipt"]["version"] = "0.0.9".into();
    last["receipt"]["backend"] = "abacus".into();
    // Results of older versions have no digest of their receipt.
    fs::write(run.result(1), format!("{verdicts}\n{{\"receipt\":{}}}\n", last["receipt"])).unwrap();
    run.merge().unwrap();
    let text = fs::read_to_string(shards::report_path(&run.path())).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let named =
        |field: &str| report[field].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(named("versions"), ["0.0.9", ours.version.as_str()]);
    let mut expected = vec!["abacus", ours.backend.as_str()];
    expected.sort_unstable();
    assert_eq!(named("backends"), expected);
}

/// The plan promises 128 bits.
#[test]
fn a_verifier_that_is_weaker_than_the_plan_is_refused() {
    let verifier = |soundness| Verifier::new(Options { soundness, ..Options::default() });
    for (planned, found, is_enough) in [
        (Soundness::Bits128, Soundness::Bits64, false),
        (Soundness::Bits128, Soundness::Bits128, true),
        (Soundness::Bits64, Soundness::Bits128, true),
    ] {
        let run = Run::planned(&claims(2), 1 << 20, RunTerms { soundness: planned, ..TERMS });
        let mut rng = ChaCha20Rng::from_seed([7; 32]);
        let mut once = || shards::run(&run.path(), &run.manifest, 0, &verifier(found), &mut rng, go_on);
        if is_enough {
            assert_eq!(once().unwrap().counts.claims, 2);
            continue;
        }
        refused(once(), "found a verifier of 64 bits of soundness, expected the 128 of the plan");
        // Not even if the result is there.
        run.run_all();
        refused(once(), "found a verifier of 64 bits of soundness");
    }
}

/// A scheduler that begins a slow shard twice merges when one of the two has ended.
#[test]
fn a_worker_that_is_late_for_the_merge_answers_with_the_result_that_is_there() {
    let run = Run::planned(&claims(12), 1000, TERMS);
    let verifier = Verifier::new(Options::default());
    let late = |damage: bool| {
        fs::remove_file(run.result(0)).unwrap_or_default();
        let mut begun = false;
        let merged = |_| {
            if std::mem::replace(&mut begun, true) {
                return ControlFlow::Continue(());
            }
            run.run_all();
            run.merge().unwrap();
            if damage {
                let text = fs::read_to_string(run.result(0)).unwrap();
                fs::write(run.result(0), text.replacen("\"valid\":true", "\"valid\":false", 1)).unwrap();
            }
            ControlFlow::Continue(())
        };
        shards::run(&run.path(), &run.manifest, 0, &verifier, &mut ChaCha20Rng::from_seed([7; 32]), merged)
    };
    let receipt = late(false).unwrap();
    assert_eq!(receipt, run.run(0).unwrap());
    assert_eq!((run.merge().unwrap().counts.claims, run.verdicts().len()), (12, 12));
    // One that is not whole is no answer.
    refused(late(true), "the verdicts are not those that were written; delete this file and run shard 0 again");
    // Nor is it one if there is none.
    fs::remove_file(run.result(0)).unwrap();
    let swept = |_| {
        let left = fs::read_dir(run.path().join("results")).unwrap().map(|entry| entry.unwrap().path());
        left.filter(|path| path.extension().is_some_and(|is| is == "tmp"))
            .for_each(|path| fs::remove_file(path).unwrap());
        ControlFlow::Continue(())
    };
    let gone = shards::run(&run.path(), &run.manifest, 0, &verifier, &mut ChaCha20Rng::from_seed([7; 32]), swept);
    refused(gone, "cannot write");
}

#[test]
fn a_merge_waits_for_every_shard() {
    let run = Run::planned(&claims(4), 1, TERMS);
    for shard in [0, 2, 3] {
        run.run(shard).unwrap();
    }
    refused(run.merge(), "1 of 4 shards have no result, the first is shard 1");
    assert!(!shards::verdicts_path(&run.path()).exists() && !shards::report_path(&run.path()).exists());
    let status = shards::status(&run.path(), &run.manifest).unwrap();
    assert_eq!((status.done, &status.left[..], status.counts.claims), (3, &[1][..], 3));
    run.run(1).unwrap();
    assert_eq!(run.merge().unwrap().counts.claims, 4);
}

#[test]
fn what_a_killed_process_leaves_is_no_result() {
    let run = Run::planned(&claims(2), 1, TERMS);
    fs::create_dir_all(run.path().join("results")).unwrap();
    let name = |shard: u64| run.path().join(format!("results/.{shard:06}.jsonl.AbCdEf.tmp"));
    let of_others = run.path().join("results/.notes.tmp");
    for left in [&name(0), &name(1), &of_others] {
        fs::write(left, "{\"valid\":true}\n").unwrap();
    }
    assert_eq!(shards::status(&run.path(), &run.manifest).unwrap().done, 0);
    // Another process may still write that of a shard without a result.
    run.run(0).unwrap();
    shards::remove_unfinished(&run.path()).unwrap();
    assert!(!name(0).exists() && name(1).exists() && of_others.exists());
    run.run_all();
    assert_eq!(run.merge().unwrap().counts.claims, 2);
    assert!(!name(1).exists() && of_others.exists());
    shards::remove_unfinished(&run.path().join("nowhere")).unwrap();
}

/// The reader waits with a full queue then, and must not keep the call waiting.
#[test]
fn a_long_shard_that_is_interrupted_ends() {
    let run = Run::planned(&"{}\n".repeat(20_000), 64 << 20, TERMS);
    let verifier = Verifier::new(Options { threads: std::num::NonZeroUsize::MIN, ..Options::default() });
    let mut rng = ChaCha20Rng::from_seed([7; 32]);
    let stop = |_| ControlFlow::Break(());
    refused(shards::run(&run.path(), &run.manifest, 0, &verifier, &mut rng, stop), "interrupted");
    assert_eq!(fs::read_dir(run.path().join("results")).unwrap().count(), 0);
}

/// A result that somebody else wrote takes no more memory than the longest line.
#[test]
fn a_result_without_a_line_end_is_refused() {
    let run = Run::planned(&claims(2), 1 << 20, TERMS);
    run.run_all();
    let result = fs::read_dir(run.path().join("results")).unwrap().next().unwrap().unwrap().path();
    fs::write(&result, vec![b' '; (64 << 20) + 1]).unwrap();
    refused(run.merge(), "longer than any that is written");
}

#[test]
fn an_interrupted_shard_leaves_nothing() {
    let run = Run::planned(&claims(4), 1 << 20, TERMS);
    let verifier = Verifier::new(Options::default());
    let mut rng = ChaCha20Rng::from_seed([7; 32]);
    let stop = |_| ControlFlow::Break(());
    refused(shards::run(&run.path(), &run.manifest, 0, &verifier, &mut rng, stop), "interrupted");
    assert_eq!(fs::read_dir(run.path().join("results")).unwrap().count(), 0);
}

#[test]
fn a_result_that_was_changed_is_not_merged() {
    let run = Run::planned(&claims(8), 1000, TERMS);
    run.run_all();
    let path = run.result(1);
    let whole = fs::read_to_string(&path).unwrap();
    let (verdicts, receipt) = whole.trim_end().rsplit_once('\n').unwrap();
    let other = fs::read_to_string(run.result(0)).unwrap();
    let first_line = verdicts.lines().next().unwrap();
    for (damage, expected) in [
        (whole.replacen("true", "fals", 1), "the verdicts are not those that were written"),
        // Listed among the failures before the digest is known.
        (whole.replacen("\"valid\":true", "\"valid\":false]", 1), "the verdicts are not those that were written"),
        (format!("{receipt}\n"), "the verdicts are not those that were written"),
        (format!("{first_line}\n{whole}"), "the verdicts are not those that were written"),
        (format!("{verdicts}\n"), "the result has no receipt"),
        (String::new(), "the result has no receipt"),
        (whole[..whole.len() - 9].to_owned(), "the receipt cannot be read"),
        (format!("{whole}{first_line}\n"), "found more after the receipt"),
        (other, "the result is that of shard 0"),
        (whole.replacen("\"claims\":", "\"claims\":1", 1), "but the receipt counts"),
        (whole.replacen("\"valid\":2,", "\"valid\":18446744073709551615,", 1), "but the receipt counts"),
    ] {
        assert_ne!(damage, whole, "{expected}");
        fs::write(&path, damage).unwrap();
        refused(run.merge(), expected);
    }
    fs::write(&path, whole).unwrap();
    assert_eq!(run.merge().unwrap().counts.claims, 8);
}

/// What nothing else can be compared with, and what older versions wrote.
#[test]
fn a_receipt_has_its_own_digest() {
    let run = Run::planned(&claims(4), 1 << 20, TERMS);
    run.run_all();
    let path = run.result(0);
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, whole.replacen("\"bytes\":", "\"unverified\":5,\"bytes\":", 1)).unwrap();
    refused(run.merge(), "the receipt is not the one that was written");
    assert_eq!(shards::status(&run.path(), &run.manifest).unwrap().damaged.len(), 1);
    let (rest, _) = whole.rsplit_once(",\"sha256\":").unwrap();
    fs::write(&path, format!("{rest}}}\n")).unwrap();
    assert_eq!(run.merge().unwrap().counts.claims, 4);
}

/// A round more, and no gap between two runs would be seen.
#[test]
fn a_receipt_whose_rounds_are_not_its_claims_is_refused() {
    let secret = SecretKey::key_gen(MinPk::DrandChained, &[5; 32], b"").unwrap();
    let key = const_hex::encode(secret.public_key().to_bytes());
    let mut text = format!("{{\"public_key\":\"{key}\",\"schemeID\":\"pedersen-bls-chained\"}}\n");
    let signature = "ab".repeat(96);
    for round in [4, 5, 7] {
        writeln!(text, r#"{{"round":{round},"signature":"{signature}","previous_signature":"{signature}"}}"#).unwrap();
    }
    let run = Run::planned(&text, 1 << 20, TERMS);
    run.run_all();
    assert_eq!(run.merge().unwrap().round_faults.len(), 1);
    let whole = fs::read_to_string(run.result(0)).unwrap();
    let (rest, _) = whole.rsplit_once(",\"sha256\":").unwrap();
    for (found, changed) in [("\"last\":5", "\"last\":6"), ("\"first\":4", "\"first\":9")] {
        let damaged = format!("{}}}\n", rest.replacen(found, changed, 1));
        assert!(damaged.contains(changed));
        fs::write(run.result(0), damaged).unwrap();
        refused(run.merge(), "the runs of rounds in the receipt are not its 3 claims");
    }
}

#[test]
fn a_result_of_another_plan_is_not_merged() {
    let (run, other) = (Run::planned(&claims(4), 1, TERMS), Run::planned(&claims(4), 1, TERMS));
    assert_ne!(run.manifest.digest, other.manifest.digest);
    run.run_all();
    other.run_all();
    fs::copy(other.result(3), run.result(3)).unwrap();
    refused(run.merge(), "the result is of another plan");
    refused(run.run(3), "the result is of another plan or shard");
    assert_eq!(shards::status(&run.path(), &run.manifest).unwrap().damaged.len(), 1);
}

#[test]
fn an_input_that_changed_is_refused_and_leaves_no_result() {
    let text = claims(8);
    let run = Run::planned(&text, 1000, TERMS);
    for damage in [
        text.replacen("\"id\":6", "\"id\":9", 1),
        format!("{text}{}\n", claim(8)),
        text[..text.len() - 10].to_owned(),
        String::new(),
    ] {
        fs::write(run.input(), damage).unwrap();
        let last = run.manifest.shards.len() as u64 - 1;
        refused(run.run(last), "the file is not the one that was planned");
        assert!(!run.result(last).exists());
    }
    fs::remove_file(run.input()).unwrap();
    refused(run.run(0), "cannot read");
    fs::write(run.input(), text).unwrap();
    run.run_all();
    run.merge().unwrap();
}

/// The digest is taken before the claims are read. What is written meanwhile, or put in the file's place, is not what was planned.
#[test]
fn an_input_that_changes_while_it_is_read_leaves_no_result() {
    let text = format!("{{\"id\":\"{}\"}}\n", "a".repeat(200)).repeat(20_000);
    let run = Run::planned(&text, 64 << 20, TERMS);
    let written_at = |path: &Path| {
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
    };
    let (input, copy, other) = (run.input(), run.input().with_extension("copy"), text.replace('a', "b"));
    let overwrite = || fs::write(&input, &other).unwrap();
    let replace = || {
        fs::write(&copy, &other).unwrap();
        written_at(&copy);
        fs::rename(&copy, &input).unwrap();
    };
    // On other systems nothing tells that another file has the same time and length.
    let changes: [&dyn Fn(); 2] = if cfg!(unix) { [&overwrite, &replace] } else { [&overwrite, &overwrite] };
    for change in changes {
        fs::write(&input, &text).unwrap();
        written_at(&input);
        // A reader is at most three windows of 1,024 claims ahead.
        let verifier = Verifier::new(Options { threads: std::num::NonZeroUsize::MIN, ..Options::default() });
        let progress = |_| {
            change();
            ControlFlow::Continue(())
        };
        let result =
            shards::run(&run.path(), &run.manifest, 0, &verifier, &mut ChaCha20Rng::from_seed([7; 32]), progress);
        refused(result, "the file changed while it was read; run the shard again when nobody writes it");
        assert!(!run.result(0).exists());
    }
}

#[test]
fn a_manifest_that_is_not_whole_or_of_another_version_is_refused() {
    let run = Run::planned(&claims(4), 1, TERMS);
    let path = Manifest::path(&run.path());
    let whole = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let joined = |lines: &[&str]| {
        lines.iter().fold(String::new(), |mut text, line| {
            let _ = writeln!(text, "{line}");
            text
        })
    };
    for (damage, expected) in [
        (String::new(), "the manifest has no end"),
        (joined(&lines[..5]), "the manifest has no end"),
        (joined(&[&lines[..2], &lines[3..]].concat()), "line 3: found shard 2, expected 1"),
        (joined(&[&lines[..3], &lines[5..]].concat()), "its lines are not those that were planned"),
        (whole.replacen("\"lines\":1", "\"lines\":2", 1), "its lines are not those that were planned"),
        (whole[..whole.len() - 3].to_owned(), "line 6: the manifest is cut off here"),
        (whole.replacen("\"version\":1", "\"version\":2", 1), "line 1: found version 2 of the manifest, expected 1"),
        (whole.replacen("quorate-shards", "shards", 1), "found the format \"shards\""),
        (whole.replacen("\"soundness\":64", "\"soundness\":1", 1), "\"soundness\": found 1, expected 64 or 128"),
        (format!("{whole}x\n"), "line 7: found more after the line that ends the manifest"),
        (claims(2), "this is not a manifest of shards"),
    ] {
        fs::write(&path, damage).unwrap();
        refused(Manifest::read(&run.path()), expected);
    }
}

/// A manifest whose shards do not cover their files once is refused even if its digest is right.
#[test]
fn a_manifest_that_covers_something_twice_or_not_at_all_is_refused() {
    let run = Run::planned(&claims(4), 1, TERMS);
    let text = fs::read_to_string(Manifest::path(&run.path())).unwrap();
    let forged = |change: &dyn Fn(&mut Vec<Value>)| {
        let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        lines.pop();
        change(&mut lines);
        let body = lines.iter().enumerate().map(|(n, line)| {
            let mut line = line.clone();
            if n > 0 {
                line["shard"] = Value::from(n - 1);
            }
            format!("{line}\n")
        });
        let body: String = body.collect();
        let sha256 = const_hex::encode(<sha2::Sha256 as sha2::Digest>::digest(body.as_bytes()));
        let end = format!("{{\"shards\":{},\"sha256\":\"{sha256}\"}}\n", lines.len() - 1);
        Manifest::parse((body + &end).as_bytes(), Path::new("manifest.jsonl"))
    };
    forged(&|_| ()).unwrap();
    refused(forged(&|lines| lines.truncate(1)), "it has no shards");
    refused(forged(&|lines| drop(lines.remove(2))), "its lines are not covered once each");
    refused(forged(&|lines| lines.insert(2, lines[1].clone())), "its lines are not covered once each");
    refused(forged(&|lines| drop(lines.pop())), "not all of its lines are covered");
    let elsewhere = |lines: &mut Vec<Value>| {
        let mut other = lines[1].clone();
        other["file"] = "/elsewhere".into();
        lines.insert(2, other);
    };
    refused(forged(&elsewhere), "not all of its lines are covered");
    let era = |before: Value| serde_json::json!({"era": {"era": 5, "blocks": 3, "before": before}});
    let stateless = |lines: &mut Vec<Value>| {
        lines[1]["covers"] = era(Value::Null);
        lines.truncate(2);
    };
    refused(forged(&stateless), "the state before the era is missing");
    let twice = |lines: &mut Vec<Value>| {
        lines[1]["covers"] = era(serde_json::json!({"file": "/a", "bytes": 1, "sha256": "0".repeat(64)}));
        lines[2] = lines[1].clone();
        lines[2]["file"] = "/elsewhere".into();
        lines.truncate(3);
    };
    refused(forged(&twice), "the era stands there twice");
}

/// The fields of its first object say what a file is, not the text of their values.
#[test]
fn blocks_of_chia_are_known_by_a_field() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("input");
    let content = |text: &str| {
        fs::write(&path, text).unwrap();
        Files::open(std::slice::from_ref(&path), CLAIMS, None, None).unwrap().others[0].content
    };
    let block = r#"{"finished_sub_slots": [{"x": {}}], "foliage": {}"#;
    for text in [
        block.to_owned(),
        format!("\u{feff}\n[{block}"),
        format!(r#"{{"block": {block}"#),
        format!(r#"{{"success": true, "blocks": [{block}"#),
    ] {
        assert_eq!(content(&text), Content::ChiaBlocks, "{text}");
    }
    for id in [r#""foliage""#, r#"{"foliage": 1}"#] {
        let claim = claim(1).replacen("\"id\":1", &format!("\"id\":{id}"), 1);
        assert_eq!(content(&claim), Content::Claims(Format::Jsonl), "{claim}");
    }
}

#[test]
fn a_file_that_is_given_twice_is_refused() {
    let folder = TempDir::new().unwrap();
    let paths = ["a.jsonl", "b.jsonl"].map(|name| folder.path().join(name));
    fs::write(&paths[0], claims(3)).unwrap();
    fs::copy(&paths[0], &paths[1]).unwrap();
    let plan = |paths: &[PathBuf]| {
        shards::plan(&Files::open(paths, CLAIMS, None, None).unwrap(), &folder.path().join("run"), TERMS, 500, go_on)
    };
    refused(plan(&paths), "it has the same content as");
    refused(plan(&[paths[0].clone(), paths[0].clone()]), "it is given twice");
    refused(plan(&[paths[0].clone(), folder.path().join("./a.jsonl")]), "it is given twice");
    plan(&paths[..1]).unwrap();
    refused(plan(&paths[..1]), "there is a plan already");
}

/// A file from which all blocks were taken is not an era without claims: the state lists its blocks.
#[test]
fn an_era_without_its_blocks_is_an_error_of_its_shard() {
    let Some(vectors) = quorate_lab::vectors::path("20_history/capella") else { return };
    let folder = TempDir::new().unwrap();
    fs::copy(vectors.join("minimal-00000.era"), folder.path().join("0.era")).unwrap();
    let whole = fs::read(vectors.join("minimal-00001.era")).unwrap();
    let (mut stripped, mut rest, mut state) = (Vec::<u8>::new(), &whole[..], 0);
    while !rest.is_empty() {
        let length = 8 + u32::from_le_bytes(rest[2..6].try_into().unwrap()) as usize;
        let (record, after) = rest.split_at(length);
        rest = after;
        let begin = stripped.len();
        match (&record[..2], length) {
            // Blocks, and the index of more than one offset, which is theirs.
            ([1, 0], _) | (b"i2", 33..) => continue,
            ([2, 0], _) => state = begin,
            _ => {}
        }
        stripped.extend_from_slice(record);
        if record.starts_with(b"i2") {
            // Where the state begins, from the beginning of its index.
            let offset = (state as i64 - begin as i64).to_le_bytes();
            stripped[begin + 16..begin + 24].copy_from_slice(&offset);
        }
    }
    fs::write(folder.path().join("1.era"), stripped).unwrap();
    let network = vectors.join("chain.json");
    let files = Files::open(&[folder.path().to_owned()], CLAIMS, Some(&network), None).unwrap();
    let path = folder.path().join("run");
    let manifest = shards::plan(&files, &path, TERMS, 1, go_on).unwrap();
    refused(run(&path, &manifest, 0), "which the file does not hold");
    assert!(!shards::result_path(&path, 0).exists());
}

#[test]
fn inputs_that_cannot_be_cut_are_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("input");
    for (content, expected) in [
        (&b"[{}]"[..], "found one JSON array, which cannot be cut into lines"),
        (b"  \n[", "found one JSON array"),
        (b"PAR1 and nothing else", "Parquet"),
        (b"e2 and more", "offset"),
        (b"\x1f\x8b\x08\0\0\0\0\0", "gzip"),
    ] {
        fs::write(&path, content).unwrap();
        let files = Files::open(std::slice::from_ref(&path), CLAIMS, None, None).unwrap();
        refused(shards::plan(&files, &folder.path().join("run"), TERMS, 500, go_on), expected);
        assert!(!folder.path().join("run").exists());
    }
    for blank in ["", "\n", "\u{feff}", "\u{feff} \r\n\t\n"] {
        fs::write(&path, blank).unwrap();
        let files = Files::open(std::slice::from_ref(&path), CLAIMS, None, None).unwrap();
        refused(shards::plan(&files, &folder.path().join("run"), TERMS, 500, go_on), "found no claim");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Lines that are cut into shards are read as those of the whole file, with blank lines, line ends of both systems, a byte order
    /// mark, and what is not JSON.
    #[test]
    fn lines_that_are_cut_are_the_lines_of_the_file(
        lines in prop::collection::vec("(\u{feff}?[ \\t]{0,2}(\\{\"id\":[0-9]{1,30}\\}|\\[|x{0,40})\r?\n){0,3}", 1..8),
        last in "[x{]{0,3}",
        shard_bytes in 1u64..60,
    ) {
        let text = lines.concat() + &last;
        let begins = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
        prop_assume!(!begins.starts_with('[') && !begins.is_empty());
        let whole: Vec<u64> = JsonLines::new(text.as_bytes())
            .map_while(Result::ok)
            .map(|entry| match entry.unwrap_err().place {
                quorate_formats::Place::Line(line) => line,
                place => panic!("{place}"),
            })
            .collect();
        let run = Run::planned(&text, shard_bytes, TERMS);
        run.run_all();
        prop_assert_eq!(run.merge().unwrap().malformed, whole.len() as u64);
        let cut: Vec<u64> = run.verdicts().into_iter().map(|(line, ..)| line).collect();
        prop_assert_eq!(cut, whole);
    }

    #[test]
    fn no_bytes_make_a_manifest_panic(text in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Manifest::parse(&text[..], Path::new("x")).is_err());
    }
}
