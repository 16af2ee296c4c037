//! `quorate evm hub`.

use std::{collections::BTreeSet, path::PathBuf};

use anyhow::anyhow;
use clap::Args;
use indicatif::HumanCount;
use quorate_evm::{
    KeyGroup,
    alloy_primitives::{Address, B256, Bytes},
    gas::{MOST_BYTES, Measured},
    hub::{self, Settling},
    transaction::{Sender, Transaction},
};
use quorate_host::{
    dash::{self, name_of},
    exit::{Exit, Failure, Result},
    file::LARGEST_DOCUMENT,
    text::json_reason,
};
use serde::Deserialize;

use super::{operator::addresses, plan::refuse_too_much};
use crate::commands::print;

/// Settle several plans in one call of a hub, which checks all signatures in one product of pairings
///
/// The settlements must have been deployed with this hub. The plans are settled in the order of the options. Plans of one
/// settlement follow each other: the second needs the network in which the first has settled. No command makes that file; a
/// program gets it from `Network::settled` of the library quorate-evm. A settlement that reverts, because somebody else settled
/// its next result, is skipped, and the others settle; `quorate-chain send` names those that were skipped.
///
/// Prints the transaction on one line, for `quorate-chain send --transactions`, and on standard error about how much gas it takes. Plans
/// that together take more than a transaction may have are refused. Anyone may send it.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The hub's address, 0x and 40 digits
    #[arg(long, value_name = "ADDRESS", value_parser = addresses())]
    hub: Address,

    /// A signed plan, from `quorate evm plan --signature … --json`; repeat the option for each; `-` is standard input
    #[arg(long, value_name = "FILE", required = true)]
    plan: Vec<PathBuf>,
}

/// What is read of a plan.
#[derive(Deserialize)]
struct Plan {
    key_group: KeyGroup,
    chain_id: u64,
    contract: Address,
    /// The state in which the call settles.
    state: B256,
    access_list: Vec<Address>,
    gas: Gas,
    calldata: Option<Bytes>,
}

/// What is read of a plan's gas.
#[derive(Deserialize)]
struct Gas {
    total: u64,
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// A file cannot be read, is not a signed plan, or is of another chain or key group than the first.
    pub(super) fn run(self) -> Result {
        let plans = self.plan.iter().map(|path| {
            let name = name_of(path);
            let text = dash::text(path, LARGEST_DOCUMENT)?;
            let plan: Plan = serde_json::from_str(&text).map_err(|error| {
                Failure::usage(anyhow!(json_reason(text.as_bytes(), &error)))
                    .context(format!("{name}: this is not what `quorate evm plan --json` prints"))
            })?;
            let unsigned = || Failure::usage(anyhow!("{name} has no signature: plan again with --signature"));
            let calldata = plan.calldata.as_ref().ok_or_else(unsigned)?;
            let settling = Settling::of_call(plan.key_group, plan.contract, calldata);
            let settling = settling.map_err(|error| Failure::usage(error).context(name.clone()))?;
            Ok((plan, settling, name))
        });
        let plans = plans.collect::<std::result::Result<Vec<_>, Failure>>()?;
        let (chain_id, key_group) = (plans[0].0.chain_id, plans[0].0.key_group);
        let mut states = BTreeSet::new();
        for (plan, _, name) in &plans {
            if (plan.chain_id, plan.key_group) != (chain_id, key_group) {
                return Err(Failure::usage(anyhow!(
                    "{name} is of chain {} and keys of {}, and the first plan of chain {chain_id} and keys of {key_group}; a hub \
                     is on one chain, for one kind of keys",
                    plan.chain_id,
                    plan.key_group
                )));
            }
            if !states.insert((plan.contract, plan.state)) {
                return Err(Failure::usage(anyhow!(
                    "{name} settles in the same state of {} as a plan before it, so the hub would skip it: name one of them",
                    plan.contract
                )));
            }
        }
        let settlements: BTreeSet<_> = plans.iter().map(|(plan, _, _)| plan.contract).collect();
        let pages: Vec<_> = plans.iter().flat_map(|(plan, _, _)| &plan.access_list).copied().collect();
        let settling: Vec<_> = plans.iter().map(|(_, settling, _)| settling.clone()).collect();
        let calldata = hub::call(&settling);
        let (quorums, bytes) = (settling.len(), calldata.len());
        if bytes as u64 > MOST_BYTES {
            return Err(Failure::usage(anyhow!(
                "the calldata for {quorums} quorums has {bytes} bytes, and nodes keep no transaction of more than 131,072: name fewer plans"
            )));
        }
        let totals: Vec<_> = plans.iter().map(|(plan, _, _)| plan.gas.total).collect();
        let total = Measured::default().hub(key_group, &totals);
        refuse_too_much(quorums, total).map_err(|failure| failure.context("name fewer plans"))?;
        print::note(format!("the transaction takes about {} gas", HumanCount(total)));
        print::json(&Transaction {
            about: format!("settle {quorums} quorums of {} settlements by a hub", settlements.len()),
            chain_id,
            to: self.hub,
            sender: Sender::Anyone,
            after_epoch: None,
            access_list: hub::access_list(&settling, &pages),
            calldata,
        })?;
        Ok(Exit::Success)
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate evm hub --hub 0x… --plan a.json --plan b.json > hub.jsonl
  quorate-chain send --transactions hub.jsonl --rpc https://… \\
      --key-file payer.json";
