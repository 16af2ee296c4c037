//! `quorate evm epoch`.

use std::{fmt, path::PathBuf};

use anyhow::anyhow;
use clap::Args;
use indicatif::HumanCount;
use quorate_evm::{MemberSet, NextEpoch, WeightPart, alloy_primitives::Bytes, state::NEVER};
use quorate_host::{
    dash,
    exit::{Exit, Failure, Result},
    file::LARGEST_DOCUMENT,
    text::json_reason,
};
use serde::Serialize;

use super::{network_file::NetworkFile, signers::list_of};
use crate::commands::{
    print,
    unlock::name_of,
    value::{Value, parsed},
};

/// Make the transactions with which a settlement's registrar begins an epoch
///
/// An epoch fixes what each member weighs and what a quorum needs. The registrar sends begin, and before it prepare if
/// there are many members. Anyone sends enter afterwards. Between the two nothing settles. What was prepared and not begun
/// stands before the weights of begin, so send `quorate evm call discard` first if that ever happened.
///
/// With --transactions the output is one line for each, and the first one is discard, for `quorate-chain send`, which also
/// refuses them once the epoch was begun. If a result settles while they are sent, enter is refused: follow, and make it
/// anew by `quorate evm call enter`.
///
/// If the registrar is a timelock, schedule each of its calls (discard, prepare, begin) with the call before it as its
/// predecessor, and the first one with the last call that was scheduled before. In another order members get the weights of
/// others, and with a timelock that anyone executes, strangers choose the order.
///
/// A stake registrar begins epochs itself: `quorate-chain weigh`.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE)]
pub(super) struct Arguments {
    /// The contract's keys and bases as JSON, as `quorate evm plan --help` describes it; `-` is standard input
    #[arg(long, value_name = "FILE")]
    network: PathBuf,

    /// What the members weigh: a JSON list with a number below 2^64 for each index; `-` is standard input. Keys behind its end
    /// weigh nothing, and are named on standard error
    #[arg(long, value_name = "FILE")]
    weights: PathBuf,

    /// The weight that a quorum needs, below 2^88
    #[arg(long, value_name = "WEIGHT", conflicts_with = "more_than", required_unless_present = "more_than")]
    required: Option<u128>,

    /// Or: a quorum needs more than this part of all weight, at least 1/2, as 2/3
    #[arg(long, value_name = "PART", value_parser = Value::new(part))]
    more_than: Option<WeightPart>,

    /// Go on with the next key table, to which the keys were carried
    #[arg(long)]
    renew: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Print the transactions on one line each, for `quorate-chain send --transactions`
    #[arg(long, conflicts_with = "json")]
    transactions: bool,
}

/// Reads a part with which any two quorums share a signer.
fn part(text: &str) -> std::result::Result<WeightPart, String> {
    let part: WeightPart = parsed(text)?;
    if part.shares_a_signer() {
        return Ok(part);
    }
    Err("two quorums without a common signer could settle different results; expected at least 1/2, such as 2/3"
        .to_owned())
}

/// What is printed.
#[derive(Serialize)]
struct Report {
    chain_id: u64,
    /// Where the transactions go.
    to: String,
    epoch: u32,
    members: usize,
    total: String,
    required: String,
    /// Any so many members weigh what is required; none if no number of members is certain to.
    enough: Option<u32>,
    /// The calldata, in the order in which it is sent.
    prepare: Vec<Bytes>,
    begin: Bytes,
    enter: Bytes,
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// A file cannot be read or understood, or the weights make no epoch.
    pub(super) fn run(self) -> Result {
        let NetworkFile { network, .. } = NetworkFile::read(&self.network)?;
        let name = name_of(&self.weights);
        let text = dash::text(&self.weights, LARGEST_DOCUMENT)?;
        let weights: Vec<u64> = serde_json::from_str(&text).map_err(|error| {
            Failure::usage(anyhow!(json_reason(text.as_bytes(), &error)))
                .context(format!("{name}: expected a JSON list of numbers below 2^64"))
        })?;
        let total: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
        let required = match (self.required, self.more_than) {
            (Some(required), _) => required,
            (None, Some(part)) => part.exceeded_by(total),
            (None, None) => return Err(Failure::usage(anyhow!("name --required or --more-than"))),
        };
        let members = weights.len();
        let next = NextEpoch { weights, required, renew: self.renew };
        let calls = next.calls(&network).map_err(|error| Failure::usage(error).context(name))?;
        // The contract takes what its registrar asks for.
        if required.saturating_mul(2) <= total {
            print::note(format!(
                "warning: two quorums of {required} without a common signer could settle different results; more than half of \
                 {total} rules it out"
            ));
        }
        // The keys of the next table are not in the network, and the contract does not compare weights with keys.
        if self.renew {
            print::note(format!(
                "warning: the network's file does not tell how many keys were carried; check that they are at least {members}, the \
                 number of weights"
            ));
        } else if let keys @ 1.. = network.keys.len().saturating_sub(members) {
            let (all, without) = (network.keys.len(), (members..network.keys.len()).collect::<MemberSet>());
            let have = if keys == 1 { "has" } else { "have" };
            print::note(format!("warning: {keys} of {all} keys {have} no weight: {}", list_of(&without)));
        }
        if self.transactions {
            for transaction in calls.transactions(&network) {
                print::json(&transaction)?;
            }
            return Ok(Exit::Success);
        }
        let report = Report {
            chain_id: network.chain_id,
            to: network.contract.to_string(),
            epoch: calls.epoch,
            members,
            total: total.to_string(),
            required: required.to_string(),
            enough: (calls.enough != NEVER).then_some(calls.enough),
            prepare: calls.prepare,
            begin: calls.begin,
            enter: calls.enter,
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
        let Self { chain_id, to, epoch, members, total, required, enough, prepare, begin, enter } = self;
        writeln!(f, "contract   {to}, chain {chain_id}")?;
        writeln!(f, "epoch      {epoch}: {} members weigh {total}", HumanCount(*members as u64))?;
        writeln!(f, "required   {required}")?;
        match enough {
            Some(enough) => writeln!(f, "           any {enough} members weigh this")?,
            None => writeln!(f, "           no number of members is certain to weigh this")?,
        }
        for call in prepare {
            writeln!(f, "\nprepare, sent by the registrar\n{call}")?;
        }
        writeln!(f, "\nbegin, sent by the registrar\n{begin}")?;
        writeln!(f, "\nenter, sent by anyone, if nothing settled in the meantime\n{enter}")
    }
}

/// Clap's own usage line does not fit.
const USAGE: &str = "\
quorate evm epoch [OPTIONS] --network <FILE> --weights <FILE>
           <--required <WEIGHT>|--more-than <PART>>";

const EXAMPLES: &str = "\
Examples:
  quorate evm epoch --network network.json --weights weights.json \\
      --more-than 2/3 --transactions > epoch.jsonl
  quorate evm epoch --network network.json --weights weights.json \\
      --required 304000 --json";
