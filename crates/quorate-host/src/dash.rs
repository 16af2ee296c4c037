//! What `-` means where a command line names a file: standard input, if the file is read. Nothing is written under that name.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, anyhow};
use clap::builder::{PathBufValueParser, TypedValueParser};

use crate::{
    exit::Failure,
    file::{self, FileError},
    text::{TextError, read_text},
};

/// The name of standard input in messages.
pub const STANDARD_INPUT: &str = "standard input";

/// Whether a path is `-`.
pub fn is_dash(path: &Path) -> bool {
    path == Path::new("-")
}

/// The name of a file that is read, in messages.
pub fn name_of(path: &Path) -> String {
    if is_dash(path) { STANDARD_INPUT.to_owned() } else { path.display().to_string() }
}

/// Reads a file of at most `limit` bytes. `-` means standard input.
///
/// # Errors
/// As of [`file::read`].
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    if is_dash(path) {
        return file::read_bounded(io::stdin().lock(), STANDARD_INPUT.as_ref(), limit);
    }
    file::read(path, limit)
}

/// The text of a file of at most `limit` bytes, without a byte order mark. `-` means standard input.
///
/// # Errors
/// The file cannot be read, is longer, or is not text in UTF-8.
pub fn text(path: &Path, limit: u64) -> Result<String, Failure> {
    read_text(open(path)?, limit).map_err(|error| match error {
        TextError::Read(error) => Failure::io(anyhow!(error).context(format!("cannot read {}", name_of(path)))),
        error => Failure::usage(error).context(name_of(path)),
    })
}

/// What a file holds, to be read bit by bit. `-` means standard input.
///
/// # Errors
/// The file cannot be opened.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>, Failure> {
    if is_dash(path) {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).with_context(|| format!("cannot read {}", name_of(path))).map_err(Failure::io)?;
    Ok(Box::new(BufReader::new(file)))
}

/// Refuses inputs of which several are standard input.
///
/// # Errors
/// Exit code 2.
pub fn refuse_twice_standard_input<'a>(paths: impl Iterator<Item = &'a Path>) -> Result<(), Failure> {
    if paths.filter(|path| is_dash(path)).count() > 1 {
        return Err(Failure::usage(anyhow!("standard input cannot be read twice; name `-` once")));
    }
    Ok(())
}

/// Reads the path of a file or folder to write. For other flags `-` is a standard stream, so nothing gets that name.
pub fn path_to_write() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match is_dash(&path) {
        true => Err("nothing is written to standard output here; give a name, such as ./- for one that is a dash"),
        false => Ok(path),
    })
}
