//! `quorate history status`: how far a run is.

use clap::Args;
use quorate_history::shards;
use quorate_host::exit::{Exit, Result};

use super::shards::{FolderArgument, counted, failure};
use crate::commands::print::{self, plural};

/// Say which shards are done, and what they found so far
///
/// Exit code: 0 all are done, 1 some are left, 2 the manifest or a result is not in order, 3 I/O.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    folder: FolderArgument,

    /// Print one JSON object on standard output
    #[arg(long)]
    json: bool,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let manifest = self.folder.manifest()?;
        let status = shards::status(&self.folder.folder, &manifest).map_err(failure)?;
        let exit = match (status.damaged.is_empty(), status.done == status.shards) {
            (false, _) => Exit::Usage,
            (true, false) => Exit::Negative,
            (true, true) => Exit::Success,
        };
        if self.json {
            print::json(&status)?;
            return Ok(exit);
        }
        let shards = plural(usize::try_from(status.shards).unwrap_or(usize::MAX), "shard");
        print::line(format!("{} of {shards} done", indicatif::HumanCount(status.done)))?;
        print::line(counted(status.counts, status.malformed))?;
        let (done, all) = (status.bytes, status.of_bytes);
        let size = |bytes| indicatif::HumanBytes(bytes).to_string();
        print::line(format!("{} of {} of input", size(done), size(all)))?;
        if done > 0 && done < all {
            let left = status.core_seconds * (all - done) as f64 / done as f64;
            print::line(format!("about {left:.0} core-seconds left, as long as a byte takes what it took so far"))?;
        }
        if let Some(first) = status.left.first() {
            let listed: Vec<String> = status.left.iter().take(LISTED).map(u64::to_string).collect();
            let more = if status.shards - status.done > LISTED as u64 { ", …" } else { "" };
            print::line(format!("left: {}{more}", listed.join(", ")))?;
            print::line(format!("next: quorate history run {} --shard {first}", self.folder.folder.display()))?;
        }
        status.left_out.iter().chain(&status.damaged).try_for_each(print::line)?;
        Ok(exit)
    }
}

/// Shards that are listed for a person.
const LISTED: usize = 10;

const EXAMPLES: &str = "\
Examples:
  quorate history status run/
  quorate history status run/ --json";
