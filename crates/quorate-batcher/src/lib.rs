//! What a node embeds to verify signatures as they arrive: batches, deadlines, bans, and a memory that survives a restart.
//!
//! A signature that is verified alone costs two pairings. In a batch of 128 it costs a fifth of that (with AVX-512
//! IFMA). A node gets its signatures one by one, so somebody must collect them, decide when a batch is full, keep blocks from
//! waiting behind gossip, find out who sent the false ones, and remember what was verified so that a block costs little.
//!
//! ```text
//! submit -> admit (bans, room) -> wait for others -> batch (by message, by source) -> verify -> answers, bans, memory
//! ```
//!
//! | module | noun |
//! |---|---|
//! | `class` | [`Class`]: block, duty or gossip |
//! | `settings` | [`Settings`]: times, limits, who is banned |
//! | `answer` | [`Pending`], a future; [`Answer`]: a verdict, or why the claim was [`Refused`] |
//! | `source` | scores, suspects, bans and their evidence: [`SourceReport`] |
//! | `pool` | claims that wait, grouped by what they share |
//! | `schedule` | when a batch closes and what is refused, without a clock: [`Load`] |
//! | `pulse` | [`Pulse`]: whether the workers hang |
//! | `observer` | what happens, for metrics: [`Observer`] |
//! | `store` | [`KnownStore`]: verified statements on disk |
//! | `batcher` | [`Batcher`]: the threads around it |
//! | `service` | the batcher as a tower service (feature `tower`) |
//!
//! # Example
//!
//! ```
//! use quorate::{ClaimBytes, MinPk, SecretKey, Suite};
//! use quorate_batcher::{Batcher, Class, Refused, Settings};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let secret = SecretKey::key_gen(MinPk::Eth2, &[1; 32], b"")?;
//! # let (key, signature) = (secret.public_key().to_bytes(), secret.sign(MinPk::Eth2, b"attestation").to_bytes());
//! let batcher = Batcher::start(Settings::default())?;
//! let claim = ClaimBytes::single(MinPk::Eth2.any(), &key, b"attestation", &signature);
//! let claim = ClaimBytes { source: Some("peer-7".into()), ..claim };
//! match batcher.submit(claim, Class::Gossip, None).await {
//!     Ok(verdict) if verdict.is_valid() => println!("forward it"),
//!     Ok(verdict) => println!("{verdict}: drop it"),
//!     Err(Refused::Overloaded) => println!("nobody looked at it: drop it, but do not blame the peer"),
//!     Err(refused) => println!("{refused}"),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # What it promises
//!
//! - Every claim gets exactly one answer. Nothing is dropped silently, also not when the batcher stops.
//! - Verification runs on threads of its own, never on those of a runtime. [`Batcher::submit`] does not block.
//! - Memory is bounded by [`Settings`]: the claims that wait, by planned work and by bytes; statements, by number; sources,
//!   by number and by the length of their names.
//! - A false claim is never answered as valid, but with the probability that [`Settings::soundness`] states.
//! - A source that lies is banned while the search in its first batches goes on, one on each thread. What it can make the
//!   node compute is bounded: see `docs/batcher.md`.
//!
//! # What it does not do
//!
//! It does not check possession of keys: see [`quorate::proof_of_possession`]. It does not know who sent a claim: the
//! caller says so in `source`, and must not let a peer choose the name of another one.

#![forbid(unsafe_code)]

/// The program of the page for node engineers is tested with the examples of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/start/node-engineer.md")]
struct Start;

mod class;
mod settings;
mod answer;
mod source;
mod pool;
mod schedule;
mod pulse;
mod observer;
mod store;
mod batcher;
#[cfg(feature = "tower")]
mod service;

pub use answer::{Answer, Pending, Refused};
pub use batcher::{Batcher, StartError};
pub use class::{Class, UnknownClass};
pub use observer::{BatchReport, Event, Observer};
pub use pulse::Pulse;
pub use schedule::{BatchKind, ClosedBy, Load};
#[cfg(feature = "tower")]
pub use service::Request;
pub use settings::{Settings, SettingsError, SourceSettings};
pub use source::{Ban, Evidence, SourceReport, Standing, shown_name};
pub use store::{KnownStore, OpenedStore, StoreError, StoreSettings};
