//! Published vectors, read from `QUORATE_VECTORS` or `../shared/vectors` beside the workspace.

use std::path::PathBuf;
use std::{env, fs};

/// The bytes of a vector file; `None`, with a line on standard error, if there are no vectors at all.
///
/// The test fails if the vectors are present without the file, or if `QUORATE_VECTORS` names a folder that does not exist.
pub(crate) fn read(name: &str) -> Option<Vec<u8>> {
    let named = env::var_os("QUORATE_VECTORS").map(PathBuf::from);
    let root = named.clone().unwrap_or_else(|| PathBuf::from(DEFAULT));
    if named.is_none() && !root.is_dir() {
        eprintln!("skipped 1 vector file: {name} (no {})", root.display());
        return None;
    }
    let path = root.join(name);
    Some(fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// The folder beside the workspace, relative to this crate.
const DEFAULT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors");
