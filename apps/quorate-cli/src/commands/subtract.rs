//! `quorate subtract`.

use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use clap::Args;
use quorate::{InSuite, Scheme, Signature, Suite, aggregate::subtract};
use quorate_curve::Group;
use quorate_formats::from_hex;
use quorate_host::exit::{Exit, Failure, Result};

use super::{
    aggregate::signatures,
    backend::BackendArgument,
    lines::Lines,
    print,
    suite::{SuiteArgument, hex},
};

/// Subtract signatures from an aggregate and print what remains
///
/// This command verifies nothing. What remains is the aggregate of the other statements only if the parts are valid and are in
/// the aggregate. To verify a block without the statements that are known, use `quorate verify --known`, which also works in BDN
/// suites. This command does not.
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

    /// File with the signatures to subtract, one on each line, as `quorate aggregate` reads them; `-`, or no file, means standard
    /// input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// A signature cannot be read, or reading or writing fails.
    pub fn run(self) -> Result {
        self.suite.suite.run(self)
    }
}

impl InSuite for Arguments {
    type Output = Result;

    fn run_in<S: Suite>(self, suite: S) -> Result {
        if suite.scheme() == Scheme::Bdn {
            return Err(Failure::usage(anyhow!(
                "signatures of {suite} are summed with coefficients that depend on all signers; use `quorate verify --known`, which \
                 subtracts them with their coefficients"
            )));
        }
        let bytes = from_hex(&self.from).context("--from").map_err(Failure::usage)?;
        let whole = Signature::<S>::from_bytes(&bytes).context("--from").map_err(Failure::usage)?;
        let lines = Lines::open(self.file.as_slice())?;
        let name = lines.names();
        let parts = signatures(lines, suite)?;
        if parts.is_empty() {
            print::note(format_args!("warning: {name} contains no signatures, so the aggregate is printed unchanged"));
        }
        let rest = subtract(whole, &parts, self.backend.backend);
        if rest.point().is_identity() {
            print::note("note: nothing remains, because the parts add up to the aggregate");
        }
        print::line(hex(suite.any(), rest.to_bytes()))?;
        Ok(Exit::Success)
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate subtract --suite eth2 --from 0xb23c…96d9 known.txt
  quorate subtract --suite eth2 --from 0xb23c…96d9 - < known.jsonl";
