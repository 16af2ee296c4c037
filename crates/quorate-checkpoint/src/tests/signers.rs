//! What a signer never signs.

use std::{fs, io::ErrorKind};

use super::*;

fn record(folder: &tempfile::TempDir) -> SignerRecord {
    SignerRecord::open(&folder.path().join("record")).unwrap()
}

#[test]
fn never_two_checkpoints_at_one_height() {
    let folder = tempfile::tempdir().unwrap();
    let (chain, key) = (chain(), key(2));
    let set = chain.newest();
    let first = record(&folder).sign(&at(100), set, &key).unwrap();
    assert_eq!(first.signatures[0], signature(set, &at(100), 2, 2));
    let mut record = record(&folder);
    let others = [
        Checkpoint { block_hash: [6; 32], ..at(100) },
        Checkpoint { expires_at: NOW + 2 * WEEK, ..at(100) },
        Checkpoint { previous: [4; 32], ..at(100) },
    ];
    for other in others {
        let (signed, found) = (at(100).digest(), other.digest());
        match record.sign(&other, set, &key).unwrap_err() {
            SignError::AnotherAtThisHeight { height: 100, signed: s, found: f } => assert_eq!((s, f), (signed, found)),
            error => panic!("{error}"),
        }
    }
    // The same one again gives the same signature, and no new line.
    assert_eq!(record.sign(&at(100), set, &key).unwrap(), first);
    assert_eq!(fs::read_to_string(record.path()).unwrap().lines().count(), 1);
    // The same checkpoint for another set of the same epoch is another thing.
    let twin = SignerSet::prove(manifest(1, 2, [2, 7, 8]), &mut rng()).unwrap();
    assert!(matches!(record.sign(&at(100), &twin, &key), Err(SignError::AnotherAtThisHeight { .. })));
}

#[test]
fn heights_only_rise() {
    let folder = tempfile::tempdir().unwrap();
    let (mut record, chain, key) = (record(&folder), chain(), key(0));
    let set = chain.newest();
    let zero = |height| Checkpoint { previous: [0; 32], ..at(height) };
    let old = record.sign(&zero(90), set, &key).unwrap();
    record.sign(&at(200), set, &key).unwrap();
    assert!(matches!(record.sign(&at(199), set, &key), Err(SignError::Lower { found: 199, signed: 200 })));
    assert!(matches!(record.sign(&zero(300), set, &key), Err(SignError::NoPrevious { signed: 200 })));
    assert_eq!(record.sign(&zero(90), set, &key).unwrap(), old);
    // Another chain has heights of its own.
    record.sign(&Checkpoint { chain_id: [1; 32], ..zero(5) }, set, &key).unwrap();
    assert!(matches!(record.sign(&Checkpoint { set_epoch: 2, ..at(300) }, set, &key), Err(SignError::Epoch { .. })));
    assert!(matches!(record.sign(&at(300), set, &super::key(9)), Err(SignError::NotASigner)));
    record.sign(&at(300), set, &key).unwrap();
}

#[test]
fn never_two_changes_of_one_set() {
    let folder = tempfile::tempdir().unwrap();
    let (mut record, chain) = (record(&folder), chain());
    let old = chain.newest();
    let (next, other) = (manifest(2, 3, 3..8), manifest(2, 2, 3..6));
    let signed = record.sign_rotation(old, &next, &key(4)).unwrap();
    assert_eq!((signed.old[0].index, signed.new[0].index), (4, 1));
    assert_eq!(signed.old[0].signature, signed.new[0].signature);
    assert!(matches!(record.sign_rotation(old, &other, &key(4)), Err(SignError::AnotherRotation { .. })));
    assert_eq!(record.sign_rotation(old, &next, &key(4)).unwrap(), signed);
    let skipped = manifest(3, 2, 3..6);
    assert!(matches!(record.sign_rotation(old, &skipped, &key(4)), Err(SignError::NotTheNextSet { epoch: 1 })));
    assert!(matches!(record.sign_rotation(old, &next, &key(9)), Err(SignError::NotASigner)));
}

#[test]
fn a_record_that_cannot_be_written_signs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (mut full, chain) = (record(&folder), chain());
    full.interrupt(Box::new(|_| Err(ErrorKind::StorageFull.into())));
    assert!(matches!(full.sign(&at(100), chain.newest(), &key(0)), Err(SignError::File(FileError::Io { .. }))));
    drop(full);
    // The line is written and not flushed: it is taken back.
    let mut unflushed = record(&folder);
    unflushed.interrupt(Box::new(|step| match step {
        crate::file::Step::Flush => Err(ErrorKind::StorageFull.into()),
        _ => Ok(()),
    }));
    assert!(unflushed.sign(&at(100), chain.newest(), &key(0)).is_err());
    assert!(unflushed.sign(&Checkpoint { block_hash: [6; 32], ..at(100) }, chain.newest(), &key(0)).is_err());
    drop(unflushed);
    assert_eq!(fs::read(folder.path().join("record")).unwrap(), b"");
    record(&folder).sign(&at(100), chain.newest(), &key(0)).unwrap();
}

#[test]
fn records_that_are_torn_changed_or_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let (path, chain) = (folder.path().join("record"), chain());
    let mut first = record(&folder);
    first.sign(&at(100), chain.newest(), &key(0)).unwrap();
    assert!(matches!(SignerRecord::open(&path), Err(SignError::File(FileError::Locked { .. }))));
    first.sign(&at(200), chain.newest(), &key(0)).unwrap();
    drop(first);
    let whole = fs::read(&path).unwrap();
    let second = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    // The program was stopped while it wrote the second line. That signature never left.
    for end in [second, second + 1, whole.len() - 1] {
        fs::write(&path, &whole[..end]).unwrap();
        let mut record = record(&folder);
        assert!(matches!(record.sign(&at(99), chain.newest(), &key(0)), Err(SignError::Lower { signed: 100, .. })));
        record.sign(&at(200), chain.newest(), &key(0)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), whole);
    }
    let text = String::from_utf8(whole).unwrap();
    for changed in [
        text.replacen("100", "101", 1),
        text.replacen("0x", "0y", 1),
        text.replacen("}\n", "}}\n", 1),
        format!("\n{text}"),
    ] {
        fs::write(&path, changed).unwrap();
        let error = SignerRecord::open(&path).unwrap_err();
        assert!(matches!(error, SignError::Damaged { line: 1, .. }), "{error}");
    }
}
