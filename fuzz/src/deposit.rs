//! No document makes the reader of deposits panic, and what it reads has a key, a message and a signature of the right lengths.

use quorate_formats::{SigningContext, deposit};

pub fn run(bytes: &[u8]) {
    let Ok(deposits) = deposit::read(bytes, &SigningContext::default()) else { return };
    for record in deposits.flatten().flatten() {
        crate::accepted();
        assert_eq!((record.public_keys.encodings()[0].len(), record.signature.len()), (48, 96));
    }
}
