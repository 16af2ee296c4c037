//! Reads whole JSON documents: one value, several values one after the other, or an array of values.
//!
//! The text is in memory, its elements are not: a document of 64 MiB has up to 32 million of them.

use std::io::{BufRead, Read};
use std::ops::Range;

use quorate_host::BYTE_ORDER_MARK;
use serde::{Deserialize, de::IgnoredAny};
use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::columns::Unknown;
use crate::entry::{Entry, Malformed};
use crate::error::InputError;
use crate::format::{Foreign, Format, PEEK_LIMIT};
use crate::json;
use crate::record::{Place, Record};

/// The longest document that is read into memory: 256 MiB, about 3,000 light-client updates or 500,000 drand rounds.
pub const DOCUMENT_LIMIT: u64 = 256 << 20;

/// A document in memory, whose elements are read one by one. Each stays text, so that one bad element does not affect the
/// others.
///
/// An array at the top counts as its elements, one level deep. Values may also follow each other, as in JSON Lines.
#[derive(Debug)]
pub(crate) struct Elements {
    text: String,
    cursor: Cursor,
}

impl Elements {
    /// Reads a document into memory.
    pub(crate) fn read(reader: impl BufRead, format: Format) -> Result<Self, InputError> {
        Self::of(read_bytes(reader, format, DOCUMENT_LIMIT)?, format)
    }

    /// A document that is in memory.
    pub(crate) fn of(bytes: Vec<u8>, format: Format) -> Result<Self, InputError> {
        // Digits and letters in UTF-16 are UTF-8 with zeros in between.
        if let Some(foreign @ Foreign::Wide(_)) = Foreign::of(&bytes[..bytes.len().min(PEEK_LIMIT)]) {
            return Err(foreign.into());
        }
        let text = String::from_utf8(bytes).map_err(|error| InputError::NotJson {
            format,
            reason: format!("byte {} is not UTF-8", error.utf8_error().valid_up_to() + 1),
        })?;
        let start = text.len() - text.trim_start_matches(BYTE_ORDER_MARK).len();
        Ok(Self { cursor: Cursor { at: start, end: text.len(), within: Within::Top, format, lines: 0 }, text })
    }

    /// The same document, whose lines are counted from another one than the first: they go on where another document ended.
    pub(crate) fn after_lines(mut self, lines: usize) -> Self {
        self.cursor.lines = lines;
        self
    }

    /// The next element.
    pub(crate) fn element(&mut self) -> Result<Option<Element>, InputError> {
        self.cursor.element(&self.text)
    }

    /// The text of an element.
    pub(crate) fn text(&self, element: &Element) -> &str {
        &self.text[element.0.clone()]
    }

    /// The elements of a part of this document, which is a list or one value.
    pub(crate) fn part(&self, part: &str) -> Cursor {
        let at = part.as_ptr() as usize - self.text.as_ptr() as usize;
        let Cursor { format, lines, .. } = self.cursor;
        Cursor { at, end: at + part.len(), within: Within::Top, format, lines }
    }

    /// The next element of a part.
    pub(crate) fn element_of(&self, part: &mut Cursor) -> Result<Option<Element>, InputError> {
        part.element(&self.text)
    }
}

/// Where an element stands in the text of its document.
#[derive(Clone, Debug)]
pub(crate) struct Element(Range<usize>);

/// A walk through the elements of a document or of a part of it.
#[derive(Debug)]
pub(crate) struct Cursor {
    at: usize,
    end: usize,
    within: Within,
    format: Format,
    /// How many lines stand before the document.
    lines: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    /// Values that follow each other.
    Top,
    /// An array of which nothing was read.
    NewArray,
    /// An array, after an element.
    Array,
}

impl Cursor {
    fn element(&mut self, text: &str) -> Result<Option<Element>, InputError> {
        loop {
            self.at += white_space(&text[self.at..self.end]);
            let next = text[self.at..self.end].bytes().next();
            match (self.within, next) {
                (Within::Top, None) => return Ok(None),
                (Within::Top, Some(b'[')) => (self.within, self.at) = (Within::NewArray, self.at + 1),
                (Within::NewArray | Within::Array, Some(b']')) => (self.within, self.at) = (Within::Top, self.at + 1),
                (Within::Array, Some(b',')) => {
                    self.at += 1;
                    return self.value(text).map(Some);
                }
                (Within::Array, Some(_)) => return Err(self.not_json(text, 1, 1, "expected `,` or `]`")),
                (Within::Top | Within::NewArray, Some(_)) => return self.value(text).map(Some),
                (Within::NewArray | Within::Array, None) => return Err(self.truncated(text, 1, 1)),
            }
        }
    }

    fn value(&mut self, text: &str) -> Result<Element, InputError> {
        self.at += white_space(&text[self.at..self.end]);
        let rest = &text[self.at..self.end];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        match values.next() {
            None => Err(self.truncated(text, 1, 1)),
            Some(Ok(_)) => {
                let start = self.at;
                self.at += values.byte_offset();
                if self.within == Within::NewArray {
                    self.within = Within::Array;
                }
                Ok(Element(start..self.at))
            }
            Some(Err(error)) => Err(match error.classify() {
                Category::Eof => self.truncated(text, error.line(), error.column()),
                _ => self.not_json(text, error.line(), error.column(), &json::reason(&error)),
            }),
        }
    }

    /// The line and the column in the document of a line and a column in what follows.
    fn place(&self, text: &str, line: usize, column: usize) -> (usize, usize) {
        let before = &text[..self.at];
        let last = before.rfind('\n').map_or(0, |end| end + 1);
        let lines = before.bytes().filter(|byte| *byte == b'\n').count();
        (self.lines + lines + line, if line == 1 { self.at - last + column } else { column })
    }

    fn truncated(&self, text: &str, line: usize, column: usize) -> InputError {
        let (line, column) = self.place(text, line, column);
        InputError::Truncated { format: self.format, line, column }
    }

    fn not_json(&self, text: &str, line: usize, column: usize, reason: &str) -> InputError {
        let (line, column) = self.place(text, line, column);
        let reason = format!("at line {line}, column {column} it is not JSON: {reason}");
        InputError::NotJson { format: self.format, reason }
    }
}

/// Objects of which each makes an entry of its own. They stand alone, in lists, or in the field `data` of an envelope.
#[derive(Debug)]
pub(crate) struct Operations {
    elements: Elements,
    /// The content of the envelope that is open.
    part: Option<Cursor>,
    unknown: Unknown,
    next: u64,
    ended: bool,
}

impl Operations {
    /// Reads a document into memory.
    pub(crate) fn read(reader: impl BufRead, format: Format) -> Result<Self, InputError> {
        let (elements, unknown) = (Elements::read(reader, format)?, Unknown::default());
        Ok(Self { elements, part: None, unknown, next: 0, ended: false })
    }

    /// The names of fields that are skipped, as of [`Unknown::take`].
    pub(crate) fn take_unknown(&mut self) -> Vec<(String, Place)> {
        self.unknown.take()
    }

    /// The next entry, as `read` makes it of the object's text, noting what it skips. Nothing follows an error.
    pub(crate) fn next(
        &mut self,
        read: impl FnOnce(&str, Place, &mut Unknown) -> Result<Record, String>,
    ) -> Option<Result<Entry, InputError>> {
        if self.ended {
            return None;
        }
        let element = self.element().transpose();
        self.ended = !matches!(element, Some(Ok(_)));
        let place = Place::Element(self.next);
        self.next += 1;
        element.map(|element| {
            let text = self.elements.text(&element?);
            Ok(read(text, place, &mut self.unknown).map_err(|reason| Malformed::new(place, reason)))
        })
    }

    fn element(&mut self) -> Result<Option<Element>, InputError> {
        loop {
            if let Some(part) = &mut self.part {
                if let Some(element) = self.elements.element_of(part)? {
                    return Ok(Some(element));
                }
                self.part = None;
            }
            let Some(element) = self.elements.element()? else { return Ok(None) };
            match content_of(self.elements.text(&element)) {
                Some(content) => self.part = Some(self.elements.part(content)),
                None => return Ok(Some(element)),
            }
        }
    }
}

/// What an envelope of the Beacon API holds in its field `data`; none if the text is not an envelope. An object with a field of an
/// operation is one, whatever else it has: it must not vanish behind its `data`.
fn content_of(text: &str) -> Option<&str> {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        #[serde(borrow)]
        data: &'a RawValue,
        message: Option<IgnoredAny>,
        pubkey: Option<IgnoredAny>,
        signature: Option<IgnoredAny>,
    }
    let envelope = text.starts_with('{').then(|| serde_json::from_str::<Envelope<'_>>(text).ok())??;
    if [envelope.message, envelope.pubkey, envelope.signature].iter().any(Option::is_some) {
        return None;
    }
    let content = envelope.data.get();
    content.starts_with(['{', '[']).then_some(content)
}

/// How many bytes of white space a text begins with, as JSON defines it.
fn white_space(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t', '\n', '\r']).len()
}

/// The bytes of a document, of which there may be so many.
pub(crate) fn read_bytes(reader: impl BufRead, format: Format, limit: u64) -> Result<Vec<u8>, InputError> {
    let mut bytes = Vec::new();
    reader.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(InputError::TooLong { format, limit });
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(input: &str) -> Result<Vec<String>, InputError> {
        let mut document = Elements::read(input.as_bytes(), Format::Drand)?;
        let mut texts = Vec::new();
        while let Some(element) = document.element()? {
            texts.push(document.text(&element).to_owned());
        }
        Ok(texts)
    }

    #[test]
    fn one_value_several_values_or_an_array() {
        assert_eq!(texts("{\"a\": 1}").unwrap(), ["{\"a\": 1}"]);
        assert_eq!(texts("{}\n{}\r\n").unwrap(), ["{}", "{}"]);
        assert_eq!(texts("\u{feff}[1, [2]]").unwrap(), ["1", "[2]"]);
        assert_eq!(texts("[] [1\n,\"],\" ] {} [ ]").unwrap(), ["1", "\"],\"", "{}"]);
        assert!(texts(" \n").unwrap().is_empty());
    }

    #[test]
    fn a_part_has_elements_of_its_own() {
        let mut document = Elements::read(&b"[{}, [1, 2], 3]"[..], Format::Drand).unwrap();
        document.element().unwrap();
        let list = document.element().unwrap().unwrap();
        let mut part = document.part(document.text(&list));
        let mut found = Vec::new();
        while let Some(element) = document.element_of(&mut part).unwrap() {
            found.push(document.text(&element).to_owned());
        }
        assert_eq!(found, ["1", "2"]);
    }

    #[test]
    fn operations_stand_alone_in_lists_and_in_envelopes() {
        let texts = |input: &str| {
            let mut operations = Operations::read(input.as_bytes(), Format::Exit).unwrap();
            let mut texts = Vec::new();
            let mut seen = Vec::new();
            while let Some(entry) = operations.next(|text, place, _| {
                seen.push(place);
                texts.push(text.to_owned());
                Err(String::new())
            }) {
                assert!(entry.unwrap().is_err());
            }
            assert_eq!(seen, (0..seen.len() as u64).map(Place::Element).collect::<Vec<_>>());
            texts
        };
        assert_eq!(texts(r#"{"a": 1}"#), [r#"{"a": 1}"#]);
        assert_eq!(
            texts(r#"{"data": [{"a": 1}, 2], "version": "x"} {"data": {"b": 1}} [3]"#),
            [r#"{"a": 1}"#, "2", r#"{"b": 1}"#, "3"]
        );
        assert_eq!(texts(r#"{"data": "x"}"#), [r#"{"data": "x"}"#]);
        assert!(texts(r#"{"data": []}"#).is_empty());
        let mut cut = Operations::read(&br#"{"data": [{"a": 1}, "#[..], Format::Exit).unwrap();
        assert!(matches!(cut.next(|_, _, _| unreachable!()), Some(Err(InputError::Truncated { .. }))));
        assert!(cut.next(|_, _, _| unreachable!()).is_none());
    }

    /// What is signed stands beside a list: neither may hide the other.
    #[test]
    fn a_list_does_not_hide_the_operation_beside_it() {
        for field in [r#""message": {}"#, r#""pubkey": "0x00""#, r#""signature": false"#] {
            for data in ["[]", r#"{"a": 1}"#] {
                let input = format!(r#"{{{field}, "data": {data}}}"#);
                let mut operations = Operations::read(input.as_bytes(), Format::Exit).unwrap();
                let entry = operations.next(|text, _, _| {
                    assert_eq!(text, input);
                    Err(String::new())
                });
                assert!(entry.unwrap().unwrap().is_err());
                assert!(operations.next(|_, _, _| unreachable!()).is_none());
            }
        }
    }

    #[test]
    fn truncation_names_line_and_column() {
        for text in ["[{\n\"a\": ", "[\n", "[1,\n", "[1\n"] {
            let error = texts(text).unwrap_err();
            assert!(matches!(error, InputError::Truncated { line: 2, .. }), "{error}");
        }
    }

    #[test]
    fn rubbish_and_invalid_utf8() {
        for text in ["{} ]", "[1,]", "[,1]", "[1 2]", "[1]]", "{}\n  x", "[1}"] {
            assert!(matches!(texts(text), Err(InputError::NotJson { .. })), "{text}");
        }
        let named = texts("[1,\n  x]").unwrap_err().to_string();
        assert!(named.ends_with("but at line 2, column 3 it is not JSON: expected value"), "{named}");
        assert!(matches!(Elements::read(&b"{\xff}"[..], Format::Drand), Err(InputError::NotJson { .. })));
    }

    #[test]
    fn an_endless_document_is_refused() {
        let endless = std::io::BufReader::new(std::io::repeat(b' '));
        assert!(matches!(read_bytes(endless, Format::LightClient, 1 << 16), Err(InputError::TooLong { .. })));
        assert_eq!(read_bytes(&b"[1]"[..], Format::Drand, 3).unwrap(), b"[1]");
    }
}
