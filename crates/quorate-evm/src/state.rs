//! The state of a `Settlement`: one word of storage, a hash, and the values that it is the hash of.
//!
//! ```text
//! state  = keccak256(head (32 bytes) ‖ newest (32 bytes))
//! newest = the commitment of the base in slot 0, or zero if there is none
//! head   = nonce (48 bits) ‖ table (16) ‖ epoch (32) ‖ members (24) ‖ enough (24) ‖ required (88) ‖ paid (24)
//! ```
//!
//! A call passes head and newest. The contract compares their hash with its state, and stores the hash of the next head and
//! newest. `begin` starts an epoch without knowing head and newest: it hashes the epoch's terms into the state, see
//! [`entering`]. Until `enter` passes the head and newest from before, nothing settles. If the terms name the next key table,
//! `enter` also forgets the newest base, since bases are sums of the old table's keys.

use alloy_primitives::{B256, U256, keccak256};
use alloy_sol_types::SolValue;

use crate::member_set::MemberSet;

/// The head of a settlement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Head {
    /// The number of results that were settled, which is the number of the next result. 48 bits.
    pub nonce: u64,
    /// The number of the key table, which counts from 0: members' indices are those of this table.
    pub table: u16,
    /// The current epoch; 0 before the first.
    pub epoch: u32,
    /// Members with an index below this number have a weight in the epoch. 24 bits.
    pub members: u32,
    /// Any `enough` of these members weigh at least `required` together. [`NEVER`] if no number of members is certain to.
    /// 24 bits.
    pub enough: u32,
    /// The weight that a quorum needs. 88 bits.
    pub required: u128,
    /// The number of members that changed since ski rental last stored a base. 24 bits.
    pub paid: u32,
}

/// The value of [`Head::enough`] with which the number of signers never suffices.
pub const NEVER: u32 = (1 << 24) - 1;

/// A part of the head does not fit into its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{part}: {found} has more than {bits} bits")]
pub struct TooLarge {
    /// The name of the part.
    pub part: &'static str,
    /// Its value.
    pub found: u128,
    /// The number of bits that it has in the head.
    pub bits: u32,
}

impl Head {
    /// The head as a word.
    ///
    /// # Errors
    /// [`TooLarge`].
    pub fn encode(&self) -> Result<U256, TooLarge> {
        let mut word = U256::ZERO;
        for (part, found, bits) in [
            ("nonce", self.nonce.into(), 48),
            ("table", self.table.into(), 16),
            ("epoch", self.epoch.into(), 32),
            ("members", self.members.into(), 24),
            ("enough", self.enough.into(), 24),
            ("required", self.required, 88),
            ("paid", self.paid.into(), 24),
        ] {
            if found >> bits != 0 {
                return Err(TooLarge { part, found, bits });
            }
            word = word << bits | U256::from(found);
        }
        Ok(word)
    }

    /// Reads a word. Every word is a head.
    pub fn decode(mut word: U256) -> Self {
        let mut low = |bits: usize| {
            let part = word & ((U256::from(1) << bits) - U256::from(1));
            word >>= bits;
            part.to::<u128>()
        };
        // Each part fits into its type: it was cut from so many bits.
        let paid = low(24) as u32;
        let required = low(88);
        let (enough, members) = (low(24) as u32, low(24) as u32);
        let (epoch, table) = (low(32) as u32, low(16) as u16);
        Self { paid, required, enough, members, epoch, table, nonce: low(48) as u64 }
    }

    /// Whether the number of signers alone proves that they weigh `required`, so that no weight is read. Only members who
    /// have a weight in the epoch are counted. Before the first epoch `enough` is zero, and the answer is no.
    pub fn counts(&self, signers: &MemberSet) -> bool {
        self.enough != 0
            && signers.iter().take_while(|index| *index < self.members as usize).count() >= self.enough as usize
    }

    /// The least weight of a quorum in the epoch. It is `required`, and 1 before the first epoch, when nothing is required and nobody
    /// weighs anything.
    pub fn least_weight(&self) -> u128 {
        self.required.max(1)
    }

    /// Whether members who weigh so much together are a quorum of the epoch.
    pub fn weighs_enough(&self, weight: u128) -> bool {
        weight >= self.least_weight()
    }

    /// The head after `enter`: these terms, with the nonce and `paid` of the head before.
    #[must_use]
    pub fn entered(&self, before: &Self) -> Self {
        Self { nonce: before.nonce, paid: before.paid, ..*self }
    }
}

/// The state of a settlement.
pub fn state(head: U256, newest: B256) -> B256 {
    keccak256((head, newest).abi_encode())
}

/// The state of a settlement whose next epoch has begun and was not entered yet:
/// keccak256(keccak256("quorate.settlement.entering") ‖ state before ‖ terms).
pub fn entering(before: B256, terms: U256) -> B256 {
    keccak256((keccak256("quorate.settlement.entering"), before, terms).abi_encode())
}

/// The smallest n such that any n members weigh at least `required`, and the threshold that makes the contract find it.
/// The second value is n; it is [`NEVER`] if all members together weigh less.
///
/// Sort the members by weight and add the weights up, the smallest first. The threshold is the weight at which the sum
/// reaches `required`.
///
/// The contract refuses a `required` of zero.
pub fn enough(weights: &[u64], required: u128) -> (u64, u32) {
    let mut sorted = weights.to_vec();
    sorted.sort_unstable();
    let reaches = sorted.iter().scan(0u128, |sum, weight| {
        *sum += u128::from(*weight);
        Some((*sum, *weight))
    });
    let threshold = reaches.into_iter().find(|(sum, _)| *sum >= required).map_or(1, |(_, weight)| weight.max(1));
    (threshold, enough_by(weights, required, threshold))
}

/// The number that the contract's `begin` computes from a threshold t of at least 1: c + ceil((required - S)/t), where c
/// members weigh less than t, and S together.
///
/// Any so many members weigh `required`: at worst the c light ones are among them and weigh S, and each other weighs at
/// least t. This holds for every t; the threshold of [`enough`] gives the smallest number.
pub fn enough_by(weights: &[u64], required: u128, threshold: u64) -> u32 {
    let (mut count, mut sum) = (0u128, 0u128);
    for weight in weights.iter().filter(|weight| **weight < threshold) {
        count += 1;
        sum += u128::from(*weight);
    }
    let number = count + required.saturating_sub(sum).div_ceil(threshold.into());
    if number > weights.len() as u128 { NEVER } else { number.try_into().unwrap_or(NEVER) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The layout is the contract's: both change together.
    #[test]
    fn heads_have_one_layout() {
        let head = Head { nonce: 1, table: 7, epoch: 2, members: 3, enough: 4, required: 5, paid: 6 };
        let word = "0000000000010007000000020000030000040000000000000000000005000006";
        assert_eq!(format!("{:064x}", head.encode().expect("it fits")), word);
        assert_eq!(Head::decode(head.encode().expect("it fits")), head);
        let largest = Head {
            nonce: (1 << 48) - 1,
            table: u16::MAX,
            epoch: u32::MAX,
            members: NEVER,
            enough: NEVER,
            required: (1 << 88) - 1,
            paid: NEVER,
        };
        assert_eq!(largest.encode(), Ok(U256::MAX));
        assert_eq!(Head::decode(U256::MAX), largest);
        let heavy = Head { required: 1 << 88, ..head };
        assert_eq!(heavy.encode(), Err(TooLarge { part: "required", found: 1 << 88, bits: 88 }));
        let late = Head { nonce: 1 << 48, ..head };
        assert_eq!(late.encode(), Err(TooLarge { part: "nonce", found: 1 << 48, bits: 48 }));
        let many = Head { members: NEVER + 1, ..head }.encode().map_err(|error| error.to_string());
        assert_eq!(many, Err("members: 16777216 has more than 24 bits".to_owned()));
    }

    #[test]
    fn nobody_weighs_enough() {
        let is_enough = |required, weight| Head { required, ..Head::default() }.weighs_enough(weight);
        assert!(!is_enough(0, 0) && is_enough(0, 1));
        assert!(!is_enough(60, 59) && is_enough(60, 60));
    }

    #[test]
    fn only_weighed_members_count() {
        let head = Head { members: 4, enough: 3, ..Head::default() };
        let counts = |signers: &[usize]| head.counts(&signers.iter().copied().collect());
        assert!(counts(&[0, 1, 3]) && counts(&[0, 1, 2, 3, 9]));
        assert!(!counts(&[0, 1, 4, 5]));
        for enough in [0, NEVER] {
            let never = Head { members: 4, enough, ..Head::default() };
            assert!(!never.counts(&MemberSet::full(4)));
        }
    }
}
