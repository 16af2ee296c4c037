//! Operators with fixed seeds, with keys of any group.

use quorate::aggregate::aggregate;
use quorate_bn254::Bn254Signature;
use quorate_evm::{
    KeyGroup, MemberSet, OperatorKey, QuorumSignature, Registration,
    alloy_primitives::{Address, Bytes},
    bls12381,
    digest::Contract,
};

/// Operators with keys of one group, who sign any digest.
pub struct Operators {
    /// The group of their keys.
    pub key_group: KeyGroup,
    keys: Vec<OperatorKey>,
}

impl Operators {
    /// Operators with the seeds 1 to `n`.
    pub fn new(key_group: KeyGroup, n: u8) -> Self {
        let mut this = Self { key_group, keys: Vec::new() };
        (1..=n).for_each(|seed| this.push(seed));
        this
    }

    /// Adds an operator, or a further key of one.
    pub fn push(&mut self, seed: u8) {
        self.keys.push(OperatorKey::from_entropy(self.key_group, &[seed; 48]));
    }

    /// A member's key, as `Network` has it.
    pub fn member(&self, index: usize) -> Bytes {
        self.keys[index].member()
    }

    /// The keys of all members.
    pub fn members(&self) -> Vec<Bytes> {
        self.keys.iter().map(OperatorKey::member).collect()
    }

    /// The sum of some members' signatures over every digest.
    pub fn sign(&self, signers: &MemberSet, digests: &[[u8; 32]]) -> QuorumSignature {
        let mut bn254 = Vec::new();
        let mut bls12381 = Vec::new();
        for digest in digests {
            for index in signers.iter() {
                match self.keys[index].sign(digest) {
                    QuorumSignature::Bn254(one) => bn254.push(Bn254Signature::from_bytes(&one).expect("just signed")),
                    QuorumSignature::Bls12381(one) => {
                        bls12381.push(bls12381::decode_signature(&one).expect("just signed"));
                    }
                }
            }
        }
        match self.key_group {
            KeyGroup::Bls12381G2 | KeyGroup::Bls12381G2Nu => {
                let sum = aggregate(&bls12381, quorate::Backend::Portable).expect("somebody signs something");
                QuorumSignature::Bls12381(bls12381::encode_signature(&sum))
            }
            _ => QuorumSignature::Bn254(bn254.into_iter().sum::<Bn254Signature>().to_bytes()),
        }
    }

    /// The key that a contract registers for an owner, and its proof of possession.
    pub fn registration(&self, index: usize, verifier: Contract, owner: Address) -> (Bytes, Bytes) {
        let Registration { key, proof, .. } = self.keys[index].registration(verifier, owner);
        (key, proof)
    }
}
