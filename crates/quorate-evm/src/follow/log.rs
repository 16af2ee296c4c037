//! The logs of a settlement, and of its stake registrar, that say something about its network.

use std::sync::Arc;

use alloy_primitives::{B256, Bytes, Log, U256};
use alloy_sol_types::SolEvent;

use super::call::weights;
use crate::{
    contract::{OptimisticSettlement, Settlement, StakeRegistrar},
    posting::{Moment, PostedResults, ProofDemand},
};

/// A log of a settlement. All settlements emit the same logs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettlementEvent {
    /// A key was given an index in a table.
    KeyAdded {
        /// The table.
        table: u16,
        /// The index.
        index: usize,
        /// The key, as the contract keeps it.
        key: Bytes,
    },
    /// Keys were copied to a page.
    KeysPaged {
        /// The page's nonce.
        nonce: u32,
        /// The table whose indices they have.
        table: u16,
        /// The index of the page's first key.
        first: usize,
        /// The number of its keys.
        keys: usize,
    },
    /// Keys were carried to the next table.
    KeysCarried {
        /// The next table.
        table: u16,
        /// The first key's index in it.
        first: usize,
        /// Their indices in the running table.
        indices: Vec<usize>,
    },
    /// Weights of an epoch were published in a page.
    WeightsPaged {
        /// The page's nonce.
        nonce: u32,
        /// The epoch.
        epoch: u32,
        /// The index of the page's first weight.
        first: usize,
    },
    /// Weights of the next epoch were prepared.
    WeightsPrepared {
        /// How many were prepared before. With none, the preparation began anew.
        members: usize,
        /// How many these are.
        weights: usize,
    },
    /// A stake registrar is about to begin an epoch, in the same transaction. Its calldata has no weights.
    EpochWeighed {
        /// The weight that a quorum needs.
        required: u128,
        /// The weights by index.
        weights: Vec<u64>,
    },
    /// An epoch was begun.
    EpochBegun {
        /// Its terms: a head, with zeros for nonce and paid.
        terms: U256,
    },
    /// An epoch was entered.
    EpochEntered {
        /// The head after the call.
        head: U256,
        /// The commitment of the newest base after the call.
        newest: B256,
    },
    /// Results were settled.
    Settled {
        /// The head after the call.
        head: U256,
        /// The commitment of the newest base after the call.
        newest: B256,
        /// The results.
        results: Vec<B256>,
    },
    /// A base was copied to a pinned slot.
    BasePinned {
        /// The pinned slot.
        slot: u16,
        /// The slot that was copied.
        from: u16,
    },
    /// Results were posted without a proof.
    Posted {
        /// The head after the call.
        head: U256,
        /// The commitment of the newest base, which a posting does not change.
        newest: B256,
        /// The posting. Its head is the one before the call.
        posting: Arc<PostedResults>,
    },
    /// The proof of a posting was demanded.
    PostingDemanded {
        /// The posting.
        id: B256,
        /// The demand.
        demand: ProofDemand,
    },
    /// A posting was proven, and is settled.
    PostingProven {
        /// The posting.
        id: B256,
    },
    /// A demand was not answered in time.
    PostingDropped {
        /// The posting.
        id: B256,
    },
    /// Results were proven for the numbers of a posting, which does not count.
    PostingDisplaced {
        /// The posting that was there. The one that is there now is settled.
        id: B256,
    },
    /// A final posting was finished, and is settled.
    PostingFinished {
        /// The posting.
        id: B256,
    },
}

/// A log has the topic of a settlement's log, but not its form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the log {name} does not have the form of a settlement's: {why}")]
pub struct BadLog {
    /// The name of the log.
    pub name: &'static str,
    /// What is wrong with it.
    pub why: String,
}

impl SettlementEvent {
    /// The topics of all logs that [`decode`](Self::decode) reads.
    pub const TOPICS: [B256; 17] = [
        Settlement::KeyAdded::SIGNATURE_HASH,
        Settlement::KeysPaged::SIGNATURE_HASH,
        Settlement::KeysCarried::SIGNATURE_HASH,
        Settlement::WeightsPaged::SIGNATURE_HASH,
        Settlement::WeightsPrepared::SIGNATURE_HASH,
        Settlement::EpochBegun::SIGNATURE_HASH,
        Settlement::EpochEntered::SIGNATURE_HASH,
        Settlement::Settled::SIGNATURE_HASH,
        Settlement::SettledAll::SIGNATURE_HASH,
        Settlement::BasePinned::SIGNATURE_HASH,
        OptimisticSettlement::Posted::SIGNATURE_HASH,
        OptimisticSettlement::Demanded::SIGNATURE_HASH,
        OptimisticSettlement::Proven::SIGNATURE_HASH,
        OptimisticSettlement::Dropped::SIGNATURE_HASH,
        OptimisticSettlement::Displaced::SIGNATURE_HASH,
        OptimisticSettlement::Finished::SIGNATURE_HASH,
        Self::TOPIC_OF_REGISTRAR,
    ];

    /// The one of these topics that is read of the settlement's registrar, and of no other contract. The others are read of the
    /// settlement alone.
    pub const TOPIC_OF_REGISTRAR: B256 = StakeRegistrar::EpochWeighed::SIGNATURE_HASH;

    /// Those of these topics whose logs say which head and which newest base the next call [passes](Self::passed).
    pub const TOPICS_WITH_HEAD: [B256; 4] = [
        Settlement::EpochEntered::SIGNATURE_HASH,
        Settlement::Settled::SIGNATURE_HASH,
        Settlement::SettledAll::SIGNATURE_HASH,
        OptimisticSettlement::Posted::SIGNATURE_HASH,
    ];

    /// The names of all events, as [`name`](Self::name) has them.
    pub const NAMES: [&str; 16] = [
        "key_added",
        "keys_paged",
        "keys_carried",
        "weights_paged",
        "weights_prepared",
        "epoch_weighed",
        "epoch_begun",
        "epoch_entered",
        "settled",
        "base_pinned",
        "posted",
        "posting_demanded",
        "posting_proven",
        "posting_dropped",
        "posting_displaced",
        "posting_finished",
    ];

    /// A word for metrics.
    pub fn name(&self) -> &'static str {
        let [added, paged, carried, weights, prepared, weighed, begun, entered, settled, pinned, of_postings @ ..] =
            Self::NAMES;
        let [posted, demanded, proven, dropped, displaced, finished] = of_postings;
        match self {
            Self::KeyAdded { .. } => added,
            Self::KeysPaged { .. } => paged,
            Self::KeysCarried { .. } => carried,
            Self::WeightsPaged { .. } => weights,
            Self::WeightsPrepared { .. } => prepared,
            Self::EpochWeighed { .. } => weighed,
            Self::EpochBegun { .. } => begun,
            Self::EpochEntered { .. } => entered,
            Self::Settled { .. } => settled,
            Self::BasePinned { .. } => pinned,
            Self::Posted { .. } => posted,
            Self::PostingDemanded { .. } => demanded,
            Self::PostingProven { .. } => proven,
            Self::PostingDropped { .. } => dropped,
            Self::PostingDisplaced { .. } => displaced,
            Self::PostingFinished { .. } => finished,
        }
    }

    /// Reads a log. `None` for a log that says nothing about the network.
    ///
    /// # Errors
    /// [`BadLog`].
    pub fn decode(log: &Log) -> Result<Option<Self>, BadLog> {
        let Some(topic) = log.topics().first() else { return Ok(None) };
        Ok(Some(match *topic {
            Settlement::KeyAdded::SIGNATURE_HASH => {
                let log = read::<Settlement::KeyAdded>(log)?;
                Self::KeyAdded { table: number(log.table)?, index: number(log.index)?, key: log.key }
            }
            Settlement::KeysPaged::SIGNATURE_HASH => {
                let log = read::<Settlement::KeysPaged>(log)?;
                let (nonce, table) = (number(log.nonce)?, number(log.table)?);
                Self::KeysPaged { nonce, table, first: number(log.first)?, keys: number(log.keys)? }
            }
            Settlement::KeysCarried::SIGNATURE_HASH => {
                let log = read::<Settlement::KeysCarried>(log)?;
                let index = |bytes: &[u8]| bytes.iter().fold(0, |index, byte| index << 8 | usize::from(*byte));
                // The contract ignores a rest of fewer than 4 bytes.
                let indices = log.indices.chunks_exact(4).map(index).collect();
                Self::KeysCarried { table: number(log.table)?, first: number(log.first)?, indices }
            }
            Settlement::WeightsPaged::SIGNATURE_HASH => {
                let log = read::<Settlement::WeightsPaged>(log)?;
                Self::WeightsPaged { nonce: number(log.nonce)?, epoch: number(log.epoch)?, first: number(log.first)? }
            }
            Settlement::WeightsPrepared::SIGNATURE_HASH => {
                let log = read::<Settlement::WeightsPrepared>(log)?;
                let length: usize = number(log.length)?;
                Self::WeightsPrepared { members: number(log.members)?, weights: length / 8 }
            }
            Settlement::EpochBegun::SIGNATURE_HASH => {
                Self::EpochBegun { terms: read::<Settlement::EpochBegun>(log)?.terms }
            }
            Settlement::EpochEntered::SIGNATURE_HASH => {
                let log = read::<Settlement::EpochEntered>(log)?;
                Self::EpochEntered { head: log.head, newest: log.newest }
            }
            Settlement::Settled::SIGNATURE_HASH => {
                let log = read::<Settlement::Settled>(log)?;
                Self::Settled { head: log.head, newest: log.newest, results: vec![log.result] }
            }
            Settlement::SettledAll::SIGNATURE_HASH => {
                let log = read::<Settlement::SettledAll>(log)?;
                Self::Settled { head: log.head, newest: log.newest, results: log.results }
            }
            Settlement::BasePinned::SIGNATURE_HASH => {
                let log = read::<Settlement::BasePinned>(log)?;
                Self::BasePinned { slot: number(log.slot)?, from: number(log.from)? }
            }
            OptimisticSettlement::Posted::SIGNATURE_HASH => {
                let packed = read::<OptimisticSettlement::Posted>(log)?.posting;
                let (head, newest, posting) =
                    PostedResults::of_log(&packed).map_err(|why| BadLog { name: "Posted", why })?;
                Self::Posted { head, newest, posting: posting.into() }
            }
            OptimisticSettlement::Demanded::SIGNATURE_HASH => {
                let OptimisticSettlement::Demanded { id, challenger, when } = read(log)?;
                Self::PostingDemanded { id, demand: ProofDemand { challenger, when: Moment::of_word(when) } }
            }
            OptimisticSettlement::Proven::SIGNATURE_HASH => {
                Self::PostingProven { id: read::<OptimisticSettlement::Proven>(log)?.id }
            }
            OptimisticSettlement::Dropped::SIGNATURE_HASH => {
                Self::PostingDropped { id: read::<OptimisticSettlement::Dropped>(log)?.id }
            }
            OptimisticSettlement::Displaced::SIGNATURE_HASH => {
                Self::PostingDisplaced { id: read::<OptimisticSettlement::Displaced>(log)?.id }
            }
            OptimisticSettlement::Finished::SIGNATURE_HASH => {
                Self::PostingFinished { id: read::<OptimisticSettlement::Finished>(log)?.id }
            }
            StakeRegistrar::EpochWeighed::SIGNATURE_HASH => {
                let log = read::<StakeRegistrar::EpochWeighed>(log)?;
                let rest = || BadLog { name: "EpochWeighed", why: "its weights are not of 8 bytes each".to_owned() };
                Self::EpochWeighed { required: number(log.required)?, weights: weights(&log.weights).ok_or_else(rest)? }
            }
            _ => return Ok(None),
        }))
    }

    /// The head and the newest base's commitment that the next call passes, if the log says so: see
    /// [`TOPICS_WITH_HEAD`](Self::TOPICS_WITH_HEAD).
    pub fn passed(&self) -> Option<(U256, B256)> {
        match self {
            Self::EpochEntered { head, newest }
            | Self::Settled { head, newest, .. }
            | Self::Posted { head, newest, .. } => Some((*head, *newest)),
            _ => None,
        }
    }

    /// Whether the log alone does not say all, so that [`Follower::apply`](super::Follower::apply) reads the rest from the
    /// calldata of its transaction.
    pub fn needs_calldata(&self) -> bool {
        match self {
            Self::Settled { .. } | Self::WeightsPrepared { .. } | Self::EpochBegun { .. } => true,
            // The key in G2 that belongs to a key in G1 is in no log.
            Self::KeyAdded { key, .. } => key.len() == crate::KeyGroup::Bn254G1.key_bytes(),
            Self::KeysPaged { .. }
            | Self::KeysCarried { .. }
            | Self::WeightsPaged { .. }
            | Self::EpochWeighed { .. }
            | Self::EpochEntered { .. }
            | Self::BasePinned { .. }
            | Self::Posted { .. }
            | Self::PostingDemanded { .. }
            | Self::PostingProven { .. }
            | Self::PostingDropped { .. }
            | Self::PostingDisplaced { .. }
            | Self::PostingFinished { .. } => false,
        }
    }
}

pub(crate) fn read<E: SolEvent>(log: &Log) -> Result<E, BadLog> {
    let name = E::SIGNATURE.split('(').next().unwrap_or(E::SIGNATURE);
    E::decode_log_data(&log.data).map_err(|error| BadLog { name, why: error.to_string() })
}

pub(crate) fn number<T: TryFrom<U256>>(word: U256) -> Result<T, BadLog> {
    T::try_from(word).map_err(|_| BadLog { name: "of numbers", why: format!("{word} is too large") })
}
