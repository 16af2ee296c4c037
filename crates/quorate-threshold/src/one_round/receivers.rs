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
    pub fn shares_of(&self, member: usize) -> impl Iterator<Item = Index> + use<'_> {
        self.committee.indices().take(self.range(member).end).skip(self.range(member).start)
    }

    pub(super) fn range(&self, member: usize) -> Range<usize> {
        self.shares.get(member).cloned().unwrap_or_default()
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

    pub(super) fn digest(&self) -> &[u8; 32] {
        &self.digest
    }
}
