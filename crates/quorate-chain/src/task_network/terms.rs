//! Asks a contract what is fixed for its network.

use alloy::primitives::{Address, U256};
use quorate_evm::{
    KeyGroup,
    alloy_sol_types::{SolCall, SolError as _},
    bls12381::DigestHash,
    contract::{RestakedTaskNetwork, TaskNetwork, Verifier},
    task_network::{ContractTerms, TermsError},
};

use super::error::NetworkFollowError;
use crate::rpc::{Rpc, RpcError};

/// Reads the terms of a network from the contract and its verifier, and checks them.
///
/// # Errors
/// [`NetworkFollowError`]: there is no contract, it is not a network, or the node does not answer.
pub async fn read_terms(rpc: &Rpc, contract: Address) -> Result<ContractTerms, NetworkFollowError> {
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
    let terms = ContractTerms {
        chain_id,
        contract,
        verifier,
        token: reader.ask(contract, &TaskNetwork::tokenCall {}).await?,
        source: reader.source().await?,
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
        self.rpc.read(to, call, None).await.map_err(|error| {
            if !error.is_of_contract() {
                return error.into();
            }
            let why = match &error {
                RpcError::Halted { halt, .. } => format!("it does not answer {}: {halt}", C::SIGNATURE),
                _ => format!("it does not answer {}", C::SIGNATURE),
            };
            NetworkFollowError::NotANetwork { contract: self.contract, chain_id: self.chain_id, why }
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

    /// The source of the operators' stake. A network that holds the stake itself has no such function, and reverts.
    async fn source(&self) -> Result<Option<Address>, NetworkFollowError> {
        match self.rpc.read(self.contract, &RestakedTaskNetwork::sourceCall {}, None).await {
            Ok(source) => Ok(Some(source)),
            Err(error) if error.is_revert() => Ok(None),
            Err(error) => Err(error.into()),
        }
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
        let fits = |group: &KeyGroup| most == U256::from(group.page_keys()) && DigestHash::of(*group) == hash;
        let found = KeyGroup::ALL.into_iter().find(fits);
        found.ok_or_else(|| self.refuse(TermsError::KeyGroup { verifier }))
    }
}

#[cfg(test)]
mod tests {
    use alloy::primitives::Bytes;
    use quorate_lab::proxy::Proxy;
    use serde_json::{Value, json};
    use tokio::runtime;

    use super::*;
    use crate::rpc::RpcLimits;

    /// The source of a network whose node answers so.
    fn source(
        answer: impl Fn() -> Result<Value, String> + Send + 'static,
    ) -> Result<Option<Address>, NetworkFollowError> {
        let node = Proxy::alone(move |_, _| answer());
        let rpc = Rpc::with(&node.url, RpcLimits { tries: 1, ..RpcLimits::default() }).unwrap();
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(Reader { rpc: &rpc, contract: Address::ZERO, chain_id: 1 }.source())
    }

    /// A node that fails does not make a restaked network one that holds the stake: nobody would weigh its operators.
    #[test]
    fn only_a_contract_that_reverts_has_no_source() {
        let named = Address::repeat_byte(7);
        assert_eq!(source(move || Ok(json!(named.into_word()))).unwrap(), Some(named));
        assert_eq!(source(|| Err("execution reverted".to_owned())).unwrap(), None);
        for said in ["header not found", "15/second request limit reached"] {
            let error = source(move || Err(said.to_owned())).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
        }
        for cut in [Bytes::new(), Bytes::from(vec![0; 31])] {
            source(move || Ok(json!(cut))).unwrap_err();
        }
    }
}
