//! From bytes to claims: every format that `quorate verify` reads becomes a stream of [`Record`]s.
//!
//! | module | what it reads | how |
//! |---|---|---|
//! | [`jsonl`] | one claim a line | line by line |
//! | [`parquet`] | one claim a row | batch by batch, from a file |
//! | [`drand`] | rounds of a drand chain | whole document |
//! | [`light_client`] | Ethereum light-client updates | whole documents, all of them before the first claim |
//!
//! Nothing here knows a curve: keys and signatures stay bytes, and only hashes are computed. Trouble comes in two kinds.
//! An entry that makes no claim is [`Malformed`]: it is reported, and the rest goes on. An input that cannot be read on is
//! an [`InputError`], and nothing follows it.

mod document;
pub mod drand;
mod error;
mod format;
mod hex;
pub mod jsonl;
pub mod light_client;
mod number;
pub mod parquet;
mod record;

pub use document::DOCUMENT_LIMIT;
pub use error::{InputError, Malformed};
pub use format::{Format, PEEK_LIMIT, Peeked, UnknownFormat, guess, peek};
pub use record::{Check, Id, Messages, Origin, Outcome, Place, Record};

/// What stood at one place of the input: a claim, or something that makes none.
pub type Entry = Result<Record, Malformed>;

/// Windows editors put it first; JSON does not allow it.
const BYTE_ORDER_MARK: &str = "\u{feff}";
