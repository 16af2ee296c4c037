//! Signature shares in JSON Lines, from any number of inputs.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use quorate_formats::{from_hex, json};
use quorate_host::exit::Failure;
use serde::{Deserialize, Serialize};

use crate::commands::{
    complaints::Complaints,
    lines::{Line, Lines, field},
    print,
    suite::KeySuite,
    unlock::is_dash,
};

/// A signature share as `quorate threshold sign` prints it.
#[derive(Serialize)]
pub(super) struct SignatureShareLine {
    pub(super) suite: &'static str,
    pub(super) index: u64,
    /// The key that all participants share.
    pub(super) public_key: String,
    pub(super) message: String,
    pub(super) signature: String,
}

/// A signature share as a line states it. Nothing of it is proven.
pub(super) struct SignatureShare {
    pub(super) index: u64,
    pub(super) message: Vec<u8>,
    pub(super) signature: Vec<u8>,
}

/// Where a line stands.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    /// Its input.
    pub(super) file: String,
    /// Its number, from 1.
    pub(super) line: u64,
}

/// A line, or the reason why it is not a share of the shared key.
pub(super) struct ShareLine {
    pub(super) spot: Spot,
    pub(super) share: Result<SignatureShare, String>,
}

/// The lines of all inputs, and what is wrong with them.
pub(super) struct ShareLines {
    /// Those to be read, the next one last.
    inputs: Vec<Lines>,
    names: String,
    several: bool,
    suite: KeySuite,
    /// The shared key, encoded.
    public_key: Vec<u8>,
    complaints: Complaints,
}

impl ShareLines {
    /// Opens all inputs, before the first line is read. `-`, or no path, means standard input.
    pub(super) fn open(paths: &[PathBuf], suite: KeySuite, public_key: Vec<u8>) -> Result<Self, Failure> {
        let standard_input = [PathBuf::from("-")];
        let paths = if paths.is_empty() { &standard_input } else { paths };
        if paths.iter().filter(|path| is_dash(path)).count() > 1 {
            return Err(Failure::usage(anyhow!("standard input cannot be read twice; name `-` once")));
        }
        let inputs = paths.iter().map(|path: &PathBuf| Lines::open(Some(Path::new(path))));
        let mut inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        let names: Vec<_> = inputs.iter().map(|lines| lines.name().to_owned()).collect();
        inputs.reverse();
        let several = inputs.len() > 1;
        Ok(Self { inputs, names: names.join(", "), several, suite, public_key, complaints: Complaints::default() })
    }

    /// The names of all inputs.
    pub(super) fn names(&self) -> &str {
        &self.names
    }

    /// Whether there are several inputs, so that a line's number alone does not say where it is.
    pub(super) fn several(&self) -> bool {
        self.several
    }

    /// The next share of the shared key, or the reason why a line is not one, with its place.
    pub(super) fn next(&mut self) -> Result<Option<ShareLine>, Failure> {
        while let Some(lines) = self.inputs.last_mut() {
            if let Some(Line { number, text }) = lines.next()? {
                let spot = Spot { file: lines.name().to_owned(), line: number };
                return Ok(Some(ShareLine { spot, share: text.and_then(|text| self.parse(&text)) }));
            }
            self.inputs.pop();
        }
        Ok(None)
    }

    /// Prints what is wrong with a line, if not many lines before it had the same fault.
    pub(super) fn complain(&mut self, spot: &Spot, reason: &str) {
        if self.complaints.admit(reason) {
            print::note(format_args!("{}, line {}: {reason}", spot.file, spot.line));
        }
    }

    /// Prints how many faults [`complain`](Self::complain) did not print.
    pub(super) fn complain_of_the_rest(&self) {
        self.complaints.rest().for_each(print::note);
    }

    fn parse(&self, text: &str) -> Result<SignatureShare, String> {
        let object: Object = json::object(text).map_err(|error| error.to_string())?;
        if let Some(found) = object.suite.filter(|found| found != self.suite.name()) {
            return Err(format!("\"suite\": found {found:?}, expected {}, the suite of the shared key", self.suite));
        }
        if field("public_key", object.public_key)? != self.public_key {
            return Err("\"public_key\": the share is of another key than --shared-key".to_owned());
        }
        Ok(SignatureShare {
            index: object.index.ok_or("\"index\" is missing")?,
            message: field("message", object.message)?,
            signature: field("signature", object.signature)?,
        })
    }
}

/// The message of a flag.
pub(super) fn message(text: &str) -> Result<Message, String> {
    from_hex(text).map(Message).map_err(|error| error.to_string())
}

/// The bytes of a flag. They have a type of their own, because clap reads a `Vec` as a flag that may be repeated.
#[derive(Clone, Debug)]
pub(super) struct Message(pub(super) Vec<u8>);

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Object {
    suite: Option<String>,
    index: Option<u64>,
    public_key: Option<String>,
    message: Option<String>,
    signature: Option<String>,
}
