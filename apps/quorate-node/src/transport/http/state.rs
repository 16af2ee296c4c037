//! What the aggregator knows of the nodes that joined it. No sockets.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use quorate_evm::alloy_primitives::Address;
use sha2::{Digest as _, Sha256};
use tokio::sync::oneshot;

use super::{
    super::{
        Arrival, Credential, Judgement, PeerId, PeerReport, Terms,
        bans::Bans,
        handle::OPEN_QUESTIONS,
        inbox::{Outbox, Tally, count},
        limits::Bucket,
        places::{Place, makes_room},
        tickets::Tickets,
    },
    bodies::News,
    ring::{Ring, Seen},
};
use quorate_network::{
    message::{Message, PeerAnswer, PeerRequest, Signed},
    roles::PeerSource,
    wire,
};

/// The token of a session.
pub(super) type Token = [u8; 32];

/// All of it.
#[derive(Debug)]
pub(super) struct State {
    pub(super) terms: Terms,
    pub(super) outbox: Outbox,
    pub(super) tally: Arc<Tally>,
    pub(super) bans: Bans,
    pub(super) tickets: Tickets<(PeerSource, PeerId, Arc<[u8]>)>,
    pub(super) ring: Ring,
    seen: Seen,
    sessions: HashMap<Token, Session>,
    /// Makes challenges that need no memory, so that nobody can push out those of others.
    secret: [u8; 32],
    started: Instant,
    /// Challenges that were used, until they are too old.
    used: VecDeque<[u8; 32]>,
    gone: VecDeque<(PeerSource, PeerId, Address)>,
    next_source: u64,
    next_question: u64,
}

/// A node that joined.
#[derive(Debug)]
struct Session {
    peer: PeerId,
    operator: Address,
    source: PeerSource,
    credential: Credential,
    address: IpAddr,
    since: Instant,
    seen: Instant,
    messages: Bucket,
    bytes: Bucket,
    requests: Bucket,
    repeated: Repeated,
    /// Its questions, which wait for the aggregator's answers.
    asked: VecDeque<oneshot::Sender<PeerAnswer>>,
    /// The aggregator's questions, which wait for its answers: until when, and whether it has fetched them.
    questions: Vec<Question>,
    silent: u32,
    traffic: [u64; 4],
}

/// What a node is sent more than once, in all of its sessions that follow each other. A node takes each message once, unless an answer was
/// lost. Nothing else bounds what it takes: a request of some bytes has an answer of up to half a megabyte.
#[derive(Clone, Debug)]
struct Repeated {
    /// The number behind the last message that it was sent.
    sent: u64,
    bytes: Bucket,
}

impl Repeated {
    /// Whether it may be sent so many bytes of messages that begin at a number, and end before another one.
    fn allows(&mut self, since: u64, next: u64, bytes: usize, most: u64, now: Instant) -> bool {
        let is_new = since >= self.sent;
        self.sent = self.sent.max(next);
        // One answer is always allowed after a pause.
        is_new || self.bytes.take((bytes as u64).min(most), now)
    }
}

#[derive(Debug)]
struct Question {
    number: u64,
    until: Instant,
    bytes: Arc<[u8]>,
    fetched: bool,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// There is no such session.
    NoSession,
    /// The session ends, and its node is banned.
    Banned,
    /// Not now.
    Busy,
}

impl State {
    pub(super) fn new(
        terms: Terms,
        outbox: Outbox,
        tally: Arc<Tally>,
        tickets: Tickets<(PeerSource, PeerId, Arc<[u8]>)>,
    ) -> Self {
        Self {
            terms,
            outbox,
            tally,
            tickets,
            bans: Bans::default(),
            ring: Ring::default(),
            seen: Seen::default(),
            sessions: HashMap::new(),
            secret: rand::random(),
            started: Instant::now(),
            used: VecDeque::new(),
            gone: VecDeque::new(),
            next_source: 0,
            next_question: 0,
        }
    }

    /// A challenge that is good once, for [`Limits::handshake`](super::super::Limits::handshake): the time, random bytes, and
    /// 16 bytes of a hash of both with a secret.
    pub(super) fn challenge(&self, now: Instant) -> [u8; 32] {
        let time = now.saturating_duration_since(self.started).as_millis() as u64;
        self.seal(&[time.to_be_bytes(), rand::random()])
    }

    fn seal(&self, head: &[[u8; 8]; 2]) -> [u8; 32] {
        let mut challenge = [0; 32];
        challenge[..16].copy_from_slice(head.as_flattened());
        // All lengths are fixed, and half of the hash is kept back, so nobody can extend it.
        let hash = Sha256::new().chain_update(self.secret).chain_update(head.as_flattened()).finalize();
        challenge[16..].copy_from_slice(&hash[..16]);
        challenge
    }

    /// How many milliseconds ago a challenge was made; `None` if it was not made here.
    fn age(&self, challenge: &[u8; 32], now: Instant) -> Option<u64> {
        let (head, _) = challenge[..16].as_chunks::<8>();
        let head = [head[0], head[1]];
        let time = now.saturating_duration_since(self.started).as_millis() as u64;
        (self.seal(&head) == *challenge).then(|| time.checked_sub(u64::from_be_bytes(head[0]))).flatten()
    }

    /// Whether a challenge was made here, not too long ago, and was not used.
    pub(super) fn is_fresh(&self, challenge: &[u8; 32], now: Instant) -> bool {
        let longest = self.terms.limits.handshake.as_millis() as u64;
        self.age(challenge, now).is_some_and(|age| age < longest) && !self.used.contains(challenge)
    }

    /// Uses a fresh challenge up. Called when everything else about it is right, so that only those who hold keys fill the list.
    pub(super) fn redeem(&mut self, challenge: &[u8; 32]) {
        if self.used.len() >= USED {
            self.used.pop_front();
        }
        self.used.push_back(*challenge);
    }

    /// Somebody who is not admitted did what no node does.
    pub(super) fn stranger(&mut self, peer: Option<PeerId>, address: Option<IpAddr>, why: &str) {
        let until = Instant::now() + self.terms.limits.stranger_ban;
        let address = self.bans.ban_stranger(peer, address, until);
        self.tally.stranger(peer, address, why, until);
    }

    /// Opens a session for a node that is admitted. One that it had ends.
    pub(super) fn open(
        &mut self,
        peer: PeerId,
        operator: Address,
        credential: Credential,
        address: IpAddr,
    ) -> Result<Token, &'static str> {
        let now = Instant::now();
        if self.bans.has_operator(&operator, now) || self.bans.has_peer(&peer, now) {
            return Err("the operator or the node is banned for some time");
        }
        let before = self.sessions.iter().find(|(_, session)| session.peer == peer);
        let before = before.map(|(token, session)| (*token, session.repeated.clone()));
        if let Some((token, _)) = &before {
            self.end(token);
        }
        let limits = &self.terms.limits;
        let repeated = before
            .map_or_else(|| Repeated { sent: 0, bytes: Bucket::new(limits.bytes, now) }, |(_, repeated)| repeated);
        if self.sessions.values().filter(|session| session.operator == operator).count() >= limits.peers_per_operator {
            return Err("as many nodes of this operator as allowed have joined");
        }
        let mut leaves = None;
        if self.sessions.len() >= limits.peers {
            let place = |(token, session): (&Token, &Session)| Place {
                peer: *token,
                operator: session.operator,
                since: session.since,
                kept: false,
            };
            let held: Vec<_> = self.sessions.iter().map(place).collect();
            leaves = makes_room(&held, operator, false, |operator| self.terms.admission.weight(operator));
            if leaves.is_none() {
                return Err("as many nodes as allowed have joined");
            }
        }
        let source = PeerSource(self.next_source);
        let session = Session {
            peer,
            operator,
            source,
            credential,
            address,
            since: now,
            seen: now,
            messages: Bucket::new(limits.messages, now),
            bytes: Bucket::new(limits.bytes, now),
            requests: Bucket::new(limits.requests, now),
            repeated,
            asked: VecDeque::new(),
            questions: Vec::new(),
            silent: 0,
            traffic: [0; 4],
        };
        if !self.outbox.offer(Arrival::Joined { source, peer, operator }, 0) {
            return Err("the aggregator is too busy");
        }
        self.next_source += 1;
        if let Some(leaves) = leaves {
            self.end(&leaves);
        }
        let token = rand::random();
        self.sessions.insert(token, session);
        Ok(token)
    }

    /// Ends a session and tells the node of it.
    fn end(&mut self, token: &Token) {
        let Some(session) = self.sessions.remove(token) else { return };
        if self.gone.len() >= GONE {
            self.gone.pop_front();
        }
        self.gone.push_back((session.source, session.peer, session.operator));
        self.outbox.offer(Arrival::Left { source: session.source }, 0);
    }

    /// The credential of each session, to be checked again.
    pub(super) fn credentials(&self) -> Vec<(Token, PeerId, Address, Credential)> {
        let credential =
            |(token, session): (&Token, &Session)| (*token, session.peer, session.operator, session.credential.clone());
        self.sessions.iter().map(credential).collect()
    }

    /// Lets a node go whose credential holds no more. That is not a fault.
    pub(super) fn dismiss(&mut self, token: &Token) {
        self.end(token);
    }

    /// Bans a node and its operator, by a number that it has or had.
    pub(super) fn ban(&mut self, source: PeerSource, time: Duration, why: &str) {
        let joined = self.sessions.values().map(|session| (session.source, session.peer, session.operator));
        let Some((_, peer, operator)) = joined.chain(self.gone.iter().copied()).find(|(theirs, ..)| *theirs == source)
        else {
            return;
        };
        tracing::warn!(%peer, %operator, why = ?why, "a node is banned");
        let until = Instant::now() + time;
        self.tally.ban(peer, operator, why, until);
        self.bans.ban(peer, operator, until);
        let theirs = self.sessions.iter().filter(|(_, session)| session.operator == operator || session.peer == peer);
        let theirs: Vec<_> = theirs.map(|(token, _)| *token).collect();
        theirs.iter().for_each(|token| self.end(token));
    }

    fn fault(&mut self, source: PeerSource, why: &str) -> Refusal {
        self.ban(source, self.terms.limits.ban, why);
        Refusal::Banned
    }

    /// Whether there is a session with this token.
    pub(super) fn has_session(&self, token: &Token) -> bool {
        self.sessions.contains_key(token)
    }

    /// A request of a session has come, with a body of so many bytes. Every request passes here.
    pub(super) fn request(&mut self, token: &Token, bytes: usize) -> Result<PeerId, Refusal> {
        let now = Instant::now();
        let session = self.sessions.get_mut(token).ok_or(Refusal::NoSession)?;
        session.seen = now;
        session.traffic[0] += bytes as u64;
        // A request without a body costs something too.
        if !session.bytes.take(bytes as u64 + REQUEST_BYTES, now) {
            let source = session.source;
            return Err(self.fault(source, "more bytes than it may send"));
        }
        Ok(session.peer)
    }

    /// Signed messages from a node. Each is new once; those for which there is no room are refused with all behind them, and
    /// the node sends them again.
    pub(super) fn messages(&mut self, token: &Token, messages: Vec<Vec<u8>>) -> Result<(), Refusal> {
        let now = Instant::now();
        for bytes in messages {
            let session = self.sessions.get_mut(token).ok_or(Refusal::NoSession)?;
            let (source, peer) = (session.source, session.peer);
            if !session.messages.take(1, now) {
                return Err(self.fault(source, "more messages than it may send"));
            }
            session.traffic[2] += 1;
            let message = match wire::decode(&bytes, self.terms.network) {
                Ok(Message::Signed(message)) => message,
                Ok(_) => return Err(self.fault(source, "a message that is not signed")),
                Err(error) => return Err(self.fault(source, &error.to_string())),
            };
            if !self.seen.note(&bytes) {
                continue;
            }
            let length = bytes.len();
            let fits = self.tickets.has_room() && {
                let ticket = self.tickets.add((source, peer, bytes.as_slice().into()), now);
                self.outbox.offer(Arrival::Signed { source, ticket, message }, length)
            };
            if !fits {
                self.seen.forget(&bytes);
                return Err(Refusal::Busy);
            }
        }
        Ok(())
    }

    /// What becomes of a message. `true` if there is news for others.
    pub(super) fn judge(&mut self, ticket: u64, judgement: Judgement) -> bool {
        let Some((source, peer, bytes)) = self.tickets.take(ticket) else { return false };
        match judgement {
            Judgement::Accept => self.ring.push(Some(peer), bytes),
            Judgement::Reject => self.ban(source, self.terms.limits.ban, "a message that is false"),
            Judgement::Ignore => {}
        }
        judgement == Judgement::Accept
    }

    /// The aggregator's own message.
    pub(super) fn publish(&mut self, message: Signed) {
        let bytes = wire::encode(&Message::Signed(message), self.terms.network);
        if self.seen.note(&bytes) {
            self.ring.push(None, bytes.into());
        }
    }

    /// A message of a node that came in an answer. It may have come before, when the aggregator did not know its task and ignored
    /// it; it is accepted once.
    pub(super) fn hand_on(&mut self, message: Signed) {
        let bytes = wire::encode(&Message::Signed(message), self.terms.network);
        self.seen.note(&bytes);
        self.ring.push(None, bytes.into());
    }

    /// What is new for a node since a number; `None` if nothing is. Whoever asks for the same again and again has to wait.
    pub(super) fn news(&mut self, token: &Token, since: u64) -> Result<Option<News>, Refusal> {
        let now = Instant::now();
        let session = self.sessions.get_mut(token).ok_or(Refusal::NoSession)?;
        session.seen = now;
        let (next, messages) = self.ring.since(since, &session.peer);
        let bytes = messages.iter().map(|message| message.len()).sum();
        if !session.repeated.allows(since, next, bytes, self.terms.limits.bytes.at_once, now) {
            return Err(Refusal::Busy);
        }
        let questions: Vec<_> = session.questions.iter_mut().filter(|question| !question.fetched).collect();
        if messages.is_empty() && questions.is_empty() {
            return Ok(None);
        }
        let questions = questions.into_iter().map(|question| {
            question.fetched = true;
            (question.number, question.bytes.to_vec())
        });
        let questions: Vec<_> = questions.collect();
        let messages: Vec<_> = messages.iter().map(|message| message.to_vec()).collect();
        session.traffic[1] +=
            messages.iter().chain(questions.iter().map(|(_, bytes)| bytes)).map(Vec::len).sum::<usize>() as u64;
        session.traffic[3] += (messages.len() + questions.len()) as u64;
        Ok(Some(News { next, messages, questions }))
    }

    /// The number from which a node that has no news goes on.
    pub(super) fn next(&self) -> u64 {
        self.ring.next()
    }

    /// A node asks. The answer comes on the channel, unless the node is let go before.
    pub(super) fn asked(&mut self, token: &Token, bytes: &[u8]) -> Result<oneshot::Receiver<PeerAnswer>, Refusal> {
        let session = self.sessions.get_mut(token).ok_or(Refusal::NoSession)?;
        let source = session.source;
        if !session.requests.take(1, Instant::now()) {
            return Err(self.fault(source, "more questions than it may ask"));
        }
        session.traffic[2] += 1;
        let request = match wire::decode(bytes, self.terms.network) {
            Ok(Message::Request(request)) => request,
            Ok(_) => return Err(self.fault(source, "a message that is not a question")),
            Err(error) => return Err(self.fault(source, &format!("its question: {error}"))),
        };
        session.asked.retain(|channel| !channel.is_closed());
        if session.asked.len() >= OPEN_QUESTIONS || !self.outbox.offer(Arrival::Asked { source, request }, bytes.len())
        {
            return Err(Refusal::Busy);
        }
        let (channel, answer) = oneshot::channel();
        session.asked.push_back(channel);
        Ok(answer)
    }

    /// The aggregator answers a node.
    pub(super) fn answer(&mut self, to: PeerSource, answer: PeerAnswer) {
        let Some(session) = self.sessions.values_mut().find(|session| session.source == to) else { return };
        session.asked.retain(|channel| !channel.is_closed());
        if let Some(channel) = session.asked.pop_front() {
            session.traffic[3] += 1;
            // It fails if the node waits no more.
            let _ = channel.send(answer);
        }
    }

    /// The aggregator asks a node, chosen at random among those that left the fewest questions unanswered.
    pub(super) fn ask(&mut self, request: PeerRequest) {
        let open = self.sessions.values().filter(|session| session.questions.len() < OPEN_QUESTIONS);
        let chosen = open.min_by_key(|session| (session.silent, session.questions.len(), rand::random::<u64>()));
        let Some(source) = chosen.map(|session| session.source) else { return count(&self.tally.unanswered) };
        self.ask_peer(source, request);
    }

    /// The aggregator asks a node, unless the node has as many open questions as allowed.
    pub(super) fn ask_peer(&mut self, peer: PeerSource, request: PeerRequest) {
        let mut open = self.sessions.values_mut().filter(|session| session.questions.len() < OPEN_QUESTIONS);
        let Some(session) = open.find(|session| session.source == peer) else { return count(&self.tally.unanswered) };
        let bytes = wire::encode(&Message::Request(request), self.terms.network).into();
        let until = Instant::now() + self.terms.limits.answer_within;
        session.questions.push(Question { number: self.next_question, until, bytes, fetched: false });
        self.next_question += 1;
    }

    /// A node answers the aggregator. An answer to no open question is dropped.
    pub(super) fn answered(&mut self, token: &Token, number: u64, bytes: &[u8]) -> Result<(), Refusal> {
        let session = self.sessions.get_mut(token).ok_or(Refusal::NoSession)?;
        let source = session.source;
        session.traffic[2] += 1;
        let open = session.questions.iter().position(|question| question.number == number);
        if let Some(open) = open {
            session.questions.swap_remove(open);
            session.silent = 0;
        }
        let answer = match wire::decode(bytes, self.terms.network) {
            Ok(Message::Answer(answer)) => answer,
            Ok(_) => return Err(self.fault(source, "a message that is not an answer")),
            Err(error) => return Err(self.fault(source, &format!("its answer: {error}"))),
        };
        if open.is_some() {
            self.outbox.offer(Arrival::Answered { source, answer }, bytes.len());
        }
        Ok(())
    }

    /// Ends what is over: tickets, bans, questions, and sessions from which nothing came for so long.
    pub(super) fn tick(&mut self, idle: Duration) {
        let now = Instant::now();
        let unjudged = self.tickets.expire(now).len();
        self.tally.unjudged.fetch_add(unjudged as u64, std::sync::atomic::Ordering::Relaxed);
        self.bans.clean(now);
        let longest = self.terms.limits.handshake.as_millis() as u64;
        while self.used.front().is_some_and(|oldest| self.age(oldest, now).is_none_or(|age| age >= longest)) {
            self.used.pop_front();
        }
        for session in self.sessions.values_mut() {
            let before = session.questions.len();
            session.questions.retain(|question| question.until > now);
            let unanswered = before - session.questions.len();
            session.silent = session.silent.saturating_add(u32::try_from(unanswered).unwrap_or(u32::MAX));
            self.tally.unanswered.fetch_add(unanswered as u64, std::sync::atomic::Ordering::Relaxed);
        }
        let over = self.sessions.iter().filter(|(_, session)| now.saturating_duration_since(session.seen) > idle);
        let over: HashSet<_> = over.map(|(token, _)| *token).collect();
        over.iter().for_each(|token| self.end(token));
    }

    /// The nodes that have joined.
    pub(super) fn reports(&self) -> Vec<PeerReport> {
        let now = Instant::now();
        let report = |session: &Session| {
            let [bytes_in, bytes_out, messages_in, messages_out] = session.traffic;
            PeerReport {
                peer: session.peer,
                source: session.source,
                operator: session.operator,
                address: session.address.to_string(),
                admitted_for: now.saturating_duration_since(session.since),
                bytes_in,
                bytes_out,
                messages_in,
                messages_out,
                score: 0.0,
            }
        };
        self.sessions.values().map(report).collect()
    }
}

/// Challenges that were used.
const USED: usize = 4096;
/// How many nodes that left are remembered.
const GONE: usize = 1024;
/// What a request costs beside its body.
const REQUEST_BYTES: u64 = 512;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::{
        Identity, Limits, Rate,
        inbox::queue,
        tests::rig::{NETWORK, Registry, address, credential, limits, terms},
    };

    fn joins(state: &mut State, peer: PeerId, operator: u8) -> Token {
        let credential = credential(operator, NETWORK, &peer);
        state.open(peer, address(operator), credential, IpAddr::from([127, 0, 0, 1])).unwrap()
    }

    /// A node asks for the same again and again, in one session and in those after it. It has to wait; what is new it gets at once, and others
    /// notice nothing.
    #[test]
    fn a_node_that_takes_the_same_without_end_has_to_wait() {
        let registry = Arc::new(Registry::default());
        let few = Limits { bytes: Rate { per_second: 1, at_once: 4_000 }, ..limits() };
        let terms = Terms { limits: few, ..terms(1, &registry) };
        let tally = Arc::<Tally>::default();
        let (outbox, _inbox) = queue(&terms.limits, tally.clone());
        let (tickets, _judgements) = Tickets::new(terms.limits.unjudged, terms.limits.judge_within);
        let mut state = State::new(terms, outbox, tally, tickets);
        let message = || Arc::<[u8]>::from([7_u8; 1_000].as_slice());
        state.ring.push(None, message());
        state.ring.push(None, message());

        let [one, other] = [(); 2].map(|()| Identity::random().peer_id());
        let token = joins(&mut state, one, 2);
        // Once, and twice again: 4,000 bytes.
        for _ in 0..3 {
            let news = state.news(&token, 0).unwrap().unwrap();
            assert_eq!((news.next, news.messages.len()), (2, 2));
        }
        assert_eq!(state.news(&token, 0).err(), Some(Refusal::Busy));
        assert_eq!(state.news(&token, 1).err(), Some(Refusal::Busy));
        let again = joins(&mut state, one, 2);
        assert_eq!(state.news(&again, 0).err(), Some(Refusal::Busy));
        state.ring.push(None, message());
        assert_eq!(state.news(&again, 2).unwrap().unwrap().messages.len(), 1);
        assert!(state.news(&again, 3).unwrap().is_none());

        let token = joins(&mut state, other, 3);
        assert_eq!(state.news(&token, 0).unwrap().unwrap().messages.len(), 3);
    }
}
