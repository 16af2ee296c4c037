//! Reports of the state machine, event by event.

use std::sync::Arc;

use quorate_evm::{
    Finality, SnapshotId, Task,
    alloy_primitives::{B256, Bytes, keccak256},
};
use quorate_network::{
    election::Snapshot,
    message::{Attestation, Signed, TaskResult, Verified, candidate_for},
    roles::{
        Node, NodeEvent, NodeOutput, NodeSettings, PeerSource, Roles, RoundPart, Saved, SignerRefusal, TaskReport,
    },
};

use crate::shown::rig::owner;

const ID: B256 = B256::repeat_byte(0x1d);
const ALL: Roles = Roles { perform: true, attest: true, aggregate: true };

/// Five operators of weight 1; a quorum must weigh more than 3.
fn snapshot() -> Arc<Snapshot> {
    let members = (0..5).map(|index| (1, owner(index))).collect();
    Arc::new(Snapshot::new(0, SnapshotId::repeat_byte(1), B256::repeat_byte(1), members, 3).unwrap())
}

fn performer() -> u32 {
    snapshot().performer(ID)
}

/// An operator behind the performer.
fn other(number: u32) -> u32 {
    (performer() + number) % 5
}

fn node(own: u32, roles: Roles) -> Node {
    let settings =
        NodeSettings { operator: Some(owner(own)), roles, stragglers: 500, turn: 10_000, ..NodeSettings::default() };
    let mut node = Node::new(settings, 0, Saved::default());
    node.step(NodeEvent::Task { id: ID, epoch: 0, payload: Bytes::new() }, 0);
    node
}

fn report(node: &Node) -> TaskReport {
    let all: Vec<_> = node.tasks().collect();
    assert_eq!(all.as_slice(), [node.task_report(ID).unwrap()]);
    all[0].clone()
}

fn part(node: &Node) -> RoundPart {
    report(node).round.unwrap().part
}

fn candidate(approved: bool) -> Task {
    Task { approved, ..candidate_for(0, snapshot().id(), ID, performer(), b"result") }
}

fn receive(node: &mut Node, message: Signed, now: u64) -> Vec<NodeOutput> {
    node.step(NodeEvent::Received { source: PeerSource(1), message: Verified::by_the_caller(message) }, now)
}

fn attest(node: &mut Node, index: u32, candidate: Task, now: u64) {
    let attestation = Attestation::new(candidate, index, Bytes::from(vec![index as u8 + 1])).unwrap();
    receive(node, Signed::Attestation(attestation), now);
}

fn publish(node: &mut Node, now: u64) {
    let (bytes, signature) = (Bytes::from_static(b"result"), Bytes::from_static(b"s"));
    let result = TaskResult::new(0, snapshot().id(), ID, performer(), bytes, signature).unwrap();
    receive(node, Signed::Result(result), now);
}

#[test]
fn a_task_without_a_snapshot_has_no_round() {
    let node = node(0, ALL);
    let report = report(&node);
    assert_eq!((report.id, report.epoch, report.round, report.settled), (ID, 0, None, None));
    assert_eq!(node.task_report(B256::ZERO), None);
}

#[test]
fn an_attester_from_the_result_to_its_signature() {
    let own = other(1);
    let mut node = node(own, ALL);
    node.step(NodeEvent::Snapshot(snapshot()), 0);
    let round = report(&node).round.unwrap();
    assert_eq!((round.part, round.own, round.performer), (RoundPart::Waiting, Some(own), performer()));
    assert_eq!((round.result, round.leading.clone(), round.missing().count()), (None, None, 5));
    publish(&mut node, 10);
    let round = report(&node).round.unwrap();
    assert_eq!(round.part, RoundPart::Validating);
    assert_eq!(round.result.map(|result| (result.hash, result.length)), Some((keccak256(b"result"), 6)));
    assert_eq!(round.leading.as_ref().map(|held| (held.weight, held.approved)), Some((1, true)));
    node.step(NodeEvent::Validated { candidate: candidate(true), approved: true }, 20);
    assert_eq!(part(&node), RoundPart::Signing);
    node.step(NodeEvent::Signed { candidate: candidate(true), signature: Bytes::from_static(b"s") }, 30);
    let round = report(&node).round.unwrap();
    assert_eq!((round.part, round.leading.as_ref().unwrap().weight), (RoundPart::Signed, 2));
    let mut missing: Vec<_> = (2..5).map(|number| (other(number), owner(other(number)), 1)).collect();
    missing.sort_unstable();
    assert_eq!(round.missing().collect::<Vec<_>>(), missing);
}

#[test]
fn a_performer_performs() {
    let mut node = node(performer(), ALL);
    node.step(NodeEvent::Snapshot(snapshot()), 0);
    assert_eq!(part(&node), RoundPart::Performing);
    node.step(NodeEvent::Executed { id: ID, bytes: Bytes::from_static(b"result") }, 1);
    assert_eq!(part(&node), RoundPart::Signing);
    node.step(NodeEvent::SignRefused { candidate: candidate(true), refusal: SignerRefusal::Conflict }, 2);
    assert_eq!(part(&node), RoundPart::Abstained);
}

#[test]
fn a_node_without_the_role_has_no_part() {
    for own in [performer(), other(1)] {
        let mut node = node(own, Roles { aggregate: true, ..Roles::default() });
        node.step(NodeEvent::Snapshot(snapshot()), 0);
        assert_eq!(part(&node), RoundPart::None);
    }
    let mut stranger = node(77, ALL);
    stranger.step(NodeEvent::Snapshot(snapshot()), 0);
    assert_eq!((part(&stranger), report(&stranger).round.unwrap().own), (RoundPart::None, None));
}

#[test]
fn a_quorum_says_when_this_nodes_turn_begins() {
    let own = other(4);
    let mut node = node(own, Roles { aggregate: true, ..Roles::default() });
    node.step(NodeEvent::Snapshot(snapshot()), 0);
    publish(&mut node, 100);
    attest(&mut node, other(1), candidate(false), 200);
    for (number, now) in [(2, 300), (3, 400)] {
        attest(&mut node, other(number), candidate(true), now);
    }
    let round = report(&node).round.unwrap();
    assert_eq!((round.against, round.ready, round.has_quorum()), (1, None, false));
    attest(&mut node, own, candidate(true), 700);
    let round = report(&node).round.unwrap();
    let leading = round.leading.as_ref().unwrap();
    assert_eq!((leading.weight, leading.signers.len(), round.against, round.has_quorum()), (4, 4, 1, true));
    assert!(!leading.signers.contains(other(1) as usize));
    let ready = round.ready.unwrap();
    // All five have signed something, so nobody waits for stragglers.
    assert_eq!(ready.begins, 700);
    assert_eq!(ready.turn, 700 + 10_000 * snapshot().place(ID, Some(owner(own))));
}

#[test]
fn a_settlement_and_its_reorganisation() {
    let mut node = node(0, ALL);
    node.step(NodeEvent::Snapshot(snapshot()), 0);
    node.step(NodeEvent::Settled { id: ID, epoch: 0, finality: Finality::Recent }, 1);
    assert_eq!(report(&node).settled, Some(Finality::Recent));
    node.step(NodeEvent::Unsettled { id: ID }, 2);
    assert_eq!(report(&node).settled, None);
    node.step(NodeEvent::Settled { id: ID, epoch: 0, finality: Finality::Final }, 3);
    assert_eq!(report(&node).settled, Some(Finality::Final));
}

#[test]
fn a_liar_is_a_conflict_until_it_is_slashed() {
    let mut node = node(other(1), ALL);
    node.step(NodeEvent::Snapshot(snapshot()), 0);
    let liar = other(2);
    attest(&mut node, liar, candidate(true), 1);
    assert_eq!(node.conflicts().count(), 0);
    attest(&mut node, liar, candidate(false), 2);
    let found: Vec<_> = node.conflicts().collect();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].operator, found[0].id), (owner(liar), ID));
    assert!(found[0].reportable && !found[0].slashed && found[0].first.approved != found[0].second.approved);
    node.step(NodeEvent::Slashed { operator: owner(liar), id: ID, epoch: 0 }, 3);
    assert!(node.conflicts().next().unwrap().slashed);
    node.step(NodeEvent::SnapshotRemoved { epoch: 0 }, 4);
    assert!(!node.conflicts().next().unwrap().reportable);
}

/// After a restart without its state, a node gets its own signature back from a peer.
#[test]
fn an_own_signature_that_comes_from_a_peer_counts_as_given() {
    let own = other(1);
    let mut node = node(own, ALL);
    node.step(NodeEvent::Snapshot(snapshot()), 0);
    attest(&mut node, own, candidate(true), 1);
    assert_eq!(part(&node), RoundPart::Signed);
}
