//! Questions to a node over HTTP (JSON-RPC), asked again if the node does not answer.
//!
//! A node may be slow, lie or hang. An answer has a time limit and a limit on its bytes, and every error names the node
//! without what may be a secret in its URL.

use std::{sync::Once, time::Duration};

use alloy::{
    primitives::{Address, B256, Bytes, U64, U256},
    rpc::types::{Filter, Log},
};
use quorate_evm::alloy_sol_types::SolCall;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::revert;

/// A node, by its URL. Clones share connections.
#[derive(Clone, Debug)]
pub struct Rpc {
    client: reqwest::Client,
    url: Url,
    /// The URL without what may be a secret: user, password, path and query.
    shown: String,
    limits: RpcLimits,
}

/// A URL that is not printed: it may hold a key of the node's provider.
#[derive(Clone)]
struct Url(reqwest::Url);

impl std::fmt::Debug for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

/// How long and how much a node may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "options with a default")]
pub struct RpcLimits {
    /// How long one answer may take.
    pub timeout: Duration,
    /// How often a question is asked in all, at least once.
    pub tries: u32,
    /// How long is waited after the first try; twice as long after each further one.
    pub first_wait: Duration,
    /// The most bytes of an answer.
    pub answer_bytes: usize,
}

impl Default for RpcLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            tries: 6,
            first_wait: Duration::from_millis(250),
            answer_bytes: 64 << 20,
        }
    }
}

/// The node gave no answer that can be used. Every message names the node.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RpcError {
    /// The URL is not one of a node.
    #[error("the URL of the node {why}; expected one such as http://localhost:8545")]
    Url {
        /// What is wrong with it.
        why: String,
    },
    /// The client of HTTP cannot be made, as without a source of random numbers.
    #[error("no connection can be made: {why}")]
    Client {
        /// Why not.
        why: String,
    },
    /// The node cannot be reached, or does not speak JSON-RPC.
    #[error("{node} does not answer {method}: {why}; check its URL, and whether the node runs")]
    Unreachable {
        /// The node.
        node: String,
        /// What was asked.
        method: &'static str,
        /// Why there is no answer.
        why: String,
    },
    /// The node answers with an error.
    #[error("{node} refuses {method}: {message}")]
    Refused {
        /// The node.
        node: String,
        /// What was asked.
        method: &'static str,
        /// The node's words.
        message: String,
        /// What a contract reverted with.
        data: Option<Bytes>,
    },
    /// The node's answer is not what the method answers.
    #[error("{node} answers {method} with something else than was asked for: {why}")]
    Answer {
        /// The node.
        node: String,
        /// What was asked.
        method: &'static str,
        /// What is wrong with the answer.
        why: String,
    },
}

/// A block by its number and hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::exhaustive_structs, reason = "what is read of a block")]
pub struct Block {
    /// Its number.
    #[serde(with = "quantity")]
    pub number: u64,
    /// Its hash.
    pub hash: B256,
    /// The hash of the block before it.
    pub parent_hash: B256,
    /// Its time in Unix time, in seconds.
    #[serde(with = "quantity")]
    pub timestamp: u64,
    /// The price of a unit of gas in it (EIP-1559), in wei; none on a chain without one.
    pub base_fee_per_gas: Option<U256>,
}

/// A receipt, as far as it is read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Receipt {
    /// One if the transaction did what it should, zero if it was reverted.
    pub status: U64,
    /// The gas that it used.
    pub gas_used: U64,
    /// The number of its block.
    pub block_number: U64,
    /// The hash of its block.
    pub block_hash: B256,
    /// What a unit of gas cost, in wei.
    #[serde(default)]
    pub effective_gas_price: U256,
    /// The contract that it created.
    #[serde(default)]
    pub contract_address: Option<Address>,
    /// Its logs.
    #[serde(default)]
    pub logs: Vec<Log>,
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
#[allow(clippy::exhaustive_enums, reason = "there is no third way")]
pub enum Patience {
    /// Once only.
    Once,
    /// Until there is an answer, or too often.
    Retry,
}

#[derive(Serialize)]
struct Question<'a> {
    jsonrpc: &'static str,
    id: u32,
    method: &'static str,
    params: &'a Value,
}

#[derive(Deserialize)]
struct Answered {
    #[serde(default)]
    result: Option<Value>,
    #[serde(default)]
    error: Option<Fault>,
}

#[derive(Deserialize)]
struct Fault {
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: Option<Value>,
}

impl Rpc {
    /// A node at a URL of `http` or `https`. Nothing is asked yet.
    ///
    /// # Errors
    /// [`RpcError::Url`], [`RpcError::Client`].
    pub fn new(url: &str) -> Result<Self, RpcError> {
        Self::with(url, RpcLimits::default())
    }

    /// [`new`](Self::new) with other limits.
    ///
    /// # Errors
    /// [`RpcError::Url`], [`RpcError::Client`].
    pub fn with(url: &str, limits: RpcLimits) -> Result<Self, RpcError> {
        static TLS: Once = Once::new();
        // Fails only if a provider is installed already.
        TLS.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
        let url: reqwest::Url = url.parse().map_err(|why| RpcError::Url { why: format!("is none: {why}") })?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(RpcError::Url { why: format!("has the scheme {}, expected http or https", url.scheme()) });
        }
        let shown = format!("the node at {}", url.host_str().unwrap_or_default());
        let shown = url.port().map_or(shown.clone(), |port| format!("{shown}:{port}"));
        let client = reqwest::Client::builder().timeout(limits.timeout).build();
        let client = client.map_err(|error| RpcError::Client { why: innermost(&error.without_url()) })?;
        Ok(Self { client, url: Url(url), shown, limits })
    }

    /// The node without what may be a secret in its URL, such as "the node at localhost:8545".
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Asks once.
    async fn ask_once<R: DeserializeOwned>(&self, method: &'static str, parameters: &Value) -> Result<R, RpcError> {
        let unreachable = |why| RpcError::Unreachable { node: self.shown.clone(), method, why };
        let wrong = |why| RpcError::Answer { node: self.shown.clone(), method, why };
        let question = Question { jsonrpc: "2.0", id: 1, method, params: parameters };
        let question = serde_json::to_vec(&question).map_err(|error| wrong(error.to_string()))?;
        let request = self.client.post(self.url.0.clone()).header("content-type", "application/json").body(question);
        // The text of an error may have the URL, with a key of the node's provider in it. That of its innermost cause
        // has not.
        let mut response = request.send().await.map_err(|error| unreachable(innermost(&error.without_url())))?;
        let status = response.status();
        if !status.is_success() {
            return Err(unreachable(format!("HTTP status {}", status.as_u16())));
        }
        let mut answer = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| unreachable(innermost(&error.without_url())))? {
            if answer.len() + chunk.len() > self.limits.answer_bytes {
                return Err(wrong(format!("the answer has more than {} bytes", self.limits.answer_bytes)));
            }
            answer.extend_from_slice(&chunk);
        }
        let answer: Answered = serde_json::from_slice(&answer).map_err(|error| wrong(error.to_string()))?;
        if let Some(Fault { message, data }) = answer.error {
            let data = if message.contains("revert") { data.as_ref().and_then(revert_data) } else { None };
            return Err(RpcError::Refused { node: self.shown.clone(), method, message, data });
        }
        serde_json::from_value(answer.result.unwrap_or(Value::Null)).map_err(|error| wrong(error.to_string()))
    }

    /// Asks until the node answers, or too often. An error that the node answers with is an answer.
    ///
    /// # Errors
    /// [`RpcError`].
    pub async fn ask<R: DeserializeOwned>(&self, method: &'static str, parameters: Value) -> Result<R, RpcError> {
        let mut wait = self.limits.first_wait;
        for _ in 1..self.limits.tries {
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
    ///
    /// # Errors
    /// [`RpcError`], as of all questions.
    pub async fn chain_id(&self) -> Result<u64, RpcError> {
        self.ask_once::<U64>("eth_chainId", &json!([])).await.map(|id| id.to())
    }

    /// The block with this number in hexadecimal, or with this tag, such as "latest"; `None` if there is none.
    ///
    /// # Errors
    /// [`RpcError`].
    pub async fn block(&self, number: &str) -> Result<Option<Block>, RpcError> {
        self.ask("eth_getBlockByNumber", json!([number, false])).await
    }

    /// The block with this number.
    ///
    /// # Errors
    /// [`RpcError`].
    pub async fn block_at(&self, number: u64) -> Result<Option<Block>, RpcError> {
        self.block(&format!("{number:#x}")).await
    }

    /// The newest block.
    ///
    /// # Errors
    /// [`RpcError`].
    pub async fn newest(&self) -> Result<Block, RpcError> {
        self.ask("eth_getBlockByNumber", json!(["latest", false])).await
    }

    /// The logs of a filter. With [`Patience::Once`] the caller may ask for fewer blocks then.
    ///
    /// # Errors
    /// [`RpcError`].
    pub async fn logs(&self, filter: &Filter, patience: Patience) -> Result<Vec<Log>, RpcError> {
        match patience {
            Patience::Once => self.ask_once("eth_getLogs", &json!([filter])).await,
            Patience::Retry => self.ask("eth_getLogs", json!([filter])).await,
        }
    }

    /// The calldata of a transaction; `None` if the node does not have it.
    ///
    /// # Errors
    /// [`RpcError`].
    pub async fn calldata(&self, transaction: B256) -> Result<Option<Bytes>, RpcError> {
        #[derive(Deserialize)]
        struct Transaction {
            input: Bytes,
        }
        let found: Option<Transaction> = self.ask("eth_getTransactionByHash", json!([transaction])).await?;
        Ok(found.map(|transaction| transaction.input))
    }

    /// The transactions of a block, in order: hash and calldata.
    ///
    /// # Errors
    /// [`RpcError`].
    pub async fn transactions_of(&self, block: u64) -> Result<Vec<(B256, Bytes)>, RpcError> {
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

    /// The receipt of a transaction; `None` if it is in no block.
    ///
    /// # Errors
    /// [`RpcError`].
    pub async fn receipt(&self, transaction: B256) -> Result<Option<Receipt>, RpcError> {
        self.ask("eth_getTransactionReceipt", json!([transaction])).await
    }

    /// Whether a transaction was mined and did not revert.
    ///
    /// # Errors
    /// [`RpcError`].
    pub async fn succeeded(&self, transaction: B256) -> Result<bool, RpcError> {
        Ok(self.receipt(transaction).await?.is_some_and(|receipt| !receipt.status.is_zero()))
    }

    /// The code of an account; empty if it has none.
    ///
    /// # Errors
    /// [`RpcError`].
    pub async fn code(&self, account: Address) -> Result<Bytes, RpcError> {
        self.ask("eth_getCode", json!([account, "latest"])).await
    }

    /// The answer of a contract, in the state after the block with this hash, or in the newest.
    ///
    /// # Errors
    /// [`RpcError`].
    pub async fn read<C: SolCall>(
        &self,
        contract: Address,
        call: &C,
        block: Option<B256>,
    ) -> Result<C::Return, RpcError> {
        let block = block.map_or_else(|| json!("latest"), |hash| json!({ "blockHash": hash }));
        let request = json!({ "to": contract, "data": Bytes::from(call.abi_encode()) });
        let answer: Bytes = self.ask("eth_call", json!([request, block])).await?;
        C::abi_decode_returns(&answer).map_err(|error| RpcError::Answer {
            node: self.shown.clone(),
            method: "eth_call",
            why: format!("{} at {contract}: {error}; is this the right address?", C::SIGNATURE),
        })
    }

    /// A quantity.
    ///
    /// # Errors
    /// [`RpcError`].
    pub async fn quantity(&self, method: &'static str, parameters: Value) -> Result<U256, RpcError> {
        self.ask(method, parameters).await
    }
}

impl RpcError {
    /// Whether the same question may be answered later.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Url { .. } | Self::Client { .. } | Self::Answer { .. } => false,
            Self::Refused { message, data, .. } => {
                let message = message.to_lowercase();
                data.is_none() && (message.contains("too many requests") || message.contains("rate limit"))
            }
        }
    }

    /// The contract's error in words, if the node answers with one.
    pub fn revert(&self) -> Option<String> {
        let Self::Refused { data: Some(data), .. } = self else { return None };
        Some(revert::words(data))
    }
}

/// What a contract reverted with. Some nodes put it into an object, or an object into that.
fn revert_data(data: &Value) -> Option<Bytes> {
    match data {
        Value::String(digits) => digits.parse().ok(),
        Value::Object(fields) => fields.values().find_map(revert_data),
        _ => None,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_checked_and_not_shown() {
        for wrong in ["localhost", "ws://localhost", ""] {
            assert!(matches!(Rpc::new(wrong), Err(RpcError::Url { .. })), "{wrong}");
        }
        let rpc = Rpc::new("https://user:secret@node.example:8443/key?token=1").unwrap();
        assert_eq!(rpc.shown(), "the node at node.example:8443");
        let debug = format!("{rpc:?}");
        assert!(!debug.contains("secret") && !debug.contains("/key") && !debug.contains("token"), "{debug}");
    }

    /// The forms in which nodes put it.
    #[test]
    fn revert_data_is_found() {
        let expected = Some(Bytes::from(vec![1, 2]));
        assert_eq!(revert_data(&json!("0x0102")), expected);
        assert_eq!(revert_data(&json!({ "data": "0x0102" })), expected);
        assert_eq!(revert_data(&json!({ "originalError": { "data": "0x0102" } })), expected);
        for none in [json!(null), json!("Reverted"), json!(7), json!({})] {
            assert_eq!(revert_data(&none), None, "{none}");
        }
    }
}
