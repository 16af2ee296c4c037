//! What a submitter is asked to do, how it does it, and what it tells.

use std::time::Duration;

use alloy::primitives::{Address, B256, Bytes, U256};
use quorate_evm::task_network::PlannedCall;

use crate::{fees::FeeLimits, task_network::Confirmations};

/// How transactions are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmitSettings {
    /// The most that a unit of gas may cost. A call waits while the base fee is more; a tip that the base fee leaves no room for is cut.
    /// The last ninth of both limits is kept for the replacement of a transaction that is given up; only a first offer may tip all that
    /// is allowed, if the node asks for it, and then nothing replaces it.
    pub fees: FeeLimits,
    /// How long a transaction may wait before it is sent again with higher fees.
    pub bump_after: Duration,
    /// How long a call may wait, from its submission on, before it is given up.
    pub give_up_after: Duration,
    /// The chain's id. Nothing is signed for another chain; if it is not known here, the node is asked for it once, and believed.
    pub chain_id: Option<u64>,
    /// When a transaction is final.
    pub confirmations: Confirmations,
    /// How often the node is asked.
    pub poll: Duration,
    /// The most transactions that wait to be mined at a time.
    pub most_in_flight: usize,
    /// The most calls that wait to be sent.
    pub most_waiting: usize,
}

impl Default for SubmitSettings {
    fn default() -> Self {
        Self {
            fees: FeeLimits::default(),
            bump_after: Duration::from_secs(36),
            give_up_after: Duration::from_secs(600),
            chain_id: None,
            confirmations: Confirmations::Finalized,
            poll: Duration::from_secs(2),
            most_in_flight: 16,
            most_waiting: 1_024,
        }
    }
}

/// A call to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call<L = String> {
    /// What the caller calls it. Events name it.
    pub label: L,
    /// The contract.
    pub to: Address,
    /// The calldata.
    pub calldata: Bytes,
    /// What is sent to the contract, in wei.
    pub value: U256,
    /// The accounts of the access list (EIP-2930), without storage keys.
    pub access_list: Vec<Address>,
    /// The most gas that it may use. Without it, a tenth more than the node estimates.
    pub gas_limit: Option<u64>,
}

impl<L> Call<L> {
    /// A planned call. The node estimates its limit of gas.
    pub fn planned(label: L, call: PlannedCall) -> Self {
        let PlannedCall { to, calldata, access_list, .. } = call;
        Self { label, to, calldata, value: U256::ZERO, access_list, gas_limit: None }
    }
}

/// What happens to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubmitEvent<L = String> {
    /// It was sent for the first time, or anew with another nonce.
    Sent {
        /// The call.
        label: L,
        /// The transaction.
        transaction: B256,
        /// The account's nonce that it has.
        nonce: u64,
    },
    /// It was sent again with higher fees, or is being replaced by a transfer of nothing.
    Replaced {
        /// The call.
        label: L,
        /// The transaction that takes the place of the one before.
        transaction: B256,
        /// The most that it pays for a unit of gas, in wei.
        max_fee: u128,
    },
    /// It is in a block.
    Mined {
        /// The call.
        label: L,
        /// The transaction.
        transaction: B256,
        /// The number of the block.
        block: u64,
        /// The gas that it used.
        gas_used: u64,
        /// The most gas that it might use.
        gas_limit: u64,
        /// What it cost, in wei.
        fee_paid: u128,
        /// Whether it did what it should. [`why_reverted`](crate::gas::why_reverted) says why it did not.
        succeeded: bool,
    },
    /// Its block is final. Nothing more happens to it.
    Final {
        /// The call.
        label: L,
        /// The transaction.
        transaction: B256,
        /// The number of the block.
        block: u64,
        /// As in `Mined`.
        succeeded: bool,
    },
    /// Nothing more can be sent for a nonce at the moment: the node refuses it, or it would cost more than is allowed. What was sent before
    /// may still be mined. Until then the calls with later nonces wait. Told once for each nonce.
    Stuck {
        /// The call; none for a transaction of an earlier process, before which no call is sent.
        label: Option<L>,
        /// The nonce.
        nonce: u64,
        /// The node's words, or the cost.
        reason: String,
    },
    /// A reorganisation dropped the block that it was in. It is sent again.
    Undone {
        /// The call.
        label: L,
        /// The transaction.
        transaction: B256,
    },
    /// The contract or the node refuses it, so it was not sent. Nothing more happens to it.
    Refused {
        /// The call.
        label: L,
        /// The contract's error, or the node's, in words.
        reason: String,
    },
    /// It was not mined in time, and its nonce is used by something else. Nothing more happens to it, unless a
    /// reorganisation drops that and the call is mined after all.
    GivenUp {
        /// The call.
        label: L,
        /// The reason, in words.
        reason: String,
    },
}

impl<L> SubmitEvent<L> {
    /// The call, if it can do nothing more after this. One that a reorganisation undoes is open again: see [`Undone`](Self::Undone).
    ///
    /// A call that failed ends when it is mined. Its `Final` ends nothing: by then the same may have been submitted anew.
    pub fn ended(&self) -> Option<&L> {
        match self {
            Self::Refused { label, .. }
            | Self::GivenUp { label, .. }
            | Self::Mined { label, succeeded: false, .. }
            | Self::Final { label, succeeded: true, .. } => Some(label),
            Self::Sent { .. }
            | Self::Replaced { .. }
            | Self::Mined { .. }
            | Self::Final { .. }
            | Self::Stuck { .. }
            | Self::Undone { .. } => None,
        }
    }
}
