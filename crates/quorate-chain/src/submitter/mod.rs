//! The transactions of one account: from a call to a transaction that is final.
//!
//! A call is simulated; if the contract refuses it, nothing is sent ([`SubmitEvent::Refused`]). Otherwise it gets a
//! nonce and is sent; if the node does not take its first transaction, for its fees or for anything else, it is refused,
//! too. If it is not mined in time, it is sent again with higher fees, and at last replaced by a transfer of nothing that
//! takes its nonce. If a reorganisation drops it, it is sent again. It is done when it is final.
//!
//! ```text
//! submit ── simulated ──> Sent ──> Mined ──> Final
//!               │           │ ╲      │
//!               │           │  Replaced, with higher fees      Undone: back to Sent
//!            Refused     GivenUp: its nonce went to a transfer of nothing
//! ```
//!
//! **After a crash.** What the process had sent and what was not mined is still with the chain's nodes.
//! [`Submitter::start`] finds these nonces (those that the node counts as pending, and not as mined). It does not know
//! what they call, so it sends nothing else until each of them is mined, and after [`SubmitSettings::bump_after`] it
//! replaces them by transfers of nothing. So a caller that submits the same call again after a restart does not pay
//! twice: the call is simulated after the other was mined or replaced, and the contract refuses what happened already.
//! A transaction that was mined before the crash is not told again; whoever needs to know asks the contract, as a
//! follower does.
//!
//! **One account, one process.** Nobody else may send from the account meanwhile. If somebody does, a call whose nonce
//! was taken is simulated and sent anew.

mod call;
mod payer;
mod payer_file;
mod machine;
mod driver;

use alloy::primitives::Address;
use tokio::{
    sync::mpsc::{self, error::TrySendError},
    task::JoinHandle,
};

pub use call::{Call, SubmitEvent, SubmitSettings};
pub use payer::{Payer, PayerError};
pub use payer_file::{PayerFile, PayerFileError};

use crate::rpc::{Rpc, RpcError};
use driver::Driver;

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

/// One account that sends transactions. Its work is done by a task, which ends when this is dropped; what was sent
/// stays sent.
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

    /// Takes a call, and returns at once. Calls are sent in this order, several at a time. A call that only succeeds
    /// after another one, such as a registration after its `approve`, is to be submitted after the other's `Mined`: it
    /// is simulated in the newest block's state.
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
