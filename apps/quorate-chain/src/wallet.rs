//! Sends transactions, one at a time, and waits for their receipts.

use std::{
    fmt::Display,
    io::Write as _,
    num::NonZeroU64,
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
use clap::{Args, builder::TypedValueParser as _};
use indicatif::HumanCount;
use quorate_chain::{
    fees::{FeeError, FeeLimits},
    gas::{gas_limit, why_reverted},
    nonce::{NONCE_PATIENCE, NonceError, next_nonce},
    refusal::SendRefusal,
    rpc::{Rpc, RpcError, TransactionReceipt},
};
use quorate_evm::Transaction;
use quorate_host::{
    exit::{Failure, Result, output},
    flag::from_one,
};
use serde_json::json;
use tokio::{signal, time::sleep};

use crate::{payer::Payer, print::note};

/// What every command that sends takes.
#[derive(Debug, Args)]
pub(crate) struct Sending {
    /// The node: an HTTP or HTTPS URL of its JSON-RPC
    #[arg(long, value_name = "URL", env = "QUORATE_CHAIN_RPC", hide_env_values = true)]
    pub(crate) rpc: String,

    #[command(flatten)]
    pub(crate) payer: Payer,

    #[command(flatten)]
    fees: FeeArguments,

    /// How long to wait for the receipt of a transaction, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 180)]
    wait: u64,
}

/// The most that is paid for gas.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct FeeArguments {
    /// Send nothing if a unit of gas would cost more
    #[arg(
        long,
        value_name = "GWEI",
        default_value_t = FeeLimits::default().max_fee_gwei,
        env = "QUORATE_CHAIN_MAX_FEE",
        value_parser = from_one().map(NonZeroU64::get)
    )]
    max_fee: u64,

    /// The most that a unit of gas pays the block's proposer, whatever the node says. A transaction that pays nearly as much is not replaced
    /// by one with higher fees: nodes take that only if it pays the proposer a tenth more
    #[arg(
        long,
        value_name = "GWEI",
        default_value_t = FeeLimits::default().max_tip_gwei,
        env = "QUORATE_CHAIN_MAX_TIP",
        value_parser = from_one().map(NonZeroU64::get)
    )]
    max_tip: u64,
}

impl FeeArguments {
    pub(crate) fn limits(self) -> FeeLimits {
        FeeLimits { max_fee_gwei: self.max_fee, max_tip_gwei: self.max_tip }
    }
}

/// How often the receipt is asked for.
const POLL: Duration = Duration::from_millis(500);

/// Why a transaction was not mined, or not in time.
#[derive(Debug)]
pub(crate) struct SendFailure {
    /// The reason.
    pub(crate) failure: Failure,
    /// Whether it was sent all the same.
    pub(crate) sent: SentState,
}

/// Whether a transaction was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SentState {
    /// No node has it.
    Not,
    /// The node did not answer, and may have it.
    Maybe(B256),
    /// The node has it.
    Sent(B256),
}

impl SendFailure {
    /// The failure, with what is known of the transaction in front of its reason.
    pub(crate) fn told(self) -> Failure {
        match self.sent.words() {
            Some(words) => self.failure.context(words),
            None => self.failure,
        }
    }
}

impl SentState {
    /// What is known of a transaction whose sending failed; `None` if it was not sent.
    pub(crate) fn words(self) -> Option<String> {
        match self {
            Self::Not => None,
            Self::Maybe(hash) => Some(format!("transaction {hash} may have been sent")),
            Self::Sent(hash) => Some(format!("transaction {hash} was sent")),
        }
    }
}

impl From<Failure> for SendFailure {
    fn from(failure: Failure) -> Self {
        Self { failure, sent: SentState::Not }
    }
}

/// Gas of a transaction that was mined.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mined {
    pub(crate) used: u64,
    /// What the node estimated before.
    pub(crate) estimate: u64,
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

    /// Sends a transaction and waits until it is mined. Prints its hash before it is sent, and its block and its gas after.
    ///
    /// # Errors
    /// The contract would refuse it, it needs too much gas, it costs too much, the node does not answer, other transactions of the account wait, or it failed all
    /// the same.
    pub(crate) async fn send(
        &self,
        node: &Rpc,
        signer: &PrivateKeySigner,
        call: &Transaction,
    ) -> std::result::Result<Mined, SendFailure> {
        let from = signer.address();
        let item = |address: &Address| AccessListItem { address: *address, storage_keys: Vec::new() };
        let list = AccessList(call.access_list.iter().map(item).collect());
        let request = TransactionRequest::default()
            .with_from(from)
            .with_to(call.to)
            .with_input(call.calldata.clone())
            .with_access_list(list);
        let estimate = node.quantity("eth_estimateGas", json!([request])).await.map_err(refused)?;
        let limit = gas_limit(estimate).map_err(Failure::refused)?;
        let fees = self.fees.limits().offer(node).await.map_err(|error| match error {
            FeeError::Node(error) => Failure::io(error),
            error => Failure::refused(error),
        })?;
        let nonce = next_nonce(node, from, NONCE_PATIENCE).await.map_err(|error| match error {
            NonceError::Node(error) => Failure::io(error),
            error => Failure::refused(error),
        })?;
        let request = request
            .with_chain_id(call.chain_id)
            .with_nonce(nonce)
            .with_gas_limit(limit)
            .with_max_fee_per_gas(fees.max_fee)
            .with_max_priority_fee_per_gas(fees.tip);
        let transaction = request.build(&EthereumWallet::from(signer.clone())).await.map_err(Failure::internal)?;
        let hash = *transaction.tx_hash();
        // Before it is sent: what cannot be told is not sent.
        line(format!("transaction  {hash}"))?;
        let sent = node.ask::<B256>("eth_sendRawTransaction", json!([Bytes::from(transaction.encoded_2718())])).await;
        // If the node has seen it, an earlier try reached the node, though its answer did not reach us.
        if let Err(error) = sent
            && error.send_refusal() != Some(SendRefusal::Seen)
        {
            let sent = if error.may_have_taken() { SentState::Maybe(hash) } else { SentState::Not };
            return Err(SendFailure { failure: refused(error), sent });
        }
        let mined = self.mined(node, hash, estimate.saturating_to(), limit).await;
        mined.map_err(|failure| SendFailure { failure, sent: SentState::Sent(hash) })
    }

    /// Waits until a transaction that was sent is mined.
    async fn mined(&self, node: &Rpc, hash: B256, estimate: u64, limit: u64) -> Result<Mined> {
        let receipt = tokio::select! {
            receipt = self.receipt(node, hash) => receipt?,
            pressed = signal::ctrl_c() => {
                pressed.map_err(Failure::internal)?;
                note(format!("interrupted; transaction {hash} is sent and may still be mined"));
                return Err(Failure::interrupted());
            }
        };
        let used: u64 = receipt.gas_used.to();
        line(format!("block        {}", HumanCount(receipt.block_number.to())))?;
        line(format!("gas used     {}", HumanCount(used)))?;
        if receipt.status.is_zero() {
            let why = why_reverted(used, limit);
            return Err(Failure::refused(anyhow!("the transaction failed: {why}; follow, and make it anew")));
        }
        Ok(Mined { used, estimate })
    }

    async fn receipt(&self, node: &Rpc, hash: B256) -> Result<TransactionReceipt> {
        let begun = Instant::now();
        loop {
            if let Some(receipt) = node.receipt(hash).await.map_err(Failure::io)? {
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

/// A refusal by the contract, or a call that the EVM stops, is one of the chain; all else is the node's fault.
fn refused(error: RpcError) -> Failure {
    match (error.revert(), &error) {
        (Some(revert), _) => Failure::refused(anyhow!("the contract refuses the call, so it is not sent: {revert}")),
        (None, RpcError::Halted { .. }) => Failure::refused(error).context("the call fails, so it is not sent"),
        (None, _) => Failure::io(error),
    }
}

/// Prints one line of the result.
pub(crate) fn line(text: impl Display) -> Result<()> {
    writeln!(output(), "{text}").map_err(Failure::io)
}
