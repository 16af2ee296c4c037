//! The chain of headers that the caller has chosen, as a file.

use std::io::BufRead;

use quorate_checkpoint::HeaderChain;
use quorate_formats::{
    array_from_hex,
    lines::{BoundedLines, LineRead},
};
use quorate_host::text::TextError;
use thiserror::Error;

/// Block hashes by height. Heights ascend, and may have gaps: slots without a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers(Vec<(u64, [u8; 32])>);

/// Why a file of headers is not read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum HeadersError {
    /// It is not understood.
    #[error("line {line}: {reason}")]
    Line {
        /// From 1 on.
        line: u64,
        /// What was found and what was expected.
        reason: String,
    },
    /// There is no header in it.
    #[error("it holds no header; expected one `HEIGHT HASH` a line, such as `800000 0x…`, up to the newest block")]
    Empty,
    /// It cannot be read, or is text in UTF-16.
    #[error(transparent)]
    Text(#[from] TextError),
}

impl Headers {
    /// Reads lines with a height in decimal digits, a space, and a hash of 32 bytes in hexadecimal digits. Empty lines are
    /// allowed.
    ///
    /// # Errors
    /// [`HeadersError`] names the line.
    pub fn read(input: impl BufRead) -> Result<Self, HeadersError> {
        let (mut headers, mut line) = (Vec::new(), Vec::new());
        let mut lines = BoundedLines::with_limit(input, LONGEST);
        loop {
            let read = lines.read(&mut line).map_err(TextError::from)?;
            let number = lines.number();
            let wrong = |reason| HeadersError::Line { line: number, reason };
            match read {
                None => break,
                Some(LineRead::Whole | LineRead::AtEnd) => {}
                Some(LineRead::TooLong(_)) => {
                    return Err(wrong(format!("found more than {LONGEST} bytes, expected `HEIGHT HASH`")));
                }
            }
            let header = read_line(&line).map_err(wrong)?;
            let Some((height, hash)) = header else { continue };
            if let Some((before, _)) = headers.last()
                && height <= *before
            {
                return Err(wrong(format!("found height {height} after {before}; list each height once, ascending")));
            }
            if headers.len() >= MOST {
                return Err(wrong(format!("found more than {MOST} headers; keep the newest of them")));
            }
            headers.push((height, hash));
        }
        if headers.is_empty() { Err(HeadersError::Empty) } else { Ok(Self(headers)) }
    }
}

fn read_line(line: &[u8]) -> Result<Option<(u64, [u8; 32])>, String> {
    let text = std::str::from_utf8(line).map_err(|_| "found bytes that are not UTF-8".to_owned())?;
    let mut words = text.split_ascii_whitespace();
    let Some(height) = words.next() else { return Ok(None) };
    let (Some(block), None) = (words.next(), words.next()) else {
        return Err("expected a height, a space and a hash, such as `800000 0x…`".to_owned());
    };
    // Rust would also take a sign.
    let digits = height.bytes().all(|digit| digit.is_ascii_digit());
    let number = height.parse().ok().filter(|_| digits);
    let number = number.ok_or_else(|| format!("found the height {height:?}, expected decimal digits, below 2^64"))?;
    Ok(Some((number, array_from_hex(block).map_err(|error| format!("the hash: {error}"))?)))
}

/// Bytes of a line: a height has at most 20 digits, and a hash 66.
const LONGEST: usize = 128;

/// Headers that are read. They take 40 bytes each.
const MOST: usize = 20_000_000;

impl HeaderChain for Headers {
    fn tip(&self) -> u64 {
        self.0.last().map_or(0, |(height, _)| *height)
    }

    fn hash(&self, height: u64) -> Option<[u8; 32]> {
        let place = self.0.binary_search_by_key(&height, |(height, _)| *height).ok()?;
        Some(self.0[place].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(height: u64) -> String {
        format!("{height} 0x{height:064x}\n")
    }

    #[test]
    fn headers_are_found_by_height() {
        let text = [line(7), "\n".to_owned(), line(9), line(u64::MAX)].concat().replace('\n', "\r\n");
        let headers = Headers::read(text.as_bytes()).unwrap();
        assert_eq!(headers.tip(), u64::MAX);
        assert_eq!(headers.hash(9).unwrap()[31], 9);
        assert_eq!([6, 8, 10].map(|height| headers.hash(height)), [None; 3]);
        // Behind a mark, without the prefix, and without the last end of line.
        assert_eq!(Headers::read(format!("\u{feff}{text}").as_bytes()).unwrap(), headers);
        assert_eq!(Headers::read(line(7).replace("0x", "").trim().as_bytes()).unwrap().tip(), 7);
    }

    #[test]
    fn a_line_that_is_not_understood_is_named() {
        let [seven, eight] = [7, 8].map(line);
        for (text, expected) in [
            (String::new(), "it holds no header"),
            ("\n\n".to_owned(), "it holds no header"),
            ([&*seven, "eight\n"].concat(), "line 2: expected a height, a space and a hash"),
            ([&*seven, &seven].concat(), "line 2: found height 7 after 7"),
            ([&*eight, &seven].concat(), "line 2: found height 7 after 8"),
            (seven.replace("7 ", "+7 "), "line 1: found the height \"+7\""),
            (seven.replace("7 ", "18446744073709551616 "), "below 2^64"),
            (seven.replace("0x0", "0x"), "line 1: the hash: "),
            (seven.replace("0x00", "0x"), "the hash: found 62 hexadecimal digits, expected 64"),
            (seven.replace('\n', " more\n"), "line 1: expected a height"),
            ("7 ".repeat(100), "found more than 128 bytes"),
            ("\u{e9}7 0x00".to_owned(), "found the height"),
        ] {
            let error = Headers::read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
        let error = Headers::read(&b"7 \xff"[..]).unwrap_err().to_string();
        assert!(error.contains("line 1: found bytes that are not UTF-8"), "{error}");
    }
}
