//! No bytes make the reader of a node's kept state panic, and what it reads is written and read again as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quorate_network::roles::Saved;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(saved) = Saved::from_bytes(bytes) {
        assert_eq!(Saved::from_bytes(&saved.to_bytes()).expect("it was written by us"), saved);
    }
});
