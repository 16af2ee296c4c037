//! Claims as they stand on disk: every format that quorate reads becomes a stream of [`Record`]s.
//!
//! ```
//! use quorate::Messages;
//! use quorate_formats::jsonl::JsonLines;
//!
//! let input = r#"{"id": 7, "suite": "eth2", "public_key": "0x0a", "message": "0x0b", "signature": "0x0c"}"#;
//! let entry = JsonLines::new(input.as_bytes()).next().expect("one line")?;
//! let record = entry.expect("a line that makes a claim");
//! assert_eq!(record.public_keys, vec![vec![0x0a]].into());
//! assert_eq!(record.messages, Messages::Shared([0x0b].into()));
//! # Ok::<(), quorate_formats::InputError>(())
//! ```
//!
//! | module | what it reads | how |
//! |---|---|---|
//! | [`jsonl`] | one claim a line | line by line |
//! | `parquet` | one claim a row | batch by batch, from a file; needs the feature `parquet` |
//! | `arrow` | one claim a row | batch by batch, from a stream in memory, a file, or batches in memory; needs the feature `arrow` |
//! | [`drand`] | rounds of a drand chain | element by element, from a document in memory |
//! | [`light_client`] | Ethereum light-client updates, JSON or SSZ | whole documents, all of them before the first claim |
//! | [`deposit`] | deposits of Ethereum validators | element by element, from a document in memory |
//! | [`change`] | changes of their withdrawal credentials | element by element, from a document in memory |
//! | [`exit`] | their signed exits | element by element, from a document in memory |
//!
//! [`key_sets`] reads the sets of keys whose members a claim in JSON Lines can name. [`judge`] verifies what the readers give, in windows of bounded memory.
//! [`peek`] guesses the format of an input, and names what is often met in place of one ([`Foreign`]). `compression` unpacks gzip
//! and zstd; it needs the feature `compression`.
//!
//! Memory is bounded: by the longest line ([`lines::LINE_LIMIT`]), by the pages and rows of a Parquet file (`parquet`), and by twice
//! the longest document ([`DOCUMENT_LIMIT`]). Keys and signatures longer than any suite's, and lists that take more memory than
//! such a line, are malformed. [`Record::bytes`] counts what a record holds, so that a caller can bound what it collects.
//!
//! This crate does no curve arithmetic and holds no secret: keys and signatures stay bytes, and the only arithmetic is that of
//! hash functions. It reports two kinds of errors. An entry of which no claim can be made is [`Malformed`]: the caller
//! reports it, and reading goes on. An input that cannot be read any further is an [`InputError`], and nothing follows it.
//!
//! The features `parquet`, `arrow` and `compression` are off by default: Arrow and Parquet are about forty more crates to compile,
//! and zstd is C. The command line turns `parquet` and `compression` on, and the server and the Python package `arrow`.

#![forbid(unsafe_code)]

// Text and objects.

// Numbers that may stand in quotes, and hexadecimal.
mod number;
mod hex;
// One JSON object, with errors that name the field.
pub mod json;
// The tree hashes of Ethereum's objects.
mod ssz;
// The networks of beacon chains, in one table.
pub mod network;
// What validators sign: roots under domains.
pub mod signing;
// Deposits, changes of withdrawal credentials and exits: what is signed, and what is wrong with them.
pub mod operation;

// The results of all readers.

// A claim as the input states it, and where it stands.
mod record;
// What a caller knows beside the files of deposits, changes and exits.
mod signing_context;
// Verdicts about claims, as they are written.
mod verdict_line;
// One entry: a claim, or something of which no claim can be made.
mod entry;

// The guess which format an input has, and what several formats share.

mod format;
// The lines of an input and documents of text, each within a bound of memory.
pub mod lines;
// The fields of a claim, in all formats.
mod columns;
// Sets of keys whose members claims name.
pub mod key_sets;
// The fields of a claim in a protocol that has bytes as bytes.
mod fields;
// The columns of tables, in Parquet and in Arrow streams.
#[cfg(any(feature = "arrow", feature = "parquet"))]
mod table;
// Why an input cannot be read any further.
mod error;
// JSON documents that are read whole, for drand and light clients.
mod document;
// Inputs that are packed with gzip or zstd.
#[cfg(feature = "compression")]
pub mod compression;

// One module for each format.

pub mod jsonl;
#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod drand;
pub mod deposit;
pub mod change;
pub mod exit;
pub mod light_client;

// Verdicts for what the readers give, window by window.
pub mod judge;

pub use columns::{NAME_LIMIT, Room, UNKNOWN_CHARACTERS, UNKNOWN_FIELDS, Unbounded, check_name};
pub use document::DOCUMENT_LIMIT;
pub use entry::{Entry, EntryFault, Malformed};
pub use error::InputError;
#[cfg(feature = "parquet")]
pub use error::ParquetFileError;
#[cfg(feature = "arrow")]
pub use error::{ArrowBatchError, ArrowStreamError};
pub use fields::ClaimFields;
pub use format::{Foreign, Format, PEEK_LIMIT, Peeked, UnknownFormat, guess, peek};
pub use number::Uint;
pub use quorate::{NotHex, array_from_hex, from_hex};
pub use record::{About, Check, CheckResult, ClaimIndex, Id, NotAnIndex, OfChain, Origin, Place, Record, SuiteError};
pub use signing_context::{SigningContext, ValidatorKeys};
pub use verdict_line::{At, ChainVerdictLine, SignatureName, VerdictLine};
