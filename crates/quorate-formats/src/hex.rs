//! Hexadecimal as people write it: with or without `0x`, in upper or lower case.

use std::fmt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Deserializer, de};
use thiserror::Error;

use crate::number::counted;

/// The bytes that a text of hexadecimal digits stands for. The text may begin with `0x` or `0X`.
///
/// # Errors
/// [`NotHex`]: a character is not a hexadecimal digit, or their number is odd.
pub fn from_hex(text: &str) -> Result<Vec<u8>, NotHex> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    // The decoder would strip a second prefix.
    if digits.starts_with("0x") {
        return Err(NotHex::of(digits));
    }
    const_hex::decode(digits).map_err(|_| NotHex::of(digits))
}

/// A text that is not hexadecimal digits, two for each byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotHex {
    /// A character is not a hexadecimal digit.
    #[error("found {found:?} at digit {digit}, expected hexadecimal digits")]
    Digit {
        /// The character.
        found: char,
        /// Its place, from 1. A prefix `0x` does not count.
        digit: usize,
    },
    /// An odd number of digits does not make whole bytes.
    #[error("found {digits} hexadecimal digits, expected an even number")]
    Odd {
        /// How many digits there are. A prefix `0x` does not count.
        digits: usize,
    },
}

impl NotHex {
    /// What is wrong with digits that do not decode.
    fn of(digits: &str) -> Self {
        match (1..).zip(digits.chars()).find(|(_, c)| !c.is_ascii_hexdigit()) {
            Some((digit, found)) => Self::Digit { found, digit },
            None => Self::Odd { digits: digits.len() },
        }
    }
}

/// A field of a document with exactly `N` bytes in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hex<const N: usize>(pub [u8; N]);

impl<const N: usize> Hex<N> {
    /// Whether all bytes are zero.
    pub(crate) fn is_zero(&self) -> bool {
        self.0 == [0; N]
    }
}

impl<'de, const N: usize> Deserialize<'de> for Hex<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = HexBytes::deserialize(deserializer)?.0;
        let found = bytes.len();
        let array = bytes
            .try_into()
            .map_err(|_| de::Error::custom(format!("found {} in hexadecimal, expected {N}", counted(found, "byte"))))?;
        Ok(Self(array))
    }
}

/// A field of a document with any number of bytes in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HexBytes(pub Vec<u8>);

impl<'de> Deserialize<'de> for HexBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = HexBytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string of hexadecimal digits")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<HexBytes, E> {
                from_hex(text).map(HexBytes).map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Visitor)
    }
}

/// A field of a document with any number of bytes, in hexadecimal or in base64 with padding, as gRPC gateways write bytes.
///
/// A text that could be both is hexadecimal. A signature in base64 that has hexadecimal digits alone is read as other bytes, and is
/// invalid; one in sixteen million million million million million is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HexOrBase64(pub Vec<u8>);

impl<'de> Deserialize<'de> for HexOrBase64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let decoded = from_hex(&text).or_else(|not_hex| BASE64_STANDARD.decode(text.as_bytes()).map_err(|_| not_hex));
        decoded.map(Self).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_and_case() {
        for text in ["00ff", "0x00ff", "0X00FF", "00fF"] {
            assert_eq!(from_hex(text).unwrap(), [0, 255]);
        }
        assert!(from_hex("").unwrap().is_empty());
        assert!(from_hex("0x").unwrap().is_empty());
    }

    #[test]
    fn odd_length_and_bad_digit_are_named() {
        assert_eq!(from_hex("abc").unwrap_err().to_string(), "found 3 hexadecimal digits, expected an even number");
        assert_eq!(from_hex("0xazbc").unwrap_err().to_string(), "found 'z' at digit 2, expected hexadecimal digits");
        assert_eq!(from_hex("0x0x00").unwrap_err().to_string(), "found 'x' at digit 2, expected hexadecimal digits");
        assert_eq!(from_hex("é0").unwrap_err().to_string(), "found 'é' at digit 1, expected hexadecimal digits");
    }

    #[test]
    fn a_fixed_length_is_kept() {
        assert_eq!(serde_json::from_str::<Hex<2>>("\"0x00ff\"").unwrap(), Hex([0, 255]));
        let error = serde_json::from_str::<Hex<2>>("\"0x00\"").unwrap_err().to_string();
        assert!(error.starts_with("found 1 byte in hexadecimal, expected 2"), "{error}");
    }
}
