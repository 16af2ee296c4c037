//! Quorums that settle together: a hub checks all their signatures in one product of pairings.
//!
//! A settlement names its hub when it is deployed (contract `HubSettlement`). What its members sign is the same with and
//! without a hub. So a quorum is planned and signed as ever, and [`Settling::of_call`] takes apart the calldata that
//! [`SettlementPlan::call`](crate::SettlementPlan::call) makes. Quorums of one settlement follow each other in the order of
//! their results, and each is planned as if those before it had settled
//! ([`Network::settled`](crate::Network::settled)).

use alloy_primitives::{Address, B256, Bytes};
use alloy_sol_types::{SolCall, SolValue};

use crate::{
    base::NEWEST,
    contract::{HubBls12381G2, SettlementBn254G2, hub_bls12381_g2::Hub},
    key_group::KeyGroup,
    quorum::{DecodeQuorumError, Quorum},
};

/// What a hub settles for one quorum.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "the contract takes no more")]
pub struct Settling {
    /// The settlement.
    pub settlement: Address,
    /// The arguments of `settleByHub`.
    pub arguments: Bytes,
    /// The signature.
    pub proof: Bytes,
}

/// Why a call cannot be settled by a hub.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HubError {
    /// There is no hub for these keys.
    #[error("no hub takes keys of {0}; hubs take bls12381-g2 and bls12381-g2-nu")]
    KeyGroup(KeyGroup),
    /// The calldata is not that of `settle` or `settleAll`.
    #[error("the calldata is not a call of settle or settleAll: {0}")]
    Call(#[from] alloy_sol_types::Error),
    /// The call holds no packed quorum.
    #[error(transparent)]
    Quorum(#[from] DecodeQuorumError),
    /// `settle` was called with a quorum that does not start from the newest base, which the contract refuses.
    #[error("the call is settle, whose quorum starts from the newest base, but this one does not")]
    NotFromNewest,
}

impl Settling {
    /// What a hub takes in place of a signed call of a settlement.
    ///
    /// # Errors
    /// [`HubError`].
    pub fn of_call(key_group: KeyGroup, settlement: Address, calldata: &[u8]) -> Result<Self, HubError> {
        let signature = match key_group {
            KeyGroup::Bls12381G2 | KeyGroup::Bls12381G2Nu => key_group.signature_bytes(),
            KeyGroup::Bn254G2 | KeyGroup::Bn254G1 => return Err(HubError::KeyGroup(key_group)),
        };
        let (head, newest, deadline, results, bytes) = if calldata.starts_with(&SettlementBn254G2::settleCall::SELECTOR) {
            let SettlementBn254G2::settleCall { head, deadline, result, quorum } =
                SolCall::abi_decode_validate(calldata)?;
            (head, None, deadline, vec![result], quorum)
        } else {
            let SettlementBn254G2::settleAllCall { head, newest, deadline, results, quorum } =
                SolCall::abi_decode_validate(calldata)?;
            (head, Some(newest), deadline, results, quorum)
        };
        let quorum = Quorum::decode(key_group, &bytes)?;
        let newest: B256 = match (newest, &quorum.base) {
            (Some(newest), _) => newest,
            (None, Some(base)) if base.slot == NEWEST => base.commitment(),
            (None, _) => return Err(HubError::NotFromNewest),
        };
        // The signature is the last part of a decoded quorum, so there are so many bytes.
        let at = bytes.len() - signature;
        let arguments = (head, newest, deadline, results, bytes.slice(..at)).abi_encode_params().into();
        Ok(Self { settlement, arguments, proof: bytes.slice(at..) })
    }
}

/// The calldata with which a hub settles several quorums, in this order.
pub fn call(all: &[Settling]) -> Bytes {
    let settling = |one: &Settling| Hub::Settling {
        settlement: one.settlement,
        arguments: one.arguments.clone(),
        proof: one.proof.clone(),
    };
    HubBls12381G2::settleCall { all: all.iter().map(settling).collect() }.abi_encode().into()
}
