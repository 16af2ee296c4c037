//! `quorate sign exit`.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use quorate::MinPk;
use quorate_formats::operation::VoluntaryExit;
use quorate_host::{
    exit::{Exit, Failure, Result},
    key_record::{KeyRecord, Piece, RecordEntry, TornEntry},
};
use serde::{Deserialize, Serialize};

use super::operation::OperationArguments;
use crate::commands::{print, value::path_to_write};

/// Sign a validator's exit
///
/// An exit cannot be taken back, and whoever has the signature can publish it at any time from its epoch on. So what is signed is
/// first written to the record, and then no other exit is signed with this key on this network. Prints one object, as the staking
/// tools and the Beacon API have it. It is signed under Capella's fork version (EIP-7044), so it stays valid in all later forks.
/// Exit code: 0 signed, 1 the record forbids it or another process uses the record, 2 usage or unreadable input, 3 I/O.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE)]
pub(super) struct Arguments {
    #[command(flatten)]
    operation: OperationArguments,

    /// The validator's number on the chain
    #[arg(long, value_name = "N")]
    validator_index: u64,

    /// The first epoch in which a block may contain the exit
    #[arg(long, value_name = "N")]
    epoch: u64,

    /// Which exits this key has signed so far. Keep one for each key, and never lose it
    #[arg(long, value_name = "FILE", value_parser = path_to_write())]
    record: PathBuf,

    /// Begin the record: this key has never signed an exit
    #[arg(long)]
    new_record: bool,
}

/// The Beacon API's form.
#[derive(Serialize)]
struct SignedExit {
    message: Message,
    signature: String,
}

#[derive(Serialize)]
struct Message {
    epoch: String,
    validator_index: String,
}

/// A line of the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Entry {
    Exit { genesis_validators_root: String, validator_index: u64, epoch: u64 },
}

impl RecordEntry for Entry {
    const FORMS: &'static [&'static [Piece]] = &[&[
        Piece::Text("{\"exit\":{\"genesis_validators_root\":\"0x"),
        Piece::Hex(32),
        Piece::Text("\",\"validator_index\":"),
        Piece::Number,
        Piece::Text(",\"epoch\":"),
        Piece::Number,
        Piece::Text("}}"),
    ]];
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let Self { operation, validator_index, epoch, record, new_record } = self;
        let (network, key) = (operation.network, operation.unlock()?);
        let public_key = key.public_key().to_bytes();
        let opened = match new_record {
            true => KeyRecord::begin(&record, &public_key),
            false => KeyRecord::open(&record, &public_key),
        };
        let mut opened = opened?;
        let name = record.display();
        if let Some(mended) = opened.mended() {
            print::note(format_args!("warning: {name}, {mended}"));
        }
        let root = network.genesis_validators_root;
        let genesis_validators_root = const_hex::encode_prefixed(root);
        let entry = Entry::Exit { genesis_validators_root, validator_index, epoch };
        let excluded = opened.entries().iter().find_map(|other| excluded_by(&entry, other));
        if let Some(signed) = excluded {
            return Err(forbidden(anyhow!(
                "{name}: with this key {signed} was signed already on {}; publish that one, or none",
                network.name()
            )));
        }
        if !opened.entries().contains(&entry)
            && let Some(torn) = opened.torn().iter().find(|torn| may_exclude(&entry, torn))
        {
            return Err(forbidden(anyhow!(
                "{name}, line {}: the entry lacks its end, so another exit may have been signed already; bring the whole record back \
                 from a copy that is not older than the last signature. If you know that the program was stopped while it wrote this \
                 line and printed no signature, remove the line",
                torn.line
            )));
        }
        opened.write_down(entry)?;
        let message = VoluntaryExit { epoch, validator_index };
        let signature = key.sign(MinPk::Eth2, &message.signing_root(network.exit_fork_version(), &root)).to_bytes();
        print::json(&SignedExit {
            message: Message { epoch: epoch.to_string(), validator_index: validator_index.to_string() },
            signature: const_hex::encode_prefixed(signature),
        })?;
        Ok(Exit::Success)
    }
}

/// The exit of an entry, if it is of the same chain and not the same. A key is that of one validator.
fn excluded_by(entry: &Entry, other: &Entry) -> Option<String> {
    let Entry::Exit { genesis_validators_root: chain, .. } = entry;
    let Entry::Exit { genesis_validators_root, validator_index, epoch } = other;
    (chain == genesis_validators_root && entry != other)
        .then(|| format!("the exit of validator {validator_index} in epoch {epoch}"))
}

/// Whether a torn entry may be another exit of the same chain.
fn may_exclude(entry: &Entry, torn: &TornEntry) -> bool {
    let Entry::Exit { genesis_validators_root, validator_index, epoch } = entry;
    let value = |at: usize| torn.values.get(at).map(String::as_str);
    let chain = genesis_validators_root.trim_start_matches("0x");
    let is_same = (value(0), value(1), value(2))
        == (Some(chain), Some(validator_index.to_string().as_str()), Some(epoch.to_string().as_str()));
    torn.form.is_none() || (value(0).is_none_or(|other| other == chain) && !is_same)
}

fn forbidden(error: anyhow::Error) -> Failure {
    Failure { exit: Exit::Negative, error }
}

/// Clap's own usage line does not fit.
const USAGE: &str = "\
quorate sign exit [OPTIONS] --network <NAME> --key <FILE>
           --validator-index <N> --epoch <N> --record <FILE>
           [--new-record]";

const EXAMPLES: &str = "\
Examples:
  quorate sign exit --network hoodi --key key.json --validator-index 7 \\
      --epoch 90000 --record key.record --new-record > exit-7.json
  quorate verify --network hoodi --public-key 0x89ec… exit-7.json";
