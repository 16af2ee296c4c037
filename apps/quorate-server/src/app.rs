//! What all interfaces of the server share, and the one way on which claims go to the batcher.

use std::{
    collections::VecDeque,
    sync::{
        Arc, PoisonError, RwLock, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use axum::extract::Request;
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use quorate_batcher::{Batcher, Pending, Refused};
use quorate_formats::key_sets::KeySets;
use quorate_host::listen::{Connections, RemoteEnd};

use crate::{
    answer::Answer,
    bans::BansFile,
    board::Board,
    budget::Budget,
    claims::{Asked, Caller, Named},
    clients::{Clients, Shown, UnknownClient},
    config::Config,
    liveness::Liveness,
    metrics::{Metrics, Now},
};

/// What a reload replaces, all of it at once.
pub(crate) struct InForce {
    pub(crate) config: Config,
    /// The key sets whose members claims can name.
    pub(crate) key_sets: KeySets,
    /// Who may ask anything.
    pub(crate) clients: Clients,
}

/// A server's parts.
pub(crate) struct App {
    in_force: RwLock<Arc<InForce>>,
    pub(crate) batcher: Batcher,
    /// The board of checkpoints, if one was configured.
    pub(crate) board: Option<Arc<Board>>,
    /// The file of bans, if one was configured.
    pub(crate) bans: Option<Arc<BansFile>>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) budget: Budget,
    pub(crate) connections: Connections,
    pub(crate) started: Instant,
    liveness: Liveness,
    /// Whether the server has said that it will stop.
    leaving: AtomicBool,
}

/// The parts that do not change as long as a server runs.
pub(crate) struct Parts {
    pub(crate) batcher: Batcher,
    pub(crate) board: Option<Arc<Board>>,
    pub(crate) bans: Option<Arc<BansFile>>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) connections: Connections,
}

impl App {
    pub(crate) fn new(in_force: InForce, parts: Parts) -> Self {
        let Parts { batcher, board, bans, metrics, connections } = parts;
        Self {
            budget: Budget::new(&in_force.config.limits),
            in_force: RwLock::new(Arc::new(in_force)),
            batcher,
            board,
            bans,
            metrics,
            connections,
            started: Instant::now(),
            liveness: Liveness::default(),
            leaving: AtomicBool::new(false),
        }
    }

    /// What is in force now. Whoever asks once gets parts that belong together, whatever is reloaded meanwhile.
    pub(crate) fn in_force(&self) -> Arc<InForce> {
        self.in_force.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts something else in force.
    pub(crate) fn put_in_force(&self, in_force: InForce) {
        self.budget.resize(&in_force.config.limits);
        *self.in_force.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(in_force);
    }

    /// Who sent a request.
    pub(crate) fn caller(&self, request: &Request) -> Result<Caller, UnknownClient> {
        // A router that is called without a connection has one caller.
        let remote = request.extensions().get::<RemoteEnd>();
        let (number, name) = remote.map_or((0, "this process"), |remote| (remote.number, &*remote.name));
        let in_force = self.in_force();
        let certificate = remote.and_then(|remote| remote.certificate.as_ref());
        let shown = Shown::of(request.headers(), certificate);
        let client = in_force.clients.identify(&shown)?;
        Ok(Caller::new(number, name, client, in_force.config.sources.by_connection).with_shown(shown))
    }

    /// Whether the caller of a stream is still the client as which it began. It is asked with each claim, so that a stream does not
    /// outlast its token. `known_in` is what was in force when this was last answered; until something else is, the answer stays.
    pub(crate) fn still_knows(&self, caller: &Caller, known_in: &mut Weak<InForce>) -> Result<(), UnknownClient> {
        let now = self.in_force();
        let of_now = Arc::downgrade(&now);
        if known_in.ptr_eq(&of_now) {
            return Ok(());
        }
        if now.clients.identify(caller.shown())?.as_ref() != caller.client() {
            return Err(UnknownClient::Renamed);
        }
        *known_in = of_now;
        Ok(())
    }

    /// Says from now on that the server will stop, and takes claims all the same.
    pub(crate) fn leave(&self) {
        self.leaving.store(true, Ordering::Relaxed);
    }

    /// Verifies the claims of a request, and answers each, in their order.
    pub(crate) async fn verify(&self, claims: Vec<Named>, asked: &Asked) -> Vec<(Option<Refused>, Answer)> {
        let mut answers = Vec::with_capacity(claims.len());
        let (ids, mut claims): (Vec<_>, VecDeque<_>) =
            claims.into_iter().map(|Named { id, claim }| (id, claim)).unzip();
        let at = Instant::now();
        // Of those that wait here as well.
        let deadline = asked.deadline_from(at);
        let pending = self.batcher.submit_as_fits(&mut claims, asked.class, deadline);
        let (mut places, mut in_progress) = ((0..).zip(ids), FuturesUnordered::new());
        for (pending, (index, id)) in pending.into_iter().zip(&mut places) {
            in_progress.push(self.answer(Submitted { index, id, asked: *asked, at, pending }));
        }
        let mut rest =
            claims.into_iter().zip(places).map(|(claim, (index, id))| (index, Named { id, claim })).peekable();
        loop {
            while let Some((index, named)) = rest.next_if(|(_, named)| self.has_room(in_progress.len(), named, asked)) {
                in_progress.push(self.answer(self.submit(index, named, asked, deadline)));
            }
            match in_progress.next().await {
                Some(answer) => answers.push(answer),
                None => break,
            }
        }
        answers.sort_unstable_by_key(|(_, answer)| answer.index);
        answers
    }

    /// Whether a request that has so many claims in progress hands in this one. A request with more claims than the queue takes
    /// is not an overload: its claims wait here until half of the part of the queue is free that their class and source may have. One is
    /// always under way, so that under an overload that others make, they are refused and not kept waiting.
    pub(crate) fn has_room(&self, in_progress: usize, named: &Named, asked: &Asked) -> bool {
        in_progress == 0 || self.batcher.has_room(asked.class, &named.claim)
    }

    /// Hands a claim to the batcher.
    pub(crate) fn submit(
        &self,
        index: u64,
        Named { id, claim }: Named,
        asked: &Asked,
        deadline: Option<Instant>,
    ) -> Submitted {
        let at = Instant::now();
        let pending = self.batcher.submit(claim, asked.class, deadline);
        Submitted { index, id, asked: *asked, at, pending }
    }

    /// Waits for the answer to a claim.
    pub(crate) async fn answer(&self, submitted: Submitted) -> (Option<Refused>, Answer) {
        let Submitted { index, id, asked, at, pending } = submitted;
        let verdict = pending.await;
        self.metrics.answered(asked.class, &verdict, at.elapsed());
        (verdict.as_ref().err().copied(), Answer::new(index, id, &verdict))
    }

    /// Whether the threads that verify look for work. When the server stops they do not, and it ends by its deadline.
    ///
    /// # Errors
    /// For how long they have not, in words: only another start helps.
    pub(crate) fn lives(&self) -> Result<(), String> {
        if self.connections.stopping().is_cancelled() {
            return Ok(());
        }
        self.liveness.look(&self.batcher, Instant::now())
    }

    /// Whether the server takes more work: it is not stopping, neither its places for requests nor their memory are nearly all taken, and
    /// its queue is not nearly full, nor more than half full after claims were refused.
    pub(crate) fn ready(&self) -> Result<(), &'static str> {
        if self.leaving.load(Ordering::Relaxed) || self.connections.stopping().is_cancelled() {
            return Err("the server is stopping");
        }
        if !self.budget.is_ready() {
            return Err("nearly all places for requests, or their memory, are taken");
        }
        if self.batcher.load().is_ready() {
            Ok(())
        } else {
            Err("the queue is nearly full, or was full and is not half empty yet")
        }
    }

    /// The text for Prometheus.
    pub(crate) fn metrics_text(&self) -> String {
        let load = self.batcher.load();
        self.metrics.text(&Now {
            load: &load,
            known: self.batcher.known(),
            banned: self.batcher.banned(),
            requests: self.budget.requests_now(),
            memory: self.budget.memory_now(),
            connections_free: self.connections.free(),
            checkpoints: self.board.as_ref().map(|board| board.shown().summary),
            uptime: self.started.elapsed(),
        })
    }
}

/// A claim on its way.
pub(crate) struct Submitted {
    index: u64,
    id: Option<quorate_formats::Id>,
    asked: Asked,
    at: Instant,
    pending: Pending,
}
