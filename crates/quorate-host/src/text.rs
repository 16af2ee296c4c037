//! Text from outside that is held as a whole, within a bound of memory, and the mark that may stand before it.

use std::{
    io::{self, BufRead, Read},
    iter,
};

use thiserror::Error;

use crate::plain::{BYTE_ORDER_MARK, clipped};

/// The byte order marks of UTF-16.
pub const UTF_16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// The byte order marks of UTF-32. The first one begins as a mark of UTF-16 does.
const UTF_32_MARKS: [&[u8]; 2] = [b"\xff\xfe\0\0", b"\0\0\xfe\xff"];

/// Text with 16 or 32 bits for a letter, in place of UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WideText {
    /// UTF-16, as Windows' tools write it.
    #[error("found text in UTF-16, expected UTF-8; convert it, for example with `iconv -f UTF-16 -t UTF-8`")]
    Utf16,
    /// UTF-32.
    #[error("found text in UTF-32, expected UTF-8; convert it, for example with `iconv -f UTF-32 -t UTF-8`")]
    Utf32,
}

impl WideText {
    /// What a text is by the mark that it begins with; `None` if it begins with none of these marks. Four bytes are enough.
    #[must_use]
    pub fn of(text: &[u8]) -> Option<Self> {
        let begins_with = |marks: &[&[u8]]| marks.iter().any(|mark| text.starts_with(mark));
        if begins_with(&UTF_32_MARKS) { Some(Self::Utf32) } else { begins_with(&UTF_16_MARKS).then_some(Self::Utf16) }
    }
}

/// Why a text is not the JSON that was expected. An integer that is too large is shown as the text has it, with its field. Of a text that is neither an object nor a list nothing is repeated: it may be a secret,
/// whose file was named by mistake, and a key's digits can be a number of JSON.
#[must_use]
pub fn json_reason(text: &[u8], error: &serde_json::Error) -> String {
    match text.trim_ascii_start().first() {
        None | Some(b'{' | b'[') => integer_reason(text, error).unwrap_or_else(|| error.to_string()),
        Some(_) => "it begins with neither { nor [".to_owned(),
    }
}

/// Words about an integer that its field cannot hold; `None` if the error is another one. serde_json reads an integer above 2^64 - 1 as
/// the nearest floating-point number, and shows that one.
fn integer_reason(text: &[u8], error: &serde_json::Error) -> Option<String> {
    let words = error.to_string();
    let expected = words.rsplit_once(", expected ")?.1.split(" at line ").next()?;
    let (least, kind) = expected.strip_prefix("a nonzero ").map_or((0, expected), |kind| (1, kind));
    let bits = match kind {
        "u8" => 8,
        "u16" => 16,
        "u32" => 32,
        "u64" | "usize" => 64,
        _ => return None,
    };
    let (line, column) = (error.line(), error.column());
    let text = text.split(|byte| *byte == b'\n').nth(line.checked_sub(1)?)?;
    // The error is at the last byte of the number that was read.
    let is_of_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'E' | b'e');
    let read = text.get(..column)?;
    let start = read.iter().rposition(|byte| !is_of_number(byte)).map_or(0, |place| place + 1);
    let number = str::from_utf8(&read[start..]).ok()?;
    let digits = number.strip_prefix('-').unwrap_or(number);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let name = read[..start].trim_ascii_end().strip_suffix(b":").and_then(|before| {
        let before = before.trim_ascii_end().strip_suffix(b"\"")?;
        let opened = before.iter().rposition(|byte| *byte == b'"')?;
        str::from_utf8(&before[opened + 1..]).ok()
    });
    let field = name.map_or_else(String::new, |name| format!("\"{}\": ", clipped(name, LONGEST_SHOWN)));
    let found = clipped(number, LONGEST_SHOWN);
    Some(format!(
        "{field}found {found}, expected an integer from {least} to 2^{bits} - 1, at line {line} column {column}"
    ))
}

/// The longest name or number of a text that an error repeats.
const LONGEST_SHOWN: usize = 100;

/// A reader of text without the byte order mark that editors on Windows put in front, however few bytes a read returns.
///
/// UTF-16 and UTF-32 that begin with their mark are an error, whose source is [`WideText`].
#[derive(Debug)]
pub struct WithoutMark<R> {
    reader: R,
    /// The first bytes, until it is decided that they are no mark.
    held: Vec<u8>,
    /// How many of them were given out.
    given: usize,
    decided: bool,
}

impl<R: BufRead> WithoutMark<R> {
    /// A reader that stands at the beginning of its input.
    pub fn new(reader: R) -> Self {
        Self { reader, held: Vec::new(), given: 0, decided: false }
    }

    /// A reader that stands further on, where a mark is part of the text.
    pub fn within(reader: R) -> Self {
        Self { decided: true, ..Self::new(reader) }
    }

    fn decide(&mut self) -> io::Result<()> {
        let is_beginning = |held: &[u8]| {
            let mut marks = iter::once(BYTE_ORDER_MARK.as_bytes()).chain(UTF_16_MARKS).chain(UTF_32_MARKS);
            marks.any(|mark| mark.len() > held.len() && mark.starts_with(held))
        };
        while is_beginning(&self.held) {
            let Some(byte) = self.reader.fill_buf()?.first().copied() else { break };
            self.held.push(byte);
            self.reader.consume(1);
        }
        self.decided = true;
        if let Some(wide) = WideText::of(&self.held) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, wide));
        }
        if self.held == BYTE_ORDER_MARK.as_bytes() {
            self.held.clear();
        }
        Ok(())
    }
}

impl<R: BufRead> BufRead for WithoutMark<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if !self.decided {
            self.decide()?;
        }
        if self.given < self.held.len() { Ok(&self.held[self.given..]) } else { self.reader.fill_buf() }
    }

    fn consume(&mut self, amount: usize) {
        if self.given < self.held.len() { self.given += amount } else { self.reader.consume(amount) }
    }
}

impl<R: BufRead> Read for WithoutMark<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

/// Reads a whole document of text within a bound of memory, without its byte order mark.
///
/// # Errors
/// [`TextError`].
pub fn read_text(reader: impl BufRead, limit: u64) -> Result<String, TextError> {
    let mut bytes = Vec::new();
    WithoutMark::new(reader).take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(TextError::TooLong { limit });
    }
    String::from_utf8(bytes).map_err(|error| TextError::NotUtf8 { byte: error.utf8_error().valid_up_to() + 1 })
}

/// Why a document of text cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TextError {
    /// The operating system returned an error.
    #[error("cannot read the file: {0}")]
    Read(io::Error),
    /// It is text in UTF-16 or UTF-32.
    #[error(transparent)]
    Wide(WideText),
    /// It is longer than it may be.
    #[error("the file has more than {} MiB, the limit; name another file", limit >> 20)]
    TooLong {
        /// The limit in bytes.
        limit: u64,
    },
    /// It is not text.
    #[error("byte {byte} is not UTF-8; expected text")]
    NotUtf8 {
        /// The first byte that is not, from 1.
        byte: usize,
    },
}

impl From<io::Error> for TextError {
    fn from(error: io::Error) -> Self {
        error.downcast::<WideText>().map_or_else(Self::Read, Self::Wide)
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn an_error_repeats_no_byte_of_the_file() {
        let reason = |text: &str| {
            json_reason(
                text.as_bytes(),
                &serde_json::from_str::<std::collections::BTreeMap<String, u8>>(text).unwrap_err(),
            )
        };
        for secret in
            ["1234567890123456789", "12345678901234567890123456789012345", " 1e5", "\"secret\"", "true", "ab12"]
        {
            assert_eq!(reason(secret), "it begins with neither { nor [");
        }
        assert!(reason("").starts_with("EOF") && reason("{\"a\": 256}").contains("line 1"));
    }

    #[test]
    fn an_integer_that_is_too_large_is_shown_as_it_stands_with_its_field() {
        let whole = |text: &str| {
            json_reason(
                text.as_bytes(),
                &serde_json::from_str::<std::collections::BTreeMap<String, u64>>(text).unwrap_err(),
            )
        };
        for number in ["18446744073709551616", "18446744073709551617", "-1"] {
            for text in [format!("{{\"a\": {number}}}"), format!("{{\"b\":1,\n \"a\" :\t{number} , \"c\": 2}}")] {
                let expected = format!("\"a\": found {number}, expected an integer from 0 to 2^64 - 1, at line ");
                assert!(whole(&text).starts_with(&expected), "{}", whole(&text));
            }
        }
        let long = whole(&format!("{{\"a\": {}}}", "9".repeat(300)));
        assert!(long.starts_with(&format!("\"a\": found {}…, expected", "9".repeat(100))), "{long}");
        let list = "[1, 256]";
        let error = serde_json::from_str::<Vec<u8>>(list).unwrap_err();
        let expected = "found 256, expected an integer from 0 to 2^8 - 1, at line 1 column 7";
        assert_eq!(json_reason(list.as_bytes(), &error), expected);
        let error = serde_json::from_str::<Vec<std::num::NonZeroU32>>("[0]").unwrap_err();
        assert!(json_reason(b"[0]", &error).starts_with("found 0, expected an integer from 1 to 2^32 - 1"));
        // What is no integer keeps the words that name its type.
        for text in ["{\"a\": 1.5}", "{\"a\": 1e30}", "{\"a\": \"7\"}", "{\"a\": null}", "{\"a\": 1"] {
            let error = serde_json::from_str::<std::collections::BTreeMap<String, u64>>(text).unwrap_err();
            assert_eq!(whole(text), error.to_string());
        }
    }

    #[test]
    fn a_mark_is_no_part_of_the_text() {
        for capacity in [1, 2, 3, 4, 64] {
            for whole in ["", "a", "\u{fffd}", "\u{fee0}x", "ab"] {
                let reader = BufReader::with_capacity(capacity, whole.as_bytes());
                assert_eq!(read_text(reader, 9).unwrap(), whole);
                let marked = format!("{BYTE_ORDER_MARK}{whole}");
                assert_eq!(read_text(BufReader::with_capacity(capacity, marked.as_bytes()), 9).unwrap(), whole);
            }
        }
    }

    #[test]
    fn text_that_cannot_be_read_is_named() {
        // As little-endian, the marks of both begin with the same two bytes.
        for (text, expected) in [
            (&b"\xff\xfe{\0"[..], WideText::Utf16),
            (b"\xfe\xff\0{", WideText::Utf16),
            (b"\xff\xfe", WideText::Utf16),
            (b"\xff\xfe\0", WideText::Utf16),
            (b"\xff\xfe\0{", WideText::Utf16),
            (b"\xff\xfe\0\0{\0\0\0", WideText::Utf32),
            (b"\0\0\xfe\xff\0\0\0{", WideText::Utf32),
        ] {
            for capacity in [1, 2, 3, 4, 64] {
                let error = read_text(BufReader::with_capacity(capacity, text), 9).unwrap_err();
                assert!(matches!(error, TextError::Wide(wide) if wide == expected), "{text:?}: {error}");
            }
        }
        assert_eq!(read_text(&b"\0\0a"[..], 9).unwrap(), "\0\0a");
        assert!(matches!(read_text(&b"a\xffb"[..], 9), Err(TextError::NotUtf8 { byte: 2 })));
        assert!(matches!(read_text(&b"abcd"[..], 3), Err(TextError::TooLong { limit: 3 })));
        let endless = BufReader::new(io::repeat(b' '));
        assert!(matches!(read_text(endless, 1 << 16), Err(TextError::TooLong { .. })));
    }
}
