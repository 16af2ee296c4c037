//! The binary `quorate`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use quorate_cli::cli::Cli;
use quorate_host::exit;

fn main() -> ExitCode {
    exit::run(|| Cli::parse().run())
}
