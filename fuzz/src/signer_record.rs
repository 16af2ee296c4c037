//! A record that is imported: no file makes the reader panic, and what is read has no contradiction and is written and read
//! again.

use quorate_signer_client::record_file::{RecordFile, RecordFileError};
use serde_json::Value;

pub fn run(json: &[u8]) {
    let file = match RecordFile::parse(json) {
        // The fuzzer gets beyond the checksum.
        Err(RecordFileError::Checksum { expected, .. }) => {
            let mut value: Value = serde_json::from_slice(json).expect("it was read");
            value["checksum"] = expected.to_string().into();
            match RecordFile::parse(value.to_string().as_bytes()) {
                Err(RecordFileError::Checksum { .. }) => panic!("the checksum is the one that was expected"),
                read => read,
            }
        }
        read => read,
    };
    let Ok(file) = file else { return };
    crate::accepted();
    let again = file.to_json().expect("plain types");
    assert_eq!(RecordFile::parse(again.as_bytes()).expect("what we write we read"), file);
    for (at, task) in file.tasks.iter().take(50).enumerate() {
        assert!(file.tasks[..at].iter().all(|other| other.conflict_with(task).is_none()));
    }
}
