//! What is fixed for a network when it is made.

use alloy_primitives::{Address, U256};

use crate::{digest::Contract, key_group::KeyGroup, weight_part::WeightPart};

/// The parameters of a network, as the contract explains them in `ITaskNetwork.Parameters`, and where it is. Times are
/// in seconds, amounts in the token's smallest unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractTerms {
    /// The chain's id (EIP-155).
    pub chain_id: u64,
    /// The network.
    pub contract: Address,
    /// Its verifier, which keeps the keys.
    pub verifier: Address,
    /// The token of stake and rewards.
    pub token: Address,
    /// Where operators have their stake, if that is a restaking protocol: the source of a `RestakedTaskNetwork`. `None` if the network
    /// holds the stake.
    pub source: Option<Address>,
    /// The curve and the group of the keys.
    pub key_group: KeyGroup,
    /// How many of the verifier's slots are pinned: slots 1 to this number.
    pub pinned_slots: u16,
    /// The first second of epoch 0, in Unix time.
    pub genesis: u64,
    /// The length of an epoch.
    pub epoch_length: u64,
    /// How long conflicts of an epoch can still be reported after it can settle nothing more.
    pub slashing_window: u64,
    /// The time from the request of a withdrawal to its payout.
    pub withdrawal_delay: u64,
    /// Tokens that weigh 1.
    pub unit: u128,
    /// The least stake of an operator.
    pub minimum_stake: u128,
    /// The most operators at one time.
    pub maximum_operators: u32,
    /// A quorum must weigh more than this part of all weight.
    pub quorum_numerator: u32,
    /// See `quorum_numerator`.
    pub quorum_denominator: u32,
    /// What the elected performer of an approved task gets.
    pub performer_reward: u128,
    /// What the signers of a task get together.
    pub attester_reward: u128,
    /// The part of the performer's stake that its first rejected task of an epoch costs, in 1/10,000.
    pub penalty_share: u16,
    /// The part of an operator's stake that a conflict costs, in 1/10,000.
    pub slash_share: u16,
    /// The part of that which the reporter gets, in 1/10,000.
    pub bounty_share: u16,
}

/// A contract's terms make no sense, so it is not a network of this project.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TermsError {
    /// A term is outside of what the contract's constructor allows.
    #[error("its {what} is {found}, which no network of this project has")]
    Term {
        /// The term.
        what: &'static str,
        /// Its value.
        found: U256,
    },
    /// The verifier serves another network.
    #[error("its verifier {verifier} names the network {found}")]
    OtherNetwork {
        /// The verifier.
        verifier: Address,
        /// The network that it names.
        found: Address,
    },
    /// The verifier's keys are of no known group.
    #[error("the verifier {verifier} has keys of no group that is known here")]
    KeyGroup {
        /// The verifier.
        verifier: Address,
    },
}

impl ContractTerms {
    /// Chain and contract, for which tasks are signed.
    pub fn domain(&self) -> Contract {
        Contract { chain_id: self.chain_id, address: self.contract }
    }

    /// What `NetworkTerms`'s constructor checks, as far as this crate relies on it.
    ///
    /// # Errors
    /// [`TermsError::Term`].
    pub fn check(&self) -> Result<(), TermsError> {
        let wrong = |what, found: u128| TermsError::Term { what, found: U256::from(found) };
        if self.epoch_length == 0 {
            return Err(wrong("epoch length", 0));
        }
        if self.slashing_window == 0 {
            return Err(wrong("slashing window", 0));
        }
        if self.unit == 0 || self.minimum_stake < self.unit {
            return Err(wrong("minimum stake", self.minimum_stake));
        }
        if self.quorum().is_none_or(|quorum| !quorum.shares_a_signer()) {
            return Err(wrong("quorum's numerator", self.quorum_numerator.into()));
        }
        if self.maximum_operators == 0 {
            return Err(wrong("most operators", 0));
        }
        Ok(())
    }

    /// The epoch of a second in Unix time; `None` before the first one.
    pub fn epoch_at(&self, time: u64) -> Option<u64> {
        time.checked_sub(self.genesis).map(|since| since / self.epoch_length)
    }

    /// The first second at which no task of an epoch can settle: `TaskNetwork.closesAt`.
    pub fn closes_at(&self, epoch: u64) -> u64 {
        self.genesis.saturating_add(epoch.saturating_add(2).saturating_mul(self.epoch_length))
    }

    /// The first second at which conflicts of an epoch can no longer be reported: `TaskNetwork.slashableUntil`.
    pub fn slashable_until(&self, epoch: u64) -> u64 {
        self.closes_at(epoch).saturating_add(self.slashing_window)
    }

    /// What a quorum must exceed if all operators together have this weight; without a part of the whole, no quorum does.
    pub fn required(&self, total: u128) -> u128 {
        self.quorum().map_or(u128::MAX, |quorum| quorum.of(total))
    }

    /// What a stake weighs, in units of `unit`: nothing if it is below the minimum, and no more than a snapshot can weigh
    /// (`RestakedTaskNetwork`).
    pub fn weight_of(&self, stake: U256) -> u64 {
        if stake < U256::from(self.minimum_stake) {
            return 0;
        }
        let most = stake.min(U256::from(u128::MAX));
        most.checked_div(U256::from(self.unit)).unwrap_or_default().saturating_to()
    }

    fn quorum(&self) -> Option<WeightPart> {
        WeightPart::new(self.quorum_numerator, self.quorum_denominator)
    }
}
