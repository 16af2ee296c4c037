//! The lines of an input from outside, each read within a stated bound of memory.

use std::io::{self, BufRead, Read};

use quorate_host::text::WithoutMark;
use thiserror::Error;

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
        let reader = if number > 1 { WithoutMark::within(reader) } else { WithoutMark::new(reader) };
        Self { reader, limit: LINE_LIMIT, number: number.saturating_sub(1) }
    }

    /// Starts to read an input whose lines have at most so many bytes.
    pub fn with_limit(reader: R, limit: usize) -> Self {
        Self { reader: WithoutMark::new(reader), limit, number: 0 }
    }

    /// Reads the next line into the buffer, in place of what is there and without its line feed. None at the end of the input.
    ///
    /// # Errors
    /// Reading fails, or the input is UTF-16 or UTF-32 with a mark.
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

/// How much a line's buffer has room for at first.
const FIRST_ROOM: usize = 1 << 10;

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
        }
        let mut from_line_2 = BoundedLines::at_line("\u{feff}c".as_bytes(), 2);
        let mut buffer = Vec::new();
        from_line_2.read(&mut buffer).unwrap();
        assert_eq!((from_line_2.number(), &buffer[..]), (2, "\u{feff}c".as_bytes()));
    }

    #[test]
    fn utf_16_and_utf_32_are_named() {
        for (wide, name) in [
            (&b"\xff\xfe{\0"[..], "UTF-16"),
            (b"\xfe\xff\0{", "UTF-16"),
            (b"\xff\xfe\0\0{\0\0\0", "UTF-32"),
            (b"\0\0\xfe\xff\0\0\0{", "UTF-32"),
        ] {
            let error = BoundedLines::new(wide).read(&mut Vec::new()).unwrap_err();
            assert!(error.to_string().contains(&format!("iconv -f {name} -t UTF-8")), "{error}");
        }
    }
}
