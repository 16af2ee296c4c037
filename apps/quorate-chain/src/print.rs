//! The lines of the result, on standard output; notes for a person, on standard error; and the progress line.

use std::{
    cell::Cell,
    fmt::Display,
    io::{self, IsTerminal as _, Write as _},
    rc::Rc,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use quorate_chain::{settlement::SettlementListener, watch::WatchListener};
use quorate_host::exit::{Failure, OUTPUT_FAILED, Result, output};

pub(crate) use quorate_host::exit::note;

/// A number with its noun: "1 block", "1,024 blocks".
pub(crate) fn plural(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", HumanCount(number), if number == 1 { "" } else { "s" })
}

/// Prints one line of the result.
pub(crate) fn line(text: impl Display) -> Result<()> {
    writeln!(output(), "{text}").context(OUTPUT_FAILED).map_err(Failure::io)
}

/// The progress line over blocks: there is one if standard error is a terminal. It is taken away when it is dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// When the program last got on: it read some blocks, or looked for new ones.
    pub(crate) turned: Rc<Cell<Instant>>,
    /// Why standard output took no line. Whoever asks takes it.
    pub(crate) closed: Option<Failure>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::new(0).with_finish(ProgressFinish::AndClear);
        if let Ok(style) = ProgressStyle::with_template("{bar:20} block {human_pos} of {human_len}, {elapsed} {msg}") {
            bar.set_style(style);
        }
        if io::stderr().is_terminal() {
            bar.enable_steady_tick(Duration::from_millis(200));
        } else {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        Self { bar, turned: Rc::new(Cell::new(Instant::now())), closed: None }
    }

    /// Prints a line of the result above the progress line.
    pub(crate) fn line(&mut self, text: impl Display) {
        let printed = self.bar.suspend(|| line(text));
        self.closed = self.closed.take().or(printed.err());
    }

    /// Prints a line above the progress line.
    pub(crate) fn above(&self, text: impl Display) {
        self.bar.suspend(|| note(text));
    }
}

impl SettlementListener for Progress {
    fn turns(&mut self) {
        self.turned.set(Instant::now());
    }

    fn read(&mut self, block: u64, target: u64, keys: u64, results: u64) {
        self.bar.set_length(target);
        self.bar.set_position(block);
        self.bar.set_message(format!("{}, {}", plural(keys, "key"), plural(results, "result")));
    }

    fn note(&mut self, text: &str) {
        self.above(text);
    }

    fn problem(&mut self, text: &str) {
        self.above(format!("error: {text}"));
    }
}

impl WatchListener for Progress {
    fn posting(&mut self, text: &str, doubtful: bool) {
        self.line(text);
        // What needs somebody also goes to the log.
        if doubtful {
            self.problem(text);
        }
    }
}
