//! A passphrase, and the first line of a file that holds it.

use std::{
    fmt,
    fs::File,
    io::{self, ErrorKind, Read},
    path::Path,
};

use quorate_host::{
    BYTE_ORDER_MARK,
    exit::{Ends, Exit},
    text::UTF_16_MARKS,
};
use unicode_normalization::UnicodeNormalization as _;
use zeroize::Zeroizing;

use crate::secret_file::{ModeWarning, mode_warning};

/// A passphrase as it was given. It is wiped when dropped and redacted in `Debug`.
///
/// It is neither normalised nor stripped: each format has its own rules for that.
pub struct Passphrase {
    text: Zeroizing<String>,
    /// Whether a byte order mark stood before it, which is not part of it.
    marked: bool,
}

impl Passphrase {
    /// A passphrase with this text.
    pub fn new(text: Zeroizing<String>) -> Self {
        Self { text, marked: false }
    }

    /// The text. The method's name makes every use of it easy to find.
    pub fn expose(&self) -> &str {
        &self.text
    }

    /// Whether the file began with a byte order mark, as editors on Windows write it. A program that does not know the mark takes it
    /// for a part of the passphrase.
    pub(crate) fn was_marked(&self) -> bool {
        self.marked
    }

    /// Whether nothing remains when control codes are stripped, as EIP-2335 does.
    pub fn is_blank(&self) -> bool {
        self.text.chars().all(char::is_control)
    }

    /// Reads the first line of a file, without its line end, and checks the file's mode.
    ///
    /// # Errors
    /// [`LineError`]: unreadable, not UTF-8, too long.
    pub fn read_file(path: &Path) -> Result<(Self, Option<ModeWarning>), LineError> {
        let origin = path.display().to_string();
        let file = open(path, &origin)?;
        let warning = mode_warning(path, &file);
        Ok((Self::first_line(file, origin)?, warning))
    }

    /// Reads a line, without its end, byte by byte, so that the next reader gets what follows. A byte order mark before it is left
    /// out. `origin` is what errors call the reader: the path, or "file descriptor N".
    ///
    /// # Errors
    /// [`LineError`]: unreadable, UTF-16, not UTF-8, too long.
    pub fn first_line(mut reader: impl Read, origin: String) -> Result<Self, LineError> {
        // The capacity is that of the longest line, because a vector that grows leaves a copy behind, which is not wiped.
        let mut line = Zeroizing::new(Vec::with_capacity(MAX_LENGTH));
        let mut byte = Zeroizing::new([0]);
        loop {
            match reader.read_exact(byte.as_mut()) {
                Ok(()) if byte[0] == b'\n' => break,
                Ok(()) if line.len() == MAX_LENGTH => return Err(LineError::TooLong { origin }),
                Ok(()) => line.push(byte[0]),
                Err(end) if end.kind() == ErrorKind::UnexpectedEof => break,
                Err(source) => return Err(LineError::Unreadable { origin, source }),
            }
        }
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        if UTF_16_MARKS.iter().any(|mark| line.starts_with(mark)) {
            return Err(LineError::Utf16 { origin });
        }
        let unmarked = line.strip_prefix(BYTE_ORDER_MARK.as_bytes());
        let text = str::from_utf8(unmarked.unwrap_or(line)).map_err(|_| LineError::NotUtf8 { origin })?;
        Ok(Self { text: Zeroizing::new(text.to_owned()), marked: unmarked.is_some() })
    }
}

impl From<&str> for Passphrase {
    /// A copy of the text. Who holds the text wipes it.
    fn from(text: &str) -> Self {
        Self::new(Zeroizing::new(text.to_owned()))
    }
}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase(redacted)")
    }
}

/// Why a file or a descriptor has no line with a passphrase. No message repeats one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// The file or descriptor cannot be opened or read.
    #[error("cannot read the passphrase from {origin}")]
    Unreadable {
        /// The path, or "file descriptor N".
        origin: String,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The file begins with the mark of UTF-16.
    #[error(
        "the passphrase from {origin} is UTF-16, expected UTF-8; save the file as UTF-8, in PowerShell with \
         `Set-Content -Encoding utf8`"
    )]
    Utf16 {
        /// The path, or "file descriptor N".
        origin: String,
    },
    /// The first line is not text.
    #[error("the passphrase from {origin} is not UTF-8")]
    NotUtf8 {
        /// The path, or "file descriptor N".
        origin: String,
    },
    /// The first line does not end, so this is most likely the wrong file.
    #[error("the first line of {origin} has more than {MAX_LENGTH} bytes, which is too much for a passphrase")]
    TooLong {
        /// The path, or "file descriptor N".
        origin: String,
    },
}

impl Ends for LineError {
    fn exit(&self) -> Exit {
        match self {
            Self::Unreadable { .. } => Exit::Io,
            Self::Utf16 { .. } | Self::NotUtf8 { .. } | Self::TooLong { .. } => Exit::Usage,
        }
    }
}

/// Opens a file that holds a passphrase. `origin` is what errors call it.
///
/// # Errors
/// [`LineError::Unreadable`].
pub fn open(path: &Path, origin: &str) -> Result<File, LineError> {
    File::open(path).map_err(|source| LineError::Unreadable { origin: origin.to_owned(), source })
}

/// The length of the longest passphrase in a file, in bytes. A longer first line means that it is the wrong file.
const MAX_LENGTH: usize = 4096;

/// A text in Unicode's form NFKD, of which no copy is left that is not wiped.
pub fn nfkd(text: &str) -> Zeroizing<String> {
    collected(|| text.nfkd())
}

/// Characters as a text. The length is counted first, because a string that grows leaves a copy behind, which is not wiped.
pub(crate) fn collected<I: Iterator<Item = char>>(characters: impl Fn() -> I) -> Zeroizing<String> {
    let length = characters().map(char::len_utf8).sum();
    let mut text = Zeroizing::new(String::with_capacity(length));
    text.extend(characters());
    text
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn from_file(content: &[u8]) -> Result<String, LineError> {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("passphrase");
        fs::write(&path, content).expect("writes");
        Passphrase::read_file(&path).map(|(passphrase, _)| passphrase.expose().to_owned())
    }

    #[test]
    fn files_that_hold_no_passphrase() {
        assert!(matches!(from_file(b"\xff"), Err(LineError::NotUtf8 { .. })));
        assert!(from_file(&[b'a'; MAX_LENGTH]).is_ok());
        assert!(from_file(&[&[b'a'; MAX_LENGTH][..], b"\n"].concat()).is_ok());
        assert!(matches!(from_file(&[b'a'; MAX_LENGTH + 1]), Err(LineError::TooLong { .. })));
        let error = Passphrase::read_file(Path::new("/nonexistent/passphrase")).expect_err("no such file");
        assert!(error.to_string().contains("/nonexistent/passphrase"), "{error}");
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_passphrase() {
        assert_eq!(from_file(b"\xef\xbb\xbfcorrect horse\r\n").expect("UTF-8"), "correct horse");
        for utf_16 in [&b"\xff\xfec\0o\0\r\0\n\0"[..], b"\xfe\xff\0c\0o", b"\xff\xfe"] {
            assert!(matches!(from_file(utf_16), Err(LineError::Utf16 { .. })));
        }
    }

    #[test]
    fn debug_is_redacted() {
        assert_eq!(format!("{:?}", Passphrase::from("hunter2")), "Passphrase(redacted)");
    }
}
