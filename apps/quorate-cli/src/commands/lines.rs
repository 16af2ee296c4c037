//! Inputs with one item on each line: hexadecimal digits, or a JSON object that has the item as a field.

use std::{
    fmt,
    io::BufRead,
    path::{Path, PathBuf},
};

use anyhow::anyhow;
use quorate::AnySuite;
use quorate_formats::{
    InputError, from_hex, json,
    lines::{BoundedLines, LineRead},
};
use quorate_host::{dash, exit::Failure, text::WideText};
use serde::{Deserialize, Serialize};

use super::{complaints::Complaints, print, unlock::name_of};

/// The lines of inputs that are not blank, and what is wrong with them.
pub(super) struct Lines {
    /// Those to be read, the next one last.
    inputs: Vec<Input>,
    names: Vec<String>,
    buffer: Vec<u8>,
    complaints: Complaints,
}

struct Input {
    name: String,
    lines: BoundedLines<Box<dyn BufRead>>,
}

/// Where a line stands.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Spot {
    /// The name of its input.
    pub(super) file: String,
    /// Its number, from 1.
    pub(super) line: u64,
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}", self.file, self.line)
    }
}

/// A line, or the reason why it cannot be read: its bytes are not text, it begins with a mark of UTF-16 or UTF-32, or it is longer than
/// [`LINE_LIMIT`](quorate_formats::lines::LINE_LIMIT) and was skipped.
pub(super) struct Line {
    pub(super) spot: Spot,
    pub(super) text: Result<String, String>,
}

impl Lines {
    /// Opens files, before the first line is read. `-`, or no path, means standard input.
    pub(super) fn open(paths: &[PathBuf]) -> Result<Self, Failure> {
        let standard_input = [PathBuf::from("-")];
        let paths = if paths.is_empty() { &standard_input } else { paths };
        let mut inputs = paths.iter().map(|path| Input::open(path)).collect::<Result<Vec<_>, _>>()?;
        let names = inputs.iter().map(|input| input.name.clone()).collect();
        inputs.reverse();
        Ok(Self { inputs, names, buffer: Vec::new(), complaints: Complaints::default() })
    }

    /// The names of the inputs in messages.
    pub(super) fn names(&self) -> String {
        self.names.join(", ")
    }

    /// Whether there are several inputs, so that a line's number alone does not say where it is.
    pub(super) fn several(&self) -> bool {
        self.names.len() > 1
    }

    /// The next line that is not blank.
    pub(super) fn next(&mut self) -> Result<Option<Line>, Failure> {
        while let Some(Input { name, lines }) = self.inputs.last_mut() {
            let (read, mark) = match lines.read(&mut self.buffer) {
                // That is the fault of this line alone, because the lines behind it may be somebody else's. It is read again as a line.
                Err(error) => match error.downcast::<WideText>() {
                    Ok(wide) => (lines.read(&mut self.buffer), Some(wide)),
                    Err(error) => (Err(error), None),
                },
                read => (read, None),
            };
            let read = read.map_err(|error| Failure::from(InputError::from(error)).context(name.clone()))?;
            let text = match read {
                None => {
                    self.inputs.pop();
                    continue;
                }
                Some(LineRead::TooLong(error)) => Err(error.to_string()),
                Some(LineRead::Whole | LineRead::AtEnd) => match self.buffer.trim_ascii() {
                    [] => continue,
                    text => match (mark, str::from_utf8(text)) {
                        (Some(wide), _) => Err(wide.to_string()),
                        (None, text) => text.map(str::to_owned).map_err(|_| "the line is not UTF-8 text".to_owned()),
                    },
                },
            };
            return Ok(Some(Line { spot: Spot { file: name.clone(), line: lines.number() }, text }));
        }
        Ok(None)
    }

    /// Prints what is wrong with a line, if not many lines before it had the same fault.
    pub(super) fn complain(&mut self, spot: &Spot, reason: &str) {
        if self.complaints.admit(reason) {
            print::note(format_args!("{spot}: {reason}"));
        }
    }

    /// Prints how many faults [`complain`](Self::complain) did not print.
    pub(super) fn complain_of_the_rest(&self) {
        self.complaints.rest().for_each(print::note);
    }

    /// Reads every line as one item.
    ///
    /// # Errors
    /// A line is not an item. Each such line is reported with its number, and the other lines are not used either.
    pub(super) fn parse_all<T>(mut self, mut parse: impl FnMut(&str) -> Result<T, String>) -> Result<Vec<T>, Failure> {
        let (mut items, mut bad) = (Vec::new(), 0_usize);
        while let Some(Line { spot, text }) = self.next()? {
            match text.and_then(|text| parse(&text)) {
                Ok(item) => items.push(item),
                Err(reason) => {
                    bad += 1;
                    self.complain(&spot, &reason);
                }
            }
        }
        if bad == 0 {
            return Ok(items);
        }
        self.complain_of_the_rest();
        let total = items.len() + bad;
        Err(Failure::usage(anyhow!(
            "{bad} of {total} lines cannot be used, so nothing was printed; correct or remove them"
        )))
    }
}

impl Input {
    fn open(path: &Path) -> Result<Self, Failure> {
        Ok(Self { name: name_of(path), lines: BoundedLines::new(dash::open(path)?) })
    }
}

/// What a line holds: bare hexadecimal digits, or a JSON object with a field of this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Signature,
    PublicKey,
}

/// The bytes of a line: hexadecimal digits, or the field of a JSON object. A field `suite` must name the suite that was asked for;
/// other fields are skipped.
pub(super) fn bytes(text: &str, wanted: Field, suite: AnySuite) -> Result<Vec<u8>, String> {
    if !text.starts_with('{') {
        return from_hex(text).map_err(|error| error.to_string());
    }
    let object: Object = json::object(text).map_err(|error| error.to_string())?;
    refuse_other(object.suite.as_deref(), suite)?;
    let (value, name) = match wanted {
        Field::Signature => (object.signature, "signature"),
        Field::PublicKey => (object.public_key, "public_key"),
    };
    field(name, value)
}

/// The bytes of a field of a JSON object, which must be there.
pub(super) fn field(name: &str, value: Option<String>) -> Result<Vec<u8>, String> {
    let value = value.ok_or_else(|| format!("\"{name}\" is missing"))?;
    from_hex(&value).map_err(|error| format!("\"{name}\": {error}"))
}

/// Checks that a line which names a suite names the one that was asked for.
pub(super) fn refuse_other(named: Option<&str>, suite: AnySuite) -> Result<(), String> {
    match named {
        Some(named) if named != suite.name() => {
            Err(format!("\"suite\": found {named:?}, expected {suite}, the suite of --suite"))
        }
        _ => Ok(()),
    }
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Object {
    suite: Option<String>,
    signature: Option<String>,
    public_key: Option<String>,
}
