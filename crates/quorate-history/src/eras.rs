//! The eras of a chain, one after the other: files become claims.
//!
//! An era is verified from its own file and the state of the era before, without a state transition. Its own state, at its end,
//! knows every validator, when each is active, and the RANDAO mixes; so it gives all committees. The sync committee is the one of
//! the state before, because an era is one period of sync committees. If Altair began inside the era, it is the one of the era's
//! own state, since the first two periods of a chain have the same committee (`upgrade_to_altair`).
//!
//! Blocks are tied to the state by their roots: each block has the root that the state lists for its slot and builds on the one
//! before it, and where no block is, the state must list none.

use std::{
    io::{Read, Seek},
    ops::ControlFlow,
};

use crate::{
    block::Block,
    chain::Chain,
    claims::{ChainClaim, Surroundings},
    committees::Committees,
    era::EraFile,
    error::{EraError, RecordName},
    state::State,
};

/// Goes through the eras of a chain in their order.
#[derive(Debug)]
pub struct Eras {
    chain: Chain,
    before: Option<Boundary>,
}

/// What is known of a chain at the end of an era.
#[derive(Clone, Debug)]
struct Boundary {
    /// The era.
    era: u64,
    /// The root of its newest block.
    root: [u8; 32],
    sync_committee: Option<Vec<[u8; 48]>>,
}

impl Eras {
    /// Begins with no state.
    #[must_use]
    pub fn new(chain: Chain) -> Self {
        Self { chain, before: None }
    }

    /// The chain.
    #[must_use]
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The era whose state ends at a slot.
    ///
    /// # Errors
    /// No era of the chain ends there; the answer says so.
    pub fn era_of(&self, slot: u64) -> Result<u64, String> {
        let slots = self.chain.preset.slots_per_historical_root();
        if slot.is_multiple_of(slots) {
            return Ok(slot / slots);
        }
        Err(format!(
            "found a state of slot {slot}, expected the end of an era, which has {slots} slots; is it of another preset than \
             {}, or not finished?",
            self.chain.preset
        ))
    }

    /// Takes only the state of an era, with which the next one begins.
    ///
    /// # Errors
    /// The state cannot be read or is not of this chain.
    pub fn begin_with<R: Read + Seek>(&mut self, file: &mut EraFile<R>) -> Result<(), EraError> {
        self.state(file).map(drop)
    }

    /// Gives every claim of an era to `take`, block by block, until it breaks off. The state of the era before must be known: from
    /// the call before this one.
    ///
    /// # Errors
    /// The file cannot be read, is not of this chain, or does not follow the era before. The claims of the blocks before the error
    /// were given to `take`.
    pub fn claims<R: Read + Seek>(
        &mut self,
        file: &mut EraFile<R>,
        mut take: impl FnMut(ChainClaim) -> ControlFlow<()>,
    ) -> Result<(), EraError> {
        let before = self.before.take();
        let (era, state) = self.state(file)?;
        // Era 0 is the genesis state alone.
        let Some(previous) = era.checked_sub(1) else { return Ok(()) };
        let Some(before) = before.filter(|before| before.era == previous) else {
            return Err(EraError::NoStateBefore { era });
        };
        let sync_committee = before.sync_committee.as_deref().or(state.sync_committee.as_deref());
        let mut committees = Committees::new(self.chain.preset);
        let slots = self.chain.preset.slots_per_historical_root();
        let first = previous * slots;
        // The state's root of the slot before; the genesis block is in no file.
        let mut root = if first == 0 { state.block_root(0) } else { before.root };
        let mut slot = if first == 0 { 1 } else { first };
        for index in 0..file.blocks() {
            let (offset, stated) = file.block_place(index);
            let wrong = |reason: String| EraError::record(offset, RecordName::Block(stated), reason);
            self.must_be_empty(slot..stated, root, &state, file.state_offset())?;
            let bytes = file.block(index)?;
            let fork = self.chain.fork(self.chain.epoch(stated));
            let block = Block::from_bytes(&bytes, fork, self.chain.preset).map_err(wrong)?;
            if block.slot != stated {
                return Err(wrong(format!(
                    "it is of slot {}, but the file's index lists it for slot {stated}",
                    block.slot
                )));
            }
            if block.parent_root != root {
                return Err(wrong(format!(
                    "it builds on the block {}, but the newest block before it is {}; is the file of another chain?",
                    const_hex::encode_prefixed(block.parent_root),
                    const_hex::encode_prefixed(root)
                )));
            }
            let surroundings = Surroundings { chain: &self.chain, state: &state, sync_committee, previous_root: root };
            root = state.block_root(stated);
            if block.root != root {
                return Err(wrong(format!(
                    "its root is {}, but the state at the end of the era has the block {} in this slot; one of them is not of \
                     this chain",
                    const_hex::encode_prefixed(block.root),
                    const_hex::encode_prefixed(root)
                )));
            }
            for claim in surroundings.claims(&block, &mut committees) {
                if take(claim).is_break() {
                    return Ok(());
                }
            }
            slot = stated + 1;
        }
        self.must_be_empty(slot..first + slots, root, &state, file.state_offset())
    }

    /// Reads the state of a file, and keeps of it what the next era needs.
    fn state<R: Read + Seek>(&mut self, file: &mut EraFile<R>) -> Result<(u64, State), EraError> {
        let offset = file.state_offset();
        let era = self.era_of(file.slot()).map_err(|reason| EraError::record(offset, RecordName::State, reason))?;
        let state = State::of_file(file, &self.chain)?;
        // At genesis there is no slot before; the first era does not ask for it.
        let root = state.block_root(state.slot.saturating_sub(1));
        self.before = Some(Boundary { era, root, sync_committee: state.sync_committee.clone() });
        Ok((era, state))
    }

    /// In slots without a block the newest block is still the one before them. Otherwise the file lacks a block.
    fn must_be_empty(
        &self,
        slots: std::ops::Range<u64>,
        root: [u8; 32],
        state: &State,
        state_offset: u64,
    ) -> Result<(), EraError> {
        match slots.into_iter().find(|slot| state.block_root(*slot) != root) {
            None => Ok(()),
            Some(slot) => Err(EraError::record(
                state_offset,
                RecordName::State,
                format!(
                    "it has the block {} in slot {slot}, which the file does not hold; the file is not whole, or the state is of \
                     another chain",
                    const_hex::encode_prefixed(state.block_root(slot))
                ),
            )),
        }
    }
}
