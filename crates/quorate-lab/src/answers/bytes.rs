//! Bytes and numbers as the sources write them.

use base64::{Engine, engine::general_purpose};
use serde::{Deserialize, Deserializer, de::Error};

/// Hexadecimal, with or without `0x`, in either case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hex(pub Vec<u8>);

/// Standard base64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base64(pub Vec<u8>);

/// Base64 for URLs, without padding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base64Url(pub Vec<u8>);

/// A number below 2^256 as 32 bytes, big-endian: decimal, or hexadecimal after `0x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarBytes(pub [u8; 32]);

/// An element of the base field as 48 bytes, big-endian; written after `0x` without leading zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldBytes(pub [u8; 48]);

/// The bytes of hexadecimal text, with or without `0x`; an error that quotes the text.
pub fn hex_bytes(text: &str) -> Result<Vec<u8>, String> {
    hex::decode(text.strip_prefix("0x").unwrap_or(text)).map_err(|e| format!("`{text}` is not hexadecimal: {e}"))
}

fn scalar(text: &str) -> Result<[u8; 32], String> {
    let (digits, base) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    number(digits, base)
}

/// Digits in a base, as N bytes, big-endian.
fn number<const N: usize>(digits: &str, base: u32) -> Result<[u8; N], String> {
    let mut bytes = [0u8; N];
    for digit in digits.chars() {
        let mut carry = digit.to_digit(base).ok_or_else(|| format!("`{digits}` is not a number in base {base}"))?;
        for byte in bytes.iter_mut().rev() {
            carry += u32::from(*byte) * base;
            *byte = carry as u8;
            carry >>= 8;
        }
        if carry != 0 {
            return Err(format!("`{digits}` does not fit {N} bytes"));
        }
    }
    Ok(bytes)
}

/// Reads a string and converts it, so that a wrong one is reported with the place in its file.
macro_rules! from_string {
    ($($name:ident: $convert:expr;)*) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                $convert(text.as_str()).map($name).map_err(D::Error::custom)
            }
        }
    )*};
}

from_string! {
    Hex: hex_bytes;
    Base64: |text| general_purpose::STANDARD.decode(text);
    Base64Url: |text| general_purpose::URL_SAFE_NO_PAD.decode(text);
    ScalarBytes: scalar;
    FieldBytes: |text: &str| number(text.strip_prefix("0x").unwrap_or(text), 16);
}

/// The bytes of each item.
pub fn plain(items: Vec<Hex>) -> Vec<Vec<u8>> {
    items.into_iter().map(|item| item.0).collect()
}
