//! The task that follows the chain and submits to it. It owns the follower and the submitter, so the loop never waits for the
//! chain's node.

use std::{collections::BTreeMap, time::Duration};

use quorate_chain::{
    Call, SubmitEvent, Submitter,
    gas::why_reverted,
    task_network::{NetworkFollowError, NetworkFollower},
};
use quorate_evm::{
    QuorumSignature, SnapshotId,
    alloy_primitives::{Address, B256, U256},
    contract::TaskNetwork,
    digest::Contract,
    task_network::{self, Change, PlannedCall, SignedTask},
};
use serde_json::json;
use tokio::{
    sync::mpsc,
    time::{MissedTickBehavior, interval, timeout},
};

use super::{
    begin,
    clock::now,
    tell::{self, Purpose, Sending},
};
use crate::board::{ChainReport, Component, NodeBoard, SeatWeight, old_head, problem_of_payer};
use quorate_network::{
    groups::add_up,
    message::{Attestation, ConflictEvidence},
    registry::Registry,
    roles::Settlement,
};

/// What the loop wants done on the chain.
#[derive(Debug)]
pub enum ChainOrder {
    /// Settle a task.
    Settle(Box<Settlement>),
    /// Report an operator's conflict.
    Report {
        /// The operator.
        operator: Address,
        /// What it signed.
        evidence: Box<ConflictEvidence>,
    },
    /// Fix the weights of the running epoch, or bring that forward.
    BeginEpoch,
}

impl ChainOrder {
    /// What it is for; none for the begin of an epoch, which is that of the chain when it is carried out.
    fn purpose(&self) -> Option<Purpose> {
        match self {
            Self::Settle(settlement) => Some(Purpose::Settle(settlement.candidate.id)),
            Self::Report { operator, evidence } => Some(Purpose::Report(*operator, evidence.id())),
            Self::BeginEpoch => None,
        }
    }
}

/// What the loop is told.
#[derive(Debug)]
pub enum ChainNews {
    /// What changed, in order.
    Changes(Vec<Change>),
    /// The chain cannot be followed at the moment, and why.
    Behind(String),
    /// A settlement was refused or given up.
    SettleFailed {
        /// The task.
        id: B256,
        /// The reason, in words.
        why: String,
    },
    /// A report was refused or given up.
    ReportFailed {
        /// The operator.
        operator: Address,
        /// The task that it signed twice.
        id: B256,
        /// The reason, in words.
        why: String,
    },
    /// What the pool has for rewards, in the token's smallest unit.
    Pool {
        /// What is owed to nobody yet.
        free: U256,
    },
    /// What is wrong with the account that pays for transactions; `None` if it has money.
    Payer(Option<String>),
    /// The operator's stake on its seat, in the token's smallest unit.
    Stake {
        /// The amount.
        stake: U256,
    },
    /// What the operator's seat weighs, and what its stake in a restaking protocol does. `None` if the network has no such protocol, or
    /// the operator no seat.
    Restaked(Option<SeatWeight>),
    /// The epoch was not begun.
    BeginFailed {
        /// The reason, in words.
        why: String,
    },
}

/// The loop's end of the two channels.
#[derive(Debug)]
pub struct ChainHandle {
    pub(super) orders: mpsc::Sender<ChainOrder>,
    /// What the loop is told.
    pub(super) news: mpsc::Receiver<ChainNews>,
}

impl ChainHandle {
    /// Hands an order in. If there is no room, it is dropped: the state machine asks again after its time.
    pub(super) fn order(&self, order: ChainOrder) {
        if let Err(error) = self.orders.try_send(order) {
            tracing::error!("an order for the chain is dropped, because many wait: {error}");
        }
    }
}

/// Follows and submits until the loop is gone.
pub struct ChainEdge {
    follower: NetworkFollower,
    /// None if the node does not aggregate.
    submitter: Option<Submitting>,
    network: Contract,
    registry: Registry,
    board: NodeBoard,
    operator: Option<Address>,
    every: Duration,
    orders: mpsc::Receiver<ChainOrder>,
    news: mpsc::Sender<ChainNews>,
    /// The newest block that was told: number, and time in seconds of Unix time.
    head: Option<(u64, u64)>,
    under_way: UnderWay,
    /// A settlement that was paid for and that no log confirms, in words, as it was told last.
    unconfirmed: Option<String>,
    /// Why nothing is submitted, in words: what was read may not be the chain any more.
    astray: Option<String>,
    /// The orders that wait meanwhile.
    waiting: Waiting,
}

/// Orders that wait while the chain's node cannot be believed. The loop hears nothing of it: after a failure it waits longer each time, up
/// to minutes, as after refusals of the contract, and this one ends when the node has caught up.
#[derive(Debug, Default)]
struct Waiting(BTreeMap<Purpose, ChainOrder>);

impl Waiting {
    /// The order, if it need not wait for this reason. It takes the place of an earlier one of the same purpose. The begin of an epoch does
    /// not wait: the loop sees at each block whether it is still wanted.
    fn unless(&mut self, astray: Option<&str>, order: ChainOrder) -> Option<ChainOrder> {
        let (Some(why), Some(purpose)) = (astray, order.purpose()) else { return Some(order) };
        if self.0.insert(purpose, order).is_none() {
            tracing::info!(%purpose, "it waits until the chain's node can be believed: {why}");
        }
        None
    }

    /// Notes what the chain's logs say: what is settled needs no settlement.
    fn change(&mut self, change: &Change) {
        if let Change::Settled { id, .. } = change {
            self.0.remove(&Purpose::Settle(*id));
        }
    }

    /// Takes all of them out.
    fn release(&mut self) -> Vec<ChainOrder> {
        std::mem::take(&mut self.0).into_values().collect()
    }
}

/// What was submitted and may still succeed, or did and is not confirmed. The loop orders a call again after some time, while the submitter
/// still sends the first one, or while the chain's node says nothing of it; both would be paid.
#[derive(Debug, Default)]
struct UnderWay(BTreeMap<Purpose, Stage>);

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It may still be mined.
    Open,
    /// The chain's logs say that it is done; of operators who are weighed, its receipt does. A reorganisation may undo it.
    Done,
    /// By its receipt it is final in this block, and no log says that it is done.
    Paid(u64),
}

impl UnderWay {
    fn has(&self, purpose: &Purpose) -> bool {
        self.0.contains_key(purpose)
    }

    /// Whether operators are being weighed. Who is left to be weighed is known once that is mined.
    fn weighs(&self) -> bool {
        self.0.iter().any(|(purpose, stage)| matches!((purpose, stage), (Purpose::Weigh(..), Stage::Open)))
    }

    fn begin(&mut self, purpose: Purpose) {
        self.0.insert(purpose, Stage::Open);
    }

    /// Forgets a call that can do nothing more. One that a reorganisation undid is sent again. A settlement that is final is forgotten when
    /// the chain's logs say so. That operators were weighed shows in the contract as soon as it is mined.
    fn note(&mut self, event: &SubmitEvent<Sending>) {
        if let Some(label) = event.ended() {
            let purpose = label.purpose;
            let stage = self.0.remove(&purpose);
            if let (Some(Stage::Open), Purpose::Settle(_), SubmitEvent::Final { block, .. }) = (stage, purpose, event) {
                self.0.insert(purpose, Stage::Paid(*block));
            }
        } else if let SubmitEvent::Undone { label, .. } = event {
            self.begin(label.purpose);
        } else if let SubmitEvent::Mined { label, .. } = event
            && let Purpose::Weigh(..) = label.purpose
        {
            self.0.insert(label.purpose, Stage::Done);
        }
    }

    /// Notes what the chain's logs say. What they leave out for a whole epoch may be tried again.
    fn change(&mut self, change: &Change) {
        let (purpose, is_done) = match change {
            Change::Settled { id, .. } => (Purpose::Settle(*id), true),
            Change::Unsettled { id } => (Purpose::Settle(*id), false),
            Change::Epoch(_) => return self.0.retain(|_, stage| !matches!(stage, Stage::Paid(_))),
            _ => return,
        };
        match self.0.get(&purpose).copied() {
            Some(Stage::Paid(_)) if is_done => {
                self.0.remove(&purpose);
            }
            Some(Stage::Open | Stage::Done) => {
                self.0.insert(purpose, if is_done { Stage::Done } else { Stage::Open });
            }
            _ => {}
        }
    }

    /// What is wrong with a settlement that was paid for, if the logs up to this block do not have it.
    fn unconfirmed(&self, head: u64) -> Option<String> {
        self.0.iter().find_map(|(purpose, stage)| match stage {
            Stage::Paid(block) if *block <= head => Some(format!(
                "{purpose}: by its receipt it is final in block {block}, and no log says so; it was paid for, and is not sent again in \
                 this epoch. The chain's node leaves logs out, or its chain was begun anew: ask another node"
            )),
            _ => None,
        })
    }
}

/// An account that sends transactions, and what happens to them.
pub type Submitting = (Submitter<Sending>, mpsc::Receiver<SubmitEvent<Sending>>);

/// The most orders that wait.
const MOST_ORDERS: usize = 4_096;
/// The most news that wait for the loop. The task waits then, and the chain is read later.
const MOST_NEWS: usize = 64;
/// How often the pool, the payer's money and the operator's stake are read.
const STAKE_EVERY: Duration = Duration::from_secs(30);
/// How long the chain's node may take for one look at it, the first one excepted.
const LOOK: Duration = Duration::from_secs(20);
/// The same for the first look, which reads all logs.
const FIRST_LOOK: Duration = Duration::from_secs(600);

impl ChainEdge {
    /// The task, and the loop's end of it.
    pub fn new(
        follower: NetworkFollower,
        submitter: Option<Submitting>,
        registry: Registry,
        board: NodeBoard,
        operator: Option<Address>,
        every: Duration,
    ) -> (Self, ChainHandle) {
        let (orders, order_queue) = mpsc::channel(MOST_ORDERS);
        let (sender, news) = mpsc::channel(MOST_NEWS);
        let terms = follower.view().terms();
        let network = Contract { chain_id: terms.chain_id, address: terms.contract };
        let edge = Self {
            follower,
            submitter,
            network,
            registry,
            board,
            operator,
            every,
            orders: order_queue,
            news: sender,
            head: None,
            under_way: UnderWay::default(),
            unconfirmed: None,
            astray: None,
            waiting: Waiting::default(),
        };
        (edge, ChainHandle { orders, news })
    }

    /// Runs until the loop is gone, or the submitter, without which an aggregator never sends again. The node ends then, too.
    pub async fn run(mut self) {
        let mut look = interval(self.every);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut first = true;
        let mut tokens = interval(STAKE_EVERY);
        tokens.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let told = tokio::select! {
                _ = look.tick() => self.look(&mut first).await,
                _ = tokens.tick(), if !first => self.tokens().await,
                order = self.orders.recv() => match order {
                    Some(order) => self.carry_out(order).await,
                    None => return,
                },
                event = next_event(self.submitter.as_mut().map(|(_, events)| events)) => match event {
                    Some(event) => self.submitted(event),
                    None => {
                        tracing::error!("the part that sends transactions ended");
                        return;
                    }
                },
            };
            for report in told {
                if self.news.send(report).await.is_err() {
                    return;
                }
            }
        }
    }

    async fn look(&mut self, first: &mut bool) -> Vec<ChainNews> {
        let limit = if *first { FIRST_LOOK } else { LOOK };
        let behind = match timeout(limit, self.follower.poll()).await {
            Ok(Ok(changes)) => {
                for change in &changes {
                    self.under_way.change(change);
                    self.waiting.change(change);
                    if let Change::Block { number, time, .. } = change {
                        self.head = Some((*number, *time));
                    }
                }
                *first &= self.head.is_none();
                let mut told = if changes.is_empty() { Vec::new() } else { vec![ChainNews::Changes(changes)] };
                if self.follower.is_current() {
                    self.astray = None;
                    self.show();
                    for order in self.waiting.release() {
                        told.extend(self.carry_out(order).await);
                    }
                } else if self.follower.is_behind() {
                    self.astray = Some("the chain's node is behind what was read of it".to_owned());
                }
                return told;
            }
            Ok(Err(error)) => {
                // A node that does not answer says nothing of the chain.
                if !matches!(error, NetworkFollowError::Rpc(_)) {
                    self.astray = Some(error.to_string());
                }
                error.to_string()
            }
            Err(_) => {
                // Else the same blocks would be asked for every time.
                self.follower.take_smaller_steps();
                self.is_late(limit)
            }
        };
        vec![ChainNews::Behind(behind)]
    }

    /// The pool, the payer's money and the operator's stake. What cannot be read now is read the next time.
    async fn tokens(&self) -> Vec<ChainNews> {
        let (rpc, contract) = (self.follower.rpc(), self.network.address);
        let mut told = Vec::new();
        let read = async {
            let pool = rpc.read(contract, &TaskNetwork::poolCall {}, None).await.ok()?;
            told.push(ChainNews::Pool { free: pool.free });
            if let Some(operator) = self.operator {
                let stake = rpc.read(contract, &TaskNetwork::stakeOfCall { operator }, None).await.ok()?;
                told.push(ChainNews::Stake { stake });
                told.extend(self.restaked(operator, stake).await);
            }
            let account = self.submitter.as_ref()?.0.address();
            let balance = rpc.quantity("eth_getBalance", json!([account, "latest"])).await.ok()?;
            let price = rpc.quantity("eth_gasPrice", json!([])).await.ok()?;
            told.push(ChainNews::Payer(problem_of_payer(account, balance, price)));
            Some(())
        };
        // Whatever was read until then is told.
        let _ = timeout(LOOK, read).await;
        told
    }

    /// What an operator's seat weighs, and its stake in a restaking protocol. Nothing if the protocol does not answer now.
    async fn restaked(&self, operator: Address, on_seat: U256) -> Option<ChainNews> {
        let view = self.follower.view();
        let Some(source) = view.terms().source.filter(|_| view.has_seat(operator)) else {
            return Some(ChainNews::Restaked(None));
        };
        let in_protocol = self.follower.rpc().read(source, &TaskNetwork::stakeOfCall { operator }, None).await.ok()?;
        Some(ChainNews::Restaked(Some(SeatWeight::of(view.terms(), on_seat, in_protocol))))
    }

    /// Tells the board that the chain was read, and compared with the contract.
    fn show(&mut self) {
        let Some((head, time)) = self.head else { return };
        let final_block = self.follower.view().final_block().unwrap_or(0);
        let epoch = self.follower.view().epoch();
        // A snapshot that the loop could not use does not count: the node is not ready then.
        let usable = |id: &SnapshotId| self.registry.has(epoch, *id);
        let snapshot = self.follower.view().snapshot(epoch).map(|snapshot| snapshot.id).filter(usable);
        let now = now();
        let behind = old_head(time, self.follower.view().terms().epoch_length, now);
        let report = ChainReport { head, time, final_block, epoch, snapshot, behind };
        self.board.chain(report, now);
        let unconfirmed = self.under_way.unconfirmed(head);
        if let Some(why) = unconfirmed.as_ref().filter(|why| self.unconfirmed.as_ref() != Some(*why)) {
            tracing::error!("{why}");
        }
        self.unconfirmed.clone_from(&unconfirmed);
        self.board.problem(Component::Chain, unconfirmed);
    }

    async fn carry_out(&mut self, order: ChainOrder) -> Vec<ChainNews> {
        let astray = self.astray.as_deref().filter(|_| self.submitter.is_some());
        let Some(order) = self.waiting.unless(astray, order) else { return Vec::new() };
        match order {
            ChainOrder::Settle(settlement) => {
                let id = settlement.candidate.id;
                let planned = self.settlement(&settlement);
                match planned.and_then(|call| self.submit(Purpose::Settle(id), call)) {
                    Ok(()) => Vec::new(),
                    Err(why) => vec![ChainNews::SettleFailed { id, why }],
                }
            }
            ChainOrder::Report { operator, evidence } => {
                let id = evidence.id();
                let planned = self.conflict(&evidence);
                match planned.and_then(|call| self.submit(Purpose::Report(operator, id), call)) {
                    Ok(()) => Vec::new(),
                    Err(why) => vec![ChainNews::ReportFailed { operator, id, why }],
                }
            }
            ChainOrder::BeginEpoch => match self.begin_epoch().await {
                Ok(()) => Vec::new(),
                Err(why) => vec![ChainNews::BeginFailed { why }],
            },
        }
    }

    /// Sends what brings the begin of the running epoch forward, unless that is under way.
    async fn begin_epoch(&mut self) -> Result<(), String> {
        let view = self.follower.view();
        let epoch = view.epoch();
        if self.under_way.weighs() || self.under_way.has(&Purpose::BeginEpoch(epoch)) {
            return Ok(());
        }
        let payer = self.submitter.as_ref().map_or(Address::ZERO, |(submitter, _)| submitter.address());
        let calls = begin::calls(self.follower.rpc(), view.terms(), epoch, view.operators().collect(), payer);
        let calls = timeout(LOOK, calls).await.map_err(|_| self.is_late(LOOK))?.map_err(|why| why.to_string())?;
        for (purpose, call) in calls {
            if let Purpose::Weigh(..) = purpose {
                tracing::info!(%purpose, "the snapshot of all operators does not fit into one transaction");
            }
            self.submit(purpose, call)?;
        }
        Ok(())
    }

    /// That the chain's node has not answered, in words.
    fn is_late(&self, limit: Duration) -> String {
        format!("{} did not answer within {} s", self.follower.rpc().shown(), limit.as_secs())
    }

    /// The call that settles a task. The sum of the signatures is verified once more, against the keys that the plan uses.
    fn settlement(&self, settlement: &Settlement) -> Result<PlannedCall, String> {
        let Settlement { candidate, signers, signatures } = settlement;
        let signatures: Vec<_> = signatures.iter().map(|(_, signature)| signature).collect();
        let sum = add_up(&signatures).ok_or("a signature of the quorum does not decode")?;
        let sum = signature(&sum)?;
        self.follower.view().settle(candidate, signers, &sum).map_err(|why| why.to_string())
    }

    fn conflict(&self, evidence: &ConflictEvidence) -> Result<PlannedCall, String> {
        let half = |attestation: &Attestation| {
            let candidate = attestation.candidate();
            let key = self.registry.contract_key(candidate.epoch, candidate.snapshot, attestation.index());
            let key = key.ok_or("the signer's key is not known any more")?;
            Ok::<_, String>(SignedTask { task: *candidate, key, signature: attestation.signature().clone() })
        };
        let (first, second) = (half(evidence.first())?, half(evidence.second())?);
        task_network::report_conflict(self.follower.view().terms(), &first, &second).map_err(|why| why.to_string())
    }

    fn submit(&mut self, purpose: Purpose, call: PlannedCall) -> Result<(), String> {
        let Some((submitter, _)) = &self.submitter else { return Err("this node has no key that pays".to_owned()) };
        if self.under_way.has(&purpose) {
            return Ok(());
        }
        if let Some(why) = &self.astray {
            return Err(format!("nothing is sent meanwhile: {why}"));
        }
        let label = Sending { purpose, estimate: call.gas };
        submitter.submit(Call::planned(label, call)).map_err(|error| error.to_string())?;
        self.under_way.begin(purpose);
        Ok(())
    }

    fn submitted(&mut self, event: SubmitEvent<Sending>) -> Vec<ChainNews> {
        if let Some(report) = tell::submission(&event) {
            self.board.submission(report, now());
        }
        self.under_way.note(&event);
        match event {
            SubmitEvent::Refused { label, reason } | SubmitEvent::GivenUp { label, reason } => {
                vec![failed(label.purpose, reason)]
            }
            SubmitEvent::Mined { label, gas_used, gas_limit, succeeded: false, .. } => {
                vec![failed(label.purpose, why_reverted(gas_used, gas_limit).to_owned())]
            }
            SubmitEvent::Mined { label, transaction, gas_used, .. } => {
                tracing::info!(purpose = %label.purpose, %transaction, gas_used, "mined");
                Vec::new()
            }
            SubmitEvent::Stuck { nonce, reason, .. } => {
                tracing::warn!(nonce, "nothing more can be sent for a transaction that is not mined: {reason}");
                Vec::new()
            }
            _ => Vec::new(),
        }
    }
}

fn failed(purpose: Purpose, why: String) -> ChainNews {
    match purpose {
        Purpose::Settle(id) => ChainNews::SettleFailed { id, why },
        Purpose::Report(operator, id) => ChainNews::ReportFailed { operator, id, why },
        Purpose::BeginEpoch(_) | Purpose::Weigh(..) => ChainNews::BeginFailed { why },
    }
}

fn signature(bytes: &[u8]) -> Result<QuorumSignature, String> {
    let bytes = bytes.try_into().map_err(|_| format!("a signature has {} bytes, expected 96", bytes.len()))?;
    Ok(QuorumSignature::Bls12381(bytes))
}

/// The next event of the submitter; `None` if it has ended, and never an answer if the node has none.
async fn next_event(events: Option<&mut mpsc::Receiver<SubmitEvent<Sending>>>) -> Option<SubmitEvent<Sending>> {
    match events {
        Some(events) => events.recv().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use quorate_evm::{Finality, MemberSet};
    use quorate_network::message::candidate_for;

    use super::*;

    /// An aggregator whose submitter has ended would go on and settle nothing. One that has none follows the chain all the same.
    #[tokio::test]
    async fn a_submitter_that_has_ended_is_not_waited_for() {
        let (sender, mut events) = mpsc::channel(1);
        let label = Sending { purpose: Purpose::BeginEpoch(1), estimate: None };
        sender.send(SubmitEvent::GivenUp { label, reason: String::new() }).await.unwrap();
        drop(sender);
        assert!(matches!(next_event(Some(&mut events)).await, Some(SubmitEvent::GivenUp { .. })));
        assert!(next_event(Some(&mut events)).await.is_none());
        assert!(timeout(Duration::from_millis(50), next_event(None)).await.is_err());
    }

    /// The loop orders again after a time that is shorter than that of the submitter.
    #[test]
    fn a_call_that_may_still_succeed_is_not_paid_twice() {
        let (transaction, block) = (B256::repeat_byte(1), 9);
        let label = |number| Sending { purpose: Purpose::Settle(B256::repeat_byte(number)), estimate: None };
        let mined = |succeeded| {
            let (gas_used, gas_limit, fee_paid) = (1, 2, 1);
            SubmitEvent::Mined { label: label(2), transaction, block, gas_used, gas_limit, fee_paid, succeeded }
        };
        let reason = || "in words".to_owned();
        let open = [
            SubmitEvent::Sent { label: label(2), transaction, nonce: 7 },
            SubmitEvent::Replaced { label: label(2), transaction, max_fee: 5 },
            mined(true),
            SubmitEvent::Undone { label: label(2), transaction },
            SubmitEvent::Stuck { label: Some(label(2)), nonce: 7, reason: reason() },
            SubmitEvent::Final { label: label(2), transaction, block, succeeded: false },
        ];
        let over = [
            SubmitEvent::Refused { label: label(2), reason: reason() },
            SubmitEvent::GivenUp { label: label(2), reason: reason() },
            mined(false),
        ];
        let open = open.map(|event| (event, true));
        for (event, expected) in open.into_iter().chain(over.map(|event| (event, false))) {
            let mut under_way = UnderWay::default();
            [1, 2].into_iter().for_each(|number| under_way.begin(label(number).purpose));
            under_way.note(&event);
            assert!(under_way.has(&label(1).purpose), "{event:?}");
            assert_eq!(under_way.has(&label(2).purpose), expected, "{event:?}");
        }
        let mut under_way = UnderWay::default();
        under_way.note(&SubmitEvent::Undone { label: label(2), transaction });
        assert!(under_way.has(&label(2).purpose), "it is sent again");
    }

    /// The snapshot fits once they are mined, long before they are final. Until then they would be weighed twice.
    #[test]
    fn a_snapshot_waits_until_operators_are_weighed() {
        let (transaction, block, epoch) = (B256::repeat_byte(1), 9, 3);
        let label = |number| Sending { purpose: Purpose::Weigh(epoch, Address::repeat_byte(number)), estimate: None };
        let mined = |number, succeeded| {
            let (gas_used, gas_limit, fee_paid) = (1, 2, 1);
            SubmitEvent::Mined { label: label(number), transaction, block, gas_used, gas_limit, fee_paid, succeeded }
        };
        let mut under_way = UnderWay::default();
        under_way.begin(Purpose::Settle(B256::ZERO));
        assert!(!under_way.weighs());
        [1, 2].into_iter().for_each(|number| under_way.begin(label(number).purpose));
        under_way.note(&SubmitEvent::Sent { label: label(1), transaction, nonce: 7 });
        under_way.note(&mined(1, true));
        assert!(under_way.weighs(), "one of two");
        under_way.note(&mined(2, false));
        assert!(!under_way.weighs(), "the second is planned anew");
        assert!(under_way.has(&label(1).purpose) && !under_way.has(&label(2).purpose));
        under_way.note(&SubmitEvent::Undone { label: label(1), transaction });
        assert!(under_way.weighs(), "it is sent again");
        under_way.note(&mined(1, true));
        under_way.note(&SubmitEvent::Final { label: label(1), transaction, block, succeeded: true });
        assert!(!under_way.weighs() && !under_way.has(&label(1).purpose));
    }

    /// A failure would be waited for as long as a refusal of the contract, in the end for five minutes.
    #[test]
    fn a_settlement_waits_for_a_node_that_is_behind_and_does_not_fail() {
        let id = B256::repeat_byte;
        let order = |number| {
            let candidate = candidate_for(3, SnapshotId::ZERO, id(number), 0, b"result");
            let signers = MemberSet::full(usize::from(number));
            ChainOrder::Settle(Box::new(Settlement { candidate, signers, signatures: Vec::new() }))
        };
        let settles = |order: &ChainOrder, number| order.purpose() == Some(Purpose::Settle(id(number)));
        let mut waiting = Waiting::default();
        assert!(waiting.unless(None, order(1)).is_some_and(|order| settles(&order, 1)), "nothing is in its way");
        for number in [1, 2, 3, 2] {
            assert!(waiting.unless(Some("it is behind"), order(number)).is_none());
        }
        let begin = waiting.unless(Some("it is behind"), ChainOrder::BeginEpoch);
        assert!(matches!(begin, Some(ChainOrder::BeginEpoch)));
        waiting.change(&settled(id(3)));
        let released = waiting.release();
        assert!(matches!(&released[..], [first, second] if settles(first, 1) && settles(second, 2)), "{released:?}");
        assert!(waiting.release().is_empty());
    }

    fn settled(id: B256) -> Change {
        Change::Settled {
            id,
            epoch: 3,
            performer: U256::ZERO,
            result: B256::ZERO,
            approved: true,
            rewarded: true,
            transaction: B256::repeat_byte(1),
            block: 9,
            finality: Finality::Recent,
        }
    }

    /// A node answered with receipts of a chain that had no such contract, and each of them was a reason to pay again.
    #[test]
    fn a_mined_settlement_without_its_log_is_not_paid_twice() {
        let id = B256::repeat_byte(2);
        let (purpose, transaction, block) = (Purpose::Settle(id), B256::repeat_byte(1), 9);
        let label = Sending { purpose, estimate: None };
        let is_final = SubmitEvent::Final { label, transaction, block, succeeded: true };
        let begun = || {
            let mut under_way = UnderWay::default();
            under_way.begin(purpose);
            under_way
        };

        let mut under_way = begun();
        under_way.note(&is_final);
        assert_eq!(under_way.unconfirmed(block - 1), None, "its block was not read yet");
        let why = under_way.unconfirmed(block).expect("it is a problem");
        assert!(why.contains("no log says so") && under_way.has(&purpose), "{why}");
        under_way.change(&Change::Epoch(4));
        assert!(!under_way.has(&purpose), "it may be tried once in each epoch");

        // The log comes after the receipt, or before it, or is undone and comes again.
        let mut late = begun();
        late.note(&is_final);
        late.change(&settled(id));
        assert!(!late.has(&purpose));
        for changes in [vec![settled(id)], vec![settled(id), Change::Unsettled { id }, settled(id)]] {
            let mut early = begun();
            changes.iter().for_each(|change| early.change(change));
            assert!(early.has(&purpose), "it is not final");
            early.note(&is_final);
            assert!(!early.has(&purpose), "{changes:?}");
        }
        let mut undone = begun();
        [settled(id), Change::Unsettled { id }].iter().for_each(|change| undone.change(change));
        undone.note(&is_final);
        assert!(undone.has(&purpose) && undone.unconfirmed(block).is_some());
    }
}
