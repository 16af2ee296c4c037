//! What peers say in a handshake and over HTTP: credentials, replies, sessions, batches and news. No bytes make the
//! decoders panic; what decodes is within its limits, and is written and read as the same. The first byte chooses the
//! kind.

use quorate_lab::bodies;

pub fn run(bytes: &[u8]) {
    if let [kind, body @ ..] = bytes
        && bodies::check(*kind, body)
    {
        crate::accepted();
    }
}
