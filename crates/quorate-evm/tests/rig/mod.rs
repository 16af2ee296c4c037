//! Operators with fixed seeds, on any back end.
#![allow(dead_code, reason = "each test uses a part of it")]

use quorate::{MinSig, SecretKey as BlsSecretKey};
use quorate_curve::{Backend, G1};
use quorate_evm::{
    BackEnd, Bitmap, SecretKey, Signature,
    alloy_primitives::Bytes,
    bls12381,
    digest::{Contract, Possession},
    hash_to_curve::try_and_increment,
    hint::CounterHint,
    network,
};

/// Operators of one back end, who sign whatever they are given.
pub(crate) struct Operators {
    pub(crate) back_end: BackEnd,
    secrets: Vec<Secret>,
}

enum Secret {
    Bn254(SecretKey),
    Bls12381(BlsSecretKey<MinSig>),
}

impl Operators {
    pub(crate) fn new(back_end: BackEnd, n: u8) -> Self {
        let mut this = Self { back_end, secrets: Vec::new() };
        (1..=n).for_each(|seed| this.push(seed));
        this
    }

    /// One more, or one more key of an operator.
    pub(crate) fn push(&mut self, seed: u8) {
        let entropy = [seed; 48];
        self.secrets.push(match self.back_end {
            BackEnd::Bls12381G2 => {
                Secret::Bls12381(BlsSecretKey::key_gen(MinSig::Possession, &entropy, b"").expect("48 bytes"))
            }
            _ => Secret::Bn254(SecretKey::from_entropy(&entropy)),
        });
    }

    /// The key of one as `Network` has it.
    pub(crate) fn member(&self, index: usize) -> Bytes {
        match &self.secrets[index] {
            Secret::Bn254(secret) if self.back_end == BackEnd::Bn254G2 => secret.public_key_g2().to_bytes().into(),
            Secret::Bn254(secret) => secret.dual_key().to_bytes().into(),
            Secret::Bls12381(secret) => bls12381::encode_key(&secret.public_key().point()).into(),
        }
    }

    /// The keys of all.
    pub(crate) fn members(&self) -> Vec<Bytes> {
        (0..self.secrets.len()).map(|index| self.member(index)).collect()
    }

    /// The sum of some members' signatures over every digest.
    pub(crate) fn sign(&self, signers: &Bitmap, digests: &[[u8; 32]]) -> network::Signature {
        let mut bn254 = Vec::new();
        let mut bls12381: Vec<G1> = Vec::new();
        for digest in digests {
            let message = try_and_increment(digest).point;
            for index in signers.iter() {
                match &self.secrets[index] {
                    Secret::Bn254(secret) => bn254.push(secret.sign(&message)),
                    Secret::Bls12381(secret) => bls12381.push(secret.sign(MinSig::Possession, digest).point()),
                }
            }
        }
        match self.back_end {
            BackEnd::Bls12381G2 => {
                network::Signature::Bls12381(bls12381::encode_signature(&Backend::auto().sum(&bls12381)))
            }
            _ => network::Signature::Bn254(bn254.into_iter().sum::<Signature>().to_bytes()),
        }
    }

    /// The key that a contract registers for an owner, and its proof of possession.
    pub(crate) fn registration(&self, index: usize, verifier: Contract, owner: [u8; 20]) -> (Bytes, Bytes) {
        let member = self.member(index);
        let key = member.slice(..self.back_end.key_bytes());
        let digest = Possession { verifier, owner, key: &key }.digest();
        let hint = CounterHint::new(&digest);
        let signature = self.sign(&std::iter::once(index).collect(), &[digest]);
        let proof = match self.back_end {
            BackEnd::Bls12381G2 => signature.as_bytes().to_vec(),
            _ => [signature.as_bytes(), &member[key.len()..], &[hint.counter], &hint.y].concat(),
        };
        (key, proof.into())
    }
}
