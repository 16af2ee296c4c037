//! Quorums that settle together: a hub checks all their signatures in one product of pairings.
//!
//! A settlement names its hub when it is deployed (contract `HubSettlement`). What its members sign is the same with and
//! without a hub. So a quorum is planned and signed as ever, and [`Settling::of_call`] takes apart the calldata that
//! [`SettlementPlan::call`](crate::SettlementPlan::call) makes. Quorums of one settlement follow each other in the order of
//! their results, and each is planned as if those before it had settled
//! ([`Network::settled`](crate::Network::settled)).

use alloy_primitives::{Address, B256, Bytes};
use alloy_sol_types::SolCall;

use crate::{
    base::NEWEST,
    contract::{Hub, HubSettlement, Settlement},
    key_group::KeyGroup,
    quorum::{DecodeQuorumError, Quorum},
};

/// What a hub settles for one quorum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settling {
    /// The settlement.
    pub settlement: Address,
    /// The call of `settleByHub`.
    pub call: Bytes,
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
        let (head, newest, deadline, results, bytes) = if calldata.starts_with(&Settlement::settleCall::SELECTOR) {
            let Settlement::settleCall { head, deadline, result, quorum } = SolCall::abi_decode_validate(calldata)?;
            (head, None, deadline, vec![result], quorum)
        } else {
            let Settlement::settleAllCall { head, newest, deadline, results, quorum } =
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
        let quorum = bytes.slice(..at);
        let call = HubSettlement::settleByHubCall { head, newest, deadline, results, quorum };
        Ok(Self { settlement, call: call.abi_encode().into(), proof: bytes.slice(at..) })
    }
}

/// The calldata with which a hub settles several quorums, in this order.
pub fn call(all: &[Settling]) -> Bytes {
    let settling =
        |one: &Settling| Hub::Settling { settlement: one.settlement, call: one.call.clone(), proof: one.proof.clone() };
    Hub::settleCall { all: all.iter().map(settling).collect() }.abi_encode().into()
}

#[cfg(test)]
mod tests {
    use alloy_primitives::U256;

    use super::*;
    use crate::{
        base::Base,
        member_set::MemberSet,
        quorum::{Proof, Store},
    };

    fn quorum(base: Option<Base>) -> Bytes {
        let quorum = Quorum {
            base,
            store: Store::Nowhere,
            key_pages: vec![2],
            weights: Vec::new(),
            keys: Vec::new(),
            signers: MemberSet::full(3),
            proof: Proof::Bls12381G2 { signature: [7; 96] },
        };
        quorum.encode().unwrap().into()
    }

    fn base(slot: u16) -> Base {
        Base { slot, epoch: 0, weight: 0, key: vec![5; 192].into(), signers: MemberSet::full(2) }
    }

    fn single(quorum: Bytes) -> Vec<u8> {
        Settlement::settleCall { head: U256::from(1), deadline: 2, result: B256::repeat_byte(3), quorum }.abi_encode()
    }

    fn several(quorum: Bytes) -> Vec<u8> {
        let (head, newest) = (U256::from(1), B256::repeat_byte(9));
        let results = vec![B256::repeat_byte(3)];
        Settlement::settleAllCall { head, newest, deadline: 2, results, quorum }.abi_encode()
    }

    /// Both calls say the same of a quorum from the newest base, but `settle` leaves out the newest commitment.
    #[test]
    fn calls_are_taken_apart() {
        let settlement = Address::repeat_byte(4);
        for (calldata, newest, bytes) in [
            (single(quorum(Some(base(NEWEST)))), base(NEWEST).commitment(), quorum(Some(base(NEWEST)))),
            (several(quorum(Some(base(NEWEST)))), B256::repeat_byte(9), quorum(Some(base(NEWEST)))),
            (several(quorum(None)), B256::repeat_byte(9), quorum(None)),
        ] {
            let settling = Settling::of_call(KeyGroup::Bls12381G2, settlement, &calldata).unwrap();
            assert_eq!((settling.settlement, &settling.proof[..]), (settlement, &[7; 96][..]));
            let call = HubSettlement::settleByHubCall::abi_decode(&settling.call).unwrap();
            assert_eq!((call.head, call.newest, call.deadline), (U256::from(1), newest, 2));
            assert_eq!(call.results, [B256::repeat_byte(3)]);
            assert_eq!(call.quorum, bytes.slice(..bytes.len() - 96));
        }
    }

    #[test]
    fn what_no_hub_settles_is_refused() {
        let of = |group, calldata: &[u8]| Settling::of_call(group, Address::ZERO, calldata).unwrap_err();
        let from_newest = single(quorum(Some(base(NEWEST))));
        for group in [KeyGroup::Bn254G2, KeyGroup::Bn254G1] {
            assert_eq!(of(group, &from_newest), HubError::KeyGroup(group));
        }
        for wrong in [single(quorum(Some(base(1)))), single(quorum(None))] {
            assert_eq!(of(KeyGroup::Bls12381G2Nu, &wrong), HubError::NotFromNewest);
        }
        let short = several(quorum(None).slice(..50));
        assert!(matches!(of(KeyGroup::Bls12381G2, &short), HubError::Quorum(_)));
        for wrong in [&[][..], &[1, 2, 3, 4], &from_newest[..from_newest.len() - 40]] {
            assert!(matches!(of(KeyGroup::Bls12381G2, wrong), HubError::Call(_)));
        }
    }
}
