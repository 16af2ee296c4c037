//! Inputs with one item on each line: hexadecimal digits, or a JSON object that has the item as a field.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
};

use anyhow::{Context as _, anyhow};
use quorate_formats::{from_hex, json};
use serde::Deserialize;

use super::{
    complaints::Complaints,
    print,
    suite::KeySuite,
    unlock::{is_dash, name_of},
};
use crate::exit::Failure;

/// The lines of an input that are not blank, numbered from 1.
pub(super) struct Lines {
    name: String,
    reader: Box<dyn BufRead>,
    number: usize,
    complaints: Complaints,
}

/// A line, or the reason why its bytes are not text.
pub(super) struct Line {
    pub(super) number: usize,
    pub(super) text: Result<String, String>,
}

impl Lines {
    /// Opens a file. `-`, or no path, means standard input.
    pub(super) fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let path = path.unwrap_or(Path::new("-"));
        let name = name_of(path);
        let reader: Box<dyn BufRead> = if is_dash(path) {
            Box::new(io::stdin().lock())
        } else {
            let file = File::open(path).with_context(|| format!("cannot open {name}")).map_err(Failure::io)?;
            Box::new(BufReader::new(file))
        };
        Ok(Self { name, reader, number: 0, complaints: Complaints::default() })
    }

    /// The input's name in messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The next line that is not blank.
    pub(super) fn next(&mut self) -> Result<Option<Line>, Failure> {
        loop {
            let mut bytes = Vec::new();
            let read = self.reader.read_until(b'\n', &mut bytes);
            if read.with_context(|| format!("cannot read {}", self.name)).map_err(Failure::io)? == 0 {
                return Ok(None);
            }
            self.number += 1;
            let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes).trim_ascii();
            if !text.is_empty() {
                let text = str::from_utf8(text).map(str::to_owned).map_err(|_| "the line is not UTF-8 text".to_owned());
                return Ok(Some(Line { number: self.number, text }));
            }
        }
    }

    /// Prints what is wrong with a line, if not many lines before it had the same fault.
    pub(super) fn complain(&mut self, number: usize, reason: &str) {
        if self.complaints.admit(reason) {
            print::note(format_args!("{}, line {number}: {reason}", self.name));
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
        while let Some(Line { number, text }) = self.next()? {
            match text.and_then(|text| parse(&text)) {
                Ok(item) => items.push(item),
                Err(reason) => {
                    bad += 1;
                    self.complain(number, &reason);
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

/// What a line holds: bare hexadecimal digits, or a JSON object with a field of this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Signature,
    PublicKey,
}

/// The bytes of a line: hexadecimal digits, or the field of a JSON object. A field `suite` must name the suite that was asked for;
/// other fields are skipped.
pub(super) fn bytes(text: &str, wanted: Field, suite: KeySuite) -> Result<Vec<u8>, String> {
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
pub(super) fn refuse_other(named: Option<&str>, suite: KeySuite) -> Result<(), String> {
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

/// Editors on Windows write it at the start of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
