//! Peers that misbehave, each of which loses its own connection and no other.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{StreamExt as _, stream::FuturesUnordered};
use libp2p_gossipsub::{ConfigBuilder, IdentityTransform, MessageAuthenticity, ValidationMode};
use libp2p_request_response::{Event as RequestEvent, Message as RequestMessage, ProtocolSupport};
use libp2p_swarm::{NetworkBehaviour, StreamProtocol, Swarm, SwarmEvent};
use quorate_evm::{
    SnapshotId,
    alloy_primitives::{Address, B256},
    digest::Contract,
};
use tokio::time::{sleep, timeout};

use super::{
    super::{
        Arrival, Identity, Limits, Rate, Terms, Transport,
        handshake::{Hello, Reply},
        limits::Bucket,
        tests::rig::{
            NETWORK, PATIENCE, Registry, address, credential, joined, limits, message, node, terms, until, wait_for,
        },
    },
    codec::Lengths,
    gate::Gossip,
    protocols::{Protocols, ProtocolsEvent, message_id, requests, swarm},
    stream::Meters,
    topics::{OwnTopics, prefix, topic},
};
use quorate_network::{
    groups::Audience,
    message::{MAX_MESSAGE, Message, PeerRequest, Signed, TaskResult},
    wire,
};

const OTHER: Contract = Contract { chain_id: 1, ..NETWORK };

/// The protocols of a node, and one more on which anything can be written to the stream of gossip.
#[derive(NetworkBehaviour)]
#[behaviour(prelude = "libp2p_swarm::derive_prelude")]
struct Arms {
    node: Protocols,
    raw: libp2p_request_response::Behaviour<Lengths>,
}

/// A peer that does what the test says.
struct Hostile {
    swarm: Swarm<Protocols>,
    terms: Terms,
    victim: libp2p_identity::PeerId,
    closed: bool,
    replies: Vec<Reply>,
    /// What it answers to questions.
    answer: Vec<u8>,
}

impl Hostile {
    /// Dials, and says nothing.
    async fn connect(terms: Terms, victim: &Transport) -> Self {
        Self::with_swarm(swarm(&terms, Meters::default()).unwrap(), terms, victim).await
    }

    async fn with_swarm(mut swarm: Swarm<Protocols>, terms: Terms, victim: &Transport) -> Self {
        swarm.dial(victim.addresses()[0].parse::<libp2p_core::Multiaddr>().unwrap()).unwrap();
        let mut this = Self {
            swarm,
            terms,
            victim: victim.peer_id().inner(),
            closed: false,
            replies: Vec::new(),
            answer: Vec::new(),
        };
        let end = Instant::now() + PATIENCE;
        // It may be over by the time that it is looked for.
        while !this.swarm.is_connected(&this.victim) && !this.closed {
            assert!(Instant::now() < end, "no connection");
            this.run(Duration::from_millis(20)).await;
        }
        this
    }

    fn hello(&mut self, bytes: Vec<u8>) {
        self.swarm.behaviour_mut().hello.send_request(&self.victim, bytes);
    }

    /// Shows its credential and waits until it is admitted.
    async fn admitted(mut self) -> Self {
        let hello = Hello::new(&self.terms.credential, Vec::new());
        self.hello(hello.encode());
        let end = Instant::now() + PATIENCE;
        while !matches!(self.replies.last(), Some(Reply::Welcome(_))) {
            assert!(Instant::now() < end && !self.closed, "not admitted: {:?}", self.replies);
            self.run(Duration::from_millis(20)).await;
        }
        self.swarm.behaviour_mut().gate.open(self.victim);
        // Until gossip knows who subscribed.
        while self.swarm.behaviour().gate.gossip.all_peers().all(|(_, topics)| topics.is_empty()) {
            assert!(Instant::now() < end && !self.closed, "no subscription");
            self.run(Duration::from_millis(20)).await;
        }
        self
    }

    fn gossip(&mut self, bytes: Vec<u8>) {
        let topic = topic(self.terms.network, Audience::Everybody);
        // It fails when the queue is full, which is as well.
        let _ = self.swarm.behaviour_mut().gate.gossip.publish(topic, bytes);
    }

    /// Lets the swarm work.
    async fn run(&mut self, time: Duration) {
        let _ = timeout(time, async {
            loop {
                match self.swarm.select_next_some().await {
                    SwarmEvent::ConnectionClosed { num_established: 0, .. } => self.closed = true,
                    SwarmEvent::Behaviour(ProtocolsEvent::Hello(RequestEvent::Message { message, .. })) => {
                        match message {
                            RequestMessage::Request { channel, .. } => {
                                let welcome = Reply::Welcome(Vec::new()).encode();
                                let _ = self.swarm.behaviour_mut().hello.send_response(channel, welcome);
                            }
                            RequestMessage::Response { response, .. } => self.replies.extend(Reply::decode(&response)),
                        }
                    }
                    SwarmEvent::Behaviour(ProtocolsEvent::Ask(RequestEvent::Message {
                        message: RequestMessage::Request { channel, .. },
                        ..
                    })) => {
                        let _ = self.swarm.behaviour_mut().ask.send_response(channel, self.answer.clone());
                    }
                    _ => {}
                }
            }
        })
        .await;
    }

    async fn until_closed(&mut self, what: &str) {
        let end = Instant::now() + PATIENCE;
        while !self.closed {
            assert!(Instant::now() < end, "still connected: {what}");
            self.run(Duration::from_millis(20)).await;
        }
    }
}

/// Gossip without our limits.
fn lawless(authenticity: MessageAuthenticity) -> Gossip {
    let config = ConfigBuilder::default()
        .protocol_id_prefix(format!("{}/gossip", prefix(NETWORK)))
        .heartbeat_interval(Duration::from_millis(200))
        .validation_mode(if authenticity.is_anonymous() { ValidationMode::Anonymous } else { ValidationMode::Strict })
        .message_id_fn(message_id)
        .max_transmit_size(1 << 22)
        .build()
        .unwrap();
    let mut gossip = Gossip::new_with_subscription_filter_and_transform(
        authenticity,
        config,
        OwnTopics::of(NETWORK),
        IdentityTransform,
    )
    .unwrap();
    gossip.subscribe(&topic(NETWORK, Audience::Everybody)).unwrap();
    gossip
}

fn bytes(node: u8, number: u32, network: Contract) -> Vec<u8> {
    wire::encode(&Message::Signed(message(node, number)), network)
}

fn result(number: u64) -> Vec<u8> {
    let bytes = vec![9; 60_000];
    let result = TaskResult::new(number, SnapshotId::ZERO, B256::ZERO, 0, bytes.into(), vec![1].into()).unwrap();
    wire::encode(&Message::Signed(Signed::Result(result)), NETWORK)
}

/// A victim with small limits, and an honest peer of it, which must not lose anything.
async fn scene(registry: &Arc<Registry>) -> (Transport, Transport) {
    scene_within(registry, limits().handshake).await
}

/// The same; the victim gives strangers so long for their handshake.
async fn scene_within(registry: &Arc<Registry>, handshake: Duration) -> (Transport, Transport) {
    let small = terms(1, registry);
    let limits = Limits {
        handshake,
        bytes: Rate { per_second: 100_000, at_once: 1_000_000 },
        messages: Rate { per_second: 50, at_once: 300 },
        requests: Rate { per_second: 1, at_once: 5 },
        stranger_bytes: 100_000,
        ..small.limits
    };
    let mut victim = node(Terms { limits, ..small }, &[]).await;
    let mut honest = node(terms(2, registry), &victim.addresses()).await;
    joined(&mut victim, honest.peer_id()).await;
    joined(&mut honest, victim.peer_id()).await;
    (victim, honest)
}

/// The honest peer is still there, and gets what the victim sends.
async fn unharmed(victim: &Transport, honest: &mut Transport, number: u32) {
    assert!(victim.peers().iter().any(|report| report.peer == honest.peer_id()), "the honest peer is gone");
    victim.publish(message(1, number), Audience::Everybody);
    wait_for(honest, "a message of the victim", |arrival| match arrival {
        Arrival::Signed { message: found, .. } => (found == message(1, number)).then_some(()),
        Arrival::Left { .. } => panic!("the honest peer lost its connection"),
        _ => None,
    })
    .await;
}

/// For the handshake of strangers that are to be let go for their silence.
const A_MOMENT: Duration = Duration::from_secs(1);

type Deed = (&'static str, fn(&mut Hostile));

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_that_misbehaves_loses_its_own_connection_alone() {
    let registry = Arc::new(Registry::default());
    let (victim, mut honest) = scene(&registry).await;
    let deeds: &[Deed] = &[
        ("bytes that are no message", |hostile| hostile.gossip(vec![0xff; 300])),
        ("a message of another chain", |hostile| hostile.gossip(bytes(3, 0, OTHER))),
        ("a message of another contract", |hostile| {
            hostile.gossip(bytes(3, 0, Contract { address: Address::ZERO, ..NETWORK }));
        }),
        ("a question as gossip", |hostile| {
            hostile.gossip(wire::encode(&Message::Request(PeerRequest::default()), NETWORK));
        }),
        ("gossip beyond the length of a message", |hostile| hostile.gossip(vec![1; 200_000])),
        ("a question that does not decode", |hostile| {
            hostile.swarm.behaviour_mut().ask.send_request(&hostile.victim, vec![7; 50]);
        }),
        ("a question of another network", |hostile| {
            let question = wire::encode(&Message::Request(PeerRequest::default()), OTHER);
            hostile.swarm.behaviour_mut().ask.send_request(&hostile.victim, question);
        }),
        ("a question beyond the length of a message", |hostile| {
            hostile.swarm.behaviour_mut().ask.send_request(&hostile.victim, vec![7; MAX_MESSAGE + 1]);
        }),
        ("a credential that does not decode", |hostile| hostile.hello(vec![0xff; 100])),
        ("a credential that is too long", |hostile| hostile.hello(vec![0; 10_000])),
        ("messages without end", |hostile| (0..900).for_each(|number| hostile.gossip(bytes(3, number, NETWORK)))),
        ("bytes without end", |hostile| (0..40).for_each(|number| hostile.gossip(result(number)))),
    ];
    for (number, (what, deed)) in (3..).zip(deeds) {
        let terms = terms(number, &registry);
        let mut hostile = swarm(&terms, Meters::default()).unwrap();
        hostile.behaviour_mut().gate.gossip = lawless(MessageAuthenticity::Anonymous);
        let mut hostile = Hostile::with_swarm(hostile, terms, &victim).await.admitted().await;
        assert!(!hostile.closed, "{what}");
        deed(&mut hostile);
        hostile.until_closed(what).await;
        until("it is counted", || victim.counts().banned == u64::from(number) - 2).await;
        let own = hostile.terms.identity.peer_id();
        let shown = victim.bans().into_iter().find(|ban| ban.peer == Some(own));
        let shown = shown.unwrap_or_else(|| panic!("{what}: it is not shown"));
        assert_eq!(shown.operator, Some(address(number)), "{what}");
        assert!(!shown.reason.is_empty() && shown.reason.len() <= 200, "{what}: {shown:?}");
        unharmed(&victim, &mut honest, number.into()).await;
    }
}

/// Who signed a message is in the message. A second signature, around it, would let one message have many ids.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_envelope_with_a_signature_is_refused() {
    let registry = Arc::new(Registry::default());
    let (victim, mut honest) = scene(&registry).await;
    let terms = terms(3, &registry);
    let mut hostile = swarm(&terms, Meters::default()).unwrap();
    hostile.behaviour_mut().gate.gossip = lawless(MessageAuthenticity::Signed(terms.identity.keypair().clone()));
    let mut hostile = Hostile::with_swarm(hostile, terms, &victim).await.admitted().await;
    hostile.gossip(bytes(3, 0, NETWORK));
    hostile.until_closed("an envelope with a signature").await;
    unharmed(&victim, &mut honest, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_without_end_end_the_connection() {
    let registry = Arc::new(Registry::default());
    let (victim, mut honest) = scene(&registry).await;
    let mut hostile = Hostile::connect(terms(3, &registry), &victim).await.admitted().await;
    let question = wire::encode(&Message::Request(PeerRequest::default()), NETWORK);
    let end = Instant::now() + PATIENCE;
    while !hostile.closed {
        assert!(Instant::now() < end, "still connected");
        hostile.swarm.behaviour_mut().ask.send_request(&hostile.victim, question.clone());
        hostile.run(Duration::from_millis(20)).await;
    }
    assert_eq!(victim.counts().banned, 1);
    unharmed(&victim, &mut honest, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_none_ends_the_connection() {
    let registry = Arc::new(Registry::default());
    let mut victim = node(terms(1, &registry), &[]).await;
    for (number, answer) in [(3, vec![0xff; 9]), (4, vec![0; MAX_MESSAGE + 1]), (5, bytes(5, 0, NETWORK))] {
        let mut hostile = Hostile::connect(terms(number, &registry), &victim).await.admitted().await;
        hostile.answer = answer;
        let end = Instant::now() + PATIENCE;
        while !hostile.closed {
            assert!(Instant::now() < end, "still connected");
            victim.ask(PeerRequest::default(), Audience::Everybody);
            hostile.run(Duration::from_millis(100)).await;
        }
        assert_eq!(victim.counts().banned, u64::from(number) - 2);
    }
    let answered = timeout(Duration::from_millis(100), async {
        wait_for(&mut victim, "an answer", |arrival| matches!(arrival, Arrival::Answered { .. }).then_some(())).await;
    });
    assert!(answered.await.is_err());
}

/// Whatever is written to the stream of gossip: nothing panics, and the peer is gone or silent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_bytes_on_the_stream_of_gossip() {
    let registry = Arc::new(Registry::default());
    let (victim, mut honest) = scene(&registry).await;
    let arms = |number| {
        let own = terms(number, &registry);
        let raw = StreamProtocol::try_from_owned(format!("{}/gossip/1.1.0", prefix(NETWORK))).unwrap();
        let config = libp2p_request_response::Config::default();
        let lengths = Lengths { most_request: 1 << 20, most_response: 1 << 20 };
        let key = own.identity.keypair().clone();
        let transport = super::stream::transport(&key, &limits(), Meters::default()).unwrap();
        let node = Protocols {
            limits: libp2p_connection_limits::Behaviour::new(Default::default()),
            gate: super::gate::Gate::new(lawless(MessageAuthenticity::Anonymous), limits().messages),
            hello: requests(NETWORK, "hello", 1 << 20, 1 << 20, PATIENCE).unwrap(),
            ask: requests(NETWORK, "ask", 1 << 20, 1 << 20, PATIENCE).unwrap(),
        };
        let raw = libp2p_request_response::Behaviour::with_codec(lengths, [(raw, ProtocolSupport::Outbound)], config);
        let config = libp2p_swarm::Config::with_tokio_executor().with_idle_connection_timeout(PATIENCE);
        let mut swarm = Swarm::new(transport, Arms { node, raw }, own.identity.peer_id().inner(), config);
        swarm.dial(victim.addresses()[0].parse::<libp2p_core::Multiaddr>().unwrap()).unwrap();
        (own, swarm)
    };
    let id = victim.peer_id().inner();
    let admitted = |(own, mut swarm): (Terms, Swarm<Arms>)| async move {
        loop {
            match swarm.select_next_some().await {
                SwarmEvent::ConnectionEstablished { .. } => {
                    let hello = Hello::new(&own.credential, Vec::new()).encode();
                    swarm.behaviour_mut().node.hello.send_request(&id, hello);
                }
                SwarmEvent::Behaviour(ArmsEvent::Node(ProtocolsEvent::Hello(RequestEvent::Message {
                    message: RequestMessage::Response { .. },
                    ..
                }))) => return swarm,
                SwarmEvent::ConnectionClosed { .. } => panic!("it was not admitted"),
                _ => {}
            }
        }
    };
    let loses_its_connection = |mut swarm: Swarm<Arms>| async move {
        let length = rand::random_range(1..2000);
        let noise = (0..length).map(|_| rand::random()).collect();
        swarm.behaviour_mut().raw.send_request(&id, noise);
        while !matches!(swarm.select_next_some().await, SwarmEvent::ConnectionClosed { .. }) {}
    };
    let mut all = Vec::new();
    for number in 3..43 {
        all.push(timeout(PATIENCE, admitted(arms(number))).await.expect("it is admitted"));
    }
    // Others are silent for ever: what they sent may be the beginning of something long.
    let lost: FuturesUnordered<_> = all.into_iter().map(loses_its_connection).collect();
    let lost = lost.take(10).count();
    assert_eq!(timeout(PATIENCE, lost).await, Ok(10), "of 40 so many lose the connection");
    unharmed(&victim, &mut honest, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stranger_is_let_go_and_nothing_of_it_is_heard() {
    let registry = Arc::new(Registry::default());
    let (mut victim, mut honest) = scene_within(&registry, A_MOMENT).await;
    // On a slow machine the honest one may have needed a second handshake.
    let before = victim.counts().strangers;
    let deeds: &[Deed] = &[
        ("silence", |_| {}),
        ("a question", |hostile| {
            let question = wire::encode(&Message::Request(PeerRequest::default()), NETWORK);
            hostile.swarm.behaviour_mut().ask.send_request(&hostile.victim, question);
        }),
        ("gossip", |hostile| {
            hostile.swarm.behaviour_mut().gate.open(hostile.victim);
            hostile.gossip(bytes(3, 0, NETWORK));
        }),
        ("a credential that does not decode", |hostile| hostile.hello(vec![0xff; 100])),
        ("the credential of another peer", |hostile| {
            let other = credential(3, NETWORK, &Identity::random().peer_id());
            hostile.hello(Hello::new(&other, Vec::new()).encode());
        }),
        ("the credential of another network", |hostile| {
            let other = credential(3, OTHER, &hostile.terms.identity.peer_id());
            hostile.hello(Hello::new(&other, Vec::new()).encode());
        }),
        ("the same credential again and again", |hostile| {
            let other = credential(3, OTHER, &hostile.terms.identity.peer_id());
            (0..30).for_each(|_| hostile.hello(Hello::new(&other, Vec::new()).encode()));
        }),
    ];
    for (what, deed) in deeds {
        // The address of the last one is banned for a moment.
        sleep(Duration::from_millis(300)).await;
        let mut hostile = Hostile::connect(terms(3, &registry), &victim).await;
        deed(&mut hostile);
        hostile.until_closed(what).await;
        assert!(!hostile.replies.iter().any(|reply| matches!(reply, Reply::Welcome(_))), "{what}");
    }
    assert_eq!((victim.counts().strangers - before, victim.counts().banned), (deeds.len() as u64, 0));
    assert!(victim.bans().iter().all(|ban| ban.operator.is_none()), "{:?}", victim.bans());
    unharmed(&victim, &mut honest, 0).await;
    let heard = timeout(Duration::from_millis(100), victim.next()).await;
    assert!(heard.is_err(), "{heard:?}");
}

/// A stranger that opens its stream of gossip hears nothing on another one, not even which topics there are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_said_to_a_stranger() {
    let registry = Arc::new(Registry::default());
    let (victim, _honest) = scene_within(&registry, A_MOMENT).await;
    let terms = terms(3, &registry);
    let mut hostile = swarm(&terms, Meters::default()).unwrap();
    hostile.behaviour_mut().gate.gossip = lawless(MessageAuthenticity::Anonymous);
    let start = Instant::now();
    let mut hostile = Hostile::with_swarm(hostile, terms, &victim).await;
    hostile.swarm.behaviour_mut().gate.open(hostile.victim);
    hostile.run(Duration::from_millis(400)).await;
    let subscribed = hostile.swarm.behaviour().gate.gossip.all_peers().any(|(_, topics)| !topics.is_empty());
    assert!(!subscribed, "the victim told a stranger what it listens to");
    hostile.until_closed("its time is over").await;
    assert!(start.elapsed() >= Duration::from_millis(900), "closed before its time");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_of_another_network_is_not_admitted() {
    let registry = Arc::new(Registry::default());
    let (victim, mut honest) = scene_within(&registry, A_MOMENT).await;
    let before = victim.counts().strangers;
    let foreign = node(Terms { network: OTHER, ..terms(3, &registry) }, &victim.addresses()).await;
    until("it is refused", || victim.counts().strangers > before).await;
    assert!(foreign.peers().is_empty() && victim.peers().len() == 1);
    unharmed(&victim, &mut honest, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_operator_has_a_few_peers() {
    let registry = Arc::new(Registry::default());
    let one = terms(1, &registry);
    let one = Terms { limits: Limits { peers_per_operator: 2, ..one.limits }, ..one };
    let hub = node(one, &[]).await;
    let mut clones = Vec::new();
    for _ in 0..3 {
        clones.push(node(terms(2, &registry), &hub.addresses()).await);
    }
    until("one is refused", || hub.counts().strangers >= 1).await;
    until("two are there", || hub.peers().len() == 2).await;
}

/// A bucket with nothing in it refuses, so the tests above would see a limit that is not applied.
#[test]
fn an_empty_rate_lets_nothing_pass() {
    let now = Instant::now();
    assert!(!Bucket::new(Rate { per_second: 0, at_once: 0 }, now).take(1, now));
}
