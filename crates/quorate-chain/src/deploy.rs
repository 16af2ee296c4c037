//! Deploys a verifier and a `TaskNetwork`, and a token if none is named: for networks of one's own, demonstrations and tests.
//!
//! A new token is a plain one, all of which belongs to the deployer, and is worth nothing. A network that is meant to stay
//! takes a token that exists, and gives its roles to a multi-signature.

use std::{fmt, time::Duration};

use alloy::{
    eips::eip2718::Encodable2718 as _,
    network::{EthereumWallet, NetworkTransactionBuilder as _, TransactionBuilder as _},
    primitives::{Address, B256, Bytes, U256},
    rpc::types::TransactionRequest,
};
use quorate_evm::{
    KeyGroup, WeightPart,
    alloy_sol_types::{SolCall, SolConstructor as _},
    contract::{
        Erc20, TASK_NETWORK_CODE, TEST_TOKEN_CODE, TaskNetwork, TestToken, Verifier,
        task_network::ITaskNetwork::Parameters,
    },
};
use quorate_host::exit::{Ends, Exit};
use serde_json::json;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

use crate::{
    fees::{FeeError, FeeLimits},
    gas::gas_limit,
    nonce::{NONCE_PATIENCE, NonceError, next_nonce},
    refusal::SendRefusal,
    rpc::{Rpc, RpcError, TransactionReceipt},
    submitter::Payer,
};

/// An account that sends one transaction at a time, and waits until it is mined. It neither raises fees nor looks at
/// reorganisations: that is what a [`Submitter`](crate::Submitter) does.
#[derive(Debug)]
pub struct Account {
    rpc: Rpc,
    wallet: EthereumWallet,
    address: Address,
    chain_id: u64,
    fees: FeeLimits,
    patience: Duration,
    told: fn(AccountEvent),
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

/// Why something was not deployed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeployError {
    /// The node gave no answer that can be used, or does not take the transaction. Nothing was sent.
    #[error("{what}: {why}")]
    Node {
        /// What was to be done.
        what: &'static str,
        /// The node's words.
        why: String,
    },
    /// The contract refuses the call, the EVM stops it, it needs too much gas, or a unit of gas costs too much. Nothing was sent.
    #[error("{what}: {why}")]
    Refused {
        /// What was to be done.
        what: &'static str,
        /// The contract's error in words, or the cost, or the gas.
        why: String,
    },
    /// The transaction cannot be signed. Nothing was sent.
    #[error("{what}: {why}")]
    Unsigned {
        /// What was to be done.
        what: &'static str,
        /// Why not.
        why: String,
    },
    /// The node gave no answer that can be used about a transaction, and may have it.
    #[error("{what}: transaction {transaction} may have been sent, and may be mined: {why}")]
    Unknown {
        /// What was to be done.
        what: &'static str,
        /// The transaction.
        transaction: B256,
        /// The node's words.
        why: String,
    },
    /// The transaction was mined and reverted.
    #[error("{what}: transaction {transaction} was reverted")]
    Reverted {
        /// What was to be done.
        what: &'static str,
        /// The transaction.
        transaction: B256,
    },
    /// The transaction was not mined in time. It may still be.
    #[error("{what}: transaction {transaction} is in no block after {} s; it may still be mined", .after.as_secs())]
    NotMined {
        /// What was to be done.
        what: &'static str,
        /// The transaction.
        transaction: B256,
        /// How long was waited.
        after: Duration,
    },
    /// Other transactions of the account wait. Nothing was sent.
    #[error("{what}: {source}")]
    Waiting {
        /// What was to be done.
        what: &'static str,
        /// How many wait.
        source: NonceError,
    },
    /// The account sent something else between the verifier and the network.
    #[error(
        "the network is at {found}, and its verifier expects it at {expected}: the account sent something else. Deploy both anew, and send \
         nothing else meanwhile"
    )]
    Displaced {
        /// The address of the network.
        found: Address,
        /// The address that the verifier names.
        expected: Address,
    },
    /// A term of the plan is one that the contract refuses. Nothing was sent.
    #[error("the {term} is {found}; {expected}")]
    Term {
        /// The term.
        term: &'static str,
        /// Its value.
        found: String,
        /// What the contract takes.
        expected: String,
    },
}

impl Ends for DeployError {
    fn exit(&self) -> Exit {
        match self {
            Self::Node { .. } | Self::Unknown { .. } | Self::NotMined { .. } => Exit::Io,
            Self::Refused { .. } | Self::Reverted { .. } | Self::Waiting { .. } | Self::Displaced { .. } => {
                Exit::Negative
            }
            Self::Term { .. } => Exit::Usage,
            Self::Unsigned { .. } => Exit::Internal,
        }
    }
}

/// A network to deploy. Amounts are in the token's smallest unit, times in seconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkPlan {
    /// The curve and the group of the keys.
    pub key_group: KeyGroup,
    /// How many slots for bases are pinned.
    pub pinned_slots: u16,
    /// The token of stake and rewards. Without it, a new one is made.
    pub token: Option<Address>,
    /// All tokens there are of a new one. They belong to the deployer.
    pub supply: U256,
    /// Who gets all roles. Without it, the deployer.
    pub admin: Option<Address>,
    /// How many of them go to the pool of rewards.
    pub pool: U256,
    /// The first second of epoch 0. Without it, the time of the newest block.
    pub genesis: Option<u64>,
    /// See `ITaskNetwork.Parameters`, as of all that follow.
    pub epoch_length: u64,
    /// How long conflicts can be reported after the epoch can settle nothing more.
    pub slashing_window: u64,
    /// At least the slashing window and two epochs.
    pub withdrawal_delay: u64,
    /// Tokens that weigh 1.
    pub unit: u128,
    /// The least stake of an operator.
    pub minimum_stake: u128,
    /// The most operators at one time.
    pub maximum_operators: u32,
    /// A quorum must weigh more than this part of all weight.
    pub quorum_numerator: u32,
    /// See `quorum_numerator`.
    pub quorum_denominator: u32,
    /// What the elected performer of an approved task gets.
    pub performer_reward: u128,
    /// What the signers of a task get together.
    pub attester_reward: u128,
    /// What a rejected task costs its performer, in 1/10,000 of the stake.
    pub penalty_share: u16,
    /// What a conflict costs, in 1/10,000 of the stake.
    pub slash_share: u16,
    /// What the reporter gets of that, in 1/10,000.
    pub bounty_share: u16,
}

impl Default for NetworkPlan {
    fn default() -> Self {
        Self {
            key_group: KeyGroup::Bls12381G2,
            pinned_slots: 1,
            token: None,
            admin: None,
            supply: U256::from(1_u64 << 50),
            pool: U256::from(1_u64 << 40),
            genesis: None,
            epoch_length: 86_400,
            slashing_window: 86_400,
            withdrawal_delay: 3 * 86_400,
            unit: 100,
            minimum_stake: 1_000,
            maximum_operators: 100,
            quorum_numerator: 2,
            quorum_denominator: 3,
            performer_reward: 50,
            attester_reward: 500,
            penalty_share: 100,
            slash_share: 5_000,
            bounty_share: 500,
        }
    }
}

impl NetworkPlan {
    /// Checks what the contract's constructor checks (`NetworkTerms`), before anything is sent and paid.
    ///
    /// # Errors
    /// [`DeployError::Term`], with the first term that the contract refuses.
    pub fn check(&self) -> Result<(), DeployError> {
        let wrong = |term, found: &dyn std::fmt::Display, expected: String| {
            Err(DeployError::Term { term, found: found.to_string(), expected })
        };
        let least_delay = u128::from(self.slashing_window) + 2 * u128::from(self.epoch_length);
        let quorum = WeightPart::new(self.quorum_numerator, self.quorum_denominator);
        if self.epoch_length == 0 {
            return wrong("epoch length", &0, "it must be at least a second".to_owned());
        }
        if self.slashing_window == 0 {
            return wrong("slashing window", &0, "it must be at least a second".to_owned());
        }
        if u128::from(self.withdrawal_delay) < least_delay {
            let expected = format!("it must be at least {least_delay}: the slashing window and two epochs");
            return wrong("withdrawal delay", &self.withdrawal_delay, expected);
        }
        if self.unit == 0 {
            return wrong("unit", &0, "so many tokens weigh 1; it must not be zero".to_owned());
        }
        if self.minimum_stake < self.unit {
            return wrong("minimum stake", &self.minimum_stake, format!("it must be at least the unit, {}", self.unit));
        }
        if !(1..=MOST_OPERATORS).contains(&self.maximum_operators) {
            return wrong("most operators", &self.maximum_operators, format!("1 to {MOST_OPERATORS} are allowed"));
        }
        if quorum.is_none_or(|quorum| !quorum.shares_a_signer()) {
            let found = format!("{}/{}", self.quorum_numerator, self.quorum_denominator);
            return wrong("quorum", &found, "it must be at least a half, and less than all".to_owned());
        }
        for (term, found, most) in [
            ("share of a penalty", self.penalty_share, WHOLE),
            ("share of a slashing", self.slash_share, WHOLE),
            ("share of a bounty", self.bounty_share, WHOLE / 2),
        ] {
            if found > most {
                return wrong(term, &found, format!("at most {most} of {WHOLE} are allowed"));
            }
        }
        if self.slash_share == 0 {
            return wrong("share of a slashing", &0, "whoever signs a conflict must lose something".to_owned());
        }
        Ok(())
    }
}

/// What was deployed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deployed {
    /// The token.
    pub token: Address,
    /// The verifier.
    pub verifier: Address,
    /// The network.
    pub network: Address,
    /// The block from which on the network is followed.
    pub block: u64,
}

/// The most operators of a network: a snapshot of all their seats and keys fits into the gas that the contract allows for one.
const MOST_OPERATORS: u32 = 1_136;
/// The denominator of shares.
const WHOLE: u16 = 10_000;
/// How often the receipt is asked for.
const POLL: Duration = Duration::from_millis(20);

impl Account {
    /// An account on the node's chain, which pays no more than `fees` for a unit of gas.
    ///
    /// # Errors
    /// The node does not answer.
    pub async fn new(rpc: Rpc, payer: Payer, fees: FeeLimits) -> Result<Self, RpcError> {
        let chain_id = rpc.chain_id().await?;
        let address = payer.address();
        let (wallet, patience) = (payer.wallet(), Duration::from_secs(60));
        let underway = watch::Sender::new(None);
        Ok(Self { rpc, wallet, address, chain_id, fees, patience, told: |_| {}, underway })
    }

    /// The same account, which tells each transaction before it is sent, and each contract that it created.
    #[must_use]
    pub fn telling(self, told: fn(AccountEvent)) -> Self {
        Self { told, ..self }
    }

    /// The transaction that may have been sent, and of which there is no receipt; `None` if there is none. Whoever drops a future of the
    /// account finds here what may be mined all the same.
    pub fn underway(&self) -> Option<B256> {
        *self.underway.borrow()
    }

    /// The account's address.
    pub fn address(&self) -> Address {
        self.address
    }

    /// Calls a contract, and waits until the transaction is mined.
    ///
    /// # Errors
    /// [`DeployError`], which begins with `what`.
    pub async fn send(
        &self,
        what: &'static str,
        to: Address,
        call: &impl SolCall,
    ) -> Result<TransactionReceipt, DeployError> {
        self.send_bytes(what, to, call.abi_encode().into()).await
    }

    /// Sends calldata, and waits until the transaction is mined.
    ///
    /// # Errors
    /// [`DeployError`], which begins with `what`.
    pub async fn send_bytes(
        &self,
        what: &'static str,
        to: Address,
        calldata: Bytes,
    ) -> Result<TransactionReceipt, DeployError> {
        let request = TransactionRequest::default().with_to(to).with_input(calldata);
        self.transact(what, request).await.map(|(_, receipt)| receipt)
    }

    /// Creates a contract, and waits until the transaction is mined.
    ///
    /// # Errors
    /// [`DeployError`], which begins with `what`.
    pub async fn create(&self, what: &'static str, code: Bytes) -> Result<(Address, TransactionReceipt), DeployError> {
        let (transaction, receipt) = self.transact(what, TransactionRequest::default().with_deploy_code(code)).await?;
        let Some(contract) = receipt.contract_address else {
            return Err(DeployError::Unknown { what, transaction, why: "the receipt names no contract".to_owned() });
        };
        (self.told)(AccountEvent::Created { what, contract });
        Ok((contract, receipt))
    }

    async fn next_nonce(&self, what: &'static str) -> Result<u64, DeployError> {
        let patience = self.patience.min(NONCE_PATIENCE);
        next_nonce(&self.rpc, self.address, patience).await.map_err(|error| match error {
            NonceError::Node(error) => failed(what, &error),
            source @ NonceError::Waiting { .. } => DeployError::Waiting { what, source },
        })
    }

    /// Sends a transaction, and waits until it is mined. Returns its hash and its receipt.
    async fn transact(
        &self,
        what: &'static str,
        request: TransactionRequest,
    ) -> Result<(B256, TransactionReceipt), DeployError> {
        let failed = |error: RpcError| failed(what, &error);
        let fees = self.fees.offer(&self.rpc).await.map_err(|error| match error {
            FeeError::Node(error) => failed(error),
            error => DeployError::Refused { what, why: error.to_string() },
        })?;
        let request = request.with_from(self.address);
        let estimate = self.rpc.quantity("eth_estimateGas", json!([request])).await.map_err(failed)?;
        let limit = gas_limit(estimate).map_err(|error| DeployError::Refused { what, why: error.to_string() })?;
        let request = request
            .with_chain_id(self.chain_id)
            .with_nonce(self.next_nonce(what).await?)
            .with_gas_limit(limit)
            .with_max_fee_per_gas(fees.max_fee)
            .with_max_priority_fee_per_gas(fees.tip);
        let signed = request.build(&self.wallet).await;
        let signed = signed.map_err(|error| DeployError::Unsigned { what, why: error.to_string() })?;
        let transaction = *signed.tx_hash();
        let bytes = Bytes::from(signed.encoded_2718());
        let unknown = |error: RpcError| DeployError::Unknown { what, transaction, why: error.to_string() };
        // Before it is sent: whoever is interrupted while the node does not answer has its name, too.
        (self.told)(AccountEvent::Sending { what, transaction });
        self.underway.send_replace(Some(transaction));
        match self.rpc.ask::<B256>("eth_sendRawTransaction", json!([bytes])).await {
            Ok(_) => {}
            // An earlier try reached the node, though its answer did not reach us.
            Err(error) if error.send_refusal() == Some(SendRefusal::Seen) => {}
            Err(error) if error.may_have_taken() => return Err(unknown(error)),
            Err(error) => {
                self.underway.send_replace(None);
                return Err(failed(error));
            }
        }
        let begun = Instant::now();
        loop {
            if let Some(receipt) = self.rpc.receipt(transaction).await.map_err(unknown)? {
                self.underway.send_replace(None);
                let reverted = DeployError::Reverted { what, transaction };
                return if receipt.status.is_zero() { Err(reverted) } else { Ok((transaction, receipt)) };
            }
            if begun.elapsed() > self.patience {
                return Err(DeployError::NotMined { what, transaction, after: self.patience });
            }
            sleep(POLL).await;
        }
    }
}

/// Deploys a verifier and a network, and a token if the plan names none, and funds the network's pool.
///
/// # Errors
/// [`DeployError`]. What was deployed before stays.
pub async fn task_network(account: &Account, plan: &NetworkPlan) -> Result<Deployed, DeployError> {
    plan.check()?;
    let token = match plan.token {
        Some(token) if !account.rpc.code(token).await.map_err(|error| failed("the token", &error))?.is_empty() => token,
        Some(token) => {
            let (term, expected) = ("token", "there must be a contract at that address".to_owned());
            return Err(DeployError::Term { term, found: token.to_string(), expected });
        }
        None => {
            let arguments = TestToken::constructorCall { supply: plan.supply };
            account.create("the token", with(TEST_TOKEN_CODE, &arguments.abi_encode())).await?.0
        }
    };
    // The verifier names the network, which the account creates next.
    let network = account.address.create(account.next_nonce("the verifier").await? + 1);
    let arguments = Verifier::constructorCall { network, pinned: U256::from(plan.pinned_slots) };
    let code = with(plan.key_group.verifier_code(), &arguments.abi_encode());
    let (verifier, _) = account.create("the verifier", code).await?;
    let genesis = match plan.genesis {
        Some(genesis) => genesis,
        None => account.rpc.newest().await.map_err(|error| failed("the network", &error))?.timestamp,
    };
    let parameters = Parameters {
        token,
        verifier,
        admin: plan.admin.unwrap_or(account.address),
        genesis,
        epochLength: plan.epoch_length,
        slashingWindow: plan.slashing_window,
        withdrawalDelay: plan.withdrawal_delay,
        unit: plan.unit,
        minimumStake: plan.minimum_stake,
        maximumOperators: plan.maximum_operators,
        quorumNumerator: plan.quorum_numerator,
        quorumDenominator: plan.quorum_denominator,
        performerReward: plan.performer_reward,
        attesterReward: plan.attester_reward,
        penaltyShare: plan.penalty_share,
        slashShare: plan.slash_share,
        bountyShare: plan.bounty_share,
    };
    let arguments = TaskNetwork::constructorCall { parameters };
    let code = with(TASK_NETWORK_CODE, &arguments.abi_encode());
    let (created, receipt) = account.create("the network", code).await?;
    if created != network {
        return Err(DeployError::Displaced { found: created, expected: network });
    }
    if !plan.pool.is_zero() {
        let approve = Erc20::approveCall { spender: network, value: plan.pool };
        account.send("the pool's tokens", token, &approve).await?;
        account.send("the pool", network, &TaskNetwork::fundCall { amount: plan.pool }).await?;
    }
    Ok(Deployed { token, verifier, network, block: receipt.block_number.to() })
}

fn with(code: &[u8], arguments: &[u8]) -> Bytes {
    [code, arguments].concat().into()
}

/// An answer before which, or by which, nothing was sent.
fn failed(what: &'static str, error: &RpcError) -> DeployError {
    match (error.revert(), error) {
        (Some(why), _) => DeployError::Refused { what, why },
        (None, RpcError::Halted { .. }) => DeployError::Refused { what, why: error.to_string() },
        (None, _) => DeployError::Node { what, why: error.to_string() },
    }
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

    /// Sends to a node on which so many transactions of the account wait, and which answers this about the one that is sent and about its
    /// receipt. Returns how often something was sent.
    fn sent(
        waiting: u64,
        answer: Result<Value, &'static str>,
        receipt: Value,
    ) -> (Result<TransactionReceipt, DeployError>, usize) {
        estimated("0x1", waiting, answer, receipt)
    }

    /// The same, to a node that estimates so much gas.
    fn estimated(
        estimate: &'static str,
        waiting: u64,
        answer: Result<Value, &'static str>,
        receipt: Value,
    ) -> (Result<TransactionReceipt, DeployError>, usize) {
        let count = Arc::new(Mutex::new(0));
        let counted = count.clone();
        let node = Proxy::alone(move |method, parameters| {
            Ok(match method {
                "eth_getTransactionCount" => json!(U64::from(if parameters[1] == "latest" { 7 } else { 7 + waiting })),
                "eth_getBlockByNumber" => json!({
                    "number": "0x1",
                    "hash": B256::ZERO,
                    "parentHash": B256::ZERO,
                    "timestamp": "0x1",
                    "baseFeePerGas": "0x1"
                }),
                "eth_sendRawTransaction" => {
                    *counted.lock().unwrap() += 1;
                    return answer.clone().map_err(str::to_owned);
                }
                "eth_getTransactionReceipt" => receipt.clone(),
                "eth_estimateGas" => json!(estimate),
                // The chain's id, and the tip.
                _ => json!("0x1"),
            })
        });
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let receipt = runtime.block_on(async {
            let payer = Payer::from_hex(&"07".repeat(32)).unwrap();
            let account = Account::new(Rpc::new(&node.url).unwrap(), payer, FeeLimits::default()).await.unwrap();
            let account = Account { patience: Duration::from_millis(100), ..account };
            let receipt = account.send_bytes("the pool", Address::repeat_byte(1), Bytes::new()).await;
            let is_open = matches!(receipt, Err(DeployError::Unknown { .. } | DeployError::NotMined { .. }));
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
        assert!(matches!(error, DeployError::Waiting { .. }) && count == 0, "{error}");
        assert!(error.to_string().contains("the pool: transactions of 0x"), "{error}");
    }

    /// It would run out of gas, and be paid.
    #[test]
    fn an_estimate_above_the_most_is_not_sent() {
        let (receipt, count) = estimated("0x1000001", 0, Ok(json!(B256::ZERO)), mined());
        let error = receipt.unwrap_err();
        assert!(matches!(error, DeployError::Refused { .. }) && count == 0, "{error}");
        assert!(error.to_string().starts_with("the pool: the call needs 16777217 gas"), "{error}");
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
        assert!(error.to_string().ends_with("; it may still be mined"), "{error}");
        assert_eq!(error.exit(), Exit::Io);
        // Another transaction has the nonce, or none.
        let error = sent(0, Err("replacement transaction underpriced"), mined()).0.unwrap_err();
        assert!(matches!(error, DeployError::Node { .. }) && error.exit() == Exit::Io, "{error}");
    }

    /// The node says nothing that can be read, of the sending or of the receipt.
    #[test]
    fn what_may_have_been_sent_is_named() {
        for (answer, receipt) in [(json!("nothing"), mined()), (json!(B256::ZERO), json!("nothing"))] {
            let error = sent(0, Ok(answer), receipt).0.unwrap_err();
            assert!(matches!(error, DeployError::Unknown { .. }) && error.exit() == Exit::Io, "{error}");
            let words = error.to_string();
            assert!(words.starts_with("the pool: transaction 0x") && words.contains(" may have been sent"), "{words}");
        }
        let reverted = json!({ "status": "0x0", "gasUsed": "0x5208", "blockNumber": "0x1", "blockHash": B256::ZERO });
        let error = sent(0, Ok(json!(B256::ZERO)), reverted).0.unwrap_err();
        assert!(matches!(error, DeployError::Reverted { .. }) && error.exit() == Exit::Negative, "{error}");
    }

    #[test]
    fn a_term_that_the_contract_refuses_is_named_before_anything_is_sent() {
        NetworkPlan::default().check().unwrap();
        let plan = NetworkPlan::default;
        for (changed, expected) in [
            (NetworkPlan { epoch_length: 0, ..plan() }, "epoch length is 0"),
            (NetworkPlan { slashing_window: 0, ..plan() }, "slashing window is 0"),
            (
                NetworkPlan { withdrawal_delay: 259_199, ..plan() },
                "withdrawal delay is 259199; it must be at least 259200",
            ),
            (NetworkPlan { unit: 0, ..plan() }, "unit is 0"),
            (NetworkPlan { minimum_stake: 99, ..plan() }, "minimum stake is 99; it must be at least the unit, 100"),
            (NetworkPlan { maximum_operators: 0, ..plan() }, "most operators is 0"),
            (NetworkPlan { maximum_operators: 1_137, ..plan() }, "1 to 1136"),
            (NetworkPlan { quorum_numerator: 1, ..plan() }, "quorum is 1/3; it must be at least a half"),
            (NetworkPlan { quorum_numerator: 3, ..plan() }, "quorum is 3/3"),
            (NetworkPlan { penalty_share: 10_001, ..plan() }, "share of a penalty is 10001"),
            (NetworkPlan { slash_share: 0, ..plan() }, "share of a slashing is 0"),
            (NetworkPlan { bounty_share: 5_001, ..plan() }, "at most 5000"),
        ] {
            let error = changed.check().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
