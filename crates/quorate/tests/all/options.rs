//! The options under which tests verify: every backend, on one thread and on two, with both soundnesses.
//!
//! A test of few batches verifies each under all of them. A test of many batches takes turns: it verifies each batch under
//! the next options, because a batch under all of them would take many seconds and find nothing more.

use std::num::NonZeroUsize;

use quorate::{Backend, Options, Soundness};

/// Threads and soundness, in the order of their turns.
const MODES: [(usize, Soundness); 4] =
    [(1, Soundness::Bits64), (2, Soundness::Bits128), (2, Soundness::Bits64), (1, Soundness::Bits128)];

/// The portable backend takes every fifth batch of [`Turns::in_lanes`]. Five and the number of modes have no common
/// divisor, so it takes its batches under all modes.
const PORTABLE_TURN: usize = 5;

/// Every mode of a backend.
pub(crate) fn every_mode(backend: Backend) -> [Options; 4] {
    MODES.map(|(threads, soundness)| Options {
        threads: NonZeroUsize::new(threads).expect("one or two"),
        soundness,
        backend,
        ..Options::default()
    })
}

/// Every mode of every backend.
pub(crate) fn every_options() -> Vec<Options> {
    Backend::available().iter().flat_map(|backend| every_mode(*backend)).collect()
}

/// Takes turns: four batches in a row are verified under all four modes.
#[derive(Default)]
pub(crate) struct Turns {
    batches: usize,
}

impl Turns {
    /// The options of the next batch: one mode, on every backend.
    pub(crate) fn on_every_backend(&mut self) -> Vec<Options> {
        let mode = self.batches % MODES.len();
        self.batches += 1;
        Backend::available().iter().map(|backend| every_mode(*backend)[mode]).collect()
    }

    /// The options of the next batch of a test that tries lanes: one mode, on every backend that has lanes. The portable
    /// backend has none, and its arithmetic takes most of the time, so it verifies every fifth batch. It verifies every
    /// batch on a CPU where it is the only backend.
    pub(crate) fn in_lanes(&mut self) -> Vec<Options> {
        let with_portable = self.batches.is_multiple_of(PORTABLE_TURN) || Backend::available().len() == 1;
        let mut options = self.on_every_backend();
        options.retain(|options| with_portable || options.backend != Backend::Portable);
        options
    }

    /// The options of the next batch of a test that tries many long ones: the next of the backends of [`in_lanes`](Self::in_lanes). Three
    /// backends take their batches under all four modes.
    pub(crate) fn on_one_backend(&mut self) -> Options {
        let turn = self.batches;
        let options = self.in_lanes();
        options[turn % options.len()]
    }
}
