//! What peers say in a handshake and over HTTP: credentials, replies, sessions, batches and news. No bytes make the
//! decoders panic; what decodes is within its limits, and is written and read as the same. The first byte chooses the
//! kind.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quorate_lab::bodies;

fuzz_target!(|bytes: &[u8]| {
    if let [kind, body @ ..] = bytes {
        bodies::check(*kind, body);
    }
});
