//! The logs of a network and of its verifier.

use alloy_primitives::{Address, B256, Bytes, FixedBytes, Log};
use alloy_sol_types::SolEvent as _;

use super::{change::Change, contradiction::Contradiction};
use crate::{
    contract::{TaskNetwork as Network, Verifier},
    follow::log::{number, read},
    member_set::{MemberSet, NotShortest},
    task::Finality,
};

/// A block by number and hash.
pub type BlockId = (u64, B256);

/// A log and its place in the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedLog {
    /// Its block.
    pub block: BlockId,
    /// The hash of its transaction.
    pub transaction: B256,
    /// Its index among the logs of the block.
    pub index: u64,
    /// The log.
    pub log: Log,
}

/// A log, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The verifier gave a key an index in a table.
    KeyAdded { table: u16, index: usize, key: Bytes },
    /// The verifier made a page of keys.
    KeysPaged { nonce: u64, table: u16, first: usize, keys: usize },
    /// Keys got indices in the next table.
    KeysCarried { table: u16, first: usize, indices: Bytes },
    /// The verifier made a page of weights.
    WeightsPaged { nonce: u64, epoch: u64, first: usize },
    /// A base of the running table was copied to a pinned slot.
    BasePinned { slot: u16, from: u16 },
    /// The weights of an epoch were fixed.
    Snapshotted { epoch: u64, total: u128, required: u128, table: u16, beacon: B256, id: FixedBytes<20> },
    /// A quorum signed the tasks that were settled just before.
    Attested { epoch: u64, signers: MemberSet, weight: u128, amount: u128 },
    /// What is told as it is: `TaskSettled`, which says `Recent`, and all that does not change what is planned with.
    Told(Change),
}

/// The topics of the verifier's logs.
const OF_VERIFIER: [B256; 5] = [
    Verifier::KeyAdded::SIGNATURE_HASH,
    Verifier::KeysPaged::SIGNATURE_HASH,
    Verifier::KeysCarried::SIGNATURE_HASH,
    Verifier::WeightsPaged::SIGNATURE_HASH,
    Verifier::BasePinned::SIGNATURE_HASH,
];

/// The topics of the network's logs.
const OF_NETWORK: [B256; 14] = [
    Network::Registered::SIGNATURE_HASH,
    Network::StakeAdded::SIGNATURE_HASH,
    Network::KeyRotated::SIGNATURE_HASH,
    Network::WithdrawalRequested::SIGNATURE_HASH,
    Network::SeatVacated::SIGNATURE_HASH,
    Network::Withdrawn::SIGNATURE_HASH,
    Network::EpochSnapshotted::SIGNATURE_HASH,
    Network::TaskSettled::SIGNATURE_HASH,
    Network::Attested::SIGNATURE_HASH,
    Network::Penalised::SIGNATURE_HASH,
    Network::Slashed::SIGNATURE_HASH,
    Network::Funded::SIGNATURE_HASH,
    Network::Tallied::SIGNATURE_HASH,
    Network::Claimed::SIGNATURE_HASH,
];

/// The topics of all logs that [`BlockLogs::of`](super::BlockLogs::of) reads.
pub fn topics() -> Vec<B256> {
    [&OF_VERIFIER[..], &OF_NETWORK].concat()
}

impl Event {
    /// Reads a log. `None` for a log of another contract, or of another topic.
    pub(super) fn decode(
        placed: &PlacedLog,
        network: Address,
        verifier: Address,
    ) -> Result<Option<Self>, Contradiction> {
        let PlacedLog { block: (block, _), transaction, ref log, .. } = *placed;
        let Some(topic) = log.topics().first() else { return Ok(None) };
        let emitter = if OF_VERIFIER.contains(topic) { verifier } else { network };
        if log.address != emitter {
            return Ok(None);
        }
        Ok(Some(match *topic {
            Verifier::KeyAdded::SIGNATURE_HASH => {
                let log = read::<Verifier::KeyAdded>(log)?;
                Self::KeyAdded { table: number(log.table)?, index: number(log.index)?, key: log.key }
            }
            Verifier::KeysPaged::SIGNATURE_HASH => {
                let log = read::<Verifier::KeysPaged>(log)?;
                let (nonce, table) = (number(log.nonce)?, number(log.table)?);
                Self::KeysPaged { nonce, table, first: number(log.first)?, keys: number(log.keys)? }
            }
            Verifier::KeysCarried::SIGNATURE_HASH => {
                let log = read::<Verifier::KeysCarried>(log)?;
                Self::KeysCarried { table: number(log.table)?, first: number(log.first)?, indices: log.indices }
            }
            Verifier::WeightsPaged::SIGNATURE_HASH => {
                let log = read::<Verifier::WeightsPaged>(log)?;
                Self::WeightsPaged { nonce: number(log.nonce)?, epoch: number(log.epoch)?, first: number(log.first)? }
            }
            Verifier::BasePinned::SIGNATURE_HASH => {
                let log = read::<Verifier::BasePinned>(log)?;
                Self::BasePinned { slot: number(log.slot)?, from: number(log.from)? }
            }
            Network::EpochSnapshotted::SIGNATURE_HASH => {
                let log = read::<Network::EpochSnapshotted>(log)?;
                Self::Snapshotted {
                    epoch: number(log.epoch)?,
                    total: number(log.total)?,
                    required: number(log.required)?,
                    table: number(log.table)?,
                    beacon: log.beacon,
                    id: log.id,
                }
            }
            Network::Attested::SIGNATURE_HASH => {
                let log = read::<Network::Attested>(log)?;
                let form = |error: NotShortest| Contradiction::Form { name: "Attested", why: error.to_string() };
                let signers = MemberSet::from_bytes(&log.signers).map_err(form)?;
                let (weight, amount) = (number(log.weight)?, number(log.amount)?);
                Self::Attested { epoch: number(log.epoch)?, signers, weight, amount }
            }
            Network::TaskSettled::SIGNATURE_HASH => {
                let log = read::<Network::TaskSettled>(log)?;
                Self::Told(Change::Settled {
                    id: log.id,
                    epoch: number(log.epoch)?,
                    performer: log.performer,
                    result: log.result,
                    approved: log.approved,
                    rewarded: log.rewarded,
                    transaction,
                    block,
                    finality: Finality::Recent,
                })
            }
            _ => match told(log)? {
                Some(change) => Self::Told(change),
                None => return Ok(None),
            },
        }))
    }
}

/// The logs that are told as they are.
fn told(log: &Log) -> Result<Option<Change>, Contradiction> {
    let Some(topic) = log.topics().first() else { return Ok(None) };
    Ok(Some(match *topic {
        Network::Registered::SIGNATURE_HASH => {
            let log = read::<Network::Registered>(log)?;
            Change::Registered { operator: log.operator, index: number(log.index)?, stake: log.stake }
        }
        Network::StakeAdded::SIGNATURE_HASH => {
            let log = read::<Network::StakeAdded>(log)?;
            Change::StakeAdded { operator: log.operator, amount: log.amount, stake: log.stake }
        }
        Network::KeyRotated::SIGNATURE_HASH => {
            let log = read::<Network::KeyRotated>(log)?;
            Change::KeyRotated { operator: log.operator, old: number(log.oldIndex)?, new: number(log.newIndex)? }
        }
        Network::WithdrawalRequested::SIGNATURE_HASH => {
            let log = read::<Network::WithdrawalRequested>(log)?;
            Change::WithdrawalRequested {
                operator: log.operator,
                amount: log.amount,
                pending: log.pending,
                payable_at: number(log.payableAt)?,
            }
        }
        Network::SeatVacated::SIGNATURE_HASH => {
            let log = read::<Network::SeatVacated>(log)?;
            Change::SeatVacated { operator: log.operator, index: number(log.index)? }
        }
        Network::Withdrawn::SIGNATURE_HASH => {
            let log = read::<Network::Withdrawn>(log)?;
            Change::Withdrawn { operator: log.operator, amount: log.amount }
        }
        Network::Penalised::SIGNATURE_HASH => {
            let log = read::<Network::Penalised>(log)?;
            Change::Penalised { operator: log.operator, id: log.id, amount: log.amount }
        }
        Network::Slashed::SIGNATURE_HASH => {
            let Network::Slashed { operator, id, epoch, amount, bounty, reporter } = read::<Network::Slashed>(log)?;
            Change::Slashed { operator, id, epoch: number(epoch)?, amount, bounty, reporter }
        }
        Network::Funded::SIGNATURE_HASH => {
            let log = read::<Network::Funded>(log)?;
            Change::Funded { from: log.from, amount: log.amount }
        }
        Network::Tallied::SIGNATURE_HASH => {
            let log = read::<Network::Tallied>(log)?;
            Change::Tallied { epoch: number(log.epoch)?, root: log.root, returned: log.returned, earned: log.earned }
        }
        Network::Claimed::SIGNATURE_HASH => {
            let log = read::<Network::Claimed>(log)?;
            let (epoch, index) = (number(log.epoch)?, number(log.index)?);
            Change::Claimed { operator: log.operator, epoch, index, amount: log.amount }
        }
        _ => return Ok(None),
    }))
}
