//! `quorate history run`: shards are verified.

use std::{collections::BTreeSet, num::NonZeroUsize, ops::ControlFlow, str::FromStr};

use clap::Args;
use quorate::{Options, Verifier};
use quorate_history::shards::{self, Manifest, Receipt, ShardError};
use quorate_host::exit::{Exit, Result};

use super::shards::{FolderArgument, counted, exit_of, failure, found, progress};
use crate::commands::{
    backend::BackendArgument,
    print::{self, note, plural},
    random, threads,
    value::variable,
    verify::Interrupt,
};

/// Verify shards that have no result yet
///
/// Each shard's verdicts appear in DIR/results when the shard is done, all at once. A process that is killed leaves its shard undone:
/// run it again, which also removes what was not finished. Any number of processes and machines can run shards of one folder. Exit code: 0 all valid, 1 at least one invalid, 2 usage
/// or unreadable input, 3 I/O, 4 internal, 130 interrupted; the counts are those of this call's shards, also of those that were done before.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    folder: FolderArgument,

    /// The shard with this number, or shards from one number to another; may be given more than once. By default all that have no result
    #[arg(long, value_name = "K|K-L")]
    shard: Vec<Shards>,

    /// Number of threads, 1 to 1024; all that the machine has by default
    #[arg(long, value_name = "N", env = variable("QUORATE_THREADS"), value_parser = threads::value())]
    threads: Option<NonZeroUsize>,

    /// Who does the arithmetic.
    #[command(flatten)]
    backend: BackendArgument,

    /// Print one JSON object for each shard on standard output
    #[arg(long)]
    json: bool,

    /// Print only errors on standard error
    #[arg(short, long)]
    quiet: bool,
}

/// Numbers of shards, from one to another.
#[derive(Clone, Copy, Debug)]
struct Shards {
    first: u64,
    last: u64,
}

impl FromStr for Shards {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) if first <= last => Ok(Self { first, last }),
            _ => Err(format!("found {text:?}, expected the number of a shard such as 3, or two such as 3-7")),
        }
    }
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let interrupt = Interrupt::install()?;
        let manifest = self.folder.manifest()?;
        let wanted = self.wanted(&manifest)?;
        let options = Options {
            threads: self.threads.unwrap_or_else(threads::all),
            soundness: manifest.terms.soundness,
            backend: self.backend.backend,
            ..Options::default()
        };
        let verifier = Verifier::new(options);
        let bytes = wanted.iter().filter_map(|shard| manifest.shard(*shard).ok()).map(|shard| shard.bytes).sum();
        let bar = progress(bytes, self.quiet);
        let say = |text: String| bar.suspend(|| note(text));
        interrupt.watch();
        let mut exit = Exit::Success;
        for shard in &wanted {
            let heard = |counts| {
                bar.set_message(format!("(shard {shard}, {})", counted(counts, 0)));
                if interrupt.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let result =
                shards::run(&self.folder.folder, &manifest, *shard, &verifier, &mut random::generator()?, heard);
            match result {
                Ok(receipt) => {
                    exit = exit.max(found(receipt.counts, receipt.malformed));
                    if self.json {
                        bar.suspend(|| print::json(&receipt))?;
                    } else if !self.quiet {
                        let Receipt { counts, malformed, seconds, .. } = receipt;
                        say(format!("shard {shard}: {} ({seconds:.2} s)", counted(counts, malformed)));
                    }
                }
                Err(ShardError::Interrupted) => {
                    say(format!("shard {shard} was interrupted, and nothing of it is kept; shards that are done stay"));
                    return Ok(Exit::Interrupted);
                }
                Err(error) if error.is_of_one_shard() => {
                    exit = exit.max(exit_of(&error));
                    say(format!("shard {shard}: {error}"));
                }
                Err(error) => return Err(failure(error).context(format!("shard {shard}"))),
            }
            bar.inc(manifest.shard(*shard).map_or(0, |shard| shard.bytes));
        }
        bar.finish_and_clear();
        shards::remove_unfinished(&self.folder.folder).map_err(failure)?;
        if !self.quiet {
            self.what_is_next(&manifest)?;
        }
        Ok(exit)
    }

    fn wanted(&self, manifest: &Manifest) -> std::result::Result<BTreeSet<u64>, quorate_host::exit::Failure> {
        if self.shard.is_empty() {
            return Ok(manifest.shards.iter().map(|shard| shard.shard).collect());
        }
        for Shards { last, .. } in &self.shard {
            manifest.shard(*last).map_err(failure)?;
        }
        Ok(self.shard.iter().flat_map(|shards| shards.first..=shards.last).collect())
    }

    fn what_is_next(&self, manifest: &Manifest) -> std::result::Result<(), quorate_host::exit::Failure> {
        let folder = &self.folder.folder;
        let status = shards::status(folder, manifest).map_err(failure)?;
        if status.done == status.shards {
            note(format!("all shards are done; next: quorate history merge {}", folder.display()));
        } else {
            let left = usize::try_from(status.shards - status.done).unwrap_or(usize::MAX);
            note(format!("{} of the run left", plural(left, "shard")));
        }
        Ok(())
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate history run run/
  quorate history run run/ --shard 3 --threads 2
  quorate history run run/ --shard 0-499";
