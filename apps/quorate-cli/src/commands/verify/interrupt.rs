//! Ctrl-C. The first one ends the work after the current window, the second one ends the program.
//!
//! Before the first window, the first Ctrl-C ends the program, because a read that blocks would not see the flag.

use quorate_host::exit::{Exit, Failure};
use std::{
    io::{self, IsTerminal, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

/// How the reading ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    AllRead,
    Interrupted,
}

/// Whether Ctrl-C was pressed.
#[derive(Clone, Debug, Default)]
pub(in crate::commands) struct Interrupt {
    /// Whether the judge checks `pressed` regularly.
    watched: Arc<AtomicBool>,
    pressed: Arc<AtomicBool>,
}

impl Interrupt {
    pub(in crate::commands) fn install() -> Result<Self, Failure> {
        let interrupt = Self::default();
        let Self { watched, pressed } = interrupt.clone();
        ctrlc::set_handler(move || {
            if pressed.swap(true, Ordering::SeqCst) || !watched.load(Ordering::SeqCst) {
                take_progress_line_away();
                std::process::exit(i32::from(Exit::Interrupted.code()));
            }
        })
        .map_err(Failure::internal)?;
        Ok(interrupt)
    }

    /// From here on the judge calls [`is_set`](Self::is_set) regularly.
    pub(in crate::commands) fn watch(&self) {
        self.watched.store(true, Ordering::SeqCst);
    }

    pub(in crate::commands) fn is_set(&self) -> bool {
        self.pressed.load(Ordering::SeqCst)
    }
}

/// Clears the line in which the cursor stands. The bar itself may be in use by the thread that judges.
fn take_progress_line_away() {
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        let _ = stderr.write_all(b"\r\x1b[K");
    }
}
