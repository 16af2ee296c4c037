//! What a request says, before anything is verified: bytes and a query become claims, or the reason why not.

use std::time::Duration;

use quorate::{AnySuite, ClaimBytes};
use quorate_batcher::Class;
use quorate_formats::{Entry, Id, InputError, Malformed, Place, arrow, jsonl};
use thiserror::Error;

use crate::config::Limits;

/// A claim of a request, and what the request calls it.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "a name and a claim")]
pub struct Named {
    /// The request's own name for it.
    pub id: Option<Id>,
    /// The claim.
    pub claim: ClaimBytes,
}

/// Why a request makes no claims.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BadClaims {
    /// A claim cannot be read.
    #[error("{place}: {reason}")]
    Claim {
        /// Where it stands.
        place: Place,
        /// The field, what was found, what was expected.
        reason: String,
    },
    /// The body cannot be read.
    #[error("{0}")]
    Body(String),
    /// There are no claims in it.
    #[error("the body holds no claims; send at least one")]
    Empty,
    /// There are too many claims in it.
    #[error("the body holds more than {0} claims, the limit; send several requests, or a stream of JSON lines")]
    TooMany(usize),
    /// They take too much memory.
    #[error(
        "the claims take more than {0} bytes of memory, the limit; send several requests, or a stream of JSON lines"
    )]
    TooLarge(usize),
}

impl From<Malformed> for BadClaims {
    fn from(Malformed { place, reason, .. }: Malformed) -> Self {
        Self::Claim { place, reason }
    }
}

/// The claims of a JSON document: one claim, or an array of claims.
///
/// # Errors
/// [`BadClaims`], for the first claim that cannot be read.
pub fn from_json(body: &[u8], suite: Option<AnySuite>, limits: &Limits) -> Result<Vec<Named>, BadClaims> {
    let claims = jsonl::JsonLines::document(body).map_err(|error| BadClaims::Body(error.to_string()))?;
    all(claims, suite, limits)
}

/// The claims of a stream of Arrow record batches, one a row.
///
/// # Errors
/// [`BadClaims`], for the first claim that cannot be read.
pub fn from_arrow(body: Vec<u8>, suite: Option<AnySuite>, limits: &Limits) -> Result<Vec<Named>, BadClaims> {
    all(arrow::ArrowRows::new(body), suite, limits)
}

/// The claims that a reader gives, none of which may be malformed.
fn all(
    entries: impl Iterator<Item = Result<Entry, InputError>>,
    suite: Option<AnySuite>,
    limits: &Limits,
) -> Result<Vec<Named>, BadClaims> {
    let (mut claims, mut held) = (Vec::new(), 0);
    for entry in entries {
        let entry = entry.map_err(|error| BadClaims::Body(error.to_string()))?;
        if claims.len() == limits.claims {
            return Err(BadClaims::TooMany(limits.claims));
        }
        let named = named(entry, suite, limits)?;
        // What is short on the wire can be long in memory, such as many keys of no bytes.
        held += named.memory();
        if held > limits.memory_bytes {
            return Err(BadClaims::TooLarge(limits.memory_bytes));
        }
        claims.push(named);
    }
    if claims.is_empty() { Err(BadClaims::Empty) } else { Ok(claims) }
}

/// The claim on a line of a stream; none for a blank line.
#[must_use]
pub fn from_line(
    line: &[u8],
    number: u64,
    suite: Option<AnySuite>,
    limits: &Limits,
) -> Option<Result<Named, Malformed>> {
    jsonl::entry_of_line(line, number).map(|entry| named(entry, suite, limits))
}

fn named(entry: Entry, suite: Option<AnySuite>, limits: &Limits) -> Result<Named, Malformed> {
    let mut record = entry?;
    let (id, place) = (record.id.take(), record.place);
    let malformed = |reason: String| Malformed::new(place, reason).with_id(id.clone());
    if record.public_keys.len() > limits.keys {
        let found = record.public_keys.len();
        return Err(malformed(format!("\"public_keys\": found {found} keys, expected at most {}", limits.keys)));
    }
    let claim = record.into_claim(suite).map_err(|error| {
        malformed(match error {
            quorate_formats::SuiteError::Missing => {
                "\"suite\" is missing; give it, or ?suite=NAME for all claims of the request".to_owned()
            }
            other => format!("\"suite\": {other}"),
        })
    })?;
    Ok(Named { id, claim })
}

/// What all claims of a request have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "what the query has")]
pub struct Asked {
    /// The suite of claims that name none.
    pub suite: Option<AnySuite>,
    /// How urgent they are.
    pub class: Class,
    /// After this time a verdict is of no use.
    pub deadline: Option<Duration>,
}

impl Asked {
    /// Reads the query of a request. `default` is the suite of the configuration.
    ///
    /// # Errors
    /// A message that names the parameter.
    pub fn read<'a>(
        query: impl IntoIterator<Item = (&'a str, &'a str)>,
        default: Option<AnySuite>,
    ) -> Result<Self, String> {
        let [mut suite, mut class, mut deadline] = [None; 3];
        for (name, value) in query {
            let slot = match name {
                "suite" => &mut suite,
                "class" => &mut class,
                "deadline_ms" => &mut deadline,
                other => {
                    return Err(format!(
                        "found the parameter {other:?}, expected suite, class or deadline_ms; leave it out"
                    ));
                }
            };
            if slot.replace(value).is_some() {
                return Err(format!("the parameter {name} stands in the query twice; keep one of them"));
            }
        }
        let suite = match suite {
            Some(name) => Some(name.parse().map_err(|error| format!("suite: {error}"))?),
            None => default,
        };
        let class = match class {
            Some(name) => name.parse().map_err(|_| format!("class: found {name:?}, expected block, duty or gossip"))?,
            None => Class::Gossip,
        };
        let expected = |found| {
            format!("deadline_ms: found {found:?}, expected a number of milliseconds from 1 to {LONGEST_DEADLINE_MS}")
        };
        let deadline = match deadline {
            Some(text) => match text.parse() {
                Ok(ms @ 1..=LONGEST_DEADLINE_MS) => Some(Duration::from_millis(ms)),
                _ => return Err(expected(text)),
            },
            None => None,
        };
        Ok(Self { suite, class, deadline })
    }
}

/// An hour.
const LONGEST_DEADLINE_MS: u64 = 3_600_000;

impl Named {
    /// About how many bytes of memory it takes.
    pub(crate) fn memory(&self) -> usize {
        size_of::<Self>() - size_of::<ClaimBytes>() + self.claim.memory()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"id": 7, "suite": "eth2", "public_key": "01", "message": "02", "signature": "03"}"#;

    fn json(body: &str) -> Result<Vec<Named>, String> {
        let limits = Limits { claims: 2, keys: 2, ..Limits::default() };
        from_json(body.as_bytes(), None, &limits).map_err(|error| error.to_string())
    }

    #[test]
    fn one_claim_or_an_array() {
        assert_eq!(json(GOOD).unwrap().len(), 1);
        let two = json(&format!("[{GOOD}, {GOOD}]")).unwrap();
        assert_eq!(two[1].id, Some(Id::number(7)));
    }

    #[test]
    fn a_bad_body_is_named_with_its_place_and_field() {
        let keys = r#"{"suite": "eth2", "public_keys": ["", "", ""], "message": "", "signature": ""}"#;
        for (body, expected) in [
            ("", "the body holds no claims"),
            ("[]", "the body holds no claims"),
            ("{", "ends in the middle, at line 1"),
            ("hello", "line 1"),
            (&format!("[{GOOD},\n{GOOD},\n{GOOD}]"), "more than 2 claims"),
            (&format!("[{GOOD}, {{}}]"), "element [1]: \"public_key\" is missing"),
            (&GOOD.replace("03", "0g"), "signature"),
            (&GOOD.replace("eth2", "eth3"), "element [0]: \"suite\""),
            (&GOOD.replace("\"suite\": \"eth2\",", ""), "?suite=NAME"),
            (keys, "\"public_keys\": found 3 keys, expected at most 2"),
            (&"[".repeat(100_000), "line 1"),
        ] {
            let error = json(body).unwrap_err();
            assert!(error.contains(expected), "{body:.80}: {error}");
        }
    }

    #[test]
    fn the_query_is_read_and_its_faults_are_named() {
        let read = |query: &[(&'static str, &'static str)]| Asked::read(query.iter().copied(), None);
        let asked = read(&[("class", "block"), ("suite", "eth2"), ("deadline_ms", "250")]).unwrap();
        assert_eq!((asked.class, asked.deadline), (Class::Block, Some(Duration::from_millis(250))));
        assert_eq!(read(&[]).unwrap(), Asked { suite: None, class: Class::Gossip, deadline: None });
        for (query, expected) in [
            ([("class", "urgent")].as_slice(), "class: found \"urgent\""),
            (&[("suite", "eth3")], "suite: "),
            (&[("clas", "block")], "\"clas\""),
            (&[("class", "duty"), ("class", "duty")], "twice"),
            (&[("deadline_ms", "0")], "deadline_ms: found \"0\""),
            (&[("deadline_ms", "-5")], "deadline_ms"),
            (&[("deadline_ms", "99999999999999999999999")], "deadline_ms"),
        ] {
            let error = read(query).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
