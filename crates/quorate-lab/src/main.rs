//! The program `quorate-lab`: the demonstration of a task network.

#![forbid(unsafe_code)]

mod demo_work;
mod demo;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use quorate_host::exit;

/// A task network on this machine, to be looked at
///
/// Exit codes: 0 all went as it should; 1 it did not; 2 the command line is wrong, or a program is absent; 3 a file cannot be
/// read or written; 4 a fault of the program; 130 interrupted.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true, max_term_width = 80)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Arguments),
    #[command(hide = true)]
    DemoWork(demo_work::Arguments),
}

fn main() -> ExitCode {
    exit::run(|| match CommandLine::parse().command {
        Command::Demo(arguments) => arguments.run(),
        Command::DemoWork(arguments) => arguments.run(),
    })
}
