//! Committees: which validators attest in a slot.

use sha2::{Digest, Sha256};

use quorate_formats::signing::DomainType;

use crate::{preset::Preset, shuffling::shuffle, state::State};

/// The committees of the epochs that a block's attestations can be of: its own and the one before.
#[derive(Debug)]
pub struct Committees {
    preset: Preset,
    kept: Vec<(u64, EpochCommittees)>,
}

impl Committees {
    /// No committees yet.
    #[must_use]
    pub fn new(preset: Preset) -> Self {
        Self { preset, kept: Vec::new() }
    }

    /// The committees of an epoch. The state must be late enough to know the mix of two epochs before, and which validators are
    /// active.
    ///
    /// Cost where they are not kept yet: a hash for each 256 active validators, in each round of the shuffle.
    pub(crate) fn of(&mut self, epoch: u64, state: &State) -> &EpochCommittees {
        let place = self.kept.iter().position(|(kept, _)| *kept == epoch).unwrap_or_else(|| {
            // The epoch of a block and the one before it.
            self.kept.retain(|(kept, _)| kept.abs_diff(epoch) <= 1);
            self.kept.push((epoch, EpochCommittees::new(epoch, state, self.preset)));
            self.kept.len() - 1
        });
        &self.kept[place].1
    }
}

/// The committees of one epoch.
#[derive(Debug)]
pub(crate) struct EpochCommittees {
    slots: u64,
    per_slot: usize,
    /// The active validators, shuffled. Committees are consecutive parts of it.
    shuffled: Vec<u32>,
}

impl EpochCommittees {
    fn new(epoch: u64, state: &State, preset: Preset) -> Self {
        let active = (0..).zip(&state.validators).filter(|(_, v)| v.activation_epoch <= epoch && epoch < v.exit_epoch);
        let mut shuffled: Vec<u32> = active.map(|(index, _)| index).collect();
        let slots = preset.slots_per_epoch();
        // `get_committee_count_per_slot`.
        let fitting = shuffled.len() / slots as usize / preset.target_committee_size();
        let per_slot = fitting.clamp(1, preset.max_committees_per_slot());
        // `get_seed`.
        let seed = Sha256::new()
            .chain_update(DomainType::BeaconAttester.bytes())
            .chain_update(epoch.to_le_bytes())
            .chain_update(state.committee_mix(epoch))
            .finalize();
        shuffle(&mut shuffled, &seed.into(), preset.shuffle_rounds());
        Self { slots, per_slot, shuffled }
    }

    /// How many committees each slot has.
    pub(crate) fn per_slot(&self) -> usize {
        self.per_slot
    }

    /// A committee of a slot of the epoch; none if the slot has fewer committees.
    pub(crate) fn committee(&self, slot: u64, index: u64) -> Option<&[u32]> {
        let index = usize::try_from(index).ok().filter(|index| *index < self.per_slot)?;
        let place = (slot % self.slots) as usize * self.per_slot + index;
        let count = self.slots as usize * self.per_slot;
        let at = |place: usize| self.shuffled.len() * place / count;
        Some(&self.shuffled[at(place)..at(place + 1)])
    }
}
