//! Reads seeds and input key material: any number of secret bytes in hexadecimal digits.

use std::path::Path;

use anyhow::anyhow;
use zeroize::Zeroizing;

use crate::{
    commands::unlock::{name_of, read_secret_bytes},
    secrets::{hex, passphrase::Passphrase},
};
use quorate_host::{BYTE_ORDER_MARK, exit::Failure};

/// Reads the text of a secret from a file. `-` means standard input.
pub(super) fn read_text(path: &Path) -> Result<Passphrase, Failure> {
    let bytes = read_secret_bytes(path)?;
    let text = str::from_utf8(bytes.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(&bytes));
    let text =
        text.map_err(|_| Failure::usage(anyhow!("{} is not UTF-8, expected the words of a mnemonic", name_of(path))))?;
    Ok(Passphrase::new(Zeroizing::new(text.to_owned())))
}

/// Reads hexadecimal digits from a file, with or without white space around them. `-` means standard input.
pub(super) fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let bytes = read_secret_bytes(path)?;
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(&bytes);
    let text = str::from_utf8(bytes.trim_ascii()).unwrap_or("?");
    let name = name_of(path);
    if text.is_empty() {
        return Err(Failure::usage(anyhow!("{name} is empty, expected at least 64 hexadecimal digits")));
    }
    let decoded = hex::decode(text).map(Zeroizing::new);
    decoded.map_err(|error| {
        // A mnemonic is the most likely mistake. Its words are a secret, so the message does not repeat them.
        let words = text.split_ascii_whitespace().count() > 1;
        let hint = if words { "; if this is a mnemonic, use `quorate key derive --mnemonic-file`" } else { "" };
        Failure::usage(anyhow!("{name}: {error}{hint}"))
    })
}
