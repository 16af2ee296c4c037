//! `quorate-node status`.

use std::time::Duration;

use clap::Args;
use quorate_evm::{
    address,
    alloy_primitives::Address,
    contract::{Erc20, TaskNetwork},
    digest::Contract,
};
use quorate_host::{
    exit::{Exit, Failure, Result},
    plain, utc,
};
use quorate_node::{
    board::{SeatWeight, old_head, problem_of_payer},
    runtime::now,
    tokens,
};
use quorate_signer_client::SignerClient;
use serde_json::Value;

use super::{NodeArguments, Pool, Token, check_signer, contract, payer, print, rpc, runtime, stake_of_seat, terms};

/// Show the operator, its signer, and the node if it runs here
///
/// Asks the contract for seat, stake and epoch, the signer for its record, and the node's HTTP interface for its readiness, its
/// peers and its tasks. The exit code is 1 if something is not as a working operator needs it; the last lines say what.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The operator [default: that of the signer, or the account of --key-file]
    #[arg(long, value_name = "ADDRESS", value_parser = address::parse)]
    operator: Option<Address>,

    #[command(flatten)]
    node: NodeArguments,
}

impl Arguments {
    pub(crate) fn run(self) -> Result {
        let options = self.node.options()?;
        let (rpc, contract) = (rpc(&options)?, contract(&options)?);
        runtime()?.block_on(async {
            let mut wrong = Vec::new();
            let terms = terms(&rpc, contract).await?;
            let newest = rpc.newest().await.map_err(Failure::io)?;
            print(format!("chain       {}, block {}, id {}", rpc.shown(), newest.number, terms.chain_id))?;
            let behind = old_head(newest.timestamp, terms.epoch_length, now());
            wrong.extend(behind.map(|why| format!("the chain is behind: {why}")));
            let epoch = terms.epoch_at(newest.timestamp);
            match epoch {
                Some(epoch) => print(format!("epoch       {epoch}, of {} s", terms.epoch_length))?,
                None => wrong.push(format!("epoch 0 begins {}", utc(terms.genesis))),
            }
            let token = Token::read(&rpc, terms.token).await?;
            let pool = Pool::read(&rpc, &terms).await?;
            print(format!("pool        {}", pool.words(&token)))?;
            wrong.extend(pool.problem(&token));

            let mut operator = self.operator;
            if let Some(socket) = &options.signer {
                match SignerClient::new(socket).status().await {
                    Ok(status) => {
                        operator = operator.or(Some(status.operator));
                        let tasks = status.tasks.map_or("unknown".to_owned(), |tasks| tasks.to_string());
                        print(format!("signer      {}, {tasks} tasks on record", socket.display()))?;
                        wrong.extend(check_signer(&status, &terms).err().map(|failure| failure.error.to_string()));
                        wrong.extend(status.obstacle().map(|why| format!("the signer signs no task: {why}")));
                    }
                    Err(error) => wrong.push(error.to_string()),
                }
            }
            if operator.is_none() && options.key_file.is_some() {
                operator = Some(payer(&options)?.address());
            }
            if let Some(operator) = operator {
                let seat = stake_of_seat(&rpc, contract, operator).await?;
                let waits = TaskNetwork::pendingOfCall { operator };
                let waits = rpc.read(contract, &waits, None).await.map_err(Failure::io)?;
                let tokens = Erc20::balanceOfCall { account: operator };
                let tokens = rpc.read(terms.token, &tokens, None).await.map_err(Failure::io)?;
                print(format!("operator    {operator}"))?;
                let stake = seat.unwrap_or_default();
                match terms.source {
                    None => print(format!("stake       {}, and {} outside", token.exact(stake), token.exact(tokens)))?,
                    Some(source) => {
                        let found = rpc.read(source, &TaskNetwork::stakeOfCall { operator }, None).await;
                        let weight = SeatWeight::of(&terms, stake, found.map_err(Failure::io)?);
                        let (on_seat, in_protocol) = (weight.on_seat, weight.in_protocol);
                        print(format!("weight      {on_seat} on the seat, and {in_protocol} by the stake in the protocol"))?;
                        wrong.extend(weight.problem().filter(|_| seat.is_some()));
                    }
                }
                if !waits.amount.is_zero() {
                    let from = utc(waits.payableAt.saturating_to());
                    print(format!("withdrawal  {} from {from} on", token.exact(waits.amount)))?;
                }
                if seat.is_none() {
                    wrong.push("the operator has no seat; `quorate-node register` gives it one".to_owned());
                } else {
                    let key =
                        rpc.read(contract, &TaskNetwork::keyOfCall { operator }, None).await.map_err(Failure::io)?;
                    print(format!("key         index {key}"))?;
                }
            }
            if options.aggregate == Some(true) && options.key_file.is_some() {
                let account = payer(&options)?.address();
                let wei = rpc.quantity("eth_getBalance", serde_json::json!([account, "latest"])).await;
                let wei = wei.map_err(Failure::io)?;
                print(format!("payer       {account}, {} ETH for gas", tokens::amount(wei, 18)))?;
                let price = rpc.quantity("eth_gasPrice", serde_json::json!([])).await.map_err(Failure::io)?;
                wrong.extend(problem_of_payer(account, wei, price).map(|why| format!("the payer {why}")));
            }
            let http = options.http.clone().unwrap_or_else(|| super::run::HTTP.to_owned());
            let network = Contract { chain_id: terms.chain_id, address: contract };
            let answer = if http.is_empty() { None } else { node(&http).await };
            let of_another = answer.as_ref().and_then(|status| other(status, network, operator));
            match (answer, of_another) {
                (None, _) if http.is_empty() => print("node        not asked: by --http it has no HTTP interface")?,
                (None, _) => wrong.push(format!("no node answers at http://{http}/; start it with `quorate-node run`")),
                (Some(_), Some(whose)) => wrong.push(format!(
                    "the node at http://{http}/ is that of {whose}; name the address of this operator's node with --http"
                )),
                (Some(status), None) => {
                    let number = |pointer: &str| status.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
                    print(format!(
                        "node        http://{http}/, {} peers, {} tasks open, {} approved, {} rejected",
                        number("/peers_in_all"),
                        number("/counts/open"),
                        number("/counts/approved"),
                        number("/counts/rejected"),
                    ))?;
                    let reasons = status.get("reasons").and_then(Value::as_array).into_iter().flatten();
                    wrong.extend(reasons.filter_map(Value::as_str).map(|reason| format!("the node: {reason}")));
                }
            }
            for problem in &wrong {
                // Some of it was said by the signer, the node and its programs.
                print(format!("problem     {}", plain(problem)))?;
            }
            Ok(if wrong.is_empty() { Exit::Success } else { Exit::Negative })
        })
    }
}

/// Whose node answers, if it is another one than that of this operator and this network. One that starts does not say yet.
fn other(status: &Value, network: Contract, operator: Option<Address>) -> Option<String> {
    let node = status.get("node")?;
    let account = |field: &str| serde_json::from_value::<Address>(node.get(field)?.clone()).ok();
    let (chain_id, contract) = (node.get("chain_id")?.as_u64()?, account("contract")?);
    if (Contract { chain_id, address: contract }) != network {
        return Some(format!("contract {contract} on chain {chain_id}"));
    }
    let found = account("operator")?;
    operator.filter(|expected| found != *expected).map(|_| format!("operator {found}"))
}

/// The status of the node at an address of this machine, if one answers.
async fn node(address: &str) -> Option<Value> {
    let client = reqwest::Client::builder().timeout(Duration::from_secs(3)).no_proxy().build().ok()?;
    let answer = client.get(format!("http://{address}/v1/status")).send().await.ok()?;
    let status: Value = serde_json::from_slice(&answer.bytes().await.ok()?).ok()?;
    // Another program may answer there.
    status.get("reasons")?.is_array().then_some(status)
}
