//! The calls of a watcher: demands, proofs, drops, and the money.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use alloy::primitives::{Address, B256, Bytes, U256};
use quorate_evm::{
    contract::{OptimisticSettlement, Settlement},
    follow::{Follower, SlotPosting},
    gas::Measured,
    posting::PostingConditions,
    watch::{ProofBases, WatchDuty, demand_call, drop_call, prove_call, withdraw_call},
};
use serde_json::json;
use tokio::{sync::mpsc::Receiver, time::timeout};

use super::metrics::{WITHDRAW, WatchMetrics};
use crate::{
    fees::FeeLimits,
    gas::why_reverted,
    rpc::{Rpc, RpcError},
    settlement::{SettlementListener, SettlementSettings},
    submitter::{Call, Payer, SubmitEvent, SubmitSettings, Submitter},
};

/// A call that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    /// Something about a posting.
    Duty(WatchDuty, B256),
    /// What is credited is withdrawn.
    Withdraw,
}

impl Task {
    const fn name(self) -> &'static str {
        match self {
            Self::Duty(duty, _) => duty.name(),
            Self::Withdraw => WITHDRAW,
        }
    }
}

/// Whoever pays, and what was sent.
pub(super) struct Sender {
    node: Rpc,
    contract: Address,
    conditions: PostingConditions,
    fees: FeeLimits,
    submitter: Submitter<Task>,
    events: Receiver<SubmitEvent<Task>>,
    /// Calls that may still succeed.
    under_way: BTreeSet<Task>,
    /// Calls that failed, of postings that are there.
    paused: BTreeMap<Task, Pause>,
    /// How many demands the payer can pay, as it was said last.
    demands: Option<u64>,
}

/// A call that failed.
#[derive(Clone, Copy, Debug)]
struct Pause {
    /// When it is tried again.
    until: Instant,
    /// How often it failed.
    times: u32,
}

/// More gas than a demand takes.
const DEMAND_GAS: u128 = 120_000;

/// How long the node may take to say something about one posting. Other postings wait meanwhile.
pub(super) const NODE_PATIENCE: Duration = Duration::from_secs(5);

/// How long a call that failed is not tried again.
const PAUSE: Duration = Duration::from_secs(30);

impl Sender {
    /// Asks the node what the payer has sent before. Nothing is signed for another chain than this.
    pub(super) async fn start(
        node: Rpc,
        chain_id: u64,
        payer: Payer,
        settings: &SettlementSettings,
        fees: FeeLimits,
        conditions: PostingConditions,
    ) -> Result<Self, RpcError> {
        let SettlementSettings { contract, confirmations, every, .. } = *settings;
        let chain_id = Some(chain_id);
        let settings = SubmitSettings { fees, chain_id, confirmations, poll: every, ..SubmitSettings::default() };
        let (submitter, events) = Submitter::start(node.clone(), payer, settings).await?;
        let (under_way, paused) = (BTreeSet::new(), BTreeMap::new());
        Ok(Self { node, contract, conditions, fees, submitter, events, under_way, paused, demands: None })
    }

    /// Who pays.
    pub(super) fn address(&self) -> Address {
        self.submitter.address()
    }

    /// Forgets what failed about postings that are not there any more.
    pub(super) fn retain(&mut self, there: &BTreeSet<B256>) {
        self.paused.retain(|task, _| match task {
            Task::Duty(_, id) => there.contains(id),
            Task::Withdraw => true,
        });
    }

    /// Sends what is to be done about a posting, unless it is under way.
    pub(super) async fn take(
        &mut self,
        duty: WatchDuty,
        posting: &SlotPosting,
        follower: &mut Follower,
        listener: &mut impl SettlementListener,
    ) {
        let task = Task::Duty(duty, posting.id);
        if !self.is_free(task) {
            return;
        }
        let demand = posting.status.demand();
        let posting = &posting.posting;
        let (calldata, access_list, value) = match (duty, demand) {
            (WatchDuty::Demand, _) => (demand_call(posting), Vec::new(), U256::from(self.conditions.bond)),
            (WatchDuty::Drop, Some(demand)) => (drop_call(posting, demand), Vec::new(), U256::ZERO),
            (WatchDuty::Drop, None) => return,
            (WatchDuty::Prove, demand) => {
                let bases = self.bases(task, follower).await;
                match prove_call(follower, posting, demand, bases, &Measured::default()) {
                    Ok(call) => (call.calldata, call.access_list, U256::ZERO),
                    Err(error) => {
                        listener.problem(&format!("slot {}: {error}", posting.slot));
                        self.pause(task);
                        return;
                    }
                }
            }
        };
        self.submit(task, calldata, access_list, value, listener);
    }

    /// From which bases the next try of a proof starts. The follower knows the contract as of its last confirmed block, and the contract
    /// compares what it is now. If that has changed, or a try failed, a dearer proof depends on less of it.
    async fn bases(&self, task: Task, follower: &Follower) -> ProofBases {
        match self.paused.get(&task).map_or(0, |pause| pause.times % 3) {
            0 => {
                let call = Settlement::stateCall {};
                let state = timeout(NODE_PATIENCE, self.node.read(self.contract, &call, None)).await;
                // Of a node that does not answer nothing is known.
                let stands = matches!(state, Ok(Ok(state)) if state == follower.state());
                if stands { ProofBases::All } else { ProofBases::Ring }
            }
            1 => ProofBases::Ring,
            _ => ProofBases::Nothing,
        }
    }

    /// Looks what the payer has and is owed. Says at once if it cannot pay a demand.
    pub(super) async fn settle_accounts(
        &mut self,
        metrics: &WatchMetrics,
        listener: &mut impl SettlementListener,
    ) -> Result<(), RpcError> {
        let payer = self.address();
        let balance = self.node.quantity("eth_getBalance", json!([payer, "latest"])).await?;
        let prices = FeeLimits::prices(&self.node, &self.node.newest().await?).await?;
        let price = self.fees.for_call(prices).map(|fees| fees.max_fee);
        let each = price.map(|price| U256::from(self.conditions.bond) + U256::from(price.saturating_mul(DEMAND_GAS)));
        let demands: u64 = each.map_or(0, |each| (balance / each.max(U256::ONE)).saturating_to());
        metrics.demands(demands);
        if self.demands != Some(demands) && demands < u64::from(self.conditions.slots) {
            let why = if price.is_none() { ": a unit of gas costs more than calls may use of --max-fee" } else { "" };
            let slots = self.conditions.slots;
            let said = format!("the payer {payer} can pay {demands} demands{why}; the contract has {slots} slots");
            if demands == 0 { listener.problem(&said) } else { listener.note(&said) }
        }
        self.demands = Some(demands);
        let account = OptimisticSettlement::accountOfCall { owner: payer };
        let account = self.node.read(self.contract, &account, None).await?;
        if !account.credit.is_zero() && self.is_free(Task::Withdraw) {
            self.submit(Task::Withdraw, withdraw_call(), Vec::new(), U256::ZERO, listener);
        }
        Ok(())
    }

    /// Takes note of what happened to calls.
    pub(super) fn hear(&mut self, metrics: &WatchMetrics, listener: &mut impl SettlementListener) {
        while let Ok(event) = self.events.try_recv() {
            if let Some(task) = event.ended().copied() {
                match event {
                    SubmitEvent::Final { .. } => _ = self.under_way.remove(&task),
                    _ => self.pause(task),
                }
            }
            match event {
                SubmitEvent::Sent { label, transaction, .. } => {
                    metrics.call(label.name(), "sent");
                    listener.note(&format!("{}: transaction {transaction}", shown(label)));
                }
                SubmitEvent::Mined { label, succeeded, block, gas_used, gas_limit, .. } => {
                    metrics.call(label.name(), if succeeded { "done" } else { "failed" });
                    let why = || format!("failed, because {}", why_reverted(gas_used, gas_limit));
                    let how = if succeeded { "done".to_owned() } else { why() };
                    listener.note(&format!("{}: {how}, in block {block}", shown(label)));
                }
                // It is sent again.
                SubmitEvent::Undone { label, .. } => _ = self.under_way.insert(label),
                SubmitEvent::Refused { label, reason } => {
                    metrics.call(label.name(), "refused");
                    listener.problem(&format!("{} is refused: {reason}", shown(label)));
                }
                SubmitEvent::GivenUp { label, reason } => {
                    metrics.call(label.name(), "given up");
                    listener.problem(&format!("{} is given up: {reason}", shown(label)));
                }
                SubmitEvent::Stuck { label, nonce, reason } => {
                    let what = label.map_or_else(|| "a transaction of an earlier run".to_owned(), shown);
                    listener.problem(&format!(
                        "{what} waits, and nothing more can be sent for its nonce {nonce}: {reason}"
                    ));
                }
                _ => {}
            }
        }
    }

    fn is_free(&self, task: Task) -> bool {
        let is_paused = self.paused.get(&task).is_some_and(|pause| Instant::now() < pause.until);
        !is_paused && !self.under_way.contains(&task)
    }

    fn pause(&mut self, task: Task) {
        self.under_way.remove(&task);
        let until = Instant::now() + PAUSE;
        let pause = self.paused.entry(task).or_insert(Pause { until, times: 0 });
        *pause = Pause { until, times: pause.times.saturating_add(1) };
    }

    fn submit(
        &mut self,
        task: Task,
        calldata: Bytes,
        access_list: Vec<Address>,
        value: U256,
        listener: &mut impl SettlementListener,
    ) {
        let call = Call { label: task, to: self.contract, calldata, value, access_list, gas_limit: None };
        match self.submitter.submit(call) {
            Ok(()) => _ = self.under_way.insert(task),
            Err(error) => {
                listener.problem(&format!("{}: {error}", shown(task)));
                self.pause(task);
            }
        }
    }
}

/// A call for the log.
fn shown(task: Task) -> String {
    match task {
        Task::Duty(duty, id) => format!("{} posting {id}", duty.name()),
        Task::Withdraw => "withdraw the credit".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        path::PathBuf,
        sync::{Arc, Mutex},
    };

    use alloy::primitives::U64;
    use quorate_evm::follow::Deployment;
    use quorate_lab::proxy::Proxy;
    use tokio::{runtime, sync::mpsc};

    use super::*;
    use crate::{
        settlement::{OptionNames, SettlementMetrics},
        task_network::Confirmations,
    };

    const PROOF: Task = Task::Duty(WatchDuty::Prove, B256::repeat_byte(7));

    struct Heard;

    impl SettlementListener for Heard {
        fn note(&mut self, _: &str) {}

        fn problem(&mut self, _: &str) {}
    }

    /// A sender at a node whose contract has this state, and the runtime of its questions.
    fn sender(state: Arc<Mutex<B256>>) -> (Sender, Rpc, runtime::Runtime) {
        let node = Proxy::alone(move |method, _| {
            Ok(if method == "eth_call" { json!(*state.lock().unwrap()) } else { json!(U64::from(1)) })
        });
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let rpc = Rpc::new(&node.url).unwrap();
        let payer = Payer::from_hex(&"07".repeat(32)).unwrap();
        let settings = SettlementSettings {
            contract: Address::repeat_byte(1),
            chain_id: None,
            from_block: 0,
            confirmations: Confirmations::Finalized,
            blocks_at_once: 1,
            every: Duration::from_secs(3_600),
            cursor: PathBuf::new(),
            options: OptionNames {
                rpc: "",
                contract: "",
                chain_id: "",
                most_bond: "",
                from_block: "",
                confirmations: "",
                cursor: "",
            },
        };
        let conditions = PostingConditions {
            window: 4,
            window_blocks: 4,
            answer: 4,
            answer_blocks: 4,
            slots: 4,
            penalty: 1,
            bond: 1,
        };
        let started = Sender::start(rpc.clone(), 1, payer, &settings, FeeLimits::default(), conditions);
        let sender = runtime.block_on(started).unwrap();
        (sender, rpc, runtime)
    }

    /// The state moved between its simulation and its block. With `finalized` it is final only when the answer's span may be over.
    #[test]
    fn a_proof_that_came_too_late_is_made_again_before_it_is_final() {
        let (mut sender, rpc, _runtime) = sender(Arc::default());
        let metrics = WatchMetrics::begun(Arc::new(SettlementMetrics::begun(rpc, Duration::from_secs(4))));
        let (outbox, inbox) = mpsc::channel(8);
        sender.events = inbox;
        let (transaction, block, gas_used, gas_limit, fee_paid) = (B256::repeat_byte(1), 9, 5, 6, 1);
        let mined = |succeeded| {
            let label = PROOF;
            SubmitEvent::Mined { label, transaction, block, gas_used, gas_limit, fee_paid, succeeded }
        };
        let ended = |succeeded| SubmitEvent::Final { label: PROOF, transaction, block, succeeded };
        let hear = |sender: &mut Sender, event| {
            outbox.try_send(event).unwrap();
            sender.hear(&metrics, &mut Heard);
        };
        sender.under_way.insert(PROOF);
        hear(&mut sender, mined(true));
        assert!(sender.under_way.contains(&PROOF), "a reorganisation may undo it");
        hear(&mut sender, mined(false));
        assert!(sender.under_way.is_empty() && !sender.is_free(PROOF), "it waits a little");
        sender.paused.get_mut(&PROOF).unwrap().until = Instant::now();
        assert!(sender.is_free(PROOF));
        // The second try is under way when the first one becomes final.
        sender.under_way.insert(PROOF);
        hear(&mut sender, ended(false));
        assert!(sender.under_way.contains(&PROOF));
        hear(&mut sender, ended(true));
        assert!(sender.under_way.is_empty());
        // A reorganisation undoes the first try: the submitter sends it again, and nobody else.
        hear(&mut sender, SubmitEvent::Undone { label: PROOF, transaction });
        assert!(!sender.is_free(PROOF));
    }

    #[test]
    fn each_try_of_a_proof_depends_on_less() {
        let (chain_id, contract) = (1, Address::repeat_byte(1));
        let deployment = Deployment { chain_id, contract, pinned_slots: 1, changes_a_store: 5, digest_hash: None };
        let follower = Follower::new(deployment);
        let state = Arc::new(Mutex::new(follower.state()));
        let (mut sender, _rpc, runtime) = sender(state.clone());
        let bases = |sender: &Sender| runtime.block_on(sender.bases(PROOF, &follower));
        assert_eq!(bases(&sender), ProofBases::All);
        *state.lock().unwrap() = B256::repeat_byte(9);
        assert_eq!(bases(&sender), ProofBases::Ring);
        *state.lock().unwrap() = follower.state();
        for expected in [ProofBases::Ring, ProofBases::Nothing, ProofBases::All] {
            sender.pause(PROOF);
            assert_eq!(bases(&sender), expected);
        }
        // What failed about a posting is known as long as the posting is there.
        sender.retain(&BTreeSet::from([B256::repeat_byte(7)]));
        assert_eq!(sender.paused[&PROOF].times, 3);
        sender.retain(&BTreeSet::new());
        assert!(sender.paused.is_empty());
    }
}
