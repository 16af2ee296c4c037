//! The operators' keys, as the chain's snapshots tell them: whose key stands at which index, and who may be a peer.
//!
//! A key is decoded once, with all checks (on the curve, in the subgroup, not the identity). It is kept as compressed bytes,
//! which is what the engine takes, and as a point, to which others are added for sums. A snapshot with a key that fails is
//! refused as a whole: the chain admits none, so whoever told it lies.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, PoisonError, RwLock},
};

use quorate_evm::{
    MemberSet, SnapshotId,
    alloy_primitives::{Address, Bytes, keccak256},
    bls12381,
    digest::{Contract, PeerBinding},
};

use quorate::{MinSig, PublicKey, Suite as _};

/// A key as compressed bytes.
pub type CompressedKey = [u8; 96];

/// The keys of a network. A clone is the same registry.
#[derive(Clone, Debug)]
pub struct Registry {
    network: Contract,
    keys: Arc<RwLock<Keys>>,
}

#[derive(Debug, Default)]
struct Keys {
    /// By epoch and snapshot, of which there is one for each epoch: of each index the owner and the key, if the index has weight.
    snapshots: BTreeMap<(u64, SnapshotId), Vec<Option<Member>>>,
    /// By the key as the contract keeps it: what it decodes to. Keys that no snapshot has any more are removed.
    decoded: HashMap<Bytes, PublicKey<MinSig>>,
    /// Statements of peers whose signature was verified, with the statement's key. Bounded by [`MOST_STATEMENTS`].
    statements: HashMap<[u8; 32], Bytes>,
}

#[derive(Clone, Debug)]
struct Member {
    owner: Address,
    weight: u64,
    key: Bytes,
    point: PublicKey<MinSig>,
    compressed: CompressedKey,
}

/// A member of a snapshot: its owner, its weight, and its key as the contract keeps it (192 bytes).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisteredMember {
    /// Who registered the key.
    pub owner: Address,
    /// Its weight; an index without weight has no key here.
    pub weight: u64,
    /// The key.
    pub key: Bytes,
}

/// A snapshot has a key that does not decode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("epoch {epoch}: the key at index {index} is not valid: {source}")]
pub struct BadKey {
    /// The snapshot's epoch.
    pub epoch: u64,
    /// The index.
    pub index: usize,
    /// The flaw of its bytes.
    pub source: quorate::ParseError,
}

/// Why a peer is not an operator's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAdmitted {
    /// There is no snapshot yet, so nobody can be admitted.
    #[error("no snapshot is known yet")]
    NoSnapshot,
    /// No operator with weight has the key.
    #[error("no operator with stake has this key")]
    UnknownKey,
    /// The signature does not bind the peer to the key.
    #[error("the signature does not bind this peer to the key")]
    FalseSignature,
}

/// The most statements whose verification is remembered: each is 200 bytes.
const MOST_STATEMENTS: usize = 4_096;

impl Registry {
    /// A registry without keys.
    pub fn new(network: Contract) -> Self {
        Self { network, keys: Arc::default() }
    }

    /// Adds a snapshot, and forgets those of epochs before `kept_from`. A chain has one snapshot of an epoch, so another one of the same
    /// epoch is forgotten, too: it was of a branch that was left.
    ///
    /// Cost: a subgroup check for each key that no snapshot before had.
    ///
    /// # Errors
    /// [`BadKey`]; nothing is added then.
    pub fn insert(
        &self,
        epoch: u64,
        id: SnapshotId,
        members: &[RegisteredMember],
        kept_from: u64,
    ) -> Result<(), BadKey> {
        let mut decoded = HashMap::new();
        let mut of_index = Vec::with_capacity(members.len());
        for (index, RegisteredMember { owner, weight, key }) in members.iter().enumerate() {
            if *weight == 0 {
                of_index.push(None);
                continue;
            }
            let known = self.read(|keys| keys.decoded.get(key).copied());
            let point = match known {
                Some(point) => point,
                None => bls12381::decode_key(key).map_err(|source| BadKey { epoch, index, source })?,
            };
            decoded.insert(key.clone(), point);
            of_index.push(Some(Member {
                owner: *owner,
                weight: *weight,
                key: key.clone(),
                point,
                compressed: point.to_bytes(),
            }));
        }
        self.write(|keys| {
            keys.snapshots.retain(|(held, _), _| *held >= kept_from && *held != epoch);
            keys.snapshots.insert((epoch, id), of_index);
            keys.decoded.extend(decoded);
            let held: std::collections::HashSet<_> =
                keys.snapshots.values().flatten().flatten().map(|member| member.key.clone()).collect();
            keys.decoded.retain(|key, _| held.contains(key));
        });
        Ok(())
    }

    /// Forgets the snapshots of an epoch: a reorganisation removed them.
    pub fn remove(&self, epoch: u64) {
        self.write(|keys| keys.snapshots.retain(|(held, _), _| *held != epoch));
    }

    /// Whether a snapshot's keys are known: messages of its epoch can be verified.
    pub fn has(&self, epoch: u64, snapshot: SnapshotId) -> bool {
        self.read(|keys| keys.snapshots.contains_key(&(epoch, snapshot)))
    }

    /// The key at an index of a snapshot, if the index has weight there.
    pub fn key(&self, epoch: u64, snapshot: SnapshotId, index: u32) -> Option<CompressedKey> {
        self.member(epoch, snapshot, index, |member| member.compressed)
    }

    /// The sum of the keys at some indices of a snapshot. `None` if one of them has no weight there, or the sum is the
    /// identity.
    ///
    /// Every key has proven that its owner knows the secret key, so a sum of signatures under the sum is one of each.
    /// Cost: an addition in G2 for each.
    pub fn sum(&self, epoch: u64, snapshot: SnapshotId, indices: &MemberSet) -> Option<CompressedKey> {
        let keys = self.read(|keys| {
            let members = keys.snapshots.get(&(epoch, snapshot))?;
            let points = indices.iter().map(|index| Some(members.get(index)?.as_ref()?.point));
            points.collect::<Option<Vec<_>>>()
        })?;
        bls12381::sum(None, keys, []).map(|sum| sum.to_bytes())
    }

    /// The owner of the key at an index of a snapshot, if the index has weight there.
    pub fn owner(&self, epoch: u64, snapshot: SnapshotId, index: u32) -> Option<Address> {
        self.member(epoch, snapshot, index, |member| member.owner)
    }

    /// What an operator weighs in the snapshot of the newest epoch that has one; zero if it is not in it.
    pub fn weight(&self, operator: &Address) -> u64 {
        self.read(|keys| {
            let newest = keys.snapshots.values().next_back();
            let members = newest.into_iter().flatten().flatten().filter(|member| member.owner == *operator);
            members.fold(0, |sum: u64, member| sum.saturating_add(member.weight))
        })
    }

    /// The same key as the contract keeps it.
    pub fn contract_key(&self, epoch: u64, snapshot: SnapshotId, index: u32) -> Option<Bytes> {
        self.member(epoch, snapshot, index, |member| member.key.clone())
    }

    /// The operator for which a peer speaks: the key has weight in the newest epoch that has a snapshot, or in the epoch before it, and
    /// signed the statement that binds the peer to it.
    ///
    /// Cost: two pairings, the first time.
    ///
    /// # Errors
    /// [`NotAdmitted`].
    pub fn admit(&self, peer: &[u8], key: &Bytes, signature: &[u8]) -> Result<Address, NotAdmitted> {
        let (owner, compressed) = self.read(|keys| {
            let newest = keys.snapshots.keys().next_back().ok_or(NotAdmitted::NoSnapshot)?.0;
            let recent = keys.snapshots.range((newest.saturating_sub(1), SnapshotId::ZERO)..).rev();
            let mut members = recent.flat_map(|(_, members)| members.iter().flatten());
            let found = members.find(|member| member.key == *key).ok_or(NotAdmitted::UnknownKey)?;
            Ok((found.owner, found.compressed))
        })?;
        let digest = PeerBinding { network: self.network, peer }.digest();
        let name = keccak256([&digest[..], signature].concat()).0;
        if self.read(|keys| keys.statements.get(&name) == Some(key)) {
            return Ok(owner);
        }
        // A signature that fails to decode proves nothing either.
        let signature = bls12381::decode_signature(signature).map_err(|_| NotAdmitted::FalseSignature)?;
        let claim = quorate::ClaimBytes::single(bls12381::SUITE.any(), &compressed, &digest, &signature.to_bytes());
        if !claim.verify().is_valid() {
            return Err(NotAdmitted::FalseSignature);
        }
        self.write(|keys| {
            if keys.statements.len() >= MOST_STATEMENTS {
                keys.statements.clear();
            }
            keys.statements.insert(name, key.clone());
        });
        Ok(owner)
    }

    fn member<T>(&self, epoch: u64, snapshot: SnapshotId, index: u32, of: impl Fn(&Member) -> T) -> Option<T> {
        self.read(|keys| keys.snapshots.get(&(epoch, snapshot))?.get(index as usize)?.as_ref().map(of))
    }

    // A panic cannot leave half a change: each closure above changes maps by single calls.
    fn read<T>(&self, of: impl FnOnce(&Keys) -> T) -> T {
        of(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn write<T>(&self, change: impl FnOnce(&mut Keys) -> T) -> T {
        change(&mut self.keys.write().unwrap_or_else(PoisonError::into_inner))
    }
}
