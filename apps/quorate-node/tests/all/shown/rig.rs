//! Five operators, tasks of theirs, and reports of these.

use std::sync::Arc;

use quorate_evm::{
    MemberSet, SnapshotId,
    alloy_primitives::{Address, B256, U256},
    digest::Contract,
};
use quorate_network::{
    election::Snapshot,
    roles::{LeadingReport, ReadyReport, ResultReport, Roles, RoundPart, RoundReport, TaskReport},
};
use quorate_node::board::{
    ChainReport, Component, Expectations, IdentityReport, MemberReport, NodeBoard, PeerRow, Purpose, RewardsReport,
    SettledReport, SubmissionReport, SubmissionState, TaskView,
};

pub(crate) const EPOCH: u64 = 7;
pub(crate) const RESULT: B256 = B256::repeat_byte(0xee);

pub(crate) fn owner(index: u32) -> Address {
    Address::repeat_byte((index as u8).wrapping_add(1))
}

pub(crate) fn id(number: u64) -> B256 {
    B256::left_padding_from(&number.to_be_bytes())
}

/// Weights 10 to 50; a quorum must weigh more than 100 of 150.
pub(crate) fn snapshot() -> Arc<Snapshot> {
    let members = (0..5).map(|index| (u64::from(index + 1) * 10, owner(index))).collect();
    Arc::new(Snapshot::new(EPOCH, SnapshotId::repeat_byte(5), B256::ZERO, members, 100).unwrap())
}

/// A task without a result.
pub(crate) fn performing(id: B256) -> TaskReport {
    let round = RoundReport {
        snapshot: snapshot(),
        performer: 4,
        own: Some(0),
        part: RoundPart::Waiting,
        result: None,
        leading: None,
        against: 0,
        ready: None,
    };
    TaskReport { id, epoch: EPOCH, round: Some(round), settled: None }
}

/// A task whose result these have signed.
pub(crate) fn signed(id: B256, approved: bool, signers: &[u32]) -> TaskReport {
    let mut report = performing(id);
    let round = report.round.as_mut().unwrap();
    let weight = signers.iter().map(|index| u128::from(round.snapshot.weight(*index))).sum();
    let signers: MemberSet = signers.iter().map(|index| *index as usize).collect();
    round.result = Some(ResultReport { hash: RESULT, length: 7 });
    round.ready = (weight > 100).then_some(ReadyReport { begins: 5_000, turn: 41_000 });
    round.leading = Some(LeadingReport { result: RESULT, approved, signers, weight });
    report
}

pub(crate) fn settlement(approved: bool) -> SettledReport {
    SettledReport {
        approved,
        result: RESULT,
        rewarded: approved,
        transaction: B256::repeat_byte(0x77),
        block: 12,
        gas_used: None,
        fee: None,
        by: Some(owner(3)),
        signers: None,
    }
}

pub(crate) fn sent(id: B256) -> SubmissionReport {
    SubmissionReport {
        purpose: Purpose::Settle { id },
        transaction: Some(B256::repeat_byte(0x77)),
        nonce: Some(4),
        state: SubmissionState::Sent,
        gas_used: None,
        fee: None,
        estimate: Some(200_000),
    }
}

pub(crate) fn mined(id: B256) -> SubmissionReport {
    SubmissionReport { state: SubmissionState::Mined, gas_used: Some(201_000), fee: Some(1 << 60), ..sent(id) }
}

pub(crate) fn chain(epoch: u64) -> ChainReport {
    let snapshot = Some(SnapshotId::repeat_byte(5));
    ChainReport { head: 100, time: 1_000, final_block: 90, epoch, snapshot, behind: None }
}

pub(crate) fn peer(peer_id: &str, since: u64, bytes_in: u64) -> PeerRow {
    PeerRow {
        peer_id: peer_id.to_owned(),
        operator: Some(owner(1)),
        address: "/ip4/203.0.113.1/tcp/1".to_owned(),
        since,
        bytes_in,
        bytes_out: 2 * bytes_in,
        messages_in: 1,
        messages_out: 2,
        score: 0.5,
    }
}

pub(crate) fn empty() -> NodeBoard {
    NodeBoard::new(Expectations::default())
}

/// A board of an attester that has all it needs at the time 1,000,000.
pub(crate) fn ready() -> NodeBoard {
    ready_on(empty())
}

/// The same on a board that expects something else.
pub(crate) fn ready_on(board: NodeBoard) -> NodeBoard {
    identify(&board, Roles { attest: true, ..Roles::default() });
    board.problem(Component::Signer, None);
    board.problem(Component::Disk, None);
    board.chain(chain(EPOCH), 1_000_000);
    board.peers([peer("a", 0, 0)]);
    board.members((0..5).map(|index| MemberReport { index, owner: owner(index), weight: 10 * u64::from(index + 1) }));
    let amount = |number: u64| U256::from(number);
    let (earned, claimed, stake, pending) = (amount(2_500), amount(500), amount(10_000), amount(2_000));
    board.rewards(RewardsReport { earned, claimed, stake, pending, decimals: 3 });
    board
}

pub(crate) fn identify(board: &NodeBoard, roles: Roles) {
    board.set_identity(IdentityReport {
        network: Contract { chain_id: 31_337, address: Address::repeat_byte(0xcd) },
        operator: Some(owner(0)),
        roles,
        peer_id: "me".to_owned(),
        version: "1.2.3".to_owned(),
        started: 400_000,
    });
}

pub(crate) fn task(board: &NodeBoard, id: B256) -> Option<TaskView> {
    board.view(1_000_000).tasks.into_iter().find(|task| task.id == id)
}
