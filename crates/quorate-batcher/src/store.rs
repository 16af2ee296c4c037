//! Verified statements on disk, so that a node that restarts does not start from nothing.
//!
//! The store is a cache, and a dangerous one: a record that nobody verified would make false claims pass, because known
//! statements are subtracted. So it fails closed.
//!
//! - Every record carries a MAC (HMAC-SHA256, 128 bits of it) under a key that lies in a file of its own, which only its
//!   owner can read. A record whose MAC is wrong is not there.
//! - A record is found by the MAC of its statement, so that the file shows nobody which statements it has.
//! - A record that is older than the age limit, or that comes from the future, is not there. So a clock that jumps only
//!   makes the store forget.
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

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use hmac::{Hmac, KeyInit, Mac};
use quorate::{AnySuite, ClaimBytes, Messages, Suite};
use quorate_host::contained;
use rand::Rng;
use redb::{
    Database, DatabaseError, ReadableDatabase, ReadableTable, ReadableTableMetadata, StorageError, TableDefinition,
};
use sha2::Sha256;

/// What the store keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreSettings {
    /// A record that is older is not there. Default: a day.
    pub age: Duration,
    /// The most records. The oldest are removed first. Default: a million, which take about 200 MB.
    pub most: u64,
}

impl Default for StoreSettings {
    fn default() -> Self {
        Self { age: Duration::from_secs(24 * 3600), most: 1_000_000 }
    }
}

/// Verified statements with their signatures, in a folder.
#[derive(Debug)]
pub struct KnownStore {
    database: Database,
    settings: StoreSettings,
    key: [u8; 32],
}

/// What was found in the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Opened {
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
    /// Another process has it open.
    #[error("{}: another process has this store open; give each process a folder of its own", .0.display())]
    InUse(PathBuf),
    /// A file or folder cannot be read or written.
    #[error("{}: {}", path.display(), error)]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The database reports an error, such as a full disk.
    #[error("the store of known statements: {0}")]
    Database(String),
}

/// By the MAC of a statement: version, time of verification, MAC, signature.
const RECORDS: TableDefinition<'_, &[u8; 32], &[u8]> = TableDefinition::new("statements");
/// The same statements by time, for those that are too old or too many.
const TIMES: TableDefinition<'_, (u64, &[u8; 32]), &[u8]> = TableDefinition::new("times");
/// The MAC of nothing, by which a key is recognised.
const KEY_CHECK: TableDefinition<'_, &str, &[u8; 32]> = TableDefinition::new("key");

/// In the folder.
const DATABASE: &str = "known.redb";
const KEY: &str = "known.key";
/// A clock may be so much slower than the one that wrote a record.
const SLACK: u64 = 60;
/// How many records of too many are removed at a time.
const REMOVED: usize = 10_000;
const MAC_LENGTH: usize = 16;

impl KnownStore {
    /// Statements with longer messages are not stored.
    pub const LONGEST_MESSAGE: usize = 1024;

    /// Opens the store in a folder, or makes one. A store that cannot be used is set aside.
    ///
    /// # Errors
    /// [`StoreError`] if another process has it open, or if the folder cannot be written.
    pub fn open(folder: &Path, settings: StoreSettings) -> Result<(Self, Opened), StoreError> {
        fs::create_dir_all(folder).map_err(|error| StoreError::File { path: folder.to_owned(), error })?;
        let (database, key) = (folder.join(DATABASE), folder.join(KEY));
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
            match Self::open_existing(&database, &settings, key)? {
                Ok((store, records)) => return Ok((store, Opened::Existing { records })),
                Err(problem) => why = Some(problem),
            }
        }
        let set_aside = match why {
            Some(why) => Some((set_aside(&database)?, why)),
            None => None,
        };
        let store = Self::create(&database, &key, settings)?;
        Ok((store, set_aside.map_or(Opened::New, |(to, why)| Opened::SetAside { to, why })))
    }

    /// The store in a file, or why it cannot be used.
    fn open_existing(
        path: &Path,
        settings: &StoreSettings,
        key: [u8; 32],
    ) -> Result<Result<(Self, u64), String>, StoreError> {
        // The database checks its pages, but a damaged length can make it panic. Nothing of it is used then.
        let opened = contained(|| {
            let database = Database::builder().set_check_integrity_on_open(true).open(path)?;
            let store = Self { database, settings: settings.clone(), key };
            let (known, records) = (store.key_check()?, store.len()?);
            Ok::<_, redb::Error>((store, known, records))
        });
        Ok(match opened {
            Err(_) => Err("its file is damaged".to_owned()),
            Ok(Err(redb::Error::DatabaseAlreadyOpen)) => return Err(StoreError::InUse(path.to_owned())),
            Ok(Err(error)) => Err(error.to_string()),
            Ok(Ok((store, true, records))) => Ok((store, records)),
            Ok(Ok(_)) => Err("it was written with another key".to_owned()),
        })
    }

    /// Makes an empty store. It gets its name when it is whole, so that a process that is killed meanwhile leaves nothing that
    /// looks like a damaged store.
    fn create(path: &Path, key_file: &Path, settings: StoreSettings) -> Result<Self, StoreError> {
        let file = |path: &Path, error| StoreError::File { path: path.to_owned(), error };
        let key = write_key(key_file).map_err(|error| file(key_file, error))?;
        let new = path.with_extension("redb.new");
        let created = match Database::create(&new) {
            Err(DatabaseError::DatabaseAlreadyOpen) => return Err(StoreError::InUse(path.to_owned())),
            // What a killed process has left.
            Err(_) if new.exists() => {
                fs::remove_file(&new).map_err(|error| file(&new, error))?;
                Database::create(&new)
            }
            created => created,
        };
        let database = created.map_err(|error| match error {
            DatabaseError::Storage(StorageError::Io(error)) => file(&new, error),
            error => StoreError::Database(error.to_string()),
        })?;
        let store = Self { database, settings, key };
        store.write_key_check()?;
        fs::rename(&new, path).map_err(|error| file(&new, error))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        sync_folder(folder).map_err(|error| file(folder, error))?;
        Ok(store)
    }

    /// How many records it has, those that are too old included.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub fn records(&self) -> Result<u64, StoreError> {
        Ok(self.len()?)
    }

    /// Writes statements that were just verified, each a claim of one statement. When it returns, they are on disk.
    /// Claims of several statements are left out, because only the sum of their signatures is known, and so are messages of
    /// more than [`LONGEST_MESSAGE`](Self::LONGEST_MESSAGE) bytes, so that the number of records bounds the space on disk.
    ///
    /// `now` is Unix time in seconds. It removes what is too old, and what is too much.
    ///
    /// # Errors
    /// [`StoreError::Database`], for example if the disk is full. Then none of the claims is written.
    pub fn put(&self, claims: &[ClaimBytes], now: u64) -> Result<usize, StoreError> {
        Ok(self.write(claims, now)?)
    }

    fn write(&self, claims: &[ClaimBytes], now: u64) -> Result<usize, redb::Error> {
        let transaction = self.database.begin_write()?;
        let mut written = 0;
        {
            let mut records = transaction.open_table(RECORDS)?;
            let mut times = transaction.open_table(TIMES)?;
            for claim in claims.iter().filter(|claim| claim.statements() == 1) {
                if statement(claim, 0).is_none_or(|statement| statement.message.len() > Self::LONGEST_MESSAGE) {
                    continue;
                }
                let Some(name) = self.name(claim, 0) else { continue };
                let record = self.record(&name, now, &claim.signature);
                let before = records.insert(&name, &record[..])?.and_then(|old| time_of(old.value()));
                if let Some(before) = before {
                    times.remove((before, &name))?;
                }
                times.insert((now, &name), &self.restored(claim)[..])?;
                written += 1;
            }
            let oldest = now.saturating_sub(self.settings.age.as_secs());
            let surplus = records.len()?.saturating_sub(self.settings.most).min(REMOVED as u64) as usize;
            let old = times.iter()?.enumerate().map_while(|(i, entry)| match entry {
                Ok((time, _)) => {
                    let (time, name) = time.value();
                    // One time in the future does not stop the removal of the others.
                    (i < surplus || time < oldest).then_some(Ok((time, *name)))
                }
                Err(error) => Some(Err(error)),
            });
            let old: Vec<_> = old.take(REMOVED).collect::<Result<_, _>>()?;
            for (time, name) in old {
                times.remove((time, &name))?;
                records.remove(&name)?;
            }
        }
        transaction.commit()?;
        Ok(written)
    }

    /// The signature of a claim's statement with an index, if it was verified and its record is not too old.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub fn signature(&self, claim: &ClaimBytes, index: usize, now: u64) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.signatures(claim, &[index], now)?.pop().flatten())
    }

    /// The same for several statements of a claim.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub fn signatures(
        &self,
        claim: &ClaimBytes,
        indices: &[usize],
        now: u64,
    ) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        Ok(self.read(claim, indices, now)?)
    }

    fn read(&self, claim: &ClaimBytes, indices: &[usize], now: u64) -> Result<Vec<Option<Vec<u8>>>, redb::Error> {
        let records = self.database.begin_read()?.open_table(RECORDS)?;
        let signature = |index: &usize| {
            let Some(name) = self.name(claim, *index) else { return Ok(None) };
            let record = records.get(&name)?;
            Ok(record.and_then(|record| self.checked(&name, record.value(), now).map(<[u8]>::to_vec)))
        };
        indices.iter().map(signature).collect()
    }

    /// The newest statements, as claims that were verified: for the memory of a node that starts.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub fn newest(&self, most: usize, now: u64) -> Result<Vec<ClaimBytes>, StoreError> {
        Ok(self.read_newest(most, now)?)
    }

    fn read_newest(&self, most: usize, now: u64) -> Result<Vec<ClaimBytes>, redb::Error> {
        let transaction = self.database.begin_read()?;
        let (records, times) = (transaction.open_table(RECORDS)?, transaction.open_table(TIMES)?);
        let mut claims = Vec::new();
        for entry in times.iter()?.rev().take(most) {
            let (key, statement) = entry?;
            let (_, name) = key.value();
            let Some(record) = records.get(name)? else { continue };
            let Some(signature) = self.checked(name, record.value(), now) else { continue };
            // The statement has no MAC of its own, but its name is one.
            let Some(claim) = parse_statement(statement.value(), signature) else { continue };
            if self.name(&claim, 0).as_ref() == Some(name) {
                claims.push(claim);
            }
        }
        Ok(claims)
    }

    fn len(&self) -> Result<u64, redb::Error> {
        Ok(self.database.begin_read()?.open_table(RECORDS)?.len()?)
    }

    fn key_check(&self) -> Result<bool, redb::Error> {
        let checks = self.database.begin_read()?.open_table(KEY_CHECK)?;
        let check = checks.get("check")?;
        Ok(check.is_some_and(|check| self.mac("key check").verify_slice(check.value()).is_ok()))
    }

    fn write_key_check(&self) -> Result<(), redb::Error> {
        let transaction = self.database.begin_write()?;
        let check: [u8; 32] = self.mac("key check").finalize().into_bytes().into();
        transaction.open_table(KEY_CHECK)?.insert("check", &check)?;
        transaction.open_table(RECORDS)?;
        transaction.open_table(TIMES)?;
        transaction.commit()?;
        Ok(())
    }

    fn mac(&self, purpose: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("HMAC takes keys of any length");
        mac.update(b"quorate known store 1 ");
        mac.update(purpose.as_bytes());
        mac.update(&[0]);
        mac
    }

    /// The name of a statement: the MAC of its suite, key and message. `None` if the claim has no such statement, or if
    /// nothing is subtracted from claims of its suite.
    fn name(&self, claim: &ClaimBytes, index: usize) -> Option<[u8; 32]> {
        let statement = statement(claim, index)?;
        let mut mac = self.mac("statement");
        for part in [statement.suite.as_bytes(), &[statement.kind], statement.key, statement.message] {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        Some(mac.finalize().into_bytes().into())
    }

    fn record(&self, name: &[u8; 32], now: u64, signature: &[u8]) -> Vec<u8> {
        let mac = self.record_mac(name, now, signature).finalize().into_bytes();
        [&now.to_be_bytes(), &mac[..MAC_LENGTH], signature].concat()
    }

    fn record_mac(&self, name: &[u8; 32], time: u64, signature: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.mac("record");
        mac.update(name);
        mac.update(&time.to_be_bytes());
        mac.update(signature);
        mac
    }

    /// The signature of a record, if the record is ours and not too old.
    fn checked<'r>(&self, name: &[u8; 32], record: &'r [u8], now: u64) -> Option<&'r [u8]> {
        let time = time_of(record)?;
        let (mac, signature) = record[8..].split_at_checked(MAC_LENGTH)?;
        self.record_mac(name, time, signature).verify_truncated_left(mac).ok()?;
        let fresh = time <= now.saturating_add(SLACK) && now.saturating_sub(time) <= self.settings.age.as_secs();
        fresh.then_some(signature)
    }

    /// What [`parse_statement`] reads.
    fn restored(&self, claim: &ClaimBytes) -> Vec<u8> {
        let Some(Statement { suite, kind, key, message }) = statement(claim, 0) else { return Vec::new() };
        let length = |bytes: &[u8]| (bytes.len() as u32).to_be_bytes();
        let suite = suite.as_bytes();
        [&[kind][..], &length(suite), suite, &length(key), key, message].concat()
    }
}

impl From<redb::Error> for StoreError {
    fn from(error: redb::Error) -> Self {
        Self::Database(error.to_string())
    }
}

/// What the name of a record is made of.
struct Statement<'a> {
    suite: &'a str,
    /// 0 for a message, 1 for a proof of possession.
    kind: u8,
    key: &'a [u8],
    message: &'a [u8],
}

fn statement(claim: &ClaimBytes, index: usize) -> Option<Statement<'_>> {
    let key = claim.public_keys.get(index)?;
    let (kind, message): (u8, &[u8]) = match &claim.messages {
        Messages::Shared(message) => (0, message),
        Messages::Each(messages) => (0, messages.get(index)?),
        Messages::ProofOfPossession => (1, &[]),
        _ => return None,
    };
    let suite = match claim.suite {
        AnySuite::MinPk(suite) => suite.name(),
        AnySuite::MinSig(suite) => suite.name(),
        #[allow(unreachable_patterns, reason = "a feature adds suites of which nothing is subtracted")]
        _ => return None,
    };
    Some(Statement { suite, kind, key, message })
}

fn parse_statement(bytes: &[u8], signature: &[u8]) -> Option<ClaimBytes> {
    let (kind, rest) = bytes.split_first()?;
    let (suite, rest) = counted(rest)?;
    let (key, message) = counted(rest)?;
    let suite = std::str::from_utf8(suite).ok()?.parse().ok()?;
    Some(match kind {
        0 => ClaimBytes::single(suite, key, message, signature),
        1 => ClaimBytes::proof_of_possession(suite, key, signature),
        _ => return None,
    })
}

/// A part with its length in front, and what follows it.
fn counted(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(u32::from_be_bytes(*length) as usize)
}

fn time_of(record: &[u8]) -> Option<u64> {
    record.first_chunk().map(|time| u64::from_be_bytes(*time))
}

/// Reads the key, if it is one that nobody else could read.
fn read_key(path: &Path) -> Result<[u8; 32], String> {
    let mut file = File::open(path).map_err(|error| format!("its key {} cannot be read: {error}", path.display()))?;
    let metadata = file.metadata().map_err(|error| format!("its key cannot be read: {error}"))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(format!("others could read its key {} (mode {mode:03o}, expected 600)", path.display()));
        }
    }
    if metadata.len() != 32 {
        return Err(format!("its key {} has {} bytes, expected 32", path.display(), metadata.len()));
    }
    let mut key = [0; 32];
    file.read_exact(&mut key).map_err(|error| format!("its key cannot be read: {error}"))?;
    Ok(key)
}

/// Makes a new key. It is in place, on disk and private before anything is written with it.
fn write_key(path: &Path) -> io::Result<[u8; 32]> {
    let mut key = [0; 32];
    rand::rng().fill_bytes(&mut key);
    let folder = path.parent().unwrap_or(Path::new("."));
    // A temporary file is made with mode 600.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&key)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    sync_folder(folder)?;
    Ok(key)
}

/// Renames a file so that it stays but is in nobody's way.
fn set_aside(path: &Path) -> Result<PathBuf, StoreError> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let name = |n: u32| path.with_file_name(format!("{DATABASE}.set-aside-{seconds}-{n}"));
    let to = (0..).map(name).find(|to| !to.exists()).expect("a number is free");
    fs::rename(path, &to).map_err(|error| StoreError::File { path: path.to_owned(), error })?;
    Ok(to)
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    OpenOptions::new().read(true).open(folder)?.sync_all()?;
    Ok(())
}
