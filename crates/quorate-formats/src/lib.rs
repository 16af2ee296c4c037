//! Claims as they stand on disk: every format that quorate reads becomes a stream of [`Record`]s.
//!
//! ```
//! use quorate::Messages;
//! use quorate_formats::jsonl::JsonLines;
//!
//! let input = r#"{"id": 7, "suite": "eth2", "public_key": "0x0a", "message": "0x0b", "signature": "0x0c"}"#;
//! let entry = JsonLines::new(input.as_bytes()).next().expect("one line")?;
//! let record = entry.expect("a line that makes a claim");
//! assert_eq!(record.public_keys, [[0x0a]]);
//! assert_eq!(record.messages, Messages::Shared([0x0b].into()));
//! # Ok::<(), quorate_formats::InputError>(())
//! ```
//!
//! | module | what it reads | how |
//! |---|---|---|
//! | [`jsonl`] | one claim a line | line by line |
//! | `parquet` | one claim a row | batch by batch, from a file; needs the feature `parquet` |
//! | [`drand`] | rounds of a drand chain | whole document |
//! | [`light_client`] | Ethereum light-client updates | whole documents, all of them before the first claim |
//!
//! This crate knows no curve and holds no secret: keys and signatures stay bytes, and the only arithmetic is that of hash
//! functions. It fails in two ways. An entry that makes no claim is [`Malformed`]: the caller reports it, and reading goes
//! on. An input that cannot be read on is an [`InputError`], and nothing follows it.
//!
//! The feature `parquet` is off by default, because Arrow and Parquet are some thirty crates more to compile than the other
//! formats need together. The command line turns it on.

#![forbid(unsafe_code)]

// What the readers make of an input.

// A claim as the input states it, and where it stands.
mod record;
// A claim, or an entry that makes none.
mod entry;
// An input that cannot be read on.
mod error;

// One module a format, and the guess which of them an input has.

mod format;
pub mod drand;
pub mod jsonl;
pub mod light_client;
#[cfg(feature = "parquet")]
pub mod parquet;

// What several formats share.

// The fields of a claim, in JSON Lines and in Parquet.
mod columns;
// JSON documents that are read whole, for drand and light clients.
mod document;
// Hexadecimal, and numbers that may stand in quotes.
mod hex;
mod number;

pub use document::DOCUMENT_LIMIT;
pub use entry::{Entry, Malformed};
pub use error::InputError;
#[cfg(feature = "parquet")]
pub use error::ParquetFileError;
pub use format::{Format, PEEK_LIMIT, Peeked, UnknownFormat, guess, peek};
pub use record::{Check, CheckResult, Id, Origin, Place, Record, SuiteError};
