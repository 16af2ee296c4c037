//! Reads one JSON object, and says which of its fields cannot be read.

use quorate_host::clipped;
use serde::Deserialize;
use serde_ignored::Path;
use serde_json::error::Category;
use thiserror::Error;

/// Reads an object.
///
/// # Errors
/// [`ObjectError`], whose message names the field, what was found and what was expected.
pub fn object<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, ObjectError> {
    object_and_unknown(text, |_| ())
}

/// Reads an object, and calls `unknown` with the name of each field that it skips.
///
/// # Errors
/// As [`object`].
pub fn object_and_unknown<'a, T: Deserialize<'a>>(
    text: &'a str,
    mut unknown: impl FnMut(&str),
) -> Result<T, ObjectError> {
    read(text, |path| {
        if let Path::Map { parent: Path::Root, key } = path {
            unknown(key);
        }
    })
}

/// Reads an object in which every field is known, at every level, but for those with one of the `harmless` names.
///
/// # Errors
/// As [`object`]; a field that is not known is named by its path.
pub(crate) fn known_object<'a, T: Deserialize<'a>>(text: &'a str, harmless: &[&str]) -> Result<T, ObjectError> {
    let mut unknown = None;
    let value = object_and_skipped(text, harmless, |path| {
        unknown.get_or_insert_with(|| path.to_owned());
    })?;
    match unknown {
        None => Ok(value),
        Some(path) => Err(ObjectError::Unfit(format!(
            "found the field \"{}\", which is not known and would not be checked; write it under the name that the specification gives \
             it, or leave it out",
            shown(&path)
        ))),
    }
}

/// Reads an object, and calls `unknown` with the path of each field that it skips, at every level, but for those with one of the
/// `harmless` names.
///
/// # Errors
/// As [`object`].
pub(crate) fn object_and_skipped<'a, T: Deserialize<'a>>(
    text: &'a str,
    harmless: &[&str],
    mut unknown: impl FnMut(&str),
) -> Result<T, ObjectError> {
    read(text, |path| {
        if !matches!(path, Path::Map { key, .. } if harmless.contains(&key.as_str())) {
            // An optional level is not a level of the document.
            unknown(&path.to_string().replace(".?", ""));
        }
    })
}

fn read<'a, T: Deserialize<'a>>(text: &'a str, mut skipped: impl FnMut(&Path<'_>)) -> Result<T, ObjectError> {
    // serde would also accept an array, and read its elements as the fields in order.
    if !text.starts_with('{') {
        return Err(ObjectError::Unfit(format!("found {}, expected a JSON object", kind_of(text))));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let read =
        serde_ignored::deserialize(&mut reader, |path| skipped(&path)).and_then(|value| reader.end().map(|()| value));
    read.map_err(|error| match error.classify() {
        Category::Eof => ObjectError::CutOff,
        Category::Data => ObjectError::Unfit(field_and_reason::<T>(text).unwrap_or_else(|| shown(&error.to_string()))),
        _ => ObjectError::Unfit(format!("expected a JSON object: {}", shown(&error.to_string()))),
    })
}

/// Reads one value, of a field that is read later than the object around it.
pub(crate) fn value<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| reason(&error))
}

/// Why a value of a field cannot be read. The place in the text says no more than the field does, and is left out.
pub(crate) fn reason(error: &serde_json::Error) -> String {
    let reason = error.to_string();
    shown(reason.rsplit_once(" at line ").map_or(reason.as_str(), |(reason, _)| reason))
}

/// Why a text is not the object that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// The text ends before the object does.
    #[error("the object does not end")]
    CutOff,
    /// The text is not an object, or a field of it is missing or of another type.
    #[error("{0}")]
    Unfit(String),
}

/// Reads once more, and remembers the path to the field on the way. Objects that are right do not pay for this.
fn field_and_reason<'a, T: Deserialize<'a>>(text: &'a str) -> Option<String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let error = serde_path_to_error::deserialize::<_, T>(&mut reader).err()?;
    let path = error.path().to_string();
    let reason = error.inner().to_string();
    // The place in the text says no more than the field does.
    let reason = reason.rsplit_once(" at line ").map_or(reason.as_str(), |(reason, _)| reason);
    if path == "." {
        return None;
    }
    Some(format!("\"{path}\": {}", shown(reason)))
}

/// A message of serde's in our words. It repeats a value of the input, escaped; a long value is cut.
fn shown(message: &str) -> String {
    const LONGEST: usize = 200;
    let message = message.replace(" at line 1 column ", " at column ");
    let found = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    let mut message = found.map_or_else(|| message.clone(), |rest| format!("found {rest}"));
    let words = [
        ("found sequence", "found a list"),
        ("found map", "found an object"),
        ("expected a sequence", "expected a list"),
    ];
    for (serde, ours) in words {
        message = message.replacen(serde, ours, 1);
    }
    clipped(&message, LONGEST)
}

/// The kind of JSON value that a text begins like. The text itself is not repeated: it can be long, and it comes from outside.
pub(crate) fn kind_of(text: &str) -> &'static str {
    match text.as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "a list",
        Some(b'"') => "a string",
        Some(b'-' | b'0'..=b'9') => "a number",
        _ => match text {
            "true" | "false" => "a boolean",
            "null" => "null",
            _ => "text that is not JSON",
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only read")]
    struct Outer<'a> {
        #[serde(borrow)]
        raw: Option<&'a RawValue>,
        inner: Vec<Inner>,
    }

    #[derive(Debug, Deserialize)]
    #[allow(dead_code, reason = "only read")]
    struct Inner {
        slot: u64,
    }

    fn reason(text: &str) -> String {
        object::<Outer<'_>>(text).unwrap_err().to_string()
    }

    #[test]
    fn the_field_is_named_by_its_path() {
        assert!(object::<Outer<'_>>(r#"{"raw": {"any": [1]}, "inner": [{"slot": 1}]}"#).is_ok());
        let text = r#"{"raw": {"any": [1]}, "inner": [{"slot": 1}, {"slot": "x"}]}"#;
        assert_eq!(reason(text), "\"inner[1].slot\": found string \"x\", expected u64");
        assert_eq!(reason(r#"{"inner": [{}]}"#), "\"inner[0]\": missing field `slot`");
        assert_eq!(reason(r#"{"inner": [], "inner": []}"#), "duplicate field `inner` at column 21");
    }

    #[test]
    fn a_field_that_is_not_known_is_named_at_every_level() {
        let read = |text| known_object::<Outer<'_>>(text, &["note"]).map(|_| ()).map_err(|error| error.to_string());
        assert!(read(r#"{"note": 1, "raw": {"any": 1}, "inner": [{"slot": 1, "note": {}}]}"#).is_ok());
        assert!(
            read(r#"{"inner": [], "other": 1}"#)
                .unwrap_err()
                .starts_with("found the field \"other\", which is not known")
        );
        let deep = read(r#"{"inner": [{"slot": 1}, {"slot": 1, "x\u001b": 2}]}"#).unwrap_err();
        assert!(deep.starts_with(r#"found the field "inner.1.x\u{1b}""#), "{deep}");
    }

    #[test]
    fn other_values_and_broken_text() {
        assert_eq!(reason("[[]]"), "found a list, expected a JSON object");
        assert_eq!(reason("hello"), "found text that is not JSON, expected a JSON object");
        assert_eq!(object::<Outer<'_>>(r#"{"inner": ["#).unwrap_err(), ObjectError::CutOff);
        assert_eq!(reason("{inner}"), "expected a JSON object: key must be a string at column 2");
    }

    #[test]
    fn values_are_escaped_and_cut() {
        let found = reason(r#"{"inner": [{"slot": "\u001b[2J"}]}"#);
        assert!(found.contains(r#"found string "\u{1b}[2J""#), "{found}");
        let long = reason(&format!(r#"{{"inner": [{{"slot": "{}"}}]}}"#, "é".repeat(1000)));
        assert!(long.chars().count() < 250 && long.ends_with('…'), "{long}");
    }
}
