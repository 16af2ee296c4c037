//! Prints results on standard output and notes on standard error.

use std::{
    fmt::Display,
    io::{self, Write},
};

use quorate_formats::Id;
use serde::Serialize;

use crate::exit::Failure;

/// A verdict as one JSON object: `{"index":1,"id":"…","valid":false,"reason":"…"}`.
#[derive(Serialize)]
pub(super) struct VerdictLine<'a> {
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Id>,
    valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl<'a> VerdictLine<'a> {
    /// A verdict: valid if there is no reason against it.
    pub(super) fn new(index: usize, id: Option<&'a Id>, reason: Option<String>) -> Self {
        Self { index, id, valid: reason.is_none(), reason }
    }
}

/// Prints one line of the result.
pub(super) fn line(text: impl Display) -> Result<(), Failure> {
    Ok(writeln!(io::stdout().lock(), "{text}")?)
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

/// Prints something that the user should know. If standard error is closed, the note is dropped.
pub(super) fn note(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}
