//! Questions to a node over HTTP, asked again if the node does not answer.

use std::{sync::Once, time::Duration};

use alloy::{
    primitives::{Address, B256, Bytes, U64, U256},
    providers::{Provider as _, ProviderBuilder, RootProvider},
    rpc::types::{Filter, Log},
    transports::{RpcError, TransportErrorKind},
};
use quorate_evm::alloy_sol_types::SolCall;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::revert;

/// A node, by its URL.
#[derive(Clone)]
pub(crate) struct Node {
    provider: RootProvider,
    /// The URL without what may be a secret: user, password, path and query.
    shown: String,
}

/// The node gave no answer that can be used. Every message names the node.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NodeError {
    /// The node cannot be reached, or does not speak JSON-RPC.
    #[error("{node} does not answer {method}: {why}; check --rpc, and whether the node runs")]
    Unreachable { node: String, method: &'static str, why: String },
    /// The node answers with an error.
    #[error("{node} refuses {method}: {message}")]
    Refused { node: String, method: &'static str, message: String, data: Option<Bytes> },
    /// The node's answer is not what the method answers.
    #[error("{node} answers {method} with something else than was asked for: {why}")]
    Answer { node: String, method: &'static str, why: String },
}

/// A block by its number and hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Block {
    #[serde(with = "quantity")]
    pub(crate) number: u64,
    pub(crate) hash: B256,
}

/// A receipt, as far as it is shown.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Receipt {
    pub(crate) status: U64,
    pub(crate) gas_used: U64,
    pub(crate) block_number: U64,
}

mod quantity {
    use alloy::primitives::U64;
    use serde::{Deserialize as _, Deserializer};

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        U64::deserialize(deserializer).map(|number| number.to())
    }
}

/// Whether a question is asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    Once,
    Retry,
}

/// How often a question is asked, and how long is waited after the first time; twice as long after each further time.
const TRIES: u32 = 6;
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(30);

impl Node {
    /// A node at a URL of `http` or `https`. Nothing is asked yet.
    ///
    /// # Errors
    /// The URL is not one.
    pub(crate) fn new(url: &str) -> anyhow::Result<Self> {
        static TLS: Once = Once::new();
        // Fails only if a provider is installed already.
        TLS.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
        let url: reqwest::Url = url.parse().map_err(|why| anyhow::anyhow!("--rpc is not a URL: {why}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            anyhow::bail!("--rpc has the scheme {}, expected http or https", url.scheme());
        }
        let shown = format!("the node at {}", url.host_str().unwrap_or_default());
        let shown = url.port().map_or(shown.clone(), |port| format!("{shown}:{port}"));
        let client = reqwest::Client::builder().timeout(TIMEOUT).build()?;
        let provider = ProviderBuilder::new().disable_recommended_fillers().connect_reqwest(client, url);
        Ok(Self { provider, shown })
    }

    /// Asks once.
    async fn ask_once<R: DeserializeOwned>(&self, method: &'static str, parameters: &Value) -> Result<R, NodeError> {
        let node = self.shown.clone();
        let answer = self.provider.raw_request::<_, Value>(method.into(), parameters.clone()).await;
        let answer = match answer {
            Ok(answer) => answer,
            Err(RpcError::NullResp) => Value::Null,
            Err(RpcError::ErrorResp(error)) => {
                let data = error.as_revert_data();
                return Err(NodeError::Refused { node, method, message: error.message.to_string(), data });
            }
            Err(RpcError::DeserError { err, .. }) => {
                return Err(NodeError::Answer { node, method, why: err.to_string() });
            }
            Err(RpcError::Transport(TransportErrorKind::HttpError(error))) => {
                return Err(NodeError::Unreachable { node, method, why: format!("HTTP status {}", error.status) });
            }
            // The text of other errors may have the URL, with a key of the node's provider in it.
            Err(RpcError::Transport(TransportErrorKind::Custom(error))) => {
                return Err(NodeError::Unreachable { node, method, why: innermost(&*error) });
            }
            Err(_) => return Err(NodeError::Unreachable { node, method, why: "no answer".to_owned() }),
        };
        serde_json::from_value(answer).map_err(|error| NodeError::Answer { node, method, why: error.to_string() })
    }

    /// Asks until the node answers, or too often. An error that the node answers with is an answer.
    pub(crate) async fn ask<R: DeserializeOwned>(
        &self,
        method: &'static str,
        parameters: Value,
    ) -> Result<R, NodeError> {
        let mut wait = FIRST_WAIT;
        for _ in 1..TRIES {
            match self.ask_once(method, &parameters).await {
                Err(error) if error.may_pass() => {}
                answer => return answer,
            }
            sleep(wait).await;
            wait *= 2;
        }
        self.ask_once(method, &parameters).await
    }

    /// The chain's id. Asked once, so that a wrong URL is known at once.
    pub(crate) async fn chain_id(&self) -> Result<u64, NodeError> {
        self.ask_once::<U64>("eth_chainId", &json!([])).await.map(|id| id.to())
    }

    /// The block with this number or tag; `None` if there is none.
    pub(crate) async fn block(&self, number: &str) -> Result<Option<Block>, NodeError> {
        self.ask("eth_getBlockByNumber", json!([number, false])).await
    }

    /// The block with this number.
    pub(crate) async fn block_at(&self, number: u64) -> Result<Option<Block>, NodeError> {
        self.block(&format!("{number:#x}")).await
    }

    /// The time of the newest block, in Unix time.
    pub(crate) async fn time(&self) -> Result<u64, NodeError> {
        #[derive(Deserialize)]
        struct Timed {
            #[serde(with = "quantity")]
            timestamp: u64,
        }
        self.ask::<Timed>("eth_getBlockByNumber", json!(["latest", false])).await.map(|block| block.timestamp)
    }

    /// The logs of a filter. `Patience::Once` asks once: the caller asks for fewer blocks then.
    pub(crate) async fn logs(&self, filter: &Filter, patience: Patience) -> Result<Vec<Log>, NodeError> {
        match patience {
            Patience::Once => self.ask_once("eth_getLogs", &json!([filter])).await,
            Patience::Retry => self.ask("eth_getLogs", json!([filter])).await,
        }
    }

    /// The calldata of a transaction; `None` if the node does not have it.
    pub(crate) async fn calldata(&self, transaction: B256) -> Result<Option<Bytes>, NodeError> {
        #[derive(Deserialize)]
        struct Transaction {
            input: Bytes,
        }
        let found: Option<Transaction> = self.ask("eth_getTransactionByHash", json!([transaction])).await?;
        Ok(found.map(|transaction| transaction.input))
    }

    /// The transactions of a block, in order: hash and calldata.
    pub(crate) async fn transactions_of(&self, block: u64) -> Result<Vec<(B256, Bytes)>, NodeError> {
        #[derive(Deserialize)]
        struct Transaction {
            hash: B256,
            input: Bytes,
        }
        #[derive(Deserialize)]
        struct Full {
            transactions: Vec<Transaction>,
        }
        let found: Option<Full> = self.ask("eth_getBlockByNumber", json!([format!("{block:#x}"), true])).await?;
        let transactions = found.map(|block| block.transactions).unwrap_or_default();
        Ok(transactions.into_iter().map(|transaction| (transaction.hash, transaction.input)).collect())
    }

    /// Whether a transaction was mined and did not revert.
    pub(crate) async fn succeeded(&self, transaction: B256) -> Result<bool, NodeError> {
        let receipt: Option<Receipt> = self.ask("eth_getTransactionReceipt", json!([transaction])).await?;
        Ok(receipt.is_some_and(|receipt| !receipt.status.is_zero()))
    }

    /// The code of an account; empty if it has none.
    pub(crate) async fn code(&self, account: Address) -> Result<Bytes, NodeError> {
        self.ask("eth_getCode", json!([account, "latest"])).await
    }

    /// The answer of a contract, in the state after a block, or in the newest.
    pub(crate) async fn read<C: SolCall>(
        &self,
        contract: Address,
        call: &C,
        block: Option<Block>,
    ) -> Result<C::Return, NodeError> {
        let block = block.map_or_else(|| json!("latest"), |block| json!({ "blockHash": block.hash }));
        let request = json!({ "to": contract, "data": Bytes::from(call.abi_encode()) });
        let answer: Bytes = self.ask("eth_call", json!([request, block])).await?;
        C::abi_decode_returns(&answer).map_err(|error| NodeError::Answer {
            node: self.shown.clone(),
            method: "eth_call",
            why: format!("{} at {contract}: {error}; is this the right address?", C::SIGNATURE),
        })
    }

    /// A quantity.
    pub(crate) async fn quantity(&self, method: &'static str, parameters: Value) -> Result<U256, NodeError> {
        self.ask(method, parameters).await
    }
}

impl NodeError {
    /// Whether the same question may be answered later.
    fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Answer { .. } => false,
            Self::Refused { message, data, .. } => {
                let message = message.to_lowercase();
                data.is_none() && (message.contains("too many requests") || message.contains("rate limit"))
            }
        }
    }

    /// The contract's error in words, if the node answers with one.
    pub(crate) fn revert(&self) -> Option<String> {
        let Self::Refused { data: Some(data), .. } = self else { return None };
        Some(revert::words(data))
    }
}

/// The text of the innermost cause, which names no URL.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
