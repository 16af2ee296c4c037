//! The program `quorate-signer`: it holds an operator's key, and signs for a node that holds none.
//!
//! ```text
//! socket -> server -> signer -> rules, store (on disk) -> key -> signature
//!                          └-> metrics, on a socket of their own
//! ```

#![forbid(unsafe_code)]

mod config;
mod key;
mod clock;
mod rules;
mod store;
mod metrics;
mod signer;
mod server;
mod commands;

#[cfg(test)]
mod tests;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};
use commands::{export, import, init, run, status};
use quorate_host::{
    command_line,
    manual::{Completions, ManPages},
};

/// Hold an operator's key of a quorate network, and sign each task once
///
/// The node, which faces the network, holds no key: it asks this program over a Unix socket. What is signed is on disk before
/// the signature leaves, and nothing is signed that conflicts with it. So a node that was broken into cannot make the
/// operator lose its stake.
///
/// Exit codes: 0 done; 1 not done, because of the record; 2 the command line or a file is wrong; 3 a file or the socket cannot
/// be read or written; 4 a fault of the program; 130 stopped with requests unanswered.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true, max_term_width = 80)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Arguments),
    Run(run::Arguments),
    Status(status::Arguments),
    Export(export::Arguments),
    Import(import::Arguments),
    Completions(Completions),
    Man(ManPages),
}

fn main() -> ExitCode {
    command_line::run(|line: CommandLine| {
        run::guard_memory()?;
        match line.command {
            Command::Init(arguments) => arguments.run(),
            Command::Run(arguments) => arguments.run(),
            Command::Status(arguments) => arguments.run(),
            Command::Export(arguments) => arguments.run(),
            Command::Import(arguments) => arguments.run(),
            Command::Completions(arguments) => arguments.run(CommandLine::command()),
            Command::Man(arguments) => arguments.run(CommandLine::command()),
        }
    })
}
