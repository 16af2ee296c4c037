//! The call of `settle(bytes32[] results, bytes quorum)`.

use crate::keccak::keccak256;

/// The calldata: selector, and both arguments as the ABI encodes them.
pub fn settle(results: &[[u8; 32]], quorum: &[u8]) -> Vec<u8> {
    let results_at = 64;
    let quorum_at = results_at + 32 + 32 * results.len();
    let selector = keccak256(&[b"settle(bytes32[],bytes)"]);
    let mut call = selector[..4].to_vec();
    for number in [results_at, quorum_at, results.len()] {
        call.extend(word(number));
    }
    results.iter().for_each(|result| call.extend(result));
    call.extend(word(quorum.len()));
    call.extend(quorum);
    call.resize(4 + quorum_at + 32 + quorum.len().next_multiple_of(32), 0);
    call
}

fn word(number: usize) -> [u8; 32] {
    let mut word = [0; 32];
    word[24..].copy_from_slice(&(number as u64).to_be_bytes());
    word
}
