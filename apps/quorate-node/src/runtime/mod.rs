//! The edge of a running node: it tells the state machine what happens, and carries out what the machine wants done.
//!
//! ```text
//! peers ── arrivals ──> screen ── signatures ──┐                        ┌──> disk first, then peers
//! chain ── changes ────────────────────────────┼──> Node::step ── out ──┼──> chain: settle, report, begin an epoch
//! schedule, HTTP ── tasks ─────────────────────┤                        ├──> the user's programs ──┐
//! clock ── ticks ──────────────────────────────┘                        └──> signer ───────────────┤
//!                ^                                                                                 │
//!                └────────────────────────────── what they answered ───────────────────────────────┘
//! ```
//!
//! | module | contents |
//! |---|---|
//! | `clock` | the machine's time, and the node's own |
//! | `tell` | what happened, in the words of the board |
//! | `rewards` | what the operator earned |
//! | `disk` | whether the data folder can be written |
//! | `chain` | the task that follows the chain and submits to it |
//!
//! One task owns the state machine. Peers, programs, signer and chain run beside it and answer with events, so it waits for
//! none of them. It waits for the disk alone, because what it says may leave only when it is written.
//!
//! The file is long because what happens and what is done about it stand in one place, each kind in a function of its own.

mod clock;
mod tell;
mod rewards;
mod disk;
mod begin;
mod chain;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    num::NonZeroU64,
    sync::Arc,
    time::Duration,
};

use quorate::SourceId;
use quorate_chain::Rpc;
use quorate_evm::{
    Finality, Task,
    alloy_primitives::{Address, B256, Bytes, U256, keccak256},
    digest::Contract,
    task_network::{Change, EpochSnapshot},
};
use quorate_signer_client::{SignerClient, SignerError, protocol::RefusalCode};
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::{MissedTickBehavior, interval},
};

pub use chain::{ChainEdge, ChainHandle, ChainNews, ChainOrder, Submitting};
pub use tell::{Purpose, Sending};

pub use clock::now;
use clock::{Clock, until_second};
use disk::Disk;
use rewards::Rewards;

use crate::{
    api::TaskOrder,
    board::{BanRow, Component, Count, NodeBoard, RewardsReport, SeatWeight, label_of},
    data_folder::DataFolder,
    kept_tasks::KeptTasks,
    programs::{ProgramTask, Programs},
    tokens,
    transport::{Arrival, Judgement, PeerId, Ticket, Transport},
    verification::{Checked, Checker},
};
use quorate_network::{
    election::Snapshot,
    message::{Attestation, Signed},
    registry::{RegisteredMember, Registry},
    roles::{Node, NodeEvent, NodeOutput, NodeSettings, NotTaken, PeerSource, Saved, SignerRefusal},
    schedule::Schedule,
};

/// What a node runs with.
pub struct Parts {
    /// The network.
    pub network: Contract,
    /// How the state machine behaves.
    pub settings: NodeSettings,
    /// The length of an epoch in seconds, and the first second of epoch 0, as the contract says.
    pub epochs: Epochs,
    /// The keys, which admission of peers shares.
    pub registry: Registry,
    /// Verifies signatures.
    pub checker: Checker,
    /// The user's work.
    pub programs: Programs,
    /// How the network pays.
    pub pay: Pay,
    /// The operator's signer.
    pub signer: Option<Arc<SignerClient>>,
    /// The other nodes.
    pub transport: Transport,
    /// How long the transport bans a peer that sent what no honest one sends: `transport::Limits::ban`.
    pub ban: Duration,
    /// The chain.
    pub chain: ChainHandle,
    /// The chain's node, for receipts.
    pub rpc: Rpc,
    /// Tasks from outside.
    pub orders: mpsc::Receiver<TaskOrder>,
    /// What people see.
    pub board: NodeBoard,
    /// What survives a restart.
    pub data: DataFolder,
    /// Tasks at fixed times.
    pub schedule: Option<Schedule>,
}

/// How a network pays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pay {
    /// What the performer of an approved task gets, in the token's smallest unit.
    pub performer_reward: u128,
    /// What the signers of a task get together.
    pub attester_reward: u128,
    /// The token's decimals, for people.
    pub decimals: u8,
}

impl Pay {
    /// What is wrong with a pool that has so much, if it cannot pay for one more task.
    fn problem_of_pool(&self, free: U256) -> Option<String> {
        let a_task = U256::from(self.performer_reward) + U256::from(self.attester_reward);
        let amount = |number| tokens::amount(number, self.decimals);
        (free < a_task).then(|| {
            format!(
                "the pool is empty: it has {} tokens, and a task takes {}; tasks settle and nobody is paid for them until somebody \
                 calls `quorate-node fund`",
                amount(free),
                amount(a_task)
            )
        })
    }
}

/// The epochs of a network in Unix time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epochs {
    /// The first second of epoch 0.
    pub genesis: u64,
    /// Seconds of an epoch.
    pub length: NonZeroU64,
}

impl Epochs {
    /// The epoch of a second; `None` before epoch 0.
    pub fn at(&self, second: u64) -> Option<u64> {
        Some(second.checked_sub(self.genesis)? / self.length)
    }

    /// The first second of an epoch.
    pub fn begin(&self, epoch: u64) -> u64 {
        self.genesis.saturating_add(epoch.saturating_mul(self.length.get()))
    }
}

/// Why a node ended by itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The task that follows the chain ended.
    #[error("the part that follows the chain ended: a fault of the program; please report it")]
    Chain,
    /// The transport ended.
    #[error("the part that talks to peers ended: a fault of the program; please report it")]
    Transport,
    /// The data folder cannot be read.
    #[error(transparent)]
    Data(#[from] crate::data_folder::DataFolderError),
}

/// The most messages whose signatures are being verified. Further ones are not looked at.
const MOST_CHECKS: usize = 8_192;
/// How often the board is brought up to date.
const BOARD_EVERY: Duration = Duration::from_millis(500);
/// How often the signer is asked whether it would sign.
const SIGNER_EVERY: Duration = Duration::from_secs(15);
/// What the log says when the signer has no problem any more.
const SIGNS_AGAIN: &str = "the signer signs again";
/// Of the settlements of how many newest blocks the receipts are asked for.
const RECEIPTS_OF: u64 = 64;
/// The most bans that are shown.
const MOST_BANS: usize = 256;
/// How long a call that begins an epoch may take before it is tried again.
const BEGIN_AGAIN: u64 = 30_000;

/// What was done beside the loop.
enum Done {
    /// A program of the user's answered, with a result or a verdict.
    Answered(NodeEvent),
    /// The board was told something.
    Shown,
    Checked {
        source: PeerSource,
        ticket: Option<Ticket>,
        found: Checked,
    },
    /// The signer answered something that is not a signature of the operator, or nothing at all.
    SignerFailed {
        candidate: Task,
        refusal: SignerRefusal,
        why: String,
    },
    Signed {
        candidate: Task,
        signature: Bytes,
    },
    /// What keeps the signer from signing, as it says itself.
    SignerState(Option<String>),
    ProgramFailed {
        event: NodeEvent,
        why: String,
    },
}

struct Runtime {
    node: Node,
    parts: Parts,
    /// The node's own time.
    clock: Clock,
    /// Whether the node shall end.
    stop: watch::Receiver<bool>,
    /// What the operator earned; none without an operator.
    rewards: Option<Rewards>,
    /// The operator's stake.
    stake: U256,
    /// What its seat weighs, and what its stake in a restaking protocol does, as read last. `None` without such a protocol or a seat.
    restaked: Option<(u64, u64)>,
    /// What could not do its part when it was looked at last: the pool or the payer had too little, or the signer would not sign.
    lacking: BTreeSet<Component>,
    /// The peers that have joined, and those that are banned: until when, in the node's own milliseconds.
    peers: BTreeMap<PeerSource, (PeerId, Address)>,
    bans: VecDeque<BanRow>,
    /// The snapshots that the chain has, by epoch.
    snapshots: BTreeMap<u64, Arc<Snapshot>>,
    epoch: u64,
    /// The number of the newest block.
    head: u64,
    kept: KeptTasks,
    /// Whether the data folder can be written.
    disk: Disk,
    work: JoinSet<Done>,
    checks: usize,
    /// What the signer was asked and has not answered. The machine asks again meanwhile, and a client's requests wait for each
    /// other.
    signing: BTreeSet<Task>,
    /// Whether the signer was asked for its state and has not answered.
    asks_signer: bool,
    /// Whether the signer did not sign something since it last told its state.
    signer_failed: bool,
    /// When the state machine wants a tick, in its own milliseconds.
    wake: Option<u64>,
    /// The next second at which a scheduled task begins, by the machine's clock.
    next_task: Option<u64>,
    /// When this node last tried to begin an epoch that has no snapshot, in its own milliseconds.
    begun_at: Option<u64>,
    /// Since when the running epoch is known to have no snapshot: the epoch, and the node's own milliseconds.
    bare_since: Option<(u64, u64)>,
}

/// Runs a node until it is stopped. Returns when nothing of it runs any more.
///
/// # Errors
/// [`RunError`].
pub async fn run(parts: Parts, stop: watch::Receiver<bool>) -> Result<(), RunError> {
    let saved = parts.data.state()?;
    let kept = parts.data.tasks()?;
    // A node without tasks writes nothing for a long time, and is ready all the same if it could.
    if !Disk::default().write(&parts.data, &saved, &parts.board, &Clock::begin(now()), stop.clone()).await {
        return Ok(());
    }
    let mut parts = parts;
    let mut stopped = stop.clone();
    // The machine begins in the epoch of the chain's newest block.
    let (epoch, first) = tokio::select! {
        first = begin(&mut parts) => first?,
        _ = stopped.wait_for(|stop| *stop) => return Ok(()),
    };
    let mut runtime = Runtime::new(parts, stop, epoch, saved, kept);
    for changes in first {
        runtime.changes(changes).await;
    }
    runtime.name_tasks_again().await;
    runtime.serve().await
}

/// Waits until the chain has told its epoch. What it told is handled when the machine exists.
async fn begin(parts: &mut Parts) -> Result<(u64, Vec<Vec<Change>>), RunError> {
    let mut held = Vec::new();
    let mut turns = interval(BOARD_EVERY);
    loop {
        let news = tokio::select! {
            news = parts.chain.news.recv() => news.ok_or(RunError::Chain)?,
            // It turned while the disk refused. Whoever looks expects it to go on, and reading the chain may take long.
            _ = turns.tick(), if parts.board.turns() > 0 => {
                parts.board.turned();
                continue;
            }
        };
        match news {
            ChainNews::Changes(changes) => {
                let epoch = changes.iter().rev().find_map(|change| match change {
                    Change::Epoch(epoch) => Some(*epoch),
                    _ => None,
                });
                held.push(changes);
                if let Some(epoch) = epoch {
                    return Ok((epoch, held));
                }
            }
            ChainNews::Behind(why) => behind(&parts.board, why),
            // Nothing was submitted yet.
            _ => {}
        }
    }
}

/// The chain cannot be followed at the moment.
fn behind(board: &NodeBoard, why: String) {
    tracing::warn!("{why}");
    board.failed(Component::Chain, why);
}

impl Runtime {
    /// A loop that has done nothing yet.
    fn new(parts: Parts, stop: watch::Receiver<bool>, epoch: u64, saved: Saved, kept: KeptTasks) -> Self {
        Self {
            node: Node::new(parts.settings.clone(), epoch, saved),
            rewards: parts.settings.operator.map(|operator| Rewards::new(operator, parts.pay.performer_reward)),
            parts,
            clock: Clock::begin(now()),
            stop,
            stake: U256::ZERO,
            restaked: None,
            lacking: BTreeSet::new(),
            peers: BTreeMap::new(),
            bans: VecDeque::new(),
            snapshots: BTreeMap::new(),
            epoch,
            head: 0,
            kept,
            disk: Disk::default(),
            work: JoinSet::new(),
            checks: 0,
            signing: BTreeSet::new(),
            asks_signer: false,
            signer_failed: false,
            wake: None,
            next_task: None,
            begun_at: None,
            bare_since: None,
        }
    }

    async fn serve(mut self) -> Result<(), RunError> {
        let mut stopped = self.stop.clone();
        let (mut board, mut signer) = (interval(BOARD_EVERY), interval(SIGNER_EVERY));
        board.set_missed_tick_behavior(MissedTickBehavior::Delay);
        signer.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let tick = self.wake;
            let task = self.next_task;
            tokio::select! {
                _ = stopped.wait_for(|stop| *stop) => break,
                Some(done) = self.work.join_next(), if !self.work.is_empty() => match done {
                    Ok(done) => self.done(done).await,
                    Err(error) => {
                        tracing::error!("a part of the node failed: {error}; please report it");
                        // It may have been one of these.
                        self.signing.clear();
                        self.asks_signer = false;
                    }
                },
                news = self.parts.chain.news.recv() => match news {
                    Some(news) => self.news(news).await,
                    None => return Err(RunError::Chain),
                },
                arrival = self.parts.transport.next() => match arrival {
                    Some(arrival) => self.arrival(arrival).await,
                    None => return Err(RunError::Transport),
                },
                Some(order) = self.parts.orders.recv() => self.order(order).await,
                () = self.clock.until(tick), if tick.is_some() => {
                    self.wake = None;
                    self.step(NodeEvent::Tick, None).await;
                }
                () = until_second(task), if task.is_some() => self.scheduled().await,
                _ = board.tick() => self.refresh(),
                _ = signer.tick() => self.look_at_signer(),
            }
        }
        // Programs and checks are given up. What was said is on disk; what was not said is computed again.
        self.work.shutdown().await;
        Ok(())
    }

    /// One event, with all that follows from it.
    async fn step(&mut self, event: NodeEvent, ticket: Option<Ticket>) {
        let about = task_of(&event);
        let answered = match &event {
            NodeEvent::Received { message, .. } if ticket.is_none() => Some(message.clone()),
            _ => None,
        };
        let outputs = self.node.step(event, self.clock.now());
        let mut ticket = ticket;
        for output in outputs {
            if matches!(output, NodeOutput::Save) && !self.save().await {
                // The node ends, and nothing that depends on the disk leaves.
                return;
            }
            if let (NodeOutput::Accepted { .. }, Some(answered)) = (&output, &answered) {
                self.parts.transport.hand_on(answered.message().clone());
            }
            self.carry_out(output, &mut ticket);
        }
        if let Some(ticket) = ticket {
            // The machine had nothing to say about it, so nobody needs it from here.
            self.parts.transport.judge(ticket, Judgement::Ignore);
        }
        // At once, so that the board has the time at which a quorum was there.
        if let Some(report) = about.and_then(|id| self.node.task_report(id)) {
            tell::task(&self.parts.board, &self.clock, report);
        }
    }

    fn carry_out(&mut self, output: NodeOutput, ticket: &mut Option<Ticket>) {
        match output {
            // It was written before any other output.
            NodeOutput::Save => {}
            NodeOutput::Execute { id, epoch, payload } => {
                let programs = self.parts.programs.clone();
                self.work.spawn(async move {
                    match programs.execute(&ProgramTask { epoch, id, payload }).await {
                        Ok(bytes) => Done::Answered(NodeEvent::Executed { id, bytes }),
                        Err(error) => {
                            Done::ProgramFailed { event: NodeEvent::ExecuteFailed { id }, why: error.to_string() }
                        }
                    }
                });
            }
            NodeOutput::Validate { candidate, payload, bytes } => {
                let programs = self.parts.programs.clone();
                self.work.spawn(async move {
                    let task = ProgramTask { epoch: candidate.epoch, id: candidate.id, payload };
                    match programs.validate(&task, &bytes).await {
                        Ok(approved) => Done::Answered(NodeEvent::Validated { candidate, approved }),
                        Err(error) => {
                            let event = NodeEvent::ValidateFailed { candidate };
                            Done::ProgramFailed { event, why: error.to_string() }
                        }
                    }
                });
            }
            NodeOutput::Sign { candidate } => self.sign(candidate),
            NodeOutput::Publish(message, audience) => {
                self.parts.board.count(Count::Published);
                self.parts.transport.publish(message, audience);
            }
            NodeOutput::Ask(request, audience) => self.parts.transport.ask(request, audience),
            NodeOutput::AskPeer { peer, request } => self.parts.transport.ask_peer(peer, request),
            NodeOutput::Answer { to, answer } => self.parts.transport.answer(to, answer),
            NodeOutput::Accepted { .. } => {
                if let Some(ticket) = ticket.take() {
                    self.parts.transport.judge(ticket, Judgement::Accept);
                }
            }
            NodeOutput::Refused { source, refusal } => {
                let fault = refusal.is_fault();
                if fault {
                    self.reject(source, ticket.take(), refusal.to_string());
                } else if let Some(ticket) = ticket.take() {
                    self.parts.transport.judge(ticket, Judgement::Ignore);
                }
            }
            NodeOutput::Abstained { candidate } => {
                tracing::warn!(id = %candidate.id, "no verdict is given, because it would conflict with an earlier one");
            }
            NodeOutput::Settle(settlement) => {
                tracing::info!(
                    id = %settlement.candidate.id,
                    signers = settlement.signers.len(),
                    approved = settlement.candidate.approved,
                    "a quorum is there: settling"
                );
                self.parts.chain.order(ChainOrder::Settle(Box::new(settlement)));
            }
            NodeOutput::ConflictFound { operator, id } if self.parts.settings.operator == Some(operator) => {
                tracing::error!(
                    %id,
                    "this node's operator signed a conflict: stop its signer, and look for another one with its key"
                );
            }
            NodeOutput::ConflictFound { operator, id } => {
                tracing::warn!(%operator, %id, "an operator signed a conflict");
            }
            NodeOutput::ReportConflict { operator, evidence } => {
                tracing::warn!(%operator, id = %evidence.id(), "a conflict is reported");
                self.parts.chain.order(ChainOrder::Report { operator, evidence: Box::new(evidence) });
            }
            NodeOutput::NotTaken { id, reason } => tracing::warn!(%id, "a task is not taken: {reason}"),
            NodeOutput::Dropped { id } => {
                tracing::warn!(%id, "a task has found no quorum, and makes room for a further one");
                // The file follows when it is written next. A task too many in it does no harm.
                self.kept.forget(|kept| *kept == id);
                self.parts.board.task_dropped(id);
            }
            NodeOutput::WakeAt(at) => self.wake = Some(at),
            // Outputs that come with a later version of the library are none of this one's.
        }
    }

    /// Writes the state. `false` if the node was told to end before it could.
    async fn save(&mut self) -> bool {
        let Parts { data, board, .. } = &self.parts;
        self.disk.write(data, self.node.saved(), board, &self.clock, self.stop.clone()).await
    }

    fn sign(&mut self, candidate: Task) {
        if !self.signing.insert(candidate) {
            return;
        }
        let refusal = SignerRefusal::NotNow;
        let Some(signer) = self.parts.signer.clone() else {
            let why = "no signer is configured; name its socket with --signer".to_owned();
            self.work.spawn(async move { Done::SignerFailed { candidate, refusal, why } });
            return;
        };
        let checker = self.parts.checker.clone();
        let network = self.parts.network;
        let own = self.snapshots.get(&candidate.epoch).filter(|snapshot| snapshot.id() == candidate.snapshot);
        let index = own.zip(self.parts.settings.operator).and_then(|(snapshot, operator)| snapshot.index_of(operator));
        self.work.spawn(async move {
            let failed = |refusal, why: String| Done::SignerFailed { candidate, refusal, why };
            let signature = match signer.sign_task(network, &candidate).await {
                Ok(signature) => Bytes::copy_from_slice(&signature),
                Err(SignerError::Refused(why)) if why.code == RefusalCode::Conflict => {
                    return failed(SignerRefusal::Conflict, why.message);
                }
                Err(error) => return failed(refusal, error.to_string()),
            };
            // A signature that is false would cost the node its peers, so it is checked before it leaves.
            let attestation = index.and_then(|index| Attestation::new(candidate, index, signature.clone()).ok());
            let Some(attestation) = attestation else {
                return failed(refusal, "the operator has no weight in the task's epoch".to_owned());
            };
            match checker.check(Arc::new(Signed::Attestation(attestation)), None, None).await {
                Checked::True(_) => Done::Signed { candidate, signature },
                Checked::NotChecked(why) => failed(refusal, why.to_string()),
                Checked::False | Checked::NoKey => failed(
                    refusal,
                    "its signature is not one of the operator's registered key: is this the operator's signer?"
                        .to_owned(),
                ),
            }
        });
    }

    /// Asks the signer whether it would sign. Without tasks nothing else tells that it does not.
    fn look_at_signer(&mut self) {
        let Some(signer) = self.parts.signer.clone() else { return };
        if !self.parts.settings.roles.signs() || std::mem::replace(&mut self.asks_signer, true) {
            return;
        }
        let board = self.parts.board.clone();
        self.work.spawn(async move {
            Done::SignerState(match signer.status().await {
                Ok(status) => status.obstacle(),
                Err(error) => {
                    board.count(Count::Failed(Component::Signer));
                    Some(error.to_string())
                }
            })
        });
    }

    async fn done(&mut self, done: Done) {
        match done {
            Done::Shown => {}
            Done::Answered(event) => {
                let is_result = matches!(event, NodeEvent::Executed { .. });
                self.parts.board.count(if is_result { Count::Executed } else { Count::Validated });
                self.parts.board.problem(Component::Programs, None);
                self.step(event, None).await;
            }
            Done::ProgramFailed { event, why } => {
                tracing::warn!("{why}");
                self.parts.board.failed(Component::Programs, why);
                self.step(event, None).await;
            }
            Done::Signed { candidate, signature } => {
                self.signing.remove(&candidate);
                self.lacks(Component::Signer, None, SIGNS_AGAIN);
                self.step(NodeEvent::Signed { candidate, signature }, None).await;
            }
            Done::SignerFailed { candidate, refusal, why } => {
                self.signing.remove(&candidate);
                tracing::warn!(id = %candidate.id, "the signer: {why}");
                if refusal == SignerRefusal::NotNow {
                    self.signer_failed = true;
                    self.lacking.insert(Component::Signer);
                    self.parts.board.failed(Component::Signer, why);
                }
                self.step(NodeEvent::SignRefused { candidate, refusal }, None).await;
            }
            Done::SignerState(problem) => {
                self.asks_signer = false;
                // As long as it does not sign what it is asked for, that says more than its own word.
                let has_failed = std::mem::take(&mut self.signer_failed);
                if problem.is_some() || !has_failed {
                    self.lacks(Component::Signer, problem, SIGNS_AGAIN);
                }
            }
            Done::Checked { source, ticket, found } => {
                self.checks -= 1;
                match found {
                    Checked::True(message) => {
                        self.parts.board.count(Count::Verified);
                        self.step(NodeEvent::Received { source, message }, ticket).await;
                    }
                    Checked::False => {
                        self.parts.board.count(Count::False);
                        self.reject(source, ticket, "a signature is false".to_owned());
                    }
                    Checked::NotChecked(_) | Checked::NoKey => {
                        self.parts.board.count(Count::Ignored);
                        if let Some(ticket) = ticket {
                            self.parts.transport.judge(ticket, Judgement::Ignore);
                        }
                    }
                }
            }
        }
    }

    async fn arrival(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::Signed { source, ticket, message } => {
                self.parts.board.count(Count::Received);
                self.receive(source, Some(ticket), message);
            }
            Arrival::Answered { source, answer } => {
                let is_full = answer.is_full();
                for message in answer.into_signed() {
                    self.receive(source, None, message);
                }
                if is_full {
                    self.step(NodeEvent::AnswerWasFull, None).await;
                }
            }
            Arrival::Asked { source, request } => self.step(NodeEvent::Asked { source, request }, None).await,
            Arrival::Joined { source, peer, operator } => {
                self.peers.insert(source, (peer, operator));
                tracing::info!(source = source.0, %peer, %operator, "a peer joined");
            }
            Arrival::Left { source } => {
                self.peers.remove(&source);
                tracing::info!(source = source.0, "a peer left");
            }
        }
    }

    /// Verifies a message, unless the machine would not use it.
    fn receive(&mut self, source: PeerSource, ticket: Option<Ticket>, message: Signed) {
        let ignore = |this: &mut Self, ticket: Option<Ticket>| {
            this.parts.board.count(Count::Ignored);
            if let Some(ticket) = ticket {
                this.parts.transport.judge(ticket, Judgement::Ignore);
            }
        };
        if let Err(refusal) = self.node.screen(&message)
            && !refusal.is_worth_verifying()
        {
            return if refusal.is_fault() {
                self.reject(source, ticket, refusal.to_string());
            } else {
                ignore(self, ticket);
            };
        }
        if self.checks >= MOST_CHECKS {
            return ignore(self, ticket);
        }
        self.checks += 1;
        let name = SourceId::from(format!("peer-{}", source.0).as_str());
        let signers = match &message {
            Signed::Sum(sum) => self.node.signers(sum),
            _ => None,
        };
        let checker = self.parts.checker.clone();
        self.work.spawn(async move {
            let found = checker.check(Arc::new(message), signers, Some(name)).await;
            Done::Checked { source, ticket, found }
        });
    }

    /// Does not forward a message that no honest peer sends, and bans whoever sent it.
    fn reject(&mut self, source: PeerSource, ticket: Option<Ticket>, why: String) {
        tracing::warn!(source = source.0, "a peer is banned: {why}");
        match ticket {
            Some(ticket) => self.parts.transport.judge(ticket, Judgement::Reject),
            None => self.parts.transport.ban(source, self.parts.ban),
        }
        let Some((peer, operator)) = self.peers.get(&source) else { return };
        let until = self.clock.now().saturating_add(u64::try_from(self.parts.ban.as_millis()).unwrap_or(u64::MAX));
        let row = BanRow { peer_id: peer.to_string(), operator: Some(*operator), reason: why, until };
        self.bans.retain(|held| held.peer_id != row.peer_id);
        self.bans.push_back(row);
        if self.bans.len() > MOST_BANS {
            self.bans.pop_front();
        }
    }

    async fn news(&mut self, news: ChainNews) {
        match news {
            ChainNews::Changes(changes) => self.changes(changes).await,
            ChainNews::Behind(why) => behind(&self.parts.board, why),
            ChainNews::SettleFailed { id, why } => {
                tracing::info!(%id, "the settlement was not sent, or failed: {why}");
                self.step(NodeEvent::SettleFailed { id }, None).await;
            }
            ChainNews::ReportFailed { operator, id, why } => {
                tracing::info!(%operator, %id, "the report was not sent, or failed: {why}");
                self.step(NodeEvent::ReportFailed { operator, id }, None).await;
            }
            ChainNews::Pool { free } => {
                let problem = self.parts.pay.problem_of_pool(free);
                self.lacks(Component::Pool, problem, "the pool of rewards has tokens again");
            }
            ChainNews::Payer(problem) => self.lacks(Component::Payer, problem, "the payer has money again"),
            ChainNews::Stake { stake } => {
                self.stake = stake;
                self.show_rewards();
            }
            ChainNews::Restaked(found) => {
                let weights = |weight: SeatWeight| (weight.on_seat, weight.in_protocol);
                if let Some(weight) = found.filter(|weight| self.restaked != Some(weights(*weight))) {
                    tracing::info!("{weight}");
                }
                self.restaked = found.map(weights);
                let problem = found.and_then(|weight| weight.problem()).filter(|_| self.parts.settings.roles.signs());
                self.lacks(Component::Stake, problem, "the operator's stake in the protocol is enough again");
            }
            ChainNews::BeginFailed { why } => {
                tracing::info!("the epoch was not begun by this node: {why}");
            }
        }
    }

    /// Shows what cannot do its part, and logs it when it begins and when it ends.
    fn lacks(&mut self, component: Component, problem: Option<String>, again: &str) {
        match &problem {
            Some(why) if self.lacking.insert(component) => tracing::warn!("{why}"),
            None if self.lacking.remove(&component) => tracing::info!("{again}"),
            _ => {}
        }
        self.parts.board.problem(component, problem);
    }

    /// Logs that stake was lost: of this node's operator always, of others when it happens.
    fn log_punishment(&self, change: &Change, is_news: bool) {
        let (operator, id, amount, why) = match change {
            Change::Penalised { operator, id, amount } => (operator, id, amount, "its result was rejected"),
            Change::Slashed { operator, id, amount, .. } => {
                (operator, id, amount, "it signed two things that conflict")
            }
            _ => return,
        };
        let tokens = tokens::amount(*amount, self.parts.pay.decimals);
        if self.parts.settings.operator == Some(*operator) {
            tracing::error!(%id, "this node's operator was fined, and lost {tokens} tokens of its stake: {why}");
        } else if is_news {
            tracing::info!(%operator, %id, "an operator was fined, and lost {tokens} tokens of its stake: {why}");
        }
    }

    async fn changes(&mut self, changes: Vec<Change>) {
        // What happened before the node started is not news.
        let is_news = self.head != 0;
        let begins = changes.iter().any(|change| matches!(change, Change::Epoch(_)));
        for change in changes {
            if let Change::Block { number, .. } = change {
                self.head = number;
            }
            tell::change(&self.parts.board, &change, self.head, now());
            self.log_punishment(&change, is_news);
            if let Some(rewards) = &mut self.rewards {
                rewards.change(&change, &self.snapshots);
            }
            self.ask_for_receipt(&change);
            let event = match change {
                Change::Epoch(epoch) => {
                    self.epoch = epoch;
                    self.snapshots.retain(|held, _| *held + 1 >= epoch);
                    self.bare_since = None;
                    self.begun_at = None;
                    self.forget_tasks();
                    NodeEvent::Epoch(epoch)
                }
                Change::Snapshot(snapshot) => match self.snapshot(&snapshot) {
                    Some(event) => event,
                    None => continue,
                },
                Change::SnapshotRemoved { epoch } => {
                    self.snapshots.remove(&epoch);
                    self.parts.registry.remove(epoch);
                    self.parts.transport.readmit();
                    NodeEvent::SnapshotRemoved { epoch }
                }
                // When the node starts, the kept tasks are named behind what happened in the past.
                Change::Settled { id, epoch, .. }
                    if !self.node.needs_settlement(id, epoch) && !self.kept.contains(&id) =>
                {
                    continue;
                }
                Change::Settled { id, epoch, finality, .. } => NodeEvent::Settled { id, epoch, finality },
                Change::Unsettled { id } => NodeEvent::Unsettled { id },
                Change::Slashed { operator, id, epoch, .. } => NodeEvent::Slashed { operator, id, epoch },
                Change::Unslashed { operator, id, epoch } => NodeEvent::Unslashed { operator, id, epoch },
                _ => continue,
            };
            self.step(event, None).await;
        }
        self.parts.transport.listen(self.node.audiences());
        if begins {
            // A task that was refused because the chain's node was behind may be taken now.
            self.name_tasks_again().await;
        }
        self.show_rewards();
    }

    /// Asks what a new settlement cost, for the board alone.
    fn ask_for_receipt(&mut self, change: &Change) {
        let Change::Settled { id, epoch, transaction, block, finality: Finality::Recent, .. } = *change else {
            return;
        };
        if block.saturating_add(RECEIPTS_OF) < self.head {
            return;
        }
        let Some(mut report) = tell::settled(change) else { return };
        let (rpc, board) = (self.parts.rpc.clone(), self.parts.board.clone());
        self.work.spawn(async move {
            if let Ok(Some(receipt)) = rpc.receipt(transaction).await {
                let gas: u64 = receipt.gas_used.to();
                report.gas_used = Some(gas);
                report.fee = u128::try_from(receipt.effective_gas_price * U256::from(gas)).ok();
                board.settled(id, epoch, report, now());
            }
            Done::Shown
        });
    }

    fn show_rewards(&self) {
        let Some(rewards) = &self.rewards else { return };
        self.parts.board.rewards(RewardsReport {
            earned: rewards.earned(),
            claimed: rewards.claimed(),
            stake: self.stake,
            pending: rewards.earned().saturating_sub(rewards.claimed()),
            decimals: self.parts.pay.decimals,
        });
    }

    /// Takes the snapshot of an epoch. One that cannot be used is told, and nothing is signed or counted in its epoch.
    fn snapshot(&mut self, told: &EpochSnapshot) -> Option<NodeEvent> {
        let kept_from = self.epoch.saturating_sub(1 + self.parts.settings.evidence_epochs);
        if told.epoch < kept_from {
            return None;
        }
        let members: Vec<_> = told
            .members
            .iter()
            .map(|member| RegisteredMember { owner: member.owner, weight: member.weight, key: member.key.clone() })
            .collect();
        let weights = members.iter().map(|member| (member.weight, member.owner)).collect();
        let snapshot = match Snapshot::new(told.epoch, told.id, told.beacon, weights, told.required) {
            Ok(snapshot) => Arc::new(snapshot),
            Err(error) => {
                tracing::error!("{error}");
                self.parts.board.problem(Component::Chain, Some(error.to_string()));
                return None;
            }
        };
        if let Err(error) = self.parts.registry.insert(told.epoch, told.id, &members, kept_from) {
            tracing::error!("{error}; the chain's node lies, or is not one of this network");
            self.parts.board.problem(Component::Chain, Some(error.to_string()));
            return None;
        }
        self.snapshots.insert(told.epoch, snapshot.clone());
        self.parts.transport.readmit();
        tracing::info!(epoch = told.epoch, total = %told.total, required = %told.required, "the epoch has a snapshot");
        Some(NodeEvent::Snapshot(snapshot))
    }

    /// The tasks of the schedule and of the folder that can still settle, as if they were new.
    async fn name_tasks_again(&mut self) {
        for (id, epoch, payload) in self.kept.each().collect::<Vec<_>>() {
            self.name_task(id, epoch, payload).await;
        }
        self.name_scheduled_again().await;
    }

    async fn name_scheduled_again(&mut self) {
        let Some(schedule) = self.parts.schedule.clone() else { return };
        let second = now() / 1_000;
        let newest = schedule.newest(second);
        // As many as have a place beside the kept ones. Others may hold older ones, which make room first.
        let kept = self.kept.count(|id| !self.node.is_over(*id));
        for number in first_of(self.parts.settings.most_tasks.saturating_sub(kept), newest)..=newest {
            self.name_scheduled(&schedule, number).await;
        }
        self.next_task = Some(schedule.next(second));
    }

    async fn scheduled(&mut self) {
        let Some(schedule) = self.parts.schedule.clone() else { return };
        let second = now() / 1_000;
        // Those that began while the machine slept, too.
        let from = self.next_task.map_or(schedule.newest(second), |due| schedule.newest(due));
        let newest = schedule.newest(second);
        for number in from.max(first_of(self.parts.settings.most_tasks, newest))..=newest {
            self.name_scheduled(&schedule, number).await;
        }
        self.next_task = Some(schedule.next(second));
    }

    async fn name_scheduled(&mut self, schedule: &Schedule, number: u64) {
        let task = schedule.task(number);
        // All operators take the epoch in which the task begins, whatever their clocks say now.
        let Some(epoch) = self.parts.epochs.at(task.begins) else { return };
        if epoch + 1 < self.epoch {
            return;
        }
        self.name_task(task.id, epoch, task.payload).await;
    }

    async fn name_task(&mut self, id: B256, epoch: u64, payload: Bytes) {
        self.parts.board.task_seen(id, epoch, &label_of(&payload), now());
        self.step(NodeEvent::Task { id, epoch, payload }, None).await;
    }

    /// A task from the HTTP interface. It is on disk before the answer says that it is taken. If it cannot be written, nobody
    /// answers.
    async fn order(&mut self, order: TaskOrder) {
        // Whoever asked was told that nobody answers, and asks again.
        if order.reply.is_closed() {
            return;
        }
        let TaskOrder { id, epoch, payload, reply } = order;
        let epoch = epoch.unwrap_or(self.epoch);
        let mut kept = self.kept.clone();
        // They made room in the machine, too.
        kept.forget(|id| self.node.is_over(*id));
        // The machine is told what is written, and would refuse it for the same reasons.
        let taken = self.node.screen_task(id, epoch, &payload).and_then(|()| kept.add(id, epoch, &payload));
        if let Err(refused) = taken {
            // Whoever asked may be gone.
            let _ = reply.send(Err(refused));
            return;
        }
        let wrote = self.parts.data.write_tasks(&kept);
        if !self.disk.note(&self.parts.board, wrote, self.clock.now()) {
            return;
        }
        self.kept = kept;
        self.name_task(id, epoch, payload).await;
        let _ = reply.send(Ok(epoch));
    }

    /// Forgets kept tasks of epochs that can settle nothing more.
    fn forget_tasks(&mut self) {
        if self.kept.forget_before(self.epoch.saturating_sub(1)) {
            // An old task in the file does no harm: the machine refuses it.
            let wrote = self.parts.data.write_tasks(&self.kept);
            self.disk.note(&self.parts.board, wrote, self.clock.now());
        }
    }

    fn refresh(&mut self) {
        self.clock.look();
        let (now, own) = (now(), self.clock.now());
        if let (Some(schedule), Some(due)) = (&self.parts.schedule, self.next_task) {
            // If the clock was set back, another task begins before the one that was due.
            self.next_task = Some(due.min(schedule.next(now / 1_000)));
        }
        self.parts.board.turned();
        let full = NotTaken::Full(self.parts.settings.most_tasks);
        let problem = (!self.node.takes_tasks()).then(|| format!("{full}, so no further one is taken"));
        self.parts.board.problem(Component::Tasks, problem);
        self.node.tasks().for_each(|report| tell::task(&self.parts.board, &self.clock, report));
        self.parts.board.conflicts(self.node.conflicts(), self.node.conflicts_found());
        self.bans.retain(|ban| ban.until > own);
        self.show_bans(now);
        self.parts.board.peers(self.parts.transport.peers().into_iter().map(|peer| tell::peer(peer, now)));
        self.begin_epoch(own);
    }

    /// Shows the bans of this loop, which knows best why, and then those that the transport made by itself; the newest of each
    /// first.
    fn show_bans(&self, now: u64) {
        let shown: BTreeSet<&str> = self.bans.iter().map(|row| row.peer_id.as_str()).collect();
        let by_transport = self.parts.transport.bans().into_iter().map(|ban| tell::ban(ban, now));
        let by_transport: Vec<_> = by_transport.filter(|row| !shown.contains(row.peer_id.as_str())).collect();
        let by_loop = self.bans.iter().rev().map(|row| BanRow { until: self.clock.shown(row.until), ..row.clone() });
        self.parts.board.bans(by_loop.chain(by_transport));
        self.parts.board.transport(self.parts.transport.counts());
    }

    /// Begins the running epoch if nobody did, when the turn of this aggregator has come by the node's own time.
    ///
    /// The order is that of aggregators in the epoch before, for an id made of the epoch's number. Where there is none,
    /// all try at once, and the chain takes the first.
    fn begin_epoch(&mut self, now: u64) {
        if !self.parts.settings.roles.aggregate || self.snapshots.contains_key(&self.epoch) {
            self.bare_since = None;
            return;
        }
        let since = match self.bare_since {
            Some((epoch, since)) if epoch == self.epoch => since,
            _ => {
                self.bare_since = Some((self.epoch, now));
                now
            }
        };
        let id = keccak256([&b"quorate.beginEpoch"[..], &self.epoch.to_be_bytes()].concat());
        let before = self.epoch.checked_sub(1).and_then(|before| self.snapshots.get(&before));
        let place = before.map_or(0, |snapshot| snapshot.place(id, self.parts.settings.operator));
        let due = since.saturating_add(place.saturating_mul(self.parts.settings.turn));
        if now >= due && self.begun_at.is_none_or(|at| now >= at + BEGIN_AGAIN) {
            self.begun_at = Some(now);
            self.parts.chain.order(ChainOrder::BeginEpoch);
        }
    }
}

/// The number of the first of so many tasks of a schedule, up to the newest one.
fn first_of(count: usize, newest: u64) -> u64 {
    newest.saturating_add(1).saturating_sub(u64::try_from(count).unwrap_or(u64::MAX))
}

/// The task that an event is about, if it can bring the task forward.
fn task_of(event: &NodeEvent) -> Option<B256> {
    match event {
        NodeEvent::Received { message, .. } => Some(message.message().id()),
        NodeEvent::Signed { candidate, .. } => Some(candidate.id),
        NodeEvent::Task { id, .. } | NodeEvent::Executed { id, .. } | NodeEvent::Settled { id, .. } => Some(*id),
        _ => None,
    }
}
