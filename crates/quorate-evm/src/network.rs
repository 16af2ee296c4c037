//! A settlement as its aggregator follows it off the chain: keys, pages, weights, bases; and the next quorum's call.

use alloy_primitives::{Address, B256, Bytes};
use alloy_sol_types::SolCall;
use quorate_curve::{Backend, Group};
use serde::{Deserialize, Serialize};

use crate::{
    back_end::BackEnd,
    base::{Base, Costs, KeyPage, Table, Way},
    bitmap::Bitmap,
    bn254::{self, ParseError, PublicKey},
    contract::SettlementBn254G2,
    digest::{Contract, Settled},
    gas::{Calldata, Estimate, Measured, Storing},
    hint::{self, Change, CounterHint},
    quorum::{MisuseError, Proof, Quorum, Store},
};

/// What is known of a settlement. As JSON it is the input of `quorate evm plan`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// The curve and the group of the keys.
    pub back_end: BackEnd,
    /// EIP-155's id of the chain.
    pub chain_id: u64,
    /// The contract's address.
    pub contract: Address,
    /// The number of the next result.
    pub nonce: u64,
    /// The epoch that settles.
    pub epoch: u64,
    /// By index, the members' keys as [`BackEnd::member_bytes`] says.
    pub keys: Vec<Bytes>,
    /// By index, what they weigh in the epoch; those behind the last weigh nothing.
    pub weights: Vec<u64>,
    /// Pages of keys, ascending and without gaps from index 0 on; the keys behind them are in storage.
    pub key_pages: Vec<KeyPage>,
    /// Nonces of the epoch's pages of weights.
    pub weight_pages: Vec<u32>,
    /// What the slots of the ring commit to.
    pub bases: Vec<Base>,
}

/// Why no quorum can be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// Nobody signed.
    #[error("a quorum of nobody")]
    Empty,
    /// A member that is not in the table.
    #[error("member {index}: the network has {members} keys")]
    NoSuchMember {
        /// The member.
        index: usize,
        /// How many keys there are.
        members: usize,
    },
    /// A member that is younger than the epoch's last page of weights.
    #[error("member {0}: no page of weights holds this index")]
    NoWeight(usize),
    /// A key of the network is none.
    #[error("key of member {index}: {why}")]
    Key {
        /// The member.
        index: usize,
        /// What is wrong.
        why: String,
    },
    /// A base's key is none.
    #[error("key of the base in slot {slot}: {why}")]
    BaseKey {
        /// Its slot.
        slot: u32,
        /// What is wrong.
        why: String,
    },
    /// Keys that cancel out: under their sum everything is signed, and the contract refuses it.
    #[error("the quorum's keys add up to the identity")]
    Identity,
    /// What the packed form cannot hold.
    #[error(transparent)]
    Misuse(#[from] MisuseError),
}

/// How a quorum is settled: all but its signature.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Who signs.
    pub signers: Bitmap,
    /// From which base, and what changes.
    pub way: Way,
    /// The quorum's key, as the table keeps keys.
    pub key: Vec<u8>,
    /// Its key in G2, where the contract keeps those in G1.
    pub key_g2: Option<[u8; 128]>,
    /// What it weighs in the epoch.
    pub weight: u128,
    /// 1/Z of the sum, where the back end wants it.
    pub inverse_of_z: Option<[u8; 64]>,
    /// By result, what is signed.
    pub digests: Vec<[u8; 32]>,
    /// By result, the hint of its hash; none on BLS12-381.
    pub hints: Vec<CounterHint>,
    base: Option<Base>,
}

impl BackEnd {
    /// Bytes of a member's key off the chain: that of the contract, and on b its twin in G2 behind it.
    pub const fn member_bytes(self) -> usize {
        match self {
            Self::Bn254G2 => 128,
            Self::Bn254G1 | Self::Bls12381G2 => 192,
        }
    }
}

impl Network {
    /// The cheapest way to settle results that these members sign: nothing is signed yet.
    ///
    /// Cost: each base is priced; each key that changes is checked and added.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn plan(&self, measured: &Measured, signers: &Bitmap, results: &[B256]) -> Result<Plan, PlanError> {
        let last = signers.iter().last().ok_or(PlanError::Empty)?;
        if last >= self.keys.len() {
            return Err(PlanError::NoSuchMember { index: last, members: self.keys.len() });
        }
        let table = Table { key_pages: self.key_pages.clone(), weight_pages: self.weight_pages.clone() };
        if last >= table.weight_pages.len() * crate::base::WEIGHTS_A_PAGE {
            return Err(PlanError::NoWeight(last));
        }
        let costs = Costs { back_end: self.back_end, measured, table: &table, epoch: self.epoch };
        let way = costs.nearest(&self.bases, signers);
        let base = way.base.map(|place| self.bases[place].clone());
        let (key, inverse_of_z) = self.key(base.as_ref(), signers, &way.changed)?;
        let key_g2 = if self.back_end == BackEnd::Bn254G1 { Some(self.key_g2(signers)?) } else { None };
        let settlement = Contract { chain_id: self.chain_id, address: self.contract.into() };
        let digests: Vec<_> = (self.nonce..)
            .zip(results)
            .map(|(nonce, result)| Settled { settlement, nonce, result: result.0 }.digest())
            .collect();
        let hints = match self.back_end {
            BackEnd::Bls12381G2 => Vec::new(),
            _ => digests.iter().map(CounterHint::new).collect(),
        };
        let weight = signers.iter().map(|index| u128::from(self.weights.get(index).copied().unwrap_or(0))).sum();
        Ok(Plan { signers: signers.clone(), way, key, key_g2, weight, inverse_of_z, digests, hints, base })
    }

    /// Follows a settlement: the results are settled, and the quorum stands where it was stored.
    pub fn settled(&mut self, plan: &Plan, store: Option<u32>) {
        self.nonce += plan.digests.len() as u64;
        let Some(slot) = store else { return };
        self.bases.retain(|base| base.slot != slot);
        let (epoch, weight, key) = (self.epoch, plan.weight, plan.key.clone());
        self.bases.push(Base { slot, epoch, weight, key, signers: plan.signers.clone() });
        self.bases.sort_by_key(|base| base.slot);
    }

    /// The quorum's key as the contract makes it from a base's, and 1/Z of the sum on back end a.
    fn key(
        &self,
        base: Option<&Base>,
        signers: &Bitmap,
        changed: &Bitmap,
    ) -> Result<(Vec<u8>, Option<[u8; 64]>), PlanError> {
        let base_key = |why: ParseError| PlanError::BaseKey {
            slot: base.map_or(u32::MAX, |base| base.slot),
            why: why.to_string(),
        };
        match self.back_end {
            BackEnd::Bn254G2 => {
                let start = base.map(|base| PublicKey::<bn254::G2>::from_bytes(&base.key)).transpose().map_err(base_key)?;
                let mut changes = Vec::new();
                for index in changed.iter() {
                    let change = if signers.contains(index) { Change::Added } else { Change::Removed };
                    changes.push((self.member::<bn254::G2>(index, 0..128)?.point(), change));
                }
                let mut sum = hint::Accumulator::new(start.map(|key| key.point()));
                changes.into_iter().for_each(|(key, change)| sum.change(key, change));
                let inverse = sum.inverse_of_z().ok_or(PlanError::Identity)?;
                Ok((bn254::encode_g2(&sum.sum()).to_vec(), (!changed.is_empty()).then_some(inverse)))
            }
            BackEnd::Bn254G1 => {
                let keys: Result<Vec<_>, _> =
                    signers.iter().map(|index| self.member::<bn254::G1>(index, 0..64)).collect();
                let key = bn254::aggregate(keys?).ok_or(PlanError::Identity)?;
                Ok((key.to_bytes(), None))
            }
            BackEnd::Bls12381G2 => {
                let keys: Result<Vec<_>, _> = signers.iter().map(|index| self.bls_member(index)).collect();
                let sum = Backend::auto().sum(&keys?);
                if sum.is_identity() { Err(PlanError::Identity) } else { Ok((bls_bytes(&sum), None)) }
            }
        }
    }

    fn key_g2(&self, signers: &Bitmap) -> Result<[u8; 128], PlanError> {
        let keys: Result<Vec<_>, _> = signers.iter().map(|index| self.member::<bn254::G2>(index, 64..192)).collect();
        let key = bn254::aggregate(keys?).ok_or(PlanError::Identity)?;
        Ok(key.to_bytes().try_into().expect("a key in G2 has 128 bytes"))
    }

    fn member<G: bn254::Group>(&self, index: usize, part: std::ops::Range<usize>) -> Result<PublicKey<G>, PlanError> {
        let bytes = self.member_bytes(index)?;
        PublicKey::from_bytes(&bytes[part]).map_err(|why| PlanError::Key { index, why: why.to_string() })
    }

    fn bls_member(&self, index: usize) -> Result<quorate_curve::G2, PlanError> {
        let key = bls_key(self.member_bytes(index)?);
        key.map_err(|why| PlanError::Key { index, why })
    }

    fn member_bytes(&self, index: usize) -> Result<&[u8], PlanError> {
        let (bytes, expected) = (&self.keys[index], self.back_end.member_bytes());
        if bytes.len() == expected {
            return Ok(bytes);
        }
        Err(PlanError::Key { index, why: format!("{} bytes, not {expected}", bytes.len()) })
    }
}

impl Plan {
    /// The slot of the base; `None` for the empty one.
    pub fn base_slot(&self) -> Option<u32> {
        self.base.as_ref().map(|base| base.slot)
    }

    /// The call that settles the results, given the aggregate signature: 64 bytes on BN254, 96 on BLS12-381.
    ///
    /// # Errors
    /// [`MisuseError`], where more pages or members are named than the form holds.
    pub fn call(&self, store: Store, signature: &Signature, results: &[B256]) -> Result<Bytes, MisuseError> {
        let proof = match signature {
            Signature::Bn254(signature) => match self.key_g2 {
                Some(key) => Proof::Bn254G1 { signature: *signature, key, hints: self.hints.clone() },
                None => Proof::Bn254G2 {
                    inverse_of_z: self.inverse_of_z,
                    signature: *signature,
                    hints: self.hints.clone(),
                },
            },
            Signature::Bls12381(signature) => Proof::Bls12381G2 { signature: *signature },
        };
        let quorum = Quorum {
            base: self.base.clone(),
            store,
            key_pages: self.way.key_pages.clone(),
            weight_pages: self.way.weight_pages.clone(),
            signers: self.signers.clone(),
            proof,
        };
        // Every settlement has this function.
        let call = SettlementBn254G2::settleCall { results: results.to_vec(), quorum: quorum.encode()?.into() };
        Ok(call.abi_encode().into())
    }

    /// What the transaction will cost, its calldata being known.
    pub fn estimate(&self, back_end: BackEnd, measured: &Measured, call: &[u8], storing: Storing) -> Estimate {
        measured.settle(back_end, Calldata::of(call), self.digests.len() as u64, &self.way.steps, storing)
    }
}

/// An aggregate signature in the form of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the contracts know no other")]
pub enum Signature {
    /// x ‖ y.
    Bn254([u8; 64]),
    /// x ‖ y of 48 bytes.
    Bls12381([u8; 96]),
}

/// The 192 bytes of a key in G2 of BLS12-381 as EIP-2537 orders them, the real part of a coordinate first.
pub fn bls_bytes(key: &quorate_curve::G2) -> Vec<u8> {
    real_first(key.serialize().as_ref())
}

/// Reads what [`bls_bytes`] writes, with the check that the point is of order r.
fn bls_key(bytes: &[u8]) -> Result<quorate_curve::G2, String> {
    let backend = Backend::auto();
    // The uncompressed encoding has the imaginary part first, and its flags in the first bits of that.
    let key = backend.decode_uncompressed::<quorate_curve::G2>(&real_first(bytes)).map_err(|why| why.to_string())?;
    match key {
        key if key.is_identity() => Err("the identity is no key".into()),
        key if !backend.in_subgroup(&[key])[0] => Err("not in the subgroup".into()),
        key => Ok(key),
    }
}

/// Swaps the parts of both coordinates, of 48 bytes each.
fn real_first(bytes: &[u8]) -> Vec<u8> {
    bytes.chunks(96).flat_map(|xy| xy[48..].iter().chain(&xy[..48])).copied().collect()
}
