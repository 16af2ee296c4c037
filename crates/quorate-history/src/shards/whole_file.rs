//! Files that appear whole or not at all, whatever happens meanwhile.

use std::{fs::File, io, path::Path};

use tempfile::{Builder, NamedTempFile};

use super::error::ShardError;

/// Writes a file beside its place, waits until it is on the disk, and renames it. If anything fails, nothing is left.
pub(super) fn write<T>(path: &Path, write: impl FnOnce(&mut File) -> io::Result<T>) -> Result<T, ShardError> {
    let mut unfinished = begin(path)?;
    let written = write(unfinished.as_file_mut()).map_err(ShardError::write(path))?;
    finish(unfinished, path)?;
    Ok(written)
}

/// A file beside the place of another one. It vanishes when it is dropped.
pub(super) fn begin(path: &Path) -> Result<NamedTempFile, ShardError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut builder = Builder::new();
    builder.prefix(UNFINISHED);
    // As any other file; temporary ones are for their owner alone otherwise.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder).map_err(ShardError::write(path))
}

/// Puts a file that is written to its place.
pub(super) fn finish(unfinished: NamedTempFile, path: &Path) -> Result<(), ShardError> {
    unfinished.as_file().sync_all().map_err(ShardError::write(path))?;
    unfinished.persist(path).map_err(|error| ShardError::write(path)(error.error))?;
    // The rename is on the disk once its folder is. Not every system can open a folder.
    if let Some(Ok(folder)) = path.parent().map(File::open) {
        folder.sync_all().map_err(ShardError::write(path))?;
    }
    Ok(())
}

/// How the names of unfinished files begin.
pub(super) const UNFINISHED: &str = ".unfinished-";
