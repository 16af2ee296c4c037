//! Packed quorums: what decodes encodes to the same bytes, so a quorum has one encoding.

use quorate_evm::{KeyGroup, Quorum};

pub fn run(bytes: &[u8]) {
    for key_group in KeyGroup::ALL {
        if let Ok(quorum) = Quorum::decode(key_group, bytes) {
            crate::accepted();
            assert_eq!(quorum.encode().as_deref(), Ok(bytes));
        }
    }
}
