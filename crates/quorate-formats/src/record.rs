//! What a line, a row or an element of the input says, before its bytes are decoded to points.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use quorate::{
    AnySuite, ClaimBytes, Messages, PublicKeys, SourceId, UnknownSuite,
    claim_bytes::{memory_of, memory_of_members},
};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use thiserror::Error;

use crate::number::is_decimal;

/// One claim as it stands in the input. Its bytes are not decoded to points yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The input's own name for the claim. For drand it is the round, for light-client updates the slot of the signature, which nothing
    /// signs: it says no more than the fork and the sync committee.
    pub id: Option<Id>,
    /// The suite's id or the name of a profile, as the input writes it or as the format implies it: "eth2", "drand-quicknet".
    pub suite: Option<String>,
    /// Encoded keys in the order of the input, or members of a key set. There may be none; the suite says whether such a claim can be
    /// valid.
    pub public_keys: PublicKeys,
    /// What they signed.
    pub messages: Messages,
    /// The encoded (aggregate) signature.
    pub signature: Vec<u8>,
    /// Who sent the claim, for example a peer id, so that false claims can be counted by sender.
    pub source: Option<SourceId>,
    /// Where in its file it stands.
    pub place: Place,
    /// What the format itself checks without a pairing. A check that failed makes the claim invalid, whatever its signature.
    pub checks: Vec<Check>,
    /// The claims that prove these keys, of which one is enough; `None` if the keys rest on no claim. If all of those claims are
    /// invalid, so is this one. The records of one committee share the list.
    pub rests_on: Option<Arc<Vec<Origin>>>,
    /// Which signature of a chain it is, if a chain gave the claim.
    pub chain: Option<OfChain>,
}

impl Record {
    /// The first check that failed. It makes the claim invalid before any arithmetic.
    #[must_use]
    pub fn failed_check(&self) -> Option<&Check> {
        first_failed(&self.checks)
    }

    /// The suite of the key set whose members the record names, if it names a set and no suite.
    pub(crate) fn suite_of_set(&self) -> Option<AnySuite> {
        match &self.public_keys {
            PublicKeys::Members(set, _) if self.suite.is_none() => Some(set.suite()),
            _ => None,
        }
    }

    /// The claim that the record makes: under the suite that it names, or else under that of its key set, or else under `default`.
    ///
    /// # Errors
    /// [`SuiteError`].
    pub fn into_claim(self, default: Option<AnySuite>) -> Result<ClaimBytes, SuiteError> {
        let suite = match &self.suite {
            Some(name) => name.parse()?,
            None => self.suite_of_set().or(default).ok_or(SuiteError::Missing)?,
        };
        let Self { public_keys, messages, signature, source, .. } = self;
        Ok(ClaimBytes { suite, public_keys, messages, signature, source })
    }

    /// How many bytes of memory the record takes, with what its lists take beside their content, and with what the keys of its
    /// members take while its claim is verified.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let named = self.suite.as_ref().and_then(|name| name.parse().ok());
        let of_members = named
            .or(self.suite_of_set())
            .map_or(0, |suite| memory_of_members(suite, &self.public_keys, &self.messages));
        let Self { id, suite, public_keys, messages, signature, source, checks, chain, .. } = self;
        size_of::<Self>()
            + memory_of(public_keys, messages, signature, source.as_ref())
            + of_members
            + id.as_ref().map_or(0, |id| id.json.capacity())
            + suite.as_ref().map_or(0, String::capacity)
            + checks.iter().map(|check| size_of::<Check>() + check.detail.capacity()).sum::<usize>()
            + chain.as_ref().map_or(0, |chain| chain.kind.capacity())
    }
}

/// The first of some checks that failed.
pub(crate) fn first_failed(checks: &[Check]) -> Option<&Check> {
    checks.iter().find(|check| check.failed())
}

/// What an input says of a claim beside the claim itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct About {
    /// The input's own name for the claim.
    pub id: Option<Id>,
    /// Where in its file it stands.
    pub place: Place,
    /// Whether its suite is the default, because it names none.
    pub by_default: bool,
    /// What the format itself checked.
    pub checks: Vec<Check>,
    /// The claims that prove its keys, of which one is enough.
    pub rests_on: Option<Arc<Vec<Origin>>>,
    /// Which signature of a chain it is.
    pub chain: Option<OfChain>,
}

impl About {
    /// The first check that failed. It makes the claim invalid, so that nobody verifies its signature.
    #[must_use]
    pub fn failed_check(&self) -> Option<&Check> {
        first_failed(&self.checks)
    }
}

/// Which signature of a chain a claim is: the fields `kind`, `slot` and `index`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OfChain {
    /// What is signed: "attestation", "beacon".
    pub kind: String,
    /// The slot, the round or the height of the block in which it stands.
    pub slot: u64,
    /// Where in the block it stands.
    pub index: ClaimIndex,
}

/// The place of a signature among those of its kind in a block: `3`, or of a slashing, which has two, `0.0` and `0.1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClaimIndex {
    /// The place of the operation in its list, from 0.
    pub operation: usize,
    /// Of a slashing: which of its two signatures.
    pub half: Option<usize>,
}

impl From<usize> for ClaimIndex {
    fn from(operation: usize) -> Self {
        Self { operation, half: None }
    }
}

impl fmt::Display for ClaimIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.half {
            None => write!(f, "{}", self.operation),
            Some(half) => write!(f, "{}.{half}", self.operation),
        }
    }
}

impl FromStr for ClaimIndex {
    type Err = NotAnIndex;

    /// Reads what `Display` writes.
    fn from_str(text: &str) -> Result<Self, NotAnIndex> {
        let number = |digits: &str| digits.parse::<usize>().ok().filter(|_| is_decimal(digits)).ok_or(NotAnIndex);
        Ok(match text.split_once('.') {
            None => Self { operation: number(text)?, half: None },
            Some((operation, half)) => Self { operation: number(operation)?, half: Some(number(half)?) },
        })
    }
}

/// A text that is not a place of a signature in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("expected the place of the signature in its block: a number from 0, or two such as \"0.1\"")]
pub struct NotAnIndex;

/// A record names no suite, or a suite that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SuiteError {
    /// The record names no suite, and there is no default.
    #[error(
        "the claim names no suite; add a field \"suite\", or give a suite for all claims (on the command line --suite NAME)"
    )]
    Missing,
    /// No suite has the name.
    #[error(transparent)]
    Unknown(#[from] UnknownSuite),
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

    /// The id that a JSON value is; none for `null`.
    ///
    /// # Errors
    /// The value is an object or an array, which cannot name a claim on one line of a report.
    pub fn from_json(raw: &RawValue) -> Result<Option<Self>, String> {
        match raw.get().as_bytes().first() {
            Some(b'{' | b'[') => {
                Err("\"id\": found an object or a list, expected a string, a number or a boolean".to_owned())
            }
            Some(b'n') => Ok(None),
            _ => Ok(Some(Self { json: raw.get().to_owned() })),
        }
    }

    /// The id without the quotes of JSON. It is text from outside: make it harmless before a terminal sees it.
    #[must_use]
    pub fn unquoted(&self) -> String {
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

/// Where in its file something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// A line, counted from 1.
    Line(u64),
    /// A row, counted from 1.
    Row(u64),
    /// An element of a document, counted from 0 as in `jq '.[3]'`.
    Element(u64),
    /// A slot of a chain.
    Slot(u64),
    /// A round of a drand chain.
    Round(u64),
    /// A height of a chain.
    Height(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Row(row) => write!(f, "row {row}"),
            Self::Element(index) => write!(f, "element [{index}]"),
            Self::Slot(slot) => write!(f, "slot {slot}"),
            Self::Round(round) => write!(f, "round {round}"),
            Self::Height(height) => write!(f, "height {height}"),
        }
    }
}

/// A place in an input.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Which of the caller's inputs it is. Names do not tell inputs apart: a file can have the name by which standard input is called, and
    /// of a name that is not UTF-8 messages show a part.
    pub input: usize,
    /// The input's name in messages.
    pub document: String,
    /// Where in it.
    pub place: Place,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.document, self.place)
    }
}

/// Something that a format decides without a pairing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// A stable name: `finality_branch`.
    pub name: &'static str,
    /// What came of it.
    pub result: CheckResult,
    /// One line with the numbers: "511 of 512 keys took part".
    pub detail: String,
}

impl Check {
    /// Whether it failed, which makes the claim invalid before any arithmetic.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.result == CheckResult::Failed
    }

    /// The check that a root is the expected one.
    pub(crate) fn compared(name: &'static str, expected: &[u8; 32], found: &[u8; 32]) -> Self {
        let (result, expected) = (CheckResult::of(expected == found), const_hex::encode_prefixed(expected));
        let detail = match result {
            CheckResult::Failed => format!("expected {expected}, found {}", const_hex::encode_prefixed(found)),
            _ => format!("found {expected} as expected"),
        };
        Self { name, result, detail }
    }

    /// The check for a person: its result, its name and its detail, in lines of at most 80 columns.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("  {:<12} {}:", self.result.to_string(), self.name)];
        for word in self.detail.split(' ') {
            match lines.last_mut() {
                Some(line) if line.chars().count() + 1 + word.chars().count() <= COLUMNS => {
                    line.push(' ');
                    line.push_str(word);
                }
                // A root of 66 characters fits behind this.
                _ => lines.push(format!("      {word}")),
            }
        }
        lines
    }

    /// A check with its result.
    #[must_use]
    pub fn decided(name: &'static str, result: CheckResult, detail: impl Into<String>) -> Self {
        Self { name, result, detail: detail.into() }
    }
}

/// The check as the reason of a claim that is not valid: its name and its detail.
impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.detail)
    }
}

/// The width of a terminal that everyone has.
const COLUMNS: usize = 80;

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckResult {
    /// The checked condition holds.
    Passed,
    /// The checked condition does not hold, so the claim is invalid.
    Failed,
    /// The input does not say enough to decide, and the check's detail says what is missing. The claim may still be valid.
    NotPossible,
    /// As [`NotPossible`](Self::NotPossible), of something that the input leaves out although its chain may have it: nothing of it is
    /// proved. Whoever reports a valid claim says the check's detail beside the verdict.
    Unproved,
}

impl CheckResult {
    /// [`Passed`](Self::Passed) if the condition holds, else [`Failed`](Self::Failed).
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
            Self::NotPossible | Self::Unproved => "not possible",
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
    fn an_id_for_a_terminal_has_no_controls() {
        assert_eq!(Id::text("slot 7, \"é\"").unquoted(), "slot 7, \"é\"");
        assert_eq!(Id::text("\u{1b}[2J\n").unquoted(), "\u{1b}[2J\n");
        assert_eq!(Id::number(7).unquoted(), "7");
    }

    #[test]
    fn a_check_is_printed_within_80_columns() {
        let check = Check::compared("current_sync_committee_branch", &[1; 32], &[2; 32]);
        let lines = check.lines();
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{lines:#?}");
        assert_eq!(lines[0], "  failed       current_sync_committee_branch: expected");
        assert!(lines[1].trim_start().starts_with("0x0101") && lines[2].contains("0x0202"), "{lines:#?}");
        let check = Check::decided("a", CheckResult::Passed, "b c");
        assert_eq!((check.lines(), check.to_string()), (vec!["  passed       a: b c".to_owned()], "a: b c".to_owned()));
    }

    #[test]
    fn an_index_is_read_as_it_is_written() {
        for (text, operation, half) in [("0", 0, None), ("17", 17, None), ("0.1", 0, Some(1)), ("3.0", 3, Some(0))] {
            let index = ClaimIndex { operation, half };
            assert_eq!((text.parse(), index.to_string().as_str()), (Ok(index), text));
        }
        for bad in ["", "-1", "+1", "00", "1.", ".1", "1.2.3", "0.01", "a", " 1", "18446744073709551616"] {
            assert_eq!(bad.parse::<ClaimIndex>(), Err(NotAnIndex), "{bad}");
        }
    }

    #[test]
    fn a_number_and_its_digits_are_two_sources() {
        let sources: Vec<SourceId> = serde_json::from_str(r#"[7, "7", "", 18446744073709551615]"#).unwrap();
        assert_eq!(sources[..2], [SourceId::Number(7), SourceId::from("7")]);
        assert_eq!(serde_json::to_string(&sources).unwrap(), r#"[7,"7","",18446744073709551615]"#);
        assert_eq!((sources[0].to_string(), sources[1].to_string()), ("7".to_owned(), "7".to_owned()));
        for bad in ["-1", "1.5", "18446744073709551616", "true", "[]", "{}", "null"] {
            let error = serde_json::from_str::<SourceId>(bad).unwrap_err().to_string();
            assert!(error.contains("a string or an integer from 0 to 2^64 - 1"), "{bad}: {error}");
        }
    }
}
