//! What operators sign: words that the contract makes, never the caller.
//!
//! ABI words behind a type hash, so that no digest of one kind, chain or contract is one of another. The types are those
//! of `contracts/src`.

use crate::keccak::keccak256;

/// A contract on a chain: the domain of everything that is signed for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Contract {
    /// EIP-155's id of the chain.
    pub chain_id: u64,
    /// The contract's address.
    pub address: [u8; 20],
}

/// A result that a quorum signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settled {
    /// The contract that settles it.
    pub settlement: Contract,
    /// Its number among the contract's results.
    pub nonce: u64,
    /// Its content.
    pub result: [u8; 32],
}

impl Settled {
    /// `Settlement.resultDigest`.
    pub fn digest(&self) -> [u8; 32] {
        keccak256(&[
            &keccak256(&[b"Result(uint256 chainId,address settlement,uint256 nonce,bytes32 result)"]),
            &word(&self.settlement.chain_id.to_be_bytes()),
            &word(&self.settlement.address),
            &word(&self.nonce.to_be_bytes()),
            &self.result,
        ])
    }
}

/// A task that a quorum of a `TaskNetwork` signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Task {
    /// The contract that settles it.
    pub network: Contract,
    /// The epoch in which it settles.
    pub epoch: u64,
    /// Its name, which settles once.
    pub id: [u8; 32],
    /// Index of the performer's key.
    pub performer: u64,
    /// Hash of its result.
    pub result: [u8; 32],
    /// Whether the attesters found it right.
    pub approved: bool,
}

impl Task {
    /// `TaskNetwork.taskDigest`.
    pub fn digest(&self) -> [u8; 32] {
        let kind = b"quorate.task(uint256 chain,address network,uint256 epoch,bytes32 id,uint256 performer,bytes32 result,bool approved)";
        keccak256(&[
            &keccak256(&[kind]),
            &word(&self.network.chain_id.to_be_bytes()),
            &word(&self.network.address),
            &word(&self.epoch.to_be_bytes()),
            &self.id,
            &word(&self.performer.to_be_bytes()),
            &self.result,
            &word(&[self.approved.into()]),
        ])
    }
}

/// An owner's key, signed with its own secret: the proof of possession without which a key, made up from others' keys,
/// could sign for them.
///
/// ```
/// use quorate_evm::{SecretKey, bn254, digest::{Contract, Possession}, hash_to_curve::try_and_increment};
/// let secret = SecretKey::from_entropy(&[1; 48]);
/// let key = secret.public_key_g2();
/// let verifier = Contract { chain_id: 1, address: [0xaa; 20] };
/// let message = try_and_increment(&Possession { verifier, owner: [0xbb; 20], key: &key.to_bytes() }.digest()).point;
/// let proof = secret.sign(&message);
/// assert!(bn254::verify(&key, &message, &proof));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Possession<'a> {
    /// The contract that registers the key.
    pub verifier: Contract,
    /// The address it is registered for.
    pub owner: [u8; 20],
    /// The key as the contract keeps it.
    pub key: &'a [u8],
}

impl Possession<'_> {
    /// `Quorums.possessionDigest`.
    pub fn digest(&self) -> [u8; 32] {
        keccak256(&[
            &keccak256(&[b"Possession(uint256 chainId,address verifier,address owner,bytes32 keyHash)"]),
            &word(&self.verifier.chain_id.to_be_bytes()),
            &word(&self.verifier.address),
            &word(&self.owner),
            &keccak256(&[self.key]),
        ])
    }
}

/// A value in the last bytes of a word, as ABI encodes integers and addresses.
fn word(bytes: &[u8]) -> [u8; 32] {
    let mut word = [0; 32];
    word[32 - bytes.len()..].copy_from_slice(bytes);
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No two of these may be signed by one signature.
    #[test]
    fn digests_tell_everything_apart() {
        let contract = Contract { chain_id: 1, address: [1; 20] };
        let other_chain = Contract { chain_id: 2, ..contract };
        let other_address = Contract { address: [2; 20], ..contract };
        let settled = Settled { settlement: contract, nonce: 0, result: [0; 32] };
        let possession = Possession { verifier: contract, owner: [1; 20], key: &[0; 64] };
        let task = Task { network: contract, epoch: 0, id: [0; 32], performer: 0, result: [0; 32], approved: false };
        let digests = [
            settled.digest(),
            Settled { settlement: other_chain, ..settled }.digest(),
            Settled { settlement: other_address, ..settled }.digest(),
            Settled { nonce: 1, ..settled }.digest(),
            Settled { result: [1; 32], ..settled }.digest(),
            possession.digest(),
            Possession { verifier: other_chain, ..possession }.digest(),
            Possession { verifier: other_address, ..possession }.digest(),
            Possession { owner: [2; 20], ..possession }.digest(),
            Possession { key: &[1; 64], ..possession }.digest(),
            task.digest(),
            Task { network: other_chain, ..task }.digest(),
            Task { network: other_address, ..task }.digest(),
            Task { epoch: 1, ..task }.digest(),
            Task { id: [1; 32], ..task }.digest(),
            Task { performer: 1, ..task }.digest(),
            Task { result: [1; 32], ..task }.digest(),
            Task { approved: true, ..task }.digest(),
        ];
        let distinct: std::collections::HashSet<_> = digests.iter().collect();
        assert_eq!(distinct.len(), digests.len());
    }
}
