//! The board: what a running node shows. Its loop writes, and the HTTP interface, the metrics and the dashboard read.
//!
//! ```text
//! loop ── reports, counts ──> Board ──┬── view ────── dashboard, /v1/status, /v1/tasks
//!                                     ├── readiness ── /readyz, and liveness ── /livez
//!                                     └── metrics ──── /metrics
//! ```
//!
//! A board is a handle: clones share what is on it. Each call takes a lock for microseconds and never waits for anything
//! else, so the loop may call it from anywhere. Reports may come in any order and twice.
//!
//! # Bounds
//! The board remembers [`MAX_TASKS`] tasks and shows the newest [`SHOWN_TASKS`]. It holds [`MAX_SUBMISSIONS`] transactions,
//! [`MAX_PUNISHMENTS`] punishments, [`MAX_CONFLICTS`] conflicts, [`MAX_PEERS`] peers, as many bans, and [`MAX_MEMBERS`]
//! members. When a list is full, its oldest entry goes (of tasks, the oldest that is over), or what comes behind its end is left
//! out. A text has at most [`MAX_TEXT`] characters.

mod report;
mod bounds;
mod task;
mod transport;
mod state;
mod view;

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use quorate_chain::watch::WatchMetrics;
use quorate_evm::alloy_primitives::{Address, B256};

pub use bounds::{
    MAX_CONFLICTS, MAX_MEMBERS, MAX_PEERS, MAX_PUNISHMENTS, MAX_SUBMISSIONS, MAX_TASKS, MAX_TEXT, SHOWN_TASKS, label_of,
};
pub use report::{
    BanRow, ChainReport, Component, Count, IdentityReport, MemberReport, PeerRow, PunishmentKind, PunishmentReport,
    Purpose, RewardsReport, SeatWeight, SettledReport, SubmissionReport, SubmissionState, old_head, problem_of_payer,
};
pub use state::Expectations;
pub use transport::TransportView;
pub use view::{
    BanView, ChainView, ConflictView, CountsView, MissingView, NodeView, OperatorView, PeerView, ProblemView,
    PunishmentView, RewardsView, SettlementView, SubmissionView, TaskState, TaskView, TimesView, View, WatchView,
};

use crate::{metrics::Metrics, transport::Counts};
use bounds::clipped;
use quorate_network::roles::{ConflictReport, TaskReport};
use state::State;

/// What a running node shows. Clones share it.
#[derive(Clone, Debug)]
pub struct NodeBoard(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    expectations: Expectations,
    metrics: Metrics,
    state: Mutex<State>,
    /// How often the node's loop was here.
    turns: AtomicU64,
}

impl NodeBoard {
    /// An empty board.
    pub fn new(expectations: Expectations) -> Self {
        Self(Arc::new(Inner {
            expectations,
            metrics: Metrics::begun(),
            state: Mutex::default(),
            turns: AtomicU64::new(0),
        }))
    }

    /// The node's loop turns. It says so also while it waits for a disk that refuses, because that is no fault of its own.
    pub fn turned(&self) {
        self.0.turns.fetch_add(1, Ordering::Relaxed);
        self.lock().turned = Some(Instant::now());
    }

    /// How often the node's loop has turned: some times a second as soon as the node works, and no more when it hangs.
    pub fn turns(&self) -> u64 {
        self.0.turns.load(Ordering::Relaxed)
    }

    /// Says who the node is.
    pub fn set_identity(&self, identity: IdentityReport) {
        let peer_id = clipped(&identity.peer_id);
        self.lock().identity = Some(IdentityReport { peer_id, version: clipped(&identity.version), ..identity });
    }

    /// The operator's own source has named a task. The label is what people shall see of its payload: see [`label_of`].
    pub fn task_seen(&self, id: B256, epoch: u64, label: &str, now_ms: u64) {
        self.lock().tasks.seen(id, epoch, &clipped(label), now_ms, &self.0.metrics);
    }

    /// How far a task is. The board keeps the time of each first. A report of a task that is not on the board is dropped.
    pub fn task_report(&self, report: TaskReport, now_ms: u64) {
        self.lock().tasks.report(report, now_ms, &self.0.metrics);
    }

    /// A task without a quorum made room for another one. It has lapsed, unless the chain settles it all the same.
    pub fn task_dropped(&self, id: B256) {
        self.lock().tasks.dropped(id, &self.0.metrics);
    }

    /// The chain has settled a task, whether this node knows it or not.
    pub fn settled(&self, id: B256, epoch: u64, report: SettledReport, now_ms: u64) {
        let mut state = self.lock();
        let State { tasks, standings, .. } = &mut *state;
        tasks.settled(id, epoch, report, now_ms, standings, &self.0.metrics);
    }

    /// Whether the board knows how the chain settled a task.
    pub fn is_settled(&self, id: B256) -> bool {
        self.lock().tasks.is_settled(id)
    }

    /// Nothing undoes the settlement of a task.
    pub fn finalised(&self, id: B256, now_ms: u64) {
        self.lock().tasks.finalised(id, now_ms, &self.0.metrics);
    }

    /// A reorganisation undid the settlement of a task.
    pub fn unsettled(&self, id: B256) {
        let mut state = self.lock();
        let State { tasks, standings, .. } = &mut *state;
        tasks.unsettled(id, standings);
    }

    /// What has become of a transaction of this node.
    ///
    /// It belongs to the newest one with the same purpose and nonce. One that had no nonce yet and has not ended takes the
    /// nonce that comes.
    pub fn submission(&self, report: SubmissionReport, now_ms: u64) {
        self.lock().submission(report, now_ms, &self.0.metrics);
    }

    /// An operator lost stake.
    pub fn punished(&self, report: PunishmentReport) {
        self.lock().punished(report);
    }

    /// A reorganisation undid a punishment.
    pub fn unpunished(&self, operator: Address, id: B256, kind: PunishmentKind) {
        self.lock().unpunished(operator, id, kind);
    }

    /// The conflicts that the node knows, and how many it has found since it started. They replace what it said before.
    pub fn conflicts(&self, conflicts: impl IntoIterator<Item = ConflictReport>, found: u64) {
        let mut state = self.lock();
        self.0.metrics.conflicts_found(found);
        let mut conflicts = conflicts.into_iter();
        state.conflicts = conflicts.by_ref().take(MAX_CONFLICTS).collect();
        state.conflicts_in_all = state.conflicts.len() + conflicts.count();
    }

    /// The members of the running epoch. They replace those before.
    pub fn members(&self, members: impl IntoIterator<Item = MemberReport>) {
        self.lock().members = members.into_iter().take(MAX_MEMBERS).collect();
    }

    /// The operator's stake and rewards.
    pub fn rewards(&self, rewards: RewardsReport) {
        self.lock().rewards = Some(rewards);
    }

    /// The peers that are connected. They replace those before. Fewer than [`Expectations::peers`] are a problem.
    pub fn peers(&self, peers: impl IntoIterator<Item = PeerRow>) {
        let bounded = |row: PeerRow| PeerRow { peer_id: clipped(&row.peer_id), address: clipped(&row.address), ..row };
        let peers: Vec<_> = peers.into_iter().take(MAX_PEERS).map(bounded).collect();
        let mut state = self.lock();
        self.0.metrics.traffic(&state.peers, &peers);
        state.peers = peers;
        let problem = state.lacks_peers(&self.0.expectations);
        state.components.insert(Component::Peers, problem);
    }

    /// The peers that are banned, in the order in which they are shown. They replace those before.
    pub fn bans(&self, bans: impl IntoIterator<Item = BanRow>) {
        let bounded = |row: BanRow| BanRow { peer_id: clipped(&row.peer_id), reason: clipped(&row.reason), ..row };
        self.lock().bans = bans.into_iter().take(MAX_PEERS).map(bounded).collect();
    }

    /// What the transport has dropped and refused since it started. It replaces what it said before.
    pub fn transport(&self, counts: Counts) {
        let mut state = self.lock();
        self.0.metrics.transport(&state.transport, &counts);
        state.transport = counts;
    }

    /// The chain was read. Tasks whose epoch can settle nothing more have lapsed.
    pub fn chain(&self, report: ChainReport, now_ms: u64) {
        let report = ChainReport { behind: report.behind.as_deref().map(clipped), ..report };
        let mut state = self.lock();
        state.tasks.lapse(report.epoch, &self.0.metrics);
        state.chain = Some((report, now_ms));
    }

    /// The problem of a component, in words; `None` says that it works.
    ///
    /// A node with the role of a performer or an attester is ready only after its signer was said to work, and every node
    /// only after its disk was.
    pub fn problem(&self, component: Component, problem: Option<String>) {
        self.lock().components.insert(component, problem.as_deref().map(clipped));
    }

    /// A call of a component failed. It is counted, and why it failed is the component's problem, in words.
    pub fn failed(&self, component: Component, why: String) {
        self.count(Count::Failed(component));
        self.problem(component, Some(why));
    }

    /// The node watches a settlement, too. It is ready only after the watch was said to work, and as long as it looks.
    pub fn watches(&self, contract: Address, metrics: Arc<WatchMetrics>) {
        self.lock().watch = Some((contract, metrics));
    }

    /// The node has begun to stop.
    pub fn stopping(&self) {
        self.lock().stopping = true;
    }

    /// Counts something once.
    pub fn count(&self, what: Count) {
        self.0.metrics.count(what, 1);
    }

    /// Counts something several times.
    pub fn count_many(&self, what: Count, times: u64) {
        self.0.metrics.count(what, times);
    }

    /// All that there is to show.
    pub fn view(&self, now_ms: u64) -> View {
        let state = self.lock();
        let readiness = state.readiness(&self.0.expectations, now_ms);
        View::of(&state, readiness, &self.0.metrics, now_ms)
    }

    /// Whether the node can do its work.
    ///
    /// # Errors
    /// Each reason why it cannot, in words.
    pub fn readiness(&self, now_ms: u64) -> Result<(), Vec<String>> {
        self.lock().readiness(&self.0.expectations, now_ms)
    }

    /// Whether the node's loop turns. Before it has turned for the first time, the node starts, and that is no fault.
    ///
    /// # Errors
    /// For how long it has not turned, in words: only another start helps.
    pub fn liveness(&self) -> Result<(), String> {
        self.lock().hangs(&self.0.expectations).map_or(Ok(()), Err)
    }

    /// The text for Prometheus.
    pub fn metrics(&self, now_ms: u64) -> String {
        let (now, watch) = {
            let state = self.lock();
            (state.now(&self.0.expectations, now_ms), state.watch.clone())
        };
        self.0.metrics.text(&now, watch.as_ref().map(|(_, watch)| &**watch))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A thread that panicked while it wrote leaves a board that is a report behind, which is not a danger.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
