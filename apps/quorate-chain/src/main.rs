//! The program `quorate-chain`: the part of quorate that talks to a node of an EVM chain.
//!
//! The command line `quorate` holds operators' secrets and opens no connection. This program opens connections and holds at
//! most the key that pays for a transaction. What it asks a node with is the library's [`quorate_chain::rpc`].

#![forbid(unsafe_code)]

mod print;
mod payer;
mod wallet;
mod following;
mod follow;
mod send;
mod weigh;
mod watch;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};
use quorate_host::{
    command_line,
    exit::Failure,
    manual::{Completions, ManPages},
    runtime::ProgramRuntime,
};
use tokio::runtime::Builder;

/// Follow a settlement on an EVM chain, and send the transactions that `quorate evm` makes
///
/// A settlement stores one hash. `follow` rebuilds from a node's logs what it is the hash of, and writes it to the file that
/// `quorate evm plan --network` reads. `send` sends registrations, epochs and planned settlements. `weigh` begins the epochs of
/// a settlement with restaked stake. `watch` recomputes what is posted to a settlement without a proof, and demands the proof
/// of what is false. No operator's BLS key is used here.
///
/// Exit codes: 0 done; 1 not done, because of the chain's state; 2 the command line or a file is wrong; 3 the node or a file
/// cannot be reached, or a transaction is in no block in time; 4 a fault of the program; 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "quorate-chain", version, arg_required_else_help = true, max_term_width = 80)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Follow(follow::Arguments),
    Send(send::Arguments),
    Weigh(weigh::Arguments),
    Watch(watch::Arguments),
    Completions(Completions),
    Man(ManPages),
}

fn main() -> ExitCode {
    command_line::run(|line: CommandLine| {
        let runtime = ProgramRuntime::new(&mut Builder::new_current_thread()).map_err(Failure::internal)?;
        match line.command {
            Command::Follow(arguments) => runtime.block_on(arguments.run()),
            Command::Send(arguments) => arguments.run(&runtime),
            Command::Weigh(arguments) => arguments.run(&runtime),
            Command::Watch(arguments) => runtime.block_on(arguments.run()),
            Command::Completions(arguments) => arguments.run(CommandLine::command()),
            Command::Man(arguments) => arguments.run(CommandLine::command()),
        }
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
