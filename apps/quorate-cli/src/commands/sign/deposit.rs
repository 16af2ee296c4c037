//! `quorate sign deposit`.

use anyhow::{Context as _, anyhow};
use clap::Args;
use quorate::{MinPk, PublicKey};
use quorate_evm::{
    alloy_primitives::Address,
    amount::{self, AmountError},
};
use quorate_formats::{
    from_hex,
    operation::{
        Compounding, DepositMessage, check_amount, check_withdrawal_credentials, credentials_of_address,
        credentials_of_key,
    },
};
use quorate_host::exit::{Exit, Failure, Result};
use serde::Serialize;

use super::operation::{FORM_OF, OperationArguments};
use crate::commands::{evm::addresses, print};

/// Sign a deposit of stake for a validator
///
/// Prints a list with one deposit, as the staking deposit tool writes `deposit_data-*.json`; `jq -s add` makes one list of several.
/// Give it to a launchpad, or verify it with `quorate verify --network NAME`. The stake can be withdrawn to --withdrawal-address, or
/// else with --withdrawal-key, by whoever has that key's secret. This cannot be changed from one address to another, so
/// compare each digit. Exit code: 0 signed, 2 usage or unreadable input, 3 I/O.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE)]
pub(super) struct Arguments {
    #[command(flatten)]
    operation: OperationArguments,

    /// Address to which the stake goes: 0x and 40 digits
    #[arg(long, value_name = "ADDRESS", value_parser = addresses(), required_unless_present = "withdrawal_key")]
    withdrawal_address: Option<Address>,

    /// Stake rewards as well, up to 2,048 ETH (EIP-7251)
    #[arg(long, requires = "withdrawal_address", conflicts_with = "withdrawal_key")]
    compounding: bool,

    /// Public key whose owner names an address later: 96 hexadecimal digits
    #[arg(long, value_name = "HEX", conflicts_with = "withdrawal_address")]
    withdrawal_key: Option<String>,

    /// The stake in ETH, on Gnosis in mGNO, of which 32 are one GNO
    #[arg(long, value_name = "ETH", default_value = "32", value_parser = gwei)]
    amount: u64,
}

/// An entry of the staking deposit tool's file.
#[derive(Serialize)]
struct Entry {
    pubkey: String,
    withdrawal_credentials: String,
    amount: u64,
    signature: String,
    deposit_message_root: String,
    deposit_data_root: String,
    fork_version: String,
    network_name: &'static str,
    deposit_cli_version: &'static str,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let network = self.operation.network;
        let withdrawal_credentials = match (self.withdrawal_address, &self.withdrawal_key) {
            (Some(address), _) => {
                let compounding = if self.compounding { Compounding::Yes } else { Compounding::No };
                credentials_of_address(compounding, &address.into_array())
            }
            (None, Some(text)) => {
                let bytes = from_hex(text).context("--withdrawal-key").map_err(Failure::usage)?;
                let key = PublicKey::<MinPk>::from_bytes(&bytes).context("--withdrawal-key").map_err(Failure::usage)?;
                credentials_of_key(&key.to_bytes())
            }
            (None, None) => return Err(Failure::internal(anyhow!("clap asks for one of the two"))),
        };
        let refuse = |why: String| Failure::usage(anyhow!(why));
        check_withdrawal_credentials(&withdrawal_credentials).map_err(refuse)?;
        check_amount(self.amount, Some(network.family)).map_err(refuse)?;

        let key = self.operation.unlock()?;
        let public_key = key.public_key().to_bytes();
        let message = DepositMessage { public_key, withdrawal_credentials, amount: self.amount };
        let version = network.genesis_fork_version();
        let signature = key.sign(MinPk::Eth2, &message.signing_root(version)).to_bytes();
        print::json(&[Entry {
            pubkey: const_hex::encode(public_key),
            withdrawal_credentials: const_hex::encode(withdrawal_credentials),
            amount: self.amount,
            signature: const_hex::encode(signature),
            deposit_message_root: const_hex::encode(message.root()),
            deposit_data_root: const_hex::encode(message.data_root(&signature)),
            fork_version: const_hex::encode(version),
            network_name: network.name(),
            deposit_cli_version: FORM_OF,
        }])?;
        Ok(Exit::Success)
    }
}

/// Reads a number of ETH: Gwei.
fn gwei(text: &str) -> std::result::Result<u64, String> {
    let amount = amount::parse(text, 9).map_err(|error| error.to_string())?;
    u64::try_from(amount).map_err(|_| AmountError::TooMuch(text.to_owned()).to_string())
}

/// Clap's own usage line does not fit.
const USAGE: &str = "\
quorate sign deposit [OPTIONS] --network <NAME> --key <FILE>
           <--withdrawal-address <ADDRESS>|--withdrawal-key <HEX>>";

const EXAMPLES: &str = "\
Examples:
  quorate sign deposit --network hoodi --key key.json \\
      --withdrawal-address 0x5FbDB2315678afecb367f032d93F642f64180aa3 \\
      > deposit_data-1.json
  quorate verify --network hoodi deposit_data-1.json";
