//! What `-` means where a command line names a file: standard input, if the file is read. Nothing is written under that name.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Stdin},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use anyhow::{Context as _, anyhow};
use clap::builder::{PathBufValueParser, TypedValueParser};

use crate::{
    exit::Failure,
    file,
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

/// Standard input, for one argument. What it holds is gone when it was read, so another argument must name something else.
///
/// # Errors
/// Exit code 2: this was called before.
pub fn standard_input() -> Result<Stdin, Failure> {
    if TAKEN.swap(true, Ordering::Relaxed) {
        return Err(Failure::usage(anyhow!("standard input cannot be read twice; name a file in place of `-`")));
    }
    Ok(io::stdin())
}

/// Whether an argument has got standard input, of which a process has one.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Reads a file of at most `limit` bytes. `-` means standard input.
///
/// # Errors
/// As of [`file::read`] and [`standard_input`].
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    if is_dash(path) {
        return Ok(file::read_bounded(standard_input()?.lock(), STANDARD_INPUT.as_ref(), limit)?);
    }
    Ok(file::read(path, limit)?)
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
/// The file cannot be opened, or as of [`standard_input`].
pub fn open(path: &Path) -> Result<Box<dyn BufRead>, Failure> {
    if is_dash(path) {
        return Ok(Box::new(standard_input()?.lock()));
    }
    let file = File::open(path).with_context(|| format!("cannot read {}", name_of(path))).map_err(Failure::io)?;
    Ok(Box::new(BufReader::new(file)))
}

/// Reads the path of a file or folder to write. For other flags `-` is a standard stream, so nothing gets that name.
pub fn path_to_write() -> impl TypedValueParser<Value = PathBuf> {
    path_but_no_dash("this names a file and not standard output; give a name, such as ./- for one that is a dash")
}

/// Reads the path of a file or folder to read, of which standard input cannot take the place: it is read twice, it is deleted, others
/// lie beside it, or it is named by what it holds.
pub fn path_to_read() -> impl TypedValueParser<Value = PathBuf> {
    path_but_no_dash(NOT_FROM_STANDARD_INPUT)
}

/// Why `-` is refused in the place of such a file.
pub const NOT_FROM_STANDARD_INPUT: &str =
    "this is not read from standard input; give the name of a file, such as ./- for one that is a dash";

fn path_but_no_dash(why: &'static str) -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(move |path| if is_dash(&path) { Err(why) } else { Ok(path) })
}
