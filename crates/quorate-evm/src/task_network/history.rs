//! The blocks that a reorganisation can undo: the network after each of them, and what they changed.

use std::{collections::VecDeque, sync::Arc};

use super::{change::Change, log::BlockId, state::State};
use crate::task::Finality;

/// The network after a block.
#[derive(Debug)]
struct Checkpoint {
    block: BlockId,
    state: State,
    /// What the block changed, as long as it can be undone.
    changes: Vec<Change>,
}

/// The newest block that was read, and those before it that can be undone, as far as they changed something or ended a
/// step. A copy shares them.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// The first is final, or the first that was read.
    checkpoints: VecDeque<Arc<Checkpoint>>,
    /// Whether the first is final, so that it cannot be undone.
    has_floor: bool,
}

impl History {
    /// The newest block that was read.
    pub(super) fn newest(&self) -> Option<BlockId> {
        self.checkpoints.back().map(|checkpoint| checkpoint.block)
    }

    /// The newest of these blocks with at most this number.
    pub(super) fn newest_up_to(&self, number: u64) -> Option<BlockId> {
        self.checkpoints.iter().rev().map(|checkpoint| checkpoint.block).find(|block| block.0 <= number)
    }

    /// The network after the newest block.
    pub(super) fn state(&self) -> Option<&State> {
        self.checkpoints.back().map(|checkpoint| &checkpoint.state)
    }

    /// How many blocks are kept.
    pub(super) fn len(&self) -> usize {
        self.checkpoints.len()
    }

    /// Takes a further block. `changes` are empty if it is final.
    pub(super) fn push(&mut self, block: BlockId, state: State, changes: Vec<Change>) {
        self.checkpoints.push_back(Arc::new(Checkpoint { block, state, changes }));
    }

    /// Replaces the network after the newest block.
    pub(super) fn replace_state(&mut self, state: State) {
        if let Some(last) = self.checkpoints.pop_back() {
            let (block, changes) = (last.block, last.changes.clone());
            self.push(block, state, changes);
        }
    }

    /// Undoes the newest block, and says what is undone, newest first. `None` if the block is final, or if there is
    /// none.
    pub(super) fn undo(&mut self) -> Option<Vec<Change>> {
        if self.has_floor && self.checkpoints.len() == 1 {
            return None;
        }
        let last = self.checkpoints.pop_back()?;
        Some(last.changes.iter().rev().filter_map(Change::undone).collect())
    }

    /// Takes it that all blocks up to this number are final. Says which settlements, told as recent before, are final
    /// now.
    pub(super) fn finalise(&mut self, number: u64) -> Vec<Change> {
        let mut told = Vec::new();
        while let Some(first) = self.checkpoints.front().filter(|first| first.block.0 <= number) {
            told.extend(first.changes.iter().filter_map(finalised));
            let next_is_final = self.checkpoints.get(1).is_some_and(|next| next.block.0 <= number);
            if !next_is_final {
                // The last final block stays, without what cannot be undone any more.
                let (block, state) = (first.block, first.state.clone());
                self.checkpoints[0] = Arc::new(Checkpoint { block, state, changes: Vec::new() });
                self.has_floor = true;
                break;
            }
            self.checkpoints.pop_front();
        }
        told
    }
}

/// The same settlement as a final one; `None` for other changes.
fn finalised(change: &Change) -> Option<Change> {
    let mut change = change.clone();
    match &mut change {
        Change::Settled { finality, .. } => *finality = Finality::Final,
        _ => return None,
    }
    Some(change)
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{B256, U256};

    use super::*;

    fn block(number: u64) -> BlockId {
        (number, B256::repeat_byte(number as u8))
    }

    fn settled(id: u8, finality: Finality) -> Change {
        Change::Settled {
            id: B256::repeat_byte(id),
            epoch: 0,
            performer: U256::ZERO,
            result: B256::ZERO,
            approved: true,
            rewarded: true,
            transaction: B256::ZERO,
            block: 0,
            finality,
        }
    }

    fn history(blocks: u64) -> History {
        let mut history = History::default();
        for number in 1..=blocks {
            history.push(block(number), State::default(), vec![settled(number as u8, Finality::Recent)]);
        }
        history
    }

    #[test]
    fn blocks_are_undone_newest_first_and_not_behind_a_final_one() {
        let mut history = history(4);
        assert_eq!(history.finalise(2), [settled(1, Finality::Final), settled(2, Finality::Final)]);
        assert_eq!(history.finalise(2), [], "told once");
        for id in [4, 3] {
            assert_eq!(history.undo(), Some(vec![Change::Unsettled { id: B256::repeat_byte(id) }]));
        }
        assert_eq!((history.undo(), history.newest()), (None, Some(block(2))));
    }

    #[test]
    fn without_a_final_block_all_can_be_undone() {
        let mut history = history(2);
        assert_eq!(history.finalise(0), []);
        assert!(history.undo().is_some() && history.undo().is_some());
        assert_eq!((history.undo(), history.newest()), (None, None));
    }

    #[test]
    fn finality_comes_step_by_step() {
        let mut history = history(3);
        assert_eq!(history.finalise(1), [settled(1, Finality::Final)]);
        assert_eq!(history.finalise(3), [settled(2, Finality::Final), settled(3, Finality::Final)]);
        assert_eq!((history.len(), history.newest_up_to(9)), (1, Some(block(3))));
        assert_eq!(history.newest_up_to(2), None);
    }
}
