//! What a unit of gas may cost (EIP-1559), in wei.

/// What the chain asks for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prices {
    /// The newest block's base fee.
    pub(super) base: u128,
    /// What proposers expect.
    pub(super) tip: u128,
}

/// What a transaction offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fees {
    pub(super) max_fee: u128,
    pub(super) tip: u128,
}

impl Fees {
    /// The fees of a first transaction, at most `most`: twice the base fee and the tip, so that it is not left behind
    /// if the next six blocks are full. `None` if that is more than allowed already now.
    pub(super) fn first(prices: Prices, most: u128) -> Option<Self> {
        let Prices { base, tip } = prices;
        let now = base.saturating_add(tip);
        (now <= most).then(|| Self { max_fee: base.saturating_mul(2).saturating_add(tip).min(most), tip })
    }

    /// The fees of a transaction that replaces one with these, at most `most`: both an eighth higher at least, as nodes
    /// ask for, and as high as those of a first transaction. `None` if that is more than allowed.
    pub(super) fn bumped(self, prices: Prices, most: u128) -> Option<Self> {
        let (least_fee, least_tip) = (an_eighth_more(self.max_fee), an_eighth_more(self.tip));
        if least_fee > most {
            return None;
        }
        let tip = least_tip.max(prices.tip);
        let wished = prices.base.saturating_mul(2).saturating_add(tip);
        let max_fee = least_fee.max(wished).min(most);
        Some(Self { max_fee, tip: tip.min(max_fee) })
    }
}

fn an_eighth_more(fee: u128) -> u128 {
    fee.saturating_add(fee.div_ceil(8)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICES: Prices = Prices { base: 100, tip: 10 };

    #[test]
    fn first_fees_stay_below_the_most() {
        assert_eq!(Fees::first(PRICES, 1_000), Some(Fees { max_fee: 210, tip: 10 }));
        assert_eq!(Fees::first(PRICES, 150), Some(Fees { max_fee: 150, tip: 10 }));
        assert_eq!(Fees::first(PRICES, 110), Some(Fees { max_fee: 110, tip: 10 }));
        assert_eq!(Fees::first(PRICES, 109), None);
    }

    /// Nodes refuse a replacement that raises either by less than a tenth.
    #[test]
    fn a_replacement_is_an_eighth_higher_at_least() {
        for (max_fee, tip) in [(210, 10), (8, 1), (1, 0), (1_000_000_007, 13)] {
            let old = Fees { max_fee, tip };
            for prices in [PRICES, Prices { base: 0, tip: 0 }, Prices { base: 5_000, tip: 70 }] {
                let new = old.bumped(prices, u128::MAX).unwrap();
                assert!(8 * new.max_fee >= 9 * max_fee && 8 * new.tip >= 9 * tip && new.max_fee > max_fee, "{new:?}");
                assert!(new.tip <= new.max_fee && new.max_fee >= 2 * prices.base, "{new:?}");
            }
        }
        let old = Fees { max_fee: 800, tip: 10 };
        assert_eq!(old.bumped(PRICES, 900), Some(Fees { max_fee: 900, tip: 12 }));
        assert_eq!(old.bumped(PRICES, 899), None);
    }
}
