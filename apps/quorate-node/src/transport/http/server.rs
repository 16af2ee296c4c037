//! The aggregator's side: routes, connections and their limits.

use std::{
    collections::HashMap,
    convert::Infallible,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{DefaultBodyLimit, Extension, Path, Query, State as Shared},
    http::{HeaderMap, Request as HttpRequest, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::Deserialize;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Notify, Semaphore, mpsc, watch},
    task::JoinSet,
    time::{MissedTickBehavior, interval, sleep, timeout},
};
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt as _;

use super::{
    super::{
        Admitted, Judgement, PeerId, PeerReport, Terms, Transport, TransportError,
        handle::{CALLS, Call},
        handshake::Hello,
        inbox::{self, Tally},
        limits::Limits,
        origin::{may_be_shared, network},
        tickets::Tickets,
    },
    bodies::{Challenge, MAX_BODY, MAX_OPENING, News, Opened, Opening, Side, decode, decode_batch, encode, statement},
    proxies::{Origin, Proxies},
    state::{Refusal, State, Token},
};
use quorate_network::{
    message::{MAX_MESSAGE, Message},
    wire,
};

/// Where the aggregator listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeSettings {
    /// The address and port of TCP. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// How long a node's question for news is kept open. A node from which nothing comes for three times as long has left.
    pub poll: Duration,
    /// Servers that end TLS in front of the aggregator. Without them, everybody behind such a server has its address.
    pub proxies: Proxies,
}

impl ServeSettings {
    /// An address, ten seconds, and no proxy.
    pub fn new(listen: SocketAddr) -> Self {
        Self { listen, poll: Duration::from_secs(10), proxies: Proxies::default() }
    }
}

/// Starts the aggregator, inside a runtime of tokio.
///
/// # Errors
/// [`TransportError`] if the address is in use, or the credential too long.
pub async fn serve(terms: Terms, settings: &ServeSettings) -> Result<Transport, TransportError> {
    terms.credential.check()?;
    let listen =
        |why: std::io::Error| TransportError::Listen { address: settings.listen.to_string(), why: why.to_string() };
    let listener = TcpListener::bind(settings.listen).await.map_err(listen)?;
    let at = listener.local_addr().map_err(listen)?;
    let tally = Arc::new(Tally::default());
    let (outbox, inbox) = inbox::queue(&terms.limits, tally.clone());
    let (calls, called) = mpsc::channel(CALLS);
    let (reports, peers) = watch::channel(Vec::new());
    let (_, addresses) = watch::channel(vec![format!("http://{at}")]);
    let peer_id = terms.identity.peer_id();
    let (tickets, judgements) = Tickets::new(terms.limits.unjudged, terms.limits.judge_within);
    let hub = Arc::new(Hub {
        peer: peer_id,
        run: rand::random(),
        poll: settings.poll,
        proxies: settings.proxies.clone(),
        at_once: AtOnce::new(&terms.limits),
        requests: Mutex::default(),
        checks: Semaphore::new(CHECKS),
        news: Notify::new(),
        state: Mutex::new(State::new(terms, outbox, tally.clone(), tickets)),
    });
    let task = tokio::spawn(run(hub, listener, called, judgements, reports));
    Ok(Transport { peer_id, addresses, calls, audiences: watch::Sender::default(), inbox, peers, tally, task })
}

/// What the handlers share.
struct Hub {
    peer: PeerId,
    run: u64,
    poll: Duration,
    proxies: Proxies,
    at_once: AtOnce,
    /// Requests in progress that came through a proxy, by who sent them.
    requests: Mutex<HashMap<IpAddr, usize>>,
    /// Credentials that are checked at once.
    checks: Semaphore,
    /// There may be news.
    news: Notify,
    state: Mutex<State>,
}

/// How many connections there may be at once; through a proxy, how many requests.
#[derive(Clone, Copy, Debug)]
struct AtOnce {
    all: usize,
    /// Of one address.
    here: usize,
    /// Of one that many may share.
    shared: usize,
}

impl AtOnce {
    fn new(limits: &Limits) -> Self {
        let all = EACH * limits.peers + limits.strangers;
        Self { all, here: EACH * limits.peers_per_operator + limits.strangers_per_address, shared: all / 2 }
    }

    fn of(&self, shared: bool) -> usize {
        if shared { self.shared } else { self.here }
    }
}

/// A request in progress.
struct InProgress<'a> {
    hub: &'a Hub,
    from: IpAddr,
}

impl Drop for InProgress<'_> {
    fn drop(&mut self) {
        let mut requests = self.hub.requests.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = requests.get_mut(&self.from) {
            *count -= 1;
            if *count == 0 {
                requests.remove(&self.from);
            }
        }
    }
}

impl Hub {
    /// Counts a request that came through a proxy; `None` if as many of its sender as allowed are in progress. Their number in
    /// all is bounded by that of the connections.
    fn begin(&self, from: Origin) -> Option<InProgress<'_>> {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let count = requests.entry(from.address).or_default();
        if *count >= self.at_once.of(from.shared) {
            return None;
        }
        *count += 1;
        Some(InProgress { hub: self, from: from.address })
    }

    /// Held only for moments: nothing waits while it is.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn run(
    hub: Arc<Hub>,
    listener: TcpListener,
    mut calls: mpsc::Receiver<Call>,
    mut judgements: mpsc::UnboundedReceiver<(u64, Judgement)>,
    reports: watch::Sender<Vec<PeerReport>>,
) {
    let router = router(hub.clone());
    let mut connections = Connections { hub: hub.clone(), router, open: JoinSet::new(), from: Vec::new(), told: None };
    let mut checks = JoinSet::new();
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            call = calls.recv() => match call {
                None => break,
                Some(Call::Readmit) => readmit(&hub, &mut checks),
                Some(call) => {
                    take(&mut hub.state(), call);
                    hub.news.notify_waiters();
                }
            },
            Some((ticket, judgement)) = judgements.recv() => {
                if hub.state().judge(ticket, judgement) {
                    hub.news.notify_waiters();
                }
            }
            accepted = listener.accept() => match accepted {
                Ok((stream, from)) => connections.add(stream, from.ip()),
                Err(error) => {
                    // Often there are no file descriptors left: they come back.
                    tracing::warn!(%error, "cannot accept a connection; trying again");
                    sleep(TICK).await;
                }
            },
            Some(checked) = checks.join_next(), if !checks.is_empty() => {
                if let Ok(Some(token)) = checked {
                    hub.state().dismiss(&token);
                    hub.news.notify_waiters();
                }
            }
            _ = tick.tick() => {
                connections.clean();
                let mut state = hub.state();
                state.tick(3 * hub.poll);
                if state.outbox.is_closed() {
                    break;
                }
            }
        }
        let now = hub.state().reports();
        reports.send_if_modified(|old| {
            let differs = *old != now;
            *old = now;
            differs
        });
    }
    // Connections end with their tasks.
    connections.open.shutdown().await;
    checks.shutdown().await;
}

fn take(state: &mut State, call: Call) {
    match call {
        Call::Publish(message, _) => state.publish(message),
        Call::Ask(request, _) => state.ask(request),
        Call::Answer(to, answer) => state.answer(to, answer),
        Call::Ban(source, time) => state.ban(source, time, "the aggregator bans it"),
        Call::Readmit => {}
    }
}

/// Checks the credential of each session again; the task of one that does not hold says its token. While the chain is
/// behind, a session goes on: it was right before.
fn readmit(hub: &Arc<Hub>, checks: &mut JoinSet<Option<Token>>) {
    let (admission, credentials) = {
        let state = hub.state();
        (state.terms.admission.clone(), state.credentials())
    };
    for (token, peer, operator, credential) in credentials {
        let admission = admission.clone();
        checks.spawn_blocking(move || match admission.admit(&peer.to_bytes(), &credential) {
            Admitted::Operator(found) if found == operator => None,
            Admitted::NotYet => None,
            _ => Some(token),
        });
    }
}

/// Connections, one task each.
struct Connections {
    hub: Arc<Hub>,
    router: Router,
    open: JoinSet<IpAddr>,
    from: Vec<IpAddr>,
    /// When the log last said that connections are closed.
    told: Option<Instant>,
}

impl Connections {
    fn add(&mut self, stream: TcpStream, peer: IpAddr) {
        self.clean();
        let from = network(peer);
        let AtOnce { all, .. } = self.hub.at_once;
        // Of a proxy's connections the requests are counted, by who sent them.
        let most_here = if self.hub.proxies.trusts(peer) { all } else { self.hub.at_once.of(may_be_shared(peer)) };
        let here = self.from.iter().filter(|other| **other == from).count();
        if self.from.len() >= all || here >= most_here {
            if self.told.is_none_or(|told| told.elapsed() >= TELL) {
                self.told = Some(Instant::now());
                let open = self.from.len();
                tracing::warn!(%from, here, most_here, open, all, "as many connections as allowed are open, so further ones \
                    are closed; a proxy that many nodes share must be named by --trusted-proxy");
            }
            return;
        }
        self.from.push(from);
        let (hub, router) = (self.hub.clone(), self.router.clone());
        self.open.spawn(async move {
            connection(&hub, router, stream, peer).await;
            from
        });
    }

    /// Forgets connections that have ended.
    fn clean(&mut self) {
        while let Some(ended) = self.open.try_join_next() {
            match ended {
                Ok(from) => {
                    if let Some(at) = self.from.iter().position(|other| *other == from) {
                        self.from.swap_remove(at);
                    }
                }
                Err(error) => tracing::error!(%error, "a connection's task failed"),
            }
        }
    }
}

async fn connection(hub: &Hub, router: Router, stream: TcpStream, peer: IpAddr) {
    let _ = stream.set_nodelay(true);
    let whole = hub.poll + REQUEST;
    let mut stream = TimeoutStream::new(stream);
    // While a question for news is open, nothing needs to come.
    stream.set_read_timeout(Some(whole + REQUEST));
    stream.set_write_timeout(Some(REQUEST));
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let router = router.clone();
        async move {
            let mut request: HttpRequest<Body> = request.map(Body::new);
            let Ok(from) = hub.proxies.origin(peer, request.headers()) else {
                return Ok(plain(StatusCode::BAD_REQUEST, "the proxy's X-Forwarded-For does not end in an address"));
            };
            let _in_progress = match hub.proxies.trusts(peer).then(|| hub.begin(from)) {
                None => None,
                Some(Some(begun)) => Some(begun),
                Some(None) => {
                    return Ok(plain(StatusCode::TOO_MANY_REQUESTS, "as many requests of this address as allowed run"));
                }
            };
            request.extensions_mut().insert(from);
            // Also for a body that comes a byte at a time.
            let response = timeout(whole, router.oneshot(request)).await;
            Ok::<_, Infallible>(match response {
                Ok(response) => response.unwrap_or_else(|never| match never {}),
                Err(_) => plain(StatusCode::REQUEST_TIMEOUT, "the request took too long"),
            })
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(whole + REQUEST).max_buf_size(HEADERS).max_headers(32);
    if let Err(error) = builder.serve_connection(TokioIo::new(Box::pin(stream)), service).await {
        tracing::debug!(%error, "a connection ended");
    }
}

fn router(hub: Arc<Hub>) -> Router {
    Router::new()
        .route("/v1/challenge", post(challenge))
        .route("/v1/session", post(session).layer(DefaultBodyLimit::max(MAX_OPENING)))
        .route("/v1/messages", post(messages).layer(DefaultBodyLimit::max(MAX_BODY)))
        .route("/v1/news", get(news))
        .route("/v1/question", post(question).layer(DefaultBodyLimit::max(MAX_MESSAGE)))
        .route("/v1/answers/{number}", post(answer).layer(DefaultBodyLimit::max(MAX_MESSAGE)))
        .with_state(hub)
}

type HubState = Shared<Arc<Hub>>;

async fn challenge(Shared(hub): HubState, Extension(from): Extension<Origin>) -> Response {
    let now = Instant::now();
    let state = hub.state();
    if state.bans.has_address(from.address, now) {
        return plain(StatusCode::FORBIDDEN, "this address is banned for some seconds");
    }
    bytes(encode(&Challenge { bytes: state.challenge(now), server: hub.peer.to_bytes() }))
}

async fn session(Shared(hub): HubState, Extension(from): Extension<Origin>, body: Bytes) -> Response {
    let stranger = |peer, why| {
        // Whoever shares an address does not suffer for another one.
        hub.state().stranger(peer, (!from.shared).then_some(from.address), why);
        plain(StatusCode::FORBIDDEN, "this opens no session here; see docs/network.md")
    };
    let Some(opening) = decode::<Opening>(&body) else { return stranger(None, "an opening that does not decode") };
    let (Ok(peer), Some(hello)) = (PeerId::try_from(opening.peer.as_slice()), Hello::decode(&opening.hello)) else {
        return stranger(None, "a peer id or a credential that does not decode");
    };
    let (terms, ours) = {
        let state = hub.state();
        let (network, identity) = (state.terms.network, &state.terms.identity);
        let said = |side| statement(side, network, &peer, &hub.peer, &opening.challenge, &opening.nonce);
        if !peer.verify(&said(Side::Node), &opening.signature) {
            drop(state);
            // Whoever holds the key of this peer id did not sign, so only the address is banned.
            return stranger(None, "a signature that is not of its peer id");
        }
        (state.terms.clone(), identity.sign(&said(Side::Aggregator)))
    };
    {
        let mut state = hub.state();
        let now = Instant::now();
        if state.bans.has_peer(&peer, now) || state.bans.has_address(from.address, now) {
            return plain(StatusCode::FORBIDDEN, "this node is banned for some time");
        }
        if !state.redeem(&opening.challenge, now) {
            // Too late, or a second time: the node asks for another one.
            return plain(StatusCode::CONFLICT, "the challenge is too old, or was used");
        }
    }
    let Ok(_permit) = hub.checks.acquire().await else { return busy() };
    let credential = hello.credential();
    let (admission, shown) = (terms.admission.clone(), credential.clone());
    let checked = tokio::task::spawn_blocking(move || admission.admit(&peer.to_bytes(), &shown)).await;
    let opened = match checked {
        Err(error) => {
            tracing::error!(%error, "checking a node's credential failed");
            return busy();
        }
        Ok(Admitted::NotYet) => Opened::NotYet,
        Ok(Admitted::No(reason)) => {
            tracing::info!(%peer, reason, "a node is not admitted");
            // The key is a node's, so its address is left alone.
            hub.state().stranger(Some(peer), None, &reason);
            Opened::Refused(reason.chars().take(REASON).collect())
        }
        Ok(Admitted::Operator(operator)) => {
            let mut state = hub.state();
            match state.open(peer, operator, credential, from.address) {
                Err(reason) => Opened::Refused(reason.to_owned()),
                Ok(token) => Opened::Session {
                    token,
                    signature: ours,
                    hello: Hello::new(&terms.credential, Vec::new()).encode(),
                    run: hub.run,
                    next: state.next(),
                    poll_ms: hub.poll.as_millis() as u64,
                },
            }
        }
    };
    hub.news.notify_waiters();
    bytes(encode(&opened))
}

async fn messages(Shared(hub): HubState, headers: HeaderMap, body: Bytes) -> Response {
    authorized(&hub, &headers, body.len(), |state, token| match decode_batch(&body) {
        Some(messages) => state.messages(token, messages),
        // A body that is not a batch counts as a message that does not decode, which ends the session.
        None => state.messages(token, vec![body.to_vec()]),
    })
    .map_or_else(refused, |()| StatusCode::NO_CONTENT.into_response())
}

#[derive(Deserialize)]
struct Since {
    since: u64,
}

async fn news(Shared(hub): HubState, headers: HeaderMap, Query(Since { since }): Query<Since>) -> Response {
    let Some(token) = token(&headers) else { return refused(Refusal::NoSession) };
    if let Err(refusal) = authorized(&hub, &headers, 0, |_, _| Ok(())) {
        return refused(refusal);
    }
    let found = timeout(hub.poll, async {
        loop {
            let notified = hub.news.notified();
            let mut notified = std::pin::pin!(notified);
            // From here on, what is new wakes it.
            notified.as_mut().enable();
            match hub.state().news(&token, since) {
                Ok(None) => {}
                Ok(Some(news)) => return Ok(news),
                Err(refusal) => return Err(refusal),
            }
            notified.await;
        }
    });
    match found.await {
        Ok(Ok(news)) => bytes(encode(&news)),
        Ok(Err(refusal)) => refused(refusal),
        Err(_) => {
            let next = since.min(hub.state().next());
            bytes(encode(&News { next, ..News::default() }))
        }
    }
}

async fn question(Shared(hub): HubState, headers: HeaderMap, body: Bytes) -> Response {
    let answer = match authorized(&hub, &headers, body.len(), |state, token| state.asked(token, &body)) {
        Ok(answer) => answer,
        Err(refusal) => return refused(refusal),
    };
    let (within, network) = {
        let terms = &hub.state().terms;
        (terms.limits.answer_within, terms.network)
    };
    match timeout(within, answer).await {
        Ok(Ok(answer)) => bytes(wire::encode(&Message::Answer(answer), network)),
        _ => busy(),
    }
}

async fn answer(Shared(hub): HubState, headers: HeaderMap, Path(number): Path<u64>, body: Bytes) -> Response {
    authorized(&hub, &headers, body.len(), |state, token| state.answered(token, number, &body))
        .map_or_else(refused, |()| StatusCode::NO_CONTENT.into_response())
}

/// Does something for the session that a request names.
fn authorized<T>(
    hub: &Hub,
    headers: &HeaderMap,
    length: usize,
    act: impl FnOnce(&mut State, &Token) -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let token = token(headers).ok_or(Refusal::NoSession)?;
    let mut state = hub.state();
    let done = state.request(&token, length).and_then(|_| act(&mut state, &token));
    drop(state);
    if matches!(done, Err(Refusal::Banned)) {
        hub.news.notify_waiters();
    }
    done
}

/// The token of a request, which nobody guesses: 32 random bytes.
fn token(headers: &HeaderMap) -> Option<Token> {
    let text = headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")?;
    let mut token = Token::default();
    const_hex::decode_to_slice(text, &mut token).ok()?;
    Some(token)
}

fn refused(refusal: Refusal) -> Response {
    match refusal {
        Refusal::NoSession => plain(StatusCode::UNAUTHORIZED, "no such session; open one at /v1/session"),
        Refusal::Banned => plain(StatusCode::FORBIDDEN, "the session has ended, and the node is banned for some time"),
        Refusal::Busy => busy(),
    }
}

fn busy() -> Response {
    plain(StatusCode::SERVICE_UNAVAILABLE, "not now; try again in a second")
}

fn plain(status: StatusCode, text: &'static str) -> Response {
    // A client that is refused opens a new connection, or none.
    (status, [(header::CONNECTION, "close")], text).into_response()
}

fn bytes(bytes: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response()
}

/// How often the aggregator looks at what is over.
const TICK: Duration = Duration::from_millis(100);
/// How long a request may take beside waiting for news; and reading or writing without progress.
const REQUEST: Duration = Duration::from_secs(20);
/// How often the log says that connections are closed.
const TELL: Duration = Duration::from_secs(60);
/// The most bytes of a request's head.
const HEADERS: usize = 16 * 1024;
/// Connections of one node.
const EACH: usize = 4;
/// Credentials that are checked at once.
const CHECKS: usize = 4;
/// The most characters of a reason.
const REASON: usize = 200;
