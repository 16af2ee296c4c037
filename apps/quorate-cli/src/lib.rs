//! The command line of quorate. It is also a library, so that tests and fuzz targets can call its parsers; other programs should
//! not use it.
//!
//! It handles secret keys, so it opens no network connection.
//!
//! ```text
//! main -> cli (arguments) -> commands -> secrets (keys at rest), quorate-formats (claims on disk) -> quorate
//! ```

#![forbid(unsafe_code)]

pub mod secrets;
pub mod commands;
pub mod cli;
