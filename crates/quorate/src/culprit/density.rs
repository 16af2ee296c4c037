//! How a set is cut: into parts, which is cheap if few claims are false, or into its claims, which is cheap if many are.
//!
//! For example, all 512 claims of a batch are false. Halving each set until single claims are left computes 511 values,
//! and the Miller loops of half of all claims on each level. If every set is cut into its claims at once, there are 511
//! values as well, but each claim takes part in one Miller loop.
//!
//! Without lanes, so a search measures how many claims are false, as soon as it has [`MEASURED_FROM`] sets: it first
//! finds the false claims of one set in [`ONE_IN`], chosen at random, because who lies must not know where the search
//! looks. With lanes, parts are computed together, and a search in parts costs less than a check of each claim anyway.

use crate::{execute::Execution, plan::Options, suite::Suite};

/// How the sets of a level are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// Into parts, until the share of false claims is measured.
    Unmeasured,
    /// Into parts, since few claims are false.
    Parts,
    /// Into single claims, since many are false.
    Claims,
}

impl Cut {
    /// The sets by which the share of false claims is measured, taken out of the level, if it is to be measured now.
    pub(super) fn sample<S: Suite, T>(self, execution: &Execution<'_, S>, level: &mut Vec<T>) -> Option<Vec<T>> {
        let Options { backend, .. } = execution.plan().options;
        if self != Self::Unmeasured || backend.lanes() > 1 || level.len() < MEASURED_FROM {
            return None;
        }
        let mut random = execution.random_word();
        let sample = (0..level.len() / ONE_IN).map(|_| {
            let place = random % level.len() as u64;
            random /= level.len() as u64;
            level.swap_remove(place as usize)
        });
        Some(sample.collect())
    }

    /// What was measured: so many false claims among so many.
    pub(super) fn measured(false_claims: usize, claims: usize) -> Self {
        if MANY * false_claims > claims { Self::Claims } else { Self::Parts }
    }
}

/// The number of sets from which the share of false claims is measured.
const MEASURED_FROM: usize = 16;
/// One set of so many is measured.
const ONE_IN: usize = 8;
/// Many claims are false if it is more than one of so many. With one in four, the two ways cost the same.
const MANY: usize = 4;
