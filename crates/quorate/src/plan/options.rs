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
    /// Who says that the keys are in the subgroup.
    pub keys: Keys,
}

/// Who says that the keys of a batch are in the subgroup of order r.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Keys {
    /// Decoding checked them, or a caller who knows.
    #[default]
    Checked,
    /// Somebody outside, and the caller wants no other answer if that is wrong. In min-pk the plan then uses the ate
    /// pairing alone, in which a part of a key whose order divides the cofactor changes no value. A verdict is then that
    /// about the part of the key in the subgroup, which is what the crate `blst` answers, too. In min-sig no pairing
    /// has that property, and the option changes nothing.
    ///
    /// Cost: up to a sixth more than with checked keys, and less than checking them.
    Assumed,
}

impl Default for Options {
    /// One thread, 64 bits, the fastest backend of this machine, and checked keys.
    fn default() -> Self {
        Self {
            threads: NonZeroUsize::MIN,
            soundness: Soundness::default(),
            backend: Backend::auto(),
            keys: Keys::default(),
        }
    }
}
