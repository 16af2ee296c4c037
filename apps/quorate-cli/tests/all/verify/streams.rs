//! Streams that stall, break, fill up or never end.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{ChildStdin, ChildStdout, Stdio},
    sync::mpsc::{Receiver, channel},
    thread::{self, JoinHandle},
    time::Duration,
};

use quorate_lab::run::{LIMIT, Running, Signal, command_after};
use serde_json::{Value, json};

use crate::verify::run::{Folder, Run as _, Verdicts as _, claim, command, false_claim, lines};

/// A run whose standard input stays open.
struct Stream {
    run: Running,
    /// Until it is closed.
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    err: JoinHandle<String>,
}

impl Stream {
    fn start(arguments: &[&str]) -> Self {
        let mut command = command("quorate");
        command.arg("verify").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut run = Running::start(&mut command);
        let child = &mut run.child;
        let input = child.stdin.take();
        let lines = read_lines(child.stdout.take().unwrap());
        let mut stderr = child.stderr.take().unwrap();
        let err = thread::spawn(move || {
            let mut err = String::new();
            stderr.read_to_string(&mut err).unwrap();
            err
        });
        Self { run, input, lines, err }
    }

    fn write(&mut self, text: &str) {
        self.input.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    /// Ends standard input.
    fn close(&mut self) {
        self.input = None;
    }

    /// The next line of standard output, which must come by itself.
    #[track_caller]
    fn line(&self) -> Value {
        serde_json::from_str(&self.lines.recv_timeout(LIMIT).expect("a line in time")).unwrap()
    }

    fn interrupt(&self) {
        self.run.signal(Signal::INT);
    }

    /// Waits for the end without closing standard input; the lines that were not taken and standard error.
    fn end(mut self) -> (i32, Vec<Value>, String) {
        let code = self.run.ended();
        let rest = self.lines.iter().map(|line| serde_json::from_str(&line).unwrap()).collect();
        let err = self.err.join().unwrap();
        drop(self.input);
        (code, rest, err)
    }
}

fn read_lines(out: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for line in BufReader::new(out).lines() {
            if sender.send(line.unwrap()).is_err() {
                return;
            }
        }
    });
    receiver
}

#[test]
fn ctrl_c_flushes_and_counts_what_is_judged() {
    let mut run = Stream::start(&["--verdicts", "--json"]);
    run.write(&lines(&[claim(1), false_claim(2), claim(3)]));
    assert_eq!([run.line(), run.line(), run.line()].map(|line| line["valid"] == true), [true, false, true]);
    run.interrupt();
    let (code, rest, err) = run.end();
    assert_eq!(code, 130);
    let [summary] = &rest[..] else { panic!("{rest:?}") };
    assert_eq!(summary["interrupted"], true);
    assert_eq!(["claims", "valid", "invalid"].map(|field| summary[field].clone()), [json!(3), json!(2), json!(1)]);
    assert!(err.contains("3 claims: 2 valid, 1 invalid; interrupted"), "{err}");
}

/// Nothing is judged yet, and the first read blocks.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_before_the_first_claim_ends_it() {
    for arguments in [&["--json"][..], &["--json", "--format", "light-client"]] {
        let run = Stream::start(arguments);
        let begun = std::time::Instant::now();
        while !run.run.catches(Signal::INT) {
            assert!(begun.elapsed() < LIMIT, "it handles no signal");
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(Duration::from_millis(300));
        run.interrupt();
        let (code, _, _) = run.end();
        assert_eq!(code, 130, "{arguments:?}");
    }
}

#[test]
fn ctrl_c_keeps_what_was_remembered() {
    let folder = Folder::new();
    let known = folder.path("known");
    let mut run = Stream::start(&["--verdicts", "--remember", &known]);
    run.write(&lines(&[claim(1), claim(2)]));
    run.line();
    run.line();
    run.interrupt();
    assert_eq!(run.end().0, 130);
    assert_eq!(std::fs::read_to_string(known).unwrap().lines().count(), 2);
}

#[test]
fn a_slow_pipe_is_not_waited_for() {
    let mut run = Stream::start(&["--verdicts"]);
    for i in 0..3 {
        run.write(&lines(&[claim(i)]));
        assert_eq!(run.line(), json!({"index": i, "id": format!("c{i}"), "valid": true}));
    }
    run.close();
    assert_eq!(run.end().0, 0);
}

/// A claim every few milliseconds: the verdict of the first does not wait for a pause.
#[test]
fn a_steady_trickle_does_not_hold_back_the_first_verdict() {
    let mut run = Stream::start(&["--verdicts", "--threads", "1"]);
    let line = lines(&[claim(1)]);
    let mut written = 0;
    let first = loop {
        run.write(&line);
        if let Ok(line) = run.lines.recv_timeout(Duration::from_millis(20)) {
            break line;
        }
        written += 1;
        assert!(written < 500, "no verdict while claims keep coming");
    };
    assert!(first.starts_with("{\"index\":0,"), "{first}");
    run.close();
    assert_eq!(run.end().0, 0);
}

/// Bursts while the verifier is at work: none of their claims waits for the next burst.
#[test]
fn a_burst_is_judged_whole_while_the_pipe_stays_open() {
    let mut run = Stream::start(&["--verdicts", "--threads", "1"]);
    let burst: String = (0..200).map(|i| lines(&[claim(i)])).collect();
    let mut seen = 0;
    for _ in 0..4 {
        run.write(&burst);
        for _ in 0..200 {
            assert_eq!(run.line()["index"], seen);
            seen += 1;
        }
    }
    run.close();
    assert_eq!(run.end().0, 0);
}

#[test]
fn a_reader_that_leaves_is_no_trouble_worth_a_message() {
    for arguments in [&["--verdicts"][..], &["--json"], &[]] {
        let mut command = command("quorate");
        command.arg("verify").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut run = Running::start(&mut command);
        drop(run.child.stdout.take());
        let mut input = run.child.stdin.take().unwrap();
        input.write_all(lines(&[claim(1), claim(2)]).as_bytes()).unwrap();
        drop(input);
        assert_eq!(run.ends().exits(3).err, "", "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_is_an_error() {
    for (arguments, claims) in [(&["--verdicts"][..], 2), (&["--verdicts"], 1000), (&["--json"], 2), (&[], 2)] {
        let folder = Folder::new();
        let path = folder.file("claims", lines(&[claim(1)]).repeat(claims));
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = command("quorate");
        command.arg("verify").args(arguments).arg(path).stdout(full).stderr(Stdio::piped());
        Running::start(&mut command).ends().exits(3).says("standard output").says("No space left");
    }
}

#[test]
fn standard_error_may_be_closed() {
    let folder = Folder::new();
    let path = folder.file("claims", format!("bad\n{}", claim(1)));
    let ran = command_after("exec 2>&-", "quorate").args(["verify", "--verdicts", &path]).ran();
    assert_eq!(ran.exits(2).valid(), [true]);
}

/// The most memory that a process held so far, in KiB.
#[cfg(target_os = "linux")]
fn peak_memory(run: &Running) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", run.child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Claims of 8,000 keys each, while nobody reads the verdicts: what waits is bounded by bytes, not by number alone.
#[cfg(target_os = "linux")]
#[test]
fn large_claims_do_not_pile_up() {
    let single = claim(1);
    let large = json!({
        "id": "x".repeat(20_000), "suite": "eth2", "public_keys": vec![&single["public_key"]; 8000], "message": "00",
        "signature": single["signature"],
    });
    let line = lines(&[large]);
    let mut command = command("quorate");
    command.args(["verify", "--verdicts", "--threads", "1"]).stderr(Stdio::null());
    let mut run = Running::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()));
    let (mut input, (sender, written)) = (run.child.stdin.take().unwrap(), channel());
    let writer = thread::spawn(move || while input.write_all(line.as_bytes()).is_ok() && sender.send(()).is_ok() {});
    let mut claims = 0;
    // It takes the first ones whenever the machine lets it, and then stops.
    let patience = |claims| if claims > 10 { Duration::from_secs(2) } else { LIMIT };
    while written.recv_timeout(patience(claims)).is_ok() && claims < 1500 {
        claims += 1;
    }
    let peak = peak_memory(&run);
    run.kill();
    drop(written);
    writer.join().unwrap();
    println!("{peak} KiB, {claims} claims of 8,000 keys taken");
    assert!(claims > 10 && peak < 250 << 10, "{peak} KiB");
}

/// Lines that make no claim fill no window of claims, but must not pile up either.
#[cfg(target_os = "linux")]
#[test]
fn malformed_lines_do_not_pile_up() {
    let mut run = Stream::start(&["--json", "-q", "--threads", "1"]);
    run.write(&"{}\n".repeat(600_000));
    // All but the last of it is read; the end is still to come.
    let peak = peak_memory(&run.run);
    run.close();
    let (code, summary, _) = run.end();
    println!("{peak} KiB for 600,000 malformed lines");
    assert_eq!((code, &summary[0]["malformed"]), (2, &json!(600_000)));
    assert!(peak < 100 << 10, "{peak} KiB");
}
