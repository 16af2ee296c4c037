//! The task behind a node of the mesh.
//!
//! A peer is a *stranger* until this node has admitted it. Each side shows its credential as soon as they are connected, and
//! decides alone; neither waits for the other. What a stranger must not do, and what a peer must not do, ends its connections
//! and bans it: see [`Driver::fault`] and [`Driver::expel`].
//!
//! The file is long because one task owns the swarm, and each of its events has a function here.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use futures::StreamExt as _;
use libp2p_core::{ConnectedPoint, Multiaddr, multiaddr::Protocol};
use libp2p_gossipsub::{Event as GossipEvent, MessageAcceptance, MessageId, PublishError};
use libp2p_identity::PeerId as Libp2pId;
use libp2p_request_response::{Event as RequestEvent, Message as RequestMessage, OutboundFailure, OutboundRequestId};
use libp2p_swarm::{
    Swarm, SwarmEvent,
    dial_opts::{DialOpts, PeerCondition},
};
use quorate_evm::alloy_primitives::Address;
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::{MissedTickBehavior, interval},
};

use super::{
    super::{
        Admitted, Arrival, Judgement, PeerId, PeerReport, Terms,
        bans::Bans,
        handle::{AT_ONCE, Call, Command, OPEN_QUESTIONS, QUESTIONS, UNSENT, UNSENT_FOR},
        handshake::{Hello, MAX_TOLD, Reply, Told},
        inbox::{Outbox, Tally, count},
        origin::{is_public, network},
        places::{Place, makes_room},
        tickets::Tickets,
    },
    book::{self, Book, Target},
    gate::GateEvent,
    lobby::{self, HANDSHAKE},
    peer::{Channel, Connection, HELLO_AGAIN, HELLO_SOON, LAST_WORDS, Peer, State},
    protocols::{LEAST_SCORE, Protocols, ProtocolsEvent, invalid},
    stream::{Flood, Meters},
    topics::topic,
};
use quorate_network::{
    groups::Audience,
    message::{Message, PeerRequest},
    roles::PeerSource,
    wire,
};

/// Everything that the task has.
pub(super) struct Driver {
    terms: Terms,
    swarm: Swarm<Protocols>,
    meters: Meters,
    outbox: Outbox,
    tally: Arc<Tally>,
    /// The topics to which this node has subscribed, the one of everybody excepted.
    topics: BTreeSet<Audience>,
    /// The audiences to which it belongs.
    audiences: watch::Receiver<BTreeSet<Audience>>,
    peers: HashMap<Libp2pId, Peer>,
    /// Admitted peers, by number.
    sources: HashMap<PeerSource, Libp2pId>,
    /// Those that left, so that a late ban finds them.
    gone: VecDeque<(PeerSource, PeerId, Address)>,
    next_source: u64,
    bans: Bans,
    book: Book,
    tickets: Tickets<(MessageId, Libp2pId, PeerSource)>,
    judgements: mpsc::UnboundedReceiver<(u64, Judgement)>,
    checks: JoinSet<(Libp2pId, Admitted)>,
    names: JoinSet<(Libp2pId, Vec<Multiaddr>)>,
    asked: HashMap<OutboundRequestId, Libp2pId>,
    /// Messages of this node that wait for a peer.
    unsent: VecDeque<(Instant, Vec<u8>, Audience)>,
    announce: Vec<Multiaddr>,
    reports: watch::Sender<Vec<PeerReport>>,
    listening: watch::Sender<Vec<String>>,
    reported_at: Instant,
}

impl Driver {
    #[allow(clippy::too_many_arguments, reason = "the parts of one task, put together in one place")]
    pub(super) fn new(
        terms: Terms,
        swarm: Swarm<Protocols>,
        meters: Meters,
        outbox: Outbox,
        tally: Arc<Tally>,
        book: Book,
        announce: Vec<Multiaddr>,
        audiences: watch::Receiver<BTreeSet<Audience>>,
        reports: watch::Sender<Vec<PeerReport>>,
        listening: watch::Sender<Vec<String>>,
    ) -> Self {
        let now = Instant::now();
        let limits = &terms.limits;
        let (tickets, judgements) = Tickets::new(limits.unjudged, limits.judge_within);
        Self {
            topics: BTreeSet::new(),
            audiences,
            peers: HashMap::new(),
            sources: HashMap::new(),
            gone: VecDeque::new(),
            next_source: 0,
            bans: Bans::default(),
            book,
            tickets,
            judgements,
            checks: JoinSet::new(),
            names: JoinSet::new(),
            asked: HashMap::new(),
            unsent: VecDeque::new(),
            reported_at: now,
            terms,
            swarm,
            meters,
            outbox,
            tally,
            announce,
            reports,
            listening,
        }
    }

    /// Runs until the handle is dropped.
    pub(super) async fn run(mut self, mut calls: mpsc::Receiver<Call>, mut commands: mpsc::UnboundedReceiver<Command>) {
        let mut tick = interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                call = calls.recv() => {
                    let Some(call) = call else { break };
                    self.call(call);
                    for _ in 1..AT_ONCE {
                        let Ok(call) = calls.try_recv() else { break };
                        self.call(call);
                    }
                }
                Some(command) = commands.recv() => self.command(command),
                Ok(()) = self.audiences.changed() => {
                    for error in self.listen() {
                        tracing::error!(%error, "the node does not hear its group yet; it goes on trying");
                    }
                }
                Some((number, judgement)) = self.judgements.recv() => {
                    self.judge(number, judgement);
                    for _ in 1..AT_ONCE {
                        let Ok((number, judgement)) = self.judgements.try_recv() else { break };
                        self.judge(number, judgement);
                    }
                }
                event = self.swarm.select_next_some() => self.swarm_event(event),
                Some(checked) = self.checks.join_next(), if !self.checks.is_empty() => match checked {
                    Ok((peer, admitted)) => self.checked(peer, admitted),
                    // The peer stays a stranger and its time ends, or it is checked again.
                    Err(error) => tracing::error!(%error, "checking a peer's credential failed"),
                },
                Some(found) = self.names.join_next(), if !self.names.is_empty() => {
                    if let Ok((peer, addresses)) = found {
                        self.dial(peer, addresses);
                    }
                }
                _ = tick.tick() => {
                    if self.outbox.is_closed() {
                        break;
                    }
                    self.tick();
                }
            }
        }
        let peers: Vec<_> = self.swarm.connected_peers().copied().collect();
        for peer in peers {
            let _ = self.swarm.disconnect_peer_id(peer);
        }
    }

    fn call(&mut self, call: Call) {
        match call {
            Call::Publish(message, audience) => {
                let bytes = wire::encode(&Message::Signed(message), self.terms.network);
                self.publish(bytes, audience, Instant::now());
            }
            Call::Ask(request, audience) => self.ask(request, audience),
            Call::AskPeer(source, request) => self.ask_peer(source, request),
            // Its neighbours have it from each other.
            Call::HandOn(_) => {}
            Call::Answer(to, answer) => {
                let Some(peer) = self.sources.get(&to).and_then(|id| self.peers.get_mut(id)) else { return };
                let Some((_, channel)) = peer.questions.pop_front() else { return };
                peer.messages_out += 1;
                let bytes = wire::encode(&Message::Answer(answer), self.terms.network);
                // It fails if the peer waits no more.
                let _ = self.swarm.behaviour_mut().ask.send_response(channel, bytes);
            }
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Ban(source, time) => {
                if let Some(id) = self.sources.get(&source) {
                    self.expel(*id, time, "the node bans it");
                } else if let Some((_, peer, operator)) = self.gone.iter().find(|(gone, ..)| *gone == source).copied() {
                    self.ban_operator(peer, operator, time, "the node bans it");
                }
            }
            Command::Readmit => {
                let admitted: Vec<_> = self.sources.values().copied().collect();
                admitted.into_iter().for_each(|peer| self.check(peer, None));
            }
        }
    }

    // Gossip.

    /// Subscribes to the topics of the node's audiences, and leaves those of others. Says what failed, which the next call tries
    /// again.
    fn listen(&mut self) -> Vec<String> {
        let mut audiences = self.audiences.borrow().clone();
        audiences.remove(&Audience::Everybody);
        let gossip = &mut self.swarm.behaviour_mut().gate.gossip;
        let mut errors = Vec::new();
        for gone in self.topics.difference(&audiences) {
            gossip.unsubscribe(&topic(self.terms.network, *gone));
        }
        self.topics.retain(|held| audiences.contains(held));
        for new in audiences {
            if self.topics.contains(&new) {
                continue;
            }
            let topic = topic(self.terms.network, new);
            let scored = gossip.set_topic_params(topic.clone(), invalid()).map_err(str::to_owned);
            match scored.and_then(|()| gossip.subscribe(&topic).map_err(|error| error.to_string())) {
                Ok(_) => drop(self.topics.insert(new)),
                Err(error) => errors.push(format!("{topic}: {error}")),
            }
        }
        errors
    }

    fn publish(&mut self, bytes: Vec<u8>, audience: Audience, since: Instant) {
        let behaviour = self.swarm.behaviour_mut();
        match behaviour.gate.gossip.publish(topic(self.terms.network, audience), bytes.clone()) {
            Ok(_) | Err(PublishError::Duplicate) => {}
            Err(PublishError::NoPeersSubscribedToTopic | PublishError::AllQueuesFull(_)) => {
                if self.unsent.len() >= UNSENT {
                    self.unsent.pop_front();
                    count(&self.tally.unsent);
                }
                self.unsent.push_back((since, bytes, audience));
            }
            Err(error) => {
                count(&self.tally.unsent);
                tracing::warn!(%error, "a message of this node was not sent");
            }
        }
    }

    fn publish_unsent(&mut self, now: Instant) {
        for (since, bytes, audience) in std::mem::take(&mut self.unsent) {
            if now.saturating_duration_since(since) < UNSENT_FOR {
                self.publish(bytes, audience, since);
            } else {
                count(&self.tally.unsent);
            }
        }
    }

    fn gossip_event(&mut self, event: GossipEvent) {
        match event {
            GossipEvent::Message { propagation_source: from, message_id: id, message } => {
                let acceptance = match self.gossiped(from, &id, &message.data) {
                    Ok(()) => return,
                    Err(acceptance) => acceptance,
                };
                self.swarm.behaviour_mut().gate.gossip.report_message_validation_result(&id, &from, acceptance);
            }
            GossipEvent::GossipsubNotSupported { peer_id } => self.fault(peer_id, "it does not speak gossip"),
            GossipEvent::SlowPeer { peer_id, failed_messages } => {
                let failed = (failed_messages.priority + failed_messages.non_priority) as u64;
                self.tally.unsent.fetch_add(failed, Ordering::Relaxed);
                tracing::debug!(peer = %peer_id, failed, "a peer takes messages too slowly");
            }
            _ => {}
        }
    }

    /// Hands a message to the node, or says what becomes of it without asking.
    fn gossiped(&mut self, from: Libp2pId, id: &MessageId, bytes: &[u8]) -> Result<(), MessageAcceptance> {
        let Some(peer) = self.peers.get_mut(&from) else { return Err(MessageAcceptance::Ignore) };
        let Some((source, _)) = peer.admitted() else { return Err(MessageAcceptance::Ignore) };
        peer.messages_in += 1;
        let message = match wire::decode(bytes, self.terms.network) {
            Ok(Message::Signed(message)) => message,
            Ok(_) => {
                self.fault(from, "gossip that is not a signed message");
                return Err(MessageAcceptance::Reject);
            }
            Err(error) => {
                self.fault(from, &error.to_string());
                return Err(MessageAcceptance::Reject);
            }
        };
        if !self.tickets.has_room() {
            count(&self.tally.unjudged);
            return Err(MessageAcceptance::Ignore);
        }
        let ticket = self.tickets.add((id.clone(), from, source), Instant::now());
        // A ticket that is dropped here with its arrival is judged to be ignored.
        self.outbox.offer(Arrival::Signed { source, ticket, message }, bytes.len());
        Ok(())
    }

    fn judge(&mut self, ticket: u64, judgement: Judgement) {
        let Some((id, from, source)) = self.tickets.take(ticket) else { return };
        let acceptance = match judgement {
            Judgement::Accept => MessageAcceptance::Accept,
            Judgement::Reject => MessageAcceptance::Reject,
            Judgement::Ignore => MessageAcceptance::Ignore,
        };
        self.swarm.behaviour_mut().gate.gossip.report_message_validation_result(&id, &from, acceptance);
        if judgement == Judgement::Reject {
            self.command(Command::Ban(source, self.terms.limits.ban));
        }
    }

    // Questions and answers.

    fn ask(&mut self, request: PeerRequest, audience: Audience) {
        let heard = topic(self.terms.network, audience).hash();
        let gossip = &self.swarm.behaviour().gate.gossip;
        let members: HashSet<_> =
            gossip.all_peers().filter(|(_, topics)| topics.contains(&&heard)).map(|(peer, _)| *peer).collect();
        let candidates = self
            .peers
            .iter()
            .filter(|(_, peer)| peer.admitted().is_some() && peer.welcomed && peer.asked < OPEN_QUESTIONS);
        // Others than members of the audience come last, then who is silent, and who has less to do comes first. The rest is
        // chance.
        let chosen = candidates
            .min_by_key(|(id, peer)| (!members.contains(*id), peer.silent, peer.asked, rand::random::<u64>()));
        let Some(id) = chosen.map(|(id, _)| *id).filter(|_| self.asked.len() < QUESTIONS) else {
            count(&self.tally.unanswered);
            return;
        };
        self.send_question(id, request);
    }

    /// Asks a peer that showed what it holds. Half of the places stay for questions to others, because whoever asks can show
    /// anything.
    fn ask_peer(&mut self, source: PeerSource, request: PeerRequest) {
        let id = self.sources.get(&source).copied();
        let is_open =
            |id: &Libp2pId| self.peers.get(id).is_some_and(|peer| peer.welcomed && peer.asked < OPEN_QUESTIONS);
        match id.filter(is_open).filter(|_| self.asked.len() < QUESTIONS / 2) {
            Some(id) => self.send_question(id, request),
            None => count(&self.tally.unanswered),
        }
    }

    fn send_question(&mut self, id: Libp2pId, request: PeerRequest) {
        let bytes = wire::encode(&Message::Request(request), self.terms.network);
        let number = self.swarm.behaviour_mut().ask.send_request(&id, bytes);
        self.asked.insert(number, id);
        if let Some(peer) = self.peers.get_mut(&id) {
            peer.asked += 1;
            peer.messages_out += 1;
        }
    }

    fn ask_event(&mut self, event: RequestEvent<Vec<u8>, Vec<u8>>) {
        match event {
            RequestEvent::Message {
                peer, message: RequestMessage::Request { request_id, request, channel }, ..
            } => {
                self.question(peer, request_id, &request, channel);
            }
            RequestEvent::Message { peer: id, message: RequestMessage::Response { request_id, response }, .. } => {
                self.asked.remove(&request_id);
                let Some(peer) = self.peers.get_mut(&id) else { return };
                peer.asked = peer.asked.saturating_sub(1);
                let Some((source, _)) = peer.admitted() else { return };
                match wire::decode(&response, self.terms.network) {
                    Ok(Message::Answer(answer)) => {
                        peer.silent = 0;
                        peer.messages_in += 1;
                        self.outbox.offer(Arrival::Answered { source, answer }, response.len());
                    }
                    Ok(_) => self.fault(id, "a message that is not an answer"),
                    Err(error) => self.fault(id, &format!("its answer: {error}")),
                }
            }
            RequestEvent::OutboundFailure { peer: id, request_id, error, .. } => {
                self.asked.remove(&request_id);
                count(&self.tally.unanswered);
                if let Some(peer) = self.peers.get_mut(&id) {
                    peer.asked = peer.asked.saturating_sub(1);
                    peer.silent = peer.silent.saturating_add(1);
                }
                match error {
                    OutboundFailure::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                        self.fault(id, &format!("its answer: {error}"));
                    }
                    OutboundFailure::UnsupportedProtocols => self.fault(id, "it takes no questions"),
                    _ => {}
                }
            }
            RequestEvent::InboundFailure { peer: id, request_id, .. } => {
                if let Some(peer) = self.peers.get_mut(&id) {
                    peer.questions.retain(|(number, _)| *number != request_id);
                }
            }
            RequestEvent::ResponseSent { .. } => {}
        }
    }

    fn question(
        &mut self,
        id: Libp2pId,
        number: libp2p_request_response::InboundRequestId,
        bytes: &[u8],
        channel: Channel,
    ) {
        let Some(peer) = self.peers.get_mut(&id) else { return };
        let Some((source, _)) = peer.admitted() else {
            if matches!(peer.state, State::Stranger { .. }) {
                self.fault(id, "a question before it was admitted");
            }
            return;
        };
        peer.messages_in += 1;
        if !peer.requests.take(1, Instant::now()) {
            return self.fault(id, "more questions than it may ask");
        }
        let request = match wire::decode(bytes, self.terms.network) {
            Ok(Message::Request(request)) => request,
            Ok(_) => return self.fault(id, "a message that is not a question"),
            Err(error) => return self.fault(id, &format!("its question: {error}")),
        };
        // Without a place the channel is dropped, and the peer asks somebody else.
        if peer.questions.len() < OPEN_QUESTIONS && self.outbox.offer(Arrival::Asked { source, request }, bytes.len()) {
            peer.questions.push_back((number, channel));
        }
    }

    // Who is admitted.

    fn say_hello(&mut self, id: Libp2pId) {
        let Some(peer) = self.peers.get_mut(&id) else { return };
        peer.hello_at = None;
        let addresses = if self.announce.is_empty() {
            let mut own: Vec<_> = self.swarm.listeners().filter(|address| book::dialable(address)).cloned().collect();
            // Addresses that others reach come first.
            own.sort_by_key(|address| lobby::ip(address).is_some_and(|ip| ip.is_loopback()));
            own
        } else {
            self.announce.clone()
        };
        let addresses = addresses.iter().map(|address| address.to_vec()).collect();
        let hello = Hello::new(&self.terms.credential, addresses);
        self.swarm.behaviour_mut().hello.send_request(&id, hello.encode());
    }

    fn hello_event(&mut self, event: RequestEvent<Vec<u8>, Vec<u8>>) {
        match event {
            RequestEvent::Message { peer: id, message: RequestMessage::Request { request, channel, .. }, .. } => {
                let Some(peer) = self.peers.get_mut(&id) else { return };
                if !peer.hellos.take(1, Instant::now()) {
                    return self.fault(id, "too many credentials");
                }
                let Some(hello) = Hello::decode(&request) else {
                    return self.fault(id, "a credential that does not decode");
                };
                peer.announced = book::announced(hello.addresses());
                peer.credential = Some(hello.credential());
                self.check(id, Some(channel));
            }
            RequestEvent::Message { peer, message: RequestMessage::Response { response, .. }, .. } => {
                match Reply::decode(&response) {
                    Some(reply) => self.replied(peer, reply),
                    None => self.fault(peer, "a reply to a credential that does not decode"),
                }
            }
            RequestEvent::OutboundFailure { peer: id, error, .. } => match error {
                OutboundFailure::UnsupportedProtocols => self.fault(id, "it is in another network, or no node"),
                OutboundFailure::Io(error) if error.kind() == io::ErrorKind::InvalidData => {
                    self.fault(id, &format!("its reply to a credential: {error}"));
                }
                _ => {
                    if let Some(peer) = self.peers.get_mut(&id) {
                        peer.hello_at = Some(Instant::now() + HELLO_SOON);
                    }
                }
            },
            _ => {}
        }
    }

    /// Lets the node check a peer's credential, on a thread that may block. One check of a peer runs at a time.
    fn check(&mut self, id: Libp2pId, reply_to: Option<Channel>) {
        let Some(peer) = self.peers.get_mut(&id) else { return };
        if peer.checking.is_some() {
            // The running check may not see what has changed. A channel that is dropped tells the peer to try again.
            peer.check_again |= reply_to.is_none();
            return;
        }
        let Some(credential) = peer.credential.clone() else { return };
        peer.checking = Some(reply_to);
        let admission = self.terms.admission.clone();
        self.checks.spawn_blocking(move || (id, admission.admit(&id.to_bytes(), &credential)));
    }

    fn checked(&mut self, id: Libp2pId, admitted: Admitted) {
        let now = Instant::now();
        let Some(peer) = self.peers.get_mut(&id) else { return };
        let Some(reply_to) = peer.checking.take() else { return };
        let again = std::mem::take(&mut peer.check_again);
        let reply = match (admitted, &mut peer.state) {
            (_, State::Leaving { .. }) => return,
            (Admitted::Operator(operator), State::Admitted { operator: known, doubt, .. }) if operator == *known => {
                *doubt = None;
                let (announced, ips) = (peer.announced.clone(), peer.remote_ips());
                self.book.told_by_itself(id, announced, &ips, now);
                Reply::Welcome(self.tell(&id))
            }
            (Admitted::Operator(operator), State::Stranger { .. }) => self.newcomer(id, operator),
            (Admitted::Operator(_), State::Admitted { .. }) => {
                Reply::refused("the key belongs to another operator now")
            }
            (Admitted::No(reason), _) => Reply::refused(&reason),
            (Admitted::NotYet, State::Stranger { not_yet }) => {
                *not_yet = true;
                Reply::NotYet
            }
            (Admitted::NotYet, State::Admitted { doubt, .. }) => {
                doubt.get_or_insert(now);
                Reply::NotYet
            }
        };
        if let Some(channel) = reply_to {
            let _ = self.swarm.behaviour_mut().hello.send_response(channel, reply.encode());
        }
        match reply {
            Reply::Welcome(_) | Reply::NotYet if again => self.check(id, None),
            Reply::Welcome(_) | Reply::NotYet => {}
            Reply::Full(_) => self.leave(id, now),
            Reply::Refused(reason) => {
                tracing::info!(peer = %id, reason, "a peer is not admitted");
                if let Some(peer) = self.peers.get(&id)
                    && peer.admitted().is_none()
                {
                    let until = now + self.terms.limits.stranger_ban;
                    self.tally.stranger(Some(peer.id), None, &reason, until);
                    self.bans.ban_stranger(Some(peer.id), None, until);
                }
                self.leave(id, now);
            }
        }
    }

    /// Takes in a peer whose credential holds, if there is room.
    fn newcomer(&mut self, id: Libp2pId, operator: Address) -> Reply {
        let now = Instant::now();
        if self.bans.has_operator(&operator, now) {
            return Reply::refused("the operator is banned for some time");
        }
        let same =
            self.peers.values().filter(|peer| peer.admitted().is_some_and(|(_, other)| other == operator)).count();
        if same >= self.terms.limits.peers_per_operator {
            return Reply::refused("as many peers of this operator as allowed are connected");
        }
        let told = self.tell(&id);
        let mut leaves = None;
        if self.sources.len() >= self.terms.limits.peers {
            let kept = self.book.is_bootstrap(&id);
            let weight = |operator: &Address| self.terms.admission.weight(operator);
            leaves = makes_room(&self.places(), operator, kept, weight);
            if leaves.is_none() {
                return Reply::Full(told);
            }
        }
        let source = PeerSource(self.next_source);
        let Some(peer) = self.peers.get_mut(&id) else { return Reply::NotYet };
        if !self.outbox.offer(Arrival::Joined { source, peer: peer.id, operator }, 0) {
            // The node is too busy to hear of it.
            return Reply::NotYet;
        }
        self.next_source += 1;
        peer.state = State::Admitted { source, operator, since: now, doubt: None };
        peer.lift();
        let (announced, ips, told_before) = (peer.announced.clone(), peer.remote_ips(), std::mem::take(&mut peer.told));
        self.sources.insert(source, id);
        self.book.told_by_itself(id, announced, &ips, now);
        self.book.succeeded(&id);
        self.learn(operator, told_before, now);
        if let Some(leaves) = leaves {
            tracing::debug!(peer = %leaves, "a peer makes room for another operator's");
            self.leave(leaves, now);
        }
        self.swarm.behaviour_mut().gate.open(id);
        tracing::debug!(peer = %id, %operator, "a peer is admitted");
        self.report(now);
        Reply::Welcome(told)
    }

    /// The places of admitted peers.
    fn places(&self) -> Vec<Place<Libp2pId>> {
        let place = |(id, peer): (&Libp2pId, &Peer)| match peer.state {
            State::Admitted { operator, since, .. } => {
                Some(Place { peer: *id, operator, since, kept: self.book.is_bootstrap(id) })
            }
            _ => None,
        };
        self.peers.iter().filter_map(place).collect()
    }

    /// Where some admitted peers listen: those first that hear most of what the other one hears, so that the members of a group
    /// find each other; else chosen at random.
    fn tell(&self, to: &Libp2pId) -> Vec<Told> {
        let heard: HashMap<_, BTreeSet<_>> = self
            .swarm
            .behaviour()
            .gate
            .gossip
            .all_peers()
            .map(|(peer, topics)| (*peer, topics.into_iter().collect()))
            .collect();
        let common = |id: &Libp2pId| match (heard.get(id), heard.get(to)) {
            (Some(one), Some(other)) => one.intersection(other).count(),
            _ => 0,
        };
        let known =
            self.peers.iter().filter(|(id, peer)| *id != to && peer.admitted().is_some() && !peer.announced.is_empty());
        let mut known: Vec<_> =
            known.map(|(id, peer)| ((Reverse(common(id)), rand::random::<u64>()), id, peer)).collect();
        known.sort_unstable_by_key(|(order, ..)| *order);
        let told = known.into_iter().take(MAX_TOLD).map(|(_, id, peer)| Told {
            peer: id.to_bytes(),
            addresses: peer.announced.iter().map(|address| address.to_vec()).collect(),
        });
        told.collect()
    }

    /// Notes whom an admitted peer told of.
    fn learn(&mut self, teller: Address, told: Vec<Told>, now: Instant) {
        for Told { peer, addresses } in told {
            if let Ok(peer) = Libp2pId::from_bytes(&peer)
                && peer != *self.swarm.local_peer_id()
            {
                self.book.told_by(teller, peer, book::announced(&addresses), now);
            }
        }
    }

    /// What a peer says to this node's credential.
    fn replied(&mut self, id: Libp2pId, reply: Reply) {
        let now = Instant::now();
        let Some(peer) = self.peers.get_mut(&id) else { return };
        peer.welcomed = matches!(reply, Reply::Welcome(_));
        peer.hello_at = Some(now + if peer.welcomed { HELLO_AGAIN } else { HELLO_SOON });
        let teller = peer.admitted().map(|(_, operator)| operator);
        match (reply, teller) {
            (Reply::Welcome(told), Some(teller)) => self.learn(teller, told, now),
            (Reply::Welcome(told), None) => peer.told = told,
            (Reply::Full(told), teller) => {
                if let Some(teller) = teller {
                    self.learn(teller, told, now);
                }
                self.book.put_off(&id, now, LATER);
                self.leave(id, now);
            }
            (Reply::NotYet, _) => {}
            (Reply::Refused(reason), _) => {
                // Text from outside is escaped.
                tracing::warn!(peer = %id, reason = ?reason, "a peer does not admit this node");
                self.book.put_off(&id, now, LATER);
                self.leave(id, now);
            }
        }
    }

    // Who must go.

    /// Ends the connections of a peer when its last reply has left.
    fn leave(&mut self, id: Libp2pId, now: Instant) {
        self.left(&id);
        if let Some(peer) = self.peers.get_mut(&id) {
            peer.state = State::Leaving { at: now + LAST_WORDS };
        }
    }

    /// Tells the node that an admitted peer is gone, once.
    fn left(&mut self, id: &Libp2pId) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        let Some((source, operator)) = peer.admitted() else { return };
        let now = Instant::now();
        peer.state = State::Leaving { at: now };
        if self.gone.len() >= GONE {
            self.gone.pop_front();
        }
        self.gone.push_back((source, peer.id, operator));
        self.sources.remove(&source);
        self.outbox.offer(Arrival::Left { source }, 0);
        self.report(now);
    }

    /// A peer did what no honest peer does. It loses its connections, and is banned: with its operator if it was admitted, and
    /// else with the address from which it came.
    fn fault(&mut self, id: Libp2pId, why: &str) {
        let Some(peer) = self.peers.get(&id) else { return };
        let now = Instant::now();
        if peer.admitted().is_some() {
            return self.expel(id, self.terms.limits.ban, why);
        }
        if matches!(peer.state, State::Leaving { .. }) {
            return;
        }
        tracing::info!(peer = %id, why = ?why, "a stranger's connection is closed");
        let until = now + self.terms.limits.stranger_ban;
        let address = self.bans.ban_stranger(Some(peer.id), peer.came_from(), until);
        self.tally.stranger(Some(peer.id), address, why, until);
        self.book.put_off(&id, now, LATER);
        self.close(id);
    }

    /// Bans an admitted peer and its operator.
    fn expel(&mut self, id: Libp2pId, time: Duration, why: &str) {
        let Some(peer) = self.peers.get(&id) else { return };
        let Some((_, operator)) = peer.admitted() else { return };
        tracing::warn!(peer = %id, %operator, why = ?why, "a peer is banned");
        self.ban_operator(peer.id, operator, time, why);
    }

    /// Bans a peer and all peers of its operator, connected or not.
    fn ban_operator(&mut self, peer: PeerId, operator: Address, time: Duration, why: &str) {
        let until = Instant::now() + time;
        self.tally.ban(peer, operator, why, until);
        self.bans.ban(peer, operator, until);
        let theirs =
            self.peers.iter().filter(|(_, other)| other.admitted().is_some_and(|(_, theirs)| theirs == operator));
        let theirs: Vec<_> = theirs.map(|(id, _)| *id).chain([peer.inner()]).collect();
        for id in theirs {
            self.book.put_off(&id, Instant::now(), time);
            self.left(&id);
            self.close(id);
        }
    }

    fn close(&mut self, id: Libp2pId) {
        if let Some(peer) = self.peers.get_mut(&id) {
            peer.state = State::Leaving { at: Instant::now() };
        }
        // It fails if there is none.
        let _ = self.swarm.disconnect_peer_id(id);
    }

    // Connections.

    fn swarm_event(&mut self, event: SwarmEvent<ProtocolsEvent>) {
        match event {
            SwarmEvent::Behaviour(ProtocolsEvent::Gate(GateEvent::Gossip(event))) => self.gossip_event(event),
            SwarmEvent::Behaviour(ProtocolsEvent::Gate(GateEvent::Malformed(peer, why))) => {
                self.fault(peer, &format!("its gossip: {why}"));
            }
            SwarmEvent::Behaviour(ProtocolsEvent::Gate(GateEvent::Flood(peer))) => {
                self.fault(peer, "more messages than it may send");
            }
            SwarmEvent::Behaviour(ProtocolsEvent::Hello(event)) => self.hello_event(event),
            SwarmEvent::Behaviour(ProtocolsEvent::Ask(event)) => self.ask_event(event),
            SwarmEvent::ConnectionEstablished { peer_id, connection_id, endpoint, .. } => {
                self.connected(peer_id, connection_id, endpoint);
            }
            SwarmEvent::ConnectionClosed { peer_id, connection_id, num_established, .. } => {
                if let Some(flood) = self.peers.get_mut(&peer_id).and_then(|peer| peer.closed(connection_id)) {
                    self.fault(
                        peer_id,
                        match flood {
                            Flood::Stranger => "more bytes than a stranger may send",
                            Flood::Rate => "more bytes than it may send",
                        },
                    );
                }
                if num_established == 0 {
                    self.left(&peer_id);
                    self.peers.remove(&peer_id);
                    self.asked.retain(|_, peer| *peer != peer_id);
                    self.book.failed(&peer_id, Instant::now());
                }
            }
            SwarmEvent::OutgoingConnectionError { peer_id: Some(peer), error, .. } => {
                tracing::debug!(%peer, %error, "a peer cannot be dialled");
                if !self.peers.contains_key(&peer) {
                    self.book.failed(&peer, Instant::now());
                }
            }
            SwarmEvent::NewListenAddr { .. } | SwarmEvent::ExpiredListenAddr { .. } => {
                let own = *self.swarm.local_peer_id();
                let addresses = self.swarm.listeners().map(|address| with_id(address.clone(), own)).collect();
                self.listening.send_replace(addresses);
            }
            SwarmEvent::ListenerClosed { addresses, reason, .. } => {
                tracing::error!(?addresses, ?reason, "the node does not listen any more");
            }
            _ => {}
        }
    }

    fn connected(&mut self, id: Libp2pId, connection: libp2p_swarm::ConnectionId, point: ConnectedPoint) {
        let now = Instant::now();
        let traffic = self.meters.take(&point);
        if let Some(traffic) = &traffic {
            traffic.leave_lobby();
        }
        self.book.connected(&id);
        let Ok(name) = PeerId::try_from(id) else {
            // No Ed25519 key: no node of ours.
            let _ = self.swarm.disconnect_peer_id(id);
            return;
        };
        let inbound = matches!(point, ConnectedPoint::Listener { .. });
        let address = lobby::ip(point.get_remote_address());
        let refused = self.bans.has_peer(&name, now)
            || (inbound && !self.peers.contains_key(&id) && self.is_crowded(address, now));
        let limits = &self.terms.limits;
        let peer = self.peers.entry(id).or_insert_with(|| Peer::new(name, limits, now));
        peer.connections.push(Connection { id: connection, point, traffic });
        if refused {
            tracing::debug!(peer = %id, "a connection is refused");
            self.left(&id);
            return self.close(id);
        }
        if peer.admitted().is_some() {
            peer.lift();
            self.swarm.behaviour_mut().gate.open(id);
        } else if peer.hello_at.is_some() {
            self.say_hello(id);
        }
    }

    /// Whether no more strangers are taken from an address, or at all. A stranger that has shown nothing makes room: of this
    /// address, where it has as many as it may, and else of that with most.
    fn is_crowded(&mut self, address: Option<IpAddr>, now: Instant) -> bool {
        if address.is_some_and(|address| self.bans.has_address(address, now)) {
            return true;
        }
        let here = address.map(network);
        let stranger = |(id, peer): (&Libp2pId, &Peer)| {
            let is = matches!(peer.state, State::Stranger { .. });
            is.then(|| (*id, peer.came_from().map(network), peer.credential.is_none().then_some(peer.since)))
        };
        let strangers: Vec<_> = self.peers.iter().filter_map(stranger).collect();
        let of = |network: Option<IpAddr>| strangers.iter().filter(|(_, other, _)| *other == network).count();
        let limits = &self.terms.limits;
        let crowd = if here.is_some() && of(here) >= limits.strangers_per_address {
            here
        } else if strangers.len() >= limits.strangers {
            strangers.iter().map(|(_, network, _)| *network).max_by_key(|network| of(*network)).flatten()
        } else {
            return false;
        };
        let silent = strangers.iter().filter(|(_, network, _)| *network == crowd);
        let silent = silent.filter_map(|(id, _, since)| since.map(|since| (since, *id)));
        let silent = silent.filter(|(since, _)| now.saturating_duration_since(*since) >= HANDSHAKE);
        let Some((_, longest)) = silent.min_by_key(|(since, _)| *since) else { return true };
        tracing::debug!(peer = %longest, "a stranger that has shown nothing makes room");
        self.close(longest);
        false
    }

    fn dial(&mut self, id: Libp2pId, addresses: Vec<Multiaddr>) {
        let options = DialOpts::peer_id(id)
            .condition(PeerCondition::DisconnectedAndNotDialing)
            .addresses(addresses)
            // A port that listens and dials at once meets connections of the last run that the system still holds.
            .allocate_new_port()
            .build();
        if let Err(error) = self.swarm.dial(options) {
            tracing::debug!(peer = %id, %error, "a peer is not dialled");
            self.book.failed(&id, Instant::now());
        }
    }

    fn tick(&mut self) {
        let now = Instant::now();
        for (id, from, _) in self.tickets.expire(now) {
            count(&self.tally.unjudged);
            let gossip = &mut self.swarm.behaviour_mut().gate.gossip;
            gossip.report_message_validation_result(&id, &from, MessageAcceptance::Ignore);
        }
        // Already logged at the first failure.
        self.listen();
        self.publish_unsent(now);
        self.bans.clean(now);
        self.meters.clean();
        self.tick_peers(now);
        self.tick_dials(now);
        if now.saturating_duration_since(self.reported_at) >= REPORT {
            self.report(now);
        }
    }

    fn report(&mut self, now: Instant) {
        self.reported_at = now;
        let gossip = &self.swarm.behaviour().gate.gossip;
        let reports = self.peers.iter().filter_map(|(id, peer)| peer.report(gossip.peer_score(id).unwrap_or(0.0), now));
        let reports = reports.collect();
        self.reports.send_replace(reports);
    }

    fn tick_peers(&mut self, now: Instant) {
        let ids: Vec<_> = self.peers.keys().copied().collect();
        for id in ids {
            let Some(peer) = self.peers.get(&id) else { continue };
            if let State::Leaving { at } = peer.state {
                if at <= now {
                    let _ = self.swarm.disconnect_peer_id(id);
                }
                continue;
            }
            if peer.deadline(&self.terms.limits).is_some_and(|deadline| deadline <= now) {
                self.fault(id, "no credential that is admitted in time");
                continue;
            }
            if let State::Admitted { doubt: Some(since), .. } = peer.state {
                if now.saturating_duration_since(since) >= self.terms.limits.not_yet {
                    tracing::info!(peer = %id, "a peer's credential could not be checked again for too long");
                    self.leave(id, now);
                    continue;
                }
                self.check(id, None);
            }
            let score = self.swarm.behaviour().gate.gossip.peer_score(&id);
            if score.is_some_and(|score| score < LEAST_SCORE) {
                self.fault(id, "gossip that is malformed or was rejected");
                continue;
            }
            if self.peers.get(&id).and_then(|peer| peer.hello_at).is_some_and(|at| at <= now) {
                self.say_hello(id);
            }
        }
    }

    fn tick_dials(&mut self, now: Instant) {
        let wanted = self.terms.limits.wanted_peers.saturating_sub(self.sources.len());
        // Besides, so many that each topic has a mesh.
        let gossip = &self.swarm.behaviour().gate.gossip;
        let lonely = |audience: &Audience| {
            let heard = topic(self.terms.network, *audience).hash();
            gossip.all_peers().filter(|(_, topics)| topics.contains(&&heard)).take(MESH).count() < MESH
        };
        let room = self.terms.limits.peers.saturating_sub(self.sources.len());
        let lonely = self.topics.iter().any(lonely) && self.terms.limits.wanted_peers != 0;
        let wanted = if lonely { wanted.max(MESH.min(room / 2)) } else { wanted };
        let (peers, bans) = (&self.peers, &self.bans);
        let due = self.book.due(now, wanted, |id| {
            peers.contains_key(id) || PeerId::try_from(*id).is_ok_and(|peer| bans.has_peer(&peer, now))
        });
        for (id, targets) in due {
            if targets.iter().all(|target| book::name(&target.address).is_none()) {
                self.dial(id, targets.into_iter().map(|target| target.address).collect());
                continue;
            }
            self.names.spawn(async move {
                let mut found = Vec::new();
                for Target { address, anywhere } in targets {
                    match book::name(&address) {
                        None => found.push(address),
                        Some(name) => {
                            let ips = tokio::time::timeout(RESOLVE, tokio::net::lookup_host(name)).await;
                            let ips = ips.ok().and_then(Result::ok).into_iter().flatten();
                            let ips = ips.filter(|ip| anywhere || is_public(ip.ip())).take(4);
                            found.extend(
                                ips.map(|ip: SocketAddr| Multiaddr::from(ip.ip()).with(Protocol::Tcp(ip.port()))),
                            );
                        }
                    }
                }
                (id, found)
            });
        }
    }
}

/// A multiaddress with a peer id behind it.
fn with_id(address: Multiaddr, peer: Libp2pId) -> String {
    address.with(Protocol::P2p(peer)).to_string()
}

/// The fewest peers that a node wants in each of its topics.
const MESH: usize = 6;
/// How often the driver looks at what is due.
const TICK: Duration = Duration::from_millis(100);
/// How often reports are made.
const REPORT: Duration = Duration::from_millis(500);
/// How many peers that left are remembered.
const GONE: usize = 1024;
/// When a peer that is full, or does not admit this node, is dialled again.
const LATER: Duration = Duration::from_secs(30);
/// How long a name may take to be resolved.
const RESOLVE: Duration = Duration::from_secs(5);
