//! A network of five operators, a node of one of them, and what it hears.

use std::sync::Arc;

use quorate_evm::{
    SnapshotId, Task,
    alloy_primitives::{Address, B256, Bytes},
};
use quorate_network::{
    election::Snapshot,
    message::{Attestation, Signed, TaskResult, Verified, candidate_for},
    roles::{MessageRefusal, Node, NodeEvent, NodeOutput, NodeSettings, PeerSource, Roles, Saved, Settlement},
};

pub(super) const ID: B256 = B256::repeat_byte(0x1d);
pub(super) const PEER: PeerSource = PeerSource(9);
pub(super) const EVERYTHING: Roles = Roles { perform: true, attest: true, aggregate: true };

/// Five operators of weight 1; a quorum must weigh more than 3.
pub(super) fn snapshot_of(epoch: u64, id: u8) -> Arc<Snapshot> {
    let members = (0..5).map(|index| (1, owner(index))).collect();
    Arc::new(Snapshot::new(epoch, SnapshotId::repeat_byte(id), B256::repeat_byte(id), members, 3).unwrap())
}

pub(super) fn snapshot() -> Arc<Snapshot> {
    snapshot_of(0, 1)
}

pub(super) fn owner(index: u32) -> Address {
    Address::repeat_byte(index as u8 + 1)
}

pub(super) fn settings(operator: u32, roles: Roles) -> NodeSettings {
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
pub(super) fn node(operator: u32, roles: Roles) -> Node {
    let mut node = Node::new(settings(operator, roles), 0, Saved::default());
    node.step(NodeEvent::Snapshot(snapshot()), 0);
    node
}

pub(super) fn with_task(operator: u32, roles: Roles) -> Node {
    let mut node = node(operator, roles);
    node.step(task(0), 0);
    node
}

pub(super) fn task(epoch: u64) -> NodeEvent {
    NodeEvent::Task { id: ID, epoch, payload: Bytes::from_static(b"payload") }
}

pub(super) fn performer() -> u32 {
    snapshot().performer(ID)
}

/// An operator that was not elected.
pub(super) fn attester() -> u32 {
    (performer() + 1) % 5
}

pub(super) fn result(bytes: &'static [u8]) -> TaskResult {
    let bytes = Bytes::from_static(bytes);
    TaskResult::new(0, snapshot().id(), ID, performer(), bytes, Bytes::from_static(b"signature")).unwrap()
}

pub(super) fn candidate(approved: bool) -> Task {
    Task { approved, ..candidate_for(0, snapshot().id(), ID, performer(), b"result") }
}

pub(super) fn attestation(index: u32, candidate: Task) -> Attestation {
    Attestation::new(candidate, index, Bytes::from(vec![index as u8 + 1])).unwrap()
}

pub(super) fn received(message: Signed) -> NodeEvent {
    NodeEvent::Received { source: PEER, message: Verified::by_the_caller(message) }
}

pub(super) fn attested(index: u32, candidate: Task) -> NodeEvent {
    received(Signed::Attestation(attestation(index, candidate)))
}

pub(super) fn settlements(outputs: &[NodeOutput]) -> Vec<&Settlement> {
    outputs
        .iter()
        .filter_map(|output| if let NodeOutput::Settle(settlement) = output { Some(settlement) } else { None })
        .collect()
}

pub(super) fn has(outputs: &[NodeOutput], wanted: impl Fn(&NodeOutput) -> bool) -> bool {
    outputs.iter().any(wanted)
}

pub(super) fn refusal(outputs: &[NodeOutput]) -> Option<MessageRefusal> {
    outputs.iter().find_map(|output| match output {
        NodeOutput::Refused { refusal, .. } => Some(*refusal),
        _ => None,
    })
}

/// A node whose own attestation is not needed: an aggregator at the first place, or at another one.
pub(super) fn aggregator(place: usize) -> (Node, u32) {
    let operator = snapshot().aggregators(ID)[place];
    (with_task(operator, Roles { aggregate: true, ..Roles::default() }), operator)
}
