//! All chance of a simulated network, from one seed.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

/// Random numbers that a seed repeats.
#[derive(Clone, Debug)]
pub(super) struct Chance(ChaCha8Rng);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A number from `least` to `most`, both included.
    pub(super) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.0.next_u64() % (most - least + 1)
    }

    pub(super) fn below(&mut self, count: usize) -> usize {
        (self.0.next_u64() % count as u64) as usize
    }

    /// True so many times in a thousand.
    pub(super) fn permille(&mut self, times: u32) -> bool {
        times != 0 && self.0.next_u64() % 1000 < u64::from(times)
    }

    pub(super) fn word(&mut self) -> [u8; 32] {
        let mut word = [0; 32];
        self.0.fill_bytes(&mut word);
        word
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}
