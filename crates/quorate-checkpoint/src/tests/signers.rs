//! What a signer never signs.

use std::{fs, io::ErrorKind};

use super::*;

/// The record of a signer in a folder, which is begun if it is not there.
fn record_of(folder: &tempfile::TempDir, signer: u8) -> SignerRecord {
    let (path, key) = (folder.path().join("record"), key(signer).public_key());
    match path.exists() {
        true => SignerRecord::open(&path, &key).unwrap(),
        false => SignerRecord::begin(&path, &key).unwrap(),
    }
}

fn record(folder: &tempfile::TempDir) -> SignerRecord {
    record_of(folder, 0)
}

#[test]
fn never_two_checkpoints_at_one_height() {
    let folder = tempfile::tempdir().unwrap();
    let (chain, key) = (chain(), key(2));
    let set = chain.newest();
    let first = record_of(&folder, 2).sign(&at(100), set, &key).unwrap();
    assert_eq!(first.signatures[0], signature(set, &at(100), 2, 2));
    let mut record = record_of(&folder, 2);
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
    assert_eq!(fs::read_to_string(record.path()).unwrap().lines().count(), 2);
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
    let (mut record, chain) = (record_of(&folder, 4), chain());
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
        quorate_host::file::Step::Flush => Err(ErrorKind::StorageFull.into()),
        _ => Ok(()),
    }));
    assert!(unflushed.sign(&at(100), chain.newest(), &key(0)).is_err());
    assert!(unflushed.sign(&Checkpoint { block_hash: [6; 32], ..at(100) }, chain.newest(), &key(0)).is_err());
    drop(unflushed);
    assert_eq!(fs::read_to_string(folder.path().join("record")).unwrap().lines().count(), 1, "it names the key alone");
    record(&folder).sign(&at(100), chain.newest(), &key(0)).unwrap();
}

/// A record of key 0, with a checkpoint at height 100 and one at 200: its bytes, and where its second and third line begin.
fn two_heights(folder: &tempfile::TempDir) -> (Vec<u8>, [usize; 2]) {
    let chain = chain();
    let mut first = record(folder);
    first.sign(&at(100), chain.newest(), &key(0)).unwrap();
    let path = first.path().to_owned();
    let again = SignerRecord::open(&path, &key(0).public_key()).unwrap_err();
    assert!(matches!(again, SignError::Record(KeyRecordError::File(FileError::Locked { .. }))), "{again}");
    first.sign(&at(200), chain.newest(), &key(0)).unwrap();
    let bytes = fs::read(path).unwrap();
    let ends: Vec<_> = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
    (bytes, [ends[0], ends[1]])
}

fn another(height: u64) -> Checkpoint {
    Checkpoint { block_hash: [6; 32], ..at(height) }
}

/// Whatever took the last line end away, the entry before it was signed.
#[test]
fn a_record_without_its_last_line_end_signs_no_height_twice() {
    let folder = tempfile::tempdir().unwrap();
    let (bytes, [second, _]) = two_heights(&folder);
    let chain = chain();
    for (from, names_key) in [(0, true), (second, false)] {
        fs::write(folder.path().join("record"), &bytes[from..bytes.len() - 1]).unwrap();
        let mut record = record(&folder);
        assert!(matches!(record.mended(), Some(Mended::LineEnd { .. })) && record.names_key() == names_key);
        let refused = record.sign(&another(200), chain.newest(), &key(0));
        assert!(matches!(refused, Err(SignError::AnotherAtThisHeight { height: 200, .. })), "{refused:?}");
        record.sign(&at(200), chain.newest(), &key(0)).unwrap();
        assert_eq!(fs::read(record.path()).unwrap(), &bytes[from..]);
    }
}

/// Cut off anywhere, the record never lets another checkpoint of a height be signed that it was begun for. A greater height is
/// signed if the torn entry's height can still be read.
#[test]
fn a_record_that_was_cut_off_signs_no_height_twice() {
    let folder = tempfile::tempdir().unwrap();
    let (bytes, [second, third]) = two_heights(&folder);
    let (chain, path) = (chain(), folder.path().join("record"));
    let height = third + "{\"signed\":{\"checkpoint\":{\"chain_id\":\"0x\",\"height\":200,".len() + 64;
    let within = [(1, second - 1), (second + 1, third - 1), (third + 1, bytes.len() + 1)];
    let ends = within.into_iter().flat_map(|(from, to)| (from..to).step_by(17).chain([to - 1]));
    for end in ends.chain([height - 1, height, bytes.len() - 1]) {
        fs::write(&path, &bytes[..end]).unwrap();
        let mut record = record(&folder);
        let begun = if end < third { 100 } else { 200 };
        let refused = record.sign(&another(begun), chain.newest(), &key(0));
        match end {
            end if end + 1 >= bytes.len() => assert!(matches!(refused, Err(SignError::AnotherAtThisHeight { .. }))),
            _ => assert!(matches!(refused, Err(SignError::Torn { .. })), "{end}: {refused:?}"),
        }
        drop(record);
        // Opened again, the same holds.
        let mut record = record_of(&folder, 0);
        assert!(record.sign(&another(begun), chain.newest(), &key(0)).is_err(), "{end}");
        if end > third {
            record.sign(&at(100), chain.newest(), &key(0)).unwrap();
            let above = record.sign(&at(201), chain.newest(), &key(0));
            assert_eq!(above.is_ok(), end >= height, "{end}: {above:?}");
        }
    }
    // The checkpoint that the torn entry is of is signed again, once it can be told to be the same.
    fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
    let mut torn = record(&folder);
    assert!(matches!(torn.mended(), Some(Mended::Torn { line: 3 })));
    let first = Checkpoint { previous: [0; 32], ..at(300) };
    assert!(matches!(torn.sign(&first, chain.newest(), &key(0)), Err(SignError::NoPrevious { .. })));
    torn.sign(&at(200), chain.newest(), &key(0)).unwrap();
    assert!(torn.sign(&another(200), chain.newest(), &key(0)).is_err());
}

/// A torn entry that may be of another kind, chain or set excludes no more than it may have said.
#[test]
fn a_torn_change_of_the_set_excludes_changes_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (chain, next, other) = (chain(), manifest(2, 3, 3..8), manifest(2, 2, 3..6));
    let mut begun = record_of(&folder, 4);
    begun.sign_rotation(chain.newest(), &next, &key(4)).unwrap();
    let path = begun.path().to_owned();
    drop(begun);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 200]).unwrap();
    let mut torn = record_of(&folder, 4);
    let refused = torn.sign_rotation(chain.newest(), &other, &key(4));
    assert!(matches!(refused, Err(SignError::Torn { line: 2, height: None, .. })), "{refused:?}");
    torn.sign(&at(100), chain.newest(), &key(4)).unwrap();
}

#[test]
fn a_record_of_zeros_or_of_another_key_signs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (bytes, [second, _]) = two_heights(&folder);
    let path = folder.path().join("record");
    let text = String::from_utf8(bytes[second..].to_vec()).unwrap();
    for changed in [
        String::new(),
        "\0".repeat(357),
        text.replacen("100", "101", 1),
        text.replacen("0x", "0y", 1),
        text.replacen("}\n", "}}\n", 1),
        format!("\n{text}"),
    ] {
        fs::write(&path, &changed).unwrap();
        let error = SignerRecord::open(&path, &key(0).public_key()).unwrap_err();
        assert!(matches!(error, SignError::Record(KeyRecordError::Damaged { line: 1, .. })), "{error}");
        let error = SignerRecord::begin(&path, &key(0).public_key()).unwrap_err();
        assert!(matches!(error, SignError::Record(KeyRecordError::Exists { .. })), "{error}");
        assert_eq!(fs::read(&path).unwrap(), changed.as_bytes());
    }
    fs::write(&path, &bytes).unwrap();
    let error = SignerRecord::open(&path, &key(1).public_key()).unwrap_err();
    assert!(matches!(error, SignError::Record(KeyRecordError::OtherKey { .. })), "{error}");
    fs::remove_file(&path).unwrap();
    let error = SignerRecord::open(&path, &key(0).public_key()).unwrap_err();
    assert!(matches!(error, SignError::Record(KeyRecordError::Missing { .. })) && !path.exists(), "{error}");
}
