//! Key files: for their owner alone, never overwritten by accident, never left half-written.
//!
//! Modes are those of Unix; elsewhere a file gets what its directory hands down, and nothing warns.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

/// What to do with a file that is already there. Exhaustive: there is no third answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// Leave it alone and fail.
    Refuse,
    /// Put the new file in its place, at once and whole.
    Replace,
}

/// Writes `contents` to `path` with mode 0600 and flushes file and directory to the disk.
///
/// [`Overwrite::Refuse`] creates the file with `O_EXCL`; on an error what was begun is removed, but
/// a process killed in that instant may leave a part of it.
/// [`Overwrite::Replace`] writes a sibling and renames it over the old file, which therefore
/// survives a full disk or Ctrl-C. Missing directories are not created.
///
/// # Errors
/// [`SecretFileError`]: the file exists, is not a regular file (a symbolic link or device is not
/// replaced), or the operating system refuses.
pub fn write(path: &Path, contents: &[u8], overwrite: Overwrite) -> Result<(), SecretFileError> {
    match overwrite {
        Overwrite::Refuse => create(path, contents)?.keep(),
        Overwrite::Replace => {
            refuse_irregular(path)?;
            let sibling = sibling_of(path)?;
            let unfinished = create(&sibling, contents)?;
            fs::rename(&sibling, path).map_err(|source| SecretFileError::io("replace", path, source))?;
            unfinished.keep();
        }
    }
    sync_directory_of(path)
}

/// Reads a key file of at most 64 KiB and looks at its mode.
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

/// Reads a key of at most 64 KiB from a stream, such as standard input; `None` if there is more.
///
/// # Errors
/// Those of `reader`.
pub fn read_bounded(reader: impl Read) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
    // One byte more than allowed, to tell "full" from "too large". All of it reserved at once:
    // growing would leave the beginning behind, unwiped.
    let mut contents = Zeroizing::new(Vec::with_capacity(MAX_SIZE + 1));
    reader.take(MAX_SIZE as u64 + 1).read_to_end(&mut contents)?;
    Ok((contents.len() <= MAX_SIZE).then_some(contents))
}

/// A key file's bytes, wiped when dropped, and what its user should be told.
pub struct SecretFile {
    /// The bytes.
    pub contents: Zeroizing<Vec<u8>>,
    /// Others than the owner can use the file.
    pub warning: Option<ModeWarning>,
}

impl fmt::Debug for SecretFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretFile").field("warning", &self.warning).finish_non_exhaustive()
    }
}

/// A file with a secret that others than its owner can read, write or execute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModeWarning {
    /// The file.
    pub path: PathBuf,
    /// Its permission bits.
    pub mode: u32,
}

impl fmt::Display for ModeWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, mode } = self;
        let path = path.display();
        write!(f, "{path} has mode {mode:04o}: others than its owner can use it; chmod 600 {path}")
    }
}

/// Why a key file was not written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretFileError {
    /// There is a file, and it was not to be replaced.
    #[error("{} exists and is left alone; --force replaces it", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Replacing it would not do what its owner thinks.
    #[error("{} is not a regular file, and is not replaced", path.display())]
    NotRegular {
        /// A symbolic link, directory or device.
        path: PathBuf,
    },
    /// More than any key needs.
    #[error("{} is larger than {MAX_SIZE} bytes: not a key file", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The file is there and whole, but a power failure may undo that.
    #[error("{} is written, but its directory could not be flushed to the disk", path.display())]
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

impl SecretFileError {
    fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), source }
    }
}

/// Warns when group or others have any permission on an open regular file.
///
/// Pipes and the like pass: their modes say nothing about who can read them.
pub(crate) fn mode_warning(path: &Path, file: &File) -> Option<ModeWarning> {
    let metadata = file.metadata().ok().filter(fs::Metadata::is_file)?;
    let mode = permission_bits(&metadata)?;
    (mode & 0o077 != 0).then(|| ModeWarning { path: path.to_owned(), mode })
}

/// Creates `path` and fills it. Until [`Unfinished::keep`] is called, the file goes with the guard.
fn create<'a>(path: &'a Path, contents: &[u8]) -> Result<Unfinished<'a>, SecretFileError> {
    create_with(path, |file| {
        file.write_all(contents)?;
        file.sync_all()
    })
}

fn create_with(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> Result<Unfinished<'_>, SecretFileError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    for_owner_alone(&mut options);
    let mut file = options.open(path).map_err(|source| match source.kind() {
        ErrorKind::AlreadyExists => SecretFileError::Exists { path: path.to_owned() },
        _ => SecretFileError::io("create", path, source),
    })?;
    let unfinished = Unfinished(Some(path));
    fill(&mut file).map_err(|source| SecretFileError::io("write", path, source))?;
    Ok(unfinished)
}

/// A file of ours that is not to stay unless all goes well.
#[must_use]
struct Unfinished<'a>(Option<&'a Path>);

impl Unfinished<'_> {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if let Some(path) = self.0 {
            // Nothing more can be done, and the error that led here is the one to report.
            let _ = fs::remove_file(path);
        }
    }
}

/// Renaming over a link would replace the link and leave its target; over a device, worse.
fn refuse_irregular(path: &Path) -> Result<(), SecretFileError> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(()),
        Ok(_) => Err(SecretFileError::NotRegular { path: path.to_owned() }),
        Err(source) if source.kind() == ErrorKind::NotFound => Ok(()),
        Err(source) => Err(SecretFileError::io("replace", path, source)),
    }
}

/// A hidden name in the same directory, so that renaming stays within one file system.
fn sibling_of(path: &Path) -> Result<PathBuf, SecretFileError> {
    let replace = |source| SecretFileError::io("replace", path, source);
    let name = path.file_name().ok_or_else(|| replace(ErrorKind::InvalidInput.into()))?;
    let random = getrandom::u64().map_err(|error| replace(io::Error::other(error)))?;
    let mut sibling = OsString::from(".");
    sibling.push(name);
    sibling.push(format!(".{random:016x}.tmp"));
    Ok(path.with_file_name(sibling))
}

#[cfg(unix)]
fn for_owner_alone(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(not(unix))]
fn for_owner_alone(_: &mut OpenOptions) {}

#[cfg(unix)]
fn permission_bits(metadata: &fs::Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(metadata.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn permission_bits(_: &fs::Metadata) -> Option<u32> {
    None
}

/// A new name lives in the directory, which is flushed on its own.
#[cfg(unix)]
fn sync_directory_of(path: &Path) -> Result<(), SecretFileError> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))
        .and_then(|directory| directory.sync_all())
        .map_err(|source| SecretFileError::NotDurable { path: path.to_owned(), source })
}

#[cfg(not(unix))]
fn sync_directory_of(_: &Path) -> Result<(), SecretFileError> {
    Ok(())
}

/// Bytes in the largest key file; keystores take about 1 KiB.
const MAX_SIZE: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn directory() -> TempDir {
        tempfile::tempdir().expect("a temporary directory")
    }

    fn names_in(directory: &TempDir) -> Vec<OsString> {
        let entries = fs::read_dir(directory.path()).expect("a directory");
        entries.map(|entry| entry.expect("an entry").file_name()).collect()
    }

    #[test]
    fn written_and_read() {
        let directory = directory();
        let path = directory.path().join("key");
        for overwrite in [Overwrite::Refuse, Overwrite::Replace] {
            write(&path, b"secret", overwrite).expect("writes");
            let file = read(&path).expect("reads");
            assert_eq!(file.contents.as_slice(), b"secret");
            assert_eq!(file.warning, None);
            assert_eq!(names_in(&directory), ["key"]);
        }
    }

    #[test]
    fn an_existing_file_is_left_alone() {
        let directory = directory();
        let path = directory.path().join("key");
        write(&path, b"old", Overwrite::Refuse).expect("writes");
        let error = write(&path, b"new", Overwrite::Refuse).expect_err("exists");
        assert!(matches!(error, SecretFileError::Exists { .. }), "{error:?}");
        assert!(error.to_string().contains("--force"), "{error}");
        assert_eq!(fs::read(&path).expect("reads"), b"old");
    }

    #[test]
    fn replacing_puts_the_new_file_in_place() {
        let directory = directory();
        let path = directory.path().join("key");
        write(&path, b"a longer old secret", Overwrite::Replace).expect("nothing there yet");
        write(&path, b"new", Overwrite::Replace).expect("replaces");
        assert_eq!(fs::read(&path).expect("reads"), b"new");
        assert_eq!(names_in(&directory), ["key"]);
    }

    #[test]
    fn a_half_written_file_is_removed() {
        let directory = directory();
        let path = directory.path().join("key");
        let full_disk = |file: &mut File| {
            file.write_all(b"sec")?;
            Err(ErrorKind::StorageFull.into())
        };
        assert!(matches!(create_with(&path, full_disk), Err(SecretFileError::Io { .. })));
        assert!(names_in(&directory).is_empty());
    }

    #[test]
    fn a_failed_replacement_leaves_the_old_file_and_no_sibling() {
        let directory = directory();
        let path = directory.path().join("key");
        write(&path, b"old", Overwrite::Refuse).expect("writes");
        let sibling = sibling_of(&path).expect("a name");
        drop(create(&sibling, b"new").expect("creates"));
        assert_eq!(fs::read(&path).expect("reads"), b"old");
        assert_eq!(names_in(&directory), ["key"]);
    }

    #[test]
    fn directories_are_not_replaced_and_not_created() {
        let directory = directory();
        let error = write(directory.path(), b"new", Overwrite::Replace).expect_err("a directory");
        assert!(matches!(error, SecretFileError::NotRegular { .. }), "{error:?}");
        let path = directory.path().join("absent").join("key");
        for overwrite in [Overwrite::Refuse, Overwrite::Replace] {
            let error = write(&path, b"new", overwrite).expect_err("no directory");
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
            write(&path, b"secret", Overwrite::Refuse).expect("writes");
            assert_eq!(mode(&path), 0o600);
            // The new file's mode counts, not that of the one it replaces.
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("chmod");
            write(&path, b"secret", Overwrite::Replace).expect("replaces");
            assert_eq!(mode(&path), 0o600);
        }

        #[test]
        fn what_others_can_use_is_reported() {
            let directory = directory();
            let path = directory.path().join("key");
            write(&path, b"secret", Overwrite::Refuse).expect("writes");
            for bits in [0o644, 0o640, 0o604, 0o620, 0o602, 0o601, 0o660] {
                fs::set_permissions(&path, fs::Permissions::from_mode(bits)).expect("chmod");
                let warning = read(&path).expect("reads").warning.expect("a warning");
                assert_eq!(warning, ModeWarning { path: path.clone(), mode: bits });
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
                let error = write(&link, b"new", Overwrite::Refuse).expect_err("a link");
                assert!(matches!(error, SecretFileError::Exists { .. }), "{error:?}");
                let error = write(&link, b"new", Overwrite::Replace).expect_err("a link");
                assert!(matches!(error, SecretFileError::NotRegular { .. }), "{error:?}");
                fs::remove_file(&link).expect("removes");
            }
            assert_eq!(fs::read(&target).expect("reads"), b"old");
        }
    }
}
