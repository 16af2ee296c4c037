//! What a node keeps when an epoch ends, is undone, or when the node is started again.

use quorate_evm::{
    Finality,
    alloy_primitives::{B256, Bytes},
};
use quorate_network::{
    message::{Signed, TaskResult, candidate_for},
    roles::{Node, NodeEvent, NodeOutput, Roles, Saved},
};

use super::rig::{
    EVERYTHING, ID, aggregator, attested, attester, candidate, has, owner, performer, received, result, settings,
    settlements, snapshot, snapshot_of, task, with_task,
};

/// An attester that approved a result in one epoch gives no other verdict on the id in the next one.
#[test]
fn a_verdict_binds_in_the_next_epoch() {
    let later = snapshot_of(1, 3);
    let operator = (0..5).find(|index| *index != performer() && *index != later.performer(ID)).unwrap();
    let mut node = with_task(operator, EVERYTHING);
    node.step(received(Signed::Result(result(b"result"))), 1);
    node.step(NodeEvent::Validated { candidate: candidate(true), approved: true }, 2);
    node.step(NodeEvent::Signed { candidate: candidate(true), signature: Bytes::from_static(b"own") }, 3);
    node.step(NodeEvent::Epoch(1), 4);
    node.step(NodeEvent::Snapshot(later.clone()), 5);
    node.step(task(1), 6);
    let bytes = Bytes::from_static(b"other");
    let other = TaskResult::new(1, later.id(), ID, later.performer(ID), bytes, Bytes::from_static(b"s")).unwrap();
    let outputs = node.step(received(Signed::Result(other)), 7);
    assert!(has(&outputs, |output| matches!(output, NodeOutput::Abstained { .. })));
    assert!(!has(&outputs, |output| matches!(output, NodeOutput::Validate { .. })));
}

/// Named in every epoch, a task keeps what was said of it: after a restart, too. One that was dropped in between is judged anew.
#[test]
fn a_verdict_binds_as_long_as_its_task_is_held() {
    let later = snapshot_of(3, 3);
    let operator = (0..5).find(|index| *index != performer() && *index != later.performer(ID)).unwrap();
    let bytes = Bytes::from_static(b"other");
    let other = TaskResult::new(3, later.id(), ID, later.performer(ID), bytes, Bytes::from_static(b"s")).unwrap();
    for held in [true, false] {
        let mut node = with_task(operator, EVERYTHING);
        node.step(received(Signed::Result(result(b"result"))), 1);
        node.step(NodeEvent::Validated { candidate: candidate(true), approved: true }, 2);
        node.step(NodeEvent::Signed { candidate: candidate(true), signature: Bytes::from_static(b"own") }, 3);
        for epoch in 1..=3 {
            if held {
                node.step(task(epoch), 4);
            }
            node.step(NodeEvent::Epoch(epoch), 4);
        }
        let again = Node::new(settings(operator, EVERYTHING), 3, node.saved().clone());
        for mut node in [node, again] {
            node.step(task(3), 5);
            node.step(NodeEvent::Snapshot(later.clone()), 5);
            let outputs = node.step(received(Signed::Result(other.clone())), 6);
            assert_eq!(has(&outputs, |output| matches!(output, NodeOutput::Abstained { .. })), held);
            assert_eq!(has(&outputs, |output| matches!(output, NodeOutput::Validate { .. })), !held);
        }
    }
}

/// Of a task that is named in every epoch, what was said in each would make the file longer without end.
#[test]
fn what_was_said_in_many_epochs_is_kept_once() {
    let mut node = Node::new(settings(0, EVERYTHING), 0, Saved::default());
    let mut lengths = Vec::new();
    for epoch in 0..40 {
        let snapshot = snapshot_of(epoch, epoch as u8 + 1);
        node.step(NodeEvent::Epoch(epoch), 0);
        node.step(NodeEvent::Snapshot(snapshot.clone()), 0);
        node.step(task(epoch), 0);
        let candidate = candidate_for(epoch, snapshot.id(), ID, snapshot.performer(ID), b"result");
        if snapshot.performer(ID) == 0 {
            node.step(NodeEvent::Executed { id: ID, bytes: Bytes::from_static(b"result") }, 0);
        } else {
            let (performer, bytes) = (snapshot.performer(ID), Bytes::from_static(b"result"));
            let signature = Bytes::from_static(b"signature");
            let result = TaskResult::new(epoch, snapshot.id(), ID, performer, bytes, signature).unwrap();
            node.step(received(Signed::Result(result)), 0);
            node.step(NodeEvent::Validated { candidate, approved: true }, 0);
        }
        node.step(NodeEvent::Signed { candidate, signature: Bytes::from_static(b"own") }, 0);
        node.step(task(epoch + 1), 0);
        lengths.push(node.saved().to_bytes().len());
    }
    assert!(lengths[3] > lengths[0], "{lengths:?}");
    assert!(lengths[39] < lengths[3] + 100, "{lengths:?}");
}

/// The contract settles an id once. So a task that was named for the next epoch, too, is over in it.
#[test]
fn a_task_that_was_settled_stays_settled_as_long_as_it_is_held() {
    let later = snapshot_of(1, 3);
    for settled in [None, Some(Finality::Recent), Some(Finality::Final)] {
        let (mut node, _) = aggregator(0);
        node.step(task(1), 0);
        if let Some(finality) = settled {
            node.step(NodeEvent::Settled { id: ID, epoch: 0, finality }, 1);
        }
        node.step(NodeEvent::Epoch(1), 2);
        node.step(NodeEvent::Snapshot(later.clone()), 3);
        node.step(task(2), 4);
        // Epoch 0 is one of which nothing is remembered for its own sake.
        [2, 3].into_iter().for_each(|epoch| drop(node.step(NodeEvent::Epoch(epoch), 5)));
        let newest = snapshot_of(2, 4);
        node.step(NodeEvent::Snapshot(newest.clone()), 6);
        let candidate = candidate_for(2, newest.id(), ID, newest.performer(ID), b"result");
        (0..4).for_each(|index| drop(node.step(attested(index, candidate), 7)));
        assert_eq!(node.task_report(ID).unwrap().settled, settled);
        assert!(node.needs_settlement(ID, 0) && !node.needs_settlement(B256::ZERO, 0));
        assert_eq!(settlements(&node.step(NodeEvent::Tick, 1_000_000)).len(), usize::from(settled.is_none()));
        // It goes with its task.
        node.step(NodeEvent::Epoch(4), 1_000_001);
        assert!(node.task_report(ID).is_none() && !node.needs_settlement(ID, 0) && !node.is_over(ID));
    }
}

/// The end of epoch 1 is undone. What was named for epoch 0 is named again, as after a restart.
#[test]
fn a_settlement_and_a_verdict_outlive_the_end_of_an_epoch_that_is_undone() {
    let mut node = with_task(attester(), EVERYTHING);
    node.step(received(Signed::Result(result(b"result"))), 1);
    node.step(NodeEvent::Validated { candidate: candidate(true), approved: false }, 2);
    node.step(NodeEvent::Settled { id: ID, epoch: 0, finality: Finality::Recent }, 3);
    [1, 2].into_iter().for_each(|epoch| drop(node.step(NodeEvent::Epoch(epoch), 4)));
    assert!(node.task_report(ID).is_none());
    node.step(NodeEvent::Epoch(1), 5);
    node.step(task(0), 6);
    assert_eq!(node.task_report(ID).unwrap().settled, Some(Finality::Recent));
    let outputs = node.step(NodeEvent::Unsettled { id: ID }, 7);
    let says_the_same =
        |output: &NodeOutput| matches!(output, NodeOutput::Sign { candidate: asked } if *asked == candidate(false));
    assert!(has(&outputs, says_the_same), "{outputs:?}");
    let outputs = node.step(received(Signed::Result(result(b"result"))), 8);
    assert!(!has(&outputs, |output| matches!(output, NodeOutput::Validate { .. })), "{outputs:?}");
}

/// A restart between the request to the signer and its answer: the same is signed, the program does not run again.
#[test]
fn a_restart_says_the_same_again() {
    for role in [performer(), attester()] {
        let mut node = with_task(role, EVERYTHING);
        if role == performer() {
            node.step(NodeEvent::Executed { id: ID, bytes: Bytes::from_static(b"result") }, 1);
        } else {
            node.step(received(Signed::Result(result(b"result"))), 1);
            node.step(NodeEvent::Validated { candidate: candidate(true), approved: true }, 1);
        }
        let saved = Saved::from_bytes(&node.saved().to_bytes()).unwrap();
        assert_eq!(&saved, node.saved());
        let mut again = Node::new(settings(role, EVERYTHING), 0, saved);
        again.step(NodeEvent::Snapshot(snapshot()), 0);
        let outputs = again.step(task(0), 0);
        assert!(has(
            &outputs,
            |output| matches!(output, NodeOutput::Sign { candidate: asked } if *asked == candidate(true))
        ));
        let runs = |output: &NodeOutput| matches!(output, NodeOutput::Execute { .. } | NodeOutput::Validate { .. });
        assert!(!has(&outputs, runs));
        let signed = NodeEvent::Signed { candidate: candidate(true), signature: Bytes::from_static(b"signature") };
        assert!(has(&again.step(signed, 1), |output| matches!(output, NodeOutput::Publish(..))));
    }
}

#[test]
fn a_restart_keeps_waiting_for_a_submission() {
    let (mut node, operator) = aggregator(0);
    (0..5).for_each(|index| drop(node.step(attested(index, candidate(true)), 0)));
    let roles = Roles { aggregate: true, ..Roles::default() };
    let mut again = Node::new(settings(operator, roles), 0, node.saved().clone());
    again.step(NodeEvent::Snapshot(snapshot()), 1);
    again.step(task(0), 1);
    (0..5).for_each(|index| drop(again.step(attested(index, candidate(true)), 1)));
    assert!(settlements(&again.step(NodeEvent::Tick, 59_999)).is_empty());
    assert_eq!(settlements(&again.step(NodeEvent::Tick, 60_000)).len(), 1);
}

#[test]
fn a_saved_state_is_whole_or_refused() {
    let mut node = with_task(performer(), EVERYTHING);
    node.step(NodeEvent::Executed { id: ID, bytes: Bytes::from_static(b"result") }, 1);
    let bytes = node.saved().to_bytes();
    for length in 0..bytes.len() {
        assert!(Saved::from_bytes(&bytes[..length]).is_err(), "{length}");
    }
    assert!(Saved::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
    assert!(Saved::from_bytes(&[&[3], &bytes[1..]].concat()).is_err());
    // Version 1 had no evidence, of which there is none here.
    let before = [&[1], &bytes[1..bytes.len() - 1]].concat();
    assert_eq!(&Saved::from_bytes(&before).unwrap(), node.saved());
    assert!(Saved::from_bytes(&before[..before.len() - 1]).is_err());
    assert!(Saved::from_bytes(&[&before[..], &[0]].concat()).is_err());
}

/// A clock that was two hours ahead is right after the restart. What the node sent before is waited for no longer than always.
#[test]
fn what_waited_by_a_wrong_clock_is_submitted_after_a_restart() {
    let reports = |outputs: &[NodeOutput]| has(outputs, |output| matches!(output, NodeOutput::ReportConflict { .. }));
    let (mut node, operator) = aggregator(0);
    let (ahead, liar) = (7_200_000, attester());
    let outputs: Vec<_> = (0..5).flat_map(|index| node.step(attested(index, candidate(true)), ahead)).collect();
    assert_eq!(settlements(&outputs).len(), 1);
    assert!(reports(&node.step(attested(liar, candidate(false)), ahead)));
    let roles = Roles { aggregate: true, ..Roles::default() };
    let mut again = Node::new(settings(operator, roles), 0, node.saved().clone());
    again.step(NodeEvent::Snapshot(snapshot()), 1_000);
    again.step(task(0), 1_000);
    (0..5).for_each(|index| drop(again.step(attested(index, candidate(true)), 1_000)));
    let early = again.step(NodeEvent::Tick, 60_999);
    assert!(settlements(&early).is_empty() && !reports(&early), "{early:?}");
    let outputs = again.step(NodeEvent::Tick, 61_000);
    assert!(settlements(&outputs).len() == 1 && reports(&outputs), "{outputs:?}");
}

/// The contract takes evidence longer than the task is open, and nobody answers questions about a task that is closed. So the node
/// has the evidence from its own disk.
#[test]
fn a_conflict_is_reported_after_a_restart_when_its_epoch_is_closed() {
    let reports = |outputs: &[NodeOutput]| has(outputs, |output| matches!(output, NodeOutput::ReportConflict { .. }));
    let (mut node, operator) = aggregator(0);
    let liar = attester();
    node.step(attested(liar, candidate(true)), 0);
    let outputs = node.step(attested(liar, candidate(false)), 1);
    assert!(matches!(outputs[0], NodeOutput::Save) && reports(&outputs), "{outputs:?}");
    node.step(NodeEvent::Epoch(2), 2);
    assert_eq!((node.footprint().tasks, node.footprint().conflicts), (0, 1));
    let saved = Saved::from_bytes(&node.saved().to_bytes()).unwrap();
    assert_eq!(&saved, node.saved());
    let aggregates = settings(operator, Roles { aggregate: true, ..Roles::default() });
    for slashed in [false, true] {
        let mut again = Node::new(aggregates.clone(), 2, saved.clone());
        assert!(!reports(&again.step(NodeEvent::Snapshot(snapshot()), 100)));
        if slashed {
            again.step(NodeEvent::Slashed { operator: owner(liar), id: ID, epoch: 0 }, 100);
        }
        assert!(!reports(&again.step(NodeEvent::Tick, 60_000)), "the first report may still succeed");
        assert_eq!(reports(&again.step(NodeEvent::Tick, 60_001)), !slashed);
        // The contract takes it no more, so it is kept no more.
        again.step(NodeEvent::Epoch(4), 60_002);
        let later = Node::new(aggregates.clone(), 4, again.saved().clone());
        assert_eq!((again.footprint().conflicts, later.footprint().conflicts), (0, 0));
    }
    // A node that had reported nothing leaves the chain the time to tell whom it slashed.
    let mut idle = Node::new(settings(operator, Roles::default()), 0, Saved::default());
    idle.step(NodeEvent::Snapshot(snapshot()), 0);
    idle.step(task(0), 0);
    [true, false].into_iter().for_each(|approved| drop(idle.step(attested(liar, candidate(approved)), 0)));
    let mut again = Node::new(aggregates, 2, idle.saved().clone());
    again.step(NodeEvent::Snapshot(snapshot()), 100);
    assert!(!reports(&again.step(NodeEvent::Tick, 10_099)) && reports(&again.step(NodeEvent::Tick, 10_100)));
}
