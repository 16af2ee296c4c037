//! `quorate verify`: claims in, verdicts out.
//!
//! ```text
//! inputs (a thread of its own) -> windows of claims -> judge (decode, subtract, verify) -> report
//! ```
//!
//! Memory is bounded by the window: 1,024 claims a thread or 16 MiB of their bytes, whichever is reached first, and as
//! much again while the next window is read. Whole documents (drand, light-client) are held while they are read, up to
//! [`DOCUMENT_LIMIT`](crate::input::DOCUMENT_LIMIT).

mod arguments;
mod arrival;
mod inputs;
mod interrupt;
mod judge;
mod memory;
mod report;

use std::{
    sync::mpsc::{Receiver, RecvTimeoutError, sync_channel},
    thread,
    time::{Duration, Instant},
};

pub use arguments::Arguments;
use arrival::{Arrival, Pending};
use inputs::Inputs;
use interrupt::Interrupt;
use judge::Judge;
use memory::Memory;
use report::Report;

use crate::exit::{Failure, Result};

impl Arguments {
    /// Verifies every claim of the inputs.
    ///
    /// # Errors
    /// Where the command line or an input cannot be understood, or reading or writing fails.
    pub fn run(self) -> Result {
        let interrupt = Interrupt::install()?;
        let memory = Memory::open(&self)?;
        let mut report = Report::new(&self);
        let mut judge = Judge::new(&self, memory);
        let mut inputs = Inputs::open(&self, &mut report)?;
        for lesson in inputs.lessons() {
            report.lesson(lesson)?;
        }
        let judged = judge.light_client(inputs.take_updates(), &mut report)?;
        inputs.put_judged(judged);

        // Reading blocks where a pipe is slow, so it has a thread of its own: Ctrl-C and half-full windows must not wait.
        let (sender, arrivals) = sync_channel((self.threads().get() * WINDOW_CLAIMS / BATCH).min(1024));
        thread::spawn(move || inputs.send(&sender));
        let ended = judge_all(&self, &arrivals, &interrupt, &mut judge, &mut report)?;
        report.finish(ended, judge.memory())
    }
}

/// How the reading ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    AllRead,
    Interrupted,
}

fn judge_all(
    arguments: &Arguments,
    arrivals: &Receiver<Vec<Arrival>>,
    interrupt: &Interrupt,
    judge: &mut Judge,
    report: &mut Report,
) -> std::result::Result<Ended, Failure> {
    let mut window = Window::default();
    let most = WINDOW_CLAIMS * arguments.threads().get();
    loop {
        if interrupt.is_set() {
            // What is read but not judged is not counted: its verdict is not known.
            return Ok(Ended::Interrupted);
        }
        match arrivals.recv_timeout(window.patience()) {
            Ok(batch) => {
                for arrival in batch {
                    window.push(arrival);
                    if window.claims.len() >= most || window.bytes >= WINDOW_BYTES {
                        window.settle(judge, report)?;
                        if interrupt.is_set() {
                            return Ok(Ended::Interrupted);
                        }
                    }
                }
            }
            Err(RecvTimeoutError::Timeout) => window.settle(judge, report)?,
            Err(RecvTimeoutError::Disconnected) => {
                window.settle(judge, report)?;
                return Ok(Ended::AllRead);
            }
        }
    }
}

/// Claims of a window, a thread.
const WINDOW_CLAIMS: usize = 1024;
/// Bytes of a window.
const WINDOW_BYTES: usize = 16 << 20;
/// Arrivals that cross threads together.
const BATCH: usize = 64;
/// How long a half-full window waits for more, as a node's gossip does.
const LINGER: Duration = Duration::from_millis(100);

/// Arrivals that are judged and reported together, in their order.
#[derive(Default)]
struct Window {
    order: Vec<Slot>,
    claims: Vec<Pending>,
    bytes: usize,
    /// When the first of them came.
    since: Option<Instant>,
}

/// A place in the order: the next claim of the window, or something that is reported as it is.
enum Slot {
    Claim,
    Done(Box<Arrival>),
}

impl Window {
    /// How long to wait for more.
    fn patience(&self) -> Duration {
        self.since.map_or(LINGER, |since| LINGER.saturating_sub(since.elapsed()))
    }

    fn push(&mut self, arrival: Arrival) {
        self.since.get_or_insert_with(Instant::now);
        match arrival {
            Arrival::Claim(pending) => {
                self.bytes += pending.bytes();
                self.claims.push(*pending);
                self.order.push(Slot::Claim);
            }
            other => self.order.push(Slot::Done(Box::new(other))),
        }
    }

    /// Judges the claims and reports everything in order.
    fn settle(&mut self, judge: &mut Judge, report: &mut Report) -> std::result::Result<(), Failure> {
        let claims = std::mem::take(&mut self.claims);
        (self.bytes, self.since) = (0, None);
        let mut judged = judge.judge(claims, report)?.into_iter();
        for slot in self.order.drain(..) {
            match slot {
                Slot::Claim => report.claim(&judged.next().expect("a verdict for each claim"))?,
                Slot::Done(arrival) => match *arrival {
                    Arrival::Judged(judged) => report.claim(&judged)?,
                    Arrival::Malformed { file, malformed } => report.malformed(&file, &malformed)?,
                    Arrival::Failed { file, error } => report.unreadable(&file, error)?,
                    Arrival::Claim(_) => unreachable!("claims are slots of their own"),
                },
            }
        }
        report.flush()
    }
}
