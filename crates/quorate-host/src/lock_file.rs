//! Files that say who uses a path: locked as long as a program runs, so that two that start together do not take each other's place.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    path::Path,
};

/// Opens a file and locks it, and makes it if there is none. `None` if another program has it locked.
///
/// Whoever may write the folder can make a file of this name first. A link there is not followed, so that nothing is made or locked
/// elsewhere; and what is not a regular file, such as a pipe, is refused and does not keep the caller waiting. But such a person can lock
/// the file, and so keep the program from starting: the folder must be the program's own.
///
/// # Errors
/// The system's, with the path.
pub fn lock_file(path: &Path) -> io::Result<Option<File>> {
    let file = open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(named(path, error)),
    }
}

fn named(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Opens the file, or makes it.
#[cfg(not(unix))]
pub(crate) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path).map_err(|error| named(path, error))
}

/// Opens the file, or makes it, without following a link.
#[cfg(unix)]
pub(crate) fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::OFlags;
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let opened = OpenOptions::new().create(true).append(true).mode(0o600).custom_flags(flags as i32).open(path);
    let file = opened.map_err(|error| {
        if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
            let reason = format!("{}: found a link in place of a lock file; remove it", path.display());
            return io::Error::new(io::ErrorKind::InvalidInput, reason);
        }
        named(path, error)
    })?;
    if !file.metadata().map_err(|error| named(path, error))?.is_file() {
        let reason = format!("{}: found no regular file in place of a lock file; remove it", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    Ok(file)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("quorate-host-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_file_is_locked_once() {
        let folder = folder("once");
        let path = folder.join("x.lock");
        let first = lock_file(&path).unwrap();
        assert!(first.is_some() && lock_file(&path).unwrap().is_none());
        drop(first);
        assert!(lock_file(&path).unwrap().is_some());
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_lock_file_that_is_a_link_is_refused() {
        let folder = folder("link");
        let (path, elsewhere) = (folder.join("x.lock"), folder.join("elsewhere"));
        symlink(&elsewhere, &path).unwrap();
        let error = lock_file(&path).unwrap_err().to_string();
        assert!(error.contains("found a link") && error.contains("x.lock"), "{error}");
        // Nothing was made where it points.
        assert!(!elsewhere.exists());
        std::fs::write(&elsewhere, "precious").unwrap();
        assert!(lock_file(&path).is_err());
        assert_eq!(std::fs::read(&elsewhere).unwrap(), b"precious");
        let error = lock_file(&folder).unwrap_err().to_string();
        assert!(error.contains("quorate-host-"), "{error}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
