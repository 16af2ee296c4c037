//! The calls of an operator, and those that anyone makes for a network.

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_sol_types::SolValue as _;

use super::{plan::PlannedCall, terms::ContractTerms};
use crate::{
    contract::{
        Erc20, RestakedTaskNetwork, TaskNetwork, Verifier,
        task_network::ITaskNetwork::{Share, Task},
    },
    gas::{MOST_BYTES, MOST_GAS},
    member_set::MemberSet,
};

/// Lets the network take tokens of the sender: before [`register`], [`add_stake`] and [`fund`].
pub fn approve(terms: &ContractTerms, amount: U256) -> PlannedCall {
    // ERC-20's `approve`.
    PlannedCall::of(terms.token, &Erc20::approveCall { spender: terms.contract, value: amount })
}

/// Adds to the pool from which rewards are paid, after [`approve`].
pub fn fund(terms: &ContractTerms, amount: U256) -> PlannedCall {
    PlannedCall::of(terms.contract, &TaskNetwork::fundCall { amount })
}

/// Registers the sender as an operator. Key and proof are those of a [`Registration`](crate::Registration) for
/// the verifier and the sender.
pub fn register(terms: &ContractTerms, key: Bytes, proof: Bytes, amount: U256) -> PlannedCall {
    PlannedCall::of(terms.contract, &TaskNetwork::registerCall { key, proof, amount })
}

/// Adds to the sender's stake.
pub fn add_stake(terms: &ContractTerms, amount: U256) -> PlannedCall {
    PlannedCall::of(terms.contract, &TaskNetwork::addStakeCall { amount })
}

/// Replaces the sender's key.
pub fn rotate_key(terms: &ContractTerms, key: Bytes, proof: Bytes) -> PlannedCall {
    PlannedCall::of(terms.contract, &TaskNetwork::rotateKeyCall { key, proof })
}

/// Asks for a part of the sender's stake.
pub fn request_withdrawal(terms: &ContractTerms, amount: U256) -> PlannedCall {
    PlannedCall::of(terms.contract, &TaskNetwork::requestWithdrawalCall { amount })
}

/// Gives up the sender's seat and asks for all of its stake.
pub fn deregister(terms: &ContractTerms) -> PlannedCall {
    PlannedCall::of(terms.contract, &TaskNetwork::deregisterCall {})
}

/// Pays the sender what it asked for, once the delay is over.
pub fn withdraw(terms: &ContractTerms) -> PlannedCall {
    PlannedCall::of(terms.contract, &TaskNetwork::withdrawCall {})
}

/// Fixes the weights of the current epoch. Anyone may send it, once in an epoch.
pub fn snapshot(terms: &ContractTerms) -> PlannedCall {
    PlannedCall::of(terms.contract, &TaskNetwork::snapshotCall {})
}

/// Reads what operators have at stake in the restaking protocol of a network that has a source. The snapshot of the running epoch weighs
/// what was read last in that epoch, and reads only whoever was not read. Anyone may send it; operators without a seat are skipped.
pub fn weigh(terms: &ContractTerms, operators: Vec<Address>) -> PlannedCall {
    PlannedCall::of(terms.contract, &RestakedTaskNetwork::weighCall { operators })
}

/// Adds up what keys earned in an epoch that can settle nothing more. `tasks` are approved ones as they were settled,
/// which were rewarded; `quorums` are those of the epoch's `Attested`; `earned` is that of the last `Tallied` of the
/// epoch, or empty.
pub fn tally(
    terms: &ContractTerms,
    epoch: u64,
    tasks: Vec<Task>,
    quorums: &[MemberSet],
    earned: Vec<U256>,
) -> PlannedCall {
    let signers = quorums.iter().map(|quorum| Bytes::copy_from_slice(quorum.as_bytes())).collect();
    PlannedCall::of(
        terms.contract,
        &TaskNetwork::tallyCall { epoch: U256::from(epoch), tasks, signers, earned: packed(&earned) },
    )
}

/// Amounts as `tally` takes them: 16 bytes each. Nothing that a network pays is larger; the contract refuses what is not the
/// last tally's.
fn packed(earned: &[U256]) -> Bytes {
    earned.iter().flat_map(|amount| amount.saturating_to::<u128>().to_be_bytes()).collect()
}

/// The tasks and quorums of an epoch in parts, each for one [`tally`]. A part fits into a transaction as nodes take it
/// (131,072 bytes), and into its gas (2^24), also if the amounts of an earlier tally stand before it. `keys` is the number of
/// keys in the epoch's table.
pub fn parts_of_tally(keys: usize, tasks: Vec<Task>, quorums: Vec<MemberSet>) -> Vec<(Vec<Task>, Vec<MemberSet>)> {
    // By the contract's comments (`Rewards.tally`), with a tenth more.
    let (keys, mut parts) = (keys as u64, Vec::<(Vec<Task>, Vec<MemberSet>)>::new());
    let empty = (1_024 + 16 * keys, 400_000 + 2_100 * keys);
    let most = (MOST_BYTES.max(empty.0), MOST_TALLY_GAS.max(empty.1));
    let mut left = (0, 0);
    let mut room = |(bytes, gas): (u64, u64), parts: &mut Vec<(Vec<Task>, Vec<MemberSet>)>| {
        if parts.is_empty() || bytes > left.0 || gas > left.1 {
            left = (most.0 - empty.0, most.1 - empty.1);
            parts.push((Vec::new(), Vec::new()));
        }
        left = (left.0.saturating_sub(bytes), left.1.saturating_sub(gas));
    };
    for quorum in quorums {
        let words = quorum.as_bytes().len().div_ceil(32) as u64;
        room((64 + 32 * words, 20_000 + 600 * words + 180 * quorum.len() as u64), &mut parts);
        parts.last_mut().into_iter().for_each(|(_, quorums)| quorums.push(quorum.clone()));
    }
    for task in tasks {
        room((128, 30_000), &mut parts);
        parts.last_mut().into_iter().for_each(|(tasks, _)| tasks.push(task.clone()));
    }
    parts
}

/// Some of [`MOST_GAS`] is kept for what is not estimated.
const MOST_TALLY_GAS: u64 = MOST_GAS - 500_000;

/// Pays an operator what its keys earned, by their [shares](share_of). Anyone may send it; the operator is paid.
pub fn claim(terms: &ContractTerms, operator: Address, shares: Vec<Share>) -> PlannedCall {
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
pub fn carry(terms: &ContractTerms, operators: Vec<Address>, nonces: &[u32]) -> PlannedCall {
    let nonces = nonces.iter().copied().map(U256::from).collect();
    PlannedCall::of(terms.contract, &TaskNetwork::carryCall { operators, nonces })
}

/// Moves keys of the running table whose indices follow each other into pages, which makes settlements cheaper. Anyone
/// may send these calls. `keys` are those from index `first` on, without what stands behind the contract's own bytes.
pub fn compact(terms: &ContractTerms, first: usize, keys: &[Bytes]) -> Vec<PlannedCall> {
    let size = terms.key_group.key_bytes();
    let most = terms.key_group.page_keys();
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

    /// A table of 6,816 keys, the most of a network, leaves room for few quorums of all members.
    #[test]
    fn parts_of_a_tally_fit_into_the_mempool() {
        let task = || Task { id: B256::ZERO, performer: U256::ZERO, result: B256::ZERO, approved: true };
        let terms = super::super::tests::terms();
        for keys in [4, 100, 1_000, 6_816] {
            let quorums = vec![MemberSet::full(keys); 40];
            let parts = parts_of_tally(keys, vec![task(); 300], quorums);
            let count = parts.iter().fold((0, 0), |(a, b), (tasks, quorums)| (a + tasks.len(), b + quorums.len()));
            assert_eq!(count, (300, 40), "{keys}");
            for (tasks, quorums) in parts {
                assert!(!tasks.is_empty() || !quorums.is_empty());
                let call = tally(&terms, 3, tasks, &quorums, vec![U256::from(u64::MAX); keys]);
                assert!(call.calldata.len() <= 131_072 - 512, "{keys}: {}", call.calldata.len());
            }
        }
        assert!(parts_of_tally(6_816, Vec::new(), Vec::new()).is_empty());
    }

    #[test]
    fn pages_hold_as_many_keys_as_fit() {
        let terms = super::super::tests::terms();
        let keys = vec![Bytes::from(vec![1; 192]); 300];
        let calls = compact(&terms, 5, &keys);
        let tails: Vec<_> = calls.iter().map(|call| call.calldata.len() / 192).collect();
        assert_eq!((calls.len(), &tails[..]), (3, &[126, 126, 51][..]));
        assert!(calls.iter().all(|call| call.to == terms.verifier));
        assert!(compact(&terms, 0, &[]).is_empty());
    }
}
