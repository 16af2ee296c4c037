//! Verdicts as numbers, with their reasons as text.

use quorate::{Outcome, Reason, Verdict};
use quorate_batcher::Refused;

/// What a claim got. The number 1 alone means that something proved it, and memory that nobody wrote is 0. From 16 on, nobody looked at
/// the claim. The numbers are a part of the C interface and never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Ruled {
    /// Nothing proved or refuted it. From a verifier, it is an internal error.
    Undecided = 0,
    /// Something proved it.
    Valid = 1,
    /// Its signature is not the one that these keys make over these messages.
    Mismatch = 2,
    /// A key, its signature or a message does not decode.
    Encoding = 3,
    /// It breaks a rule of its suite: no keys, equal messages, keys that add up to the identity, other counts.
    Rule = 4,
    /// It does not fit the key set that it names: one of another variant, a member that the set does not have, or several members of whom
    /// one has not proven its key. The set can be older than the claim, so this says nothing about who sent it.
    KeySet = 5,
    /// Nobody looked at it, because as much work waits as the settings allow, or because it alone is larger.
    Overloaded = 16,
    /// Nobody looked at it, because its source sent false claims.
    Banned = 17,
    /// Nobody looked at it before its deadline.
    DeadlinePassed = 18,
    /// Nobody looked at it, because the batcher stops.
    Stopped = 19,
    /// An internal error of the batcher.
    Failed = 20,
}

impl From<Verdict> for Ruled {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Valid => Self::Valid,
            Verdict::Invalid(reason) => match reason {
                Reason::Mismatch => Self::Mismatch,
                Reason::Parse(_) | Reason::ParseKey { .. } => Self::Encoding,
                Reason::UnequalCounts { .. }
                | Reason::NoProofsOfPossession
                | Reason::NoStatements
                | Reason::RepeatedMessage
                | Reason::RepeatedKey
                | Reason::IdentityAggregateKey => Self::Rule,
                Reason::OtherVariant | Reason::NoSuchMember { .. } | Reason::PossessionUnproven { .. } => Self::KeySet,
                // What is not named here proves nothing.
                _ => Self::Undecided,
            },
        }
    }
}

impl From<Refused> for Ruled {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Overloaded | Refused::SuspectsOverloaded | Refused::TooLarge => Self::Overloaded,
            Refused::Banned => Self::Banned,
            Refused::DeadlinePassed => Self::DeadlinePassed,
            Refused::Stopped => Self::Stopped,
            _ => Self::Failed,
        }
    }
}

/// The verdicts of a batch.
#[derive(Clone, Debug)]
pub struct Verdicts(Outcome);

impl From<Verdict> for Verdicts {
    fn from(verdict: Verdict) -> Self {
        let mut outcome = Outcome::default();
        outcome.verdicts.push(verdict);
        Self(outcome)
    }
}

impl Verdicts {
    /// Those of an outcome.
    #[must_use]
    pub fn new(outcome: Outcome) -> Self {
        Self(outcome)
    }

    /// How many there are: one for each claim.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.verdicts.len()
    }

    /// Whether there are claims and all of them are valid.
    #[must_use]
    pub fn all_valid(&self) -> bool {
        self.0.all_valid()
    }

    /// They as numbers, in the order of the claims.
    pub fn ruled(&self) -> impl Iterator<Item = Ruled> {
        self.0.verdicts.iter().map(|verdict| Ruled::from(*verdict))
    }

    /// Why a claim is not valid; nothing if it is, or if there is no such claim.
    #[must_use]
    pub fn reason(&self, index: usize) -> String {
        let reason = self.0.verdicts.get(index).and_then(|verdict| verdict.reason());
        reason.map(|reason| reason.to_string()).unwrap_or_default()
    }

    /// How many statements of a claim were known and subtracted.
    #[must_use]
    pub fn subtracted(&self, index: usize) -> usize {
        self.0.subtracted.get(index).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use quorate::{DecodeError, ParseError};

    use super::*;

    #[test]
    fn only_a_proof_is_valid() {
        let reasons = [
            (Reason::Mismatch, Ruled::Mismatch),
            (Reason::Parse(ParseError::IdentityKey), Ruled::Encoding),
            (Reason::ParseKey { index: 1, keys: 2, error: ParseError::Key(DecodeError::NotOnCurve) }, Ruled::Encoding),
            (Reason::UnequalCounts { keys: 1, messages: 2 }, Ruled::Rule),
            (Reason::NoProofsOfPossession, Ruled::Rule),
            (Reason::NoStatements, Ruled::Rule),
            (Reason::RepeatedMessage, Ruled::Rule),
            (Reason::RepeatedKey, Ruled::Rule),
            (Reason::IdentityAggregateKey, Ruled::Rule),
            (Reason::OtherVariant, Ruled::KeySet),
            (Reason::NoSuchMember { index: 4, members: 4 }, Ruled::KeySet),
            (Reason::PossessionUnproven { index: 1 }, Ruled::KeySet),
            (Reason::GivenUp, Ruled::Undecided),
            (Reason::Undecided, Ruled::Undecided),
        ];
        for (reason, ruled) in reasons {
            assert_eq!(Ruled::from(Verdict::Invalid(reason)), ruled, "{reason}");
        }
        assert_eq!(Ruled::from(Verdict::Valid) as u8, 1);
        assert!(!Verdicts::new(Outcome::default()).all_valid());
    }
}
