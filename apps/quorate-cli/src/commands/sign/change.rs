//! `quorate sign change`.

use clap::Args;
use quorate::MinPk;
use quorate_evm::alloy_primitives::Address;
use quorate_formats::operation::CredentialsChange;
use quorate_host::exit::{Exit, Result};
use serde::Serialize;

use super::operation::{FORM_OF, OperationArguments};
use crate::commands::{evm::addresses, print};

/// Sign a change of withdrawal credentials from a key to an address
///
/// For validators whose credentials are the hash of a withdrawal key (0x00). --key is that withdrawal key, and not the one with which
/// the validator attests. The chain takes one change, for ever: compare each digit of the address. Prints a list with one change, as
/// the staking deposit tool writes `bls_to_execution_change-*.json`. Exit code: 0 signed, 2 usage or unreadable input, 3 I/O.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE)]
pub(super) struct Arguments {
    #[command(flatten)]
    operation: OperationArguments,

    /// The validator's number on the chain
    #[arg(long, value_name = "N")]
    validator_index: u64,

    /// Address to which stake and rewards go: 0x and 40 digits
    #[arg(long, value_name = "ADDRESS", value_parser = addresses())]
    to_address: Address,
}

/// An entry of the staking deposit tool's file.
#[derive(Serialize)]
struct Entry {
    message: Message,
    signature: String,
    metadata: Metadata,
}

#[derive(Serialize)]
struct Message {
    validator_index: String,
    from_bls_pubkey: String,
    to_execution_address: String,
}

#[derive(Serialize)]
struct Metadata {
    network_name: &'static str,
    genesis_validators_root: String,
    deposit_cli_version: &'static str,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let Self { operation, validator_index, to_address } = self;
        let (network, key) = (operation.network, operation.unlock()?);
        let from_public_key = key.public_key().to_bytes();
        let change = CredentialsChange { validator_index, from_public_key, to_address: to_address.into_array() };
        let root = network.genesis_validators_root;
        let signature = key.sign(MinPk::Eth2, &change.signing_root(network.genesis_fork_version(), &root)).to_bytes();
        print::json(&[Entry {
            message: Message {
                validator_index: validator_index.to_string(),
                from_bls_pubkey: const_hex::encode_prefixed(from_public_key),
                to_execution_address: const_hex::encode_prefixed(to_address),
            },
            signature: const_hex::encode_prefixed(signature),
            metadata: Metadata {
                network_name: network.name(),
                genesis_validators_root: const_hex::encode_prefixed(root),
                deposit_cli_version: FORM_OF,
            },
        }])?;
        Ok(Exit::Success)
    }
}

/// Clap's own usage line does not fit.
const USAGE: &str = "\
quorate sign change [OPTIONS] --network <NAME> --key <FILE>
           --validator-index <N> --to-address <ADDRESS>";

const EXAMPLES: &str = "\
Examples:
  quorate sign change --network hoodi --key withdrawal-key.json \\
      --validator-index 7 \\
      --to-address 0x5FbDB2315678afecb367f032d93F642f64180aa3 \\
      > bls_to_execution_change-7.json
  quorate verify --network hoodi bls_to_execution_change-7.json";
