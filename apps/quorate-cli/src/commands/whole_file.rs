//! Inputs that are held in memory as a whole: documents of JSON, within a bound that a message states.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use anyhow::{Context as _, anyhow};
use quorate_formats::lines::{TextError, read_text};
use quorate_host::{exit::Failure, file::LARGEST_DOCUMENT};

use super::unlock::{is_dash, name_of};

/// The text of a file of at most 64 MiB, without a byte order mark. `-` means standard input.
pub(super) fn text(path: &Path) -> Result<String, Failure> {
    read_text(open(path)?, LARGEST_DOCUMENT).map_err(|error| match error {
        TextError::Read(error) => Failure::io(anyhow!(error).context(format!("cannot read {}", name_of(path)))),
        error => Failure::usage(error).context(name_of(path)),
    })
}

/// The bytes of a file of at most `most` bytes, as they are. `-` means standard input.
pub(super) fn bytes(path: &Path, most: u64) -> Result<Vec<u8>, Failure> {
    let name = name_of(path);
    let mut bytes = Vec::new();
    let read = open(path)?.take(most + 1).read_to_end(&mut bytes);
    read.with_context(|| format!("cannot read {name}")).map_err(Failure::io)?;
    if bytes.len() as u64 > most {
        return Err(Failure::usage(TextError::TooLong { limit: most }).context(name));
    }
    Ok(bytes)
}

/// What a file holds, to be read bit by bit. `-` means standard input.
pub(super) fn open(path: &Path) -> Result<Box<dyn BufRead>, Failure> {
    if is_dash(path) {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).with_context(|| format!("cannot read {}", name_of(path))).map_err(Failure::io)?;
    Ok(Box::new(BufReader::new(file)))
}
