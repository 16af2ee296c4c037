//! Hexadecimal as people write it: with or without `0x`, in upper or lower case.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

/// Decodes hexadecimal digits, or says what was found in their place and where.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>, String> {
    let digits = strip(text);
    // The decoder strips a prefix of its own, so a second one would slip through.
    if digits.starts_with("0x") {
        return Err(found_instead(digits));
    }
    const_hex::decode(digits).map_err(|_| found_instead(digits))
}

/// A field of a document with exactly `N` bytes in hexadecimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hex<const N: usize>(pub [u8; N]);

impl<'de, const N: usize> Deserialize<'de> for Hex<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = HexBytes::deserialize(deserializer)?.0;
        let found = bytes.len();
        let array = bytes
            .try_into()
            .map_err(|_| de::Error::custom(format!("found {found} bytes in hexadecimal, expected {N}")))?;
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
                decode(text).map(HexBytes).map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Visitor)
    }
}

fn strip(text: &str) -> &str {
    text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text)
}

fn found_instead(digits: &str) -> String {
    match digits.chars().enumerate().find(|(_, c)| !c.is_ascii_hexdigit()) {
        Some((index, c)) => format!("found {c:?} at digit {}, expected hexadecimal digits", index + 1),
        None => format!("found {} hexadecimal digits, expected an even number", digits.len()),
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
        assert_eq!(decode("abc").unwrap_err(), "found 3 hexadecimal digits, expected an even number");
        assert_eq!(decode("0xazbc").unwrap_err(), "found 'z' at digit 2, expected hexadecimal digits");
        assert_eq!(decode("0x0x00").unwrap_err(), "found 'x' at digit 2, expected hexadecimal digits");
        assert_eq!(decode("é0").unwrap_err(), "found 'é' at digit 1, expected hexadecimal digits");
    }

    #[test]
    fn a_fixed_length_is_kept() {
        assert_eq!(serde_json::from_str::<Hex<2>>("\"0x00ff\"").unwrap(), Hex([0, 255]));
        let error = serde_json::from_str::<Hex<2>>("\"0x00\"").unwrap_err().to_string();
        assert!(error.starts_with("found 1 bytes in hexadecimal, expected 2"), "{error}");
    }
}
