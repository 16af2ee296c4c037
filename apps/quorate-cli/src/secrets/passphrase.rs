//! Where a passphrase comes from: a file, a file descriptor or the terminal.
//!
//! It does not come from a flag's value or from the environment, which other processes and shell histories can see.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, IsTerminal, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use quorate_host::{dash, plain, same_file};
use quorate_keystore::passphrase::open;
pub use quorate_keystore::passphrase::{LineError, Passphrase, nfkd};
use zeroize::Zeroizing;

#[cfg(unix)]
use crate::secrets::at_signal;
use crate::secrets::secret_file::ModeWarning;

/// What the passphrase is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PassphrasePurpose {
    /// Decrypting a file that exists. The passphrase is asked for once, and may be empty.
    Unlock,
    /// Encrypting a new file. The passphrase is asked for twice, and must not be empty.
    Create,
}

/// One place to get a passphrase from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PassphraseSource {
    /// `--passphrase-file`: the first line of a file, without its line end.
    File(PathBuf),
    /// `--passphrase-fd`: one line from a descriptor that the caller opened.
    Descriptor(u32),
    /// The terminal, without echo.
    Terminal,
}

impl PassphraseSource {
    /// The source that the two flags name, or the terminal if neither is given.
    ///
    /// # Errors
    /// [`PassphraseError::TwoSources`], and [`PassphraseError::Dash`] for a file named `-`. Standard input is `--passphrase-fd 0`, so
    /// that nobody uses it for two things by accident.
    pub fn from_flags(file: Option<PathBuf>, fd: Option<u32>) -> Result<Self, PassphraseError> {
        match (file, fd) {
            (Some(_), Some(_)) => Err(PassphraseError::TwoSources),
            (Some(path), None) if path == Path::new("-") => Err(PassphraseError::Dash),
            (Some(path), None) => Ok(Self::File(path)),
            (None, Some(fd)) => Ok(Self::Descriptor(fd)),
            (None, None) => Ok(Self::Terminal),
        }
    }

    /// The file that is read, which nothing may replace; `None` for the terminal.
    pub fn path(&self) -> Option<PathBuf> {
        match self {
            Self::File(path) => Some(path.clone()),
            Self::Descriptor(fd) => Some(path_of(*fd)),
            Self::Terminal => None,
        }
    }

    /// Gets the passphrase. The question on the terminal is "Passphrase for {what}: ".
    ///
    /// A file or descriptor is read byte by byte up to the end of the first line, so that the next passphrase is what follows. Only
    /// the terminal is asked twice.
    ///
    /// # Errors
    /// [`PassphraseError`], by source: unreadable, not UTF-8, too long; standard input that another argument reads; no terminal, two
    /// different answers, interrupted. [`PassphraseError::Empty`] when creating.
    pub fn read(&self, purpose: PassphrasePurpose, what: &str) -> Result<PassphraseAnswer, PassphraseError> {
        let (passphrase, warning) = match self {
            Self::File(path) => Passphrase::read_file(path)?,
            Self::Descriptor(fd) => (descriptor_line(*fd)?, None),
            Self::Terminal => (ask(purpose, what, without_echo)?, None),
        };
        if purpose == PassphrasePurpose::Create && passphrase.is_blank() {
            return Err(PassphraseError::Empty);
        }
        Ok(PassphraseAnswer { passphrase, warning })
    }
}

/// A passphrase, and a warning for the user.
#[derive(Debug)]
pub struct PassphraseAnswer {
    /// The passphrase.
    pub passphrase: Passphrase,
    /// Set if others can use the file that the passphrase came from.
    pub warning: Option<ModeWarning>,
}

/// Why there is no passphrase. No message repeats one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PassphraseError {
    /// Both flags were given.
    #[error("--passphrase-file and --passphrase-fd cannot be used together; leave one of them out")]
    TwoSources,
    /// `--passphrase-file -`.
    #[error("--passphrase-file needs a path; for standard input use --passphrase-fd 0")]
    Dash,
    /// The file or descriptor has no line with a passphrase.
    #[error(transparent)]
    Line(#[from] LineError),
    /// Descriptor 0 is standard input, which another argument reads.
    #[error("standard input cannot be read twice; give the passphrase by a file or by another descriptor")]
    StandardInput,
    /// A terminal behind `--passphrase-fd` would show what is typed.
    #[error(
        "file descriptor {fd} is a terminal, which would show the passphrase; leave out --passphrase-fd to be asked for it"
    )]
    Echo {
        /// The descriptor.
        fd: u32,
    },
    /// There is no terminal.
    #[error("there is no terminal to ask for a passphrase; use --passphrase-file PATH or --passphrase-fd N")]
    NoTerminal(#[source] io::Error),
    /// There is no terminal to type a mnemonic on.
    #[error(
        "there is no terminal to ask for a mnemonic; use --mnemonic-file PATH, or --mnemonic-file - for standard input"
    )]
    NoMnemonic(#[source] io::Error),
    /// Ctrl-C was pressed at the question.
    #[error("interrupted while asking for the passphrase")]
    Interrupted,
    /// The two answers differ.
    #[error("the two passphrases differ; run the command again")]
    Differ,
    /// An empty passphrase protects nothing.
    #[error("the passphrase is empty, which would not protect the key; choose another")]
    Empty,
}

fn path_of(fd: u32) -> PathBuf {
    format!("/dev/fd/{fd}").into()
}

fn descriptor_line(fd: u32) -> Result<Passphrase, PassphraseError> {
    let origin = format!("file descriptor {fd}");
    let opened = open(&path_of(fd), &origin)?;
    if opened.is_terminal() {
        return Err(PassphraseError::Echo { fd });
    }
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let file = match files.remove(&fd).filter(|file| is_same(file, &opened)) {
        Some(file) => file,
        None => {
            if fd == 0 {
                dash::standard_input().map_err(|_| PassphraseError::StandardInput)?;
            }
            at_offset(opened, fd).map_err(|source| LineError::Unreadable { origin: origin.clone(), source })?
        }
    };
    let line = Passphrase::first_line(&file, origin);
    files.insert(fd, file);
    Ok(line?)
}

/// The files behind descriptors, each after the lines that were read. Linux opens the file behind a descriptor anew, so an offset is of
/// the opened file alone.
static FILES: Mutex<BTreeMap<u32, File>> = Mutex::new(BTreeMap::new());

/// A file that was opened by its descriptor, at the offset that the caller left the descriptor at. A pipe has none.
fn at_offset(mut opened: File, fd: u32) -> io::Result<File> {
    if opened.metadata()?.is_file()
        && let Ok(about) = fs::read_to_string(format!("/proc/self/fdinfo/{fd}"))
        && let Some(offset) = about.lines().find_map(|line| line.strip_prefix("pos:")?.trim().parse().ok())
    {
        opened.seek(SeekFrom::Start(offset))?;
    }
    Ok(opened)
}

fn is_same(file: &File, other: &File) -> bool {
    let (Ok(file), Ok(other)) = (file.metadata(), other.metadata()) else { return false };
    same_file::is_same(&file, &other)
}

/// Asks through `prompt`, which is the terminal except in tests.
fn ask(
    purpose: PassphrasePurpose,
    what: &str,
    mut prompt: impl FnMut(&str) -> io::Result<String>,
) -> Result<Passphrase, PassphraseError> {
    let what = plain(what);
    let mut answer = |question: &str| match prompt(question) {
        Ok(text) => Ok(Passphrase::new(Zeroizing::new(text))),
        Err(error) if error.kind() == ErrorKind::Interrupted => Err(PassphraseError::Interrupted),
        Err(error) => Err(PassphraseError::NoTerminal(error)),
    };
    match purpose {
        PassphrasePurpose::Unlock => answer(&format!("Passphrase for {what}: ")),
        PassphrasePurpose::Create => {
            let first = answer(&format!("New passphrase for {what}: "))?;
            // This is checked before the second question, so that nobody types a passphrase twice that will be refused.
            if first.is_blank() {
                return Err(PassphraseError::Empty);
            }
            let second = answer("Once more: ")?;
            if first.expose() != second.expose() {
                return Err(PassphraseError::Differ);
            }
            Ok(first)
        }
    }
}

/// Asks for a mnemonic on the terminal. Its words are a secret, like a passphrase.
///
/// # Errors
/// [`PassphraseError`]: there is no terminal, or Ctrl-C was pressed.
pub fn ask_for_mnemonic() -> Result<Passphrase, PassphraseError> {
    match without_echo("Mnemonic, all words on one line: ") {
        Ok(text) => Ok(Passphrase::new(Zeroizing::new(text))),
        Err(error) if error.kind() == ErrorKind::Interrupted => Err(PassphraseError::Interrupted),
        Err(error) => Err(PassphraseError::NoMnemonic(error)),
    }
}

/// Asks on the terminal. Ctrl-C, or a signal that ends the program, leaves the terminal as it was.
fn without_echo(question: &str) -> io::Result<String> {
    #[cfg(unix)]
    at_signal::restore_terminal();
    rpassword::prompt_password(question)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn from_file(content: &[u8], purpose: PassphrasePurpose) -> Result<String, PassphraseError> {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("passphrase");
        fs::write(&path, content).expect("writes");
        let answer = PassphraseSource::File(path).read(purpose, "the key")?;
        Ok(answer.passphrase.expose().to_owned())
    }

    #[test]
    fn the_first_line_without_its_end() {
        for (content, line) in [
            (&b"correct horse"[..], "correct horse"),
            (b"correct horse\n", "correct horse"),
            (b"correct horse\r\n", "correct horse"),
            (b"correct horse\nbattery staple\n", "correct horse"),
            (b" spaces stay \n", " spaces stay "),
            ("🔑\n".as_bytes(), "🔑"),
        ] {
            for purpose in [PassphrasePurpose::Unlock, PassphrasePurpose::Create] {
                assert_eq!(from_file(content, purpose).expect("a line"), line);
            }
        }
    }

    #[test]
    fn an_empty_line_unlocks_but_does_not_create() {
        for content in [&b""[..], b"\n", b"\r\n", b"\nsecond line"] {
            assert_eq!(from_file(content, PassphrasePurpose::Unlock).expect("empty"), "");
            assert!(matches!(from_file(content, PassphrasePurpose::Create), Err(PassphraseError::Empty)));
        }
    }

    #[test]
    fn flags_to_source() {
        let from = PassphraseSource::from_flags;
        assert_eq!(from(Some("p".into()), None).expect("a file"), PassphraseSource::File("p".into()));
        assert_eq!(from(None, Some(3)).expect("a descriptor"), PassphraseSource::Descriptor(3));
        assert_eq!(from(None, None).expect("the terminal"), PassphraseSource::Terminal);
        assert!(matches!(from(Some("p".into()), Some(3)), Err(PassphraseError::TwoSources)));
        assert!(matches!(from(Some("-".into()), None), Err(PassphraseError::Dash)));
    }

    #[cfg(unix)]
    #[test]
    fn a_descriptor_gives_a_line_at_a_time() {
        use std::io::Write;
        use std::os::fd::AsRawFd;

        let (reader, mut writer) = io::pipe().expect("a pipe");
        // The writing end stays open: the end of the line must do.
        writer.write_all("first\nsecond\n".as_bytes()).expect("writes");
        let fd = u32::try_from(reader.as_raw_fd()).expect("descriptors are not negative");
        for line in ["first", "second"] {
            let answer = PassphraseSource::Descriptor(fd).read(PassphrasePurpose::Create, "the key");
            assert_eq!(answer.expect("a line").passphrase.expose(), line);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_descriptor_of_a_file_gives_a_line_at_a_time_too() {
        use std::io::{Read, Write};
        use std::os::fd::AsRawFd;

        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"what the caller read\nfirst\nsecond\n").expect("writes");
        file.seek(SeekFrom::Start(0)).expect("seeks");
        file.read_exact(&mut [0; b"what the caller read\n".len()]).expect("reads");
        let fd = u32::try_from(file.as_raw_fd()).expect("descriptors are not negative");
        for line in ["first", "second"] {
            let answer = PassphraseSource::Descriptor(fd).read(PassphrasePurpose::Create, "the key");
            assert_eq!(answer.expect("a line").passphrase.expose(), line);
        }
        let end = PassphraseSource::Descriptor(fd).read(PassphrasePurpose::Create, "the key");
        assert!(matches!(end, Err(PassphraseError::Empty)), "{end:?}");
    }

    #[test]
    fn a_descriptor_that_nobody_opened() {
        let error = PassphraseSource::Descriptor(u32::MAX).read(PassphrasePurpose::Unlock, "the key");
        assert!(matches!(error, Err(PassphraseError::Line(LineError::Unreadable { .. }))), "{error:?}");
    }

    #[test]
    fn the_terminal_asks_once_to_unlock_and_twice_to_create() {
        let asked = |purpose, answers: &[&str]| {
            let mut answers = answers.iter();
            let mut questions = Vec::new();
            let answer = ask(purpose, "key.json", |question| {
                questions.push(question.to_owned());
                Ok((*answers.next().expect("no more questions than answers")).to_owned())
            });
            (answer.map(|answer| answer.expose().to_owned()), questions)
        };
        let (answer, questions) = asked(PassphrasePurpose::Unlock, &[""]);
        assert_eq!(answer.expect("may be empty"), "");
        assert_eq!(questions, ["Passphrase for key.json: "]);

        let (answer, questions) = asked(PassphrasePurpose::Create, &["a", "a"]);
        assert_eq!(answer.expect("the same twice"), "a");
        assert_eq!(questions, ["New passphrase for key.json: ", "Once more: "]);

        let (answer, _) = asked(PassphrasePurpose::Create, &["a", "b"]);
        assert!(matches!(answer, Err(PassphraseError::Differ)));
        let (answer, questions) = asked(PassphrasePurpose::Create, &[""]);
        assert!(matches!(answer, Err(PassphraseError::Empty)));
        assert_eq!(questions.len(), 1);
    }

    #[test]
    fn no_terminal_names_the_flags() {
        let failing = |kind: ErrorKind| ask(PassphrasePurpose::Unlock, "the key", move |_| Err(kind.into()));
        let error = failing(ErrorKind::NotFound).expect_err("nobody to ask");
        for flag in ["--passphrase-file", "--passphrase-fd"] {
            assert!(error.to_string().contains(flag), "{error}");
        }
        assert!(matches!(failing(ErrorKind::Interrupted), Err(PassphraseError::Interrupted)));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_reported() {
        use std::os::unix::fs::PermissionsExt;

        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("passphrase");
        fs::write(&path, "a").expect("writes");
        for (mode, warned) in [(0o600, false), (0o640, true)] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("chmod");
            let answer = PassphraseSource::File(path.clone()).read(PassphrasePurpose::Unlock, "the key");
            assert_eq!(answer.expect("reads").warning.is_some(), warned);
        }
    }

    #[test]
    fn debug_is_redacted() {
        let answer = PassphraseAnswer { passphrase: Passphrase::from("hunter2"), warning: None };
        assert_eq!(format!("{answer:?}"), "PassphraseAnswer { passphrase: Passphrase(redacted), warning: None }");
    }
}
