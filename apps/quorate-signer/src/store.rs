//! The record on disk: what was signed, written before the signature leaves.
//!
//! A commit of the database returns when the record is on disk. After an error nobody knows what the disk has: pages whose
//! write failed may be in memory only and look written. So after an error the database is closed, and before it is used
//! again, by this process or by the next one, all of it is written to a new file, which takes the place of the old one. The old
//! file stays marked as one that was not closed until then. A command that only reads needs no new file.

use std::{
    fs::{self, File},
    io,
    mem::ManuallyDrop,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use quorate_evm::{SnapshotId, Task, alloy_primitives::B256, task::Conflict};
use quorate_host::{
    file::{flush_folder_of, make_private_folder, put_in_place},
    lock_file,
    other_users::{OtherReaders, refuse_other_readers},
};
use quorate_signer_client::record_file::RecordFile;
use redb::{
    Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition, TableError, WriteTransaction,
};

use crate::{
    clock::{ClockJump, ClockWatch},
    config::Config,
    rules::{Broken, Permit, Situation},
};

/// The record of one signer, in a folder that is locked while this lives.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    config: Config,
    /// `None` after an error, until it was written anew.
    database: Option<Database>,
    /// The old file, while it could not be written anew. It is never closed: that would mark it as one whose every write is on disk.
    old: ManuallyDrop<Option<Database>>,
    /// `None` where no task is signed.
    watch: Option<ClockWatch>,
    /// The epoch up to which the clock was believed. The record may be behind: while the disk fails, and by what
    /// [`ClockWatch::is_behind`] allows.
    seen: Option<u64>,
    _lock: File,
}

/// The record cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("{}: another signer uses this folder; stop it first", .0.display())]
    InUse(PathBuf),
    #[error(
        "{}: there is no record; name its folder with --data; only if this key has never signed for the network, make one \
         with `quorate-signer init`", .0.display()
    )]
    Missing(PathBuf),
    #[error(
        "{}: user {user} may not use it ({source}); run this as the user who made the record, or give the folder to this \
         one; never make a second record for one key", path.display()
    )]
    Permission { path: PathBuf, user: u32, source: io::Error },
    #[error("{}: there is a record already, and it is left as it is; name another folder", .0.display())]
    Exists(PathBuf),
    #[error(
        "{}: this is a link, or the file has another name as well, under which a second signer could use it; name the folder in \
         which the record itself is, and remove its other names", .0.display()
    )]
    Linked(PathBuf),
    #[error("{}: found mode {mode:04o}, expected 0700; run `chmod 700` on it", path.display())]
    Mode { path: PathBuf, mode: u32 },
    #[error(
        "{}: the record is damaged ({why}); do not sign without it: docs/signer.md says how to go on", path.display()
    )]
    Damaged { path: PathBuf, why: String },
    #[error("{}", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{}: the record cannot be read or written: {why}", path.display())]
    Database { path: PathBuf, why: String },
}

/// Why a task is not in the record.
#[derive(Debug)]
pub(crate) enum NotRecorded {
    Broken(Broken),
    Store(StoreError),
}

/// Why a file was not merged into the record, which is as it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotMerged {
    #[error(transparent)]
    Store(StoreError),
    #[error(
        "task {id} was signed for epoch {file} by the file, and for epoch {record} with {} by the record here: this key \
         has signed a conflict already; nothing was imported, and nothing should be signed with this key",
        conflict.what()
    )]
    Contradiction { id: B256, file: u64, record: u64, conflict: Conflict },
    #[error(
        "the record here was moved to another machine by `export --retire`; make a new one with `init`, in another folder"
    )]
    Retired,
}

/// What a merge did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Merged {
    /// Tasks that the record did not have.
    pub(crate) added: usize,
    /// The floor after it.
    pub(crate) floor: u64,
}

/// The size of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) floor: u64,
    pub(crate) tasks: u64,
    pub(crate) retired: bool,
}

/// By id, epoch and snapshot: performer, result, verdict.
const TASKS: TableDefinition<'_, TaskKey<'_>, TaskValue<'_>> = TableDefinition::new("tasks");
/// The same tasks by epoch, for those that may leave.
const EPOCHS: TableDefinition<'_, (u64, &[u8; 32], &[u8; 20]), ()> = TableDefinition::new("epochs");
const FLOOR: TableDefinition<'_, (), u64> = TableDefinition::new("floor");
const RETIRED: TableDefinition<'_, (), bool> = TableDefinition::new("retired");
/// The [`Config`] as JSON.
const CONFIG: TableDefinition<'_, (), &[u8]> = TableDefinition::new("config 1");

const RECORD: &str = "record.redb";
const LOCK: &str = "lock";
/// Records that leave at a time.
const REMOVED: usize = 1000;
/// The epoch up to which the clock was believed.
const CLOCK: TableDefinition<'_, (), u64> = TableDefinition::new("clock");

/// Bytes of memory for pages.
const CACHE: usize = 16 << 20;

impl Store {
    /// Makes an empty record in a folder, which is made if it is not there.
    pub(crate) fn create(folder: &Path, config: &Config, floor: u64) -> Result<Self, StoreError> {
        make_private_folder(folder).map_err(|source| system(folder, source))?;
        let lock = lock(folder, Duration::ZERO)?;
        let path = folder.join(RECORD);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(system(&path, error)),
            Ok(_) => return Err(StoreError::Exists(folder.to_owned())),
        }
        let contents = Contents { config: json(&path, config)?, floor, retired: false, clock: None, tasks: Vec::new() };
        let database = write_anew(&path, &contents)?;
        let old = ManuallyDrop::new(None);
        Ok(Self { path, config: config.clone(), database: Some(database), old, watch: None, seen: None, _lock: lock })
    }

    /// Opens the record in a folder. If whoever had it open did not close it, it is written anew.
    pub(crate) fn open(folder: &Path) -> Result<Self, StoreError> {
        Self::open_within(folder, Duration::ZERO)?.written_anew()
    }

    /// The same, for the signer that stays: it waits for a command that looks at the record, such as `status`.
    pub(crate) fn open_to_run(folder: &Path) -> Result<Self, StoreError> {
        Self::open_within(folder, PATIENCE)?.written_anew()
    }

    /// The same, for a command that reads what was left there: on a full disk there is no room to write it anew.
    pub(crate) fn open_to_read(folder: &Path) -> Result<Self, StoreError> {
        Self::open_within(folder, Duration::ZERO)
    }

    fn open_within(folder: &Path, patience: Duration) -> Result<Self, StoreError> {
        let path = folder.join(RECORD);
        // A record that is written anew takes the place of the link or of one of the names. The old one, behind the other name, would
        // lack what is signed from then on. Also where a link leads nowhere the record is not missing, and must not be made anew.
        let found = fs::symlink_metadata(&path).map_err(|error| absent(folder, &path, error))?;
        if found.is_symlink() || found.nlink() > 1 {
            return Err(StoreError::Linked(path));
        }
        let lock = lock(folder, patience)?;
        // The name of a file that was written anew may not be on disk yet.
        flush_folder_of(&path).map_err(|error| system(folder, error))?;
        let closed = was_closed(&path);
        let database = open(&path)?;
        let config = read_config(&database).map_err(|error| failed(&path, error))?;
        let damaged = |why: String| StoreError::Damaged { path: path.clone(), why };
        let config = config.ok_or_else(|| damaged("it does not say for which network".to_owned()))?;
        let config = serde_json::from_slice(&config).map_err(|error| damaged(error.to_string()))?;
        let (database, old) = if closed { (Some(database), None) } else { (None, Some(database)) };
        let old = ManuallyDrop::new(old);
        Ok(Self { path, config, database, old, watch: None, seen: None, _lock: lock })
    }

    fn written_anew(mut self) -> Result<Self, StoreError> {
        self.seen = self.with(clock_of)?;
        Ok(self)
    }

    /// From now on signs only by a clock that `watch` believes.
    pub(crate) fn watch(&mut self, watch: ClockWatch) {
        self.watch = Some(watch);
    }

    /// Looks at the clock, so that time which passes while no task is signed is not a jump.
    pub(crate) fn look_at_clock(&mut self, now: u64) -> Result<Option<ClockJump>, StoreError> {
        let (network, Some(watch)) = (self.config.identity.network, self.watch) else { return Ok(None) };
        let judged = self.judge_clock(now);
        self.with(|database| {
            let epoch = match judged {
                Ok(epoch) => epoch,
                Err(jump) => return Ok(Some(jump)),
            };
            let written = clock_of(database)?;
            if let Some(epoch) = epoch.filter(|epoch| watch.is_behind(&network, written, *epoch)) {
                let transaction = database.begin_write()?;
                transaction.open_table(CLOCK)?.insert((), epoch)?;
                transaction.commit()?;
            }
            Ok(None)
        })
    }

    /// The epoch by the clock, if it is believed; none before epoch 0 and without a watch. It counts as seen even if the disk then
    /// fails: the signer runs, so the time that passes is not a jump.
    fn judge_clock(&mut self, now: u64) -> Result<Option<u64>, ClockJump> {
        let Some(watch) = self.watch else { return Ok(None) };
        let epoch = watch.judge(&self.config.identity.network, self.seen, now)?;
        self.seen = self.seen.max(epoch);
        Ok(epoch)
    }

    /// What the record was made for.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// Judges a task by the rules and writes it down. When this returns `Ok`, the task is on disk and may be signed.
    pub(crate) fn record(&mut self, task: &Task, now: u64) -> Result<Permit, NotRecorded> {
        let network = self.config.identity.network;
        let (clock, seen) = (self.judge_clock(now), self.seen);
        let judged = self.with(|database| {
            if let Err(jump) = clock {
                return Ok(Err(Broken::ClockJump(jump)));
            }
            let transaction = database.begin_read()?;
            let floor = floor_of(&transaction.open_table(FLOOR)?)?;
            let retired = retired_of(&transaction.open_table(RETIRED)?)?;
            let situation = Situation { network, now, floor, retired };
            let signed = of_id(&transaction.open_table(TASKS)?, task.id)?;
            let judged = situation.judge(task, signed);
            if judged == Ok(Permit::New) {
                let transaction = database.begin_write()?;
                if let Some((last, floor)) = situation.removable()
                    && remove(&transaction, last)?
                {
                    raise_floor(&transaction, floor)?;
                }
                if let Some(epoch) = seen {
                    transaction.open_table(CLOCK)?.insert((), epoch)?;
                }
                insert(&transaction, task)?;
                transaction.commit()?;
            }
            Ok(judged)
        });
        judged.map_err(NotRecorded::Store)?.map_err(NotRecorded::Broken)
    }

    /// The size of the record.
    pub(crate) fn summary(&mut self) -> Result<Summary, StoreError> {
        self.with(summary_of)
    }

    /// The same of a record that is [opened to be read](Self::open_to_read).
    pub(crate) fn summary_as_left(&mut self) -> Result<Summary, StoreError> {
        self.as_left(summary_of)
    }

    /// The size of the record's file; none while it cannot be told.
    pub(crate) fn bytes(&self) -> Option<u64> {
        fs::metadata(&self.path).ok().map(|file| file.len())
    }

    /// All of the record.
    pub(crate) fn export(&mut self) -> Result<RecordFile, StoreError> {
        let identity = self.config.identity.clone();
        let Contents { floor, tasks, .. } = self.as_left(read_all)?;
        Ok(RecordFile { identity, floor, tasks })
    }

    /// Ends the record for good: nothing more is signed with it.
    pub(crate) fn retire(&mut self) -> Result<(), StoreError> {
        self.with(|database| {
            let transaction = database.begin_write()?;
            transaction.open_table(RETIRED)?.insert((), true)?;
            Ok(transaction.commit()?)
        })
    }

    /// Adds what a file says was signed, and raises the floor to the file's. All of it, or nothing; only what counts no more
    /// under the floor is left out. The file must be of this network and key, which the caller has compared.
    pub(crate) fn merge(&mut self, file: &RecordFile) -> Result<Merged, NotMerged> {
        let network = self.config.identity.network;
        let merged = self.with(|database| {
            let transaction = database.begin_write()?;
            if retired_of(&transaction.open_table(RETIRED)?)? {
                return Ok(Err(NotMerged::Retired));
            }
            let floor = raise_floor(&transaction, file.floor)?;
            // On both sides, what counts no more under the new floor may contradict what was signed after it. It leaves.
            let forgettable = network.forgettable_before(floor);
            if let Some(last) = forgettable {
                while remove(&transaction, last)? {}
            }
            let mut added = 0;
            for task in file.tasks.iter().filter(|task| forgettable.is_none_or(|last| task.epoch > last)) {
                let signed = of_id(&transaction.open_table(TASKS)?, task.id)?;
                if signed.contains(task) {
                    continue;
                }
                if let Some((other, conflict)) =
                    signed.iter().find_map(|other| Some((other, task.conflict_with(other)?)))
                {
                    let (id, file, record) = (task.id, task.epoch, other.epoch);
                    return Ok(Err(NotMerged::Contradiction { id, file, record, conflict }));
                }
                insert(&transaction, task)?;
                added += 1;
            }
            transaction.commit()?;
            Ok(Ok(Merged { added, floor }))
        });
        merged.map_err(NotMerged::Store)?
    }

    /// Reads a record that was not closed as it is. Nothing may be signed by that: it may be in memory alone.
    fn as_left<T>(&mut self, work: impl FnOnce(&Database) -> Result<T, redb::Error>) -> Result<T, StoreError> {
        match &*self.old {
            Some(old) => work(old).map_err(|error| failed(&self.path, error)),
            None => self.with(work),
        }
    }

    /// Works with the database. After an error, or a panic in the database, it is closed.
    fn with<T>(&mut self, work: impl FnOnce(&Database) -> Result<T, redb::Error>) -> Result<T, StoreError> {
        let database = match self.database.take() {
            Some(database) => database,
            None => {
                let old = self.old.take().map_or_else(|| open(&self.path), Ok)?;
                let contents = read_all(&old).map_err(|error| failed(&self.path, error))?;
                match write_anew(&self.path, &contents) {
                    // The old file has no name any more.
                    Ok(new) => new,
                    Err(error) => {
                        *self.old = Some(old);
                        return Err(error);
                    }
                }
            }
        };
        let done = work(&database).map_err(|error| failed(&self.path, error))?;
        self.database = Some(database);
        Ok(done)
    }
}

/// What a record holds.
struct Contents {
    config: Vec<u8>,
    floor: u64,
    retired: bool,
    clock: Option<u64>,
    /// In ascending order.
    tasks: Vec<Task>,
}

fn summary_of(database: &Database) -> Result<Summary, redb::Error> {
    let transaction = database.begin_read()?;
    Ok(Summary {
        floor: floor_of(&transaction.open_table(FLOOR)?)?,
        tasks: transaction.open_table(TASKS)?.len()?,
        retired: retired_of(&transaction.open_table(RETIRED)?)?,
    })
}

fn read_all(database: &Database) -> Result<Contents, redb::Error> {
    let transaction = database.begin_read()?;
    let table = transaction.open_table(TASKS)?;
    let mut tasks = Vec::new();
    for entry in table.iter()? {
        let (key, value) = entry?;
        tasks.push(signed_task(key.value(), value.value()));
    }
    tasks.sort_unstable_by_key(quorate_signer_client::record_file::place);
    Ok(Contents {
        config: read_config(database)?.unwrap_or_default(),
        floor: floor_of(&transaction.open_table(FLOOR)?)?,
        retired: retired_of(&transaction.open_table(RETIRED)?)?,
        clock: clock_of(database)?,
        tasks,
    })
}

/// Writes a record to a new file, which takes the place of the old one when it is whole and on disk.
fn write_anew(path: &Path, contents: &Contents) -> Result<Database, StoreError> {
    let new = path.with_extension("redb.new");
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(system(&new, error)),
        // What a killed process has left, or nothing.
        _ => {}
    }
    let write = || {
        let database = Database::builder().set_cache_size(CACHE).create(&new)?;
        let transaction = database.begin_write()?;
        transaction.open_table(CONFIG)?.insert((), &contents.config[..])?;
        transaction.open_table(FLOOR)?.insert((), contents.floor)?;
        transaction.open_table(RETIRED)?.insert((), contents.retired)?;
        if let Some(epoch) = contents.clock {
            transaction.open_table(CLOCK)?.insert((), epoch)?;
        }
        transaction.open_table(TASKS)?;
        transaction.open_table(EPOCHS)?;
        for task in &contents.tasks {
            insert(&transaction, task)?;
        }
        transaction.commit()?;
        Ok(database)
    };
    let database = write().map_err(|error| failed(&new, error))?;
    put_in_place(&new, path).map_err(|error| system(path, error))?;
    Ok(database)
}

/// Whether a record was closed by the process that had it open, and not left by an error, a kill or a power failure.
fn was_closed(path: &Path) -> bool {
    // A database that is opened to be read is not written, and refused if it was not closed.
    let opened = quorate_host::contained(|| Database::builder().set_cache_size(CACHE).open_read_only(path));
    matches!(opened, Ok(Ok(_)))
}

/// Opens a record, and checks every page of it.
fn open(path: &Path) -> Result<Database, StoreError> {
    // A damaged length can make the database panic. Nothing of it is used then.
    let opened = quorate_host::contained(|| {
        let mut builder = Database::builder();
        builder.set_cache_size(CACHE).set_check_integrity_on_open(true).open(path).map_err(redb::Error::from)
    });
    match opened {
        Ok(Ok(database)) => Ok(database),
        Ok(Err(error)) => Err(failed(path, error)),
        Err(_) => Err(StoreError::Damaged { path: path.to_owned(), why: "a page is not as it was written".to_owned() }),
    }
}

fn failed(path: &Path, error: redb::Error) -> StoreError {
    let damaged = |why| StoreError::Damaged { path: path.to_owned(), why };
    match error {
        // The file does not begin as a database, or ends too early. The disk is sound.
        redb::Error::Io(source)
            if matches!(source.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof) =>
        {
            damaged(source.to_string())
        }
        redb::Error::Io(source) => system(path, source),
        redb::Error::Corrupted(why) => damaged(why),
        error => StoreError::Database { path: path.to_owned(), why: error.to_string() },
    }
}

/// What the operating system refused. A file that is there and may not be used is not a missing one.
fn system(path: &Path, source: io::Error) -> StoreError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            StoreError::Permission { path, user: rustix::process::geteuid().as_raw(), source }
        }
        _ => StoreError::File { path, source },
    }
}

/// Why no record is seen in a folder. Only where there is none may another be made.
fn absent(folder: &Path, path: &Path, source: io::Error) -> StoreError {
    match source.kind() {
        io::ErrorKind::NotFound => StoreError::Missing(folder.to_owned()),
        _ => system(path, source),
    }
}

/// Locks a folder that only its owner can enter. Whoever has locked it may take so long to give it up.
fn lock(folder: &Path, patience: Duration) -> Result<File, StoreError> {
    let found = fs::metadata(folder).map_err(|error| system(folder, error))?;
    refuse_other_readers(&found).map_err(|OtherReaders { mode }| StoreError::Mode { path: folder.to_owned(), mode })?;
    let begun = Instant::now();
    loop {
        if let Some(lock) = lock_file(&folder.join(LOCK)).map_err(|error| system(folder, error))? {
            return Ok(lock);
        }
        if begun.elapsed() >= patience {
            return Err(StoreError::InUse(folder.to_owned()));
        }
        thread::sleep(PAUSE);
    }
}

/// A command that looks at the record of a signer that does not run has it for less.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(100);

fn json(path: &Path, config: &Config) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(config).map_err(|error| StoreError::Database { path: path.to_owned(), why: error.to_string() })
}

fn read_config(database: &Database) -> Result<Option<Vec<u8>>, redb::Error> {
    let table = database.begin_read()?.open_table(CONFIG)?;
    Ok(table.get(())?.map(|config| config.value().to_vec()))
}

/// A record without a floor allows nothing.
fn floor_of(table: &impl ReadableTable<(), u64>) -> Result<u64, redb::Error> {
    Ok(table.get(())?.map_or(u64::MAX, |floor| floor.value()))
}

/// A record that no signer with a watch has used has none.
fn clock_of(database: &Database) -> Result<Option<u64>, redb::Error> {
    match database.begin_read()?.open_table(CLOCK) {
        Ok(table) => Ok(table.get(())?.map(|epoch| epoch.value())),
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// A record that does not say so is retired.
fn retired_of(table: &impl ReadableTable<(), bool>) -> Result<bool, redb::Error> {
    Ok(table.get(())?.is_none_or(|retired| retired.value()))
}

type TaskKey<'a> = (&'a [u8; 32], u64, &'a [u8; 20]);
type TaskValue<'a> = (u64, &'a [u8; 32], bool);

fn of_id(table: &impl ReadableTable<TaskKey<'static>, TaskValue<'static>>, id: B256) -> Result<Vec<Task>, redb::Error> {
    let mut tasks = Vec::new();
    for entry in table.range((&id.0, 0, &[0; 20])..=(&id.0, u64::MAX, &[0xff; 20]))? {
        let (key, value) = entry?;
        tasks.push(signed_task(key.value(), value.value()));
    }
    Ok(tasks)
}

fn signed_task((id, epoch, snapshot): TaskKey<'_>, (performer, result, approved): TaskValue<'_>) -> Task {
    let (id, snapshot, result) = (B256::from(id), SnapshotId::from(snapshot), B256::from(result));
    Task { epoch, snapshot, id, performer, result, approved }
}

fn insert(transaction: &WriteTransaction, task: &Task) -> Result<(), redb::Error> {
    let Task { epoch, snapshot, id, performer, result, approved } = task;
    transaction.open_table(TASKS)?.insert((&id.0, *epoch, &snapshot.0), (*performer, &result.0, *approved))?;
    transaction.open_table(EPOCHS)?.insert((*epoch, &id.0, &snapshot.0), ())?;
    Ok(())
}

/// Removes some tasks of epochs up to the last one. Whether there were any. Then the floor must be raised in the same
/// transaction.
fn remove(transaction: &WriteTransaction, last: u64) -> Result<bool, redb::Error> {
    let mut epochs = transaction.open_table(EPOCHS)?;
    let mut old: Vec<(u64, [u8; 32], [u8; 20])> = Vec::new();
    for entry in epochs.range(..=(last, &[0xff; 32], &[0xff; 20]))?.take(REMOVED) {
        let (key, _) = entry?;
        let (epoch, id, snapshot) = key.value();
        old.push((epoch, *id, *snapshot));
    }
    let mut tasks = transaction.open_table(TASKS)?;
    for (epoch, id, snapshot) in &old {
        epochs.remove((*epoch, id, snapshot))?;
        tasks.remove((id, *epoch, snapshot))?;
    }
    Ok(!old.is_empty())
}

fn raise_floor(transaction: &WriteTransaction, floor: u64) -> Result<u64, redb::Error> {
    let mut table = transaction.open_table(FLOOR)?;
    let floor = floor.max(floor_of(&table)?);
    table.insert((), floor)?;
    Ok(floor)
}

#[cfg(test)]
mod tests {
    use std::{
        num::NonZeroU64,
        os::unix::fs::{PermissionsExt as _, symlink},
    };

    use quorate_evm::{
        KeyGroup,
        alloy_primitives::{Address, Bytes},
    };
    use quorate_signer_client::{network::NetworkTerms, record_file::RecordIdentity};

    use super::*;

    /// A record of a network with epochs of 100 seconds from second 1000 on.
    fn new_store(folder: &Path) -> Store {
        let (contract, epoch_length) = (Address::repeat_byte(0xc0), NonZeroU64::new(100).expect("not zero"));
        let network = NetworkTerms { chain_id: 5, contract, genesis: 1000, epoch_length, slashing_window: 150 };
        let identity = RecordIdentity { network, key_group: KeyGroup::Bls12381G2, public_key: Bytes::from([9; 192]) };
        Store::create(folder, &Config { identity, verifier: contract, operator: contract }, 0).expect("a new record")
    }

    /// The signer runs all the time, and the disk is full for five epochs.
    #[test]
    fn time_that_passes_while_the_disk_fails_is_no_jump() {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data");
        let mut store = new_store(&data);
        store.watch(ClockWatch { accepted: None });
        let at = |epoch: u64| 1000 + 100 * epoch;
        assert_eq!(store.look_at_clock(at(7)).expect("writes"), None);
        let in_the_way = data.join("record.redb.new");
        fs::create_dir(&in_the_way).expect("in the way of the new file");
        store.with(|_| Err::<(), _>(redb::Error::Io(io::ErrorKind::StorageFull.into()))).expect_err("a full disk");
        // A clock that jumps meanwhile is not believed for that.
        for epoch in [8, 9, 10, 11, 12, 900, 13] {
            assert!(store.look_at_clock(at(epoch)).is_err());
        }
        fs::remove_dir(&in_the_way).expect("room again");
        let jump = ClockJump { current: 900, believed: 13, now: at(900) };
        assert_eq!(store.look_at_clock(at(900)).expect("reads"), Some(jump));
        assert_eq!(store.look_at_clock(at(14)).expect("writes"), None);
        drop(store);
        assert_eq!(Store::open(&data).expect("opens").seen, Some(14));
    }

    /// Another user's folder, a folder that is a file, a disk that is read-only: a record may be there, and a second one for the
    /// same key would sign what the first one forbids.
    #[test]
    fn a_record_that_may_not_be_read_is_not_a_missing_one() {
        let (folder, path) = (Path::new("/data"), Path::new("/data/record.redb"));
        for kind in [
            io::ErrorKind::PermissionDenied,
            io::ErrorKind::ReadOnlyFilesystem,
            io::ErrorKind::NotADirectory,
            io::ErrorKind::StaleNetworkFileHandle,
            io::ErrorKind::Other,
        ] {
            for error in [absent(folder, path, kind.into()), failed(path, redb::Error::Io(kind.into()))] {
                let text = format!("{:#}", anyhow::Error::from(error));
                assert!(!text.contains("init") && text.contains("/data/record.redb"), "{kind:?}: {text}");
                let permission = matches!(kind, io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem);
                assert_eq!(text.contains("may not use it"), permission, "{text}");
            }
        }
        assert!(matches!(absent(folder, path, io::ErrorKind::NotFound.into()), StoreError::Missing(_)));
    }

    #[test]
    fn a_record_whose_disk_is_away_is_not_a_missing_one() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).expect("chmod");
        symlink("/no/such/disk/record.redb", folder.path().join(RECORD)).expect("a link");
        assert!(matches!(Store::open(folder.path()), Err(StoreError::Linked(_))));
        fs::write(folder.path().join("file"), "").expect("writes");
        let beneath = Store::open(&folder.path().join("file/data"));
        assert!(matches!(beneath, Err(StoreError::File { .. })), "{beneath:?}");
    }

    /// Two folders, each with its own lock, that lead to one record: after the first kill there would be two.
    #[test]
    fn a_record_with_two_names_is_not_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let [data, other] = ["data", "other"].map(|name| folder.path().join(name));
        drop(new_store(&data));
        make_private_folder(&other).expect("a folder");
        symlink(data.join(RECORD), other.join(RECORD)).expect("a link");
        let error = Store::open(&other).expect_err("a link");
        assert!(matches!(&error, StoreError::Linked(path) if *path == other.join(RECORD)), "{error:?}");
        drop(Store::open(&data).expect("the record itself"));
        fs::remove_file(other.join(RECORD)).expect("removes");
        fs::hard_link(data.join(RECORD), other.join(RECORD)).expect("a second name");
        for folder in [&data, &other] {
            let error = Store::open(folder).expect_err("two names");
            assert!(matches!(&error, StoreError::Linked(_)), "{error:?}");
        }
        fs::remove_file(other.join(RECORD)).expect("removes");
        drop(Store::open(&data).expect("one name"));
    }

    /// Whoever can write the folder can put a link in place of the lock. Nothing is made where it points.
    #[test]
    fn a_lock_that_is_a_link_is_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (data, elsewhere) = (folder.path().join("data"), folder.path().join("elsewhere"));
        make_private_folder(&data).expect("a folder");
        symlink(&elsewhere, data.join(LOCK)).expect("a link");
        let error = lock(&data, Duration::ZERO).expect_err("a link");
        assert!(matches!(&error, StoreError::File { .. }), "{error:?}");
        assert!(!elsewhere.exists());
    }
}
