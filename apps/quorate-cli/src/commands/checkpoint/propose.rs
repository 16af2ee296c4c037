//! `quorate checkpoint propose`.

use std::num::NonZeroU64;

use anyhow::anyhow;
use clap::Args;
use quorate_checkpoint::Checkpoint;
use quorate_host::{
    exit::{Exit, Failure, Result},
    unix_seconds,
};

use super::inputs::SetsArguments;
use crate::commands::{
    print,
    value::{self, bytes_32},
};

/// Write the checkpoint that signers are to sign
///
/// Prints it as JSON. Every signer must sign the same one, so one person proposes it, and each signer compares the block with a
/// node of its own that has verified it. Take a block that is old enough that nobody can rewrite it.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE)]
pub(super) struct Arguments {
    #[command(flatten)]
    sets: SetsArguments,

    /// The chain, in 32 bytes: for example its genesis hash
    #[arg(long, value_name = "HEX", value_parser = bytes_32())]
    chain_id: [u8; 32],

    /// The block's height, slot or number
    #[arg(long, value_name = "N")]
    height: u64,

    /// The block's hash, in the byte order in which nodes compare it
    #[arg(long, value_name = "HEX", value_parser = bytes_32())]
    block_hash: [u8; 32],

    /// The digest of the previous checkpoint, as `show` prints it
    #[arg(long, value_name = "HEX", value_parser = bytes_32(), required_unless_present = "first")]
    previous: Option<[u8; 32]>,

    /// There is no previous checkpoint
    #[arg(long, conflicts_with = "previous")]
    first: bool,

    /// For how many days it may be used. Nodes accept at most 60 by default
    #[arg(long, value_name = "N", default_value = "14", value_parser = value::from_one())]
    days: NonZeroU64,

    /// When it is issued, in Unix seconds; by default now
    #[arg(long, value_name = "SECONDS")]
    issued_at: Option<u64>,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let Self { sets, chain_id, height, block_hash, previous, first: _, days, issued_at } = self;
        let set_epoch = sets.read()?.newest().epoch();
        let issued_at = issued_at.unwrap_or_else(unix_seconds);
        let expires_at = days.get().checked_mul(24 * 3600).and_then(|life| issued_at.checked_add(life));
        let expires_at = expires_at.ok_or_else(|| {
            Failure::usage(anyhow!("--days {days} ends after the last second that can be written; give fewer"))
        })?;
        let previous = previous.unwrap_or_default();
        print::json(&Checkpoint { chain_id, height, block_hash, previous, issued_at, expires_at, set_epoch })?;
        Ok(Exit::Success)
    }
}

/// Clap's own usage line does not fit.
const USAGE: &str = "\
quorate checkpoint propose [OPTIONS] --sets <FILE> --chain-id <HEX>
           --height <N> --block-hash <HEX> <--previous <HEX>|--first>";

const EXAMPLES: &str = "\
Examples:
  quorate checkpoint propose --sets sets.json --chain-id 0xc1… --first \\
      --height 800000 --block-hash 0xb2… > checkpoint.json
  quorate checkpoint propose --sets sets.json --chain-id 0xc1… \\
      --height 802016 --block-hash 0xb3… --previous 0x4e… > checkpoint.json";
