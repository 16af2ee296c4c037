//! The Unix socket: only its owner may connect.

use std::{
    fs::{self, DirBuilder, File, Permissions, TryLockError},
    io,
    os::unix::{
        fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _},
        net::UnixStream,
    },
    path::{Path, PathBuf},
};

use tokio::net::UnixListener;

/// A listening socket of mode 0600, in a folder of mode 0700. Dropping it removes its file.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) listener: UnixListener,
    path: PathBuf,
    inode: u64,
    /// The folder, locked, so that two signers that start together do not remove each other's socket.
    _folder: File,
}

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SocketError {
    #[error("{}: another program listens on this socket; stop it, or name another with --socket", .0.display())]
    InUse(PathBuf),
    #[error("{}: found a file that is no socket; it is not removed; name another with --socket", .0.display())]
    NoSocket(PathBuf),
    #[error(
        "{}: found mode {mode:04o}, expected 0700, so that nobody else reaches the socket; run `chmod 700` on it, or \
         name a socket in another folder",
        path.display()
    )]
    FolderMode { path: PathBuf, mode: u32 },
    #[error("{}: the folder belongs to user {found}, not to user {expected} who runs this", path.display())]
    FolderOwner { path: PathBuf, found: u32, expected: u32 },
    #[error("{}: cannot make the socket", path.display())]
    System { path: PathBuf, source: io::Error },
}

impl Socket {
    /// Listens at a path. The folder is made if it is not there. A socket that a dead signer left behind is replaced.
    pub(crate) fn bind(path: &Path) -> Result<Self, SocketError> {
        let system = |source| SocketError::System { path: path.to_owned(), source };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(system)?;
        let metadata = fs::metadata(folder).map_err(system)?;
        let (mode, found) = (metadata.permissions().mode() & 0o777, metadata.uid());
        if mode != 0o700 {
            return Err(SocketError::FolderMode { path: folder.to_owned(), mode });
        }
        let expected = rustix::process::geteuid().as_raw();
        if found != expected {
            return Err(SocketError::FolderOwner { path: folder.to_owned(), found, expected });
        }
        let locked = File::open(folder).map_err(system)?;
        match locked.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(SocketError::InUse(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(system(source)),
        }
        match fs::symlink_metadata(path) {
            Ok(found) if !found.file_type().is_socket() => return Err(SocketError::NoSocket(path.to_owned())),
            Ok(_) => match UnixStream::connect(path) {
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    fs::remove_file(path).map_err(system)?;
                }
                // Whatever else the answer is, it is not that of a dead signer.
                _ => return Err(SocketError::InUse(path.to_owned())),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(system(error)),
        }
        // Nobody else can enter the folder, so nobody can connect before the mode is right.
        let listener = UnixListener::bind(path).map_err(system)?;
        fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(system)?;
        let inode = fs::symlink_metadata(path).map_err(system)?.ino();
        Ok(Self { listener, path: path.to_owned(), inode, _folder: locked })
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| found.ino() == self.inode) {
            // Nothing is lost if it stays: the next signer replaces it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("exists").permissions().mode() & 0o777
    }

    fn folder() -> TempDir {
        let mode = Permissions::from_mode(0o700);
        tempfile::Builder::new().permissions(mode).tempdir().expect("a temporary folder")
    }

    #[tokio::test]
    async fn a_socket_has_its_mode_and_vanishes() {
        let folder = folder();
        let path = folder.path().join("new").join("q");
        let socket = Socket::bind(&path).expect("binds");
        assert_eq!((mode(&path), mode(path.parent().expect("a folder"))), (0o600, 0o700));
        assert!(UnixStream::connect(&path).is_ok());
        drop(socket);
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn a_folder_that_others_can_enter() {
        let folder = folder();
        for bits in [0o755, 0o710, 0o701, 0o500, 0o770] {
            fs::set_permissions(folder.path(), Permissions::from_mode(bits)).expect("chmod");
            let error = Socket::bind(&folder.path().join("q"));
            assert!(matches!(error, Err(SocketError::FolderMode { mode, .. }) if mode == bits), "{bits:o}: {error:?}");
        }
        fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).expect("chmod");
    }

    #[tokio::test]
    async fn a_dead_signers_socket_is_replaced() {
        let folder = folder();
        let path = folder.path().join("q");
        drop(std::os::unix::net::UnixListener::bind(&path).expect("binds"));
        assert!(path.exists());
        let socket = Socket::bind(&path).expect("replaces");
        assert!(UnixStream::connect(&path).is_ok());
        drop(socket);
    }

    #[tokio::test]
    async fn a_live_signers_socket_is_an_error() {
        let folder = folder();
        let path = folder.path().join("q");
        let theirs = std::os::unix::net::UnixListener::bind(&path).expect("binds");
        assert!(matches!(Socket::bind(&path), Err(SocketError::InUse(_))));
        drop(theirs);
        let _ours = Socket::bind(&path).expect("replaces");
        assert!(matches!(Socket::bind(&path), Err(SocketError::InUse(_))));
        assert!(UnixStream::connect(&path).is_ok());
    }

    #[tokio::test]
    async fn another_kind_of_file_is_never_removed() {
        let folder = folder();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "precious").expect("writes");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        for path in [&file, &link] {
            assert!(matches!(Socket::bind(path), Err(SocketError::NoSocket(_))), "{path:?}");
        }
        assert_eq!(fs::read_to_string(&link).expect("reads"), "precious");
    }
}
