//! What is offered for a unit of gas (EIP-1559), and never more than the user allows, whatever the chain's node says.

use std::fmt;

use serde_json::json;

use crate::rpc::{Rpc, RpcBlock, RpcError};

/// The most that is paid for a unit of gas, in gwei.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeeLimits {
    /// All of it.
    pub max_fee_gwei: u64,
    /// What of it the block's proposer gets, of a replacement as of a first offer. Proposers of Ethereum expect far less than the default,
    /// so there only a node that lies asks for more. Nodes of some other chains take nothing that tips less than their own least; then
    /// transactions are refused until this is raised. Nodes take a replacement only if it tips a tenth more, so a transaction that tips
    /// nearly as much as this is not replaced: it waits until it is mined.
    pub max_tip_gwei: u64,
}

impl Default for FeeLimits {
    fn default() -> Self {
        Self { max_fee_gwei: 500, max_tip_gwei: 3 }
    }
}

/// Why nothing is offered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FeeError {
    /// The node gives no answer that can be used.
    #[error(transparent)]
    Node(#[from] RpcError),
    /// The chain asks for more than is allowed.
    #[error("a unit of gas costs {now_gwei} gwei, more than --max-fee {most_gwei}")]
    TooDear {
        /// The base fee and the tip, rounded up.
        now_gwei: u128,
        /// What is allowed.
        most_gwei: u64,
    },
}

impl FeeLimits {
    /// What a transaction that is sent now offers: twice the base fee and the tip, so that it is not left behind if the next six blocks are
    /// full; and that the node asks for a higher tip, if it does.
    ///
    /// # Errors
    /// [`FeeError`].
    pub async fn offer(self, rpc: &Rpc) -> Result<(Fees, Option<TipCut>), FeeError> {
        let prices = Self::prices(rpc, &rpc.newest().await?).await?;
        let now_gwei = prices.base.saturating_add(prices.tip.min(self.most().tip)).div_ceil(GWEI);
        let fees = Fees::first(prices, self.most());
        let fees = fees.ok_or(FeeError::TooDear { now_gwei, most_gwei: self.max_fee_gwei })?;
        Ok((fees, self.cut(prices, fees)))
    }

    /// What the chain asks for after this block. The tip may be above the limit: [`TipCut`] says so, and no offer has it.
    pub(crate) async fn prices(rpc: &Rpc, newest: &RpcBlock) -> Result<Prices, RpcError> {
        // A chain without a base fee takes transactions with one as well as those of the old kind, if it takes them at all.
        let base = newest.base_fee_per_gas.unwrap_or_default().saturating_to();
        let tip = rpc.quantity("eth_maxPriorityFeePerGas", json!([])).await?.saturating_to();
        Ok(Prices { base, tip })
    }

    /// That the node asks for a higher tip than the first transaction of a call offers; `None` if it does not, or nothing is offered.
    pub(crate) fn tip_cut(self, prices: Prices) -> Option<TipCut> {
        self.cut(prices, self.for_call(prices)?)
    }

    /// That the node asks for a higher tip than these fees have.
    fn cut(self, prices: Prices, offered: Fees) -> Option<TipCut> {
        let by = match offered.tip < self.most().tip {
            true => CutBy::MaxFee(self.max_fee_gwei),
            false => CutBy::MaxTip(self.max_tip_gwei),
        };
        (prices.tip > offered.tip).then(|| TipCut { asked_gwei: prices.tip.div_ceil(GWEI), by })
    }

    /// What the first transaction of a call offers: as a tip what the node asks for, up to all that is allowed and that the base fee leaves,
    /// because a chain may take nothing less. `None` if the base fee alone is more than a call may cost.
    pub(crate) fn for_call(self, prices: Prices) -> Option<Fees> {
        Fees::first_within(prices, Fees { tip: self.most().tip, ..self.most_for_calls() })
    }

    /// The most for a unit of gas of a call, in wei: a transaction that takes the call's place has to offer an eighth more.
    pub(crate) fn most_for_calls(self) -> Fees {
        let Fees { max_fee, tip } = self.most();
        Fees { max_fee: max_fee / 9 * 8, tip: tip / 9 * 8 }
    }

    /// The most for a unit of gas, in wei.
    pub(crate) fn most(self) -> Fees {
        let wei = |gwei: u64| u128::from(gwei).saturating_mul(GWEI);
        Fees { max_fee: wei(self.max_fee_gwei), tip: wei(self.max_tip_gwei) }
    }
}

/// A tip that the node asks for, and that is not offered. Its text says what happens then, and which option allows more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TipCut {
    /// What the node asks for, rounded up.
    asked_gwei: u128,
    by: CutBy,
}

/// The option that allows no higher tip, and its value in gwei.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CutBy {
    MaxTip(u64),
    MaxFee(u64),
}

impl fmt::Display for TipCut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the node asks for a tip of {} gwei, more than ", self.asked_gwei)?;
        let option = match self.by {
            CutBy::MaxTip(most) => {
                write!(f, "--max-tip {most}")?;
                "--max-tip"
            }
            CutBy::MaxFee(most) => {
                write!(f, "--max-fee {most} leaves beside the base fee")?;
                "--max-fee"
            }
        };
        write!(f, "; if the chain takes no smaller tip, transactions are refused or wait until {option} is raised")
    }
}

pub(crate) const GWEI: u128 = 1_000_000_000;

/// What the chain asks for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prices {
    /// The newest block's base fee.
    pub(crate) base: u128,
    /// What proposers expect, as the node says.
    pub(crate) tip: u128,
}

/// What a transaction offers, in wei for a unit of gas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fees {
    /// All of it.
    pub max_fee: u128,
    /// What of it the block's proposer gets.
    pub tip: u128,
}

impl Fees {
    /// The fees of a first transaction, at most `most`: twice the base fee and the tip, so that it is not left behind
    /// if the next six blocks are full. `None` if that is more than allowed already now.
    pub(crate) fn first(prices: Prices, most: Self) -> Option<Self> {
        let Prices { base, tip } = prices;
        let tip = tip.min(most.tip);
        let now = base.saturating_add(tip);
        (now <= most.max_fee)
            .then(|| Self { max_fee: base.saturating_mul(2).saturating_add(tip).min(most.max_fee), tip })
    }

    /// The same with less of a tip where `most` leaves no more beside the base fee. `None` only if that fee alone is more than allowed. The
    /// node alone says which tip proposers expect, and one that exaggerates keeps nothing from being sent.
    pub(crate) fn first_within(prices: Prices, most: Self) -> Option<Self> {
        let tip = prices.tip.min(most.max_fee.saturating_sub(prices.base));
        Self::first(Prices { tip, ..prices }, most)
    }

    /// The fees of a transaction that replaces one with these, at most `most`: both an eighth higher at least, as nodes
    /// ask for, and as high as those of a first transaction. `None` if that is more than allowed of either.
    pub(crate) fn bumped(self, prices: Prices, most: Self) -> Option<Self> {
        let least_tip = an_eighth_more(self.tip);
        (least_tip <= most.tip).then_some(())?;
        let tip = least_tip.max(prices.tip).min(most.tip);
        let max_fee = self.raised_fee(prices, tip, most)?;
        Some(Self { max_fee, tip: tip.min(max_fee) })
    }

    /// The next fees for a nonce on which a transaction lies whose fees are not known, at most `most`: the same tip, and an eighth more in
    /// all. `None` if that is more than allowed.
    pub(crate) fn retried(self, prices: Prices, most: Self) -> Option<Self> {
        self.raised_fee(prices, self.tip, most).map(|max_fee| Self { max_fee, ..self })
    }

    /// An eighth more in all, or as much as a first transaction with this tip offers.
    fn raised_fee(self, prices: Prices, tip: u128, most: Self) -> Option<u128> {
        let least = an_eighth_more(self.max_fee);
        let wished = prices.base.saturating_mul(2).saturating_add(tip);
        (least <= most.max_fee).then(|| least.max(wished).min(most.max_fee))
    }
}

fn an_eighth_more(fee: u128) -> u128 {
    fee.saturating_add(fee.div_ceil(8)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICES: Prices = Prices { base: 100, tip: 10 };

    fn most(max_fee: u128, tip: u128) -> Fees {
        Fees { max_fee, tip }
    }

    #[test]
    fn first_fees_stay_below_the_most() {
        assert_eq!(Fees::first(PRICES, most(1_000, 20)), Some(Fees { max_fee: 210, tip: 10 }));
        assert_eq!(Fees::first(PRICES, most(150, 20)), Some(Fees { max_fee: 150, tip: 10 }));
        assert_eq!(Fees::first(PRICES, most(110, 10)), Some(Fees { max_fee: 110, tip: 10 }));
        assert_eq!(Fees::first(PRICES, most(109, 10)), None);
        assert_eq!(Fees::first(PRICES, most(1_000, 7)), Some(Fees { max_fee: 207, tip: 7 }));
        assert_eq!(Fees::first(PRICES, most(1_000, 0)), Some(Fees { max_fee: 200, tip: 0 }));
    }

    #[test]
    fn a_tip_takes_what_the_most_leaves() {
        assert_eq!(Fees::first_within(PRICES, most(1_000, 20)), Fees::first(PRICES, most(1_000, 20)));
        assert_eq!(Fees::first_within(PRICES, most(109, 20)), Some(Fees { max_fee: 109, tip: 9 }));
        assert_eq!(Fees::first_within(PRICES, most(100, 20)), Some(Fees { max_fee: 100, tip: 0 }));
        assert_eq!(Fees::first_within(PRICES, most(99, 20)), None);
        let exaggerated = Prices { tip: u128::MAX, ..PRICES };
        assert_eq!(Fees::first_within(exaggerated, most(150, 20)), Some(Fees { max_fee: 150, tip: 20 }));
    }

    /// A payer of calls is asked for what they offer, whatever tip the node names.
    #[test]
    fn a_call_offers_a_tip_within_its_part_of_the_most() {
        let limits = FeeLimits { max_fee_gwei: 5, max_tip_gwei: 3 };
        let most = limits.most_for_calls().max_fee;
        assert!(most < 5 * GWEI && 9 * most > 39 * GWEI, "{most}");
        let base = 3 * GWEI / 2;
        for tip in [3 * GWEI, u128::MAX] {
            assert_eq!(limits.for_call(Prices { base, tip }), Some(Fees { max_fee: most, tip: most - base }));
        }
        assert_eq!(limits.for_call(Prices { base: most, tip: GWEI }), Some(Fees { max_fee: most, tip: 0 }));
        assert_eq!(limits.for_call(Prices { base: most + 1, tip: 0 }), None);
    }

    /// Nodes refuse a replacement that raises either by less than a tenth.
    #[test]
    fn a_replacement_is_an_eighth_higher_at_least() {
        for (max_fee, tip) in [(210, 10), (8, 1), (1, 0), (1_000_000_007, 13)] {
            let old = Fees { max_fee, tip };
            for prices in [PRICES, Prices { base: 0, tip: 0 }, Prices { base: 5_000, tip: 70 }] {
                let new = old.bumped(prices, most(u128::MAX, u128::MAX)).unwrap();
                assert!(8 * new.max_fee >= 9 * max_fee && 8 * new.tip >= 9 * tip && new.max_fee > max_fee, "{new:?}");
                assert!(new.tip <= new.max_fee && new.max_fee >= 2 * prices.base, "{new:?}");
            }
        }
        let old = Fees { max_fee: 800, tip: 10 };
        assert_eq!(old.bumped(PRICES, most(900, 12)), Some(Fees { max_fee: 900, tip: 12 }));
        assert_eq!(old.bumped(PRICES, most(899, 12)), None);
    }

    #[test]
    fn a_tip_that_is_cut_is_said() {
        let limits = FeeLimits { max_tip_gwei: 3, ..FeeLimits::default() };
        assert_eq!(limits.tip_cut(Prices { base: 0, tip: 3 * GWEI }), None);
        let words = limits.tip_cut(Prices { base: 0, tip: 25 * GWEI }).unwrap().to_string();
        assert!(
            words.contains("a tip of 25 gwei, more than --max-tip 3; if the chain takes no smaller tip"),
            "{words}"
        );
        assert!(words.ends_with("refused or wait until --max-tip is raised"), "{words}");
        // A higher --max-tip would change nothing here.
        let limits = FeeLimits { max_fee_gwei: 9, max_tip_gwei: 3 };
        let words = limits.tip_cut(Prices { base: 6 * GWEI, tip: 3 * GWEI }).unwrap().to_string();
        assert!(words.contains("a tip of 3 gwei, more than --max-fee 9 leaves beside the base fee"), "{words}");
        assert!(words.ends_with("wait until --max-fee is raised"), "{words}");
        assert_eq!(limits.tip_cut(Prices { base: 9 * GWEI, tip: 3 * GWEI }), None, "nothing is offered");
    }

    /// Whatever proposers ask for, no offer tips more than is allowed; and what no node would take is not offered.
    #[test]
    fn no_offer_tips_more_than_is_allowed() {
        let asked = Prices { base: 100, tip: 1_000 };
        let most = most(u128::MAX, 100);
        let mut fees = Fees { max_fee: 210, tip: 10 };
        let mut tips = Vec::new();
        while let Some(next) = fees.bumped(PRICES, most) {
            tips.push(next.tip);
            fees = next;
        }
        assert!(tips.is_sorted() && tips.last().is_some_and(|last| (89..=100).contains(last)), "{tips:?}");
        assert_eq!(Fees { max_fee: 210, tip: 10 }.bumped(asked, most).unwrap().tip, 100);
        assert_eq!(Fees { max_fee: 300, tip: 100 }.bumped(asked, most), None);
        // Beside a transaction of which nothing is known, the tip stays where it is.
        let retried = Fees { max_fee: 300, tip: 100 }.retried(asked, most).unwrap();
        assert_eq!(retried, Fees { max_fee: 338, tip: 100 });
        assert_eq!(retried.retried(asked, Fees { max_fee: 380, ..most }), None);
    }
}
