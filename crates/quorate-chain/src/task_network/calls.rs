//! The calls of an operator, and those that anyone makes for a network.

use alloy::primitives::{Address, B256, Bytes, U256, keccak256};
use quorate_evm::{
    MemberSet,
    alloy_sol_types::SolValue as _,
    base::PAGE_BYTES,
    contract::{
        TaskNetwork, TestToken, VerifierBls12381G2 as Verifier,
        task_network::ITaskNetwork::{Share, Task},
    },
};

use super::{plan::PlannedCall, terms::Terms};

/// Lets the network take tokens of the sender: before [`register`], [`add_stake`] and [`fund`].
pub fn approve(terms: &Terms, amount: U256) -> PlannedCall {
    // The function is that of every token.
    PlannedCall::of(terms.token, &TestToken::approveCall { spender: terms.contract, value: amount })
}

/// Adds to the pool from which rewards are paid, after [`approve`].
pub fn fund(terms: &Terms, amount: U256) -> PlannedCall {
    PlannedCall::of(terms.contract, &TaskNetwork::fundCall { amount })
}

/// Registers the sender as an operator. Key and proof are those of a [`Registration`](quorate_evm::Registration) for
/// the verifier and the sender.
pub fn register(terms: &Terms, key: Bytes, proof: Bytes, amount: U256) -> PlannedCall {
    PlannedCall::of(terms.contract, &TaskNetwork::registerCall { key, proof, amount })
}

/// Adds to the sender's stake.
pub fn add_stake(terms: &Terms, amount: U256) -> PlannedCall {
    PlannedCall::of(terms.contract, &TaskNetwork::addStakeCall { amount })
}

/// Replaces the sender's key.
pub fn rotate_key(terms: &Terms, key: Bytes, proof: Bytes) -> PlannedCall {
    PlannedCall::of(terms.contract, &TaskNetwork::rotateKeyCall { key, proof })
}

/// Asks for a part of the sender's stake.
pub fn request_withdrawal(terms: &Terms, amount: U256) -> PlannedCall {
    PlannedCall::of(terms.contract, &TaskNetwork::requestWithdrawalCall { amount })
}

/// Gives up the sender's seat and asks for all of its stake.
pub fn deregister(terms: &Terms) -> PlannedCall {
    PlannedCall::of(terms.contract, &TaskNetwork::deregisterCall {})
}

/// Pays the sender what it asked for, once the delay is over.
pub fn withdraw(terms: &Terms) -> PlannedCall {
    PlannedCall::of(terms.contract, &TaskNetwork::withdrawCall {})
}

/// Fixes the weights of the current epoch. Anyone may send it, once in an epoch.
pub fn snapshot(terms: &Terms) -> PlannedCall {
    PlannedCall::of(terms.contract, &TaskNetwork::snapshotCall {})
}

/// Adds up what keys earned in an epoch that can settle nothing more. `tasks` are approved ones as they were settled,
/// which were rewarded; `quorums` are those of the epoch's `Attested`; `earned` is that of the last `Tallied` of the
/// epoch, or empty.
pub fn tally(terms: &Terms, epoch: u64, tasks: Vec<Task>, quorums: &[MemberSet], earned: Vec<U256>) -> PlannedCall {
    let signers = quorums.iter().map(|quorum| Bytes::copy_from_slice(quorum.as_bytes())).collect();
    PlannedCall::of(terms.contract, &TaskNetwork::tallyCall { epoch: U256::from(epoch), tasks, signers, earned })
}

/// Pays an operator what its keys earned, by their [shares](share_of). Anyone may send it; the operator is paid.
pub fn claim(terms: &Terms, operator: Address, shares: Vec<Share>) -> PlannedCall {
    PlannedCall::of(terms.contract, &TaskNetwork::claimCall { operator, shares })
}

/// What the key at an index earned in an epoch, with the proof in the tree of shares (`ShareTree`). `earned` is that of
/// the epoch's last `Tallied`. `None` if there is no such index, or if it earned nothing.
pub fn share_of(epoch: u64, index: usize, earned: &[U256]) -> Option<Share> {
    let amount = *earned.get(index).filter(|amount| !amount.is_zero())?;
    // The leaves are a queue: each step takes two nodes from its front and appends their parent.
    let leaf = |(index, amount): (usize, &U256)| keccak256(keccak256((U256::from(index), *amount).abi_encode()));
    let mut nodes: Vec<B256> = earned.iter().enumerate().map(leaf).collect();
    let (mut own, mut proof, mut front) = (index, Vec::new(), 0);
    while let [one, other, ..] = nodes[front..] {
        if own == front || own == front + 1 {
            proof.push(if own == front { other } else { one });
            own = nodes.len();
        }
        nodes.push(keccak256([one.min(other), one.max(other)].concat()));
        front += 2;
    }
    Some(Share { epoch: U256::from(epoch), index: U256::from(index), amount, proof })
}

/// Carries operators' keys to the next key table, once the running one is nearly full. Anyone may send it, for as many
/// operators as keys fit into a page. `nonces` are pages of the running table that hold their keys: see [`compact`].
pub fn carry(terms: &Terms, operators: Vec<Address>, nonces: &[u32]) -> PlannedCall {
    let nonces = nonces.iter().copied().map(U256::from).collect();
    PlannedCall::of(terms.contract, &TaskNetwork::carryCall { operators, nonces })
}

/// Moves keys of the running table whose indices follow each other into pages, which makes settlements cheaper. Anyone
/// may send these calls. `keys` are those from index `first` on, without what stands behind the contract's own bytes.
pub fn compact(terms: &Terms, first: usize, keys: &[Bytes]) -> Vec<PlannedCall> {
    let size = terms.key_group.key_bytes();
    let most = PAGE_BYTES / size;
    let page = |(part, keys): (usize, &[Bytes])| {
        let tail: Vec<u8> = keys.iter().flat_map(|key| &key[..key.len().min(size)]).copied().collect();
        let (first, keys) = (U256::from(first + part * most), U256::from(keys.len()));
        PlannedCall::of(terms.verifier, &Verifier::compactCall { first, keys, nonces: Vec::new(), tail: tail.into() })
    };
    keys.chunks(most).enumerate().map(page).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amounts(amounts: &[u64]) -> Vec<U256> {
        amounts.iter().copied().map(U256::from).collect()
    }

    /// Whoever hashes the way up with each proof finds the same root.
    #[test]
    fn shares_prove_one_root() {
        for n in 1..20_u64 {
            let earned = amounts(&(1..=n).collect::<Vec<_>>());
            let root = |share: Share| {
                let leaf = keccak256(keccak256((share.index, share.amount).abi_encode()));
                share.proof.iter().fold(leaf, |node, other| keccak256([node.min(*other), node.max(*other)].concat()))
            };
            let roots: Vec<_> = (0..n as usize).map(|index| root(share_of(7, index, &earned).unwrap())).collect();
            assert!(roots.iter().all(|other| *other == roots[0]), "{n}");
        }
        let one = share_of(7, 0, &amounts(&[5])).unwrap();
        assert_eq!((one.epoch, one.amount, one.proof.len()), (U256::from(7), U256::from(5), 0));
        assert!(share_of(7, 1, &amounts(&[5])).is_none() && share_of(7, 0, &amounts(&[0, 1])).is_none());
    }

    #[test]
    fn pages_hold_as_many_keys_as_fit() {
        let terms = super::super::tests::terms();
        let keys = vec![Bytes::from(vec![1; 192]); 300];
        let calls = compact(&terms, 5, &keys);
        let tails: Vec<_> = calls.iter().map(|call| call.calldata.len() / 192).collect();
        assert_eq!((calls.len(), &tails[..]), (3, &[128, 128, 47][..]));
        assert!(calls.iter().all(|call| call.to == terms.verifier));
        assert!(compact(&terms, 0, &[]).is_empty());
    }
}
