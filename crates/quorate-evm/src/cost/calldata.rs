//! The calldata of transactions that carry several results: its bytes decide the least price, and how many results fit.
//!
//! Calls are packed as the contracts take them. Bytes that nobody knows before, such as those of a signature, are taken to be
//! nonzero.

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::SolCall as _;

use crate::{
    base::{Base, NEWEST},
    contract::{
        OptimisticSettlement, Settlement,
        optimistic_settlement::IOptimisticSettlement::{Demand, Place, Posting},
    },
    gas::{Calldata, MOST_BYTES},
    hint::CounterHint,
    key_group::KeyGroup,
    member_set::MemberSet,
    network::QuorumSignature,
    quorum::{KeySum, Proof, Quorum, Store},
};

/// A result: a hash.
pub(super) const RESULT: Calldata = Calldata { zeros: 0, nonzeros: 32 };

/// The calls that carry several results of so many operators, without these results.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResultsCalls {
    /// `settleAll`, whose quorum starts from the newest base.
    pub(super) settle: Calldata,
    /// `post`.
    pub(super) post: Calldata,
    /// `prove`, after a demand.
    pub(super) prove: Calldata,
}

impl ResultsCalls {
    /// `changed` members changed since the base. `None` for more operators than a packed quorum holds.
    pub(super) fn of(keys: KeyGroup, operators: u64, changed: f64) -> Option<Self> {
        const WORD: B256 = B256::repeat_byte(0xff);
        let quorum = Bytes::from(quorum(keys, operators as usize, changed.ceil() as usize)?);
        let signature = QuorumSignature::stand_in(keys);
        let evidence = [MemberSet::full(operators as usize).as_bytes(), signature.as_bytes()].concat();
        let settle = Settlement::settleAllCall {
            head: U256::MAX,
            newest: WORD,
            deadline: u64::MAX,
            results: Vec::new(),
            quorum: quorum.clone(),
        };
        let post = OptimisticSettlement::postCall {
            head: U256::MAX,
            newest: WORD,
            deadline: u64::MAX,
            results: Vec::new(),
            evidence: evidence.into(),
            place: Place { slot: U256::ZERO, content: WORD, when: u128::MAX },
        };
        let posting = Posting {
            head: U256::MAX,
            deadline: u64::MAX,
            results: WORD,
            count: U256::ZERO,
            evidence: WORD,
            poster: Address::repeat_byte(0xff),
            when: u128::MAX,
            slot: U256::ZERO,
        };
        let prove = OptimisticSettlement::proveCall {
            posting_: posting,
            demand_: Demand { challenger: Address::repeat_byte(0xff), when: u128::MAX },
            deadline: u64::MAX,
            results: Vec::new(),
            quorum,
            head: U256::MAX,
            newest: WORD,
        };
        let [settle, post, prove] =
            [settle.abi_encode(), post.abi_encode(), prove.abi_encode()].map(|call| Calldata::of(&call));
        Some(Self { settle, post, prove })
    }

    /// So many results fit into each of these calls.
    pub(super) fn most_results(&self) -> u64 {
        let Self { settle, post, prove } = self;
        let fixed = settle.len().max(post.len()).max(prove.len());
        MOST_BYTES.saturating_sub(fixed) / RESULT.len()
    }
}

/// One of these calls with its results.
pub(super) fn with_results(call: Calldata, results: u64) -> Calldata {
    let Calldata { zeros, nonzeros } = RESULT;
    [call, Calldata { zeros: zeros * results, nonzeros: nonzeros * results }].into_iter().sum()
}

/// The packed quorum of all operators but the changed ones, who are members of the newest base. Its pages have small nonces, and no
/// base is weighed.
fn quorum(keys: KeyGroup, operators: usize, changed: usize) -> Option<Vec<u8>> {
    let changed = changed.min(operators.saturating_sub(1));
    let hints = vec![CounterHint { counter: 1, y: [0xff; 32] }];
    let proof = match keys {
        KeyGroup::Bn254G2 => {
            let sum = match changed {
                0 => KeySum::Unchanged,
                _ => KeySum::Jacobian { inverse_of_z: [0xff; 64] },
            };
            Proof::Bn254G2 { sum, signature: [0xff; 64], hints }
        }
        KeyGroup::Bn254G1 => Proof::Bn254G1 { signature: [0xff; 64], key: [0xff; 128], hints },
        KeyGroup::Bls12381G2 => Proof::Bls12381G2 { signature: [0xff; 96] },
        KeyGroup::Bls12381G2Nu => Proof::Bls12381G2Nu { signature: [0xff; 96] },
    };
    let key = vec![0xff; keys.key_bytes()].into();
    let quorum = Quorum {
        base: Some(Base { slot: NEWEST, epoch: 0, weight: 0, key, signers: MemberSet::full(operators) }),
        store: Store::Nowhere,
        key_pages: vec![1; changed.min(operators.div_ceil(keys.page_keys()))],
        weights: Vec::new(),
        keys: Vec::new(),
        signers: (changed..operators).collect(),
        proof,
    };
    quorum.encode().ok()
}
