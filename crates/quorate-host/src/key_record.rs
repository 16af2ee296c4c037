//! What a key has signed, written down before the signature leaves, so that it never signs two things that exclude each other.
//!
//! The first line names the key. Each further line is an entry: what was signed, as JSON, with the SHA-256 of that JSON.
//!
//! ```json
//! {"key":"0x…","checksum":"0x…"}
//! {"signed":{"exit":{"validator_index":7,"epoch":9}},"checksum":"0x…"}
//! ```
//!
//! A record that lost its end is the danger: what it no longer says could be signed again, otherwise. So whatever stands behind the
//! last line end is one of three things. A *whole* entry is kept, and gets the line end that it lacks: `$(cat record)`, a secret
//! store or an editor took it away. The beginning of an entry is *torn*. Nobody can tell whether the program was stopped while it
//! wrote the line, so that no signature left, or a copy broke off, and the signature is out in the world. So a torn entry counts as
//! signed, as far as it can be read, and as anything where it cannot ([`TornEntry`]). Everything else, zeros or an empty file
//! too, is *damage*, and nothing is signed.
//!
//! A record that was cut off between two lines looks whole. Only its owner can know that it is an old one.

use std::{
    fmt,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::{Digest as _, Sha256};

use crate::{
    exit::{Ends, Exit},
    file::{AppendedFile, Before, FileError},
};

/// What a line says was signed.
pub trait RecordEntry: Clone + PartialEq + Serialize + DeserializeOwned {
    /// How serde writes an entry, one form for each kind. A torn entry is read by it.
    const FORMS: &'static [&'static [Piece]];
}

/// A part of a written entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// This text.
    Text(&'static str),
    /// This many bytes as lower-case hexadecimal digits, without `0x`.
    Hex(usize),
    /// A decimal number.
    Number,
}

/// A record, open and locked.
#[derive(Debug)]
pub struct KeyRecord<E> {
    file: AppendedFile,
    path: PathBuf,
    key: String,
    names_key: bool,
    entries: Vec<E>,
    torn: Vec<TornEntry>,
    mended: Option<Mended>,
}

/// An entry of which the end is missing: it may have been signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornEntry {
    /// Its line, from 1 on.
    pub line: usize,
    /// Which of [`RecordEntry::FORMS`] it has; `None` if it may have several, and so may be anything.
    pub form: Option<usize>,
    /// The first bytes and numbers of the form, as they stand there: those that are whole.
    pub values: Vec<String>,
}

/// What was found at the end of a record when it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mended {
    /// The last entry was whole, and its line end was missing. It was added.
    LineEnd {
        /// The line, from 1 on.
        line: usize,
    },
    /// The last entry is torn. It stays, with a line end.
    Torn {
        /// The line, from 1 on.
        line: usize,
    },
}

impl fmt::Display for Mended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LineEnd { line } => {
                write!(f, "line {line}: its line end was missing and was added; the entry is whole and counts")
            }
            Self::Torn { line } => write!(
                f,
                "line {line}: the entry is torn: the program was stopped while it wrote the line, or the file was cut off while it \
                 was copied; what the line may have said counts as signed"
            ),
        }
    }
}

/// Why there is no record, or nothing was added to it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyRecordError {
    /// It was not read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// There is none.
    #[error(
        "{}: there is no record of this name; if this key has signed before, find its record, and sign nothing without it; if it \
         never has, begin one with --new-record", path.display()
    )]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A new one was asked for, and there is one.
    #[error(
        "{}: there is a file already, and it is left as it is; leave out --new-record if it is the record of this key, or name \
         another file", path.display()
    )]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// It is not as it was written.
    #[error(
        "{}, line {line}: {reason}; the record is damaged: bring it back from a copy that is not older than the last \
         signature, and sign nothing before", path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// From 1 on.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// It is a record of something else.
    #[error(
        "{}, line {line}: this is a record of other things: found an entry `{found}`, expected {expected}; name the \
         record of this key for those", path.display()
    )]
    OtherKind {
        /// The file.
        path: PathBuf,
        /// From 1 on.
        line: usize,
        /// What was signed.
        found: String,
        /// What is signed here.
        expected: String,
    },
    /// It is the record of another key.
    #[error("{}: it is the record of the key {found}, expected that of {expected}; name the record of this key", path.display())]
    OtherKey {
        /// The file.
        path: PathBuf,
        /// The key that the record names.
        found: String,
        /// The key that was to sign.
        expected: String,
    },
}

impl Ends for KeyRecordError {
    fn exit(&self) -> Exit {
        match self {
            Self::File(error) => error.exit(),
            Self::Missing { .. }
            | Self::Exists { .. }
            | Self::Damaged { .. }
            | Self::OtherKind { .. }
            | Self::OtherKey { .. } => Exit::Usage,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyLine {
    key: String,
    checksum: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryLine<E> {
    signed: E,
    checksum: String,
}

impl<E: RecordEntry> KeyRecord<E> {
    /// Begins the record of a key that has signed nothing yet, and locks it.
    ///
    /// # Errors
    /// [`KeyRecordError::Exists`], [`KeyRecordError::File`].
    pub fn begin(path: &Path, public_key: &[u8]) -> Result<Self, KeyRecordError> {
        let key = const_hex::encode_prefixed(public_key);
        let file = AppendedFile::create(path, &key_line(&key)).map_err(|error| match error {
            FileError::Io { source, .. } if source.kind() == ErrorKind::AlreadyExists => {
                KeyRecordError::Exists { path: path.to_owned() }
            }
            error => error.into(),
        })?;
        let (entries, torn) = (Vec::new(), Vec::new());
        Ok(Self { file, path: path.to_owned(), key, names_key: true, entries, torn, mended: None })
    }

    /// Opens the record of a key, and locks it. What it lacks of its last line end is added.
    ///
    /// # Errors
    /// [`KeyRecordError`]: there is none, it is that of another key, or it is damaged.
    pub fn open(path: &Path, public_key: &[u8]) -> Result<Self, KeyRecordError> {
        let expected = const_hex::encode_prefixed(public_key);
        let (file, contents) = AppendedFile::open(path, LARGEST).map_err(|error| match error {
            FileError::Io { source, .. } if source.kind() == ErrorKind::NotFound => {
                KeyRecordError::Missing { path: path.to_owned() }
            }
            error => error.into(),
        })?;
        let damaged =
            |line, reason: &str| KeyRecordError::Damaged { path: path.to_owned(), line, reason: reason.to_owned() };
        let (entries, torn) = (Vec::new(), Vec::new());
        let mut this =
            Self { file, path: path.to_owned(), key: expected, names_key: false, entries, torn, mended: None };
        if contents.is_empty() {
            return Err(damaged(1, "the file is empty, which no record is"));
        }
        let mut found = None;
        let mut number = 0;
        for line in contents.split_inclusive(|byte| *byte == b'\n') {
            number += 1;
            let ends = line.ends_with(b"\n");
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let torn = match read::<E>(line, public_key.len()) {
                Line::Key(key) if found.is_none() => {
                    found = Some(key);
                    None
                }
                Line::Key(_) => return Err(damaged(number, "a second line names a key")),
                Line::Entry(entry) => {
                    this.entries.push(entry);
                    None
                }
                Line::Torn { form, values } => Some(TornEntry { line: number, form, values }),
                Line::OtherKind(found) => {
                    let expected = kinds::<E>().map(|kind| format!("`{kind}`")).collect::<Vec<_>>().join(" or ");
                    return Err(KeyRecordError::OtherKind { path: this.path, line: number, found, expected });
                }
                Line::Damaged(reason) => return Err(damaged(number, &reason)),
            };
            if !ends {
                this.mended = Some(match torn {
                    Some(_) => Mended::Torn { line: number },
                    None => Mended::LineEnd { line: number },
                });
            }
            this.torn.extend(torn);
        }
        if let Some(found) = found {
            if found != this.key {
                return Err(KeyRecordError::OtherKey { path: this.path, found, expected: this.key });
            }
            this.names_key = true;
        }
        if this.mended.is_some() {
            this.file.append(b"\n")?;
        }
        Ok(this)
    }

    /// Writes down what is about to be signed. It is on the disk when this returns. What stands there already is not written again:
    /// it was flushed when the record was opened.
    ///
    /// # Errors
    /// [`FileError`]: nothing may be signed.
    pub fn write_down(&mut self, entry: E) -> Result<(), FileError> {
        if self.entries.contains(&entry) {
            return Ok(());
        }
        // A record of an earlier version names no key. The first entry that is added binds it.
        let mut bytes = if self.names_key { Vec::new() } else { key_line(&self.key) };
        let checksum = checksum(&entry);
        bytes.extend(line(&EntryLine { signed: &entry, checksum }));
        self.file.append(&bytes)?;
        self.names_key = true;
        self.entries.push(entry);
        Ok(())
    }

    /// What was signed, in the order of the lines.
    pub fn entries(&self) -> &[E] {
        &self.entries
    }

    /// What may have been signed: entries of which the end is missing.
    pub fn torn(&self) -> &[TornEntry] {
        &self.torn
    }

    /// What was found at the end of the file and is not as it should be. A person must see it.
    pub fn mended(&self) -> Option<Mended> {
        self.mended
    }

    /// Whether the file names the key. One of an earlier version does not; the next entry binds it to the key that signs.
    pub fn names_key(&self) -> bool {
        self.names_key
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `before` in front of each step of writing. Only tests set it: they make full disks and sudden ends.
    pub fn interrupt(&mut self, before: Before) {
        self.file.interrupt(before);
    }
}

/// What a line is.
enum Line<E> {
    Key(String),
    Entry(E),
    Torn {
        form: Option<usize>,
        values: Vec<String>,
    },
    /// A whole entry of something else.
    OtherKind(String),
    Damaged(String),
}

/// Reads a line without its end. Only what is written exactly as this module writes it is whole.
fn read<E: RecordEntry>(text: &[u8], key_length: usize) -> Line<E> {
    let as_written = |written: Vec<u8>| written.strip_suffix(b"\n") == Some(text);
    if let Ok(KeyLine { key, .. }) = serde_json::from_slice::<KeyLine>(text)
        && as_written(key_line(&key))
    {
        return Line::Key(key);
    }
    let parsed = serde_json::from_slice::<EntryLine<E>>(text);
    if let Ok(EntryLine { signed, .. }) = &parsed
        && as_written(line(&EntryLine { signed, checksum: checksum(signed) }))
    {
        return Line::Entry(signed.clone());
    }
    if let Some(kind) = kind_of_whole(text)
        && !kinds::<E>().any(|known| known == kind)
    {
        return Line::OtherKind(crate::clipped(kind, LONGEST_KIND_SHOWN));
    }
    let key_form: &[Piece] = &[Piece::Text("{\"key\":\"0x"), Piece::Hex(key_length)];
    let forms = [None].into_iter().chain((0..E::FORMS.len()).map(Some));
    let mut begun = forms.filter_map(|form| {
        let pieces = match form {
            None => key_form,
            Some(form) => E::FORMS[form],
        };
        let before: &[Piece] = if form.is_some() { &[Piece::Text("{\"signed\":")] } else { &[] };
        let after = [
            Piece::Text(if form.is_some() { ",\"checksum\":\"0x" } else { "\",\"checksum\":\"0x" }),
            Piece::Hex(32),
            Piece::Text("\"}"),
        ];
        Some((form, beginning(text, before.iter().chain(pieces).chain(&after))?))
    });
    match (begun.next(), begun.next()) {
        (Some((form, mut values)), None) => {
            // The checksum is not part of the form.
            values.truncate(
                form.map_or(0, |form| E::FORMS[form].iter().filter(|piece| !matches!(piece, Piece::Text(_))).count()),
            );
            Line::Torn { form, values }
        }
        (Some(_), Some(_)) => Line::Torn { form: None, values: Vec::new() },
        (None, _) => Line::Damaged(match parsed {
            Ok(_) => "the checksum is not that of the entry, or the line is not written as an entry is".to_owned(),
            Err(_) if !text.is_empty() && text.iter().all(|byte| *byte == 0) => "it consists of zeros".to_owned(),
            // The parser's own message would repeat a value, and the file may be a secret that was named by mistake.
            Err(error) => format!("expected an entry of a record, but column {} cannot be read as one", error.column()),
        }),
    }
}

/// The kinds of entries that a record has.
fn kinds<E: RecordEntry>() -> impl Iterator<Item = &'static str> {
    E::FORMS.iter().filter_map(|form| match form.first() {
        Some(Piece::Text(begins)) => kind(begins),
        _ => None,
    })
}

/// `exit` of `{"exit":…`.
fn kind(signed: &str) -> Option<&str> {
    Some(signed.strip_prefix("{\"")?.split_once('"')?.0)
}

/// The kind of an entry that is whole, whatever its kind.
fn kind_of_whole(text: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(text).ok()?;
    let (signed, checksum) = text.strip_prefix("{\"signed\":")?.rsplit_once(",\"checksum\":\"")?;
    let is_whole = checksum.strip_suffix("\"}")? == const_hex::encode_prefixed(Sha256::digest(signed));
    kind(signed).filter(|_| is_whole)
}

/// If the text is not empty and a proper beginning of the pieces: the bytes and numbers in it that are whole.
fn beginning<'a>(text: &[u8], pieces: impl Iterator<Item = &'a Piece>) -> Option<Vec<String>> {
    let mut rest = std::str::from_utf8(text).ok().filter(|text| !text.is_empty())?;
    let mut values = Vec::new();
    for piece in pieces {
        match *piece {
            Piece::Text(expected) => match rest.strip_prefix(expected) {
                Some(behind) => rest = behind,
                None => return expected.starts_with(rest).then_some(values),
            },
            Piece::Hex(length) => {
                let digits =
                    rest.bytes().take(2 * length).take_while(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).count();
                if digits < 2 * length {
                    return (digits == rest.len()).then_some(values);
                }
                values.push(rest[..digits].to_owned());
                rest = &rest[digits..];
            }
            Piece::Number => {
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                if digits == rest.len() {
                    // Whether more digits would follow is not known.
                    return Some(values);
                }
                if digits == 0 || digits > LONGEST_NUMBER {
                    return None;
                }
                values.push(rest[..digits].to_owned());
                rest = &rest[digits..];
            }
        }
    }
    // It is not a beginning: it has everything, or more.
    None
}

fn key_line(key: &str) -> Vec<u8> {
    line(&KeyLine { key: key.to_owned(), checksum: checksum(&key) })
}

fn line(of: &impl Serialize) -> Vec<u8> {
    let mut bytes = written(of);
    bytes.push(b'\n');
    bytes
}

fn checksum(of: &impl Serialize) -> String {
    const_hex::encode_prefixed(Sha256::digest(written(of)))
}

fn written(of: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(of).expect("text, numbers and fields can always be written")
}

/// A record of 200,000 entries has less.
const LARGEST: u64 = 64 << 20;
/// Characters of another kind's name that an error shows.
const LONGEST_KIND_SHOWN: usize = 40;
/// Digits of the largest number of 64 bits.
const LONGEST_NUMBER: usize = 20;

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case", deny_unknown_fields)]
    enum Entry {
        Exit { chain: String, validator_index: u64, epoch: u64 },
        Other { name: String },
    }

    impl RecordEntry for Entry {
        const FORMS: &'static [&'static [Piece]] = &[
            &[
                Piece::Text("{\"exit\":{\"chain\":\""),
                Piece::Hex(4),
                Piece::Text("\",\"validator_index\":"),
                Piece::Number,
                Piece::Text(",\"epoch\":"),
                Piece::Number,
                Piece::Text("}}"),
            ],
            &[Piece::Text("{\"other\":{\"name\":\""), Piece::Hex(2), Piece::Text("\"}}")],
        ];
    }

    const KEY: [u8; 48] = [7; 48];

    fn exit(validator_index: u64) -> Entry {
        Entry::Exit { chain: "0a0b0c0d".to_owned(), validator_index, epoch: 90 }
    }

    fn other() -> Entry {
        Entry::Other { name: "beef".to_owned() }
    }

    /// The bytes of a record with two entries, and where its second and third line begin.
    fn whole(folder: &Path) -> (Vec<u8>, [usize; 2]) {
        let path = folder.join("whole");
        let _ = fs::remove_file(&path);
        let mut record = KeyRecord::begin(&path, &KEY).unwrap();
        record.write_down(exit(17)).unwrap();
        record.write_down(other()).unwrap();
        record.write_down(exit(17)).unwrap();
        let bytes = fs::read(&path).unwrap();
        let ends: Vec<_> = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
        assert_eq!(ends.len(), 3, "what stands there is not written again");
        (bytes, [ends[0], ends[1]])
    }

    fn open(folder: &Path, bytes: &[u8]) -> Result<KeyRecord<Entry>, KeyRecordError> {
        let path = folder.join("record");
        fs::write(&path, bytes).unwrap();
        KeyRecord::open(&path, &KEY)
    }

    #[test]
    fn a_whole_entry_without_its_line_end_counts() {
        let folder = tempfile::tempdir().unwrap();
        let (bytes, _) = whole(folder.path());
        let mut record = open(folder.path(), &bytes[..bytes.len() - 1]).unwrap();
        assert_eq!((record.entries(), record.mended()), (&[exit(17), other()][..], Some(Mended::LineEnd { line: 3 })));
        record.write_down(exit(18)).unwrap();
        drop(record);
        assert!(fs::read(folder.path().join("record")).unwrap().starts_with(&bytes));
        let again = KeyRecord::<Entry>::open(&folder.path().join("record"), &KEY).unwrap();
        assert_eq!((again.entries().len(), again.mended()), (3, None));
    }

    /// Cut anywhere: what is behind the cut is never forgotten without a word. Opened again, the file says the same.
    #[test]
    fn a_record_that_is_cut_anywhere_is_whole_torn_or_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let (bytes, [second, third]) = whole(folder.path());
        for end in 1..=bytes.len() {
            let record = open(folder.path(), &bytes[..end]).unwrap();
            let ends = [second - 1, second, third - 1, third, bytes.len() - 1, bytes.len()];
            let (torn, entries) =
                (!ends.contains(&end), ends[2..].iter().step_by(2).filter(|whole| end >= **whole).count());
            assert_eq!(record.entries().len(), entries, "{end}");
            assert_eq!(record.torn().len(), usize::from(torn), "{end}");
            assert_eq!(record.mended().is_none(), bytes[end - 1] == b'\n', "{end}");
            let torn = record.torn().to_vec();
            drop(record);
            let again = KeyRecord::<Entry>::open(&folder.path().join("record"), &KEY).unwrap();
            assert_eq!((again.torn(), again.mended()), (&torn[..], None), "{end}");
        }
    }

    #[test]
    fn a_torn_entry_is_read_as_far_as_it_goes() {
        let folder = tempfile::tempdir().unwrap();
        let (bytes, [second, third]) = whole(folder.path());
        let text = str::from_utf8(&bytes).unwrap();
        let cut = |piece: &str| second + text[second..].find(piece).unwrap() + piece.len();
        let values = |end: usize| {
            let torn = open(folder.path(), &bytes[..end]).unwrap().torn()[0].clone();
            (torn.form, torn.values)
        };
        let strings = |of: &[&str]| of.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        assert_eq!(values(second + 1), (None, strings(&[])));
        assert_eq!(values(cut("{\"signed\":{\"")), (None, strings(&[])));
        assert_eq!(values(cut("{\"signed\":{\"e")), (Some(0), strings(&[])));
        assert_eq!(values(cut("0a0b0c0")), (Some(0), strings(&[])));
        assert_eq!(values(cut("0a0b0c0d")), (Some(0), strings(&["0a0b0c0d"])));
        // It could have been 170.
        assert_eq!(values(cut("\"validator_index\":17")), (Some(0), strings(&["0a0b0c0d"])));
        assert_eq!(values(cut("\"validator_index\":17,")), (Some(0), strings(&["0a0b0c0d", "17"])));
        assert_eq!(values(third - 3), (Some(0), strings(&["0a0b0c0d", "17", "90"])));
        assert_eq!(values(40), (None, strings(&[])));
    }

    #[test]
    fn zeros_and_other_bytes_are_damage() {
        let folder = tempfile::tempdir().unwrap();
        let (bytes, [second, third]) = whole(folder.path());
        let with = |end: usize, more: &[u8]| [&bytes[..end], more].concat();
        let text = String::from_utf8(bytes.clone()).unwrap();
        for (line, damaged) in [
            (1, Vec::new()),
            (1, vec![0; 357]),
            (1, b"\n".to_vec()),
            (1, b"hello world".to_vec()),
            (2, with(second, &[0; 100])),
            (2, with(second, b"\n")),
            (2, with(second, b"{\"signed\":{\"exit\":{\"chain\":\"0A0b")),
            (2, with(second + 9, &[0; 3])),
            (4, with(bytes.len(), b" ")),
            (4, with(bytes.len(), &bytes[..second])),
            (3, with(bytes.len() - 1, b"\r")),
            (1, text.replace('\n', "\r\n").into_bytes()),
            (2, text.replacen(":17", ":18", 1).into_bytes()),
            (2, text.replacen(":17", ": 17", 1).into_bytes()),
            (3, with(third, b"{\"signed\":{\"other\":{\"name\":\"beef\"}},\"checksum\":\"0x00\"}\n")),
        ] {
            let error = open(folder.path(), &damaged).unwrap_err();
            let expected = matches!(&error, KeyRecordError::Damaged { line: found, .. } if *found == line);
            assert!(expected, "{error}, expected line {line}: {:?}", String::from_utf8_lossy(&damaged));
            assert_eq!(fs::read(folder.path().join("record")).unwrap(), damaged, "it is left as it is");
        }
    }

    #[test]
    fn a_record_of_another_kind_is_named() {
        #[derive(Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum Foreign {
            Checkpoint { height: u64 },
        }
        impl RecordEntry for Foreign {
            const FORMS: &'static [&'static [Piece]] =
                &[&[Piece::Text("{\"checkpoint\":{\"height\":"), Piece::Number, Piece::Text("}}")]];
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("foreign");
        KeyRecord::begin(&path, &KEY).unwrap().write_down(Foreign::Checkpoint { height: 7 }).unwrap();
        let error = KeyRecord::<Entry>::open(&path, &KEY).unwrap_err();
        assert!(matches!(&error, KeyRecordError::OtherKind { line: 2, found, .. } if found == "checkpoint"), "{error}");
        assert!(error.to_string().contains("found an entry `checkpoint`, expected `exit` or `other`"), "{error}");
        // What only looks like one is damage.
        let changed = fs::read_to_string(&path).unwrap().replacen(":7", ":8", 1);
        assert!(matches!(open(folder.path(), changed.as_bytes()), Err(KeyRecordError::Damaged { line: 2, .. })));
    }

    /// A key in hexadecimal digits can be a number of JSON, and a share of a key is an object of it.
    #[test]
    fn an_error_repeats_no_byte_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        for secret in ["12345678".repeat(8), format!("{{\"signed\":\"{0}\"}}", "12345678".repeat(8)), "12e4".repeat(16)]
        {
            let error = open(folder.path(), secret.as_bytes()).unwrap_err().to_string();
            assert!(error.contains("column ") && !error.contains("1234") && !error.contains("12e4"), "{error}");
        }
    }

    #[test]
    fn a_record_is_of_one_key_and_begins_when_it_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record");
        assert!(matches!(KeyRecord::<Entry>::open(&path, &KEY), Err(KeyRecordError::Missing { .. })));
        assert!(!path.exists());
        drop(KeyRecord::<Entry>::begin(&path, &KEY).unwrap());
        assert!(matches!(KeyRecord::<Entry>::begin(&path, &KEY), Err(KeyRecordError::Exists { .. })));
        assert!(matches!(KeyRecord::<Entry>::open(&path, &[8; 48]), Err(KeyRecordError::OtherKey { .. })));
        // One of an earlier version is bound by the next entry.
        let (bytes, [second, _]) = whole(folder.path());
        let old = &bytes[second..];
        let mut record = open(folder.path(), old).unwrap();
        assert!(!record.names_key() && record.entries().len() == 2);
        record.write_down(exit(17)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), old, "nothing new was signed");
        record.write_down(exit(18)).unwrap();
        drop(record);
        assert!(KeyRecord::<Entry>::open(&path, &KEY).unwrap().names_key());
        assert!(matches!(KeyRecord::<Entry>::open(&path, &[8; 48]), Err(KeyRecordError::OtherKey { .. })));
    }

    #[test]
    fn a_record_that_cannot_be_begun_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        assert!(KeyRecord::<Entry>::begin(&folder.path().join("no/record"), &KEY).is_err());
        fs::write(folder.path().join("file"), "").unwrap();
        // A parent that is a file is told as it is, and not as a record that is not there.
        let error = KeyRecord::<Entry>::open(&folder.path().join("file/record"), &KEY).unwrap_err();
        assert!(matches!(error, KeyRecordError::File(FileError::Io { .. })), "{error}");
    }
}
