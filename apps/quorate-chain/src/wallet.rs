//! Sends transactions, one at a time, and waits for their receipts.

use std::{
    io::{self, Write as _},
    num::NonZeroU64,
    time::Duration,
};

use alloy::primitives::Address;
use anyhow::{Context as _, anyhow};
use clap::{Args, builder::TypedValueParser as _};
use indicatif::HumanCount;
use quorate_chain::{
    account::{Account, AccountError, AccountEvent, RECEIPT_PATIENCE, Transacted},
    fees::FeeLimits,
    revert,
    rpc::Rpc,
};
use quorate_evm::{Transaction, alloy_sol_types::SolEvent as _, contract::Hub};
use quorate_host::{
    exit::{Failure, Result, output},
    flag::{from_one, variable},
};

use crate::{payer::Payer, print::line};

/// What every command that sends takes.
#[derive(Debug, Args)]
pub(crate) struct Sending {
    /// The node: an HTTP or HTTPS URL of its JSON-RPC
    #[arg(long, value_name = "URL", env = variable("QUORATE_CHAIN_RPC"), hide_env_values = true)]
    pub(crate) rpc: String,

    #[command(flatten)]
    pub(crate) payer: Payer,

    #[command(flatten)]
    fees: FeeArguments,

    /// How long to wait for the receipt of a transaction, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = RECEIPT_PATIENCE.as_secs())]
    wait: u64,
}

/// The most that is paid for gas.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct FeeArguments {
    /// Send nothing if a unit of gas would cost more. Calls of `watch` offer at most eight ninths of it: the rest is for a transaction that
    /// takes the place of one that is given up
    #[arg(
        long,
        value_name = "GWEI",
        default_value_t = FeeLimits::default().max_fee_gwei,
        env = variable("QUORATE_CHAIN_MAX_FEE"),
        value_parser = from_one().map(NonZeroU64::get)
    )]
    max_fee: u64,

    /// The most that a unit of gas pays the block's proposer, whatever the node says. `watch` replaces a transaction that waits by one with
    /// higher fees, unless it pays nearly as much as this: nodes take that only if it pays the proposer a tenth more. `send` and `weigh`
    /// replace none
    #[arg(
        long,
        value_name = "GWEI",
        default_value_t = FeeLimits::default().max_tip_gwei,
        env = variable("QUORATE_CHAIN_MAX_TIP"),
        value_parser = from_one().map(NonZeroU64::get)
    )]
    max_tip: u64,
}

impl FeeArguments {
    pub(crate) fn limits(self) -> FeeLimits {
        FeeLimits { max_fee_gwei: self.max_fee, max_tip_gwei: self.max_tip }
    }
}

/// Why a transaction did not do what it should.
#[derive(Debug)]
pub(crate) struct SendFailure {
    /// The reason. It names the transaction, if one was sent or may have been.
    pub(crate) failure: Failure,
    /// Whether one was.
    pub(crate) may_be_sent: bool,
}

impl From<Failure> for SendFailure {
    fn from(failure: Failure) -> Self {
        Self { failure, may_be_sent: false }
    }
}

impl From<AccountError> for SendFailure {
    fn from(error: AccountError) -> Self {
        let may_be_sent = error.transaction().is_some();
        let failure = match error {
            AccountError::Reverted { .. } => Failure::refused(anyhow!("{error}; follow, and make it anew")),
            error => error.into(),
        };
        Self { failure, may_be_sent }
    }
}

/// The node at the URL that `--rpc` names. Nothing is asked yet.
pub(crate) fn node(url: &str) -> Result<Rpc> {
    Rpc::new(url).context("--rpc").map_err(Failure::usage)
}

/// The id of the node's chain: the first question.
pub(crate) async fn chain_of(node: &Rpc) -> Result<u64> {
    node.chain_id().await.context("check --rpc").map_err(Failure::io)
}

impl Sending {
    pub(crate) fn node(&self) -> Result<Rpc> {
        node(&self.rpc)
    }

    /// Refuses a node of another chain, and an address without a contract: a transaction to it would succeed and do nothing.
    pub(crate) async fn check(&self, node: &Rpc, chain_id: u64, contract: Address) -> Result<()> {
        let chain = chain_of(node).await?;
        if chain != chain_id {
            let error = anyhow!("the node is of chain {chain}, and the transaction for chain {chain_id}; check --rpc");
            return Err(Failure::usage(error));
        }
        if !node.code(contract).await.map_err(Failure::io)?.is_empty() {
            return Ok(());
        }
        Err(Failure::usage(anyhow!("there is no contract at {contract} on chain {chain}; check --rpc and the file")))
    }

    /// The account that pays, on a chain whose id was [checked](Self::check). It tells each transaction on standard output before it sends
    /// it. The passphrase may be asked for here.
    pub(crate) fn account(&self, node: &Rpc, chain_id: u64) -> Result<Account> {
        let account = Account::of_chain(node.clone(), self.payer.open()?, self.fees.limits(), chain_id);
        Ok(account.waiting(Duration::from_secs(self.wait)).telling(told))
    }
}

fn told(event: AccountEvent) -> io::Result<()> {
    match event {
        AccountEvent::Sending { transaction, .. } => writeln!(output(), "transaction  {transaction}"),
        _ => Ok(()),
    }
}

/// Sends a transaction and waits until it is mined. Prints its hash before it is sent, and its block and its gas after. A settlement that
/// a hub skipped did not settle, so it is a failure.
pub(crate) async fn send(account: &Account, call: &Transaction) -> std::result::Result<Transacted, SendFailure> {
    let sent = account.send_bytes("the transaction", call.to, call.calldata.clone(), &call.access_list).await?;
    let Transacted { receipt, .. } = &sent;
    let block = HumanCount(receipt.block_number.to());
    let printed = line(format!("block        {block}"))
        .and_then(|()| line(format!("gas used     {}", HumanCount(receipt.gas_used.to()))));
    printed.map_err(|failure| SendFailure { failure: of_mined(&sent, failure), may_be_sent: true })?;
    match skipped(call.to, &sent) {
        None => Ok(sent),
        Some(failure) => Err(SendFailure { failure, may_be_sent: true }),
    }
}

/// The failure of a transaction to a hub that skipped settlements. It names each with its reason.
fn skipped(hub: Address, sent: &Transacted) -> Option<Failure> {
    let of_hub = sent.receipt.logs.iter().filter(|log| log.address() == hub);
    let skipped = of_hub.filter_map(|log| Hub::Skipped::decode_log_data(log.data()).ok());
    let skipped = skipped.map(|Hub::Skipped { index, settlement, reason }| {
        // What a contract's error means ends with a full stop.
        let words = revert::words(&reason);
        format!("quorum {index} (from 0 on), of settlement {settlement}: {}", words.trim_end_matches('.'))
    });
    let skipped: Vec<_> = skipped.collect();
    if skipped.is_empty() {
        return None;
    }
    let transaction = sent.transaction;
    Some(Failure::refused(anyhow!(
        "transaction {transaction} is mined, and the hub skipped {} of its quorums, which did not settle: {}. Follow, and plan and \
         sign these anew",
        skipped.len(),
        skipped.join("; ")
    )))
}

/// The failure of a command that cannot print what became of a transaction. The user is told of it in any case.
pub(crate) fn of_mined(sent: &Transacted, failure: Failure) -> Failure {
    let Transacted { transaction, receipt, .. } = sent;
    let block = HumanCount(receipt.block_number.to());
    failure.context(format!("transaction {transaction} is in block {block}")).said()
}
