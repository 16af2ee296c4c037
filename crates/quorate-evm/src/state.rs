//! The one word that a `Settlement` changes, and what it is made of.
//!
//! ```text
//! state = keccak256(head 32 ‖ newest 32)        newest: the commitment of the base in slot 0, zero before the first
//! head  = nonce 64 ‖ epoch 32 ‖ members 24 ‖ enough 24 ‖ required 88 ‖ paid 24   bits, from the most significant on
//! ```
//!
//! A settlement is shown head and newest, and folds the next ones. `begin` does not know them: it folds the terms of the
//! epoch into the word, [`entering`], and nothing settles until `enter` is shown what was before.

use alloy_primitives::{B256, U256};

use crate::{bitmap::Bitmap, keccak::keccak256};

/// The head of a settlement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_structs, reason = "the contract's word has no other parts")]
pub struct Head {
    /// Results that were settled; the number of the next.
    pub nonce: u64,
    /// The epoch that settles; 0 before the first.
    pub epoch: u32,
    /// Indices that are weighed in the epoch, those below this. 24 bits.
    pub members: u32,
    /// Any so many of these indices weigh `required` at least; [`NEVER`] where no number of them does. 24 bits.
    pub enough: u32,
    /// The weight that a quorum needs. 88 bits.
    pub required: u128,
    /// Members that changed since the last store by ski rental. 24 bits.
    pub paid: u32,
}

/// [`Head::enough`] where members are never counted.
pub const NEVER: u32 = (1 << 24) - 1;

/// A part of a head that is too large for its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{part}: {found}, which has more than {bits} bits")]
pub struct TooLarge {
    /// Which part.
    pub part: &'static str,
    /// What it says.
    pub found: u128,
    /// Bits that it has in the word.
    pub bits: u32,
}

impl Head {
    /// The word.
    ///
    /// # Errors
    /// [`TooLarge`].
    pub fn encode(&self) -> Result<U256, TooLarge> {
        let mut word = U256::from(self.nonce);
        for (part, found, bits) in [
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

    /// Reads the word: every word is one head.
    pub fn decode(mut word: U256) -> Self {
        let mut low = |bits: usize| {
            let part = word & ((U256::from(1) << bits) - U256::from(1));
            word >>= bits;
            part.to::<u128>()
        };
        // Each fits the bits it was cut from.
        let paid = low(24) as u32;
        let required = low(88);
        let (enough, members) = (low(24) as u32, low(24) as u32);
        Self { paid, required, enough, members, epoch: low(32) as u32, nonce: low(64) as u64 }
    }

    /// Whether these signers are enough by their number: those that are weighed in the epoch are counted, and no weight
    /// is read. Before the first epoch `enough` is zero, and nobody is.
    pub fn counts(&self, signers: &Bitmap) -> bool {
        self.enough != 0
            && signers.iter().take_while(|index| *index < self.members as usize).count() >= self.enough as usize
    }

    /// The head after `enter`: these terms, with nonce and paid as they were.
    #[must_use]
    pub fn entered(&self, before: &Self) -> Self {
        Self { nonce: before.nonce, paid: before.paid, ..*self }
    }
}

/// The state of a settlement.
pub fn state(head: U256, newest: B256) -> B256 {
    keccak256(&[&head.to_be_bytes::<32>(), newest.as_slice()]).into()
}

/// The state of a settlement whose next epoch has begun and was not entered: keccak256(ENTERING ‖ state ‖ terms).
pub fn entering(before: B256, terms: U256) -> B256 {
    let kind = keccak256(&[b"quorate.settlement.entering"]);
    keccak256(&[&kind, before.as_slice(), &terms.to_be_bytes::<32>()]).into()
}

/// The least number of indices of which any so many weigh `required`, and the threshold by which the contract finds it:
/// the weight at which the sums of the smallest reach `required`. [`NEVER`] where all of them weigh less.
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

/// What `begin` finds by a threshold t of at least 1: with c weights below t, S in all, any c + ceil((required - S)/t)
/// indices weigh `required`, as the c smallest weigh S and each other at least t. Right for every t, least for that of
/// [`enough`].
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

    /// The layout: a change of it is a change of the contract.
    #[test]
    fn heads_have_one_layout() {
        let head = Head { nonce: 1, epoch: 2, members: 3, enough: 4, required: 5, paid: 6 };
        let word = "0000000000000001000000020000030000040000000000000000000005000006";
        assert_eq!(format!("{:064x}", head.encode().expect("it fits")), word);
        assert_eq!(Head::decode(head.encode().expect("it fits")), head);
        let largest = Head {
            nonce: u64::MAX,
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
        let many = Head { members: NEVER + 1, ..head }.encode().map_err(|error| error.to_string());
        assert_eq!(many, Err("members: 16777216, which has more than 24 bits".to_owned()));
    }

    #[test]
    fn only_weighed_members_count() {
        let head = Head { members: 4, enough: 3, ..Head::default() };
        let counts = |signers: &[usize]| head.counts(&signers.iter().copied().collect());
        assert!(counts(&[0, 1, 3]) && counts(&[0, 1, 2, 3, 9]));
        assert!(!counts(&[0, 1, 4, 5]));
        for enough in [0, NEVER] {
            let never = Head { members: 4, enough, ..Head::default() };
            assert!(!never.counts(&Bitmap::full(4)));
        }
    }
}
