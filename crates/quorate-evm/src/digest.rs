//! What operators sign: digests that the contract computes itself, and never takes from the caller.
//!
//! A digest is keccak256 over ABI words, the first of which is a type hash. So no digest of one kind, chain or contract
//! is a digest of another. The types are those of `contracts/src`.

use alloy_primitives::{Address, B256, keccak256};
use alloy_sol_types::SolValue;

/// A contract on a chain: the domain of everything that is signed for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Contract {
    /// The chain's id (EIP-155).
    pub chain_id: u64,
    /// The contract's address.
    pub address: Address,
}

/// A result that a quorum signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settled {
    /// The contract that settles it.
    pub settlement: Contract,
    /// Its number among the contract's results.
    pub nonce: u64,
    /// Its content.
    pub result: B256,
}

impl Settled {
    /// `Settlement.resultDigest`.
    pub fn digest(&self) -> [u8; 32] {
        let Contract { chain_id, address } = self.settlement;
        hash(RESULT_TYPE, (chain_id, address, self.nonce, self.result))
    }
}

/// The results of one call of a settlement, which a quorum signs together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Results<'a> {
    /// The contract that settles them.
    pub settlement: Contract,
    /// The epoch whose weights count.
    pub epoch: u32,
    /// The number of the first result among the contract's results. The others follow it.
    pub nonce: u64,
    /// The last second, in Unix time, at which they can be settled.
    pub deadline: u64,
    /// Where the quorum is stored as a base: a slot, [`RENTAL`](crate::quorum::RENTAL) or [`NONE`](crate::quorum::NONE).
    pub store: u16,
    /// Their contents, in order.
    pub results: &'a [B256],
}

impl Results<'_> {
    /// `Settlement.resultsDigest`.
    pub fn digest(&self) -> [u8; 32] {
        let Contract { chain_id, address } = self.settlement;
        let results = keccak256(self.results.concat());
        hash(RESULTS_TYPE, (chain_id, address, self.epoch, self.nonce, self.deadline, self.store, results))
    }
}

/// A task that a quorum of a `TaskNetwork` signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Task {
    /// The contract that settles it.
    pub network: Contract,
    /// The epoch in which it settles.
    pub epoch: u64,
    /// Its name. A name settles once.
    pub id: B256,
    /// The index of the performer's key.
    pub performer: u64,
    /// The hash of its result.
    pub result: B256,
    /// Whether the attesters found the result right.
    pub approved: bool,
}

impl Task {
    /// `TaskNetwork.taskDigest`.
    pub fn digest(&self) -> [u8; 32] {
        let Contract { chain_id, address } = self.network;
        hash(TASK_TYPE, (chain_id, address, self.epoch, self.id, self.performer, self.result, self.approved))
    }
}

/// A proof of possession: the owner of a key signs the key itself. Without such proofs an attacker could register a key
/// that is computed from the keys of others, and sign for them.
///
/// ```
/// use quorate_bn254::{Bn254SecretKey, hash_to_curve::try_and_increment, verify};
/// use quorate_evm::digest::{Contract, KeyPossession};
/// let secret = Bn254SecretKey::from_entropy(&[1; 48]);
/// let key = secret.public_key_g2();
/// let verifier = Contract { chain_id: 1, address: [0xaa; 20].into() };
/// let possession = KeyPossession { verifier, owner: [0xbb; 20].into(), key: &key.to_bytes() };
/// let message = try_and_increment(&possession.digest()).point;
/// let proof = secret.sign(&message);
/// assert!(verify(&key, &message, &proof));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyPossession<'a> {
    /// The contract that registers the key.
    pub verifier: Contract,
    /// The address for which the key is registered.
    pub owner: Address,
    /// The key as the contract keeps it.
    pub key: &'a [u8],
}

impl KeyPossession<'_> {
    /// `Quorums.possessionDigest`.
    pub fn digest(&self) -> [u8; 32] {
        let Contract { chain_id, address } = self.verifier;
        hash(POSSESSION_TYPE, (chain_id, address, self.owner, keccak256(self.key)))
    }
}

const RESULT_TYPE: &str = "Result(uint256 chainId,address settlement,uint256 nonce,bytes32 result)";
const RESULTS_TYPE: &str = "Results(uint256 chainId,address settlement,uint256 epoch,uint256 nonce,uint256 deadline,uint256 store,bytes32 results)";
const TASK_TYPE: &str = "quorate.task(uint256 chain,address network,uint256 epoch,bytes32 id,uint256 performer,bytes32 result,bool approved)";
const POSSESSION_TYPE: &str = "Possession(uint256 chainId,address verifier,address owner,bytes32 keyHash)";

/// keccak256(type hash ‖ words), as `keccak256(abi.encode(typeHash, …))` in Solidity.
fn hash(kind: &str, words: impl SolValue) -> [u8; 32] {
    let kind = keccak256(kind);
    keccak256([kind.as_slice(), &words.abi_encode()].concat()).0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No two of these may be signed by one signature.
    #[test]
    fn digests_tell_everything_apart() {
        let word = B256::with_last_byte;
        let contract = Contract { chain_id: 1, address: Address::repeat_byte(1) };
        let other_chain = Contract { chain_id: 2, ..contract };
        let other_address = Contract { address: Address::repeat_byte(2), ..contract };
        let settled = Settled { settlement: contract, nonce: 0, result: word(0) };
        let (one, two, other) = ([word(0)], [word(0), word(0)], [word(1)]);
        let results = Results { settlement: contract, epoch: 0, nonce: 0, deadline: 0, store: 0, results: &one };
        let possession = KeyPossession { verifier: contract, owner: Address::repeat_byte(1), key: &[0; 64] };
        let task = Task { network: contract, epoch: 0, id: word(0), performer: 0, result: word(0), approved: false };
        let digests = [
            settled.digest(),
            Settled { settlement: other_chain, ..settled }.digest(),
            Settled { settlement: other_address, ..settled }.digest(),
            Settled { nonce: 1, ..settled }.digest(),
            Settled { result: word(1), ..settled }.digest(),
            results.digest(),
            Results { settlement: other_chain, ..results }.digest(),
            Results { settlement: other_address, ..results }.digest(),
            Results { epoch: 1, ..results }.digest(),
            Results { nonce: 1, ..results }.digest(),
            Results { deadline: 1, ..results }.digest(),
            Results { store: 1, ..results }.digest(),
            Results { results: &[], ..results }.digest(),
            Results { results: &two, ..results }.digest(),
            Results { results: &other, ..results }.digest(),
            possession.digest(),
            KeyPossession { verifier: other_chain, ..possession }.digest(),
            KeyPossession { verifier: other_address, ..possession }.digest(),
            KeyPossession { owner: Address::repeat_byte(2), ..possession }.digest(),
            KeyPossession { key: &[1; 64], ..possession }.digest(),
            task.digest(),
            Task { network: other_chain, ..task }.digest(),
            Task { network: other_address, ..task }.digest(),
            Task { epoch: 1, ..task }.digest(),
            Task { id: word(1), ..task }.digest(),
            Task { performer: 1, ..task }.digest(),
            Task { result: word(1), ..task }.digest(),
            Task { approved: true, ..task }.digest(),
        ];
        let distinct: std::collections::HashSet<_> = digests.iter().collect();
        assert_eq!(distinct.len(), digests.len());
    }
}
