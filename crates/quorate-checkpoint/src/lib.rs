//! Assumed-valid checkpoints: enough keys sign that a buried block is valid, and a node that syncs verifies the blocks up
//! to it later.
//!
//! For example, three of five developers sign block 800,000 of a chain. A new node asks three nodes for checkpoints and
//! gets the signatures. It has chosen its chain of headers already, by proof of work, and finds the block on it, deep
//! enough. So it skips the signatures in the blocks up to 800,000, is in sync within minutes, and verifies the skipped
//! blocks afterwards. A checkpoint never chooses a chain, and whatever goes wrong, the node verifies all blocks.
//!
//! ```text
//! signers:  Checkpoint -> SignerRecord (written down, then signed) -> Posting
//! nodes:    Posting -> Board (verified, united), KeptBoard (written down) -> Served
//! clients:  Served of three nodes -> Client (checked, written, used) -> Decision -> to_prove
//! ```
//!
//! The crate has no clock, no network, no threads and no random numbers of its own. Files are written by [`kept`],
//! [`client`] and [`signer`]. `docs/checkpoints.md` has the formats, the rules, what is trusted, and who should not use this.
//!
//! | module | noun |
//! |---|---|
//! | [`checkpoint`] | [`Checkpoint`]: the document that is signed, in 130 bytes |
//! | [`set`] | [`SignerSet`]: keys that are proven to be possessed, of which m sign |
//! | [`signatures`] | [`Posting`]: signatures as they are sent; [`SignedCheckpoint`]: as they are verified and united |
//! | [`sets`] | [`SetChain`]: from the pinned set to the newest, by [`Rotation`]s |
//! | [`evidence`] | [`Equivocation`]: two signed things that exclude each other |
//! | [`wire`] | [`Served`]: what a node answers |
//! | [`board`] | [`Board`]: a node's side |
//! | [`kept`] | [`KeptBoard`]: the board on disk |
//! | [`ratchet`] | [`Alarm`], [`RatchetError`]: what a client holds on disk |
//! | [`client`] | [`Client`]: how far a node may skip |
//! | [`signer`] | [`SignerRecord`]: what a signer writes down before it signs |
//! | [`json`] | what can be wrong with text |
//!
//! A module imports only modules above it, and the last one.
//!
//! # Example
//!
//! ```
//! use quorate::{SecretKey, SourceId, proof_of_possession};
//! use quorate_checkpoint::*;
//! # let folder = tempfile::tempdir()?;
//! let rng = &mut rand::rng();
//!
//! // Three signers, of whom two must sign. The id of their set is what clients pin.
//! let keys = [1u8, 2, 3].map(|i| SecretKey::key_gen(SUITE, &[i; 32], b"").expect("32 bytes"));
//! let entry = |key: &SecretKey<_>| SignerEntry {
//!     public_key: key.public_key().to_bytes(),
//!     proof: proof_of_possession::prove(SUITE, key).expect("eth2 has proofs").to_bytes(),
//! };
//! let manifest = SetManifest { epoch: 1, threshold: 2, signers: keys.iter().map(entry).collect() };
//! let pinned = manifest.id();
//! let sets = Sets { first: manifest, rotations: Vec::new() };
//! let chain = SetChain::follow(&sets, pinned, rng)?;
//!
//! // Two of them sign a block. Each writes down what it signs first.
//! let now = 1_800_000_000;
//! let checkpoint = Checkpoint {
//!     chain_id: [7; 32],
//!     height: 100,
//!     block_hash: [100; 32],
//!     previous: [0; 32],
//!     issued_at: now,
//!     expires_at: now + 7 * 24 * 3600,
//!     set_epoch: 1,
//! };
//! let mut board = Board::new([7; 32], chain.clone(), 600);
//! for (i, key) in keys[..2].iter().enumerate() {
//!     let mut record = SignerRecord::begin(&folder.path().join(format!("signer-{i}")), &key.public_key())?;
//!     let posting = record.sign(&checkpoint, chain.newest(), key)?;
//!     board.post(&posting, SourceId::from(i as u64), now, rng)?;
//! }
//!
//! // A node that syncs has its chain of headers, and asks three nodes.
//! struct Headers;
//! impl HeaderChain for Headers {
//!     fn tip(&self) -> u64 {
//!         150
//!     }
//!     fn hash(&self, height: u64) -> Option<[u8; 32]> {
//!         (height <= 150).then_some([height as u8; 32])
//!     }
//! }
//! let answer = |node: &str| NodeAnswer { node: node.into(), body: Ok(board.serve().to_json().into_bytes()) };
//! let answers = ["a.example", "b.example", "c.example"].map(answer);
//! let mut client = Client::open(ClientPolicy::new([7; 32], pinned, 20), &folder.path().join("ratchet"), rng)?;
//! let decision = client.update(&answers, now, &Headers, rng).decision;
//! assert!(decision.skips(100) && !decision.skips(101));
//!
//! // Assumed, then proven.
//! assert_eq!(client.to_prove(), Some(1..=100));
//! client.proven(100)?;
//! assert_eq!(client.to_prove(), None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod hex;
pub mod json;
mod sealed;
pub mod checkpoint;
pub mod set;
pub mod signatures;
pub mod sets;
pub mod evidence;
pub mod wire;
pub mod board;
pub mod kept;
pub mod ratchet;
pub mod client;
pub mod signer;
#[cfg(test)]
mod tests;

pub use board::{Board, PostError, Posted};
pub use checkpoint::Checkpoint;
pub use client::{Client, ClientPolicy, Decision, HeaderChain, NodeAnswer, NodeFault, NotSkipped, Update};
pub use evidence::{Equivocation, EvidenceError};
pub use json::JsonError;
pub use kept::{BoardDamage, KeptBoard, KeptBoardError};
pub use quorate_host::{
    file::FileError,
    key_record::{KeyRecordError, Mended},
};
pub use ratchet::{Alarm, Damage, RatchetError};
pub use set::{MOST_SIGNERS, SUITE, SetError, SetManifest, SignerEntry, SignerSet};
pub use sets::{Rotation, RotationError, SetChain, SetSide, Sets};
pub use signatures::{Flaw, FlawKind, IndexedSignature, Posting, SignedCheckpoint, unite};
pub use signer::{SignError, SignerRecord};
pub use wire::{LARGEST_ANSWER, MOST_SERVED, Served};
