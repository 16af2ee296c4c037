//! `quorate evm register`.

use std::fmt;

use clap::Args;
use quorate_evm::{
    KeyGroup,
    alloy_primitives::{Address, B256, Bytes, U256},
    digest::Contract,
};
use serde::Serialize;

use super::operator::{OperatorArguments, addresses};
use crate::{
    commands::{print, value::Value},
    exit::{Exit, Result},
};

/// Prove possession of an operator's key and make the calldata that registers it
///
/// The proof is a signature over the key, its owner, the chain and the contract, which no result and no task has. A
/// settlement's registrar sends register(address,bytes,bytes) to the settlement. With --task-network, the owner sends
/// register(bytes,bytes,uint256) to the network, and --contract is the network's verifier, which checks the proof.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE)]
pub(super) struct Arguments {
    #[command(flatten)]
    operator: OperatorArguments,

    /// Address of the settlement, or of the verifier of a task network
    #[arg(long, value_name = "ADDRESS", value_parser = addresses())]
    contract: Address,

    /// The chain's id (EIP-155)
    #[arg(long, value_name = "ID")]
    chain: u64,

    /// Address for which the key is registered: of a settlement's member, or of the operator who sends the transaction
    #[arg(long, value_name = "ADDRESS", value_parser = addresses())]
    owner: Address,

    /// Register with the task network at this address
    #[arg(long, value_name = "ADDRESS", requires = "stake", value_parser = addresses())]
    task_network: Option<Address>,

    /// Stake for the task network, in the token's smallest unit; the network must be allowed to take it
    #[arg(long, value_name = "AMOUNT", requires = "task_network", value_parser = Value::new(amount))]
    stake: Option<U256>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
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
        let operator = self.operator.unlock()?;
        let verifier = Contract { chain_id: self.chain, address: self.contract };
        let registration = operator.registration(verifier, self.owner);
        let (call, calldata) = match self.stake {
            None => ("register(address,bytes,bytes)", registration.settlement_call()),
            Some(stake) => ("register(bytes,bytes,uint256)", registration.network_call(stake)),
        };
        let report = Report {
            key_group: operator.key_group(),
            chain_id: self.chain,
            to: self.task_network.unwrap_or(self.contract).to_string(),
            contract: self.contract.to_string(),
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
        match stake {
            None => writeln!(f, "           {call}, sent by the registrar")?,
            Some(stake) => {
                writeln!(f, "           {call}, sent by the owner")?;
                writeln!(f, "verifier   {contract}")?;
                writeln!(f, "stake      {stake}")?;
            }
        }
        writeln!(f, "owner      {owner}")?;
        writeln!(f, "digest     {digest}")?;
        writeln!(f, "\nkey, {key_group}\n{key}")?;
        writeln!(f, "\nproof of possession\n{proof}")?;
        writeln!(f, "\ncalldata\n{calldata}")
    }
}

/// Reads an amount of tokens: decimal digits.
fn amount(text: &str) -> std::result::Result<U256, String> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let read = digits.then(|| U256::from_str_radix(text, 10).ok()).flatten();
    read.ok_or_else(|| "expected decimal digits, below 2^256".to_owned())
}

/// Clap's own usage line does not fit.
const USAGE: &str = "\
quorate evm register [OPTIONS] --key-group <NAME> --key <FILE>
           --contract <ADDRESS> --chain <ID> --owner <ADDRESS>
           [--task-network <ADDRESS> --stake <AMOUNT>]";

const EXAMPLES: &str = "\
Examples:
  quorate evm register --key-group bls12381-g2 --key operator.json \\
      --contract 0x… --chain 1 --owner 0x…
  quorate evm register --key-group bn254-g2 --key operator.json \\
      --contract 0x… --chain 1 --owner 0x… \\
      --task-network 0x… --stake 1000000000000000000000 --json";
