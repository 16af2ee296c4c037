//! What peers and signers are asked, and what follows from their answers.

use quorate_evm::{
    Finality,
    alloy_primitives::{B256, Bytes},
};
use quorate_network::{
    groups::Audience,
    message::{PeerAnswer, PeerRequest, Signed},
    roles::{Node, NodeEvent, NodeOutput, NodeSettings, Roles, Saved, SignerRefusal},
};

use super::rig::{
    EVERYTHING, ID, PEER, attested, attester, candidate, has, performer, received, result, settings, snapshot, task,
    with_task,
};

#[test]
fn a_silent_signer_is_asked_again_and_a_refusal_is_final() {
    let mut node = with_task(attester(), EVERYTHING);
    node.step(received(Signed::Result(result(b"result"))), 0);
    node.step(NodeEvent::Validated { candidate: candidate(true), approved: true }, 0);
    let asks = |outputs: &[NodeOutput]| has(outputs, |output| matches!(output, NodeOutput::Sign { .. }));
    assert!(!asks(&node.step(NodeEvent::Tick, 999)) && asks(&node.step(NodeEvent::Tick, 1_000)));
    let refused = |refusal| NodeEvent::SignRefused { candidate: candidate(true), refusal };
    assert!(!asks(&node.step(refused(SignerRefusal::NotNow), 1_500)) && asks(&node.step(NodeEvent::Tick, 2_500)));
    let outputs = node.step(refused(SignerRefusal::Conflict), 2_600);
    assert!(
        has(&outputs, |output| matches!(output, NodeOutput::Abstained { .. }))
            && !asks(&node.step(NodeEvent::Tick, 99_999))
    );
}

/// What one node holds and another lacks comes by request, as far as it is lacking.
#[test]
fn peers_answer_with_what_is_missing() {
    let mut full = with_task(attester(), Roles::default());
    full.step(received(Signed::Result(result(b"result"))), 0);
    (0..5).filter(|index| *index != performer()).for_each(|index| drop(full.step(attested(index, candidate(true)), 0)));
    let asking = NodeSettings { ask_first: 1_000, ask_most: 4_000, ..settings(attester(), Roles::default()) };
    let mut empty = Node::new(asking, 0, Saved::default());
    empty.step(NodeEvent::Snapshot(snapshot()), 0);
    empty.step(task(0), 0);
    let ask = |node: &mut Node, at| -> Option<PeerRequest> {
        let outputs = node.step(NodeEvent::Tick, at);
        outputs
            .into_iter()
            .find_map(|output| if let NodeOutput::Ask(request, _) = output { Some(request) } else { None })
    };
    assert_eq!(ask(&mut empty, 999), None);
    let request = ask(&mut empty, 1_000).unwrap();
    let outputs = full.step(NodeEvent::Asked { source: PEER, request }, 1);
    let [NodeOutput::Answer { to: PEER, answer }] = &outputs[..] else { panic!("{outputs:?}") };
    assert_eq!((answer.results.len(), answer.attestations.len(), answer.is_full()), (1, 4, false));
    for part in answer.clone().into_signed() {
        assert!(matches!(empty.step(received(part), 1_001)[0], NodeOutput::Accepted { .. }));
    }
    // Questions become rarer, and a full node gets an empty answer: else it would wait for one.
    assert_eq!(ask(&mut empty, 2_999), None);
    let request = ask(&mut empty, 3_000).unwrap();
    let outputs = full.step(NodeEvent::Asked { source: PEER, request }, 2);
    let [NodeOutput::Answer { to: PEER, answer }] = &outputs[..] else { panic!("{outputs:?}") };
    assert_eq!(*answer, PeerAnswer::default());
    let times: Vec<_> =
        (3..20).map(|second| second * 1_000 + 500).filter(|at| ask(&mut empty, *at).is_some()).collect();
    assert_eq!(times, [7_500, 11_500, 15_500, 19_500]);
}

/// What a node is asked back when it asks with what it holds.
fn asked_back(outputs: Vec<NodeOutput>) -> Option<PeerRequest> {
    outputs.into_iter().find_map(|output| match output {
        NodeOutput::AskPeer { peer: PEER, request } => Some(request),
        _ => None,
    })
}

/// Whoever asks with a result, or a signature, that a node lacks is asked for it, once a period. It may be the only one that
/// has it.
#[test]
fn who_shows_more_is_asked_back() {
    let asking = NodeSettings { ask_first: 1_000, ..settings(attester(), Roles::default()) };
    let fresh = || {
        let mut node = Node::new(asking.clone(), 0, Saved::default());
        node.step(NodeEvent::Snapshot(snapshot()), 0);
        node.step(task(0), 0);
        node
    };
    let shows = |node: &mut Node, at| {
        let outputs = node.step(NodeEvent::Tick, at);
        let request = outputs.into_iter().find_map(|output| match output {
            NodeOutput::Ask(request, _) => Some(request),
            _ => None,
        });
        NodeEvent::Asked { source: PEER, request: request.unwrap() }
    };
    let mut full = fresh();
    full.step(received(Signed::Result(result(b"result"))), 0);
    full.step(attested(attester(), candidate(true)), 0);
    let shown = shows(&mut full, 1_000);
    assert!(matches!(&shown, NodeEvent::Asked { request, .. } if request.tasks[0].result.is_some()));

    let mut empty = fresh();
    let back = asked_back(empty.step(shown.clone(), 500)).unwrap();
    assert_eq!((back.tasks.len(), back.tasks[0].id, back.tasks[0].result), (1, ID, None));
    assert_eq!(asked_back(empty.step(shown.clone(), 999)), None, "in the same period");
    let outputs = full.step(NodeEvent::Asked { source: PEER, request: back }, 1_001);
    let [NodeOutput::Answer { answer, .. }] = &outputs[..] else { panic!("{outputs:?}") };
    for part in answer.clone().into_signed() {
        empty.step(received(part), 1_001);
    }
    assert_eq!(asked_back(empty.step(shown.clone(), 2_000)), None, "it has all by now");

    // A signature alone. Of a task that is settled, the others will bring it in time.
    for settled in [false, true] {
        let mut node = fresh();
        node.step(received(Signed::Result(result(b"result"))), 0);
        if settled {
            node.step(NodeEvent::Settled { id: ID, epoch: 0, finality: Finality::Recent }, 0);
        }
        assert_eq!(asked_back(node.step(shown.clone(), 1)).is_some(), !settled);
    }
    let mut unknown = Node::new(asking.clone(), 0, Saved::default());
    assert_eq!(asked_back(unknown.step(shown, 1)), None);
}

/// All tasks have the same times, so a node with many sends few requests: each counts at its peer.
#[test]
fn one_question_a_period_asks_about_many_tasks() {
    let asking = NodeSettings { ask_first: 2_000, ask_most: 30_000, ..settings(attester(), Roles::default()) };
    let mut node = Node::new(asking, 0, Saved::default());
    node.step(NodeEvent::Snapshot(snapshot()), 0);
    let mut asks = Vec::new();
    for now in 1_u64..40_000 {
        if now % 7 == 0 && now <= 700 {
            let id = B256::left_padding_from(&now.to_be_bytes());
            node.step(NodeEvent::Task { id, epoch: 0, payload: Bytes::new() }, now);
        }
        for output in node.step(NodeEvent::Tick, now) {
            if let NodeOutput::Ask(request, _) = output {
                asks.push((now, request.tasks.len()));
            }
        }
    }
    // 64 tasks is what one request holds.
    let expected = [4_000, 8_000, 16_000, 32_000].into_iter().flat_map(|at| [(at, 64), (at, 36)]);
    assert_eq!(asks, expected.collect::<Vec<_>>());
}

/// An answer has room for four results. Whoever asked for more asks on, and does not wait longer each time.
#[test]
fn a_full_answer_is_asked_on_soon() {
    let asking = NodeSettings { ask_first: 1_000, ask_most: 64_000, ..settings(attester(), Roles::default()) };
    let mut node = Node::new(asking, 0, Saved::default());
    node.step(NodeEvent::Snapshot(snapshot()), 0);
    node.step(task(0), 0);
    let asks = |node: &mut Node, from: u64, to: u64| -> Vec<u64> {
        let asks = |at: &u64| has(&node.step(NodeEvent::Tick, *at), |output| matches!(output, NodeOutput::Ask(..)));
        (from / 500..to / 500).map(|half| half * 500).filter(asks).collect()
    };
    assert_eq!(asks(&mut node, 0, 10_000), [1_000, 3_000, 7_000]);
    node.step(NodeEvent::AnswerWasFull, 10_000);
    assert_eq!(asks(&mut node, 10_000, 20_000), [11_000, 13_000, 17_000]);
    node.step(NodeEvent::Settled { id: ID, epoch: 0, finality: Finality::Recent }, 20_000);
    node.step(NodeEvent::AnswerWasFull, 20_000);
    assert_eq!(asks(&mut node, 20_000, 30_000), [25_000]);
}

/// Two nodes with each one half of a conflict: the answer brings the other half.
#[test]
fn answers_bring_conflicts_together() {
    let liar = attester();
    let mut one = with_task(performer(), Roles::default());
    one.step(attested(liar, candidate(true)), 0);
    let mut other =
        Node::new(NodeSettings { ask_first: 1, ..settings(performer(), Roles::default()) }, 0, Saved::default());
    other.step(NodeEvent::Snapshot(snapshot()), 0);
    other.step(task(0), 0);
    other.step(attested(liar, candidate(false)), 0);
    let outputs = other.step(NodeEvent::Tick, 1);
    let request = outputs
        .into_iter()
        .find_map(|output| if let NodeOutput::Ask(request, _) = output { Some(request) } else { None });
    let outputs = one.step(NodeEvent::Asked { source: PEER, request: request.unwrap() }, 1);
    let Some(NodeOutput::Answer { answer, .. }) = outputs.into_iter().next() else { panic!("no answer") };
    for part in answer.into_signed() {
        let outputs = other.step(received(part), 2);
        assert!(has(&outputs, |output| matches!(
            output,
            NodeOutput::Publish(Signed::Evidence(_), Audience::Everybody)
        )));
    }
    assert_eq!(other.footprint().conflicts, 1);
}
