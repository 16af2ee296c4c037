//! What is fixed for a network when it is made.

use alloy::primitives::{Address, U256};
use quorate_evm::{
    KeyGroup,
    alloy_sol_types::{SolCall, SolError as _},
    base::PAGE_BYTES,
    bls12381::DigestHash,
    contract::{TaskNetwork, Verifier},
    digest::Contract,
};

use super::error::NetworkFollowError;
use crate::rpc::{Rpc, RpcError};

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

    /// Reads the terms from the contract and its verifier, and checks them.
    ///
    /// # Errors
    /// [`NetworkFollowError`]: there is no contract, it is not a network, or the node does not answer.
    pub async fn read(rpc: &Rpc, contract: Address) -> Result<Self, NetworkFollowError> {
        let chain_id = rpc.chain_id().await?;
        if rpc.code(contract).await?.is_empty() {
            return Err(NetworkFollowError::NoContract { contract, chain_id });
        }
        let reader = Reader { rpc, contract, chain_id };
        let verifier = reader.ask(contract, &TaskNetwork::verifierCall {}).await?;
        let named = reader.ask(verifier, &Verifier::networkCall {}).await?;
        if named != contract {
            return Err(reader.refuse(TermsError::OtherNetwork { verifier, found: named }));
        }
        let pinned = reader.ask(verifier, &Verifier::pinnedSlotsCall {}).await?;
        let pinned_slots = u16::try_from(pinned)
            .map_err(|_| reader.refuse(TermsError::Term { what: "verifier's pinned slots", found: pinned }))?;
        let terms = Self {
            chain_id,
            contract,
            verifier,
            token: reader.ask(contract, &TaskNetwork::tokenCall {}).await?,
            key_group: reader.key_group(verifier).await?,
            pinned_slots,
            genesis: reader.number("genesis", &TaskNetwork::genesisCall {}).await?,
            epoch_length: reader.number("epoch length", &TaskNetwork::epochLengthCall {}).await?,
            slashing_window: reader.number("slashing window", &TaskNetwork::slashingWindowCall {}).await?,
            withdrawal_delay: reader.number("withdrawal delay", &TaskNetwork::withdrawalDelayCall {}).await?,
            unit: reader.number("unit", &TaskNetwork::unitCall {}).await?,
            minimum_stake: reader.number("minimum stake", &TaskNetwork::minimumStakeCall {}).await?,
            maximum_operators: reader.number("most operators", &TaskNetwork::maximumOperatorsCall {}).await?,
            quorum_numerator: reader.number("quorum's numerator", &TaskNetwork::quorumNumeratorCall {}).await?,
            quorum_denominator: reader.number("quorum's denominator", &TaskNetwork::quorumDenominatorCall {}).await?,
            performer_reward: reader.number("performer's reward", &TaskNetwork::performerRewardCall {}).await?,
            attester_reward: reader.number("attesters' reward", &TaskNetwork::attesterRewardCall {}).await?,
            penalty_share: reader.number("penalty share", &TaskNetwork::penaltyShareCall {}).await?,
            slash_share: reader.number("slash share", &TaskNetwork::slashShareCall {}).await?,
            bounty_share: reader.number("bounty share", &TaskNetwork::bountyShareCall {}).await?,
        };
        terms.check().map_err(|why| reader.refuse(why))?;
        Ok(terms)
    }

    /// What `NetworkTerms`'s constructor checks, as far as this crate relies on it.
    fn check(&self) -> Result<(), TermsError> {
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
        let (numerator, denominator) = (u64::from(self.quorum_numerator), u64::from(self.quorum_denominator));
        if numerator >= denominator || 2 * numerator < denominator {
            return Err(wrong("quorum's numerator", numerator.into()));
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

    /// What a quorum must exceed if all operators together have this weight, which is below 2^80.
    pub fn required(&self, total: u128) -> u128 {
        total.saturating_mul(self.quorum_numerator.into()) / u128::from(self.quorum_denominator.max(1))
    }
}

struct Reader<'a> {
    rpc: &'a Rpc,
    contract: Address,
    chain_id: u64,
}

impl Reader<'_> {
    fn refuse(&self, why: TermsError) -> NetworkFollowError {
        NetworkFollowError::NotANetwork { contract: self.contract, chain_id: self.chain_id, why: why.to_string() }
    }

    /// What a contract answers. An answer that no network gives means that it is not a network.
    async fn ask<C: SolCall>(&self, to: Address, call: &C) -> Result<C::Return, NetworkFollowError> {
        self.rpc.read(to, call, None).await.map_err(|error| match error {
            RpcError::Answer { .. } | RpcError::Refused { data: Some(_), .. } => {
                let why = format!("it does not answer {}", C::SIGNATURE);
                NetworkFollowError::NotANetwork { contract: self.contract, chain_id: self.chain_id, why }
            }
            error => error.into(),
        })
    }

    async fn number<C: SolCall<Return = U256>, T: TryFrom<U256>>(
        &self,
        what: &'static str,
        call: &C,
    ) -> Result<T, NetworkFollowError> {
        let found = self.ask(self.contract, call).await?;
        T::try_from(found).map_err(|_| self.refuse(TermsError::Term { what, found }))
    }

    /// The group of the verifier's keys. The length of a key is told by the most keys that it takes for one page, which
    /// it names when it refuses more; how it hashes digests is told by its code.
    async fn key_group(&self, verifier: Address) -> Result<KeyGroup, NetworkFollowError> {
        let hash = DigestHash::in_code(&self.rpc.code(verifier).await?);
        let call = Verifier::compactCall {
            first: U256::ZERO,
            keys: U256::from(u32::MAX),
            nonces: Vec::new(),
            tail: Default::default(),
        };
        let most = match self.rpc.read(verifier, &call, None).await {
            Err(RpcError::Refused { data: Some(data), .. }) => {
                Verifier::KeysAPage::abi_decode(&data).map(|refused| refused.most).unwrap_or_default()
            }
            Err(error) => return Err(error.into()),
            Ok(_) => U256::ZERO,
        };
        let fits =
            |group: &KeyGroup| most == U256::from(PAGE_BYTES / group.key_bytes()) && DigestHash::of(*group) == hash;
        let found = KeyGroup::ALL.into_iter().find(fits);
        found.ok_or_else(|| self.refuse(TermsError::KeyGroup { verifier }))
    }
}
