//! The demonstration, ended by a signal at different moments: nothing that it started runs on.
//!
//! It reads which processes there are from /proc, so it runs on Linux.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "what a test cannot set up fails it")]

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use quorate_node::local::free_ports;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

const NODE: &str = env!("CARGO_BIN_EXE_quorate-node");
/// More than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// A demonstration with a folder for what it writes. All of its processes have the folder's path in their environment,
/// also those whose parent is gone. Nobody can read the environment of signers, but their command line has the path
/// too.
struct Demo {
    child: Child,
    out: BufReader<ChildStdout>,
    folder: TempDir,
}

impl Demo {
    /// `None`, with a line, if a program is absent.
    fn start() -> Option<Self> {
        let anvil = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contracts/node_modules/.bin/anvil");
        let signer = Path::new(NODE).with_file_name("quorate-signer");
        for (path, how) in [(&anvil, "make contracts"), (&signer, "cargo build -p quorate-signer")] {
            if !path.exists() {
                let line = format!("skipped: no {}; `{how}` makes it", path.display());
                assert!(env::var("CI").as_deref() != Ok("true"), "{line}, and this is CI");
                println!("{line}");
                return None;
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(NODE)
            .args(["demo", "--nodes", "4", "--tasks", "1000", "--port", &first_port().to_string(), "--anvil"])
            .arg(anvil)
            .env("TMPDIR", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap());
        Some(Self { child, out, folder })
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
        kill_process(Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap(), signal).unwrap();
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < PATIENCE, "it does not end: {:?}", self.processes());
            sleep(Duration::from_millis(20));
        };
        assert_eq!(status.code(), Some(130), "interrupted");
        assert_eq!(self.processes(), [], "left behind");
        let files: Vec<_> = fs::read_dir(self.folder.path()).unwrap().collect();
        assert!(files.is_empty(), "left behind: {files:?}");
    }
}

impl Drop for Demo {
    /// Of a test that failed.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
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
        let running = demo.processes();
        let nodes = running.iter().filter(|(_, line)| line.contains("quorate-node run")).count();
        assert!(nodes == 4 && running.iter().any(|(_, line)| line.contains("anvil")), "{running:?}");
        demo.end(signal);
    }
}

/// What the checks above rely on: such a process is seen.
#[test]
fn a_process_with_the_path_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let mut child =
        Command::new("sleep").arg("60").env("TMPDIR", folder.path()).stdout(Stdio::piped()).spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let demo = Demo { child, out, folder };
    demo.until("the process", |processes| processes.iter().any(|(_, line)| line.starts_with("sleep 60")));
}
