//! No sequence of requests, restarts, exports, imports and jumps of the clock yields two signatures that conflict.

use std::path::PathBuf;

use proptest::prelude::*;
use quorate_signer_client::record_file::RecordFile;

use super::*;

/// What happens to the operator's signers.
#[derive(Clone, Debug)]
enum Event {
    /// A request, of an epoch relative to the clock's.
    Sign { epoch: i64, id: u8, snapshot: u8, performer: u64, result: u8, approved: bool },
    /// The clock jumps, also backward.
    Clock(i64),
    /// The signer stops and starts.
    Restart,
    /// The signer stops, and its record moves to a new one, which is told nothing else.
    Move { retire: bool },
    /// An earlier export is imported again.
    ImportOld(usize),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let sign = (-2i64..=1, 0u8..2, 1u8..3, 0u64..2, 0u8..2, any::<bool>()).prop_map(
        |(epoch, id, snapshot, performer, result, approved)| Event::Sign {
            epoch,
            id,
            snapshot,
            performer,
            result,
            approved: approved || result == 0,
        },
    );
    let event = prop_oneof![
        20 => sign,
        2 => (-250i64..250).prop_map(Event::Clock),
        2 => (300i64..900).prop_map(Event::Clock),
        1 => Just(Event::Restart),
        1 => any::<bool>().prop_map(|retire| Event::Move { retire }),
        1 => (0usize..4).prop_map(Event::ImportOld),
    ];
    prop::collection::vec(event, 1..60)
}

/// `Slashing.reportConflict` at a second: whether two attestations slash, for some history of the chain. It is written
/// without the signer's own code.
fn slashes(first: &Task, second: &Task, now: u64) -> bool {
    // `_differ`.
    let differ = first.result != second.result
        || first.approved != second.approved
        || (first.epoch == second.epoch && first.performer != second.performer);
    // Of one epoch, one snapshot is in the chain. Those of two epochs do not exclude each other.
    let both_count = first.epoch != second.epoch || first.snapshot == second.snapshot;
    let reportable = |epoch: u64| now < 1000 + (epoch + 2) * 100 + 150;
    first.id == second.id && differ && both_count && reportable(first.epoch) && reportable(second.epoch)
}

struct World {
    folder: TempDir,
    signers: usize,
    signer: Option<Signer>,
    now: u64,
    signed: Vec<Task>,
    exports: Vec<String>,
}

impl World {
    fn new() -> Self {
        let folder = private_folder();
        let signer = Some(new_signer(&folder.path().join("0")));
        Self { folder, signers: 1, signer, now: NOW, signed: Vec::new(), exports: Vec::new() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join((self.signers - 1).to_string())
    }

    /// Stops the signer and opens its record.
    fn stop(&mut self) -> Store {
        self.signer = None;
        Store::open(&self.path()).expect("opens")
    }

    fn start(&mut self, store: Store) {
        self.signer = Some(Signer::new(key(), store, None).expect("the same key"));
    }

    fn happen(&mut self, event: &Event) {
        match *event {
            Event::Clock(jump) => self.now = self.now.saturating_add_signed(jump).max(1300),
            Event::Restart => {
                let store = self.stop();
                self.start(store);
            }
            Event::Move { retire } => {
                let mut store = self.stop();
                let text = store.export().expect("reads").to_json().expect("plain types");
                if retire {
                    store.retire().expect("writes");
                }
                drop(store);
                self.signers += 1;
                // The worst case: `init` would set the floor to the epoch of its clock.
                let mut store = new_store(&self.path(), 0);
                store.merge(&RecordFile::parse(text.as_bytes()).expect("ours")).expect("an empty record");
                self.exports.push(text);
                self.start(store);
            }
            Event::ImportOld(which) => {
                if let Some(text) = self.exports.get(which).cloned() {
                    let mut store = self.stop();
                    store.merge(&RecordFile::parse(text.as_bytes()).expect("ours")).expect("its own past");
                    self.start(store);
                }
            }
            Event::Sign { epoch, id, snapshot, performer, result, approved } => {
                let epoch = ((self.now - 1000) / 100).saturating_add_signed(epoch);
                let (id, result) = (B256::repeat_byte(id), B256::repeat_byte(result));
                let snapshot = SnapshotId::repeat_byte(snapshot);
                let task = Task { epoch, snapshot, id, performer, result, approved };
                let signer = self.signer.as_ref().expect("it runs");
                let before = self.signed.contains(&task);
                match signature(signer, &task, self.now) {
                    Ok(_) => {
                        let current = (self.now - 1000) / 100;
                        assert!(epoch == current || epoch + 1 == current, "{task:?} at {}", self.now);
                        for other in &self.signed {
                            assert!(!slashes(other, &task, self.now), "{other:?} and {task:?} at {}", self.now);
                        }
                        if !before {
                            self.signed.push(task);
                        }
                    }
                    Err(RefusalCode::Conflict) => assert!(!before, "{task:?} was signed"),
                    Err(RefusalCode::FutureEpoch | RefusalCode::ClosedEpoch | RefusalCode::BelowFloor) => {}
                    Err(other) => panic!("{other:?}"),
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_events_yields_a_conflict(events in events()) {
        let mut world = World::new();
        for event in &events {
            world.happen(event);
        }
    }
}

#[test]
fn the_oracle_sees_a_conflict() {
    let other = |task: Task| Task { performer: 9, ..task };
    let snapshot = |task| Task { snapshot: SnapshotId::repeat_byte(2), ..task };
    assert!(slashes(&task(7, 1, 1), &task(7, 1, 2), NOW));
    assert!(slashes(&task(7, 1, 1), &task(6, 1, 2), NOW));
    assert!(slashes(&task(7, 1, 1), &other(task(7, 1, 1)), NOW));
    assert!(!slashes(&task(7, 1, 1), &snapshot(other(task(7, 1, 1))), NOW));
    assert!(!slashes(&task(7, 1, 1), &other(task(6, 1, 1)), NOW));
    assert!(!slashes(&task(7, 1, 1), &task(6, 1, 2), 1950));
}
