//! The rounds of a ceremony.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The step of a ceremony that a message belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Round {
    /// Dealers commit to their polynomials and send each receiver its share, encrypted.
    Deal = 1,
    /// Receivers say which dealers gave them a false share, or none.
    Response = 2,
    /// Dealers who were accused show what they sent.
    Justification = 3,
    /// With [`Variant::CommitFirst`](super::Variant::CommitFirst): dealers show their contributions to the key.
    Reveal = 4,
    /// If a dealer did not: receivers say whose contribution is missing.
    Absence = 5,
    /// If enough receivers miss the same contributions, and only then: they show the shares that they have of them, so
    /// that the contributions are not lost.
    Disclosure = 6,
    /// Receivers say which outcome they have come to.
    Confirmation = 7,
    /// In a recovery: helpers send the participant who lost its share what it recovers it from.
    Contribution = 8,
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Deal => "deal",
            Self::Response => "response",
            Self::Justification => "justification",
            Self::Reveal => "reveal",
            Self::Absence => "absence",
            Self::Disclosure => "disclosure",
            Self::Confirmation => "confirmation",
            Self::Contribution => "contribution",
        })
    }
}
