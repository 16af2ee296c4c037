//! `quorate subtract`.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use quorate::{Signature, Suite, aggregate::subtract};
use quorate_curve::Group;

use super::{
    aggregate::signatures,
    backend::BackendArgument,
    lines::Lines,
    print,
    suite::{InSuite, SuiteArgument},
};
use crate::exit::{Exit, Failure, Result};

/// Take signatures out of an aggregate and print what remains
///
/// Verifies nothing: that the parts are in the aggregate, and are valid, is your word. What remains is the aggregate of the
/// other statements only if both are so. To verify a block minus what is known, use `quorate verify --known`.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    suite: SuiteArgument,

    /// The aggregate signature
    #[arg(long, value_name = "HEX")]
    from: String,

    #[command(flatten)]
    backend: BackendArgument,

    /// Signatures to take out, one a line, as `quorate aggregate` reads them; `-`, or none, is standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Arguments {
    /// Subtracts.
    ///
    /// # Errors
    /// Where a signature cannot be understood, or reading or writing fails.
    pub fn run(self) -> Result {
        self.suite.run(self)
    }
}

impl InSuite for Arguments {
    fn run_in<S: Suite>(self, _: S) -> Result {
        let bytes = const_hex::decode(&self.from).context("--from is not hexadecimal").map_err(Failure::usage)?;
        let whole = Signature::<S>::from_bytes(&bytes).context("--from").map_err(Failure::usage)?;
        let lines = Lines::open(self.file.as_deref())?;
        let name = lines.name().to_owned();
        let parts = signatures(lines, self.suite.suite)?;
        if parts.is_empty() {
            print::note(format_args!("warning: {name} holds no signatures: the aggregate is printed as it was"));
        }
        let rest = subtract(whole, &parts, self.backend.backend);
        if rest.point().is_identity() {
            print::note("note: nothing remains: the parts add up to the aggregate");
        }
        print::line(self.suite.hex(&rest.to_bytes()))?;
        Ok(Exit::Success)
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate subtract --suite eth2 --from 0xb23c…96d9 known.txt
  quorate subtract --suite eth2 --from 0xb23c…96d9 - < known.jsonl";
