//! Nodes that behave.

use std::{
    net::TcpListener,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    super::{Admitted, Arrival, Judgement, Limits, Terms, Transport, handle::CALLS, libp2p},
    rig::{
        ENDLESS, PATIENCE, Registry, accept_all, address, joined, left, limits, message, node, node_at, pair, terms,
        until, wait_for,
    },
};
use quorate_network::{
    groups::Audience,
    message::{PeerAnswer, PeerRequest, Signed},
};

/// A false message in an answer has no ticket, so that the node bans whoever sent it by itself.
#[tokio::test]
async fn a_ban_is_not_dropped_with_calls_that_are_too_many() {
    let registry = Arc::new(Registry::default());
    let (first, _second, source) = pair(terms(1, &registry), terms(2, &registry)).await;
    // The task behind the handle takes none meanwhile: this thread is the only one.
    (0..2 * CALLS).for_each(|_| first.ask(PeerRequest::default(), Audience::Everybody));
    assert!(first.counts().calls_dropped > 0);
    first.ban(source, Duration::from_secs(60));
    until("the peer is banned", || !first.bans().is_empty()).await;
}

/// Nodes with three bootstrap peers, each of which publishes. Every message comes to every other node once.
async fn converge(count: u8, each: u32) -> Duration {
    let registry = Arc::new(Registry::default());
    let mut nodes: Vec<Transport> = Vec::new();
    let mut bootstrap = Vec::new();
    for number in 1..=count {
        let node = node(terms(number, &registry), &bootstrap).await;
        if nodes.len() < 3 {
            bootstrap.extend(node.addresses());
        }
        nodes.push(node);
    }
    let wanted = usize::from(count - 1).min(4);
    for node in &nodes {
        until("enough peers", || node.peers().len() >= wanted).await;
    }
    let start = Instant::now();
    for (number, node) in (1..).zip(&nodes) {
        (0..each).for_each(|message_number| node.publish(message(number, message_number), Audience::Everybody));
    }
    let expected = usize::from(count - 1) * each as usize;
    let tasks: Vec<_> = nodes.into_iter().map(|node| tokio::spawn(accept_all(node, expected))).collect();
    for task in tasks {
        let (node, seen) = task.await.unwrap();
        assert_eq!(seen.len(), expected);
        assert_eq!((node.counts().arrivals_dropped, node.counts().banned), (0, 0));
        node.stop().await;
    }
    start.elapsed().saturating_sub(Duration::from_millis(1500))
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

/// Says how long 50 nodes in one process take: `cargo test -p quorate-node fifty -- --ignored --nocapture`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a minute of two cores"]
async fn fifty_nodes_converge() {
    let time = converge(50, 2).await;
    println!("50 nodes, 100 messages: the last one was everywhere after {} ms", time.as_millis());
}

/// A line of three nodes, whose middle says what passes.
async fn line() -> (Transport, Transport, Transport) {
    let registry = Arc::new(Registry::default());
    // The ends may not know each other.
    let alone = |number| {
        let terms = terms(number, &registry);
        Terms { limits: Limits { wanted_peers: 0, ..terms.limits }, ..terms }
    };
    let mut middle = node(alone(2), &[]).await;
    let mut first = node(alone(1), &middle.addresses()).await;
    let mut last = node(alone(3), &middle.addresses()).await;
    for peer in [first.peer_id(), last.peer_id()] {
        until("both ends are there", || middle.peers().iter().any(|report| report.peer == peer)).await;
    }
    joined(&mut first, middle.peer_id()).await;
    joined(&mut last, middle.peer_id()).await;
    let mut ends = 0;
    wait_for(&mut middle, "both ends", |arrival| {
        ends += usize::from(matches!(arrival, Arrival::Joined { .. }));
        (ends == 2).then_some(())
    })
    .await;
    (first, middle, last)
}

async fn signed(transport: &mut Transport) -> (super::super::Ticket, Signed, quorate_network::roles::PeerSource) {
    wait_for(transport, "a message", |arrival| match arrival {
        Arrival::Signed { source, ticket, message } => Some((ticket, message, source)),
        _ => None,
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_waits_for_its_judgement() {
    let (first, mut middle, mut last) = line().await;
    let held = message(1, 0);
    first.publish(held.clone(), Audience::Everybody);
    let (ticket, there, _) = signed(&mut middle).await;
    assert_eq!(there, held);
    // Whatever reaches the end before the judgement has gone round it.
    let early = tokio::time::timeout(Duration::from_millis(1500), signed(&mut last)).await;
    assert!(early.is_err(), "forwarded without a judgement");
    middle.judge(ticket, Judgement::Accept);
    assert_eq!(signed(&mut last).await.1, held);

    // What is ignored goes no further, and nobody is blamed.
    first.publish(message(1, 1), Audience::Everybody);
    let (ticket, _, _) = signed(&mut middle).await;
    middle.judge(ticket, Judgement::Ignore);
    first.publish(message(1, 2), Audience::Everybody);
    let (ticket, _, _) = signed(&mut middle).await;
    middle.judge(ticket, Judgement::Accept);
    assert_eq!(signed(&mut last).await.1, message(1, 2));
    assert_eq!((middle.counts().banned, middle.peers().len()), (0, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_false_message_costs_its_source_the_connection() {
    let (first, mut middle, mut last) = line().await;
    first.publish(message(1, 0), Audience::Everybody);
    let (ticket, _, source) = signed(&mut middle).await;
    middle.judge(ticket, Judgement::Reject);
    left(&mut middle, source).await;
    assert_eq!(middle.counts().banned, 1);
    // It dials again, and is refused.
    tokio::time::sleep(Duration::from_millis(1500)).await;
    until("one peer is left", || middle.peers().len() == 1).await;
    assert_eq!(middle.peers()[0].peer, last.peer_id());
    middle.publish(message(2, 0), Audience::Everybody);
    assert_eq!(signed(&mut last).await.1, message(2, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_ban_includes_the_operators_other_nodes_and_ends() {
    let registry = Arc::new(Registry::default());
    let mut hub = node(terms(1, &registry), &[]).await;
    let _one = node(terms(2, &registry), &hub.addresses()).await;
    let _twin = node(terms(2, &registry), &hub.addresses()).await;
    let mut sources = Vec::new();
    wait_for(&mut hub, "both join", |arrival| {
        sources.extend(match arrival {
            Arrival::Joined { source, .. } => Some(source),
            _ => None,
        });
        (sources.len() == 2).then_some(())
    })
    .await;
    // Both leave, and come back: each is told, however soon the ban ends.
    hub.ban(sources[0], Duration::from_secs(2));
    let (mut gone, mut back) = (Vec::new(), Vec::new());
    wait_for(&mut hub, "both leave and are back", |arrival| {
        match arrival {
            Arrival::Left { source } => gone.push(source),
            Arrival::Joined { source, .. } => back.push(source),
            _ => {}
        }
        (back.len() == 2).then_some(())
    })
    .await;
    gone.sort_unstable();
    sources.sort_unstable();
    assert_eq!(gone, sources);
    until("both are there", || hub.peers().len() == 2).await;
}

/// Where a node listens that restarts at its port. Connections to another address of the loopback than the first begin at the first one,
/// so while nobody listens, none of them takes the port. Other systems than Linux have the first address alone.
const ELSEWHERE: &str = if cfg!(target_os = "linux") { "/ip4/127.0.0.2/tcp/0" } else { "/ip4/127.0.0.1/tcp/0" };

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_come_back_after_a_restart() {
    let registry = Arc::new(Registry::default());
    let (boot_terms, other_terms) = (terms(1, &registry), terms(2, &registry));
    let boot = node_at(boot_terms.clone(), ELSEWHERE, &[]).await;
    let at = boot.addresses()[0].split("/p2p/").next().unwrap().to_owned();
    let addresses = boot.addresses();
    let mut other = node(other_terms.clone(), &addresses).await;
    let source = joined(&mut other, boot.peer_id()).await;

    // The bootstrap peer restarts at its port, with its key.
    boot.stop().await;
    left(&mut other, source).await;
    let mut boot = node_at(boot_terms, &at, &[]).await;
    let back = joined(&mut other, boot.peer_id()).await;
    assert_ne!(source, back);
    let source = joined(&mut boot, other.peer_id()).await;

    // The other one restarts, with its key.
    other.stop().await;
    left(&mut boot, source).await;
    let mut other = node(other_terms, &addresses).await;
    joined(&mut boot, other.peer_id()).await;
    boot.publish(message(1, 0), Audience::Everybody);
    assert_eq!(signed(&mut other).await.1, message(1, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_published_before_there_is_a_peer_is_sent_to_the_first() {
    let registry = Arc::new(Registry::default());
    let first = node(terms(1, &registry), &[]).await;
    first.publish(message(1, 0), Audience::Everybody);
    let mut second = node(terms(2, &registry), &first.addresses()).await;
    assert_eq!(signed(&mut second).await.1, message(1, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_node_asks_for_the_past() {
    let registry = Arc::new(Registry::default());
    let (mut first, mut late, _) = pair(terms(1, &registry), terms(2, &registry)).await;
    let Signed::Attestation(attestation) = message(1, 0) else { panic!("an attestation") };
    let answer = PeerAnswer { attestations: vec![attestation], ..PeerAnswer::default() };
    until("it is welcome", || !late.peers().is_empty()).await;
    let (sent, asker) = (answer.clone(), late.peer_id());
    let answering = tokio::spawn(async move {
        let source = wait_for(&mut first, "a question", |arrival| match arrival {
            Arrival::Asked { source, request } => {
                assert_eq!(request, PeerRequest::default());
                Some(source)
            }
            _ => None,
        })
        .await;
        let report = first.peers().into_iter().find(|report| report.peer == asker).unwrap();
        assert_eq!((report.source, report.operator), (source, address(2)));
        first.answer(source, sent);
        first
    });
    // A question before the other one has said welcome is dropped, so the node asks again, as nodes do.
    let asking = async {
        loop {
            late.ask(PeerRequest::default(), Audience::Everybody);
            let answered = wait_for(&mut late, "an answer", |arrival| match arrival {
                Arrival::Answered { answer, .. } => Some(answer),
                _ => None,
            });
            if let Ok(found) = tokio::time::timeout(Duration::from_secs(1), answered).await {
                break found;
            }
        }
    };
    assert_eq!(tokio::time::timeout(PATIENCE, asking).await.unwrap(), answer);
    // An answer to nobody's question goes nowhere.
    let first = answering.await.unwrap();
    first.answer(first.peers()[0].source, answer);
    assert_eq!(first.counts().banned + late.counts().banned, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_silent_peer_is_not_asked_for_ever() {
    let registry = Arc::new(Registry::default());
    let quick = |number| {
        let terms = terms(number, &registry);
        Terms { limits: Limits { answer_within: Duration::from_secs(10), ..terms.limits }, ..terms }
    };
    let mut asker = node(quick(1), &[]).await;
    let _silent = node(quick(2), &asker.addresses()).await;
    let mut helpful = node(quick(3), &asker.addresses()).await;
    until("two peers", || asker.peers().len() == 2).await;
    tokio::spawn(async move {
        while let Some(arrival) = helpful.next().await {
            if let Arrival::Asked { source, .. } = arrival {
                helpful.answer(source, PeerAnswer::default());
            }
        }
    });
    // At most one question is lost at the silent one; then the other one is asked.
    let mut answers = 0;
    for _ in 0..6 {
        asker.ask(PeerRequest::default(), Audience::Everybody);
        let answered = tokio::time::timeout(Duration::from_secs(12), async {
            wait_for(&mut asker, "an answer", |arrival| matches!(arrival, Arrival::Answered { .. }).then_some(()))
                .await;
        });
        answers += usize::from(answered.await.is_ok());
    }
    assert!(answers >= 5, "{answers} of 6");
    assert_eq!((asker.counts().banned, asker.peers().len()), (0, 2), "nobody is banned for silence");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operator_that_left_is_let_go() {
    let registry = Arc::new(Registry::default());
    let (mut first, _second, source) = pair(terms(1, &registry), terms(2, &registry)).await;
    registry.say(2, Admitted::No("the operator has left".to_owned()));
    first.readmit();
    left(&mut first, source).await;
    assert_eq!(first.counts().banned, 0, "to leave is not a fault");
    registry.forget(2);
    wait_for(&mut first, "it is back", |arrival| matches!(arrival, Arrival::Joined { .. }).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chain_that_is_behind_makes_peers_wait() {
    let registry = Arc::new(Registry::default());
    registry.say(2, Admitted::NotYet);
    let mut first = node(terms(1, &registry), &[]).await;
    let mut second = node(terms(2, &registry), &first.addresses()).await;
    // The second admits the first, and what it sends meanwhile is not lost.
    joined(&mut second, first.peer_id()).await;
    second.publish(message(2, 0), Audience::Everybody);
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert!(first.peers().is_empty());
    registry.forget(2);
    joined(&mut first, second.peer_id()).await;
    assert_eq!(signed(&mut first).await.1, message(2, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_takes_nothing_holds_a_bounded_queue() {
    let registry = Arc::new(Registry::default());
    let small = terms(1, &registry);
    let small = Terms { limits: Limits { arrivals: 50, messages: ENDLESS, ..small.limits }, ..small };
    let (mut idle, busy, _) = pair(small, terms(2, &registry)).await;
    for number in 0..200 {
        busy.publish(message(2, number), Audience::Everybody);
    }
    until("some are dropped", || idle.counts().arrivals_dropped >= 140).await;
    // What arrives while the queue is emptied would count as well.
    let mut dropped = 0;
    while dropped != idle.counts().arrivals_dropped {
        dropped = idle.counts().arrivals_dropped;
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let mut kept = 0;
    while let Ok(Some(arrival)) = tokio::time::timeout(Duration::from_millis(300), idle.next()).await {
        kept += u64::from(matches!(arrival, Arrival::Signed { .. }));
    }
    // What arrived after that found places that were free again.
    assert!((40..=200 - dropped).contains(&kept), "{kept} of 200, and {dropped} were dropped");
    // It goes on.
    busy.publish(message(2, 1000), Audience::Everybody);
    assert_eq!(signed(&mut idle).await.1, message(2, 1000));
    assert_eq!(limits().arrivals, Limits::default().arrivals);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_node_tells_of_others() {
    let registry = Arc::new(Registry::default());
    let full = terms(1, &registry);
    let full = Terms { limits: Limits { peers: 1, ..full.limits }, ..full };
    let (hub, first, _) = pair(full, terms(2, &registry)).await;
    let mut second = node(terms(3, &registry), &hub.addresses()).await;
    joined(&mut second, first.peer_id()).await;
    assert_eq!(hub.peers().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn idle_sockets_of_one_address_keep_nobody_out() {
    let registry = Arc::new(Registry::default());
    let own = terms(1, &registry);
    let own = Terms {
        limits: Limits { strangers_per_address: 16, handshake: Duration::from_secs(120), ..own.limits },
        ..own
    };
    let mut hub = node(own, &[]).await;
    let parts = hub.addresses()[0].split('/').map(str::to_owned).collect::<Vec<_>>();
    let at = format!("{}:{}", parts[2], parts[4]);
    let mut idle = Vec::new();
    for _ in 0..64 {
        // Some are refused at once, which is as well.
        idle.extend(tokio::net::TcpStream::connect(&at).await.ok());
    }
    assert!(idle.len() > 16);
    // Even from the same address; and long before the time for their handshakes is over.
    let late = node(terms(2, &registry), &hub.addresses()).await;
    let admitted = tokio::time::timeout(Duration::from_secs(60), joined(&mut hub, late.peer_id()));
    admitted.await.expect("it is kept out by sockets that say nothing");
    drop(idle);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_few_operators_do_not_fill_a_node() {
    let registry = Arc::new(Registry::default());
    let full = terms(1, &registry);
    let full = Terms { limits: Limits { peers: 3, ..full.limits }, ..full };
    let hub = node(full, &[]).await;
    let mut nodes = Vec::new();
    for _ in 0..3 {
        nodes.push(node(terms(2, &registry), &hub.addresses()).await);
    }
    until("one operator has all places", || hub.peers().len() == 3).await;
    let operators = || {
        let mut operators: Vec<_> = hub.peers().iter().map(|report| report.operator).collect();
        operators.sort_unstable();
        operators
    };
    for newcomer in [3, 4] {
        nodes.push(node(terms(newcomer, &registry), &hub.addresses()).await);
        until("another one has a place", || operators().contains(&address(newcomer))).await;
    }
    until("one each", || operators() == [2, 3, 4].map(address)).await;
    // A heavier one takes the place of a lighter one.
    registry.weigh(3, 5);
    registry.weigh(4, 5);
    registry.weigh(5, 9);
    nodes.push(node(terms(5, &registry), &hub.addresses()).await);
    until("the heaviest have theirs", || operators() == [3, 4, 5].map(address)).await;
    assert_eq!(hub.counts().banned, 0);
}

/// Whoever reads it knows the options of the program.
#[tokio::test]
async fn an_address_that_is_none_is_named_as_its_option() {
    let none = || vec!["foo".to_owned()];
    let settings = libp2p::MeshSettings::default;
    for (settings, option) in [
        (libp2p::MeshSettings { listen: none(), ..settings() }, "listen"),
        (libp2p::MeshSettings { announce: none(), ..settings() }, "external"),
        (libp2p::MeshSettings { bootstrap: none(), ..settings() }, "bootstrap"),
    ] {
        let error = libp2p::start(terms(1, &Arc::default()), &settings).err().unwrap().to_string();
        assert!(error.starts_with(&format!("{option}: \"foo\" is not an address")), "{error}");
    }
}

/// Another program listens there already.
#[tokio::test]
async fn a_port_that_is_taken_is_told() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = vec![format!("/ip4/127.0.0.1/tcp/{}", taken.local_addr().unwrap().port())];
    let settings = libp2p::MeshSettings { listen: listen.clone(), ..libp2p::MeshSettings::default() };
    let error = libp2p::start(terms(1, &Arc::default()), &settings).err().unwrap().to_string();
    assert!(error.starts_with(&format!("cannot listen at {}: Address already in use", listen[0])), "{error}");
}
