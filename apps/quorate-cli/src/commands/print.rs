//! Prints results on standard output and notes on standard error.

use std::fmt::Display;

use indicatif::HumanCount;
use quorate_host::exit::Failure;
use quorate_host::plain::{self, plain};
use serde::Serialize;

pub(super) use quorate_host::exit::{note, print_all as all};

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
    all(format!("{}\n", plain(&text.to_string())).as_bytes())
}

/// Prints one JSON object of the result, on one line.
pub(super) fn json(value: &impl Serialize) -> Result<(), Failure> {
    all((as_json(value)? + "\n").as_bytes())
}

/// A JSON object on one line, in which a reader sees every character.
pub(super) fn as_json(value: &impl Serialize) -> Result<String, Failure> {
    Ok(plain::in_json(&serde_json::to_string(value).map_err(Failure::internal)?))
}

/// A number with its noun: "1 claim", "1,024 claims".
pub(super) fn plural(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", HumanCount(number as u64), if number == 1 { "" } else { "s" })
}
