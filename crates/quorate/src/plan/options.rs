//! How to plan a batch and how to execute the plan.

use std::num::NonZeroUsize;

use quorate_curve::{Backend, Soundness};

/// How to plan and execute. The plan keeps them: it is made for its back end and its threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Threads to use, this one included. They are started for the call and end with it.
    pub threads: NonZeroUsize,
    /// How unlikely it must be that a false claim passes.
    pub soundness: Soundness,
    /// Who does the arithmetic.
    pub backend: Backend,
}

impl Default for Options {
    /// One thread, 64 bits, the fastest back end.
    fn default() -> Self {
        Self { threads: NonZeroUsize::MIN, soundness: Soundness::default(), backend: Backend::auto() }
    }
}
