//! Folders of key files, which appear whole or not at all.

use std::{
    ffi::OsStr,
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use tempfile::Builder;

use quorate_host::file::{flush_folder_of, folder_of};

use super::at_signal::Unfinished;

/// Why there is no new folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretFolderError {
    /// There is something in its place.
    #[error("{} exists already and is left as it is; name a folder that does not exist or is empty", path.display())]
    Exists {
        /// The folder, or what is there.
        path: PathBuf,
    },
    /// The path does not end with a name.
    #[error("{} does not name a new folder; give the path of a folder that does not exist or is empty", path.display())]
    Nameless {
        /// The path.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("cannot create {}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// Refuses a path at which [`create`] would make no folder, before the work for it is done.
///
/// # Errors
/// [`SecretFolderError::Exists`], [`SecretFolderError::Nameless`], [`SecretFolderError::Io`].
pub fn refuse_taken(path: &Path) -> Result<(), SecretFolderError> {
    if path.file_name().is_none() {
        return Err(SecretFolderError::Nameless { path: path.to_owned() });
    }
    let exists = || SecretFolderError::Exists { path: path.to_owned() };
    match fs::symlink_metadata(path) {
        Ok(metadata) if !metadata.is_dir() => Err(exists()),
        Ok(_) => {
            let mut entries = fs::read_dir(path).map_err(|source| io_error(path, source))?;
            entries.next().map_or(Ok(()), |_| Err(exists()))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(source) => Err(io_error(path, source)),
    }
}

/// Makes a folder that only its owner can enter, with the files that `fill` writes.
///
/// `fill` gets a hidden folder beside it, which gets the name `path` when all files are written. So on a full disk, and after
/// Ctrl-C, there is no folder with some of the files. An error removes the hidden folder, and so does a signal that ends the
/// program. After a SIGKILL it stays, named `.NAME.….tmp`, and contains secrets. An empty folder of this name is replaced. Folders above
/// it are not made.
///
/// # Errors
/// [`SecretFolderError`], and the errors of `fill`.
pub fn create<E: From<SecretFolderError>>(path: &Path, fill: impl FnOnce(&Path) -> Result<(), E>) -> Result<(), E> {
    refuse_taken(path)?;
    let name = path.file_name().ok_or_else(|| SecretFolderError::Nameless { path: path.to_owned() })?;
    let prefix = [OsStr::new("."), name, OsStr::new(".")].join(OsStr::new(""));
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    // In the same directory, so that renaming stays within one file system.
    let unfinished = builder.tempdir_in(folder_of(path)).map_err(|source| io_error(path, source))?;
    let at_signal = Unfinished::new(unfinished.path());
    let filled = fill(unfinished.path());
    at_signal.end(|| {
        filled?;
        // A folder that appeared meanwhile and has files is not replaced.
        fs::rename(unfinished.path(), path).map_err(|source| match source.kind() {
            ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
                SecretFolderError::Exists { path: path.to_owned() }
            }
            _ => io_error(path, source),
        })?;
        Ok::<_, E>(())
    })?;
    // There is nothing left to remove.
    let _ = unfinished.keep();
    // It is there whether or not the directory reached the disk, so a failure is not a reason to make it once more.
    let _ = flush_folder_of(path);
    Ok(())
}

fn io_error(path: &Path, source: io::Error) -> SecretFolderError {
    SecretFolderError::Io { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn names_in(folder: &Path) -> Vec<OsString> {
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name()).collect()
    }

    fn one_file(folder: &Path) -> Result<(), SecretFolderError> {
        fs::write(folder.join("file"), "secret").map_err(|source| io_error(folder, source))
    }

    #[test]
    fn a_folder_is_new_or_was_empty() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("shares");
        create(&path, one_file).expect("a new folder");
        assert_eq!((names_in(directory.path()), names_in(&path)), (vec!["shares".into()], vec!["file".into()]));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).expect("exists").permissions().mode() & 0o7777, 0o700);
        }
        let error = create(&path, one_file).expect_err("there is a file in it");
        assert!(matches!(error, SecretFolderError::Exists { .. }), "{error:?}");
        fs::remove_file(path.join("file")).expect("removes");
        create(&path, one_file).expect("it is empty");
        for taken in [path.join("file"), path.clone()] {
            assert!(matches!(refuse_taken(&taken), Err(SecretFolderError::Exists { .. })), "{taken:?}");
        }
        for nameless in ["", "..", "/"] {
            let error = refuse_taken(Path::new(nameless));
            assert!(matches!(error, Err(SecretFolderError::Nameless { .. })), "{nameless:?}");
        }
        let error = create(&directory.path().join("no/such"), one_file).expect_err("no folder above it");
        assert!(matches!(error, SecretFolderError::Io { .. }), "{error:?}");
    }

    #[test]
    fn a_full_disk_leaves_nothing() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("shares");
        let full_disk = |folder: &Path| {
            one_file(folder)?;
            Err(io_error(folder, ErrorKind::StorageFull.into()))
        };
        let error = create(&path, full_disk).expect_err("no space");
        assert!(matches!(error, SecretFolderError::Io { .. }), "{error:?}");
        assert!(names_in(directory.path()).is_empty());
    }

    #[test]
    fn a_folder_that_appears_meanwhile_is_left_alone() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("shares");
        let another_process = |folder: &Path| {
            fs::create_dir(&path).expect("another process makes it");
            fs::write(path.join("theirs"), "").expect("and fills it");
            one_file(folder)
        };
        let error = create(&path, another_process).expect_err("exists by now");
        assert!(matches!(error, SecretFolderError::Exists { .. }), "{error:?}");
        assert_eq!((names_in(directory.path()).len(), names_in(&path)), (1, vec!["theirs".into()]));
    }
}
