//! `--identifiers`: which points of the shared polynomial the participants have.

use clap::ValueEnum;
use quorate_threshold::Identifiers;

/// [`Identifiers`] as the command line writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum IdentifiersName {
    /// Participant i has the point i, as in most other software
    Integers,
    /// Roots of unity, for which thousands of shares are combined sooner
    RootsOfUnity,
}

impl From<IdentifiersName> for Identifiers {
    fn from(name: IdentifiersName) -> Self {
        match name {
            IdentifiersName::Integers => Self::Integers,
            IdentifiersName::RootsOfUnity => Self::RootsOfUnity,
        }
    }
}
