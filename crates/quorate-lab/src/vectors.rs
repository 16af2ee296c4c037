//! Where the test data lies: outside the repository, in `../shared/vectors` beside the checkout, or where `QUORATE_VECTORS`
//! points. A relative path of the variable starts at the root of the checkout.
//!
//! One rule for all tests: what is absent is skipped with a printed line, and fails the test with `CI=true`.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::needs::{checkout, skip};

/// The folder of the test data, whether it exists or not. If it exists, its path is the one that programs print: without links
/// and `..`.
pub fn root() -> PathBuf {
    let named = checkout().join(env::var_os("QUORATE_VECTORS").unwrap_or_else(|| DEFAULT.into()));
    fs::canonicalize(&named).unwrap_or(named)
}

/// The path of a file or folder of the test data; `None`, with a printed line, if it is absent.
///
/// # Panics
/// If it is absent and `CI=true`.
#[track_caller]
pub fn path(name: impl AsRef<Path>) -> Option<PathBuf> {
    let path = root().join(name);
    if path.exists() {
        return Some(path);
    }
    skip(format_args!("there is no {} (QUORATE_VECTORS names the folder of the test data)", path.display()));
    None
}

/// The content of a file of the test data; `None`, with a printed line, if it is absent.
///
/// # Panics
/// If it is absent and `CI=true`, or if it cannot be read.
#[track_caller]
pub fn read(name: impl AsRef<Path>) -> Option<Vec<u8>> {
    let path = path(name)?;
    Some(fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// Where the data lies if no variable says so, from the root of the checkout.
const DEFAULT: &str = "../shared/vectors";
