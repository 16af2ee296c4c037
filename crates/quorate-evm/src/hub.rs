//! Quorums that settle together: a hub checks all their signatures in one product of pairings.
//!
//! A settlement names its hub when it is deployed (contract `HubSettlement`). What its members sign is the same with and
//! without a hub. So a quorum is planned and signed as ever, and [`Settling::of_call`] takes apart the calldata that
//! [`SettlementPlan::call`](crate::SettlementPlan::call) makes. Quorums of one settlement follow each other in the order of
//! their results, and each is planned as if those before it had settled
//! ([`Network::settled`](crate::Network::settled)).

use std::collections::BTreeSet;

use alloy_primitives::{Address, B256, Bytes};
use alloy_sol_types::SolCall;

use crate::{
    base::NEWEST,
    contract::{Hub, HubSettlement, Settlement},
    hint::CounterHint,
    key_group::KeyGroup,
    quorum::{DecodeQuorumError, Proof, Quorum},
};

/// What a hub settles for one quorum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settling {
    /// The settlement.
    pub settlement: Address,
    /// The call of `settleByHub`.
    pub call: Bytes,
    /// The signature; with [`KeyGroup::Bn254G1`] behind it the quorum's key in G2, and the digest's hint.
    pub proof: Bytes,
}

/// Why a call cannot be settled by a hub.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HubError {
    /// There is no hub for these keys.
    #[error("no hub takes keys of {0}; hubs take bn254-g1, bls12381-g2 and bls12381-g2-nu")]
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
    /// A settlement signs one digest, and the proof has hints for several or for none.
    #[error("the proof has {0} hints, expected one: the results of a call are signed as one digest")]
    Hints(usize),
}

impl Settling {
    /// What a hub takes in place of a signed call of a settlement.
    ///
    /// # Errors
    /// [`HubError`].
    pub fn of_call(key_group: KeyGroup, settlement: Address, calldata: &[u8]) -> Result<Self, HubError> {
        if key_group.hub_codes().is_none() {
            return Err(HubError::KeyGroup(key_group));
        }
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
        // The proof is the last part of a decoded quorum, so there are so many bytes.
        let at = bytes.len() - proof_bytes(&quorum.proof)?;
        let quorum = bytes.slice(..at);
        let call = HubSettlement::settleByHubCall { head, newest, deadline, results, quorum };
        Ok(Self { settlement, call: call.abi_encode().into(), proof: bytes.slice(at..) })
    }
}

/// The number of bytes of a proof that a hub checks: all that the curve's check takes.
fn proof_bytes(proof: &Proof) -> Result<usize, HubError> {
    match proof {
        // What adds the keys up comes before the signature, and no hub does that.
        Proof::Bn254G2 { .. } => Err(HubError::KeyGroup(proof.key_group())),
        Proof::Bn254G1 { signature, key, hints } if hints.len() == 1 => {
            Ok(signature.len() + key.len() + CounterHint::BYTES)
        }
        Proof::Bn254G1 { hints, .. } => Err(HubError::Hints(hints.len())),
        Proof::Bls12381G2 { signature } | Proof::Bls12381G2Nu { signature } => Ok(signature.len()),
    }
}

/// The addresses of a hub's call for EIP-2930: the settlements, and the pages that their plans name. Each stands there once.
pub fn access_list(all: &[Settling], pages: &[Address]) -> Vec<Address> {
    let sorted = |addresses: &mut dyn Iterator<Item = Address>| addresses.collect::<BTreeSet<_>>();
    let settlements = sorted(&mut all.iter().map(|one| one.settlement));
    settlements.into_iter().chain(sorted(&mut pages.iter().copied())).collect()
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
    use crate::{base::Base, member_set::MemberSet, quorum::Store};

    const HUBS: [KeyGroup; 3] = [KeyGroup::Bn254G1, KeyGroup::Bls12381G2, KeyGroup::Bls12381G2Nu];

    /// The proof of a quorum, with so many hints where there are any, and its bytes.
    fn proof(key_group: KeyGroup, hints: u8) -> (Proof, Vec<u8>) {
        match key_group {
            KeyGroup::Bn254G2 => panic!("no hub takes such keys"),
            KeyGroup::Bn254G1 => {
                let hints: Vec<_> = (0..hints).map(|counter| CounterHint { counter, y: [10; 32] }).collect();
                let packed = hints.iter().flat_map(|hint| [&[hint.counter][..], &hint.y].concat());
                let bytes = [8; 64].into_iter().chain([9; 128]).chain(packed).collect();
                (Proof::Bn254G1 { signature: [8; 64], key: [9; 128], hints }, bytes)
            }
            KeyGroup::Bls12381G2 => (Proof::Bls12381G2 { signature: [7; 96] }, vec![7; 96]),
            KeyGroup::Bls12381G2Nu => (Proof::Bls12381G2Nu { signature: [7; 96] }, vec![7; 96]),
        }
    }

    fn quorum(proof: Proof, base: Option<Base>) -> Bytes {
        let quorum = Quorum {
            base,
            store: Store::Nowhere,
            key_pages: vec![2],
            weights: Vec::new(),
            keys: Vec::new(),
            signers: MemberSet::full(3),
            proof,
        };
        quorum.encode().unwrap().into()
    }

    fn base(key_group: KeyGroup, slot: u16) -> Base {
        Base { slot, epoch: 0, weight: 0, key: vec![5; key_group.key_bytes()].into(), signers: MemberSet::full(2) }
    }

    fn single(quorum: Bytes) -> Vec<u8> {
        Settlement::settleCall { head: U256::from(1), deadline: 2, result: B256::repeat_byte(3), quorum }.abi_encode()
    }

    fn several(quorum: Bytes) -> Vec<u8> {
        let (head, newest) = (U256::from(1), B256::repeat_byte(9));
        let results = vec![B256::repeat_byte(3)];
        Settlement::settleAllCall { head, newest, deadline: 2, results, quorum }.abi_encode()
    }

    /// Both calls say the same of a quorum from the newest base, but `settle` leaves out the newest commitment. What the hub
    /// checks, and nothing else, is the proof.
    #[test]
    fn calls_are_taken_apart() {
        let settlement = Address::repeat_byte(4);
        for key_group in HUBS {
            let (proof, proved) = proof(key_group, 1);
            let newest = base(key_group, NEWEST);
            let (from_newest, alone) = (quorum(proof.clone(), Some(newest.clone())), quorum(proof, None));
            for (calldata, newest, bytes) in [
                (single(from_newest.clone()), newest.commitment(), &from_newest),
                (several(from_newest.clone()), B256::repeat_byte(9), &from_newest),
                (several(alone.clone()), B256::repeat_byte(9), &alone),
            ] {
                let settling = Settling::of_call(key_group, settlement, &calldata).unwrap();
                assert_eq!((settling.settlement, &settling.proof[..]), (settlement, &proved[..]));
                let call = HubSettlement::settleByHubCall::abi_decode(&settling.call).unwrap();
                assert_eq!((call.head, call.newest, call.deadline), (U256::from(1), newest, 2));
                assert_eq!(call.results, [B256::repeat_byte(3)]);
                assert_eq!([&call.quorum[..], &proved].concat(), bytes[..]);
            }
        }
    }

    #[test]
    fn what_no_hub_settles_is_refused() {
        let of = |group, calldata: &[u8]| Settling::of_call(group, Address::ZERO, calldata).unwrap_err();
        let without = KeyGroup::ALL.into_iter().filter(|group| !HUBS.contains(group));
        for group in without {
            assert_eq!(of(group, &[]), HubError::KeyGroup(group));
        }
        for group in HUBS {
            let (proof, _) = proof(group, 1);
            let from_newest = single(quorum(proof.clone(), Some(base(group, NEWEST))));
            for wrong in [single(quorum(proof.clone(), Some(base(group, 1)))), single(quorum(proof.clone(), None))] {
                assert_eq!(of(group, &wrong), HubError::NotFromNewest);
            }
            let short = several(quorum(proof, None).slice(..50));
            assert!(matches!(of(group, &short), HubError::Quorum(_)));
            for wrong in [&[][..], &[1, 2, 3, 4], &from_newest[..from_newest.len() - 40]] {
                assert!(matches!(of(group, wrong), HubError::Call(_)));
            }
        }
        for hints in [0, 2] {
            let wrong = several(quorum(proof(KeyGroup::Bn254G1, hints).0, None));
            assert_eq!(of(KeyGroup::Bn254G1, &wrong), HubError::Hints(usize::from(hints)));
        }
    }
}
