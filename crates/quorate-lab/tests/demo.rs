//! The demonstration, ended by a signal at different moments: nothing that it started runs on.
//!
//! It reads which processes there are from /proc, so it runs on Linux.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "what a test cannot set up fails it")]

use std::{
    collections::HashSet,
    fs,
    io::{BufRead as _, BufReader},
    process::{ChildStdout, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use quorate_lab::{
    anvil,
    network::LocalPrograms,
    run::{Running, Signal, command, free_ports},
};
use rustix::process::{Pid, kill_process};
use tempfile::TempDir;

/// More than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// A demonstration with a folder for what it writes. All of its processes have the folder's path in their environment,
/// also those whose parent is gone. Nobody can read the environment of signers, but their command line has the path
/// too.
struct Demo {
    run: Running,
    out: BufReader<ChildStdout>,
    folder: TempDir,
}

impl Demo {
    /// `None`, with a line, if a program is absent.
    fn start() -> Option<Self> {
        LocalPrograms::or_skip()?;
        let folder = tempfile::tempdir().unwrap();
        let mut command = command("quorate-lab");
        command.args(["demo", "--nodes", "4", "--tasks", "1000", "--port", &first_port().to_string()]);
        // The chain's program, which is found in this test's environment.
        command.arg("--anvil").arg(anvil::find().unwrap()).env("TMPDIR", folder.path());
        let mut run = Running::start(command.stdout(Stdio::piped()).stderr(Stdio::null()));
        let out = BufReader::new(run.child.stdout.take().unwrap());
        Some(Self { run, out, folder })
    }

    /// The processes that have the path of the folder, by number and command.
    fn processes(&self) -> Vec<(i32, String)> {
        let path = self.folder.path().to_str().unwrap();
        let numbers = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let read = |number: i32, file: &str| {
            // A process that has ended meanwhile has none.
            String::from_utf8_lossy(&fs::read(format!("/proc/{number}/{file}")).unwrap_or_default()).replace('\0', " ")
        };
        let of_it = |number: i32| {
            let line = read(number, "cmdline");
            (line.contains(path) || read(number, "environ").contains(path)).then_some((number, line))
        };
        numbers.filter_map(of_it).collect()
    }

    fn until(&self, what: &str, is: impl Fn(&[(i32, String)]) -> bool) {
        let begun = Instant::now();
        loop {
            let processes = self.processes();
            if is(&processes) {
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "not in time: {what}; there are {processes:?}");
            sleep(Duration::from_millis(20));
        }
    }

    /// Sends a signal, waits until the demonstration has ended, and checks that it left nothing.
    fn end(mut self, signal: Signal) {
        self.run.signal(signal);
        let code = self.run.ended_within(PATIENCE);
        assert_eq!(code, Some(130), "interrupted: {:?}", self.processes());
        // A program of a node that was killed may still be dying.
        self.until("nothing is left behind", <[_]>::is_empty);
        let files: Vec<_> = fs::read_dir(self.folder.path()).unwrap().collect();
        assert!(files.is_empty(), "left behind: {files:?}");
    }
}

impl Drop for Demo {
    /// Of a test that failed.
    fn drop(&mut self) {
        let _ = self.run.child.kill();
        let _ = self.run.child.wait();
        for (process, _) in self.processes() {
            let _ = kill_process(Pid::from_raw(process).unwrap(), Signal::KILL);
        }
    }
}

/// The first of four ports on end that are free.
fn first_port() -> u16 {
    loop {
        let ports = free_ports(4).unwrap();
        if ports[3] == ports[0] + 3 {
            return ports[0];
        }
    }
}

/// While the chain starts: nothing of it was said yet.
#[test]
fn nothing_is_left_of_a_demonstration_that_is_ended_while_its_chain_starts() {
    for signal in [Signal::TERM, Signal::INT] {
        let Some(demo) = Demo::start() else { return };
        demo.until("the chain's process", |processes| processes.iter().any(|(_, line)| line.contains("--hardfork")));
        demo.end(signal);
    }
}

/// While signers and nodes start.
#[test]
fn nothing_is_left_of_a_demonstration_that_is_ended_while_its_operators_start() {
    let Some(demo) = Demo::start() else { return };
    demo.until("a signer", |processes| processes.iter().any(|(_, line)| line.contains("quorate-signer run")));
    sleep(Duration::from_millis(200));
    demo.end(Signal::TERM);
}

/// While tasks are performed.
#[test]
fn nothing_is_left_of_a_demonstration_that_is_ended_while_it_runs() {
    for signal in [Signal::TERM, Signal::INT] {
        let Some(mut demo) = Demo::start() else { return };
        let mut line = String::new();
        while !line.starts_with("dashboard") {
            line.clear();
            assert_ne!(demo.out.read_line(&mut line).unwrap(), 0, "it ended");
        }
        // A process that starts a command has the line of its parent for a moment, so lines are counted, not processes.
        demo.until("four nodes and a chain", |running| {
            let nodes = running.iter().map(|(_, line)| line).filter(|line| line.contains("quorate-node run"));
            let nodes: HashSet<_> = nodes.collect();
            nodes.len() == 4 && running.iter().any(|(_, line)| line.contains("anvil"))
        });
        demo.end(signal);
    }
}

/// What the checks above rely on: such a process is seen.
#[test]
fn a_process_with_the_path_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("sleep");
    let mut run = Running::start(command.arg("60").env("TMPDIR", folder.path()).stdout(Stdio::piped()));
    let out = BufReader::new(run.child.stdout.take().unwrap());
    let demo = Demo { run, out, folder };
    demo.until("the process", |processes| processes.iter().any(|(_, line)| line.starts_with("sleep 60")));
}
