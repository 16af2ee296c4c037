//! Lines of a stream, of bounded length.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt as _};

/// What was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnd {
    /// A line, without its newline.
    Newline,
    /// The stream ended. Bytes after the last newline are no line.
    Stream,
    /// The line is longer than it may be. The rest of it is still in the stream.
    TooLong,
}

/// Reads up to the next newline, and keeps `longest` bytes at most.
///
/// # Errors
/// Those of the stream.
pub async fn read_line(
    stream: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
    longest: usize,
) -> io::Result<LineEnd> {
    line.clear();
    loop {
        let bytes = stream.fill_buf().await?;
        if bytes.is_empty() {
            return Ok(LineEnd::Stream);
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let part = end.unwrap_or(bytes.len());
        if line.len() + part > longest {
            return Ok(LineEnd::TooLong);
        }
        line.extend_from_slice(&bytes[..part]);
        stream.consume(part + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(LineEnd::Newline);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::BufReader;

    use super::*;

    #[tokio::test]
    async fn lines_of_bounded_length() {
        // A buffer of three bytes, so that lines span several.
        let mut stream = BufReader::with_capacity(3, &b"\nabcd\nabcde\n"[..]);
        let mut line = vec![9];
        for expected in ["", "abcd"] {
            assert_eq!(read_line(&mut stream, &mut line, 4).await.expect("reads"), LineEnd::Newline);
            assert_eq!(line, expected.as_bytes());
        }
        assert_eq!(read_line(&mut stream, &mut line, 4).await.expect("reads"), LineEnd::TooLong);
        let mut stream = &b"half a line"[..];
        assert_eq!(read_line(&mut stream, &mut line, 99).await.expect("reads"), LineEnd::Stream);
    }
}
