//! Networks of several groups: who publishes which sums, when, and what a node makes of those of others.

#![allow(clippy::unwrap_used, reason = "what a test cannot set up fails it")]

use std::sync::Arc;

use quorate_evm::{
    MemberSet, SnapshotId, Task,
    alloy_primitives::{Address, B256, Bytes},
};
use quorate_network::{
    election::Snapshot,
    groups::{Audience, Groups},
    message::{Attestation, Branch, PartialSum, PeerAnswer, PeerRequest, Signed, TaskResult, Verified, candidate_for},
    roles::{MessageRefusal, Node, NodeEvent, NodeOutput, NodeSettings, PeerSource, Roles, Saved, Settlement},
};

const ID: B256 = B256::repeat_byte(1);
const PEER: PeerSource = PeerSource(7);
const SIZE: usize = 4;
const GATHER: u64 = 100;
const RELIEF: u64 = 1_000;
const APPEAL: u64 = 20_000;

/// Twelve operators of weight 1 in three groups of four; a quorum must weigh more than 8.
fn snapshot() -> Arc<Snapshot> {
    snapshot_of(0)
}

fn snapshot_of(epoch: u64) -> Arc<Snapshot> {
    let members = (0..12).map(|index| (1, owner(index))).collect();
    Arc::new(Snapshot::new(epoch, SnapshotId::ZERO, B256::repeat_byte(3), members, 8).unwrap())
}

fn groups() -> Groups {
    Groups::new(&snapshot(), SIZE)
}

fn owner(index: u32) -> Address {
    Address::repeat_byte(index as u8 + 1)
}

/// A signature is the signer's index, and one, as a byte. A sum of signatures is the sum of the bytes.
fn add_up(signatures: &[&Bytes]) -> Option<Bytes> {
    Some(vec![signatures.iter().map(|bytes| bytes[0]).sum()].into())
}

fn signature(signers: &[u32]) -> Bytes {
    vec![signers.iter().map(|index| *index as u8 + 1).sum()].into()
}

fn settings(operator: u32) -> NodeSettings {
    NodeSettings {
        operator: Some(owner(operator)),
        roles: Roles { perform: true, attest: true, aggregate: true },
        ask_first: 1 << 40,
        ask_most: 1 << 41,
        stragglers: 0,
        turn: 0,
        group: SIZE,
        gather: GATHER,
        relief: RELIEF,
        appeal: APPEAL,
        add_up,
        ..NodeSettings::default()
    }
}

/// A node of an operator that knows the snapshot, the task and its result.
fn node(operator: u32) -> Node {
    let mut node = Node::new(settings(operator), 0, Saved::default());
    node.step(NodeEvent::Snapshot(snapshot()), 0);
    node.step(NodeEvent::Task { id: ID, epoch: 0, payload: Bytes::new() }, 0);
    node.step(received(Signed::Result(result())), 0);
    node
}

fn performer() -> u32 {
    snapshot().performer(ID)
}

fn result() -> TaskResult {
    let signature = signature(&[performer()]);
    TaskResult::new(0, SnapshotId::ZERO, ID, performer(), Bytes::from_static(b"result"), signature).unwrap()
}

fn candidate() -> Task {
    candidate_for(0, SnapshotId::ZERO, ID, performer(), b"result")
}

fn received(message: Signed) -> NodeEvent {
    NodeEvent::Received { source: PEER, message: Verified::by_the_caller(message) }
}

fn attested(index: u32) -> NodeEvent {
    received(Signed::Attestation(Attestation::new(candidate(), index, signature(&[index])).unwrap()))
}

fn set(indices: &[u32]) -> MemberSet {
    indices.iter().map(|index| *index as usize).collect()
}

/// The true sum of some members of a branch.
fn sum(branch: Branch, signers: &[u32]) -> PartialSum {
    let places = groups().places(branch, &set(signers)).unwrap();
    PartialSum::new(candidate(), branch, places, signature(signers)).unwrap()
}

fn group(number: u32) -> Branch {
    Branch { level: 0, number }
}

/// The members of a group that does not hold the performer, in the order in which they publish its sums.
fn summers() -> (Branch, Vec<u32>) {
    let groups = groups();
    let number = (0..3).find(|number| groups.group(performer()) != Some(*number)).unwrap();
    let purpose: [&[u8]; 3] = [b"quorate.sum", &[0], &number.to_be_bytes()];
    let members = groups.members(group(number)).iter().copied();
    (group(number), snapshot().draw(&purpose, ID, members, 8))
}

fn sums(outputs: &[NodeOutput]) -> Vec<&PartialSum> {
    outputs
        .iter()
        .filter_map(|output| match output {
            NodeOutput::Publish(Signed::Sum(sum), Audience::Everybody) => Some(sum),
            _ => None,
        })
        .collect()
}

fn refusal(outputs: &[NodeOutput]) -> Option<MessageRefusal> {
    outputs.iter().find_map(|output| match output {
        NodeOutput::Refused { refusal, .. } => Some(*refusal),
        _ => None,
    })
}

fn settlement(outputs: &[NodeOutput]) -> Option<&Settlement> {
    outputs.iter().find_map(|output| match output {
        NodeOutput::Settle(settlement) => Some(settlement),
        _ => None,
    })
}

/// The node's own attestation, approved and signed at a time.
fn attests(node: &mut Node, index: u32, now: u64) -> Vec<NodeOutput> {
    node.step(NodeEvent::Validated { candidate: candidate(), approved: true }, now);
    node.step(NodeEvent::Signed { candidate: candidate(), signature: signature(&[index]) }, now)
}

#[test]
fn an_attestation_goes_to_its_group_alone() {
    let (branch, order) = summers();
    let outputs = attests(&mut node(order[0]), order[0], 5);
    let own = Signed::Attestation(Attestation::new(candidate(), order[0], signature(&[order[0]])).unwrap());
    assert!(outputs.iter().any(
        |output| matches!(output, NodeOutput::Publish(message, Audience::Branch(0, of)) if *message == own && *of == branch)
    ));
    let heard = node(order[0]).audiences();
    assert_eq!(heard, [Audience::Everybody, Audience::Branch(0, branch)].into());
    // A node without stake hears what everybody hears.
    let mut stranger = Node::new(NodeSettings { operator: None, ..settings(0) }, 0, Saved::default());
    stranger.step(NodeEvent::Snapshot(snapshot()), 0);
    assert_eq!(stranger.audiences(), [Audience::Everybody].into());
}

#[test]
fn the_first_publishes_when_all_have_signed() {
    let (branch, order) = summers();
    let mut first = node(order[0]);
    assert!(sums(&attests(&mut first, order[0], 5)).is_empty());
    for index in &order[1..3] {
        assert!(sums(&first.step(attested(*index), 6)).is_empty());
    }
    let outputs = first.step(attested(order[3]), 7);
    assert_eq!(sums(&outputs), [&sum(branch, &order)]);
    assert!(sums(&first.step(NodeEvent::Tick, 1 << 30)).is_empty(), "once");
}

#[test]
fn the_second_publishes_if_the_first_is_silent() {
    let (branch, order) = summers();
    let complete = || {
        let mut second = node(order[1]);
        order.iter().for_each(|index| drop(second.step(attested(*index), 10)));
        second
    };
    let mut second = complete();
    assert!(sums(&second.step(NodeEvent::Tick, 10 + RELIEF - 1)).is_empty());
    assert_eq!(sums(&second.step(NodeEvent::Tick, 10 + RELIEF)), [&sum(branch, &order)]);
    // It saw the sum of the first.
    let mut second = complete();
    second.step(received(Signed::Sum(sum(branch, &order))), 20);
    assert!(sums(&second.step(NodeEvent::Tick, 1 << 30)).is_empty());
    // Its sum left one out: what is missing follows, and no more.
    let mut second = complete();
    second.step(received(Signed::Sum(sum(branch, &order[..3]))), 20);
    assert_eq!(sums(&second.step(NodeEvent::Tick, 10 + RELIEF)), [&sum(branch, &order[3..])]);
}

#[test]
fn what_is_missing_is_waited_for_and_published_later() {
    let (branch, order) = summers();
    let mut first = node(order[0]);
    first.step(attested(order[1]), 10);
    first.step(attested(order[2]), 50);
    assert!(sums(&first.step(NodeEvent::Tick, 10 + GATHER - 1)).is_empty());
    assert_eq!(sums(&first.step(NodeEvent::Tick, 10 + GATHER)), [&sum(branch, &order[1..3])]);
    // The last ones are there at once, but a node publishes one sum in so much time.
    attests(&mut first, order[0], 115);
    assert!(sums(&first.step(attested(order[3]), 120)).is_empty());
    let later = sums(&first.step(NodeEvent::Tick, 10 + 2 * GATHER)).into_iter().cloned().collect::<Vec<_>>();
    assert_eq!(later, [sum(branch, &[order[0], order[3]])]);
}

#[test]
fn sums_of_other_groups_settle() {
    let groups = groups();
    let (own, order) = summers();
    let mut node = node(order[3]);
    order.iter().for_each(|index| drop(node.step(attested(*index), 1)));
    let others: Vec<Branch> = (0..3).map(group).filter(|branch| *branch != own).collect();
    let with_performer = others.iter().find(|branch| groups.members(**branch).contains(&performer())).unwrap();
    let without = others.iter().find(|branch| *branch != with_performer).unwrap();
    // Four of the own group, and the performer: five. With a whole group nine, which is a quorum.
    let outputs = node.step(received(Signed::Sum(sum(*without, groups.members(*without)))), 2);
    let settled = settlement(&outputs).unwrap();
    let mut signers = [&order[..], groups.members(*without), &[performer()]].concat();
    assert_eq!((settled.candidate, &settled.signers), (candidate(), &set(&signers)));
    let pieces: Vec<_> = settled.signatures.iter().map(|(signers, _)| signers.len()).collect();
    assert_eq!(pieces.iter().sum::<usize>(), 9);
    assert!(pieces.contains(&4));
    let added = add_up(&settled.signatures.iter().map(|(_, signature)| signature).collect::<Vec<_>>());
    assert_eq!(added, Some(signature(&signers)));
    // The board counts them too. A sum that holds the performer's signature takes the place of the result's.
    node.step(received(Signed::Sum(sum(*with_performer, groups.members(*with_performer)))), 3);
    signers = (0..12).collect();
    let report = node.task_report(ID).unwrap().round.unwrap().leading.unwrap();
    assert_eq!((report.weight, report.signers), (12, set(&signers)));
}

#[test]
fn of_sums_that_overlap_the_one_with_more_signers_counts() {
    let groups = groups();
    let (own, order) = summers();
    let other =
        (0..3).map(group).find(|branch| *branch != own && !groups.members(*branch).contains(&performer())).unwrap();
    let members = groups.members(other).to_vec();
    let mut node = node(order[0]);
    let weight = |node: &Node| node.task_report(ID).unwrap().round.unwrap().leading.unwrap().weight;
    let mut give = |signers: &[u32]| {
        let outputs = node.step(received(Signed::Sum(sum(other, signers))), 1);
        (refusal(&outputs), weight(&node))
    };
    assert_eq!(give(&members[..2]), (None, 3));
    assert_eq!(give(&members[1..3]), (Some(MessageRefusal::Duplicate), 3), "as many");
    assert_eq!(give(&members[2..3]), (None, 4));
    assert_eq!(give(&members[1..4]), (Some(MessageRefusal::Duplicate), 4), "it would take the place of three");
    assert_eq!(give(&members), (None, 5));
    assert_eq!(give(&members[..3]), (Some(MessageRefusal::Duplicate), 5));
    assert_eq!(node.footprint().sums, 1);
    // Single attestations from elsewhere complete a sum, and count once.
    let mut node = self::node(order[0]);
    node.step(received(Signed::Sum(sum(other, &members[..3]))), 1);
    members.iter().for_each(|index| drop(node.step(attested(*index), 2)));
    assert_eq!(weight(&node), 5);
}

#[test]
fn what_is_no_sum_for_this_node_is_refused() {
    let (own, order) = summers();
    let mut node = node(order[0]);
    let true_one = sum(own, &order);
    let branch = |level, number| Branch { level, number };
    let of = |branch, places: &[usize]| {
        PartialSum::new(candidate(), branch, places.iter().copied().collect(), signature(&[0])).unwrap()
    };
    for (sum, expected, fault) in [
        (of(branch(0, 3), &[0]), MessageRefusal::NoSuchBranch(branch(0, 3)), true),
        (of(own, &[4]), MessageRefusal::NoSuchBranch(own), true),
        // The whole network publishes no sum: nobody is above it.
        (of(branch(1, 0), &[0]), MessageRefusal::NoSuchBranch(branch(1, 0)), true),
        (of(branch(255, u32::MAX), &[0]), MessageRefusal::NoSuchBranch(branch(255, u32::MAX)), true),
    ] {
        let found = refusal(&node.step(received(Signed::Sum(sum)), 1)).unwrap();
        assert_eq!((found, found.is_fault()), (expected, fault));
    }
    let other = Task { result: B256::ZERO, ..candidate() };
    let sum = PartialSum::new(other, own, true_one.signers().clone(), signature(&order)).unwrap();
    let found = refusal(&node.step(received(Signed::Sum(sum)), 1)).unwrap();
    assert_eq!((found, found.is_fault()), (MessageRefusal::OtherResult, false));
    let unknown = PartialSum::new(
        Task { snapshot: SnapshotId::repeat_byte(9), ..candidate() },
        own,
        true_one.signers().clone(),
        signature(&order),
    );
    assert_eq!(refusal(&node.step(received(Signed::Sum(unknown.unwrap())), 1)), Some(MessageRefusal::OtherSnapshot(0)));
    // Without the result nothing is known to be summed.
    let mut fresh = Node::new(settings(order[0]), 0, Saved::default());
    fresh.step(NodeEvent::Snapshot(snapshot()), 0);
    fresh.step(NodeEvent::Task { id: ID, epoch: 0, payload: Bytes::new() }, 0);
    assert_eq!(refusal(&fresh.step(received(Signed::Sum(true_one.clone())), 1)), Some(MessageRefusal::OtherResult));
    assert_eq!(node.footprint().sums, 0);
    assert_eq!(refusal(&node.step(received(Signed::Sum(true_one)), 1)), None);
}

/// With a fan-out of 16, 17 groups have two branches above them. Sums of the other branch's groups are not for this node.
#[test]
fn sums_of_far_groups_are_not_heard() {
    let members = (0..68).map(|_| (1, Address::ZERO)).collect();
    let snapshot = Snapshot::new(0, SnapshotId::ZERO, B256::repeat_byte(3), members, 46).unwrap();
    let groups = Groups::new(&snapshot, SIZE);
    assert_eq!(groups.top(), 2);
    let members = (0..68).map(|index| (1, owner(index))).collect();
    let snapshot = Arc::new(Snapshot::new(0, SnapshotId::ZERO, B256::repeat_byte(3), members, 46).unwrap());
    let own = groups.members(group(0)).iter().copied().find(|index| *index != snapshot.performer(ID)).unwrap();
    let mut node = Node::new(settings(own), 0, Saved::default());
    node.step(NodeEvent::Snapshot(snapshot.clone()), 0);
    node.step(NodeEvent::Task { id: ID, epoch: 0, payload: Bytes::new() }, 0);
    let performer = snapshot.performer(ID);
    let result = TaskResult::new(0, SnapshotId::ZERO, ID, performer, Bytes::new(), signature(&[performer])).unwrap();
    let candidate = *result.candidate();
    node.step(received(Signed::Result(result)), 0);
    let of = |branch: Branch| {
        let places = [0].into_iter().collect();
        Signed::Sum(PartialSum::new(candidate, branch, places, signature(&[groups.members(branch)[0]])).unwrap())
    };
    let mut refused = |branch| refusal(&node.step(received(of(branch)), 1));
    assert_eq!(refused(group(16)), Some(MessageRefusal::OtherBranch(group(16))));
    assert_eq!(refused(group(15)), None);
    assert_eq!(refused(Branch { level: 1, number: 1 }), None);
    let heard =
        [Audience::Everybody, Audience::Branch(0, group(0)), Audience::Branch(0, Branch { level: 1, number: 0 })];
    assert_eq!(node.audiences(), heard.into());
}

/// Whether a node publishes an operator's attestation to everybody.
fn appeals(outputs: &[NodeOutput], index: u32) -> bool {
    let to_all = |output: &NodeOutput| matches!(output, NodeOutput::Publish(Signed::Attestation(held), Audience::Everybody) if held.index() == index);
    outputs.iter().any(to_all)
}

#[test]
fn an_attester_without_a_quorum_appeals_to_everybody() {
    let (_, order) = summers();
    let mut node = node(order[2]);
    attests(&mut node, order[2], 30);
    assert!(!appeals(&node.step(NodeEvent::Tick, 30 + APPEAL - 1), order[2]));
    assert!(appeals(&node.step(NodeEvent::Tick, 30 + APPEAL), order[2]));
    assert!(!appeals(&node.step(NodeEvent::Tick, 30 + 9 * APPEAL), order[2]), "once");
}

/// A sum with more signers and less weight takes the place of the one that made the quorum.
#[test]
fn an_attester_appeals_if_the_quorum_is_gone_again() {
    let [own, other] = [0, 1].map(|number| groups().members(group(number)).to_vec());
    // One operator weighs 20, the other eleven 1 each.
    let heavy = other[0];
    let members = (0..12).map(|index| (if index == heavy { 20 } else { 1 }, owner(index))).collect();
    let snapshot = Arc::new(Snapshot::new(0, SnapshotId::ZERO, B256::repeat_byte(3), members, 20).unwrap());
    assert_eq!(Groups::new(&snapshot, SIZE).members(group(1)), other);
    let performs = |index: &u32| !other.contains(index) && *index != own[0];
    let id = (0..=255).map(B256::repeat_byte).find(|id| performs(&snapshot.performer(*id))).unwrap();
    let performer = snapshot.performer(id);
    let candidate = candidate_for(0, SnapshotId::ZERO, id, performer, b"result");
    let sum_of = |signers: &[u32]| {
        let places = groups().places(group(1), &set(signers)).unwrap();
        received(Signed::Sum(PartialSum::new(candidate, group(1), places, signature(signers)).unwrap()))
    };
    for (sums, expected) in [(&[&other[..2]][..], false), (&[&other[..2], &other[1..]], true)] {
        let mut node = Node::new(settings(own[0]), 0, Saved::default());
        let mut step = |event, now| node.step(event, now);
        step(NodeEvent::Snapshot(snapshot.clone()), 0);
        step(NodeEvent::Task { id, epoch: 0, payload: Bytes::new() }, 0);
        let result = Bytes::from_static(b"result");
        let result = TaskResult::new(0, SnapshotId::ZERO, id, performer, result, signature(&[performer])).unwrap();
        step(received(Signed::Result(result)), 0);
        step(NodeEvent::Validated { candidate, approved: true }, 30);
        step(NodeEvent::Signed { candidate, signature: signature(&[own[0]]) }, 30);
        for signers in sums {
            step(sum_of(signers), 31);
        }
        assert_eq!(appeals(&step(NodeEvent::Tick, 30 + APPEAL), own[0]), expected, "{sums:?}");
    }
}

/// With one beacon and the same stakes, two epochs have snapshots of one id. Their members meet at different places.
#[test]
fn epochs_of_one_snapshot_id_have_their_own_audiences() {
    let mut node = Node::new(settings(0), 0, Saved::default());
    node.step(NodeEvent::Snapshot(snapshot_of(0)), 0);
    node.step(NodeEvent::Epoch(1), 1);
    node.step(NodeEvent::Snapshot(snapshot_of(1)), 2);
    let own = group(groups().group(0).unwrap());
    let expected = [Audience::Everybody, Audience::Branch(0, own), Audience::Branch(1, own)];
    assert_eq!(node.audiences(), expected.into());
}

/// The question that a node asks at a time, and whom.
fn asks(node: &mut Node, now: u64) -> (PeerRequest, Audience) {
    let outputs = node.step(NodeEvent::Tick, now);
    let asked = outputs.into_iter().find_map(|output| match output {
        NodeOutput::Ask(request, whom) => Some((request, whom)),
        _ => None,
    });
    asked.unwrap()
}

/// What a node answers.
fn answers(node: &mut Node, request: PeerRequest) -> Option<PeerAnswer> {
    let outputs = node.step(NodeEvent::Asked { source: PEER, request }, 11);
    outputs.into_iter().find_map(|output| match output {
        NodeOutput::Answer { answer, .. } => Some(answer),
        _ => None,
    })
}

/// A node verifies the messages of one answer at the same time, and takes no sum before its result. So the sums are in the
/// next answer, which it asks for once it has the result.
#[test]
fn sums_are_answered_after_their_result() {
    let groups = groups();
    let (own, order) = summers();
    let other = (0..3).map(group).find(|branch| *branch != own).unwrap();
    let mut peer = node(order[1]);
    peer.step(received(Signed::Sum(sum(other, groups.members(other)))), 1);

    let soon = NodeSettings { ask_first: 10, ask_most: 1 << 20, ..settings(order[0]) };
    let mut asker = Node::new(soon, 0, Saved::default());
    asker.step(NodeEvent::Snapshot(snapshot()), 0);
    asker.step(NodeEvent::Task { id: ID, epoch: 0, payload: Bytes::new() }, 0);
    asks(&mut asker, 10);
    asks(&mut asker, 30);
    let (request, _) = asks(&mut asker, 70);
    let answer = answers(&mut peer, request).unwrap();
    assert_eq!((answer.results.len(), answer.sums.len()), (1, 0));

    asker.step(received(Signed::Result(answer.results[0].clone())), 80);
    let (request, _) = asks(&mut asker, 90);
    assert_eq!(answers(&mut peer, request).unwrap().sums, [sum(other, groups.members(other))]);
}

/// What sums hold is not asked for, and a peer answers with the sums that it has beyond that.
#[test]
fn sums_are_asked_for_and_answered() {
    let groups = groups();
    let (own, order) = summers();
    let others: Vec<Branch> = (0..3).map(group).filter(|branch| *branch != own).collect();
    let ask_soon = |operator| {
        let mut node =
            Node::new(NodeSettings { ask_first: 10, ask_most: 1 << 20, ..settings(operator) }, 0, Saved::default());
        node.step(NodeEvent::Snapshot(snapshot()), 0);
        node.step(NodeEvent::Task { id: ID, epoch: 0, payload: Bytes::new() }, 0);
        node.step(received(Signed::Result(result())), 0);
        node
    };
    let mut asker = ask_soon(order[0]);
    asker.step(received(Signed::Sum(sum(others[0], groups.members(others[0])))), 1);
    let (request, _) = asks(&mut asker, 10);
    let held = &request.tasks[0].ballots;
    let mut expected = groups.members(others[0]).to_vec();
    expected.push(performer());
    assert_eq!((held.len(), &held[0].signers), (1, &set(&expected)));

    let mut peer = node(order[1]);
    for branch in &others {
        peer.step(received(Signed::Sum(sum(*branch, groups.members(*branch)))), 1);
    }
    let answer = answers(&mut peer, request).unwrap();
    assert_eq!(answer.sums, [sum(others[1], groups.members(others[1]))]);
    assert!(answer.attestations.is_empty() && answer.results.is_empty());

    // Whoever is in sums of both verdicts is a suspect, and is not listed as held.
    let rejected = Task { approved: false, ..candidate() };
    let double = groups.members(others[0])[0];
    let places = groups.places(others[0], &set(&[double])).unwrap();
    let against = PartialSum::new(rejected, others[0], places, signature(&[double])).unwrap();
    let mut asker = ask_soon(order[0]);
    asker.step(received(Signed::Sum(sum(others[0], groups.members(others[0])))), 1);
    asker.step(received(Signed::Sum(against)), 1);
    let (request, first) = asks(&mut asker, 10);
    let [second, third, fourth] = [30, 70, 150].map(|now| asks(&mut asker, now).1);
    let suspected = Audience::Branch(0, others[0]);
    assert_eq!(
        [first, second, third, fourth],
        [Audience::Everybody, suspected, Audience::Branch(0, own), Audience::Everybody]
    );
    assert!(request.tasks[0].ballots.iter().all(|ballot| !ballot.signers.contains(double as usize)));
    // A peer that has the attestation itself sends it.
    let mut peer = node(order[1]);
    peer.step(attested(double), 1);
    assert_eq!(answers(&mut peer, request).unwrap().attestations[0].index(), double);
}
