//! Waits until files change. It looks at their sizes and times again and again: what copies files from elsewhere, or writes to a
//! disk that several machines use, wakes nobody.

use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use clap::Args;

use super::{
    folder::Problems,
    public_file::{self, Stamp},
};
use crate::commands::{time::time, value::Value, verify::Interrupt};

/// Whether a command waits for others, and how.
#[derive(Clone, Debug, Args)]
pub(super) struct WaitArguments {
    /// Wait for the messages of the others, and go on when they are there. Without it, the command does what can be done now,
    /// and ends
    #[arg(long)]
    pub(super) wait: bool,

    /// Wait no longer than this, such as 90s, 30min or 2h; without it, as long as it takes
    #[arg(long, value_name = "TIME", requires = "wait", value_parser = Value::new(time))]
    pub(super) timeout: Option<Duration>,

    /// Look for changed files this often
    #[arg(long, value_name = "TIME", requires = "wait", default_value = "2s", value_parser = Value::new(time))]
    pub(super) every: Duration,
}

/// Waits on behalf of a command.
pub(super) struct Watch {
    every: Duration,
    /// When it gives up.
    until: Option<Instant>,
    interrupt: Interrupt,
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Woken {
    /// Files have changed, or it is time to read them again.
    Changed,
    /// The time is over.
    TimedOut,
    /// Ctrl-C was pressed.
    Interrupted,
}

/// The files of some folders, and others, as they were.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stamps {
    paths: Vec<PathBuf>,
    stamps: Vec<(PathBuf, Option<Stamp>)>,
}

impl Watch {
    /// The time begins now.
    pub(super) fn begin(arguments: &WaitArguments) -> Self {
        let until = arguments.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        // After a question for a passphrase Ctrl-C has a handler already, which restores the terminal and ends the program.
        let interrupt = Interrupt::install().unwrap_or_default();
        interrupt.watch();
        Self { every: arguments.every, until, interrupt }
    }

    /// Waits until files are not what they were before a look at them that took so long. Names those that stay unfinished.
    pub(super) fn wait(&self, before: &Stamps, took: Duration, problems: &mut Problems) -> Woken {
        let again = Instant::now() + AT_LEAST.max(took * 20);
        if self.is_over() {
            return Woken::TimedOut;
        }
        loop {
            // Whoever changes files all the time does not make a command with many of them read all the time.
            let pause = Instant::now() + self.every.max(took);
            loop {
                if self.interrupt.is_set() {
                    return Woken::Interrupted;
                }
                let now = Instant::now();
                if self.is_over() {
                    // What came in the last moment is not left.
                    return if before.differ() { Woken::Changed } else { Woken::TimedOut };
                }
                if now >= pause {
                    break;
                }
                let next = self.until.map_or(pause, |until| until.min(pause));
                thread::sleep(SLICE.min(next.saturating_duration_since(now)));
            }
            if problems.name_stalled() || before.differ() || Instant::now() >= again {
                return Woken::Changed;
            }
        }
    }

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}

impl Stamps {
    /// Those of files, and of the files in folders.
    pub(super) fn of(paths: Vec<PathBuf>) -> Self {
        let stamps = paths.iter().flat_map(|path| found(path)).collect();
        Self { paths, stamps }
    }

    /// Whether the files are others than before.
    fn differ(&self) -> bool {
        !self.paths.iter().flat_map(|path| found(path)).eq(self.stamps.iter().cloned())
    }
}

/// A file, or the files in a folder, in the order of their names.
fn found(path: &Path) -> Vec<(PathBuf, Option<Stamp>)> {
    let Ok(entries) = path.read_dir() else { return vec![(path.to_owned(), public_file::stamp(path))] };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), public_file::stamp(&path))).collect()
}

/// How long Ctrl-C waits at most.
const SLICE: Duration = Duration::from_millis(100);

/// Files are read again after this time, even if they seem to be the same: some disks keep times in seconds.
const AT_LEAST: Duration = Duration::from_secs(30);
