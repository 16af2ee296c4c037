//! Tests of the record on disk.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    thread,
    time::Duration,
};

use quorate_evm::{alloy_primitives::hex, task::Conflict};
use quorate_signer_client::record_file::RecordFile;
use redb::{Database, TableDefinition};

use super::*;
use crate::{
    clock::{ClockJump, ClockWatch},
    rules::{Broken, Permit},
    store::{Merged, NotMerged, NotRecorded, StoreError, Summary},
};

fn record(store: &mut Store, task: &Task, now: u64) -> Result<Permit, Broken> {
    store.record(task, now).map_err(|error| match error {
        NotRecorded::Broken(broken) => broken,
        NotRecorded::Store(error) => panic!("{error}"),
    })
}

fn exported(floor: u64, tasks: &[Task]) -> RecordFile {
    RecordFile { identity: config_of(KeyGroup::Bls12381G2).identity, floor, tasks: tasks.to_vec() }
}

#[test]
fn what_was_recorded_is_there_after_a_restart() {
    let folder = private_folder();
    let mut store = new_store(folder.path(), 6);
    let tasks = [task(6, 2, 1), task(7, 1, 1), task(7, 2, 1)];
    for task in &tasks {
        assert_eq!(record(&mut store, task, NOW), Ok(Permit::New));
    }
    drop(store);
    let mut store = Store::open(folder.path()).expect("opens");
    assert_eq!(store.config(), &config_of(KeyGroup::Bls12381G2));
    assert_eq!(store.export().expect("reads"), exported(6, &tasks));
    for task in &tasks {
        assert_eq!(record(&mut store, task, NOW), Ok(Permit::Again));
    }
    assert_eq!(store.summary().expect("reads"), Summary { floor: 6, tasks: 3, retired: false });
}

/// The tables of a record, written without the store, as the first program wrote them. If this fails, `config 1` must get
/// another name, so that no program reads a record that it does not know.
#[test]
fn the_record_of_an_earlier_program_is_read() {
    let folder = private_folder();
    let key = hex::encode_prefixed(key().member());
    let (contract, verifier) = (format!("0x{}", "c0".repeat(20)), format!("0x{}", "ee".repeat(20)));
    let operator = format!("0x{}", "0b".repeat(20));
    let config = format!(
        "{{\"identity\":{{\"network\":{{\"chain_id\":5,\"contract\":\"{contract}\",\"genesis\":1000,\"epoch_length\":100,\
         \"slashing_window\":150}},\"key_group\":\"bls12381-g2\",\"public_key\":\"{key}\"}},\"verifier\":\"{verifier}\",\
         \"operator\":\"{operator}\"}}"
    );
    let (id, snapshot, result) = ([2; 32], [1; 20], [9; 32]);
    let database = Database::create(folder.path().join("record.redb")).expect("a database");
    let transaction = database.begin_write().expect("begins");
    let table = |name| TableDefinition::<(), u64>::new(name);
    transaction.open_table(table("floor")).expect("opens").insert((), 6).expect("written");
    let retired = TableDefinition::<(), bool>::new("retired");
    transaction.open_table(retired).expect("opens").insert((), false).expect("written");
    let configs = TableDefinition::<(), &[u8]>::new("config 1");
    transaction.open_table(configs).expect("opens").insert((), config.as_bytes()).expect("written");
    let tasks = TableDefinition::<(&[u8; 32], u64, &[u8; 20]), (u64, &[u8; 32], bool)>::new("tasks");
    transaction.open_table(tasks).expect("opens").insert((&id, 7, &snapshot), (3, &result, true)).expect("written");
    let epochs = TableDefinition::<(u64, &[u8; 32], &[u8; 20]), ()>::new("epochs");
    transaction.open_table(epochs).expect("opens").insert((7, &id, &snapshot), ()).expect("written");
    transaction.commit().expect("committed");
    drop(database);

    let mut store = Store::open(folder.path()).expect("opens");
    assert_eq!(store.config(), &config_of(KeyGroup::Bls12381G2));
    assert_eq!(store.export().expect("reads"), exported(6, &[task(7, 2, 9)]));
    assert_eq!(record(&mut store, &task(7, 2, 9), NOW), Ok(Permit::Again));
    assert!(matches!(record(&mut store, &task(7, 2, 8), NOW), Err(Broken::Conflict { .. })));
    assert_eq!(serde_json::to_string(store.config()).expect("plain types"), config);
}

#[test]
fn a_second_signer_in_the_folder() {
    let folder = private_folder();
    let store = new_store(folder.path(), 0);
    let error = Store::open(folder.path()).expect_err("locked");
    assert!(matches!(error, StoreError::InUse(_)), "{error}");
    assert!(error.to_string().contains("another signer"), "{error}");
    let config = config_of(KeyGroup::Bls12381G2);
    assert!(matches!(Store::create(folder.path(), &config, 0), Err(StoreError::InUse(_))));
    drop(store);
    assert!(matches!(Store::create(folder.path(), &config, 0), Err(StoreError::Exists(_))));
    assert!(Store::open(folder.path()).is_ok());
}

/// `status` has the lock while it looks at the record of a signer that is about to start.
#[test]
fn a_signer_that_starts_waits_for_a_command() {
    let folder = private_folder();
    let store = new_store(folder.path(), 0);
    assert!(matches!(Store::open(folder.path()), Err(StoreError::InUse(_))), "another command does not wait");
    let command = thread::spawn(move || {
        thread::sleep(Duration::from_secs(1));
        drop(store);
    });
    Store::open_to_run(folder.path()).expect("waits");
    command.join().expect("ends");
}

/// What a process has left that was killed, or whose write failed, may be in memory only, although it can be read. So all of it is
/// written to another file. As long as that fails, the next process finds the old file as it was.
#[test]
fn a_record_that_was_not_closed_is_written_anew() {
    let (folder, left, again) = (private_folder(), private_folder(), private_folder());
    let path = |folder: &TempDir| folder.path().join("record.redb");
    let inode = |folder: &TempDir| fs::metadata(path(folder)).expect("is there").ino();
    let mut store = new_store(folder.path(), 6);
    let tasks = [task(7, 1, 1), task(7, 2, 1)];
    for task in &tasks {
        record(&mut store, task, NOW).expect("signs");
    }
    fs::copy(path(&folder), path(&left)).expect("a file that nobody has closed");
    fs::create_dir(left.path().join("record.redb.new")).expect("in the way of the new file");
    assert!(matches!(Store::open(left.path()), Err(StoreError::File { .. })));
    fs::copy(path(&left), path(&again)).expect("what the next process finds");
    let before = inode(&again);
    let mut store = Store::open(again.path()).expect("opens");
    assert_ne!(inode(&again), before);
    assert_eq!(store.export().expect("reads"), exported(6, &tasks));
    drop(store);
    // One that was closed stays.
    let before = inode(&again);
    drop(Store::open(again.path()).expect("opens"));
    assert_eq!(inode(&again), before);
}

#[test]
fn a_folder_without_a_record() {
    let folder = private_folder();
    assert!(matches!(Store::open(folder.path()), Err(StoreError::Missing(_))));
    drop(new_store(&folder.path().join("a").join("b"), 0));
    let mode = fs::metadata(folder.path().join("a").join("b")).expect("made").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn a_folder_that_others_can_enter() {
    let folder = private_folder();
    drop(new_store(folder.path(), 0));
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o750)).expect("chmod");
    assert!(matches!(Store::open(folder.path()), Err(StoreError::Mode { mode: 0o750, .. })));
}

/// Bytes of the file are overwritten, everywhere in turn. The record is refused, or is whole: some bytes are in no use.
#[test]
fn a_damaged_record_is_refused() {
    let folder = private_folder();
    let mut store = new_store(folder.path(), 0);
    let tasks: Vec<_> = (0..50).map(|id| task(7, id, 1)).collect();
    for task in &tasks {
        assert_eq!(record(&mut store, task, NOW), Ok(Permit::New));
    }
    drop(store);
    let path = folder.path().join("record.redb");
    let whole = fs::read(&path).expect("reads");
    let (mut refused, step) = (0, whole.len() / 97);
    for at in (0..whole.len()).step_by(step) {
        let mut bytes = whole.clone();
        let end = (at + step / 2).min(bytes.len());
        bytes[at..end].iter_mut().for_each(|byte| *byte ^= 0x55);
        fs::write(&path, bytes).expect("writes");
        let read = Store::open(folder.path()).and_then(|mut store| store.export());
        match read {
            Ok(file) => assert_eq!(file, exported(0, &tasks), "damaged at {at}"),
            Err(error) => {
                assert!(!matches!(error, StoreError::Missing(_) | StoreError::InUse(_)), "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 0);
    for bytes in [&whole[..whole.len() / 2], &whole[..100], b"", b"a text that is no record"] {
        fs::write(&path, bytes).expect("writes");
        let read = Store::open(folder.path()).and_then(|mut store| store.export());
        assert!(matches!(read, Err(StoreError::Damaged { .. })), "{} bytes: {read:?}", bytes.len());
    }
}

/// Conflicts of epoch 7 are reportable until 1000 + 9 * 100 + 150 = 2050, and epoch 11 is the first that begins then.
#[test]
fn records_leave_when_no_conflict_counts_any_more() {
    let folder = private_folder();
    let mut store = new_store(folder.path(), 0);
    record(&mut store, &task(7, 1, 1), NOW).expect("signs");
    // In epoch 11 the floor may be 10, which begins at 2000: the record stays.
    record(&mut store, &task(11, 2, 1), 2199).expect("signs");
    assert_eq!(store.summary().expect("reads"), Summary { floor: 0, tasks: 2, retired: false });
    assert!(matches!(record(&mut store, &task(11, 1, 2), 2199), Err(Broken::Conflict { .. })));
    // In epoch 12 it leaves, and the floor rises to 11.
    record(&mut store, &task(12, 3, 1), 2200).expect("signs");
    assert_eq!(store.summary().expect("reads"), Summary { floor: 11, tasks: 2, retired: false });
    assert_eq!(record(&mut store, &task(12, 1, 2), 2200), Ok(Permit::New));
    // The clock was fast. Nothing older is signed, although its epoch can settle.
    assert_eq!(
        record(&mut store, &task(10, 1, 2), 2050),
        Err(Broken::BelowFloor { epoch: 10, floor: 11, begins: 2100 })
    );
}

/// The clock was ahead once, by ten years. Without a watch the floor would be there, and nothing would be signed for ten years.
#[test]
fn a_clock_that_jumps_ahead_signs_nothing_and_raises_no_floor() {
    let folder = private_folder();
    let mut store = new_store(folder.path(), 0);
    store.watch(ClockWatch { accepted: None });
    record(&mut store, &task(7, 1, 1), NOW).expect("signs");
    let (later, ahead) = (NOW + 315_360_000, 7 + 3_153_600);
    let jump = ClockJump { current: ahead, believed: 7, now: later };
    assert_eq!(record(&mut store, &task(ahead, 2, 1), later), Err(Broken::ClockJump(jump)));
    assert_eq!(store.look_at_clock(later).expect("reads"), Some(jump));
    // What was signed before is not signed again either: its epoch has ended by this clock.
    assert_eq!(record(&mut store, &task(7, 1, 1), later), Err(Broken::ClockJump(jump)));
    assert_eq!(store.summary().expect("reads"), Summary { floor: 0, tasks: 1, retired: false });
    // The clock is right again.
    assert_eq!(store.look_at_clock(NOW + 100).expect("reads"), None);
    assert_eq!(record(&mut store, &task(8, 2, 1), NOW + 100), Ok(Permit::New));
    drop(store);
    // Also after a restart, and after the record was written anew, unless it is asked for.
    let mut store = Store::open(folder.path()).expect("opens");
    store.watch(ClockWatch { accepted: None });
    assert!(matches!(record(&mut store, &task(ahead, 3, 1), later), Err(Broken::ClockJump(_))));
    store.watch(ClockWatch { accepted: Some(ahead) });
    assert_eq!(record(&mut store, &task(ahead, 3, 1), later), Ok(Permit::New));
}

/// Tasks alone depend on the clock and on the record.
#[test]
fn what_is_signed_while_the_clock_is_not_believed() {
    let folder = private_folder();
    let mut store = new_store(folder.path(), 0);
    store.watch(ClockWatch { accepted: None });
    let signer = Signer::new(key(), store, None).expect("the same key");
    signature(&signer, &task(7, 1, 1), NOW).expect("signs");
    let later = NOW + 365 * 86_400;
    signer.look_at_clock(later);
    assert!(signature(&signer, &task(7, 2, 1), later).is_err());
    let Contract { chain_id, address: contract } = NETWORK.domain();
    let bound = BindPeer { chain_id, contract, peer_id: vec![0x12; 38].into() };
    assert!(matches!(signer.answer(&SignerRequest::BindPeer(bound), later), SignerAnswer::Signature(_)));
    let proof = ProvePossession { chain_id, contract, verifier: VERIFIER, operator: OPERATOR };
    assert!(matches!(signer.answer(&SignerRequest::Possession(proof), later), SignerAnswer::Possession(_)));
}

/// Epochs in which nobody asks are no jump, because the signer looks at its clock.
#[test]
fn time_that_passes_while_nobody_asks_is_no_jump() {
    let folder = private_folder();
    let mut store = new_store(folder.path(), 0);
    store.watch(ClockWatch { accepted: None });
    let mut now = NOW;
    for _ in 0..100 {
        assert_eq!(store.look_at_clock(now).expect("reads"), None);
        now += 250;
    }
    let current = (now - 1000) / 100;
    assert_eq!(record(&mut store, &task(current, 1, 1), now), Ok(Permit::New));
}

#[test]
fn many_records_leave_in_steps() {
    let folder = private_folder();
    let mut store = new_store(folder.path(), 0);
    let tasks: Vec<_> = (0..2500u64)
        .map(|number| Task { id: B256::left_padding_from(&number.to_be_bytes()), ..task(7, 0, 1) })
        .collect();
    store.merge(&exported(0, &tasks)).expect("no conflict");
    let mut left = Vec::new();
    for id in 1..5 {
        record(&mut store, &task(20, id, 1), 3000).expect("signs");
        left.push(store.summary().expect("reads").tasks);
    }
    assert_eq!(left, [1501, 502, 3, 4]);
    assert_eq!(store.summary().expect("reads").floor, 19);
}

#[test]
fn merged_tasks_count_as_signed() {
    let folder = private_folder();
    let mut store = new_store(folder.path(), 6);
    record(&mut store, &task(7, 1, 1), NOW).expect("signs");
    // One is known, one is below the floor here: it counts all the same.
    let file = exported(3, &[task(5, 2, 1), task(7, 1, 1), task(7, 3, 1)]);
    assert_eq!(store.merge(&file).expect("no conflict"), Merged { added: 2, floor: 6 });
    assert!(matches!(record(&mut store, &task(7, 2, 2), NOW), Err(Broken::Conflict { epoch: 5, .. })));
    assert!(matches!(record(&mut store, &task(7, 3, 2), NOW), Err(Broken::Conflict { epoch: 7, .. })));
    assert_eq!(store.merge(&file).expect("no conflict"), Merged { added: 0, floor: 6 });
}

#[test]
fn an_import_raises_the_floor_and_never_lowers_it() {
    let folder = private_folder();
    let mut store = new_store(folder.path(), 2);
    for (floor, expected) in [(7, 7), (1, 7), (0, 7), (8, 8)] {
        assert_eq!(store.merge(&exported(floor, &[])).expect("merges").floor, expected);
    }
    assert_eq!(record(&mut store, &task(7, 1, 1), NOW), Err(Broken::BelowFloor { epoch: 7, floor: 8, begins: 1800 }));
}

#[test]
fn a_file_that_contradicts_the_record_changes_nothing() {
    let folder = private_folder();
    let mut store = new_store(folder.path(), 0);
    record(&mut store, &task(7, 1, 1), NOW).expect("signs");
    let before = store.export().expect("reads");
    let signed = task(7, 1, 1);
    let performer = Task { performer: 9, ..signed };
    for (other, expected) in [(task(5, 1, 2), Conflict::Result), (performer, Conflict::Performer)] {
        let error = store.merge(&exported(6, &[task(4, 9, 9), other])).expect_err("a contradiction");
        assert!(matches!(error, NotMerged::Contradiction { conflict, .. } if conflict == expected), "{error}");
        assert_eq!(store.export().expect("reads"), before);
    }
}

/// Under floor 11, conflicts of epoch 7 count no more: task 1 was signed anew, and an old export says otherwise.
#[test]
fn an_import_of_what_counts_no_more() {
    let folder = private_folder();
    let mut store = new_store(folder.path(), 11);
    record(&mut store, &task(11, 1, 2), 2150).expect("signs");
    let old = exported(5, &[task(7, 1, 1), task(8, 2, 1)]);
    assert_eq!(store.merge(&old).expect("no conflict"), Merged { added: 1, floor: 11 });
    assert_eq!(store.export().expect("reads"), exported(11, &[task(8, 2, 1), task(11, 1, 2)]));
    // The other way round: the floor of a new export makes room for what it says.
    let new = exported(15, &[task(14, 1, 1)]);
    assert!(matches!(store.merge(&exported(14, &new.tasks)), Err(NotMerged::Contradiction { record: 11, .. })));
    assert_eq!(store.merge(&new).expect("no conflict"), Merged { added: 1, floor: 15 });
    assert_eq!(store.export().expect("reads"), new);
}

#[test]
fn a_retired_record_signs_nothing_and_takes_nothing() {
    let folder = private_folder();
    let mut store = new_store(folder.path(), 0);
    record(&mut store, &task(7, 1, 1), NOW).expect("signs");
    store.retire().expect("writes");
    drop(store);
    let mut store = Store::open(folder.path()).expect("opens");
    assert_eq!(record(&mut store, &task(7, 1, 1), NOW), Err(Broken::Retired));
    assert!(matches!(store.merge(&exported(0, &[])), Err(NotMerged::Retired)));
    // It can be exported again, as it was.
    assert_eq!(store.export().expect("reads"), exported(0, &[task(7, 1, 1)]));
}
