//! Questions to a node over HTTP (JSON-RPC), asked again if the node does not answer.
//!
//! A node may be slow, lie or hang. An answer has a time limit and a limit on its bytes, and every error names the node
//! without what may be a secret in its URL.

use std::{
    sync::{
        Arc, Once,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use alloy::{
    primitives::{Address, B256, Bytes, U64, U256},
    rpc::types::{Filter, Log},
};
use quorate_evm::alloy_sol_types::SolCall;
use quorate_host::{clipped, exit::innermost};
use reqwest::{StatusCode, redirect};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    halt::EvmHalt,
    refusal::SendRefusal,
    revert::{self, RevertData},
};

/// How many questions of one kind a node is asked at a time, where there are many.
pub const AT_A_TIME: usize = 8;

/// A node, by its URL. Clones share connections and counts.
#[derive(Clone, Debug)]
pub struct Rpc {
    client: reqwest::Client,
    url: Url,
    /// The URL without what may be a secret: user, password, path and query.
    shown: String,
    limits: RpcLimits,
    tally: Arc<Tally>,
}

/// What a node was asked, and how often it failed, since [`Rpc::new`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RpcCounts {
    /// Questions, each as often as it was asked.
    pub questions: u64,
    /// Questions that were asked again.
    pub retries: u64,
    /// Times that the node could not be reached: [`RpcError::Unreachable`].
    pub unreachable: u64,
    /// Times that it answered with an error: [`RpcError::Refused`], [`RpcError::Halted`].
    pub refused: u64,
    /// Times that it answered something else than was asked for: [`RpcError::Answer`], [`RpcError::TooLong`].
    pub misread: u64,
}

#[derive(Debug, Default)]
struct Tally {
    questions: AtomicU64,
    retries: AtomicU64,
    unreachable: AtomicU64,
    refused: AtomicU64,
    misread: AtomicU64,
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
pub struct RpcLimits {
    /// How long one answer may take.
    pub timeout: Duration,
    /// How often a question is asked in all, at least once.
    pub tries: u32,
    /// How long is waited after the first try; twice as long after each further one.
    pub first_wait: Duration,
    /// The most bytes of any answer. Most kinds have a smaller limit: a number 16 KiB, what is not of logs 4 MiB, and the logs of several
    /// blocks 32 MiB. Those of one block may have 128 MiB, because nobody can ask for less than a block: whoever posts to a settlement
    /// fills blocks of 150 million gas with more than 32 MiB, and blocks of 590 million gas with more than 128 MiB.
    pub answer_bytes: usize,
}

impl Default for RpcLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            tries: 6,
            first_wait: Duration::from_millis(250),
            answer_bytes: 128 << 20,
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
    /// The node cannot be reached, or does not speak JSON-RPC. An error of JSON-RPC under an HTTP status of 4xx is [`Self::Refused`].
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
    /// The EVM stopped a call, and no contract reverted it.
    #[error("{node} says of {method}: {message}; {halt}")]
    Halted {
        /// The node.
        node: String,
        /// What was asked.
        method: &'static str,
        /// The node's words.
        message: String,
        /// What they mean.
        halt: EvmHalt,
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
    /// The node's answer is longer than answers of its kind may be.
    #[error(
        "{node} answers {method} with something else than was asked for: the answer has more than {most} bytes; if another node answers \
         so, too, this is what its chain has, and asking again does not help"
    )]
    TooLong {
        /// The node.
        node: String,
        /// What was asked.
        method: &'static str,
        /// The most bytes that the answer may have.
        most: usize,
    },
    /// The contract's answer is not one of the function that was called.
    #[error(
        "{node} answers eth_call with something else than was asked for: {call} at {contract}: {why}; is this the right \
         address?"
    )]
    Undecodable {
        /// The node.
        node: String,
        /// The contract.
        contract: Address,
        /// The function.
        call: &'static str,
        /// What is wrong with the answer.
        why: String,
    },
}

/// A block by its number and hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RpcBlock {
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
pub struct TransactionReceipt {
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
pub enum RpcPatience {
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

/// An answer, read into the type that is wanted: a tree of JSON takes up to twenty times the memory of its text.
#[derive(Deserialize)]
#[serde(bound = "R: DeserializeOwned")]
struct Answered<R> {
    #[serde(default = "none")]
    result: Option<R>,
    #[serde(default)]
    error: Option<Fault>,
}

fn none<R>() -> Option<R> {
    None
}

#[derive(Deserialize)]
struct Fault {
    #[serde(default)]
    message: String,
    #[serde(default)]
    data: RevertData,
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
        let url: reqwest::Url = url.parse().map_err(|why| RpcError::Url { why: format!("does not parse: {why}") })?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(RpcError::Url { why: format!("has the scheme {}, expected http or https", url.scheme()) });
        }
        let shown = format!("the node at {}", url.host_str().unwrap_or_default());
        let shown = url.port().map_or(shown.clone(), |port| format!("{shown}:{port}"));
        let client = reqwest::Client::builder()
            .timeout(limits.timeout)
            // The URL, in which a provider's key may stand, goes to this node and nowhere else, whatever the environment or an answer
            // says.
            .redirect(redirect::Policy::none())
            .no_proxy()
            .build();
        let client = client.map_err(|error| RpcError::Client { why: innermost(&error.without_url()) })?;
        Ok(Self { client, url: Url(url), shown, limits, tally: Arc::default() })
    }

    /// The node without what may be a secret in its URL, such as "the node at localhost:8545".
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// What the node was asked so far.
    pub fn counts(&self) -> RpcCounts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let Tally { questions, retries, unreachable, refused, misread } = &*self.tally;
        RpcCounts {
            questions: read(questions),
            retries: read(retries),
            unreachable: read(unreachable),
            refused: read(refused),
            misread: read(misread),
        }
    }

    /// Asks once, and counts.
    async fn ask_once<R: DeserializeOwned>(&self, method: &'static str, parameters: &Value) -> Result<R, RpcError> {
        let count = |count: &AtomicU64| count.fetch_add(1, Ordering::Relaxed);
        count(&self.tally.questions);
        let answer = self.post(method, parameters).await;
        match &answer {
            Ok(_) | Err(RpcError::Url { .. } | RpcError::Client { .. }) => 0,
            Err(RpcError::Unreachable { .. }) => count(&self.tally.unreachable),
            Err(RpcError::Refused { .. } | RpcError::Halted { .. }) => count(&self.tally.refused),
            Err(RpcError::Answer { .. } | RpcError::TooLong { .. } | RpcError::Undecodable { .. }) => {
                count(&self.tally.misread)
            }
        };
        answer
    }

    async fn post<R: DeserializeOwned>(&self, method: &'static str, parameters: &Value) -> Result<R, RpcError> {
        let unreachable = |why| RpcError::Unreachable { node: self.shown.clone(), method, why };
        let wrong = |why| RpcError::Answer { node: self.shown.clone(), method, why };
        let question = Question { jsonrpc: "2.0", id: 1, method, params: parameters };
        let question = serde_json::to_vec(&question).map_err(|error| wrong(error.to_string()))?;
        let request = self.client.post(self.url.0.clone()).header("content-type", "application/json").body(question);
        // The text of an error may have the URL, with a key of the node's provider in it. That of its innermost cause
        // has not.
        let mut response = request.send().await.map_err(|error| unreachable(innermost(&error.without_url())))?;
        let status = response.status();
        let failed = || unreachable(format!("HTTP status {}", status.as_u16()));
        if !may_have_words(status) {
            return Err(failed());
        }
        let most = self.limits.answer_bytes.min(most_bytes(method, parameters));
        let mut answer = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| unreachable(innermost(&error.without_url())))? {
            if answer.len() + chunk.len() > most {
                let too_long = || RpcError::TooLong { node: self.shown.clone(), method, most };
                return Err(if status.is_success() { too_long() } else { failed() });
            }
            answer.extend_from_slice(&chunk);
        }
        // The text of an error may hold what the node wrote.
        let misread = |error: serde_json::Error| wrong(words_of_node(&error.to_string()));
        let answer = match serde_json::from_slice::<Answered<R>>(&answer) {
            // The words are those of a gateway, if there are any.
            Ok(Answered { error: None, .. }) | Err(_) if !status.is_success() => return Err(failed()),
            answer => answer.map_err(misread)?,
        };
        if let Some(Fault { message, data: RevertData(data) }) = answer.error {
            let data = data.filter(|_| message.contains("revert"));
            let halt = EvmHalt::of_words(&message).filter(|_| data.is_none() && runs_code(method));
            let (node, message) = (self.shown.clone(), words_of_node(&message));
            return Err(match halt {
                Some(halt) => RpcError::Halted { node, method, message, halt },
                None => RpcError::Refused { node, method, message, data },
            });
        }
        // No result is what `null` stands for, such as a block that is not there.
        answer.result.map_or_else(|| serde_json::from_str("null").map_err(misread), Ok)
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
            self.tally.retries.fetch_add(1, Ordering::Relaxed);
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
    pub async fn block(&self, number: &str) -> Result<Option<RpcBlock>, RpcError> {
        self.ask("eth_getBlockByNumber", json!([number, false])).await
    }

    /// The block with this number.
    ///
    /// # Errors
    /// [`RpcError`].
    pub async fn block_at(&self, number: u64) -> Result<Option<RpcBlock>, RpcError> {
        self.block(&format!("{number:#x}")).await
    }

    /// The newest block.
    ///
    /// # Errors
    /// [`RpcError`].
    pub async fn newest(&self) -> Result<RpcBlock, RpcError> {
        self.ask("eth_getBlockByNumber", json!(["latest", false])).await
    }

    /// The logs of a filter. With [`RpcPatience::Once`] the caller may ask for fewer blocks then.
    ///
    /// # Errors
    /// [`RpcError`].
    pub async fn logs(&self, filter: &Filter, patience: RpcPatience) -> Result<Vec<Log>, RpcError> {
        match patience {
            RpcPatience::Once => self.ask_once("eth_getLogs", &json!([filter])).await,
            RpcPatience::Retry => self.ask("eth_getLogs", json!([filter])).await,
        }
    }

    /// The calldata of a transaction; `None` if the node does not have it. Empty if it is longer than about 2 MiB, of which no call is
    /// read: whoever makes a transaction so long on a chain that takes it must not stop those who follow. Nodes of Ethereum hand on
    /// 128 KiB.
    ///
    /// # Errors
    /// [`RpcError`].
    pub async fn calldata(&self, transaction: B256) -> Result<Option<Bytes>, RpcError> {
        #[derive(Deserialize)]
        struct Transaction {
            input: Bytes,
        }
        match self.ask::<Option<Transaction>>("eth_getTransactionByHash", json!([transaction])).await {
            Err(error @ RpcError::TooLong { .. }) => {
                tracing::warn!(%transaction, %error, "the calldata of a transaction is too long; no call is read from it");
                Ok(Some(Bytes::new()))
            }
            found => Ok(found?.map(|transaction| transaction.input)),
        }
    }

    /// Whether the node has a transaction, in a block or waiting for one.
    ///
    /// # Errors
    /// [`RpcError`].
    pub async fn has(&self, transaction: B256) -> Result<bool, RpcError> {
        #[derive(Deserialize)]
        struct Transaction {
            hash: B256,
        }
        let found: Option<Transaction> = self.ask("eth_getTransactionByHash", json!([transaction])).await?;
        Ok(found.is_some_and(|found| found.hash == transaction))
    }

    /// The receipt of a transaction; `None` if it is in no block.
    ///
    /// # Errors
    /// [`RpcError`].
    pub async fn receipt(&self, transaction: B256) -> Result<Option<TransactionReceipt>, RpcError> {
        self.ask("eth_getTransactionReceipt", json!([transaction])).await
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
        C::abi_decode_returns(&answer).map_err(|error| {
            let (node, why) = (self.shown.clone(), error.to_string());
            // A function answers with whole words. A part of one was cut off on the way, and says nothing about the contract.
            if answer.len().is_multiple_of(32) {
                RpcError::Undecodable { node, contract, call: C::SIGNATURE, why }
            } else {
                let why = format!("{} bytes for {}, which are not whole words: {why}", answer.len(), C::SIGNATURE);
                RpcError::Answer { node, method: "eth_call", why }
            }
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
            Self::Url { .. }
            | Self::Client { .. }
            | Self::Halted { .. }
            | Self::Answer { .. }
            | Self::TooLong { .. }
            | Self::Undecodable { .. } => false,
            Self::Refused { message, data, .. } => {
                let message = message.to_lowercase();
                data.is_none() && (message.contains("too many requests") || message.contains("rate limit"))
            }
        }
    }

    /// Whether the node answered, and the contract at the address did not answer as it should: it reverted, the EVM stopped it, or its
    /// answer is not one of the function. Any other error says nothing about the contract.
    pub fn is_of_contract(&self) -> bool {
        match self {
            Self::Halted { .. } | Self::Undecodable { .. } => true,
            // Some nodes leave the data of a revert out that has none.
            Self::Refused { message, data, .. } => data.is_some() || message.to_lowercase().contains("revert"),
            Self::Url { .. }
            | Self::Client { .. }
            | Self::Unreachable { .. }
            | Self::Answer { .. }
            | Self::TooLong { .. } => false,
        }
    }

    /// Whether the contract reverted, or the EVM stopped it, as it does where the contract has no such function. The empty answer of a node
    /// that does not have the contract yet is no such word of the contract.
    pub fn is_revert(&self) -> bool {
        self.is_of_contract() && !matches!(self, Self::Undecodable { .. })
    }

    /// Whether the answer to a simulation is about the call: the contract does not take it, the EVM stops it, or it does not pass a check
    /// that nodes make of transactions. Any other answer, such as "header not found", is the node's own trouble: asked again, it may let
    /// the call pass.
    pub(crate) fn is_of_call(&self) -> bool {
        match self {
            Self::Refused { message, .. } => self.is_of_contract() || SendRefusal::of_words(message).is_some(),
            _ => self.is_of_contract(),
        }
    }

    /// Whether it is not known if the node, or one behind it, has the transaction that it was sent. An error of other words than those of
    /// [`SendRefusal`] proves nothing: a gateway may have handed the transaction on before it answered.
    pub fn may_have_taken(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Answer { .. } | Self::TooLong { .. } | Self::Undecodable { .. } => true,
            // A node that runs the call first says with what the contract reverts.
            Self::Refused { data, .. } => data.is_none() && self.send_refusal().is_none(),
            Self::Url { .. } | Self::Client { .. } | Self::Halted { .. } => false,
        }
    }

    /// Why the node does not take a transaction that was sent, if its words are those of a check that nodes make before they take one.
    pub fn send_refusal(&self) -> Option<SendRefusal> {
        let Self::Refused { method: "eth_sendRawTransaction", message, .. } = self else { return None };
        SendRefusal::of_words(message)
    }

    /// Whether the node says that the sender has too little money, in the words of geth and others, or of Besu.
    pub(crate) fn is_of_money(&self) -> bool {
        let Self::Refused { message, .. } = self else { return false };
        // A contract may revert with such words, too.
        !self.is_of_contract() && SendRefusal::of_words(message) == Some(SendRefusal::Money)
    }

    /// The contract's error in words, if the node answers with one.
    pub fn revert(&self) -> Option<String> {
        let Self::Refused { data: Some(data), .. } = self else { return None };
        Some(revert::words(data))
    }
}

/// Whether an answer with this status may be one of JSON-RPC: nodes and their providers put errors under a status such as 400, too. With the
/// others the node may answer later.
fn may_have_words(status: StatusCode) -> bool {
    let may_pass =
        matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS);
    status.is_success() || (status.is_client_error() && !may_pass)
}

/// Whether the node runs a contract's code to answer.
fn runs_code(method: &str) -> bool {
    matches!(method, "eth_call" | "eth_estimateGas")
}

/// The most bytes of an answer. Those with logs alone may be long, and are asked for one at a time.
fn most_bytes(method: &str, parameters: &Value) -> usize {
    match method {
        "eth_chainId"
        | "eth_estimateGas"
        | "eth_getBalance"
        | "eth_getTransactionCount"
        | "eth_maxPriorityFeePerGas"
        | "eth_sendRawTransaction" => 16 << 10,
        "eth_getLogs" if is_of_one_block(&parameters[0]) => 128 << 20,
        "eth_getLogs" => 32 << 20,
        _ => 4 << 20,
    }
}

/// Whether a filter is for the logs of one block, so that no smaller question is left.
fn is_of_one_block(filter: &Value) -> bool {
    filter["fromBlock"].is_string() && filter["fromBlock"] == filter["toBlock"]
}

/// The words of a node, as far as they are shown.
fn words_of_node(text: &str) -> String {
    clipped(text, 1_000)
}

#[cfg(test)]
mod tests;
