//! The protocol between `quorate-bench peers` and a program that measures another library: one JSON object a line.
//!
//! `{"load": {...}}` brings a task. The program decodes its points, and answers `{"ready": "how it does it"}`, or
//! `{"cannot": "why"}`. `{"run": {}}` does the task once, and the answer is `{"answer": ..., "wall_ns": ..., "cpu_ns": ...}`. The
//! program ends at the end of its input. BENCHMARKING.md says what each task is.

use std::{
    io::{BufRead as _, Write as _},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

/// What is asked. `task.rs` of `quorate-bench` says what each is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Job {
    Verify,
    FromBytes,
    SameMessage,
    Sets,
    Aggregate,
    Block,
    KeySum,
    Hash,
    Msm,
}

/// The curve, and the group of the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Suite {
    MinPk,
    MinSig,
    Bn254,
}

/// A task: points as bytes.
#[derive(Clone, Debug, Deserialize)]
pub struct Load {
    pub job: Job,
    pub suite: Suite,
    pub tag: String,
    pub keys: Vec<Bytes>,
    pub messages: Vec<Bytes>,
    pub signatures: Vec<Bytes>,
    /// Below the group's order, 32 bytes, the greatest first.
    pub scalars: Vec<Bytes>,
    /// Of each message the places of its keys among `keys`.
    pub sets: Vec<Vec<usize>>,
}

/// The keys of each set.
pub fn members<K: Clone>(keys: &[K], sets: &[Vec<usize>]) -> Result<Vec<Vec<K>>> {
    let key = |place: &usize| {
        keys.get(*place).cloned().with_context(|| format!("a set has the key {place}, which is not there"))
    };
    sets.iter().map(|set| set.iter().map(key).collect()).collect()
}

/// Bytes that are hexadecimal in JSON.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Bytes(pub Vec<u8>);

impl TryFrom<String> for Bytes {
    type Error = hex::FromHexError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        hex::decode(text).map(Self)
    }
}

/// What a task finds. Encoding a point is not timed.
pub enum Answer {
    Verdict(bool),
    Point(Box<dyn FnOnce() -> Vec<u8>>),
}

/// The notes of tasks that a driver makes of a library's verbs.
pub const BATCH: &str = "a product of pairings with weights of 64 bits, by its verbs";
pub const FROM_BYTES: &str = "decoded with the checks of subgroups, then verified as without";
pub const SAME_MESSAGE: &str = "keys and signatures summed with weights of 64 bits by its verbs, then two pairings";
pub const SETS: &str = "the keys of each set summed, then a product of pairings with weights of 64 bits, by its verbs";
pub const BLOCK: &str = "a product of pairings, by its verbs";

impl Answer {
    pub fn point(encode: impl FnOnce() -> Vec<u8> + 'static) -> Self {
        Self::Point(Box::new(encode))
    }
}

/// A loaded task.
pub struct Task {
    /// How the library does it.
    pub note: &'static str,
    pub work: Box<dyn FnMut() -> Answer>,
}

impl Task {
    pub fn new(note: &'static str, work: impl FnMut() -> Answer + 'static) -> Result<Self> {
        Ok(Self { note, work: Box::new(work) })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Request {
    Load(Load),
    Run {},
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Loaded {
    Ready(&'static str),
    Cannot(String),
}

#[derive(Serialize)]
struct Ran {
    answer: serde_json::Value,
    wall_ns: u64,
    cpu_ns: u64,
}

/// Answers requests until the input ends. `load` says in its error why the library cannot do a task.
pub fn serve(load: impl Fn(Load) -> Result<Task>) -> Result<()> {
    let mut task = None;
    for line in std::io::stdin().lock().lines() {
        let line = line.context("cannot read the next request")?;
        let reply = match serde_json::from_str(&line).context("this is not a request")? {
            Request::Load(wanted) => serde_json::to_string(&match load(wanted) {
                Ok(loaded) => Loaded::Ready(task.insert(loaded).note),
                Err(why) => Loaded::Cannot(format!("{why:#}")),
            })?,
            Request::Run {} => serde_json::to_string(&run(task.as_mut().context("`run` came before `load`")?))?,
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{reply}").and_then(|()| out.flush()).context("cannot answer")?;
    }
    Ok(())
}

fn run(task: &mut Task) -> Ran {
    let (cpu, start) = (cpu_time(), Instant::now());
    let answer = (task.work)();
    let (wall, cpu) = (start.elapsed(), cpu_time().saturating_sub(cpu));
    let answer = match answer {
        Answer::Verdict(verdict) => verdict.into(),
        Answer::Point(encode) => hex::encode(encode()).into(),
    };
    Ran { answer, wall_ns: wall.as_nanos() as u64, cpu_ns: cpu.as_nanos() as u64 }
}

/// The CPU time that this process has taken.
fn cpu_time() -> Duration {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(spent.tv_sec as u64, spent.tv_nsec as u32)
}

/// Weights of 64 bits, none of them zero.
pub fn weights(n: usize) -> Vec<u64> {
    (0..n).map(|_| rand::random::<u64>() | 1).collect()
}
