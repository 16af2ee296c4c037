//! What a program needs of the machine it runs on. It imports no crate of the workspace, so that every program can use it.
//!
//! | module | what |
//! |---|---|
//! | [`plain`](mod@plain) | text from outside, made harmless for a terminal, a log line and a page |
//! | [`utc`](mod@utc) | a time as people read it |

#![forbid(unsafe_code)]

pub mod plain;
pub mod utc;

pub use plain::{clipped, plain};
pub use utc::utc;
