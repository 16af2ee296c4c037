//! Unix sockets: their mode, and what may stand at their path.

use std::{
    fs::{self, File, Permissions},
    io,
    os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
};

use quorate_host::lock_file;
use thiserror::Error;
use tokio::net::UnixListener;

/// A listening Unix socket. Dropping it removes its file, unless another server has taken the path.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) listener: UnixListener,
    path: PathBuf,
    inode: u64,
    /// Locked as long as the socket listens, so that two servers that start together do not remove each other's file.
    _lock: File,
}

/// Why a socket cannot be made.
#[derive(Debug, Error)]
pub(crate) enum SocketError {
    /// Somebody listens there.
    #[error("{}: another program listens on this socket; stop it, or choose another path", .0.display())]
    InUse(PathBuf),
    /// A file that is not a socket. It is never removed.
    #[error("{}: found a file that is no socket; remove it yourself if nothing needs it, or choose another path", .0.display())]
    NoSocket(PathBuf),
    /// The system refuses.
    #[error("{}: cannot make the socket: {error}", .path.display())]
    System {
        /// The socket's file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
}

impl Socket {
    /// Listens at a path. A socket that a dead server left behind is replaced.
    pub(crate) fn bind(path: &Path, mode: u32) -> Result<Self, SocketError> {
        let system = |error| SocketError::System { path: path.to_owned(), error };
        let mut lock_name = path.as_os_str().to_owned();
        lock_name.push(".lock");
        let Some(lock) = lock_file(Path::new(&lock_name)).map_err(system)? else {
            return Err(SocketError::InUse(path.to_owned()));
        };
        match fs::symlink_metadata(path) {
            Ok(found) if !found.file_type().is_socket() => return Err(SocketError::NoSocket(path.to_owned())),
            Ok(_) => match UnixStream::connect(path) {
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    fs::remove_file(path).map_err(system)?
                }
                // Whatever else the answer is, it is not that of a dead server.
                _ => return Err(SocketError::InUse(path.to_owned())),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(system(error)),
        }
        // In a folder that only we may enter until the mode is right, because a socket is made with the mode of the umask.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let private = tempfile::Builder::new().prefix(".").rand_bytes(4).tempdir_in(folder).map_err(system)?;
        let made = private.path().join("s");
        let listener = UnixListener::bind(&made).map_err(system)?;
        fs::set_permissions(&made, Permissions::from_mode(mode)).map_err(system)?;
        // A link fails where a rename would replace what has come in between.
        fs::hard_link(&made, path).map_err(system)?;
        let inode = fs::symlink_metadata(path).map_err(system)?.ino();
        Ok(Self { listener, path: path.to_owned(), inode, _lock: lock })
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| found.ino() == self.inode) {
            // Nothing is lost if it stays: the next server replaces it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[tokio::test]
    async fn a_socket_has_its_mode_and_vanishes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("q");
        for wanted in [0o600, 0o660] {
            let socket = Socket::bind(&path, wanted).unwrap();
            assert_eq!(mode(&path), wanted);
            assert!(UnixStream::connect(&path).is_ok());
            drop(socket);
            assert!(!path.exists());
        }
        let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["q.lock"]);
    }

    #[tokio::test]
    async fn a_dead_servers_socket_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("q");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let socket = Socket::bind(&path, 0o600).unwrap();
        assert!(UnixStream::connect(&path).is_ok());
        drop(socket);
    }

    #[tokio::test]
    async fn a_live_servers_socket_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("q");
        let _ours = Socket::bind(&path, 0o600).unwrap();
        assert!(matches!(Socket::bind(&path, 0o600), Err(SocketError::InUse(_))));
        let other = folder.path().join("other");
        let _theirs = std::os::unix::net::UnixListener::bind(&other).unwrap();
        assert!(matches!(Socket::bind(&other, 0o600), Err(SocketError::InUse(_))));
        assert!(path.exists() && other.exists());
    }

    #[tokio::test]
    async fn another_kind_of_file_is_never_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "precious").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        for path in [&file, &link, &folder.path().to_owned()] {
            assert!(matches!(Socket::bind(path, 0o600), Err(SocketError::NoSocket(_))), "{path:?}");
        }
        assert_eq!(fs::read_to_string(&link).unwrap(), "precious");
    }

    #[tokio::test]
    async fn a_lock_that_is_a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (folder.path().join("q"), folder.path().join("elsewhere"));
        std::os::unix::fs::symlink(&elsewhere, folder.path().join("q.lock")).unwrap();
        let error = Socket::bind(&path, 0o600).unwrap_err().to_string();
        assert!(error.contains("q.lock: found a link"), "{error}");
        assert!(!elsewhere.exists() && !path.exists());
    }

    #[tokio::test]
    async fn a_path_that_is_too_long_or_has_no_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().join("x".repeat(200)), folder.path().join("none/q")] {
            let error = Socket::bind(&path, 0o600);
            // The first is short enough for the private name, and fails at nothing: it is linked under its long name.
            if let Err(error) = error {
                assert!(error.to_string().contains(&path.display().to_string()), "{error}");
            }
        }
    }
}
