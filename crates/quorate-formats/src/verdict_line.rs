//! A verdict as one line of JSON, wherever verdicts are written.

use serde::Serialize;

use crate::record::{ClaimIndex, Id, Place};

/// A verdict as one JSON object: `{"index":1,"id":"…","valid":false,"reason":"…"}`. An entry that makes no claim has no verdict of
/// its own: it is not valid, and has `"malformed":true` and a reason.
#[derive(Debug, Serialize)]
pub struct VerdictLine<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
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
    /// The verdict about the claim at an index of all inputs: valid if there is no reason against it.
    #[must_use]
    pub fn new(index: usize, id: Option<&'a Id>, reason: Option<String>) -> Self {
        Self { index: Some(index), id, at: None, valid: reason.is_none(), malformed: None, reason }
    }

    /// An entry that makes no claim.
    #[must_use]
    pub fn malformed(index: usize, id: Option<&'a Id>, at: At, reason: String) -> Self {
        Self { malformed: Some(true), ..Self::new(index, id, Some(reason)) }.at(Some(at))
    }

    /// The same verdict without an index. Its place names the claim.
    #[must_use]
    pub fn without_index(self) -> Self {
        Self { index: None, ..self }
    }

    /// The same verdict, with the place of its claim.
    #[must_use]
    pub fn at(self, at: Option<At>) -> Self {
        Self { at, ..self }
    }
}

/// A verdict about a signature of a chain as one JSON object: `{"file":"…","slot":9,"kind":"exit","index":0,"valid":true}`. The index
/// is the place in the block: a number, or of a slashing, which has two signatures, a text such as "0.1". A false signature that a
/// chain may hold has `"legal":true`.
#[derive(Debug, Serialize)]
pub struct ChainVerdictLine<'a> {
    #[serde(flatten)]
    at: At,
    #[serde(flatten)]
    signature: SignatureName<'a>,
    valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    legal: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl<'a> ChainVerdictLine<'a> {
    /// The verdict about a signature: valid if there is no reason against it. `legal` says that the chain may hold it although
    /// it is false.
    #[must_use]
    pub fn new(at: At, signature: SignatureName<'a>, legal: bool, reason: Option<String>) -> Self {
        Self { at, signature, valid: reason.is_none(), legal: legal.then_some(true), reason }
    }
}

/// Which signature of a block: `"kind":"exit","index":0`.
#[derive(Clone, Debug, Serialize)]
pub struct SignatureName<'a> {
    kind: &'a str,
    index: IndexField,
}

impl<'a> SignatureName<'a> {
    /// The name of a signature: its kind and its place in the block.
    #[must_use]
    pub fn new(kind: &'a str, index: ClaimIndex) -> Self {
        let index = match index.half {
            None => IndexField::Number(index.operation),
            Some(_) => IndexField::Text(index.to_string()),
        };
        Self { kind, index }
    }
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum IndexField {
    Number(usize),
    Text(String),
}

/// Where an entry stands, as fields of a JSON object: `"file":"…","line":7`.
#[derive(Clone, Debug, Serialize)]
pub struct At {
    /// Left out if there is one input.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(flatten)]
    place: Option<PlaceField>,
}

impl At {
    /// A file, if there are several, and a place in it.
    #[must_use]
    pub fn new(file: Option<String>, place: Option<Place>) -> Self {
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
    Slot(u64),
    Round(u64),
    Height(u64),
}

impl From<Place> for PlaceField {
    fn from(place: Place) -> Self {
        match place {
            Place::Line(line) => Self::Line(line),
            Place::Row(row) => Self::Row(row),
            Place::Element(index) => Self::Element(index),
            Place::Slot(slot) => Self::Slot(slot),
            Place::Round(round) => Self::Round(round),
            Place::Height(height) => Self::Height(height),
        }
    }
}
