//! The aggregator's side: routes, connections and their limits.

use std::{
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, Extension, Path, Query, Request as HttpRequest, State as Shared},
    http::{HeaderMap, StatusCode, header},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use quorate_host::{
    clipped,
    listen::{Bounds, ByAddress, Connections, CountsByKey, RemoteEnd, Routers},
};
use serde::Deserialize;
use tokio::{
    net::TcpListener,
    sync::{Notify, Semaphore, mpsc, watch},
    task::JoinSet,
    time::{MissedTickBehavior, interval, timeout},
};

use super::{
    super::{
        Admitted, Judgement, PeerId, PeerReport, Terms, Transport, TransportError,
        handle::{CALLS, Call, Command},
        handshake::Hello,
        inbox::{self, Tally},
        limits::Limits,
        origin::{may_be_shared, network},
        tickets::Tickets,
    },
    bodies::{Challenge, MAX_BODY, MAX_OPENING, News, Opened, Opening, Side, decode, decode_batch, encode, statement},
    proxies::{Origin, Proxies, Unreadable},
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
    let (commands, commanded) = mpsc::unbounded_channel();
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
        requests: Arc::default(),
        checks: Semaphore::new(CHECKS),
        news: Notify::new(),
        state: Mutex::new(State::new(terms, outbox, tally.clone(), tickets)),
    });
    let connections = connections(&hub);
    connections.listen_tcp(listener, Routers { running: router(hub.clone()), draining: None });
    let task = tokio::spawn(run(hub, connections, called, commanded, judgements, reports));
    let audiences = watch::Sender::default();
    Ok(Transport { peer_id, addresses, calls, commands, audiences, inbox, peers, tally, task })
}

/// What the handlers share.
struct Hub {
    peer: PeerId,
    run: u64,
    poll: Duration,
    proxies: Proxies,
    at_once: AtOnce,
    /// Requests in progress that came through a proxy, by who sent them. Their number in all is bounded by that of the connections.
    requests: Arc<CountsByKey<IpAddr>>,
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
    /// From one address.
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

impl Hub {
    /// How long a request may take.
    fn longest(&self) -> Duration {
        self.poll + REQUEST
    }

    /// Held only for moments: nothing waits while it is.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn run(
    hub: Arc<Hub>,
    connections: Connections,
    mut calls: mpsc::Receiver<Call>,
    mut commands: mpsc::UnboundedReceiver<Command>,
    mut judgements: mpsc::UnboundedReceiver<(u64, Judgement)>,
    reports: watch::Sender<Vec<PeerReport>>,
) {
    let _end = connections.abort_on_drop();
    let mut checks = JoinSet::new();
    let mut tick = interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            call = calls.recv() => match call {
                None => break,
                Some(call) => {
                    take(&mut hub.state(), call);
                    hub.news.notify_waiters();
                }
            },
            Some(command) = commands.recv() => match command {
                Command::Readmit => readmit(&hub, &mut checks),
                Command::Ban(source, time) => {
                    hub.state().ban(source, time, "the aggregator bans it");
                    hub.news.notify_waiters();
                }
            },
            Some((ticket, judgement)) = judgements.recv() => {
                if hub.state().judge(ticket, judgement) {
                    hub.news.notify_waiters();
                }
            }
            Some(checked) = checks.join_next(), if !checks.is_empty() => {
                if let Ok(Some(token)) = checked {
                    hub.state().dismiss(&token);
                    hub.news.notify_waiters();
                }
            }
            _ = tick.tick() => {
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
    connections.abort();
    connections.drain().await;
    checks.shutdown().await;
}

fn take(state: &mut State, call: Call) {
    match call {
        Call::Publish(message, _) => state.publish(message),
        Call::Ask(request, _) => state.ask(request),
        Call::AskPeer(peer, request) => state.ask_peer(peer, request),
        Call::HandOn(message) => state.hand_on(message),
        Call::Answer(to, answer) => state.answer(to, answer),
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

/// The connections of an aggregator.
fn connections(hub: &Arc<Hub>) -> Connections {
    // While a question for news is open, nothing needs to come.
    let silent = hub.longest() + REQUEST;
    let bounds = Bounds {
        connections: hub.at_once.all,
        streams: None,
        head_bytes: HEADERS,
        head: silent,
        idle: silent,
        write: REQUEST,
        longest: None,
    };
    let (at_once, proxies) = (hub.at_once, hub.proxies.clone());
    // Of a proxy's connections the requests are counted, by who sent them.
    let most =
        move |peer| (network(peer), if proxies.trusts(peer) { at_once.all } else { at_once.of(may_be_shared(peer)) });
    let hint = "a proxy that many nodes share must be named by --trusted-proxy";
    Connections::new(bounds, None).by_address(ByAddress { most: Box::new(most), hint })
}

/// Finds out who sends a request, of whom only so many run at once. Also a body that comes a byte at a time ends some day.
async fn arrived(
    Shared(hub): HubState,
    Extension(remote): Extension<RemoteEnd>,
    mut request: HttpRequest,
    next: Next,
) -> Response {
    let peer = remote.address.ok_or(Unreadable);
    let found = peer.and_then(|peer| Ok((hub.proxies.origin(peer, request.headers())?, hub.proxies.trusts(peer))));
    let Ok((from, is_forwarded)) = found else {
        return plain(StatusCode::BAD_REQUEST, "the proxy's X-Forwarded-For does not end in an address");
    };
    let counted = is_forwarded.then(|| hub.requests.begin(from.address, hub.at_once.of(from.shared)));
    if let Some(None) = counted {
        return plain(StatusCode::TOO_MANY_REQUESTS, "as many requests of this address as allowed run");
    }
    request.extensions_mut().insert(from);
    let response = timeout(hub.longest(), next.run(request)).await;
    response.unwrap_or_else(|_| plain(StatusCode::REQUEST_TIMEOUT, "the request took too long"))
}

/// Refuses a request that names no session, before its body is read.
async fn in_session(Shared(hub): HubState, request: HttpRequest, next: Next) -> Response {
    if token(request.headers()).is_none_or(|token| !hub.state().has_session(&token)) {
        return refused(Refusal::NoSession);
    }
    next.run(request).await
}

fn router(hub: Arc<Hub>) -> Router {
    let of_sessions = Router::new()
        .route("/v1/messages", post(messages).layer(DefaultBodyLimit::max(MAX_BODY)))
        .route("/v1/news", get(news))
        .route("/v1/question", post(question).layer(DefaultBodyLimit::max(MAX_MESSAGE)))
        .route("/v1/answers/{number}", post(answer).layer(DefaultBodyLimit::max(MAX_MESSAGE)))
        .route_layer(from_fn_with_state(hub.clone(), in_session));
    Router::new()
        .route("/v1/challenge", post(challenge))
        .route("/v1/session", post(session).layer(DefaultBodyLimit::max(MAX_OPENING)))
        .merge(of_sessions)
        .layer(from_fn_with_state(hub.clone(), arrived))
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
    let terms = {
        let state = hub.state();
        if let Some(refusal) = unwelcome(&state, &peer, from.address, &opening.challenge) {
            return refusal;
        }
        state.terms.clone()
    };
    // Others do not wait for the arithmetic.
    let said = |side| statement(side, terms.network, &peer, &hub.peer, &opening.challenge, &opening.nonce);
    if !peer.verify(&said(Side::Node), &opening.signature) {
        // Whoever holds the key of this peer id did not sign, so only the address is banned.
        return stranger(None, "a signature that is not of its peer id");
    }
    let ours = terms.identity.sign(&said(Side::Aggregator));
    {
        let mut state = hub.state();
        if let Some(refusal) = unwelcome(&state, &peer, from.address, &opening.challenge) {
            return refusal;
        }
        state.redeem(&opening.challenge);
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
            Opened::Refused(clipped(&reason, REASON))
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

/// The answer to a node that opens no session now, whatever it signed.
fn unwelcome(state: &State, peer: &PeerId, address: IpAddr, challenge: &[u8; 32]) -> Option<Response> {
    let now = Instant::now();
    if state.bans.has_peer(peer, now) || state.bans.has_address(address, now) {
        return Some(plain(StatusCode::FORBIDDEN, "this node is banned for some time"));
    }
    // The node asks for another one.
    let why = "the challenge is too old, or was used";
    (!state.is_fresh(challenge, now)).then(|| plain(StatusCode::CONFLICT, why))
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
/// The most bytes of a request's head.
const HEADERS: usize = 16 * 1024;
/// Connections of one node.
const EACH: usize = 4;
/// Credentials that are checked at once.
const CHECKS: usize = 4;
/// The most characters of a reason.
const REASON: usize = 200;
