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
//! This crate does no curve arithmetic and holds no secret: keys and signatures stay bytes, and the only arithmetic is that of
//! hash functions. It reports two kinds of errors. An entry of which no claim can be made is [`Malformed`]: the caller
//! reports it, and reading goes on. An input that cannot be read any further is an [`InputError`], and nothing follows it.
//!
//! The feature `parquet` is off by default: Arrow and Parquet are about forty more crates to compile, and a service reads JSON
//! alone. The command line turns it on.

#![forbid(unsafe_code)]

// The results of all readers.

// A claim as the input states it, and where it stands.
mod record;
// One entry: a claim, or something of which no claim can be made.
mod entry;
// Why an input cannot be read any further.
mod error;

// One module for each format, and the guess which format an input has.

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
// One JSON object, with errors that name the field.
pub mod json;
// Hexadecimal, and numbers that may stand in quotes.
mod hex;
mod number;

pub use document::DOCUMENT_LIMIT;
pub use entry::{Entry, Malformed};
pub use error::InputError;
#[cfg(feature = "parquet")]
pub use error::ParquetFileError;
pub use format::{Format, PEEK_LIMIT, Peeked, UnknownFormat, guess, peek};
pub use hex::{NotHex, from_hex};
pub use record::{Check, CheckResult, Id, Origin, Place, Record, SuiteError, plain};
