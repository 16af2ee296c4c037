//! The key of a quorum, computed as the contract computes it: from a base's key and the members that change.

use std::{collections::HashMap, ops::Range};

use alloy_primitives::Bytes;
use quorate::{MinSig, PublicKey};
use quorate_bn254::{Bn254PublicKey, G1Affine, KeyPoint};

use super::error::{PlanError, PointError};
use crate::{
    base::Base,
    bls12381,
    hint::{Accumulator, BaseChange, slopes},
    key_group::KeyGroup,
    member_set::MemberSet,
    quorum::KeySum,
};

/// The key of a quorum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuorumKey {
    /// In G2 of BN254.
    Bn254G2(Bn254PublicKey),
    /// In G1 of BN254. The two keys are sums of keys that nobody compared; the contract compares them.
    Bn254G1 {
        /// The key that the contract computes.
        g1: Bn254PublicKey<G1Affine>,
        /// The key that the contract is given.
        g2: Bn254PublicKey,
    },
    /// In G2 of BLS12-381, with either hash of digests.
    Bls12381G2(PublicKey<MinSig>),
}

impl QuorumKey {
    /// The bytes of the key that the contract computes, as it keeps keys.
    pub fn to_bytes(&self) -> Bytes {
        match self {
            Self::Bn254G2(key) => key.to_bytes().into(),
            Self::Bn254G1 { g1, .. } => g1.to_bytes().into(),
            Self::Bls12381G2(key) => bls12381::encode_key(key).into(),
        }
    }

    /// The bytes of the key in G2 that the contract is given beside keys in G1.
    pub fn given_g2(&self) -> Option<[u8; 128]> {
        match self {
            Self::Bn254G1 { g2, .. } => Some(g2.to_bytes()),
            Self::Bn254G2(_) | Self::Bls12381G2(_) => None,
        }
    }
}

/// The sum of these members' keys, as the contract keeps keys: the key of a base. Decodes and checks each key.
///
/// # Errors
/// [`PlanError::NoSuchMember`], [`PlanError::Key`], [`PlanError::Identity`].
pub fn sum_of_keys(key_group: KeyGroup, keys: &[Bytes], signers: &MemberSet) -> Result<Bytes, PlanError> {
    if let Some(index) = signers.iter().last().filter(|last| *last >= keys.len()) {
        return Err(PlanError::NoSuchMember { index, members: keys.len() });
    }
    let keys = MemberKeys { key_group, keys };
    let sum = match key_group {
        KeyGroup::Bn254G2 => QuorumKey::Bn254G2(keys.sum(None, signers, signers, 0..128)?.1).to_bytes(),
        KeyGroup::Bn254G1 => keys.sum::<Bn254PublicKey<G1Affine>>(None, signers, signers, 0..64)?.1.to_bytes().into(),
        KeyGroup::Bls12381G2 | KeyGroup::Bls12381G2Nu => {
            QuorumKey::Bls12381G2(keys.sum(None, signers, signers, 0..bls12381::KEY_BYTES)?.1).to_bytes()
        }
    };
    Ok(sum)
}

/// Members' keys that were decoded and checked before, each by the bytes in which a contract keeps it. As long as the members stay,
/// each of their keys is decoded once; a key with other bytes is another one, whichever member has it.
#[derive(Clone, Debug, Default)]
pub struct DecodedKeys {
    bn254_g2: HashMap<Box<[u8]>, Bn254PublicKey>,
    bn254_g1: HashMap<Box<[u8]>, Bn254PublicKey<G1Affine>>,
    bls12381: HashMap<Box<[u8]>, PublicKey<MinSig>>,
}

impl DecodedKeys {
    /// The number of members whose keys are held.
    pub fn members(&self) -> usize {
        // Beside a key in G1 of BN254 stands one in G2.
        self.bn254_g2.len().max(self.bn254_g1.len()) + self.bls12381.len()
    }

    /// Forgets all keys.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The key of a quorum of these signers, from nothing but their keys. Decodes and checks those that it does not hold.
    pub(crate) fn sum(
        &mut self,
        key_group: KeyGroup,
        keys: &[Bytes],
        signers: &MemberSet,
    ) -> Result<QuorumKey, PlanError> {
        Ok(match key_group {
            KeyGroup::Bn254G2 => QuorumKey::Bn254G2(sum_held(&mut self.bn254_g2, keys, signers, 0..128)?),
            KeyGroup::Bn254G1 => QuorumKey::Bn254G1 {
                g1: sum_held(&mut self.bn254_g1, keys, signers, 0..64)?,
                g2: sum_held(&mut self.bn254_g2, keys, signers, 64..192)?,
            },
            KeyGroup::Bls12381G2 | KeyGroup::Bls12381G2Nu => {
                QuorumKey::Bls12381G2(sum_held(&mut self.bls12381, keys, signers, 0..bls12381::KEY_BYTES)?)
            }
        })
    }
}

/// The sum of signers' keys, each of which is decoded and checked unless it is held. `part` are the key's bytes within a member's.
fn sum_held<K: MemberKey>(
    held: &mut HashMap<Box<[u8]>, K>,
    keys: &[Bytes],
    signers: &MemberSet,
    part: Range<usize>,
) -> Result<K, PlanError> {
    let mut members = Vec::new();
    for index in signers.iter() {
        let bytes = &keys[index][part.clone()];
        members.push(match held.get(bytes) {
            Some(key) => *key,
            None => {
                let key = K::read(bytes).map_err(|source| PlanError::Key { index, source })?;
                held.insert(bytes.into(), key);
                key
            }
        });
    }
    K::sum(None, members, Vec::new()).ok_or(PlanError::Identity)
}

/// The keys of a network's members, as bytes.
#[derive(Clone, Copy)]
pub(super) struct MemberKeys<'a> {
    pub(super) key_group: KeyGroup,
    pub(super) keys: &'a [Bytes],
}

impl MemberKeys<'_> {
    /// The key of a quorum, and the ways in which the contract can compute it, slopes first.
    pub(super) fn quorum(
        &self,
        base: Option<&Base>,
        signers: &MemberSet,
        changed: &MemberSet,
    ) -> Result<(QuorumKey, Vec<KeySum>), PlanError> {
        let unchanged = vec![KeySum::Unchanged];
        Ok(match self.key_group {
            KeyGroup::Bn254G2 => {
                let (start, key) = self.sum::<Bn254PublicKey>(base, signers, changed, 0..128)?;
                let sums = if changed.is_empty() { unchanged } else { self.key_sums(start, signers, changed)? };
                (QuorumKey::Bn254G2(key), sums)
            }
            KeyGroup::Bn254G1 => {
                let (_, g1) = self.sum(base, signers, changed, 0..64)?;
                let g2 = MemberKey::sum(None, self.members(signers.iter(), 64..192)?, Vec::new());
                (QuorumKey::Bn254G1 { g1, g2: g2.ok_or(PlanError::Identity)? }, unchanged)
            }
            KeyGroup::Bls12381G2 | KeyGroup::Bls12381G2Nu => {
                let (_, key) = self.sum(base, signers, changed, 0..bls12381::KEY_BYTES)?;
                (QuorumKey::Bls12381G2(key), unchanged)
            }
        })
    }

    /// Refuses a base whose key is not the sum of its members' keys.
    pub(super) fn check(&self, base: Option<&Base>) -> Result<(), PlanError> {
        let Some(base) = base else { return Ok(()) };
        match self.key_group {
            KeyGroup::Bn254G2 => self.base_key::<Bn254PublicKey>(base, 0..128).map(|_| ()),
            KeyGroup::Bn254G1 => self.base_key::<Bn254PublicKey<G1Affine>>(base, 0..64).map(|_| ()),
            KeyGroup::Bls12381G2 | KeyGroup::Bls12381G2Nu => {
                self.base_key::<PublicKey<MinSig>>(base, 0..bls12381::KEY_BYTES).map(|_| ())
            }
        }
    }

    /// The base's key and the quorum's. `part` are the key's bytes within a member's.
    fn sum<K: MemberKey>(
        &self,
        base: Option<&Base>,
        signers: &MemberSet,
        changed: &MemberSet,
        part: Range<usize>,
    ) -> Result<(Option<K>, K), PlanError> {
        let start = base.map(|base| self.base_key(base, part.clone())).transpose()?;
        let (added, removed): (Vec<_>, Vec<_>) = changed.iter().partition(|index| signers.contains(*index));
        let (added, removed) = (self.members(added, part.clone())?, self.members(removed, part)?);
        Ok((start, K::sum(start, added, removed).ok_or(PlanError::Identity)?))
    }

    /// A base's key, which must be the sum of its members' keys: a wrong file is found here and not by a transaction that
    /// fails.
    fn base_key<K: MemberKey>(&self, base: &Base, part: Range<usize>) -> Result<K, PlanError> {
        let key = K::read(&base.key).map_err(|source| PlanError::BaseKey { slot: base.slot, source })?;
        let sum = K::sum(None, self.members(base.signers.iter(), part)?, Vec::new());
        if sum == Some(key) { Ok(key) } else { Err(PlanError::BaseSum { slot: base.slot }) }
    }

    /// The ways to compute a sum in G2 of BN254 to which members change.
    fn key_sums(
        &self,
        start: Option<Bn254PublicKey>,
        signers: &MemberSet,
        changed: &MemberSet,
    ) -> Result<Vec<KeySum>, PlanError> {
        let start = start.map(|key| key.point());
        let change = |index| if signers.contains(index) { BaseChange::Added } else { BaseChange::Removed };
        let keys = self.members::<Bn254PublicKey>(changed.iter(), 0..128)?;
        let changes: Vec<_> = keys.iter().map(Bn254PublicKey::point).zip(changed.iter().map(change)).collect();
        let mut sum = Accumulator::new(start);
        changes.iter().for_each(|(key, change)| sum.change(*key, *change));
        let inverse_of_z = sum.inverse_of_z().ok_or(PlanError::Identity)?;
        let slopes = slopes(start, changes).map(KeySum::Slopes);
        Ok(slopes.into_iter().chain([KeySum::Jacobian { inverse_of_z }]).collect())
    }

    fn members<K: MemberKey>(
        &self,
        members: impl IntoIterator<Item = usize>,
        part: Range<usize>,
    ) -> Result<Vec<K>, PlanError> {
        let read =
            |index: usize| K::read(&self.keys[index][part.clone()]).map_err(|source| PlanError::Key { index, source });
        members.into_iter().map(read).collect()
    }
}

/// A key that the contract keeps.
trait MemberKey: Copy + PartialEq {
    fn read(bytes: &[u8]) -> Result<Self, PointError>;

    /// `base` + `added` - `removed`; `None` for the identity.
    fn sum(base: Option<Self>, added: Vec<Self>, removed: Vec<Self>) -> Option<Self>;
}

impl<G: KeyPoint> MemberKey for Bn254PublicKey<G> {
    fn read(bytes: &[u8]) -> Result<Self, PointError> {
        Ok(Self::from_bytes(bytes)?)
    }

    fn sum(base: Option<Self>, added: Vec<Self>, removed: Vec<Self>) -> Option<Self> {
        quorate_bn254::sum(base, added, removed)
    }
}

impl MemberKey for PublicKey<MinSig> {
    fn read(bytes: &[u8]) -> Result<Self, PointError> {
        Ok(bls12381::decode_key(bytes)?)
    }

    fn sum(base: Option<Self>, added: Vec<Self>, removed: Vec<Self>) -> Option<Self> {
        bls12381::sum(base, added, removed)
    }
}
