//! The transactions of one account: from a call to a transaction that is final.
//!
//! A call is simulated; if the contract refuses it, nothing is sent ([`SubmitEvent::Refused`]). Otherwise it gets a nonce and is
//! sent. If it is not mined in time, it is sent again with higher fees, and at last replaced by a transfer of nothing that takes
//! its nonce. If a reorganisation drops it, it is sent again. It is done when it is final.
//!
//! ```text
//! submit ── simulated ──> Sent ──> Mined ──> Final
//!               │           │ ╲      │
//!               │           │  Replaced, with higher fees      Undone: back to Sent
//!            Refused     GivenUp: its nonce went to a transfer of nothing
//! ```
//!
//! **After a crash.** What the process had sent and what was not mined is still with the chain's nodes. [`Submitter::start`]
//! finds these nonces (those that the node counts as pending, and not as mined). It does not know what they call, so it sends
//! nothing else until each of them is mined, and after [`SubmitSettings::bump_after`] it replaces them by transfers of nothing.
//! So a caller that submits the same call again after a restart does not pay twice: the call is simulated after the other was
//! mined or replaced, and the contract refuses what happened already. A transaction that was mined before the crash is not told
//! again; whoever needs to know asks the contract, as a follower does.
//!
//! **One account, one process.** Nobody else may send from the account meanwhile. If somebody does, a call whose nonce was taken
//! is simulated and sent anew.

mod fees;
mod machine;
mod payer;
mod driver;

use std::time::Duration;

use alloy::primitives::{Address, B256, Bytes};
use tokio::{
    sync::mpsc::{self, error::TrySendError},
    task::JoinHandle,
};

pub use payer::{Payer, PayerError};

use crate::{
    rpc::{Rpc, RpcError},
    task_network::{Confirmations, PlannedCall},
};
use driver::Driver;

/// How transactions are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "options with a default")]
pub struct SubmitSettings {
    /// The most that a unit of gas may cost, in gwei. A call waits while it costs more. The last ninth of it is kept for the
    /// replacement of a transaction that is given up.
    pub max_fee_gwei: u64,
    /// What the block's proposer gets for a unit of gas, in wei. Without it, the node says.
    pub tip: Option<u128>,
    /// How long a transaction may wait before it is sent again with higher fees.
    pub bump_after: Duration,
    /// How long a call may wait, from its submission on, before it is given up.
    pub give_up_after: Duration,
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
            max_fee_gwei: 500,
            tip: None,
            bump_after: Duration::from_secs(36),
            give_up_after: Duration::from_secs(600),
            confirmations: Confirmations::Finalized,
            poll: Duration::from_secs(2),
            most_in_flight: 16,
            most_waiting: 1_024,
        }
    }
}

/// A call to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "callers set all of it")]
pub struct Call<L = String> {
    /// What the caller calls it. Events name it.
    pub label: L,
    /// The contract.
    pub to: Address,
    /// The calldata.
    pub calldata: Bytes,
    /// The accounts of the access list (EIP-2930), without storage keys.
    pub access_list: Vec<Address>,
    /// The most gas that it may use. Without it, a tenth more than the node estimates.
    pub gas_limit: Option<u64>,
}

impl<L> Call<L> {
    /// A planned call. The node estimates its limit of gas.
    pub fn planned(label: L, call: PlannedCall) -> Self {
        let PlannedCall { to, calldata, access_list, .. } = call;
        Self { label, to, calldata, access_list, gas_limit: None }
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
        /// What it cost, in wei.
        fee_paid: u128,
        /// Whether it did what it should. If not, another transaction changed the contract's state first.
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
    /// It was not mined in time, and its nonce is used by something else. Nothing more happens to it, unless a reorganisation
    /// drops that and the call is mined after all.
    GivenUp {
        /// The call.
        label: L,
        /// Why.
        reason: String,
    },
}

/// Why a call is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubmitError {
    /// As many calls wait as allowed: the chain or the node is too slow, or nobody reads the events.
    #[error("as many calls wait as allowed; try again later")]
    Full,
    /// The submitter's task has ended.
    #[error("the submitter has ended")]
    Ended,
}

/// One account that sends transactions. Its work is done by a task, which ends when this is dropped; what was sent stays sent.
#[derive(Debug)]
pub struct Submitter<L = String> {
    inbox: mpsc::Sender<Call<L>>,
    address: Address,
    task: JoinHandle<()>,
}

/// The events that wait to be read. If so many wait, nothing more is sent until one is read.
const EVENTS: usize = 1_024;

impl<L: Clone + Send + Sync + 'static> Submitter<L> {
    /// Starts a task that sends transactions of an account. Needs a runtime of tokio, with time and network.
    ///
    /// # Errors
    /// The node does not answer.
    pub async fn start(
        rpc: Rpc,
        payer: Payer,
        settings: SubmitSettings,
    ) -> Result<(Self, mpsc::Receiver<SubmitEvent<L>>), RpcError> {
        let address = payer.address();
        let (inbox, calls) = mpsc::channel(settings.most_waiting.max(1));
        let (outbox, events) = mpsc::channel(EVENTS);
        let driver = Driver::new(rpc, payer, settings, calls, outbox).await?;
        Ok((Self { inbox, address, task: tokio::spawn(driver.run()) }, events))
    }

    /// The account.
    pub fn address(&self) -> Address {
        self.address
    }

    /// Takes a call, and returns at once. Calls are sent in this order, several at a time. A call that only succeeds after
    /// another one, such as a registration after its `approve`, is to be submitted after the other's `Mined`: it is simulated in
    /// the newest block's state.
    ///
    /// # Errors
    /// [`SubmitError`].
    pub fn submit(&self, call: Call<L>) -> Result<(), SubmitError> {
        self.inbox.try_send(call).map_err(|error| match error {
            TrySendError::Full(_) => SubmitError::Full,
            TrySendError::Closed(_) => SubmitError::Ended,
        })
    }
}

impl<L> Drop for Submitter<L> {
    fn drop(&mut self) {
        self.task.abort();
    }
}
