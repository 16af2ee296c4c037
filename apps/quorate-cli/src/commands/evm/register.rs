//! `quorate evm register`.

use std::fmt;

use clap::Args;
use quorate_evm::{
    KeyGroup, Sender, StakeEntry, Transaction,
    alloy_primitives::{Address, B256, Bytes, U256},
    amount::{self, AmountError},
};
use quorate_host::exit::{Exit, Result};
use serde::Serialize;

use super::{
    network_file::SettlementArguments,
    operator::{OperatorArguments, addresses},
};
use crate::commands::{print, value::Value};

/// Prove possession of an operator's key and make the transaction that registers it
///
/// The proof is a signature over the key, its owner, the chain and the contract, which no result and no task has. A
/// settlement's registrar sends register(address,bytes,bytes) to the settlement. With --stake-registrar, the owner sends
/// register(bytes,bytes) to that registrar, which reads the owner's stake. With --task-network, the owner sends
/// register(bytes,bytes,uint256) to the network, and --contract is the network's verifier, which checks the proof.
///
/// With --transactions the output is one line for `quorate-chain send`. Append the lines of several operators to one file.
/// Keys get their indices in the order in which they are registered. If the registrar is a timelock, schedule each call with
/// the one before it as its predecessor, so that the order is yours.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE)]
pub(super) struct Arguments {
    #[command(flatten)]
    operator: OperatorArguments,

    #[command(flatten)]
    settlement: SettlementArguments,

    /// Address for which the key is registered: of a settlement's member, or of the operator who sends the transaction
    #[arg(long, value_name = "ADDRESS", value_parser = addresses())]
    owner: Address,

    /// Register with the stake registrar at this address, which is the settlement's registrar
    #[arg(long, value_name = "ADDRESS", conflicts_with = "task_network", value_parser = addresses())]
    stake_registrar: Option<Address>,

    /// Replace the owner's key at the stake registrar
    #[arg(long, requires = "stake_registrar", conflicts_with_all = ["task_network", "stake"])]
    rotate: bool,

    /// Register with the task network at this address
    #[arg(long, value_name = "ADDRESS", requires = "stake", value_parser = addresses())]
    task_network: Option<Address>,

    /// Stake for the task network, in the token's smallest unit; the network must be allowed to take it
    #[arg(long, value_name = "AMOUNT", requires = "task_network", conflicts_with = "stake_registrar", value_parser = Value::new(units))]
    stake: Option<U256>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Print the transaction on one line, for `quorate-chain send --transactions`
    #[arg(long, conflicts_with = "json")]
    transactions: bool,
}

/// What is printed.
#[derive(Serialize)]
struct Report {
    key_group: KeyGroup,
    chain_id: u64,
    /// Where the transaction goes.
    to: String,
    /// The contract that checks the proof.
    contract: String,
    owner: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    stake: Option<String>,
    key: Bytes,
    /// What the proof signs.
    digest: B256,
    proof: Bytes,
    /// The function that is called.
    call: &'static str,
    calldata: Bytes,
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The command line or the key file is wrong, or reading or writing fails.
    pub(super) fn run(self) -> Result {
        let verifier = self.settlement.contract(self.operator.key_group())?;
        let operator = self.operator.unlock()?;
        let registration = operator.registration(verifier, self.owner);
        let (to, sender, call, calldata) = match (self.stake_registrar, self.task_network, self.stake) {
            (Some(registrar), ..) if self.rotate => (
                registrar,
                Sender::Account(self.owner),
                "rotate(bytes,bytes)",
                registration.stake_call(StakeEntry::Rotate),
            ),
            (Some(registrar), ..) => {
                let calldata = registration.stake_call(StakeEntry::Register);
                (registrar, Sender::Account(self.owner), "register(bytes,bytes)", calldata)
            }
            (None, Some(network), Some(stake)) => {
                let calldata = registration.network_call(stake);
                (network, Sender::Account(self.owner), "register(bytes,bytes,uint256)", calldata)
            }
            _ => {
                let calldata = registration.settlement_call();
                (verifier.address, Sender::Registrar, "register(address,bytes,bytes)", calldata)
            }
        };
        if self.transactions {
            let (group, owner) = (operator.key_group(), self.owner);
            let about = if self.rotate {
                format!("replace the key of {owner} by another key of {group}")
            } else {
                format!("register a key of {group} for {owner}")
            };
            let (chain_id, access_list) = (verifier.chain_id, Vec::new());
            print::json(&Transaction { about, chain_id, to, sender, after_epoch: None, access_list, calldata })?;
            return Ok(Exit::Success);
        }
        let report = Report {
            key_group: operator.key_group(),
            chain_id: verifier.chain_id,
            to: to.to_string(),
            contract: verifier.address.to_string(),
            owner: self.owner.to_string(),
            stake: self.stake.map(|stake| stake.to_string()),
            key: registration.key,
            digest: registration.digest,
            proof: registration.proof,
            call,
            calldata,
        };
        if self.json {
            print::json(&report)?;
        } else {
            print::all(report.to_string().as_bytes())?;
        }
        Ok(Exit::Success)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key_group, chain_id, to, contract, owner, stake, key, digest, proof, call, calldata } = self;
        writeln!(f, "chain      {chain_id}")?;
        writeln!(f, "to         {to}")?;
        if to == contract {
            writeln!(f, "           {call}, sent by the registrar")?;
        } else {
            writeln!(f, "           {call}, sent by the owner")?;
            writeln!(f, "verifier   {contract}")?;
        }
        if let Some(stake) = stake {
            writeln!(f, "stake      {stake}")?;
        }
        writeln!(f, "owner      {owner}")?;
        writeln!(f, "digest     {digest}")?;
        writeln!(f, "\nkey, {key_group}\n{key}")?;
        writeln!(f, "\nproof of possession\n{proof}")?;
        writeln!(f, "\ncalldata\n{calldata}")
    }
}

/// Reads an amount in the smallest unit of a token.
fn units(text: &str) -> std::result::Result<U256, String> {
    // Whoever writes a point means whole tokens.
    let read = if text.contains('.') {
        Err(AmountError::TooFine { found: text.to_owned(), decimals: 0 })
    } else {
        amount::parse(text, 0)
    };
    read.map_err(|error| format!("{error}; expected a whole number of the token's smallest unit"))
}

/// Clap's own usage line does not fit.
const USAGE: &str = "\
quorate evm register [OPTIONS] --key-group <NAME> --key <FILE>
           <--network <FILE>|--contract <ADDRESS> --chain <ID>>
           --owner <ADDRESS> [--stake-registrar <ADDRESS>]
           [--task-network <ADDRESS> --stake <AMOUNT>]";

const EXAMPLES: &str = "\
Examples:
  quorate evm register --key-group bn254-g2 --key operator.json \\
      --network network.json --owner 0x… --transactions >> register.jsonl
  quorate evm register --key-group bls12381-g2 --key operator.json \\
      --contract 0x… --chain 1 --owner 0x…
  quorate evm register --key-group bn254-g2 --key operator.json \\
      --contract 0x… --chain 1 --owner 0x… \\
      --task-network 0x… --stake 1000000000000000000000 --json";
