//! The calls of a watcher: demands, proofs, drops, and the money.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use alloy::primitives::{Address, B256, Bytes, U256};
use quorate_evm::{
    contract::OptimisticSettlement,
    follow::{Follower, SlotPosting},
    gas::Measured,
    posting::PostingConditions,
    watch::{WatchDuty, demand_call, drop_call, prove_call, withdraw_call},
};
use serde_json::json;
use tokio::sync::mpsc::Receiver;

use super::metrics::{WITHDRAW, WatchMetrics};
use crate::{
    fees::{FeeError, FeeLimits},
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
    /// Calls that are sent and not final.
    under_way: BTreeMap<Task, ()>,
    /// When calls that were refused are tried again.
    paused: BTreeMap<Task, Instant>,
    /// How many demands the payer can pay, as it was said last.
    demands: Option<u64>,
}

/// More gas than a demand takes.
const DEMAND_GAS: u128 = 120_000;

/// How long a call that was refused is not tried again.
const PAUSE: Duration = Duration::from_secs(30);

impl Sender {
    /// Asks the node what the payer has sent before.
    pub(super) async fn start(
        node: Rpc,
        payer: Payer,
        settings: &SettlementSettings,
        fees: FeeLimits,
        conditions: PostingConditions,
    ) -> Result<Self, RpcError> {
        let SettlementSettings { contract, confirmations, every, .. } = *settings;
        let settings = SubmitSettings { fees, confirmations, poll: every, ..SubmitSettings::default() };
        let (submitter, events) = Submitter::start(node.clone(), payer, settings).await?;
        let (under_way, paused) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self { node, contract, conditions, fees, submitter, events, under_way, paused, demands: None })
    }

    /// Who pays.
    pub(super) fn address(&self) -> Address {
        self.submitter.address()
    }

    /// Sends what is to be done about a posting, unless it is under way.
    pub(super) fn take(
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
            (WatchDuty::Prove, demand) => match prove_call(follower, posting, demand, &Measured::default()) {
                Ok(call) => (call.calldata, call.access_list, U256::ZERO),
                Err(error) => {
                    listener.problem(&format!("slot {}: {error}", posting.slot));
                    self.pause(task);
                    return;
                }
            },
        };
        self.submit(task, calldata, access_list, value, listener);
    }

    /// Looks what the payer has and is owed. Says at once if it cannot pay a demand.
    pub(super) async fn settle_accounts(
        &mut self,
        metrics: &WatchMetrics,
        listener: &mut impl SettlementListener,
    ) -> Result<(), RpcError> {
        let payer = self.address();
        let balance = self.node.quantity("eth_getBalance", json!([payer, "latest"])).await?;
        let price = match self.fees.offer(&self.node).await {
            Ok(fees) => Some(fees.max_fee),
            Err(FeeError::Node(error)) => return Err(error),
            // Gas costs more than is allowed.
            Err(_) => None,
        };
        let each = price.map(|price| U256::from(self.conditions.bond) + U256::from(price.saturating_mul(DEMAND_GAS)));
        let demands: u64 = each.map_or(0, |each| (balance / each.max(U256::ONE)).saturating_to());
        metrics.demands(demands);
        if self.demands != Some(demands) && demands < u64::from(self.conditions.slots) {
            let why = if price.is_none() { ": a unit of gas costs more than --max-fee" } else { "" };
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
                SubmitEvent::Final { label, .. } => {
                    self.under_way.remove(&label);
                }
                SubmitEvent::Refused { label, reason } => {
                    metrics.call(label.name(), "refused");
                    listener.problem(&format!("{} is refused: {reason}", shown(label)));
                    self.pause(label);
                }
                SubmitEvent::GivenUp { label, reason } => {
                    metrics.call(label.name(), "given up");
                    listener.problem(&format!("{} is given up: {reason}", shown(label)));
                    self.pause(label);
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
        let is_paused = self.paused.get(&task).is_some_and(|until| Instant::now() < *until);
        !is_paused && !self.under_way.contains_key(&task)
    }

    fn pause(&mut self, task: Task) {
        self.under_way.remove(&task);
        let now = Instant::now();
        self.paused.retain(|_, until| *until > now);
        self.paused.insert(task, now + PAUSE);
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
            Ok(()) => _ = self.under_way.insert(task, ()),
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
