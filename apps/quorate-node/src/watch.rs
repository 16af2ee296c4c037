//! The node's watch: an `OptimisticSettlement` is watched as `quorate-chain watch` does, by the same [`Watcher`].
//!
//! It runs on a thread of its own, so the node waits neither for its chain nor for its arithmetic, and goes on if it ends. Whatever
//! keeps it from watching is a problem of [`Component::Watch`] on the board, so the node is not ready until it watches again.

use std::{
    io,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use quorate_chain::{
    rpc::Rpc,
    settlement::{SettlementError, SettlementListener, SettlementMetrics, SettlementSettings},
    watch::{WatchListener, WatchMetrics, WatchPayer, WatchTurn, Watcher},
};
use quorate_evm::{posting::PostingConditions, watch::UnknownPostings};
use quorate_host::runtime::ProgramRuntime;
use tokio::{runtime::Builder, sync::watch::Receiver, time::sleep};

use crate::board::{Component, NodeBoard};

/// What is watched, and how.
#[derive(Clone, Debug)]
pub struct NodeWatch {
    /// The node of the settlement's chain.
    pub rpc: Rpc,
    /// How the settlement is followed.
    pub settings: SettlementSettings,
    /// Who pays for calls; nothing is sent without.
    pub payer: Option<WatchPayer>,
    /// The highest bond of a demand, in wei, if there is a limit.
    pub most_bond: Option<u128>,
    /// What is done about a posting that cannot be recomputed.
    pub unknown: UnknownPostings,
    /// Whether true postings are proven whose proof somebody demands.
    pub prove: bool,
}

/// A watch that runs.
#[derive(Debug)]
pub struct RunningWatch(thread::JoinHandle<()>);

/// How long a watch waits before it reads all anew, because logs and contract disagree.
const BEGIN_AGAIN: Duration = Duration::from_secs(30);
/// How long the end of the node waits for that of its watch, and how often it looks.
const END: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);

impl NodeWatch {
    /// Starts to watch, until the node stops.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(self, board: NodeBoard, stopped: Receiver<bool>) -> io::Result<RunningWatch> {
        let followed = Arc::new(SettlementMetrics::begun(self.rpc.clone(), self.settings.every));
        let metrics = Arc::new(WatchMetrics::begun(followed));
        board.watches(self.settings.contract, Arc::clone(&metrics));
        let runtime = ProgramRuntime::new(&mut Builder::new_current_thread())?;
        let watch = Watch { what: self, board, metrics, said: None };
        thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || {
                let mut end = ToldEnd { board: watch.board.clone(), was_wanted: false };
                runtime.block_on(watch.run(stopped));
                end.was_wanted = true;
            })
            .map(RunningWatch)
    }
}

impl RunningWatch {
    /// Waits until the watch has written down how far it is, but not long.
    pub async fn ended(self) {
        let begun = Instant::now();
        // Who joins a thread waits for it however long that takes, and one that hangs keeps nobody.
        while !self.0.is_finished() && begun.elapsed() < END {
            sleep(LOOK).await;
        }
    }
}

/// Says on the board that the watch is no more, if nobody wanted its end.
struct ToldEnd {
    board: NodeBoard,
    was_wanted: bool,
}

impl Drop for ToldEnd {
    fn drop(&mut self) {
        if self.was_wanted {
            return;
        }
        let why = "the watch ended, and nothing is watched until the node is started again: a fault of the program; please report it";
        tracing::error!("{why}");
        self.board.problem(Component::Watch, Some(why.to_owned()));
    }
}

struct Watch {
    what: NodeWatch,
    board: NodeBoard,
    metrics: Arc<WatchMetrics>,
    /// The problem that was said last.
    said: Option<String>,
}

impl Watch {
    async fn run(mut self, mut stopped: Receiver<bool>) {
        let mut stop = stopped.clone();
        let mut watcher = tokio::select! {
            watcher = self.open() => watcher,
            _ = stop.wait_for(|stopped| *stopped) => return,
        };
        tokio::select! {
            () = self.watch(&mut watcher) => {}
            _ = stopped.wait_for(|stopped| *stopped) => {}
        }
        if let Err(error) = watcher.following().save() {
            tracing::warn!("the watch: {}", error.words());
        }
    }

    /// The watcher, once the node of the chain has answered.
    async fn open(&mut self) -> Watcher<NodeLog> {
        let NodeWatch { rpc, settings, payer, most_bond, unknown, prove } = self.what.clone();
        let every = settings.every;
        loop {
            let metrics = Arc::clone(&self.metrics);
            let opened = Watcher::open(rpc.clone(), settings.clone(), unknown, prove, metrics, NodeLog).await;
            match opened.and_then(|watcher| watcher.with_most_bond(most_bond)) {
                Ok(mut watcher) => {
                    let PostingConditions { window, window_blocks, slots, .. } = watcher.conditions();
                    let contract = settings.contract;
                    tracing::info!(%contract, window, window_blocks, slots, "the watch begins");
                    if let Some(payer) = payer {
                        watcher.pay(payer);
                    }
                    return watcher;
                }
                Err(error) => self.fails(&error),
            }
            sleep(every).await;
        }
    }

    /// Watches for ever. What does not pass by itself is said, and then all is read anew: the node of the chain may be another one then.
    async fn watch(&mut self, watcher: &mut Watcher<NodeLog>) {
        loop {
            let pause = match watcher.turn_patiently().await {
                Ok(WatchTurn::Looked { unpaid, .. }) => {
                    // The watcher has logged why nobody pays.
                    let had_failed = std::mem::replace(&mut self.said, unpaid.clone()).is_some();
                    if had_failed && unpaid.is_none() {
                        tracing::info!("the watch goes on");
                    }
                    self.board.problem(Component::Watch, unpaid);
                    self.what.settings.every
                }
                Ok(WatchTurn::Failed { why }) => {
                    // The watcher has logged it.
                    self.board.problem(Component::Watch, Some(why.clone()));
                    self.said = Some(why);
                    self.what.settings.every
                }
                // Whether that lasts too long is told by the time of the last look.
                Ok(WatchTurn::Behind | WatchTurn::Before) => self.what.settings.every,
                Err(error) => {
                    self.fails(&error);
                    watcher.following().begin_anew();
                    BEGIN_AGAIN
                }
            };
            sleep(pause).await;
        }
    }

    /// Nothing is watched. That is logged once for each reason.
    fn fails(&mut self, error: &SettlementError) {
        let why = format!("{}; nothing is watched, and it is tried again", error.words());
        if self.said.as_ref() != Some(&why) {
            tracing::error!("the watch: {why}");
        }
        self.board.problem(Component::Watch, Some(why.clone()));
        self.said = Some(why);
    }
}

/// What the watch finds goes to the node's log.
struct NodeLog;

impl SettlementListener for NodeLog {
    fn note(&mut self, text: &str) {
        tracing::info!("the watch: {text}");
    }

    fn problem(&mut self, text: &str) {
        tracing::error!("the watch: {text}");
    }
}

impl WatchListener for NodeLog {
    fn posting(&mut self, text: &str, doubtful: bool) {
        if doubtful {
            self.problem(text);
        } else {
            self.note(text);
        }
    }
}
