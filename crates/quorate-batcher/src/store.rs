//! Verified statements on disk, so that a node that restarts does not start from nothing.
//!
//! The store is a cache, and a dangerous one: a record that nobody verified would make false claims pass, because known
//! statements are subtracted. So it fails closed.
//!
//! - Every record carries a MAC (HMAC-SHA256, 128 bits of it) under a key that lies in a file of its own, which only its
//!   owner can read. A record whose MAC is wrong is not there.
//! - A record is found by the MAC of its statement, so that the file shows nobody which statements it has.
//! - A record says how sound the verification was. For whoever asks for more it is not there.
//! - A record that is older than the age limit, or that comes from the future, is not there, and makes room for the next ones. So a
//!   clock that jumps only makes the store forget.
//! - A store that does not open is set aside under another name, the caller is told, and an empty one takes its place.
//!   The same happens if the key is not the one that the store was written with, or if others could have read it.
//!
//! A statement that was true once is true for ever, so an old copy of the store does no harm.
//!
//! ```
//! use quorate::{ClaimBytes, MinPk, SecretKey, Suite};
//! use quorate_batcher::{KnownStore, StoreSettings};
//! # let folder = tempfile::tempdir()?;
//! # let secret = SecretKey::key_gen(MinPk::Eth2, &[1; 32], b"")?;
//! # let (key, signature) = (secret.public_key().to_bytes(), secret.sign(MinPk::Eth2, b"a").to_bytes());
//! let verified = ClaimBytes::single(MinPk::Eth2.any(), &key, b"a", &signature);
//! let (store, _) = KnownStore::open(folder.path(), StoreSettings::default())?;
//! let now = 1_790_000_000; // Unix time
//! store.put(std::slice::from_ref(&verified), now)?;
//! drop(store);
//!
//! let (store, _) = KnownStore::open(folder.path(), StoreSettings::default())?;
//! assert_eq!(store.signature(&verified, 0, now)?, Some(verified.signature));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod records;

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError, RwLock},
};

use quorate::{ClaimBytes, Soundness};
use quorate_host::{
    contained,
    file::{self, Existing, Readers, make_private_folder, once_free, put_in_place},
    other_users::refuse_other_writers,
    unix_seconds,
};
use rand::{TryRng as _, rngs::SysRng};
use redb::{Database, DatabaseError, StorageError};

use self::records::Records;
pub use self::records::StoreSettings;
pub(crate) use self::records::is_storable;

/// Verified statements with their signatures, in a folder.
///
/// If writing fails, as it does on a full disk, or reading, as it does from a damaged file, the database can no longer be used, and the
/// store is closed: nothing is known from it until it is [opened again](Self::reopen).
#[derive(Debug)]
pub struct KnownStore {
    folder: PathBuf,
    settings: StoreSettings,
    soundness: Soundness,
    disk: Box<dyn Disk>,
    records: RwLock<Option<Records>>,
    /// Held while it is opened again.
    opening: Mutex<()>,
}

/// Where databases are: a test puts one in its place that is full.
trait Disk: fmt::Debug + Send + Sync {
    fn open(&self, path: &Path) -> Result<Database, DatabaseError>;
    fn create(&self, path: &Path) -> Result<Database, DatabaseError>;
}

/// The machine's file system.
#[derive(Debug)]
struct FileSystem;

impl Disk for FileSystem {
    fn open(&self, path: &Path) -> Result<Database, DatabaseError> {
        Database::builder().set_check_integrity_on_open(true).open(path)
    }

    fn create(&self, path: &Path) -> Result<Database, DatabaseError> {
        Database::create(path)
    }
}

/// What was found in the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenedStore {
    /// Nothing. The store is new.
    New,
    /// A store.
    Existing {
        /// How many records it has, those that are too old included.
        records: u64,
    },
    /// A store that could not be used. It was set aside, and an empty one has taken its place.
    SetAside {
        /// Where it is now.
        to: PathBuf,
        /// Why it could not be used.
        why: String,
    },
}

/// A store cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process has it open, and has not closed it within five seconds.
    #[error("{}: another process has this store open; give each process a folder of its own", .0.display())]
    InUse(PathBuf),
    /// A file or folder cannot be read or written.
    #[error("{}: {}", path.display(), error)]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// Others may write the folder, and so put a key and records of theirs in its place.
    #[error("{}: {why}; known statements make claims pass, so the folder must be its user's alone: chmod 700 it", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Who may.
        why: String,
    },
    /// Writing or reading failed before, and the store was not opened again since.
    #[error("the store of known statements is closed, because it could not be written or read")]
    Closed,
    /// The database reports an error, such as a full disk or a damaged file.
    #[error("the store of known statements: {0}")]
    Database(String),
}

/// In the folder.
const DATABASE: &str = "known.redb";
const KEY: &str = "known.key";

impl KnownStore {
    /// Statements with longer messages are not stored.
    pub const LONGEST_MESSAGE: usize = records::LONGEST_MESSAGE;

    /// Opens the store in a folder, or makes one. A store that cannot be used is set aside.
    ///
    /// # Errors
    /// [`StoreError`] if another process has it open, if the folder cannot be written, or if others may write it.
    pub fn open(folder: &Path, settings: StoreSettings) -> Result<(Self, OpenedStore), StoreError> {
        Self::open_on(Box::new(FileSystem), folder, settings)
    }

    fn open_on(disk: Box<dyn Disk>, folder: &Path, settings: StoreSettings) -> Result<(Self, OpenedStore), StoreError> {
        make_private_folder(folder).map_err(|error| StoreError::File { path: folder.to_owned(), error })?;
        let this = Self {
            folder: folder.to_owned(),
            settings,
            soundness: Soundness::default(),
            disk,
            records: RwLock::new(None),
            opening: Mutex::new(()),
        };
        let opened = this.reopen()?;
        Ok((this, opened))
    }

    /// The same store for a verifier of this soundness: what is put into it was verified with so many bits, and what was verified with fewer
    /// is not there. Without it they are the default's. A [`Batcher`](crate::Batcher) sets its own.
    #[must_use]
    pub fn with_soundness(self, soundness: Soundness) -> Self {
        Self { soundness, ..self }
    }

    /// Opens the store again after writing or reading failed. Whatever is wrong with it, [`open`](Self::open) does the same. It reads
    /// the whole file; until it returns the store is closed, and nobody else waits for it.
    ///
    /// # Errors
    /// [`StoreError`]: it stays closed.
    pub fn reopen(&self) -> Result<OpenedStore, StoreError> {
        // A file is opened once.
        let _opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        self.close();
        let (records, opened) = self.open_records()?;
        *self.records.write().unwrap_or_else(PoisonError::into_inner) = Some(records);
        Ok(opened)
    }

    fn open_records(&self) -> Result<(Records, OpenedStore), StoreError> {
        check_folder(&self.folder)?;
        let (database, key) = (self.folder.join(DATABASE), self.folder.join(KEY));
        let existed = database.exists();
        let mut why = None;
        let read = match read_key(&key) {
            Ok(read) => Some(read),
            Err(problem) => {
                why = existed.then_some(problem);
                None
            }
        };
        if let (Some(key), true) = (read, existed) {
            match self.open_existing(&database, key)? {
                Ok((records, number)) => return Ok((records, OpenedStore::Existing { records: number })),
                Err(problem) => why = Some(problem),
            }
        }
        let set_aside = match why {
            Some(why) => Some((set_aside(&database)?, why)),
            None => None,
        };
        let records = self.create(&database, &key)?;
        Ok((records, set_aside.map_or(OpenedStore::New, |(to, why)| OpenedStore::SetAside { to, why })))
    }

    /// The records in a file, or why they cannot be used.
    fn open_existing(&self, path: &Path, key: [u8; 32]) -> Result<Result<(Records, u64), String>, StoreError> {
        // The database checks its pages, but a damaged length can make it panic. Nothing of it is used then.
        let opened = contained(|| {
            let database = once_free(|| self.disk.open(path), is_held)?;
            let records = Records { database, settings: self.settings.clone(), key };
            let (known, number) = (records.key_check()?, records.len()?);
            Ok::<_, redb::Error>((records, known, number))
        });
        Ok(match opened {
            Err(_) => Err("its file is damaged".to_owned()),
            Ok(Err(redb::Error::DatabaseAlreadyOpen)) => return Err(StoreError::InUse(path.to_owned())),
            // That is the disk's fault and not the file's, which may be used when the disk has room again.
            Ok(Err(redb::Error::Io(error))) if is_of_the_disk(&error) => {
                return Err(StoreError::File { path: path.to_owned(), error });
            }
            Ok(Err(error)) => Err(error.to_string()),
            Ok(Ok((records, true, number))) => Ok((records, number)),
            Ok(Ok(_)) => Err("it was written with another key".to_owned()),
        })
    }

    /// Makes an empty store. It gets its name when it is whole, so that a process that is killed meanwhile leaves nothing that
    /// looks like a damaged store.
    fn create(&self, path: &Path, key_file: &Path) -> Result<Records, StoreError> {
        let file = |path: &Path, error| StoreError::File { path: path.to_owned(), error };
        let key = write_key(key_file).map_err(|error| file(key_file, error))?;
        let new = path.with_extension("redb.new");
        let created = match once_free(|| self.disk.create(&new), is_held) {
            Err(DatabaseError::DatabaseAlreadyOpen) => return Err(StoreError::InUse(path.to_owned())),
            // What a killed process has left.
            Err(_) if new.exists() => {
                fs::remove_file(&new).map_err(|error| file(&new, error))?;
                self.disk.create(&new)
            }
            created => created,
        };
        let database = created.map_err(|error| match error {
            DatabaseError::Storage(StorageError::Io(error)) => file(&new, error),
            error => StoreError::Database(error.to_string()),
        })?;
        let records = Records { database, settings: self.settings.clone(), key };
        records.write_key_check()?;
        put_in_place(&new, path).map_err(|error| file(path, error))?;
        Ok(records)
    }

    /// How many records it has, those that are too old included.
    ///
    /// # Errors
    /// [`StoreError::Closed`], [`StoreError::Database`].
    pub fn records(&self) -> Result<u64, StoreError> {
        self.with(Records::len)
    }

    /// Writes statements that were just verified, each a claim of one statement. When it returns, they are on disk.
    /// Claims of several statements are left out, because only the sum of their signatures is known, and so are messages of
    /// more than [`LONGEST_MESSAGE`](Self::LONGEST_MESSAGE) bytes, so that the number of records bounds the space on disk. So is a claim
    /// of one member of a set under `eigenlayer`: a record would need its key in G1, too.
    ///
    /// `now` is Unix time in seconds. It removes what is too old, what comes from the future, and what is too much.
    ///
    /// # Errors
    /// [`StoreError::Closed`]; [`StoreError::Database`], for example if the disk is full. Then none of the claims is written.
    pub fn put(&self, claims: &[ClaimBytes], now: u64) -> Result<usize, StoreError> {
        self.with(|records| records.write(claims, self.soundness, now))
    }

    /// The signature of a claim's statement with an index, if it was verified with the store's soundness or more, and its record is not too
    /// old.
    ///
    /// # Errors
    /// [`StoreError::Closed`], [`StoreError::Database`].
    pub fn signature(&self, claim: &ClaimBytes, index: usize, now: u64) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.signatures(claim, &[index], now)?.pop().flatten())
    }

    /// The same for several statements of a claim.
    ///
    /// # Errors
    /// [`StoreError::Closed`], [`StoreError::Database`].
    pub fn signatures(
        &self,
        claim: &ClaimBytes,
        indices: &[usize],
        now: u64,
    ) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.with(|records| records.read(claim, indices, self.soundness, now))
    }

    /// The newest statements, as claims that were verified: for the memory of a node that starts.
    ///
    /// # Errors
    /// [`StoreError::Closed`], [`StoreError::Database`].
    pub fn newest(&self, most: usize, now: u64) -> Result<Vec<ClaimBytes>, StoreError> {
        self.with(|records| records.newest(most, self.soundness, now))
    }

    fn with<T>(&self, call: impl FnOnce(&Records) -> Result<T, redb::Error>) -> Result<T, StoreError> {
        let open = self.records.read().unwrap_or_else(PoisonError::into_inner);
        let records = open.as_ref().ok_or(StoreError::Closed)?;
        // The database does not check every page that it reads, so a damaged one can make it panic.
        let called = contained(|| call(records));
        drop(open);
        let error = match called {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) => error.into(),
            Err(panicked) => StoreError::Database(format!("its file is damaged: {panicked}")),
        };
        // A database that has failed once is not used again.
        self.close();
        Err(error)
    }

    /// Nothing is known from it from now on.
    fn close(&self) {
        let records = self.records.write().unwrap_or_else(PoisonError::into_inner).take();
        // What is damaged can make the database panic once more.
        let _ = contained(|| drop(records));
    }
}

impl From<redb::Error> for StoreError {
    fn from(error: redb::Error) -> Self {
        Self::Database(error.to_string())
    }
}

/// Whether another process has the database open.
fn is_held(error: &DatabaseError) -> bool {
    matches!(error, DatabaseError::DatabaseAlreadyOpen)
}

/// Whether the disk has no room, or may not be written.
fn is_of_the_disk(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull
            | io::ErrorKind::QuotaExceeded
            | io::ErrorKind::FileTooLarge
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::PermissionDenied
    )
}

/// Refuses a folder in which others could put a key and records of theirs.
fn check_folder(folder: &Path) -> Result<(), StoreError> {
    let found = fs::metadata(folder).map_err(|error| StoreError::File { path: folder.to_owned(), error })?;
    let refused = refuse_other_writers(&found);
    refused.map_err(|others| StoreError::Folder { path: folder.to_owned(), why: others.to_string() })
}

/// Reads the key, if it is one that nobody else but root could read or write.
fn read_key(path: &Path) -> Result<[u8; 32], String> {
    let key = file::read_own_secret(path, 32).map_err(|error| format!("its key cannot be used: {error}"))?;
    key.try_into().map_err(|key: Vec<u8>| format!("its key {} has {} bytes, expected 32", path.display(), key.len()))
}

/// Makes a new key. It is in place, on disk and private before anything is written with it.
fn write_key(path: &Path) -> io::Result<[u8; 32]> {
    let mut key = [0; 32];
    SysRng.try_fill_bytes(&mut key).map_err(io::Error::other)?;
    file::write(path, Readers::Owner, Existing::Replace, &key)?;
    Ok(key)
}

/// Renames a file so that it stays but is in nobody's way.
fn set_aside(path: &Path) -> Result<PathBuf, StoreError> {
    let seconds = unix_seconds();
    let name = |n: u32| path.with_file_name(format!("{DATABASE}.set-aside-{seconds}-{n}"));
    let to = (0..).map(name).find(|to| !to.exists()).expect("a number is free");
    fs::rename(path, &to).map_err(|error| StoreError::File { path: path.to_owned(), error })?;
    Ok(to)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::{
        fs::File,
        sync::{
            Arc,
            atomic::{AtomicBool, AtomicUsize, Ordering},
            mpsc::{Receiver, Sender, channel},
        },
        thread,
        time::{Duration, Instant},
    };

    use quorate::{AnySuite, Bitmap, InSuite, KeySet, Members, MinPk, SecretKey, Suite};
    use redb::{StorageBackend, backends::FileBackend};

    use super::*;

    /// A disk that a test fills and frees, and that it damages: then it reads what nobody wrote.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct Fillable {
        full: Arc<AtomicBool>,
        damaged: Arc<AtomicBool>,
    }

    #[derive(Debug)]
    struct Backend {
        file: FileBackend,
        disk: Fillable,
    }

    impl Fillable {
        pub(crate) fn fill(&self, full: bool) {
            self.full.store(full, Ordering::SeqCst);
        }

        pub(crate) fn damage(&self, damaged: bool) {
            self.damaged.store(damaged, Ordering::SeqCst);
        }

        fn room(&self) -> io::Result<()> {
            if self.full.load(Ordering::SeqCst) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        }

        fn backend(&self, file: File) -> Result<Database, DatabaseError> {
            // Without a cache, since all of a file is read when it is opened.
            Database::builder()
                .set_cache_size(0)
                .create_with_backend(Backend { file: FileBackend::new(file)?, disk: self.clone() })
        }
    }

    impl Disk for Fillable {
        fn open(&self, path: &Path) -> Result<Database, DatabaseError> {
            self.backend(File::options().read(true).write(true).open(path)?)
        }

        fn create(&self, path: &Path) -> Result<Database, DatabaseError> {
            self.backend(File::options().read(true).write(true).create(true).truncate(true).open(path)?)
        }
    }

    impl StorageBackend for Backend {
        fn len(&self) -> Result<u64, BackendError> {
            self.file.len()
        }

        fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), BackendError> {
            self.file.read(offset, out)?;
            if self.disk.damaged.load(Ordering::SeqCst) {
                out.fill(0xff);
            }
            Ok(())
        }

        fn set_len(&self, length: u64) -> Result<(), BackendError> {
            self.disk.room()?;
            self.file.set_len(length)
        }

        fn sync_data(&self) -> Result<(), BackendError> {
            self.disk.room()?;
            self.file.sync_data()
        }

        fn write(&self, offset: u64, data: &[u8]) -> Result<(), BackendError> {
            self.disk.room()?;
            self.file.write(offset, data)
        }
    }

    type BackendError = io::Error;

    pub(crate) fn on(disk: &Fillable, folder: &Path) -> (KnownStore, OpenedStore) {
        KnownStore::open_on(Box::new(disk.clone()), folder, StoreSettings::default()).unwrap()
    }

    fn claim(i: u32) -> ClaimBytes {
        ClaimBytes::single(MinPk::Eth2.any(), &[7; 48], &i.to_be_bytes(), &[i.to_le_bytes(); 24].concat())
    }

    const NOW: u64 = 1_790_000_000;

    /// A claim with a key of as many bytes as its suite asks for, or of other bytes.
    struct Single {
        more: usize,
    }

    impl InSuite for Single {
        type Output = ClaimBytes;

        fn run_in<S: Suite>(self, suite: S) -> ClaimBytes {
            ClaimBytes::single(suite.any(), &vec![7; suite.key_length() + self.more], b"m", &[8; 64])
        }
    }

    /// On BN254 as well, where the tests are compiled with it. What no record could give back is not written.
    #[test]
    fn statements_of_every_suite_outlast_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let open = || KnownStore::open(folder.path(), StoreSettings::default()).unwrap().0;
        let of_all = |more| AnySuite::all().map(|suite| suite.run(Single { more })).collect::<Vec<_>>();
        let claims = of_all(0);
        let store = open();
        assert_eq!(store.put(&claims, NOW).unwrap(), claims.len());
        assert_eq!(store.put(&of_all(1), NOW).unwrap(), 0);
        drop(store);
        let store = open();
        for claim in &claims {
            assert_eq!(store.signature(claim, 0, NOW).unwrap().as_ref(), Some(&claim.signature), "{}", claim.suite);
        }
        assert_eq!(store.newest(claims.len(), NOW).unwrap().len(), claims.len());
    }

    #[test]
    fn a_store_is_opened_again_after_a_full_disk() {
        let (folder, disk) = (tempfile::tempdir().unwrap(), Fillable::default());
        let (store, _) = on(&disk, folder.path());
        store.put(&[claim(1)], NOW).unwrap();
        disk.fill(true);
        assert!(matches!(store.put(&[claim(2)], NOW), Err(StoreError::Database(_))));
        // Nothing is known from it, which is not a fault of the claims, and nothing is set aside.
        assert!(matches!(store.signature(&claim(1), 0, NOW), Err(StoreError::Closed)));
        assert!(matches!(store.put(&[claim(2)], NOW), Err(StoreError::Closed)));
        let full = store.reopen();
        assert!(full.is_err() || store.put(&[claim(2)], NOW).is_err(), "{full:?}");
        disk.fill(false);
        assert_eq!(store.reopen().unwrap(), OpenedStore::Existing { records: 1 });
        store.put(&[claim(2)], NOW).unwrap();
        for i in 1..3 {
            assert_eq!(store.signature(&claim(i), 0, NOW).unwrap(), Some(claim(i).signature));
        }
    }

    /// The database panics at a page that is damaged. Nothing is known from it then, and the caller goes on.
    #[test]
    fn a_file_that_is_damaged_while_it_is_open_closes_the_store() {
        type Call = fn(&KnownStore) -> Result<(), StoreError>;
        let calls: [Call; 3] = [
            |store| store.signature(&claim(1), 0, NOW).map(|_| ()),
            |store| store.newest(5, NOW).map(|_| ()),
            |store| store.put(&[claim(2)], NOW).map(|_| ()),
        ];
        for call in calls {
            let (folder, disk) = (tempfile::tempdir().unwrap(), Fillable::default());
            on(&disk, folder.path()).0.put(&[claim(1)], NOW).unwrap();
            let (store, opened) = on(&disk, folder.path());
            assert_eq!(opened, OpenedStore::Existing { records: 1 });
            disk.damage(true);
            let error = call(&store).unwrap_err();
            assert!(error.to_string().contains("its file is damaged"), "{error}");
            assert!(matches!(store.put(&[claim(2)], NOW), Err(StoreError::Closed)));
            disk.damage(false);
            assert_eq!(store.reopen().unwrap(), OpenedStore::Existing { records: 1 });
            assert_eq!(store.signature(&claim(1), 0, NOW).unwrap(), Some(claim(1).signature));
        }
    }

    /// A block that asked for what is known waited until the whole file had been read.
    #[test]
    fn a_store_is_closed_and_not_locked_while_it_is_opened_again() {
        #[derive(Debug)]
        struct Slow {
            disk: Fillable,
            begun: Sender<()>,
            go_on: Mutex<Receiver<()>>,
        }
        impl Disk for Slow {
            fn open(&self, path: &Path) -> Result<Database, DatabaseError> {
                self.begun.send(()).unwrap();
                self.go_on.lock().unwrap().recv().unwrap();
                self.disk.open(path)
            }

            fn create(&self, path: &Path) -> Result<Database, DatabaseError> {
                self.disk.create(path)
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let ((begun, begins), (goes_on, go_on)) = (channel(), channel());
        let slow = Slow { disk: Fillable::default(), begun, go_on: Mutex::new(go_on) };
        let (store, _) = KnownStore::open_on(Box::new(slow), folder.path(), StoreSettings::default()).unwrap();
        store.put(&[claim(1)], NOW).unwrap();
        thread::scope(|scope| {
            let reopened = scope.spawn(|| store.reopen());
            begins.recv().unwrap();
            let (told, answer) = channel();
            let store = &store;
            scope.spawn(move || told.send(store.signature(&claim(1), 0, NOW)).unwrap());
            let meanwhile = answer.recv_timeout(Duration::from_secs(20));
            goes_on.send(()).unwrap();
            assert!(matches!(meanwhile, Ok(Err(StoreError::Closed))), "{meanwhile:?}");
            assert_eq!(reopened.join().unwrap().unwrap(), OpenedStore::Existing { records: 1 });
        });
        assert_eq!(store.signature(&claim(1), 0, NOW).unwrap(), Some(claim(1).signature));
    }

    /// A program that is being started has a copy of the lock for a moment: a store that had just been closed was in use.
    #[test]
    fn a_store_that_was_just_given_up_is_waited_for() {
        #[derive(Debug, Default)]
        struct Held {
            disk: Fillable,
            asked: AtomicUsize,
        }
        impl Held {
            fn once_free(&self) -> Result<&Fillable, DatabaseError> {
                let is_held = self.asked.fetch_add(1, Ordering::Relaxed) % 4 < 3;
                if is_held { Err(DatabaseError::DatabaseAlreadyOpen) } else { Ok(&self.disk) }
            }
        }
        impl Disk for Held {
            fn open(&self, path: &Path) -> Result<Database, DatabaseError> {
                self.once_free()?.open(path)
            }

            fn create(&self, path: &Path) -> Result<Database, DatabaseError> {
                self.once_free()?.create(path)
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let open = || KnownStore::open_on(Box::new(Held::default()), folder.path(), StoreSettings::default()).unwrap();
        let (store, opened) = open();
        assert_eq!(opened, OpenedStore::New);
        store.put(&[claim(1)], NOW).unwrap();
        drop(store);
        assert_eq!(open().1, OpenedStore::Existing { records: 1 });
    }

    /// A bitmap that is longer than its set: the keys are looked up once, and not counted again for each statement, which would take
    /// 2^33 steps here.
    #[test]
    fn a_long_bitmap_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let (store, _) = KnownStore::open(folder.path(), StoreSettings::default()).unwrap();
        let suite = MinPk::Eth2;
        let secret = |i: u8| SecretKey::key_gen(suite, &[i; 32], b"").unwrap();
        let mut set = KeySet::new(suite, quorate::Backend::Portable);
        (0..3).for_each(|i| set.push_assumed(secret(i).public_key()));
        let known = secret(1);
        let signature = known.sign(suite, b"m").to_bytes();
        store.put(&[ClaimBytes::single(suite.any(), &known.public_key().to_bytes(), b"m", &signature)], NOW).unwrap();
        let members = Members::Bitmap(Bitmap::from_indices(0..1 << 17));
        let claim = ClaimBytes::of_members(&set.into_any(), members, *b"m", [0u8; 96]);
        let indices: Vec<_> = (0..claim.statements()).collect();
        let begin = Instant::now();
        let signatures = store.signatures(&claim, &indices, NOW).unwrap();
        assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
        let found = signatures.iter().enumerate().filter_map(|(i, signature)| Some((i, signature.as_ref()?)));
        assert_eq!(found.collect::<Vec<_>>(), [(1, &signature.to_vec())]);
    }

    /// A name is a MAC over the message, and no record has a message of this length: 16 MiB were read for each of 2,000 keys of a claim.
    #[test]
    fn a_message_that_is_too_long_for_a_record_is_not_looked_for() {
        let folder = tempfile::tempdir().unwrap();
        let (store, _) = KnownStore::open(folder.path(), StoreSettings::default()).unwrap();
        let claim = ClaimBytes::shared(MinPk::Chia.any(), vec![vec![1_u8; 48]; 2000], vec![0_u8; 16 << 20], [0_u8; 96]);
        let indices: Vec<_> = (0..claim.statements()).collect();
        let took = || {
            let begin = Instant::now();
            assert_eq!(store.signatures(&claim, &indices, NOW).unwrap(), vec![None; claim.statements()]);
            begin.elapsed()
        };
        // Whatever else the machine does, one of some tries is not disturbed.
        assert!((0..5).any(|_| took() < Duration::from_secs(5)), "it takes seconds each time");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_others_may_write_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let open = || KnownStore::open(folder.path(), StoreSettings::default()).map(|_| ());
        open().unwrap();
        for mode in [0o777, 0o770, 0o702] {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
            let error = open().unwrap_err().to_string();
            assert!(error.contains(&format!("mode {mode:03o}")) && error.contains("chmod 700"), "{error}");
        }
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        open().unwrap();
        // A folder that it makes is its own.
        let new = folder.path().join("deep/new");
        KnownStore::open(&new, StoreSettings::default()).unwrap();
        for made in [&new, file::folder_of(&new)] {
            assert_eq!(fs::metadata(made).unwrap().permissions().mode() & 0o777, 0o700);
        }
    }

    /// A key of another user, who wrote it and could forge records with it. Only root can give a file away.
    #[cfg(unix)]
    #[test]
    fn a_key_of_another_user_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        drop(KnownStore::open(folder.path(), StoreSettings::default()).unwrap());
        if !rustix::process::geteuid().is_root() {
            println!("skipped 1: only root can give a file away");
            return;
        }
        std::os::unix::fs::chown(folder.path().join(KEY), Some(12_345), None).unwrap();
        match KnownStore::open(folder.path(), StoreSettings::default()).unwrap().1 {
            OpenedStore::SetAside { why, .. } => assert!(why.contains("belongs to the user 12345"), "{why}"),
            other => panic!("{other:?}"),
        }
        // A folder of root is as good as one's own; one of somebody else is not.
        std::os::unix::fs::chown(folder.path(), Some(12_345), None).unwrap();
        let error = KnownStore::open(folder.path(), StoreSettings::default()).unwrap_err();
        assert!(error.to_string().contains("belongs to the user 12345"), "{error}");
    }
}
