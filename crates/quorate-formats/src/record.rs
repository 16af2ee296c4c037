//! What a line, a row or an element of the input says, before any byte of it is decoded to a point.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;

/// One claim as it stood in the input: bytes not decoded to points yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The input's own name for the claim; the round for drand, the signature slot for light-client updates.
    pub id: Option<Id>,
    /// Suite id or profile name, as written or as the format implies ("drand-quicknet", "eth2"). Not resolved yet.
    pub suite: Option<String>,
    /// Encoded keys in the input's order. May be empty: what that means is the suite's business.
    pub public_keys: Vec<Vec<u8>>,
    /// What they signed.
    pub messages: Messages,
    /// The encoded (aggregate) signature.
    pub signature: Vec<u8>,
    /// Who sent it (a peer id, say), so that false claims can be counted by sender.
    pub source: Option<Source>,
    /// Where in its file it stands.
    pub place: Place,
    /// What the format itself could check without a pairing. A failed one makes the claim invalid whatever its signature says.
    pub checks: Vec<Check>,
    /// The claim that vouches for these keys. Unless that one is valid, this one shows nothing.
    pub rests_on: Option<Origin>,
}

impl Record {
    /// The first check that failed: the reason for an invalid verdict before any arithmetic.
    #[must_use]
    pub fn failed_check(&self) -> Option<&Check> {
        self.checks.iter().find(|check| check.result == CheckResult::Failed)
    }
}

/// Messages of one claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Messages {
    /// Every key signed this one.
    Shared(Vec<u8>),
    /// Message i was signed by key i; as many messages as keys.
    Each(Vec<Vec<u8>>),
}

/// The input's own name for a claim: any JSON scalar, kept as it was written.
///
/// A number keeps its digits, so an id above 2^64 or with trailing zeros comes back as it went in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Id {
    json: String,
}

impl Id {
    /// An id that is a number.
    #[must_use]
    pub fn number(number: u64) -> Self {
        Self { json: number.to_string() }
    }

    /// An id that is text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self { json: serde_json::Value::from(text).to_string() }
    }

    /// An id as JSON wrote it; none for `null`.
    ///
    /// # Errors
    /// A reason when it is an object or an array, which cannot name a claim on one line of a report.
    pub fn from_json(raw: &RawValue) -> Result<Option<Self>, String> {
        match raw.get().as_bytes().first() {
            Some(b'{' | b'[') => Err("\"id\" must be a string, a number or a boolean".to_owned()),
            Some(b'n') => Ok(None),
            _ => Ok(Some(Self { json: raw.get().to_owned() })),
        }
    }

    /// The id for a person: text without its quotes.
    #[must_use]
    pub fn plain(&self) -> String {
        serde_json::from_str(&self.json).unwrap_or_else(|_| self.json.clone())
    }

    /// The id as JSON: quotes around text, digits as written.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.json
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.json)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.json).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// Who sent a claim: a name, or a number that stays one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(clippy::exhaustive_enums, reason = "a source is a JSON string or an integer, and there is no third")]
pub enum Source {
    /// An integer from 0 to 2^64 - 1.
    Number(u64),
    /// Any text.
    Name(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_u64(*number),
            Self::Name(name) => serializer.serialize_str(name),
        }
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = Source;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an integer from 0 to 2^64 - 1")
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Source, E> {
                Ok(Source::Number(number))
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Source, E> {
                Ok(Source::Name(name.to_owned()))
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

/// Where in its file something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// A line, counted from 1.
    Line(u64),
    /// A row, counted from 1.
    Row(u64),
    /// An element of a document, counted from 0 as in `jq '.[3]'`.
    Element(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Row(row) => write!(f, "row {row}"),
            Self::Element(index) => write!(f, "element [{index}]"),
        }
    }
}

/// A place in a named file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The file, as the caller named it.
    pub document: String,
    /// Where in it.
    pub place: Place,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.document, self.place)
    }
}

/// Something a format can decide without a pairing, for `--explain`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// A stable name: `finality_branch`.
    pub name: &'static str,
    /// How it went.
    pub result: CheckResult,
    /// One line with the numbers: "511 of 512 keys took part".
    pub detail: String,
}

impl Check {
    /// A check that held or did not.
    #[must_use]
    pub fn decided(name: &'static str, result: CheckResult, detail: impl Into<String>) -> Self {
        Self { name, result, detail: detail.into() }
    }
}

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckResult {
    /// It holds.
    Passed,
    /// It does not: the claim is invalid.
    Failed,
    /// The input does not say enough to decide; the detail tells what is missing. Not a reason to reject.
    NotPossible,
}

impl CheckResult {
    /// Passed when the condition holds.
    #[must_use]
    pub fn of(condition: bool) -> Self {
        if condition { Self::Passed } else { Self::Failed }
    }
}

impl fmt::Display for CheckResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotPossible => "not possible",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_back_as_written() {
        for json in ["\"a\\u0062\"", "18446744073709551616000", "1.50", "true"] {
            let raw: &RawValue = serde_json::from_str(json).unwrap();
            let id = Id::from_json(raw).unwrap().unwrap();
            assert_eq!(id.as_json(), json);
            assert_eq!(serde_json::to_string(&id).unwrap(), json);
        }
        assert_eq!(Id::text("a\"b").as_json(), r#""a\"b""#);
        assert_eq!(Id::from_json(serde_json::from_str("null").unwrap()).unwrap(), None);
        assert!(Id::from_json(serde_json::from_str("[1]").unwrap()).is_err());
    }
    #[test]
    fn a_number_and_its_digits_are_two_sources() {
        let sources: Vec<Source> = serde_json::from_str(r#"[7, "7", "", 18446744073709551615]"#).unwrap();
        assert_eq!(sources[..2], [Source::Number(7), Source::Name("7".to_owned())]);
        assert_eq!(serde_json::to_string(&sources).unwrap(), r#"[7,"7","",18446744073709551615]"#);
        assert_eq!((sources[0].to_string(), sources[1].to_string()), ("7".to_owned(), "7".to_owned()));
        for bad in ["-1", "1.5", "18446744073709551616", "true", "[]", "{}", "null"] {
            let error = serde_json::from_str::<Source>(bad).unwrap_err().to_string();
            assert!(error.contains("a string or an integer from 0 to 2^64 - 1"), "{bad}: {error}");
        }
    }
}
