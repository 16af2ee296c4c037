//! Carries out what the machine says: asks the node, signs, sends.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use alloy::{
    network::{EthereumWallet, TransactionBuilder as _},
    primitives::{Address, B256, Bytes, U256},
    rpc::types::TransactionRequest,
};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use quorate_evm::gas::MOST_GAS;
use serde_json::json;
use tokio::{
    sync::mpsc::{Receiver, Sender},
    time::{MissedTickBehavior, interval},
};

use super::{
    call::{Call, SubmitEvent, SubmitSettings},
    machine::{Content, Due, Machine, Mined, Sight},
    payer::Payer,
};
use crate::{
    fees::{FeeLimits, TipCut},
    gas::gas_limit,
    nonce::count,
    refusal::SendRefusal,
    rpc::{AT_A_TIME, Rpc, RpcBlock, RpcError},
    transaction,
};

/// The machine, and what it acts on.
pub(super) struct Driver<L> {
    rpc: Rpc,
    wallet: EthereumWallet,
    address: Address,
    chain_id: u64,
    settings: SubmitSettings,
    machine: Machine<L>,
    /// The signed bytes of transactions that are not final.
    signed: BTreeMap<B256, Bytes>,
    begun: Instant,
    calls: Receiver<Call<L>>,
    events: Sender<SubmitEvent<L>>,
    /// Whether the last round failed, so that a failure is logged once.
    fails: bool,
    /// That the node asked last for a higher tip than is allowed. It is logged once, and said with each refusal.
    tip_cut: Option<TipCut>,
    seen: Seen,
    /// The newest block, and those of the accounts called in it that have code.
    contracts: (B256, BTreeSet<Address>),
}

/// Blocks with transactions, which were of the chain when this block was the newest. A block names the one before it: while the newest one
/// is the chain's, so are they.
#[derive(Default)]
struct Seen {
    newest: (u64, B256),
    blocks: BTreeSet<B256>,
}

/// Why a round ended early.
enum Stop {
    Rpc(RpcError),
    /// Nobody reads events any more.
    Ended,
}

impl From<RpcError> for Stop {
    fn from(error: RpcError) -> Self {
        Self::Rpc(error)
    }
}

/// Why a call is not sent.
enum Unsent {
    /// The contract refuses it, or a check of the node, for this reason.
    Refused(String),
    /// The node fails, which says nothing about the call.
    Rpc(RpcError),
}

impl From<RpcError> for Unsent {
    fn from(error: RpcError) -> Self {
        if error.is_of_call() {
            Self::Refused(error.revert().unwrap_or_else(|| error.to_string()))
        } else {
            Self::Rpc(error)
        }
    }
}

impl<L: Clone + Send + Sync + 'static> Driver<L> {
    pub(super) async fn new(
        rpc: Rpc,
        payer: Payer,
        settings: SubmitSettings,
        calls: Receiver<Call<L>>,
        events: Sender<SubmitEvent<L>>,
    ) -> Result<Self, RpcError> {
        let address = payer.address();
        let chain_id = match settings.chain_id {
            Some(chain_id) => chain_id,
            None => rpc.chain_id().await?,
        };
        let mined = count(&rpc, address, "latest").await?;
        let pending = count(&rpc, address, "pending").await?;
        let machine = Machine::new(settings.clone(), mined, pending, 1);
        Ok(Self {
            rpc,
            wallet: payer.wallet(),
            address,
            chain_id,
            settings,
            machine,
            signed: BTreeMap::new(),
            begun: Instant::now(),
            calls,
            events,
            fails: false,
            tip_cut: None,
            seen: Seen::default(),
            contracts: (B256::ZERO, BTreeSet::new()),
        })
    }

    /// Milliseconds since the start, at least 1.
    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
    }

    /// Works until nobody submits or reads any more.
    pub(super) async fn run(mut self) {
        let mut ticks = interval(self.settings.poll.max(std::time::Duration::from_millis(1)));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let has_room = self.machine.has_room();
            tokio::select! {
                call = self.calls.recv(), if has_room => match call {
                    Some(call) => {
                        let now = self.now();
                        self.machine.submit(call, now);
                    }
                    None => return,
                },
                _ = ticks.tick() => {}
            }
            while self.machine.has_room()
                && let Ok(call) = self.calls.try_recv()
            {
                let now = self.now();
                self.machine.submit(call, now);
            }
            match self.round().await {
                Ok(()) => self.fails = false,
                Err(Stop::Ended) => return,
                Err(Stop::Rpc(error)) => {
                    if !std::mem::replace(&mut self.fails, true) {
                        tracing::warn!(%error, "transactions wait for the node");
                    }
                }
            }
        }
    }

    async fn round(&mut self) -> Result<(), Stop> {
        // Before the node is asked: no call is given up for the time that its answers take.
        let now = self.now();
        let newest = self.rpc.newest().await?;
        if self.contracts.0 != newest.hash {
            self.contracts = (newest.hash, BTreeSet::new());
        }
        let sight = self.sight(&newest).await?;
        for event in self.machine.observe(&sight, now) {
            self.tell(event).await?;
        }
        let unfinished: BTreeSet<B256> = self.machine.unfinished().into_iter().collect();
        self.signed.retain(|hash, _| unfinished.contains(hash));
        let prices = FeeLimits::prices(&self.rpc, &newest).await?;
        let tip_cut = self.settings.fees.tip_cut(prices);
        if let (None, Some(cut)) = (self.tip_cut, tip_cut) {
            tracing::warn!("{cut}");
        }
        self.tip_cut = tip_cut;
        for due in self.machine.due(prices, self.now()) {
            self.carry_out(due).await?;
        }
        while let Some(call) = self.machine.next().cloned() {
            match self.simulate(&call).await {
                Ok(gas_limit) => {
                    let now = self.now();
                    // It costs too much now.
                    let Some(due) = self.machine.accept(gas_limit, prices, now) else { break };
                    self.carry_out(due).await?;
                }
                Err(Unsent::Refused(reason)) => {
                    if let Some(event) = self.machine.refused(reason) {
                        self.tell(event).await?;
                    }
                }
                Err(Unsent::Rpc(error)) => return Err(error.into()),
            }
        }
        Ok(())
    }

    async fn tell(&self, event: SubmitEvent<L>) -> Result<(), Stop> {
        self.events.send(event).await.map_err(|_| Stop::Ended)
    }

    async fn sight(&mut self, newest: &RpcBlock) -> Result<Sight, RpcError> {
        let last_final = self.settings.confirmations.last_final(&self.rpc, newest).await?;
        let nonce = count(&self.rpc, self.address, "latest").await?;
        let (mut mined, moved) = self.still_mined(newest, last_final).await?;
        let this = &*self;
        let ask = |hash: B256| this.receipt(hash);
        let hashes = this.machine.not_mined().into_iter().chain(moved);
        let found: Vec<_> = stream::iter(hashes).map(ask).buffered(AT_A_TIME).try_collect().await?;
        mined.extend(found.into_iter().flatten().map(|mined| (mined.hash, mined)));
        Ok(Sight { newest: newest.number, last_final, nonce, mined })
    }

    /// The transactions that were mined and whose blocks are still the chain's, and those whose blocks are not. One in a block above the
    /// newest is in neither: the node is behind.
    async fn still_mined(
        &mut self,
        newest: &RpcBlock,
        last_final: Option<u64>,
    ) -> Result<(BTreeMap<B256, Mined>, Vec<B256>), RpcError> {
        let mut all = self.machine.mined();
        all.retain(|mined| mined.block <= newest.number);
        let before = self.seen.newest;
        if !self.seen.blocks.is_empty() && !self.is_of_chain(before, newest).await? {
            self.seen.blocks.clear();
        }
        // What is told as final is looked at once more.
        let is_sure =
            |block: &(u64, B256)| self.seen.blocks.contains(&block.1) && last_final.is_none_or(|end| block.0 > end);
        let blocks: BTreeSet<(u64, B256)> = all.iter().map(|mined| (mined.block, mined.block_hash)).collect();
        let (sure, unsure): (Vec<_>, Vec<_>) = blocks.into_iter().partition(is_sure);
        let this = &*self;
        let ask = |block: (u64, B256)| async move {
            let is_of_chain = this.is_of_chain(block, newest).await?;
            Ok::<_, RpcError>(is_of_chain.then_some(block))
        };
        let found: Vec<_> = stream::iter(unsure).map(ask).buffered(AT_A_TIME).try_collect().await?;
        let blocks: BTreeSet<B256> = found.into_iter().flatten().chain(sure).map(|(_, hash)| hash).collect();
        let (there, moved): (Vec<_>, Vec<_>) = all.into_iter().partition(|mined| blocks.contains(&mined.block_hash));
        self.seen = Seen { newest: (newest.number, newest.hash), blocks };
        Ok((
            there.into_iter().map(|mined| (mined.hash, mined)).collect(),
            moved.into_iter().map(|mined| mined.hash).collect(),
        ))
    }

    /// Whether a block is one of the chain that ends with this one.
    async fn is_of_chain(&self, (number, hash): (u64, B256), newest: &RpcBlock) -> Result<bool, RpcError> {
        if number == newest.number {
            return Ok(hash == newest.hash);
        }
        Ok(self.rpc.block_at(number).await?.is_some_and(|block| block.hash == hash))
    }

    /// Where a transaction is; `None` if it is in no block.
    async fn receipt(&self, hash: B256) -> Result<Option<Mined>, RpcError> {
        let Some(receipt) = self.rpc.receipt(hash).await? else { return Ok(None) };
        let gas_used: u64 = receipt.gas_used.to();
        let price: u128 = receipt.effective_gas_price.saturating_to();
        Ok(Some(Mined {
            hash,
            block: receipt.block_number.to(),
            block_hash: receipt.block_hash,
            gas_used,
            fee_paid: price.saturating_mul(gas_used.into()),
            succeeded: !receipt.status.is_zero(),
        }))
    }

    /// Lets the node call the contract in the newest block's state. Returns the limit of the gas.
    async fn simulate(&mut self, call: &Call<L>) -> Result<u64, Unsent> {
        self.refuse_without_code(call).await?;
        let request = self.request(call);
        let simulated = match call.gas_limit {
            Some(limit) => request.clone().with_gas_limit(limit.min(MOST_GAS)),
            None => request.clone(),
        };
        let _: Bytes = self.rpc.ask("eth_call", json!([simulated, "latest"])).await?;
        if let Some(limit) = call.gas_limit {
            return Ok(limit.min(MOST_GAS));
        }
        let estimate = self.rpc.quantity("eth_estimateGas", json!([request, "latest"])).await?;
        gas_limit(estimate).map_err(|error| Unsent::Refused(error.to_string()))
    }

    /// A call of an account without code succeeds, does nothing, and is paid for. So is that of a contract which the chain has no more.
    async fn refuse_without_code(&mut self, call: &Call<L>) -> Result<(), Unsent> {
        if call.calldata.is_empty() || self.contracts.1.contains(&call.to) {
            return Ok(());
        }
        if self.rpc.code(call.to).await?.is_empty() {
            let (to, chain_id) = (call.to, self.chain_id);
            return Err(Unsent::Refused(format!(
                "there is no contract at {to} on chain {chain_id}; is the node of that chain?"
            )));
        }
        self.contracts.1.insert(call.to);
        Ok(())
    }

    fn request(&self, call: &Call<L>) -> TransactionRequest {
        let request = transaction::call(call.to, call.calldata.clone(), &call.access_list);
        request.with_from(self.address).with_value(call.value)
    }

    async fn carry_out(&mut self, due: Due<L>) -> Result<(), Stop> {
        let (nonce, hash, sent) = match due {
            Due::Again { hash } => (None, hash, None),
            Due::Tell(event) => return self.tell(event).await,
            Due::Send { nonce, call, gas_limit, fees, content } => {
                let request = match (&call, content) {
                    (Some(call), Content::Call) => self.request(call),
                    _ => {
                        let nothing = TransactionRequest::default().with_value(U256::ZERO);
                        nothing.with_from(self.address).with_to(self.address)
                    }
                };
                let signed = transaction::sign(request, &self.wallet, self.chain_id, nonce, gas_limit, fees).await;
                let (hash, bytes) = match signed {
                    Ok(signed) => signed,
                    // All fields are set, and the wallet has the key of `from`.
                    Err(error) => {
                        tracing::error!(%error, "a transaction cannot be signed");
                        return Ok(());
                    }
                };
                self.signed.insert(hash, bytes);
                let now = self.now();
                (Some(nonce), hash, self.machine.sent(nonce, hash, fees, content, now))
            }
        };
        let Some(bytes) = self.signed.get(&hash) else { return Ok(()) };
        let answer = self.rpc.ask::<B256>("eth_sendRawTransaction", json!([bytes])).await;
        // If the node has it already, or something with its nonce, the next rounds see what.
        let refusal = match &answer {
            Err(error @ RpcError::Refused { message, .. }) if !error.may_pass() => match error.send_refusal() {
                Some(SendRefusal::Seen | SendRefusal::Outbid) => None,
                Some(SendRefusal::Underpriced) => Some(self.with_tip(message)),
                _ => Some(message.clone()),
            },
            _ => None,
        };
        // Only then its nonce is free. Of several nodes behind one URL, another one may have it.
        let is_absent = match &answer {
            Err(error) if nonce.is_some() && refusal.is_some() && !error.may_have_taken() => {
                matches!(self.rpc.has(hash).await, Ok(false))
            }
            _ => false,
        };
        if is_absent
            && let (Some(reason), Some(nonce)) = (&refusal, nonce)
            && let Some(refused) = self.machine.rejected(nonce, hash, reason.clone())
        {
            return self.tell(refused).await;
        }
        if let Some(sent) = sent {
            self.tell(sent).await?;
        }
        if let Some(stuck) = refusal.and_then(|reason| self.machine.stuck(hash, reason)) {
            self.tell(stuck).await?;
        }
        match answer {
            // The node gave no answer that can be used. It is sent again later, as after any other error.
            Err(error) if error.may_pass() || !matches!(error, RpcError::Refused { .. }) => Err(error.into()),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// A node's words about fees that are too low for it, with the reason if it is ours.
    fn with_tip(&self, words: &str) -> String {
        self.tip_cut.map_or_else(|| words.to_owned(), |cut| format!("{words}; {cut}"))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, Mutex},
        time::Duration,
    };

    use alloy::primitives::U64;
    use quorate_lab::proxy::Proxy;
    use serde_json::Value;
    use tokio::{runtime, sync::mpsc};

    use super::*;
    use crate::rpc::RpcLimits;

    /// What a node answers to a transaction, and which it took.
    struct Node {
        takes: Result<(), &'static str>,
        /// What it answers to a simulation.
        simulates: Result<(), &'static str>,
        estimate: &'static str,
        newest: u8,
        /// Of each account.
        code: &'static str,
        taken: u64,
        /// Whether it has the transactions that it refuses: another node behind its URL took them.
        has: bool,
        /// How often each method was asked.
        asked: BTreeMap<String, usize>,
    }

    /// A driver of a node that mines what it takes in block 5, and makes nothing final. Each round is the test's.
    struct Rig {
        node: Arc<Mutex<Node>>,
        driver: Driver<u8>,
        events: Receiver<SubmitEvent<u8>>,
        _calls: Sender<Call<u8>>,
        runtime: runtime::Runtime,
    }

    fn answer(node: &mut Node, method: &str, parameters: &Value) -> Result<Value, String> {
        *node.asked.entry(method.to_owned()).or_default() += 1;
        let block = |number: u8| {
            let hash = B256::repeat_byte(number);
            json!({ "number": U64::from(number), "hash": hash, "parentHash": B256::ZERO, "timestamp": "0x1", "baseFeePerGas": "0x1" })
        };
        Ok(match method {
            "eth_getTransactionCount" => json!(U64::from(node.taken)),
            "eth_getBlockByNumber" => match parameters[0].as_str() {
                Some("latest") => block(node.newest),
                Some("0x5") => block(5),
                _ => Value::Null,
            },
            "eth_getTransactionReceipt" => json!({
                "status": "0x1",
                "gasUsed": "0x5208",
                "blockNumber": "0x5",
                "blockHash": B256::repeat_byte(5)
            }),
            "eth_getTransactionByHash" if node.has => json!({ "hash": parameters[0] }),
            "eth_getTransactionByHash" => Value::Null,
            "eth_getCode" => json!(node.code),
            "eth_call" => {
                node.simulates.map_err(str::to_owned)?;
                json!("0x")
            }
            "eth_estimateGas" => json!(node.estimate),
            // 25 gwei.
            "eth_maxPriorityFeePerGas" => json!("0x5d21dba00"),
            "eth_sendRawTransaction" => {
                node.takes.map_err(str::to_owned)?;
                node.taken += 1;
                json!(B256::ZERO)
            }
            _ => json!("0x1"),
        })
    }

    fn rig(takes: Result<(), &'static str>, estimate: &'static str) -> Rig {
        rig_of(None, takes, estimate)
    }

    /// The same where the chain's id is known, or asked for.
    fn rig_of(chain_id: Option<u64>, takes: Result<(), &'static str>, estimate: &'static str) -> Rig {
        let node = Node {
            takes,
            simulates: Ok(()),
            estimate,
            newest: 9,
            code: "0x60",
            taken: 0,
            has: false,
            asked: BTreeMap::new(),
        };
        let node = Arc::new(Mutex::new(node));
        let answering = node.clone();
        let proxy = Proxy::alone(move |method, parameters| answer(&mut answering.lock().unwrap(), method, parameters));
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let limits = RpcLimits { tries: 2, first_wait: Duration::from_millis(1), ..RpcLimits::default() };
        let rpc = Rpc::with(&proxy.url, limits).unwrap();
        let payer = Payer::from_hex(&"07".repeat(32)).unwrap();
        let settings = SubmitSettings { bump_after: Duration::ZERO, chain_id, ..SubmitSettings::default() };
        let ((calls, inbox), (outbox, events)) = (mpsc::channel(1), mpsc::channel(1_024));
        let driver = runtime.block_on(Driver::new(rpc, payer, settings, inbox, outbox)).unwrap();
        Rig { node, driver, events, _calls: calls, runtime }
    }

    impl Rig {
        fn submit(&mut self, label: u8) {
            let call = Call {
                label,
                to: Address::repeat_byte(1),
                calldata: Bytes::from_static(&[1]),
                value: U256::ZERO,
                access_list: Vec::new(),
                gas_limit: None,
            };
            let now = self.driver.now();
            self.driver.machine.submit(call, now);
        }

        /// A round. The answer is whether it came to its end, and what it told.
        fn round(&mut self) -> (bool, Vec<SubmitEvent<u8>>) {
            let ended = self.runtime.block_on(self.driver.round()).is_ok();
            (ended, std::iter::from_fn(|| self.events.try_recv().ok()).collect())
        }

        fn asked(&self, method: &str) -> usize {
            self.node.lock().unwrap().asked.get(method).copied().unwrap_or(0)
        }
    }

    /// A node that lies chooses no chain for which is signed.
    #[test]
    fn a_chain_that_is_known_is_not_asked_for() {
        let mut rig = rig_of(Some(5), Ok(()), "0x5208");
        rig.submit(1);
        let (_, told) = rig.round();
        assert!(matches!(told[..], [SubmitEvent::Sent { label: 1, .. }, ..]), "{told:?}");
        assert_eq!((rig.driver.chain_id, rig.asked("eth_chainId")), (5, 0));
        assert_eq!(rig_of(None, Ok(()), "0x5208").driver.chain_id, 1);
    }

    const TOO_LOW: &str = "transaction underpriced: gas tip cap 3000000000, minimum needed 25000000000";

    /// It is not there, so its nonce is free, and whoever submitted it is told at once.
    #[test]
    fn a_first_offer_that_the_node_finds_too_low_is_refused_in_words() {
        let mut rig = rig(Err(TOO_LOW), "0x5208");
        rig.submit(1);
        let (_, told) = rig.round();
        let [SubmitEvent::Refused { label: 1, reason }] = &told[..] else { panic!("{told:?}") };
        assert!(reason.starts_with(TOO_LOW) && reason.contains("more than --max-tip 3"), "{reason}");
        assert!(reason.ends_with("until --max-tip is raised"), "{reason}");
        assert!(rig.driver.machine.unfinished().is_empty());
        // Another transaction has the nonce: it may be mined, so the next offer is higher.
        rig.node.lock().unwrap().takes = Err("replacement transaction underpriced");
        rig.submit(2);
        let (_, told) = rig.round();
        assert!(matches!(told[..], [SubmitEvent::Sent { label: 2, .. }]), "{told:?}");
    }

    /// What was sent may be mined all the same, so the call goes on.
    #[test]
    fn a_refusal_of_what_is_sent_later_is_told_once() {
        let mut rig = rig(Ok(()), "0x5208");
        rig.submit(1);
        rig.round();
        let hash = rig.driver.machine.unfinished()[0];
        let words = "insufficient funds for gas * price + value";
        rig.node.lock().unwrap().takes = Err(words);
        for told in [1, 0] {
            let again = rig.runtime.block_on(rig.driver.carry_out(Due::Again { hash }));
            assert!(again.is_ok());
            let events: Vec<_> = std::iter::from_fn(|| rig.events.try_recv().ok()).collect();
            assert_eq!(events.len(), told, "{events:?}");
            for event in events {
                assert_eq!(event, SubmitEvent::Stuck { label: Some(1), nonce: 0, reason: words.to_owned() });
            }
        }
        assert_eq!(rig.driver.machine.unfinished(), [hash]);
    }

    /// A gateway hands the transaction on, and answers with words of its own: the nonce is not given to another call, and whoever
    /// submitted it hears why nothing more is sent. The same if one of several nodes refuses what another one took.
    #[test]
    fn an_unknown_error_of_the_node_may_have_sent_the_transaction() {
        for (words, has) in [("internal error: upstream timed out", false), (TOO_LOW, true)] {
            let mut rig = rig(Err(words), "0x5208");
            rig.node.lock().unwrap().has = has;
            rig.submit(1);
            let (ended, told) = rig.round();
            let [SubmitEvent::Sent { label: 1, nonce: 0, .. }, SubmitEvent::Stuck { label: Some(1), nonce: 0, reason }] =
                &told[..]
            else {
                panic!("{told:?}")
            };
            assert!(ended && reason.starts_with(words), "{reason}");
            assert_eq!(rig.driver.machine.unfinished().len(), 1, "{words}");
        }
    }

    /// The answer to the first try is lost, and the tries after it are too many.
    #[test]
    fn a_sending_that_may_have_arrived_is_not_refused() {
        let mut rig = rig(Err("rate limit exceeded"), "0x5208");
        rig.submit(1);
        let (ended, told) = rig.round();
        assert!(!ended && matches!(told[..], [SubmitEvent::Sent { label: 1, nonce: 0, .. }]), "{told:?}");
        assert_eq!(rig.driver.machine.unfinished().len(), 1, "its nonce is not given to another call");
    }

    /// A node that has no state of the newest block says nothing about the call, which is simulated again. A contract or a check does.
    #[test]
    fn a_node_that_fails_to_simulate_refuses_no_call() {
        for words in
            ["header not found", "unknown block", "missing trie node 07", "execution timeout", "internal error"]
        {
            let mut rig = rig(Ok(()), "0x5208");
            rig.node.lock().unwrap().simulates = Err(words);
            rig.submit(1);
            assert_eq!(rig.round(), (false, Vec::new()), "{words}");
            rig.node.lock().unwrap().simulates = Ok(());
            let (_, told) = rig.round();
            assert!(matches!(told[..], [SubmitEvent::Sent { label: 1, .. }, ..]), "{words}: {told:?}");
        }
        for words in ["execution reverted", "out of gas", "insufficient funds for gas * price + value"] {
            let mut rig = rig(Ok(()), "0x5208");
            rig.node.lock().unwrap().simulates = Err(words);
            rig.submit(1);
            let (ended, told) = rig.round();
            let [SubmitEvent::Refused { label: 1, reason }] = &told[..] else { panic!("{told:?}") };
            assert!(ended && reason.contains(words), "{reason}");
        }
    }

    /// It would run out of gas, and be paid.
    #[test]
    fn an_estimate_above_the_most_is_not_sent() {
        let mut rig = rig(Ok(()), "0x1000001");
        rig.submit(1);
        let (_, told) = rig.round();
        let [SubmitEvent::Refused { label: 1, reason }] = &told[..] else { panic!("{told:?}") };
        assert!(reason.starts_with("the call needs 16777217 gas"), "{reason}");
        assert_eq!(rig.asked("eth_sendRawTransaction"), 0);
    }

    /// The chain was begun anew, and its node has no contract there any more. A call would succeed, do nothing, and be paid.
    #[test]
    fn nothing_is_sent_to_an_address_without_code() {
        let mut rig = rig(Ok(()), "0x5208");
        [1, 2].into_iter().for_each(|label| rig.submit(label));
        rig.round();
        assert_eq!(["eth_sendRawTransaction", "eth_getCode"].map(|method| rig.asked(method)), [2, 1], "once a block");
        {
            let mut node = rig.node.lock().unwrap();
            (node.newest, node.code) = (10, "0x");
        }
        rig.submit(3);
        let (_, told) = rig.round();
        let refused = told.iter().find_map(|event| match event {
            SubmitEvent::Refused { label: 3, reason } => Some(reason),
            _ => None,
        });
        assert!(refused.is_some_and(|reason| reason.starts_with("there is no contract at 0x0101")), "{told:?}");
        assert_eq!(rig.asked("eth_sendRawTransaction"), 2);
    }

    /// Without finality they are not asked for one by one, in each round, before a call is sent.
    #[test]
    fn many_transactions_that_are_not_final_do_not_hold_up_a_call() {
        let mut rig = rig(Ok(()), "0x5208");
        (1..=40).for_each(|label| rig.submit(label));
        let mut mined = 0;
        for _ in 0..4 {
            let (_, told) = rig.round();
            mined += told.iter().filter(|event| matches!(event, SubmitEvent::Mined { .. })).count();
        }
        assert_eq!((mined, rig.driver.machine.mined().len()), (40, 40));
        rig.round();
        rig.submit(41);
        let before = ["eth_getTransactionReceipt", "eth_getBlockByNumber"].map(|method| rig.asked(method));
        let (_, told) = rig.round();
        assert!(matches!(told[..], [SubmitEvent::Sent { label: 41, nonce: 40, .. }]), "{told:?}");
        let after = ["eth_getTransactionReceipt", "eth_getBlockByNumber"].map(|method| rig.asked(method));
        // The newest block, and the final one.
        assert_eq!(after, [before[0], before[1] + 2]);
    }
}
