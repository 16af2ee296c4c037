//! A line of JSON behind a line with its SHA-256. That finds damage, not forgery.

use sha2::{Digest as _, Sha256};

/// Both lines.
pub(crate) fn with_checksum(json: &str) -> Vec<u8> {
    format!("{}\n{json}\n", const_hex::encode(Sha256::digest(json))).into_bytes()
}

/// The line of JSON, if the checksum before it fits.
pub(crate) fn checked(bytes: &[u8]) -> Option<&[u8]> {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let (Some(checksum), Some(json), Some([]), None) = (lines.next(), lines.next(), lines.next(), lines.next()) else {
        return None;
    };
    (const_hex::encode(Sha256::digest(json)).as_bytes() == checksum).then_some(json)
}
