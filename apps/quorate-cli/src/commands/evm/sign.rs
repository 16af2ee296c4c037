//! `quorate evm sign`.

use clap::Args;
use quorate_evm::alloy_primitives::{Address, B256};

use super::{
    operator::{OperatorArguments, addresses},
    signature_line::{Parts, SignatureLine},
    store::StoreIn,
};
use crate::{
    commands::print,
    exit::{Exit, Result},
};

/// Sign the results that a quorum settles together
///
/// Computes the digest from the contract and the results, and prints both on standard error before it asks for a passphrase
/// and signs. It signs no digest that it did not compute. All operators pass the same values, since one digest covers them
/// all. Prints one JSON object on one line. Append the lines of several operators to one file, and give it to `quorate evm
/// aggregate`.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE)]
pub(super) struct Arguments {
    #[command(flatten)]
    operator: OperatorArguments,

    /// The index of the operator's key in the contract, from the event KeyAdded. Without it, `quorate evm aggregate` looks for
    /// the key
    #[arg(long, value_name = "N")]
    index: Option<usize>,

    /// Address of the settlement
    #[arg(long, value_name = "ADDRESS", value_parser = addresses())]
    contract: Address,

    /// The chain's id (EIP-155)
    #[arg(long, value_name = "ID")]
    chain: u64,

    /// The epoch
    #[arg(long, value_name = "N")]
    epoch: u32,

    /// The number of the first result: how many results were settled before
    #[arg(long, value_name = "N")]
    nonce: u64,

    /// The last second at which the results can be settled, in Unix time
    #[arg(long, value_name = "SECONDS")]
    deadline: u64,

    /// Where the contract stores the quorum as a base: `0` as the newest base, another slot that is not pinned, `rental` to let
    /// the contract decide, or `none`
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
        let parts = Parts {
            chain_id: self.chain,
            contract: self.contract,
            epoch: self.epoch,
            nonce: self.nonce,
            deadline: self.deadline,
            store: self.store,
            results: self.results,
        };
        print::note("what is signed:");
        parts.lines().for_each(print::note);
        let operator = self.operator.unlock()?;
        print::json(&SignatureLine::sign(&operator, self.index, parts))?;
        Ok(Exit::Success)
    }
}

/// Clap's own usage line does not fit.
const USAGE: &str = "\
quorate evm sign [OPTIONS] --key-group <NAME> --key <FILE>
           --contract <ADDRESS> --chain <ID> --epoch <N> --nonce <N>
           --deadline <SECONDS> --result <HEX>...";

const EXAMPLES: &str = "\
Examples:
  quorate evm sign --key-group bn254-g2 --key operator.json --index 3 \\
      --contract 0x… --chain 1 --epoch 3 --nonce 17 \\
      --deadline 1800000000 --result 0x… >> signed.jsonl
  quorate evm sign --key-group bls12381-g2 --key operator.json \\
      --contract 0x… --chain 1 --epoch 3 --nonce 17 \\
      --deadline 1800000000 --store 0 --result 0x… --result 0x…";
