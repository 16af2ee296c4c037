//! Keccak-256, the hash function of the EVM.

use sha3::{Digest, Keccak256};

/// Keccak-256 of the parts, joined in order. SHA3-256 pads differently and gives another hash.
pub fn keccak256(parts: &[&[u8]]) -> [u8; 32] {
    let hasher = parts.iter().fold(Keccak256::new(), |hasher, part| hasher.chain_update(part));
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_nothing_is_the_evms() {
        let expected = "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
        assert_eq!(const_hex::encode(keccak256(&[])), expected);
        assert_eq!(keccak256(&[b"ab", b"", b"c"]), keccak256(&[b"abc"]));
    }
}
