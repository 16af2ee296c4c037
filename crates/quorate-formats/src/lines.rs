//! The lines of an input from outside, each read within a stated bound of memory, and the mark that may stand before the first.

use std::io::{self, BufRead, Read};

use quorate_host::BYTE_ORDER_MARK;
use thiserror::Error;

use crate::format::Foreign;

/// The longest line that is read: 64 MiB, a claim of about 600,000 keys. A longer line is reported and skipped, not buffered.
pub const LINE_LIMIT: usize = 64 << 20;

/// Reads lines, in memory bounded by the longest that may be. What is longer is skipped to its end.
///
/// A byte order mark at the beginning of the input belongs to no line.
#[derive(Debug)]
pub struct BoundedLines<R> {
    reader: WithoutMark<R>,
    limit: usize,
    number: u64,
}

impl<R: BufRead> BoundedLines<R> {
    /// Starts to read an input.
    pub fn new(reader: R) -> Self {
        Self::with_limit(reader, LINE_LIMIT)
    }

    /// Starts to read in the middle of a file, at the beginning of the line with this number, which counts from 1.
    pub fn at_line(reader: R, number: u64) -> Self {
        let mut lines = Self::new(reader);
        lines.number = number.saturating_sub(1);
        lines.reader.decided |= number > 1;
        lines
    }

    pub(crate) fn with_limit(reader: R, limit: usize) -> Self {
        Self { reader: WithoutMark::new(reader), limit, number: 0 }
    }

    /// Reads the next line into the buffer, in place of what is there and without its line feed. None at the end of the input.
    ///
    /// # Errors
    /// Reading fails, or the input is UTF-16 with a mark.
    pub fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<Option<LineRead>> {
        buffer.clear();
        while buffer.len() <= self.limit {
            // Grows twofold like any vector, and yet never beyond the limit.
            let room = buffer.len().max(FIRST_ROOM).min(self.limit + 1 - buffer.len());
            buffer.reserve_exact(room);
            let read = self.reader.by_ref().take(room as u64).read_until(b'\n', buffer)?;
            if buffer.pop_if(|byte| *byte == b'\n').is_some() {
                self.number += 1;
                return Ok(Some(LineRead::Whole));
            }
            if read < room {
                if buffer.is_empty() {
                    return Ok(None);
                }
                self.number += 1;
                return Ok(Some(LineRead::AtEnd));
            }
        }
        self.number += 1;
        *buffer = Vec::new();
        self.reader.skip_until(b'\n')?;
        Ok(Some(LineRead::TooLong(LineTooLong { limit: self.limit })))
    }

    /// The number of the line that was read last, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The reader, for what is not a line. It stands behind the line that was read last.
    pub(crate) fn reader(&mut self) -> &mut WithoutMark<R> {
        &mut self.reader
    }

    /// Counts a line that was read by way of [`reader`](Self::reader).
    pub(crate) fn count_line(&mut self) {
        self.number += 1;
    }
}

/// What a read of a line came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineRead {
    /// The line is in the buffer, and a line feed ended it.
    Whole,
    /// The line is in the buffer, and the input ended without a line feed.
    AtEnd,
    /// The line was skipped, and the buffer is empty.
    TooLong(LineTooLong),
}

/// A line is longer than may be, and was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the line is longer than {} MiB, the limit, and was skipped", limit >> 20)]
pub struct LineTooLong {
    limit: usize,
}

/// A reader of text without the byte order mark that editors on Windows put in front, however few bytes a read returns.
///
/// UTF-16 that begins with its mark is an error, whose source is [`Foreign::Utf16`].
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

    fn decide(&mut self) -> io::Result<()> {
        let is_beginning = |held: &[u8]| MARKS.iter().any(|mark| mark.len() > held.len() && mark.starts_with(held));
        while is_beginning(&self.held) {
            let Some(byte) = self.reader.fill_buf()?.first().copied() else { break };
            self.held.push(byte);
            self.reader.consume(1);
        }
        self.decided = true;
        match &self.held[..] {
            UTF_16_LE | UTF_16_BE => Err(io::Error::new(io::ErrorKind::InvalidData, Foreign::Utf16)),
            held if held == BYTE_ORDER_MARK.as_bytes() => {
                self.held.clear();
                Ok(())
            }
            _ => Ok(()),
        }
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
    /// It is text in another encoding.
    #[error(transparent)]
    Foreign(Foreign),
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
        error.downcast::<Foreign>().map_or_else(Self::Read, Self::Foreign)
    }
}

/// How much a line's buffer has room for at first.
const FIRST_ROOM: usize = 1 << 10;
const UTF_16_LE: &[u8] = &[0xff, 0xfe];
const UTF_16_BE: &[u8] = &[0xfe, 0xff];
const MARKS: [&[u8]; 3] = [BYTE_ORDER_MARK.as_bytes(), UTF_16_LE, UTF_16_BE];

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn lines(input: &[u8], limit: usize, capacity: usize) -> Vec<(u64, LineRead, Vec<u8>)> {
        let mut lines = BoundedLines::with_limit(BufReader::with_capacity(capacity, input), limit);
        let mut buffer = Vec::new();
        std::iter::from_fn(|| lines.read(&mut buffer).unwrap().map(|read| (lines.number(), read, buffer.clone())))
            .collect()
    }

    #[test]
    fn a_line_of_exactly_the_limit_is_read_and_a_longer_one_is_skipped() {
        let too_long = |limit| LineRead::TooLong(LineTooLong { limit });
        for capacity in [1, 2, 3, 7, 4096] {
            let read = lines(b"abcd\nabcde\n\nab", 4, capacity);
            let expected = [
                (1, LineRead::Whole, b"abcd".to_vec()),
                (2, too_long(4), vec![]),
                (3, LineRead::Whole, vec![]),
                (4, LineRead::AtEnd, b"ab".to_vec()),
            ];
            assert_eq!(read, expected, "{capacity}");
            assert_eq!(lines(b"abcd", 4, capacity), [(1, LineRead::AtEnd, b"abcd".to_vec())]);
            assert_eq!(lines(b"abcde", 4, capacity), [(1, too_long(4), vec![])]);
            assert!(lines(b"", 4, capacity).is_empty());
        }
    }

    /// A line of 400 MiB without an end: no more of it is kept than may be.
    #[test]
    fn a_line_without_an_end_takes_no_more_memory_than_the_limit() {
        struct Ends(usize);
        impl Read for Ends {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                let read = into.len().min(self.0);
                into[..read].fill(b'a');
                self.0 -= read;
                Ok(read)
            }
        }
        let limit = 1 << 20;
        let mut lines = BoundedLines::with_limit(BufReader::with_capacity(1 << 16, Ends(400 << 20)), limit);
        let mut largest = 0;
        let mut buffer = Vec::new();
        // What the buffer grows to is seen at a line that just fits.
        let mut fits = BoundedLines::with_limit(BufReader::with_capacity(1 << 16, Ends(limit)), limit);
        assert_eq!(fits.read(&mut buffer).unwrap(), Some(LineRead::AtEnd));
        largest = largest.max(buffer.capacity());
        assert!(largest <= limit + 1, "{largest}");
        assert!(matches!(lines.read(&mut buffer).unwrap(), Some(LineRead::TooLong(_))));
        assert_eq!((buffer.capacity(), lines.read(&mut buffer).unwrap()), (0, None));
    }

    #[test]
    fn a_byte_order_mark_is_skipped_from_any_buffer_and_at_the_beginning_alone() {
        for capacity in [1, 2, 3, 4, 64] {
            let read = lines("\u{feff}ab\n\u{feff}c".as_bytes(), 9, capacity);
            let texts: Vec<_> = read.into_iter().map(|(_, _, text)| text).collect();
            assert_eq!(texts, ["ab".as_bytes(), "\u{feff}c".as_bytes()], "{capacity}");
            for whole in ["", "a", "\u{fffd}", "\u{fee0}x", "ab"] {
                let reader = BufReader::with_capacity(capacity, whole.as_bytes());
                assert_eq!(read_text(reader, 9).unwrap(), whole);
                let marked = format!("\u{feff}{whole}");
                assert_eq!(read_text(BufReader::with_capacity(capacity, marked.as_bytes()), 9).unwrap(), whole);
            }
        }
        let mut from_line_2 = BoundedLines::at_line("\u{feff}c".as_bytes(), 2);
        let mut buffer = Vec::new();
        from_line_2.read(&mut buffer).unwrap();
        assert_eq!((from_line_2.number(), &buffer[..]), (2, "\u{feff}c".as_bytes()));
    }

    #[test]
    fn text_that_cannot_be_read_is_named() {
        for utf16 in [&b"\xff\xfe{\0"[..], b"\xfe\xff\0{"] {
            assert!(matches!(read_text(utf16, 9), Err(TextError::Foreign(Foreign::Utf16))));
            let error = BoundedLines::new(utf16).read(&mut Vec::new()).unwrap_err();
            assert!(error.to_string().contains("UTF-16"), "{error}");
        }
        assert!(matches!(read_text(&b"a\xffb"[..], 9), Err(TextError::NotUtf8 { byte: 2 })));
        assert!(matches!(read_text(&b"abcd"[..], 3), Err(TextError::TooLong { limit: 3 })));
        let endless = BufReader::new(io::repeat(b' '));
        assert!(matches!(read_text(endless, 1 << 16), Err(TextError::TooLong { .. })));
    }
}
