//! Seeds and input key material: secret bytes in hexadecimal, as many as there are.

use std::path::Path;

use anyhow::anyhow;
use zeroize::Zeroizing;

use crate::{
    commands::unlock::{name_of, read_secret_bytes},
    exit::Failure,
    secrets::hex,
};

/// Reads hexadecimal from a file; `-` is standard input. White space around it does not matter.
pub(super) fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let bytes = read_secret_bytes(path)?;
    let text = str::from_utf8(bytes.trim_ascii()).unwrap_or("?");
    let name = name_of(path);
    if text.is_empty() {
        return Err(Failure::usage(anyhow!("{name} is empty; it should hold at least 64 hexadecimal digits")));
    }
    let decoded = hex::decode(text).map(Zeroizing::new);
    decoded.map_err(|error| {
        // The likeliest mistake; the words themselves are a secret.
        let words = text.split_ascii_whitespace().count() > 1;
        let hint = if words { "; a mnemonic is not read here, but its BIP-39 seed is, in hexadecimal" } else { "" };
        Failure::usage(anyhow!("{name}: {error}{hint}"))
    })
}
