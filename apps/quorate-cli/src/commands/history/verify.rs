//! `quorate history verify`: era files in, a verdict for each signature out.
//!
//! The claims go through the windows of `quorate verify`, so memory is bounded by these and by one state.

use std::path::PathBuf;

use clap::Args;
use quorate_history::drand::RoundRange;
use quorate_host::exit::Result;

use super::inputs::{ChainArguments, Inputs};
use crate::commands::{
    value::path_to_read,
    verify::{EngineArguments, Interrupt, Judge, Report, Style, judge_what_arrives},
};

/// Verify every signature of a chain's files and say which are false
///
/// Ethereum's era files: blocks, RANDAO reveals, attestations, sync aggregates, slashings, exits, changes of withdrawal credentials and deposits, from
/// phase0 to Fulu. An era is verified with the state at the end of the era before it, so give that file too; of the first era among
/// the inputs only the state is used, unless it is era 0. The states are believed. A false deposit is reported, but a chain may
/// hold it. drand: all rounds, and that none is missing between them. Chia: what its full blocks prove by themselves. Exit code: 0 all valid, 1 at least one invalid, 2 usage or unreadable input, 3 I/O, 4 internal, 130 interrupted.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Files, and folders of files whose names end in .era, .jsonl or .json, in any order
    #[arg(value_name = "PATH", required = true, value_parser = path_to_read())]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    chains: ChainArguments,

    /// drand: the rounds that must be there, such as 1-1000. Each one that no file has is an error. By default those between the first
    /// and the last round that the files have
    #[arg(long, value_name = "A-B")]
    rounds: Option<RoundRange>,

    /// How claims are verified.
    #[command(flatten)]
    engine: EngineArguments,

    /// Print one JSON object for each signature on standard output
    ///
    /// {"file":"…","slot":9,"kind":"attestation","index":0,"valid":true}; index is the place in the block, of slashings "0.0" and
    /// "0.1". A false deposit has "legal":true
    #[arg(long)]
    verdicts: bool,

    /// Print one JSON object with a summary on standard output, at the end
    #[arg(long)]
    json: bool,

    /// Print on standard error only errors and what is not read, and on standard output only what --verdicts and --json ask for
    #[arg(short, long)]
    quiet: bool,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let interrupt = Interrupt::install()?;
        let inputs = Inputs::open(&self.paths, &self.chains, self.rounds)?;
        let style = Style {
            verdicts: self.verdicts,
            json: self.json,
            explain: false,
            quiet: self.quiet,
            several: inputs.files() > 1,
            blocks: Some(inputs.blocks()),
            engine: self.engine.clone(),
        };
        let mut report = Report::styled(style, inputs.of_claims());
        for (file, exit, reason) in inputs.refused() {
            report.unreadable(&file, exit, reason);
        }
        for left_out in inputs.left_out() {
            report.left_out(left_out);
        }
        for remark in inputs.remarks() {
            report.remark(remark);
        }
        let judge = Judge::without_memory(&self.engine);
        judge_what_arrives(self.engine.threads(), &interrupt, judge, report, move |to| inputs.send(&to))
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate history verify mainnet-00999-*.era mainnet-01000-*.era
  quorate history verify --verdicts eras/ > verdicts.jsonl
  quorate history verify --network chain.json --json minimal-*.era
  quorate history verify --chain quicknet rounds.jsonl
  quorate history verify --chain quicknet --rounds 1-1000000 rounds/";
