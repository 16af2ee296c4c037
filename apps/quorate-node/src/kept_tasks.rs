//! The tasks that a node has acknowledged, as its folder keeps them until their epochs can settle nothing more, or they made
//! room for others.
//!
//! After a restart the state machine is told these tasks, so they must say what it was told before: the payload that came first, and each
//! epoch for which the task was named.

use std::collections::{BTreeMap, BTreeSet};

use quorate_evm::alloy_primitives::{B256, Bytes};
use quorate_network::roles::NotTaken;
use serde::{Deserialize, Deserializer, Serialize};

/// Tasks by their ids. As JSON it is the content of `tasks.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeptTasks(BTreeMap<B256, KeptTask>);

/// A task as the folder keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KeptTask {
    /// The epochs for which it was named. One number stands for a list of one.
    #[serde(alias = "epoch", deserialize_with = "epochs")]
    epochs: BTreeSet<u64>,
    /// What the user's programs get.
    payload: Bytes,
}

impl KeptTasks {
    /// Adds a task, or an epoch to one that is kept. The same again changes nothing.
    ///
    /// # Errors
    /// [`NotTaken::OtherPayload`] if the task is kept with another payload. Nothing is changed then.
    pub fn add(&mut self, id: B256, epoch: u64, payload: &Bytes) -> Result<(), NotTaken> {
        let kept = self.0.entry(id);
        let kept = kept.or_insert_with(|| KeptTask { epochs: BTreeSet::new(), payload: payload.clone() });
        if kept.payload != *payload {
            return Err(NotTaken::OtherPayload);
        }
        kept.epochs.insert(epoch);
        Ok(())
    }

    /// Forgets tasks that are over.
    pub fn forget(&mut self, is_over: impl Fn(&B256) -> bool) {
        self.0.retain(|id, _| !is_over(id));
    }

    /// Whether a task is kept.
    pub fn contains(&self, id: &B256) -> bool {
        self.0.contains_key(id)
    }

    /// How many of them are so.
    pub fn count(&self, is_so: impl Fn(&B256) -> bool) -> usize {
        self.0.keys().filter(|id| is_so(id)).count()
    }

    /// Forgets epochs before this one, and tasks that were named for no other. Whether there were any.
    pub fn forget_before(&mut self, epoch: u64) -> bool {
        let mut is_changed = false;
        self.0.retain(|_, task| {
            let open = task.epochs.split_off(&epoch);
            is_changed |= !std::mem::replace(&mut task.epochs, open).is_empty();
            !task.epochs.is_empty()
        });
        is_changed
    }

    /// Each task with each of its epochs and its payload: what the state machine is told.
    pub fn each(&self) -> impl Iterator<Item = (B256, u64, Bytes)> {
        self.0.iter().flat_map(|(id, task)| task.epochs.iter().map(|epoch| (*id, *epoch, task.payload.clone())))
    }
}

fn epochs<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeSet<u64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected an epoch, or a list of epochs")]
    enum Epochs {
        One(u64),
        All(BTreeSet<u64>),
    }
    Ok(match Epochs::deserialize(deserializer)? {
        Epochs::One(epoch) => BTreeSet::from([epoch]),
        Epochs::All(epochs) => epochs,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: B256 = B256::repeat_byte(7);

    fn payload() -> Bytes {
        Bytes::from_static(b"{}")
    }

    fn named(tasks: &KeptTasks) -> Vec<u64> {
        tasks.each().map(|(_, epoch, _)| epoch).collect()
    }

    /// Whoever was told that the first payload is taken finds it after a restart.
    #[test]
    fn another_payload_for_a_kept_id_is_refused() {
        let mut tasks = KeptTasks::default();
        tasks.add(ID, 3, &payload()).unwrap();
        assert_eq!(tasks.add(ID, 4, &Bytes::from_static(b"[]")), Err(NotTaken::OtherPayload));
        assert_eq!(tasks.each().collect::<Vec<_>>(), [(ID, 3, payload())]);
    }

    /// A task for the next epoch that is named again for the running one stays until the next one is over, too.
    #[test]
    fn a_task_is_kept_for_each_epoch_for_which_it_was_named() {
        let mut tasks = KeptTasks::default();
        for epoch in [8, 7, 8] {
            tasks.add(ID, epoch, &payload()).unwrap();
        }
        assert_eq!(named(&tasks), [7, 8]);
        assert!(!tasks.forget_before(7));
        assert!(tasks.forget_before(8));
        assert_eq!(named(&tasks), [8]);
        assert!(tasks.forget_before(9) && tasks == KeptTasks::default());
    }

    #[test]
    fn what_is_over_is_forgotten() {
        let mut tasks = KeptTasks::default();
        let other = B256::repeat_byte(8);
        [ID, other].into_iter().for_each(|id| tasks.add(id, 7, &payload()).unwrap());
        tasks.forget(|id| *id == ID);
        assert!(!tasks.contains(&ID) && tasks.contains(&other));
        assert_eq!(tasks.each().collect::<Vec<_>>(), [(other, 7, payload())]);
    }

    #[test]
    fn a_file_with_one_epoch_for_each_task_is_read() {
        let text = format!(r#"{{"{ID}": {{"epoch": 3, "payload": "0x7b7d"}}}}"#);
        let mut tasks: KeptTasks = serde_json::from_str(&text).unwrap();
        assert_eq!(tasks.each().collect::<Vec<_>>(), [(ID, 3, payload())]);
        tasks.add(ID, 4, &payload()).unwrap();
        assert_eq!(serde_json::from_str::<KeptTasks>(&serde_json::to_string(&tasks).unwrap()).unwrap(), tasks);
        for wrong in [r#"{"payload": "0x"}"#, r#"{"epochs": "3", "payload": "0x"}"#, r#"{"epochs": [3]}"#] {
            let text = format!(r#"{{"{ID}": {wrong}}}"#);
            assert!(serde_json::from_str::<KeptTasks>(&text).is_err(), "{wrong}");
        }
    }
}
