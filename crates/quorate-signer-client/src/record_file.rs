//! What a signer signed, as a file: it moves the record to another machine, as EIP-3076 does for validators.
//!
//! ```json
//! {"format":"quorate-signer-record","version":1,
//!  "network":{"chain_id":1,"contract":"0x…","genesis":1790000000,"epoch_length":3600,"slashing_window":86400},
//!  "key_group":"bls12381-g2","public_key":"0x…","floor":11,
//!  "epochs":[{"epoch":12,"tasks":[{"id":"0x…","snapshot":"0x…","performer":3,"result":"0x…","approved":true}]}],
//!  "checksum":"0x…"}
//! ```
//!
//! The checksum is keccak256 of the object without it, on one line and in this order. It finds damage, not malice: whoever
//! changes the file can compute it. A file has at most [`LARGEST`] bytes, and reading it takes up to
//! three times its length of memory.

use std::{collections::BTreeMap, io};

use quorate_evm::{
    KeyGroup, SnapshotId, Task,
    alloy_primitives::{B256, Bytes, Keccak256},
    task::Conflict,
};
use serde::{Deserialize, Serialize};

use crate::network::NetworkTerms;

/// The longest file, in bytes: 4 GiB, which is about 17 million tasks. The record of a signer that has 1 GiB, which
/// `QuorateSignerRecordLarge` tells, has fewer.
pub const LARGEST: u64 = 4 << 30;

/// All that a signer must not contradict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordFile {
    /// Whose record it is.
    pub identity: RecordIdentity,
    /// No task of an epoch below it is signed.
    pub floor: u64,
    /// What was signed, in ascending order, each task once; no two conflict.
    pub tasks: Vec<Task>,
}

/// The network and the key whose record it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordIdentity {
    /// The network.
    pub network: NetworkTerms,
    /// The hash that the network's verifier has.
    pub key_group: KeyGroup,
    /// The public key as the contract keeps it: 192 bytes.
    pub public_key: Bytes,
}

/// Why a file is not a record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordFileError {
    /// Not JSON, a field is missing or unknown, or of the wrong type.
    #[error("expected a record that `quorate-signer export` wrote")]
    Json(#[from] serde_json::Error),
    /// More bytes than a file may have.
    #[error("the record has more than {limit} bytes as a file, the limit")]
    TooLarge {
        /// [`LARGEST`].
        limit: u64,
    },
    /// Something else, or a version that this program does not know.
    #[error("found format {format:?}, version {version}; expected {FORMAT:?}, version {VERSION}")]
    Format {
        /// The format that the file states.
        format: String,
        /// Its version.
        version: u64,
    },
    /// The file is not as it was written.
    #[error("\"checksum\": found {found}, expected {expected}: the file is damaged; export it again")]
    Checksum {
        /// In the file.
        found: B256,
        /// Of the file's content.
        expected: B256,
    },
    /// An epoch or a task stands twice or out of order.
    #[error("epoch {epoch}, task {id}: expected each epoch and each task once and in ascending order")]
    Order {
        /// The epoch.
        epoch: u64,
        /// The task; the first of its epoch if the epoch is out of order, zero if it has none.
        id: B256,
    },
    /// The file says that the key signed two tasks that conflict.
    #[error(
        "the file contradicts itself: task {id} was signed for epoch {first}, and for epoch {second} with {}",
        conflict.what()
    )]
    Contradiction {
        /// The task's id.
        id: B256,
        /// An epoch for which it was signed.
        first: u64,
        /// An epoch for which it was signed otherwise.
        second: u64,
        /// In what the two conflict.
        conflict: Conflict,
    },
}

impl RecordFile {
    /// Reads a file and checks that it is whole and free of contradictions.
    ///
    /// # Errors
    /// [`RecordFileError`].
    pub fn parse(json: &[u8]) -> Result<Self, RecordFileError> {
        Self::parse_within(LARGEST, json)
    }

    fn parse_within(limit: u64, json: &[u8]) -> Result<Self, RecordFileError> {
        refuse_longer(limit, json.len())?;
        // The format first: another version may have other fields.
        let Head { format, version } = serde_json::from_slice(json)?;
        if (format.as_str(), version) != (FORMAT, VERSION) {
            return Err(RecordFileError::Format { format, version });
        }
        let mut file: File = serde_json::from_slice(json)?;
        let found = file.checksum.take();
        let expected = file.digest()?;
        if found != Some(expected) {
            return Err(RecordFileError::Checksum { found: found.unwrap_or_default(), expected });
        }
        let tasks = file.tasks()?;
        if let Some((first, second, conflict)) = contradiction(&tasks) {
            return Err(RecordFileError::Contradiction {
                id: first.id,
                first: first.epoch,
                second: second.epoch,
                conflict,
            });
        }
        let File { network, key_group, public_key, floor, .. } = file;
        Ok(Self { identity: RecordIdentity { network, key_group, public_key }, floor, tasks })
    }

    /// The file, on one line with a newline at its end. [`RecordFile::tasks`] must be in ascending order.
    ///
    /// # Errors
    /// [`RecordFileError::TooLarge`]: [`parse`](Self::parse) would refuse it.
    pub fn to_json(&self) -> Result<String, RecordFileError> {
        self.to_json_within(LARGEST)
    }

    fn to_json_within(&self, limit: u64) -> Result<String, RecordFileError> {
        let RecordIdentity { network, key_group, public_key } = self.identity.clone();
        let mut epochs: Vec<Epoch> = Vec::new();
        for &Task { epoch, id, snapshot, performer, result, approved } in &self.tasks {
            if epochs.last().is_none_or(|last| last.epoch != epoch) {
                epochs.push(Epoch { epoch, tasks: Vec::new() });
            }
            if let Some(last) = epochs.last_mut() {
                last.tasks.push(Entry { id, snapshot, performer, result, approved });
            }
        }
        let (format, version) = (FORMAT.to_owned(), VERSION);
        let (floor, checksum) = (self.floor, None);
        let mut file = File { format, version, network, key_group, public_key, floor, epochs, checksum };
        file.checksum = Some(file.digest()?);
        let text = serde_json::to_string(&file)? + "\n";
        refuse_longer(limit, text.len())?;
        Ok(text)
    }
}

fn refuse_longer(limit: u64, length: usize) -> Result<(), RecordFileError> {
    if length as u64 > limit { Err(RecordFileError::TooLarge { limit }) } else { Ok(()) }
}

/// What the tasks of a record are ordered by.
pub fn place(task: &Task) -> (u64, B256, SnapshotId) {
    (task.epoch, task.id, task.snapshot)
}

/// Two of the tasks that conflict. The tasks are in ascending order, each once.
fn contradiction(tasks: &[Task]) -> Option<(&Task, &Task, Conflict)> {
    let mut by_id: BTreeMap<B256, &Task> = BTreeMap::new();
    let mut before: Option<&Task> = None;
    for task in tasks {
        // Results and verdicts are compared with those of the id's first task. Performers are compared within a snapshot,
        // whose tasks of one id stand side by side.
        let first = *by_id.entry(task.id).or_insert(task);
        for other in [Some(first), before].into_iter().flatten() {
            if let Some(conflict) = other.conflict_with(task) {
                return Some((other, task, conflict));
            }
        }
        before = Some(task);
    }
    None
}

/// Hashes what is written, so that a second copy of a long file is not held.
struct Hashing(Keccak256);

impl io::Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl File {
    /// The checksum, while the field has none.
    fn digest(&self) -> Result<B256, serde_json::Error> {
        let mut hashing = Hashing(Keccak256::new());
        serde_json::to_writer(&mut hashing, self)?;
        Ok(hashing.0.finalize())
    }

    fn tasks(&self) -> Result<Vec<Task>, RecordFileError> {
        let mut tasks: Vec<Task> = Vec::new();
        let mut last: Option<u64> = None;
        for Epoch { epoch, tasks: entries } in &self.epochs {
            let id = entries.first().map(|entry| entry.id).unwrap_or_default();
            if entries.is_empty() || last.is_some_and(|last| last >= *epoch) {
                return Err(RecordFileError::Order { epoch: *epoch, id });
            }
            last = Some(*epoch);
            for &Entry { id, snapshot, performer, result, approved } in entries {
                let task = Task { epoch: *epoch, snapshot, id, performer, result, approved };
                // One place with two contents is told as a contradiction, which it is.
                if tasks.last().is_some_and(|last| {
                    place(last) > place(&task) || (place(last) == place(&task) && last.conflict_with(&task).is_none())
                }) {
                    return Err(RecordFileError::Order { epoch: *epoch, id });
                }
                tasks.push(task);
            }
        }
        Ok(tasks)
    }
}

const FORMAT: &str = "quorate-signer-record";
const VERSION: u64 = 1;

#[derive(Deserialize)]
struct Head {
    format: String,
    version: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    version: u64,
    network: NetworkTerms,
    key_group: KeyGroup,
    public_key: Bytes,
    floor: u64,
    epochs: Vec<Epoch>,
    /// `None` while it is computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    checksum: Option<B256>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Epoch {
    epoch: u64,
    tasks: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: B256,
    snapshot: SnapshotId,
    performer: u64,
    result: B256,
    approved: bool,
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use proptest::prelude::*;
    use quorate_evm::alloy_primitives::Address;

    use super::*;

    fn identity() -> RecordIdentity {
        let epoch_length = NonZeroU64::new(100).expect("not zero");
        let contract = Address::repeat_byte(1);
        let network = NetworkTerms { chain_id: 1, contract, genesis: 1000, epoch_length, slashing_window: 50 };
        RecordIdentity { network, key_group: KeyGroup::Bls12381G2, public_key: vec![7; 192].into() }
    }

    fn task(epoch: u64, id: u8, result: u8) -> Task {
        let (id, snapshot, result) = (B256::repeat_byte(id), SnapshotId::repeat_byte(1), B256::repeat_byte(result));
        Task { epoch, snapshot, id, performer: 3, result, approved: true }
    }

    fn written(tasks: &[Task]) -> String {
        RecordFile { identity: identity(), floor: 4, tasks: tasks.to_vec() }.to_json().expect("plain types")
    }

    #[test]
    fn written_and_read() {
        for tasks in [vec![], vec![task(5, 1, 1), task(5, 2, 2), task(6, 1, 1)]] {
            let file = RecordFile::parse(written(&tasks).as_bytes()).expect("ours");
            assert_eq!(file, RecordFile { identity: identity(), floor: 4, tasks });
        }
        // Spaces are no damage.
        let value: serde_json::Value = serde_json::from_str(&written(&[task(5, 1, 1)])).expect("JSON");
        assert!(RecordFile::parse(serde_json::to_string_pretty(&value).expect("JSON").as_bytes()).is_ok());
    }

    /// What is not read is not written either: otherwise a record would be retired whose file nobody can import.
    #[test]
    fn what_is_written_is_short_enough_to_be_read() {
        let file = RecordFile { identity: identity(), floor: 4, tasks: vec![task(5, 1, 1), task(5, 2, 2)] };
        let json = file.to_json().expect("short");
        let length = json.len() as u64;
        assert_eq!(file.to_json_within(length).expect("as long as it may be"), json);
        assert_eq!(RecordFile::parse_within(length, json.as_bytes()).expect("as long as it may be"), file);
        for refused in
            [file.to_json_within(length - 1).map(drop), RecordFile::parse_within(length - 1, json.as_bytes()).map(drop)]
        {
            assert!(
                matches!(&refused, Err(RecordFileError::TooLarge { limit }) if *limit == length - 1),
                "{refused:?}"
            );
        }
    }

    /// A flipped bit anywhere is found: the file is refused, or reads as it did, because it was the case of a digit.
    #[test]
    fn damaged_file() {
        let tasks = [task(5, 0xab, 1), task(6, 0xab, 1)];
        let json = written(&tasks);
        let mut refused = 0;
        for at in 0..json.len() {
            for bit in 0..8 {
                let mut bytes = json.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                match RecordFile::parse(&bytes) {
                    Err(_) => refused += 1,
                    Ok(file) => assert_eq!(file.tasks, tasks, "byte {at}, bit {bit}"),
                }
            }
            let cut = RecordFile::parse(&json.as_bytes()[..at]);
            assert!(cut.is_err() || at + 1 == json.len(), "cut at {at}");
        }
        assert!(refused > json.len() * 7, "{refused}");
    }

    #[test]
    fn contradicting_file() {
        let other_snapshot = |task| Task { snapshot: SnapshotId::repeat_byte(2), ..task };
        let performer = |task: Task| Task { performer: 4, ..task };
        let rejected = |task: Task| Task { approved: false, ..task };
        for (tasks, expected) in [
            (vec![task(5, 1, 1), task(6, 1, 2)], Conflict::Result),
            (vec![task(5, 1, 1), task(6, 2, 2), task(9, 1, 2)], Conflict::Result),
            (vec![task(5, 1, 1), rejected(task(6, 1, 1))], Conflict::Verdict),
            (vec![task(5, 1, 1), other_snapshot(task(5, 1, 2))], Conflict::Result),
            (vec![task(5, 1, 1), performer(task(5, 1, 1))], Conflict::Performer),
            (vec![task(4, 1, 1), task(5, 1, 1), performer(task(5, 1, 1))], Conflict::Performer),
        ] {
            match RecordFile::parse(written(&tasks).as_bytes()) {
                Err(RecordFileError::Contradiction { conflict, .. }) => assert_eq!(conflict, expected),
                other => panic!("{other:?}"),
            }
        }
        let fine = [task(5, 1, 1), other_snapshot(performer(task(5, 1, 1))), performer(task(6, 1, 1))];
        assert!(RecordFile::parse(written(&fine).as_bytes()).is_ok());
    }

    #[test]
    fn repeated_or_unordered_tasks() {
        for tasks in [[task(5, 1, 1), task(5, 1, 1)], [task(5, 2, 1), task(5, 1, 1)], [task(6, 1, 1), task(5, 2, 1)]] {
            let error = RecordFile::parse(written(&tasks).as_bytes());
            assert!(matches!(error, Err(RecordFileError::Order { .. })), "{error:?}");
        }
    }

    #[test]
    fn other_formats_and_unknown_fields() {
        let json = written(&[]);
        for (from, to) in [("quorate-signer-record", "other"), ("\"version\":1", "\"version\":2")] {
            let error = RecordFile::parse(json.replace(from, to).as_bytes());
            assert!(matches!(error, Err(RecordFileError::Format { .. })), "{error:?}");
        }
        for (from, to) in
            [("\"floor\"", "\"extra\":1,\"floor\""), ("\"genesis\"", "\"extra\":1,\"genesis\""), ("\"floor\":4,", "")]
        {
            let error = RecordFile::parse(json.replace(from, to).as_bytes());
            assert!(matches!(error, Err(RecordFileError::Json(_))), "{error:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes: Vec<u8>) {
            let _ = RecordFile::parse(&bytes);
        }
    }
}
