//! The arguments of `quorate verify`.

use std::{num::NonZeroUsize, path::PathBuf};

use clap::{Args, ValueEnum};
use quorate::{AnySuite, Soundness};
use quorate_formats::{
    Format, from_hex,
    light_client::{BeaconNetwork, Overrides, TWO_THIRDS},
};

use crate::commands::{
    backend::BackendArgument,
    threads,
    value::{Value, named, parsed},
};

/// Verify claims in bulk and say which are false
///
/// Reads JSON Lines, Parquet, drand rounds, Ethereum light-client updates and validators' deposits, also packed with gzip or
/// zstd. Exit code: 0 all valid, 1 at least one invalid, 2 usage, unreadable input or no claim, 3 I/O, 4 internal,
/// 130 interrupted.
#[derive(Clone, Debug, Args)]
#[command(before_long_help = EXAMPLES, after_long_help = FORMATS)]
pub struct Arguments {
    /// Files to read; `-`, or no file, means standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Suite of the claims that name none: a profile (eth2, chia, drand-chained, drand-unchained, drand-quicknet,
    /// drand-g1-legacy; on BN254 drand-evmnet, eigenlayer) or an IETF id in full
    #[arg(long, value_name = "NAME", env = "QUORATE_SUITE", value_parser = suites(), hide_possible_values = true)]
    pub suite: Option<AnySuite>,

    /// Format of the files; guessed from the content by default
    #[arg(long, value_name = "FORMAT", value_parser = formats(), hide_possible_values = true)]
    pub format: Option<Format>,

    /// File with claims that were verified earlier, as --remember writes them: their statements are subtracted. The file is trusted,
    /// so keep it as safe as the verdicts that depend on it. A last line that is cut off is skipped. Not for BN254
    #[arg(long, value_name = "FILE")]
    pub known: Option<PathBuf>,

    /// File to which new claims of one statement are appended if they are valid; it can be the same file as --known. It is created
    /// with mode 0600, no statement is appended twice, and a last line that is cut off is removed. Not for BN254
    #[arg(long, value_name = "FILE")]
    pub remember: Option<PathBuf>,

    /// How claims are verified.
    #[command(flatten)]
    pub engine: EngineArguments,

    /// Print one JSON object for each claim on standard output, {"index":0,"id":"…","valid":true}; with "file" and "line" if there
    /// are several inputs. An entry that makes no claim has "malformed":true
    #[arg(long)]
    pub verdicts: bool,

    /// Print one JSON object with a summary on standard output, at the end
    #[arg(long)]
    pub json: bool,

    /// Print the plan of each window, and every check of drand rounds and light-client updates, on standard error
    #[arg(long)]
    pub explain: bool,

    /// Print only errors on standard error, and on standard output only what --verdicts and --json ask for
    #[arg(short, long)]
    pub quiet: bool,

    /// drand: the chain of rounds that do not name their chain: default, quicknet, evmnet, fastnet, or one of their chain hashes
    #[arg(long, value_name = "NAME", conflicts_with = "chain_info", help_heading = "drand")]
    #[arg(value_parser = chains(), hide_possible_values = true)]
    pub chain: Option<String>,

    /// drand: file with the chain's /info document
    #[arg(long, value_name = "FILE", help_heading = "drand")]
    pub chain_info: Option<PathBuf>,

    /// Light client: mainnet, sepolia, holesky, hoodi or goerli
    #[arg(long, value_name = "NAME", default_value = "mainnet", help_heading = "Light client")]
    pub network: BeaconNetwork,

    /// Light client: genesis validators root that replaces the network's
    #[arg(long, value_name = "HEX", value_parser = hex_array::<32>, help_heading = "Light client")]
    pub genesis_validators_root: Option<[u8; 32]>,

    /// Light client: fork version that replaces the network's
    #[arg(long, value_name = "HEX", value_parser = hex_array::<4>, help_heading = "Light client")]
    pub fork_version: Option<[u8; 4]>,

    /// Light client: file with a sync committee to trust, {"period": …, "pubkeys": […]}; may be given more than once
    #[arg(long, value_name = "FILE", help_heading = "Light client")]
    pub committee: Vec<PathBuf>,

    /// Light client: root of the block that you trust, for example from a checkpoint service. A bootstrap of another block is
    /// refused, and so is a committee among the inputs
    #[arg(long, value_name = "HEX", value_parser = hex_array::<32>, help_heading = "Light client")]
    pub trusted_root: Option<[u8; 32]>,

    /// Light client: how many of the 512 keys must have signed; two thirds by default. For the specification, 1 is enough for an
    /// update to be valid
    #[arg(long, value_name = "N", default_value_t = TWO_THIRDS, help_heading = "Light client")]
    pub min_participants: usize,
}

/// How claims are verified.
#[derive(Clone, Debug, Args)]
pub struct EngineArguments {
    /// Number of threads, at least 1; all that the machine has by default
    #[arg(long, value_name = "N", env = "QUORATE_THREADS", value_parser = threads::value())]
    pub threads: Option<NonZeroUsize>,

    /// Who does the arithmetic.
    #[command(flatten)]
    pub backend: BackendArgument,

    /// Soundness: a false claim passes as valid with a probability of at most 2^-64 or 2^-128
    #[arg(long, value_name = "BITS", default_value = "64")]
    pub soundness: SoundnessBits,
}

impl EngineArguments {
    pub(in crate::commands) fn threads(&self) -> NonZeroUsize {
        self.threads.unwrap_or_else(threads::all)
    }

    pub(in crate::commands) fn options(&self) -> quorate::Options {
        quorate::Options {
            threads: self.threads(),
            soundness: self.soundness.into(),
            backend: self.backend.backend,
            ..quorate::Options::default()
        }
    }
}

impl Arguments {
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

impl From<SoundnessBits> for Soundness {
    fn from(bits: SoundnessBits) -> Self {
        match bits {
            SoundnessBits::Bits64 => Self::Bits64,
            SoundnessBits::Bits128 => Self::Bits128,
        }
    }
}

/// The names of suites, for `--suite`.
pub(in crate::commands) fn suites() -> Value<AnySuite> {
    Value::new(parsed).with_names(|| named(AnySuite::all().map(AnySuite::name)))
}

fn formats() -> Value<Format> {
    Value::new(parsed).with_names(|| named(Format::ALL.map(Format::name)))
}

/// Which chain it is, is found out when the inputs are opened.
fn chains() -> Value<String> {
    Value::new(|text| Ok(text.to_owned())).with_names(|| named(CHAINS))
}

/// The names of drand's chains. A chain hash is allowed too.
const CHAINS: [&str; 4] = ["default", "quicknet", "evmnet", "fastnet"];

fn hex_array<const N: usize>(text: &str) -> Result<[u8; N], String> {
    let bytes = from_hex(text).map_err(|error| error.to_string())?;
    let found = bytes.len();
    bytes.try_into().map_err(|_| format!("found {found} bytes in hexadecimal digits, expected {N}"))
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
JSON Lines: one object on each line,
  {\"id\": …?, \"suite\": …?, \"source\": …?,
   \"public_key\": hex | \"public_keys\": [hex…],
   \"message\": hex | \"messages\": [hex…], \"signature\": hex}
With one message, all keys signed it. With n messages, key i signed message i.
Keys and signatures are compressed points. On BN254 they are the EVM's words:
drand-evmnet has keys of 128 bytes (G2, imaginary parts first), eigenlayer of
192 (G1, then G2) and messages of 32; signatures there are 64 bytes, x and y.
Parquet: the same columns, binary or hex. drand: rounds, arrays of them,
bundles with their chain info; a chain info alone speaks for what follows it,
also in the next files. Light client: the Beacon API's bootstraps and updates,
in JSON or SSZ; a bootstrap's committee is trusted, so give --trusted-root, or
compare its block root. Deposit: deposit_data-*.json of the staking tools.
What is packed with gzip or zstd is unpacked, except Parquet.";

#[cfg(test)]
mod tests {
    use quorate_formats::drand::ChainInfo;

    use super::*;

    #[test]
    fn completions_name_chains_that_exist() {
        for name in CHAINS {
            assert!(ChainInfo::well_known(name).is_ok(), "{name}");
        }
    }
}
