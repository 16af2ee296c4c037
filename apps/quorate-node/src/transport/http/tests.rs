//! An aggregator and nodes that join it, on loopback.

use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use quorate_evm::{SnapshotId, alloy_primitives::B256};
use reqwest::{Client, StatusCode, header};

use super::{
    super::{
        Admitted, Arrival, Identity, Judgement, Limits, Rate, Terms, Transport,
        handle::{CALLS, OPEN_QUESTIONS},
        handshake::Hello,
        tests::rig::{
            NETWORK, PATIENCE, Registry, accept_all, address, credential, joined, left, limits, message, terms, until,
            wait_for,
        },
    },
    JoinSettings, ServeSettings,
    bodies::{Challenge, Opened, Opening, Side, decode, encode, statement},
    join, serve,
};
use crate::transport::PeerId;
use quorate_network::{
    election::Snapshot,
    groups::Audience,
    message::{MAX_MESSAGE, Message, PeerAnswer, PeerRequest, Signed, TaskResult, Verified},
    roles::{MessageRefusal, Node, NodeEvent, NodeOutput, NodeSettings, PeerSource, Saved},
    wire,
};

const ANYWHERE: &str = "127.0.0.1:0";

async fn aggregator(terms: Terms) -> Transport {
    aggregator_at(terms, ANYWHERE).await
}

async fn aggregator_at(terms: Terms, listen: &str) -> Transport {
    let listen: SocketAddr = listen.parse().unwrap();
    serve(terms, &ServeSettings { poll: Duration::from_millis(500), ..ServeSettings::new(listen) }).await.unwrap()
}

fn member(terms: Terms, aggregator: &Transport) -> Transport {
    join(terms, &JoinSettings { aggregator: aggregator.addresses()[0].clone() }).unwrap()
}

async fn signed(transport: &mut Transport) -> (crate::transport::Ticket, Signed) {
    wait_for(transport, "a message", |arrival| match arrival {
        Arrival::Signed { ticket, message, .. } => Some((ticket, message)),
        _ => None,
    })
    .await
}

async fn converge(count: u8, each: u32) {
    let registry = Arc::new(Registry::default());
    let hub = aggregator(terms(1, &registry)).await;
    let mut nodes: Vec<_> = (2..=count).map(|number| member(terms(number, &registry), &hub)).collect();
    until("all have joined", || hub.peers().len() == nodes.len()).await;
    nodes.push(hub);
    for (number, node) in (1..).zip(&nodes) {
        (0..each).for_each(|each| node.publish(message(number, each), Audience::Everybody));
    }
    let expected = usize::from(count - 1) * each as usize;
    // The aggregator stays until the others have everything.
    let hub = tokio::spawn(accept_all(nodes.pop().unwrap(), expected));
    let tasks: Vec<_> = nodes.into_iter().map(|node| tokio::spawn(accept_all(node, expected))).collect();
    let (hub, _) = hub.await.unwrap();
    for task in tasks {
        let (node, _) = task.await.unwrap();
        assert_eq!(node.counts(), Default::default());
        node.stop().await;
    }
    assert_eq!(hub.counts(), Default::default());
    hub.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_converge() {
    converge(2, 20).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_nodes_converge() {
    converge(5, 10).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twelve_nodes_converge() {
    converge(12, 4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_waits_for_its_judgement() {
    let registry = Arc::new(Registry::default());
    let mut hub = aggregator(terms(1, &registry)).await;
    let first = member(terms(2, &registry), &hub);
    let mut last = member(terms(3, &registry), &hub);
    joined(&mut last, hub.peer_id()).await;
    first.publish(message(2, 0), Audience::Everybody);
    let (ticket, _) = signed(&mut hub).await;
    let early = tokio::time::timeout(Duration::from_millis(700), signed(&mut last)).await;
    assert!(early.is_err(), "handed on without a judgement");
    hub.judge(ticket, Judgement::Accept);
    assert_eq!(signed(&mut last).await.1, message(2, 0));
    // What is ignored goes no further; what is false ends the session of its source, and no other.
    first.publish(message(2, 1), Audience::Everybody);
    let (ticket, _) = signed(&mut hub).await;
    hub.judge(ticket, Judgement::Ignore);
    assert_eq!(hub.counts().banned, 0);
    first.publish(message(2, 2), Audience::Everybody);
    let (ticket, _) = signed(&mut hub).await;
    hub.judge(ticket, Judgement::Reject);
    until("one is left", || hub.peers().len() == 1).await;
    assert_eq!((hub.counts().banned, hub.peers()[0].peer), (1, last.peer_id()));
    hub.publish(message(1, 0), Audience::Everybody);
    assert_eq!(signed(&mut last).await.1, message(1, 0));
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(hub.peers().len(), 1, "the banned one is back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_are_answered_both_ways() {
    let registry = Arc::new(Registry::default());
    let mut hub = aggregator(terms(1, &registry)).await;
    let mut node = member(terms(2, &registry), &hub);
    let source = joined(&mut hub, node.peer_id()).await;
    let to_hub = joined(&mut node, hub.peer_id()).await;
    let Signed::Attestation(attestation) = message(1, 0) else { panic!("an attestation") };
    let answer = PeerAnswer { attestations: vec![attestation], ..PeerAnswer::default() };
    let asked = |arrival| match arrival {
        Arrival::Asked { source, .. } => Some(source),
        _ => None,
    };
    let answered = |arrival| match arrival {
        Arrival::Answered { source, answer } => Some((source, answer)),
        _ => None,
    };
    node.ask(PeerRequest::default(), Audience::Everybody);
    assert_eq!(wait_for(&mut hub, "a question", asked).await, source);
    hub.answer(source, answer.clone());
    assert_eq!(wait_for(&mut node, "an answer", answered).await, (to_hub, answer.clone()));
    hub.ask(PeerRequest::default(), Audience::Everybody);
    assert_eq!(wait_for(&mut node, "a question", asked).await, to_hub);
    node.answer(to_hub, answer.clone());
    assert_eq!(wait_for(&mut hub, "an answer", answered).await, (source, answer));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_node_is_not_asked_for_ever() {
    let registry = Arc::new(Registry::default());
    let quick = terms(1, &registry);
    let quick = Terms { limits: Limits { answer_within: Duration::from_secs(10), ..quick.limits }, ..quick };
    let mut hub = aggregator(quick).await;
    let _silent = member(terms(2, &registry), &hub);
    let mut helpful = member(terms(3, &registry), &hub);
    until("both are there", || hub.peers().len() == 2).await;
    tokio::spawn(async move {
        while let Some(arrival) = helpful.next().await {
            if let Arrival::Asked { source, .. } = arrival {
                helpful.answer(source, PeerAnswer::default());
            }
        }
    });
    let mut answers = 0;
    for _ in 0..6 {
        hub.ask(PeerRequest::default(), Audience::Everybody);
        let answered = tokio::time::timeout(Duration::from_secs(12), async {
            wait_for(&mut hub, "an answer", |arrival| matches!(arrival, Arrival::Answered { .. }).then_some(())).await;
        });
        answers += usize::from(answered.await.is_ok());
    }
    assert!(answers >= 5, "{answers} of 6");
}

/// A node that is busy may answer nothing. Its next answer arrives all the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_without_an_answer_leave_room_for_others() {
    let registry = Arc::new(Registry::default());
    let within = Duration::from_secs(3);
    let quick = |terms: Terms| Terms { limits: Limits { answer_within: within, ..terms.limits }, ..terms };
    let mut hub = aggregator(quick(terms(1, &registry))).await;
    let mut node = member(quick(terms(2, &registry)), &hub);
    let source = joined(&mut hub, node.peer_id()).await;
    let to_hub = joined(&mut node, hub.peer_id()).await;
    let asked = |arrival| matches!(arrival, Arrival::Asked { .. }).then_some(());
    for _ in 0..OPEN_QUESTIONS {
        hub.ask(PeerRequest::default(), Audience::Everybody);
        wait_for(&mut node, "a question", asked).await;
    }
    tokio::time::sleep(within + Duration::from_millis(500)).await;
    let answered = |arrival| match arrival {
        Arrival::Answered { source, .. } => Some(source),
        _ => None,
    };
    // An answer that comes too late is none, and the hub asks again, as nodes do.
    let asking = async {
        loop {
            hub.ask(PeerRequest::default(), Audience::Everybody);
            wait_for(&mut node, "one question more", asked).await;
            node.answer(to_hub, PeerAnswer::default());
            if let Ok(found) = tokio::time::timeout(within, wait_for(&mut hub, "an answer", answered)).await {
                break found;
            }
        }
    };
    assert_eq!(tokio::time::timeout(PATIENCE, asking).await.expect("there is room"), source);
}

/// Of the loopback's addresses other systems have the first alone.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_waits_for_an_aggregator_that_is_away() {
    let registry = Arc::new(Registry::default());
    let own = terms(1, &registry);
    // Connections to other addresses of the loopback begin at 127.0.0.1. While nobody listens, none of them, and none of the
    // node's own attempts, can take the port.
    let hub = aggregator_at(own.clone(), "127.0.0.2:0").await;
    let at = hub.addresses()[0].strip_prefix("http://").unwrap().to_owned();
    let mut node = member(terms(2, &registry), &hub);
    let source = joined(&mut node, hub.peer_id()).await;
    hub.stop().await;
    left(&mut node, source).await;
    // It is kept until there is somebody to take it.
    node.publish(message(2, 0), Audience::Everybody);
    let mut hub = aggregator_at(own, &at).await;
    joined(&mut node, hub.peer_id()).await;
    assert_eq!(signed(&mut hub).await.1, message(2, 0));
    hub.publish(message(1, 0), Audience::Everybody);
    assert_eq!(signed(&mut node).await.1, message(1, 0));
}

/// The aggregator acknowledges a result before it knows the task, and ignores it; the performer sends it once. Everybody gets it
/// all the same, by the performer's first question.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_came_too_early_is_asked_back_and_handed_on() {
    let registry = Arc::new(Registry::default());
    let mut hub = aggregator(terms(1, &registry)).await;
    let mut performer = member(terms(2, &registry), &hub);
    let mut other = member(terms(3, &registry), &hub);
    joined(&mut performer, hub.peer_id()).await;
    joined(&mut other, hub.peer_id()).await;
    let members = (1..=3).map(|number| (1, address(number))).collect();
    let snapshot = Arc::new(Snapshot::new(0, SnapshotId::ZERO, B256::ZERO, members, 2).unwrap());
    let id = (0..).map(B256::with_last_byte).find(|id| snapshot.performer(*id) == 1).unwrap();
    let result = TaskResult::new(0, snapshot.id(), id, 1, vec![7].into(), vec![2].into()).unwrap();
    let machine = |number| {
        let settings = NodeSettings { operator: Some(address(number)), ..NodeSettings::default() };
        let mut machine = Node::new(settings, 0, Saved::default());
        machine.step(NodeEvent::Snapshot(snapshot.clone()), 0);
        machine
    };
    let task = NodeEvent::Task { id, epoch: 0, payload: vec![0].into() };
    let received = |source, message: Signed| NodeEvent::Received { source, message: Verified::by_the_caller(message) };
    let asked = |arrival| match arrival {
        Arrival::Asked { source, request } => Some(NodeEvent::Asked { source, request }),
        _ => None,
    };

    let (mut aggregates, mut performs) = (machine(1), machine(2));
    performer.publish(Signed::Result(result.clone()), Audience::Everybody);
    let (ticket, early) = signed(&mut hub).await;
    assert_eq!(aggregates.screen(&early), Err(MessageRefusal::UnknownTask));
    hub.judge(ticket, Judgement::Ignore);
    aggregates.step(task.clone(), 0);
    performs.step(task, 0);
    performs.step(received(PeerSource(0), Signed::Result(result.clone())), 0);

    let exchange = |node: &mut Node, transport: &Transport, event, now| {
        for output in node.step(event, now) {
            match output {
                NodeOutput::Ask(request, audience) => transport.ask(request, audience),
                NodeOutput::AskPeer { peer, request } => transport.ask_peer(peer, request),
                NodeOutput::Answer { to, answer } => transport.answer(to, answer),
                _ => {}
            }
        }
    };
    exchange(&mut performs, &performer, NodeEvent::Tick, NodeSettings::default().ask_first);
    let question = wait_for(&mut hub, "its question", asked).await;
    exchange(&mut aggregates, &hub, question, 1);
    let question = wait_for(&mut performer, "a question back", asked).await;
    exchange(&mut performs, &performer, question, 1);
    let (source, answer) = wait_for(&mut hub, "its answer", |arrival| match arrival {
        Arrival::Answered { source, answer } => Some((source, answer)),
        _ => None,
    })
    .await;
    assert_eq!(answer.results, [result]);
    for part in answer.into_signed() {
        assert!(matches!(aggregates.step(received(source, part.clone()), 2)[0], NodeOutput::Accepted { .. }));
        hub.hand_on(part);
    }
    assert_eq!(signed(&mut other).await.1, early);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_goes_has_left_and_may_come_back() {
    let registry = Arc::new(Registry::default());
    let mut hub = aggregator(terms(1, &registry)).await;
    let own = terms(2, &registry);
    let node = member(own.clone(), &hub);
    let source = joined(&mut hub, node.peer_id()).await;
    node.stop().await;
    left(&mut hub, source).await;
    let node = member(own, &hub);
    assert_ne!(joined(&mut hub, node.peer_id()).await, source);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_registry_decides_who_joins() {
    let registry = Arc::new(Registry::default());
    let mut hub = aggregator(terms(1, &registry)).await;
    registry.say(2, Admitted::NotYet);
    let mut late = member(terms(2, &registry), &hub);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(hub.peers().is_empty());
    registry.forget(2);
    let source = joined(&mut hub, late.peer_id()).await;
    let there = joined(&mut late, hub.peer_id()).await;
    registry.say(2, Admitted::No("the operator has left".to_owned()));
    hub.readmit();
    left(&mut hub, source).await;
    left(&mut late, there).await;
    assert_eq!(hub.counts().banned, 0, "to leave is not a fault");

    // The credential of another peer, and an aggregator that is not admitted.
    let stolen = terms(3, &registry);
    let stolen = Terms { credential: credential(3, NETWORK, &Identity::random().peer_id()), ..stolen };
    let stolen = member(stolen, &hub);
    until("it is refused", || hub.counts().strangers >= 2).await;
    let elsewhere = Arc::new(Registry::default());
    elsewhere.say(1, Admitted::No("no such operator".to_owned()));
    let mut wary = member(terms(4, &elsewhere), &hub);
    let joined = tokio::time::timeout(Duration::from_millis(500), wary.next()).await;
    assert!(joined.is_err() && stolen.peers().is_empty(), "{joined:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_aggregator_that_takes_nothing_holds_a_bounded_queue() {
    let registry = Arc::new(Registry::default());
    let small = terms(1, &registry);
    let small = Terms { limits: Limits { arrivals: 50, ..small.limits }, ..small };
    let mut hub = aggregator(small).await;
    let node = member(terms(2, &registry), &hub);
    joined(&mut hub, node.peer_id()).await;
    (0..200).for_each(|number| node.publish(message(2, number), Audience::Everybody));
    until("one is refused", || hub.counts().arrivals_dropped >= 1).await;
    // Since the node keeps what was not taken, everything comes in the end.
    let (hub, _) = accept_all(hub, 200).await;
    assert_eq!((hub.counts().banned, node.counts().unsent), (0, 0));
}

/// A client that does what the test says.
struct Hostile {
    http: Client,
    url: String,
    terms: Terms,
    challenge: Challenge,
    nonce: [u8; 32],
}

impl Hostile {
    async fn new(terms: Terms, hub: &Transport) -> Self {
        static TLS: std::sync::Once = std::sync::Once::new();
        TLS.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
        let http = Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        let url = hub.addresses()[0].clone();
        let challenge = http.post(format!("{url}/v1/challenge")).send().await.unwrap();
        assert_eq!(challenge.status(), StatusCode::OK);
        let challenge = decode(&challenge.bytes().await.unwrap()).unwrap();
        Self { http, url, terms, challenge, nonce: [5; 32] }
    }

    fn opening(&self) -> Opening {
        let own = self.terms.identity.peer_id();
        let server = PeerId::try_from(self.challenge.server.as_slice()).unwrap();
        let said = statement(Side::Node, NETWORK, &own, &server, &self.challenge.bytes, &self.nonce);
        Opening {
            challenge: self.challenge.bytes,
            nonce: self.nonce,
            peer: own.to_bytes(),
            signature: self.terms.identity.sign(&said),
            hello: Hello::new(&self.terms.credential, Vec::new()).encode(),
        }
    }

    async fn open(&self, body: Vec<u8>) -> (StatusCode, Option<Opened>) {
        let answer = self.http.post(format!("{}/v1/session", self.url)).body(body).send().await.unwrap();
        (answer.status(), decode(&answer.bytes().await.unwrap()))
    }

    async fn token(&self) -> String {
        match self.open(encode(&self.opening())).await {
            (StatusCode::OK, Some(Opened::Session { token, .. })) => const_hex::encode(token),
            other => panic!("{other:?}"),
        }
    }

    async fn post(&self, path: &str, token: &str, body: Vec<u8>) -> StatusCode {
        let request = self.http.post(format!("{}{path}", self.url)).bearer_auth(token).body(body);
        request.send().await.map_or(StatusCode::PAYLOAD_TOO_LARGE, |answer| answer.status())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_misbehaves_loses_its_own_session_alone() {
    let registry = Arc::new(Registry::default());
    let small = terms(1, &registry);
    let limits = Limits {
        messages: Rate { per_second: 10, at_once: 100 },
        bytes: Rate { per_second: 100_000, at_once: 2_000_000 },
        requests: Rate { per_second: 1, at_once: 5 },
        ..small.limits
    };
    let hub = aggregator(Terms { limits, ..small }).await;
    let mut honest = member(terms(2, &registry), &hub);
    joined(&mut honest, hub.peer_id()).await;
    let other = quorate_evm::digest::Contract { chain_id: 1, ..NETWORK };
    let one = |node, network| wire::encode(&Message::Signed(message(node, 0)), network);
    let question = wire::encode(&Message::Request(PeerRequest::default()), NETWORK);
    let many: Vec<_> = (0..150).map(|number| wire::encode(&Message::Signed(message(9, number)), NETWORK)).collect();
    let deeds: [(&str, &str, Vec<u8>, usize); 8] = [
        ("bytes that are no list", "/v1/messages", vec![0xff; 50], 1),
        ("bytes that are no message", "/v1/messages", encode(&vec![vec![0xffu8; 50]]), 1),
        ("a message of another network", "/v1/messages", encode(&vec![one(3, other)]), 1),
        ("a question among messages", "/v1/messages", encode(&vec![question.clone()]), 1),
        ("messages without end", "/v1/messages", encode(&many), 1),
        ("a question that does not decode", "/v1/question", vec![7; 50], 1),
        ("an answer that does not decode", "/v1/answers/9", vec![7; 50], 1),
        ("bytes without end", "/v1/answers/9", vec![7; MAX_MESSAGE - 1], 100),
    ];
    for (number, (what, path, body, times)) in (3..).zip(deeds) {
        let hostile = Hostile::new(terms(number, &registry), &hub).await;
        let token = hostile.token().await;
        let mut status = StatusCode::OK;
        for _ in 0..times {
            status = hostile.post(path, &token, body.clone()).await;
            if status == StatusCode::FORBIDDEN {
                break;
            }
        }
        assert_eq!(status, StatusCode::FORBIDDEN, "{what}");
        assert_eq!(hub.counts().banned, u64::from(number) - 2, "{what}");
        let own = hostile.terms.identity.peer_id();
        assert!(hub.bans().iter().any(|ban| ban.peer == Some(own) && ban.operator == Some(address(number))), "{what}");
        assert_eq!(
            hostile.post("/v1/messages", &token, encode(&Vec::<Vec<u8>>::new())).await,
            StatusCode::UNAUTHORIZED
        );
        until("the honest one alone is left", || hub.peers().len() == 1).await;
        hub.publish(message(1, number.into()), Audience::Everybody);
        assert_eq!(signed(&mut honest).await.1, message(1, number.into()));
    }
    let asks = Hostile::new(terms(20, &registry), &hub).await;
    let token = asks.token().await;
    let end = Instant::now() + PATIENCE;
    // Nobody answers, so they are sent at once.
    let questions = (0..30).map(|_| asks.post("/v1/question", &token, question.clone()));
    let statuses = futures::future::join_all(questions).await;
    assert!(statuses.contains(&StatusCode::FORBIDDEN) && Instant::now() < end, "{statuses:?}");
    // What is too long is refused before it is read.
    let long = Hostile::new(terms(21, &registry), &hub).await;
    let token = long.token().await;
    assert_eq!(long.post("/v1/question", &token, vec![0; MAX_MESSAGE + 1]).await, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(hub.peers().iter().any(|report| report.peer == honest.peer_id()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_opens_once_for_who_signed_for_it() {
    let registry = Arc::new(Registry::default());
    let own = terms(1, &registry);
    // The address of a stranger is not banned here, because all come from one.
    let own = Terms { limits: Limits { stranger_ban: Duration::ZERO, ..own.limits }, ..own };
    let hub = aggregator(own).await;
    let hostile = Hostile::new(terms(2, &registry), &hub).await;
    let right = hostile.opening();
    let other = Identity::random();
    let changed: [(&str, Opening); 4] = [
        ("another's name", Opening { peer: other.peer_id().to_bytes(), ..right.clone() }),
        ("no name", Opening { peer: vec![1; 38], ..right.clone() }),
        ("another nonce", Opening { nonce: [1; 32], ..right.clone() }),
        ("no credential", Opening { hello: Vec::new(), ..right.clone() }),
    ];
    for (what, opening) in changed {
        let (status, opened) = hostile.open(encode(&opening)).await;
        assert_eq!((status, opened), (StatusCode::FORBIDDEN, None), "{what}");
    }
    // A challenge of its own making, signed.
    let own = Hostile {
        challenge: Challenge { bytes: [1; 32], ..hostile.challenge.clone() },
        http: hostile.http.clone(),
        url: hostile.url.clone(),
        terms: hostile.terms.clone(),
        nonce: hostile.nonce,
    };
    assert_eq!(own.open(encode(&own.opening())).await.0, StatusCode::CONFLICT);
    assert!(matches!(hostile.open(encode(&right)).await, (StatusCode::OK, Some(Opened::Session { .. }))));
    assert_eq!(hostile.open(encode(&right)).await.0, StatusCode::CONFLICT, "a second time");
    // Nobody without a token is heard.
    for token in ["", "00", &"00".repeat(32)] {
        let body = encode(&vec![wire::encode(&Message::Signed(message(2, 0)), NETWORK)]);
        assert_eq!(hostile.post("/v1/messages", token, body).await, StatusCode::UNAUTHORIZED);
    }
    let bare = hostile.http.get(format!("{}/v1/news?since=0", hostile.url)).header(header::AUTHORIZATION, "Bearer x");
    assert_eq!(bare.send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
}

/// Strangers cannot make the aggregator hold what only nodes may send.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_session_no_body_is_read() {
    let registry = Arc::new(Registry::default());
    let hub = aggregator(terms(1, &registry)).await;
    let at = hub.addresses()[0].strip_prefix("http://").unwrap().to_owned();
    for path in ["messages", "question", "answers/9"] {
        for token in [String::new(), format!("Authorization: Bearer {}\r\n", "00".repeat(32))] {
            let mut stream = tokio::net::TcpStream::connect(&at).await.unwrap();
            // A body that does not come.
            let head = format!("POST /v1/{path} HTTP/1.1\r\nHost: x\r\n{token}Content-Length: 400000\r\n\r\n");
            tokio::io::AsyncWriteExt::write_all(&mut stream, head.as_bytes()).await.unwrap();
            let mut answer = [0; 12];
            tokio::io::AsyncReadExt::read_exact(&mut stream, &mut answer).await.unwrap();
            assert_eq!(String::from_utf8_lossy(&answer), "HTTP/1.1 401", "{path}");
        }
    }
}

/// Whoever is refused anyway costs no arithmetic of Ed25519. A false signature that was verified would count as a stranger's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_signature_is_looked_at_last() {
    let registry = Arc::new(Registry::default());
    let mut hub = aggregator(terms(1, &registry)).await;
    let hostile = Hostile::new(terms(2, &registry), &hub).await;
    let unsigned = |hostile: &Hostile| Opening { nonce: [1; 32], ..hostile.opening() };
    let stale = Opening { challenge: [1; 32], ..unsigned(&hostile) };
    assert_eq!(hostile.open(encode(&stale)).await.0, StatusCode::CONFLICT);
    hostile.token().await;
    let source = joined(&mut hub, hostile.terms.identity.peer_id()).await;
    hub.ban(source, Duration::from_secs(60));
    until("the node is banned", || !hub.bans().is_empty()).await;
    let banned = Hostile::new(hostile.terms.clone(), &hub).await;
    assert_eq!(banned.open(encode(&unsigned(&banned))).await.0, StatusCode::FORBIDDEN);
    assert_eq!(hub.counts().strangers, 0);
}

/// A false message in an answer has no ticket, so that the node bans whoever sent it by itself.
#[tokio::test]
async fn a_ban_is_not_dropped_with_calls_that_are_too_many() {
    let registry = Arc::new(Registry::default());
    let mut hub = aggregator(terms(1, &registry)).await;
    let mut node = member(terms(2, &registry), &hub);
    let source = joined(&mut hub, node.peer_id()).await;
    let there = joined(&mut node, hub.peer_id()).await;
    // The aggregator's task takes none meanwhile: this thread is the only one.
    (0..2 * CALLS).for_each(|_| hub.ask(PeerRequest::default(), Audience::Everybody));
    assert!(hub.counts().calls_dropped > 0);
    registry.say(2, Admitted::No("the operator has left".to_owned()));
    hub.readmit();
    left(&mut hub, source).await;
    left(&mut node, there).await;
    registry.forget(2);

    let source = joined(&mut hub, node.peer_id()).await;
    (0..2 * CALLS).for_each(|_| hub.ask(PeerRequest::default(), Audience::Everybody));
    hub.ban(source, Duration::from_secs(60));
    until("the node is banned", || !hub.bans().is_empty()).await;
}

/// A client behind a proxy at 127.0.0.1.
struct Behind {
    http: Client,
    url: String,
}

impl Behind {
    fn new(hub: &Transport) -> Self {
        static TLS: std::sync::Once = std::sync::Once::new();
        TLS.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
        let http = Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
        Self { http, url: hub.addresses()[0].clone() }
    }

    async fn post(&self, path: &str, forwarded: Option<&str>, body: Vec<u8>) -> StatusCode {
        let mut request = self.http.post(format!("{}{path}", self.url)).body(body);
        if let Some(forwarded) = forwarded {
            request = request.header("X-Forwarded-For", forwarded);
        }
        request.send().await.unwrap().status()
    }
}

async fn behind_proxy(terms: Terms) -> Transport {
    let settings = ServeSettings::new("127.0.0.1:0".parse().unwrap());
    serve(terms, &ServeSettings { proxies: "127.0.0.1".parse().unwrap(), ..settings }).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_strangers_address_is_banned_for_a_moment() {
    let registry = Arc::new(Registry::default());
    let own = terms(1, &registry);
    // Long enough for what is asked meanwhile.
    let banned_for = Duration::from_secs(10);
    let own = Terms { limits: Limits { stranger_ban: banned_for, ..own.limits }, ..own };
    let hub = behind_proxy(own).await;
    let clients = Behind::new(&hub);
    // What the client wrote stands to the left of what the proxy wrote.
    let (stranger, honest) = (Some("1.1.1.1, 9.9.9.9"), Some("1.1.1.1"));
    assert_eq!(clients.post("/v1/session", stranger, vec![0xff; 50]).await, StatusCode::FORBIDDEN);
    let bans = hub.bans();
    let [ban] = &bans[..] else { panic!("{bans:?}") };
    assert_eq!((ban.peer, ban.operator, ban.address), (None, None, Some([9, 9, 9, 9].into())));
    assert_eq!(ban.reason, "an opening that does not decode");
    let again = |who| clients.post("/v1/challenge", who, Vec::new());
    assert_eq!((again(stranger).await, again(honest).await), (StatusCode::FORBIDDEN, StatusCode::OK));
    let end = Instant::now() + PATIENCE;
    tokio::time::sleep(banned_for).await;
    while again(stranger).await != StatusCode::OK {
        assert!(Instant::now() < end, "the ban does not end");
        tokio::time::sleep(banned_for).await;
    }
    assert_eq!(hub.bans(), [], "it is over");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_byte_through_a_proxy_keeps_nobody_out() {
    let registry = Arc::new(Registry::default());
    // As it is set up when nobody read of --trusted-proxy: all have the proxy's address.
    let mut hub = aggregator(terms(1, &registry)).await;
    let clients = Behind::new(&hub);
    for forwarded in [None, Some("9.9.9.9")] {
        assert_eq!(clients.post("/v1/session", forwarded, vec![0]).await, StatusCode::FORBIDDEN);
        assert_eq!(clients.post("/v1/challenge", forwarded, Vec::new()).await, StatusCode::OK);
    }
    assert_eq!((hub.bans(), hub.counts().strangers), (Vec::new(), 2));
    let node = member(terms(2, &registry), &hub);
    joined(&mut hub, node.peer_id()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxy_has_as_many_connections_as_there_are_nodes() {
    let registry = Arc::new(Registry::default());
    for trusted in [false, true] {
        let mut hub =
            if trusted { behind_proxy(terms(1, &registry)).await } else { aggregator(terms(1, &registry)).await };
        let at = hub.addresses()[0].strip_prefix("http://").unwrap().to_owned();
        let mut open = Vec::new();
        for _ in 0..100 {
            open.push(tokio::net::TcpStream::connect(&at).await.unwrap());
        }
        let node = member(terms(2, &registry), &hub);
        joined(&mut hub, node.peer_id()).await;
    }
}

/// What the proxy of one client holds open is no more than a client without a proxy may.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_through_a_proxy_are_counted_by_who_sends_them() {
    let registry = Arc::new(Registry::default());
    let hub = behind_proxy(terms(1, &registry)).await;
    let at = hub.addresses()[0].strip_prefix("http://").unwrap().to_owned();
    let most = 4 * limits().peers_per_operator + limits().strangers_per_address;
    let mut open = Vec::new();
    for _ in 0..most {
        let mut stream = tokio::net::TcpStream::connect(&at).await.unwrap();
        // A body that does not come.
        let head = "POST /v1/session HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 9.9.9.9\r\nContent-Length: 9\r\n\r\n";
        tokio::io::AsyncWriteExt::write_all(&mut stream, head.as_bytes()).await.unwrap();
        open.push(stream);
    }
    let clients = Behind::new(&hub);
    let end = Instant::now() + PATIENCE;
    while clients.post("/v1/challenge", Some("9.9.9.9"), Vec::new()).await != StatusCode::TOO_MANY_REQUESTS {
        assert!(Instant::now() < end, "it may open as many as it likes");
    }
    assert_eq!(clients.post("/v1/challenge", Some("1.1.1.1"), Vec::new()).await, StatusCode::OK);
    drop(open);
    while clients.post("/v1/challenge", Some("9.9.9.9"), Vec::new()).await != StatusCode::OK {
        assert!(Instant::now() < end, "what has ended is still counted");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_few_operators_do_not_fill_an_aggregator() {
    let registry = Arc::new(Registry::default());
    let own = terms(1, &registry);
    let hub = aggregator(Terms { limits: Limits { peers: 2, ..own.limits }, ..own }).await;
    let mut nodes = vec![member(terms(2, &registry), &hub), member(terms(2, &registry), &hub)];
    until("one operator has both places", || hub.peers().len() == 2).await;
    nodes.push(member(terms(3, &registry), &hub));
    until("another has one", || hub.peers().iter().any(|report| report.operator == address(3))).await;
    assert_eq!(hub.counts().banned, 0);
}

#[tokio::test]
async fn an_address_is_checked_before_anything_is_sent() {
    let registry = Arc::new(Registry::default());
    for wrong in ["", "aggregator", "ftp://a.example", "http://user@a.example", "http://a.example/?x=1"] {
        let error = join(terms(1, &registry), &JoinSettings { aggregator: wrong.to_owned() }).unwrap_err();
        assert!(error.to_string().contains("https://aggregator.example"), "{error}");
    }
}

#[tokio::test]
async fn an_address_with_a_password_is_not_shown() {
    for wrong in ["http://me:SECRET@a.example", "me:SECRET@a.example", "ftp://me:SECRET@h", "http://a/?token=SECRET"] {
        let joined = join(terms(1, &Arc::default()), &JoinSettings { aggregator: wrong.to_owned() });
        let error = joined.unwrap_err().to_string();
        assert!(error.starts_with("aggregator: \"…\" is not an address") && !error.contains("SECRET"), "{error}");
    }
}
