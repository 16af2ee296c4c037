//! Who receives shares: a key for each member, and how many shares it gets.

use std::ops::Range;

use sha2::{Digest as _, Sha256};

use super::key::ShareEncryptionKey;
use crate::committee::{Committee, Index};

/// The members to whom shares are dealt, and the committee that their shares make. A member with a weight of w has w shares
/// with neighbouring indices.
#[derive(Clone, Debug)]
pub struct ShareReceivers {
    committee: Committee,
    keys: Vec<ShareEncryptionKey>,
    /// The places of each member's shares in the committee.
    shares: Vec<Range<usize>>,
    digest: [u8; 32],
}

/// Why members are no receivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShareReceiversError {
    /// The members have more or fewer shares together than the committee.
    #[error("the members have {found} shares, and the committee {expected}")]
    Shares {
        /// The shares of all members.
        found: usize,
        /// Those of the committee.
        expected: usize,
    },
    /// Two members have one key.
    #[error("members {0} and {1} have the same key")]
    SameKey(usize, usize),
    /// The committee is too large for the bounds of the proofs.
    #[error("{participants} shares are more than {most}, the most that one round deals", most = ShareReceivers::MOST)]
    TooMany {
        /// The shares.
        participants: usize,
    },
}

impl ShareReceivers {
    /// The most shares of a committee.
    pub const MOST: usize = 1 << 16;

    /// Members with their keys and weights. The first gets the first shares of the committee, and so on.
    ///
    /// # Errors
    /// [`ShareReceiversError`]. The members of its messages are counted from 1 on.
    pub fn new(committee: Committee, members: &[(ShareEncryptionKey, u32)]) -> Result<Self, ShareReceiversError> {
        let participants = committee.participants();
        if participants > Self::MOST {
            return Err(ShareReceiversError::TooMany { participants });
        }
        let found = members.iter().fold(0_usize, |sum, (_, weight)| sum.saturating_add(*weight as usize));
        if found != participants {
            return Err(ShareReceiversError::Shares { found, expected: participants });
        }
        let mut sorted: Vec<_> = members.iter().map(|(key, _)| key.to_bytes()).zip(1..).collect();
        sorted.sort_unstable();
        if let Some(same) = sorted.windows(2).find(|pair| pair[0].0[..48] == pair[1].0[..48]) {
            return Err(ShareReceiversError::SameKey(same[0].1, same[1].1));
        }
        let mut hash = Sha256::new();
        hash.update(b"QUORATE-ONE-ROUND-V01-RECEIVERS_");
        for number in [committee.threshold(), participants, committee.identifiers() as usize] {
            hash.update((number as u64).to_be_bytes());
        }
        let mut end = 0;
        let mut shares = Vec::with_capacity(members.len());
        for (key, weight) in members {
            hash.update(key.to_bytes());
            hash.update(weight.to_be_bytes());
            let begin = end;
            end += *weight as usize;
            shares.push(begin..end);
        }
        let keys = members.iter().map(|(key, _)| *key).collect();
        Ok(Self { committee, keys, shares, digest: hash.finalize().into() })
    }

    /// The committee.
    pub fn committee(&self) -> &Committee {
        &self.committee
    }

    /// The keys of the members, in their order.
    pub fn keys(&self) -> &[ShareEncryptionKey] {
        &self.keys
    }

    /// The shares of the member at a place, from 0 on. There are none if there is no such member.
    ///
    /// Cost: a step for each of them.
    pub fn shares_of(&self, member: usize) -> impl Iterator<Item = Index> + use<'_> {
        let places = self.shares.get(member).cloned().unwrap_or_default();
        places.map(|place| self.committee.index(place as u64 + 1).expect("the shares are those of the committee"))
    }

    /// The most shares of one member. The k-th shares of all members have encapsulations of their own: with one for two shares of a
    /// member, the difference of two digits would be there for everyone to guess.
    pub(super) fn slots(&self) -> usize {
        self.shares.iter().map(Range::len).max().unwrap_or(0)
    }

    /// The member, and which of its shares it is, for each share of the committee.
    pub(super) fn seats(&self) -> impl Iterator<Item = (usize, usize)> {
        self.shares.iter().enumerate().flat_map(|(member, range)| (0..range.len()).map(move |slot| (member, slot)))
    }

    /// For each slot, the members who have a share there, each with the place of that share in the committee.
    ///
    /// Cost: a step for each share.
    pub(super) fn by_slot(&self) -> Vec<Vec<(usize, usize)>> {
        let mut slots = vec![Vec::new(); self.slots()];
        for (share, (member, slot)) in self.seats().enumerate() {
            slots[slot].push((member, share));
        }
        slots
    }

    pub(super) fn digest(&self) -> &[u8; 32] {
        &self.digest
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use quorate::Backend;

    use super::*;
    use crate::{committee::Identifiers, one_round::key::ShareDecryptionKey};

    /// One member has 40,000 shares, the others 1,000 and one: every step costs as much as there are shares, and not their square.
    #[test]
    fn a_member_with_tens_of_thousands_of_shares() {
        let weights: Vec<_> = [40_000, 1, 0, 1_000].into_iter().chain([1; 60]).chain([24_475]).collect();
        assert_eq!(weights.iter().sum::<u32>() as usize, ShareReceivers::MOST);
        let key = |seed: usize| ShareDecryptionKey::derive(&[seed as u8 + 1; 32]).encryption_key();
        let members: Vec<_> = (0..weights.len()).map(key).zip(weights.iter().copied()).collect();
        let committee = |n| Committee::new(2, n, Identifiers::Integers, Backend::auto()).expect("a committee");
        let begin = Instant::now();
        let receivers = ShareReceivers::new(committee(ShareReceivers::MOST), &members).expect("receivers");
        let shares: Vec<_> = (0..members.len()).flat_map(|member| receivers.shares_of(member)).collect();
        assert!(receivers.committee().indices().eq(shares), "in the order of the members");
        assert_eq!(
            receivers.shares_of(3).map(Index::number).collect::<Vec<_>>(),
            (40_002..=41_001).collect::<Vec<_>>()
        );
        assert_eq!((receivers.shares_of(2).count(), receivers.shares_of(members.len()).count()), (0, 0));
        let slots = receivers.by_slot();
        assert_eq!((slots.len(), slots.concat().len()), (40_000, ShareReceivers::MOST));
        assert_eq!((&slots[0][..3], &slots[39_999][..]), (&[(0, 0), (1, 40_000), (3, 40_001)][..], &[(0, 39_999)][..]));
        // Quadratic steps would be four thousand million.
        assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
        let found = ShareReceivers::new(committee(41_000), &members).expect_err("they have more");
        assert_eq!(found, ShareReceiversError::Shares { found: ShareReceivers::MOST, expected: 41_000 });
        let many = ShareReceivers::new(committee(ShareReceivers::MOST + 1), &members).expect_err("too many");
        assert_eq!(many, ShareReceiversError::TooMany { participants: ShareReceivers::MOST + 1 });
    }
}
