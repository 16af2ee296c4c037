//! No input makes unpacking panic, and what is not packed comes back as it is.

use std::io::{BufReader, Cursor, Read};

use quorate_formats::{compression::unpack, peek};

pub fn run(bytes: &[u8]) {
    let Ok(unpacked) = unpack(BufReader::with_capacity(3, Cursor::new(bytes.to_vec()))) else { return };
    let was_packed = unpacked.was_packed;
    let mut content = Vec::new();
    // Some bytes unpack to gigabytes.
    let Ok((_, whole)) = peek(unpacked.reader) else { return };
    let read = whole.take(1 << 20).read_to_end(&mut content);
    if was_packed && read.is_ok() {
        crate::accepted();
    }
    assert!(was_packed || (read.is_ok() && content == bytes[..bytes.len().min(1 << 20)]));
}
