//! Numbers in JSON documents and in messages. The Beacon API writes them in quotes, many tools without; both are read.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

/// A number with its noun, for messages: "1 byte", "2 bytes".
pub(crate) fn counted(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// Whether a text is a number as programs write it: decimal digits without a sign, and without leading zeros, because a reader that takes
/// those for octal would read another number.
pub(crate) fn is_decimal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'))
}

/// An unsigned number below 2^64 in JSON, with or without quotes. Anything else is an error, which says what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uint(pub u64);

impl<'de> Deserialize<'de> for Uint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = Uint;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer from 0 to 2^64 - 1 without leading zeros, with or without quotes")
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Uint, E> {
                Ok(Uint(number))
            }

            // serde_json reads an integer of more than 64 bits as the nearest floating-point number, which is another one.
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Uint, E> {
                Err(if number >= u64::MAX as f64 {
                    E::invalid_value(de::Unexpected::Other("a number above 2^64 - 1"), &self)
                } else {
                    E::invalid_type(de::Unexpected::Float(number), &self)
                })
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Uint, E> {
                let number = text.parse().ok().filter(|_| is_decimal(text));
                number.map(Uint).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

/// An unsigned number below 2^256 as 32 bytes, little-endian, as SSZ stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Uint256(pub [u8; 32]);

impl<'de> Deserialize<'de> for Uint256 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = Uint256;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer from 0 to 2^256 - 1 without leading zeros, with or without quotes")
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Uint256, E> {
                let mut bytes = [0; 32];
                bytes[..8].copy_from_slice(&number.to_le_bytes());
                Ok(Uint256(bytes))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Uint256, E> {
                from_decimal(text).map(Uint256).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

/// Multiplies by ten and adds, digit by digit: these numbers are short and few.
fn from_decimal(text: &str) -> Option<[u8; 32]> {
    if !is_decimal(text) {
        return None;
    }
    let mut bytes = [0_u8; 32];
    for digit in text.chars() {
        let mut carry = digit.to_digit(10)?;
        for byte in &mut bytes {
            let value = u32::from(*byte) * 10 + carry;
            [*byte, ..] = value.to_le_bytes();
            carry = value >> 8;
        }
        if carry != 0 {
            return None;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_and_bare() {
        assert_eq!(serde_json::from_str::<Uint>("7").unwrap(), Uint(7));
        assert_eq!(serde_json::from_str::<Uint>("\"18446744073709551615\"").unwrap(), Uint(u64::MAX));
        for bad in ["-1", "1.0", "\"+1\"", "\"\"", "\"0x1\"", "18446744073709551616", "null", "\"1 \""] {
            assert!(serde_json::from_str::<Uint>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_number_above_64_bits_is_not_shown_as_another() {
        let reason = |text: &str| serde_json::from_str::<Uint>(text).unwrap_err().to_string();
        let expected = "a number above 2^64 - 1, expected an integer from 0 to 2^64 - 1";
        for text in ["18446744073709551616", "18446744073709551617", "1e300"] {
            assert!(reason(text).contains(expected), "{}", reason(text));
        }
        assert!(reason("1.5").contains("floating point `1.5`, expected an integer"), "{}", reason("1.5"));
        assert!(reason("-1e300").contains("floating point `-1"), "{}", reason("-1e300"));
    }

    /// A reader that knows octal takes another number, and in quotes nothing else forbids them.
    #[test]
    fn leading_zeros_are_refused() {
        for bad in ["\"00\"", "\"02\"", "\"032000000000\"", "02"] {
            assert!(serde_json::from_str::<Uint>(bad).is_err(), "{bad}");
            assert!(serde_json::from_str::<Uint256>(bad).is_err(), "{bad}");
        }
        assert_eq!(serde_json::from_str::<Uint>("\"0\"").unwrap(), Uint(0));
        assert_eq!(serde_json::from_str::<Uint256>("\"0\"").unwrap(), Uint256([0; 32]));
        let reason = serde_json::from_str::<Uint>("\"02\"").unwrap_err().to_string();
        assert!(reason.contains("\"02\", expected an integer from 0 to 2^64 - 1 without leading zeros"), "{reason}");
    }

    #[test]
    fn decimal_of_256_bits() {
        let largest = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
        let over = "115792089237316195423570985008687907853269984665640564039457584007913129639936";
        assert_eq!(from_decimal(largest), Some([255; 32]));
        assert_eq!(from_decimal(over), None);
        assert_eq!(from_decimal("258").unwrap()[..3], [2, 1, 0]);
        assert_eq!(serde_json::from_str::<Uint256>("\"258\"").unwrap(), serde_json::from_str("258").unwrap());
        for bad in ["", "-1", "1a", "٣"] {
            assert_eq!(from_decimal(bad), None, "{bad}");
        }
    }
}
