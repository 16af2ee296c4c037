//! Files that survive a kill at any moment: new ones appear whole or not at all, others are replaced whole or appended to. They
//! are on the disk before the call returns.
//!
//! | what is written | by |
//! |---|---|
//! | a file that appears whole | [`write()`], or [`NewFile`] where it is written bit by bit |
//! | a state that this process alone replaces again and again | [`WholeFile`] |
//! | a record that grows | [`AppendedFile`] |
//! | a file that something else has made beside its place | [`put_in_place`] |
//! | the folder of such files | [`make_private_folder`] |
//!
//! Whoever opens a file again to which lines were appended must tell three endings apart: a *whole* line, of which at most the line
//! end is missing; a *torn* line, which is the beginning of one; and anything else, which is *damage*. To take one for another
//! loses what was written down. [`KeyRecord`](crate::key_record::KeyRecord) does so for records of keys.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, ErrorKind, Read, Write},
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use tempfile::{Builder, NamedTempFile};

use crate::{
    exit::{Ends, Exit, as_io},
    flush, lock_file,
    other_users::{OtherReaders, OtherWriters, refuse_other_readers, refuse_other_writers},
};

/// Why a file of ours was not read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// Another process has it open.
    #[error("{} is used by another process; stop that one, or name another file", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// More bytes than it may have.
    #[error("{} has more than {limit} bytes, the limit; name another file", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit.
        limit: u64,
    },
    /// It is a pipe, a folder, a device, or something else from which a state is not read, and in whose place no file is put.
    #[error("{} is no regular file, so it is neither read nor replaced; name another one", path.display())]
    NotRegular {
        /// The path.
        path: PathBuf,
    },
    /// It is a link. A file would be put in its place, and what it leads to would stay as it is.
    #[error("{} is a link, which would be replaced and not followed; put the file itself in its place", path.display())]
    Linked {
        /// The path.
        path: PathBuf,
    },
    /// Others could have written it.
    #[error("{}: {why}", path.display())]
    Writers {
        /// The file.
        path: PathBuf,
        /// Who.
        why: OtherWriters,
    },
    /// Others could have read it.
    #[error("{}: {why}", path.display())]
    Readers {
        /// The file.
        path: PathBuf,
        /// Who.
        why: OtherReaders,
    },
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// A verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

impl FileError {
    /// The same for a caller that names the file itself.
    fn into_io(self) -> io::Error {
        match self {
            Self::Io { source, .. } => source,
            refused => as_io(refused),
        }
    }
}

impl Ends for FileError {
    fn exit(&self) -> Exit {
        match self {
            Self::Locked { .. } => Exit::Negative,
            Self::TooLarge { .. }
            | Self::NotRegular { .. }
            | Self::Linked { .. }
            | Self::Writers { .. }
            | Self::Readers { .. } => Exit::Usage,
            Self::Io { source, .. } => source.exit(),
        }
    }
}

/// Who may read a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Its owner: mode 0600.
    Owner,
    /// Whom the process's umask lets: mode 0666 without it.
    Everybody,
}

#[cfg(unix)]
impl Readers {
    fn mode(self) -> u32 {
        match self {
            Self::Owner => 0o600,
            Self::Everybody => 0o666,
        }
    }
}

/// What becomes of a file that has the name of a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It stays as it is, and the new one is refused: [`ErrorKind::AlreadyExists`].
    Refuse,
    /// The new one takes its place, if it is a regular file: see [`refuse_irregular`].
    Replace,
}

/// A file that gets its name when all of it is on the disk. Until then it is a hidden file beside its place, `.NAME.….tmp`, which
/// vanishes when this is dropped. Only a kill leaves it there.
#[derive(Debug)]
pub struct NewFile {
    path: PathBuf,
    file: NamedTempFile,
}

impl NewFile {
    /// Begins a file.
    ///
    /// # Errors
    /// The path ends without a name, or the operating system refuses.
    pub fn begin(path: &Path, readers: Readers) -> io::Result<Self> {
        let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
        let prefix = [OsStr::new("."), name, OsStr::new(".")].join(OsStr::new(""));
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(UNFINISHED);
        #[cfg(not(unix))]
        let _ = readers;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, readers.mode());
        // An error of `tempfile_in` has lost its number, and names a file of which nobody has heard.
        Ok(Self { path: path.to_owned(), file: builder.make_in(folder_of(path), |hidden| options.open(hidden))? })
    }

    /// The file, to write to.
    pub fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Gives the file its name, when all of it is on the disk. The name is on the disk too once this returns.
    ///
    /// # Errors
    /// There is a file that stays, or something that is no file, or the operating system refuses. Then nothing is left of the new one,
    /// unless only the flush of the folder failed.
    pub fn finish(self, existing: Existing) -> io::Result<()> {
        let path = self.path.clone();
        self.place(existing)?;
        flush_folder_of(&path)
    }

    /// [`finish`](Self::finish) without its last step: all of the file is on the disk, and its name once [`flush_folder_of`] returns.
    ///
    /// # Errors
    /// As of [`finish`](Self::finish). Nothing is left of the new file.
    pub fn place(self, existing: Existing) -> io::Result<()> {
        let Self { path, file } = self;
        flush(file.as_file())?;
        let placed = match existing {
            Existing::Refuse => file.persist_noclobber(&path),
            Existing::Replace => {
                refuse_irregular(&path).map_err(FileError::into_io)?;
                file.persist(&path)
            }
        };
        placed.map(drop).map_err(|refused| refused.error)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file().flush()
    }
}

/// How the names of files end that a kill has left unfinished. They begin with a full stop.
const UNFINISHED: &str = ".tmp";

/// The name that a file would have got which a kill may have left unfinished: `state.json` of `.state.json.AbCdEf.tmp`. `None` of any other
/// file. A process that still runs may write it, so whoever removes it has to know that the file is of no use to that one either.
pub fn unfinished_of(name: &OsStr) -> Option<&str> {
    let (finished, random) = name.to_str()?.strip_prefix('.')?.strip_suffix(UNFINISHED)?.rsplit_once('.')?;
    (!finished.is_empty() && !random.is_empty()).then_some(finished)
}

/// Writes a file that appears whole, and on the disk, or not at all.
///
/// # Errors
/// As of [`NewFile`].
pub fn write(path: &Path, readers: Readers, existing: Existing, contents: &[u8]) -> io::Result<()> {
    let mut file = NewFile::begin(path, readers)?;
    file.write_all(contents)?;
    file.finish(existing)
}

/// Refuses a path in whose place no file is put: what is there is no regular file. A device or a pipe would be gone for all who use it, and
/// of a link, what it leads to would stay as it was. A path where nothing is passes.
///
/// # Errors
/// [`FileError::Linked`], [`FileError::NotRegular`], or the operating system refuses.
pub fn refuse_irregular(path: &Path) -> Result<(), FileError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => Ok(()),
        Ok(found) if found.is_symlink() => Err(FileError::Linked { path: path.to_owned() }),
        Ok(_) => Err(FileError::NotRegular { path: path.to_owned() }),
        Err(source) if source.kind() == ErrorKind::NotFound => Ok(()),
        Err(source) => Err(FileError::Io { action: "replace", path: path.to_owned(), source }),
    }
}

/// Gives a file that is whole and on the disk the name of another one in its folder, and returns when the name is on the disk.
///
/// # Errors
/// What has the name is no regular file, or the operating system refuses.
pub fn put_in_place(whole: &Path, path: &Path) -> io::Result<()> {
    refuse_irregular(path).map_err(FileError::into_io)?;
    fs::rename(whole, path)?;
    flush_folder_of(path)
}

/// Makes a folder of mode 0700, and those above it, where they are not there. Their names are on the disk when this returns, so that
/// what is written into it later survives. The mode of a folder that is there stays as it is.
///
/// # Errors
/// The operating system refuses.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    let absent = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let made: Vec<&Path> = folder.ancestors().take_while(absent).collect();
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)?;
    if made.is_empty() {
        // Whoever made it may have been killed before its flush. The folder above it need not be ours to open.
        let _ = flush_folder_of(folder);
    }
    made.into_iter().try_for_each(flush_folder_of)
}

/// The folder in which a path's last name stands; `.` for a name alone.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What happens to a file, in this order. Tests stop between any two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The new file is made beside the old one.
    Create,
    /// It is written.
    Write,
    /// It is flushed to the disk.
    Flush,
    /// It gets the name of the old one.
    Rename,
    /// The folder is flushed to the disk.
    FlushFolder,
}

/// Called before each step. An error stands for one of the step itself.
pub type Before = Box<dyn FnMut(Step) -> io::Result<()> + Send>;

fn nothing_before() -> Before {
    Box::new(|_| Ok(()))
}

/// Flushes the folder in which a file's name stands.
fn flush_name(path: &Path, before: &mut Before) -> Result<(), FileError> {
    before(Step::FlushFolder).and_then(|()| flush_folder_of(path)).map_err(|source| FileError::Io {
        action: "flush the folder of",
        path: path.to_owned(),
        source,
    })
}

/// A file that is replaced as a whole. A lock file beside it, `NAME.lock`, is held while this lives.
pub struct WholeFile {
    path: PathBuf,
    before: Before,
    _lock: File,
}

impl std::fmt::Debug for WholeFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WholeFile").field("path", &self.path).finish_non_exhaustive()
    }
}

impl WholeFile {
    /// Locks the file, and reads it if it is there. What is read is on the disk, also if the process that wrote it was killed before
    /// it had flushed the folder.
    ///
    /// # Errors
    /// [`FileError`]: another process uses it, it has more than `limit` bytes, it is a link, or the operating system refuses.
    pub fn open(path: &Path, limit: u64) -> Result<(Self, Option<Vec<u8>>), FileError> {
        Self::open_with(path, limit, nothing_before())
    }

    fn open_with(path: &Path, limit: u64, mut before: Before) -> Result<(Self, Option<Vec<u8>>), FileError> {
        let lock_path = beside(path, ".lock");
        let lock = lock_file::open(&lock_path).map_err(|source| FileError::Io {
            action: "open",
            path: lock_path.clone(),
            source,
        })?;
        lock_alone(&lock, path)?;
        let contents = read_if_there(path, limit)?;
        if contents.is_some() {
            flush_name(path, &mut before)?;
        }
        Ok((Self { path: path.to_owned(), before, _lock: lock }, contents))
    }

    /// Replaces the file: it is the old one or the new one at any moment, and the new one once this returns. After an error the next
    /// call begins anew, so a disk that was full and has room again is written.
    ///
    /// # Errors
    /// [`FileError::Io`].
    pub fn replace(&mut self, contents: &[u8]) -> Result<(), FileError> {
        let Self { path, before, .. } = self;
        // The lock makes this name ours. A file that a killed process left there is removed, and a link is not followed.
        let unfinished = beside(path, ".new");
        let fail = |action, path: &Path| {
            let path = path.to_owned();
            move |source| FileError::Io { action, path, source }
        };
        let made = before(Step::Create).and_then(|()| match fs::remove_file(&unfinished) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => OpenOptions::new().write(true).create_new(true).open(&unfinished),
        });
        let mut file = made.map_err(fail("create", &unfinished))?;
        let written = before(Step::Write)
            .and_then(|()| file.write_all(contents))
            .and_then(|()| before(Step::Flush))
            .and_then(|()| flush(&file));
        let renamed = written.map_err(fail("write", &unfinished)).and_then(|()| {
            before(Step::Rename).and_then(|()| fs::rename(&unfinished, &*path)).map_err(fail("replace", path))
        });
        if renamed.is_err() {
            // What is left of it is removed at the next call, if not now.
            let _ = fs::remove_file(&unfinished);
        }
        renamed?;
        flush_name(path, before)
    }

    /// Runs `before` in front of each step. Only tests set it: they make full disks and sudden ends.
    pub fn interrupt(&mut self, before: Before) {
        self.before = before;
    }
}

/// A file to which lines are appended. It is locked itself while this lives.
pub struct AppendedFile {
    path: PathBuf,
    file: File,
    /// Bytes that are known to be on the disk.
    length: u64,
    before: Before,
}

impl std::fmt::Debug for AppendedFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AppendedFile").field("path", &self.path).finish_non_exhaustive()
    }
}

impl AppendedFile {
    /// Opens a file that is there, and reads it. What is read is on the disk, also if the process that wrote it was killed before it
    /// had flushed it.
    ///
    /// # Errors
    /// [`FileError`]: another process uses it, it has more than `limit` bytes, or the operating system refuses.
    pub fn open(path: &Path, limit: u64) -> Result<(Self, Vec<u8>), FileError> {
        Self::open_with(path, limit, nothing_before())
    }

    fn open_with(path: &Path, limit: u64, mut before: Before) -> Result<(Self, Vec<u8>), FileError> {
        let fail = |action| move |source| FileError::Io { action, path: path.to_owned(), source };
        let file = open_regular(OpenOptions::new().read(true).append(true), path)?;
        lock_alone(&file, path)?;
        let contents = read_bounded(file.try_clone().map_err(fail("read"))?, path, limit)?;
        let length = contents.len() as u64;
        before(Step::Flush).and_then(|()| flush(&file)).map_err(fail("flush"))?;
        flush_name(path, &mut before)?;
        Ok((Self { path: path.to_owned(), file, length, before }, contents))
    }

    /// Begins a file that is not there, with its first bytes. If they cannot be written, there is no file afterwards.
    ///
    /// # Errors
    /// [`FileError::Io`]; its source is of the kind [`ErrorKind::AlreadyExists`] if the file is there.
    pub fn create(path: &Path, first: &[u8]) -> Result<Self, FileError> {
        let fail = |action| move |source| FileError::Io { action, path: path.to_owned(), source };
        let file = OpenOptions::new().create_new(true).read(true).append(true).open(path).map_err(fail("create"))?;
        let begin = || {
            lock_alone(&file, path)?;
            let mut this = Self { path: path.to_owned(), file, length: 0, before: nothing_before() };
            this.append(first)?;
            // Its name must survive before anything else is written under it.
            flush_name(path, &mut this.before)?;
            Ok(this)
        };
        begin().inspect_err(|_: &FileError| {
            // It was made here a moment ago, and nothing stands in it.
            let _ = fs::remove_file(path);
        })
    }

    /// Appends, and returns when the bytes are on the disk. If that fails, what was written of them is cut off again.
    ///
    /// # Errors
    /// [`FileError::Io`].
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        let Self { path, file, length, before } = self;
        let written = before(Step::Write).and_then(|()| file.write_all(bytes));
        let appended = written.and_then(|()| before(Step::Flush)).and_then(|()| flush(file));
        appended.map_err(|source| {
            // If this fails too, whoever opens the file next finds the line torn or whole, which only forbids more.
            let _ = file.set_len(*length);
            FileError::Io { action: "append to", path: path.clone(), source }
        })?;
        *length += bytes.len() as u64;
        Ok(())
    }

    /// Runs `before` in front of each step. Only tests set it: they make full disks and sudden ends.
    pub fn interrupt(&mut self, before: Before) {
        self.before = before;
    }
}

/// Locks a file for this program alone.
fn lock_alone(file: &File, path: &Path) -> Result<(), FileError> {
    let locked = once_free(|| file.try_lock(), |error| matches!(error, TryLockError::WouldBlock));
    locked.map_err(|error| match error {
        TryLockError::WouldBlock => FileError::Locked { path: path.to_owned() },
        TryLockError::Error(source) => FileError::Io { action: "lock", path: path.to_owned(), source },
    })
}

/// Asks for something that is locked, until it is there or five seconds are over. `is_held` says whether an error means that another
/// one has the lock.
///
/// A program that starts another one gives it a copy of its open files for a moment, and so of their locks. A lock that was just
/// given up can therefore seem to be held: on a busy machine for as long as that other one is not run.
///
/// # Errors
/// The last error of `ask`.
pub fn once_free<T, E>(mut ask: impl FnMut() -> Result<T, E>, is_held: impl Fn(&E) -> bool) -> Result<T, E> {
    let mut tries = 0;
    loop {
        match ask() {
            Err(error) if is_held(&error) && tries < LOCK_TRIES => thread::sleep(LOCK_PAUSE),
            answer => return answer,
        }
        tries += 1;
    }
}

const LOCK_TRIES: u32 = 500;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The longest document that is held in memory as a whole: 64 MiB.
pub const LARGEST_DOCUMENT: u64 = 64 << 20;

/// Reads a file of at most `limit` bytes.
///
/// # Errors
/// [`FileError`]: it has more, or the operating system refuses.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let file = File::open(path).map_err(|source| FileError::Io { action: "open", path: path.to_owned(), source })?;
    read_bounded(file, path, limit)
}

/// Reads a file that the program keeps for itself, and replaces; `None` if there is none.
///
/// # Errors
/// [`FileError`]: it has more than `limit` bytes, it is a link, also one that leads nowhere, or no regular file, or the operating system
/// refuses.
pub fn read_if_there(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, FileError> {
    if path.is_symlink() {
        return Err(FileError::Linked { path: path.to_owned() });
    }
    match open_regular(OpenOptions::new().read(true), path) {
        Err(FileError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(None),
        opened => read_bounded(opened?, path, limit).map(Some),
    }
}

/// Opens a file that the program keeps for itself. A pipe in its place is refused, and keeps nobody waiting for its other end.
fn open_regular(options: &mut OpenOptions, path: &Path) -> Result<File, FileError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    }
    let fail = |action| move |source| FileError::Io { action, path: path.to_owned(), source };
    let file = options.open(path).map_err(fail("open"))?;
    if file.metadata().map_err(fail("read"))?.is_file() {
        Ok(file)
    } else {
        Err(FileError::NotRegular { path: path.to_owned() })
    }
}

/// Reads at most `limit` bytes of what is open. Errors name the path.
pub(crate) fn read_bounded(file: impl Read, path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    read_onto(Vec::new(), file, path, limit)
}

fn read_onto(mut contents: Vec<u8>, file: impl Read, path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let read = file.take(limit + 1).read_to_end(&mut contents);
    read.map_err(|source| FileError::Io { action: "read", path: path.to_owned(), source })?;
    if contents.len() as u64 > limit {
        return Err(FileError::TooLarge { path: path.to_owned(), limit });
    }
    Ok(contents)
}

/// Reads a file of at most `limit` bytes that nobody else may read or write. The bytes are in memory once, so that a caller who wipes
/// them leaves none. A user names the file, and it may be a pipe.
///
/// # Errors
/// [`FileError`]: others may, it has more bytes, or the operating system refuses.
pub fn read_secret(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let file = File::open(path).map_err(|source| FileError::Io { action: "open", path: path.to_owned(), source })?;
    read_secret_of(file, path, limit)
}

/// The same of a file that the program keeps for itself.
///
/// # Errors
/// As of [`read_secret`], or it is no regular file.
pub fn read_own_secret(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    read_secret_of(open_regular(OpenOptions::new().read(true), path)?, path, limit)
}

fn read_secret_of(file: File, path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let io = |action| move |source| FileError::Io { action, path: path.to_owned(), source };
    let found = file.metadata().map_err(io("read"))?;
    let path = || path.to_owned();
    refuse_other_writers(&found).map_err(|why| FileError::Writers { path: path(), why })?;
    refuse_other_readers(&found).map_err(|why| FileError::Readers { path: path(), why })?;
    // A vector that grows leaves a copy of its beginning behind. One byte more shows the end.
    let room = usize::try_from(found.len().min(limit)).unwrap_or(0) + 1;
    read_onto(Vec::with_capacity(room), file, &path(), limit)
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Flushes the folder in which a path's last name stands, so that the name is on the disk.
///
/// # Errors
/// The operating system refuses.
#[cfg(unix)]
pub fn flush_folder_of(path: &Path) -> io::Result<()> {
    flush(&File::open(folder_of(path))?)
}

/// Flushes nothing: only Unix opens folders.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn flush_folder_of(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The start of another program was waited for for less than half a second, and took longer on a busy machine.
    #[test]
    fn what_is_locked_is_asked_for_until_it_is_free() {
        let mut asked = 0;
        let ask = || {
            asked += 1;
            if asked < 100 { Err("held") } else { Ok(asked) }
        };
        assert_eq!(once_free(ask, |error| *error == "held"), Ok(100));
        assert_eq!(once_free(|| Err::<(), _>("broken"), |error| *error == "held"), Err("broken"));
    }

    #[test]
    fn a_file_appears_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.json");
        let mut unfinished = NewFile::begin(&path, Readers::Everybody).unwrap();
        unfinished.write_all(b"half").unwrap();
        let found = names(folder.path());
        assert!(found.len() == 1 && unfinished_of(OsStr::new(&found[0])) == Some("state.json"), "{found:?}");
        drop(unfinished);
        assert_eq!(names(folder.path()), [""; 0]);
        write(&path, Readers::Everybody, Existing::Refuse, b"one").unwrap();
        let kept = write(&path, Readers::Everybody, Existing::Refuse, b"two").unwrap_err();
        assert_eq!((kept.kind(), fs::read(&path).unwrap()), (ErrorKind::AlreadyExists, b"one".to_vec()));
        write(&path, Readers::Everybody, Existing::Replace, b"two").unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"two".to_vec(), vec!["state.json".to_owned()]));
        for other in ["state.json", "notes.tmp", ".notes.tmp", ".state.json.AbCdEf", "..a.tmp", ".a..tmp"] {
            assert_eq!(unfinished_of(OsStr::new(other)), None, "{other}");
        }
    }

    /// The process that wrote a file was killed before its flush. The next one reads the bytes from memory, and must not act on them
    /// before they are on the disk.
    #[test]
    fn what_is_found_is_flushed_before_it_is_believed() {
        use std::sync::{Arc, Mutex};

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let steps = Arc::new(Mutex::new(Vec::new()));
        let noted = || -> Before {
            let steps = Arc::clone(&steps);
            Box::new(move |step| {
                steps.lock().unwrap().push(step);
                Ok(())
            })
        };
        let failing_at = |failing| -> Before {
            Box::new(move |step| if step == failing { Err(ErrorKind::StorageFull.into()) } else { Ok(()) })
        };
        assert_eq!(WholeFile::open_with(&path, 9, noted()).unwrap().1, None);
        assert!(steps.lock().unwrap().is_empty());

        fs::write(&path, b"found").unwrap();
        assert_eq!(WholeFile::open_with(&path, 9, noted()).unwrap().1.unwrap(), b"found");
        assert_eq!(steps.lock().unwrap().split_off(0), [Step::FlushFolder]);
        WholeFile::open_with(&path, 9, failing_at(Step::FlushFolder)).unwrap_err();

        assert_eq!(AppendedFile::open_with(&path, 9, noted()).unwrap().1, b"found");
        assert_eq!(*steps.lock().unwrap(), [Step::Flush, Step::FlushFolder]);
        for step in [Step::Flush, Step::FlushFolder] {
            AppendedFile::open_with(&path, 9, failing_at(step)).unwrap_err();
        }
    }

    /// A name alone stands in the folder in which the process runs; an empty path is not a place.
    #[test]
    fn a_path_without_a_folder() {
        assert_eq!(folder_of(Path::new("key")), Path::new("."));
        assert_eq!(folder_of(Path::new("keys/key")), Path::new("keys"));
        flush_folder_of(Path::new("key")).unwrap();
        assert_eq!(NewFile::begin(Path::new("keys/.."), Readers::Owner).unwrap_err().kind(), ErrorKind::InvalidInput);
    }

    #[cfg(unix)]
    #[test]
    fn a_secret_that_others_may_read_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), b"secret").unwrap();
        for (mode, refused) in [(0o600, false), (0o400, false), (0o640, true), (0o604, true), (0o620, true)] {
            fs::set_permissions(file.path(), fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(read_secret(file.path(), 6).is_err(), refused, "{mode:o}");
        }
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o600)).unwrap();
        assert!(matches!(read_secret(file.path(), 5), Err(FileError::TooLarge { .. })));
    }

    /// Nobody writes to it: whoever opened it would wait for ever.
    #[cfg(unix)]
    #[test]
    fn a_pipe_is_no_secret_of_a_state_folder() {
        use quorate_lab::run::{Run as _, shell};
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("token");
        shell("mkfifo -m 600 \"$0\"").arg(&pipe).ran().exits(0);
        let errors = [
            read_own_secret(&pipe, 9).map(drop),
            read_own_secret(folder.path(), 9).map(drop),
            read_if_there(&pipe, 9).map(drop),
            WholeFile::open(&pipe, 9).map(drop),
            AppendedFile::open(&pipe, 9).map(drop),
        ];
        for opened in errors {
            let error = opened.unwrap_err();
            assert!(matches!(error, FileError::NotRegular { .. }) && error.exit() == Exit::Usage, "{error}");
        }
        assert!(read_if_there(&folder.path().join("none"), 9).unwrap().is_none());
    }

    /// The state would stay behind where the link leads, as it was, and the link would be a file.
    #[cfg(unix)]
    #[test]
    fn a_link_is_no_state() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        for contents in [None, Some(b"state")] {
            contents.into_iter().for_each(|contents| fs::write(&target, contents).unwrap());
            for opened in [read_if_there(&link, 9).map(drop), WholeFile::open(&link, 9).map(drop)] {
                let error = opened.unwrap_err();
                assert!(matches!(error, FileError::Linked { .. }) && error.exit() == Exit::Usage, "{error}");
            }
        }
        assert!(read_if_there(&target, 9).unwrap().is_some());
    }

    #[cfg(unix)]
    #[test]
    fn who_may_read_a_new_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let mode = |readers| {
            let path = folder.path().join("file");
            write(&path, readers, Existing::Replace, b"").unwrap();
            fs::metadata(&path).unwrap().permissions().mode() & 0o777
        };
        assert_eq!(mode(Readers::Owner), 0o600);
        // What the umask of this process leaves.
        let umask_leaves = {
            let path = folder.path().join("usual");
            fs::write(&path, b"").unwrap();
            fs::metadata(&path).unwrap().permissions().mode() & 0o777
        };
        assert_eq!(mode(Readers::Everybody), umask_leaves);
    }

    #[cfg(unix)]
    #[test]
    fn a_private_folder_and_those_above_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("deep/data");
        for _ in 0..2 {
            make_private_folder(&folder).unwrap();
            for made in [&folder, folder_of(&folder)] {
                assert_eq!(fs::metadata(made).unwrap().permissions().mode() & 0o777, 0o700);
            }
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o750)).unwrap();
        make_private_folder(&folder).unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o750, "it is refused elsewhere");
        fs::write(above.path().join("file"), b"").unwrap();
        make_private_folder(&above.path().join("file/data")).unwrap_err();
    }

    /// Whoever reads what a link leads to would go on with the old file, and a device that is replaced is gone for all programs.
    #[cfg(unix)]
    #[test]
    fn nothing_but_a_regular_file_is_replaced() {
        use crate::exit::Failure;
        use quorate_lab::run::{Run as _, shell};

        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("target"), b"precious").unwrap();
        std::os::unix::fs::symlink(at("target"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("none"), at("nowhere")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        shell("mkfifo \"$0\"").arg(at("pipe")).ran().exits(0);
        fs::create_dir(at("folder")).unwrap();
        let before = names(folder.path());
        for (name, expected) in [
            ("link", "is a link"),
            ("nowhere", "is a link"),
            ("socket", "is no regular file"),
            ("pipe", "is no regular file"),
            ("folder", "is no regular file"),
        ] {
            let kind = fs::symlink_metadata(at(name)).unwrap().file_type();
            write(&at(name), Readers::Owner, Existing::Refuse, b"new").unwrap_err();
            let error = write(&at(name), Readers::Owner, Existing::Replace, b"new").unwrap_err();
            assert!(error.kind() == ErrorKind::InvalidInput && error.to_string().contains(expected), "{error}");
            assert_eq!(error.exit(), Exit::Usage);
            let failure = Failure::io(anyhow::Error::new(error).context("cannot write")).context("the plan");
            assert_eq!(failure.exit, Exit::Usage, "however many say what they did");
            fs::write(at("whole"), b"new").unwrap();
            assert!(put_in_place(&at("whole"), &at(name)).unwrap_err().to_string().contains(expected));
            fs::remove_file(at("whole")).unwrap();
            assert_eq!(fs::symlink_metadata(at(name)).unwrap().file_type(), kind);
        }
        assert_eq!((fs::read(at("target")).unwrap(), names(folder.path())), (b"precious".to_vec(), before));
    }

    /// The hidden file beside it has a name of which its reader never heard, and without the number nobody can tell the reasons apart.
    #[test]
    fn an_error_has_its_number_and_no_hidden_name() {
        let folder = tempfile::tempdir().unwrap();
        let error = write(&folder.path().join("none/file"), Readers::Owner, Existing::Replace, b"").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.raw_os_error().is_some() && !error.to_string().contains(".tmp"), "{error}");
    }
}
