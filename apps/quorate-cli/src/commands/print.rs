//! Prints results on standard output and notes on standard error.

use std::{
    fmt::Display,
    io::{self, Write},
};

use indicatif::HumanCount;
use quorate_host::exit::Failure;
use quorate_host::plain;
use serde::Serialize;

pub(super) use quorate_host::exit::note;

/// A claim of one statement, as `quorate verify` reads it.
#[derive(Serialize)]
pub(super) struct ClaimLine {
    pub(super) suite: &'static str,
    pub(super) public_key: String,
    pub(super) message: String,
    pub(super) signature: String,
}

/// Prints one line of the result. Characters that a terminal would obey are escaped.
pub(super) fn line(text: impl Display) -> Result<(), Failure> {
    Ok(writeln!(io::stdout().lock(), "{}", plain(&text.to_string()))?)
}

/// Prints one JSON object of the result, on one line.
pub(super) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_vec(value).map_err(Failure::internal)?;
    text.push(b'\n');
    all(&text)
}

/// Prints the result as it is.
pub(super) fn all(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

/// A number with its noun: "1 claim", "1,024 claims".
pub(super) fn plural(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", HumanCount(number as u64), if number == 1 { "" } else { "s" })
}
