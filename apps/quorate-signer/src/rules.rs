//! The rules by which a task is signed. They read no clock and no disk.
//!
//! 1. A task is signed while its epoch can settle: in the epoch and in the next one.
//! 2. No task of an epoch below the floor is signed.
//! 3. No task is signed that conflicts with a signed one ([`Task::conflict_with`]).
//!
//! Of rule 3: suppose the chain is reorganised and an epoch gets another snapshot. A task of the old snapshot may be signed
//! again under the new one, also for another performer, which the new snapshot elects. What was signed under the old one
//! stays in the record, because the chain may return to it.

use quorate_evm::{Task, task::Conflict};
use quorate_host::utc;
use quorate_signer_client::{
    network::NetworkTerms,
    protocol::{Refusal, RefusalCode},
};

use crate::clock::ClockJump;

/// What of the record the rules need, and the time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    pub(crate) network: NetworkTerms,
    /// Unix time in seconds.
    pub(crate) now: u64,
    pub(crate) floor: u64,
    pub(crate) retired: bool,
}

/// A task that may be signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permit {
    /// It was not signed before, and must be written down first.
    New,
    /// It stands in the record.
    Again,
}

/// The rule that a task breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    Retired,
    ClockJump(ClockJump),
    NotStarted {
        genesis: u64,
        now: u64,
    },
    FutureEpoch {
        epoch: u64,
        current: u64,
    },
    ClosedEpoch {
        epoch: u64,
        current: u64,
    },
    /// The floor, and when it begins, in seconds of Unix time.
    BelowFloor {
        epoch: u64,
        floor: u64,
        begins: u128,
    },
    Conflict {
        conflict: Conflict,
        epoch: u64,
    },
}

impl Situation {
    /// Judges a task. `signed` is what the record has under the task's id.
    pub(crate) fn judge(&self, task: &Task, signed: impl IntoIterator<Item = Task>) -> Result<Permit, Broken> {
        let Self { network, now, floor, retired } = *self;
        let epoch = task.epoch;
        if retired {
            return Err(Broken::Retired);
        }
        let Some(current) = network.epoch_at(now) else {
            return Err(Broken::NotStarted { genesis: network.genesis, now });
        };
        if epoch > current {
            return Err(Broken::FutureEpoch { epoch, current });
        }
        if u128::from(now) >= network.closes_at(epoch) {
            return Err(Broken::ClosedEpoch { epoch, current });
        }
        if epoch < floor {
            return Err(Broken::BelowFloor { epoch, floor, begins: network.start_of(floor) });
        }
        let mut permit = Permit::New;
        for other in signed {
            if let Some(conflict) = task.conflict_with(&other) {
                return Err(Broken::Conflict { conflict, epoch: other.epoch });
            }
            if other == *task {
                permit = Permit::Again;
            }
        }
        Ok(permit)
    }

    /// What may leave the record now: the last epoch to remove, and the floor that this needs. `None` if nothing may.
    ///
    /// The floor is the first epoch that can be signed now. A record leaves only if its conflicts can no longer be reported
    /// when that epoch begins. So even if the clock is fast now and right later, no signature after the removal is for an
    /// epoch that begins while the record still counts.
    pub(crate) fn removable(&self) -> Option<(u64, u64)> {
        let floor = self.network.epoch_at(self.now)?.saturating_sub(1).max(self.floor);
        Some((self.network.forgettable_before(floor)?, floor))
    }
}

impl From<Broken> for Refusal {
    fn from(broken: Broken) -> Self {
        let (code, message) = match broken {
            Broken::Retired => (
                RefusalCode::Retired,
                "the record was moved to another machine by `export --retire`; use the signer there".to_owned(),
            ),
            Broken::NotStarted { genesis, now } => {
                let message = format!("epoch 0 begins at {}; the signer's clock says {}", utc(genesis), utc(now));
                (RefusalCode::NotStarted, message)
            }
            Broken::FutureEpoch { epoch, current } => (
                RefusalCode::FutureEpoch,
                format!("epoch {epoch} has not begun; by the signer's clock it is epoch {current}"),
            ),
            Broken::ClosedEpoch { epoch, current } => (
                RefusalCode::ClosedEpoch,
                format!("epoch {epoch} can settle nothing more; by the signer's clock it is epoch {current}"),
            ),
            Broken::BelowFloor { epoch, floor, begins } => {
                let begins = utc(u64::try_from(begins).unwrap_or(u64::MAX));
                (
                    RefusalCode::BelowFloor,
                    format!(
                        "epoch {epoch} is below the floor of the record, epoch {floor}, which begins at {begins}; if that is far \
                         ahead, the signer's clock was wrong once: wait until then, or make a new record as docs/signer.md says (\"A clock that was ahead\")"
                    ),
                )
            }
            Broken::ClockJump(jump) => (RefusalCode::ClockJump, jump.to_string()),
            Broken::Conflict { conflict, epoch } => (
                RefusalCode::Conflict,
                format!("a task with this id and {} was signed for epoch {epoch}", conflict.what()),
            ),
        };
        Self { code, message }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use quorate_evm::{
        SnapshotId,
        alloy_primitives::{Address, B256},
    };

    use super::*;

    /// Epoch 7 of a network with epochs of 100 seconds; conflicts are reported for 250 seconds more.
    fn situation() -> Situation {
        let epoch_length = NonZeroU64::new(100).expect("not zero");
        let contract = Address::repeat_byte(1);
        let network = NetworkTerms { chain_id: 1, contract, genesis: 1000, epoch_length, slashing_window: 250 };
        Situation { network, now: 1750, floor: 0, retired: false }
    }

    fn task(epoch: u64) -> Task {
        let (id, snapshot, result) = (B256::repeat_byte(9), SnapshotId::repeat_byte(1), B256::repeat_byte(1));
        Task { epoch, snapshot, id, performer: 1, result, approved: true }
    }

    #[test]
    fn the_current_and_the_previous_epoch() {
        let judged = [4, 5, 6, 7, 8].map(|epoch| situation().judge(&task(epoch), []));
        let closed = |epoch| Err(Broken::ClosedEpoch { epoch, current: 7 });
        let future = Err(Broken::FutureEpoch { epoch: 8, current: 7 });
        assert_eq!(judged, [closed(4), closed(5), Ok(Permit::New), Ok(Permit::New), future]);
    }

    /// Epoch 6 settles in the seconds from 1600 to 1799.
    #[test]
    fn the_first_and_the_last_second_of_an_epoch() {
        for (now, expected) in [
            (1599, Err(Broken::FutureEpoch { epoch: 6, current: 5 })),
            (1600, Ok(Permit::New)),
            (1799, Ok(Permit::New)),
            (1800, Err(Broken::ClosedEpoch { epoch: 6, current: 8 })),
        ] {
            assert_eq!(Situation { now, ..situation() }.judge(&task(6), []), expected, "{now}");
        }
    }

    #[test]
    fn before_genesis() {
        let broken = Situation { now: 999, ..situation() }.judge(&task(0), []);
        assert_eq!(broken, Err(Broken::NotStarted { genesis: 1000, now: 999 }));
        assert_eq!(Situation { now: 1000, ..situation() }.judge(&task(0), []), Ok(Permit::New));
    }

    #[test]
    fn below_the_floor() {
        let situation = Situation { floor: 7, ..situation() };
        assert_eq!(situation.judge(&task(6), []), Err(Broken::BelowFloor { epoch: 6, floor: 7, begins: 1700 }));
        assert_eq!(situation.judge(&task(6), [task(6)]), Err(Broken::BelowFloor { epoch: 6, floor: 7, begins: 1700 }));
        assert_eq!(situation.judge(&task(7), []), Ok(Permit::New));
    }

    #[test]
    fn a_retired_record() {
        let situation = Situation { retired: true, ..situation() };
        assert_eq!(situation.judge(&task(7), [task(7)]), Err(Broken::Retired));
    }

    #[test]
    fn one_digest_for_each_id_in_an_epoch() {
        let signed = task(7);
        assert_eq!(situation().judge(&signed, [signed]), Ok(Permit::Again));
        for (other, conflict) in [
            (Task { performer: 2, ..signed }, Conflict::Performer),
            (Task { result: B256::ZERO, ..signed }, Conflict::Result),
            (Task { approved: false, ..signed }, Conflict::Verdict),
        ] {
            let judged = situation().judge(&other, [signed]);
            assert_eq!(judged, Err(Broken::Conflict { conflict, epoch: 7 }));
        }
    }

    #[test]
    fn in_another_epoch_the_same_result_and_verdict() {
        let signed = task(6);
        let later = task(7);
        let again = |task| situation().judge(&task, [signed]);
        assert_eq!(again(later), Ok(Permit::New));
        assert_eq!(again(Task { performer: 2, ..later }), Ok(Permit::New));
        for other in [Task { result: B256::ZERO, ..later }, Task { approved: false, ..later }] {
            assert!(matches!(again(other), Err(Broken::Conflict { epoch: 6, .. })));
        }
    }

    /// The chain was reorganised, and the epoch has another snapshot, which elects another performer.
    #[test]
    fn in_another_snapshot_the_same_result_and_verdict() {
        let signed = task(7);
        let again = Task { snapshot: SnapshotId::repeat_byte(2), ..signed };
        assert_eq!(situation().judge(&again, [signed]), Ok(Permit::New));
        let elected = Task { performer: 2, ..again };
        assert_eq!(situation().judge(&elected, [signed]), Ok(Permit::New));
        for other in [Task { result: B256::ZERO, ..again }, Task { approved: false, ..again }] {
            assert!(matches!(situation().judge(&other, [signed]), Err(Broken::Conflict { .. })));
        }
        // The chain returns to the first snapshot: its performer still holds.
        assert_eq!(situation().judge(&signed, [signed, elected]), Ok(Permit::Again));
        let other = Task { performer: 3, ..signed };
        let conflict = Conflict::Performer;
        assert_eq!(situation().judge(&other, [signed, elected]), Err(Broken::Conflict { conflict, epoch: 7 }));
    }

    /// Conflicts of epoch e are reportable until 1000 + (e + 2) * 100 + 250. At second 1750 the floor may be 6, which begins
    /// at 1600: epoch 1 is the last that no longer counts then.
    #[test]
    fn what_may_leave_the_record() {
        assert_eq!(situation().removable(), Some((1, 6)));
        // A fast clock has raised the floor to 9, which begins at 1900.
        assert_eq!(Situation { floor: 9, ..situation() }.removable(), Some((4, 9)));
        assert_eq!(Situation { now: 1500, ..situation() }.removable(), None);
        assert_eq!(Situation { now: 999, ..situation() }.removable(), None);
    }
}
