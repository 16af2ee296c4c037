//! A quorum, planned before it is signed and settled when it is.

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::SolCall;
use quorate_bn254::{Bn254Signature, MessagePoint, dual_key_verify, verify};

use super::{
    error::{PointError, SignatureError},
    key::QuorumKey,
};
use crate::{
    base::{Base, NEWEST, Way, Weigh, Weighing},
    bls12381::{self, DigestHash},
    contract::Settlement,
    gas::{Calldata, Estimate, Measured, Storing},
    hint::CounterHint,
    key_group::KeyGroup,
    member_set::MemberSet,
    quorum::{EncodeQuorumError, KeySum, Proof, Quorum, Store},
    state::{self, Head, TooLarge},
};

/// What a quorum is asked to sign and to settle in one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The results, in order.
    pub results: Vec<B256>,
    /// The last second, in Unix time, at which they settle; [`u64::MAX`] for no limit.
    pub deadline: u64,
    /// Where the contract stores the quorum as a base.
    pub store: Store,
    /// Whether the contract reads weights if the number of signers suffices. Not signed.
    pub weigh: Weigh,
}

impl Order {
    /// These results without a deadline. The quorum is stored nowhere, and weighed only if it has to be.
    pub fn of(results: &[B256]) -> Self {
        Self { results: results.to_vec(), deadline: u64::MAX, store: Store::Nowhere, weigh: Weigh::IfNeeded }
    }

    /// The same, with the quorum stored here.
    #[must_use]
    pub fn stored(self, store: Store) -> Self {
        Self { store, ..self }
    }

    /// The same, with the quorum weighed even if the number of signers suffices. It pays for a quorum that is stored, if
    /// later quorums of the epoch will have too few members to be counted.
    #[must_use]
    pub fn weighed(self) -> Self {
        Self { weigh: Weigh::Always, ..self }
    }
}

/// How a quorum settles: everything but its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettlementPlan {
    /// The curve and the group of the keys.
    pub key_group: KeyGroup,
    /// The members who sign.
    pub signers: MemberSet,
    /// The base, and the work from there to the quorum.
    pub way: Way,
    /// The quorum's key.
    pub key: QuorumKey,
    /// The weight of the signers in the epoch.
    pub weight: u128,
    /// How the contract computes the sum of the keys.
    pub sum: KeySum,
    /// What the quorum settles. Without results if another contract computes the digests.
    pub order: Order,
    /// What every member signs: one digest for all results of a settlement.
    pub digests: Vec<[u8; 32]>,
    /// The hint of each digest's hash to the curve; none on BLS12-381.
    pub hints: Vec<CounterHint>,
    /// The keys of the changed members that no named page holds.
    pub keys: Vec<Bytes>,
    /// The head that the call passes.
    pub head: Head,
    /// The newest base's commitment. The call passes it unless the newest base is the one from which it starts.
    pub newest: B256,
    /// The pages to put in the transaction's access list (EIP-2930), without storage keys. Empty if a list is not cheaper.
    pub access_list: Vec<Address>,
    pub(super) base: Option<Base>,
}

impl SettlementPlan {
    /// The slot of the base; `None` for the empty quorum.
    pub fn base_slot(&self) -> Option<u16> {
        self.base.as_ref().map(|base| base.slot)
    }

    /// The members whose keys the contract adds to the base's key.
    pub fn added(&self) -> MemberSet {
        self.way.changed.iter().filter(|index| self.signers.contains(*index)).collect()
    }

    /// The members whose keys the contract subtracts from the base's key.
    pub fn removed(&self) -> MemberSet {
        self.way.changed.iter().filter(|index| !self.signers.contains(*index)).collect()
    }

    /// The base that the quorum becomes if it is stored in a slot. If the contract counted the members, the base is not
    /// weighed.
    pub fn result(&self, slot: u16) -> Base {
        let (epoch, weight) = match self.way.weighing {
            Weighing::Counted => (0, 0),
            Weighing::FromBase | Weighing::Anew => (self.head.epoch, self.weight),
        };
        Base { slot, epoch, weight, key: self.key.to_bytes(), signers: self.signers.clone() }
    }

    /// The state in which the contract must be for the call to settle. Compare it with the contract's `state()`.
    ///
    /// # Errors
    /// [`TooLarge`].
    pub fn state(&self) -> Result<B256, TooLarge> {
        Ok(state::state(self.head.encode()?, self.newest))
    }

    /// Whether the contract will accept the signature. Ask before you pay for the transaction. Two Miller loops, one final
    /// exponentiation.
    ///
    /// # Errors
    /// [`SignatureError`] if the bytes are not a signature of the key group.
    #[must_use = "the signature may be invalid"]
    pub fn verify(&self, signature: &QuorumSignature) -> Result<bool, SignatureError> {
        verify_sum(self.key_group, &self.key, &self.digests, &self.hints, signature)
    }

    /// The signed quorum as the contract takes it.
    pub fn quorum(&self, signature: &QuorumSignature) -> Quorum {
        let proof = match signature {
            QuorumSignature::Bn254(signature) => match self.key.given_g2() {
                Some(key) => Proof::Bn254G1 { signature: *signature, key, hints: self.hints.clone() },
                None => {
                    let (sum, hints) = (self.sum.clone(), self.hints.clone());
                    Proof::Bn254G2 { sum, signature: *signature, hints }
                }
            },
            QuorumSignature::Bls12381(signature) if self.key_group == KeyGroup::Bls12381G2Nu => {
                Proof::Bls12381G2Nu { signature: *signature }
            }
            QuorumSignature::Bls12381(signature) => Proof::Bls12381G2 { signature: *signature },
        };
        Quorum {
            base: self.base.clone(),
            store: self.order.store,
            key_pages: self.way.keys.pages.iter().map(|page| page.nonce).collect(),
            weights: self.way.weights.clone(),
            keys: self.keys.clone(),
            signers: self.signers.clone(),
            proof,
        }
    }

    /// Whether the call is `settle`, which settles one result from the newest base. In all other cases it is `settleAll`.
    pub fn is_single(&self) -> bool {
        self.base_slot() == Some(NEWEST) && self.order.results.len() == 1
    }

    /// The calldata, with the aggregate signature.
    ///
    /// # Errors
    /// [`EncodeQuorumError`] if there are more pages or members than the packed form holds.
    pub fn call(&self, signature: &QuorumSignature) -> Result<Bytes, EncodeQuorumError> {
        let quorum = self.quorum(signature).encode()?.into();
        let (head, newest): (U256, _) = (self.head.encode()?, self.newest);
        let Order { ref results, deadline, .. } = self.order;
        // Every settlement has these functions.
        Ok(match results[..] {
            [result] if self.is_single() => {
                Settlement::settleCall { head, deadline, result, quorum }.abi_encode().into()
            }
            _ => {
                let results = results.clone();
                Settlement::settleAllCall { head, newest, deadline, results, quorum }.abi_encode().into()
            }
        })
    }

    /// The gas of the transaction with this calldata. Before there is a signature, [`QuorumSignature::stand_in`] makes
    /// calldata of the same length.
    pub fn estimate(&self, measured: &Measured, call: &[u8], storing: Storing) -> Estimate {
        let (results, digests) = (self.order.results.len() as u64, self.digests.len() as u64);
        measured.settle(self.key_group, Calldata::of(call), results, digests, &self.way.steps, storing)
    }

    /// The same plan, with another way to compute the sum and another access list.
    pub(super) fn with(&self, sum: KeySum, access_list: Vec<Address>) -> Self {
        let mut plan = Self { sum, access_list, ..self.clone() };
        plan.way.steps.listed = plan.access_list.len() as u64;
        plan.way.steps.slopes = match &plan.sum {
            KeySum::Slopes(slopes) => Some(slopes.len() as u64),
            KeySum::Unchanged | KeySum::Jacobian { .. } => None,
        };
        plan
    }

    /// The gas of the transaction, without that of storing. Nonzero bytes stand for the signature.
    pub(super) fn total(&self, measured: &Measured) -> Result<u64, EncodeQuorumError> {
        let call = self.call(&QuorumSignature::stand_in(self.key_group))?;
        Ok(self.estimate(measured, &call, Storing::Nowhere).total())
    }
}

/// Whether a signature is that of a quorum's key over the sum of these digests' points. The hints are those of the digests on
/// BN254.
pub(crate) fn verify_sum(
    key_group: KeyGroup,
    key: &QuorumKey,
    digests: &[[u8; 32]],
    hints: &[CounterHint],
    signature: &QuorumSignature,
) -> Result<bool, SignatureError> {
    // The sum of the points that are signed on BN254. `None` if there are no digests, or if a hint fails its check.
    let message = || {
        let points = digests.iter().zip(hints).map(|(digest, hint)| hint.check(digest));
        MessagePoint::sum_of(&points.collect::<Option<Vec<_>>>()?)
    };
    match (key, signature) {
        (QuorumKey::Bn254G2(key), QuorumSignature::Bn254(bytes)) => {
            let signature = Bn254Signature::from_bytes(bytes).map_err(PointError::from)?;
            Ok(message().is_some_and(|message| verify(key, &message, &signature)))
        }
        (QuorumKey::Bn254G1 { g1, g2 }, QuorumSignature::Bn254(bytes)) => {
            let signature = Bn254Signature::from_bytes(bytes).map_err(PointError::from)?;
            Ok(message().is_some_and(|message| dual_key_verify(g1, g2, &message, &signature)))
        }
        (QuorumKey::Bls12381G2(key), QuorumSignature::Bls12381(bytes)) => {
            let signature = bls12381::decode_signature(bytes).map_err(PointError::from)?;
            let hash = DigestHash::of(key_group);
            Ok(hash.is_some_and(|hash| hash.verify(key, digests, &signature)))
        }
        (QuorumKey::Bn254G2(_) | QuorumKey::Bn254G1 { .. }, QuorumSignature::Bls12381(_))
        | (QuorumKey::Bls12381G2(_), QuorumSignature::Bn254(_)) => {
            let (expected, found) = (key_group.signature_bytes(), signature.as_bytes().len());
            Err(SignatureError::OtherCurve { expected, found })
        }
    }
}

/// An aggregate signature as the contract takes it. The bytes are not checked to be a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuorumSignature {
    /// On BN254: x ‖ y.
    Bn254([u8; 64]),
    /// On BLS12-381: x ‖ y of 48 bytes each.
    Bls12381([u8; 96]),
}

impl QuorumSignature {
    /// Reads a signature of a key group: 64 bytes on BN254, 96 on BLS12-381.
    ///
    /// # Errors
    /// [`SignatureError::Length`].
    pub fn from_bytes(key_group: KeyGroup, bytes: &[u8]) -> Result<Self, SignatureError> {
        let length = SignatureError::Length { expected: key_group.signature_bytes(), found: bytes.len() };
        match key_group {
            KeyGroup::Bn254G2 | KeyGroup::Bn254G1 => bytes.try_into().map(Self::Bn254).map_err(|_| length),
            KeyGroup::Bls12381G2 | KeyGroup::Bls12381G2Nu => bytes.try_into().map(Self::Bls12381).map_err(|_| length),
        }
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Bn254(bytes) => bytes,
            Self::Bls12381(bytes) => bytes,
        }
    }

    /// Bytes in the place of a signature that does not exist yet. None is zero, so calldata with them costs as much as
    /// calldata with a signature without zero bytes.
    pub const fn stand_in(key_group: KeyGroup) -> Self {
        match key_group {
            KeyGroup::Bn254G2 | KeyGroup::Bn254G1 => Self::Bn254([0xff; 64]),
            KeyGroup::Bls12381G2 | KeyGroup::Bls12381G2Nu => Self::Bls12381([0xff; 96]),
        }
    }
}
