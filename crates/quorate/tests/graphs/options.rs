//! The options that tests verify under: every backend, one thread and two, both soundnesses; all of them, or in turn.
//!
//! A test that verifies hundreds of batches under all options spends its time on repetition. Such a test takes the options
//! in turn instead: the next batch is verified under the next of them.

use std::num::NonZeroUsize;

use quorate::{Backend, Options, Soundness};

/// Threads and soundness, in the order in which they take turns.
const MODES: [(usize, Soundness); 4] =
    [(1, Soundness::Bits64), (2, Soundness::Bits128), (2, Soundness::Bits64), (1, Soundness::Bits128)];

/// The portable backend has no lanes and takes most of the time, so [`Turns::in_lanes`] gives it every third batch. Three has
/// no divisor in common with the number of modes, so the portable backend meets all of them as well.
const PORTABLE_EVERY: usize = 3;

/// Every mode on a backend.
pub(crate) fn every_mode(backend: Backend) -> [Options; 4] {
    MODES.map(|(threads, soundness)| Options {
        threads: NonZeroUsize::new(threads).expect("one or two"),
        soundness,
        backend,
    })
}

/// Every mode on every backend.
pub(crate) fn every_options() -> Vec<Options> {
    Backend::available().iter().flat_map(|backend| every_mode(*backend)).collect()
}

/// Options in turn: four batches in a row are verified under all four modes.
#[derive(Default)]
pub(crate) struct Turns {
    batches: usize,
}

impl Turns {
    /// The options of the next batch: one mode on every backend.
    pub(crate) fn on_every_backend(&mut self) -> Vec<Options> {
        let mode = self.batches % MODES.len();
        self.batches += 1;
        Backend::available().iter().map(|backend| every_mode(*backend)[mode]).collect()
    }

    /// The options of the next batch, where what counts is the lane that a claim is in: one mode on every backend with
    /// lanes, and on the portable backend for every third batch. A CPU without lanes has the portable backend alone, which
    /// then verifies every batch.
    pub(crate) fn in_lanes(&mut self) -> Vec<Options> {
        let skipped = !self.batches.is_multiple_of(PORTABLE_EVERY) && Backend::available().len() > 1;
        let mut options = self.on_every_backend();
        options.retain(|options| !skipped || options.backend != Backend::Portable);
        options
    }
}
