//! No document makes the reader of changes of credentials panic, and what it reads has a key, a message and a signature of the right lengths.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quorate_formats::{Expected, change};

fuzz_target!(|bytes: &[u8]| {
    let expected = Expected::default();
    let Ok(changes) = change::read(bytes, &expected) else { return };
    for record in changes.flatten().flatten() {
        assert_eq!((record.public_keys[0].len(), record.signature.len()), (48, 96));
    }
});
