//! What must hold for every command and every argument.

use clap::CommandFactory as _;
use quorate_cli::cli::Cli;
use quorate_lab::command_line;

/// Otherwise a flag is accepted where it does nothing.
#[test]
fn every_requirement_holds_beside_what_conflicts_with_it() {
    command_line::requirements_hold(&Cli::command());
}
