//! No document makes the reader of changes of credentials panic, and what it reads has a key, a message and a signature of the right lengths.

use quorate_formats::{SigningContext, change};

pub fn run(bytes: &[u8]) {
    let expected = SigningContext::default();
    let Ok(changes) = change::read(bytes, &expected) else { return };
    for record in changes.flatten().flatten() {
        crate::accepted();
        assert_eq!((record.public_keys.encodings()[0].len(), record.signature.len()), (48, 96));
    }
}
