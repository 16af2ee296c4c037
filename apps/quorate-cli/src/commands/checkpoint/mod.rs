//! `quorate checkpoint`: assumed-valid checkpoints, as their signers make them.
//!
//! ```text
//! set -> sets.json -> propose -> sign (each signer, with a record) -> combine -> verify
//!             rotate (each signer of both sets) -> adopt -> sets.json
//! ```

mod inputs;
mod combine;
mod propose;
mod set;
mod show;
mod sign;
mod verify;

use clap::{Args, Subcommand};
use quorate_host::exit::Result;

/// Sign blocks that nodes may assume to be valid while they sync
///
/// Enough keys sign that a buried block is valid. A node that syncs finds the block on the chain that it has chosen, skips the
/// signatures in the blocks up to it, and verifies them afterwards. `set` describes the keys, `propose` a checkpoint; each signer
/// runs `sign`, which keeps a record and never signs two checkpoints at one height; `combine` unites the signatures. To change the
/// keys, signers of the old and of the new set run `rotate`, and `adopt` unites that. Keys and signatures are those of the suite
/// eth2. The formats and rules are in docs/checkpoints.md.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: CheckpointCommand,
}

#[derive(Debug, Subcommand)]
enum CheckpointCommand {
    Set(set::Arguments),
    Propose(propose::Arguments),
    Sign(sign::SignArguments),
    Combine(combine::CombineArguments),
    Verify(verify::VerifyArguments),
    Rotate(sign::RotateArguments),
    Adopt(combine::AdoptArguments),
    Judge(verify::JudgeArguments),
    Show(show::Arguments),
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The command line or an input is wrong, or reading or writing fails.
    pub fn run(self) -> Result {
        match self.command {
            CheckpointCommand::Set(arguments) => arguments.run(),
            CheckpointCommand::Propose(arguments) => arguments.run(),
            CheckpointCommand::Sign(arguments) => arguments.run(),
            CheckpointCommand::Combine(arguments) => arguments.run(),
            CheckpointCommand::Verify(arguments) => arguments.run(),
            CheckpointCommand::Rotate(arguments) => arguments.run(),
            CheckpointCommand::Adopt(arguments) => arguments.run(),
            CheckpointCommand::Judge(arguments) => arguments.run(),
            CheckpointCommand::Show(arguments) => arguments.run(),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate pop prove --suite eth2 --key alice.key --json >> proofs.jsonl
  quorate checkpoint set --threshold 3 proofs.jsonl > sets.json
  quorate checkpoint propose --sets sets.json --chain-id 0xc1… --first \\
      --height 800000 --block-hash 0xb2… > checkpoint.json
  quorate checkpoint sign --sets sets.json --key alice.key \\
      --record alice.record --new-record checkpoint.json >> signed.jsonl
  quorate checkpoint combine --sets sets.json signed.jsonl > signed.json
  quorate checkpoint verify --sets sets.json signed.json";
