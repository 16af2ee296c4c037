//! `quorate history plan`: files are cut into shards.

use std::{num::NonZeroU64, ops::ControlFlow, path::PathBuf};

use anyhow::anyhow;
use clap::Args;
use quorate::{AnySuite, Soundness};
use quorate_formats::Format;
use quorate_history::{
    Content, Files, FolderFiles,
    shards::{self, Manifest, RunTerms},
};
use quorate_host::exit::{Exit, Failure, Result};

use super::{
    inputs::ChainArguments,
    shards::{failure, progress},
};
use crate::commands::{
    print::{note, plural},
    value::{exported, from_one, path_to_read, path_to_write, variable},
    verify::{Interrupt, SoundnessBits, suites},
};

/// Cut the files of chains, and files of claims, into shards
///
/// Reads every file once and writes a manifest, which says what each shard covers: an era, a file of drand's rounds or of Chia's blocks,
/// lines of a file in JSON Lines, or row groups of a Parquet file. The manifest holds digests of all of it, so a file that changes later is found. Then `quorate history run` verifies
/// the shards, on any machine that sees the files and the folder under the same names.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Files, and folders of files whose names end in .era, .jsonl, .parquet or .json
    #[arg(value_name = "PATH", required = true, value_parser = path_to_read())]
    paths: Vec<PathBuf>,

    /// The folder for the manifest and the results; it is made
    #[arg(long, value_name = "DIR", value_parser = path_to_write())]
    into: PathBuf,

    #[command(flatten)]
    chains: ChainArguments,

    /// Suite of the claims that name none, as for `quorate verify`
    #[arg(long, value_name = "NAME", env = variable("QUORATE_SUITE"), value_parser = suites(), hide_possible_values = true)]
    suite: Option<AnySuite>,

    /// Soundness: a false claim passes as valid with a probability of at most 2^-64 or 2^-128
    #[arg(long, value_name = "BITS", default_value = "64")]
    soundness: SoundnessBits,

    /// About how many MiB of claims make a shard, 64 by default; an era is always one
    #[arg(long, value_name = "MIB", value_parser = from_one())]
    shard_size: Option<NonZeroU64>,

    /// Keep the verdicts of claims that are not valid, and count the others
    #[arg(long)]
    only_invalid: bool,

    /// Print only errors, and what is not read
    #[arg(short, long)]
    quiet: bool,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let interrupt = Interrupt::install()?;
        let files = self.chains.open(&self.paths, FolderFiles::ChainsAndClaims)?;
        self.refuse_unused(&files)?;
        let paths = files.eras.iter().map(|era| &era.path).chain(files.others.iter().map(|other| &other.path));
        let bytes = paths.map(|path| std::fs::metadata(path).map_or(0, |metadata| metadata.len())).sum();
        files.left_out.iter().for_each(note);
        if !self.quiet {
            files.remarks.iter().for_each(note);
        }
        let bar = progress(bytes, self.quiet);
        interrupt.watch();
        let heard = |bytes| {
            bar.inc(bytes);
            if interrupt.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let terms = RunTerms {
            suite: self.suite,
            soundness: Soundness::from(self.soundness),
            all_verdicts: !self.only_invalid,
        };
        let shard_bytes = self.shard_size.map_or(SHARD_SIZE, NonZeroU64::get).saturating_mul(1 << 20);
        let manifest = shards::plan(&files, &self.into, terms, shard_bytes, heard).map_err(failure)?;
        bar.finish_and_clear();
        if !self.quiet {
            let shards = plural(manifest.shards.len(), "shard");
            note(format!("{shards} in {}", Manifest::path(&self.into).display()));
            note(format!("next: quorate history run {}", self.into.display()));
        }
        Ok(Exit::Success)
    }
}

impl Arguments {
    /// Refuses a flag that is for claims in files of claims, if there are none.
    fn refuse_unused(&self, files: &Files) -> std::result::Result<(), Failure> {
        let of_claims = |content| matches!(content, Content::Claims(Format::Jsonl | Format::Parquet));
        if !files.refused.is_empty() || files.others.iter().any(|other| of_claims(other.content)) {
            return Ok(());
        }
        if self.shard_size.is_some() {
            return Err(Failure::usage(anyhow!(
                "--shard-size is for files of claims, and the inputs have none: eras, rounds and blocks make shards as they are; \
                 leave it out"
            )));
        }
        if let Some(suite) = self.suite.filter(|_| exported("QUORATE_SUITE").is_none() && !self.quiet) {
            note(format!("warning: --suite {suite} is not needed, because the inputs have no claims without a suite"));
        }
        Ok(())
    }
}

/// MiB of claims in a shard without `--shard-size`.
const SHARD_SIZE: u64 = 64;

const EXAMPLES: &str = "\
Examples:
  quorate history plan --into run/ eras/
  quorate history plan --into run/ --network chain.json --only-invalid eras/
  quorate history plan --into run/ --suite eth2 claims.parquet";
