//! Reads whole JSON documents: one value, several values one after the other, or an array of values.

use std::io::{BufRead, Read};

use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::error::InputError;
use crate::format::{BYTE_ORDER_MARK, Format};

/// The longest document that is read into memory: 256 MiB, about 3,000 light-client updates or 500,000 drand rounds.
pub const DOCUMENT_LIMIT: u64 = 256 << 20;

/// The elements of a document. Each stays text, so that one bad element does not affect the others.
///
/// An array at the top counts as its elements, one level deep. Values may also follow each other, as in JSON Lines.
pub(crate) fn elements(reader: impl BufRead, format: Format) -> Result<Vec<Box<RawValue>>, InputError> {
    let text = read_text(reader, format, DOCUMENT_LIMIT)?;
    let values = serde_json::Deserializer::from_str(text.trim_start_matches(BYTE_ORDER_MARK)).into_iter::<&RawValue>();
    let mut elements = Vec::new();
    for value in values {
        let value = value.map_err(|error| not_json(&error, format))?;
        if value.get().starts_with('[') {
            let inner: Vec<Box<RawValue>> =
                serde_json::from_str(value.get()).map_err(|error| not_json(&error, format))?;
            elements.extend(inner);
        } else {
            elements.push(value.to_owned());
        }
    }
    Ok(elements)
}

fn read_text(reader: impl BufRead, format: Format, limit: u64) -> Result<String, InputError> {
    let mut bytes = Vec::new();
    reader.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(InputError::TooLong { format, limit });
    }
    String::from_utf8(bytes).map_err(|error| InputError::NotJson {
        format,
        reason: format!("byte {} is not UTF-8", error.utf8_error().valid_up_to() + 1),
    })
}

fn not_json(error: &serde_json::Error, format: Format) -> InputError {
    match error.classify() {
        Category::Eof => InputError::Truncated { format, line: error.line(), column: error.column() },
        _ => InputError::NotJson { format, reason: format!("found {error}") },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(input: &str) -> Vec<String> {
        elements(input.as_bytes(), Format::Drand).unwrap().iter().map(|raw| raw.get().to_owned()).collect()
    }

    #[test]
    fn one_value_several_values_or_an_array() {
        assert_eq!(texts("{\"a\": 1}"), ["{\"a\": 1}"]);
        assert_eq!(texts("{}\n{}\r\n"), ["{}", "{}"]);
        assert_eq!(texts("\u{feff}[1, [2]]"), ["1", "[2]"]);
        assert!(texts(" \n").is_empty());
    }

    #[test]
    fn truncation_names_line_and_column() {
        let error = elements("[{\n\"a\": ".as_bytes(), Format::Drand).unwrap_err();
        assert!(matches!(error, InputError::Truncated { line: 2, .. }), "{error}");
    }

    #[test]
    fn rubbish_and_invalid_utf8() {
        assert!(matches!(elements(&b"{} ]"[..], Format::Drand), Err(InputError::NotJson { .. })));
        assert!(matches!(elements(&b"{\xff}"[..], Format::Drand), Err(InputError::NotJson { .. })));
    }

    #[test]
    fn an_endless_document_is_refused() {
        let endless = std::io::BufReader::new(std::io::repeat(b' '));
        assert!(matches!(read_text(endless, Format::LightClient, 1 << 16), Err(InputError::TooLong { .. })));
        assert_eq!(read_text(&b"[1]"[..], Format::Drand, 3).unwrap(), "[1]");
    }
}
