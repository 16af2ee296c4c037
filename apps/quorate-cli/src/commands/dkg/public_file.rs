//! Files that everyone may read: read with a limit, because others may have made them, and written whole or not at all.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read},
    path::{Path, PathBuf},
    time::SystemTime,
};

use quorate_host::{
    exit::Failure,
    file::{self, Existing, Readers},
    text::read_text,
};

/// Why a file was not read or written.
#[derive(Debug, thiserror::Error)]
pub(super) enum PublicFileError {
    /// A folder, a pipe or a device.
    #[error("{} is not a regular file; remove it", path.display())]
    NotRegular { path: PathBuf },
    /// A symbolic link whose target is not there.
    #[error("{} is a symbolic link to nothing; remove it", path.display())]
    DanglingLink { path: PathBuf },
    /// More than any file of a ceremony needs.
    #[error("{} has {found} bytes, and no such file of a ceremony has more than {most}; remove it", path.display())]
    TooLarge { path: PathBuf, found: u64, most: u64 },
    #[error("cannot {action} {}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
}

/// Reads a file of at most 16 MiB.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, PublicFileError> {
    read_at_most(path, LARGEST)
}

/// Reads a file of at most so many bytes.
pub(super) fn read_at_most(path: &Path, most: u64) -> Result<Vec<u8>, PublicFileError> {
    let path = path.to_owned();
    let unreadable = |source| PublicFileError::Io { action: "read", path: path.clone(), source };
    // What is not a regular file is not opened: a pipe would block.
    let metadata = fs::metadata(&path).map_err(|error| {
        let is_link = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_symlink());
        match error.kind() {
            ErrorKind::NotFound if is_link => PublicFileError::DanglingLink { path: path.clone() },
            _ => unreadable(error),
        }
    })?;
    if !metadata.is_file() {
        return Err(PublicFileError::NotRegular { path });
    }
    let mut contents = Vec::new();
    File::open(&path).and_then(|file| file.take(most + 1).read_to_end(&mut contents)).map_err(unreadable)?;
    let read = contents.len() as u64;
    if read > most {
        return Err(PublicFileError::TooLarge { path, found: metadata.len().max(read), most });
    }
    Ok(contents)
}

/// The text of such a file, without a byte order mark.
pub(super) fn text(path: &Path) -> Result<String, Failure> {
    read_text(&read(path)?[..], LARGEST).map_err(|error| Failure::usage(error).context(path.display().to_string()))
}

/// The bytes of such a file, or `None` if nothing is there.
pub(super) fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>, PublicFileError> {
    match read(path) {
        Err(PublicFileError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// The size of a file and when it was written last: if somebody writes it, they change.
pub(super) type Stamp = (u64, SystemTime);

/// The stamp of a file that is there.
pub(super) fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

/// Writes a file that is not there yet, and says whether it did. It appears whole or not at all, and never in the place of
/// another.
pub(super) fn write_new(path: &Path, contents: &[u8]) -> Result<bool, PublicFileError> {
    match file::write(path, Readers::Everybody, Existing::Refuse, contents) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(PublicFileError::Io { action: "write", path: path.to_owned(), source }),
    }
}

impl From<PublicFileError> for Failure {
    fn from(error: PublicFileError) -> Self {
        match error {
            PublicFileError::Io { .. } => Self::io(error),
            _ => Self::usage(error),
        }
    }
}

/// The size of the largest file of a ceremony in bytes: a deal to thousands of receivers has less than one million.
pub(super) const LARGEST: u64 = 16 << 20;
