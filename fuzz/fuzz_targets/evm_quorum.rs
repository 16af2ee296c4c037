//! No bytes are two packed quorums, and what is read is written back as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quorate_evm::{BackEnd, Quorum};

fuzz_target!(|bytes: &[u8]| {
    for back_end in BackEnd::ALL {
        if let Ok(quorum) = Quorum::decode(back_end, bytes) {
            assert_eq!(quorum.encode().as_deref(), Ok(bytes));
        }
    }
});
