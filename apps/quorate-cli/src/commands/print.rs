//! Prints results on standard output and notes on standard error.

use std::{
    fmt::Display,
    io::{self, Write},
};

use indicatif::HumanCount;
use quorate_formats::{Id, Place, plain};
use serde::Serialize;

use crate::exit::Failure;

/// A verdict as one JSON object: `{"index":1,"id":"…","valid":false,"reason":"…"}`. An entry that makes no claim has no verdict of
/// its own: it is not valid, and `"malformed":true` says why.
#[derive(Serialize)]
pub(super) struct VerdictLine<'a> {
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Id>,
    #[serde(flatten)]
    at: Option<At>,
    valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    malformed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl<'a> VerdictLine<'a> {
    /// A verdict: valid if there is no reason against it.
    pub(super) fn new(index: usize, id: Option<&'a Id>, reason: Option<String>) -> Self {
        Self { index, id, at: None, valid: reason.is_none(), malformed: None, reason }
    }

    /// An entry that makes no claim.
    pub(super) fn malformed(index: usize, at: At, reason: String) -> Self {
        Self { index, id: None, at: Some(at), valid: false, malformed: Some(true), reason: Some(reason) }
    }

    /// The same verdict, with the place of its claim.
    pub(super) fn at(self, at: Option<At>) -> Self {
        Self { at, ..self }
    }
}

/// A claim of one statement, as `quorate verify` reads it.
#[derive(Serialize)]
pub(super) struct ClaimLine {
    pub(super) suite: &'static str,
    pub(super) public_key: String,
    pub(super) message: String,
    pub(super) signature: String,
}

/// Where an entry stands, as fields of a JSON object: `"file":"…","line":7`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct At {
    /// Left out if there is one input.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(flatten)]
    place: Option<PlaceField>,
}

impl At {
    pub(super) fn new(file: Option<String>, place: Option<Place>) -> Self {
        Self { file, place: place.map(PlaceField::from) }
    }
}

/// A place as one field: `"line"` and `"row"` count from 1, `"element"` from 0.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum PlaceField {
    Line(u64),
    Row(u64),
    Element(u64),
}

impl From<Place> for PlaceField {
    fn from(place: Place) -> Self {
        match place {
            Place::Line(line) => Self::Line(line),
            Place::Row(row) => Self::Row(row),
            Place::Element(index) => Self::Element(index),
        }
    }
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

/// Prints one line that the user should know. Characters that a terminal would obey are escaped. If standard error is closed, the
/// note is dropped.
pub(super) fn note(text: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{}", plain(&text.to_string()));
}

/// A number with its noun: "1 claim", "1,024 claims".
pub(super) fn plural(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", HumanCount(number as u64), if number == 1 { "" } else { "s" })
}
