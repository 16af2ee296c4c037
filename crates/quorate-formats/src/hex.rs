//! Hex as people write it: with or without `0x`, either case.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

/// Decodes hex, or says what is wrong with it and where.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>, String> {
    let digits = strip(text);
    // The decoder strips a prefix of its own, so a second one would slip through.
    if digits.starts_with("0x") {
        return Err(complaint(digits));
    }
    const_hex::decode(digits).map_err(|_| complaint(digits))
}

/// Hex of exactly `N` bytes, as a field of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hex<const N: usize>(pub [u8; N]);

impl<'de, const N: usize> Deserialize<'de> for Hex<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = HexBytes::deserialize(deserializer)?.0;
        let found = bytes.len();
        let array = bytes.try_into().map_err(|_| de::Error::custom(format!("{found} bytes of hex, not {N}")))?;
        Ok(Self(array))
    }
}

/// Hex of any length, as a field of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HexBytes(pub Vec<u8>);

impl<'de> Deserialize<'de> for HexBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = HexBytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string of hex")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<HexBytes, E> {
                decode(text).map(HexBytes).map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Visitor)
    }
}

fn strip(text: &str) -> &str {
    text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text)
}

fn complaint(digits: &str) -> String {
    match digits.chars().enumerate().find(|(_, c)| !c.is_ascii_hexdigit()) {
        Some((index, c)) => format!("{c:?} is not a hex digit (digit {})", index + 1),
        None => format!("has an odd number of hex digits ({})", digits.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_and_case() {
        for text in ["00ff", "0x00ff", "0X00FF", "00fF"] {
            assert_eq!(decode(text).unwrap(), [0, 255]);
        }
        assert!(decode("").unwrap().is_empty());
        assert!(decode("0x").unwrap().is_empty());
    }

    #[test]
    fn odd_length_and_bad_digit_are_named() {
        assert_eq!(decode("abc").unwrap_err(), "has an odd number of hex digits (3)");
        assert_eq!(decode("0xazbc").unwrap_err(), "'z' is not a hex digit (digit 2)");
        assert_eq!(decode("0x0x00").unwrap_err(), "'x' is not a hex digit (digit 2)");
        assert_eq!(decode("é0").unwrap_err(), "'é' is not a hex digit (digit 1)");
    }

    #[test]
    fn a_fixed_length_is_kept() {
        assert_eq!(serde_json::from_str::<Hex<2>>("\"0x00ff\"").unwrap(), Hex([0, 255]));
        let error = serde_json::from_str::<Hex<2>>("\"0x00\"").unwrap_err().to_string();
        assert!(error.starts_with("1 bytes of hex, not 2"), "{error}");
    }
}
