//! Packed quorums: what decodes encodes to the same bytes, so a quorum has one encoding.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quorate_evm::{KeyGroup, Quorum};

fuzz_target!(|bytes: &[u8]| {
    for key_group in KeyGroup::ALL {
        if let Ok(quorum) = Quorum::decode(key_group, bytes) {
            assert_eq!(quorum.encode().as_deref(), Ok(bytes));
        }
    }
});
