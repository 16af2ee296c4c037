//! Notes for a person, on standard error, and the progress line.

use std::{
    fmt::Display,
    io::{self, IsTerminal as _},
    time::Duration,
};

use indicatif::{HumanCount, ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

pub(crate) use quorate_host::exit::note;

/// A number with its noun: "1 block", "1,024 blocks".
pub(crate) fn plural(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", HumanCount(number), if number == 1 { "" } else { "s" })
}

/// The progress line over blocks: there is one if standard error is a terminal. It is taken away when it is dropped.
pub(crate) struct Progress(ProgressBar);

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
        Self(bar)
    }

    /// Blocks up to this one were read.
    pub(crate) fn at(&self, block: u64, of: u64, message: String) {
        self.0.set_length(of);
        self.0.set_position(block);
        self.0.set_message(message);
    }

    /// Prints a line above the progress line.
    pub(crate) fn note(&self, text: impl Display) {
        self.0.suspend(|| note(text));
    }
}
