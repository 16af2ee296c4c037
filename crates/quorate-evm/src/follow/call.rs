//! The calls of a settlement in the calldata of a transaction.

use alloy_primitives::{B256, Bytes, U256};
use alloy_sol_types::SolCall;
use quorate_bn254::DualKey;

use crate::contract::{HubSettlement, Settlement, StakeRegistrar};

/// A call of a settlement, or of its stake registrar, that says more than its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Call {
    /// `register`, of the settlement or of a stake registrar, or `rotate`.
    Register {
        key: Bytes,
        proof: Bytes,
    },
    Prepare {
        weights: Vec<u64>,
    },
    Begin {
        threshold: u64,
        weights: Vec<u64>,
        required: u128,
        renew: bool,
    },
    /// `settle`, `settleAll` or `settleByHub`.
    Settle {
        head: U256,
        results: Vec<B256>,
        quorum: Bytes,
        /// Whether it is `settleByHub`: the proof at the end of the quorum went to the hub.
        by_hub: bool,
    },
}

/// The calls in the calldata of a transaction that fit to its logs, in order.
pub(super) fn calls(calldata: &[u8], fits: impl Fn(&Call) -> bool) -> Vec<Call> {
    calls_by(calldata, read, fits)
}

/// The calls in the calldata of a transaction that fit, in order. `read` reads a call with this selector from the bytes that it begins.
///
/// The transaction may call another contract, such as a timelock or a multi-signature wallet, which passes calldata of its own
/// on. So a call may begin at any byte. What is found was not necessarily called: the caller compares it with the logs.
pub(crate) fn calls_by<T>(calldata: &[u8], read: fn([u8; 4], &[u8]) -> Option<T>, fits: impl Fn(&T) -> bool) -> Vec<T> {
    let starts = (0..calldata.len()).map(|at| &calldata[at..]);
    let calls = starts.filter_map(|bytes| read(*bytes.first_chunk()?, bytes)).take(MOST_READ);
    calls.filter(fits).take(MOST).collect()
}

/// Takes the first call for which the function has an answer out of the calls.
pub(crate) fn take<C, T>(calls: &mut Vec<C>, wanted: impl Fn(&C) -> Option<T>) -> Option<T> {
    let (place, found) = calls.iter().enumerate().find_map(|(place, call)| Some((place, wanted(call)?)))?;
    calls.remove(place);
    Some(found)
}

/// A member's key on BN254, both halves: the registered key in G1, and behind it the key in G2 of its proof. `None` if the two do not
/// belong together, as in a call that only looks like the one that was made.
pub(crate) fn dual_key(key: &Bytes, proof: &Bytes) -> Option<Bytes> {
    // A signature stands before the key in G2.
    let member = [&key[..], proof.get(64..192)?].concat();
    DualKey::from_bytes(&member).ok().map(|_| member.into())
}

/// More calls that fit are not kept, since each may be as long as the calldata.
const MOST: usize = 256;

/// More calls are not read, since each costs as much time as the calldata is long. So many do not fit into the 128 KiB that nodes
/// pass on as one transaction.
const MOST_READ: usize = 4_096;

fn read(selector: [u8; 4], bytes: &[u8]) -> Option<Call> {
    match selector {
        Settlement::registerCall::SELECTOR => {
            let call = Settlement::registerCall::abi_decode(bytes).ok()?;
            Some(Call::Register { key: call.key, proof: call.proof })
        }
        StakeRegistrar::registerCall::SELECTOR => {
            let call = StakeRegistrar::registerCall::abi_decode(bytes).ok()?;
            Some(Call::Register { key: call.key, proof: call.proof })
        }
        StakeRegistrar::rotateCall::SELECTOR => {
            let call = StakeRegistrar::rotateCall::abi_decode(bytes).ok()?;
            Some(Call::Register { key: call.key, proof: call.proof })
        }
        Settlement::prepareCall::SELECTOR => {
            let call = Settlement::prepareCall::abi_decode(bytes).ok()?;
            Some(Call::Prepare { weights: weights(&call.weights)? })
        }
        Settlement::beginCall::SELECTOR => {
            let call = Settlement::beginCall::abi_decode(bytes).ok()?;
            let Settlement::beginCall { threshold, renew, .. } = call;
            Some(Call::Begin { threshold, weights: weights(&call.weights)?, required: call.required.to(), renew })
        }
        Settlement::settleCall::SELECTOR => {
            let call = Settlement::settleCall::abi_decode(bytes).ok()?;
            Some(Call::Settle { head: call.head, results: vec![call.result], quorum: call.quorum, by_hub: false })
        }
        Settlement::settleAllCall::SELECTOR => {
            let call = Settlement::settleAllCall::abi_decode(bytes).ok()?;
            Some(Call::Settle { head: call.head, results: call.results, quorum: call.quorum, by_hub: false })
        }
        HubSettlement::settleByHubCall::SELECTOR => {
            let call = HubSettlement::settleByHubCall::abi_decode(bytes).ok()?;
            Some(Call::Settle { head: call.head, results: call.results, quorum: call.quorum, by_hub: true })
        }
        _ => None,
    }
}

/// Weights of 8 bytes each; `None` if there is a rest.
pub(super) fn weights(bytes: &[u8]) -> Option<Vec<u64>> {
    let (weights, rest) = bytes.as_chunks::<8>();
    rest.is_empty().then(|| weights.iter().map(|weight| u64::from_be_bytes(*weight)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(calldata: &[u8]) -> Vec<Call> {
        super::calls(calldata, |_| true)
    }

    fn begin(weights: &[u8]) -> Vec<u8> {
        let required = U256::from(300).to();
        Settlement::beginCall { threshold: 7, weights: weights.to_vec().into(), required, renew: true }.abi_encode()
    }

    #[test]
    fn calls_are_found_inside_of_other_calls() {
        let (one, two) = (begin(&[0, 0, 0, 0, 0, 0, 1, 2]), begin(&[]));
        let found = |weights| Call::Begin { threshold: 7, weights, required: 300, renew: true };
        assert_eq!(calls(&one), [found(vec![258])]);
        // Calldata of others stands before, between and behind, at any offset.
        let wrapped = [&[1, 2, 3][..], &one, &[0; 29], &two, &[9; 70]].concat();
        assert_eq!(calls(&wrapped), [found(vec![258]), found(vec![])]);
    }

    /// An operator registers with a stake registrar, which calls the settlement.
    #[test]
    fn a_key_is_found_in_the_calls_of_a_stake_registrar() {
        let (key, proof) = (Bytes::from(vec![1; 64]), Bytes::from(vec![2; 225]));
        let found = Call::Register { key: key.clone(), proof: proof.clone() };
        let register = StakeRegistrar::registerCall { key: key.clone(), proof: proof.clone() }.abi_encode();
        let rotate = StakeRegistrar::rotateCall { key, proof }.abi_encode();
        assert_eq!(calls(&[register, rotate].concat()), [found.clone(), found]);
    }

    #[test]
    fn what_only_looks_like_a_call_is_none() {
        for bytes in [&[][..], &[1], &Settlement::beginCall::SELECTOR, &begin(&[0; 8])[..100]] {
            assert_eq!(calls(bytes), []);
        }
        // Weights of 8 bytes leave no rest.
        assert_eq!(calls(&begin(&[0; 9])), []);
    }

    #[test]
    fn calldata_of_selectors_costs_no_more_than_so_many_calls() {
        let many = begin(&[]).repeat(MOST + 5);
        assert_eq!(calls(&many).len(), MOST);
        // Those that do not fit are not counted among them.
        let last = begin(&[0; 8]);
        let only = |call: &Call| matches!(call, Call::Begin { weights, .. } if !weights.is_empty());
        assert_eq!(super::calls(&[&many[..], &last].concat(), only).len(), 1);
        let more = [begin(&[]).repeat(MOST_READ), last].concat();
        assert_eq!(super::calls(&more, only).len(), 0);
        assert_eq!(calls(&Settlement::settleAllCall::SELECTOR.repeat(30_000)), []);
    }
}
