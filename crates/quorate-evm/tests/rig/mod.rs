//! Operators with fixed seeds, with keys of any group.
#![allow(dead_code, reason = "each test uses a part of it")]

use quorate::{MinSig, SecretKey, aggregate::aggregate};
use quorate_bn254::{Bn254SecretKey, Bn254Signature, hash_to_curve::try_and_increment};
use quorate_evm::{
    KeyGroup, MemberSet, QuorumSignature,
    alloy_primitives::{Address, Bytes},
    bls12381,
    digest::{Contract, KeyPossession},
    hint::CounterHint,
};

/// Operators with keys of one group, who sign any digest.
pub(crate) struct Operators {
    pub(crate) key_group: KeyGroup,
    secrets: Vec<Secret>,
}

enum Secret {
    Bn254(Bn254SecretKey),
    Bls12381(SecretKey<MinSig>),
}

impl Operators {
    pub(crate) fn new(key_group: KeyGroup, n: u8) -> Self {
        let mut this = Self { key_group, secrets: Vec::new() };
        (1..=n).for_each(|seed| this.push(seed));
        this
    }

    /// Adds an operator, or a further key of one.
    pub(crate) fn push(&mut self, seed: u8) {
        let entropy = [seed; 48];
        self.secrets.push(match self.key_group {
            KeyGroup::Bls12381G2 => {
                Secret::Bls12381(SecretKey::key_gen(bls12381::SUITE, &entropy, b"").expect("48 bytes"))
            }
            _ => Secret::Bn254(Bn254SecretKey::from_entropy(&entropy)),
        });
    }

    /// A member's key, as `Network` has it.
    pub(crate) fn member(&self, index: usize) -> Bytes {
        match &self.secrets[index] {
            Secret::Bn254(secret) if self.key_group == KeyGroup::Bn254G2 => secret.public_key_g2().to_bytes().into(),
            Secret::Bn254(secret) => secret.dual_key().to_bytes().into(),
            Secret::Bls12381(secret) => bls12381::encode_key(&secret.public_key()).into(),
        }
    }

    /// The keys of all members.
    pub(crate) fn members(&self) -> Vec<Bytes> {
        (0..self.secrets.len()).map(|index| self.member(index)).collect()
    }

    /// The sum of some members' signatures over every digest.
    pub(crate) fn sign(&self, signers: &MemberSet, digests: &[[u8; 32]]) -> QuorumSignature {
        let mut bn254 = Vec::new();
        let mut bls12381 = Vec::new();
        for digest in digests {
            let message = try_and_increment(digest).point;
            for index in signers.iter() {
                match &self.secrets[index] {
                    Secret::Bn254(secret) => bn254.push(secret.sign(&message)),
                    Secret::Bls12381(secret) => bls12381.push(secret.sign(bls12381::SUITE, digest)),
                }
            }
        }
        match self.key_group {
            KeyGroup::Bls12381G2 => {
                let sum = aggregate(&bls12381, quorate::Backend::Portable).expect("somebody signs something");
                QuorumSignature::Bls12381(bls12381::encode_signature(&sum))
            }
            _ => QuorumSignature::Bn254(bn254.into_iter().sum::<Bn254Signature>().to_bytes()),
        }
    }

    /// The key that a contract registers for an owner, and its proof of possession.
    pub(crate) fn registration(&self, index: usize, verifier: Contract, owner: Address) -> (Bytes, Bytes) {
        let member = self.member(index);
        let key = member.slice(..self.key_group.key_bytes());
        let digest = KeyPossession { verifier, owner, key: &key }.digest();
        let hint = CounterHint::new(&digest);
        let signature = self.sign(&std::iter::once(index).collect(), &[digest]);
        let proof = match self.key_group {
            KeyGroup::Bls12381G2 => signature.as_bytes().to_vec(),
            _ => [signature.as_bytes(), &member[key.len()..], &[hint.counter], &hint.y].concat(),
        };
        (key, proof.into())
    }
}
