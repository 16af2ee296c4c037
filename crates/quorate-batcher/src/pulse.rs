//! The pulse of the workers: whether they look for work, or verify what takes as long as it is large. A state machine without a clock.

use std::time::{Duration, Instant};

use crate::schedule::Role;

/// How often workers have looked for work. It moves on as long as they work, and stands still while each of them hangs.
///
/// While a worker verifies a large batch, it looks for no work. So the pulse moves on at each reading, too, for four times as long as the
/// plan expects the batch to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pulse {
    all: u64,
    blocks: u64,
}

impl Pulse {
    /// Whether a worker that takes everything, and the worker of blocks, have looked for work since `before`, or verify large batches.
    #[must_use]
    pub fn has_moved_since(&self, before: Self) -> bool {
        self.all > before.all && self.blocks > before.blocks
    }
}

/// What counts the pulse.
#[derive(Debug, Default)]
pub(crate) struct Heart {
    pulse: Pulse,
    /// The batches that are being verified: one for each worker at most.
    verifying: Vec<Verifying>,
}

/// A batch that a worker verifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Verifying {
    role: Role,
    /// Until when that is no sign that the worker hangs.
    until: Instant,
}

impl Heart {
    /// A worker looks for work.
    pub(crate) fn beat(&mut self, role: Role) {
        match role {
            Role::All => self.pulse.all += 1,
            Role::Blocks => self.pulse.blocks += 1,
        }
    }

    /// A worker begins a batch with so much planned work, in one core's time. [`end`](Self::end) takes the answer.
    pub(crate) fn begin(&mut self, role: Role, work: Duration, now: Instant) -> Verifying {
        let until = now.checked_add(work.saturating_mul(SLOWER)).unwrap_or(now);
        let verifying = Verifying { role, until };
        self.verifying.push(verifying);
        verifying
    }

    /// A worker has verified its batch.
    pub(crate) fn end(&mut self, verifying: Verifying) {
        if let Some(i) = self.verifying.iter().position(|one| *one == verifying) {
            self.verifying.swap_remove(i);
        }
    }

    /// The pulse now.
    pub(crate) fn pulse(&mut self, now: Instant) -> Pulse {
        for role in [Role::All, Role::Blocks] {
            if self.verifying.iter().any(|one| one.role == role && now < one.until) {
                self.beat(role);
            }
        }
        self.pulse
    }
}

/// How much longer than planned a batch may take. The search for false claims, and whatever else this machine does, can make it several
/// times slower.
const SLOWER: u32 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether two readings within a second differ.
    fn moves(heart: &mut Heart, now: Instant) -> bool {
        let before = heart.pulse(now);
        heart.pulse(now + Duration::from_secs(1)).has_moved_since(before)
    }

    /// A claim of 100,000 keys with as many messages takes a worker longer than a watchdog waits, and was taken for a hang.
    #[test]
    fn a_large_batch_is_no_hang_until_four_times_its_planned_time() {
        let (mut heart, begun) = (Heart::default(), Instant::now());
        let after = |seconds| begun + Duration::from_secs(seconds);
        assert!(!moves(&mut heart, begun));
        let large = heart.begin(Role::All, Duration::from_secs(41), begun);
        assert!(!moves(&mut heart, begun), "the worker of blocks gives no sign");
        let block = heart.begin(Role::Blocks, Duration::from_secs(50), begun);
        assert!(moves(&mut heart, begun) && moves(&mut heart, after(162)));
        assert!(!moves(&mut heart, after(163)), "more than four times 41 seconds");
        heart.begin(Role::All, Duration::from_secs(10), after(163));
        assert!(moves(&mut heart, after(163)), "another worker does not hang");
        heart.end(block);
        assert!(!moves(&mut heart, after(163)));
        heart.end(large);
        assert_eq!(heart.verifying.len(), 1);
    }

    #[test]
    fn a_worker_that_hangs_after_its_batch_gives_no_sign() {
        let (mut heart, now) = (Heart::default(), Instant::now());
        let batches = [Role::All, Role::All, Role::Blocks].map(|role| heart.begin(role, Duration::from_secs(60), now));
        heart.end(batches[0]);
        assert!(moves(&mut heart, now), "the other one has not ended");
        heart.end(batches[1]);
        assert!(!moves(&mut heart, now));
        heart.beat(Role::All);
        assert!(!moves(&mut heart, now), "what was before the first reading does not count");
        let before = heart.pulse(now);
        heart.beat(Role::All);
        assert!(heart.pulse(now).has_moved_since(before), "it looks for work again");
    }

    #[test]
    fn work_of_any_length_has_an_end() {
        let (mut heart, now) = (Heart::default(), Instant::now());
        let endless = heart.begin(Role::All, Duration::MAX, now);
        heart.end(endless);
        assert!(heart.verifying.is_empty());
    }
}
