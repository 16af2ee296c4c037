//! What the commands over shards share.

use std::{io::IsTerminal, path::PathBuf};

use clap::Args;
use indicatif::{ProgressBar, ProgressFinish, ProgressStyle};
use quorate_history::shards::{ClaimCounts, Manifest, ShardError};
use quorate_host::exit::{Ends as _, Exit, Failure};

use crate::commands::print::plural;

/// The folder of a run.
#[derive(Debug, Args)]
pub(super) struct FolderArgument {
    /// The folder that `quorate history plan --into` made
    #[arg(value_name = "DIR")]
    pub(super) folder: PathBuf,
}

impl FolderArgument {
    /// Reads the manifest.
    pub(super) fn manifest(&self) -> Result<Manifest, Failure> {
        Manifest::read(&self.folder).map_err(failure)
    }
}

/// The failure of a command.
pub(super) fn failure(error: ShardError) -> Failure {
    Failure { exit: exit_of(&error), error: error.into() }
}

/// The exit code of an error.
pub(super) fn exit_of(error: &ShardError) -> Exit {
    match error {
        ShardError::Io { error, .. } => error.exit(),
        ShardError::Place(error) => error.exit(),
        ShardError::Undecided(_) => Exit::Internal,
        ShardError::Interrupted => Exit::Interrupted,
        _ => Exit::Usage,
    }
}

/// A bar over bytes with the time left; none where standard error is not a terminal.
pub(super) fn progress(bytes: u64, quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(bytes).with_finish(ProgressFinish::AndClear);
    match ProgressStyle::with_template("{wide_bar} {bytes} of {total_bytes}, {eta} left {msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// "1,024 claims: 1,023 valid, 1 invalid".
pub(super) fn counted(counts: ClaimCounts, malformed: u64) -> String {
    let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let human = |n: u64| indicatif::HumanCount(n).to_string();
    let claims = plural(number(counts.claims), "claim");
    let mut text = format!("{claims}: {} valid, {} invalid", human(counts.valid), human(counts.invalid));
    if counts.legal > 0 {
        text += &format!(", {} that a chain may hold", plural(number(counts.legal), "false deposit"));
    }
    if malformed > 0 {
        text += &format!(", {} malformed", human(malformed));
    }
    text
}

/// The code with which a command ends that found this.
pub(super) fn found(counts: ClaimCounts, malformed: u64) -> Exit {
    match (malformed, counts.invalid) {
        (1.., _) => Exit::Usage,
        (_, 1..) => Exit::Negative,
        _ => Exit::Success,
    }
}
