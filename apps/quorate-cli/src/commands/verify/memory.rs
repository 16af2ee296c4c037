//! `--known` and `--remember`: statements verified earlier, on disk as claims of one statement in JSON Lines.
//!
//! A run that is stopped while it writes leaves a last line that is cut off. Such a line makes no claim, so nothing is lost if it
//! is dropped: `--known` skips it, and `--remember` removes it, so that the next record begins a line of its own.

use std::{
    borrow::Cow,
    collections::HashSet,
    fs::{self, File, OpenOptions},
    io::{self, BufRead, BufReader, Read, Seek as _, SeekFrom, Write},
    path::{self, Path},
};

use anyhow::{Context as _, anyhow};
use quorate::{AnySuite, ClaimBytes, Messages, Outcome, Verifier};
use quorate_formats::{
    Malformed, Place,
    json::{self, ObjectError},
    jsonl::JsonLines,
    lines::LINE_LIMIT,
};
use quorate_host::{
    BYTE_ORDER_MARK,
    exit::Failure,
    other_users::{OtherWriters, refuse_other_writers},
    same_file::is_same,
};
use serde::de::IgnoredAny;
use sha2::{Digest, Sha256};

use super::arguments::Arguments;
use crate::commands::print;

/// Where newly verified statements go.
pub(super) struct Memory {
    store: Option<Store>,
    /// Statements appended by this run.
    pub(super) remembered: usize,
    /// Valid claims of several statements, which this run was to remember but could not: their signatures are known only as a sum.
    pub(super) forgotten: usize,
}

impl Memory {
    /// Remembers nothing.
    pub(super) fn none() -> Self {
        Self { store: None, remembered: 0, forgotten: 0 }
    }

    /// Reads the known statements into the verifier, and opens the file to append to.
    pub(super) fn open(arguments: &Arguments, verifier: &Verifier) -> Result<Self, Failure> {
        let both =
            arguments.known.as_deref().zip(arguments.remember.as_deref()).is_some_and(|(a, b)| is_one_file(a, b));
        if let Some(path) = arguments.known.as_deref() {
            // The first run of a pair that reads and writes one file finds none.
            let first_run = both && !path.exists();
            if !first_run {
                let name = format!("--known {}", path.display());
                let tail = known(path, arguments, verifier).map_err(|e| e.context(name.clone()))?;
                // `--remember` says what becomes of the line if it is the same file.
                if let (Tail::Torn { line, .. }, false) = (tail, both) {
                    print::note(format_args!("{name}, line {line}: the line is cut off, so it is not used"));
                }
            }
        }
        let store = arguments.remember.as_deref().map(|path| {
            Store::open(path, arguments.suite).map_err(|e| e.context(format!("--remember {}", path.display())))
        });
        Ok(Self { store: store.transpose()?, remembered: 0, forgotten: 0 })
    }

    /// Appends the claims of one statement that are valid and were not known. Either all of them are appended or none.
    pub(super) fn remember(&mut self, claims: &[ClaimBytes], outcome: &Outcome) -> Result<(), Failure> {
        let Some(store) = &mut self.store else { return Ok(()) };
        let mut news = Vec::new();
        for ((claim, verdict), subtracted) in claims.iter().zip(&outcome.verdicts).zip(&outcome.subtracted) {
            if !verdict.is_valid() {
                continue;
            }
            if let Some(statement) = Statement::of(claim) {
                let digest = statement.digest();
                if *subtracted == 0 && !store.statements.contains(&digest) {
                    news.push((digest, statement.line(claim)));
                }
            } else {
                self.forgotten += 1;
            }
        }
        if !news.is_empty() {
            self.remembered += store.append(&news)?;
        }
        Ok(())
    }
}

/// Whether two paths name one file, which may not be there yet.
fn is_one_file(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(first), Ok(second)) if is_same(&first, &second) => true,
        _ => path::absolute(one).is_ok_and(|one| path::absolute(other).is_ok_and(|other| one == other)),
    }
}

/// The file of `--remember`.
struct Store {
    file: File,
    name: String,
    /// Whether it is a regular file, and not a pipe or a device.
    is_regular: bool,
    /// The suite of claims in it that name none.
    default: Option<AnySuite>,
    /// The statements that stand in it, as far as it was read.
    statements: HashSet<StatementDigest>,
    /// How many bytes and lines of it were read or written.
    seen: Seen,
}

/// A beginning of a file, up to a line end.
#[derive(Clone, Copy, Default)]
struct Seen {
    bytes: u64,
    lines: u64,
}

impl Store {
    /// Opens the file, or creates it for its owner alone, and makes its last line whole.
    fn open(path: &Path, default: Option<AnySuite>) -> Result<Self, Failure> {
        let is_regular = path.metadata().map_or(true, |metadata| metadata.is_file());
        let mut options = OpenOptions::new();
        // What is not a regular file may be open for writing alone.
        options.append(true).create(true).read(is_regular);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).context("cannot open the file").map_err(Failure::io)?;
        let (name, statements, seen) = (path.display().to_string(), HashSet::new(), Seen::default());
        let mut store = Self { file, name, is_regular, default, statements, seen };
        if is_regular {
            store.locked(Self::catch_up)?;
        }
        Ok(store)
    }

    /// Reads what stands in the file and was not read, and makes its last line whole. Other runs append to it too.
    fn catch_up(&mut self) -> Result<(), Failure> {
        if length(&self.file)? < self.seen.bytes {
            // Somebody has put another content in its place.
            (self.statements, self.seen) = (HashSet::new(), Seen::default());
        }
        let Self { file, name, default, statements, seen, .. } = self;
        let mut read_from = &*file;
        read_from.seek(SeekFrom::Start(seen.bytes)).context("cannot read the file").map_err(Failure::io)?;
        let (tail, is_list) = read(&mut read_from, *default, |claim, _| {
            statements.extend(Statement::of(&claim).map(|statement| statement.digest()));
            Ok(())
        })?;
        if is_list {
            return Err(Failure::usage(anyhow!(
                "the file is one JSON list, to which no line can be appended; write each claim on a line, as `jq -c '.[]'` does"
            )));
        }
        let Seen { bytes: before, lines: lines_before } = *seen;
        match tail {
            Tail::Whole { lines } => seen.lines += lines,
            Tail::NoLineEnd { line } => {
                file.write_all(b"\n").context("cannot append to the file").map_err(Failure::io)?;
                seen.lines += line;
            }
            Tail::Torn { line, begins } => {
                seen.lines += line - 1;
                let line = lines_before + line;
                file.set_len(before + begins).context("cannot remove the line that is cut off").map_err(Failure::io)?;
                print::note(format_args!(
                    "--remember {name}, line {line}: the line was cut off while it was written, so it was removed; the \
                     claims before it are kept"
                ));
            }
        }
        self.seen.bytes = length(&self.file)?;
        Ok(())
    }

    /// Appends the lines of the statements that do not stand in the file, all of them or none. Answers with their number.
    fn append(&mut self, lines: &[(StatementDigest, String)]) -> Result<usize, Failure> {
        if !self.is_regular {
            return self.append_new(lines);
        }
        let what = format!("--remember {}", self.name);
        self.locked(|store| {
            store.catch_up().map_err(|failure| failure.context(what))?;
            let appended = store.append_new(lines)?;
            store.seen.lines += appended as u64;
            Ok(appended)
        })
    }

    fn append_new(&mut self, lines: &[(StatementDigest, String)]) -> Result<usize, Failure> {
        let (mut text, mut appended) = (String::new(), 0);
        for (digest, line) in lines {
            if self.statements.insert(*digest) {
                text += line;
                appended += 1;
            }
        }
        let Self { file, is_regular, seen, .. } = self;
        let written = file.write_all(text.as_bytes()).inspect_err(|_| {
            if *is_regular {
                // If this fails too, the next run removes the line that is cut off.
                let _ = file.set_len(seen.bytes);
            }
        });
        written.with_context(|| format!("cannot append to --remember {}", self.name)).map_err(Failure::io)?;
        self.seen.bytes += text.len() as u64;
        Ok(appended)
    }

    /// Keeps other runs that append to the same file away meanwhile. Some file systems have no locks.
    fn locked<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Failure>) -> Result<T, Failure> {
        match self.file.lock() {
            Err(error) if error.kind() != io::ErrorKind::Unsupported => {
                return Err(Failure::io(anyhow!(error).context("cannot lock the file")));
            }
            _ => {}
        }
        let done = work(self);
        let _ = self.file.unlock();
        done
    }
}

fn length(file: &File) -> Result<u64, Failure> {
    let found = file.metadata().context("cannot read the file").map_err(Failure::io)?;
    Ok(found.len())
}

/// A claim of one statement.
struct Statement<'a> {
    suite: &'static str,
    public_key: Cow<'a, [u8]>,
    message: &'a [u8],
}

/// The beginning of a statement's SHA-256 hash: the statements of a file take little memory beside the file.
type StatementDigest = [u8; 16];

impl<'a> Statement<'a> {
    fn of(claim: &'a ClaimBytes) -> Option<Self> {
        let public_key = claim.public_keys.encoded(0).filter(|_| claim.statements() == 1)?;
        let message = match &claim.messages {
            Messages::Shared(message) => message,
            Messages::Each(messages) => messages.first()?,
            _ => return None,
        };
        Some(Self { suite: claim.suite.name(), public_key, message })
    }

    /// Equal for equal statements alone: a key has the same length everywhere in its suite.
    fn digest(&self) -> StatementDigest {
        let Self { suite, public_key, message } = self;
        let hash = Sha256::new().chain_update(suite).chain_update([0]).chain_update(public_key).chain_update(message);
        let mut digest = StatementDigest::default();
        digest.copy_from_slice(&hash.finalize()[..16]);
        digest
    }

    /// The claim as a line of JSON.
    fn line(&self, claim: &ClaimBytes) -> String {
        let object = serde_json::json!({
            "suite": self.suite,
            "public_key": const_hex::encode(&self.public_key),
            "message": const_hex::encode(self.message),
            "signature": const_hex::encode(&claim.signature),
        });
        format!("{object}\n")
    }
}

/// Reads the file of `--known` into the verifier.
fn known(path: &Path, arguments: &Arguments, verifier: &Verifier) -> Result<Tail, Failure> {
    let mut file = File::open(path)?;
    // Owner and mode of what is no file, such as a pipe, do not say who writes it.
    let found = file.metadata()?;
    let others = if found.is_file() { refuse_other_writers(&found) } else { Ok(()) };
    if let Err(others) = others {
        // With --quiet as well: the verdicts are only as good as the file.
        let what_to_do = match others {
            OtherWriters::Mode { .. } => "look at what it says, and `chmod go-w` it",
            _ => "name a file of this user or of root",
        };
        print::note(format_args!(
            "warning: --known {}: {others}, and its claims are believed; {what_to_do}",
            path.display()
        ));
    }
    let trust = |claim: ClaimBytes, place: Place| {
        verifier.trust(&claim).map_err(|error| Failure::usage(error).context(place))?;
        Ok(())
    };
    read(&mut file, arguments.suite, trust).map(|(tail, _)| tail)
}

/// How a file ends.
enum Tail {
    /// With a line end, or the file is empty.
    Whole {
        /// How many lines it has.
        lines: u64,
    },
    /// The last line makes a claim, and only its line end is missing.
    NoLineEnd {
        /// Its number, from 1.
        line: u64,
    },
    /// The last line is cut off.
    Torn {
        /// Its number, from 1.
        line: u64,
        /// Where it begins, in bytes from the beginning of the file.
        begins: u64,
    },
}

/// Reads the claims of a file. Answers with how the file ends, and whether it is one JSON list instead of lines.
fn read(
    file: &mut impl Read,
    default: Option<AnySuite>,
    mut take: impl FnMut(ClaimBytes, Place) -> Result<(), Failure>,
) -> Result<(Tail, bool), Failure> {
    let mut lines = LastLine::new(BufReader::new(file));
    let mut refused: Option<Malformed> = None;
    for entry in JsonLines::new(&mut lines) {
        let entry = entry?;
        // Only the last line may be cut off.
        if let Some(earlier) = refused.take() {
            return Err(Failure::usage(earlier));
        }
        match entry {
            Ok(record) => {
                let place = record.place;
                if let Some(check) = record.failed_check() {
                    let reason =
                        anyhow!("{check}; its chain refutes this claim, so it is never known: remove the line");
                    return Err(Failure::usage(reason).context(place));
                }
                let claim = record.into_claim(default).map_err(|error| Failure::usage(error).context(place))?;
                take(claim, place)?;
            }
            Err(malformed) => refused = Some(malformed),
        }
    }
    let line = lines.line_ends + 1;
    let tail = match refused {
        Some(malformed) if malformed.place == Place::Line(line) && is_torn(&lines.last) => {
            Tail::Torn { line, begins: lines.begins }
        }
        Some(malformed) => return Err(Failure::usage(malformed)),
        None if lines.last.is_empty() => Tail::Whole { lines: lines.line_ends },
        None => Tail::NoLineEnd { line },
    };
    Ok((tail, lines.first == Some(b'[')))
}

/// Whether the bytes are the beginning of an object. Anything else, zeros too, is damage: this program did not write it.
fn is_torn(line: &[u8]) -> bool {
    let text = match str::from_utf8(line) {
        Ok(text) => text,
        // The cut goes through a character.
        Err(error) if error.error_len().is_none() => str::from_utf8(&line[..error.valid_up_to()]).unwrap_or_default(),
        Err(_) => return false,
    };
    text.trim().is_empty() || json::object::<IgnoredAny>(text.trim()) == Err(ObjectError::CutOff)
}

/// A reader that keeps what stands behind the last line end.
struct LastLine<R> {
    inner: R,
    /// Bytes that were read.
    position: u64,
    /// The bytes behind the last line end, as far as a line is read.
    last: Vec<u8>,
    /// Where they begin.
    begins: u64,
    line_ends: u64,
    /// The first byte that is neither white space nor of a byte order mark.
    first: Option<u8>,
}

impl<R: BufRead> LastLine<R> {
    fn new(inner: R) -> Self {
        Self { inner, position: 0, last: Vec::new(), begins: 0, line_ends: 0, first: None }
    }
}

impl<R: BufRead> BufRead for LastLine<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        // What is consumed stands in the buffer, so nothing is read here.
        let Ok(buffer) = self.inner.fill_buf() else { return };
        let seen = &buffer[..amount];
        let blank = |byte: &u8| byte.is_ascii_whitespace() || BYTE_ORDER_MARK.as_bytes().contains(byte);
        self.first = self.first.or_else(|| seen.iter().copied().find(|byte| !blank(byte)));
        let mut rest = seen;
        if let Some(end) = seen.iter().rposition(|byte| *byte == b'\n') {
            rest = &seen[end + 1..];
            self.line_ends += seen.iter().filter(|byte| **byte == b'\n').count() as u64;
            self.begins = self.position + end as u64 + 1;
            self.last.clear();
        }
        self.last.extend_from_slice(&rest[..rest.len().min(LINE_LIMIT.saturating_sub(self.last.len()))]);
        self.position += amount as u64;
        self.inner.consume(amount);
    }
}

impl<R: BufRead> Read for LastLine<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}
