//! A `TaskNetwork` rebuilt from its logs and from the calldata of their transactions, and the calls of its operators and
//! aggregators. No I/O: `quorate-chain` asks a node.
//!
//! ```text
//! logs ── BlockLogs::of ──> blocks ── NetworkDraft::read, compare_… ──> NetworkDraft::finish ──> Changes, and a NetworkView
//! a quorum ── NetworkView::settle ──> a PlannedCall
//! ```
//!
//! A [`NetworkView`] is what was told. Whoever follows a chain makes a [draft](NetworkView::draft) of it, undoes what a
//! reorganisation removed, reads what is new, compares the draft with the contract, and finishes it. A draft that is dropped
//! changes nothing.
//!
//! | part | compared with |
//! |---|---|
//! | keys, their owners and tables | the id of each snapshot, which is a hash of all of them; indices and page numbers leave no gap |
//! | weights | their sum in the log, and the same id |
//! | snapshots | the contract's `snapshotOf`; where there is none in the logs, the contract has none |
//! | number of keys and pages | the verifier's `extent` |
//! | bases, from the calldata of `submitTasks` | the verifier's `commitmentAt`; one that differs is left out, which costs gas alone |
//!
//! The first two are compared while logs are read. The others take the contract's answers: without them, whoever made the logs
//! is believed.

mod contradiction;
mod terms;
mod change;
mod log;
mod calldata;
mod state;
mod history;
mod block;
mod plan;
mod calls;
mod view;
#[cfg(test)]
mod tests;

pub use self::{
    block::BlockLogs,
    calls::{
        add_stake, approve, carry, claim, compact, deregister, fund, parts_of_tally, register, request_withdrawal,
        rotate_key, share_of, snapshot, tally, weigh, withdraw,
    },
    change::{Change, EpochSnapshot, Member},
    contradiction::{BlockContradiction, Contradiction},
    log::{BlockId, PlacedLog, topics},
    plan::{CallError, PlannedCall, SignedTask, report_conflict, settle},
    terms::{ContractTerms, TermsError},
    view::{BasePlace, NetworkDraft, NetworkView},
};
