//! `quorate-chain send`.

use std::{
    fmt::Display,
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use alloy::{
    eips::eip2718::Encodable2718 as _,
    network::{EthereumWallet, NetworkTransactionBuilder as _, TransactionBuilder as _},
    primitives::{Address, B256, Bytes},
    rpc::types::{AccessList, AccessListItem, TransactionRequest},
    signers::local::PrivateKeySigner,
};
use anyhow::{Context as _, anyhow};
use clap::Args;
use indicatif::HumanCount;
use quorate_evm::{Network, contract::SettlementBn254G2 as Settlement};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;
use tokio::{runtime::Runtime, signal, time::sleep};

use crate::{
    exit::{Exit, Failure, Result},
    node::{Node, NodeError, Receipt},
    payer::Payer,
    print::note,
};

/// Send the calldata of a plan, and wait for its receipt
///
/// The plan is the output of `quorate evm plan --json` with a signature. The command compares the state in which the plan
/// settles with the network file and with the contract, and asks the node what the transaction costs, before it signs. If the
/// contract's state moved, or the contract would refuse the call, it sends nothing, and the exit code is 1.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The node: an HTTP or HTTPS URL of its JSON-RPC
    #[arg(long, value_name = "URL", env = "QUORATE_CHAIN_RPC", hide_env_values = true)]
    rpc: String,

    /// The network from which the plan was made
    #[arg(long, value_name = "FILE", default_value = "network.json")]
    network: PathBuf,

    /// The plan, as JSON
    #[arg(long, value_name = "FILE")]
    plan: PathBuf,

    #[command(flatten)]
    payer: Payer,

    /// Send nothing if a unit of gas would cost more
    #[arg(long, value_name = "GWEI", default_value_t = 500)]
    max_fee: u64,

    /// How long to wait for the receipt, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 180)]
    wait: u64,
}

const EXAMPLES: &str = "\
Examples:
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

/// No transaction may use more gas (EIP-7825).
const MOST_GAS: u64 = 1 << 24;
/// How often the receipt is asked for.
const POLL: Duration = Duration::from_millis(500);

impl Arguments {
    /// Runs the command.
    pub(crate) fn run(self, runtime: &Runtime) -> Result {
        let node = Node::new(&self.rpc).map_err(Failure::usage)?;
        let network: Network = read(&self.network, "a network; `quorate-chain follow` writes it")?;
        let plan: Plan = read(&self.plan, "a plan; `quorate evm plan --json` prints it")?;
        let calldata = self.check(&network, &plan)?;
        runtime.block_on(check_node(&node, &plan))?;
        // The passphrase is asked for when everything else is right.
        let signer = self.payer.signer()?;
        runtime.block_on(self.send(&node, &plan, calldata, signer))
    }

    /// The calldata of a plan that belongs to the network as it is.
    fn check(&self, network: &Network, plan: &Plan) -> Result<Bytes> {
        let (name, of) = (self.plan.display(), self.network.display());
        let state = network.state().with_context(|| of.to_string()).map_err(Failure::usage)?;
        if (plan.chain_id, plan.contract) != (network.chain_id, network.contract) {
            let (contract, chain) = (plan.contract, plan.chain_id);
            return Err(Failure::usage(anyhow!(
                "{name} is for {contract} on chain {chain}, {of} for {} on chain {}; plan with this network",
                network.contract,
                network.chain_id
            )));
        }
        if plan.state != state {
            return Err(Failure::refused(anyhow!("{of} moved since {name} was made; plan and sign again")));
        }
        let calldata = plan.calldata.clone();
        calldata.ok_or_else(|| Failure::usage(anyhow!("{name} has no calldata; plan with --signature")))
    }

    async fn send(&self, node: &Node, plan: &Plan, calldata: Bytes, signer: PrivateKeySigner) -> Result {
        let from = signer.address();
        let item = |address: &Address| AccessListItem { address: *address, storage_keys: Vec::new() };
        let list = AccessList(plan.access_list.iter().map(item).collect());
        let request = TransactionRequest::default()
            .with_from(from)
            .with_to(plan.contract)
            .with_input(calldata)
            .with_access_list(list);
        let estimate = node.quantity("eth_estimateGas", json!([request])).await.map_err(refused)?;
        let estimate = u64::try_from(estimate).unwrap_or(u64::MAX);
        let (fee, tip) = self.fees(node).await?;
        let nonce = node.quantity("eth_getTransactionCount", json!([from, "pending"])).await.map_err(Failure::io)?;
        // A tenth more than estimated: the call's gas depends on the state, which is compared, and on the block's number of
        // warm accounts, which is not.
        let limit = MOST_GAS.min(estimate.saturating_add(estimate / 10));
        let request = request
            .with_chain_id(plan.chain_id)
            .with_nonce(nonce.saturating_to())
            .with_gas_limit(limit)
            .with_max_fee_per_gas(fee)
            .with_max_priority_fee_per_gas(tip);
        let transaction = request.build(&EthereumWallet::from(signer)).await.map_err(Failure::internal)?;
        let hash = *transaction.tx_hash();
        let sent = node.ask::<B256>("eth_sendRawTransaction", json!([Bytes::from(transaction.encoded_2718())])).await;
        match sent {
            // An earlier try reached the node, though its answer did not reach us.
            Err(NodeError::Refused { message, .. }) if message.contains("already known") => {}
            sent => drop(sent.map_err(refused)?),
        }
        line(format!("transaction  {hash}"))?;
        let receipt = tokio::select! {
            receipt = self.receipt(node, hash) => receipt?,
            pressed = signal::ctrl_c() => {
                pressed.map_err(Failure::internal)?;
                note("interrupted; the transaction is sent and may still be mined");
                return Err(Failure::interrupted());
            }
        };
        let used: u64 = receipt.gas_used.to();
        line(format!("block        {}", HumanCount(receipt.block_number.to())))?;
        line(format!("gas used     {}", HumanCount(used)))?;
        line(format!("planned      {}  ({:+.1} %)", HumanCount(plan.gas.total), percent(plan.gas.total, used)))?;
        line(format!("estimated    {}  by the node ({:+.1} %)", HumanCount(estimate), percent(estimate, used)))?;
        if receipt.status.is_zero() {
            return Err(Failure::refused(anyhow!(
                "the transaction failed: another one changed the contract's state first; follow, plan and sign again"
            )));
        }
        Ok(Exit::Success)
    }

    /// The most that a unit of gas costs, and the tip in it: twice the base fee of the newest block, so that the transaction
    /// is not left behind if the next six blocks are full.
    async fn fees(&self, node: &Node) -> Result<(u128, u128)> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Fees {
            base_fee_per_gas: Option<alloy::primitives::U256>,
        }
        let block: Fees = node.ask("eth_getBlockByNumber", json!(["latest", false])).await.map_err(Failure::io)?;
        let base = block.base_fee_per_gas.ok_or_else(|| {
            Failure::refused(anyhow!("the chain has no base fee (EIP-1559); send the calldata with another wallet"))
        })?;
        let tip = node.quantity("eth_maxPriorityFeePerGas", json!([])).await.map_err(Failure::io)?;
        let (base, tip): (u128, u128) = (base.saturating_to(), tip.saturating_to());
        let (fee, most) = (base.saturating_mul(2).saturating_add(tip), u128::from(self.max_fee) * GWEI);
        let now = base.saturating_add(tip);
        if now > most {
            let error =
                anyhow!("a unit of gas costs {} gwei, more than --max-fee {}", now.div_ceil(GWEI), self.max_fee);
            return Err(Failure::refused(error));
        }
        Ok((fee.min(most), tip))
    }

    async fn receipt(&self, node: &Node, hash: B256) -> Result<Receipt> {
        let begun = Instant::now();
        loop {
            let receipt: Option<Receipt> =
                node.ask("eth_getTransactionReceipt", json!([hash])).await.map_err(Failure::io)?;
            if let Some(receipt) = receipt {
                return Ok(receipt);
            }
            if begun.elapsed() > Duration::from_secs(self.wait) {
                return Err(Failure::io(anyhow!(
                    "there is no receipt after {} s; the transaction is sent and may still be mined",
                    self.wait
                )));
            }
            sleep(POLL).await;
        }
    }
}

const GWEI: u128 = 1_000_000_000;

/// Refuses a node of another chain, and a state that moved.
async fn check_node(node: &Node, plan: &Plan) -> Result<()> {
    let chain = node.chain_id().await.map_err(Failure::io)?;
    if chain != plan.chain_id {
        let error = anyhow!("the node is of chain {chain}, and the plan for chain {}; check --rpc", plan.chain_id);
        return Err(Failure::usage(error));
    }
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

/// A refusal by the contract is one of the chain; all else is the node's fault.
fn refused(error: NodeError) -> Failure {
    match error.revert() {
        Some(revert) => Failure::refused(anyhow!("the contract refuses the call: {revert}; nothing was sent")),
        None => Failure::io(error),
    }
}

fn read<T: DeserializeOwned>(path: &Path, what: &str) -> Result<T> {
    let name = path.display();
    let text = fs::read(path).with_context(|| format!("cannot read {name}")).map_err(Failure::io)?;
    serde_json::from_slice(&text).with_context(|| format!("{name}: this is not {what}")).map_err(Failure::usage)
}

/// Prints one line of the result.
fn line(text: impl Display) -> Result<()> {
    writeln!(io::stdout().lock(), "{text}").map_err(Failure::io)
}

/// How much more was expected than was used.
fn percent(expected: u64, used: u64) -> f64 {
    100.0 * (expected as f64 - used as f64) / used as f64
}
