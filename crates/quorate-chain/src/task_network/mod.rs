//! A `TaskNetwork` on its chain: followed block by block, and called.
//!
//! [`NetworkFollower::poll`] asks a node for what is new, and answers with [`Change`]s in the order of the chain. What a
//! reorganisation undoes comes first, newest first. [`NetworkFollower::network`] is what a quorum is planned with, and
//! [`settle`] plans it.
//!
//! What the node says is compared, and a node that lies is an error that changes nothing:
//!
//! | part | compared with |
//! |---|---|
//! | keys, their owners and tables | the id of each snapshot, which is a hash of all of them; indices and page numbers leave no gap |
//! | weights | their sum in the log, the same id, and the contract's `weightsOf` from which they are read |
//! | snapshots | the contract's `snapshotOf`; where there is none in the logs, the contract has none |
//! | settled tasks of epochs that are open, slashed operators | the contract's `isSettledAs` and `slashableFrom` |
//! | bases, from the calldata of `submitTasks` | the verifier's `commitmentAt`; one that differs is left out, which costs gas alone |
//!
//! [`Replay`] follows logs that were read before, without a node.
//!
//! NOT detected: that a node leaves out the log of a settled task, of a withdrawal or of a claim, and a node whose
//! contract states are made up as well as its logs. Ask a node of your own, or one that you trust.

mod change;
mod error;
mod terms;
mod log;
mod calldata;
mod state;
mod history;
mod plan;
mod calls;
mod follower;
mod replay;
#[cfg(test)]
mod tests;

pub use calls::{
    add_stake, approve, carry, claim, compact, deregister, fund, parts_of_tally, register, request_withdrawal,
    rotate_key, share_of, snapshot, tally, withdraw,
};
pub use change::{Change, EpochSnapshot, Member};
pub use error::{Contradiction, NetworkFollowError};
pub use follower::{Confirmations, FollowSettings, NetworkFollower};
pub use plan::{CallError, PlannedCall, SignedTask, report_conflict, settle};
pub use replay::Replay;
pub use terms::{ContractTerms, TermsError};
