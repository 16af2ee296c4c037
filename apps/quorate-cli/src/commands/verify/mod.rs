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
mod subjects;
mod unused;
mod inputs;
mod interrupt;
mod memory;
mod judge;
mod report;

use quorate_host::exit::{Ends, Failure, Result};
use std::{num::NonZeroUsize, thread, time::Duration};

use anyhow::anyhow;
pub(super) use arguments::suites;
pub use arguments::{Arguments, EngineArguments, SoundnessBits};
pub(super) use arrival::{About, Arrival, Input, Pending, Pusher};
use inputs::{Inputs, Unreadable};
use interrupt::Ended;
pub(super) use interrupt::Interrupt;
pub(super) use judge::Judge;
use quorate_formats::judge::{WindowLimit, queue};
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
        for Unreadable { input, error } in unreadable {
            report.unreadable(&input, error.exit(), &error.to_string());
        }
        inputs.warnings().iter().for_each(|warning| report.warn(warning));
        let updates = judge.light_client(&inputs.take_light_client(), WindowLimit::of(self.engine.threads()))?;
        updates.cause.into_iter().for_each(|cause| report.cause(cause));
        for lesson in inputs.lessons() {
            report.lesson(lesson);
        }
        report.window(updates.judgements)?;
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
    let (to, mut windows) = queue(WindowLimit::of(threads), LINGER);
    let reader = thread::Builder::new().spawn(move || read(Pusher(to)));
    let reader =
        reader.map_err(|error| Failure::io(anyhow!("cannot start the thread that reads the input: {error}")))?;
    interrupt.watch();
    while let Some(items) = windows.next(|| interrupt.is_set()) {
        report.window(judge.judge(items)?)?;
    }
    // What is read but not judged is not counted: its verdict is not known. The reader may block for ever.
    let ended = if interrupt.is_set() { Ended::Interrupted } else { Ended::AllRead };
    if ended == Ended::AllRead && reader.join().is_err() {
        return Err(Failure::internal(anyhow!("the reader of the input panicked; what follows is not read")));
    }
    report.finish(ended, &judge)
}

/// How long the first claim of a half-full window waits for more, as a node's gossip does.
const LINGER: Duration = Duration::from_millis(100);
