//! `quorate key-set`.

use std::{num::NonZeroUsize, path::PathBuf};

use anyhow::anyhow;
use clap::Args;
use quorate::Bls12381Suite;
use quorate_formats::key_sets::read_list;
use quorate_host::{
    dash,
    exit::{Ends as _, Exit, Failure, Result},
    same_file::refuse_an_output_that_is_an_input,
};

use super::{
    backend::BackendArgument,
    print, random,
    suite::{Bls12381Argument, InBls12381},
    threads,
    unlock::name_of,
    value::{path_to_write, variable},
};
use crate::secrets::secret_file::{self, Existing};

/// Save a list of public keys so that it is read in a fraction of a second
///
/// Checks every key of the list, and writes them in a form that `quorate verify --key-set` and the server read without those
/// checks: a million keys in a fraction of a second. The list has one key in hexadecimal digits on each line; member 0 is the first.
/// It is taken at its word that the owner of each key has proven possession of the secret key, as Ethereum's validators do with
/// their deposits; `quorate pop verify` checks such proofs.
///
/// Whoever can write the file can make false claims pass. It is created with mode 0600, and a file that others may write is not read.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    suite: Bls12381Argument,

    /// File with one public key on each line; `-`, or no file, means standard input
    #[arg(value_name = "LIST")]
    list: Option<PathBuf>,

    /// File to write the set to; it appears whole or not at all
    #[arg(short, long, value_name = "FILE", value_parser = path_to_write())]
    out: PathBuf,

    /// Replace FILE if it exists
    #[arg(long)]
    force: bool,

    /// Number of threads, 1 to 1024; all that the machine has by default
    #[arg(long, value_name = "N", env = variable("QUORATE_THREADS"), value_parser = threads::value())]
    threads: Option<NonZeroUsize>,

    #[command(flatten)]
    backend: BackendArgument,
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// A line is no key, there is none, or reading or writing fails.
    pub fn run(self) -> Result {
        self.suite.run(self)
    }
}

impl InBls12381 for Arguments {
    fn run_in<S: Bls12381Suite>(self, suite: S) -> Result {
        let Self { suite: _, list, out, force, threads, backend } = self;
        let list = list.unwrap_or_else(|| "-".into());
        refuse_an_output_that_is_an_input(&out, [&list])?;
        let (reader, threads) = (dash::open(&list)?, threads.unwrap_or_else(threads::all));
        let set = read_list(suite, reader, backend.backend, threads, &mut random::generator()?);
        let set = set.map_err(|error| Failure { exit: error.exit(), error: anyhow!(error).context(name_of(&list)) })?;
        let existing = if force { Existing::Replace } else { Existing::Refuse };
        secret_file::write(&out, &set.to_saved(), existing)?;
        print::note(format_args!("{}: {} members, {suite}", name_of(&out), set.len()));
        Ok(Exit::Success)
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate key-set --suite eth2 validators.txt --out validators.set
  quorate verify --key-set validators=validators.set votes.jsonl";
