//! An operator: its secret key, what it registers, and what it signs.
//!
//! ```
//! use quorate_evm::{KeyGroup, OperatorKey, alloy_primitives::{Address, B256}, digest::{Contract, Results}};
//! let key = OperatorKey::from_entropy(KeyGroup::Bls12381G2, &[1; 48]); // 48 bytes of a CSPRNG
//! let settlement = Contract { chain_id: 1, address: Address::repeat_byte(0xaa) };
//! let registration = key.registration(settlement, Address::repeat_byte(0xbb));
//! assert_eq!(registration.proof.len(), 96);
//! let results = [B256::repeat_byte(7)];
//! let signed = Results { settlement, epoch: 1, nonce: 0, deadline: u64::MAX, store: 0, results: &results };
//! assert_eq!(key.sign(&signed.digest()).as_bytes().len(), 96);
//! ```

use std::fmt;

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::SolCall;
use quorate::{MinSig, SecretKey};
use quorate_bn254::{Bn254SecretKey, hash_to_curve::try_and_increment};

use crate::{
    bls12381::{self, DigestHash},
    contract::{Settlement, StakeRegistrar, TaskNetwork},
    digest::{Contract, KeyPossession},
    hint::CounterHint,
    key_group::KeyGroup,
    network::{PointError, QuorumSignature},
};

/// The secret key of an operator. It is wiped when it is dropped, never printed, and signs in constant time: on BLS12-381 by
/// blst, on BN254 by [`Bn254SecretKey`].
pub struct OperatorKey {
    key_group: KeyGroup,
    secret: Secret,
}

enum Secret {
    Bn254(Bn254SecretKey),
    Bls12381(DigestHash, SecretKey<MinSig>),
}

impl OperatorKey {
    /// A key from 48 bytes of a CSPRNG: on BLS12-381 by KeyGen of the IETF draft, on BN254 modulo the group order.
    pub fn from_entropy(key_group: KeyGroup, entropy: &[u8; 48]) -> Self {
        let secret = match DigestHash::of(key_group) {
            None => Secret::Bn254(Bn254SecretKey::from_entropy(entropy)),
            Some(hash) => {
                let secret = SecretKey::key_gen(bls12381::SUITE, entropy, b"");
                Secret::Bls12381(hash, secret.expect("KeyGen asks for 32 bytes or more"))
            }
        };
        Self { key_group, secret }
    }

    /// Reads a scalar between 1 and r - 1, 32 bytes, big-endian.
    ///
    /// # Errors
    /// [`PointError`]: zero, or not below r.
    pub fn from_bytes(key_group: KeyGroup, bytes: &[u8; 32]) -> Result<Self, PointError> {
        let secret = match DigestHash::of(key_group) {
            None => Secret::Bn254(Bn254SecretKey::from_bytes(bytes)?),
            Some(hash) => Secret::Bls12381(hash, SecretKey::from_bytes(bytes)?),
        };
        Ok(Self { key_group, secret })
    }

    /// The curve and the group of the public key.
    pub fn key_group(&self) -> KeyGroup {
        self.key_group
    }

    /// The scalar, big-endian.
    pub fn to_bytes(&self) -> zeroize::Zeroizing<[u8; 32]> {
        match &self.secret {
            Secret::Bn254(secret) => secret.to_bytes(),
            Secret::Bls12381(_, secret) => secret.to_bytes(),
        }
    }

    /// The public key as [`Network::keys`](crate::Network::keys) has it: [`KeyGroup::member_bytes`] bytes. It begins with the
    /// key that the contract keeps, of [`KeyGroup::key_bytes`] bytes.
    pub fn member(&self) -> Bytes {
        match &self.secret {
            Secret::Bn254(secret) if self.key_group == KeyGroup::Bn254G1 => secret.dual_key().to_bytes().into(),
            Secret::Bn254(secret) => secret.public_key_g2().to_bytes().into(),
            Secret::Bls12381(_, secret) => bls12381::encode_key(&secret.public_key()).into(),
        }
    }

    /// The public key in the 96 compressed bytes of other libraries; `None` on BN254, which has no such form here.
    pub fn compressed(&self) -> Option<Bytes> {
        match &self.secret {
            Secret::Bn254(_) => None,
            Secret::Bls12381(_, secret) => Some(Bytes::copy_from_slice(secret.public_key().to_bytes().as_ref())),
        }
    }

    /// Signs a digest of [`digest`](crate::digest). The digest says nothing about what is signed, so compute it from parts
    /// that you know. One hash to G1 and one multiplication in G1.
    pub fn sign(&self, digest: &[u8; 32]) -> QuorumSignature {
        match &self.secret {
            Secret::Bn254(secret) => QuorumSignature::Bn254(secret.sign(&try_and_increment(digest).point).to_bytes()),
            Secret::Bls12381(hash, secret) => {
                QuorumSignature::Bls12381(bls12381::encode_signature(&hash.sign(secret, digest)))
            }
        }
    }

    /// Proves possession of the key to the contract that registers it: a settlement, or the verifier of a `TaskNetwork`.
    pub fn registration(&self, verifier: Contract, owner: Address) -> Registration {
        let member = self.member();
        let key = member.slice(..self.key_group.key_bytes());
        let digest = KeyPossession { verifier, owner, key: &key }.digest();
        let signature = self.sign(&digest);
        let proof = match &self.secret {
            // What `settle` takes as a proof, with one hint.
            Secret::Bn254(_) => {
                let CounterHint { counter, y } = CounterHint::new(&digest);
                [signature.as_bytes(), &member[key.len()..], &[counter], &y].concat()
            }
            Secret::Bls12381(..) => signature.as_bytes().to_vec(),
        };
        Registration { owner, digest: digest.into(), key, proof: proof.into() }
    }
}

impl fmt::Debug for OperatorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperatorKey").field("key_group", &self.key_group).finish_non_exhaustive()
    }
}

/// A key and the proof that its owner has the secret: what a contract takes to register the key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Registration {
    /// The address for which the key is registered.
    pub owner: Address,
    /// What the proof signs.
    pub digest: B256,
    /// The key as the contract keeps it.
    pub key: Bytes,
    /// The proof of possession: the signature, and on BN254 the hints of the hash. With keys in G1 the key in G2 stands
    /// between them.
    pub proof: Bytes,
}

impl Registration {
    /// The calldata of `Settlement.register(address,bytes,bytes)`, which the registrar sends.
    pub fn settlement_call(&self) -> Bytes {
        let Self { owner, key, proof, .. } = self.clone();
        Settlement::registerCall { owner, key, proof }.abi_encode().into()
    }

    /// The calldata of `StakeRegistrar.register(bytes,bytes)`, which the owner sends: the registrar admits who is an operator
    /// of a restaking protocol. Or that of `rotate(bytes,bytes)`, which replaces the owner's key.
    pub fn stake_call(&self, entry: StakeEntry) -> Bytes {
        let Self { key, proof, .. } = self.clone();
        match entry {
            StakeEntry::Register => StakeRegistrar::registerCall { key, proof }.abi_encode().into(),
            StakeEntry::Rotate => StakeRegistrar::rotateCall { key, proof }.abi_encode().into(),
        }
    }

    /// The calldata of `TaskNetwork.register(bytes,bytes,uint256)`, which the owner sends. The stake is in the token's
    /// smallest unit.
    pub fn network_call(&self, stake: U256) -> Bytes {
        let Self { key, proof, .. } = self.clone();
        TaskNetwork::registerCall { key, proof, amount: stake }.abi_encode().into()
    }
}

/// How a key comes to a stake registrar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StakeEntry {
    /// The owner has no live key, and gets a seat.
    Register,
    /// The owner's live key is replaced.
    Rotate,
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTRACT: Contract = Contract { chain_id: 1, address: Address::repeat_byte(0xaa) };

    #[test]
    fn secrets_there_and_back() {
        for key_group in KeyGroup::ALL {
            let key = OperatorKey::from_entropy(key_group, &[1; 48]);
            let read = OperatorKey::from_bytes(key_group, &key.to_bytes()).unwrap();
            assert_eq!((read.member(), read.key_group()), (key.member(), key_group));
            assert_eq!(key.member().len(), key_group.member_bytes());
            assert_eq!(format!("{key:?}"), format!("OperatorKey {{ key_group: {key_group:?}, .. }}"));
            for wrong in [[0; 32], [0xff; 32]] {
                assert!(OperatorKey::from_bytes(key_group, &wrong).is_err(), "{key_group} {wrong:?}");
            }
        }
    }

    /// The compressed form decodes to the key that the contract keeps.
    #[test]
    fn compressed_and_contract_key_are_one() {
        let key = OperatorKey::from_entropy(KeyGroup::Bls12381G2, &[1; 48]);
        let compressed = key.compressed().unwrap();
        let read = quorate::PublicKey::<MinSig>::from_bytes(&compressed).unwrap();
        assert_eq!((compressed.len(), bls12381::encode_key(&read).as_slice()), (96, &key.member()[..]));
        assert_eq!(OperatorKey::from_entropy(KeyGroup::Bn254G2, &[1; 48]).compressed(), None);
    }

    #[test]
    fn a_proof_is_of_one_owner_contract_and_key() {
        let other = Contract { address: Address::repeat_byte(0xab), ..CONTRACT };
        for key_group in KeyGroup::ALL {
            let key = OperatorKey::from_entropy(key_group, &[1; 48]);
            let registration = key.registration(CONTRACT, Address::repeat_byte(1));
            let digest = KeyPossession { verifier: CONTRACT, owner: Address::repeat_byte(1), key: &registration.key };
            assert_eq!(registration.digest, digest.digest());
            assert_eq!(registration.key.len(), key_group.key_bytes());
            let signature = key_group.signature_bytes();
            assert_eq!(registration.proof[..signature], *key.sign(&registration.digest).as_bytes());
            let expected = match key_group {
                KeyGroup::Bn254G2 => signature + 33,
                KeyGroup::Bn254G1 => signature + 128 + 33,
                KeyGroup::Bls12381G2 | KeyGroup::Bls12381G2Nu => signature,
            };
            assert_eq!(registration.proof.len(), expected);
            for differs in [
                key.registration(CONTRACT, Address::repeat_byte(2)),
                key.registration(other, Address::repeat_byte(1)),
                OperatorKey::from_entropy(key_group, &[2; 48]).registration(CONTRACT, Address::repeat_byte(1)),
            ] {
                assert_ne!((differs.digest, &differs.proof), (registration.digest, &registration.proof));
            }
        }
    }

    #[test]
    fn calls_carry_the_registration() {
        let key = OperatorKey::from_entropy(KeyGroup::Bn254G1, &[1; 48]);
        let registration = key.registration(CONTRACT, Address::repeat_byte(1));
        let call = Settlement::registerCall::abi_decode(&registration.settlement_call()).unwrap();
        assert_eq!((call.owner, &call.key, &call.proof), (registration.owner, &registration.key, &registration.proof));
        let call = TaskNetwork::registerCall::abi_decode(&registration.network_call(U256::from(5))).unwrap();
        assert_eq!((&call.key, &call.proof, call.amount), (&registration.key, &registration.proof, U256::from(5)));
        let call = StakeRegistrar::registerCall::abi_decode(&registration.stake_call(StakeEntry::Register)).unwrap();
        assert_eq!((&call.key, &call.proof), (&registration.key, &registration.proof));
        let call = StakeRegistrar::rotateCall::abi_decode(&registration.stake_call(StakeEntry::Rotate)).unwrap();
        assert_eq!((&call.key, &call.proof), (&registration.key, &registration.proof));
    }
}
