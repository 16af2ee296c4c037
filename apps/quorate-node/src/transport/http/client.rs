//! The side of a node that joins an aggregator.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::{Arc, Once},
    time::{Duration, Instant},
};

use futures::future::{Fuse, FutureExt as _};
use quorate_host::exit::innermost;
use reqwest::{Client as HttpClient, Method, Response, StatusCode, Url, redirect, retry};
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::{MissedTickBehavior, interval, sleep_until, timeout},
};

use super::{
    super::{
        Admitted, Arrival, Judgement, PeerId, PeerReport, Terms, Transport, TransportError,
        handle::{CALLS, Call, Command, OPEN_QUESTIONS, UNSENT},
        handshake::Hello,
        inbox::{self, Outbox, Tally, count},
        tickets::Tickets,
    },
    bodies::{
        Challenge, MAX_BATCH, MAX_BATCH_MESSAGES, MAX_BODY, MAX_OPENING, Opened, Opening, Side, decode, decode_news,
        encode, statement,
    },
    ring::Seen,
};
use quorate_network::{
    message::{MAX_MESSAGE, Message},
    roles::PeerSource,
    wire,
};

/// Which aggregator a node joins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinSettings {
    /// Its address, as `https://aggregator.example` or `http://192.0.2.1:9601`. A path goes before those of the protocol.
    pub aggregator: String,
}

/// Joins an aggregator, inside a runtime of tokio. While the aggregator cannot be reached, the node tries again.
///
/// # Errors
/// [`TransportError`] if the address is wrong or the credential too long.
pub fn join(terms: Terms, settings: &JoinSettings) -> Result<Transport, TransportError> {
    terms.credential.check()?;
    let (url, http) = client(&settings.aggregator)?;
    let tally = Arc::new(Tally::default());
    let (outbox, inbox) = inbox::queue(&terms.limits, tally.clone());
    let (calls, called) = mpsc::channel(CALLS);
    let (commands, commanded) = mpsc::unbounded_channel();
    let (reports, peers) = watch::channel(Vec::new());
    let (_, addresses) = watch::channel(Vec::new());
    let peer_id = terms.identity.peer_id();
    let (tickets, judgements) = Tickets::new(terms.limits.unjudged, terms.limits.judge_within);
    let node = Node {
        link: Link { http, url, token: None },
        outbox,
        tally: tally.clone(),
        tickets,
        judgements,
        calls: called,
        commands: commanded,
        unsent: Unsent::default(),
        seen: Seen::default(),
        run: None,
        next: 0,
        sessions: 0,
        reports,
        terms,
    };
    let task = tokio::spawn(node.run());
    let audiences = watch::Sender::default();
    Ok(Transport { peer_id, addresses, calls, commands, audiences, inbox, peers, tally, task })
}

fn client(aggregator: &str) -> Result<(Url, HttpClient), TransportError> {
    static TLS: Once = Once::new();
    // Fails only if a provider is installed already.
    TLS.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    // A password or a token in it would stand in logs.
    let found = if aggregator.contains(['@', '?']) { "…" } else { aggregator };
    let wrong = |why: String| TransportError::Address { field: "aggregator", found: found.to_owned(), why };
    let mut url: Url =
        aggregator.parse().map_err(|why| wrong(format!("{why}; write it as in https://aggregator.example")))?;
    let plain =
        url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
    if !matches!(url.scheme(), "http" | "https") || !plain {
        return Err(wrong("write it as in https://aggregator.example, without name, password and query".to_owned()));
    }
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    let http = HttpClient::builder().redirect(redirect::Policy::none()).retry(retry::never()).no_proxy();
    // Without TLS, the machine needs no list of certificate authorities.
    let http = if url.scheme() == "http" { http.tls_certs_only([]) } else { http };
    let http = http.connect_timeout(REQUEST).build();
    let http = http.map_err(|why| TransportError::Setup { part: "HTTP", why: innermost(&why.without_url()) })?;
    Ok((url, http))
}

/// Where requests go.
#[derive(Clone)]
struct Link {
    http: HttpClient,
    url: Url,
    token: Option<String>,
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("the aggregator cannot be reached: {0}")]
    Unreachable(String),
    #[error("the aggregator is busy")]
    Busy,
    #[error("the aggregator knows no such session")]
    NoSession,
    #[error("the aggregator refuses this node: {0:?}")]
    Refused(String),
    #[error("the aggregator's chain is behind")]
    NotYet,
    #[error("what answers is not an aggregator of this network: {0}")]
    NotAggregator(&'static str),
    #[error("the aggregator is not admitted: {0:?}")]
    NotAdmitted(String),
    #[error("the node bans the aggregator for some time")]
    Banned { time: Duration, why: &'static str },
    #[error("the transport has ended")]
    Ended,
}

impl Link {
    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Vec<u8>,
        most: usize,
        time: Duration,
    ) -> Result<Vec<u8>, Failure> {
        let url = self.url.join(path).map_err(|why| Failure::Unreachable(why.to_string()))?;
        let mut request = self.http.request(method, url).body(body);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let whole = async {
            let mut response = request.send().await.map_err(unreachable)?;
            match response.status() {
                StatusCode::OK | StatusCode::NO_CONTENT => read(&mut response, most).await,
                StatusCode::UNAUTHORIZED => Err(Failure::NoSession),
                StatusCode::FORBIDDEN => {
                    let text = read(&mut response, REASON).await.unwrap_or_default();
                    Err(Failure::Refused(String::from_utf8_lossy(&text).into_owned()))
                }
                StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS | StatusCode::CONFLICT => {
                    Err(Failure::Busy)
                }
                status => Err(Failure::Unreachable(format!("status {}", status.as_u16()))),
            }
        };
        timeout(time, whole).await.unwrap_or_else(|_| Err(Failure::Unreachable("it takes too long".to_owned())))
    }
}

/// Why there is no answer, without the address.
fn unreachable(why: reqwest::Error) -> Failure {
    Failure::Unreachable(innermost(&why.without_url()))
}

/// A body of at most so many bytes.
async fn read(response: &mut Response, most: usize) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unreachable)? {
        if body.len() + chunk.len() > most {
            return Err(Failure::NotAggregator("its response is longer than any"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The task behind a node that joins.
struct Node {
    terms: Terms,
    link: Link,
    outbox: Outbox,
    tally: Arc<Tally>,
    tickets: Tickets<PeerSource>,
    judgements: mpsc::UnboundedReceiver<(u64, Judgement)>,
    calls: mpsc::Receiver<Call>,
    commands: mpsc::UnboundedReceiver<Command>,
    unsent: Unsent,
    seen: Seen,
    /// Which run of the aggregator `next` belongs to.
    run: Option<u64>,
    /// The number of the first message that is not here.
    next: u64,
    sessions: u64,
    reports: watch::Sender<Vec<PeerReport>>,
}

/// A session with the aggregator.
struct Session {
    link: Link,
    source: PeerSource,
    report: PeerReport,
    since: Instant,
    hello: Hello,
    peer: PeerId,
    poll: Duration,
    /// The aggregator's questions that the node has not answered, and until when each one is open.
    questions: VecDeque<(u64, Instant)>,
    asks: JoinSet<Result<Vec<u8>, Failure>>,
    answers: JoinSet<Result<Vec<u8>, Failure>>,
}

impl Session {
    /// Forgets questions whose answers the aggregator does not take any more.
    fn forget_questions(&mut self) {
        let now = Instant::now();
        self.questions.retain(|(_, until)| *until > now);
    }
}

/// Messages of this node that the aggregator has not acknowledged, the oldest first.
#[derive(Debug, Default)]
struct Unsent {
    messages: VecDeque<Vec<u8>>,
    /// How many of the first are under way, in one request.
    under_way: usize,
}

impl Unsent {
    /// Keeps a message, and says how many had to make room for it: the oldest ones of those that wait. One that is under way does not
    /// wait, and keeps its place, because the aggregator acknowledges the first ones by their number.
    fn keep(&mut self, message: Vec<u8>) -> u64 {
        let mut dropped = 0;
        while self.messages.len() >= self.under_way + UNSENT && self.messages.remove(self.under_way).is_some() {
            dropped += 1;
        }
        self.messages.push_back(message);
        dropped
    }

    /// Whether some wait and none are under way.
    fn is_due(&self) -> bool {
        self.under_way == 0 && !self.messages.is_empty()
    }

    /// The oldest ones, as many as one request holds. They are under way from now on.
    fn send(&mut self) -> Vec<&Vec<u8>> {
        let mut bytes = 0;
        let fits = self.messages.iter().take(MAX_BATCH_MESSAGES).take_while(|message| {
            bytes += message.len();
            bytes <= MAX_BATCH
        });
        let batch: Vec<_> = fits.collect();
        self.under_way = batch.len();
        batch
    }

    /// The aggregator has what was under way. Says how many these are.
    fn acknowledged(&mut self) -> usize {
        let count = std::mem::take(&mut self.under_way);
        self.messages.drain(..count);
        count
    }

    /// What was under way waits again.
    fn failed(&mut self) {
        self.under_way = 0;
    }
}

type Pending = Fuse<Pin<Box<dyn Future<Output = Result<Vec<u8>, Failure>> + Send>>>;

impl Node {
    async fn run(mut self) {
        let mut failures = 0;
        loop {
            let failure = match self.open().await {
                Ok(mut session) => {
                    failures = 0;
                    let failure = self.serve(&mut session).await;
                    self.unsent.failed();
                    if let Failure::Banned { time, why } = failure {
                        self.tally.ban(session.peer, session.report.operator, why, Instant::now() + time);
                    }
                    self.outbox.offer(Arrival::Left { source: session.source }, 0);
                    self.reports.send_replace(Vec::new());
                    failure
                }
                Err(failure) => failure,
            };
            let limits = &self.terms.limits;
            let wait = limits.redial_first.saturating_mul(1 << failures.min(16)).min(limits.redial_most);
            let wait = wait.mul_f64(0.5 + rand::random::<f64>() / 2.0);
            failures += 1;
            let wait = match &failure {
                Failure::Ended => return,
                Failure::Banned { time, .. } => *time,
                Failure::NoSession if failures == 1 => Duration::ZERO,
                _ => wait,
            };
            tracing::info!(why = %failure, again_in_ms = wait.as_millis() as u64, "no session with the aggregator");
            if !self.pause(wait).await {
                return;
            }
        }
    }

    /// Waits, and takes calls meanwhile; `false` if the transport has ended.
    async fn pause(&mut self, time: Duration) -> bool {
        let end = tokio::time::Instant::now() + time;
        loop {
            tokio::select! {
                () = sleep_until(end) => return true,
                call = self.calls.recv() => match call {
                    None => return false,
                    Some(Call::Publish(message, _)) => {
                        let bytes = wire::encode(&Message::Signed(message), self.terms.network);
                        self.keep(bytes);
                    }
                    Some(Call::Ask(..)) => count(&self.tally.unanswered),
                    Some(Call::AskPeer(..) | Call::HandOn(_) | Call::Answer(..)) => {}
                },
                // Without a session there is nobody to ban, and the next one begins with a check.
                Some(_) = self.commands.recv() => {}
                Some((ticket, _)) = self.judgements.recv() => drop(self.tickets.take(ticket)),
            }
        }
    }

    /// Keeps a message until the aggregator has it.
    fn keep(&mut self, bytes: Vec<u8>) {
        if self.seen.note(&bytes) {
            let dropped = self.unsent.keep(bytes);
            self.tally.unsent.fetch_add(dropped, std::sync::atomic::Ordering::Relaxed);
        }
    }

    /// Opens a session: each side shows its credential, and signs what the other one chose.
    async fn open(&mut self) -> Result<Session, Failure> {
        let opening = async {
            let link = Link { token: None, ..self.link.clone() };
            let body = link.send(Method::POST, "v1/challenge", Vec::new(), MAX_OPENING, REQUEST).await?;
            let challenge: Challenge = decode(&body).ok_or(Failure::NotAggregator("its challenge does not decode"))?;
            let server = PeerId::try_from(challenge.server.as_slice())
                .map_err(|_| Failure::NotAggregator("it has no peer id"))?;
            let (own, nonce) = (self.terms.identity.peer_id(), rand::random());
            let said = |side| statement(side, self.terms.network, &own, &server, &challenge.bytes, &nonce);
            let opening = Opening {
                challenge: challenge.bytes,
                nonce,
                peer: own.to_bytes(),
                signature: self.terms.identity.sign(&said(Side::Node)),
                hello: Hello::new(&self.terms.credential, Vec::new()).encode(),
            };
            let body = link.send(Method::POST, "v1/session", encode(&opening), MAX_OPENING, 2 * REQUEST).await?;
            let opened: Opened = decode(&body).ok_or(Failure::NotAggregator("its reply does not decode"))?;
            let (token, signature, hello, run, next, poll_ms) = match opened {
                Opened::Session { token, signature, hello, run, next, poll_ms } => {
                    (token, signature, hello, run, next, poll_ms)
                }
                Opened::NotYet => return Err(Failure::NotYet),
                Opened::Refused(reason) => return Err(Failure::Refused(reason)),
            };
            if !server.verify(&said(Side::Aggregator), &signature) {
                return Err(Failure::NotAggregator("it did not sign for its peer id"));
            }
            let hello = Hello::decode(&hello).ok_or(Failure::NotAggregator("its credential does not decode"))?;
            let operator = match check(&self.terms, server, &hello).await? {
                Admitted::Operator(operator) => operator,
                Admitted::No(reason) => return Err(Failure::NotAdmitted(reason)),
                Admitted::NotYet => return Err(Failure::NotYet),
            };
            let link = Link { token: Some(const_hex::encode(token)), ..link };
            Ok((link, server, operator, hello, run, next, Duration::from_millis(poll_ms.min(MAX_POLL))))
        };
        let (link, peer, operator, hello, run, next, poll) = tokio::select! {
            opened = opening => opened?,
            // Calls wait in their queue, but the end of the transport does not.
            () = closed(&self.outbox) => return Err(Failure::Ended),
        };
        if self.run != Some(run) {
            (self.run, self.next) = (Some(run), next);
        }
        let source = PeerSource(self.sessions);
        if !self.outbox.offer(Arrival::Joined { source, peer, operator }, 0) {
            return Err(Failure::Busy);
        }
        self.sessions += 1;
        let report = PeerReport {
            peer,
            source,
            operator,
            address: self.link.url.to_string(),
            admitted_for: Duration::ZERO,
            bytes_in: 0,
            bytes_out: 0,
            messages_in: 0,
            messages_out: 0,
            score: 0.0,
        };
        self.reports.send_replace(vec![report.clone()]);
        let (questions, asks, answers, since) = (VecDeque::new(), JoinSet::new(), JoinSet::new(), Instant::now());
        Ok(Session { link, source, report, since, hello, peer, poll, questions, asks, answers })
    }

    /// Carries on a session until it fails.
    async fn serve(&mut self, session: &mut Session) -> Failure {
        let mut news = self.fetch(session);
        let mut sending: Pending = Fuse::terminated();
        let mut send_after = Instant::now();
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            if self.unsent.is_due() && send_after <= Instant::now() {
                sending = self.send(session);
            }
            let failure = tokio::select! {
                call = self.calls.recv() => match call {
                    None => Some(Failure::Ended),
                    Some(call) => {
                        self.call(session, call);
                        None
                    }
                },
                Some(command) = self.commands.recv() => self.command(session, command).await,
                Some((ticket, judgement)) = self.judgements.recv() => {
                    let source = self.tickets.take(ticket);
                    (judgement == Judgement::Reject && source == Some(session.source))
                        .then_some(Failure::Banned { time: self.terms.limits.ban, why: "a message that is false" })
                }
                body = &mut news => match body.and_then(|body| self.news(session, &body)) {
                    Ok(()) => {
                        news = self.fetch(session);
                        None
                    }
                    Err(failure) => Some(failure),
                },
                done = &mut sending => {
                    match done {
                        Ok(_) => {
                            session.report.messages_out += self.unsent.acknowledged() as u64;
                            None
                        }
                        Err(Failure::Busy) => {
                            self.unsent.failed();
                            send_after = Instant::now() + BUSY;
                            None
                        }
                        Err(failure) => Some(failure),
                    }
                }
                Some(answered) = session.asks.join_next(), if !session.asks.is_empty() => {
                    self.answered(session, answered.unwrap_or(Err(Failure::Busy)))
                }
                Some(answered) = session.answers.join_next(), if !session.answers.is_empty() => {
                    // An answer that is lost is asked for again.
                    match answered {
                        Ok(Err(failure @ (Failure::NoSession | Failure::Refused(_)))) => Some(failure),
                        _ => None,
                    }
                }
                _ = tick.tick() => {
                    let unjudged = self.tickets.expire(Instant::now()).len();
                    self.tally.unjudged.fetch_add(unjudged as u64, std::sync::atomic::Ordering::Relaxed);
                    session.report.admitted_for = session.since.elapsed();
                    self.reports.send_replace(vec![session.report.clone()]);
                    self.outbox.is_closed().then_some(Failure::Ended)
                }
            };
            if let Some(failure) = failure {
                return failure;
            }
        }
    }

    /// Asks for news.
    fn fetch(&self, session: &Session) -> Pending {
        let (link, path) = (session.link.clone(), format!("v1/news?since={}", self.next));
        let time = session.poll + REQUEST;
        let fetch = async move { link.send(Method::GET, &path, Vec::new(), MAX_BODY, time).await };
        (Box::pin(fetch) as Pin<Box<dyn Future<Output = _> + Send>>).fuse()
    }

    /// Sends the oldest messages that were not acknowledged, as many as one request holds.
    fn send(&mut self, session: &mut Session) -> Pending {
        let body = encode(&self.unsent.send());
        session.report.bytes_out += body.len() as u64;
        let link = session.link.clone();
        let send = async move { link.send(Method::POST, "v1/messages", body, 0, REQUEST).await };
        (Box::pin(send) as Pin<Box<dyn Future<Output = _> + Send>>).fuse()
    }

    fn call(&mut self, session: &mut Session, call: Call) {
        match call {
            Call::Publish(message, _) => {
                let bytes = wire::encode(&Message::Signed(message), self.terms.network);
                self.keep(bytes);
            }
            Call::AskPeer(peer, _) if peer != session.source => {}
            Call::Ask(request, _) | Call::AskPeer(_, request) if session.asks.len() < OPEN_QUESTIONS => {
                let bytes = wire::encode(&Message::Request(request), self.terms.network);
                session.report.bytes_out += bytes.len() as u64;
                session.report.messages_out += 1;
                let (link, time) = (session.link.clone(), self.terms.limits.answer_within + REQUEST);
                let ask = async move { link.send(Method::POST, "v1/question", bytes, MAX_MESSAGE, time).await };
                session.asks.spawn(ask);
            }
            Call::Ask(..) | Call::AskPeer(..) => count(&self.tally.unanswered),
            // The aggregator has it: it answered with it.
            Call::HandOn(_) => {}
            Call::Answer(to, answer) if to == session.source => {
                session.forget_questions();
                // The newest is open at the aggregator for the longest time.
                let Some((number, _)) = session.questions.pop_back() else { return };
                let bytes = wire::encode(&Message::Answer(answer), self.terms.network);
                session.report.bytes_out += bytes.len() as u64;
                session.report.messages_out += 1;
                let (link, path) = (session.link.clone(), format!("v1/answers/{number}"));
                session.answers.spawn(async move { link.send(Method::POST, &path, bytes, 0, REQUEST).await });
            }
            Call::Answer(..) => {}
        }
    }

    async fn command(&mut self, session: &mut Session, command: Command) -> Option<Failure> {
        match command {
            Command::Ban(source, time) => {
                (source == session.source).then_some(Failure::Banned { time, why: "the node bans it" })
            }
            Command::Readmit => match check(&self.terms, session.peer, &session.hello).await {
                Ok(Admitted::Operator(operator)) if operator == session.report.operator => None,
                Ok(Admitted::NotYet) => None,
                Ok(Admitted::No(reason)) => Some(Failure::NotAdmitted(reason)),
                Ok(Admitted::Operator(_)) => {
                    Some(Failure::NotAdmitted("the key belongs to another operator now".to_owned()))
                }
                Err(failure) => Some(failure),
            },
        }
    }

    /// What is new. A message that does not decode ends the session: no aggregator of this network has it.
    fn news(&mut self, session: &mut Session, body: &[u8]) -> Result<(), Failure> {
        let news = decode_news(body).ok_or(Failure::NotAggregator("its news do not decode"))?;
        session.report.bytes_in += body.len() as u64;
        let ban = |why| Failure::Banned { time: self.terms.limits.ban, why };
        for bytes in news.messages {
            let Ok(Message::Signed(message)) = wire::decode(&bytes, self.terms.network) else {
                return Err(ban("news that are no signed message of this network"));
            };
            session.report.messages_in += 1;
            if !self.seen.note(&bytes) {
                continue;
            }
            if !self.tickets.has_room() {
                count(&self.tally.unjudged);
                continue;
            }
            let (source, ticket) = (session.source, self.tickets.add(session.source, Instant::now()));
            self.outbox.offer(Arrival::Signed { source, ticket, message }, bytes.len());
        }
        session.forget_questions();
        for (number, bytes) in news.questions {
            let Ok(Message::Request(request)) = wire::decode(&bytes, self.terms.network) else {
                return Err(ban("a question that does not decode"));
            };
            session.report.messages_in += 1;
            let source = session.source;
            if session.questions.len() < OPEN_QUESTIONS
                && self.outbox.offer(Arrival::Asked { source, request }, bytes.len())
            {
                session.questions.push_back((number, Instant::now() + self.terms.limits.answer_within));
            }
        }
        self.next = news.next;
        Ok(())
    }

    fn answered(&mut self, session: &mut Session, answered: Result<Vec<u8>, Failure>) -> Option<Failure> {
        let bytes = match answered {
            Ok(bytes) => bytes,
            Err(Failure::Busy | Failure::Unreachable(_)) => {
                count(&self.tally.unanswered);
                return None;
            }
            Err(failure) => return Some(failure),
        };
        let Ok(Message::Answer(answer)) = wire::decode(&bytes, self.terms.network) else {
            return Some(Failure::Banned { time: self.terms.limits.ban, why: "an answer that does not decode" });
        };
        session.report.bytes_in += bytes.len() as u64;
        session.report.messages_in += 1;
        self.outbox.offer(Arrival::Answered { source: session.source, answer }, bytes.len());
        None
    }
}

/// Whether the node admits the aggregator. It runs on a thread that may block.
async fn check(terms: &Terms, peer: PeerId, hello: &Hello) -> Result<Admitted, Failure> {
    let (admission, credential) = (terms.admission.clone(), hello.credential());
    let checked = tokio::task::spawn_blocking(move || admission.admit(&peer.to_bytes(), &credential)).await;
    checked.map_err(|error| {
        tracing::error!(%error, "checking the aggregator's credential failed");
        Failure::Busy
    })
}

/// Ends when the node has gone.
async fn closed(outbox: &Outbox) {
    let mut tick = interval(TICK);
    while !outbox.is_closed() {
        tick.tick().await;
    }
}

/// How long a request may take, beside what it waits for.
const REQUEST: Duration = Duration::from_secs(15);
/// How often the node looks at what is over.
const TICK: Duration = Duration::from_millis(200);
/// When messages are sent again to an aggregator that is busy.
const BUSY: Duration = Duration::from_secs(1);
/// The most milliseconds that an aggregator may keep a question for news open.
const MAX_POLL: u64 = 60_000;
/// The most bytes of a reason.
const REASON: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    /// The newest message was taken for one of those that the aggregator acknowledged, because the oldest had made room for it.
    #[test]
    fn what_is_published_while_a_full_batch_is_under_way_is_sent() {
        let message = |number: usize| number.to_be_bytes().to_vec();
        let mut unsent = Unsent::default();
        let dropped: u64 = (0..UNSENT).map(|number| unsent.keep(message(number))).sum();
        assert_eq!((dropped, unsent.send().len()), (0, UNSENT));
        assert_eq!((unsent.keep(message(UNSENT)), unsent.is_due()), (0, false));
        assert_eq!((unsent.acknowledged(), unsent.is_due()), (UNSENT, true));
        assert_eq!(unsent.send(), [&message(UNSENT)]);

        // Of those behind it the oldest make room, and all that were under way wait again when the request fails.
        let dropped: u64 = (0..=UNSENT).map(|number| unsent.keep(message(number))).sum();
        assert_eq!((dropped, unsent.messages.len(), &unsent.messages[1]), (1, 1 + UNSENT, &message(1)));
        unsent.failed();
        assert_eq!((unsent.keep(message(7)), unsent.messages.len()), (2, UNSENT));
        assert_eq!(unsent.send()[0], &message(2));
    }

    /// The log said that a request was not sent, and not why.
    #[tokio::test]
    async fn an_aggregator_that_is_not_reached_is_told_with_the_cause() {
        let (url, http) = client("http://127.0.0.1:1").unwrap();
        let link = Link { http, url, token: None };
        let failure = link.send(Method::POST, "v1/challenge", Vec::new(), MAX_OPENING, REQUEST).await.unwrap_err();
        let told = failure.to_string();
        assert!(told.starts_with("the aggregator cannot be reached: Connection refused"), "{told}");
    }
}
