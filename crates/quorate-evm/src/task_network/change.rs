//! What is told of a network: its changes, in the order of the chain.

use std::sync::Arc;

use alloy_primitives::{Address, B256, Bytes, FixedBytes, U256};

use crate::{member_set::MemberSet, task::Finality};

/// A key of an epoch's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Who registered the key.
    pub owner: Address,
    /// Its weight in the epoch, in stake units; 0 if its operator left or replaced it.
    pub weight: u64,
    /// The key, as [`Network::keys`](crate::Network::keys) has it: `KeyGroup::member_bytes` bytes.
    pub key: Bytes,
}

/// What is fixed for an epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpochSnapshot {
    /// The epoch.
    pub epoch: u64,
    /// Names the snapshot in every signed digest.
    pub id: FixedBytes<20>,
    /// The random word that elects performers.
    pub beacon: B256,
    /// A quorum must weigh more than this.
    pub required: u128,
    /// The weight of all members.
    pub total: u128,
    /// The number of the key table whose indices the members have.
    pub table: u16,
    /// The members by index.
    pub members: Vec<Member>,
}

/// A change of a network. Amounts are in the token's smallest unit. Indices are those of the running table, or of the
/// table of the epoch that is named.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// The chain has a new newest block. Told once for all blocks that are new.
    Block {
        /// Its number.
        number: u64,
        /// Its hash.
        hash: B256,
        /// Its time in Unix time, in seconds.
        time: u64,
    },
    /// The newest block is of another epoch than the one before.
    Epoch(u64),
    /// The weights of an epoch were fixed. Not told for epochs whose conflicts can no longer be reported.
    Snapshot(Arc<EpochSnapshot>),
    /// A reorganisation removed the snapshot of an epoch.
    SnapshotRemoved {
        /// The epoch.
        epoch: u64,
    },
    /// A task was settled. If it was told as recent, it is told again when it is final.
    Settled {
        /// The task's id.
        id: B256,
        /// The epoch whose weights decided.
        epoch: u64,
        /// The index of the performer's key, as the quorum signed it: the contract takes any number for an approved task.
        performer: U256,
        /// The hash of the result.
        result: B256,
        /// Whether the quorum found the result right.
        approved: bool,
        /// Whether the pool paid for the task.
        rewarded: bool,
        /// The transaction.
        transaction: B256,
        /// The number of its block.
        block: u64,
        /// Whether that can be undone.
        finality: Finality,
    },
    /// A reorganisation undid the settlement of a task.
    Unsettled {
        /// The task's id.
        id: B256,
    },
    /// A quorum signed the tasks that the same transaction settled just before.
    Attested {
        /// The epoch whose weights decided.
        epoch: u64,
        /// The quorum.
        signers: MemberSet,
        /// Its weight.
        weight: u128,
        /// What was set aside for the signers. They share it by weight once the epoch is tallied.
        amount: u128,
        /// The transaction.
        transaction: B256,
    },
    /// An operator lost stake because it signed two tasks that conflict.
    Slashed {
        /// The operator.
        operator: Address,
        /// The tasks' id.
        id: B256,
        /// The later of the two tasks' epochs. For conflicts of this id up to it, the operator is not slashed again.
        epoch: u64,
        /// What it lost, the bounty included.
        amount: U256,
        /// What the reporter got.
        bounty: U256,
        /// Who reported it.
        reporter: Address,
    },
    /// A reorganisation undid that.
    Unslashed {
        /// The operator.
        operator: Address,
        /// The tasks' id.
        id: B256,
        /// The later of the two tasks' epochs.
        epoch: u64,
    },
    /// The performer of a rejected task lost stake.
    Penalised {
        /// The performer.
        operator: Address,
        /// The task's id.
        id: B256,
        /// What it lost.
        amount: U256,
    },
    /// An operator joined.
    Registered {
        /// The operator.
        operator: Address,
        /// The index of its key.
        index: u32,
        /// Its stake.
        stake: U256,
    },
    /// An operator added to its stake.
    StakeAdded {
        /// The operator.
        operator: Address,
        /// What was added.
        amount: U256,
        /// Its stake now.
        stake: U256,
    },
    /// An operator replaced its key.
    KeyRotated {
        /// The operator.
        operator: Address,
        /// The index of the old key.
        old: u32,
        /// The index of the new key.
        new: u32,
    },
    /// Stake left an operator's seat and waits to be paid out.
    WithdrawalRequested {
        /// The operator.
        operator: Address,
        /// What left the seat now.
        amount: U256,
        /// All that waits.
        pending: U256,
        /// The first second at which it can be paid out, in Unix time.
        payable_at: u64,
    },
    /// An operator gave up its seat, was outbid, or fell below the minimum.
    SeatVacated {
        /// The operator.
        operator: Address,
        /// The index of its key.
        index: u32,
    },
    /// An operator was paid what waited.
    Withdrawn {
        /// The operator.
        operator: Address,
        /// What was paid.
        amount: U256,
    },
    /// The pool grew by a gift.
    Funded {
        /// Who gave.
        from: Address,
        /// What the network received.
        amount: U256,
    },
    /// Rewards of an epoch were added up.
    Tallied {
        /// The epoch.
        epoch: u64,
        /// The root over what each key earned.
        root: B256,
        /// What went back to the pool.
        returned: U256,
        /// What each index earned in the epoch by this tally and all before it.
        earned: Vec<U256>,
    },
    /// The owner of a key was paid what it earned in an epoch.
    Claimed {
        /// The owner.
        operator: Address,
        /// The epoch.
        epoch: u64,
        /// The index of the key.
        index: u32,
        /// What was paid.
        amount: U256,
    },
    /// A reorganisation undid this change, which is one without an opposite of its own.
    Undone(Box<Self>),
}

impl Change {
    /// What is told when a reorganisation undoes this change; `None` if nothing is.
    pub(super) fn undone(&self) -> Option<Self> {
        Some(match self {
            Self::Block { .. } | Self::Epoch(_) => return None,
            Self::Snapshot(snapshot) => Self::SnapshotRemoved { epoch: snapshot.epoch },
            Self::Settled { id, .. } => Self::Unsettled { id: *id },
            Self::Slashed { operator, id, epoch, .. } => {
                Self::Unslashed { operator: *operator, id: *id, epoch: *epoch }
            }
            other => Self::Undone(Box::new(other.clone())),
        })
    }
}
