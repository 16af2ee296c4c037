//! `quorate-signer init`.

use std::num::NonZeroU64;

use clap::Args;
use quorate_evm::{KeyGroup, address, alloy_primitives::Address};
use quorate_host::{
    exit::{Exit, Result},
    flag::from_one,
    plain, unix_seconds,
};
use quorate_signer_client::{network::NetworkTerms, record_file::RecordIdentity};

use super::{DataArguments, note, print};
use crate::{config::Config, key::KeyArguments, store::Store};

/// Make a record for a network and a key
///
/// What is named here is fixed for good. The terms of the network are those of its contract: `genesis()`, `epochLength()`,
/// `slashingWindow()` and `verifier()`. The signer signs nothing for an epoch before the one in which the record is made.
///
/// A key that another signer has used needs that signer's record: `quorate-signer import` takes it before the first `run`.
#[derive(Debug, Args)]
#[command(override_usage = USAGE)]
pub(crate) struct Arguments {
    #[command(flatten)]
    data: DataArguments,

    #[command(flatten)]
    key: KeyArguments,

    /// How the network's verifier hashes digests: bls12381-g2 or bls12381-g2-nu
    #[arg(long, value_name = "NAME", value_parser = key_group)]
    key_group: KeyGroup,

    /// The chain's id
    #[arg(long, value_name = "N")]
    chain_id: u64,

    /// Address of the network's contract, a TaskNetwork
    #[arg(long, value_name = "ADDRESS", value_parser = address::parse)]
    contract: Address,

    /// Address of the network's verifier, for which possession of the key is proved
    #[arg(long, value_name = "ADDRESS", value_parser = address::parse)]
    verifier: Address,

    /// Account of the operator, for which the key is registered
    #[arg(long, value_name = "ADDRESS", value_parser = address::parse)]
    operator: Address,

    /// The first second of epoch 0, in Unix time
    #[arg(long, value_name = "SECONDS")]
    genesis: u64,

    /// The length of an epoch
    #[arg(long, value_name = "SECONDS", value_parser = from_one())]
    epoch_length: NonZeroU64,

    /// How long conflicts of an epoch can be reported after it can settle nothing more
    #[arg(long, value_name = "SECONDS")]
    slashing_window: u64,
}

/// Clap's own usage line does not fit.
const USAGE: &str = "\
quorate-signer init --data <FOLDER> --keystore <FILE>
           --passphrase-file <FILE> --key-group <NAME> --chain-id <N>
           --contract <ADDRESS> --verifier <ADDRESS> --operator <ADDRESS>
           --genesis <SECONDS> --epoch-length <SECONDS>
           --slashing-window <SECONDS>";

impl Arguments {
    pub(crate) fn run(self) -> Result {
        let Self { data, key, key_group, chain_id, contract, verifier, operator, .. } = self;
        let unlocked = key.unlock(key_group)?;
        unlocked.warnings.iter().for_each(|warning| note(format!("warning: {warning}")));
        let Self { genesis, epoch_length, slashing_window, .. } = self;
        let network = NetworkTerms { chain_id, contract, genesis, epoch_length, slashing_window };
        let public_key = unlocked.key.member();
        let identity = RecordIdentity { network, key_group, public_key: public_key.clone() };
        let floor = network.epoch_at(unix_seconds()).unwrap_or(0);
        Store::create(&data.data, &Config { identity, verifier, operator }, floor)?;
        let folder = plain(&data.data.display().to_string());
        print(&format!("record      {folder}\nfloor       epoch {floor}\npublic key  {public_key}\n"))?;
        Ok(Exit::Success)
    }
}

fn key_group(name: &str) -> std::result::Result<KeyGroup, String> {
    match name.parse() {
        Ok(key_group @ (KeyGroup::Bls12381G2 | KeyGroup::Bls12381G2Nu)) => Ok(key_group),
        _ => Err("expected bls12381-g2 or bls12381-g2-nu".to_owned()),
    }
}
