//! Reads seeds and input key material: any number of secret bytes in hexadecimal digits.

use std::path::Path;

use anyhow::anyhow;
use zeroize::Zeroizing;

use crate::{
    commands::unlock::{name_of, read_secret_bytes},
    exit::Failure,
    secrets::hex,
};

/// Reads hexadecimal digits from a file, with or without white space around them. `-` means standard input.
pub(super) fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let bytes = read_secret_bytes(path)?;
    let text = str::from_utf8(bytes.trim_ascii()).unwrap_or("?");
    let name = name_of(path);
    if text.is_empty() {
        return Err(Failure::usage(anyhow!("{name} is empty, expected at least 64 hexadecimal digits")));
    }
    let decoded = hex::decode(text).map(Zeroizing::new);
    decoded.map_err(|error| {
        // A mnemonic is the most likely mistake. Its words are a secret, so the message does not repeat them.
        let words = text.split_ascii_whitespace().count() > 1;
        let hint =
            if words { "; this may be a mnemonic, so give its BIP-39 seed in hexadecimal digits instead" } else { "" };
        Failure::usage(anyhow!("{name}: {error}{hint}"))
    })
}
