//! Inputs with one item a line: hexadecimal, or a JSON object that has the item as a field.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
};

use anyhow::{Context as _, anyhow};
use serde::Deserialize;

use super::{
    print,
    suite::KeySuite,
    unlock::{is_dash, name_of},
};
use crate::exit::Failure;

/// The lines of an input that are not blank, with their numbers from 1.
pub(super) struct Lines {
    name: String,
    reader: Box<dyn BufRead>,
    number: usize,
}

/// A line, or what is wrong with its bytes.
pub(super) struct Line {
    pub(super) number: usize,
    pub(super) text: Result<String, String>,
}

impl Lines {
    /// Opens a file; `-` and none are standard input.
    pub(super) fn open(path: Option<&Path>) -> Result<Self, Failure> {
        let path = path.unwrap_or(Path::new("-"));
        let name = name_of(path);
        let reader: Box<dyn BufRead> = if is_dash(path) {
            Box::new(io::stdin().lock())
        } else {
            let file = File::open(path).with_context(|| format!("cannot open {name}")).map_err(Failure::io)?;
            Box::new(BufReader::new(file))
        };
        Ok(Self { name, reader, number: 0 })
    }

    /// As messages call it.
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
                let text = str::from_utf8(text).map(str::to_owned).map_err(|_| "not UTF-8".to_owned());
                return Ok(Some(Line { number: self.number, text }));
            }
        }
    }

    /// Says what is wrong with a line.
    pub(super) fn complain(&self, number: usize, reason: &str) {
        print::note(format_args!("{}, line {number}: {reason}", self.name));
    }

    /// Every line as one item. Each line that is none is reported with its number, and nothing comes of the others.
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
        let total = items.len() + bad;
        Err(Failure::usage(anyhow!(
            "{bad} of {total} lines cannot be used, so nothing was printed; correct or remove them"
        )))
    }
}

/// A field of a line's object, with that name or in its place as bare hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Signature,
    PublicKey,
}

/// The bytes of a line: hexadecimal, or the field of a JSON object. Other fields are skipped, but for another suite.
pub(super) fn bytes(text: &str, field: Field, suite: KeySuite) -> Result<Vec<u8>, String> {
    if !text.starts_with('{') {
        return hex(text);
    }
    let object: Object = serde_json::from_str(text).map_err(|error| format!("not a JSON object: {error}"))?;
    refuse_other(object.suite.as_deref(), suite)?;
    let (value, name) = match field {
        Field::Signature => (object.signature, "signature"),
        Field::PublicKey => (object.public_key, "public_key"),
    };
    let value = value.ok_or_else(|| format!("lacks \"{name}\""))?;
    hex(&value).map_err(|reason| format!("\"{name}\" {reason}"))
}

/// Hexadecimal with or without `0x`, either case.
pub(super) fn hex(text: &str) -> Result<Vec<u8>, String> {
    const_hex::decode(text).map_err(|error| format!("is not hexadecimal: {error}"))
}

/// A line that names a suite must name the one that was asked for.
pub(super) fn refuse_other(named: Option<&str>, suite: KeySuite) -> Result<(), String> {
    match named {
        Some(named) if named != suite.name() => Err(format!("is of suite {named}, not {suite}")),
        _ => Ok(()),
    }
}

#[derive(Deserialize)]
struct Object {
    suite: Option<String>,
    signature: Option<String>,
    public_key: Option<String>,
}

/// Windows editors put it first.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
