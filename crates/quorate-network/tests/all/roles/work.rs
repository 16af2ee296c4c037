//! Each role at its work: who executes, attests, aggregates and submits, when, and which tasks keep their place.

use quorate_evm::{
    Finality, SnapshotId, Task,
    alloy_primitives::{B256, Bytes},
};
use quorate_network::{
    groups::Audience,
    message::{MAX_RESULT, Signed, TaskResult},
    roles::{MessageRefusal, Node, NodeEvent, NodeOutput, NodeSettings, NotTaken, Roles, Saved},
};

use super::rig::{
    EVERYTHING, ID, PEER, aggregator, attested, attester, candidate, has, node, owner, performer, received, refusal,
    result, settings, settlements, snapshot, snapshot_of, task, with_task,
};

#[test]
fn a_performer_executes_signs_and_publishes() {
    let mut node = node(performer(), EVERYTHING);
    let outputs = node.step(task(0), 0);
    assert!(has(
        &outputs,
        |output| matches!(output, NodeOutput::Execute { payload, .. } if payload == "payload".as_bytes())
    ));
    let outputs = node.step(NodeEvent::Executed { id: ID, bytes: Bytes::from_static(b"result") }, 1);
    assert!(
        matches!(&outputs[..2], [NodeOutput::Save, NodeOutput::Sign { candidate: asked }] if *asked == candidate(true))
    );
    let signed = NodeEvent::Signed { candidate: candidate(true), signature: Bytes::from_static(b"signature") };
    let outputs = node.step(signed.clone(), 2);
    let published = |output: &NodeOutput| matches!(output, NodeOutput::Publish(Signed::Result(held), Audience::Everybody) if *held == result(b"result"));
    assert!(matches!(&outputs[0], NodeOutput::Save) && has(&outputs, published));
    // The same answer again is not written again.
    assert!(!has(&node.step(signed, 3), |output| matches!(output, NodeOutput::Save)));
}

#[test]
fn only_the_elected_performer_executes() {
    assert!(!has(&node(attester(), EVERYTHING).step(task(0), 0), |output| matches!(
        output,
        NodeOutput::Execute { .. }
    )));
    let idle = Roles { perform: false, ..EVERYTHING };
    assert!(!has(&node(performer(), idle).step(task(0), 0), |output| matches!(output, NodeOutput::Execute { .. })));
}

#[test]
fn a_result_that_is_too_long_counts_as_a_failure() {
    let mut node = with_task(performer(), EVERYTHING);
    let long = Bytes::from(vec![0; MAX_RESULT + 1]);
    assert!(!has(&node.step(NodeEvent::Executed { id: ID, bytes: long }, 1), |output| matches!(
        output,
        NodeOutput::Sign { .. }
    )));
    assert!(has(&node.step(NodeEvent::Tick, 2_000), |output| matches!(output, NodeOutput::Execute { .. })));
}

/// A program that always fails is not started every second for two epochs.
#[test]
fn a_program_that_fails_is_started_ever_more_rarely() {
    let runs = |output: &NodeOutput| matches!(output, NodeOutput::Execute { .. } | NodeOutput::Validate { .. });
    let failed = [NodeEvent::ExecuteFailed { id: ID }, NodeEvent::ValidateFailed { candidate: candidate(true) }];
    for (operator, failed) in [performer(), attester()].into_iter().zip(failed) {
        let mut node = with_task(operator, EVERYTHING);
        if operator == attester() {
            node.step(received(Signed::Result(result(b"result"))), 0);
        }
        let mut now = 0;
        for wait in [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000] {
            node.step(failed.clone(), now);
            assert!(!has(&node.step(NodeEvent::Tick, now + wait - 1), runs), "{wait}");
            now += wait;
            assert!(has(&node.step(NodeEvent::Tick, now), runs), "{wait}");
        }
        node.step(failed, now);
        assert!(has(&node.step(NodeEvent::Epoch(1), now), runs), "a new epoch begins anew");
    }
}

#[test]
fn an_attester_validates_signs_and_publishes_each_verdict() {
    for approved in [true, false] {
        let mut node = with_task(attester(), EVERYTHING);
        let outputs = node.step(received(Signed::Result(result(b"result"))), 1);
        assert!(matches!(&outputs[0], NodeOutput::Accepted { source } if *source == PEER));
        assert!(has(
            &outputs,
            |output| matches!(output, NodeOutput::Validate { bytes, .. } if bytes == "result".as_bytes())
        ));
        let outputs = node.step(NodeEvent::Validated { candidate: candidate(true), approved }, 2);
        assert!(has(
            &outputs,
            |output| matches!(output, NodeOutput::Sign { candidate: asked } if *asked == candidate(approved))
        ));
        let signature = Bytes::from_static(b"own");
        let outputs = node.step(NodeEvent::Signed { candidate: candidate(approved), signature }, 3);
        let published = |output: &NodeOutput| {
            matches!(output, NodeOutput::Publish(Signed::Attestation(held), Audience::Everybody)
                if *held.candidate() == candidate(approved) && held.index() == attester())
        };
        assert!(has(&outputs, published));
    }
}

#[test]
fn a_result_of_somebody_else_is_blamed_on_its_source() {
    let mut node = with_task(attester(), EVERYTHING);
    let other = attester();
    let bytes = Bytes::from_static(b"result");
    let forged = TaskResult::new(0, snapshot().id(), ID, other, bytes, Bytes::from_static(b"s")).unwrap();
    let outputs = node.step(received(Signed::Result(forged)), 1);
    let refused = refusal(&outputs).unwrap();
    assert_eq!(refused, MessageRefusal::NotElected { found: other.into(), elected: performer().into() });
    assert!(refused.is_fault() && !has(&outputs, |output| matches!(output, NodeOutput::Validate { .. })));
}

/// The second result makes evidence, once, and no second verdict.
#[test]
fn equivocating_performer() {
    let mut node = with_task(attester(), Roles { aggregate: false, ..EVERYTHING });
    node.step(received(Signed::Result(result(b"result"))), 1);
    let outputs = node.step(received(Signed::Result(result(b"other"))), 2);
    assert_eq!(refusal(&outputs), Some(MessageRefusal::Conflicting(performer())));
    let evidence = |output: &NodeOutput| matches!(output, NodeOutput::Publish(Signed::Evidence(held), Audience::Everybody) if held.id() == ID);
    assert!(has(&outputs, evidence) && !has(&outputs, |output| matches!(output, NodeOutput::Validate { .. })));
    let again = node.step(received(Signed::Result(result(b"other"))), 3);
    assert!(!has(&again, evidence));
    let third = node.step(received(Signed::Result(result(b"third"))), 4);
    assert!(!has(&third, evidence));
}

#[test]
fn unknown_tasks_epochs_snapshots_and_signers_are_ignored_or_blamed() {
    let mut known = with_task(attester(), EVERYTHING);
    let mut unknown = node(attester(), EVERYTHING);
    let refused = |node: &mut Node, index, candidate| refusal(&node.step(attested(index, candidate), 1));
    let right = candidate(true);
    assert_eq!(refused(&mut unknown, 0, right), Some(MessageRefusal::UnknownTask));
    assert_eq!(
        refused(&mut known, 0, Task { epoch: 1, ..right }),
        Some(MessageRefusal::Epoch { found: 1, current: 0 })
    );
    let other = Task { snapshot: SnapshotId::repeat_byte(7), ..right };
    assert_eq!(refused(&mut known, 0, other), Some(MessageRefusal::OtherSnapshot(0)));
    assert_eq!(refused(&mut known, 5, right), Some(MessageRefusal::NoSuchSigner(5)));
    assert_eq!(refused(&mut known, 0, right), None);
    assert_eq!(refused(&mut known, 0, right), Some(MessageRefusal::Duplicate));
    assert_eq!(unknown.footprint().attestations, 0);
}

#[test]
fn the_first_aggregator_waits_for_stragglers() {
    let (mut node, _) = aggregator(0);
    for index in 0..4 {
        assert!(settlements(&node.step(attested(index, candidate(true)), 10)).is_empty());
    }
    assert!(settlements(&node.step(NodeEvent::Tick, 509)).is_empty());
    let outputs = node.step(NodeEvent::Tick, 510);
    let [settlement] = settlements(&outputs)[..] else { panic!("{outputs:?}") };
    assert_eq!(settlement.candidate, candidate(true));
    assert_eq!(settlement.signers.iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(settlement.signatures[2], ([2].into_iter().collect(), Bytes::from_static(&[3])));
    assert!(matches!(outputs[0], NodeOutput::Save));
}

#[test]
fn with_all_signatures_nobody_is_waited_for() {
    let (mut node, _) = aggregator(0);
    for index in 0..4 {
        node.step(attested(index, candidate(false)), 10);
    }
    let outputs = node.step(attested(4, candidate(false)), 20);
    assert_eq!(settlements(&outputs)[0].signers.len(), 5);
}

/// Three of five are not more than three, and a signer counts once, whatever it repeats.
#[test]
fn a_signer_counts_once() {
    let (mut node, _) = aggregator(0);
    for index in [0, 1, 2, 2, 1, 0] {
        node.step(attested(index, candidate(true)), 10);
    }
    node.step(attested(0, candidate(false)), 10);
    assert!(settlements(&node.step(NodeEvent::Tick, 1_000_000)).is_empty());
    node.step(attested(3, candidate(true)), 1_000_000);
    assert_eq!(settlements(&node.step(NodeEvent::Tick, 1_000_500))[0].signers.len(), 4);
}

/// The aggregator at place 2 takes over after two turns, unless the chain has settled the task.
#[test]
fn the_next_aggregator_takes_over() {
    for settled in [false, true] {
        let (mut node, _) = aggregator(2);
        (0..4).for_each(|index| drop(node.step(attested(index, candidate(true)), 0)));
        assert!(settlements(&node.step(NodeEvent::Tick, 20_499)).is_empty());
        if settled {
            node.step(NodeEvent::Settled { id: ID, epoch: 0, finality: Finality::Recent }, 20_499);
        }
        assert_eq!(settlements(&node.step(NodeEvent::Tick, 20_500)).len(), usize::from(!settled));
    }
}

#[test]
fn one_submission_at_a_time_and_again_after_failure_or_timeout() {
    let (mut node, _) = aggregator(0);
    (0..5).for_each(|index| drop(node.step(attested(index, candidate(true)), 0)));
    assert!(settlements(&node.step(NodeEvent::Tick, 59_999)).is_empty());
    assert_eq!(settlements(&node.step(NodeEvent::Tick, 60_000)).len(), 1);
    assert!(settlements(&node.step(NodeEvent::SettleFailed { id: ID }, 61_000)).is_empty());
    assert!(settlements(&node.step(NodeEvent::Tick, 61_999)).is_empty());
    assert_eq!(settlements(&node.step(NodeEvent::Tick, 62_000)).len(), 1);
}

/// A contract that is paused refuses everything. Each refusal is followed by a longer wait, and writes no file; a new epoch and a
/// reorganisation begin anew.
#[test]
fn what_is_refused_again_and_again_is_submitted_ever_more_rarely() {
    let (mut node, _) = aggregator(0);
    let outputs: Vec<_> = (0..5).flat_map(|index| node.step(attested(index, candidate(true)), 0)).collect();
    assert_eq!(settlements(&outputs).len(), 1);
    let mut now = 0;
    let mut refuse = |node: &mut Node, waits: &[u64]| {
        for wait in waits {
            let outputs = node.step(NodeEvent::SettleFailed { id: ID }, now);
            assert!(!has(&outputs, |output| matches!(output, NodeOutput::Save | NodeOutput::Settle(_))), "{outputs:?}");
            assert!(settlements(&node.step(NodeEvent::Tick, now + wait - 1)).is_empty(), "{wait}");
            now += wait;
            assert_eq!(settlements(&node.step(NodeEvent::Tick, now)).len(), 1, "{wait}");
        }
        node.step(NodeEvent::SettleFailed { id: ID }, now);
        now
    };
    let first = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000];
    let now = refuse(&mut node, &first);
    assert_eq!(settlements(&node.step(NodeEvent::Epoch(1), now)).len(), 1);
    let now = refuse(&mut node, &first[..5]);
    node.step(NodeEvent::Settled { id: ID, epoch: 0, finality: Finality::Recent }, now);
    assert_eq!(settlements(&node.step(NodeEvent::Unsettled { id: ID }, now)).len(), 1);
    refuse(&mut node, &first[..2]);
}

/// A reorganisation undoes the settlement of another node: turns begin anew.
#[test]
fn an_undone_settlement_is_submitted_again() {
    let (mut node, _) = aggregator(1);
    (0..5).for_each(|index| drop(node.step(attested(index, candidate(true)), 0)));
    node.step(NodeEvent::Settled { id: ID, epoch: 0, finality: Finality::Recent }, 1_000);
    assert!(settlements(&node.step(NodeEvent::Tick, 100_000)).is_empty());
    node.step(NodeEvent::Unsettled { id: ID }, 100_000);
    assert!(settlements(&node.step(NodeEvent::Tick, 109_999)).is_empty());
    assert_eq!(settlements(&node.step(NodeEvent::Tick, 110_000)).len(), 1);
}

/// Under a new snapshot nothing of the old one counts; when the chain returns to the old one, all of it does.
#[test]
fn a_replaced_snapshot_begins_anew_and_can_return() {
    let (mut node, _) = aggregator(0);
    (0..4).for_each(|index| drop(node.step(attested(index, candidate(true)), 0)));
    node.step(NodeEvent::Snapshot(snapshot_of(0, 2)), 100);
    assert!(settlements(&node.step(NodeEvent::Tick, 1_000_000)).is_empty());
    assert_eq!(refusal(&node.step(attested(4, candidate(true)), 1_000_000)), Some(MessageRefusal::OtherSnapshot(0)));
    assert_eq!(settlements(&node.step(NodeEvent::Snapshot(snapshot()), 1_000_001)).len(), 1);
}

#[test]
fn closed_epochs_are_dropped() {
    let (mut node, _) = aggregator(0);
    (0..3).for_each(|index| drop(node.step(attested(index, candidate(true)), 0)));
    node.step(NodeEvent::Epoch(1), 1);
    assert_eq!((node.footprint().tasks, node.footprint().attestations), (1, 3));
    node.step(NodeEvent::Epoch(2), 2);
    assert_eq!((node.footprint().tasks, node.footprint().attestations), (0, 0));
    let outputs = node.step(task(0), 3);
    let late = NotTaken::Epoch { found: 0, current: 2 };
    assert!(has(&outputs, |output| matches!(output, NodeOutput::NotTaken { reason, .. } if *reason == late)));
    let outputs = node.step(attested(3, candidate(true)), 4);
    assert_eq!(refusal(&outputs), Some(MessageRefusal::Epoch { found: 0, current: 2 }));
}

#[test]
fn no_more_tasks_than_allowed() {
    let few = NodeSettings { most_tasks: 2, ..settings(0, EVERYTHING) };
    let mut node = Node::new(few, 0, Saved::default());
    let mut take = |id| {
        let event = NodeEvent::Task { id: B256::with_last_byte(id), epoch: 0, payload: Bytes::new() };
        has(&node.step(event, 0), |output| matches!(output, NodeOutput::NotTaken { reason: NotTaken::Full(2), .. }))
    };
    assert_eq!([1, 2, 1, 3].map(&mut take), [false, false, false, true]);
}

/// A task that is settled for good has no place of its own: the first in the order of the chain goes for a further one, and
/// does not come back for another one that is final.
#[test]
fn final_tasks_make_room_in_the_order_of_the_chain() {
    let few = NodeSettings { most_tasks: 2, ..settings(0, EVERYTHING) };
    let mut node = Node::new(few, 0, Saved::default());
    node.step(NodeEvent::Snapshot(snapshot()), 0);
    let id = B256::with_last_byte;
    let take = |node: &mut Node, number| {
        let event = NodeEvent::Task { id: id(number), epoch: 0, payload: Bytes::new() };
        !has(&node.step(event, 0), |output| matches!(output, NodeOutput::NotTaken { .. }))
    };
    let settle = |node: &mut Node, number, finality| {
        node.step(NodeEvent::Settled { id: id(number), epoch: 0, finality }, 0);
    };
    let held = |node: &Node| node.tasks().map(|task| task.id).collect::<Vec<_>>();
    assert!(take(&mut node, 1) && take(&mut node, 2));
    [2, 1].into_iter().for_each(|number| settle(&mut node, number, Finality::Recent));
    assert!(!take(&mut node, 3), "they may come back");
    [2, 1].into_iter().for_each(|number| settle(&mut node, number, Finality::Final));
    assert!(take(&mut node, 3));
    assert_eq!(held(&node), [id(1), id(3)]);
    assert!(node.is_over(id(2)) && !node.is_over(id(1)) && !node.is_over(id(4)));
    assert!(take(&mut node, 2), "it needs no place");
    assert_eq!(held(&node), [id(1), id(3)]);
    assert!(take(&mut node, 4) && !take(&mut node, 5));
    assert_eq!(held(&node), [id(3), id(4)]);
    // Nothing of it wakes the node any more.
    node.step(NodeEvent::Tick, 1 << 50);
    assert_eq!(node.footprint().tasks, 2);
}

/// A third of the performers are silent. Their tasks keep no place that others need, and those with a quorum keep theirs.
#[test]
fn tasks_without_a_quorum_make_room_in_the_order_in_which_they_were_named() {
    let few = NodeSettings { most_tasks: 3, patience: 1_000, ..settings(0, Roles::default()) };
    let mut node = Node::new(few, 0, Saved::default());
    node.step(NodeEvent::Snapshot(snapshot()), 0);
    let id = |number| if number == 1 { ID } else { B256::with_last_byte(number) };
    let take = |node: &mut Node, number, epoch, now| {
        let outputs = node.step(NodeEvent::Task { id: id(number), epoch, payload: Bytes::new() }, now);
        let is_taken = node.screen_task(id(number), epoch, &Bytes::new()).is_ok();
        assert_eq!(node.task_report(id(number)).is_some(), is_taken);
        let dropped = |output: &NodeOutput| if let NodeOutput::Dropped { id } = output { Some(*id) } else { None };
        outputs.iter().find_map(dropped)
    };
    let held = |node: &Node| {
        let is_held = |number: &u8| node.task_report(id(*number)).is_some();
        (1..=6).filter(is_held).collect::<Vec<u8>>()
    };
    [3, 1, 2].into_iter().for_each(|number| assert_eq!(take(&mut node, number, 0, 0), None));
    (0..4).for_each(|index| drop(node.step(attested(index, candidate(true)), 10)));
    let of_third = |approved| Task { id: id(3), performer: snapshot().performer(id(3)).into(), ..candidate(approved) };
    [true, false].into_iter().for_each(|approved| drop(node.step(attested(1, of_third(approved)), 20)));
    assert_eq!(take(&mut node, 4, 0, 999), None, "they may still find one");
    assert_eq!((held(&node), node.takes_tasks()), (vec![1, 2, 3], false));
    assert_eq!(take(&mut node, 4, 1, 1_000), Some(id(3)));
    assert_eq!((held(&node), node.footprint().conflicts), (vec![1, 2, 4], 1));
    // What others say of it is of no use, and no fault of theirs.
    let refused = refusal(&node.step(attested(2, of_third(true)), 1_000));
    assert!(refused == Some(MessageRefusal::UnknownTask) && !MessageRefusal::UnknownTask.is_fault());
    assert_eq!(held(&node), [1, 2, 4]);

    assert_eq!(take(&mut node, 5, 1, 1_000), Some(id(2)));
    assert_eq!(take(&mut node, 6, 0, 100_000), None, "an epoch that has not begun leaves no time for a quorum");
    node.step(NodeEvent::Epoch(1), 100_000);
    assert_eq!(take(&mut node, 6, 1, 100_999), None);
    assert_eq!(take(&mut node, 6, 1, 101_000), Some(id(4)));
    assert_eq!(held(&node), [1, 5, 6]);
    // The chain says that there was a quorum, and may take that back.
    node.step(NodeEvent::Settled { id: id(5), epoch: 1, finality: Finality::Recent }, 101_000);
    assert_eq!(take(&mut node, 2, 1, 110_000), Some(id(6)));
    assert_eq!(held(&node), [1, 2, 5]);
    // Nothing of those that went wakes the node any more.
    node.step(NodeEvent::Tick, 1 << 39);
    assert_eq!(node.footprint().tasks, 3);
}

/// Under more load than the programs bear, every task would go while they are at it, and none would be done.
#[test]
fn a_task_on_which_a_program_works_keeps_its_place() {
    let failed = [NodeEvent::ExecuteFailed { id: ID }, NodeEvent::ValidateFailed { candidate: candidate(true) }];
    for (operator, failed) in [performer(), attester()].into_iter().zip(failed) {
        let few = NodeSettings { most_tasks: 1, patience: 1_000, ..settings(operator, EVERYTHING) };
        let mut node = Node::new(few, 0, Saved::default());
        node.step(NodeEvent::Snapshot(snapshot()), 0);
        node.step(task(0), 0);
        if operator == attester() {
            node.step(received(Signed::Result(result(b"result"))), 0);
        }
        node.step(NodeEvent::Tick, 1_000);
        assert!(!node.takes_tasks(), "{operator}");
        node.step(failed, 1_000);
        assert!(node.takes_tasks(), "{operator}");
    }
}

/// The programs get the payload that came first, so a second one is not taken in silence.
#[test]
fn another_payload_of_a_task_is_refused() {
    let mut node = Node::new(settings(0, EVERYTHING), 0, Saved::default());
    let named = |epoch, payload| NodeEvent::Task { id: ID, epoch, payload: Bytes::from_static(payload) };
    node.step(named(0, b"first"), 0);
    assert_eq!(node.screen_task(ID, 1, &Bytes::from_static(b"first")), Ok(()));
    let other = node.step(named(1, b"second"), 0);
    let reason = NotTaken::OtherPayload;
    assert!(has(&other, |output| matches!(output, NodeOutput::NotTaken { reason: found, .. } if *found == reason)));
    // Of what is dropped nothing is remembered.
    node.step(NodeEvent::Epoch(2), 1);
    assert_eq!(node.screen_task(ID, 2, &Bytes::from_static(b"second")), Ok(()));
}

#[test]
fn the_same_events_give_the_same_outputs() {
    let run = || {
        let mut node = with_task(attester(), EVERYTHING);
        let mut outputs = node.step(received(Signed::Result(result(b"result"))), 1);
        (0..5).for_each(|index| outputs.extend(node.step(attested(index, candidate(true)), 2)));
        outputs.extend(node.step(NodeEvent::Tick, 100_000));
        format!("{outputs:?}{node:?}")
    };
    assert_eq!(run(), run());
}

/// Whatever the settings: the time at which the turn of an aggregator comes fits into 64 bits.
#[test]
fn times_without_end_overflow_nothing() {
    const NOW: u64 = 1_800_000_000_000;
    for place in [0, 2] {
        let operator = snapshot().aggregators(ID)[place];
        let settings = settings(operator, Roles { aggregate: true, ..Roles::default() });
        let endless = NodeSettings {
            stragglers: u64::MAX,
            turn: u64::MAX,
            submission_timeout: u64::MAX,
            retry: u64::MAX,
            ask_first: u64::MAX,
            ..settings
        };
        let mut node = Node::new(endless, 0, Saved::default());
        node.step(NodeEvent::Snapshot(snapshot()), NOW);
        node.step(task(0), NOW);
        for index in 0..4 {
            assert!(settlements(&node.step(attested(index, candidate(true)), NOW)).is_empty());
        }
        // A conflict, whose report has turns as well.
        node.step(attested(0, candidate(false)), NOW);
        assert!(settlements(&node.step(NodeEvent::Tick, NOW + 1_000_000)).is_empty());
        assert!(node.task_report(ID).unwrap().round.unwrap().ready.unwrap().turn > NOW);
        let outputs = node.step(attested(4, candidate(true)), NOW + 1_000_001);
        assert_eq!(settlements(&outputs).len(), usize::from(place == 0));
    }
}

/// Whatever the settings: what a node asks to be woken for is later than now.
#[test]
fn times_of_zero_wake_nobody_for_ever() {
    let zero = NodeSettings {
        stragglers: 0,
        turn: 0,
        submission_timeout: 0,
        retry: 0,
        ask_first: 0,
        ask_most: 0,
        ..settings(0, EVERYTHING)
    };
    let mut node = Node::new(NodeSettings { operator: Some(owner(attester())), ..zero }, 0, Saved::default());
    node.step(NodeEvent::Snapshot(snapshot()), 0);
    node.step(task(0), 0);
    node.step(received(Signed::Result(result(b"result"))), 0);
    node.step(NodeEvent::Validated { candidate: candidate(true), approved: true }, 0);
    (0..5).for_each(|index| drop(node.step(attested(index, candidate(true)), 0)));
    for now in 1..50 {
        for output in node.step(NodeEvent::Tick, now) {
            assert!(!matches!(output, NodeOutput::WakeAt(at) if at <= now), "{now}: {output:?}");
        }
    }
}
