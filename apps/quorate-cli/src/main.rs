//! The binary `quorate`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use quorate_cli::cli::Cli;
use quorate_host::command_line;

fn main() -> ExitCode {
    command_line::run(Cli::run)
}
