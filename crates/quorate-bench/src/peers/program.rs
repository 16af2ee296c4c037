//! Another library: a program that gets a task and is told to run it. It reads one JSON object a line, answers with one, and ends at the
//! end of its input:
//!
//! ```text
//! > {"load": {"job": …, "suite": …, "tag": …, "keys": […], "messages": […], "signatures": […], "scalars": […], "sets": […]}}
//! < {"ready": "how it does it"}
//! > {"run": {}}
//! < {"answer": …, "wall_ns": …, "cpu_ns": …}
//! ```
//!
//! It is ready after decoding, or says `{"cannot": "why"}`. The answer of a run is a verdict, or a compressed point as hexadecimal, whose
//! encoding is not timed. [`Job`](super::task::Job) lists the values of `job`; `suite` is `min-pk`, `min-sig` or `bn254`. Bytes are
//! hexadecimal: compressed points of BLS12-381, scalars with the greatest byte first, and on BN254 words in the EVM's order. Only the job
//! `sets` has `sets`: of each message the places of its keys. The job `from-bytes` decodes, and checks keys and signatures, when it runs.

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use serde::{Deserialize, de::DeserializeOwned};

use super::task::{Answer, Input};
use crate::measure::Spent;

/// The greatest number of bytes of an answer. The longest is a point with its times.
pub(super) const LONGEST: usize = 1 << 16;
/// The longest time of one answer. The slowest library needs some seconds for the largest task.
const PATIENCE: Duration = Duration::from_secs(300);

/// The libraries that are left out, each with the reason.
pub(crate) type LeftOut = BTreeMap<String, String>;

/// What `make peers` built, and what it did not.
pub(crate) struct Peers {
    pub(super) programs: Vec<Listed>,
    pub(super) left_out: LeftOut,
}

/// One line of the list: a library with the command that starts its program, or why it is left out.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Listed {
    name: String,
    #[serde(default)]
    command: Vec<String>,
    left_out: Option<String>,
}

impl Peers {
    /// Reads a list, one JSON object a line.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path)
            .with_context(|| format!("cannot read {}, the list that `make peers` writes", path.display()))?;
        let (mut peers, mut names) = (Self { programs: Vec::new(), left_out: LeftOut::new() }, HashSet::new());
        for (i, line) in text.lines().enumerate() {
            let place = || format!("{}: line {}", path.display(), i + 1);
            let listed: Listed = serde_json::from_str(line).with_context(place)?;
            let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
            ensure!(
                !listed.name.is_empty()
                    && listed.name.chars().all(known)
                    && !matches!(&listed.name[..], "quorate" | "blst"),
                "{}: the name `{}` is not of letters, digits, `-` and `.`, or is the name of an engine that is there already",
                place(),
                listed.name.escape_debug()
            );
            ensure!(names.insert(listed.name.clone()), "{}: the name `{}` is there twice", place(), listed.name);
            match (listed.left_out.clone(), listed.command.is_empty()) {
                (None, false) => peers.programs.push(listed),
                (Some(why), true) => {
                    peers.left_out.insert(listed.name, why);
                }
                _ => bail!("{}: `{}` has either a command or why it is left out", place(), listed.name),
            }
        }
        Ok(peers)
    }
}

/// Whether a library can do a task.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Loaded {
    /// It can; how.
    Ready(String),
    /// It cannot; why.
    Cannot(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ran {
    answer: Answer,
    wall_ns: u64,
    cpu_ns: u64,
}

/// A running program.
pub(super) struct Program {
    name: String,
    child: Child,
    /// `None` once the program is told to end.
    requests: Option<ChildStdin>,
    answers: Receiver<Result<String>>,
    pub(super) patience: Duration,
}

impl Program {
    pub(super) fn start(listed: &Listed) -> Result<Self> {
        let (program, arguments) = listed.command.split_first().context("a command")?;
        let started = Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started.with_context(|| {
            format!("{}: cannot start {}; run `make peers`, which builds it", listed.name, program.escape_debug())
        })?;
        let (requests, output) = (child.stdin.take(), child.stdout.take().context("the program's output")?);
        let (sender, answers) = channel();
        thread::spawn(move || {
            let mut lines = BufReader::new(output);
            while let Some(line) = next_line(&mut lines).transpose() {
                let is_last = line.is_err();
                if sender.send(line).is_err() || is_last {
                    break;
                }
            }
        });
        Ok(Self { name: listed.name.clone(), child, requests, answers, patience: PATIENCE })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Brings a task.
    pub(super) fn load(&mut self, input: &Input, task: &str) -> Result<Loaded> {
        self.ask(&serde_json::json!({ "load": input }), task)
    }

    /// Does the task once.
    pub(super) fn run(&mut self, task: &str) -> Result<(Answer, Spent)> {
        let Ran { answer, wall_ns, cpu_ns } = self.ask(&serde_json::json!({ "run": {} }), task)?;
        ensure!(wall_ns > 0 && cpu_ns > 0, "{}: {task}: it says that it took no time", self.name);
        Ok((answer, Spent { wall: Duration::from_nanos(wall_ns), cpu: Some(Duration::from_nanos(cpu_ns)) }))
    }

    fn ask<T: DeserializeOwned>(&mut self, request: &serde_json::Value, task: &str) -> Result<T> {
        let requests = self.requests.as_mut().context("a program that runs")?;
        // A program that has ended is found out by its missing answer, which says more.
        let _ = writeln!(requests, "{request}").and_then(|()| requests.flush());
        let line = match self.answers.recv_timeout(self.patience) {
            Ok(line) => line.with_context(|| format!("{}: {task}", self.name))?,
            Err(RecvTimeoutError::Timeout) => {
                bail!("{}: {task}: no answer within {} seconds", self.name, self.patience.as_secs_f64())
            }
            Err(RecvTimeoutError::Disconnected) => {
                self.requests = None;
                let exit = self.child.wait().with_context(|| format!("{}: it cannot be waited for", self.name))?;
                bail!("{}: {task}: the program ended ({exit}); what it said stands above", self.name)
            }
        };
        serde_json::from_str(&line).with_context(|| {
            let start: String = line.chars().take(200).collect();
            format!("{}: {task}: the answer `{}` is not one", self.name, start.escape_debug())
        })
    }
}

/// A line without its end; `None` at the end of the output.
fn next_line(lines: &mut BufReader<impl std::io::Read>) -> Result<Option<String>> {
    let mut line = Vec::new();
    lines.by_ref().take(LONGEST as u64).read_until(b'\n', &mut line).context("its output cannot be read")?;
    match line.pop() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(String::from_utf8(line).context("its answer is not text")?)),
        Some(_) => bail!("its answer is longer than {LONGEST} bytes, or has no end"),
    }
}

/// No program outlives the run.
impl Drop for Program {
    fn drop(&mut self) {
        self.requests = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
impl Listed {
    pub(super) fn of(name: &str, command: &[&str]) -> Self {
        Self { name: name.into(), command: command.iter().map(|word| (*word).to_owned()).collect(), left_out: None }
    }
}
