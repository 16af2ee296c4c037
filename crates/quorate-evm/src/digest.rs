//! What operators sign: digests that the contract computes itself, and never takes from the caller.
//!
//! A digest is keccak256 over ABI words, the first of which is a type hash. So no digest of one kind, chain or contract
//! is a digest of another. The types are those of `contracts/src`.

use alloy_primitives::{Address, B256, U256, keccak256};
use alloy_sol_types::SolValue;

/// A contract on a chain: the domain of everything that is signed for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Contract {
    /// The chain's id (EIP-155).
    pub chain_id: u64,
    /// The contract's address.
    pub address: Address,
}

/// The results that a quorum settles in one call, and what it signs with them. One signature covers all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Results<'a> {
    /// The contract that settles them.
    pub settlement: Contract,
    /// The epoch in which they settle.
    pub epoch: u32,
    /// The number of the first among the contract's results. The others follow.
    pub nonce: u64,
    /// The last second, in Unix time, at which they settle.
    pub deadline: u64,
    /// The slot in which the quorum is stored as a base, [`RENTAL`](crate::quorum::RENTAL) or [`NONE`](crate::quorum::NONE):
    /// the second number of the packed quorum. Since it is signed, nobody else can change it.
    pub store: u16,
    /// Their contents, in order; at least one.
    pub results: &'a [B256],
}

impl Results<'_> {
    /// `Settlement.resultsDigest`: the digest of the hash of everything but chain and contract.
    pub fn digest(&self) -> [u8; 32] {
        let Contract { chain_id, address } = self.settlement;
        let results = keccak256(self.results.concat());
        let order = hash(ORDER_TYPE, (self.epoch, self.nonce, self.deadline, U256::from(self.store), results));
        hash(SETTLE_TYPE, (chain_id, address, B256::from(order)))
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
    /// The 32 bytes that a key signs to prove possession: `Quorums.possessionDigest`.
    pub fn digest(&self) -> [u8; 32] {
        let Contract { chain_id, address } = self.verifier;
        hash(POSSESSION_TYPE, (chain_id, address, self.owner, keccak256(self.key)))
    }
}

/// A statement of an operator: the node with this peer id speaks for my key in this network. The other nodes admit the peer
/// on it. It is for nodes; no contract reads it.
///
/// The digest is keccak256(abi.encode(keccak256("quorate.peer(uint256 chain,address network,bytes peer)"), chain, network,
/// keccak256(peer))). The statement names no end: it holds as long as the key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PeerBinding<'a> {
    /// The contract of the network.
    pub network: Contract,
    /// The peer id, in the bytes of the transport.
    pub peer: &'a [u8],
}

impl PeerBinding<'_> {
    /// What the operator signs.
    pub fn digest(&self) -> [u8; 32] {
        let Contract { chain_id, address } = self.network;
        hash(PEER_TYPE, (chain_id, address, keccak256(self.peer)))
    }
}

const ORDER_TYPE: &str = "Order(uint256 epoch,uint256 nonce,uint256 deadline,uint256 store,bytes32 results)";
const SETTLE_TYPE: &str = "Settle(uint256 chainId,address settlement,bytes32 order)";
const POSSESSION_TYPE: &str = "Possession(uint256 chainId,address verifier,address owner,bytes32 keyHash)";
const PEER_TYPE: &str = "quorate.peer(uint256 chain,address network,bytes peer)";

/// keccak256(type hash ‖ words), as `keccak256(abi.encode(typeHash, …))` in Solidity.
pub(crate) fn hash(kind: &str, words: impl SolValue) -> [u8; 32] {
    let kind = keccak256(kind);
    keccak256([kind.as_slice(), &words.abi_encode()].concat()).0
}
