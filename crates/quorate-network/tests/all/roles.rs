//! One node, event by event: what each role does, when, and what it refuses. Signatures are any bytes here.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use quorate_evm::{
    Finality, SnapshotId, Task,
    alloy_primitives::{Address, B256, Bytes},
};
use quorate_network::{
    election::Snapshot,
    groups::Audience,
    message::{
        Attestation, ConflictEvidence, MAX_RESULT, PeerAnswer, PeerRequest, Signed, TaskResult, Verified, candidate_for,
    },
    roles::{
        MessageRefusal, Node, NodeEvent, NodeOutput, NodeSettings, NotTaken, PeerSource, Roles, Saved, Settlement,
        SignerRefusal,
    },
};

const ID: B256 = B256::repeat_byte(0x1d);
const PEER: PeerSource = PeerSource(9);
const EVERYTHING: Roles = Roles { perform: true, attest: true, aggregate: true };

/// Five operators of weight 1; a quorum must weigh more than 3.
fn snapshot_of(epoch: u64, id: u8) -> Arc<Snapshot> {
    let members = (0..5).map(|index| (1, owner(index))).collect();
    Arc::new(Snapshot::new(epoch, SnapshotId::repeat_byte(id), B256::repeat_byte(id), members, 3).unwrap())
}

fn snapshot() -> Arc<Snapshot> {
    snapshot_of(0, 1)
}

fn owner(index: u32) -> Address {
    Address::repeat_byte(index as u8 + 1)
}

fn settings(operator: u32, roles: Roles) -> NodeSettings {
    let times = NodeSettings {
        stragglers: 500,
        turn: 10_000,
        submission_timeout: 60_000,
        retry: 1_000,
        ..NodeSettings::default()
    };
    NodeSettings { operator: Some(owner(operator)), roles, ask_first: 1 << 40, ask_most: 1 << 41, ..times }
}

/// A node of an operator that knows the snapshot and the task.
fn node(operator: u32, roles: Roles) -> Node {
    let mut node = Node::new(settings(operator, roles), 0, Saved::default());
    node.step(NodeEvent::Snapshot(snapshot()), 0);
    node
}

fn with_task(operator: u32, roles: Roles) -> Node {
    let mut node = node(operator, roles);
    node.step(task(0), 0);
    node
}

fn task(epoch: u64) -> NodeEvent {
    NodeEvent::Task { id: ID, epoch, payload: Bytes::from_static(b"payload") }
}

fn performer() -> u32 {
    snapshot().performer(ID)
}

/// An operator that was not elected.
fn attester() -> u32 {
    (performer() + 1) % 5
}

fn result(bytes: &'static [u8]) -> TaskResult {
    let bytes = Bytes::from_static(bytes);
    TaskResult::new(0, snapshot().id(), ID, performer(), bytes, Bytes::from_static(b"signature")).unwrap()
}

fn candidate(approved: bool) -> Task {
    Task { approved, ..candidate_for(0, snapshot().id(), ID, performer(), b"result") }
}

fn attestation(index: u32, candidate: Task) -> Attestation {
    Attestation::new(candidate, index, Bytes::from(vec![index as u8 + 1])).unwrap()
}

fn received(message: Signed) -> NodeEvent {
    NodeEvent::Received { source: PEER, message: Verified::by_the_caller(message) }
}

fn attested(index: u32, candidate: Task) -> NodeEvent {
    received(Signed::Attestation(attestation(index, candidate)))
}

fn settlements(outputs: &[NodeOutput]) -> Vec<&Settlement> {
    outputs
        .iter()
        .filter_map(|output| if let NodeOutput::Settle(settlement) = output { Some(settlement) } else { None })
        .collect()
}

fn has(outputs: &[NodeOutput], wanted: impl Fn(&NodeOutput) -> bool) -> bool {
    outputs.iter().any(wanted)
}

fn refusal(outputs: &[NodeOutput]) -> Option<MessageRefusal> {
    outputs.iter().find_map(|output| match output {
        NodeOutput::Refused { refusal, .. } => Some(*refusal),
        _ => None,
    })
}

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

/// A node whose own attestation is not needed: an aggregator at the first place, or at another one.
fn aggregator(place: usize) -> (Node, u32) {
    let operator = snapshot().aggregators(ID)[place];
    (with_task(operator, Roles { aggregate: true, ..Roles::default() }), operator)
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

/// The first reporter reports at once, a second one only when the chain has not slashed in its turn.
#[test]
fn conflicts_are_reported_once_and_in_turn() {
    let reports = |outputs: &[NodeOutput]| has(outputs, |output| matches!(output, NodeOutput::ReportConflict { .. }));
    let liar = attester();
    let (mut first, _) = aggregator(0);
    first.step(attested(liar, candidate(true)), 0);
    let outputs = first.step(attested(liar, candidate(false)), 1);
    assert!(
        reports(&outputs)
            && has(&outputs, |output| matches!(output, NodeOutput::Publish(Signed::Evidence(_), Audience::Everybody)))
    );
    assert!(
        !reports(&first.step(attested(liar, candidate(false)), 2)) && !reports(&first.step(NodeEvent::Tick, 60_000))
    );
    assert!(reports(&first.step(NodeEvent::Tick, 60_001)));
    first.step(NodeEvent::Slashed { operator: owner(liar), id: ID, epoch: 0 }, 60_002);
    assert!(!reports(&first.step(NodeEvent::Tick, 1_000_000)));
    first.step(NodeEvent::ReportFailed { operator: owner(liar), id: ID }, 1_000_000);
    assert!(reports(&first.step(NodeEvent::Unslashed { operator: owner(liar), id: ID, epoch: 0 }, 2_000_000)));

    for slashed in [false, true] {
        let (mut second, _) = aggregator(1);
        let pair = [candidate(true), candidate(false)].map(|candidate| attestation(liar, candidate));
        let [one, other] = pair;
        let evidence = Signed::Evidence(ConflictEvidence::new(one, other).unwrap());
        let outputs = second.step(received(evidence.clone()), 0);
        assert!(matches!(outputs[..2], [NodeOutput::Save, NodeOutput::Accepted { .. }]), "{outputs:?}");
        assert_eq!(refusal(&second.step(received(evidence), 1)), Some(MessageRefusal::Duplicate));
        if slashed {
            second.step(NodeEvent::Slashed { operator: owner(liar), id: ID, epoch: 0 }, 2);
        }
        assert!(!reports(&second.step(NodeEvent::Tick, 9_999)));
        assert_eq!(reports(&second.step(NodeEvent::Tick, 10_000)), !slashed);
    }
}

/// The contract slashes for an id once in each epoch. So an operator that had itself slashed, and signs a conflict of the same id
/// in the next epoch, is reported again, and once only.
#[test]
fn a_conflict_of_a_later_epoch_is_reported_again() {
    let reported = |outputs: &[NodeOutput]| {
        let epoch = |output: &NodeOutput| match output {
            NodeOutput::ReportConflict { evidence, .. } => Some(evidence.epoch()),
            _ => None,
        };
        outputs.iter().filter_map(epoch).collect::<Vec<_>>()
    };
    let (mut node, _) = aggregator(0);
    let liar = attester();
    node.step(attested(liar, candidate(true)), 0);
    assert_eq!(reported(&node.step(attested(liar, candidate(false)), 1)), [0]);
    node.step(NodeEvent::Slashed { operator: owner(liar), id: ID, epoch: 0 }, 2);
    let later = snapshot_of(1, 3);
    node.step(NodeEvent::Epoch(1), 3);
    node.step(NodeEvent::Snapshot(later.clone()), 4);
    node.step(task(1), 5);
    let ticks = |node: &mut Node, from: u64| -> Vec<u64> {
        (0..10).flat_map(|turn| reported(&node.step(NodeEvent::Tick, from + 30_000 * turn))).collect()
    };
    assert_eq!(ticks(&mut node, 100_000), [0; 0], "slashed for that");
    let again = Task { epoch: 1, snapshot: later.id(), performer: later.performer(ID).into(), ..candidate(false) };
    let mut found = reported(&node.step(attested(liar, again), 500_000));
    found.extend(ticks(&mut node, 510_000));
    assert!(!found.is_empty() && found.iter().all(|epoch| *epoch == 1), "{found:?}");
    node.step(NodeEvent::Slashed { operator: owner(liar), id: ID, epoch: 1 }, 900_000);
    assert_eq!(ticks(&mut node, 1_000_000), [0; 0], "once in the epoch");
    // The chain forgets the second slashing alone.
    let outputs = node.step(NodeEvent::Unslashed { operator: owner(liar), id: ID, epoch: 1 }, 2_000_000);
    assert_eq!(reported(&outputs).into_iter().chain(ticks(&mut node, 2_000_000)).next(), Some(1));
}

/// The contract refused the report of an earlier conflict again and again. That says nothing of the later one.
#[test]
fn a_conflict_of_a_later_epoch_waits_for_no_refusal_of_an_earlier_one() {
    let reports = |outputs: &[NodeOutput]| has(outputs, |output| matches!(output, NodeOutput::ReportConflict { .. }));
    let (mut node, _) = aggregator(0);
    let (liar, later) = (attester(), snapshot_of(1, 3));
    node.step(NodeEvent::Epoch(1), 0);
    node.step(NodeEvent::Snapshot(later.clone()), 0);
    node.step(task(1), 0);
    node.step(attested(liar, candidate(true)), 0);
    assert!(reports(&node.step(attested(liar, candidate(false)), 0)));
    node.step(NodeEvent::ReportFailed { operator: owner(liar), id: ID }, 100_000);
    assert!(!reports(&node.step(NodeEvent::Tick, 100_999)));
    let again = Task { epoch: 1, snapshot: later.id(), performer: later.performer(ID).into(), ..candidate(false) };
    assert!(reports(&node.step(attested(liar, again), 100_999)));
}

/// An operator whose conflict is known signs one candidate after another. Nobody verifies what adds nothing to the evidence.
#[test]
fn further_candidates_of_a_known_conflict_are_not_verified() {
    let (mut node, _) = aggregator(0);
    let liar = attester();
    let third = Task { result: B256::repeat_byte(3), ..candidate(true) };
    let screened = |node: &Node, candidate| node.screen(&Signed::Attestation(attestation(liar, candidate)));
    node.step(attested(liar, candidate(true)), 0);
    let conflicting = Err(MessageRefusal::Conflicting(liar));
    assert_eq!([screened(&node, candidate(false)), screened(&node, third)], [conflicting; 2]);
    node.step(attested(liar, candidate(false)), 1);
    let duplicate = Err(MessageRefusal::Duplicate);
    assert_eq!([screened(&node, candidate(false)), screened(&node, third)], [duplicate; 2]);
    assert!(!MessageRefusal::Duplicate.is_worth_verifying());

    // The same by results of the performer.
    for (bytes, expected) in
        [(b"one", Ok(())), (b"two", Err(MessageRefusal::Conflicting(performer()))), (b"six", duplicate)]
    {
        let message = Signed::Result(result(bytes));
        assert_eq!(node.screen(&message), expected);
        node.step(received(message), 2);
    }

    // A conflict of a later epoch is slashed again, so its halves are verified until there is evidence of it.
    let later = snapshot_of(1, 3);
    node.step(NodeEvent::Epoch(1), 3);
    node.step(NodeEvent::Snapshot(later.clone()), 4);
    node.step(task(1), 5);
    let same = Task { epoch: 1, snapshot: later.id(), performer: later.performer(ID).into(), ..candidate(true) };
    node.step(attested(liar, same), 6);
    assert_eq!(screened(&node, candidate(false)), conflicting);
    node.step(attested(liar, candidate(false)), 7);
    let again = Task { approved: false, ..same };
    assert_eq!([screened(&node, candidate(false)), screened(&node, again)], [duplicate; 2]);
    assert_eq!(node.footprint().conflicts, 2);
}

#[test]
fn evidence_against_two_operators_is_blamed_on_its_source() {
    let (mut node, _) = aggregator(0);
    let one = attestation(0, candidate(true));
    let evidence = ConflictEvidence::new(one, attestation(1, candidate(false))).unwrap();
    let refused = refusal(&node.step(received(Signed::Evidence(evidence)), 0)).unwrap();
    assert!(refused == MessageRefusal::NotOneOperator && refused.is_fault() && node.footprint().conflicts == 0);
}

/// One operator, two epochs, two verdicts about one result: the rule for two epochs.
#[test]
fn conflicts_in_two_epochs_are_found() {
    let later = snapshot_of(1, 3);
    let (mut node, _) = aggregator(0);
    node.step(NodeEvent::Epoch(1), 1);
    node.step(NodeEvent::Snapshot(later.clone()), 1);
    node.step(task(1), 1);
    let same = Task { epoch: 1, snapshot: later.id(), performer: later.performer(ID).into(), ..candidate(true) };
    node.step(attested(0, candidate(true)), 2);
    assert_eq!((refusal(&node.step(attested(0, same), 3)), node.footprint().conflicts), (None, 0));
    node.step(attested(1, candidate(true)), 4);
    node.step(attested(1, Task { approved: false, ..same }), 5);
    assert_eq!(node.footprint().conflicts, 1);
}

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

/// A node that only attests reports nothing, and its operator learns of a conflict all the same, of its own, too.
#[test]
fn each_conflict_is_told_once_whatever_the_roles() {
    let told = |outputs: &[NodeOutput]| {
        let of = |output: &NodeOutput| match output {
            NodeOutput::ConflictFound { operator, id } => Some((*operator, *id)),
            _ => None,
        };
        outputs.iter().filter_map(of).collect::<Vec<_>>()
    };
    let own = attester();
    for roles in [Roles { attest: true, ..Roles::default() }, EVERYTHING] {
        let mut node = with_task(own, roles);
        assert!(told(&node.step(attested(own, candidate(true)), 0)).is_empty());
        assert_eq!(told(&node.step(attested(own, candidate(false)), 1)), [(owner(own), ID)]);
        assert!(told(&node.step(attested(own, candidate(false)), 2)).is_empty());
        let Signed::Evidence(held) = evidence(own, 3) else { panic!("evidence") };
        let [first, second] = [(); 2].map(|()| node.step(received(Signed::Evidence(held.clone())), 3));
        assert_eq!((told(&first), told(&second)), (vec![(owner(own), held.id())], vec![]));
    }
}

/// A node that starts again counts the conflicts that it finds from then on, and not those on its disk.
#[test]
fn conflicts_on_the_disk_are_not_found_again() {
    let mut node = Node::new(settings(0, Roles::default()), 2, Saved::default());
    node.step(NodeEvent::Snapshot(snapshot()), 0);
    (0..3).for_each(|number| drop(node.step(received(evidence(1, number)), 0)));
    node.step(received(evidence(1, 0)), 0);
    assert_eq!((node.footprint().conflicts, node.conflicts_found()), (3, 3), "a duplicate is not another one");
    let mut again = Node::new(settings(0, Roles::default()), 2, node.saved().clone());
    again.step(NodeEvent::Snapshot(snapshot()), 1);
    assert_eq!((again.footprint().conflicts, again.conflicts_found()), (3, 0));
    again.step(received(evidence(1, 1)), 2);
    again.step(received(evidence(2, 1)), 2);
    assert_eq!((again.footprint().conflicts, again.conflicts_found()), (4, 1));
    // What is forgotten was found all the same.
    again.step(NodeEvent::Epoch(4), 3);
    assert_eq!((again.footprint().conflicts, again.conflicts_found()), (0, 1));
}

/// Evidence that an operator has signed two verdicts on a task with this number.
fn evidence(liar: u32, number: u64) -> Signed {
    let id = B256::left_padding_from(&number.to_be_bytes());
    let half = |approved| attestation(liar, Task { id, approved, ..candidate(true) });
    Signed::Evidence(ConflictEvidence::new(half(true), half(false)).unwrap())
}

/// Each report takes a share of what is left, so an operator that signs many conflicts cannot have a reporter pay for all of them.
#[test]
fn a_node_pays_for_few_reports_of_one_operator_in_an_epoch() {
    let reported = |outputs: &[NodeOutput]| {
        let of = |output: &NodeOutput| match output {
            NodeOutput::ReportConflict { operator, evidence } => Some((*operator, evidence.id())),
            _ => None,
        };
        outputs.iter().filter_map(of).collect::<Vec<_>>()
    };
    let mut node = node(0, Roles { aggregate: true, ..Roles::default() });
    let mut outputs = Vec::new();
    for number in 0..20 {
        outputs.extend(node.step(received(evidence(1, number)), 0));
    }
    outputs.extend(node.step(received(evidence(2, 30)), 0));
    // All turns have come, and no report was waited for long enough.
    outputs.extend(node.step(NodeEvent::Tick, 50_000));
    let first = reported(&outputs);
    let of = |liar| move |(operator, _): &&(Address, B256)| *operator == owner(liar);
    assert_eq!((first.iter().filter(of(1)).count(), first.iter().filter(of(2)).count()), (8, 1), "{first:?}");

    // A refused one is reported again, after longer and longer times, in its own place if no other waits for it.
    let (operator, id) = *first.iter().find(of(2)).unwrap();
    let mut now = 50_000;
    for wait in [1_000, 2_000, 4_000] {
        let outputs = node.step(NodeEvent::ReportFailed { operator, id }, now);
        assert!(!has(&outputs, |output| matches!(output, NodeOutput::Save)), "{outputs:?}");
        assert!(reported(&node.step(NodeEvent::Tick, now + wait - 1)).is_empty(), "{wait}");
        now += wait;
        assert_eq!(reported(&node.step(NodeEvent::Tick, now)), [(operator, id)]);
    }
    // Another one takes the place at once.
    let refused = *first.iter().find(of(1)).unwrap();
    let further = reported(&node.step(NodeEvent::ReportFailed { operator: owner(1), id: refused.1 }, now));
    assert!(matches!(further[..], [one] if one.0 == owner(1) && !first.contains(&one)), "{further:?}");
    assert!(reported(&node.step(NodeEvent::Tick, now + 1_000)).is_empty(), "eight are under way again");
    let second = reported(&node.step(NodeEvent::Epoch(1), now + 1_000));
    assert_eq!(second.len(), 8);
    let is_free =
        |report: &(Address, B256)| !further.contains(report) && (*report == refused || !first.contains(report));
    assert!(second.iter().all(|report| report.0 == owner(1) && is_free(report)), "{second:?}");
}

/// Different ids have different first reporters. So what others reported counts as well, and an id once.
#[test]
fn reports_of_others_count_too() {
    let reported = |outputs: &[NodeOutput]| {
        let of = |output: &NodeOutput| match output {
            NodeOutput::ReportConflict { operator, evidence } => Some((*operator, evidence.id())),
            _ => None,
        };
        outputs.iter().filter_map(of).collect::<Vec<_>>()
    };
    let id = |number: u64| B256::left_padding_from(&number.to_be_bytes());
    let slashed = |number| NodeEvent::Slashed { operator: owner(1), id: id(number), epoch: 0 };
    let mut node = node(0, Roles { aggregate: true, ..Roles::default() });
    (0..6).for_each(|number| drop(node.step(slashed(number), 0)));
    for (number, now) in [(6, 0), (7, 50_000)] {
        let mut outputs = node.step(received(evidence(1, number)), now);
        outputs.extend(node.step(NodeEvent::Tick, now + 50_000));
        assert_eq!(reported(&outputs), [(owner(1), id(number))], "{number}");
        node.step(slashed(number), now + 50_000);
    }
    let mut outputs = node.step(received(evidence(1, 8)), 100_000);
    outputs.extend(node.step(received(evidence(2, 9)), 100_000));
    outputs.extend(node.step(NodeEvent::Tick, 150_000));
    assert_eq!(reported(&outputs), [(owner(2), id(9))], "another operator has eight of its own");
    assert_eq!(reported(&node.step(NodeEvent::Epoch(1), 150_001)), [(owner(1), id(8))]);
}

/// A node that was away learns of a conflict when the task is closed. But an operator can sign as many ids as it likes, and not all
/// that is of no task is kept.
#[test]
fn evidence_without_its_task_is_taken_as_far_as_there_is_room() {
    let mut node = Node::new(settings(0, Roles::default()), 2, Saved::default());
    node.step(NodeEvent::Snapshot(snapshot()), 0);
    for number in 0..64 {
        let outputs = node.step(received(evidence(1, number)), 0);
        assert!(matches!(outputs[..2], [NodeOutput::Save, NodeOutput::Accepted { .. }]), "{outputs:?}");
    }
    assert_eq!(node.screen(&evidence(1, 64)), Err(MessageRefusal::UnknownTask));
    assert_eq!(node.screen(&evidence(1, 0)), Err(MessageRefusal::Duplicate));
    assert_eq!(node.screen(&evidence(2, 64)), Ok(()));
    assert_eq!(node.footprint().conflicts, 64);
    let long = node.saved().to_bytes();
    assert_eq!(Saved::from_bytes(&long).unwrap().to_bytes(), long);
}

/// An operator signs both verdicts of every task. The tasks make room for further ones, and their conflicts go with them.
#[test]
fn conflicts_of_tasks_that_made_room_are_bounded() {
    let few = NodeSettings { most_tasks: 4, ..settings(0, Roles { aggregate: true, ..Roles::default() }) };
    let mut node = Node::new(few, 0, Saved::default());
    node.step(NodeEvent::Snapshot(snapshot()), 0);
    for number in 0..200_u64 {
        let id = B256::left_padding_from(&number.to_be_bytes());
        node.step(NodeEvent::Task { id, epoch: 0, payload: Bytes::new() }, 0);
        let signed = |approved| Task { id, performer: snapshot().performer(id).into(), ..candidate(approved) };
        [true, false].into_iter().for_each(|approved| drop(node.step(attested(1, signed(approved)), 0)));
        node.step(NodeEvent::Settled { id, epoch: 0, finality: Finality::Final }, 0);
        assert!(node.footprint().conflicts <= 4 + 64, "{number}: {:?}", node.footprint());
    }
    assert_eq!((node.footprint().tasks, node.footprint().conflicts, node.conflicts_found()), (4, 4 + 64, 200));
    // Nothing of those that went wakes the node any more.
    node.step(NodeEvent::Tick, 50_000);
    assert_eq!(node.footprint().conflicts, 4 + 64);
    // The tasks go with their epoch, and the contract still takes evidence of it.
    node.step(NodeEvent::Epoch(2), 50_001);
    assert_eq!((node.footprint().tasks, node.footprint().conflicts), (0, 64));
    node.step(NodeEvent::Epoch(4), 50_002);
    assert_eq!(node.footprint().conflicts, 0);
}

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
