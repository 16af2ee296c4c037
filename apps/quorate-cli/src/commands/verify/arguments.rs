//! The arguments of `quorate verify`.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::{Args, ValueEnum};
use quorate::{AnySuite, Soundness};
use quorate_formats::{
    Format,
    light_client::{BeaconNetwork, MIN_PARTICIPANTS, Overrides},
};

use crate::commands::{backend::BackendArgument, threads};

/// Verify claims in bulk and say which are false
///
/// Reads JSON Lines, Parquet, drand rounds and Ethereum light-client updates. Exit code: 0 all valid, 1 at least one
/// invalid, 2 usage or unreadable input, 3 I/O, 4 internal, 130 interrupted.
#[derive(Clone, Debug, Args)]
#[command(before_long_help = EXAMPLES, after_long_help = FORMATS)]
pub struct Arguments {
    /// Files to read; `-` is standard input, which is also read where none is named
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Suite of the claims that name none: a profile (eth2, chia, drand-chained, drand-unchained, drand-quicknet,
    /// drand-g1-legacy; on BN254 drand-evmnet, eigenlayer) or an IETF id in full
    #[arg(long, value_name = "NAME", env = "QUORATE_SUITE")]
    pub suite: Option<AnySuite>,

    /// Format of the files; guessed from the content where left out
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,

    /// Claims verified earlier, as --remember writes them: subtract them. They are believed, so keep the file as safe as
    /// the verdicts that you build on it. Not on BN254
    #[arg(long, value_name = "FILE")]
    pub known: Option<PathBuf>,

    /// Append the claims of one statement that are found valid and were not known; the same file can be --known. Not
    /// on BN254
    #[arg(long, value_name = "FILE")]
    pub remember: Option<PathBuf>,

    /// Threads; as many as the machine has where left out
    #[arg(long, value_name = "N", env = "QUORATE_THREADS")]
    pub threads: Option<NonZeroUsize>,

    /// Who does the arithmetic.
    #[command(flatten)]
    pub backend: BackendArgument,

    /// A false claim passes with a probability of 2^-64 or 2^-128
    #[arg(long, value_name = "BITS", default_value = "64")]
    pub soundness: SoundnessBits,

    /// On standard output: one JSON object a claim, {"index":0,"id":"…","valid":true}
    #[arg(long)]
    pub verdicts: bool,

    /// On standard output: one JSON object for all, at the end
    #[arg(long)]
    pub json: bool,

    /// On standard error: the plan of each window, and every check of drand rounds and light-client updates
    #[arg(long)]
    pub explain: bool,

    /// Nothing on standard error but errors, and on standard output nothing that was not asked for
    #[arg(short, long)]
    pub quiet: bool,

    /// drand: the chain of rounds that do not say it: default, quicknet, evmnet, fastnet, or a chain hash of these
    #[arg(long, value_name = "NAME", conflicts_with = "chain_info", help_heading = "drand")]
    pub chain: Option<String>,

    /// drand: the chain's /info document
    #[arg(long, value_name = "FILE", help_heading = "drand")]
    pub chain_info: Option<PathBuf>,

    /// Light client: mainnet, sepolia, holesky, hoodi or goerli
    #[arg(long, value_name = "NAME", default_value = "mainnet", help_heading = "Light client")]
    pub network: BeaconNetwork,

    /// Light client: genesis validators root in place of the network's
    #[arg(long, value_name = "HEX", value_parser = hex_array::<32>, help_heading = "Light client")]
    pub genesis_validators_root: Option<[u8; 32]>,

    /// Light client: fork version in place of the network's for the slot
    #[arg(long, value_name = "HEX", value_parser = hex_array::<4>, help_heading = "Light client")]
    pub fork_version: Option<[u8; 4]>,

    /// Light client: a sync committee to trust, {"period": …, "pubkeys": […]}; may be given more than once
    #[arg(long, value_name = "FILE", help_heading = "Light client")]
    pub committee: Vec<PathBuf>,

    /// Light client: how many of the 512 keys must have signed; a light client follows 342 (two thirds)
    #[arg(long, value_name = "N", default_value_t = MIN_PARTICIPANTS, help_heading = "Light client")]
    pub min_participants: usize,
}

impl Arguments {
    pub(super) fn threads(&self) -> NonZeroUsize {
        self.threads.unwrap_or_else(threads::all)
    }

    pub(super) fn options(&self) -> quorate::Options {
        let soundness = match self.soundness {
            SoundnessBits::Bits64 => Soundness::Bits64,
            SoundnessBits::Bits128 => Soundness::Bits128,
        };
        quorate::Options { threads: self.threads(), soundness, backend: self.backend.backend }
    }

    pub(super) fn network(&self) -> BeaconNetwork {
        let overrides =
            Overrides { genesis_validators_root: self.genesis_validators_root, fork_version: self.fork_version };
        self.network.clone().with(&overrides)
    }
}

/// [`Soundness`] as the command line writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(clippy::exhaustive_enums, reason = "the command line matches both")]
pub enum SoundnessBits {
    /// 2^-64, as Ethereum's clients use
    #[value(name = "64")]
    Bits64,
    /// 2^-128
    #[value(name = "128")]
    Bits128,
}

fn hex_array<const N: usize>(text: &str) -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    const_hex::decode_to_slice(text, &mut bytes).map_err(|error| format!("{error}; expected {N} bytes of hex"))?;
    Ok(bytes)
}

const EXAMPLES: &str = "\
Examples:
  quorate verify claims.jsonl
  quorate verify --suite eth2 --verdicts - < claims.jsonl
  quorate verify --chain quicknet round.json
  quorate verify --suite eigenlayer --verdicts responses.jsonl
  quorate verify --explain bootstrap.json updates.json
  quorate verify --remember seen.jsonl gossip.jsonl
  quorate verify --known seen.jsonl block.jsonl";

const FORMATS: &str = "\
JSON Lines: one object a line,
  {\"id\": …?, \"suite\": …?, \"source\": …?,
   \"public_key\": hex | \"public_keys\": [hex…],
   \"message\": hex | \"messages\": [hex…], \"signature\": hex}
n keys with one message: all signed it. n keys with n messages: pairwise.
Keys and signatures are compressed points. On BN254 they are the EVM's words:
drand-evmnet has keys of 128 bytes (G2, imaginary parts first), eigenlayer of
192 (G1, then G2) and messages of 32; signatures there are 64 bytes, x and y.
Parquet: the same columns, binary or hex. drand: rounds, arrays of them,
bundles with their chain info. Light client: the Beacon API's bootstraps and
updates; a bootstrap's committee is believed, so compare its block root.";
