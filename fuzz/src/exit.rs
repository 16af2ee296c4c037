//! No document makes the reader of exits panic, and what it reads has a key, a message and a signature of the right lengths.

use quorate_formats::{SigningContext, exit, network::KnownNetwork};

pub fn run(bytes: &[u8]) {
    let mut expected = SigningContext { network: KnownNetwork::of_name("mainnet"), ..SigningContext::default() };
    let _ = expected.keys.add(None, [7; 48]);
    let Ok(exits) = exit::read(bytes, &expected) else { return };
    for record in exits.flatten().flatten() {
        crate::accepted();
        assert_eq!((record.public_keys.encodings()[0].len(), record.signature.len()), (48, 96));
    }
}
