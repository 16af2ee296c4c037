//! What a program needs of the machine it runs on. It imports no crate of the workspace, so that every program can use it.
//!
//! | module | what |
//! |---|---|
//! | [`plain`](mod@plain) | text from outside, made harmless for a terminal, a log line and a page |
//! | [`mod@file`] | files that survive a kill at any moment: replaced whole, or appended to |
//! | [`key_record`] | what a key has signed, written down before the signature leaves |

#![forbid(unsafe_code)]

pub mod plain;
pub mod file;
pub mod key_record;

pub use plain::{clipped, plain};
