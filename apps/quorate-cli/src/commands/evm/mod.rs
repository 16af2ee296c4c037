//! `quorate evm`: what operators and an aggregator of quorums on an EVM chain compute. Nothing here opens a network connection.
//!
//! ```text
//! key -> register (each operator) -> epoch (the registrar) -> sign (each operator) -> aggregate -> plan -> hub (the aggregator)
//! ```

// `--store`.
mod store;
// `--key-group`, `--key`, and addresses.
mod operator;
// `--network`.
mod network_file;
// `--signers`.
mod signers;
// A line of `sign`, which `aggregate` reads.
pub mod signature_line;
// What `plan` prints.
mod report;

mod key;
mod register;
mod epoch;
mod sign;
mod aggregate;
mod call;
mod plan;
mod hub;
mod cost;
mod network;

pub(super) use operator::addresses;

use clap::{Args, Subcommand};
use quorate_host::exit::Result;

/// Make operators' keys and signatures, and plan the quorums that an EVM contract settles
///
/// An operator makes a key, registers it and signs results. The registrar begins epochs. An aggregator adds the signatures
/// up and plans the transaction.
/// Everything is computed from files and flags. Nothing connects to a chain: `quorate-chain` follows the settlement and sends
/// the transactions that these commands print.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true, before_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Key(key::Arguments),
    Register(register::Arguments),
    Epoch(epoch::Arguments),
    Call(call::Arguments),
    Sign(sign::Arguments),
    Aggregate(aggregate::Arguments),
    Plan(plan::Arguments),
    Hub(hub::Arguments),
    Cost(cost::Arguments),
    Network(network::Arguments),
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The failure that stops the command, with its exit code.
    pub fn run(self) -> Result {
        match self.command {
            Command::Key(arguments) => arguments.run(),
            Command::Register(arguments) => arguments.run(),
            Command::Epoch(arguments) => arguments.run(),
            Command::Call(arguments) => arguments.run(),
            Command::Sign(arguments) => arguments.run(),
            Command::Aggregate(arguments) => arguments.run(),
            Command::Plan(arguments) => arguments.run(),
            Command::Hub(arguments) => arguments.run(),
            Command::Cost(arguments) => arguments.run(),
            Command::Network(arguments) => arguments.run(),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate evm key --key-group bls12381-g2 --keystore --out operator.json
  quorate evm sign --key-group bls12381-g2 --key operator.json \\
      --network network.json --deadline 1800000000 --result 0x… \\
      >> signed.jsonl
  quorate evm aggregate --network network.json --json signed.jsonl \\
      > quorum.json
  quorate evm plan --network network.json --quorum quorum.json";
