//! Two verdicts of one operator: found, told, reported in turn, and not kept without bound.

use quorate_evm::{
    Finality, Task,
    alloy_primitives::{Address, B256, Bytes},
};
use quorate_network::{
    groups::Audience,
    message::{ConflictEvidence, Signed},
    roles::{MessageRefusal, Node, NodeEvent, NodeOutput, NodeSettings, Roles, Saved},
};

use super::rig::{
    EVERYTHING, ID, aggregator, attestation, attested, attester, candidate, has, node, owner, performer, received,
    refusal, result, settings, snapshot, snapshot_of, task, with_task,
};

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
