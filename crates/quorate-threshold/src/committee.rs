//! Who takes part, how many of them it takes, and the point of each.

use std::{fmt, sync::Arc};

use quorate::Backend;
use quorate_curve::{Domain, Scalar};

/// A threshold t, a number n of participants, and a point for each participant, at which the shared polynomial is
/// evaluated.
///
/// t shares make a signature, and t - 1 shares make none.
///
/// ```
/// use quorate::Backend;
/// use quorate_threshold::{Committee, Identifiers};
/// let committee = Committee::new(3, 5, Identifiers::Integers, Backend::auto())?;
/// assert_eq!(committee.point(committee.index(4)?), 4.into());
/// # Ok::<(), quorate_threshold::CommitteeError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Committee {
    threshold: usize,
    participants: usize,
    points: Points,
}

#[derive(Clone, Debug)]
enum Points {
    Integers,
    /// At least as many as participants. Participant i has the point at position i - 1. Of the largest committee they take 256 MiB, which
    /// its copies share.
    Roots(Arc<Domain>),
}

/// Which points the participants have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Identifiers {
    /// Participant i has the point i. Most other libraries share keys this way.
    Integers,
    /// Participant i has the point at position i - 1 of the smallest [`Domain`] of 2^k points that is large enough.
    /// Neighbours are cosets, for which a large quorum is combined with few multiplications.
    RootsOfUnity,
}

/// A participant of a committee: 1 to n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Index(u32);

impl Index {
    /// The number, from 1 on.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The place in a list of all participants, from 0 on.
    pub const fn place(self) -> usize {
        self.0 as usize - 1
    }
}

/// Two committees are equal if their participants have the same points and as many of them sign.
impl PartialEq for Committee {
    fn eq(&self, other: &Self) -> bool {
        let of = |committee: &Self| (committee.threshold, committee.participants, committee.identifiers());
        of(self) == of(other)
    }
}

impl Eq for Committee {}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The largest committee.
const MOST: usize = 1 << 24;

/// Why there is no such committee, or no such participant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommitteeError {
    /// No shares would make a signature.
    #[error("the threshold is 0, and it must be at least 1")]
    NoThreshold,
    /// Not even all shares would make a signature.
    #[error("the threshold is {threshold}, and there are only {participants} participants")]
    ThresholdAboveParticipants {
        /// How many participants sign together: t.
        threshold: usize,
        /// How many participants share the key: n.
        participants: usize,
    },
    /// There are more participants than a committee may have.
    #[error("{participants} participants are more than {most}, the largest committee")]
    TooManyParticipants {
        /// How many participants share the key: n.
        participants: usize,
        /// The largest n.
        most: usize,
    },
    /// A number that no participant has. Zero would name the secret itself.
    #[error("there is no participant {number}: participants are 1 to {participants}")]
    NoSuchParticipant {
        /// The number.
        number: u64,
        /// How many participants share the key: n.
        participants: usize,
    },
}

impl Committee {
    /// A committee of n participants of whom t sign. The backend computes the transforms of roots of unity.
    ///
    /// # Errors
    /// [`CommitteeError::NoThreshold`], [`CommitteeError::ThresholdAboveParticipants`],
    /// [`CommitteeError::TooManyParticipants`].
    ///
    /// Cost: nothing for integers, a product for each participant for roots of unity.
    pub fn new(
        threshold: usize,
        participants: usize,
        identifiers: Identifiers,
        backend: Backend,
    ) -> Result<Self, CommitteeError> {
        Self::check(threshold, participants)?;
        let points = match identifiers {
            Identifiers::Integers => Points::Integers,
            Identifiers::RootsOfUnity => {
                let domain = Domain::new(backend, participants.next_power_of_two());
                Points::Roots(Arc::new(domain.expect("a power of two is the size of a domain")))
            }
        };
        Ok(Self { threshold, participants, points })
    }

    /// Whether there is a committee of these numbers. It makes no points, so that a file can be refused before it takes memory.
    pub(crate) fn check(threshold: usize, participants: usize) -> Result<(), CommitteeError> {
        if threshold == 0 {
            return Err(CommitteeError::NoThreshold);
        }
        if threshold > participants {
            return Err(CommitteeError::ThresholdAboveParticipants { threshold, participants });
        }
        if participants > MOST {
            return Err(CommitteeError::TooManyParticipants { participants, most: MOST });
        }
        Ok(())
    }

    /// t: how many shares make a signature.
    pub fn threshold(&self) -> usize {
        self.threshold
    }

    /// n: how many participants there are.
    pub fn participants(&self) -> usize {
        self.participants
    }

    /// Which points the participants have.
    pub fn identifiers(&self) -> Identifiers {
        match self.points {
            Points::Integers => Identifiers::Integers,
            Points::Roots(_) => Identifiers::RootsOfUnity,
        }
    }

    /// The participant with a number.
    ///
    /// # Errors
    /// [`CommitteeError::NoSuchParticipant`], if it is not 1 to n.
    pub fn index(&self, number: u64) -> Result<Index, CommitteeError> {
        let participants = self.participants;
        let known = usize::try_from(number).is_ok_and(|number| (1..=participants).contains(&number));
        let index = u32::try_from(number).ok().filter(|_| known).map(Index);
        index.ok_or(CommitteeError::NoSuchParticipant { number, participants })
    }

    /// All participants, ascending.
    pub fn indices(&self) -> impl Iterator<Item = Index> {
        (1..=self.participants as u32).map(Index)
    }

    /// The point of a participant. It is not zero, and no two participants have the same.
    ///
    /// # Panics
    /// If the index is of a larger committee.
    pub fn point(&self, index: Index) -> Scalar {
        assert!(index.place() < self.participants, "there is no participant {index} of {}", self.participants);
        match &self.points {
            Points::Integers => Scalar::from(u64::from(index.0)),
            Points::Roots(domain) => domain.point(index.place()),
        }
    }

    /// The points of many participants.
    ///
    /// # Panics
    /// If an index is of a larger committee.
    pub fn points(&self, indices: &[Index]) -> Vec<Scalar> {
        match &self.points {
            Points::Roots(domain) if 4 * indices.len() > domain.len() => {
                let points = domain.points();
                indices.iter().map(|index| points[index.place()]).collect()
            }
            _ => indices.iter().map(|index| self.point(*index)).collect(),
        }
    }

    /// The points at positions of which participants have the first, if they are roots of unity.
    pub(crate) fn domain(&self) -> Option<&Domain> {
        match &self.points {
            Points::Integers => None,
            Points::Roots(domain) => Some(domain),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_and_numbers_that_make_no_sense_are_refused() {
        for identifiers in [Identifiers::Integers, Identifiers::RootsOfUnity] {
            let committee = |t, n| Committee::new(t, n, identifiers, Backend::auto()).map(|_| ());
            assert_eq!(committee(0, 0), Err(CommitteeError::NoThreshold));
            assert_eq!(committee(0, 5), Err(CommitteeError::NoThreshold));
            let above = CommitteeError::ThresholdAboveParticipants { threshold: 6, participants: 5 };
            assert_eq!(committee(6, 5), Err(above));
            let many = CommitteeError::TooManyParticipants { participants: MOST + 1, most: MOST };
            assert_eq!(committee(1, MOST + 1), Err(many));
            assert_eq!((committee(1, 1), committee(5, 5)), (Ok(()), Ok(())));
        }
    }

    /// Zero, and numbers that wrap to a participant in 32 bits.
    #[test]
    fn indices_that_wrap_are_no_participants() {
        let committee = Committee::new(2, 3, Identifiers::Integers, Backend::auto()).unwrap();
        for number in [0, 4, 1 << 32, (1 << 32) + 1, u64::MAX] {
            assert_eq!(
                committee.index(number),
                Err(CommitteeError::NoSuchParticipant { number, participants: 3 }),
                "{number}"
            );
        }
        let numbers: Vec<_> =
            committee.indices().map(|index| committee.index(index.number().into()).unwrap()).collect();
        assert_eq!(numbers, [Index(1), Index(2), Index(3)]);
    }

    #[test]
    fn copies_of_a_committee_share_its_points() {
        let committee = Committee::new(2, 100, Identifiers::RootsOfUnity, Backend::auto()).unwrap();
        let copy = committee.clone();
        assert!(std::ptr::eq(committee.domain().unwrap(), copy.domain().unwrap()));
    }

    #[test]
    fn points_are_distinct_and_not_zero() {
        for n in [1, 2, 3, 5, 64, 100] {
            for identifiers in [Identifiers::Integers, Identifiers::RootsOfUnity] {
                let committee = Committee::new(1, n, identifiers, Backend::auto()).unwrap();
                let points: Vec<_> = committee.indices().map(|index| committee.point(index)).collect();
                assert_eq!(committee.points(&committee.indices().collect::<Vec<_>>()), points);
                let inverses = Backend::Portable.inverses(&Backend::Portable.differences(&points, &points));
                assert!(inverses.is_some() && points.iter().all(|point| !point.is_zero()), "{identifiers:?}, {n}");
                assert!((0..n).all(|i| !points[i + 1..].contains(&points[i])));
            }
        }
    }
}
