//! The command line of quorate, as a library so that its tests and fuzz targets reach its parsers.
//!
//! It handles secret keys, so it opens no network connection.
//!
//! ```text
//! main -> cli (arguments) -> commands -> secrets (keys at rest), quorate-formats (claims on disk) -> quorate
//! ```

#![forbid(unsafe_code)]

pub mod cli;
pub mod commands;
pub mod exit;
pub mod secrets;
