//! `quorate verify`: claims in, verdicts out.
//!
//! ```text
//! inputs (a thread of its own) -> windows of claims -> judge (decode, subtract, verify) -> report
//! ```
//!
//! Memory is bounded by the window: 1,024 entries a thread or 16 MiB of what they hold, whichever is reached first. As much
//! again waits while a window is judged. Light-client documents are held while they are read, up to
//! [`DOCUMENT_LIMIT`](quorate_formats::DOCUMENT_LIMIT) of each.

mod arguments;
mod arrival;
mod light_client;
mod queue;
mod subjects;
mod unused;
mod inputs;
mod interrupt;
mod memory;
mod judge;
mod report;

use quorate_host::exit::{Ends, Failure, Result};
use std::{
    num::NonZeroUsize,
    thread,
    time::{Duration, Instant},
};

use anyhow::anyhow;
pub(super) use arguments::suites;
pub use arguments::{Arguments, EngineArguments, SoundnessBits};
pub(super) use arrival::{About, Arrival, Pending};
use inputs::{Inputs, Unreadable};
use interrupt::Ended;
pub(super) use interrupt::Interrupt;
pub(super) use judge::Judge;
pub(super) use queue::Pusher;
use queue::{Taken, Taker, queue};
pub(super) use report::{Report, Style};

impl Arguments {
    /// Verifies every claim of the inputs.
    ///
    /// # Errors
    /// Where the command line or an input cannot be understood, or reading or writing fails.
    pub fn run(self) -> Result {
        let interrupt = Interrupt::install()?;
        let mut judge = Judge::new(&self)?;
        let mut report = Report::new(&self);
        let (mut inputs, unreadable) = Inputs::open(&self)?;
        for Unreadable { name, error } in unreadable {
            report.unreadable(&name, error.exit(), &error.to_string());
        }
        let updates = judge.light_client(&inputs.take_light_client())?;
        updates.cause.into_iter().for_each(|cause| report.cause(cause));
        for lesson in inputs.lessons() {
            report.lesson(lesson);
        }
        report.window(&updates.judgements);
        inputs.put_judged(updates.documents);

        judge_what_arrives(self.engine.threads(), &interrupt, judge, report, move |to| inputs.send(&to))
    }
}

/// Judges and reports everything that `read` pushes, window by window, and ends the report.
///
/// Reading blocks where a pipe is slow, so it has a thread of its own: Ctrl-C and half-full windows must not wait.
pub(super) fn judge_what_arrives(
    threads: NonZeroUsize,
    interrupt: &Interrupt,
    mut judge: Judge,
    mut report: Report,
    read: impl FnOnce(Pusher) + Send + 'static,
) -> Result {
    let most = WINDOW_ENTRIES * threads.get();
    let (to, arrivals) = queue(most, WINDOW_BYTES);
    let reader = thread::spawn(move || read(to));
    let ended = judge_all(most, &arrivals, interrupt, &mut judge, &mut report)?;
    // The reader of a run that was interrupted may block for ever.
    if ended == Ended::AllRead && reader.join().is_err() {
        return Err(Failure::internal(anyhow!("the reader of the input panicked; what follows is not read")));
    }
    report.finish(ended, &judge)
}

fn judge_all(
    most: usize,
    arrivals: &Taker,
    interrupt: &Interrupt,
    judge: &mut Judge,
    report: &mut Report,
) -> std::result::Result<Ended, Failure> {
    interrupt.watch();
    let mut window = Window::default();
    loop {
        if interrupt.is_set() {
            // What is read but not judged is not counted: its verdict is not known.
            return Ok(Ended::Interrupted);
        }
        match arrivals.take(window.patience()) {
            Taken::Some(batch) => {
                for arrival in batch {
                    window.push(arrival);
                    if window.order.len() >= most || window.bytes >= WINDOW_BYTES {
                        window.settle(judge, report)?;
                        if interrupt.is_set() {
                            return Ok(Ended::Interrupted);
                        }
                    }
                }
                if window.patience().is_zero() {
                    window.settle(judge, report)?;
                }
            }
            Taken::Late => window.settle(judge, report)?,
            Taken::Ended => {
                window.settle(judge, report)?;
                return Ok(Ended::AllRead);
            }
        }
    }
}

/// Entries of a window, a thread.
const WINDOW_ENTRIES: usize = 1024;
/// Bytes of a window.
const WINDOW_BYTES: usize = 16 << 20;
/// How long the first claim of a half-full window waits for more, as a node's gossip does.
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
        self.bytes += arrival.bytes();
        match arrival {
            Arrival::Claim(pending) => {
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
        let judgements = judge.judge(claims)?;
        report.window(&judgements);
        let mut judged = judgements.judged.into_iter();
        for slot in self.order.drain(..) {
            match slot {
                Slot::Claim => report.claim(&judged.next().expect("a judgement for each claim"))?,
                Slot::Done(arrival) => match *arrival {
                    Arrival::Judged(judged) => report.claim(&judged)?,
                    Arrival::Malformed { file, malformed } => report.malformed(&file, &malformed)?,
                    Arrival::UnknownField { file, place, name } => report.unknown_field(&file, place, &name),
                    Arrival::Repeated { file, place, what, first } => report.repeated(&file, place, &what, &first),
                    Arrival::ChainInfo { file } => report.chain_info(&file),
                    Arrival::Unverified { kind, reason, number } => report.unverified(kind, reason, number),
                    Arrival::Rounds(rounds) => report.rounds(rounds),
                    Arrival::Failed { file, exit, reason } => report.unreadable(&file, exit, &reason),
                    Arrival::Claim(_) => unreachable!("claims are slots of their own"),
                },
            }
        }
        report.flush()
    }
}
