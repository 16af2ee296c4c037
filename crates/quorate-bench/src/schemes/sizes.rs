//! How much is measured.

use crate::measure::Run;

/// Bytes of a message that many sign.
pub(super) const MESSAGE: usize = 512;

/// How much is measured.
pub(super) struct Sizes {
    /// Bytes of the messages that are hashed, or signed by one.
    pub(super) messages: Vec<usize>,
    pub(super) delegates: usize,
    /// More than two thirds.
    pub(super) quorum: usize,
    /// Fewer than a third.
    pub(super) corrupted: usize,
    /// How many shares are bad where they are searched.
    pub(super) bad: Vec<usize>,
    /// How many keys are summed with coefficients, beside those of the delegates.
    pub(super) keys: usize,
    pub(super) rounds: usize,
}

impl Sizes {
    /// Of a quick run or a full one.
    pub(super) fn of(run: &Run) -> Self {
        // 14 of them are the source's; it shows 512, 1,024 and 2,048 by themselves.
        let all = (6..=20).map(|log| 1 << log).collect();
        Self {
            messages: run.choose(vec![64, 512, 1024, 2048, 1 << 14, 1 << 20], all),
            delegates: 32,
            quorum: 22,
            corrupted: 10,
            bad: vec![0, 1, 2, 3, 5, 10],
            keys: 1024,
            rounds: run.choose(9, 61),
        }
    }
}
