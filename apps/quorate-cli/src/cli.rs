//! The commands, in the order in which `--help` lists them.

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::commands::{
    aggregate, checkpoint, dkg, era, evm, history, key, key_set, pop, selftest, sign, subtract, threshold, verify,
};
use quorate_host::{
    exit::Result,
    manual::{Completions, ManPages},
};

/// Verify BLS signatures in bulk and say which are false; make keys, signatures and proofs of possession
///
/// Results go to standard output, everything else to standard error; `-` is standard input where the help of a flag says so. Exit
/// code: 0 all valid, 1 at least one invalid, 2 usage or unreadable input, 3 I/O, 4 internal, 130 interrupted.
#[derive(Debug, Parser)]
#[command(name = "quorate", version, propagate_version = true, arg_required_else_help = true)]
#[command(max_term_width = 80, before_long_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Verify(Box<verify::Arguments>),
    Key(Box<key::Arguments>),
    KeySet(key_set::Arguments),
    Sign(sign::Arguments),
    Pop(pop::Arguments),
    Aggregate(aggregate::Arguments),
    Subtract(subtract::Arguments),
    Threshold(Box<threshold::Arguments>),
    Dkg(Box<dkg::Arguments>),
    Checkpoint(Box<checkpoint::Arguments>),
    Evm(evm::Arguments),
    History(history::Arguments),
    Era(era::Arguments),
    Selftest(selftest::Arguments),
    #[command(before_long_help = COMPLETIONS)]
    Completions(Completions),
    #[command(before_long_help = MAN)]
    Man(ManPages),
}

impl Cli {
    /// Runs the command.
    ///
    /// # Errors
    /// The error that stopped the command, with the exit code of the program.
    pub fn run(self) -> Result {
        match self.command {
            Command::Verify(arguments) => arguments.run(),
            Command::Key(arguments) => arguments.run(),
            Command::KeySet(arguments) => arguments.run(),
            Command::Sign(arguments) => arguments.run(),
            Command::Pop(arguments) => arguments.run(),
            Command::Aggregate(arguments) => arguments.run(),
            Command::Subtract(arguments) => arguments.run(),
            Command::Threshold(arguments) => arguments.run(),
            Command::Dkg(arguments) => arguments.run(),
            Command::Checkpoint(arguments) => arguments.run(),
            Command::Evm(arguments) => arguments.run(),
            Command::History(arguments) => arguments.run(),
            Command::Era(arguments) => arguments.run(),
            Command::Selftest(arguments) => arguments.run(),
            Command::Completions(arguments) => arguments.run(Self::command()),
            Command::Man(arguments) => arguments.run(Self::command()),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate verify --suite eth2 claims.jsonl
  quorate key new --suite eth2 --keystore --out key.json
  quorate evm plan --network network.json --signers 0-9
  quorate sign --suite eth2 --key key.json --message 0x… --claim
  quorate selftest";

const COMPLETIONS: &str = "\
Examples:
  quorate completions bash > ~/.local/share/bash-completion/completions/quorate
  quorate completions fish > ~/.config/fish/completions/quorate.fish
  quorate completions zsh > ~/.zfunc/_quorate";

const MAN: &str = "\
Examples:
  quorate man | man -l -
  quorate man key new > quorate-key-new.1
  quorate man --into ~/.local/share/man/man1";
