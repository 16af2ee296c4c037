//! Unix sockets: their mode, their folder, and what may stand at their path.

use std::{
    fs::{self, File, Permissions},
    io,
    os::unix::{
        fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _},
        net::{SocketAddr, UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
};

use tempfile::TempDir;

use crate::{
    exit::{Ends, Exit},
    file::{folder_of, make_private_folder},
    lock_file,
};

/// The file of a listening socket. Dropping it removes the file, unless another program has taken the path.
#[derive(Debug)]
pub struct SocketFile {
    path: PathBuf,
    inode: u64,
    /// Locked as long as the socket listens, so that two programs that start together do not remove each other's file.
    _lock: File,
}

/// Why a socket cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SocketError {
    /// Somebody listens there.
    #[error("{}: another program listens on this socket; stop it, or choose another path", .0.display())]
    InUse(PathBuf),
    /// A file that is not a socket. It is never removed.
    #[error("{}: found a file that is not a socket; remove it yourself if nothing needs it, or choose another path", .0.display())]
    NotASocket(PathBuf),
    /// Others can enter the folder that must be private.
    #[error(
        "{}: found mode {mode:04o}, expected 0700, so that nobody else reaches the socket; run `chmod 700` on it, or choose a path \
         in another folder",
        path.display()
    )]
    FolderMode {
        /// The folder.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The folder that must be private is somebody else's.
    #[error("{}: the folder belongs to user {found}, not to user {expected} who runs this", path.display())]
    FolderOwner {
        /// The folder.
        path: PathBuf,
        /// Whose it is.
        found: u32,
        /// Who runs the program.
        expected: u32,
    },
    /// The path is longer than the address of a socket can be, so no client could connect.
    #[error(
        "{}: the path has {} bytes, more than the path of a socket can have (107 on Linux, 103 on macOS); choose a shorter one",
        .0.display(), .0.as_os_str().len()
    )]
    TooLong(PathBuf),
    /// The system refuses.
    #[error("{}: cannot make the socket: {error}", .path.display())]
    System {
        /// The socket's file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
}

impl Ends for SocketError {
    fn exit(&self) -> Exit {
        match self {
            Self::InUse(_) => Exit::Negative,
            Self::System { .. } => Exit::Io,
            _ => Exit::Usage,
        }
    }
}

/// Listens at a path, where the socket has this mode. A socket that a dead program left behind is replaced. The listener does not
/// block: it is for `tokio::net::UnixListener::from_std`.
///
/// # Errors
/// [`SocketError`].
pub fn listen(path: &Path, mode: u32) -> Result<(UnixListener, SocketFile), SocketError> {
    let system = |error| SocketError::System { path: path.to_owned(), error };
    // The socket is made under a shorter name, so the system would see this one only when a client connects.
    SocketAddr::from_pathname(path).map_err(|_| SocketError::TooLong(path.to_owned()))?;
    let mut lock_name = path.as_os_str().to_owned();
    lock_name.push(".lock");
    let Some(lock) = lock_file(Path::new(&lock_name)).map_err(system)? else {
        return Err(SocketError::InUse(path.to_owned()));
    };
    match fs::symlink_metadata(path) {
        Ok(found) if !found.file_type().is_socket() => return Err(SocketError::NotASocket(path.to_owned())),
        Ok(_) => match UnixStream::connect(path) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path).map_err(system)?,
            // Whatever else the answer is, it is not that of a dead program.
            _ => return Err(SocketError::InUse(path.to_owned())),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(system(error)),
    }
    // The socket is there until its mode is right, because it is made with the mode of the umask.
    let private = private_folder_in(folder_of(path)).map_err(system)?;
    let made = private.path().join("s");
    let listener = UnixListener::bind(&made).map_err(system)?;
    listener.set_nonblocking(true).map_err(system)?;
    fs::set_permissions(&made, Permissions::from_mode(mode)).map_err(system)?;
    // A link fails where a rename would replace what has come in between.
    fs::hard_link(&made, path).map_err(system)?;
    let inode = fs::symlink_metadata(path).map_err(system)?.ino();
    Ok((listener, SocketFile { path: path.to_owned(), inode, _lock: lock }))
}

/// A new folder that only we may enter, with a short name.
fn private_folder_in(folder: &Path) -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".").rand_bytes(4).permissions(Permissions::from_mode(0o700)).tempdir_in(folder)
}

/// Makes the folder of a path if it is not there, and refuses one that others can enter.
///
/// # Errors
/// [`SocketError`].
pub fn make_private_folder_of(path: &Path) -> Result<(), SocketError> {
    let system = |error| SocketError::System { path: path.to_owned(), error };
    let folder = folder_of(path);
    make_private_folder(folder).map_err(system)?;
    let metadata = fs::metadata(folder).map_err(system)?;
    let (mode, found) = (metadata.permissions().mode() & 0o777, metadata.uid());
    if mode != 0o700 {
        return Err(SocketError::FolderMode { path: folder.to_owned(), mode });
    }
    let expected = rustix::process::geteuid().as_raw();
    if found != expected {
        return Err(SocketError::FolderOwner { path: folder.to_owned(), found, expected });
    }
    Ok(())
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| found.ino() == self.inode) {
            // Nothing is lost if it stays: the next program replaces it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use quorate_lab::run::{self, Run as _};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_socket_has_its_mode_and_vanishes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("q");
        for wanted in [0o600, 0o660] {
            let (_listener, socket) = listen(&path, wanted).unwrap();
            assert_eq!(mode(&path), wanted);
            assert!(UnixStream::connect(&path).is_ok());
            drop(socket);
            assert!(!path.exists());
        }
        let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["q.lock"]);
    }

    #[test]
    fn a_dead_servers_socket_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("q");
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        let (_listener, socket) = listen(&path, 0o600).unwrap();
        assert!(UnixStream::connect(&path).is_ok());
        drop(socket);
    }

    #[test]
    fn a_live_servers_socket_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("q");
        let _ours = listen(&path, 0o600).unwrap();
        assert!(matches!(listen(&path, 0o600), Err(SocketError::InUse(_))));
        let other = folder.path().join("other");
        let _theirs = UnixListener::bind(&other).unwrap();
        assert!(matches!(listen(&other, 0o600), Err(SocketError::InUse(_))));
        assert!(path.exists() && other.exists());
    }

    #[test]
    fn another_kind_of_file_is_never_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "precious").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        for path in [&file, &link, &folder.path().to_owned()] {
            assert!(matches!(listen(path, 0o600), Err(SocketError::NotASocket(_))), "{path:?}");
        }
        assert_eq!(fs::read_to_string(&link).unwrap(), "precious");
    }

    #[test]
    fn a_lock_that_is_a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (folder.path().join("q"), folder.path().join("elsewhere"));
        std::os::unix::fs::symlink(&elsewhere, folder.path().join("q.lock")).unwrap();
        let error = listen(&path, 0o600).unwrap_err().to_string();
        assert!(error.contains("q.lock: found a link"), "{error}");
        assert!(!elsewhere.exists() && !path.exists());
    }

    #[test]
    fn a_path_that_is_too_long_or_has_no_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        // The private name beside the first one is short enough.
        for path in [folder.path().join("x".repeat(200)), folder.path().join("none/q")] {
            let error = listen(&path, 0o600).unwrap_err();
            assert!(error.to_string().contains(&path.display().to_string()), "{error}");
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }

    /// In a process of its own, because all threads have one umask.
    #[test]
    fn nobody_enters_the_folder_of_a_socket_without_its_mode() {
        const ASKED: &str = "QUORATE_HOST_TEST_UMASK";
        if std::env::var_os(ASKED).is_none() {
            let name = "socket::tests::nobody_enters_the_folder_of_a_socket_without_its_mode";
            run::test(name).env(ASKED, "1").ran().exits(0);
            return;
        }
        rustix::process::umask(rustix::fs::Mode::empty());
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(mode(private_folder_in(folder.path()).unwrap().path()), 0o700);
    }

    #[test]
    fn a_folder_that_others_can_enter_is_not_private() {
        let folder = tempfile::tempdir().unwrap();
        for bits in [0o755, 0o710, 0o701, 0o500, 0o770] {
            fs::set_permissions(folder.path(), Permissions::from_mode(bits)).unwrap();
            let error = make_private_folder_of(&folder.path().join("q"));
            assert!(matches!(error, Err(SocketError::FolderMode { mode, .. }) if mode == bits), "{bits:o}: {error:?}");
        }
        fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
        let path = folder.path().join("new").join("q");
        make_private_folder_of(&path).unwrap();
        assert_eq!(mode(path.parent().unwrap()), 0o700);
    }
}
