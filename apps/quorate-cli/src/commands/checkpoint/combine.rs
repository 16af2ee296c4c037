//! `quorate checkpoint combine` and `adopt`.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use quorate_checkpoint::{Posting, Rotation, RotationError, SetSide, SignedCheckpoint, unite};
use quorate_host::exit::{Exit, Failure, Result};

use super::inputs::{SetsArguments, read_lines};
use crate::commands::{print, random};

/// Unite the signatures of a checkpoint and print it
///
/// Reads what `sign` and `combine` print, and what nodes serve under "checkpoints", one JSON object on each line. Verifies each
/// signature, names those that are false, and prints the checkpoint with the true ones, their sum and a bitmap. One key counts
/// once. Exit code: 0 enough signers have signed, 1 too few, or a signature is false (the rest is printed all the same), 2 usage
/// or unreadable input.
#[derive(Debug, Args)]
#[command(before_long_help = COMBINE_EXAMPLES)]
pub(super) struct CombineArguments {
    #[command(flatten)]
    sets: SetsArguments,

    /// Files with signatures; `-` means standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

/// Unite the signatures of a change of the set and print the longer file of sets
///
/// Reads what `rotate` prints, one JSON object on each line. Verifies each signature and names those that are false. If enough
/// signers of the old and of the new set have signed, prints the sets with the new one at the end. Exit code: 0 done, 1 too few
/// signers have signed, or a signature is false, 2 usage or unreadable input.
#[derive(Debug, Args)]
#[command(before_long_help = ADOPT_EXAMPLES)]
pub(super) struct AdoptArguments {
    #[command(flatten)]
    sets: SetsArguments,

    /// Files with signatures; `-` means standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

impl CombineArguments {
    pub(super) fn run(self) -> Result {
        let chain = self.sets.read()?;
        let postings = read_lines(&self.files, Posting::from_json)?;
        let first = &postings[0].1.document;
        if let Some((source, _)) = postings.iter().find(|(_, posting)| posting.document != *first) {
            return Err(Failure::usage(anyhow!(
                "{source} has signatures of another checkpoint than the first line; give those of one checkpoint"
            )));
        }
        let postings = postings.iter().map(|(source, posting)| (source.clone(), posting));
        let (united, flaws) = unite(postings, chain.sets(), &mut random::generator()?);
        for flaw in &flaws {
            print::note(format_args!("{}: {flaw}", flaw.node));
        }
        let Some(signed) = united.first() else {
            print::note("not one of the signatures is true, so nothing was printed");
            return Ok(Exit::Negative);
        };
        print::json(&signed.to_posting())?;
        print::note(counted(signed));
        Ok(if signed.is_complete() && flaws.is_empty() { Exit::Success } else { Exit::Negative })
    }
}

/// How many signers have signed, and who.
pub(super) fn counted(signed: &SignedCheckpoint) -> String {
    let signers: Vec<_> = signed.signers().map(|index| index.to_string()).collect();
    let enough = if signed.is_complete() { "enough" } else { "too few" };
    let count = print::plural(signed.count(), "signer");
    format!("{count}, {enough} (expected at least {}): {}", signed.threshold(), signers.join(", "))
}

impl AdoptArguments {
    pub(super) fn run(self) -> Result {
        let mut chain = self.sets.read()?;
        let parts = read_lines(&self.files, Rotation::from_json)?;
        let (old, to) = (chain.newest().clone(), parts[0].1.to.clone());
        let from = parts[0].1.from;
        let adopted = chain.rotations().iter().find(|rotation| rotation.from == from && rotation.to == to);
        if let Some(Rotation { to, .. }) = adopted {
            return Err(Failure::usage(anyhow!(
                "{}: the sets contain this change already, to the set with epoch {}; give changes of the newest set, or other \
                 --sets",
                parts[0].0,
                to.epoch
            )));
        }
        let rng = &mut random::generator()?;
        let (united, flaws) = Rotation::unite(&old, &to, &parts, rng).map_err(Failure::usage)?;
        for (source, flaw) in &flaws {
            print::note(format_args!("{source}: {flaw}"));
        }
        let signers = [(SetSide::Old, united.old.len()), (SetSide::New, united.new.len())];
        match chain.extend(united, rng) {
            Ok(()) => {}
            Err(error @ RotationError::TooFew { .. }) => {
                print::note(format_args!("{error}; nothing was printed"));
                return Ok(Exit::Negative);
            }
            Err(error) => return Err(Failure::usage(error)),
        }
        print::json(&chain.to_sets())?;
        for (side, count) in signers {
            print::note(format_args!("{count} signers of the {side} set have signed"));
        }
        Ok(if flaws.is_empty() { Exit::Success } else { Exit::Negative })
    }
}

const COMBINE_EXAMPLES: &str = "\
Examples:
  quorate checkpoint combine --sets sets.json signed.jsonl > signed.json
  quorate checkpoint combine --sets sets.json alice.json bob.json carol.json";

const ADOPT_EXAMPLES: &str = "\
Examples:
  quorate checkpoint adopt --sets sets.json rotation.jsonl > new-sets.json";
