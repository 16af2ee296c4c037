//! The limit of a transaction's gas, and why a transaction that was mined did nothing.

use alloy::primitives::U256;
use quorate_evm::gas::MOST_GAS;

/// A call that needs more gas than a transaction may have. It would run out of gas, and be paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the call needs {needed} gas, and a transaction has at most {MOST_GAS} (2^24, EIP-7825)")]
pub struct TooMuchGas {
    /// What the node estimates.
    pub needed: U256,
}

/// The limit of gas with a node's estimate: a tenth more, since the call's gas depends on the state, which may change before it is mined,
/// and at most 2^24.
///
/// # Errors
/// [`TooMuchGas`]: the estimate alone is above 2^24.
pub fn gas_limit(estimate: U256) -> Result<u64, TooMuchGas> {
    let needed = u64::try_from(estimate).ok().filter(|needed| *needed <= MOST_GAS);
    needed.map(|needed| MOST_GAS.min(needed + needed / 10)).ok_or(TooMuchGas { needed: estimate })
}

/// Why a transaction was mined and reverted, by the gas that it used and its limit. The node had simulated it before.
pub fn why_reverted(used: u64, limit: u64) -> &'static str {
    if used >= limit { "its gas ran out" } else { "another transaction changed the contract's state first" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_tenth_more_and_never_less_than_the_estimate() {
        for (estimate, limit) in [(0, 0), (9, 9), (21_000, 23_100), (16_000_000, MOST_GAS), (MOST_GAS, MOST_GAS)] {
            assert_eq!(gas_limit(U256::from(estimate)), Ok(limit));
        }
        for estimate in [U256::from(MOST_GAS + 1), U256::from(u64::MAX), U256::MAX] {
            assert_eq!(gas_limit(estimate), Err(TooMuchGas { needed: estimate }));
        }
        let words = TooMuchGas { needed: U256::from(MOST_GAS + 1) }.to_string();
        assert!(words.contains("needs 16777217 gas") && words.contains("at most 16777216"), "{words}");
    }

    #[test]
    fn gas_that_ran_out_is_not_said_to_be_a_state_that_changed() {
        assert_eq!(why_reverted(50_000, 50_000), "its gas ran out");
        assert!(why_reverted(49_999, 50_000).contains("changed the contract's state first"));
    }
}
