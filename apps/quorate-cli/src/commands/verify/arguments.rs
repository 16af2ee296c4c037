//! The arguments of `quorate verify`.

use std::{num::NonZeroUsize, path::PathBuf};

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use quorate::{AnySuite, Soundness};
use quorate_formats::{
    Format, SigningContext, ValidatorKeys, array_from_hex,
    key_sets::{KeySetFile, KeySetLoading, KeySets},
    light_client::{BeaconNetwork, Overrides, TWO_THIRDS, UnknownNetwork},
    network::KnownNetwork,
};
use quorate_host::{
    dash::{self, NOT_FROM_STANDARD_INPUT, is_dash, name_of},
    exit::Failure,
    file::LARGEST_DOCUMENT,
};

use crate::commands::{
    backend::BackendArgument,
    random, threads,
    value::{Value, named, parsed, path_to_read, path_to_write, variable},
};

/// Verify claims in bulk and say which are false
///
/// Reads JSON Lines, Parquet, drand rounds, Ethereum light-client updates, and validators' deposits, changes of credentials and
/// exits, also packed with gzip or zstd. A flag that no input uses is an error, and a flag about what you trust that is for some of the
/// inputs alone names the others. Exit code: 0 all valid, 1 at least one invalid, 2 usage, unreadable input or no claim, 3 I/O, 4 internal,
/// 130 interrupted.
#[derive(Clone, Debug, Args)]
#[command(before_long_help = EXAMPLES, after_long_help = FORMATS)]
pub struct Arguments {
    /// Files to read; `-`, or no file, means standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Suite of the claims that name none: a profile (eth2, chia, drand-chained, drand-unchained, drand-quicknet,
    /// drand-g1-legacy; on BN254, with about 100 bits of security, drand-evmnet, eigenlayer) or an IETF id in full
    #[arg(long, value_name = "NAME", env = variable("QUORATE_SUITE"), value_parser = suites(), hide_possible_values = true)]
    pub suite: Option<AnySuite>,

    /// Format of the files; guessed from the content by default
    #[arg(long, value_name = "FORMAT", value_parser = formats(), hide_possible_values = true)]
    pub format: Option<Format>,

    /// Key set whose members claims can name, by "key_set" and "members"; may be given more than once. FILE is one of `quorate
    /// key-set`, or a list with one key in hexadecimal digits on each line, in the suite of --suite. A list is taken at its word that
    /// the owner of each key has proven possession of the secret key
    #[arg(long, value_name = "NAME=FILE", value_parser = Value::new(key_set))]
    pub key_set: Vec<KeySetFile>,

    /// File with claims that were verified earlier, as --remember writes them: their statements are subtracted. The file is trusted,
    /// so keep it as safe as the verdicts that depend on it; a warning, with --quiet as well, says if other users can write it. A last
    /// line that is cut off is skipped
    #[arg(long, value_name = "FILE", value_parser = path_to_read())]
    pub known: Option<PathBuf>,

    /// File to which new claims of one statement are appended if they are valid; it can be the same file as --known. It is created
    /// with mode 0600, no statement is appended twice, and a last line that is cut off is removed
    #[arg(long, value_name = "FILE", value_parser = path_to_write())]
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

    /// Print only errors, warnings about --known and about inputs that a flag for trust does not concern, block roots that are trusted
    /// without --trusted-root, and what light-client objects leave unproved on standard error, and on standard output only what
    /// --verdicts and --json ask for
    #[arg(short, long)]
    pub quiet: bool,

    /// drand: the chain of rounds that do not name their chain: default, quicknet, evmnet, fastnet, or one of their chain hashes
    #[arg(long, value_name = "NAME", conflicts_with = "chain_info", help_heading = "drand")]
    #[arg(value_parser = chains(), hide_possible_values = true)]
    pub chain: Option<String>,

    /// drand: file with the chain's /info document; `-` means standard input
    #[arg(long, value_name = "FILE", help_heading = "drand")]
    pub chain_info: Option<PathBuf>,

    /// Ethereum: mainnet, sepolia, holesky, hoodi, goerli, gnosis or chiado. Deposits and changes of credentials must be signed for it;
    /// without it, for the network that their file names; what names no known network makes no claim without it or --fork-version
    /// (changes also need --genesis-validators-root). Exits do not name theirs, so they need it. Light-client objects are mainnet's
    /// without it, and never Gnosis's
    #[arg(long, value_name = "NAME", value_parser = networks(), hide_possible_values = true, help_heading = "Ethereum")]
    pub network: Option<&'static KnownNetwork>,

    /// Ethereum: genesis validators root that replaces the network's. With --fork-version it is another network: its light-client
    /// documents name their fork themselves ("version")
    #[arg(long, value_name = "HEX", value_parser = array_from_hex::<32>, help_heading = "Ethereum")]
    pub genesis_validators_root: Option<[u8; 32]>,

    /// Ethereum: fork version that replaces the network's: the genesis' for deposits and changes, Capella's for exits, and that of
    /// every fork for a light client
    #[arg(long, value_name = "HEX", value_parser = array_from_hex::<4>, help_heading = "Ethereum")]
    pub fork_version: Option<[u8; 4]>,

    /// Exits: key of a validator, alone or behind its number, 5=0x89ec…; may be given more than once. An exit does not contain its key
    #[arg(long, value_name = "[INDEX=]HEX", value_parser = Value::new(validator), help_heading = "Ethereum")]
    pub public_key: Vec<ValidatorKey>,

    /// Exits: file with keys of validators, as a beacon node answers to /eth/v1/beacon/states/head/validators?id=5,7; may be given more
    /// than once; `-` means standard input
    #[arg(long, value_name = "FILE", help_heading = "Ethereum")]
    pub validators: Vec<PathBuf>,

    /// Light client: file with a sync committee to trust, {"period": …, "pubkeys": […]}; may be given more than once;
    /// `-` means standard input. Among the inputs such a file is refused, because no block proves it
    #[arg(long, value_name = "FILE", help_heading = "Light client")]
    pub committee: Vec<PathBuf>,

    /// Light client: root of the block that you trust, for example from a checkpoint service. A bootstrap of another block is
    /// refused
    #[arg(long, value_name = "HEX", value_parser = array_from_hex::<32>, help_heading = "Light client")]
    pub trusted_root: Option<[u8; 32]>,

    /// Light client: how many of the 512 keys must have signed, 1 to 512; two thirds by default. For the specification, 1 is enough for an
    /// update to be valid. A next committee is believed from two thirds on, whatever this flag says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=512), help_heading = "Light client")]
    pub min_participants: Option<u16>,
}

/// How claims are verified.
#[derive(Clone, Debug, Args)]
pub struct EngineArguments {
    /// Number of threads, 1 to 1024; all that the machine has by default
    #[arg(long, value_name = "N", env = variable("QUORATE_THREADS"), value_parser = threads::value())]
    pub threads: Option<NonZeroUsize>,

    /// Who does the arithmetic.
    #[command(flatten)]
    pub backend: BackendArgument,

    /// Soundness: a false claim passes as valid with a probability of at most 2^-64, the default, or 2^-128
    #[arg(long, value_name = "BITS")]
    pub soundness: Option<SoundnessBits>,
}

impl EngineArguments {
    pub(in crate::commands) fn threads(&self) -> NonZeroUsize {
        self.threads.unwrap_or_else(threads::all)
    }

    pub(in crate::commands) fn options(&self) -> quorate::Options {
        quorate::Options {
            threads: self.threads(),
            soundness: self.soundness.map_or(Soundness::Bits64, Into::into),
            backend: self.backend.backend,
            ..quorate::Options::default()
        }
    }
}

impl Arguments {
    /// The network of light-client objects.
    pub(super) fn beacon_network(&self) -> Result<BeaconNetwork, UnknownNetwork> {
        let network: BeaconNetwork = self.network.map_or(DEFAULT_NETWORK, KnownNetwork::name).parse()?;
        let overrides =
            Overrides { genesis_validators_root: self.genesis_validators_root, fork_version: self.fork_version };
        Ok(network.with(&overrides))
    }

    /// How many keys of a sync committee must have signed.
    pub(super) fn least_participants(&self) -> usize {
        self.min_participants.map_or(TWO_THIRDS, usize::from)
    }

    /// The key sets that claims can name.
    pub(super) fn key_sets(&self) -> Result<KeySets, Failure> {
        if self.key_set.is_empty() {
            return Ok(KeySets::default());
        }
        let loading =
            KeySetLoading { suite: self.suite, backend: self.engine.backend.backend, threads: self.engine.threads() };
        Ok(KeySets::load(&self.key_set, &loading, &mut random::generator()?)?)
    }

    /// What deposits, changes and exits are compared with.
    pub(super) fn expected(&self) -> Result<SigningContext, Failure> {
        let mut keys = ValidatorKeys::default();
        for ValidatorKey { index, key } in &self.public_key {
            let add = keys.add(*index, *key);
            add.map_err(|reason| Failure::usage(anyhow!("--public-key: {reason}")))?;
        }
        for path in &self.validators {
            let answer = dash::text(path, LARGEST_DOCUMENT)?;
            let add = keys.add_answer(&answer);
            add.map_err(|reason| Failure::usage(anyhow!("--validators {}: {reason}", name_of(path))))?;
        }
        Ok(SigningContext {
            network: self.network,
            genesis_validators_root: self.genesis_validators_root,
            fork_version: self.fork_version,
            keys,
        })
    }
}

/// The key of a validator, and its number if it was given.
#[derive(Clone, Copy, Debug)]
pub struct ValidatorKey {
    index: Option<u64>,
    key: [u8; 48],
}

fn key_set(text: &str) -> Result<KeySetFile, String> {
    let file: KeySetFile = parsed(text)?;
    if is_dash(&file.path) { Err(NOT_FROM_STANDARD_INPUT.to_owned()) } else { Ok(file) }
}

fn validator(text: &str) -> Result<ValidatorKey, String> {
    let (index, key) = match text.split_once('=') {
        None => (None, text),
        Some((index, key)) => {
            let number = index.parse().map_err(|_| format!("found the number {index:?}, expected one from 0"))?;
            (Some(number), key)
        }
    };
    Ok(ValidatorKey { index, key: array_from_hex(key).map_err(|error| error.to_string())? })
}

/// The networks of beacon chains, for `--network`.
fn networks() -> Value<&'static KnownNetwork> {
    let read = |name: &str| {
        KnownNetwork::of_name(name).ok_or_else(|| {
            let known: Vec<_> = KnownNetwork::all().map(KnownNetwork::name).collect();
            format!(
                "this network is not known, expected one of {}; for another one give --genesis-validators-root and \
                 --fork-version",
                known.join(", ")
            )
        })
    };
    Value::new(read).with_names(|| named(KnownNetwork::all().map(KnownNetwork::name)))
}

/// The network of light-client objects without `--network`.
const DEFAULT_NETWORK: &str = "mainnet";

/// [`Soundness`] as the command line writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
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

const EXAMPLES: &str = "\
Examples:
  quorate verify claims.jsonl
  quorate verify --suite eth2 --verdicts - < claims.jsonl
  quorate verify --chain quicknet round.json
  quorate verify --suite eigenlayer --verdicts responses.jsonl
  quorate verify --explain bootstrap.json updates.json
  quorate verify --network mainnet deposit_data-1715584103.json
  quorate verify --network mainnet --public-key 0x89ec… exit-5.json
  quorate verify --key-set validators=validators.set votes.jsonl
  quorate verify --remember seen.jsonl gossip.jsonl
  quorate verify --known seen.jsonl block.jsonl";

const FORMATS: &str = "\
JSON Lines: one object on each line,
  {\"id\": …?, \"suite\": …?, \"source\": …?,
   \"public_key\": hex | \"public_keys\": [hex…],
   \"message\": hex | \"messages\": [hex…], \"signature\": hex}
With one message, all keys signed it. With n messages, key i signed message i.
In the place of keys, \"key_set\": NAME and \"members\": bitmap in hex (the lowest
bit of its first byte is member 0) | [index…] name members of a --key-set; the
suite is that of the set, unless the claim names one. Only in JSON Lines.
Keys and signatures are compressed points. On BN254 they are the EVM's words:
keys have 128 bytes (G2, imaginary parts first), in eigenlayer 192 (G1, then
G2) with messages of 32; signatures there are 64 bytes, x and y. The ids there
are BLS_SIG_BN254G1_XMD:KECCAK-256_SVDW_RO_NUL_, AUG_, POP_, and with SHA-256.
Parquet: the same columns, binary or hex. drand: rounds, arrays of them,
bundles with their chain info; a chain info alone speaks for what follows it
in its own file. Light client: the Beacon API's bootstraps and updates,
in JSON or SSZ; a bootstrap's committee is trusted, so give --trusted-root, or
compare its block root. JSON may leave out the execution payload header, of
which nothing is proved then (a warning says so); no light client takes that
since Capella. Deposit: deposit_data-*.json of the staking tools; credentials
that lock the stake and amounts below 1 ETH are false. Change:
bls_to_execution_change-*.json. Exit: signed exits, which need --network and
--public-key. What is packed with gzip or zstd is unpacked, except Parquet.";

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
