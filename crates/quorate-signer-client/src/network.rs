//! The network that a signer signs for, and its epochs: the clock of `contracts/src/NetworkTerms.sol`.

use std::num::NonZeroU64;

use quorate_evm::{alloy_primitives::Address, digest::Contract};
use serde::{Deserialize, Serialize};

/// A `TaskNetwork` contract, with the terms that it never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkTerms {
    /// The chain's id (EIP-155).
    pub chain_id: u64,
    /// The contract's address.
    pub contract: Address,
    /// The first second of epoch 0, in Unix time.
    pub genesis: u64,
    /// The length of an epoch, in seconds.
    pub epoch_length: NonZeroU64,
    /// How long conflicts of an epoch can be reported after the epoch can settle nothing more, in seconds.
    pub slashing_window: u64,
}

impl NetworkTerms {
    /// Chain and contract, which every digest names.
    pub fn domain(&self) -> Contract {
        Contract { chain_id: self.chain_id, address: self.contract }
    }

    /// `currentEpoch` at a second of Unix time; `None` before epoch 0.
    pub fn epoch_at(&self, now: u64) -> Option<u64> {
        Some(now.checked_sub(self.genesis)? / self.epoch_length)
    }

    /// The first second of an epoch. Times of epochs have 128 bits, because those of the last epochs do not fit into 64.
    pub fn start_of(&self, epoch: u64) -> u128 {
        self.plus(epoch.into())
    }

    /// `closesAt`: the first second at which no task of the epoch can settle.
    pub fn closes_at(&self, epoch: u64) -> u128 {
        self.plus(u128::from(epoch) + 2)
    }

    /// `slashableUntil`: the first second at which conflicts of the epoch can no longer be reported.
    pub fn slashable_until(&self, epoch: u64) -> u128 {
        self.closes_at(epoch).saturating_add(self.slashing_window.into())
    }

    /// The last epoch whose conflicts can no longer be reported once `epoch` begins; `None` if there is none.
    pub fn forgettable_before(&self, epoch: u64) -> Option<u64> {
        // slashable_until(e) <= start_of(epoch), that is (e + 2) * length + window <= epoch * length.
        let window = self.slashing_window.div_ceil(self.epoch_length.get());
        epoch.checked_sub(window)?.checked_sub(2)
    }

    fn plus(&self, epochs: u128) -> u128 {
        // The last epochs of the longest length exceed 128 bits by a little. What saturates keeps its order.
        u128::from(self.genesis).saturating_add(epochs.saturating_mul(self.epoch_length.get().into()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn network(genesis: u64, epoch_length: u64, slashing_window: u64) -> NetworkTerms {
        let epoch_length = NonZeroU64::new(epoch_length).expect("not zero");
        NetworkTerms { chain_id: 1, contract: Address::ZERO, genesis, epoch_length, slashing_window }
    }

    /// The bounds of NetworkTerms.sol, by hand.
    #[test]
    fn epochs_of_a_network() {
        let network = network(1000, 100, 50);
        let epochs = [999, 1000, 1099, 1100, 1250].map(|now| network.epoch_at(now));
        assert_eq!(epochs, [None, Some(0), Some(0), Some(1), Some(2)]);
        assert_eq!((network.start_of(3), network.closes_at(3), network.slashable_until(3)), (1300, 1500, 1550));
        // Epoch 3 is reportable until 1550; epoch 6 is the first that begins at or after that.
        assert_eq!((network.forgettable_before(5), network.forgettable_before(6)), (Some(2), Some(3)));
        assert_eq!([0, 1, 2, 3].map(|epoch| network.forgettable_before(epoch)), [None, None, None, Some(0)]);
    }

    proptest! {
        #[test]
        fn what_is_forgettable_is_not_reportable(
            genesis: u64, length in 1u64.., window: u64, epoch: u64, near in 0u64..9,
        ) {
            for (length, window) in [(length, window), (length % 9 + 1, window % 99)] {
                let network = network(genesis, length, window);
                let last = network.forgettable_before(epoch);
                let begin = network.start_of(epoch);
                if let Some(last) = last {
                    prop_assert!(network.slashable_until(last) <= begin || begin == u128::MAX);
                }
                // None beyond it is.
                let next = last.map_or(0, |last| last + 1).saturating_add(near);
                prop_assert!(network.slashable_until(next) > begin || begin == u128::MAX);
            }
        }
    }
}
