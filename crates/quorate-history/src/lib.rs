//! The BLS signatures of whole chains: Ethereum's era files, drand's rounds and Chia's blocks become claims.
//!
//! ```no_run
//! use std::{fs::File, ops::ControlFlow};
//!
//! use quorate_history::{Chain, EraFile, Eras};
//!
//! let mut eras = Eras::new(Chain::built_in("mainnet").expect("a chain that is built in"));
//! eras.begin_with(&mut EraFile::open(File::open("mainnet-00999-….era")?)?)?;
//! eras.claims(&mut EraFile::open(File::open("mainnet-01000-….era")?)?, |claim| {
//!     println!("slot {}, {} {}: {}", claim.slot, claim.kind, claim.index, claim.claim.verify());
//!     ControlFlow::Continue(())
//! })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A caller with many claims gives them to a [`Verifier`](quorate::Verifier) in batches. If [`ChainClaim::failed`] is there, it is the
//! reason why the claim is invalid.
//!
//! | module | what it is |
//! |---|---|
//! | `preset`, `chain` | sizes of networks; their forks |
//! | `snappy`, `era` | the container, and what is packed in it |
//! | `state`, `block` | SSZ objects: what is needed of a state, blocks of every fork |
//! | `shuffling`, `committees` | who attests in a slot |
//! | `claims` | what is signed, and by whom |
//! | `eras` | the files of a chain in their order |
//! | [`drand`] | rounds, and how those of several files join |
//! | [`chia`] | full blocks |
//! | `files` | the files of a run: found, recognised, in their order |
//! | [`shards`] | runs over many files, by many processes and machines |
//!
//! The states are believed: nothing here computes a state root. So a verdict says that a signature is one of the keys that the
//! states name; that the states are those of the chain, the caller knows from where the files come from. Blocks are checked against
//! the state at the end of their era.
//!
//! Memory: 64 bytes for each validator of a state, 4 for each active validator in two epochs, and one block.

#![forbid(unsafe_code)]

mod error;
mod preset;
mod chain;
mod snappy;
mod era;
mod state;
mod block;
mod shuffling;
mod committees;
mod claims;
mod eras;
pub mod drand;
pub mod chia;
mod files;
pub mod shards;

pub use block::Block;
pub use chain::{Chain, ChainError};
pub use claims::{ChainClaim, ClaimKind, Surroundings};
pub use committees::Committees;
pub use era::EraFile;
pub use eras::Eras;
pub use error::{EraError, RecordName};
pub use files::{Content, DrandChain, EraInput, Files, FilesError, FolderFiles, OtherInput, RefusedFile};
pub use preset::{Preset, UnknownPreset};
pub use quorate_formats::ClaimIndex;
pub use state::{State, StateHead, Validator};
