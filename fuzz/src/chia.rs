//! No file makes the reader of Chia's blocks panic, and a claim that its block refutes names no key.

use quorate_history::chia;

pub fn run(bytes: &[u8]) {
    for block in chia::read(bytes).map_while(Result::ok).flatten() {
        for claim in block.claims {
            crate::accepted();
            assert_eq!(claim.slot, block.height);
            assert_eq!(claim.failed.is_some(), claim.claim.public_keys.is_empty());
        }
    }
}
