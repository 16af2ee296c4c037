//! The roles of a node as one state machine: [`Node::step`] takes an [`NodeEvent`] and the time, and gives [`NodeOutput`]s.
//!
//! ```text
//!              operator's source ── Task ─┐                       ┌─ Execute, Validate ── user's programs
//! Epoch, Snapshot, Settled, Slashed ──────┤                       ├─ Sign ─────────────── signer
//!      (and what reorganisations undo)    ├──> Node::step(now) ───┼─ Publish, Ask, Answer ─ peers
//!        peers ── Received, Asked ────────┤                       ├─ Settle, ReportConflict ── chain
//! Executed, Validated, Signed, Tick ──────┘                       └─ Save, WakeAt ───────── disk, clock
//! ```
//!
//! `step` changes the state in place and is a function of state, event and time alone: maps have an order, and there is no
//! clock, random number, file or socket. So a run can be repeated from its events.
//!
//! A task in one epoch under one snapshot is a *round*:
//!
//! ```text
//! task known, snapshot known
//!    └── the elected performer: Execute ── Sign ── Publish(result)
//!           └── each attester: Validate ── Sign ── Publish(attestation)
//!                  └── each aggregator counts; weight > required: wait for stragglers and for its turn ── Settle
//! ```
//!
//! In a network of more than [`GROUP`](crate::groups::GROUP) members an attestation goes to its group alone, and sums of the
//! groups' signatures go up to everybody ([`groups`](crate::groups)).
//!
//! # Bounds
//! Only the operator's own source adds tasks, and at most `most_tasks` are held. A round holds one result and one attestation of each
//! member, whatever strangers send; a member can begin one candidate, so there are at most as many as members. Sums are of the
//! result that is there, for two verdicts, and no two of a branch and verdict have a signer in common: so each level has at
//! most two for each member. A task has rounds for two epochs, each with at most four snapshots. There is one conflict for
//! each operator and task; of tasks that the node does not hold, at most 64 of an operator. Evidence goes when the contract no longer
//! takes it.
//!
//! Tasks go when their epoch can settle nothing more. When further ones need a place, first those go that are settled for good, then
//! those that have found no quorum for long, and on which no program works: performers that are silent do not keep the places of others.
//! A task with a quorum stays until it is settled, so if nothing settles, nothing more is taken in the end.
//!
//! # What a restart needs
//! [`Saved`] says what must be on disk, and why. All else that is of use comes again from the operator's source, the chain, the signer's
//! record, and from peers, whom the node asks.
//!
//! | module | contents |
//! |---|---|
//! | `event` | what happens to a node, and what it wants done |
//! | `saved` | what is kept over a restart |
//! | `state` | what a node knows; which messages it would use |
//! | `cover` | signatures and sums that have no signer in common |
//! | `sums` | the sums of a group or branch, for the branch above |
//! | `aggregate` | settlements and reports |
//! | `exchange` | what gossip lost |
//! | `receive` | attestations and conflicts |
//! | `verdict` | the operator's own word |
//! | `step` | the entry |
//! | `report` | what a node knows of its tasks, for people |

mod event;
mod saved;
mod state;
mod cover;
mod sums;
mod aggregate;
mod exchange;
mod receive;
mod verdict;
mod step;
mod report;

pub use event::{MessageRefusal, NodeEvent, NodeOutput, NotTaken, PeerSource, Settlement, SignerRefusal};
pub use report::{ConflictReport, LeadingReport, ReadyReport, ResultReport, RoundPart, RoundReport, TaskReport};
pub use saved::{Saved, SavedError};
pub use state::{Footprint, Node, NodeSettings, Roles};
