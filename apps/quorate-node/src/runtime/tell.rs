//! What the chain, the peers and the node's transactions did, in the words of the board.

use std::{fmt, time::Instant};

use quorate_chain::{SubmitEvent, gas::why_reverted};
use quorate_evm::{
    Finality,
    alloy_primitives::{Address, B256},
    task_network::{Change, EpochSnapshot, Member},
};

use super::clock::{Clock, now};
use crate::{
    board::{
        self, BanRow, MemberReport, NodeBoard, PeerRow, PunishmentKind, PunishmentReport, SettledReport,
        SubmissionReport, SubmissionState,
    },
    transport::{BanReport, PeerReport},
};
use quorate_network::roles::TaskReport;

/// What a transaction is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purpose {
    /// It settles a task.
    Settle(B256),
    /// It reports a conflict.
    Report(Address, B256),
    /// It begins an epoch.
    BeginEpoch(u64),
    /// It weighs restaked operators for an epoch, of whom this is the first.
    Weigh(u64, Address),
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settle(id) => write!(f, "settle {id}"),
            Self::Report(operator, id) => write!(f, "report the conflict of {operator} in {id}"),
            Self::BeginEpoch(epoch) => write!(f, "begin epoch {epoch}"),
            Self::Weigh(epoch, operator) => write!(f, "weigh {operator} and others for epoch {epoch}"),
        }
    }
}

/// A transaction that this node sends: what the submitter calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sending {
    /// What it is for.
    pub purpose: Purpose,
    /// The gas that was planned for its call.
    pub estimate: Option<u64>,
}

/// Tells the board how far a task is, with times of the machine's clock in place of the node's own.
pub(super) fn task(board: &NodeBoard, clock: &Clock, mut report: TaskReport) {
    if let Some(ready) = report.round.as_mut().and_then(|round| round.ready.as_mut()) {
        (ready.begins, ready.turn) = (clock.shown(ready.begins), clock.shown(ready.turn));
    }
    board.task_report(report, now());
}

/// Tells the board a change of the chain, whose newest block is `head`.
pub(super) fn change(board: &NodeBoard, change: &Change, head: u64, now: u64) {
    match change {
        Change::Settled { id, finality: Finality::Final, .. } if board.is_settled(*id) => board.finalised(*id, now),
        Change::Settled { id, epoch, finality, .. } => {
            if let Some(report) = settled(change) {
                board.settled(*id, *epoch, report, now);
            }
            // A node that was away is told of the settlement when it is final already, and not before.
            if *finality == Finality::Final {
                board.finalised(*id, now);
            }
        }
        Change::Unsettled { id } => board.unsettled(*id),
        Change::Slashed { operator, id, epoch, amount, .. } => board.punished(PunishmentReport {
            operator: *operator,
            id: *id,
            kind: PunishmentKind::Slashed { epoch: *epoch },
            amount: *amount,
            at_block: head,
        }),
        Change::Unslashed { operator, id, epoch } => {
            board.unpunished(*operator, *id, PunishmentKind::Slashed { epoch: *epoch });
        }
        Change::Penalised { operator, id, amount } => board.punished(PunishmentReport {
            operator: *operator,
            id: *id,
            kind: PunishmentKind::Penalised,
            amount: *amount,
            at_block: head,
        }),
        Change::Undone(undone) => {
            if let Change::Penalised { operator, id, .. } = **undone {
                board.unpunished(operator, id, PunishmentKind::Penalised);
            }
        }
        Change::Snapshot(snapshot) => board.members(members(snapshot)),
        _ => {}
    }
}

/// A settlement as a row, without what its receipt says.
pub(super) fn settled(change: &Change) -> Option<SettledReport> {
    let Change::Settled { result, approved, rewarded, transaction, block, .. } = *change else { return None };
    let (gas_used, fee, by, signers) = (None, None, None, None);
    Some(SettledReport { approved, result, rewarded, transaction, block, gas_used, fee, by, signers })
}

fn members(snapshot: &EpochSnapshot) -> impl Iterator<Item = MemberReport> + '_ {
    let member = |(index, member): (u32, &Member)| MemberReport { index, owner: member.owner, weight: member.weight };
    (0..).zip(&snapshot.members).filter(|(_, member)| member.weight != 0).map(member)
}

/// A peer as a row.
pub(super) fn peer(peer: PeerReport, now: u64) -> PeerRow {
    let admitted_for = u64::try_from(peer.admitted_for.as_millis()).unwrap_or(u64::MAX);
    PeerRow {
        peer_id: peer.peer.to_string(),
        operator: Some(peer.operator),
        address: peer.address,
        since: now.saturating_sub(admitted_for),
        bytes_in: peer.bytes_in,
        bytes_out: peer.bytes_out,
        messages_in: peer.messages_in,
        messages_out: peer.messages_out,
        score: peer.score,
    }
}

/// A ban that the transport made, as a row.
pub(super) fn ban(ban: BanReport, now: u64) -> BanRow {
    let left = ban.until.saturating_duration_since(Instant::now());
    let address = ban.address.map(|address| address.to_string());
    // Strangers from the same address are refused too, so whoever reads this must know it.
    let reason = match (&ban.peer, &address) {
        (Some(_), Some(address)) => format!("{}; its address {address} is banned too", ban.reason),
        _ => ban.reason,
    };
    BanRow {
        peer_id: ban.peer.map(|peer| peer.to_string()).or(address).unwrap_or_else(|| "unknown".to_owned()),
        operator: ban.operator,
        reason,
        until: now.saturating_add(u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
    }
}

/// What became of a transaction.
pub(super) fn submission(event: &SubmitEvent<Sending>) -> Option<SubmissionReport> {
    let empty = |Sending { purpose, estimate }: &Sending, state| SubmissionReport {
        purpose: words(purpose),
        transaction: None,
        nonce: None,
        state,
        gas_used: None,
        fee: None,
        estimate: *estimate,
    };
    Some(match event {
        SubmitEvent::Sent { label, transaction, nonce } => SubmissionReport {
            transaction: Some(*transaction),
            nonce: Some(*nonce),
            ..empty(label, SubmissionState::Sent)
        },
        SubmitEvent::Replaced { label, transaction, .. } => {
            SubmissionReport { transaction: Some(*transaction), ..empty(label, SubmissionState::Replaced) }
        }
        SubmitEvent::Mined { label, transaction, gas_used, gas_limit, fee_paid, succeeded, .. } => {
            let state = if *succeeded {
                SubmissionState::Mined
            } else {
                SubmissionState::Refused(why_reverted(*gas_used, *gas_limit).to_owned())
            };
            SubmissionReport {
                transaction: Some(*transaction),
                gas_used: Some(*gas_used),
                fee: Some(*fee_paid),
                ..empty(label, state)
            }
        }
        SubmitEvent::Final { label, transaction, .. } => {
            SubmissionReport { transaction: Some(*transaction), ..empty(label, SubmissionState::Final) }
        }
        SubmitEvent::Refused { label, reason } => empty(label, SubmissionState::Refused(reason.clone())),
        SubmitEvent::GivenUp { label, .. } => empty(label, SubmissionState::GivenUp),
        SubmitEvent::Undone { label, .. } => empty(label, SubmissionState::Undone),
        _ => return None,
    })
}

fn words(purpose: &Purpose) -> board::Purpose {
    match *purpose {
        Purpose::Settle(id) => board::Purpose::Settle { id },
        Purpose::Report(operator, id) => board::Purpose::Report { operator, id },
        Purpose::BeginEpoch(_) | Purpose::Weigh(..) => board::Purpose::Other(purpose.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A settlement that failed is planned anew, and the first transaction becomes final only then.
    #[test]
    fn each_transaction_has_its_own_estimate() {
        let label = |estimate| Sending { purpose: Purpose::Settle(B256::ZERO), estimate: Some(estimate) };
        let (transaction, nonce) = (B256::repeat_byte(1), 7);
        let events = [
            SubmitEvent::Sent { label: label(1), transaction, nonce },
            SubmitEvent::Refused { label: label(1), reason: "in words".to_owned() },
            SubmitEvent::Sent { label: label(2), transaction, nonce },
            SubmitEvent::Final { label: label(1), transaction, block: 9, succeeded: false },
            SubmitEvent::Replaced { label: label(2), transaction, max_fee: 5 },
        ];
        let estimates = events.map(|event| submission(&event).unwrap().estimate);
        assert_eq!(estimates, [1, 1, 2, 1, 2].map(Some));
    }
}
