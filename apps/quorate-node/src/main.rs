//! The program `quorate-node`: performer, attester and aggregator of a task network, in any combination. It holds no
//! operator's key: `quorate-signer` does.

#![forbid(unsafe_code)]

mod commands;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};
use commands::{claim, create, fund, init, leave, register, run, status, withdraw};
use quorate_host::{
    command_line,
    manual::{Completions, ManPages},
};

/// A node of a task network: execute tasks, attest results, settle them on the chain
///
/// A performer, elected by stake, executes a task and publishes the result. Attesters check it and sign. An aggregator adds the
/// signatures up and settles the task on the chain, where the network's contract pays and punishes. This program is all
/// three, in any combination. You write two programs, in any language: one executes a task, the other checks a result.
///
/// To join a network: `init`, then `register`, then `run`; each says what comes next. To make one:
/// `create`, and `fund`, from which everybody is paid.
///
/// Exit codes: 0 done; 1 not done, because of the chain's state or the signer; 2 the command line or a file is wrong; 3 a file,
/// the chain's node or the signer cannot be reached, or a transaction is in no block in time; 4 a fault of the program; 130
/// interrupted.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true, max_term_width = 80)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Create(Box<create::Arguments>),
    Fund(Box<fund::Arguments>),
    Init(Box<init::Arguments>),
    Register(Box<register::Arguments>),
    Run(Box<run::Arguments>),
    Status(Box<status::Arguments>),
    Claim(Box<claim::Arguments>),
    Withdraw(Box<withdraw::Arguments>),
    Exit(Box<leave::Arguments>),
    Completions(Completions),
    Man(ManPages),
}

fn main() -> ExitCode {
    command_line::run(|line: CommandLine| match line.command {
        Command::Create(arguments) => arguments.run(),
        Command::Fund(arguments) => arguments.run(),
        Command::Init(arguments) => arguments.run(),
        Command::Register(arguments) => arguments.run(),
        Command::Run(arguments) => arguments.run(),
        Command::Status(arguments) => arguments.run(),
        Command::Claim(arguments) => arguments.run(),
        Command::Withdraw(arguments) => arguments.run(),
        Command::Exit(arguments) => arguments.run(),
        Command::Completions(arguments) => arguments.run(CommandLine::command()),
        Command::Man(arguments) => arguments.run(CommandLine::command()),
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn every_requirement_holds_beside_what_conflicts_with_it() {
        quorate_lab::command_line::requirements_hold(&super::CommandLine::command());
    }
}
