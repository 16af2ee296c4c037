//! A quorum before and after it is signed.

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::SolCall;

use crate::{
    back_end::BackEnd,
    base::{Base, NEWEST, Way, Weighing},
    bitmap::Bitmap,
    bls12381, bn254,
    contract::SettlementBn254G2,
    gas::{Calldata, Estimate, Measured, Storing},
    hint::CounterHint,
    quorum::{KeySum, MisuseError, Proof, Quorum, Store},
    state::{self, Head, TooLarge},
};

/// How a quorum is settled: all but its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The curve and the group of the keys.
    pub back_end: BackEnd,
    /// Who signs.
    pub signers: Bitmap,
    /// From which base, and what changes.
    pub way: Way,
    /// The quorum's key, as the table keeps keys.
    pub key: Vec<u8>,
    /// Its key in G2, 128 bytes, where the contract keeps those in G1.
    pub key_g2: Option<[u8; 128]>,
    /// What it weighs in the epoch.
    pub weight: u128,
    /// How the sum of keys is shown on back end a; on the others nothing is.
    pub sum: KeySum,
    /// By result, what is signed.
    pub digests: Vec<[u8; 32]>,
    /// By result, the hint of its hash; none on BLS12-381.
    pub hints: Vec<CounterHint>,
    /// The head that the contract is shown.
    pub head: Head,
    /// The newest base's commitment, which it is shown too where the base is another.
    pub newest: B256,
    /// Pages for the transaction's access list (EIP-2930), with no storage keys: empty where that is not cheaper.
    pub access_list: Vec<Address>,
    pub(super) base: Option<Base>,
}

impl Plan {
    /// The slot of the base; `None` for the empty one.
    pub fn base_slot(&self) -> Option<u16> {
        self.base.as_ref().map(|base| base.slot)
    }

    /// Members whose keys the contract adds to the base's, ascending.
    pub fn added(&self) -> Bitmap {
        self.way.changed.iter().filter(|index| self.signers.contains(*index)).collect()
    }

    /// Members whose keys the contract takes away from the base's, ascending.
    pub fn removed(&self) -> Bitmap {
        self.way.changed.iter().filter(|index| !self.signers.contains(*index)).collect()
    }

    /// The base that the quorum becomes where it is stored: not weighed, if its members were counted.
    pub fn result(&self, slot: u16) -> Base {
        let (epoch, weight) = match self.way.weighing {
            Weighing::Counted => (0, 0),
            Weighing::FromBase | Weighing::Anew => (self.head.epoch, self.weight),
        };
        Base { slot, epoch, weight, key: self.key.clone(), signers: self.signers.clone() }
    }

    /// The word that the contract must hold for the call to settle.
    ///
    /// # Errors
    /// [`TooLarge`].
    pub fn state(&self) -> Result<B256, TooLarge> {
        Ok(state::state(self.head.encode()?, self.newest))
    }

    /// Whether the contract's check of the signature will hold: two Miller loops. To be asked before paying for it.
    ///
    /// # Errors
    /// [`SignatureError`], where the bytes are no signature of the back end.
    pub fn verify(&self, signature: &Signature) -> Result<bool, SignatureError> {
        let not_this = || SignatureError::BackEnd { found: signature.as_bytes().len() };
        match signature {
            Signature::Bls12381(bytes) => {
                let signature = bls12381::decode_signature(bytes).map_err(|why| SignatureError::point(&why))?;
                let key = bls12381::decode_key(&self.key).map_err(|_| not_this())?;
                // A key of 192 bytes that decodes is one of this back end.
                Ok(bls12381::verify(&key, &self.digests, &signature))
            }
            Signature::Bn254(bytes) => {
                let signature = bn254::Signature::from_bytes(bytes).map_err(|why| SignatureError::point(&why))?;
                let key = self.key_g2.as_ref().map_or(&self.key[..], |key| &key[..]);
                let key = bn254::PublicKey::from_bytes(key).map_err(|_| not_this())?;
                let pairs = self.digests.iter().zip(&self.hints);
                let messages: Vec<_> = pairs.filter_map(|(digest, hint)| hint.check(digest)).collect();
                Ok(messages.len() == self.digests.len() && bn254::verify_all(&key, &messages, &signature))
            }
        }
    }

    /// The quorum as the contract is given it, signed.
    pub fn quorum(&self, store: Store, signature: &Signature) -> Quorum {
        let proof = match signature {
            Signature::Bn254(signature) => match self.key_g2 {
                Some(key) => Proof::Bn254G1 { signature: *signature, key, hints: self.hints.clone() },
                None => {
                    let (sum, hints) = (self.sum.clone(), self.hints.clone());
                    Proof::Bn254G2 { sum, signature: *signature, hints }
                }
            },
            Signature::Bls12381(signature) => Proof::Bls12381G2 { signature: *signature },
        };
        Quorum {
            base: self.base.clone(),
            store,
            key_pages: self.way.key_pages.clone(),
            weight_pages: self.way.weight_pages.clone(),
            signers: self.signers.clone(),
            proof,
        }
    }

    /// Whether `settle` takes it, which settles one result from the newest base; `settleAll` takes all others.
    pub fn is_single(&self) -> bool {
        self.base_slot() == Some(NEWEST) && self.digests.len() == 1
    }

    /// The call with these results, which must be those that were planned, and the aggregate signature.
    ///
    /// # Errors
    /// [`MisuseError`], where more pages or members are named than the form holds, or the base is another back end's.
    pub fn call(&self, store: Store, signature: &Signature, results: &[B256]) -> Result<Bytes, MisuseError> {
        let quorum = self.quorum(store, signature).encode()?.into();
        let (head, newest): (U256, _) = (self.head.encode()?, self.newest);
        // Every settlement has these functions.
        Ok(match results {
            [result] if self.is_single() => {
                SettlementBn254G2::settleCall { head, result: *result, quorum }.abi_encode().into()
            }
            _ => {
                let results = results.to_vec();
                SettlementBn254G2::settleAllCall { newest, head, results, quorum }.abi_encode().into()
            }
        })
    }

    /// What the transaction will cost, its calldata being known. Before there is a signature,
    /// [`Signature::stand_in`] makes calldata that is as long.
    pub fn estimate(&self, measured: &Measured, call: &[u8], storing: Storing) -> Estimate {
        measured.settle(self.back_end, Calldata::of(call), self.digests.len() as u64, &self.way.steps, storing)
    }

    /// The same plan, its sum shown in another way and its pages in the access list or not.
    pub(super) fn with(&self, sum: KeySum, access_list: Vec<Address>) -> Self {
        let mut plan = Self { sum, access_list, ..self.clone() };
        plan.way.steps.listed = plan.access_list.len() as u64;
        plan.way.steps.slopes = match &plan.sum {
            KeySum::Slopes(slopes) => Some(slopes.len() as u64),
            _ => None,
        };
        plan
    }

    /// Gas of the transaction that stores nothing: signature and results are bytes in their place.
    pub(super) fn total(&self, measured: &Measured) -> Result<u64, MisuseError> {
        let results = vec![B256::repeat_byte(0xff); self.digests.len()];
        let call = self.call(Store::Nowhere, &Signature::stand_in(self.back_end), &results)?;
        Ok(self.estimate(measured, &call, Storing::Nowhere).total())
    }
}

/// An aggregate signature in the form of the contract. The bytes need not be a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the contracts know no other")]
pub enum Signature {
    /// x ‖ y.
    Bn254([u8; 64]),
    /// x ‖ y of 48 bytes.
    Bls12381([u8; 96]),
}

impl Signature {
    /// Reads the bytes that a back end takes: 64 on BN254, 96 on BLS12-381.
    ///
    /// # Errors
    /// [`SignatureError::Length`].
    pub fn from_bytes(back_end: BackEnd, bytes: &[u8]) -> Result<Self, SignatureError> {
        let length = SignatureError::Length { expected: back_end.signature_bytes(), found: bytes.len() };
        match back_end {
            BackEnd::Bls12381G2 => bytes.try_into().map(Self::Bls12381).map_err(|_| length),
            _ => bytes.try_into().map(Self::Bn254).map_err(|_| length),
        }
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Bn254(bytes) => bytes,
            Self::Bls12381(bytes) => bytes,
        }
    }

    /// Bytes in place of a signature that is not there yet, none of them zero: calldata with it costs what it will cost.
    pub const fn stand_in(back_end: BackEnd) -> Self {
        match back_end {
            BackEnd::Bls12381G2 => Self::Bls12381([0xff; 96]),
            _ => Self::Bn254([0xff; 64]),
        }
    }
}

/// Why bytes are no signature of a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// Too few bytes or too many.
    #[error("signature: {found} bytes, not {expected}")]
    Length {
        /// Bytes of the back end's signatures.
        expected: usize,
        /// Bytes that there were.
        found: usize,
    },
    /// No point, or none of the group.
    #[error("{0}")]
    Point(String),
    /// One of the other curve.
    #[error("signature: one of {found} bytes is none of the plan's back end")]
    BackEnd {
        /// Bytes that it has.
        found: usize,
    },
}

impl SignatureError {
    fn point(why: &impl ToString) -> Self {
        let why = why.to_string();
        Self::Point(if why.starts_with("signature") { why } else { format!("signature: {why}") })
    }
}
