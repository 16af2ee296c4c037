//! The store: nothing that nobody verified is ever read from it.

use std::{
    fs,
    io::{Read, Seek, SeekFrom, Write},
    path::Path,
    time::Duration,
};

use quorate::{ClaimBytes, Messages, MinPk, MinSig, Soundness, Suite};
use quorate_batcher::{KnownStore, OpenedStore, StoreError, StoreSettings};

/// Now.
const NOW: u64 = 1_790_000_000;

/// A claim, which the store does not verify.
fn claim(i: u32) -> ClaimBytes {
    ClaimBytes::single(MinPk::Eth2.any(), &[7; 48], &i.to_be_bytes(), &[i.to_le_bytes(); 24].concat())
}

fn open(folder: &Path) -> (KnownStore, OpenedStore) {
    KnownStore::open(folder, StoreSettings::default()).unwrap()
}

fn filled(folder: &Path, n: u32) {
    let (store, opened) = open(folder);
    assert_eq!(opened, OpenedStore::New);
    assert_eq!(store.put(&(0..n).map(claim).collect::<Vec<_>>(), NOW).unwrap(), n as usize);
}

#[test]
fn statements_come_back_by_suite_key_and_message() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), 10);
    let (store, opened) = open(folder.path());
    assert_eq!(opened, OpenedStore::Existing { records: 10 });
    for i in 0..10 {
        assert_eq!(store.signature(&claim(i), 0, NOW).unwrap(), Some(claim(i).signature));
    }
    let others = [
        claim(10),
        ClaimBytes { suite: MinPk::Basic.any(), ..claim(1) },
        ClaimBytes { suite: MinSig::Basic.any(), ..claim(1) },
        ClaimBytes { public_keys: vec![vec![8; 48]].into(), ..claim(1) },
        ClaimBytes { public_keys: vec![].into(), ..claim(1) },
        ClaimBytes { messages: Messages::ProofOfPossession, ..claim(1) },
        // The boundary between key and message is a part of the statement.
        ClaimBytes::single(MinPk::Eth2.any(), &[[7; 48].as_slice(), &[0]].concat(), &[0, 0, 1], &[]),
    ];
    for other in others {
        assert_eq!(store.signature(&other, 0, NOW).unwrap(), None, "{other:?}");
    }
    // A block is looked up statement by statement.
    let messages = (0..12u32).map(|i| i.to_be_bytes()[..].into()).collect();
    let block =
        ClaimBytes { public_keys: vec![vec![7; 48]; 12].into(), messages: Messages::Each(messages), ..claim(0) };
    let found = store.signatures(&block, &(0..13).collect::<Vec<_>>(), NOW).unwrap();
    assert_eq!(found.iter().filter(|signature| signature.is_some()).count(), 10);
    let newest = store.newest(100, NOW).unwrap();
    assert_eq!(newest.len(), 10);
    assert!(newest.iter().all(|known| (0..10).any(|i| *known == claim(i))));
    assert_eq!(store.newest(3, NOW).unwrap().len(), 3);
}

/// What is old, what comes from the future, and what is too much is not there. A clock that jumps only forgets.
#[test]
fn clock_set_back_or_forward() {
    let folder = tempfile::tempdir().unwrap();
    let settings = StoreSettings { age: Duration::from_secs(100), most: 5 };
    let (store, _) = KnownStore::open(folder.path(), settings).unwrap();
    store.put(&[claim(1)], NOW).unwrap();
    let there = |now| store.signature(&claim(1), 0, now).unwrap().is_some();
    assert!(there(NOW) && there(NOW + 100) && there(NOW - 60));
    assert!(!there(NOW + 101) && !there(NOW - 61) && !there(0) && !there(u64::MAX));
    assert!(store.newest(10, NOW - 61).unwrap().is_empty());
    // It is removed when something is written after its time, and a statement that comes again gets a new time.
    store.put(&[claim(2)], NOW + 50).unwrap();
    store.put(&[claim(1)], NOW + 90).unwrap();
    store.put(&[claim(3)], NOW + 160).unwrap();
    assert_eq!(store.records().unwrap(), 2);
    assert!(there(NOW + 160));
    store.put(&(10..30).map(claim).collect::<Vec<_>>(), NOW + 170).unwrap();
    assert_eq!(store.records().unwrap(), 5);
    assert_eq!(store.put(&[], NOW).unwrap(), 0);
}

#[test]
fn claims_of_several_statements_and_long_messages_are_not_stored() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = open(folder.path());
    let several = ClaimBytes { public_keys: vec![vec![7; 48]; 2].into(), ..claim(1) };
    let none = ClaimBytes { public_keys: vec![].into(), ..claim(1) };
    let long = ClaimBytes::single(MinPk::Eth2.any(), &[7; 48], &[0; KnownStore::LONGEST_MESSAGE + 1], &[1; 96]);
    assert_eq!(store.put(&[several, none, long], NOW).unwrap(), 0);
    assert_eq!(store.records().unwrap(), 0);
}

/// Whatever byte of the file is changed, what is read is what was written, or nothing.
#[test]
fn a_damaged_file_never_makes_a_record() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), 200);
    let file = folder.path().join("known.redb");
    let (original, key) = (fs::read(&file).unwrap(), fs::read(folder.path().join("known.key")).unwrap());
    let used: Vec<_> = original.iter().enumerate().filter(|(_, byte)| **byte != 0).map(|(at, _)| at).collect();
    let (mut set_aside, mut whole) = (0, 0);
    // Bytes all over the file, and each of the first ones, which say where everything else is.
    let places = used.iter().copied().take(40).chain((0..60).map(|i| used[i * 7919 % used.len()]));
    for place in places {
        let folder = tempfile::tempdir().unwrap();
        let mut damaged = original.clone();
        damaged[place] ^= 0x41;
        fs::write(folder.path().join("known.redb"), damaged).unwrap();
        write_key(folder.path(), &key);
        let (store, opened) = open(folder.path());
        match opened {
            OpenedStore::SetAside { to, .. } => {
                assert!(to.exists());
                set_aside += 1;
            }
            _ => whole += 1,
        }
        for i in 0..200 {
            let signature = store.signature(&claim(i), 0, NOW).unwrap_or(None);
            assert!(signature.is_none_or(|signature| signature == claim(i).signature), "byte {place}, record {i}");
        }
        for known in store.newest(1000, NOW).unwrap_or_default() {
            assert!((0..200).any(|i| known == claim(i)), "byte {place}");
        }
    }
    println!("{set_aside} damaged stores were set aside, {whole} could be used");
    assert!(set_aside > 0);
}

/// Two programs of different settings have one store in turn. A false claim passes in the one with a greater probability.
#[test]
fn what_was_verified_with_a_weaker_bound_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let opened = |soundness| open(folder.path()).0.with_soundness(soundness);
    for (i, soundness) in [(0, Soundness::Bits64), (1, Soundness::Bits128)] {
        opened(soundness).put(&[claim(i)], NOW).unwrap();
    }
    let known = |store: &KnownStore| {
        let is_known = |i: &u32| store.signature(&claim(*i), 0, NOW).unwrap() == Some(claim(*i).signature);
        let newest = store.newest(5, NOW).unwrap();
        let known = (0..2).filter(is_known).collect::<Vec<_>>();
        assert_eq!(known, (0..2).filter(|i| newest.contains(&claim(*i))).collect::<Vec<_>>());
        known
    };
    assert_eq!(known(&opened(Soundness::Bits64)), [0, 1]);
    assert_eq!(known(&opened(Soundness::default())), [0, 1]);
    let strict = opened(Soundness::Bits128);
    assert_eq!(known(&strict), [1]);
    // Verified again, it is there.
    strict.put(&[claim(0)], NOW).unwrap();
    assert_eq!((known(&strict), strict.records().unwrap()), (vec![0, 1], 2));
}

/// A clock was far ahead for a moment. What it wrote counted against the others, and the fresh ones went first.
#[test]
fn records_from_the_future_make_room() {
    let folder = tempfile::tempdir().unwrap();
    let settings = StoreSettings { age: Duration::from_secs(100_000_000), most: 5 };
    let (store, _) = KnownStore::open(folder.path(), settings).unwrap();
    let future = NOW + 10_000_000;
    assert_eq!(store.put(&(10..15).map(claim).collect::<Vec<_>>(), future).unwrap(), 5);
    assert_eq!(store.newest(5, future).unwrap().len(), 5);
    store.put(&[claim(1)], NOW).unwrap();
    assert_eq!(store.records().unwrap(), 1);
    assert_eq!(store.signature(&claim(1), 0, NOW).unwrap(), Some(claim(1).signature));
    assert_eq!(store.newest(1, NOW).unwrap().len(), 1);
    // A clock that is a little behind forgets nothing.
    store.put(&[claim(2)], NOW - 60).unwrap();
    assert_eq!(store.newest(9, NOW - 60).unwrap().len(), 2);
    // Also where nothing is written, they hide none of the others.
    store.put(&[claim(3)], future).unwrap();
    assert_eq!(store.newest(1, NOW).unwrap().len(), 1);
}

fn write_key(folder: &Path, key: &[u8]) {
    let path = folder.join("known.key");
    fs::write(&path, key).unwrap();
    #[cfg(unix)]
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
}

/// A store is set aside if it is not a store, is cut off, or its key is gone, wrong, short, or was readable for others.
#[test]
fn stores_that_cannot_be_trusted_are_set_aside() {
    type Harm = fn(&Path);
    let cases: [(&str, Harm); 7] = [
        ("", |folder| fs::write(folder.join("known.redb"), b"not a database").unwrap()),
        ("", |folder| {
            let file = fs::OpenOptions::new().write(true).open(folder.join("known.redb")).unwrap();
            file.set_len(5000).unwrap();
        }),
        ("", |folder| fs::write(folder.join("known.redb"), b"").unwrap()),
        ("another key", |folder| write_key(folder, &[9; 32])),
        ("cannot open", |folder| fs::remove_file(folder.join("known.key")).unwrap()),
        ("has 31 bytes, expected 32", |folder| write_key(folder, &[9; 31])),
        #[cfg(unix)]
        ("other users can read it (mode 644)", |folder| {
            let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o644);
            fs::set_permissions(folder.join("known.key"), permissions).unwrap();
        }),
    ];
    for (expected, harm) in cases {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path(), 3);
        harm(folder.path());
        let (store, opened) = open(folder.path());
        let OpenedStore::SetAside { to, why } = opened else { panic!("{expected}: {opened:?}") };
        assert!(why.contains(expected), "{why}");
        assert!(to.exists());
        assert_eq!(store.records().unwrap(), 0);
        store.put(&[claim(1)], NOW).unwrap();
        drop(store);
        let (store, opened) = open(folder.path());
        assert_eq!(opened, OpenedStore::Existing { records: 1 });
        assert_eq!(store.signature(&claim(1), 0, NOW).unwrap(), Some(claim(1).signature));
    }
}

/// Somebody who can write the file, but not read the key, exchanges records, changes their times and signatures, and puts a
/// record in another one's place. Nothing of it is there.
#[test]
fn forged_records_are_not_there() {
    use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
    const RECORDS: TableDefinition<'_, &[u8; 32], &[u8]> = TableDefinition::new("statements");
    type Forge = fn(&mut Vec<([u8; 32], Vec<u8>)>);
    let forgeries: [Forge; 5] = [
        |records| {
            let first = records[0].1.clone();
            records[0].1 = std::mem::replace(&mut records[1].1, first);
        },
        |records| records.iter_mut().for_each(|(_, record)| record[7] ^= 1),
        |records| records.iter_mut().for_each(|(_, record)| record[8] ^= 1),
        |records| records.iter_mut().for_each(|(_, record)| *record.last_mut().unwrap() ^= 1),
        |records| records.iter_mut().for_each(|(_, record)| record.truncate(20)),
    ];
    for (i, forge) in forgeries.into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path(), 2);
        let database = Database::open(folder.path().join("known.redb")).unwrap();
        let read = database.begin_read().unwrap().open_table(RECORDS).unwrap();
        let records = read.iter().unwrap().map(|entry| {
            let (name, record) = entry.unwrap();
            (*name.value(), record.value().to_vec())
        });
        let mut records: Vec<_> = records.collect();
        assert_eq!(records.len(), 2);
        forge(&mut records);
        let write = database.begin_write().unwrap();
        for (name, record) in &records {
            write.open_table(RECORDS).unwrap().insert(name, &record[..]).unwrap();
        }
        write.commit().unwrap();
        drop((read, database));
        let (store, opened) = open(folder.path());
        assert_eq!(opened, OpenedStore::Existing { records: 2 });
        for claim in [claim(0), claim(1)] {
            assert_eq!(store.signature(&claim, 0, NOW).unwrap(), None, "forgery {i}");
        }
        assert!(store.newest(10, NOW).unwrap().is_empty(), "forgery {i}");
    }
}

/// Statements that are kept beside the records, so that a node that starts can read them, are checked as well.
#[test]
fn forged_statements_are_not_there() {
    use redb::{Database, TableDefinition};
    const TIMES: TableDefinition<'_, (u64, &[u8; 32]), &[u8]> = TableDefinition::new("times");
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), 2);
    let database = Database::open(folder.path().join("known.redb")).unwrap();
    let write = database.begin_write().unwrap();
    {
        let mut times = write.open_table(TIMES).unwrap();
        let mut entries = Vec::new();
        while let Some((key, statement)) = times.pop_first().unwrap() {
            let (time, name) = key.value();
            entries.push(((time, *name), statement.value().to_vec()));
        }
        let first = entries[0].1.clone();
        entries[0].1 = std::mem::replace(&mut entries[1].1, first);
        for ((time, name), statement) in &entries {
            times.insert((*time, name), &statement[..]).unwrap();
        }
    }
    write.commit().unwrap();
    drop(database);
    let (store, _) = open(folder.path());
    assert!(store.newest(10, NOW).unwrap().is_empty());
    assert_eq!(store.signature(&claim(0), 0, NOW).unwrap(), Some(claim(0).signature));
}

/// A process was killed while it made the store: what it has left is in nobody's way.
#[test]
fn a_store_that_was_never_finished() {
    for left in [&b""[..], b"half of a database", &[0; 8192]] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("known.redb.new"), left).unwrap();
        filled(folder.path(), 3);
        assert!(!folder.path().join("known.redb.new").exists());
        assert_eq!(open(folder.path()).1, OpenedStore::Existing { records: 3 });
    }
}

/// The key is private from its first moment.
#[cfg(unix)]
#[test]
fn the_key_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), 1);
    let mode = fs::metadata(folder.path().join("known.key")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_store_has_one_owner() {
    let folder = tempfile::tempdir().unwrap();
    let (_store, _) = open(folder.path());
    let error = KnownStore::open(folder.path(), StoreSettings::default()).unwrap_err();
    assert!(matches!(error, StoreError::InUse(_)), "{error}");
    assert!(error.to_string().contains("give each process a folder of its own"));
}

#[test]
fn a_folder_that_cannot_be_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), b"").unwrap();
    let error = KnownStore::open(&folder.path().join("file"), StoreSettings::default()).unwrap_err();
    assert!(error.to_string().contains("file"), "{error}");
}

/// Records that are moved to another statement's place, or whose time is changed, are not there: the file has nothing
/// that can be exchanged.
#[test]
fn records_cannot_be_exchanged() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path(), 2);
    let path = folder.path().join("known.redb");
    let bytes = fs::read(&path).unwrap();
    let places = |i: u32| {
        let signature = claim(i).signature;
        bytes.windows(96).enumerate().filter(|(_, window)| **window == signature).map(|(at, _)| at).collect::<Vec<_>>()
    };
    let (one, two) = (places(0), places(1));
    assert!(!two.is_empty());
    let mut file = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    for (from, to) in [(0, &two), (1, &one)] {
        for place in to {
            file.seek(SeekFrom::Start(*place as u64)).unwrap();
            file.write_all(&claim(from).signature).unwrap();
        }
    }
    let mut changed = Vec::new();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.read_to_end(&mut changed).unwrap();
    assert_ne!(changed, bytes);
    drop(file);
    let (store, _) = open(folder.path());
    for i in 0..2 {
        assert_eq!(store.signature(&claim(i), 0, NOW).unwrap_or(None), None);
    }
}
