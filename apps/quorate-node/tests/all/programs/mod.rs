//! The user's programs and endpoints, with real processes and sockets.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "what a test cannot set up fails it")]

mod endpoints;
mod example;
mod failures;
mod limits;

use std::{
    env, fs,
    num::NonZeroUsize,
    path::PathBuf,
    process::Command,
    sync::LazyLock,
    time::{Duration, Instant},
};

use quorate_evm::{
    alloy_primitives::{Address, B256, Bytes},
    digest::Contract,
};
use quorate_lab::run::{Run as _, shell};
use quorate_node::programs::{Program, ProgramError, ProgramFailure, ProgramSettings, ProgramTask, Programs};
use tempfile::TempDir;

const NETWORK: Contract = Contract { chain_id: 31337, address: Address::repeat_byte(0xC0) };

/// A limit that no test meets on a slow machine unless it wants to.
const LONG: Duration = Duration::from_secs(250);
/// A limit for programs that never end. Before it, they do what they do first.
const SHORT: Duration = Duration::from_secs(10);
/// Longer than a slow machine takes for what does not wait, and less than [`LONG`] and than the five minutes of what the programs start.
const SOON: Duration = Duration::from_secs(200);
/// In which killed processes are gone on a slow machine, and less than the five minutes after which they would end by themselves.
const REAPED: Duration = Duration::from_secs(120);

fn task(payload: impl Into<Bytes>) -> ProgramTask {
    ProgramTask { epoch: 7, id: B256::repeat_byte(0x1D), payload: payload.into() }
}

fn settings(time: Duration) -> ProgramSettings {
    ProgramSettings { time, at_once: NonZeroUsize::new(8).unwrap(), environment: Vec::new() }
}

/// The same work for both actions.
fn programs(program: Program, time: Duration) -> Programs {
    Programs::new(NETWORK, Some(program.clone()), Some(program), settings(time))
}

/// Executable files in a folder that vanishes with the test.
struct Scripts(TempDir);

impl Scripts {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Makes an executable file, and gives its path.
    ///
    /// Another process writes it: a file cannot be executed while one of the children that this process starts in other
    /// tests has inherited a descriptor that writes to it.
    fn file(&self, name: &str, text: &str) -> String {
        let (source, file) = (self.path(&format!("{name}.source")), self.path(name));
        fs::write(&source, text).unwrap();
        shell("install -m 755 \"$0\" \"$1\"").arg(source).arg(&file).ran().exits(0);
        file.into_os_string().into_string().unwrap()
    }

    /// A script of the system's `sh`.
    fn sh(&self, name: &str, text: &str) -> Program {
        Program::command([self.file(name, &format!("#!/bin/sh\n{text}\n"))]).unwrap()
    }

    /// A pipe with a name. A reader sees its end when every process that holds its other end is gone.
    fn watch(&self, name: &str) -> Watch {
        let path = self.path(name);
        shell("mkfifo \"$0\"").arg(&path).ran().exits(0);
        let (sender, gone) = std::sync::mpsc::channel();
        // A thread of its own, so that a test that fails does not wait for it.
        std::thread::spawn(move || drop(sender.send(fs::read_to_string(path))));
        Watch(gone)
    }
}

struct Watch(std::sync::mpsc::Receiver<std::io::Result<String>>);

impl Watch {
    /// What the processes wrote to the pipe, when all of them are gone.
    #[track_caller]
    fn assert_gone(self) -> String {
        self.0.recv_timeout(REAPED).expect("a process is left").unwrap()
    }
}

/// The interpreter itself: `python3` can be a script that looks for it, which takes longer than the tests' programs.
static PYTHON: LazyLock<String> = LazyLock::new(|| {
    // These tests need python3 on the PATH.
    let ran = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).ran().exits(0);
    ran.out.trim().to_owned()
});

async fn execute_failure(program: Program, time: Duration) -> ProgramError {
    programs(program, time).execute(&task("{}")).await.unwrap_err()
}

#[track_caller]
fn assert_failed(error: &ProgramError, wanted: impl Fn(&ProgramFailure) -> bool) {
    assert!(wanted(&error.failure), "{error}");
}

#[track_caller]
fn assert_soon(started: Instant) {
    assert!(started.elapsed() < SOON, "it took {:?}", started.elapsed());
}
