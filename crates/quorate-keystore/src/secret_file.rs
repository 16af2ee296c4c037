//! Key files: readable by their owner alone, not overwritten by accident, and not left half-written.
//!
//! The modes are those of Unix. On other systems a file has the permissions that its directory gives it, and there is no warning.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

pub use quorate_host::file::Existing;
use quorate_host::{
    exit::{Ends, Exit},
    file::{self, FileError, NewFile, Readers, flush_folder_of},
    flush,
    other_users::{OtherReaders, OtherWriters, refuse_other_readers, refuse_other_writers},
};
use zeroize::Zeroizing;

/// Writes `contents` to `path` with mode 0600, and flushes the file and its directory to the disk.
///
/// The bytes go to a hidden file in the same directory, which is created with `O_EXCL` and gets the name `path` only when it is
/// whole. So `path` is never half-written, and with [`Existing::Replace`] the old file survives a full disk or Ctrl-C. On an
/// error the hidden file is removed. If the process is killed before, the hidden file stays, named `.NAME.….tmp`, and contains
/// the secret. Missing directories are not created.
///
/// # Errors
/// [`SecretFileError`]: the file exists, is not a regular file (a symbolic link or device is not
/// replaced), or the operating system refuses.
pub fn write(path: &Path, contents: &[u8], existing: Existing) -> Result<(), SecretFileError> {
    write_with(path, existing, |file| file.write_all(contents))
}

/// Writes `contents` in place of a file as [`write()`] does with [`Existing::Replace`], and overwrites with zeros what stood there. The
/// answer says why that failed, if it did: then the old bytes may still be on the disk, as after a crash before it.
///
/// The old file is open while the new one takes its name, and is overwritten when that name is on the disk, so that no crash loses both.
/// What is said of [`destroy`] is true here, too. On systems other than Unix nothing is overwritten.
///
/// # Errors
/// As of [`write()`].
pub fn replace(path: &Path, contents: &[u8]) -> Result<Option<io::Error>, SecretFileError> {
    refuse_irregular(path)?;
    let replaced = match File::options().write(true).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        opened => cfg!(unix).then_some(opened),
    };
    write(path, contents, Existing::Replace)?;
    Ok(replaced.and_then(|opened| opened.and_then(overwrite).err()))
}

/// Reads a key file of at most 64 KiB and checks its mode.
///
/// # Errors
/// [`SecretFileError`]: unreadable, or too large to be a key.
pub fn read(path: &Path) -> Result<SecretFile, SecretFileError> {
    let unreadable = |source| SecretFileError::io("read", path, source);
    let file = File::open(path).map_err(unreadable)?;
    let warning = mode_warning(path, &file);
    let contents = read_bounded(file).map_err(unreadable)?;
    let contents = contents.ok_or_else(|| SecretFileError::TooLarge { path: path.to_owned() })?;
    Ok(SecretFile { contents, warning })
}

/// Reads a file with secrets that this program wrote, of any size, and checks its mode.
///
/// # Errors
/// [`SecretFileError`]: unreadable, or not a regular file.
pub fn read_own(path: &Path) -> Result<SecretFile, SecretFileError> {
    let unreadable = |source| SecretFileError::io("read", path, source);
    let mut file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(SecretFileError::NotRegular { path: path.to_owned() });
    }
    let warning = mode_warning(path, &file);
    // All of it is reserved at once: see `read_bounded`.
    let length = usize::try_from(metadata.len()).map_err(|_| unreadable(ErrorKind::FileTooLarge.into()))?;
    let mut contents = Zeroizing::new(Vec::with_capacity(length + 1));
    file.read_to_end(&mut contents).map_err(unreadable)?;
    Ok(SecretFile { contents, warning })
}

/// Overwrites a file with zeros, flushes it, and deletes it.
///
/// A file system that never writes in place, flash memory, snapshots and backups can still hold what was in it.
///
/// # Errors
/// [`SecretFileError`]: not a regular file, which is left as it is, or the operating system refuses.
pub fn destroy(path: &Path) -> Result<(), SecretFileError> {
    let cannot = |source| SecretFileError::io("delete", path, source);
    if !fs::symlink_metadata(path).map_err(cannot)?.is_file() {
        return Err(SecretFileError::NotRegular { path: path.to_owned() });
    }
    let file = File::options().write(true).open(path).map_err(cannot)?;
    overwrite(file).map_err(cannot)?;
    fs::remove_file(path).map_err(cannot)?;
    flush_folder_of(path).map_err(cannot)
}

/// Writes zeros over all of a file, and flushes it.
fn overwrite(mut file: File) -> io::Result<()> {
    let length = file.metadata()?.len();
    io::copy(&mut io::repeat(0).take(length), &mut file)?;
    flush(&file)
}

/// Reads a key of at most 64 KiB from a stream, such as standard input; `None` if there is more.
///
/// # Errors
/// Those of `reader`.
pub fn read_bounded(reader: impl Read) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
    // One byte more than allowed tells a full file from one that is too large. All of it is reserved at once, because a vector
    // that grows leaves a copy of the beginning behind, which is not wiped.
    let mut contents = Zeroizing::new(Vec::with_capacity(MAX_SIZE + 1));
    reader.take(MAX_SIZE as u64 + 1).read_to_end(&mut contents)?;
    Ok((contents.len() <= MAX_SIZE).then_some(contents))
}

/// A key file's bytes, which are wiped when dropped, and a warning for the user.
pub struct SecretFile {
    /// The bytes.
    pub contents: Zeroizing<Vec<u8>>,
    /// Set if others than the program's user and root can use the file.
    pub warning: Option<ModeWarning>,
}

impl fmt::Debug for SecretFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretFile").field("warning", &self.warning).finish_non_exhaustive()
    }
}

/// A file with a secret that others than the program's user and root can use.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModeWarning {
    /// Its permission bits let others than its owner read, write or execute it.
    Mode {
        /// The file.
        path: PathBuf,
        /// The bits.
        mode: u32,
    },
    /// It belongs to another user.
    Owner {
        /// The file.
        path: PathBuf,
        /// The owner.
        owner: u32,
        /// The user of this program.
        user: u32,
    },
}

impl fmt::Display for ModeWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mode { path, mode } => {
                let path = path.display();
                write!(f, "{path} has mode {mode:04o}: others than its owner can use it; chmod 600 {path}")
            }
            Self::Owner { path, owner, user } => {
                let path = path.display();
                write!(
                    f,
                    "{path} belongs to the user {owner}, who can use it, and this program runs as {user}; use a copy of your own"
                )
            }
        }
    }
}

/// Why a key file was not written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretFileError {
    /// The file exists, and was not to be replaced.
    #[error("{} exists already and is left as it is; use --force to replace it", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A link, directory or device would not be replaced in the way that the user expects.
    #[error("{} is not a regular file, so it is neither read nor replaced; name another file", path.display())]
    NotRegular {
        /// A symbolic link, directory or device.
        path: PathBuf,
    },
    /// More than any key needs.
    #[error("{} has more than {MAX_SIZE} bytes, which is too much for a key file; name another file", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The file is written whole, but a power failure may still undo that.
    #[error("{} is written, but its directory could not be flushed to the disk, so a power failure may undo it", path.display())]
    NotDurable {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// The operating system refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// A verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

impl Ends for SecretFileError {
    fn exit(&self) -> Exit {
        match self {
            Self::Io { source, .. } | Self::NotDurable { source, .. } => source.exit(),
            Self::Exists { .. } | Self::NotRegular { .. } | Self::TooLarge { .. } => Exit::Usage,
        }
    }
}

impl SecretFileError {
    fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), source }
    }
}

/// Warns when others than the program's user and root can use an open regular file. The group of a file of root's may read it:
/// see [`refuse_other_readers`].
///
/// Other files, such as pipes, have no warning, because their modes do not say who can read them.
pub fn mode_warning(path: &Path, file: &File) -> Option<ModeWarning> {
    let found = file.metadata().ok().filter(fs::Metadata::is_file)?;
    let path = path.to_owned();
    if let Err(OtherWriters::Owner { found: owner, user }) = refuse_other_writers(&found) {
        return Some(ModeWarning::Owner { path, owner, user });
    }
    // Bits that let others write are refused here too.
    let OtherReaders { mode } = refuse_other_readers(&found).err()?;
    Some(ModeWarning::Mode { path, mode })
}

/// Like [`write`], but `fill` writes the content.
fn write_with(
    path: &Path,
    existing: Existing,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), SecretFileError> {
    match existing {
        Existing::Refuse if fs::symlink_metadata(path).is_ok() => {
            return Err(SecretFileError::Exists { path: path.to_owned() });
        }
        Existing::Refuse => {}
        Existing::Replace => refuse_irregular(path)?,
    }
    let create = |source| SecretFileError::io("create", path, source);
    let mut unfinished = NewFile::begin(path, Readers::Owner).map_err(create)?;
    fill(unfinished.file()).map_err(|source| SecretFileError::io("write", path, source))?;
    unfinished.place(existing).map_err(|source| match (existing, source.kind()) {
        (Existing::Refuse, ErrorKind::AlreadyExists) => SecretFileError::Exists { path: path.to_owned() },
        (Existing::Refuse, _) => create(source),
        (Existing::Replace, _) => SecretFileError::io("replace", path, source),
    })?;
    make_durable(path)
}

/// Flushes the folder of a path, which has the file's new name.
fn make_durable(path: &Path) -> Result<(), SecretFileError> {
    flush_folder_of(path).map_err(|source| SecretFileError::NotDurable { path: path.to_owned(), source })
}

/// Refuses everything but a regular file: renaming over a link would replace the link and leave its target as it is.
fn refuse_irregular(path: &Path) -> Result<(), SecretFileError> {
    file::refuse_irregular(path).map_err(|refused| match refused {
        FileError::Io { source, .. } => SecretFileError::io("replace", path, source),
        _ => SecretFileError::NotRegular { path: path.to_owned() },
    })
}

/// The size of the largest key file in bytes. Keystores have about 1 KiB.
const MAX_SIZE: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use tempfile::TempDir;

    use super::*;

    fn directory() -> TempDir {
        tempfile::tempdir().expect("a temporary directory")
    }

    fn names_in(directory: &TempDir) -> Vec<OsString> {
        let entries = fs::read_dir(directory.path()).expect("a directory");
        entries.map(|entry| entry.expect("an entry").file_name()).collect()
    }

    /// Whoever holds the file by another name finds zeros. What is not a regular file stays as it is.
    #[cfg(unix)]
    #[test]
    fn a_file_is_overwritten_before_it_is_deleted() {
        let folder = directory();
        let path = |name: &str| folder.path().join(name);
        for contents in [vec![7; 100_000], Vec::new()] {
            write(&path("secret"), &contents, Existing::Refuse).expect("writes");
            fs::hard_link(path("secret"), path("other")).expect("a second name");
            std::os::unix::fs::symlink(path("secret"), path("link")).expect("a link");
            for none in [path("link"), folder.path().to_owned()] {
                assert!(matches!(destroy(&none), Err(SecretFileError::NotRegular { .. })), "{none:?}");
            }
            assert_eq!(fs::read(path("secret")).expect("reads"), contents);
            destroy(&path("secret")).expect("deletes");
            assert!(!path("secret").exists());
            assert_eq!(fs::read(path("other")).expect("reads"), vec![0; contents.len()]);
            fs::remove_file(path("other")).expect("removes");
            fs::remove_file(path("link")).expect("removes");
        }
        assert!(matches!(destroy(&path("secret")), Err(SecretFileError::Io { action: "delete", .. })));
    }

    /// Whoever holds the old file by another name finds zeros, and the new one is whole.
    #[cfg(unix)]
    #[test]
    fn what_is_replaced_is_overwritten() {
        let folder = directory();
        let path = |name: &str| folder.path().join(name);
        assert!(replace(&path("secret"), b"first").expect("writes").is_none());
        fs::hard_link(path("secret"), path("other")).expect("a second name");
        assert!(replace(&path("secret"), b"the second").expect("writes").is_none());
        assert_eq!(fs::read(path("secret")).expect("reads"), b"the second");
        assert_eq!(fs::read(path("other")).expect("reads"), [0; 5]);
        std::os::unix::fs::symlink(path("secret"), path("link")).expect("a link");
        assert!(matches!(replace(&path("link"), b"third"), Err(SecretFileError::NotRegular { .. })));
        assert_eq!(fs::read(path("secret")).expect("reads"), b"the second");
    }

    #[test]
    fn written_and_read() {
        let directory = directory();
        let path = directory.path().join("key");
        for existing in [Existing::Refuse, Existing::Replace] {
            write(&path, b"secret", existing).expect("writes");
            let file = read(&path).expect("reads");
            assert_eq!(file.contents.as_slice(), b"secret");
            assert_eq!(file.warning, None);
            assert_eq!(names_in(&directory), ["key"]);
        }
    }

    /// The private state of a ceremony is larger than any key file.
    #[test]
    fn own_files_may_be_large() {
        let directory = directory();
        let path = directory.path().join("state");
        let contents = vec![7; MAX_SIZE + 1];
        write(&path, &contents, Existing::Refuse).expect("writes");
        assert!(matches!(read(&path), Err(SecretFileError::TooLarge { .. })));
        let file = read_own(&path).expect("reads");
        assert_eq!((file.contents.as_slice(), file.warning), (contents.as_slice(), None));
        let error = read_own(directory.path()).expect_err("a directory");
        assert!(matches!(error, SecretFileError::NotRegular { .. }), "{error:?}");
    }

    #[test]
    fn an_existing_file_is_left_alone() {
        let directory = directory();
        let path = directory.path().join("key");
        write(&path, b"old", Existing::Refuse).expect("writes");
        let error = write(&path, b"new", Existing::Refuse).expect_err("exists");
        assert!(matches!(error, SecretFileError::Exists { .. }), "{error:?}");
        assert!(error.to_string().contains("--force"), "{error}");
        assert_eq!(fs::read(&path).expect("reads"), b"old");
    }

    #[test]
    fn replacing_puts_the_new_file_in_place() {
        let directory = directory();
        let path = directory.path().join("key");
        write(&path, b"a longer old secret", Existing::Replace).expect("nothing there yet");
        write(&path, b"new", Existing::Replace).expect("replaces");
        assert_eq!(fs::read(&path).expect("reads"), b"new");
        assert_eq!(names_in(&directory), ["key"]);
    }

    #[test]
    fn a_full_disk_leaves_what_was_there_and_nothing_else() {
        let directory = directory();
        let path = directory.path().join("key");
        let full_disk = |file: &mut File| {
            file.write_all(b"sec")?;
            Err(ErrorKind::StorageFull.into())
        };
        let failed = write_with(&path, Existing::Refuse, full_disk);
        assert!(matches!(failed, Err(SecretFileError::Io { action: "write", .. })), "{failed:?}");
        assert!(names_in(&directory).is_empty());

        write(&path, b"old", Existing::Refuse).expect("writes");
        let failed = write_with(&path, Existing::Replace, full_disk);
        assert!(matches!(failed, Err(SecretFileError::Io { action: "write", .. })), "{failed:?}");
        assert_eq!(fs::read(&path).expect("reads"), b"old");
        assert_eq!(names_in(&directory), ["key"]);
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_left_alone() {
        let directory = directory();
        let path = directory.path().join("key");
        let another_process = |file: &mut File| {
            fs::write(&path, b"theirs")?;
            file.write_all(b"ours")
        };
        let error = write_with(&path, Existing::Refuse, another_process).expect_err("exists by now");
        assert!(matches!(error, SecretFileError::Exists { .. }), "{error:?}");
        assert_eq!(fs::read(&path).expect("reads"), b"theirs");
        assert_eq!(names_in(&directory), ["key"]);
    }

    #[test]
    fn a_path_without_a_name_is_refused() {
        for nameless in ["", "..", "/"] {
            assert!(write(Path::new(nameless), b"secret", Existing::Refuse).is_err(), "{nameless:?}");
        }
    }

    #[test]
    fn directories_are_not_replaced_and_not_created() {
        let directory = directory();
        let error = write(directory.path(), b"new", Existing::Replace).expect_err("a directory");
        assert!(matches!(error, SecretFileError::NotRegular { .. }), "{error:?}");
        let path = directory.path().join("absent").join("key");
        for existing in [Existing::Refuse, Existing::Replace] {
            let error = write(&path, b"new", existing).expect_err("no directory");
            assert!(matches!(error, SecretFileError::Io { action: "create", .. }), "{error:?}");
        }
    }

    #[test]
    fn a_file_too_large_to_be_a_key() {
        let directory = directory();
        let path = directory.path().join("key");
        fs::write(&path, vec![b'a'; MAX_SIZE]).expect("writes");
        assert_eq!(read(&path).expect("just fits").contents.len(), MAX_SIZE);
        fs::write(&path, vec![b'a'; MAX_SIZE + 1]).expect("writes");
        assert!(matches!(read(&path), Err(SecretFileError::TooLarge { .. })));
    }

    #[test]
    fn absent_files_are_named() {
        let error = read(Path::new("/nonexistent/key")).expect_err("no such file");
        assert_eq!(error.to_string(), "cannot read /nonexistent/key");
    }

    #[test]
    fn debug_is_redacted() {
        let contents = Zeroizing::new(b"secret".to_vec());
        let text = format!("{:?}", SecretFile { contents, warning: None });
        assert_eq!(text, "SecretFile { warning: None, .. }");
    }

    #[cfg(unix)]
    mod modes {
        use std::os::unix::fs::{PermissionsExt, symlink};

        use super::*;

        fn mode(path: &Path) -> u32 {
            fs::metadata(path).expect("exists").permissions().mode() & 0o7777
        }

        #[test]
        fn files_are_for_their_owner_alone() {
            let directory = directory();
            let path = directory.path().join("key");
            write(&path, b"secret", Existing::Refuse).expect("writes");
            assert_eq!(mode(&path), 0o600);
            // A file that replaces another has its own mode.
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("chmod");
            write(&path, b"secret", Existing::Replace).expect("replaces");
            assert_eq!(mode(&path), 0o600);
        }

        /// The file has its mode from the first byte on.
        #[test]
        fn an_unfinished_file_is_for_its_owner_alone() {
            let directory = directory();
            let path = directory.path().join("key");
            let look = |file: &mut File| {
                assert_eq!(file.metadata()?.permissions().mode() & 0o7777, 0o600);
                let names = names_in(&directory);
                assert!(names.iter().any(|name| name.to_string_lossy().starts_with(".key.")), "{names:?}");
                Ok(())
            };
            write_with(&path, Existing::Refuse, look).expect("writes");
        }

        #[test]
        fn what_others_can_use_is_reported() {
            let directory = directory();
            let path = directory.path().join("key");
            write(&path, b"secret", Existing::Refuse).expect("writes");
            for bits in [0o644, 0o640, 0o604, 0o620, 0o602, 0o601, 0o660] {
                fs::set_permissions(&path, fs::Permissions::from_mode(bits)).expect("chmod");
                let warning = read(&path).expect("reads").warning.expect("a warning");
                assert_eq!(warning, ModeWarning::Mode { path: path.clone(), mode: bits });
                assert!(warning.to_string().contains(&format!("{bits:04o}")), "{warning}");
            }
            for bits in [0o600, 0o400, 0o700] {
                fs::set_permissions(&path, fs::Permissions::from_mode(bits)).expect("chmod");
                assert_eq!(read(&path).expect("reads").warning, None);
            }
        }

        #[test]
        fn links_are_not_followed_when_writing() {
            let directory = directory();
            let (target, link) = (directory.path().join("target"), directory.path().join("link"));
            fs::write(&target, "old").expect("writes");
            for target in [target.as_path(), Path::new("/nonexistent/key")] {
                symlink(target, &link).expect("a link");
                let error = write(&link, b"new", Existing::Refuse).expect_err("a link");
                assert!(matches!(error, SecretFileError::Exists { .. }), "{error:?}");
                let error = write(&link, b"new", Existing::Replace).expect_err("a link");
                assert!(matches!(error, SecretFileError::NotRegular { .. }), "{error:?}");
                fs::remove_file(&link).expect("removes");
            }
            assert_eq!(fs::read(&target).expect("reads"), b"old");
        }
    }
}
