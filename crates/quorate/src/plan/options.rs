//! How to plan a batch and how to execute the plan.

use std::num::NonZeroUsize;

use quorate_curve::{Backend, Soundness};

/// How to plan and execute. A plan keeps its options, because it is made for its backend and its number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many threads to use, the caller's included. The others are started for the call and end with it.
    pub threads: NonZeroUsize,
    /// How unlikely it must be that a false claim passes.
    pub soundness: Soundness,
    /// The backend that does the arithmetic.
    pub backend: Backend,
}

impl Default for Options {
    /// One thread, 64 bits, and the fastest backend of this machine.
    fn default() -> Self {
        Self { threads: NonZeroUsize::MIN, soundness: Soundness::default(), backend: Backend::auto() }
    }
}
