//! What must hold for every command and every argument.

use clap::CommandFactory as _;
use quorate_cli::cli::Cli;
use quorate_lab::command_line;

/// Standard input is no file with the name `-`, and nobody should have to try.
#[test]
fn every_flag_that_reads_a_file_takes_a_dash_or_says_why_not() {
    command_line::dashes_are_explained(&Cli::command());
}

/// Otherwise a flag is accepted where it does nothing.
#[test]
fn every_requirement_holds_beside_what_conflicts_with_it() {
    command_line::requirements_hold(&Cli::command());
}
