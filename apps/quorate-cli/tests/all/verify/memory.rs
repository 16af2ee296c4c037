//! `--known` and `--remember`: what was verified once is subtracted, and believed only as it was written.

use std::{
    fs,
    io::Write as _,
    path::Path,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use quorate::MinPk;
use quorate_lab::run::{LIMIT, Running, command, command_after};
use serde_json::{Value, json};

use crate::verify::run::{
    Folder, Run as _, Verdicts as _, claim, each, false_claim, lines, shared, short_claim, single, verify,
    verify_input, with, without,
};

/// The counts of a run: valid, invalid, known, subtracted, remembered.
fn counts(summary: &Value) -> [u64; 5] {
    ["valid", "invalid", "known", "subtracted", "remembered"].map(|field| summary[field].as_u64().unwrap())
}

#[test]
fn a_second_run_knows_everything() {
    let folder = Folder::new();
    let (known, gossip) = (folder.path("known"), lines(&[claim(1), false_claim(2), short_claim(3), claim(4)]));
    let arguments = ["--json", "--known", &known, "--remember", &known];
    let first = verify_input(&arguments, &gossip).exits(1).object();
    assert_eq!(counts(&first), [3, 1, 0, 0, 3]);
    let written = fs::read_to_string(&known).unwrap();
    assert_eq!(written.lines().count(), 3);
    for line in written.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let fields: Vec<_> = line.as_object().unwrap().keys().cloned().collect();
        assert_eq!(fields, ["message", "public_key", "signature", "suite"]);
    }
    // The lines are claims like any others.
    verify(&[&known]).exits(0).says("3 claims: 3 valid");

    let second = verify_input(&arguments, &gossip).exits(1).object();
    assert_eq!(counts(&second), [3, 1, 3, 3, 0]);
    assert_eq!(fs::read_to_string(&known).unwrap(), written, "nothing is appended twice");
    assert!(second["hashes"].as_u64() < first["hashes"].as_u64());
    verify_input(&["--known", &known], lines(&[claim(1)])).exits(0).says("1 statement known");
}

/// The first run of a pair finds no file, however its name is written.
#[test]
fn one_file_may_be_written_in_two_ways() {
    let folder = Folder::new();
    let known = folder.path("known");
    let root = Path::new(&known).parent().unwrap();
    let run = || {
        let mut command = command("quorate");
        command.args(["verify", "--known", "known", "--remember", "./known"]).current_dir(root);
        command.ran_with(lines(&[claim(1)])).exits(0)
    };
    run().says("1 remembered");
    run().says("1 statement known");
}

#[test]
fn a_claim_that_its_chain_refutes_is_never_known() {
    let folder = Folder::new();
    let of_chain = [("kind", json!("exit")), ("slot", json!(5)), ("index", json!(0))];
    let of_chain = of_chain.into_iter().fold(claim(1), |claim, (field, value)| with(claim, field, value));
    let refuted = with(of_chain.clone(), "reason", json!("no such validator"));
    verify_input(&["--verdicts"], lines(std::slice::from_ref(&refuted))).exits(1);
    let known = folder.file("known", lines(&[claim(2), refuted]));
    for flag in ["--known", "--remember"] {
        verify_input(&[flag, &known], lines(&[claim(1)])).exits(2).says("line 2: chain: no such validator");
    }
    let known = folder.file("known", lines(&[of_chain]));
    verify_input(&["--known", &known], lines(&[claim(1)])).exits(0).says("1 statement known");
}

#[test]
fn what_is_remembered_is_appended() {
    let folder = Folder::new();
    let known = folder.path("known");
    for (i, lines_) in [(1, 1), (2, 2), (3, 3)] {
        verify_input(&["--remember", &known], lines(&[claim(i)])).exits(0).says("1 remembered");
        assert_eq!(fs::read_to_string(&known).unwrap().lines().count(), lines_);
    }
}

#[test]
fn a_block_claim_is_reduced_by_what_is_known_of_it() {
    let folder = Folder::new();
    let suite = MinPk::Eth2;
    let gossip: Vec<_> = (1..=3).map(|i| single(suite, i, b"vote", b"vote")).collect();
    let known = folder.file("known", lines(&gossip));
    let pairs: [(u8, &[u8]); 4] = [(1, b"vote"), (2, b"vote"), (4, b"vote"), (5, b"other")];
    let block = each(suite, &pairs);
    let quorum = shared(suite, &[1, 2, 3], b"vote");
    let ran = verify_input(&["--json", "--known", &known], lines(&[block.clone(), quorum.clone()])).exits(0);
    assert_eq!(counts(&ran.object()), [2, 0, 3, 5, 0]);
    // The same with a signature of something else: knowing its statements does not make it valid.
    let forged = [
        with(block, "signature", gossip[0]["signature"].clone()),
        with(quorum, "signature", gossip[0]["signature"].clone()),
    ];
    let ran = verify_input(&["--verdicts", "--known", &known], lines(&forged)).exits(1);
    assert_eq!(ran.valid(), [false, false]);
}

#[test]
fn aggregates_and_false_claims_are_not_remembered() {
    let folder = Folder::new();
    let known = folder.path("known");
    let claims = [shared(MinPk::Eth2, &[1, 2], b"m"), each(MinPk::Eth2, &[(1, b"a"), (2, b"b")]), false_claim(3)];
    verify_input(&["--remember", &known], lines(&claims)).exits(1);
    assert_eq!(fs::read_to_string(&known).unwrap(), "");
    // An aggregate of one is a single claim.
    verify_input(&["--remember", &known], lines(&[shared(MinPk::Eth2, &[1], b"m")])).exits(0).says("1 remembered");
}

#[test]
fn known_under_one_suite_is_not_known_under_another() {
    let folder = Folder::new();
    let known = folder.file("known", lines(&[single(MinPk::Basic, 1, b"m", b"m"), short_claim(1)]));
    let ran = verify_input(&["--json", "--known", &known], lines(&[single(MinPk::Eth2, 1, b"m", b"m")])).exits(0);
    assert_eq!(counts(&ran.object()), [1, 0, 2, 0, 0]);
    // Suites of one tag share their signatures.
    let profile = single(MinPk::DrandUnchained, 1, b"m", b"m");
    assert_eq!(counts(&verify_input(&["--json", "--known", &known], lines(&[profile])).object()), [1, 0, 2, 1, 0]);
}

/// A known statement is believed: with a wrong signature a true claim of it is false, whatever its own signature says.
#[test]
fn a_false_known_signature_makes_no_other_claim_valid() {
    let folder = Folder::new();
    let known = folder.file("known", lines(&[with(claim(1), "signature", claim(2)["signature"].clone())]));
    let ran = verify_input(&["--verdicts", "--known", &known], lines(&[claim(1), claim(2)])).exits(1);
    assert_eq!(ran.valid(), [false, true]);
}

#[test]
fn a_tampered_known_file_is_an_error_with_its_line() {
    let folder = Folder::new();
    let bad = [
        ("hello".to_owned(), "expected a JSON object"),
        (without(claim(2), "signature").to_string(), "\"signature\" is missing"),
        (with(claim(2), "signature", "00").to_string(), "signature: "),
        (with(claim(2), "public_key", "c0".to_owned() + &"00".repeat(47)).to_string(), "identity"),
        (with(claim(2), "suite", "eth3").to_string(), "there is no suite"),
        (without(claim(2), "suite").to_string(), "--suite NAME"),
        (shared(MinPk::Eth2, &[1, 2], b"m").to_string(), "makes one statement, but this one makes 2"),
        (with(shared(MinPk::Eth2, &[1], b"m"), "public_keys", json!([])).to_string(), "makes one statement"),
    ];
    for (line, reason) in bad {
        let known = folder.file("known", format!("{}{line}\n{}", lines(&[claim(1)]), claim(3)));
        let ran =
            verify_input(&["--known", &known], lines(&[claim(1)])).exits(2).says(&known).says("line 2").says(reason);
        assert_eq!(ran.out, "", "{reason}");
    }
}

#[test]
fn a_known_file_that_is_not_there_is_an_error_unless_this_run_makes_it() {
    let folder = Folder::new();
    let known = folder.path("known");
    verify_input(&["--known", &known], lines(&[claim(1)])).exits(3).says(&known);
    verify_input(&["--known", &known, "--remember", &folder.path("other")], lines(&[claim(1)])).exits(3);
    verify_input(&["--known", &known, "--remember", &known], lines(&[claim(1)])).exits(0).says("1 remembered");
    verify_input(&["--known", &folder.path("")], "").exits(3).says("directory");
}

#[test]
fn no_statement_is_remembered_twice() {
    let folder = Folder::new();
    let known = folder.path("known");
    // Twice in a window, in two runs, and in a run that reads another file as known.
    let twice = [claim(1), with(claim(1), "id", "again"), claim(2)];
    verify_input(&["--remember", &known], lines(&twice)).exits(0).says("2 remembered");
    verify_input(&["--remember", &known], lines(&[claim(1), claim(2), claim(3)])).exits(0).says("1 remembered");
    let other = folder.file("other", lines(&[claim(9)]));
    let ran = verify_input(&["--known", &other, "--remember", &known], lines(&[claim(3)])).exits(0);
    assert!(!ran.err.contains("remembered"), "{}", ran.err);
    let written = fs::read_to_string(&known).unwrap();
    assert_eq!(written.lines().collect::<std::collections::BTreeSet<_>>().len(), 3);
    assert_eq!(written.lines().count(), 3);
}

/// A run that began before another one has appended does not repeat it.
#[test]
fn runs_at_the_same_time_remember_no_statement_twice() {
    let folder = Folder::new();
    let known = folder.path("known");
    let mut command = command("quorate");
    command.args(["verify", "--remember", &known, "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut first = Running::start(&mut command);
    let begun = Instant::now();
    while !Path::new(&known).exists() {
        assert!(begun.elapsed() < LIMIT, "the first run does not begin");
        thread::sleep(Duration::from_millis(10));
    }
    verify_input(&["--remember", &known], lines(&[claim(1), claim(2)])).exits(0).says("2 remembered");
    let mut input = first.child.stdin.take().unwrap();
    input.write_all(lines(&[claim(2), claim(3)]).as_bytes()).unwrap();
    drop(input);
    first.ends().exits(0).says("1 remembered");
    assert_eq!(fs::read_to_string(&known).unwrap().lines().count(), 3);
}

/// A line without a line end gets one before the next record is appended.
#[test]
fn a_last_line_without_line_end_is_completed() {
    let folder = Folder::new();
    let known = folder.file("known", lines(&[claim(1), claim(2)]).trim_end());
    for arguments in [&["--remember", &known][..], &["--known", &known, "--remember", &known]] {
        verify_input(arguments, lines(&[claim(2), claim(3)])).exits(0);
    }
    verify(&[&known]).exits(0).says("3 claims: 3 valid");
}

/// A run was stopped while it wrote: the line that it left makes no claim, and what stands before it is kept.
#[test]
fn a_torn_last_line_makes_no_file_unusable() {
    let whole = lines(&[claim(1), claim(2)]);
    let third = lines(&[claim(3)]);
    for torn in ["{", "{\"suite", &third[..third.len() - 2], "{\"id\": \"é"] {
        let folder = Folder::new();
        let content = [whole.as_bytes(), torn.strip_suffix('é').map_or(torn.as_bytes(), |cut| cut.as_bytes())].concat();
        let content = if torn.ends_with('é') { [&content[..], &[0xc3]].concat() } else { content };
        let known = folder.file("known", &content);
        let ran = verify_input(&["--json", "--known", &known], lines(&[claim(1)])).exits(0);
        assert_eq!(counts(&ran.object()), [1, 0, 2, 1, 0], "{torn:?}");
        ran.says("line 3: the line is cut off, so it is not used");
        assert_eq!(fs::read(&known).unwrap(), content, "--known does not write");

        let ran = verify_input(&["--remember", &known], lines(&[claim(2), claim(4)])).exits(0).says("1 remembered");
        ran.says("line 3: the line was cut off while it was written, so it was removed");
        verify(&[&known]).exits(0).says("3 claims: 3 valid");
    }
    // The same file for both options: one message.
    let folder = Folder::new();
    let known = folder.file("known", format!("{whole}{{\"suite"));
    let ran = verify_input(&["--known", &known, "--remember", &known], lines(&[claim(3)])).exits(0);
    assert_eq!(ran.err.matches("cut off").count(), 1, "{}", ran.err);
}

/// Zeros at the end are no line that was begun: a copy that broke off, or a disk that lost what it had. Nothing is removed.
#[test]
fn zeros_at_the_end_are_damage() {
    let folder = Folder::new();
    for zeros in ["\0\0\0", "{\"suite\":\"et\0\0"] {
        let content = lines(&[claim(1), claim(2)]) + zeros;
        let known = folder.file("known", &content);
        for option in ["--known", "--remember"] {
            verify_input(&[option, &known], lines(&[claim(1)])).exits(2).says("line 3");
        }
        assert_eq!(fs::read(&known).unwrap(), content.as_bytes());
    }
}

/// Only a line that is cut off is removed. Anything else is somebody's data.
#[test]
fn a_file_that_is_not_ours_is_not_written() {
    let folder = Folder::new();
    for (content, reason) in [
        ("hello".to_owned(), "line 1: found text that is not JSON"),
        (format!("{{\"pub\n{}", lines(&[claim(1)])), "line 1: "),
        (format!("{}{{\"a\": 1}}", lines(&[claim(1)])), "line 2: "),
        (format!("{}bad\n   ", lines(&[claim(1)])), "line 2: "),
        (format!("{}{}{}", lines(&[claim(1)]).trim_end(), claim(2), "\n"), "line 1: "),
        (format!("[{}]", claim(1)), "the file is one JSON list"),
        ("[]".to_owned(), "the file is one JSON list"),
    ] {
        let path = folder.file("notes", &content);
        verify_input(&["--remember", &path], lines(&[claim(3)])).exits(2).says(&path).says(reason);
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
}

#[test]
fn aggregates_that_were_not_remembered_are_counted() {
    let folder = Folder::new();
    let known = folder.path("known");
    let aggregate = shared(MinPk::Eth2, &[1, 2], b"m");
    let claims =
        [aggregate.clone(), claim(1), each(MinPk::Eth2, &[(1, b"a"), (2, b"b")]), with(aggregate, "signature", "00")];
    let ran = verify_input(&["--json", "--remember", &known], lines(&claims)).exits(1);
    let ran = ran.says("2 valid aggregates were not remembered, only claims of one statement are");
    assert_eq!((&ran.object()["remembered"], &ran.object()["not_remembered"]), (&json!(1), &json!(2)));
    // Without --remember there is nothing to say.
    let ran = verify_input(&["--json"], lines(&claims)).exits(1);
    assert!(!ran.err.contains("remembered") && ran.object()["not_remembered"] == 0, "{ran:?}");
}

/// A record that does not fit is taken back, so that the file ends with whole lines.
#[test]
#[cfg(unix)]
fn a_window_is_remembered_whole_or_not_at_all() {
    let folder = Folder::new();
    let known = folder.file("known", lines(&[claim(1)]));
    let before = fs::read_to_string(&known).unwrap();
    let claims = folder.file("claims", lines(&(2..9).map(claim).collect::<Vec<_>>()));
    // A limit on the size of files, in blocks of 1,024 or 512 bytes; the signal of the limit is ignored, as on a full disk.
    let mut command = command_after("trap '' XFSZ; ulimit -f 2", "quorate");
    let ran = command.args(["verify", "--remember", &known, &claims]).ran();
    ran.exits(3).says("cannot append to --remember");
    assert_eq!(fs::read_to_string(&known).unwrap(), before);
}

#[test]
#[cfg(unix)]
fn the_file_is_for_its_owner_and_others_who_can_write_it_are_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    let known = folder.path("known");
    verify_input(&["--remember", &known], lines(&[claim(1)])).exits(0);
    assert_eq!(fs::metadata(&known).unwrap().permissions().mode() & 0o777, 0o600);
    let ran = verify_input(&["--known", &known], lines(&[claim(1)])).exits(0);
    assert!(!ran.err.contains("warning"), "{}", ran.err);
    for mode in [0o620, 0o602, 0o666] {
        fs::set_permissions(&known, fs::Permissions::from_mode(mode)).unwrap();
        for quiet in [&[][..], &["-q"]] {
            let ran = verify_input(&[&["--known", &known], quiet].concat(), lines(&[claim(1)])).exits(0);
            ran.says(&format!("{known}: others may write it (mode {mode:o})")).says("chmod go-w");
        }
    }
    fs::set_permissions(&known, fs::Permissions::from_mode(0o644)).unwrap();
    let ran = verify_input(&["--known", &known], lines(&[claim(1)])).exits(0);
    assert!(!ran.err.contains("warning"), "{}", ran.err);
}

/// Its owner can write it, whatever its mode says. Only root can give a file away.
#[test]
#[cfg(unix)]
fn a_known_file_of_another_user_is_named() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: a file of another user, which only root can make");
        return;
    }
    let folder = Folder::new();
    let known = folder.file("known", lines(&[claim(1)]));
    std::os::unix::fs::chown(&known, Some(12_345), None).unwrap();
    for quiet in [&[][..], &["-q"]] {
        let ran = verify_input(&[&["--known", &known], quiet].concat(), lines(&[claim(1)])).exits(0);
        ran.says("warning: ").says(&format!("{known}: it belongs to the user 12345")).says("its claims are believed");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named() {
    verify_input(&["--remember", "/dev/full"], lines(&[claim(1)]))
        .exits(3)
        .says("cannot append to --remember /dev/full")
        .says("No space left");
    // Nothing to remember, nothing to write.
    verify_input(&["--remember", "/dev/full"], lines(&[false_claim(1)])).exits(1);
}
