//! Quorums of BLS signatures on an EVM chain: all that an operator, an aggregator or a test computes off the chain.
//!
//! Operators sign a digest; the aggregator adds the signatures up and sends one transaction; the contract computes the sum
//! of the signers' keys and checks one pairing equation. A contract saves gas by starting from the key of an earlier
//! quorum, a *base*. This crate chooses the cheapest base, computes the hints that the contract checks, and packs the call:
//!
//! ```text
//! digest -> message point -> signatures -> sum -> base, changed members, hints -> packed quorum -> calldata
//! ```
//!
//! Start with [`Network`], which holds what the aggregator knows of a contract, and with [`Network::plan`].
//!
//! | module | contents |
//! |---|---|
//! | [`address`] | addresses as people write them, with their checksum |
//! | [`amount`] | amounts of a token or coin as people write them |
//! | [`weight_part`] | [`WeightPart`]: the part of all weight that a quorum must exceed |
//! | [`key_group`] | [`KeyGroup`]: the curve and the group of a contract's keys |
//! | [`member_set`] | [`MemberSet`]: the members of a quorum, in the one encoding that a contract accepts |
//! | [`bls12381`] | keys and signatures on BLS12-381, in the contract's encoding |
//! | [`digest`] | what operators sign: results, possession of their own key, and their node's peer id |
//! | [`task`] | a task as operators sign it, and which two conflict |
//! | [`hint`] | roots, inverses and slopes that a contract checks instead of computing them |
//! | [`state`] | the one word that a settlement changes, and the values that it is the hash of |
//! | [`gas`] | the gas of a settlement, with every price in one place |
//! | [`base`](mod@base) | bases, and the one from which a new quorum costs the least |
//! | [`refresh`] | when to store a new base: policies over a trace of quorums |
//! | [`quorum`] | the packed bytes of a quorum, both ways |
//! | [`contract`] | the contracts' ABI and creation code |
//! | [`network`] | a settlement as its aggregator follows it, and plans of the next quorum |
//! | [`posting`] | results that are posted without a proof: their calls, and recomputed |
//! | [`cost`] | what each way to settle costs, from measured rows |
//! | [`follow`] | the network rebuilt from a contract's logs and the calldata of their transactions |
//! | [`watch`] | what a watcher does about a posting, and its calls |
//! | [`task_network`] | a `TaskNetwork` rebuilt from its logs, and the calls of its operators and aggregators |
//! | [`transaction`] | calls on their way from the program that makes them to the one that sends them |
//! | [`epoch`] | the calls with which a registrar begins an epoch |
//! | [`upkeep`] | the calls that keep a settlement cheap: pages, pinned bases, the next key table |
//! | [`operator`] | an operator's key: what it registers, and what it signs |
//! | [`collection`] | the members' signatures over one digest, verified and added up |
//! | [`hub`] | quorums that settle together, in one call of a hub |
//!
//! A module imports only modules above it. Keys, signatures and hashing on BN254 are in the crate `quorate-bn254`.

#![forbid(unsafe_code)]

pub mod address;
pub mod amount;
pub mod weight_part;
pub mod key_group;
pub mod member_set;
pub mod bls12381;
pub mod digest;
pub mod task;
pub mod hint;
pub mod state;
pub mod gas;
pub mod base;
pub mod refresh;
pub mod quorum;
pub mod contract;
pub mod network;
pub mod posting;
pub mod cost;
pub mod follow;
pub mod watch;
pub mod task_network;
pub mod transaction;
pub mod epoch;
pub mod upkeep;
pub mod operator;
pub mod collection;
pub mod hub;

pub use alloy_primitives;
pub use alloy_sol_types;
pub use base::Base;
pub use collection::{Collection, NotAdded};
pub use epoch::{EpochCalls, EpochError, NextEpoch};
pub use key_group::KeyGroup;
pub use member_set::MemberSet;
pub use network::{
    Network, NetworkError, NetworkJsonError, Order, PlanError, QuorumKey, QuorumSignature, SettlementPlan,
};
pub use operator::{OperatorKey, Registration, StakeEntry};
pub use quorum::{KeySum, Proof, Quorum};
pub use state::Head;
pub use task::{Finality, SnapshotId, Task};
pub use transaction::{Sender, Transaction};
pub use upkeep::{Upkeep, UpkeepError};
pub use weight_part::WeightPart;
