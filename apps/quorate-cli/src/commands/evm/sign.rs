//! `quorate evm sign`.

use anyhow::anyhow;
use clap::Args;
use quorate_evm::{alloy_primitives::B256, digest::Contract, gas::MOST_RESULTS};
use quorate_host::{
    exit::{Exit, Failure, Result},
    unix_seconds,
};

use super::{
    network_file::SettlementArguments,
    operator::OperatorArguments,
    signature_line::{Parts, SignatureLine, is_of_member},
    store::StoreIn,
};
use crate::commands::print;

/// Sign the results that a quorum settles together
///
/// Computes the digest from the contract and the results, and prints both on standard error before it asks for a passphrase
/// and signs. It signs no digest that it did not compute. All operators pass the same values, since one digest covers them
/// all. --network takes contract, chain, epoch and number from a file that `quorate-chain follow` keeps. Prints one JSON
/// object on one line. Append the lines of several operators to one file, and give it to `quorate evm
/// aggregate`.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE)]
pub(super) struct Arguments {
    #[command(flatten)]
    operator: OperatorArguments,

    /// The index of the operator's key in the contract, from the event KeyAdded. It is compared with --network. Without it,
    /// `quorate evm aggregate` looks for the key
    #[arg(long, value_name = "N")]
    index: Option<usize>,

    #[command(flatten)]
    settlement: SettlementArguments,

    /// The epoch. With --network, it is that of the network, unless it is named
    #[arg(long, value_name = "N", required_unless_present = "network")]
    epoch: Option<u32>,

    /// The number of the first result: how many results were settled before. With --network, it is that of the network,
    /// unless it is named
    #[arg(long, value_name = "N", required_unless_present = "network")]
    nonce: Option<u64>,

    /// The last second at which the results can be settled, in Unix time
    #[arg(long, value_name = "SECONDS")]
    deadline: u64,

    /// Where the contract stores the quorum as a base: `0` as the newest base, another slot that is not pinned, `rental` to let
    /// the contract decide, or `none`. The slots from 1 to the contract's pinnedSlots() are pinned, which is not checked here: the
    /// contract refuses them
    #[arg(long, value_name = "SLOT", default_value = "none")]
    store: StoreIn,

    /// A result, 32 bytes; repeat the option for further results, in order
    #[arg(long = "result", value_name = "HEX", required = true)]
    results: Vec<B256>,
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The command line or the key file is wrong, or reading or writing fails.
    pub(super) fn run(self) -> Result {
        let network = self.settlement.network(self.operator.key_group())?;
        let Contract { chain_id, address } = match &network {
            Some(network) => Contract { chain_id: network.chain_id, address: network.contract },
            None => self.settlement.contract(self.operator.key_group())?,
        };
        let (epoch, nonce) =
            (network.as_ref().map(|network| network.epoch), network.as_ref().map(|network| network.nonce));
        let (Some(epoch), Some(nonce)) = (self.epoch.or(epoch), self.nonce.or(nonce)) else {
            return Err(Failure::usage(anyhow!("name --network, or --epoch and --nonce")));
        };
        if epoch == 0 {
            return Err(Failure::usage(anyhow!("epoch: found 0; no result settles before the first epoch is entered")));
        }
        if self.results.len() > MOST_RESULTS {
            return Err(Failure::usage(anyhow!(
                "--result: found {} results, and no transaction holds more than {MOST_RESULTS}: nodes keep none of more than 131,072 \
                 bytes; sign fewer at once",
                self.results.len()
            )));
        }
        let parts = Parts {
            chain_id,
            contract: address,
            epoch,
            nonce,
            deadline: self.deadline,
            store: self.store,
            results: self.results,
        };
        print::note("what is signed:");
        parts.lines().for_each(print::note);
        if self.deadline.saturating_sub(unix_seconds()) > A_HUNDRED_YEARS {
            print::note("the deadline is more than 100 years away: it is in seconds, not in milliseconds");
        }
        let operator = self.operator.unlock()?;
        if let (Some(network), Some(index)) = (&network, self.index) {
            is_of_member(&operator.member(), index, network)
                .map_err(|why| Failure::usage(anyhow!("--index {index}: {why}")))?;
        }
        print::json(&SignatureLine::sign(&operator, self.index, parts))?;
        Ok(Exit::Success)
    }
}

/// In seconds. A deadline that is farther away was meant in milliseconds, or to be none.
const A_HUNDRED_YEARS: u64 = 100 * 365 * 24 * 60 * 60;

/// Clap's own usage line does not fit.
const USAGE: &str = "\
quorate evm sign [OPTIONS] --key-group <NAME> --key <FILE>
           <--network <FILE>|--contract <ADDRESS> --chain <ID>
           --epoch <N> --nonce <N>> --deadline <SECONDS> --result <HEX>...";

const EXAMPLES: &str = "\
Examples:
  quorate evm sign --key-group bn254-g2 --key operator.json \\
      --network network.json --deadline 1800000000 --result 0x… \\
      >> signed.jsonl
  quorate evm sign --key-group bn254-g2 --key operator.json --index 3 \\
      --contract 0x… --chain 1 --epoch 3 --nonce 17 \\
      --deadline 1800000000 --result 0x… >> signed.jsonl
  quorate evm sign --key-group bls12381-g2 --key operator.json \\
      --contract 0x… --chain 1 --epoch 3 --nonce 17 \\
      --deadline 1800000000 --store 0 --result 0x… --result 0x…";
