//! Groups on the mesh: who hears what, and state machines that settle a task by the sums of their groups.

use std::{
    ops::RangeFrom,
    sync::Arc,
    time::{Duration, Instant},
};

use quorate_evm::{
    MemberSet, SnapshotId,
    alloy_primitives::{B256, Bytes},
};
use quorate_lab::run::LIMIT;
use tokio::{sync::mpsc, time::timeout};

use super::{
    super::{Arrival, Judgement, Transport, handle::CALLS},
    rig::{PATIENCE, PROBES, Registry, accept_all, address, message, node, terms, until, wait_for},
};
use quorate_network::{
    election::Snapshot,
    groups::Audience,
    message::{Branch, PeerRequest, Signed, Verified},
    roles::{Node, NodeEvent, NodeOutput, NodeSettings, Roles, Saved, Settlement},
};

const GROUP: Audience = Audience::Branch(3, Branch { level: 0, number: 5 });

/// Publishes probes to the group until a node hears one: subscriptions travel with gossip's heartbeat.
async fn until_heard(from: &Transport, probes: RangeFrom<u32>, by: &mut Transport) {
    let probing = async {
        for probe in probes {
            from.publish(message(1, probe), GROUP);
            let hears = wait_for(by, "a probe", |arrival| matches!(arrival, Arrival::Signed { .. }).then_some(()));
            if timeout(Duration::from_millis(500), hears).await.is_ok() {
                return;
            }
        }
    };
    timeout(PATIENCE, probing).await.expect("the group is heard");
}

/// Nodes of a group hear what is published to it, and others do not. What went to a group can go to everybody later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_hears_what_others_do_not() {
    let registry = Arc::new(Registry::default());
    let first = node(terms(1, &registry), &[]).await;
    let mut nodes = vec![first];
    for number in 2..=5 {
        let bootstrap = nodes[0].addresses();
        nodes.push(node(terms(number, &registry), &bootstrap).await);
    }
    // The first, the second and the third are the group.
    nodes[..3].iter().for_each(|node| node.listen([GROUP, Audience::Everybody].into()));
    for node in &nodes {
        until("all are connected", || node.peers().len() == 4).await;
    }
    let mut others: Vec<_> = nodes.drain(1..).collect();
    for (node, first) in others[..2].iter_mut().zip([PROBES, 2 * PROBES]) {
        until_heard(&nodes[0], first.., node).await;
    }
    nodes[0].publish(message(1, 1), GROUP);
    nodes[0].publish(message(1, 2), Audience::Everybody);
    let expected = [2, 2, 1, 1];
    let mut after = Vec::new();
    for (node, expected) in others.into_iter().zip(expected) {
        let (node, seen) = accept_all(node, expected).await;
        assert!(seen.contains(&message(1, 2)));
        assert_eq!(seen.contains(&message(1, 1)), expected == 2);
        after.push(node);
    }
    nodes[0].publish(message(1, 1), Audience::Everybody);
    // The second leaves the group, and hears no more of it.
    after[0].listen([Audience::Everybody].into());
    tokio::time::sleep(Duration::from_secs(3)).await;
    nodes[0].publish(message(1, 3), GROUP);
    for (node, expected) in after.into_iter().zip([1, 2, 1, 1]) {
        let (node, seen) = accept_all(node, expected).await;
        assert!(seen.contains(&message(1, 1)));
        assert_eq!(seen.contains(&message(1, 3)), expected == 2);
        assert_eq!(node.counts().banned, 0);
        node.stop().await;
    }
}

/// A node with more calls than its transport takes hears its group all the same.
#[tokio::test]
async fn dropped_calls_keep_nobody_from_its_group() {
    let registry = Arc::new(Registry::default());
    let first = node(terms(1, &registry), &[]).await;
    let mut second = node(terms(2, &registry), &first.addresses()).await;
    for node in [&first, &second] {
        // The transport runs on the same thread and takes none of them meanwhile.
        (0..=CALLS).for_each(|_| node.ask(PeerRequest::default(), Audience::Everybody));
        node.listen([GROUP, Audience::Everybody].into());
        assert_eq!(node.counts().calls_dropped, 1);
    }
    until("they are connected", || first.peers().len() + second.peers().len() == 2).await;
    until_heard(&first, PROBES.., &mut second).await;
    first.publish(message(1, 1), GROUP);
    let (second, seen) = accept_all(second, 1).await;
    assert_eq!(seen, [message(1, 1)]);
    first.stop().await;
    second.stop().await;
}

/// A signature is a byte, the signer's index and one; a sum of signatures is the sum of the bytes.
fn add_up(signatures: &[&Bytes]) -> Option<Bytes> {
    Some(vec![signatures.iter().map(|bytes| bytes[0]).fold(0, u8::wrapping_add)].into())
}

fn signature(signers: &MemberSet) -> Bytes {
    vec![signers.iter().map(|index| index as u8 + 1).fold(0, u8::wrapping_add)].into()
}

const ID: B256 = B256::repeat_byte(9);
const OPERATORS: u8 = 18;

fn snapshot() -> Arc<Snapshot> {
    let members = (1..=OPERATORS).map(|number| (1, address(number))).collect();
    Arc::new(Snapshot::new(0, SnapshotId::ZERO, B256::repeat_byte(1), members, 12).unwrap())
}

/// Runs the state machine of one operator on its transport until a settlement was seen by all.
async fn run(mut transport: Transport, operator: u8, settled: mpsc::Sender<Settlement>) {
    let settings = NodeSettings {
        operator: Some(address(operator)),
        roles: Roles { perform: true, attest: true, aggregate: true },
        stragglers: 0,
        turn: 0,
        retry: 500,
        ask_first: 1_000,
        group: 3,
        gather: 300,
        relief: 500,
        // Longer than a slow machine takes: an attestation is for its group alone.
        appeal: 3_600_000,
        add_up,
        ..NodeSettings::default()
    };
    let mut node = Node::new(settings, 0, Saved::default());
    let start = Instant::now();
    let now = || start.elapsed().as_millis() as u64;
    let mut events = vec![
        (NodeEvent::Task { id: ID, epoch: 0, payload: Bytes::new() }, None),
        (NodeEvent::Snapshot(snapshot()), None),
    ];
    let mut wake = u64::MAX;
    loop {
        while let Some((event, mut ticket)) = events.pop() {
            let outputs = node.step(event, now());
            transport.listen(node.audiences());
            for output in outputs {
                match output {
                    NodeOutput::Execute { id, .. } => {
                        events.push((NodeEvent::Executed { id, bytes: vec![7].into() }, None))
                    }
                    NodeOutput::Validate { candidate, .. } => {
                        events.push((NodeEvent::Validated { candidate, approved: true }, None));
                    }
                    NodeOutput::Sign { candidate } => {
                        let own = snapshot().index_of(address(operator)).unwrap();
                        let signature = signature(&[own as usize].into_iter().collect());
                        events.push((NodeEvent::Signed { candidate, signature }, None));
                    }
                    NodeOutput::Publish(message, audience) => {
                        let single = matches!(message, Signed::Attestation(_));
                        assert!(!single || audience != Audience::Everybody, "an attestation is for its group");
                        transport.publish(message, audience);
                    }
                    NodeOutput::Ask(request, audience) => transport.ask(request, audience),
                    NodeOutput::AskPeer { peer, request } => transport.ask_peer(peer, request),
                    NodeOutput::Answer { to, answer } => transport.answer(to, answer),
                    NodeOutput::Settle(settlement) => {
                        // The test has enough, if nobody receives it.
                        let _ = settled.send(settlement).await;
                    }
                    NodeOutput::WakeAt(at) => wake = at,
                    NodeOutput::Accepted { .. } => {
                        if let Some(ticket) = ticket.take() {
                            transport.judge(ticket, Judgement::Accept);
                        }
                    }
                    _ => {}
                }
            }
        }
        let rest = Duration::from_millis(wake.saturating_sub(now()).min(1_000));
        match timeout(rest, transport.next()).await {
            Err(_) if now() >= wake => {
                wake = u64::MAX;
                events.push((NodeEvent::Tick, None));
            }
            Err(_) => {}
            Ok(None) => return,
            Ok(Some(Arrival::Signed { source, ticket, message })) => {
                if let Signed::Sum(sum) = &message {
                    let signers = node.signers(sum).unwrap();
                    assert_eq!(*sum.signature(), signature(&signers), "a true sum");
                }
                events.push((NodeEvent::Received { source, message: Verified::by_the_caller(message) }, Some(ticket)));
            }
            Ok(Some(Arrival::Asked { source, request })) => events.push((NodeEvent::Asked { source, request }, None)),
            Ok(Some(Arrival::Answered { source, answer })) => {
                let parts = answer.into_signed();
                events.extend(
                    parts.map(|message| {
                        (NodeEvent::Received { source, message: Verified::by_the_caller(message) }, None)
                    }),
                );
            }
            Ok(Some(_)) => {}
        }
    }
}

/// Eighteen operators in six groups: each aggregator gets all signatures, though each attestation goes to three alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn groups_settle_over_the_mesh() {
    let registry = Arc::new(Registry::default());
    let mut transports: Vec<Transport> = Vec::new();
    let mut bootstrap = Vec::new();
    for number in 1..=OPERATORS {
        let transport = node(terms(number, &registry), &bootstrap).await;
        if transports.len() < 3 {
            bootstrap.extend(transport.addresses());
        }
        transports.push(transport);
    }
    for transport in &transports {
        until("enough peers", || transport.peers().len() >= 6).await;
    }
    let (settled, mut settlements) = mpsc::channel(usize::from(OPERATORS));
    let running: Vec<_> = (1..)
        .zip(transports)
        .map(|(operator, transport)| tokio::spawn(run(transport, operator, settled.clone())))
        .collect();
    drop(settled);
    let mut by_sums = 0;
    for _ in 0..OPERATORS {
        // A task that fails ends the test before its time.
        assert!(running.iter().all(|task| !task.is_finished()), "a node failed");
        let settlement = timeout(LIMIT, settlements.recv()).await.expect("every node has a quorum").unwrap();
        let signers = settlement.signatures.iter().flat_map(|(signers, _)| signers.iter()).collect::<Vec<_>>();
        let distinct: MemberSet = signers.iter().copied().collect();
        assert!(signers.len() > 12 && distinct.len() == signers.len() && distinct == settlement.signers);
        for (signers, held) in &settlement.signatures {
            assert_eq!(*held, signature(signers));
        }
        by_sums += usize::from(settlement.signatures.len() < signers.len());
    }
    // On a slow machine, what gossip lost comes to some of them as answers, with the attestations themselves.
    assert!(by_sums > 0, "sums, and not attestations alone");
    running.iter().for_each(|task| task.abort());
}
