//! `--network`: a network from a file, or the settlement's address and chain in its place.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use quorate_evm::{KeyGroup, Network, alloy_primitives::Address, digest::Contract};
use quorate_host::{dash, exit::Failure, file::LARGEST_DOCUMENT};

use super::operator::addresses;
use crate::commands::unlock::name_of;

/// A network, and the name of its file in messages.
pub(super) struct NetworkFile {
    pub(super) network: Network,
    pub(super) name: String,
}

impl NetworkFile {
    /// Reads a file and checks its form. `-` means standard input.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let name = name_of(path);
        let network = Network::from_json(dash::text(path, LARGEST_DOCUMENT)?.as_bytes());
        let network = network.map_err(|error| Failure::usage(error).context(name.clone()))?;
        Ok(Self { network, name })
    }
}

/// The settlement of an operator's command: by a network's file, or by its address and chain.
#[derive(Debug, Args)]
pub(super) struct SettlementArguments {
    /// The network's file, which names the settlement and its chain; `-` is standard input
    #[arg(long, value_name = "FILE", required_unless_present_all = ["contract", "chain"], conflicts_with_all = ["contract", "chain"])]
    network: Option<PathBuf>,

    /// Address of the settlement, or of the verifier of a task network
    #[arg(long, value_name = "ADDRESS", requires = "chain", value_parser = addresses())]
    contract: Option<Address>,

    /// The chain's id (EIP-155)
    #[arg(long, value_name = "ID", requires = "contract")]
    chain: Option<u64>,
}

impl SettlementArguments {
    /// The contract.
    pub(super) fn contract(&self, key_group: KeyGroup) -> Result<Contract, Failure> {
        let network = self.network(key_group)?;
        let named = self.chain.zip(self.contract).map(|(chain_id, address)| Contract { chain_id, address });
        let read = network.map(|network| Contract { chain_id: network.chain_id, address: network.contract });
        read.or(named).ok_or_else(|| Failure::usage(anyhow!("name --network, or --contract and --chain")))
    }

    /// The network, if its file is named. Its keys must be of the operator's group.
    pub(super) fn network(&self, key_group: KeyGroup) -> Result<Option<Network>, Failure> {
        let Some(path) = &self.network else { return Ok(None) };
        let NetworkFile { network, name } = NetworkFile::read(path)?;
        if network.key_group == key_group {
            return Ok(Some(network));
        }
        Err(Failure::usage(anyhow!(
            "{name}: found keys of {}, expected {key_group} as in --key-group",
            network.key_group
        )))
    }
}
