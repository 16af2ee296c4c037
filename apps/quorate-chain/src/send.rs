//! `quorate-chain send`.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use alloy::primitives::{Address, B256, Bytes};
use anyhow::{Context as _, anyhow};
use clap::{ArgGroup, Args};
use indicatif::HumanCount;
use quorate_chain::{
    account::{Account, Transacted},
    rpc::Rpc,
};
use quorate_evm::{
    Head, Network, Sender, Transaction,
    alloy_sol_types::{SolCall as _, SolEvent as _},
    contract::{Hub, HubSettlement, Settlement},
    gas::check_total,
    state::state as state_of,
};
use quorate_host::{
    dash::{self, name_of},
    exit::{Exit, Failure, Result},
    file,
    flag::variable,
    plain,
    text::json_reason,
};
use serde::Deserialize;
use tokio::runtime::Runtime;

use crate::{
    print::line,
    wallet::{SendFailure, Sending, of_mined, send},
};

/// Send transactions that `quorate evm` made, and wait for their receipts
///
/// --transactions takes the lines that `quorate evm register`, `epoch` and `call` print, and sends them in order. Before each
/// one the command compares the chain and the contract, asks the contract who may send it, and lets the node simulate the
/// call. If the contract would refuse the call, it says why in words and sends nothing more. If a hub skips a settlement, it
/// names it with the reason, sends nothing more, and the exit code is 1.
///
/// The transactions of an epoch, before `enter`, are sent from the first one on, which forgets what was prepared before: the contract does
/// not say what it has. The command compares the number of weights in each log with what it sent.
///
/// --plan takes the output of `quorate evm plan --json` with a signature. The command also compares the state in which the plan
/// settles with the network's file and with the contract.
///
/// The hash of a transaction is printed before it is sent. If the command fails after that, or Ctrl-C or SIGTERM ends it, it names the
/// transaction that may have been sent. The exit code is 1 if the contract's state does not allow a transaction, and 130 after Ctrl-C or
/// SIGTERM.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE, group = ArgGroup::new("what").required(true))]
pub(crate) struct Arguments {
    /// A file with one transaction a line, as JSON; `-` is standard input
    #[arg(long, value_name = "FILE", group = "what")]
    transactions: Option<PathBuf>,

    /// Begin with this line of the file; the lines before it were sent earlier. An epoch is begun with its first line, and nothing in
    /// between: what was prepared earlier may be lost, or would stand twice
    #[arg(long, value_name = "N", default_value_t = 1, requires = "transactions", conflicts_with = "plan", value_parser = clap::value_parser!(u64).range(1..))]
    from_line: u64,

    /// The plan of a settlement, as JSON; `-` is standard input
    #[arg(long, value_name = "FILE", group = "what")]
    plan: Option<PathBuf>,

    /// The network from which the plan was made; `-` is standard input
    #[arg(long, value_name = "FILE", default_value = "network.json", env = variable("QUORATE_CHAIN_NETWORK"))]
    network: PathBuf,

    #[command(flatten)]
    sending: Sending,
}

/// Clap's own usage line does not fit.
const USAGE: &str = "\
quorate-chain send [OPTIONS] --rpc <URL>
           <--transactions <FILE>|--plan <FILE>>";

const EXAMPLES: &str = "\
Examples:
  quorate evm epoch --network network.json --weights weights.json \\
      --more-than 2/3 --transactions > epoch.jsonl
  quorate-chain send --rpc http://localhost:8545 \\
      --transactions epoch.jsonl --key-file payer.json
  quorate evm plan --network network.json --signers 0-9 --result 0x… \\
      --signature 0x… --json > plan.json
  quorate-chain send --rpc http://localhost:8545 --network network.json \\
      --plan plan.json --key-file payer.json";

/// What is sent of a plan.
#[derive(Debug, Deserialize)]
struct Plan {
    chain_id: u64,
    contract: Address,
    /// The state in which the call settles.
    state: B256,
    access_list: Vec<Address>,
    gas: Gas,
    /// None in a plan without a signature.
    calldata: Option<Bytes>,
}

#[derive(Debug, Deserialize)]
struct Gas {
    total: u64,
}

impl Arguments {
    /// Runs the command.
    pub(crate) fn run(self, runtime: &Runtime) -> Result {
        let node = self.sending.node()?;
        match (&self.plan, &self.transactions) {
            (Some(path), _) => self.settle(runtime, &node, path),
            (None, Some(path)) => self.send_all(runtime, &node, path),
            (None, None) => Err(Failure::usage(anyhow!("name --transactions or --plan"))),
        }
    }

    fn settle(&self, runtime: &Runtime, node: &Rpc, path: &Path) -> Result {
        let text = dash::text(&self.network, file::LARGEST_DOCUMENT)?;
        let plan = dash::text(path, file::LARGEST_DOCUMENT)?;
        let network = Network::from_json(text.as_bytes());
        let network = network.with_context(|| name_of(&self.network)).map_err(Failure::usage)?;
        let plan: Plan = serde_json::from_str(&plan)
            .map_err(|error| anyhow!(json_reason(plan.as_bytes(), &error)))
            .with_context(|| format!("{}: this is not a plan; `quorate evm plan --json` prints it", name_of(path)))
            .map_err(Failure::usage)?;
        let call = self.check_plan(path, &network, &plan)?;
        runtime.block_on(async {
            self.sending.check(node, call.chain_id, call.to).await?;
            check_state(node, &plan).await
        })?;
        // The passphrase is asked for when everything else is right.
        let account = self.sending.account(node, call.chain_id)?;
        let sending = async { send(&account, &call).await.map_err(|failed| failed.failure) };
        let sent = runtime.block_on(account.until_interrupted(sending))?;
        let (planned, used) = (plan.gas.total, sent.receipt.gas_used.to());
        let estimate = sent.estimate;
        let printed = line(format!("planned      {}  ({:+.1} %)", HumanCount(planned), percent(planned, used)))
            .and_then(|()| {
                line(format!("estimated    {}  by the node ({:+.1} %)", HumanCount(estimate), percent(estimate, used)))
            });
        printed.map_err(|failure| of_mined(&sent, failure))?;
        Ok(Exit::Success)
    }

    /// The transaction of a plan that belongs to the network as it is.
    fn check_plan(&self, path: &Path, network: &Network, plan: &Plan) -> Result<Transaction> {
        let (name, of) = (name_of(path), name_of(&self.network));
        let state = network.state().with_context(|| of.clone()).map_err(Failure::usage)?;
        let Plan { chain_id, contract, .. } = *plan;
        if (chain_id, contract) != (network.chain_id, network.contract) {
            return Err(Failure::usage(anyhow!(
                "{name} is for {contract} on chain {chain_id}, {of} for {} on chain {}; plan with this network",
                network.contract,
                network.chain_id
            )));
        }
        if plan.state != state {
            return Err(Failure::refused(anyhow!("{of} moved since {name} was made; plan and sign again")));
        }
        // No node helps, so none is asked.
        check_total(plan.gas.total).with_context(|| name.clone()).map_err(Failure::usage)?;
        let calldata = plan.calldata.clone();
        let calldata =
            calldata.ok_or_else(|| Failure::usage(anyhow!("{name} has no calldata; plan with --signature")))?;
        Ok(Transaction {
            about: "settle".to_owned(),
            chain_id,
            to: contract,
            sender: Sender::Anyone,
            after_epoch: None,
            access_list: plan.access_list.clone(),
            calldata,
        })
    }

    fn send_all(&self, runtime: &Runtime, node: &Rpc, path: &Path) -> Result {
        let name = name_of(path);
        let all = transactions(path)?;
        let skipped = all.iter().take_while(|(number, _)| (*number as u64) < self.from_line).count();
        let left = &all[skipped..];
        let Some((_, first)) = left.first() else {
            return Err(Failure::usage(anyhow!("{name}: no transaction from line {} on", self.from_line)));
        };
        for (place, (number, call)) in left.iter().enumerate() {
            if call.after_epoch.is_some() && first_of_epoch(left, place).is_none() {
                let instead = first_of_epoch(&all, skipped + place).map_or_else(
                    || "make the file anew with `quorate evm epoch --transactions`".to_owned(),
                    |first| format!("pass --from-line {first}"),
                );
                return Err(Failure::usage(anyhow!(
                    "{name}, line {number}: an epoch is sent from its first line on, which forgets what was prepared before: parts of the \
                     weights may be lost, or would stand twice, and members would have the weights of others; {instead}"
                )));
            }
        }
        // What is wrong with the last one is better known before the first one is sent.
        for (number, call) in left {
            let checked = runtime.block_on(self.sending.check(node, call.chain_id, call.to));
            checked.map_err(|failure| failure.context(format!("{name}, line {number}")))?;
        }
        // All are of the node's chain.
        let account = self.sending.account(node, first.chain_id)?;
        for (number, call) in left {
            let checked = runtime.block_on(check_sender(node, call, &account));
            checked.map_err(|failure| failure.context(format!("{name}, line {number}: {}", plain(&call.about))))?;
        }
        let mut prepared = Prepared::default();
        let sending = async {
            for (place, (number, call)) in left.iter().enumerate() {
                let sent = async {
                    line(format!("line {number}       {}", plain(&call.about)))?;
                    check_epoch(node, call).await?;
                    check_hub(node, call).await?;
                    let sent = send(&account, call).await?;
                    prepared.compare(call, &sent).map_err(|failure| SendFailure { failure, may_be_sent: true })
                };
                sent.await.map_err(|SendFailure { failure, may_be_sent }| {
                    let before = match place {
                        _ if may_be_sent => None,
                        0 => Some("no line was sent".to_owned()),
                        _ => Some("the lines before it were sent".to_owned()),
                    };
                    // An epoch that has begun is not sent again.
                    let again = first_of_epoch(left, place).filter(|first| first != number && !prepared.has_begun);
                    let again = again.map(|first| format!("to go on, send the file from line {first}"));
                    let both: Vec<_> = before.into_iter().chain(again).collect();
                    let before = if both.is_empty() { String::new() } else { format!(" ({})", both.join("; ")) };
                    let failure = failure.context(format!("{name}, line {number}{before}"));
                    // Whoever reads no further must not send the lines before it again.
                    if place > 0 { failure.said() } else { failure }
                })?;
            }
            Ok::<_, Failure>(Exit::Success)
        };
        runtime.block_on(account.until_interrupted(sending))
    }
}

/// The transactions of a file, each with its line from 1 on.
fn transactions(path: &Path) -> Result<Vec<(usize, Transaction)>> {
    let name = name_of(path);
    let text = dash::text(path, file::LARGEST_DOCUMENT)?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let read = |(number, line)| {
        let call = serde_json::from_str(line).map_err(|error| anyhow!(json_reason(line.as_bytes(), &error)));
        let call = call.with_context(|| {
            format!("{name}, line {number}: this is not a transaction of `quorate evm … --transactions`")
        });
        call.map(|call| (number, call)).map_err(Failure::usage)
    };
    let all = lines.map(read).collect::<Result<Vec<_>>>()?;
    if all.is_empty() {
        return Err(Failure::usage(anyhow!("{name} has no transaction; nothing to send is not success")));
    }
    Ok(all)
}

/// Whether a transaction forgets what was prepared of the next epoch.
fn discards(call: &Transaction) -> bool {
    call.calldata[..] == Settlement::discardCall {}.abi_encode()[..]
}

/// The line from which on the epoch of a transaction is sent: the last one before it, or its own, that forgets what was prepared. `None` if
/// there is none, or the transaction prepares or begins no epoch.
fn first_of_epoch(all: &[(usize, Transaction)], place: usize) -> Option<usize> {
    let (_, call) = &all[place];
    call.after_epoch?;
    let epoch_of = |of: &Transaction| (of.chain_id, of.to, of.after_epoch);
    let mut of_it = all[..=place].iter().rev().filter(|(_, other)| epoch_of(other) == epoch_of(call));
    of_it.find(|(_, other)| discards(other)).map(|(number, _)| *number)
}

/// How many weights of the next epoch each settlement has, if nobody else prepares one.
#[derive(Debug, Default)]
struct Prepared {
    weights: BTreeMap<Address, u64>,
    /// Whether the transaction that was compared last began an epoch.
    has_begun: bool,
}

impl Prepared {
    /// Compares what was sent with the logs of a transaction that was mined. Somebody else with the same key may prepare an epoch, too.
    fn compare(&mut self, call: &Transaction, sent: &Transacted) -> Result<()> {
        self.has_begun = false;
        let weights = self.weights.entry(call.to).or_default();
        if discards(call) {
            *weights = 0;
        }
        if call.after_epoch.is_none() {
            return Ok(());
        }
        let transaction = sent.transaction;
        for log in sent.receipt.logs.iter().filter(|log| log.address() == call.to) {
            if let Ok(log) = Settlement::WeightsPrepared::decode_log_data(log.data()) {
                let (found, expected): (u64, u64) = (log.members.saturating_to(), *weights);
                if found != expected {
                    return Err(Failure::refused(anyhow!(
                        "before transaction {transaction} the settlement had {found} weights of the next epoch, and this file had \
                         prepared {expected}: somebody else prepares an epoch, too"
                    )));
                }
                *weights = found.saturating_add(log.length.saturating_to::<u64>() / 8);
            }
            if let Ok(log) = Settlement::EpochBegun::decode_log_data(log.data())
                && let Ok(begin) = Settlement::beginCall::abi_decode(&call.calldata)
            {
                self.has_begun = true;
                let head = Head::decode(log.terms);
                let (found, expected) = (u64::from(head.members), *weights + begin.weights.len() as u64 / 8);
                if found != expected {
                    return Err(Failure::refused(anyhow!(
                        "transaction {transaction} began epoch {} with {found} weights, and this file has {expected}: somebody else \
                         prepared an epoch, too, and members have the weights of others. Nothing settles until the epoch is entered; \
                         then begin another one at once",
                        head.epoch
                    )));
                }
            }
        }
        Ok(())
    }
}

/// Refuses a key whose account is not the one that has to send.
async fn check_sender(node: &Rpc, call: &Transaction, account: &Account) -> Result<()> {
    let (sender, who) = match call.sender {
        Sender::Anyone => return Ok(()),
        Sender::Account(owner) => (owner, "the owner of the key"),
        Sender::Registrar => {
            let registrar = node.read(call.to, &Settlement::registrarCall {}, None).await.map_err(Failure::io)?;
            (registrar, "the settlement's registrar")
        }
    };
    if sender == account.address() {
        return Ok(());
    }
    Err(Failure::usage(anyhow!(
        "{sender}, {who}, has to send this, and the key is that of {}. If the sender is a contract, let it make the call",
        account.address()
    )))
}

/// Refuses a transaction of an epoch that was begun in the meantime.
async fn check_epoch(node: &Rpc, call: &Transaction) -> Result<()> {
    let Some(after) = call.after_epoch else { return Ok(()) };
    let terms = node.read(call.to, &Settlement::termsCall {}, None).await.map_err(Failure::io)?;
    let epoch = Head::decode(terms).epoch;
    if epoch == after {
        return Ok(());
    }
    Err(Failure::refused(anyhow!(
        "the settlement's last epoch is {epoch}, and this is for a settlement whose last epoch is {after}: the next one was \
         begun already. If it waits to be entered, send what `quorate evm call enter` prints; otherwise follow, and make the \
         transactions of the next epoch"
    )))
}

/// Refuses a hub's call with a quorum that the hub is certain to skip, because its settlement is not in the state in which it settles.
async fn check_hub(node: &Rpc, call: &Transaction) -> Result<()> {
    let Ok(Hub::settleCall { all }) = Hub::settleCall::abi_decode_validate(&call.calldata) else { return Ok(()) };
    let mut seen = BTreeSet::new();
    for (index, one) in all.iter().enumerate() {
        let settlement = one.settlement;
        // A further quorum of a settlement settles in the state that the one before it leaves.
        if !seen.insert(settlement) {
            continue;
        }
        let Ok(settling) = HubSettlement::settleByHubCall::abi_decode_validate(&one.call) else { continue };
        let state = node.read(settlement, &Settlement::stateCall {}, None).await.map_err(Failure::io)?;
        if state != state_of(settling.head, settling.newest) {
            return Err(Failure::refused(anyhow!(
                "the hub would skip quorum {index} (from 0 on), of settlement {settlement}, whose state moved. Follow, and plan and sign it \
                 anew, or leave it out"
            )));
        }
    }
    Ok(())
}

/// Refuses a plan whose state is not the contract's.
async fn check_state(node: &Rpc, plan: &Plan) -> Result<()> {
    let state = node.read(plan.contract, &Settlement::stateCall {}, None).await.map_err(Failure::io)?;
    if state == plan.state {
        return Ok(());
    }
    Err(Failure::refused(anyhow!(
        "the contract's state moved: it is {state}, and the plan settles in {}. A result was settled, or an epoch was \
         begun; follow, plan and sign again",
        plan.state
    )))
}

/// How much more was expected than was used.
fn percent(expected: u64, used: u64) -> f64 {
    100.0 * (expected as f64 - used as f64) / used as f64
}

#[cfg(test)]
mod tests {
    use alloy::primitives::U256;
    use quorate_lab::proxy::Proxy;
    use serde_json::json;
    use tokio::runtime::Builder;

    use super::*;

    /// A result settled since it was planned. The others would settle, and this one would be paid for.
    #[test]
    fn a_quorum_that_a_hub_would_skip_is_not_sent() {
        let state = state_of(U256::from(7), B256::ZERO);
        let node = Proxy::alone(move |_, _| Ok(json!(state)));
        let quorum = |head: u64| {
            let (head, newest, results, quorum) = (U256::from(head), B256::ZERO, Vec::new(), Bytes::new());
            let call = HubSettlement::settleByHubCall { head, newest, deadline: 2, results, quorum };
            let (settlement, proof) = (Address::repeat_byte(3), Bytes::new());
            Hub::Settling { settlement, call: call.abi_encode().into(), proof }
        };
        let checked = |all: Vec<Hub::Settling>| {
            let call = Transaction {
                about: String::new(),
                chain_id: 1,
                to: Address::ZERO,
                sender: Sender::Anyone,
                after_epoch: None,
                access_list: Vec::new(),
                calldata: Hub::settleCall { all }.abi_encode().into(),
            };
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(check_hub(&Rpc::new(&node.url).unwrap(), &call))
        };
        assert!(checked(vec![quorum(7), quorum(8)]).is_ok());
        let failure = checked(vec![quorum(8)]).unwrap_err();
        assert_eq!(failure.exit, Exit::Negative);
        assert!(failure.error.to_string().contains("would skip quorum 0 (from 0 on)"), "{failure:?}");
    }
}
