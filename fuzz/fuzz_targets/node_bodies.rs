//! What peers say in a handshake and over HTTP: credentials, replies, sessions, batches and news. No bytes make the
//! decoders panic; what decodes is within its limits, and is written and read as the same. The first byte chooses the
//! kind.
#![no_main]

#[path = "../../apps/quorate-node/tests/bodies/check.rs"]
mod check;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let [kind, body @ ..] = bytes {
        check::check(*kind, body);
    }
});
