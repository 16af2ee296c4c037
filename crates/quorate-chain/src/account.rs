//! An account that sends one transaction after the other, and waits until each is mined.

use std::{fmt, io, time::Duration};

use alloy::{
    network::{EthereumWallet, TransactionBuilder as _},
    primitives::{Address, B256, Bytes, U256},
    rpc::types::TransactionRequest,
};
use quorate_evm::{
    alloy_sol_types::SolCall,
    amount::{COIN_DECIMALS, exact},
};
use quorate_host::{
    exit::{self, Ends, Exit, Failure, note},
    service,
};
use serde_json::json;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

use crate::{
    fees::{FeeError, FeeLimits, TipCut},
    gas::{TooMuchGas, gas_limit, why_reverted},
    nonce::{NONCE_PATIENCE, NonceError, count, next_nonce},
    refusal::SendRefusal,
    rpc::{Rpc, RpcError, TransactionReceipt},
    submitter::Payer,
    transaction,
};

/// An account that sends one transaction at a time, and waits until it is mined. It neither raises fees nor looks at
/// reorganisations: that is what a [`Submitter`](crate::Submitter) does.
#[derive(Debug)]
pub struct Account {
    pub(crate) rpc: Rpc,
    wallet: EthereumWallet,
    address: Address,
    chain_id: u64,
    fees: FeeLimits,
    patience: Duration,
    told: fn(AccountEvent) -> io::Result<()>,
    underway: watch::Sender<Option<B256>>,
}

/// What an account tells while it works, so that a user can look for it whatever happens next. Its text is for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccountEvent {
    /// A transaction is about to be sent.
    Sending {
        /// What it does.
        what: &'static str,
        /// The transaction.
        transaction: B256,
    },
    /// A contract was created.
    Created {
        /// The contract, in words.
        what: &'static str,
        /// Its address.
        contract: Address,
    },
}

impl fmt::Display for AccountEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sending { what, transaction } => write!(f, "{what}: sending transaction {transaction}"),
            Self::Created { what, contract } => write!(f, "{what} is at {contract}"),
        }
    }
}

/// A transaction that was mined, and did what it should.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transacted {
    /// The transaction.
    pub transaction: B256,
    /// The gas that the node estimated before.
    pub estimate: u64,
    /// Its receipt.
    pub receipt: TransactionReceipt,
}

/// Why a transaction was not sent, or not mined, or did nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccountError {
    /// The node gave no answer that can be used, or does not take the transaction. Nothing was sent.
    #[error(transparent)]
    Node(Box<RpcError>),
    /// The contract refuses the call, in its error's words. Nothing was sent.
    #[error("the contract refuses the call, so it is not sent: {0}")]
    Refused(String),
    /// The EVM stops the call. Nothing was sent.
    #[error("the call fails, so it is not sent: {0}")]
    Halted(Box<RpcError>),
    /// The call needs too much gas. Nothing was sent.
    #[error(transparent)]
    Gas(#[from] TooMuchGas),
    /// A unit of gas costs too much, or the node does not say what it costs. Nothing was sent.
    #[error(transparent)]
    Fees(Box<FeeError>),
    /// Other transactions of the account wait, or the node does not say whether. Nothing was sent.
    #[error(transparent)]
    Nonce(Box<NonceError>),
    /// The transaction cannot be signed. Nothing was sent.
    #[error("the transaction cannot be signed: {0}")]
    Unsigned(String),
    /// The node says that the account has too little money. Nothing was sent.
    #[error("{why}: the payer {account} has {} ETH", exact(*.balance, COIN_DECIMALS))]
    Money {
        /// The account.
        account: Address,
        /// What it has, in wei.
        balance: U256,
        /// The node's words.
        why: Box<RpcError>,
    },
    /// The node finds the fees too low, and asked for a higher tip than is allowed. Nothing was sent.
    #[error("{why}; {cut}")]
    Tip {
        /// What the node asked for.
        cut: TipCut,
        /// The node's words.
        why: Box<RpcError>,
    },
    /// The user cannot be told of the transaction. It was not sent.
    #[error("the transaction's hash cannot be written, so it is not sent: {0}")]
    Untold(#[source] io::Error),
    /// The node gave no answer that can be used about a transaction, or an error of its own, and it or a node behind it may have the
    /// transaction.
    #[error("transaction {transaction} may have been sent, and may be mined: {why}; {}", HOW_TO_LOOK)]
    Unknown {
        /// The transaction.
        transaction: B256,
        /// The node's words.
        why: String,
    },
    /// The transaction was mined and reverted.
    #[error("transaction {transaction} was mined in block {block} and reverted: {why}")]
    Reverted {
        /// The transaction.
        transaction: B256,
        /// The number of its block.
        block: u64,
        /// Why, by its gas.
        why: &'static str,
    },
    /// Another transaction of the account is in a block with the nonce of this one, so this one is not mined.
    #[error(
        "transaction {transaction} is not mined: another transaction of {account} with the nonce {nonce} is; look what that one did"
    )]
    Replaced {
        /// The transaction.
        transaction: B256,
        /// The account.
        account: Address,
        /// The nonce of both.
        nonce: u64,
    },
    /// The transaction was not mined in time. It may still be.
    #[error(
        "transaction {transaction} is in no block after {} s; it may still be mined: {}{}",
        .after.as_secs(),
        HOW_TO_LOOK,
        .cut.map_or_else(String::new, |cut| format!("; {cut}"))
    )]
    NotMined {
        /// The transaction.
        transaction: B256,
        /// How long was waited.
        after: Duration,
        /// That the node asked for a higher tip, which may be why.
        cut: Option<TipCut>,
    },
}

impl AccountError {
    /// The transaction that was sent, or may have been; `None` if nothing was sent, or another transaction took its place.
    pub fn transaction(&self) -> Option<B256> {
        match self {
            Self::Unknown { transaction, .. }
            | Self::Reverted { transaction, .. }
            | Self::NotMined { transaction, .. } => Some(*transaction),
            Self::Node(_)
            | Self::Refused(_)
            | Self::Halted(_)
            | Self::Gas(_)
            | Self::Fees(_)
            | Self::Nonce(_)
            | Self::Unsigned(_)
            | Self::Money { .. }
            | Self::Tip { .. }
            | Self::Untold(_)
            | Self::Replaced { .. } => None,
        }
    }

    /// The node does not say what has to be known before anything is sent.
    pub(crate) fn node(error: RpcError) -> Self {
        Self::Node(error.into())
    }

    /// The error of a transaction whose tip was cut, if that may be why.
    fn with_cut(self, tip_cut: Option<TipCut>) -> Self {
        match (self, tip_cut) {
            (Self::Node(why), Some(cut)) if why.send_refusal() == Some(SendRefusal::Underpriced) => {
                Self::Tip { cut, why }
            }
            (Self::NotMined { transaction, after, .. }, cut) => Self::NotMined { transaction, after, cut },
            (error, _) => error,
        }
    }

    /// An answer before which, or by which, nothing was sent.
    pub(crate) fn unsent(error: RpcError) -> Self {
        match (error.revert(), error) {
            (Some(why), _) => Self::Refused(why),
            (None, error @ RpcError::Halted { .. }) => Self::Halted(error.into()),
            (None, error) => Self::node(error),
        }
    }
}

impl Ends for AccountError {
    fn exit(&self) -> Exit {
        match self {
            Self::Node(_)
            | Self::Money { .. }
            | Self::Tip { .. }
            | Self::Untold(_)
            | Self::Unknown { .. }
            | Self::Replaced { .. }
            | Self::NotMined { .. } => Exit::Io,
            Self::Fees(error) if matches!(**error, FeeError::Node(_)) => Exit::Io,
            Self::Nonce(error) if matches!(**error, NonceError::Node(_)) => Exit::Io,
            Self::Refused(_)
            | Self::Halted(_)
            | Self::Gas(_)
            | Self::Fees(_)
            | Self::Nonce(_)
            | Self::Reverted { .. } => Exit::Negative,
            Self::Unsigned(_) => Exit::Internal,
        }
    }
}

/// How long the receipt of a transaction is waited for, if nothing else is said.
pub const RECEIPT_PATIENCE: Duration = Duration::from_secs(180);

/// What a person does about a transaction that may have been sent.
const HOW_TO_LOOK: &str =
    "look for it by its hash, at another node or in an explorer of the chain, before you send the same again";

/// When the receipt is asked for a second time. A chain for tests mines at once.
const FIRST_POLL: Duration = Duration::from_millis(20);
/// How often it is asked for in the end. Nodes of others answer only so many questions.
const POLL: Duration = Duration::from_millis(500);

impl Account {
    /// An account on the node's chain, which pays no more than `fees` for a unit of gas.
    ///
    /// # Errors
    /// The node does not answer.
    pub async fn new(rpc: Rpc, payer: Payer, fees: FeeLimits) -> Result<Self, RpcError> {
        let chain_id = rpc.chain_id().await?;
        Ok(Self::of_chain(rpc, payer, fees, chain_id))
    }

    /// The same on a chain that is known. Nothing is asked yet.
    pub fn of_chain(rpc: Rpc, payer: Payer, fees: FeeLimits, chain_id: u64) -> Self {
        let address = payer.address();
        let (wallet, underway) = (payer.wallet(), watch::Sender::new(None));
        Self { rpc, wallet, address, chain_id, fees, patience: RECEIPT_PATIENCE, told: |_| Ok(()), underway }
    }

    /// The same account, which waits so long for the receipt of a transaction.
    #[must_use]
    pub fn waiting(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The same account, which tells each transaction before it is sent, and each contract that it created. What cannot be told is not
    /// sent.
    #[must_use]
    pub fn telling(self, told: fn(AccountEvent) -> io::Result<()>) -> Self {
        Self { told, ..self }
    }

    /// The transaction that may have been sent, and of which there is no receipt; `None` if there is none. Whoever drops a future of the
    /// account finds here what may be mined all the same.
    pub fn underway(&self) -> Option<B256> {
        *self.underway.borrow()
    }

    /// Waits for what the account sends, or for Ctrl-C or the signal that ends services. Then it says on standard error which transaction
    /// may be mined all the same.
    ///
    /// # Errors
    /// Those of `sending`, and [`Exit::Interrupted`].
    pub async fn until_interrupted<T, E: Into<Failure>>(
        &self,
        sending: impl Future<Output = Result<T, E>>,
    ) -> exit::Result<T> {
        tokio::select! {
            sent = sending => sent.map_err(Into::into),
            () = service::interrupted() => {
                if let Some(transaction) = self.underway() {
                    note(format!("interrupted; transaction {transaction} may have been sent, and may still be mined"));
                }
                Err(Failure::interrupted())
            }
        }
    }

    /// The account's address.
    pub fn address(&self) -> Address {
        self.address
    }

    /// Calls a contract, and waits until the transaction is mined. An answer of the node that leaves open whether it has the transaction is
    /// said on standard error before that.
    ///
    /// # Errors
    /// [`AccountError`].
    pub async fn send(&self, what: &'static str, to: Address, call: &impl SolCall) -> Result<Transacted, AccountError> {
        self.send_bytes(what, to, call.abi_encode().into(), &[]).await
    }

    /// Sends calldata with an access list of accounts, and waits until the transaction is mined.
    ///
    /// # Errors
    /// [`AccountError`].
    pub async fn send_bytes(
        &self,
        what: &'static str,
        to: Address,
        calldata: Bytes,
        access_list: &[Address],
    ) -> Result<Transacted, AccountError> {
        self.transact(what, transaction::call(to, calldata, access_list)).await
    }

    /// Creates a contract, and waits until the transaction is mined.
    ///
    /// # Errors
    /// [`AccountError`].
    pub async fn create(&self, what: &'static str, code: Bytes) -> Result<(Address, TransactionReceipt), AccountError> {
        let created = self.transact(what, TransactionRequest::default().with_deploy_code(code)).await?;
        let Transacted { transaction, receipt, .. } = created;
        let Some(contract) = receipt.contract_address else {
            return Err(AccountError::Unknown { transaction, why: "the receipt names no contract".to_owned() });
        };
        let told = (self.told)(AccountEvent::Created { what, contract });
        told.map_err(|error| AccountError::Unknown { transaction, why: error.to_string() })?;
        Ok((contract, receipt))
    }

    /// The nonce of the account's next transaction.
    pub(crate) async fn next_nonce(&self) -> Result<u64, AccountError> {
        let nonce = next_nonce(&self.rpc, self.address, self.patience.min(NONCE_PATIENCE)).await;
        nonce.map_err(|error| AccountError::Nonce(error.into()))
    }

    /// Sends a transaction, and waits until it is mined.
    async fn transact(&self, what: &'static str, request: TransactionRequest) -> Result<Transacted, AccountError> {
        let request = request.with_from(self.address);
        let estimate = match self.rpc.quantity("eth_estimateGas", json!([request])).await {
            Ok(estimate) => estimate,
            Err(error) => return Err(self.unsent(error).await),
        };
        let limit = gas_limit(estimate)?;
        let (fees, tip_cut) = self.fees.offer(&self.rpc).await.map_err(|error| AccountError::Fees(error.into()))?;
        let nonce = self.next_nonce().await?;
        let signed = transaction::sign(request, &self.wallet, self.chain_id, nonce, limit, fees).await;
        let (transaction, bytes) = signed.map_err(AccountError::Unsigned)?;
        // Before it is sent: whoever is interrupted while the node does not answer has its name, too.
        (self.told)(AccountEvent::Sending { what, transaction }).map_err(AccountError::Untold)?;
        self.underway.send_replace(Some(transaction));
        let said = self.rpc.ask::<B256>("eth_sendRawTransaction", json!([bytes])).await.err();
        // Nobody is to wait for a transaction without a word of why it may never come.
        if let Some(error) = said.as_ref().filter(|error| error.may_have_taken()) {
            let patience = self.patience.as_secs();
            note(format!(
                "{error}; transaction {transaction} may be sent all the same, so it is looked for during {patience} s"
            ));
        }
        let mined = self.mined(transaction, nonce, said).await.map_err(|error| error.with_cut(tip_cut));
        // Of any other failure nothing is left that may be mined.
        if mined.as_ref().err().is_none_or(|error| error.transaction().is_none()) {
            self.underway.send_replace(None);
        }
        let receipt = mined?;
        if receipt.status.is_zero() {
            let (block, why) = (receipt.block_number.to(), why_reverted(receipt.gas_used.to(), limit));
            return Err(AccountError::Reverted { transaction, block, why });
        }
        Ok(Transacted { transaction, estimate: estimate.saturating_to(), receipt })
    }

    /// An answer by which nothing was sent. Of an account without money the node is asked what it has.
    async fn unsent(&self, error: RpcError) -> AccountError {
        if error.is_of_money()
            && let Ok(balance) = self.rpc.quantity("eth_getBalance", json!([self.address, "latest"])).await
        {
            return AccountError::Money { account: self.address, balance, why: error.into() };
        }
        AccountError::unsent(error)
    }

    /// Waits until a transaction is mined, or another one with its nonce is. What the node said to its sending, if that was an error,
    /// proves nothing: a gateway may have handed the transaction on before. After the words of a check that nodes make before they take
    /// one, it is looked for as long as nodes behind one URL may disagree.
    async fn mined(
        &self,
        transaction: B256,
        nonce: u64,
        said: Option<RpcError>,
    ) -> Result<TransactionReceipt, AccountError> {
        let sure = self.patience.min(NONCE_PATIENCE);
        let refusal = said.as_ref().and_then(RpcError::send_refusal);
        let is_taken = said.is_none() || refusal == Some(SendRefusal::Seen);
        let is_refused = !is_taken && said.as_ref().is_some_and(|error| !error.may_have_taken());
        let (begun, mut wait) = (Instant::now(), FIRST_POLL);
        let (mut found, mut used_since) = (false, None);
        loop {
            let is_over = begun.elapsed() > if is_refused && !found { sure } else { self.patience };
            let place = match (&said, is_over) {
                // The node has it.
                (None, false) => self.rpc.receipt(transaction).await.map(|receipt| receipt.map(Place::Mined)),
                _ => self.place(transaction, nonce).await,
            };
            match place {
                Ok(Some(Place::Mined(receipt))) => return Ok(receipt),
                Ok(Some(Place::Waits)) => (found, used_since) = (true, None),
                Ok(Some(Place::Taken)) => {
                    let since = *used_since.get_or_insert_with(Instant::now);
                    if since.elapsed() >= sure {
                        return Err(AccountError::Replaced { transaction, account: self.address, nonce });
                    }
                }
                Ok(None) => used_since = None,
                // The node has the transaction, and it was waited for.
                Err(_) if is_over && is_taken => used_since = None,
                Err(error) => {
                    let why = said.unwrap_or(error).to_string();
                    return Err(AccountError::Unknown { transaction, why });
                }
            }
            if is_over && used_since.is_none() {
                return Err(match said {
                    Some(error) if is_refused && !found => self.unsent(error).await,
                    Some(error) if !is_taken && !found => AccountError::Unknown { transaction, why: error.to_string() },
                    _ => AccountError::NotMined { transaction, after: self.patience, cut: None },
                });
            }
            sleep(wait).await;
            wait = POLL.min(wait * 2);
        }
    }

    /// Where a transaction is; `None` if the node does not have it, and no block uses its nonce.
    async fn place(&self, transaction: B256, nonce: u64) -> Result<Option<Place>, RpcError> {
        // Before it is looked for in blocks: it may be mined in the meantime.
        let used = count(&self.rpc, self.address, "latest").await? > nonce;
        if let Some(receipt) = self.rpc.receipt(transaction).await? {
            return Ok(Some(Place::Mined(receipt)));
        }
        if self.rpc.has(transaction).await? {
            return Ok(Some(Place::Waits));
        }
        Ok(used.then_some(Place::Taken))
    }
}

/// Where a transaction is that was sent, or may have been.
#[derive(Debug)]
enum Place {
    /// In a block.
    Mined(TransactionReceipt),
    /// In the node's pool, or in a block whose receipts the node does not have yet.
    Waits,
    /// In no block, and a block has another one with its nonce.
    Taken,
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use alloy::primitives::U64;
    use quorate_lab::proxy::Proxy;
    use serde_json::Value;
    use tokio::runtime;

    use super::*;

    /// The receipt of a transaction that did what it should.
    fn mined() -> Value {
        json!({ "status": "0x1", "gasUsed": "0x5208", "blockNumber": "0x1", "blockHash": B256::ZERO })
    }

    /// The newest block of a node.
    fn newest() -> Value {
        json!({
            "number": "0x1",
            "hash": B256::ZERO,
            "parentHash": B256::ZERO,
            "timestamp": "0x1",
            "baseFeePerGas": "0x1"
        })
    }

    /// Sends to a node on which so many transactions of the account wait, and which answers this about the one that is sent and about its
    /// receipt. Returns how often something was sent.
    fn sent(
        waiting: u64,
        answer: Result<Value, &'static str>,
        receipt: Value,
    ) -> (Result<TransactionReceipt, AccountError>, usize) {
        estimated("0x1", waiting, answer, receipt)
    }

    /// The same, to a node that estimates so much gas.
    fn estimated(
        estimate: &'static str,
        waiting: u64,
        answer: Result<Value, &'static str>,
        receipt: Value,
    ) -> (Result<TransactionReceipt, AccountError>, usize) {
        let count = Arc::new(Mutex::new(0));
        let counted = count.clone();
        let node = Proxy::alone(move |method, parameters| {
            Ok(match method {
                "eth_getTransactionCount" => json!(U64::from(if parameters[1] == "latest" { 7 } else { 7 + waiting })),
                "eth_getBlockByNumber" => newest(),
                "eth_sendRawTransaction" => {
                    *counted.lock().unwrap() += 1;
                    return answer.clone().map_err(str::to_owned);
                }
                "eth_getTransactionReceipt" => receipt.clone(),
                "eth_getTransactionByHash" => Value::Null,
                "eth_estimateGas" => json!(estimate),
                // The chain's id, and the tip.
                _ => json!("0x1"),
            })
        });
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let receipt = runtime.block_on(async {
            let payer = Payer::from_hex(&"07".repeat(32)).unwrap();
            let account = Account::new(Rpc::new(&node.url).unwrap(), payer, FeeLimits::default()).await.unwrap();
            let account = account.waiting(Duration::from_millis(100));
            let receipt = account.send_bytes("the pool", Address::repeat_byte(1), Bytes::new(), &[]).await;
            let receipt = receipt.map(|transacted| transacted.receipt);
            let is_open = matches!(receipt, Err(AccountError::Unknown { .. } | AccountError::NotMined { .. }));
            assert_eq!(account.underway().is_some(), is_open, "{receipt:?}");
            receipt
        });
        let count = *count.lock().unwrap();
        (receipt, count)
    }

    /// The account of a payment that was given up: a second one would be paid as well.
    #[test]
    fn what_waits_is_not_paid_again() {
        let (receipt, count) = sent(1, Err("already known"), mined());
        let error = receipt.unwrap_err();
        assert_eq!(error.exit(), Exit::Negative);
        assert!(matches!(error, AccountError::Nonce(_)) && count == 0, "{error}");
        assert!(error.to_string().contains("transactions of 0x"), "{error}");
    }

    /// It would run out of gas, and be paid.
    #[test]
    fn an_estimate_above_the_most_is_not_sent() {
        let (receipt, count) = estimated("0x1000001", 0, Ok(json!(B256::ZERO)), mined());
        let error = receipt.unwrap_err();
        assert!(matches!(error, AccountError::Gas(_)) && count == 0, "{error}");
        assert!(error.to_string().starts_with("the call needs 16777217 gas"), "{error}");
        assert_eq!(estimated("0x1000000", 0, Ok(json!(B256::ZERO)), mined()).1, 1);
    }

    /// The answer to the first try was lost.
    #[test]
    fn what_the_node_has_already_is_waited_for() {
        for said in ["AlreadyKnown", "nonce too low"] {
            let (receipt, count) = sent(0, Err(said), mined());
            assert_eq!((receipt.unwrap().gas_used, count), (U64::from(21_000), 1), "{said}");
        }
        let error = sent(0, Err("already known"), json!(null)).0.unwrap_err();
        assert!(error.to_string().contains("; it may still be mined: look for it by its hash"), "{error}");
        assert_eq!(error.exit(), Exit::Io);
        // Another transaction has the nonce, or none.
        let error = sent(0, Err("replacement transaction underpriced"), json!(null)).0.unwrap_err();
        assert!(matches!(error, AccountError::Node(_)) && error.exit() == Exit::Io, "{error}");
    }

    /// The tip is cut, and this chain takes no smaller one: whoever pays hears which option allows more.
    #[test]
    fn a_cut_tip_is_named_where_the_node_finds_it_too_low() {
        let fees = FeeLimits { max_tip_gwei: 3, ..FeeLimits::default() };
        let sent = |said: Result<Value, &'static str>| {
            let node = Proxy::alone(move |method, _| {
                Ok(match method {
                    "eth_getTransactionCount" => json!("0x7"),
                    "eth_getBlockByNumber" => newest(),
                    "eth_sendRawTransaction" => return said.clone().map_err(str::to_owned),
                    "eth_getTransactionReceipt" | "eth_getTransactionByHash" => Value::Null,
                    // 25 gwei.
                    "eth_maxPriorityFeePerGas" => json!("0x5d21dba00"),
                    _ => json!("0x1"),
                })
            });
            let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let payer = Payer::from_hex(&"07".repeat(32)).unwrap();
                let account = Account::new(Rpc::new(&node.url).unwrap(), payer, fees).await.unwrap();
                let account = account.waiting(Duration::from_millis(100));
                account.send_bytes("the pool", Address::repeat_byte(1), Bytes::new(), &[]).await.unwrap_err()
            })
        };
        let named = "the node asks for a tip of 25 gwei, more than --max-tip 3";
        let refused = sent(Err("transaction underpriced: gas tip cap 3, minimum needed 25"));
        assert!(refused.to_string().contains("minimum needed 25; "), "{refused}");
        assert!(refused.to_string().contains(named) && refused.transaction().is_none(), "{refused}");
        assert_eq!(refused.exit(), Exit::Io);
        let waits = sent(Ok(json!(B256::ZERO)));
        assert!(matches!(waits, AccountError::NotMined { .. }) && waits.to_string().contains(named), "{waits}");
        let other = sent(Err("nonce too high"));
        assert!(!other.to_string().contains(named), "{other}");
    }

    /// A gateway hands the transaction on, and answers with words of its own. It is looked for, whatever the words are; and if it is
    /// nowhere, it may still be mined, unless the words are those of a check that nodes make before they take a transaction.
    #[test]
    fn an_unknown_error_of_the_node_may_have_sent_the_transaction() {
        for said in ["internal error: upstream timed out", "insufficient funds for gas * price + value"] {
            let (receipt, count) = sent(0, Err(said), mined());
            assert_eq!((receipt.unwrap().gas_used, count), (U64::from(21_000), 1), "{said}");
        }
        let error = sent(0, Err("internal error: upstream timed out"), Value::Null).0.unwrap_err();
        assert!(matches!(error, AccountError::Unknown { .. }) && error.exit() == Exit::Io, "{error}");
        for words in ["upstream timed out", "may have been sent, and may be mined", "look for it by its hash"] {
            assert!(error.to_string().contains(words), "{error}");
        }
        let error = sent(0, Err("insufficient funds for gas * price + value"), Value::Null).0.unwrap_err();
        assert!(matches!(error, AccountError::Money { .. }), "{error}");
    }

    /// Somebody else sends from the account, too: a block has another transaction with the nonce of this one.
    #[test]
    fn a_transaction_whose_nonce_another_one_used_is_not_mined() {
        for said in [Ok(json!(B256::ZERO)), Err("nonce too low"), Err("internal error: upstream timed out")] {
            let mut is_used = false;
            let node = Proxy::alone(move |method, _| {
                Ok(match method {
                    "eth_getTransactionCount" => json!(U64::from(if is_used { 8 } else { 7 })),
                    "eth_getBlockByNumber" => newest(),
                    "eth_sendRawTransaction" => {
                        is_used = true;
                        return said.clone().map_err(str::to_owned);
                    }
                    "eth_getTransactionReceipt" | "eth_getTransactionByHash" => Value::Null,
                    _ => json!("0x1"),
                })
            });
            let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let error = runtime.block_on(async {
                let payer = Payer::from_hex(&"07".repeat(32)).unwrap();
                let account = Account::new(Rpc::new(&node.url).unwrap(), payer, FeeLimits::default()).await.unwrap();
                let account = account.waiting(Duration::from_millis(100));
                let sent = account.send_bytes("the pool", Address::repeat_byte(1), Bytes::new(), &[]).await;
                assert_eq!(account.underway(), None);
                sent.unwrap_err()
            });
            assert!(matches!(error, AccountError::Replaced { nonce: 7, .. }) && error.exit() == Exit::Io, "{error}");
        }
    }

    /// The node says nothing that can be read, of the sending or of the receipt.
    #[test]
    fn what_may_have_been_sent_is_named() {
        for (answer, receipt) in [(json!("nothing"), Value::Null), (json!(B256::ZERO), json!("nothing"))] {
            let error = sent(0, Ok(answer), receipt).0.unwrap_err();
            assert!(matches!(error, AccountError::Unknown { .. }) && error.exit() == Exit::Io, "{error}");
            let words = error.to_string();
            assert!(words.starts_with("transaction 0x") && words.contains(" may have been sent"), "{words}");
        }
        let reverted = json!({ "status": "0x0", "gasUsed": "0x5208", "blockNumber": "0x1", "blockHash": B256::ZERO });
        let error = sent(0, Ok(json!(B256::ZERO)), reverted).0.unwrap_err();
        assert!(matches!(error, AccountError::Reverted { .. }) && error.exit() == Exit::Negative, "{error}");
    }
}
