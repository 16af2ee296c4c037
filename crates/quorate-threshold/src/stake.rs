//! Weighted signers: stakes become a small number of shares for each signer.
//!
//! A key has few shares, and stakes are large numbers. So shares are allotted that are nearly proportional to the stakes,
//! with a gap between two limits: whoever holds at most the *safe* part of the stake has too few shares to sign, and
//! whoever holds at least the *live* part has enough. The smaller the gap, the more shares it takes.
//!
//! The shares of a signer are its stake times a factor, rounded. The least factor is searched for which the two limits
//! hold, and the limits are proven for the shares that come out: most shares for a stake are a knapsack problem, which is
//! solved exactly, or bounded from above for very many signers. The bound of Swiper (A. Tonkikh and L. Freitas, eprint
//! 2023/1164) says that shares in proportion to n suffice, whatever the stakes are.
//!
//! Nothing is promised about signers between the two limits. With stakes of 50 and 50, a safe part of a third and a live part of two
//! thirds, 1 of 2 shares would do, and so would 2 of 2. Among thresholds that hold, one is taken with which no signer below the live part
//! signs alone, if there is one for these shares.

use std::ops::Range;

/// A part of the stake: a fraction between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StakePart {
    numerator: u32,
    denominator: u32,
}

impl StakePart {
    /// The fraction, or `None` if it is not between 0 and 1.
    pub const fn new(numerator: u32, denominator: u32) -> Option<Self> {
        if denominator > 0 && numerator <= denominator { Some(Self { numerator, denominator }) } else { None }
    }

    /// The largest whole stake that is at most this part of a total.
    fn of(self, total: u128) -> u128 {
        let (numerator, denominator) = (u128::from(self.numerator), u128::from(self.denominator));
        total / denominator * numerator + total % denominator * numerator / denominator
    }

    /// The largest whole stake that a set can have if the others have at least this part.
    fn rest(self, total: u128) -> u128 {
        Self { numerator: self.denominator - self.numerator, ..self }.of(total)
    }

    /// Whether a stake is at least this part of a total.
    pub fn is_of(self, stake: u128, total: u128) -> bool {
        stake >= total - self.rest(total)
    }

    /// Whether this is less than another part.
    pub fn is_less(self, other: Self) -> bool {
        let cross = |a: Self, b: Self| u64::from(a.numerator) * u64::from(b.denominator);
        cross(self, other) < cross(other, self)
    }
}

/// The shares of each signer, and how many of all of them sign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allotment {
    shares: Vec<u32>,
    threshold: usize,
}

/// Why shares cannot be allotted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StakeError {
    /// Nobody has a stake.
    #[error("nobody has a stake")]
    NoStake,
    /// No gap is left between those who must not and those who must be able to sign.
    #[error("the safe part of the stake must be smaller than the live part")]
    NoGap,
    /// The stakes are too large to be computed with.
    #[error("all stakes together are 2^100 or more: give them in a larger unit")]
    TooMuchStake,
    /// More shares are needed than a committee may have.
    #[error("more than {0} shares are needed: widen the gap between the safe and the live part")]
    TooManyShares(usize),
}

/// The most shares of an allotment.
const MOST: usize = 1 << 24;

/// More than all stakes together. With it, a stake times shares, and twice that, has less than 127 bits.
const STAKE_BELOW: u128 = 1 << 100;

/// The most steps of an exact proof. With more, the bound of fractions of shares takes its place.
const EXACT_UP_TO: usize = 1 << 26;

impl Allotment {
    /// Allots few shares to stakes, so that no signers with at most the `safe` part of the stake can sign together, and
    /// all signers with at least the `live` part can.
    ///
    /// # Errors
    /// [`StakeError`].
    ///
    /// Cost: some ten proofs. A proof takes as many steps as there are signers times shares, or if that is more than
    /// 2^26, as many as sorting the signers.
    ///
    /// ```
    /// use quorate_threshold::stake::{Allotment, StakePart};
    /// let [third, two_thirds] = [(1, 3), (2, 3)].map(|(a, b)| StakePart::new(a, b).expect("below one"));
    /// let allotment = Allotment::new(&[32_000, 31_000, 1_000, 95_000], third, two_thirds)?;
    /// assert_eq!((allotment.shares(), allotment.threshold()), (&[0, 0, 0, 1][..], 1));
    /// # Ok::<(), quorate_threshold::stake::StakeError>(())
    /// ```
    pub fn new(stakes: &[u128], safe: StakePart, live: StakePart) -> Result<Self, StakeError> {
        let add = |sum: u128, stake: &u128| sum.checked_add(*stake).filter(|sum| *sum < STAKE_BELOW);
        let total = stakes.iter().try_fold(0, add).ok_or(StakeError::TooMuchStake)?;
        if total == 0 {
            return Err(StakeError::NoStake);
        }
        if !safe.is_less(live) {
            return Err(StakeError::NoGap);
        }
        let limits = Limits { total, safe: safe.of(total), rest: live.rest(total), live };
        let made = |shares: usize| {
            [0, 1, 2]
                .into_iter()
                .filter_map(|halves| {
                    let rounded = rounded(stakes, total, shares, halves);
                    limits.threshold(stakes, &rounded).map(|threshold| Self { shares: rounded, threshold })
                })
                .min_by_key(Self::total)
        };
        // Double the number of shares until the limits hold, then halve the interval.
        let (mut below, mut above) = (0, 1);
        let mut best = loop {
            if above > MOST {
                return Err(StakeError::TooManyShares(MOST));
            }
            match made(above) {
                Some(allotment) => break allotment,
                None => (below, above) = (above, 2 * above),
            }
        };
        while above - below > 1 {
            let middle = below + (above - below) / 2;
            match made(middle) {
                Some(allotment) => {
                    above = middle;
                    best = std::cmp::min_by_key(allotment, best, Self::total);
                }
                None => below = middle,
            }
        }
        Ok(best)
    }

    /// The number of shares of each signer. Some signers can have none.
    pub fn shares(&self) -> &[u32] {
        &self.shares
    }

    /// How many shares sign.
    pub fn threshold(&self) -> usize {
        self.threshold
    }

    /// The number of all shares: the participants of the committee.
    pub fn total(&self) -> usize {
        self.shares.iter().map(|shares| *shares as usize).sum()
    }

    /// The places of the signers who have enough shares to sign alone.
    pub fn alone(&self) -> impl Iterator<Item = usize> {
        let signs = |shares: &u32| *shares as usize >= self.threshold;
        self.shares.iter().enumerate().filter(move |(_, shares)| signs(shares)).map(|(place, _)| place)
    }

    /// The numbers of the committee's participants that stand for each signer. They are neighbours.
    pub fn participants(&self) -> Vec<Range<u64>> {
        let mut next = 1;
        let ranges = self.shares.iter().map(|shares| {
            let first = next;
            next += u64::from(*shares);
            first..next
        });
        ranges.collect()
    }
}

/// The stakes·shares/total, rounded: down, to the nearest, or up where a part of a share is left, by `halves`.
fn rounded(stakes: &[u128], total: u128, shares: usize, halves: u128) -> Vec<u32> {
    // 100 bits of a stake and 24 of the shares.
    let round = |stake: &u128| (*stake * shares as u128 + (total * halves).saturating_sub(1) / 2) / total;
    stakes.iter().map(|stake| round(stake) as u32).collect()
}

/// The stakes between which the threshold lies.
struct Limits {
    /// Signers with at most this stake must not sign.
    safe: u128,
    /// Signers are enough if the others have at most this stake.
    rest: u128,
    /// Signers with at least this part must be able to sign.
    live: StakePart,
    total: u128,
}

impl Limits {
    /// The least threshold that is safe, if it is live. A larger one that is live is taken if otherwise a signer signs alone who need
    /// not be able to.
    fn threshold(&self, stakes: &[u128], shares: &[u32]) -> Option<usize> {
        let total: usize = shares.iter().map(|shares| *shares as usize).sum();
        let most = |stake| {
            if stakes.len().saturating_mul(total) <= EXACT_UP_TO {
                most_shares(stakes, shares, total, stake)
            } else {
                most_fractions(stakes, shares, stake)
            }
        };
        let (threshold, largest) = (most(self.safe) + 1, total.checked_sub(most(self.rest))?);
        let need_not = |(stake, _): &(&u128, &u32)| !self.live.is_of(**stake, self.total);
        let alone = stakes.iter().zip(shares).filter(need_not).map(|(_, shares)| *shares as usize).max().unwrap_or(0);
        let without_them = threshold.max(alone + 1);
        (threshold <= largest).then_some(if without_them <= largest { without_them } else { threshold })
    }
}

/// The most shares that signers with at most this stake have together.
fn most_shares(stakes: &[u128], shares: &[u32], total: usize, stake: u128) -> usize {
    // The least stake with which signers have so many shares.
    let mut least = vec![u128::MAX; total + 1];
    least[0] = 0;
    let mut reached = 0;
    for (stake, shares) in stakes.iter().zip(shares).filter(|(_, shares)| **shares > 0) {
        let shares = *shares as usize;
        for sum in (0..=reached).rev() {
            if least[sum] < u128::MAX {
                least[sum + shares] = least[sum + shares].min(least[sum] + *stake);
            }
        }
        reached += shares;
    }
    (0..=total).rev().find(|sum| least[*sum] <= stake).unwrap_or(0)
}

/// An upper bound of it: the most shares if signers can take part with a fraction of stake and shares.
fn most_fractions(stakes: &[u128], shares: &[u32], stake: u128) -> usize {
    let mut signers: Vec<_> = stakes.iter().zip(shares).filter(|(_, shares)| **shares > 0).collect();
    // The most shares for a stake first.
    signers.sort_by(|(a, s), (b, t)| (u128::from(**t) * **a).cmp(&(u128::from(**s) * **b)));
    let (mut left, mut sum) = (stake, 0);
    for (stake, shares) in signers {
        let (stake, shares) = (*stake, *shares as usize);
        if stake > left {
            return sum + (left * shares as u128 / stake) as usize;
        }
        (left, sum) = (left - stake, sum + shares);
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn part(numerator: u32, denominator: u32) -> StakePart {
        StakePart::new(numerator, denominator).unwrap()
    }

    /// Whether every set of signers is on the right side of the limits.
    fn holds(allotment: &Allotment, stakes: &[u128], safe: StakePart, live: StakePart) -> bool {
        let total: u128 = stakes.iter().sum();
        (0..1_u32 << stakes.len()).all(|set| {
            let members = || (0..stakes.len()).filter(|i| set >> i & 1 == 1);
            let stake: u128 = members().map(|i| stakes[i]).sum();
            let shares: usize = members().map(|i| allotment.shares[i] as usize).sum();
            let product = |part: StakePart| u128::from(part.numerator) * total;
            let is_safe = stake * u128::from(safe.denominator) <= product(safe);
            let is_live = stake * u128::from(live.denominator) >= product(live);
            (!is_safe || shares < allotment.threshold) && (!is_live || shares >= allotment.threshold)
        })
    }

    /// The least number of shares of any allotment that holds, of at most `most`.
    fn least(stakes: &[u128], safe: StakePart, live: StakePart, most: usize) -> Option<usize> {
        fn all(n: usize, total: usize) -> Vec<Vec<u32>> {
            match n {
                0 if total == 0 => vec![Vec::new()],
                0 => Vec::new(),
                _ => (0..=total)
                    .flat_map(|first| {
                        all(n - 1, total - first).into_iter().map(move |mut rest| {
                            rest.push(first as u32);
                            rest
                        })
                    })
                    .collect(),
            }
        }
        (1..=most).find(|total| {
            let any = |shares: &Vec<u32>| {
                (1..=*total)
                    .any(|threshold| holds(&Allotment { shares: shares.clone(), threshold }, stakes, safe, live))
            };
            all(stakes.len(), *total).iter().any(any)
        })
    }

    #[test]
    fn equal_stakes_get_a_share_each() {
        let allotment = Allotment::new(&[32; 100], part(1, 3), part(2, 3)).unwrap();
        assert!(allotment.total() <= 100, "{allotment:?}");
        let whole = Allotment::new(&[32; 4], part(1, 3), part(3, 4)).unwrap();
        assert!(holds(&whole, &[32; 4], part(1, 3), part(3, 4)));
    }

    /// Between the limits nothing is promised, and still nobody signs alone whom another threshold prevents from it.
    #[test]
    fn nobody_between_the_limits_signs_alone_if_a_threshold_prevents_it() {
        let [third, half, two_thirds] = [(1, 3), (1, 2), (2, 3)].map(|(a, b)| part(a, b));
        let allot = |stakes: &[u128], safe, live| {
            let allotment = Allotment::new(stakes, safe, live).unwrap();
            assert!(holds(&allotment, stakes, safe, live), "{allotment:?}");
            allotment
        };
        for stakes in [&[50, 50][..], &[1, 1], &[40, 40, 20]] {
            let allotment = allot(stakes, third, two_thirds);
            assert_eq!(allotment.alone().count(), 0, "{stakes:?}: {allotment:?}");
            assert!(allotment.threshold() > 1, "{allotment:?}");
        }
        // Who has the live part must be able to.
        assert_eq!(allot(&[50, 50], part(1, 4), half).alone().collect::<Vec<_>>(), [0, 1]);
        assert_eq!(allot(&[10, 90], third, two_thirds).alone().collect::<Vec<_>>(), [1]);
        // The only one who has a share, at its place among those who have none, is named, and a larger safe part prevents it.
        let stakes = [32_000, 31_000, 1_000, 95_000];
        assert_eq!(allot(&stakes, third, two_thirds).alone().collect::<Vec<_>>(), [3]);
        assert_eq!(allot(&stakes, part(598, 1000), two_thirds).alone().count(), 0);
    }

    #[test]
    fn whoever_has_all_the_stake_signs_alone() {
        let allotment = Allotment::new(&[0, u128::from(u64::MAX), 0], part(1, 2), part(1, 1)).unwrap();
        assert_eq!((allotment.shares(), allotment.threshold()), (&[0, 1, 0][..], 1));
        assert_eq!(allotment.participants(), [1..1, 1..2, 2..2]);
    }

    #[test]
    fn stakes_and_parts_that_make_no_sense_are_refused() {
        let allot = |stakes: &[u128], safe, live| Allotment::new(stakes, safe, live).err();
        assert_eq!(allot(&[], part(1, 3), part(2, 3)), Some(StakeError::NoStake));
        assert_eq!(allot(&[0, 0], part(1, 3), part(2, 3)), Some(StakeError::NoStake));
        assert_eq!(allot(&[1, 2], part(2, 4), part(1, 2)), Some(StakeError::NoGap));
        assert_eq!(allot(&[1, 2], part(1, 2), part(1, 3)), Some(StakeError::NoGap));
        assert_eq!((StakePart::new(2, 1), StakePart::new(0, 0)), (None, None));
    }

    /// A sum that wraps, or that leaves no room for shares.
    #[test]
    fn stakes_that_would_overflow_are_refused() {
        let allot = |stakes: &[u128]| Allotment::new(stakes, part(1, 3), part(2, 3));
        for stakes in [&[u128::MAX, 1][..], &[STAKE_BELOW], &[STAKE_BELOW - 1, 1]] {
            assert_eq!(allot(stakes), Err(StakeError::TooMuchStake));
        }
        assert_eq!(allot(&[STAKE_BELOW - 1]).map(|allotment| allotment.total()), Ok(1));
    }

    /// The unit of stakes does not matter, up to the largest.
    #[test]
    fn stakes_in_small_units_get_the_same_shares() {
        let stakes = [32_000_u128, 31_000, 1_000, 95_000, 40_000];
        let [low, high] = [1, 10_u128.pow(24)].map(|unit| {
            let stakes = stakes.map(|stake| stake * unit);
            Allotment::new(&stakes, part(1, 3), part(2, 3)).unwrap()
        });
        assert_eq!(low, high);
    }

    /// Stakes of a proof-of-stake chain, from large to small. Swiper's bound for the same gap is n·2/9 / (1/3) shares
    /// for one limit; both limits together take no more than four times as many.
    #[test]
    fn shares_are_in_proportion_to_the_signers() {
        let stakes: Vec<_> = (1..=2000_u128).map(|i| 1_000_000_000 / i).collect();
        let allotment = Allotment::new(&stakes, part(1, 3), part(2, 3)).unwrap();
        assert!(allotment.total() <= 4 * 2000 * 2 / 3, "{}", allotment.total());
        println!("{} shares for 2,000 signers, threshold {}", allotment.total(), allotment.threshold());
    }

    proptest! {
        #[test]
        fn limits_hold_for_every_set(stakes in vec(0_u128..1000, 1..9), safe in 0_u32..9, gap in 1_u32..5) {
            prop_assume!(stakes.iter().sum::<u128>() > 0);
            let (safe, live) = (part(safe, 12), part((safe + gap).min(12), 12));
            let allotment = Allotment::new(&stakes, safe, live).unwrap();
            prop_assert!(holds(&allotment, &stakes, safe, live), "{allotment:?}");
        }

        #[test]
        fn few_more_shares_than_needed(stakes in vec(1_u128..100, 1..4), safe in 1_u32..6) {
            let (safe, live) = (part(safe, 12), part(safe + 5, 12));
            let allotment = Allotment::new(&stakes, safe, live).unwrap();
            let least = least(&stakes, safe, live, allotment.total()).unwrap();
            prop_assert!(allotment.total() <= 3 * least, "{allotment:?}, {least} would do");
        }

        #[test]
        fn fractions_are_an_upper_bound(stakes in vec(1_u128..100, 1..9), shares in vec(0_u32..9, 9), stake in 0_u128..300) {
            let shares = &shares[..stakes.len()];
            let total = shares.iter().map(|s| *s as usize).sum();
            let exact = most_shares(&stakes, shares, total, stake);
            let every = (0..1_u32 << stakes.len()).filter_map(|set| {
                let members = || (0..stakes.len()).filter(|i| set >> i & 1 == 1);
                let sum: u128 = members().map(|i| stakes[i]).sum();
                (sum <= stake).then(|| members().map(|i| shares[i] as usize).sum::<usize>())
            });
            prop_assert_eq!(Some(exact), every.max());
            prop_assert!(most_fractions(&stakes, shares, stake) >= exact);
        }
    }
}
